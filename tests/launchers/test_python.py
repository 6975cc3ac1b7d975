"""Python launchers: what they would run is recorded, as the launcher sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_ropecontract.launchers import python
from pytest_ropecontract.launchers.recording import Command, Recording
from pytest_ropecontract.launchers.sandbox import SandboxError
from pytest_ropecontract.launchers.shell import SCRATCH

USUAL = "import asyncio, os, subprocess, sys\n"


def record(root: Path, text: str, function: str | None = None, **given: Any) -> Recording:
    (root / "run.py").write_text(USUAL + text)
    return python.record(Path("run.py"), function, root=root, **given)


def printed(root: Path, text: str, **given: Any) -> list[str]:
    recording = record(root, text, **given)
    assert recording.returncode == 0, recording.stderr
    return recording.stdout.splitlines()


def test_a_function_is_called_with_its_arguments(tmp_path: Path) -> None:
    text = "def execute(a, *, b=2, **more):\n    print(a, b, more)\n"
    recording = record(tmp_path, text, "execute", keywords={"a": [1, "x"], "c": None})

    assert (recording.stdout, recording.returncode) == ("[1, 'x'] 2 {'c': None}\n", 0)


def test_a_script_runs_as_such_with_its_arguments(tmp_path: Path) -> None:
    text = "if __name__ == '__main__':\n    print(sys.argv[1:], os.path.basename(sys.argv[0]))\n"

    assert printed(tmp_path, text, arguments=["a b", "-c"]) == ["['a b', '-c'] run.py"]


def test_a_coroutine_is_run(tmp_path: Path) -> None:
    text = "async def execute():\n    await asyncio.sleep(0)\n    print('done')\n"

    assert record(tmp_path, text, "execute").stdout == "done\n"


def test_a_required_dataclass_is_made_of_its_defaults(tmp_path: Path) -> None:
    text = (
        "from dataclasses import dataclass\n@dataclass\nclass Run:\n    nodes: int = 1\n"
        "    name: str = 'x'\ndef execute(run: Run, lr: float = 1):\n    print(run, lr)\n"
    )
    recording = record(tmp_path, text, "execute", keywords={"nodes": 2, "lr": 3})

    assert recording.stdout == "Run(nodes=2, name='x') 3\n"


def test_helpers_are_found_on_the_pythonpath_and_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/far.py").write_text("NAME = 'far'\n")
    (tmp_path / "near.py").write_text("NAME = 'near'\n")
    text = "import far, near, hypothesis\nprint(far.NAME, near.NAME)\n"

    assert printed(tmp_path, text, pythonpath=[Path("lib")]) == ["far near"]


def test_the_package_itself_can_be_imported(tmp_path: Path) -> None:
    text = (
        "from pytest_ropecontract.definitions.siblings import load_sibling_model_args\n"
        "print(load_sibling_model_args.__name__)\n"
    )

    assert printed(tmp_path, text) == ["load_sibling_model_args"]


def test_commands_are_recorded_in_order_with_all_that_surrounds_them(tmp_path: Path) -> None:
    text = (
        "os.environ['A'] = '1'\n"
        "os.makedirs('sub')\n"
        "subprocess.run(['ray', 'a b', '$X'], cwd='sub')\n"
        "waiting = subprocess.Popen(['tool', '2'], stdin=subprocess.PIPE)\n"
        "subprocess.run('B=2 ray three && ray four', shell=True, env={**os.environ, 'C': '3'})\n"
        "waiting.communicate(b'given')\n"
    )
    recording = record(tmp_path, text, environment={"G": "began"})
    given = {"A": "1"}

    assert recording.commands == (
        Command(("ray", "a b", "$X"), given, "sub", None, "run.py:4"),
        Command(("tool", "2"), given, ".", "given", "run.py:5"),
        Command(("ray", "three"), {"A": "1", "B": "2", "C": "3"}, ".", None, "run.py:6"),
        Command(("ray", "four"), {"A": "1", "C": "3"}, ".", None, "run.py:6"),
    )


def test_origins_are_of_the_launcher_also_through_helpers(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import os\n\ndef run():\n    os.system('ray')\n")
    (command,) = record(tmp_path, "import helper\n\n\nhelper.run()\n").commands

    assert command.origin == "run.py:5"


def test_answers_reach_the_launcher_in_every_way(tmp_path: Path) -> None:
    text = (
        "sys.stdout.reconfigure(line_buffering=True)\n"
        "print(subprocess.run(['smi', '-L'], capture_output=True).stdout)\n"
        "print(subprocess.check_output('smi -L | wc -l', shell=True, text=True).strip())\n"
        "print(subprocess.getoutput('smi'))\n"
        "print(os.popen('smi').read())\n"
        "print(subprocess.Popen(['smi', '-L'], stdout=-1, text=True).stdout.readline())\n"
        "async def ask():\n"
        "    p = await asyncio.create_subprocess_exec('smi', '-L', stdout=-1)\n"
        "    print(await p.stdout.readline(), await p.wait(), p.returncode)\n"
        "asyncio.run(ask())\n"
        "print(os.system('smi'))\n"
    )

    assert printed(tmp_path, text, answers={"smi": "other", "smi -L": "GPU 0\nGPU 1\n"}) == [
        *("b'GPU 0\\nGPU 1\\n'", "2", "other", "other", "GPU 0", "", "b'GPU 0\\n' 0 0", "other0"),
    ]


def test_an_exit_status_is_that_of_the_shell(tmp_path: Path) -> None:
    text = (
        "print(os.waitstatus_to_exitcode(os.system('exit 3')))\n"
        "print(subprocess.run('false', shell=True).returncode)\n"
        "try:\n    subprocess.run(['false'], check=True)\n"
        "except subprocess.CalledProcessError as error:\n    print(error)\n"
        "print(os.spawnlp(os.P_WAIT, 'false', 'false'))\n"
        "print(os.waitpid(os.spawnlp(os.P_NOWAIT, 'false', 'false'), 0)[1] >> 8)\n"
    )

    assert printed(tmp_path, text) == [
        *("3", "1", "Command '['false']' returned non-zero exit status 1.", "1", "1")
    ]


def test_what_replaces_the_launcher_ends_it(tmp_path: Path) -> None:
    text = (
        "import atexit\natexit.register(print, 'no')\nos.execlp('ray', 'ray', 'x')\nprint('no')\n"
    )
    recording = record(tmp_path, text)

    assert [one.argv for one in recording.commands] == [("ray", "x")]
    assert (recording.stdout, recording.returncode) == ("", 0)


def test_what_runs_at_the_end_is_recorded_too(tmp_path: Path) -> None:
    recording = record(tmp_path, "import atexit\natexit.register(os.system, 'ray stop')\n")

    assert [one.argv for one in recording.commands] == [("ray", "stop")]


def test_files_are_seen_by_commands_and_told(tmp_path: Path) -> None:
    text = (
        "open('hosts', 'w').write('one\\n')\n"
        "print(subprocess.check_output(['cat', 'hosts'], text=True).strip())\n"
        "subprocess.run('echo two | tee more >/dev/null', shell=True)\n"
        "print(open('more').read().strip(), open('run.py').read(5))\n"
    )
    recording = record(tmp_path, text)

    assert recording.stdout.split() == ["one", "two", "impor"]
    assert recording.files == {"hosts": "one\n", "more": "two\n"}


def test_the_scratch_folder_is_not_told_by_its_name(tmp_path: Path) -> None:
    text = (
        "print(os.getcwd())\nsubprocess.run(['ray', os.getcwd() + '/x'], env={'A': os.getcwd()})\n"
        "open('x', 'w').write(os.getcwd())\n"
    )
    recording = record(tmp_path, text)

    assert recording.stdout == f"{SCRATCH}\n"
    assert recording.files == {"x": SCRATCH}
    assert recording.commands[0].argv == ("ray", f"{SCRATCH}/x")
    assert recording.commands[0].environment == {"A": SCRATCH}


def test_the_environment_is_the_same_everywhere(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("OF_THIS_RUN", "1")
    text = "import socket\nprint(*sorted(os.environ), socket.gethostname())\n"
    (line,) = printed(tmp_path, text, environment={"GIVEN": "1"})

    assert "GIVEN" in line.split()
    assert not {"OF_THIS_RUN", "PYTHONHASHSEED"} & set(line.split())
    assert line.endswith(" localhost")


@pytest.mark.parametrize(
    ("text", "status", "told"),
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit('why')", 1, "why"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("os._exit(4)", 4, ""),
        ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
        ("def", 1, "SyntaxError: invalid syntax"),
    ],
)
def test_how_it_ends_is_told(tmp_path: Path, text: str, status: int, told: str) -> None:
    recording = record(tmp_path, text)

    assert (recording.returncode, recording.stop) == (status, None)
    assert recording.stderr.strip().endswith(told)


def test_a_traceback_begins_in_the_launcher(tmp_path: Path) -> None:
    lines = record(tmp_path, "def f():\n    raise ValueError\nf()\n").stderr.splitlines()

    assert lines[1].endswith('/run.py", line 4, in <module>')


def test_a_command_that_is_never_waited_for_is_recorded(tmp_path: Path) -> None:
    text = "p = subprocess.Popen(['ray'], stdin=subprocess.PIPE)\nos._exit(0)\n"

    assert [one.argv for one in record(tmp_path, text).commands] == [("ray",)]


def test_the_same_run_gives_the_same_recording(tmp_path: Path) -> None:
    text = (
        "import time\nfor name in {'a', 'b'}:\n    os.system(f'ray {name}')\n    time.sleep(60)\n"
    )

    assert record(tmp_path, text) == record(tmp_path, text)


UNUSABLE = {
    "no file": ({"path": "other.py"}, "there is no launcher other.py"),
    "no function": ({"function": "exceute"}, "run.py: it has no function 'exceute'"),
    "a missing argument": (
        {"function": "execute"},
        "run.py: execute() cannot be called: missing a required argument: 'nodes'",
    ),
    "another argument": (
        {"function": "execute", "keywords": {"nodes": 1, "x": 2}},
        "run.py: execute() cannot be called: got an unexpected keyword argument 'x'",
    ),
    "an object": (
        {"function": "execute", "keywords": {"nodes": object}},
        (
            "run.py: an argument of execute() cannot be passed on: "
            "Object of type type is not JSON serializable"
        ),
    ),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_what_cannot_be_called_is_one_clear_error(tmp_path: Path, case: str) -> None:
    given, headline = UNUSABLE[case]
    (tmp_path / "run.py").write_text("def execute(nodes):\n    pass\n")
    path = Path(str(given.pop("path", "run.py")))
    with pytest.raises(python.LauncherError) as caught:
        python.record(path, root=tmp_path, **given)

    assert caught.value.headline == headline
    assert caught.value.remedy


def test_nothing_of_this_process_changes(tmp_path: Path) -> None:
    modules, path = set(sys.modules), list(sys.path)
    record(tmp_path, "import colorsys\n")

    assert (set(sys.modules) - modules, sys.path) == (set(), path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["run.py"]


def stdin_of(recording: Recording) -> dict[str, str | None]:
    return {one.argv[0]: one.stdin for one in recording.commands}


def test_commands_read_from_files_and_from_one_another(tmp_path: Path) -> None:
    text = (
        "open('given', 'w').write('text')\n"
        "subprocess.run(['of-a-text'], stdin=open('given'))\n"
        "subprocess.run(['of-bytes'], stdin=open('given', 'rb'))\n"
        "subprocess.run(['of-a-descriptor'], stdin=os.open('given', os.O_RDONLY))\n"
        "for options in ({}, {'text': True}):\n"
        "    asked = subprocess.Popen(['smi'], stdout=-1, **options)\n"
        "    subprocess.run([f'of-a-command{len(options)}'], stdin=asked.stdout)\n"
        "written = subprocess.Popen(['of-a-pipe'], stdin=-1)\n"
        "written.stdin.write(b'text')\n"
        "written.stdin.close()\n"
        "written.wait()\n"
    )

    assert stdin_of(record(tmp_path, text, answers={"smi": "text"})) == {
        **dict.fromkeys(("of-a-text", "of-bytes", "of-a-descriptor"), "text"),
        **dict.fromkeys(("of-a-command0", "of-a-command1", "of-a-pipe"), "text"),
        "smi": None,
    }


def test_output_goes_where_the_launcher_wants_it(tmp_path: Path) -> None:
    text = (
        "inherited = subprocess.Popen(['smi'])\n"
        "subprocess.run(['smi'], stdout=open('file', 'w'))\n"
        "subprocess.run(['smi'], stdout=os.open('descriptor', os.O_WRONLY | os.O_CREAT))\n"
        "both = subprocess.Popen('smi; smi >&2', shell=True, stdout=-1, stderr=-2)\n"
        "apart = subprocess.Popen('smi >&2', shell=True, stderr=-1)\n"
        "print(both.stdout.read(), apart.stderr.read(), inherited.stdout, flush=True)\n"
    )
    recording = record(tmp_path, text, answers={"smi": "other\n"})

    assert recording.stdout == "other\nb'other\\nother\\n' b'other\\n' None\n"
    assert recording.files == {"file": "other\n", "descriptor": "other\n"}


def test_large_answer_reaches_the_launcher(tmp_path: Path) -> None:
    text = "print(len(subprocess.check_output(['smi'])))\n"

    assert printed(tmp_path, text, answers={"smi": "x" * 300_000}) == ["300000"]


def test_a_long_answer_reaches_a_launcher_that_is_busy(tmp_path: Path) -> None:
    """A pipe holds a part of it, and whoever reads it gets to that now and then."""
    text = (
        "import threading\nfound = []\n"
        "def ask(): found.append(subprocess.run(['smi'], capture_output=True).stdout)\n"
        "asking = threading.Thread(target=ask)\nasking.start()\n"
        "while asking.is_alive(): pow(7, 400_000)\n"
        "print(len(found[0]))\n"
    )

    assert printed(tmp_path, text, answers={"smi": "x" * 300_000}) == ["300000"]


def test_commands_that_cannot_start_raise_what_python_raises(tmp_path: Path) -> None:
    text = (
        "for given in ({'args': [1]}, {'args': 'a\\0b', 'shell': True}, "
        "{'args': ['a'], 'cwd': 'missing'}):\n"
        "    try:\n        subprocess.run(**given)\n"
        "    except (OSError, TypeError, ValueError) as error:\n        print(error)\n"
    )

    assert printed(tmp_path, text) == [
        "expected str, bytes or os.PathLike object, not int",
        "embedded null byte",
        "[Errno 2] No such file or directory: '<scratch>/missing'",
    ]


def test_further_arguments_of_a_shell_are_its_parameters(tmp_path: Path) -> None:
    recording = record(tmp_path, "subprocess.run(['ray \"$1\"', 'name', 'a b'], shell=True)\n")

    assert [one.argv for one in recording.commands] == [("ray", "a b")]


def test_launcher_ends_where_a_text_of_its_shell_is_stopped(tmp_path: Path) -> None:
    recording = record(tmp_path, "os.system('enable -n echo')\nprint('after')\n")

    assert recording.stop is not None
    assert recording.stop.reason == "enable changes which commands bash has built in"
    assert recording.stop.origin == "run.py:2"
    assert recording.stdout == ""


def test_commands_are_waited_for_in_every_way(tmp_path: Path) -> None:
    text = (
        "import pty\n"
        "def start():\n    return os.spawnlp(os.P_NOWAIT, 'tool', 'tool')\n"
        "one = os.posix_spawn('/bin/tool', ['tool'], os.environ)\n"
        "os.kill(one, 0)\nos.killpg(one, 0)\n"
        "print(os.waitpid(-1, 0) == (one, 0))\n"
        "two, three = start(), start()\n"
        "print(os.wait() == (two, 0), os.wait4(three, 0)[:2] == (three, 0))\n"
        "four = start()\n"
        "print(os.wait3(0)[:2] == (four, 0), pty.spawn('tool'), os.getpgid(0) > 0)\n"
        "try:\n    os.wait()\nexcept ChildProcessError:\n    print('none is left')\n"
    )

    assert printed(tmp_path, text) == ["True", "True True", "True 0 True", "none is left"]


def test_processes_of_asyncio_are_used_as_python_describes_them(tmp_path: Path) -> None:
    text = (
        "async def ask():\n"
        "    given = dict(stdin=-1, stdout=-1, stderr=-1)\n"
        "    one = await asyncio.create_subprocess_shell('tool; smi >&2', **given)\n"
        "    one.stdin.write(b'a')\n    one.stdin.writelines([b'b', b'c'])\n"
        "    await one.stdin.drain()\n    one.stdin.write_eof()\n"
        "    print(one.stdin.is_closing())\n"
        "    one.stdin.close()\n    await one.stdin.wait_closed()\n"
        "    print(await one.stderr.read(), await one.stdout.read(), await one.stdout.read())\n"
        "    one.send_signal(15)\n    one.terminate()\n    one.kill()\n"
        "    two = await asyncio.create_subprocess_exec('smi', stdin=-1, stdout=-1)\n"
        "    print(await two.communicate(b'd'), two.stderr)\n"
        "asyncio.run(ask())\n"
    )
    recording = record(tmp_path, text, answers={"smi": "other"})

    assert recording.stdout.splitlines() == ["False", "b'other' b'' b''", "(b'other', None) None"]
    assert [one.stdin for one in recording.commands][::2] == [None, "d"]


def test_what_happens_inside_of_the_scratch_folder_is_let_through(tmp_path: Path) -> None:
    text = (
        "import sqlite3, landlockpy\n"
        "os.mkfifo('pipe')\n"
        "os.mkdir('sub')\n"
        "folder = os.open('sub', os.O_RDONLY)\n"
        "os.mkdir('other', dir_fd=folder)\n"
        "os.makedirs(os.path.expanduser('~'), exist_ok=True)\n"
        "sqlite3.connect(':memory:').close()\n"
        "open(1, 'w', closefd=False).write('')\n"
        "os.chmod(os.open('file', os.O_RDWR | os.O_CREAT), 0o600)\n"
        "landlockpy.supported()\n"
        "print(os.path.exists('pipe'), os.path.isdir('sub/other'))\n"
    )

    assert printed(tmp_path, text) == ["True True"]


def test_function_whose_annotation_names_nothing_is_called(tmp_path: Path) -> None:
    text = "def execute(a: 'Missing'):\n    print(a)\n"

    assert record(tmp_path, text, "execute", keywords={"a": 1}).stdout == "1\n"


def test_function_of_what_is_no_python(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("def execute(): ...\n")

    with pytest.raises(python.LauncherError) as caught:
        python.record(Path("run.txt"), "execute", root=tmp_path)

    assert caught.value.headline == "run.txt: it is no Python script"


def test_shell_that_is_missing_is_an_error_of_the_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)

    with pytest.raises(SandboxError) as caught:
        record(tmp_path, "os.system('ray')\n")

    assert caught.value.headline == "there is no bash to run launchers with"


def test_interpreter_that_nobody_answers_ends(tmp_path: Path) -> None:
    pipes = [str(tmp_path / name) for name in ("requests", "answers")]
    for pipe in pipes:
        os.mkfifo(pipe)
    code = (
        "import sys\nfrom pytest_ropecontract.launchers.interpreter.channel import Channel\n"
        "Channel(*sys.argv[1:], ('',)).ask(run=1)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, *pipes]) as process:
        with Path(pipes[0]).open("rb") as requests, Path(pipes[1]).open("wb"):
            assert requests.readline() == b'{"run": 1}\n'
        assert process.wait() == 70
