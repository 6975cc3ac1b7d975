"""Check that code leaves this process, its children and its temporary directory alone."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def no_trace(temporary: Path | None = None) -> Iterator[None]:
    """Fail unless everything that `process_state` looks at is as before.

    Args:
        temporary: A directory for temporary files that nobody else uses.
    """
    before = process_state(temporary)
    try:
        yield
    finally:
        after = process_state(temporary)
        traces = [
            f"{aspect}: {_change(before[aspect], after[aspect])}"
            for aspect in before
            if before[aspect] != after[aspect]
        ]
    if traces:
        pytest.fail("left a trace\n" + "\n".join(traces), pytrace=False)


def process_state(temporary: Path | None = None) -> dict[str, Any]:
    """Return what is looked at, by name."""
    return {
        "environment": dict(os.environ),
        "environment object": (id(os.environ), type(os.environ), type(os.environb)),
        "sys.path": list(sys.path),
        "sys.path object": id(sys.path),
        "sys.argv": list(sys.argv),
        "sys.modules": {name: id(module) for name, module in sys.modules.items()},
        "streams": (id(sys.stdin), id(sys.stdout), id(sys.stderr)),
        "bytecode": sys.dont_write_bytecode,
        "working directory": str(Path.cwd()),
        "warning filters": list(warnings.filters),
        "logging": (logging.root.level, list(logging.root.handlers)),
        "signal handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "alarm": signal.getitimer(signal.ITIMER_REAL),
        "threads": {thread.ident for thread in threading.enumerate()},
        "open files": _open_files(),
        "processes": descendants(os.getpid()),
        "temporary files": {} if temporary is None else _files(temporary),
    }


def descendants(pid: int) -> set[int]:
    """Return the ids of all processes that come from a process, zombies too (Linux)."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return set()
    children = {int(child) for child in text.split()}
    return children.union(*map(descendants, children))


def _open_files() -> dict[str, str]:
    found = {}
    directory = Path("/proc/self/fd")
    for entry in list(directory.iterdir()) if directory.is_dir() else []:
        try:
            found[entry.name] = str(entry.readlink())
        except FileNotFoundError:
            continue  # the one that the listing itself used
    return found


def _files(directory: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in sorted(directory.rglob("*"))}


def _change(before: Any, after: Any) -> str:
    if isinstance(before, dict):
        changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
        return ", ".join(f"{key}" for key in sorted(changed, key=str))
    return f"{before} became {after}"
