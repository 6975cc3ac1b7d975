"""The error that every layer raises for input that cannot be used, and where others arose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


_FURTHER = 20
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text: str) -> str:
    """Return a text whose control characters are written out: a terminal would obey them.

    Line breaks and tabs stay.
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def representation(value: object) -> str:
    """Return ``repr(value)``, or the type where that fails: an object's own may do anything."""
    try:
        return str.__str__(repr(value))
    except (Exception, SystemExit):  # noqa: BLE001  # its own code may raise anything
        return f"<{type(value).__name__}>"


def message(error: BaseException) -> str:
    """Return the text of an exception, which a class of its own may fail to make."""
    try:
        return str.__str__(str(error))
    except (Exception, SystemExit):  # noqa: BLE001  # its own code may raise anything
        return "<its text cannot be made>"


def described(error: BaseException) -> str:
    """Return an exception in one line: its kind, and what it says first."""
    lines = message(error).strip().splitlines()
    more = " ..." if len(lines) > 1 else ""
    return f"{type(error).__name__}: {lines[0]}{more}" if lines else type(error).__name__


def further(error: BaseException) -> list[str]:
    """Return what an exception says after its first line, as far as it is short."""
    return message(error).strip().splitlines()[1:_FURTHER]


class RopeContractError(Exception):
    """Input that cannot be used: a definition, a surface, a setting, a contract.

    The first line of the text is the whole story; the origin (a file, an ini key, a
    hook), the details and the remedy follow, a line each.

    Args:
        headline: What is wrong, in one line.
        origin: Where the input came from, for example ``scripts/models/kimi-k2.py:12``.
        details: Further lines, for example the tail of what a script printed.
        remedy: What to change so that the error goes away.
    """

    def __init__(
        self,
        headline: str,
        *,
        origin: str | None = None,
        details: Sequence[str] = (),
        remedy: str | None = None,
    ) -> None:
        # What it quotes, such as a file's name, may be of several lines.
        self.headline = headline.replace("\n", "\\n")
        self.origin = origin
        self.details = tuple(details)
        self.remedy = remedy
        lines = [self.headline]
        if origin is not None:
            lines.append(f"  at: {origin}")
        lines.extend(f"  {line}" for line in self.details)
        if remedy is not None:
            lines.append(f"  remedy: {remedy}")
        super().__init__(visible("\n".join(lines)))


def raised_at(error: BaseException) -> str | None:
    """Return the file and the line at which an error was raised: the innermost one."""
    trace = error.__traceback__
    found = None
    while trace is not None:
        found = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
