"""Read the file of a definition."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import TYPE_CHECKING

from pytest_ropecontract import reading
from pytest_ropecontract.definitions.definition import DefinitionError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 16 * 1024 * 1024
"""In bytes: JSON may write one character of the longest argv as six."""


def read_file(path: Path, expected: str) -> bytes:
    """Return a definition file's bytes.

    Raises:
        DefinitionError: There is no such file, it is something else, too large or unreadable.
    """
    try:
        return reading.read(path, LARGEST)
    except FileNotFoundError:
        problem, remedy = "the file does not exist", "check its name"
        if path.is_symlink():
            problem, remedy = "the file is a link to nothing", "check what it links to"
    except OSError as error:
        problem, remedy = f"the file cannot be read: {error.strerror}", "check its permissions"
    except reading.NotAFileError as error:
        problem, remedy = f"the path is {error}, not {expected}", "name a file"
    except reading.TooLargeError:
        problem = f"{expected.partition(' ')[2]} is larger than {LARGEST // 1024**2} MiB"
        problem, remedy = f"the {problem}", "check its name"
    raise DefinitionError(problem, origin=str(path), remedy=remedy)


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
