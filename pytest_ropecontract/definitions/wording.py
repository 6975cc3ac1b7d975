"""How values, calls and paths are written in the texts of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ropecontract.errors import representation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_WIDTH = 120
_LISTED = 20
OUTPUT_LINES = 10


def one_line(text: str, width: int = _WIDTH) -> str:
    """Return the first line of a text, cut where it is long; the cut is marked."""
    head, *rest = text.splitlines() or [""]
    if len(head) > width:
        return head[:width] + " ..."
    return f"{head} ..." if any(line.strip() for line in rest) else head


def shortened(text: str) -> str:
    """Return a text that fits into a headline."""
    return one_line(text.replace("\0", "\\0"), 60)


def with_article(noun: str) -> str:
    """Return a noun behind ``a`` or ``an``."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def call_text(name: str, overrides: Mapping[str, Any]) -> str:
    """Return a call as one would write it: ``model_args(nlayers=2)``."""
    values = {key: shortened(representation(value)) for key, value in overrides.items()}
    return f"{name}({', '.join(f'{key}={text}' for key, text in values.items())})"


def seconds(limit: float) -> str:
    """Return a time limit with its unit."""
    return f"{limit:g} s"


def shown(path: Path, root: Path) -> str:
    """Return a path relative to the root where it lies below it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def output_lines(output: str) -> list[str]:
    """Return the last lines that a definition printed, marked as such."""
    lines = [line for line in output.splitlines() if line.strip()]
    return [f"printed: {one_line(line)}" for line in lines[-OUTPUT_LINES:]]


def nearest(name: str, choices: Iterable[str], noun: str) -> str:
    """Return the remedy for a name that is not among the choices."""
    from difflib import get_close_matches  # noqa: PLC0415 - only needed for an error

    known = sorted(choices)
    if close := get_close_matches(name, known, n=3, cutoff=0.6):
        return f"did you mean {' or '.join(map(repr, close))}?"
    if not known:
        return f"there are no {noun}"
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return f"the {noun} are: {', '.join(known[:_LISTED])}{more}"
