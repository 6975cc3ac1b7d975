from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from no_trace import descendants, no_trace

import pytest_ropecontract
from pytest_ropecontract.definitions import close_worker
from pytest_ropecontract.definitions.worker import Worker, shared_worker, signal_name

pytestmark = pytest.mark.usefixtures("new_worker")

PLAIN = "def model_args():\n    return '--a'\n"
WHICH = "import os\ndef model_args():\n    return [str(os.getppid()), str(os.getpid())]\n"
PACKAGES = str(Path(pytest_ropecontract.__file__).parent.parent)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(*pids: int) -> None:
    deadline = time.monotonic() + 60
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, f"still running: {pids}"
        time.sleep(0.01)


def test_nothing_is_started_before_the_first_expansion(project):
    project.add("kimi-k2.py", PLAIN)
    assert shared_worker().pid is None


def test_every_expansion_has_its_own_process_of_one_worker(project):
    name = project.add("kimi-k2.py", WHICH)
    (worker, first), (again, second) = (project.registry[name].expand().argv for _ in range(2))
    assert worker == again == str(shared_worker().pid)
    assert first != second


def test_close_leaves_no_process_and_no_open_file(project, temporary):
    project.add("kimi-k2.py", PLAIN)
    project.add("kimi-k3.sh", "MODEL_ARGS=(--a)\n")
    project.registry["kimi-k2"].expand()
    close_worker()
    with no_trace(temporary):
        project.registry["kimi-k2"].expand()
        project.registry["kimi-k3"].expand()
        close_worker()


def test_close_twice(project):
    project.expand("kimi-k2.py", PLAIN)
    close_worker()
    close_worker()
    assert shared_worker().pid is None


def test_expansion_after_close_starts_another(project):
    project.expand("kimi-k2.py", PLAIN)
    close_worker()
    assert project.registry["kimi-k2"].expand().argv == ("--a",)


def test_worker_that_was_killed_is_replaced(project):
    project.expand("kimi-k2.py", PLAIN)
    os.kill(shared_worker().pid, signal.SIGKILL)
    wait_until_gone(shared_worker().pid)
    assert project.registry["kimi-k2"].expand().argv == ("--a",)


def test_definition_that_kills_the_worker(project):
    pid = project.root / "pid"
    script = (
        "import os, signal, time\nfrom pathlib import Path\n"
        f"def model_args():\n    Path({str(pid)!r}).write_text(str(os.getpid()))\n"
        "    os.kill(os.getppid(), signal.SIGKILL)\n    time.sleep(600)\n"
    )
    error = project.error("killer.py", script)
    assert error.headline == "killer: the process that runs definitions was killed by SIGKILL"
    assert error.details == ()
    assert error.remedy == "check that the definition does not end processes that are not its own"
    if sys.platform == "linux":
        wait_until_gone(int(pid.read_text()))
    assert project.expand("kimi-k2.py", PLAIN).argv == ("--a",)


def test_python_that_does_not_start(project, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(project.root / "no-python"))
    error = project.error("kimi-k2.py", PLAIN)
    assert error.headline.startswith(
        "kimi-k2: the process that runs definitions cannot be started: [Errno 2]"
    )
    assert error.remedy == "check the Python executable and the limit on processes"


def test_python_without_a_name(project, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    error = project.error("kimi-k2.py", PLAIN)
    expected = "kimi-k2: there is no Python to run definitions with: sys.executable is empty"
    assert error.headline == expected
    assert error.remedy == "run pytest with a Python executable"


@pytest.mark.parametrize("status", [0, 3])
def test_python_that_ends_at_once(project, monkeypatch, capfd, status):
    lines = ["#!/bin/sh", "echo noise", "echo broken installation >&2", f"exit {status}"]
    python = project.write("python", "\n".join(lines))
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    error = project.error("kimi-k2.py", PLAIN)
    expected = f"kimi-k2: the process that runs definitions ended with status {status}"
    assert error.headline == expected
    assert error.details == ("broken installation",)
    assert capfd.readouterr() == ("", "")


def test_of_what_the_worker_complains_of_the_last_five_lines_are_told(project, monkeypatch):
    python = project.write("python", "#!/bin/sh\nprintf '%s\\n' 1 2 3 4 5 6 7 >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert project.error("kimi-k2.py", PLAIN).details == ("3", "4", "5", "6", "7")


def test_complaints_of_the_worker_may_be_anything(project, monkeypatch):
    python = project.write("python", "#!/bin/sh\nprintf 'caf\\351' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert project.error("kimi-k2.py", PLAIN).details == ("caf\ufffd",)


def test_complaints_that_another_process_holds_open_are_not_waited_for(project, monkeypatch):
    monkeypatch.setattr("pytest_ropecontract.definitions.worker._PATIENCE", 0.1)
    project.registry.time_limit = 0.1
    pid = project.root / "pid"
    python = project.write("python", f"#!/bin/sh\nsleep 60 &\necho $! > {pid}\nexit 3\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    error = project.error("kimi-k2.py", PLAIN)
    left = int(pid.read_text())
    assert is_running(left)
    os.kill(left, signal.SIGKILL)
    assert error.headline == "kimi-k2: the process that runs definitions ended with status 3"
    assert error.details == ()


def test_interrupt_from_the_keyboard_does_not_reach_the_worker(project):
    """It goes to all of a process group."""
    project.expand("kimi-k2.py", PLAIN)
    assert os.getpgid(shared_worker().pid) != os.getpgid(0)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 600 & echo $! > pid",
        "setsid sleep 600 & echo $! > pid",
        "(setsid sh -c 'echo $$ > pid; exec sleep 600' &); while ! [ -s pid ]; do :; done",
    ],
    ids=["child", "session", "daemon"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what left its group")
def test_processes_that_a_script_leaves_running_are_killed(project, command):
    project.expand("starter.py", f"import os\nos.system({command!r})\n{PLAIN}")
    assert not is_running(int((project.root / "pid").read_text()))


def test_processes_of_a_script_that_hangs_are_killed(project):
    project.expand("kimi-k2.py", PLAIN)
    before = descendants(os.getpid())
    project.registry.time_limit = 0.3
    project.error("kimi-k3.py", "import os\nos.system('sleep 600')\n")
    assert descendants(os.getpid()) == before


def test_an_interrupted_expansion_does_not_spoil_the_next(project):
    name = project.add("kimi-k2.py", PLAIN)
    project.registry[name].expand()
    slow = project.add("slow.py", "import time\ntime.sleep(600)\n")
    # A run that a shell has put in the background starts with interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            project.registry[slow].expand()
    finally:
        signal.signal(signal.SIGINT, before)
    assert project.registry[name].expand().argv == ("--a",)


def test_threads_take_turns(project):
    names = [
        project.add(f"model-{n}.py", f"def model_args():\n    return '--n {n}'\n") for n in range(8)
    ]
    found = {}

    def expand(name: str) -> None:
        found[name] = project.registry[name].expand().argv

    threads = [threading.Thread(target=expand, args=[name]) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {f"model-{n}": ("--n", str(n)) for n in range(8)}


def first_token_in_a_fork(project):
    """Return the first token of a definition that a forked process expands."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, project.registry["kimi-k2"].expand().argv[0].encode())
            close_worker()
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    told = os.read(read, 100).decode()
    os.close(read)
    return told


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_process_has_a_worker_of_its_own(project):
    project.add("kimi-k2.py", WHICH)
    worker, _ = project.registry["kimi-k2"].expand().argv
    assert first_token_in_a_fork(project) not in {"", worker}
    assert project.registry["kimi-k2"].expand().argv[0] == worker


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_process_that_was_forked_before_the_first_expansion_starts_a_worker(project):
    project.add("kimi-k2.py", PLAIN)
    assert first_token_in_a_fork(project) == "--a"
    assert shared_worker().pid is None


def test_output_that_another_process_holds_open_is_not_waited_for(project):
    place = project.root / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        listening.listen()
        script = (
            "import os, socket\n"
            "with socket.socket(socket.AF_UNIX) as there:\n"
            f"    there.connect({str(place)!r})\n"
            "    socket.send_fds(there, [b'x'], [1, 99])\n"
            f"{PLAIN}"
        )
        assert project.expand("giver.py", script).argv == ("--a",)
        with listening.accept()[0] as here:
            _, held, *_ = socket.recv_fds(here, 1, 2)
    assert len(held) == 2
    for descriptor in held:
        os.close(descriptor)


def test_worker_that_is_forgotten_ends_without_being_asked_to(project):
    request = {
        "path": str(project.write("kimi-k2.py", PLAIN)),
        "cwd": str(project.root),
        "environ": {},
        "sys_path": [],
        "overrides": {},
        "time_limit": 20,
    }
    worker = Worker()
    try:
        worker.ask(request)
        forgotten = worker.pid
        with warnings.catch_warnings(record=True, action="always") as told:
            worker.forget()
        assert told == []
        assert worker.pid is None
        assert os.waitpid(forgotten, 0) == (forgotten, 0)
        assert json.loads(worker.ask(request)["result"])["argv"] == ["--a"]
    finally:
        worker.close()


PROGRAM = """
import os, sys
from pathlib import Path
from pytest_ropecontract.definitions import Registry
from pytest_ropecontract.definitions.worker import shared_worker
registry = Registry(Path(sys.argv[1]), time_limit=600)
registry.add_file(Path("models/kimi-k2.py"))
registry["kimi-k2"].expand()
print(shared_worker().pid, flush=True)
registry.add_file(Path(sys.argv[2]))
registry[Path(sys.argv[2]).stem].expand()
"""


def start_program(project, last: Path) -> tuple[subprocess.Popen[str], int]:
    project.write("kimi-k2.py", PLAIN)
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(project.root), str(last)],
        env={**os.environ, "PYTHONPATH": PACKAGES},
        stdout=subprocess.PIPE,
        text=True,
    )
    return program, int(program.stdout.readline())


def test_worker_ends_with_the_process_that_started_it(project):
    last = project.write("kimi-k3.py", PLAIN)
    program, worker = start_program(project, last)
    with program:
        assert program.wait() == 0
    assert not is_running(worker)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("slow.py", "import os\nos.system('sleep 600')\n"),
        ("slow.sh", "sleep 600 &\nsleep 600\n"),
    ],
    ids=["python", "shell"],
)
def test_worker_and_its_definition_end_when_the_process_is_killed(
    project, temporary, file, content
):
    program, worker = start_program(project, project.write(file, content))
    with program:
        while not len(started := descendants(worker)) >= 2:
            time.sleep(0.01)
        program.kill()
    wait_until_gone(worker, *started)
    assert list(temporary.iterdir()) == []


def test_worker_ends_although_a_fork_of_the_process_goes_on(project):
    project.write("kimi-k2.py", PLAIN)
    code = PROGRAM.partition("registry.add_file(Path(sys.argv[2]))")[0]
    waiting = "fork = os.fork()\nif fork:\n    print(fork, flush=True)\nos.read(0, 1)\n"
    with subprocess.Popen(
        [sys.executable, "-c", code + waiting, str(project.root)],
        env={**os.environ, "PYTHONPATH": PACKAGES},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        worker, fork = (int(program.stdout.readline()) for _ in range(2))
        program.kill()
        wait_until_gone(worker)
        assert is_running(fork)
    wait_until_gone(fork)


def test_worker_that_gives_no_answer_is_not_waited_for(project, monkeypatch):
    monkeypatch.setattr("pytest_ropecontract.definitions.worker._PATIENCE", 0.2)
    project.expand("kimi-k2.py", PLAIN)
    os.kill(shared_worker().pid, signal.SIGSTOP)
    project.registry.time_limit = 0.1
    error = project.error("kimi-k3.py", PLAIN)
    assert error.headline == "kimi-k3: the process that runs definitions was killed by SIGKILL"


def test_what_cannot_be_started_is_told(project):
    worker = Worker()
    try:
        request = {"scratch_in": str(project.root / "nowhere"), "time_limit": 1, "environ": {}}
        answer = worker.ask({**request, "program": "", "bash": "", "path": ""})
    finally:
        worker.close()
    assert answer["ended"] == "unable"
    assert "nowhere" in answer["reason"]
    assert (answer["output"], answer["result"]) == ("", "")


def test_temporary_directory_that_is_missing(project, temporary):
    name = project.add("kimi-k2.sh", "MODEL_ARGS=(--a)\n")
    temporary.rmdir()
    start = "kimi-k2: no process can be started for it: [Errno 2] "
    assert project.failure(name).headline.startswith(start)


def test_signal_without_a_name():
    assert signal_name(signal.SIGSEGV) == "SIGSEGV"
    assert signal_name(99) == "signal 99"
