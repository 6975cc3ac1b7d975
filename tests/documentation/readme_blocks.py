"""The code blocks of the README, under the heading that each stands under."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CHECKOUT = Path(__file__).parents[2]
README = CHECKOUT / "README.md"
LEFT_OUT = "..."
_FENCE = re.compile(r"^```(\w*)$")
_HEADING = re.compile(r"^#{1,6} (.+)$")
_PATH = re.compile(r"^# ([\w./-]+\.\w+)$")


@dataclass(frozen=True)
class Block:
    """One code block."""

    heading: str
    line: int
    language: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def path(self) -> str | None:
        """The file that the block shows, where its first line is a comment that names one."""
        named = _PATH.match(self.lines[0])
        return named[1] if named else None

    @property
    def commands(self) -> list[tuple[str, list[str]]]:
        """The commands of a console block, each with the output that is shown of it."""
        found: list[tuple[str, list[str]]] = []
        for line in self.lines:
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found and found[-1][0].endswith("\\"):
                command, shown = found.pop()
                found.append((command[:-1].rstrip() + " " + line.strip(), shown))
            else:
                found[-1][1].append(line)
        return found


def blocks(text: str | None = None) -> Iterator[Block]:
    """Yield the blocks of the README, or of a text."""
    heading, opened = "", None
    for number, line in enumerate((text or README.read_text(encoding="utf-8")).splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is not None:
            if fence:
                yield Block(heading, opened[0], opened[1], tuple(opened[2]))
                opened = None
            else:
                opened[2].append(line)
        elif fence:
            opened = (number, fence[1], [])
        elif found := _HEADING.match(line):
            heading = found[1]


def by_heading() -> dict[str, list[Block]]:
    """Return the blocks under each heading that has any."""
    grouped = groupby(blocks(), key=lambda block: block.heading)
    return {heading: list(found) for heading, found in grouped}


def difference(shown: Sequence[str], printed: Sequence[str]) -> str | None:
    """Return what is shown and was not printed, or None.

    Lines stand together as they were printed; one that is ``...`` stands for any number of them.
    """
    at, first = 0, True
    for is_gap, group in groupby(shown, key=lambda line: line == LEFT_OUT):
        if is_gap:
            first = False
            continue
        chunk = list(group)
        starts = [0] if first else range(at, len(printed) - len(chunk) + 1)
        found = next((i for i in starts if list(printed[i : i + len(chunk)]) == chunk), None)
        if found is None:
            return "\n".join(chunk)
        at, first = found + len(chunk), False
    if shown and shown[-1] != LEFT_OUT and at != len(printed):
        return f"the end, before: {printed[at]}"
    return None
