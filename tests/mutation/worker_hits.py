"""Tell mutmut which tests run the code that runs in the worker, whose process it does not see.

mutmut's copy of the project has this as its conftest.
"""

from __future__ import annotations

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
    """A test that asked the worker may have run any of its functions."""
    if ASKED in (hits := state()._stats):
        hits.update(*map(changed_functions, MODULES))


def changed_functions(module: ModuleType) -> Iterator[str]:
    """Give the functions and methods of a module that mutmut has changed, by its names."""
    owners: list[Any] = [one for one in vars(module).values() if isinstance(one, type)]
    for owner in (module, *owners):
        if getattr(owner, "__module__", module.__name__) == module.__name__:
            for name in vars(owner):
                if name.endswith(ORIGINAL):
                    yield f"{module.__name__}.{name.removesuffix(ORIGINAL)}"
