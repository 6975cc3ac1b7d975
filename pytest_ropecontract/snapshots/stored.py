"""Reading and writing the files of snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ropecontract import reading, writing

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 16 * 1024 * 1024


class UnusableSnapshotError(Exception):
    """A snapshot's file that does not hold what a snapshot does; the text says why."""


def read(path: Path) -> str | None:
    """Return the text of a snapshot, or None where there is none.

    Raises:
        UnusableSnapshotError: It is no file, or holds what was never written.
    """
    try:
        data = reading.read(path, LARGEST)
    except reading.NotAFileError as error:
        raise UnusableSnapshotError(f"is {error}") from None
    except reading.TooLargeError:
        raise UnusableSnapshotError(f"is larger than {LARGEST // 1024**2} MiB") from None
    except FileNotFoundError:
        if path.is_symlink():
            raise UnusableSnapshotError("is a link to nothing") from None
        return None
    except OSError as error:
        raise UnusableSnapshotError(f"cannot be read: {error.strerror}") from None
    return text_of(data)


def text_of(data: bytes) -> str:
    """Return the text of a snapshot from its bytes.

    Raises:
        UnusableSnapshotError: No snapshot is written like that.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"is not UTF-8: byte 0x{data[error.start]:02x} in line {line}"
        raise UnusableSnapshotError(problem) from None
    if not text:
        raise UnusableSnapshotError("is empty")
    if "\r\n" in text:
        raise UnusableSnapshotError("has CRLF at the end of its lines")
    for number, row in enumerate(text.split("\n"), start=1):
        if not row.isprintable():
            foreign = next(one for one in row if not one.isprintable())
            raise UnusableSnapshotError(f"holds U+{ord(foreign):04X} in line {number}")
    if not text.endswith("\n"):
        raise UnusableSnapshotError("ends in the middle of a line")
    return text


def write(path: Path, text: str) -> None:
    """Write a snapshot as a whole, or not at all; a link is kept.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    writing.write(path.resolve(), text)
