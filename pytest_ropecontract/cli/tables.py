"""Plain text in columns, at most 80 wide."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH = 80
GAP = 2


def columns(rows: Sequence[Sequence[str]], indent: int = 0) -> list[str]:
    """Align rows of equally many cells; the last cell is wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = []
    for row in rows:
        cells = "".join(f"{cell:{width + GAP}}" for cell, width in zip(row, widths, strict=False))
        lines.extend(wrapped(" " * indent + cells, row[-1]))
    return lines


def wrapped(label: str, text: str, *, hang: int | None = None) -> list[str]:
    """Wrap a text.

    Args:
        label: What stands before it.
        text: The text; a word that is longer than a line is not broken.
        hang: The column in which its further lines begin; by default where it begins itself.
    """
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=label,
        subsequent_indent=" " * (len(label) if hang is None else hang),
        break_long_words=False,
        break_on_hyphens=False,
    )


def value_text(value: Any) -> str:
    """Write a value of a surface as a command line has it."""
    if isinstance(value, dict):
        return str(value["member"]) if "member" in value else value_text(value["tuple"])
    if isinstance(value, list | tuple):
        return " ".join(map(value_text, value)) or "empty"
    return repr(value) if value == "" else str(value)


def listed(items: Iterable[str]) -> str:
    """Join items with commas."""
    return ", ".join(items)
