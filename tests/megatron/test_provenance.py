"""Where a recording says that it comes from, and what it is called."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract.megatron.recording import provenance
from pytest_ropecontract.megatron.surface import Source

if TYPE_CHECKING:
    from pathlib import Path

HASH = "2e64d78f0a1b2c3d4e5f60718293a4b5c6d7e8f9"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (Source("megatron-core", "0.19.2"), "megatron-core-0.19.2"),
        (Source("our-megatron", "2.1"), "our-megatron-2.1"),
        (Source(), "megatron-core-0.16.0rc0+79b8e77e"),
        (Source(revision=HASH), "megatron-core-0.16.0rc0+2e64d78f"),
        (Source(revision=f"{HASH}-dirty"), "megatron-core-0.16.0rc0+2e64d78f-dirty"),
        (Source("megatron-core", "0.19.2", HASH), "megatron-core-0.19.2+2e64d78f"),
        (
            Source(
                "megatron-core", "0.19.2", arguments=("frame.arguments:add", "frame.b:c", "x:y")
            ),
            "megatron-core-0.19.2+frame+x",
        ),
    ],
)
@pytest.mark.parametrize("version", ["0.16.0rc0", "0.16.0rc0+2e64d78"])
def test_only_a_release_has_its_bare_name(source: Source, name: str, version: str):
    assert provenance.name_of(source, version, "79b8e77ee8faf563") == name


@pytest.fixture
def package(tmp_path: Path) -> Path:
    core = tmp_path / "site" / "megatron" / "core"
    core.mkdir(parents=True)
    (core / "__init__.py").write_text("", encoding="utf-8")
    return core


def install(folder: Path, *, editable_from: Path | None = None) -> None:
    """Write the metadata of a distribution into a folder that is searched."""
    info = folder / "megatron_core-0.19.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: megatron-core\nVersion: 0.19.2\n", encoding="utf-8"
    )
    if editable_from is not None:
        url = {"url": editable_from.as_uri(), "dir_info": {"editable": True}}
        (info / "direct_url.json").write_text(json.dumps(url), encoding="utf-8")


def test_an_installed_package(package: Path, monkeypatch: pytest.MonkeyPatch):
    install(package.parents[1])
    monkeypatch.syspath_prepend(package.parents[1])

    assert provenance.find_source(package) == Source("megatron-core", "0.19.2")


def test_a_package_installed_as_editable(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install(tmp_path / "other", editable_from=package.parents[1])
    monkeypatch.syspath_prepend(tmp_path / "other")

    assert provenance.find_source(package) == Source("megatron-core", "0.19.2")


def test_a_folder_beside_an_installed_package(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The distribution is another Megatron than the one that is imported."""
    install(tmp_path / "other")
    monkeypatch.syspath_prepend(tmp_path / "other")

    assert provenance.find_source(package, ["frame:add"]) == Source(arguments=("frame:add",))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"url": 5}', "{}"])
def test_metadata_that_cannot_be_read(
    text: str, package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    install(tmp_path / "other", editable_from=package.parents[1])
    (tmp_path / "other" / "megatron_core-0.19.2.dist-info" / "direct_url.json").write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "other")

    assert provenance.find_source(package) == Source()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_checkout(package: Path):
    folder = package.parents[1]
    run = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"], ["tag", "v1"]):
        subprocess.run([*run, *command], cwd=folder, check=True)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()

    assert provenance.find_source(package).revision == commit

    (package / "__init__.py").write_text("changed = True\n", encoding="utf-8")
    assert provenance.find_source(package).revision == f"{commit}-dirty"


def test_without_git(package: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert provenance.find_source(package) == Source()
