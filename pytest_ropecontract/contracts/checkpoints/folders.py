"""The ``config.json`` in a folder: a model's own, or a repository of a local hub cache.

The layout of the cache is that of ``huggingface_hub``: ``models--ORG--NAME`` with
``snapshots/COMMIT``, and in ``refs`` a file a branch or tag, with the commit that it was at.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ropecontract.contracts.checkpoints.document import REMEDY, CheckpointError

if TYPE_CHECKING:
    from pathlib import Path

CONFIG_FILE = "config.json"
SNAPSHOTS = "snapshots"
DEFAULT_REVISION = "main"
COMMIT = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"models--(?P<id>.+)")


@dataclass(frozen=True)
class Located:
    """A ``config.json``, and what its path says about it.

    Attributes:
        path: The file.
        name: What to call it in texts.
        repo_id: The repository that it is of, or None where the path does not say.
        commit: The commit of that repository, or None.
    """

    path: Path
    name: str
    repo_id: str | None = None
    commit: str | None = None


def locate(path: Path, name: str, revision: str | None = None) -> Located:
    """Return the file that a path leads to.

    Args:
        path: A file, the folder of a model, or that of a repository in a local hub cache.
        name: What to call it in texts.
        revision: A commit, branch or tag of a repository in a cache; None: ``main``, or the
            only commit that is there.

    Raises:
        CheckpointError: There is none, or more than one.
    """
    if not os.path.isdir(path):  # noqa: PTH112  # Path.is_dir raises for some of them
        return _of_path(path, name, revision)
    if _is_there(path / CONFIG_FILE, name):
        return _of_path(path / CONFIG_FILE, f"{name}/{CONFIG_FILE}", revision)
    if not _is_there(path / SNAPSHOTS, name):
        raise CheckpointError(f"{name} is a folder without {CONFIG_FILE}", remedy=REMEDY)
    commit = _commit(path, name, revision)
    inside = f"{SNAPSHOTS}/{commit}/{CONFIG_FILE}"
    if not _is_there(path / inside, name):
        raise CheckpointError(f"{name} has no {inside}", remedy=REMEDY)
    return Located(path / inside, f"{name}/{inside}", _repo_id(path.absolute()), commit)


def _of_path(path: Path, name: str, revision: str | None) -> Located:
    # Not resolved: in a cache the file is a link into another folder.
    snapshot = path.absolute().parent
    repository = snapshot.parent.parent
    cached = snapshot.parent.name == SNAPSHOTS and COMMIT.fullmatch(snapshot.name) is not None
    repo_id = _repo_id(repository) if cached else None
    commit = snapshot.name if repo_id is not None else None
    if revision not in (None, commit):
        raise CheckpointError(
            f"{name} is of one revision", remedy="leave --revision out, or name the repository"
        )
    return Located(path, name, repo_id, commit)


def _commit(repository: Path, name: str, revision: str | None) -> str:
    """Return the commit of a revision: what ``refs`` says, or the folder of this name."""
    try:
        commits = sorted(one.name for one in (repository / SNAPSHOTS).iterdir())
        wanted = DEFAULT_REVISION if revision is None else revision
        if wanted in commits:
            return wanted
        refs = repository / "refs"
        ref = refs / wanted
        if ".." not in ref.parts and ref.is_file():
            commit = ref.read_text(encoding="ascii").strip()
            if commit in commits:
                return commit
    except (OSError, UnicodeDecodeError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else "a revision is no text"
        raise CheckpointError(f"{name} cannot be read: {said}", remedy=REMEDY) from None
    if revision is None and len(commits) == 1:
        return commits[0]
    raise CheckpointError(
        f"{name} has no revision {wanted!r}",
        details=[f"{SNAPSHOTS}: {', '.join(commits) or 'none'}"],
        remedy="name the folder of one of its snapshots",
    )


def _repo_id(repository: Path) -> str | None:
    found = _REPOSITORY.fullmatch(repository.name)
    return None if found is None else found["id"].replace("--", "/")


def _is_there(path: Path, name: str) -> bool:
    """Return whether there is such an entry, be it a link to nothing."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise CheckpointError(f"{name} cannot be read: {error.strerror}", remedy=REMEDY) from None
    return True
