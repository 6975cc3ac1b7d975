"""Colours: on a terminal, unless the user wants none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import TextIO

CODES = {"bold": 1, "red": 31, "green": 32, "yellow": 33}


class Paint(Protocol):
    """Adds a colour to a text; None adds none."""

    def __call__(self, text: str, colour: str | None) -> str:
        """Return the text with the codes of a colour around it."""


def paint_for(stream: TextIO) -> Paint:
    """Return what colours the texts for a stream.

    ``NO_COLOR`` turns colours off and else ``FORCE_COLOR`` turns them on, where they are set
    and not empty; a terminal that says it is dumb has none.
    """
    if os.environ.get("NO_COLOR"):
        return _without
    if os.environ.get("FORCE_COLOR"):
        return _with
    return _with if stream.isatty() and os.environ.get("TERM") != "dumb" else _without


def _with(text: str, colour: str | None) -> str:
    return text if colour is None else f"\x1b[{CODES[colour]}m{text}\x1b[0m"


def _without(text: str, colour: str | None) -> str:
    del colour
    return text
