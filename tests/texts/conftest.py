"""Texts that users read, each in a file of its own.

``pytest tests/texts --snapshot-update`` writes the files anew; read the diff as a user would.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

import pytest_ropecontract

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


# A run of pytest inside of this process drops what it imports first.
for _module in pkgutil.walk_packages(
    pytest_ropecontract.__path__, f"{pytest_ropecontract.__name__}."
):
    if "recording" not in _module.name:
        importlib.import_module(_module.name)


class TextExtension(SingleFileSnapshotExtension):
    """One plain text file a text."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    def serialize(self, data: Any, **_: Any) -> str:
        return f"{data}\n"


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextExtension)
