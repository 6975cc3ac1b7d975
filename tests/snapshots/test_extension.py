"""What the extension replaces of syrupy's is still there to be replaced."""

from __future__ import annotations

import inspect

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension
from syrupy.location import PyTestLocation

from pytest_ropecontract import snapshots
from pytest_ropecontract.launchers.recording import Recording
from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.snapshots import extension
from pytest_ropecontract.snapshots.extension import RopeExtension, RopeLocation, kind_of

# Asked for since syrupy 7.0.2; earlier ones ask the location.
LATER = {"matches_test_location"}
OWN = {"text"}


@pytest.mark.parametrize(
    ("own", "base"),
    [(RopeExtension, SingleFileSnapshotExtension), (RopeLocation, PyTestLocation)],
    ids=["extension", "location"],
)
def test_every_override_replaces_something(own, base):
    names = {
        name
        for name, value in vars(own).items()
        if not name.startswith("__")
        and (inspect.isfunction(value) or isinstance(value, classmethod))
    }

    assert names
    assert {name for name in names - OWN - LATER if not hasattr(base, name)} == set()


def test_no_ending_is_the_end_of_another():
    """syrupy tells files apart by how they end."""
    others = {one.file_extension for one in SingleFileSnapshotExtension.__subclasses__()}

    for suffix in snapshots.SUFFIXES:
        assert not any(suffix.endswith(other) for other in others - {suffix, ""})
        assert not any(other.endswith(suffix) for other in others - {suffix, ""})
        assert "." not in suffix


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (["--a"], "ArgsExtension"),
        (("--a",), "ArgsExtension"),
        ([], "ArgsExtension"),
        (RopeConfig("rope", "gpt"), "ConfigExtension"),
        (Recording(), "LaunchExtension"),
    ],
)
def test_the_data_decides_about_the_kind(data, kind):
    assert kind_of(data) is getattr(extension, kind)
    assert getattr(extension, kind)().serialize(data).endswith("\n")


@pytest.mark.parametrize("data", ["--a 1", ["--a", 1], {"a": 1}, None, 1.5])
def test_other_data_is_refused(data):
    with pytest.raises(TypeError, match=r"^a RoPE snapshot holds a command line .* not "):
        kind_of(data)
