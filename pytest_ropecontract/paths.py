"""Texts without what differs from one machine, or one run, to the next."""

from __future__ import annotations

import functools
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.errors import raised_at

if TYPE_CHECKING:
    from collections.abc import Callable

_BEFORE = r"(?<![\w./~-])"
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


def portable(text: str, root: Path) -> str:
    """Return a printable text with its paths relative to where they belong.

    Args:
        text: For example an error with the place where it came from.
        root: The project's folder; paths below it start from there. Those below a folder
            that modules are imported from start from that one.
    """
    if "/" in text:
        imported_from = tuple(map(str, sys.path))
        home = str(Path.home())
        for pattern, shown in _shown(root, imported_from, tempfile.gettempdir(), home):
            text = pattern.sub(shown, text)
    return printable(_ADDRESS.sub("0x...", text))


@functools.lru_cache(maxsize=8)
def _shown(
    root: Path, imported_from: tuple[str, ...], scratch: str, home: str
) -> tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]:
    """Return what is replaced, in order, and how; a report has thousands of texts."""
    found: list[tuple[str, Callable[[re.Match[str]], str]]] = [
        (rf"{re.escape(folder)}(/|(?![\w./-]))", lambda found: "" if found[1] else ".")
        for folder in sorted({str(root), str(root.resolve())} - {"/"})
    ]
    folders = {name.rstrip("/") for name in imported_from if Path(name).is_absolute()} - {""}
    longest_first = sorted(folders, key=lambda one: (-len(one), one))
    found.extend((f"{re.escape(folder)}/", lambda _: "") for folder in longest_first)
    found.append((rf"{re.escape(scratch)}/[\w.-]+", lambda _: "<temporary>"))
    if len(home) > 1:
        found.append((rf"{re.escape(home)}(?![\w.-])", lambda _: "~"))
    return tuple((re.compile(_BEFORE + pattern), shown) for pattern, shown in found)


def portable_value(value: Any, root: Path) -> Any:
    """Return a value of lists and mappings with all its texts made portable, names as well.

    Texts that are no Unicode, and numbers that JSON does not have, are written out.
    """
    if isinstance(value, str):
        return portable(value, root)
    if isinstance(value, float) and value - value != 0.0:
        return str(value)
    if isinstance(value, list | tuple):
        return [portable_value(one, root) for one in value]
    if isinstance(value, dict):
        return {
            name if name.isidentifier() else portable(name, root): portable_value(one, root)
            for name, one in value.items()
        }
    return value


def printable(text: str) -> str:
    """Return a text in which surrogates, which no file or process takes, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def place(error: BaseException, root: Path) -> str | None:
    """Return the innermost line at which an error was raised, relative to a folder."""
    found = raised_at(error)
    return None if found is None else portable(found, root)
