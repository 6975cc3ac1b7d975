"""What the first line of every failure has to be."""

from __future__ import annotations

LONGEST = 500


def first_line(text: str) -> str:
    """Return the first line of a failure, or why that is no whole story for a terminal."""
    line = text.split("\n", 1)[0]
    wrong = {
        "empty": not line.strip(),
        "without an end": line != line.strip() or line.endswith(":"),
        "too long": len(line) > LONGEST,
        "a traceback": "Traceback (most" in text or "INTERNALERROR" in text,
        "the worker's own failure": "status 70" in line,
        "not printable": not line.isprintable(),
    }
    return next((f"{why}: {line[:LONGEST]!r}" for why, is_so in wrong.items() if is_so), line)
