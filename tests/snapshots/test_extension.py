"""What the extension replaces of syrupy's is still there to be replaced."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension
from syrupy.location import PyTestLocation

from pytest_ropecontract import snapshots
from pytest_ropecontract.launchers.recording import Recording
from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.snapshots import extension
from pytest_ropecontract.snapshots.extension import RopeExtension, RopeLocation, Site, kind_of


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
    assert {name for name in names if not hasattr(base, name)} == set()


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


def test_the_files_of_a_test_are_told_by_folder_and_name(request, tmp_path):
    site = Site(tmp_path, tmp_path, Path("own"), None, "", "", is_unused=lambda _: False)
    location, name = RopeLocation(request.node, site), request.node.name

    def matches(file):
        return location.matches_snapshot_location(str(tmp_path / file))

    for own in (f"own/{name}.ropeargs", f"own/{name}.1.ropeconfig", f"own/{name}[x].ropeargs"):
        assert matches(own)
    for other in (f"own/{name}_too.ropeargs", f"other/{name}.ropeargs", f"{name}.ropeargs"):
        assert not matches(other)


@pytest.mark.parametrize("data", ["--a 1", ["--a", 1], {"a": 1}, None, 1.5])
def test_other_data_is_refused(data):
    with pytest.raises(TypeError, match=r"^a RoPE snapshot holds a command line .* not "):
        kind_of(data)
