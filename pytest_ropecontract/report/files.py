"""Files of reports, written as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a file as a whole, or not at all.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    half = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        half.chmod(0o666 & ~_umask())
        half.replace(path)
    except BaseException:
        half.unlink()
        raise


def _umask() -> int:
    """Return which rights new files do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
