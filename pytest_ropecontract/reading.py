"""Reading a file that may be anything, without waiting for it and without more than was meant."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class UnusableFileError(Exception):
    """What is at a path is not read."""


class NotAFileError(UnusableFileError):
    """It is no file with a content; the text says what it is."""


class TooLargeError(UnusableFileError):
    """It is larger than it may be."""


def read(path: Path, limit: int) -> bytes:
    """Return the content of a file; a pipe that nobody writes to is not waited for.

    Args:
        path: The file.
        limit: The most bytes that it may have.

    Raises:
        OSError: There is none, or it cannot be read; also where the path can be none.
        NotAFileError: It is a folder, a device or a pipe.
        TooLargeError: It has more bytes.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError:
        raise OSError(0, "its path has a null character") from None
    except OSError:
        # A socket cannot even be opened.
        if path.is_socket():
            raise NotAFileError("a socket") from None
        raise
    try:
        kind = os.fstat(handle).st_mode
        if not stat.S_ISREG(kind):
            raise NotAFileError("a folder" if stat.S_ISDIR(kind) else "a device or a pipe")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    finally:
        os.close(handle)
    if len(content) > limit:
        raise TooLargeError
    return content
