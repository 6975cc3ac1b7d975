"""Texts that users read, each in a file of its own.

``pytest tests/texts --snapshot-update`` writes the files anew; read the diff as a user would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import every_module  # noqa: F401
import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


class TextExtension(SingleFileSnapshotExtension):
    """One plain text file a text."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    def serialize(self, data: Any, **_: Any) -> str:
        return f"{data}\n"


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextExtension)
