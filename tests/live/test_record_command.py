"""``ropecontract surface record`` on the installed Megatron."""

from __future__ import annotations

from importlib import resources

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from pytest_ropecontract.cli import main
from pytest_ropecontract.megatron.surface_files import load_file


def test_a_recording_is_byte_identical_to_the_shipped_one(tmp_path):
    """Nothing in a shipped surface was written by hand."""
    target = tmp_path / "recorded.json"

    assert main(["surface", "record", "-o", str(target)]) == 0

    surfaces = resources.files("pytest_ropecontract.megatron") / "surfaces"
    shipped = surfaces / f"{load_file(target).name}.json"
    assert target.read_bytes() == shipped.read_bytes()
