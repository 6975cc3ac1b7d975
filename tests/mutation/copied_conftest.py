"""The conftest of mutmut's copy of the project: what mutmut cannot know, or does too slowly."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from mutmut.state import state

from pytest_ropecontract.definitions import calling, script, siblings, worker_loop, worker_task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

MODULES = (calling, script, siblings, worker_loop, worker_task)
ASKED = "pytest_ropecontract.definitions.worker.xǁWorkerǁask"
ORIGINAL = "__mutmut_orig"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Count what runs in the worker, whose process mutmut does not see, to a test that asked it."""
    if ASKED in (hits := state()._stats):
        hits.update(*map(changed_functions, MODULES))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Let mutants, each in a fork of a process that has collected all tests, copy none of that."""
    if session.config.option.collectonly:
        gc.collect()
        gc.freeze()


def changed_functions(module: ModuleType) -> Iterator[str]:
    """Give the functions and methods of a module that mutmut has changed, by its names."""
    owners: list[Any] = [one for one in vars(module).values() if isinstance(one, type)]
    for owner in (module, *owners):
        if getattr(owner, "__module__", module.__name__) == module.__name__:
            for name in vars(owner):
                if name.endswith(ORIGINAL):
                    yield f"{module.__name__}.{name.removesuffix(ORIGINAL)}"
