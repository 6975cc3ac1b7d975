"""Command lines as text: one flag with its values a line, quoted as bash reads it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pytest_ropecontract.megatron.command_line import is_flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NOTHING = "# no flags"
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", "'": "\\'"}
# What Python makes of a byte that is no UTF-8.
_FIRST_BYTE, _LAST_BYTE = 0xDC80, 0xDCFF
_LARGEST_SHORT = 0xFFFF


def argv_lines(argv: Sequence[str]) -> list[str]:
    """Return the lines of a command line, a flag with its values in each.

    Bash, and where no character had to be escaped also an argv file, reads the same tokens
    from them.
    """
    return [" ".join(map(quoted, group)) for group in _groups(argv)] or [NOTHING]


def _groups(argv: Sequence[str]) -> Iterator[list[str]]:
    """Yield every flag with the tokens up to the next one, without knowing any parser.

    Which flags a parser has must not decide over the lines: they would change with it.
    """
    group: list[str] = []
    for token in argv:
        if group and is_flag(token, {}):
            yield group
            group = []
        group.append(token)
    if group:
        yield group


def quoted(token: str) -> str:
    """Return a token as one types it in bash; what cannot be printed is escaped."""
    if token.isprintable():
        return shlex.quote(token)
    return f"$'{''.join(map(_escaped, token))}'"


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if _FIRST_BYTE <= code <= _LAST_BYTE:
        return f"\\x{code - _FIRST_BYTE + 0x80:02x}"
    return f"\\u{code:04x}" if code <= _LARGEST_SHORT else f"\\U{code:08x}"
