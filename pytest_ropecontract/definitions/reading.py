"""Read the file of a definition."""

from __future__ import annotations

import stat
from codecs import BOM_UTF8
from typing import TYPE_CHECKING

from pytest_ropecontract.definitions.definition import DefinitionError

if TYPE_CHECKING:
    from pathlib import Path


def read_file(path: Path, expected: str) -> bytes:
    """Return a definition file's bytes.

    Raises:
        DefinitionError: There is no such file, it is something else, or it is unreadable.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            return path.read_bytes()
    except FileNotFoundError:
        raise DefinitionError(
            "the file does not exist", origin=str(path), remedy="check its name"
        ) from None
    except OSError as error:
        raise DefinitionError(
            f"the file cannot be read: {error.strerror}",
            origin=str(path),
            remedy="check its permissions",
        ) from None
    kind = "a directory" if stat.S_ISDIR(mode) else "a device or a pipe"
    raise DefinitionError(
        f"the path is {kind}, not {expected}", origin=str(path), remedy="name a file"
    )


def decoded(data: bytes, path: Path, what: str) -> str:
    """Return a definition file's text, without a byte order mark.

    Raises:
        DefinitionError: It is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The mark is not counted in the error's position, and holds no line feed.
        body = data.removeprefix(BOM_UTF8)
        line = body.count(b"\n", 0, error.start) + 1
        raise DefinitionError(
            f"{what} is not UTF-8: byte 0x{body[error.start]:02x} in line {line}",
            origin=f"{path}:{line}",
            remedy="save it as UTF-8",
        ) from None
