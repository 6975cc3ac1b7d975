"""Which Megatron a setting names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract.megatron import selection
from pytest_ropecontract.megatron.surface import SurfaceError
from pytest_ropecontract.megatron.surface_files import NEWEST, dump, load_shipped, shipped

if TYPE_CHECKING:
    from pathlib import Path

LIVE = object()


@pytest.fixture(params=[False, True], ids=["absent", "importable"])
def importable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(selection, "is_importable", lambda: request.param)
    monkeypatch.setattr(selection, "_live", lambda: LIVE)
    return bool(request.param)


def test_live_is_the_importable_one_even_where_it_is_absent(importable: bool, tmp_path: Path):
    assert importable in (False, True)
    assert selection.is_live("live")
    assert selection.choose("live", tmp_path) is LIVE


def test_auto_is_the_importable_one_or_the_newest_recording(importable: bool, tmp_path: Path):
    chosen = selection.choose("auto", tmp_path)

    assert selection.is_live("auto") is importable
    assert chosen is LIVE if importable else chosen.surface.name == NEWEST


@pytest.mark.parametrize("name", shipped())
def test_recording_has_two_names(importable: bool, tmp_path: Path, name: str):
    version = name.removeprefix("megatron-core-")
    (one, other) = (selection.choose(known, tmp_path) for known in (name, version))

    assert not selection.is_live(version)
    assert one is other
    assert (one.mode, one.surface.name) == ("recorded", name), importable


@pytest.mark.parametrize("place", ["fork.json", "folder/fork"])
def test_file_is_looked_for_where_the_root_is(tmp_path: Path, place: str):
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(dump(load_shipped(NEWEST)._replace(name="fork")), encoding="utf-8")

    assert selection.choose(place, tmp_path).surface.name == "fork"
    assert selection.choose(str(path), tmp_path / "elsewhere").surface.name == "fork"


def test_home_of_the_user_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    text = dump(load_shipped(NEWEST)._replace(name="fork"))
    (tmp_path / "fork.json").write_text(text, encoding="utf-8")

    assert selection.choose("~/fork.json", tmp_path / "root").surface.name == "fork"


@pytest.mark.parametrize("name", ["", "Live", "AUTO", "newest", "0.19", "megatron-core-", "fork"])
def test_another_name_is_refused(tmp_path: Path, name: str):
    with pytest.raises(SurfaceError) as caught:
        selection.choose(name, tmp_path)

    assert str(caught.value).splitlines() == [
        f"no surface is named {name!r}",
        f"  shipped: {', '.join(shipped())}",
        "  remedy: name a shipped surface, a JSON file, 'live' or 'auto'",
    ]
