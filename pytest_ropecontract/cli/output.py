"""The file that a command writes: as a whole, or not at all."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pytest_ropecontract import writing
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--output`` and ``--force``."""
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="what to write")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")


def check(target: Path, *, overwrite: bool) -> None:
    """Find out that a file could not be written, before what is to be in it is made.

    Raises:
        RopeContractError: It is a folder, its folder does not exist, or it exists already.
    """
    with _refusals(target):
        if target.is_dir():
            raise RopeContractError(f"{target} is a folder", remedy="name a file in it")
        if not target.parent.is_dir():
            raise RopeContractError(
                f"there is no folder {str(target.parent)!r}",
                origin=f"-o {target}",
                remedy="create it, or name another file",
            )
        if target.exists() and not overwrite:
            raise RopeContractError(
                f"{target} exists already",
                remedy="name another file, or overwrite it with --force",
            )


def write(target: Path, text: str) -> None:
    """Write a file as a whole, or not at all.

    Raises:
        RopeContractError: The system refuses it.
    """
    with _refusals(target):
        # What a link leads to is written, and the link stays.
        writing.write(target.resolve(), text)


@contextlib.contextmanager
def _refusals(target: Path) -> Iterator[None]:
    """Raise what the system refuses as an error that names the file."""
    try:
        yield
    except OSError as error:
        raise RopeContractError(
            f"{target} cannot be written: {error.strerror}", remedy="name another file"
        ) from error
