"""The text of every error: the story first, then where, then what to type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mistakes import CASES, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion


@pytest.mark.parametrize("name", CASES)
def test_error(name: str, tmp_path: Path, golden: SnapshotAssertion) -> None:
    text = text_of(name, tmp_path)

    assert text == golden
    assert "Traceback" not in text
    assert str(tmp_path) not in text
    assert "\n  remedy: " in text
