"""Where a test's snapshots lie: names that every file system keeps apart."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import quote

_KEPT = "[]+=,@"
_LONGEST = 180
_HEAD = 120
_UP = "_up"


def encoded(name: str) -> str:
    """Return a name as that of a file: two names have the same only if they are the same.

    What a file system may not take is written in percent; a long name is cut, and ends in a
    digest of the whole.
    """
    file = _written(name)
    if len(file) > _LONGEST:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{file[:_HEAD]}~{digest}"
    return file


def is_of(file: str, test: str) -> bool:
    """Return whether a file can hold a snapshot of a test.

    Args:
        file: The file's name without what follows the last dot.
        test: The name of the test, as `encoded` took it.
    """
    own = encoded(test)
    if file == own or file.startswith((f"{own}.", f"{own}[")):
        return True
    head, cut, _ = file.partition("~")
    return bool(cut) and _written(test).startswith(head[:_HEAD])


def _written(name: str) -> str:
    """Return a name in characters that every file system takes, whatever its length."""
    file = quote(name, safe=_KEPT, errors="surrogatepass").replace("~", "%7E")
    return f"%2E{file[1:]}" if file.startswith(".") else file


def module_folder(module: Path, folder: Path) -> Path:
    """Return the folder of a test module's snapshots, relative to that of all snapshots."""
    there = os.path.relpath(module.parent, folder.parent)
    parts = [_UP if part == ".." else part for part in Path(there).parts]
    return Path(*parts, module.stem if module.suffix == ".py" else module.name)


def module_of(relative: Path, folder: Path) -> list[Path]:
    """Return the test modules whose snapshots can lie in a folder; the opposite of the above."""
    parts = [os.pardir if part == _UP else part for part in relative.parts]
    base = Path(os.path.normpath(folder.parent.joinpath(*parts)))
    return [base.with_name(f"{base.name}.py"), base]
