"""The folder that a launcher may write to, and the environment that it begins with."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TEXT_LIMIT = 1024 * 1024


@contextmanager
def scratch() -> Iterator[Path]:
    """Give an empty folder that is gone afterwards, by its real path."""
    with tempfile.TemporaryDirectory(
        prefix="ropecontract-launch-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder).resolve()


def frozen_environment(folder: Path) -> dict[str, str]:
    """Return the environment that every launcher begins with, on every machine the same.

    Args:
        folder: The scratch folder, which is home and takes temporary files.
    """
    return {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "USER": "user",
        "LOGNAME": "user",
        "HOSTNAME": "localhost",
        "TERM": "dumb",
    }


def show(root: Path, folder: Path) -> None:
    """Link the project's files and folders into a scratch folder, but for hidden ones."""
    for one in root.iterdir():
        if not one.name.startswith("."):
            (folder / one.name).symlink_to(one)


def written(folder: Path, root: Path | None = None) -> Mapping[str, str]:
    """Return the texts of the files in a folder by their paths relative to it, in order.

    The links to a project are left out, where its folder is given.

    A link is shown as ``-> TARGET`` and is not followed. Bytes that are no UTF-8 are replaced, and
    of a large file the first megabyte is read.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if root is not None and path.is_symlink() and path.readlink() == root / name:
            continue
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            with path.open("rb") as file:
                found[name] = file.read(_TEXT_LIMIT).decode("utf-8", "replace")
    return found
