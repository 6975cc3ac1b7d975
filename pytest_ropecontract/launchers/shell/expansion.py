"""Runs a Python script that prints a model's flags, and lets it do nothing else.

It is started as a program of its own: ``expansion.py STOP COUNT FOLDER... SCRIPT|-c ARGUMENT...``.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any, NoReturn

_REFUSED = (
    *(
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "os.fork",
        "os.forkpty",
        "os.startfile",
    ),
    *("os.kill", "os.killpg", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link"),
    *("os.symlink", "os.truncate", "os.chmod", "os.chown", "os.utime", "os.setxattr"),
    *("subprocess.Popen", "pty.spawn", "ctypes.", "socket.", "signal.pthread_kill", "shutil."),
    *("syslog.", "sqlite3.connect", "fcntl.", "code.__new__"),
)
_HARMLESS = ("socket.__new__", "socket.gethostname", "shutil.unpack_archive")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def main() -> None:
    """Run the script of the command line under the guard."""
    stop, count, *rest = sys.argv[1:]
    folders, (script, *arguments) = rest[: int(count)], rest[int(count) :]
    sys.path[:0] = folders
    sys.dont_write_bytecode = True
    _guard(stop)
    if script == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *arguments[1:]]
        exec(compile(arguments[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102 - that is what it is for
    else:
        sys.path.insert(0, os.path.dirname(os.path.realpath(script)))  # noqa: PTH120 - pathlib is slow to import
        sys.argv = [script, *arguments]
        runpy.run_path(script, run_name="__main__")


def _guard(stop: str) -> None:
    """Refuse for the rest of this process whatever runs, writes or sends something."""
    import _posixsubprocess  # noqa: PLC0415 - no audit event tells of its use

    end, open_file, write = os._exit, os.open, os.write
    busy = False

    def refuse(what: str) -> NoReturn:
        nonlocal busy
        busy = True
        descriptor = open_file(stop, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        reason = f"Python that prints a model's flags tried more than that: {what}"
        write(descriptor, f"{reason}\0{sys.argv[0]}\0".encode(errors="replace"))
        end(70)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if busy:
            return
        if event == "open":
            _, mode, flags = arguments
            if (isinstance(mode, str) and set(mode) & set("wax+")) or (
                isinstance(flags, int) and flags & _WRITING
            ):
                refuse(f"open {arguments[0]!r} for writing")
        elif event.startswith(_REFUSED) and not event.startswith(_HARMLESS):
            refuse(event)

    def fork_exec(*_: Any) -> NoReturn:
        refuse("fork_exec")

    _posixsubprocess.fork_exec = fork_exec
    sys.addaudithook(hook)


if __name__ == "__main__":
    main()
