"""Checkpoints of models that have none of their own."""

from __future__ import annotations

import pytest

# A model that is cut for quick runs is held to what the whole one was published with.
WHOLE = {"kimi-k25_2layer": "kimi-k25"}


@pytest.hookimpl(optionalhook=True)
def pytest_ropecontract_checkpoints(model: str) -> str | None:
    return f"tests/checkpoints/{WHOLE[model]}.json" if model in WHOLE else None
