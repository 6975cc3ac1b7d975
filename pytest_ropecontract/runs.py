"""What is kept of a run of pytest, also of one that uses nothing else of the plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "rope_expect"
FIXTURE = "rope_model"
COLLECTED = pytest.StashKey[tuple[pytest.Item, ...]]()
FINISHED = pytest.StashKey[bool]()

# The runs of this process, the innermost last: a run can start another one in its tests.
_RUNS: list[pytest.Config] = []


def begin(config: pytest.Config) -> None:
    """Make a run the current one, until its configuration ends."""
    _RUNS.append(config)
    config.add_cleanup(lambda: _RUNS.remove(config))


def current() -> pytest.Config | None:
    """Return the run that goes on."""
    return _RUNS[-1] if _RUNS else None


def remember(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Keep what was collected, before a part of it is deselected."""
    config.stash[COLLECTED] = tuple(items)
