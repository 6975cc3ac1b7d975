"""Python launchers that try to run, write, send or leave something for real: none of them does.

Each is run without the protections of the kernel, so that what stops it is in the interpreter. What
nothing there can stop is run with them. It must leave nothing outside of its scratch folder and no
process, and must end recorded or refused with a reason.
"""

from __future__ import annotations

import re
import socket
import subprocess
from pathlib import Path

import pytest

from pytest_ropecontract.launchers import python, sandbox

# VICTIM is a file that must not come to be; CANARY a program that makes it; OTHER the process id of
# a process that must not be ended; PORT one that nothing must connect to.
RECORDED = {
    # subprocess
    "run": "subprocess.run(['touch', 'VICTIM'])",
    "run by a path": "subprocess.run(['/usr/bin/touch', 'VICTIM'], check=True)",
    "run of a program of its own": "subprocess.run(['CANARY', 'VICTIM'])",
    "run by a Path": "subprocess.run([pathlib.Path('/usr/bin/touch'), pathlib.Path('VICTIM')])",
    "run of bytes": "subprocess.run([b'touch', b'VICTIM'])",
    "a shell's text": "subprocess.run('touch VICTIM', shell=True)",
    "a shell's list": "subprocess.run(['touch \"$1\"', 'x', 'VICTIM'], shell=True)",
    "another shell": "subprocess.run('touch VICTIM', shell=True, executable='/bin/bash')",
    "bash -c": "subprocess.run(['bash', '-c', 'touch VICTIM'])",
    "bash that reads": "subprocess.run(['bash'], input='touch VICTIM', text=True)",
    "bash that reads what is written": (
        "p = subprocess.Popen(['bash'], stdin=subprocess.PIPE); p.stdin.write(b'touch VICTIM'); "
        "p.stdin.close(); p.wait()"
    ),
    "call": "subprocess.call(['touch', 'VICTIM'])",
    "check_call": "subprocess.check_call(['touch', 'VICTIM'])",
    "check_output": "subprocess.check_output(['touch', 'VICTIM'])",
    "getoutput": "subprocess.getoutput('touch VICTIM')",
    "Popen": "subprocess.Popen(['touch', 'VICTIM'])",
    "Popen that is waited for": "subprocess.Popen(['touch', 'VICTIM']).communicate()",
    "Popen in a thread": (
        "t = threading.Thread(target=subprocess.run, args=(['touch', 'VICTIM'],)); "
        "t.start(); t.join()"
    ),
    "a class of Popen": (
        "type('P', (subprocess.Popen,), {})(['touch', 'VICTIM'], preexec_fn=os._exit)"
    ),
    "a pipe of two": (
        "p = subprocess.Popen(['echo', 'VICTIM'], stdout=-1); "
        "subprocess.run(['xargs', 'touch'], stdin=p.stdout)"
    ),
    "shlex": "subprocess.run(shlex.split('touch \"VICTIM\"'))",
    "a quoted text": "subprocess.run('touch ' + shlex.quote('VICTIM'), shell=True)",
    "an environment of its own": "subprocess.run(['touch', 'VICTIM'], env={'PATH': '/usr/bin'})",
    "its path changed": "os.environ['PATH'] = '/usr/bin'; subprocess.run(['touch', 'VICTIM'])",
    "its libraries changed": (
        "os.environ['LD_PRELOAD'] = '/x.so'; subprocess.run(['touch', 'VICTIM'])"
    ),
    "a Python": "subprocess.run([sys.executable, '-c', 'open(\"VICTIM\", \"w\")'])",
    # os
    "system": "os.system('touch VICTIM')",
    "popen": "os.popen('touch VICTIM').read()",
    "execv": "os.execv('/usr/bin/touch', ['touch', 'VICTIM'])",
    "execlp": "os.execlp('touch', 'touch', 'VICTIM')",
    "execvpe": "os.execvpe('touch', ['touch', 'VICTIM'], {})",
    "execle": "os.execle('/usr/bin/touch', 'touch', 'VICTIM', {'A': '1'})",
    "spawnv": "os.spawnv(os.P_WAIT, '/usr/bin/touch', ['touch', 'VICTIM'])",
    "spawnlpe": "os.spawnlpe(os.P_NOWAIT, 'touch', 'touch', 'VICTIM', {})",
    "posix_spawn": "os.waitpid(os.posix_spawn('/usr/bin/touch', ['touch', 'VICTIM'], {}), 0)",
    "posix_spawnp": "os.posix_spawnp('touch', ['touch', 'VICTIM'], os.environ)",
    "pty": "pty.spawn(['touch', 'VICTIM'])",
    # asyncio
    "asyncio exec": "asyncio.run(start(asyncio.create_subprocess_exec, 'touch', 'VICTIM'))",
    "asyncio shell": "asyncio.run(start(asyncio.create_subprocess_shell, 'touch VICTIM'))",
    "its own kill": "p = subprocess.Popen(['ray', 'VICTIM']); os.kill(p.pid, 9); p.wait()",
}
REFUSED = {
    "posix.system": "import posix; posix.system('touch VICTIM')",
    "posix.execv": "import posix; posix.execv('/usr/bin/touch', ['touch', 'VICTIM'])",
    "posix.posix_spawn": "import posix; posix.posix_spawn('/usr/bin/touch', ['t', 'VICTIM'], {})",
    "fork": "os.fork() or open('VICTIM', 'w')",
    "forkpty": "pty.fork()",
    "multiprocessing fork": "multiprocess('fork')",
    "multiprocessing spawn": "multiprocess('spawn')",
    "multiprocessing forkserver": "multiprocess('forkserver')",
    "a pool of processes": (
        "concurrent.futures.ProcessPoolExecutor(1).submit(pathlib.Path('VICTIM').touch).result()"
    ),
    "below subprocess": "import _posixsubprocess as p; p.fork_exec([b'touch', b'VICTIM'])",
    "the Popen of before": (
        "sys.modules.pop('subprocess'); import subprocess as s; s.run(['touch', 'VICTIM'])"
    ),
    "an event loop": (
        "asyncio.run(start(asyncio.new_event_loop().subprocess_exec, object, 'touch', 'VICTIM'))"
    ),
    "ctypes system": "import ctypes; ctypes.CDLL(None).system(b'touch VICTIM')",
    "ctypes by index": "import ctypes; ctypes.CDLL(None)['execv']",
    "ctypes of a library": "import ctypes; ctypes.CDLL('libc.so.6').system(b'touch VICTIM')",
    "ctypes from another thread": (
        "import ctypes; t = threading.Thread(target=lambda: ctypes.CDLL(None).system(b'x')); "
        "t.start(); t.join()"
    ),
    "_ctypes": "import _ctypes; _ctypes.dlsym(_ctypes.dlopen(None, 0), 'system')",
    "an interpreter of its own": (
        "import importlib; name = '_xxsubinterpreters' if sys.version_info < (3, 13) else "
        "'_interpreters'; importlib.import_module(name).create()"
    ),
    "a fresh module": (
        "import importlib.machinery as m, importlib.util as u; b = m.BuiltinImporter\n"
        "s = b.find_spec('_posixsubprocess') or u.find_spec('_posixsubprocess')\n"
        "f = u.module_from_spec(s); s.loader.exec_module(f); subprocess._fork_exec = f.fork_exec\n"
        "import types; o = types.ModuleType('o'); o.__file__ = subprocess.__file__\n"
        "f.fork_exec((b'/usr/bin/touch', b'VICTIM'), (b'/usr/bin/touch',), True, (), None, None, "
        "-1, -1, -1, -1, -1, -1, *os.pipe(), True, False, 0, None, None, None, -1, None, True)"
    ),
    # files
    "open": "open('VICTIM', 'w')",
    "a pipe with a name": "os.mkfifo('VICTIM')",
    "a pipe with a name in a folder": (
        "os.mkfifo('victim', dir_fd=os.open(os.path.dirname('VICTIM'), os.O_PATH))"
    ),
    "a device": "os.mknod('VICTIM')",
    "append": "open('VICTIM', 'ab')",
    "os.open": "os.open('VICTIM', os.O_CREAT | os.O_WRONLY)",
    "a Path": "pathlib.Path('VICTIM').write_text('x')",
    "touch": "pathlib.Path('VICTIM').touch()",
    "mkdir": "os.makedirs('VICTIM/x/y')",
    "rename": "open('x', 'w').close(); os.replace('x', 'VICTIM')",
    "a link": "open('x', 'w').close(); os.link('x', 'VICTIM')",
    "a symbolic link": "os.symlink('x', 'VICTIM')",
    "through a symbolic link": "os.symlink('VICTIM', 'x'); open('x', 'w')",
    "through a folder": (
        "os.open('victim', os.O_CREAT, dir_fd=os.open(os.path.dirname('VICTIM'), os.O_RDONLY))"
    ),
    "a removal": "os.remove(__file__)",
    "a removal of a tree": "shutil.rmtree(os.path.dirname(__file__))",
    "a mode": "os.chmod(__file__, 0)",
    "a time": "os.utime(__file__, (0, 0))",
    "a length": "os.truncate(__file__, 0)",
    "a copy": "shutil.copy(__file__, 'VICTIM')",
    "a data base": "import sqlite3; sqlite3.connect('VICTIM').execute('create table a (b)')",
    "an archive": "shutil.make_archive('VICTIM', 'tar', '.')",
    "the project through the links": "open('scripts/run.py', 'w')",
    # the network and other processes
    "a connection": "import socket; socket.socket().connect(('127.0.0.1', PORT))",
    "a request": "import urllib.request as r; r.urlopen('http://127.0.0.1:PORT/')",
    "a datagram": (
        "import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))"
    ),
    "kill": "os.kill(OTHER, 9)",
    "killpg": "os.killpg(OTHER, 9)",
    "kill of the parent": "os.kill(os.getppid(), 9)",
    "a loop without an end": "while True: pass",
    "a deaf loop": "import signal; signal.signal(15, signal.SIG_IGN)\nwhile True: pass",
    "output without an end": "while True: print('x' * 99999)",
    "what catches everything": "try: os.fork()\nexcept BaseException: pass\nopen('VICTIM', 'w')",
    "what runs at the end": "import atexit; atexit.register(lambda: open('VICTIM', 'w'))",
    "a finalizer": "class A:\n def __del__(self): os.fork()\nx = A(); del x",
}
# What leaves the interpreter in ways that nothing in it sees.
KERNEL = {
    "a pipe with a name": "import posix; posix.mkfifo('VICTIM')",
    "a device": "import posix; posix.mknod('VICTIM')",
}
HEAD = """\
import asyncio, concurrent.futures, os, pathlib, pty, shlex, shutil, subprocess, sys, threading

async def start(how, *args):
    process = await how(*args)
    await process.wait()

def multiprocess(method):
    import multiprocessing
    process = multiprocessing.get_context(method).Process(target=pathlib.Path("VICTIM").touch)
    process.start()
    process.join()

"""
WITH_OTHER = frozenset({"kill", "killpg"})
# What ends the interpreter, changes it for those that come after, or has no line in a function.
ALONE = frozenset(
    {"execv", "execlp", "execvpe", "execle", "its path changed", "its libraries changed"}
    | {"Popen in a thread", "asyncio exec", "asyncio shell"}
)
TOGETHER = [name for name in RECORDED if name not in ALONE]
ENDLESS = frozenset({"a loop without an end", "a deaf loop"})


class Place:
    """A project with a launcher, and beside it all that must stay as it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.victim = folder / "victim"
        self.canary = folder / "program"
        (self.root / "scripts").mkdir(parents=True)
        self.launcher = self.root / "scripts/run.py"
        self.canary.write_text(f"#!/bin/sh\nexec /usr/bin/touch {self.victim}\n")
        self.canary.chmod(0o755)

    def write(self, *texts: str, **names: object) -> None:
        """Write a launcher that tries one thing after the other."""
        text = HEAD
        for number, one in enumerate(texts):
            text += f"def try_{number}():\n"
            text += "".join(f"    {line}\n" for line in one.splitlines())
        text += "def execute():\n"
        text += "".join(f"    try_{number}()\n" for number in range(len(texts)))
        for name, value in {"VICTIM": self.victim, "CANARY": self.canary, **names}.items():
            text = text.replace(name, str(value))
        self.launcher.write_text(text)

    def state(self) -> dict[str, tuple[bytes, int, float]]:
        return {
            path.relative_to(self.folder).as_posix(): (
                path.read_bytes() if path.is_file() else b"",
                path.stat().st_mode,
                path.stat().st_mtime,
            )
            for path in self.folder.rglob("*")
        }

    def processes(self) -> list[int]:
        """Return the processes that began in the launcher's environment."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.folder).encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def record(self, layers: object = (), time_limit: float = 20.0) -> python.Recording:
        return python.record(
            self.launcher,
            "execute",
            root=self.root,
            environment={"MARK": str(self.folder)},
            time_limit=time_limit,
            layers=layers,
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def tried(place: Place, recording: python.Recording) -> set[int]:
    """Return the numbers of the functions whose commands were recorded."""
    numbers = {}
    for line, text in enumerate(place.launcher.read_text().splitlines(), 1):
        found = re.match(r"def try_(\d+)", text)
        numbers[line] = int(found[1]) if found else numbers.get(line - 1, -1)
    trying = [
        one
        for one in recording.commands
        if any(str(place.victim) in word for word in (*one.argv, one.stdin or ""))
    ]
    if max(numbers.values()) == 0:
        return {0} if trying else set()
    return {numbers[int(str(one.origin).rpartition(":")[2])] for one in trying}


@pytest.mark.parametrize(
    "names", [TOGETHER, *([name] for name in sorted(ALONE))], ids=["together", *sorted(ALONE)]
)
def test_commands_are_recorded_and_not_run(names: list[str], place: Place) -> None:
    place.write(*(RECORDED[name] for name in names))
    before = place.state()

    recording = place.record()

    assert place.state() == before
    assert place.processes() == []
    assert recording.stop is None
    missed = set(range(len(names))) - tried(place, recording)
    assert [names[number] for number in sorted(missed)] == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_recorded_is_refused(name: str, place: Place) -> None:
    with (
        subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as other,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        server.settimeout(0)
        place.write(REFUSED[name], OTHER=other.pid, PORT=server.getsockname()[1])
        before = place.state()

        recording = place.record(time_limit=1.0 if name in ENDLESS else 20.0)

        assert place.state() == before
        assert place.processes() == []
        assert other.poll() is None
        with pytest.raises(BlockingIOError):
            server.accept()
        assert recording.stop is not None, recording
        assert recording.stop.reason
        assert recording.returncode is None


@pytest.mark.skipif(
    sandbox.without_landlock(sandbox.EVERY_LAYER) is not None, reason="the kernel has no Landlock"
)
@pytest.mark.parametrize("name", KERNEL)
def test_what_nothing_in_the_interpreter_sees_the_kernel_refuses(name: str, place: Place) -> None:
    place.write(KERNEL[name])
    before = place.state()

    recording = place.record(sandbox.EVERY_LAYER)

    assert place.state() == before
    assert place.processes() == []
    assert recording.returncode == 1
    assert recording.stderr.splitlines()[-1].startswith("PermissionError: [Errno ")
