from __future__ import annotations

import codecs
import ctypes
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from pytest_ropecontract.launchers import sandbox
from pytest_ropecontract.launchers.sandbox import Layer, kernel, landlock

sys.path.insert(0, str(Path(__file__).parent.parent))

from no_trace import no_trace

BASH = "/bin/bash"
PR_SET_DUMPABLE = 4
every_choice_of_layers = pytest.mark.parametrize(
    "layers",
    [sandbox.EVERY_LAYER, (Layer.LANDLOCK,), (Layer.NAMESPACES,), ()],
    ids=["all", "landlock", "namespaces", "none"],
)
only_with_landlock = pytest.mark.skipif(
    landlock.missing() is not None, reason="the kernel has no Landlock"
)


def run(folder: Path, text: str, **options: object) -> sandbox.Finished:
    options = {"environment": {}, "writable": [folder], **options}
    return sandbox.run([BASH, "-c", text], folder=folder, **options)


@every_choice_of_layers
def test_tells_what_became_of_a_command(tmp_path: Path, layers: tuple[Layer, ...]) -> None:
    finished = run(tmp_path, "read x; echo $x; echo error >&2; exit 3", stdin="in\n", layers=layers)

    assert (finished.returncode, finished.stdout, finished.stderr) == (3, "in\n", "error\n")
    assert finished.ended is None


@every_choice_of_layers
def test_says_which_signal_ended_it(tmp_path: Path, layers: tuple[Layer, ...]) -> None:
    assert run(tmp_path, "kill -TERM $$", layers=layers).returncode == -signal.SIGTERM


@every_choice_of_layers
def test_gives_it_its_environment_and_no_other(
    tmp_path: Path, layers: tuple[Layer, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONE_OF_OURS", "1")

    finished = run(tmp_path, "compgen -e", environment={"A": "1"}, layers=layers)

    assert set(finished.stdout.split()) <= {"A", "PWD", "OLDPWD", "SHLVL", "_"}


@every_choice_of_layers
def test_ends_it_after_its_time(tmp_path: Path, layers: tuple[Layer, ...]) -> None:
    finished = run(tmp_path, "while :; do :; done", time_limit=0.3, layers=layers)

    assert finished.ended == "it did not end within 0.3 s"
    assert finished.returncode is None


@every_choice_of_layers
def test_bounds_how_many_processes_it_begins(tmp_path: Path, layers: tuple[Layer, ...]) -> None:
    finished = run(
        tmp_path,
        "exec 3<> <(:); for i in {1..60}; do read -t 60 <&3 & done; wait",
        most_processes=40,
        layers=layers,
    )

    assert finished.ended == "it began more than 40 processes"


@every_choice_of_layers
def test_bounds_what_it_prints(tmp_path: Path, layers: tuple[Layer, ...]) -> None:
    line = "x" * 1000

    finished = run(tmp_path, f"while :; do echo {line}{line}; done", layers=layers)

    assert finished.ended == "it wrote more than 8 MiB of output"


@every_choice_of_layers
def test_leaves_no_process(tmp_path: Path, layers: tuple[Layer, ...]) -> None:
    """One in the background, one of a session of its own, one whose parents have ended."""
    mark = f"{tmp_path}/mark"
    program = textwrap.dedent(
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        if os.fork() == 0:
            time.sleep(600)
        """
    )

    finished = sandbox.run(
        [sys.executable, "-I", "-S", "-c", program],
        folder=tmp_path,
        environment={"MARK": mark},
        layers=layers,
    )

    assert finished.returncode == 0
    assert [one for one in Path("/proc").glob("[0-9]*") if mark in _environment(one)] == []


def _environment(process: Path) -> str:
    try:
        return (process / "environ").read_text(errors="replace")
    except OSError:
        return ""


@every_choice_of_layers
def test_leaves_no_trace_in_this_process(tmp_path: Path, layers: tuple[Layer, ...]) -> None:
    run(tmp_path, ":", layers=layers)  # what is imported at first

    with no_trace():
        run(tmp_path, ":", layers=layers)


def test_ends_what_it_runs_when_the_one_who_asked_is_gone(tmp_path: Path) -> None:
    mark = f"{tmp_path}/mark"
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from pytest_ropecontract.launchers import sandbox
        sandbox.run(
            ["{BASH}", "-c", "echo > begun; while :; do :; done"], folder=Path("{tmp_path}"),
            environment={{"MARK": "{mark}"}}, writable=[Path("{tmp_path}")], time_limit=600)
        """
    )
    with subprocess.Popen([sys.executable, "-c", program]) as asking:
        _until((tmp_path / "begun").exists)
        asking.kill()

    _until(lambda: not [one for one in Path("/proc").glob("[0-9]*") if mark in _environment(one)])


def _until(condition: object) -> None:
    for _ in range(2000):
        if condition():
            return
        os.sched_yield()
        subprocess.run(["/bin/sleep", "0.01"], check=True)
    pytest.fail("it did not come about")


@only_with_landlock
def test_landlock_lets_nothing_else_be_executed(tmp_path: Path) -> None:
    finished = run(
        tmp_path, "/bin/true; echo $?; /bin/cat </dev/null; echo $?", programs=["/bin/cat"]
    )

    assert finished.stdout == "126\n0\n"


@only_with_landlock
def test_landlock_lets_nothing_else_be_written(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "old").write_text("old")

    run(inside, "echo x > file; echo x > ../outside/new; echo x > ../outside/old; echo > /dev/null")

    assert sandbox.written(inside) == {"file": "x\n"}
    assert sandbox.written(outside) == {"old": "old"}


@only_with_landlock
def test_landlock_is_enough_against_signals_and_connections(tmp_path: Path) -> None:
    finished = run(
        tmp_path,
        f"kill -0 {os.getpid()}; echo $?; echo > /dev/tcp/127.0.0.1/9; echo $?",
        layers=[Layer.LANDLOCK],
    )

    assert "Operation not permitted" in finished.stderr
    assert "Permission denied" in finished.stderr
    assert finished.stdout == "1\n1\n"


def test_nothing_can_be_gained(tmp_path: Path) -> None:
    """Neither by a program that changes its user, nor as root."""
    finished = run(
        tmp_path,
        'while read -r name value; do case $name in NoNewPrivs:|CapBnd:) echo "$value";; esac;'
        " done < /proc/self/status",
        layers=(),
    )

    bounding, new = finished.stdout.split()
    assert new == "1"
    assert os.geteuid() != 0 or int(bounding, 16) & ~0b110 == 0


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (Layer.LANDLOCK, "does not guard programs and files (it was not asked for)"),
        (Layer.NAMESPACES, "does not set processes and network apart (it was not asked for)"),
    ],
)
def test_says_which_layer_is_missing(tmp_path: Path, layer: Layer, said: str) -> None:
    finished = run(tmp_path, ":", layers=sandbox.EVERY_LAYER - {layer})

    assert layer in finished.missing
    assert any(said in one for one in finished.missing_layers)


def test_says_that_the_library_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "landlockpy", None)

    finished = run(tmp_path, ":")

    assert Layer.LANDLOCK in finished.missing
    assert any(
        "pytest-ropecontract[launchers] is not installed" in one for one in finished.missing_layers
    )


@every_choice_of_layers
def test_a_program_that_is_not_there_is_an_error(tmp_path: Path, layers: tuple[Layer, ...]) -> None:
    with pytest.raises(
        sandbox.SandboxError, match=r"\Anothing could not be started in the sandbox"
    ):
        sandbox.run([str(tmp_path / "nothing")], folder=tmp_path, environment={}, layers=layers)


def test_scratch_is_gone_afterwards() -> None:
    with sandbox.scratch() as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "file").write_text("x")
        assert sandbox.written(folder) == {"sub/file": "x"}

    assert not folder.exists()


def test_written_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")

    assert sandbox.written(tmp_path) == {"link": "-> /etc/passwd"}


SERVE = "from pytest_ropecontract.launchers.sandbox.supervisor import serve; serve()"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(sandbox.__file__).parents[3])}


def supervisor(begin: str = "") -> subprocess.Popen[str]:
    """Start a supervisor as it is, to be asked by hand."""
    return subprocess.Popen(
        [sys.executable, "-c", begin + SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
        text=True,
    )


def request(folder: Path, text: str) -> str:
    asked = {
        "argv": [BASH, "-c", text],
        "folder": str(folder),
        "environment": {},
        "stdin": "",
        "time_limit": 600,
        "most_processes": 9,
        "namespaces": False,
        "ruleset": None,
    }
    return json.dumps(asked) + "\n"


def test_supervisor_that_nobody_asks_ends() -> None:
    with supervisor() as process:
        assert process.communicate() == ("", None)

    assert process.returncode == 0


def test_supervisor_whose_asker_is_gone_ends_the_command(tmp_path: Path) -> None:
    with supervisor() as process:
        process.stdin.write(request(tmp_path, "echo $$ > pid; exec sleep 600"))
        process.stdin.flush()
        while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text().strip():
            time.sleep(0.01)
        assert process.communicate() == ("", None)

    assert process.returncode == 0
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_supervisor_that_cannot_begin_says_why(tmp_path: Path) -> None:
    begin = (
        "import atexit, resource\n"
        "files = resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "atexit.register(resource.setrlimit, *files)  # for what measures it\n"
        "resource.setrlimit(files[0], (8, files[1][1]))\n"
    )
    with supervisor(begin) as process:
        said, _ = process.communicate(request(tmp_path, "true"))

    assert json.loads(said)["failure"].startswith("[Errno 24]")


def test_output_that_another_process_holds_open_is_not_waited_for(tmp_path: Path) -> None:
    place = str(tmp_path / "socket")
    code = (
        "import socket, sys\nwith socket.socket(socket.AF_UNIX) as there:\n"
        "    there.connect(sys.argv[1])\n    socket.send_fds(there, [b'x'], [1, 2])\n"
    )
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        command = [sys.executable, "-c", code, place]
        finished = sandbox.run(command, folder=tmp_path, environment={}, layers=())
        with listening.accept()[0] as here:
            _, held, *_ = socket.recv_fds(here, 1, 2)
    for descriptor in held:
        os.close(descriptor)

    assert (len(held), finished.returncode, finished.stdout) == (2, 0, "")


def test_runs_on_linux_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(sandbox.SandboxError) as caught:
        run(tmp_path, "true")

    assert caught.value.headline == "launchers are recorded on Linux alone, this is darwin"


def test_python_without_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")

    with pytest.raises(sandbox.SandboxError, match="there is no Python to supervise launchers"):
        run(tmp_path, "true")


@pytest.mark.parametrize(
    ("python", "status"),
    [("echo broken installation >&2; exit 3", 3), ("exec sleep 600 2>/dev/null", -9)],
    ids=["ends at once", "hangs"],
)
def test_supervisor_that_gives_no_answer_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str, status: int
) -> None:
    (tmp_path / "python").write_text(f"#!/bin/sh\n{python}\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    for patience in ("_PATIENCE", "_LAST_PATIENCE"):
        monkeypatch.setattr(f"pytest_ropecontract.launchers.sandbox.running.{patience}", 0.2)

    with pytest.raises(sandbox.SandboxError) as caught:
        run(tmp_path, "true", time_limit=0.1)

    said = f"the process that supervises launchers ended with status {status}"
    assert caught.value.headline == said
    assert caught.value.details == (("broken installation",) if status == 3 else ())


def test_kernel_that_refuses_the_rules_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "missing", lambda: None)
    monkeypatch.setattr(landlock, "ruleset", lambda *_: (tmp_path / "no rules").open("w"))

    with pytest.raises(sandbox.SandboxError, match="Landlock is not put in force"):
        run(tmp_path, "true")


def test_reason_for_which_there_are_no_namespaces_is_the_kernels() -> None:
    assert kernel._unshare(1) == os.strerror(errno.EINVAL)


def entered_by_an_ordinary_user(*, threads: int = 0) -> str:
    """Return who an ordinary user is in its namespaces, or why it has none."""
    codecs.lookup("ascii")  # what it loads of Python may be closed to that user
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setresgid(1000, 1000, 1000)
            os.setresuid(1000, 1000, 1000)
            for _ in range(threads):
                threading.Thread(target=time.sleep, args=[60], daemon=True).start()
            # A process that has changed its user does not own its files in /proc.
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
            os.write(write, (kernel.enter_namespaces() or str(os.geteuid())).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    os.close(write)
    with os.fdopen(read, encoding="ascii") as told:
        return told.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_ordinary_user_stays_itself_in_its_namespaces() -> None:
    refused = {os.strerror(one) for one in (errno.EPERM, errno.ENOSPC, errno.EINVAL)}
    assert entered_by_an_ordinary_user() in {"1000", *refused}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_ordinary_user_is_told_why_it_has_no_namespaces() -> None:
    """No kernel gives them to a process of several threads; some give them to no user."""
    refused = {os.strerror(one) for one in (errno.EPERM, errno.ENOSPC, errno.EINVAL)}
    assert entered_by_an_ordinary_user(threads=1) in refused


@only_with_landlock
@pytest.mark.parametrize(
    "content", [b"\x7fELF\x02", b"\x7fELF\x02\x01" + bytes(58)], ids=["cut off", "static"]
)
def test_program_without_a_loader_needs_none(tmp_path: Path, content: bytes) -> None:
    program = tmp_path / "program"
    program.write_bytes(content)

    with landlock.ruleset([program], [tmp_path]) as rules:
        assert rules.fileno() > 2
