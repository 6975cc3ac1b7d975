"""What the Linux kernel offers to confine the calling process and all that comes from it."""

from __future__ import annotations

import os
import resource
import signal
from contextlib import suppress

# Numbers of linux/prctl.h, linux/sched.h and linux/capability.h.
_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_LANDLOCK_RESTRICT_SELF = 446  # on every architecture
_CAPABILITIES = 64
_READING = (1, 2)
"""To read files whoever owns them, which root can and the project's checkout may need."""

_FILE_LIMIT = 64 * 1024 * 1024


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


def restrict(ruleset: int) -> None:
    """Put a Landlock ruleset in force for this process and all that comes from it.

    Raises:
        OSError: The kernel refused.
    """
    import ctypes  # noqa: PLC0415 - not every Python has it

    if ctypes.CDLL(None, use_errno=True).syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0):
        raise OSError(ctypes.get_errno(), "Landlock is not put in force")


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
    import ctypes  # noqa: PLC0415 - not every Python has it

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
