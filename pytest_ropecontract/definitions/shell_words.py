"""Split text into words as a POSIX shell does, without expanding anything.

The standard library's ``shlex`` differs where definitions need it: it begins a comment in
the middle of a word, and keeps the line feed of a continued line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK = " \t\r\n"
_SPECIAL = re.compile(r"""[ \t\r\n'"\\]""")


class QuotingError(ValueError):
    """A quote that does not end, or a backslash with nothing behind it."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line


def shell_words(text: str) -> Iterator[str]:
    """Give the words of a text: quotes, backslashes and comments as in a shell.

    A carriage return counts as a blank.

    Raises:
        QuotingError: A quote does not end. It carries the line on which the quote begins.
    """
    position = 0
    while position < len(text):
        char = text[position]
        if char in _BLANK:
            position += 1
        elif char == "#":
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
        elif text.startswith("\\\n", position):
            position += 2
        else:
            word, position = _word(text, position)
            yield word


def _word(text: str, position: int) -> tuple[str, int]:
    parts: list[str] = []
    while position < len(text) and text[position] not in _BLANK:
        char = text[position]
        if char == "'":
            end = text.find("'", position + 1)
            if end < 0:
                raise _unended(text, position)
            parts.append(text[position + 1 : end])
            position = end + 1
        elif char == '"':
            part, position = _double_quoted(text, position)
            parts.append(part)
        elif char == "\\":
            if position + 1 == len(text):
                raise QuotingError("a backslash at the end", text.count("\n") + 1)
            if text.startswith("\\\r\n", position):
                position += 1
            elif text[position + 1] != "\n":
                parts.append(text[position + 1])
            position += 2
        else:
            special = _SPECIAL.search(text, position + 1)
            stop = len(text) if special is None else special.start()
            parts.append(text[position:stop])
            position = stop
    return "".join(parts), position


def _double_quoted(text: str, start: int) -> tuple[str, int]:
    parts: list[str] = []
    position = start + 1
    while position < len(text):
        char = text[position]
        if char == '"':
            return "".join(parts), position + 1
        if char == "\\" and text[position + 1 : position + 2] in {"\\", '"', "$", "`", "\n"}:
            if text[position + 1] != "\n":
                parts.append(text[position + 1])
            position += 2
        else:
            parts.append(char)
            position += 1
    raise _unended(text, start)


def _unended(text: str, position: int) -> QuotingError:
    return QuotingError(
        f"the quote {text[position]} does not end", text.count("\n", 0, position) + 1
    )
