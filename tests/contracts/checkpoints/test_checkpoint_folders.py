"""From the folder of a model, or of a local hub cache, to its config.json."""

from __future__ import annotations

from pathlib import Path

import pytest
from ordinary_user import ordinary_user

from pytest_ropecontract.contracts.checkpoints.document import CheckpointError
from pytest_ropecontract.contracts.checkpoints.folders import Located, locate
from pytest_ropecontract.contracts.checkpoints.reader import load

NAME = "published"
OLD, NEW = "a" * 40, "b" * 40


def refused(path: Path, revision: str | None = None) -> str:
    with pytest.raises(CheckpointError) as caught:
        locate(path, NAME, revision)
    assert caught.value.remedy
    return caught.value.headline


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A repository in a cache with two snapshots, of which ``main`` is the newer one."""
    folder = tmp_path / "models--zai-org--GLM-5"
    for commit, base in ((OLD, 1), (NEW, 2)):
        blob = folder / "blobs" / commit[:3]
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_text(f'{{"rope_theta": {base}}}')
        (folder / "snapshots" / commit).mkdir(parents=True)
        (folder / "snapshots" / commit / "config.json").symlink_to(f"../../blobs/{commit[:3]}")
    (folder / "refs" / "refs" / "pr").mkdir(parents=True)
    (folder / "refs" / "main").write_text(NEW)
    (folder / "refs" / "refs" / "pr" / "1").write_text(OLD)
    return folder


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "m.json"

    assert locate(path, NAME) == Located(path, NAME)


def test_folder_of_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"rope_theta": 5}')

    assert locate(tmp_path, NAME) == Located(path, f"{NAME}/config.json")
    checkpoint = load(tmp_path, NAME)
    assert checkpoint.name == f"{NAME}/config.json"
    assert checkpoint.ropes[0].values["rotary_base"] == 5


def test_folder_without_a_config(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"{NAME} is a folder without config.json"


def test_folder_of_a_checkpoint_that_is_broken(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")

    with pytest.raises(CheckpointError, match=f"^{NAME}/config.json is cut off"):
        load(tmp_path, NAME)


def test_folder_whose_config_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()

    with pytest.raises(CheckpointError, match=f"^{NAME}/config.json is no file"):
        load(tmp_path, NAME)


def test_folder_that_may_not_be_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    outer = tmp_path_factory.mktemp("open")
    folder = outer / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    folder.chmod(0)

    with ordinary_user(outer):
        assert refused(folder) == f"{NAME} cannot be read: Permission denied"
    folder.chmod(0o700)


@pytest.mark.parametrize(
    ("revision", "commit"),
    [(None, NEW), ("main", NEW), ("refs/pr/1", OLD), (OLD, OLD)],
)
def test_repository_in_a_cache(cache: Path, revision: str | None, commit: str) -> None:
    inside = f"snapshots/{commit}/config.json"

    assert locate(cache, NAME, revision) == Located(
        cache / inside, f"{NAME}/{inside}", "zai-org/GLM-5", commit
    )


@pytest.mark.parametrize("inside", [f"snapshots/{OLD}", f"snapshots/{OLD}/config.json"])
def test_snapshot_in_a_cache(cache: Path, inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cache.parent)

    found = locate(Path(cache.name) / inside, NAME)

    assert (found.repo_id, found.commit) == ("zai-org/GLM-5", OLD)


def test_only_snapshot_in_a_cache(cache: Path) -> None:
    (cache / "refs" / "main").unlink()
    (cache / "snapshots" / NEW / "config.json").unlink()
    (cache / "snapshots" / NEW).rmdir()

    assert locate(cache, NAME).commit == OLD


def test_snapshots_of_which_none_is_meant(cache: Path) -> None:
    (cache / "refs" / "main").unlink()

    with pytest.raises(CheckpointError) as caught:
        locate(cache, NAME)

    assert str(caught.value).splitlines() == [
        f"{NAME} has no revision 'main'",
        f"  snapshots: {OLD}, {NEW}",
        "  remedy: name the folder of one of its snapshots",
    ]


@pytest.mark.parametrize(
    "revision", ["0905", "", "../refs/main", f"../snapshots/{NEW}/config.json", "a\0b", "x" * 300]
)
def test_revision_that_is_not_there(cache: Path, revision: str) -> None:
    said = refused(cache, revision)

    assert said.startswith((f"{NAME} has no revision ", f"{NAME} cannot be read: "))


def test_revision_without_its_snapshot(cache: Path) -> None:
    (cache / "refs" / "main").write_text("c" * 40)

    assert refused(cache) == f"{NAME} has no revision 'main'"


@pytest.mark.parametrize("content", [b"\xff", "\u00e4".encode()])
def test_revision_that_is_no_text(cache: Path, content: bytes) -> None:
    (cache / "refs" / "main").write_bytes(content)

    assert refused(cache) == f"{NAME} cannot be read: a revision is no text"


def test_snapshot_without_a_config(cache: Path) -> None:
    (cache / "snapshots" / NEW / "config.json").unlink()

    assert refused(cache) == f"{NAME} has no snapshots/{NEW}/config.json"


def test_snapshot_whose_file_is_gone(cache: Path) -> None:
    (cache / "blobs" / NEW[:3]).unlink()

    with pytest.raises(CheckpointError) as caught:
        load(cache, NAME)
    assert caught.value.headline == (
        f"{NAME}/snapshots/{NEW}/config.json cannot be read: No such file or directory"
    )


def test_revision_of_a_file(tmp_path: Path) -> None:
    assert refused(tmp_path / "m.json", "main") == f"{NAME} is of one revision"


def test_what_to_do_about_a_revision_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()

    with pytest.raises(CheckpointError) as caught:
        locate(tmp_path, NAME, "main")

    assert str(caught.value).splitlines() == [
        f"{NAME}/config.json is of one revision",
        "  remedy: leave --revision out, or name the repository",
    ]


@pytest.mark.parametrize("inside", ["snapshots/mine", f"other/{NEW}"])
def test_folder_that_is_no_snapshot_has_no_repository(cache: Path, inside: str) -> None:
    folder = cache / inside
    folder.mkdir(parents=True)
    (folder / "config.json").touch()

    assert locate(folder, NAME) == Located(folder / "config.json", f"{NAME}/config.json")


def test_snapshot_that_may_not_be_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    outer = tmp_path_factory.mktemp("open")
    snapshot = outer / "models--org--name" / "snapshots" / NEW
    snapshot.mkdir(parents=True)
    snapshot.chmod(0)

    with ordinary_user(outer):
        assert refused(snapshot.parents[1]) == f"{NAME} cannot be read: Permission denied"
    snapshot.chmod(0o700)


def test_snapshots_that_are_a_file(tmp_path: Path) -> None:
    (tmp_path / "snapshots").touch()

    assert refused(tmp_path) == f"{NAME} cannot be read: Not a directory"


def test_repository_without_a_snapshot(tmp_path: Path) -> None:
    (tmp_path / "snapshots").mkdir()

    with pytest.raises(CheckpointError) as caught:
        locate(tmp_path, NAME)

    assert caught.value.details == ("snapshots: none",)


def test_folder_of_another_layout_has_no_repository(tmp_path: Path) -> None:
    snapshot = tmp_path / "mine" / "snapshots" / NEW
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").touch()

    assert locate(snapshot, NAME).repo_id is None
