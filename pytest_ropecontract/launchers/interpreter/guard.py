"""Stops what would really happen: an audit hook on all that recorders did not take.

The events are those of Python's table of audit events.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from pytest_ropecontract.launchers.interpreter.channel import Channel

_RECORD = "run it through subprocess or os.system, which are recorded"
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = frozenset({"/dev/null", "/dev/zero", "/dev/full", "/dev/stdout", "/dev/stderr"})

# What starts a process, ends one, or leaves this interpreter.
_NEVER = {
    "os.exec": "it replaces itself by another program past the recorders",
    "os.fork": "it forks",
    "os.forkpty": "it forks",
    "os.posix_spawn": "it spawns a process past the recorders",
    "os.spawn": "it spawns a process past the recorders",
    "os.system": "it runs a command past the recorders",
    "pty.spawn": "it spawns a process past the recorders",
    "subprocess.Popen": "it starts a process past the recorders",
    "os.kill": "it sends a signal to a process",
    "os.killpg": "it sends a signal to a process group",
    "signal.pthread_kill": "it sends a signal to a thread",
    "cpython.PyInterpreterState_New": "it makes an interpreter of its own, which nothing guards",
    "socket.connect": "it opens a network connection",
    "socket.bind": "it listens on the network",
    "socket.sendto": "it sends something over the network",
    "socket.sendmsg": "it sends something over the network",
    "socket.getaddrinfo": "it looks up a host",
    "socket.gethostbyaddr": "it looks up a host",
}
# Python 3.13 tells of no new interpreter, only that the module is loaded which makes them.
_INTERPRETERS = frozenset({"_interpreters", "_xxsubinterpreters"})
# What changes files, with the positions of the paths and of the folder descriptors.
_CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.chflags": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((0, 2), (1, 3)),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, None),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, None),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "sqlite3.connect": ((0, None),),
}


class Guard:
    """Looks at every audit event.

    Args:
        channel: Where it tells why the launcher is stopped.
        writable: The folders that may be written to.
    """

    def __init__(self, channel: Channel, writable: tuple[str, ...]) -> None:
        self._channel = channel
        self._writable = tuple(os.path.realpath(one) + os.sep for one in writable)
        paths = sysconfig.get_paths()
        names = ("stdlib", "platstdlib", "purelib", "platlib")
        self._installed = tuple({os.path.realpath(paths[one]) + os.sep for one in names})
        self._checks: dict[str, Callable[[str, tuple[Any, ...]], None]] = {
            **dict.fromkeys(_NEVER, self._never),
            **dict.fromkeys(_CHANGES, self._change),
            "import": self._import,
            "open": self._open,
            "ctypes.dlopen": self._foreign,
            "ctypes.dlsym": self._foreign,
            "ctypes.dlsym/handle": self._foreign,
            "ctypes.call_function": self._foreign,
        }

    def install(self) -> None:
        """Begin to look; nothing can take the hook away again."""
        checks = self._checks

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            check = checks.get(event)
            if check is not None:
                check(event, arguments)

        sys.addaudithook(hook)

    def _never(self, event: str, arguments: tuple[Any, ...]) -> None:
        del arguments
        remedy = "give it what it would have got there" if "socket" in event else _RECORD
        self._channel.stop(_NEVER[event], None if "kill" in event else remedy)

    def _import(self, event: str, arguments: tuple[Any, ...]) -> None:
        del event
        if arguments[0] in _INTERPRETERS:
            self._never("cpython.PyInterpreterState_New", ())

    def _open(self, event: str, arguments: tuple[Any, ...]) -> None:
        path, mode, flags = arguments
        writes = isinstance(flags, int) and flags & _WRITING
        if not writes and isinstance(mode, str):
            writes = any(letter in mode for letter in "wax+")
        if isinstance(path, int):
            return
        # A descriptor of a folder opens files in it, of which the event tells no more.
        if writes or (mode is None and os.path.isdir(path)):
            self._check(event, path, None)

    def _change(self, event: str, arguments: tuple[Any, ...]) -> None:
        for at, folder_at in _CHANGES[event]:
            path = arguments[at]
            folder = None if folder_at is None else arguments[folder_at]
            # A folder that is there is not made, and what is not there is not changed.
            if isinstance(path, int) or (
                event == "os.mkdir" and os.path.lexists(_absolute(path, folder))
            ):
                continue
            if event == "sqlite3.connect" and _text(path) in (":memory:", ""):
                continue
            self._check(event, path, folder)

    def _check(self, event: str, path: Any, folder: int | None) -> None:
        place = _absolute(path, folder)
        if place in _DEVICES or os.path.realpath(place).startswith(self._writable):
            return
        self._channel.stop(
            f"it opens {_text(path)} for writing, outside of the scratch directory"
            if event == "open"
            else f"it changes {_text(path)}, outside of the scratch directory",
            "write below the working directory, $HOME or $TMPDIR",
        )

    def _foreign(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "ctypes.dlopen" and arguments[0] is None:
            return
        if not self._is_installed(sys._getframe(2)):  # noqa: SLF001  # its documented name
            what = arguments[-1] if event.startswith("ctypes.dlsym") else arguments[0]
            name = what.decode(errors="replace") if isinstance(what, bytes) else what
            self._channel.stop(f"it calls foreign code through ctypes: {name}", _RECORD)

    def _is_installed(self, frame: FrameType | None) -> bool:
        """Return whether an installed package, or Python, uses ctypes for its own purposes."""
        while frame is not None and os.sep + "ctypes" + os.sep in frame.f_code.co_filename:
            frame = frame.f_back
        file = "" if frame is None else frame.f_code.co_filename
        return file.startswith("<frozen ") or os.path.realpath(file).startswith(self._installed)


def _text(path: Any) -> str:
    return os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else str(path)


def _absolute(path: Any, folder: int | None) -> str:
    text = _text(path)
    if isinstance(folder, int) and folder >= 0 and not os.path.isabs(text):
        # What a link in /proc says of a descriptor.
        text = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), text)
    return os.path.abspath(text)
