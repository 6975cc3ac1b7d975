"""Texts without what differs from one machine, or one run, to the next."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from pytest_ropecontract.errors import raised_at

_BEFORE = r"(?<![\w./~-])"
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


def portable(text: str, root: Path) -> str:
    """Return a printable text with its paths relative to where they belong.

    Args:
        text: For example an error with the place where it came from.
        root: The project's folder; paths below it start from there. Those below a folder
            that modules are imported from start from that one.
    """
    for folder in sorted({str(root), str(root.resolve())} - {"/"}):
        text = re.sub(rf"{_BEFORE}{re.escape(folder)}(/|(?![\w./-]))", _inside, text)
    folders = {name.rstrip("/") for name in sys.path if Path(name).is_absolute()} - {""}
    for folder in sorted(folders, key=lambda one: (-len(one), one)):
        text = re.sub(rf"{_BEFORE}{re.escape(folder)}/", "", text)
    scratch = re.escape(tempfile.gettempdir())
    text = re.sub(rf"{_BEFORE}{scratch}/[\w.-]+", "<temporary>", text)
    home = re.escape(str(Path.home()))
    text = re.sub(rf"{_BEFORE}{home}(?![\w.-])", "~", text) if len(home) > 1 else text
    return printable(_ADDRESS.sub("0x...", text))


def _inside(found: re.Match[str]) -> str:
    return "" if found[1] else "."


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
