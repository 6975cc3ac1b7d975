"""The processes that come from one: counted, and ended, however they went into the background.

Two kinds of helper process load this, which start alone and have nothing else of the package.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

_PATIENCE = 5.0


def has_ended(pid: int) -> bool:
    """Tell whether a process has ended, and leave it as a zombie so that its id is its own."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def more_than(most: int, pid: int) -> bool:
    """Tell whether more processes than that come from one, or have been left to this process."""
    waiting = [pid, *_children(os.getpid())]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            if len(seen) > most:
                return True
            waiting.extend(_children(one))
    return False


def end(pid: int) -> int:
    """Kill a process, its group and, where Linux tells which, whatever else came from it.

    This process must be their subreaper: a process that left the group becomes a child of this one
    when its parent ends.

    Returns:
        The raw wait status of the process.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    deadline = time.monotonic() + _PATIENCE
    while (orphans := _children(os.getpid())) and time.monotonic() < deadline:
        # Stopped first, so that none of them begins another while its siblings are killed.
        for orphan in orphans:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(orphan, signal.SIGSTOP)
        for orphan in orphans:
            # One that cannot be killed is not waited for.
            with suppress(ProcessLookupError, PermissionError, ChildProcessError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)
    return status


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - pathlib is slow to import
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:  # noqa: PTH123 - the same
                found.extend(map(int, file.read().split()))
    except (OSError, ValueError):
        pass  # it has ended meanwhile
    return found
