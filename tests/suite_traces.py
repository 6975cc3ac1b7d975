"""Fail every test that leaves a trace in this process, its children or its temporary folder.

It looks after each test's own teardown, at what takes microseconds to look at; the check in
``no_trace`` looks closer, around one thing.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

BEFORE = pytest.StashKey[dict[str, Any]]()
OWN = pytest.StashKey[tuple[Path, dict[str, str | None]]]()
SIGNALS = tuple(sorted(signal.valid_signals()))
# pytest names the running test in one, torch the folder of its caches in another.
VARIABLES = {"PYTEST_CURRENT_TEST", "TORCHINDUCTOR_CACHE_DIR"}
# Where torch, transformers and a browser run in this process, and keep files, threads and
# processes of their own: there, what is theirs is not looked at.
OF_OTHERS = {"live", "oracle", "browser"}
THEIRS = {
    *("open files", "threads", "processes", "temporary files"),
    *("warning filters", "logging", "signal handlers"),
}
EVENT_LOOP = "vl_convert"
WORKER = "pytest_ropecontract.definitions.worker"


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a temporary folder that nobody else uses; pytest's own stay where they are."""
    variables = {name: os.environ.get(name) for name in ("TMPDIR", "PYTEST_DEBUG_TEMPROOT")}
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="of-tests-"))
    config.stash[OWN] = folder, variables
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Put the temporary folder back."""
    if OWN not in config.stash:
        return
    folder, variables = config.stash[OWN]
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    tempfile.tempdir = None
    shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Remember how it is before a test."""
    item.stash[BEFORE] = state(item.config)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Compare with how it is after it."""
    result = yield
    if BEFORE in item.stash:
        before, after = item.stash[BEFORE], state(item.config)
        if item.path.parent.name in OF_OTHERS:
            before = {aspect: was for aspect, was in before.items() if aspect not in THEIRS}
        if traces := differences(before, after):
            text = "\n".join(f"  {trace}" for trace in traces)
            pytest.fail(f"{item.nodeid} left a trace\n{text}", pytrace=False)
    return result


def state(config: pytest.Config) -> dict[str, Any]:
    """Return what is looked at, by name."""
    kept_files, kept_processes = _kept()
    return {
        "environment": {k: v for k, v in os.environ.items() if k not in VARIABLES},
        "environment object": (id(os.environ), type(os.environ)),
        "sys.path": list(sys.path),
        "sys.path object": id(sys.path),
        "sys.argv": list(sys.argv),
        "streams": (id(sys.stdin), id(sys.stdout), id(sys.stderr)),
        "bytecode": sys.dont_write_bytecode,
        "recursion limit": sys.getrecursionlimit(),
        "working directory": os.getcwd(),  # noqa: PTH109 - it is compared
        "warning filters": list(warnings.filters),
        "logging": (logging.root.level, list(logging.root.handlers), logging.root.manager.disable),
        "signal handlers": [signal.getsignal(number) for number in SIGNALS],
        "alarm": signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        "threads": {thread.ident: thread.name for thread in threading.enumerate()},
        "open files": _open_files() - kept_files,
        "processes": set(_children()) - kept_processes,
        "temporary files": set(_listed(config.stash[OWN][0])),
    }


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return what is not as before, a line for each."""
    found = []
    for aspect, was in before.items():
        if was == after[aspect] or (aspect == "open files" and _of_libraries(after[aspect] - was)):
            continue
        change = f"{was} became {after[aspect]}"
        if isinstance(was, set):
            change = f"{sorted(after[aspect] - was)} more, {sorted(was - after[aspect])} fewer"
            if aspect == "open files":
                change += "".join(f"; {_target(name)}" for name in after[aspect] - was)
        elif isinstance(was, dict):
            keys = {key for key in {*was, *after[aspect]} if was.get(key) != after[aspect].get(key)}
            change = ", ".join(
                f"{key} is {after[aspect].get(key)!r}" for key in sorted(keys, key=str)
            )
        found.append(f"{aspect}: {change}")
    return found


def _kept() -> tuple[set[str], set[str]]:
    """Return the files and the process of the worker that runs definitions, kept to the end."""
    module = sys.modules.get(WORKER)
    worker = None if module is None else module.shared_worker()
    helper = None if worker is None else worker._helper
    if helper is None:
        return set(), set()
    files = {str(one.fileno()) for one in (helper.requests, helper.complaints)}
    return {*files, str(helper.answers)}, {str(helper.process.pid)}


def _of_libraries(descriptors: set[str]) -> bool:
    """Return whether files are those of the event loop that a library starts once, and keeps."""
    own = ("anon_inode:[event", "socket:")
    return EVENT_LOOP in sys.modules and all(
        _target(one).partition(" is ")[2].startswith(own) for one in descriptors
    )


def _children() -> list[str]:
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children", encoding="ascii") as file:  # noqa: PTH123
            return file.read().split()
    except OSError:
        return []


def _open_files() -> set[str]:
    found = set()
    for number in _listed("/proc/self/fd"):
        try:
            os.fstat(int(number))
        except OSError:
            continue  # the one that the listing itself used
        found.add(number)
    return found


def _listed(folder: str | Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all that is needed
    except OSError:
        return []


def _target(descriptor: str) -> str:
    try:
        return f"{descriptor} is {Path('/proc/self/fd', descriptor).readlink()}"
    except OSError:
        return f"{descriptor} is closed again"
