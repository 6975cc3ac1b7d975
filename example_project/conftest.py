"""Checkpoints of models that have none of their own, and what needs an extra of the plugin."""

from __future__ import annotations

import importlib.util

import pytest

# A model that is cut for quick runs is held to what the whole one was published with.
WHOLE = {"kimi-k25_2layer": "kimi-k25"}


@pytest.hookimpl(optionalhook=True)
def pytest_ropecontract_checkpoints(model: str) -> str | None:
    return f"tests/checkpoints/{WHOLE[model]}.json" if model in WHOLE else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the launchers where the plugin was installed without what it reads them with."""
    if importlib.util.find_spec("tree_sitter_bash") is not None:
        return
    needs_extra = pytest.mark.skip(reason="needs pytest-ropecontract[launchers]")
    for item in items:
        if item.path.name == "test_launchers.py" or item.name.startswith("test_launch["):
            item.add_marker(needs_extra)
