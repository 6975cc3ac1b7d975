"""What became of a snapshot, in one line."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH = 120
# More lines are no launcher's or definition's; comparing them cleverly would take minutes.
MOST_LINES = 4000


def story(before: str, now: str) -> str:
    """Say what changed first, and how much more did.

    Args:
        before: The text of a snapshot.
        now: Another one.
    """
    old, new = before.split("\n")[:-1], now.split("\n")[:-1]
    changes = list(_changes(old, new))
    first = changes[0] if changes else "changed"
    more = len(changes) - 1
    if more < 1:
        return first
    return f"{first} (and {more} more {'change' if more == 1 else 'changes'})"


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for every line that was changed, added, removed or moved, in order."""
    blocks = list(_blocks(old, new))
    lost = Counter(line for removed, _ in blocks for line in removed)
    moved = lost & Counter(line for _, added in blocks for line in added)
    leaving, arriving = moved.copy(), moved.copy()
    for removed, added in blocks:
        left = [line for line in added if not _take(arriving, line)]
        for line in removed:
            if _take(leaving, line):
                yield f"{_short(line)} was moved"
                continue
            same = next((one for one in left if _key(one) == _key(line)), None)
            if same is None:
                yield f"{_short(line)} was removed"
            else:
                left.remove(same)
                yield f"{_short(line)} became {_short(same)}"
        yield from (f"{_short(line)} was added" for line in left)


def _take(lines: Counter[str], line: str) -> bool:
    """Return whether a line is among some, and take it away from them."""
    if not lines[line]:
        return False
    lines[line] -= 1
    return True


def _blocks(
    old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the lines that were lost, and those that stand in their place."""
    if max(len(old), len(new)) > MOST_LINES:
        lost, found = Counter(old) - Counter(new), Counter(new) - Counter(old)
        yield list(lost.elements()), list(found.elements())
        return
    for kind, low, high, start, stop in SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "equal":
            yield old[low:high], new[start:stop]


def _key(line: str) -> str:
    """Return what a line is about: its flag, its field, or its variable."""
    found = re.match(r"\s*(?:\$ |env )?[^\s:=]+", line)
    return found[0] if found else line


def _short(line: str) -> str:
    text = line.strip()
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} ..."
