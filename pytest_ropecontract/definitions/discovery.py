"""Find the files that hold definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def discover(root: Path, patterns: Iterable[str]) -> list[Path]:
    """Return the definition files under a directory, sorted, each once.

    Files whose names begin with ``_`` or ``.`` are no definitions. A link to nothing is one, and
    a device: that they cannot be read is then said, where a silent run would check less.

    Args:
        root: The directory.
        patterns: Globs relative to it; ``**`` stands for any number of directories.

    Raises:
        RopeContractError: A pattern is no relative glob.
    """
    found: set[Path] = set()
    for pattern in patterns:
        try:
            found.update(
                path
                for path in root.glob(pattern)
                if not path.name.startswith(("_", ".")) and not path.is_dir()
            )
        except (ValueError, NotImplementedError, OSError, IndexError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            if isinstance(error, IndexError):
                said = "it names no file"  # of '.', in Python 3.11
            raise RopeContractError(
                f"{pattern!r} is no glob for definitions: {said}",
                remedy="write it relative to the root, for example 'scripts/models/*.py'",
            ) from None
    return sorted(found)
