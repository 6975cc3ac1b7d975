from __future__ import annotations

from typing import TYPE_CHECKING

from likeness import definitions

if TYPE_CHECKING:
    import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what asks for a definition on every one."""
    if "definition" in metafunc.fixturenames:
        found = definitions()
        metafunc.parametrize("definition", found.values(), ids=found)
