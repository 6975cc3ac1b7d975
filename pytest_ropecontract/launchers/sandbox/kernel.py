"""What the Linux kernel offers to confine the calling process and all that comes from it."""

from __future__ import annotations

import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Numbers of linux/prctl.h, linux/sched.h and linux/capability.h.
_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_CAPABILITIES = 64
_READING = (1, 2)
"""To read files whoever owns them, which root can and the project's checkout may need."""

_FILE_LIMIT = 64 * 1024 * 1024
_DEVICES = ("/dev/null", "/dev/full", "/dev/zero")
_PT_INTERP = 3


def become_subreaper() -> None:
    """Make this process the parent of every orphan that comes from it."""
    _control(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _control(_PR_SET_PDEATHSIG, signal.SIGKILL)


def gain_nothing() -> None:
    """Give up what root could do beyond reading files, and all ways to gain privileges."""
    for capability in range(_CAPABILITIES):
        if capability not in _READING:
            _control(_PR_CAPBSET_DROP, capability)
    _control(_PR_SET_NO_NEW_PRIVS, 1)


def limit_resources(seconds: float) -> None:
    """Bound the size of a file and the time on the processor; leave no core files."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _FILE_LIMIT)
    _limit(resource.RLIMIT_CPU, int(seconds) + 2)


def enter_namespaces() -> str | None:
    """Enter namespaces of users, processes and network of its own: its children have them.

    Root stays the same user, so that it reads what it could read before.

    Returns:
        Why there are none, or None.
    """
    if sys.platform != "linux":
        return "this is not Linux"
    apart = _CLONE_NEWPID | _CLONE_NEWNET | _CLONE_NEWIPC
    user, group = os.geteuid(), os.getegid()
    if user == 0 and _unshare(apart) is None:
        return None
    reason = _unshare(apart | _CLONE_NEWUSER)
    if reason is None:
        for name, text in (
            ("setgroups", "deny"),
            ("gid_map", f"{group} {group} 1"),
            ("uid_map", f"{user} {user} 1"),
        ):
            with suppress(OSError), open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to import
                file.write(text)
    return reason


def without_landlock() -> str | None:
    """Return why Landlock is not to be had, or None."""
    try:
        import landlockpy  # noqa: PLC0415 - it may be missing
    except ImportError:
        return "pytest-ropecontract[launchers] is not installed"
    if not landlockpy.supported():
        return "it has no Landlock"
    return None


def restrict(programs: Iterable[str], writable: Iterable[str]) -> None:
    """Let this process execute only these programs, and write only to these folders.

    Every file stays readable. Network (from Linux 6.7 on) and signals to processes outside (from
    6.12 on) are closed.
    """
    from landlockpy import AccessFS, Ruleset, Scope  # noqa: PLC0415 - it may be missing

    reading = AccessFS.READ_FILE | AccessFS.READ_DIR
    changing = (
        AccessFS.WRITE_FILE
        | AccessFS.TRUNCATE
        | AccessFS.REMOVE_DIR
        | AccessFS.REMOVE_FILE
        | AccessFS.MAKE_DIR
        | AccessFS.MAKE_REG
        | AccessFS.MAKE_FIFO
        | AccessFS.MAKE_SOCK
        | AccessFS.MAKE_SYM
        | AccessFS.REFER
    )
    gain_nothing()
    with Ruleset(scoped=Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL) as ruleset:
        ruleset.allow_path("/", reading)
        for program in programs:
            ruleset.allow_path(program, AccessFS.EXECUTE)
            interpreter = _interpreter(program)
            if interpreter is not None:
                ruleset.allow_path(interpreter, AccessFS.EXECUTE)
        for folder in writable:
            ruleset.allow_path(folder, changing)
        for device in filter(os.path.exists, _DEVICES):
            ruleset.allow_path(device, AccessFS.WRITE_FILE | AccessFS.TRUNCATE)
        ruleset.restrict()


def _interpreter(program: str) -> str | None:
    """Return the dynamic loader that a 64-bit ELF program names, without which none starts."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            head = file.read(64)
            if head[:5] != b"\x7fELF\x02":
                return None
            order = "<" if head[5] == 1 else ">"
            (offset,) = struct.unpack_from(f"{order}Q", head, 32)
            size, count = struct.unpack_from(f"{order}HH", head, 54)
            for index in range(count):
                file.seek(offset + index * size)
                kind, _, begin, _, _, length = struct.unpack(f"{order}IIQQQQ", file.read(40))
                if kind == _PT_INTERP:
                    file.seek(begin)
                    return file.read(length).rstrip(b"\0").decode()
    except (OSError, struct.error, UnicodeDecodeError):
        pass  # what cannot be read cannot be executed either
    return None


def _limit(which: int, most: int) -> None:
    _, hard = resource.getrlimit(which)
    bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (bound, bound))


def _unshare(flags: int) -> str | None:
    import ctypes  # noqa: PLC0415 - not every Python has it

    if ctypes.CDLL(None, use_errno=True).unshare(flags) == 0:
        return None
    return os.strerror(ctypes.get_errno())


def _control(option: int, value: int) -> None:
    """Call Linux' ``prctl``; elsewhere nothing is done."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - not every Python has it

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
