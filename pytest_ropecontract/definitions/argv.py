"""What counts as argv, whichever source it comes from."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.wording import shortened, with_article

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 2 * 1024 * 1024
"""The most that Linux passes to a program by default, in characters."""


def argv_of(value: object, what: str) -> tuple[str, ...]:
    """Turn what a definition gave into argv.

    A string is split at whitespace, as ``read -ra`` of a shell does; the tokens of a list
    or a tuple are taken as they are.

    Args:
        value: What the definition gave.
        what: How to name the giver and the giving, for example ``model_args() returned``.

    Raises:
        DefinitionError: The value is of another type, empty, or no command line takes it.
    """
    plain = _plain(value)
    if isinstance(plain, str):
        tokens = plain.split()
        if not tokens:
            raise DefinitionError(
                f"{what} an empty string", remedy="give at least one flag, or remove the definition"
            )
    elif plain is not None:
        tokens = _items(plain, what)
    else:
        raise DefinitionError(
            f"{what} {_described(value)}, expected a string or a list of strings",
            remedy="return the flags: is a return statement missing?"
            if value is None
            else "give the flags as one string, or as a list with a string for every token",
        )
    if len(tokens) + sum(map(len, tokens)) > LONGEST:
        raise too_long(what)
    for index, token in enumerate(tokens):
        if "\0" in token:
            raise DefinitionError(
                f"{what} a NUL character in token {shortened(token)} (index {index})",
                remedy="remove it: no command line can carry it",
            )
    return tuple(tokens)


def too_long(what: str) -> DefinitionError:
    """Tell that the argv is longer than a command line can be."""
    return DefinitionError(
        f"{what} more than 2 MiB of argv, longer than any command line",
        remedy="check for a loop that adds flags without end",
    )


def spaced_tokens(argv: Iterable[str]) -> tuple[str, ...]:
    """Return the tokens that a shell would not pass on as one: empty, or with whitespace."""
    return tuple(token for token in argv if token.split() != [token])


def _plain(value: Any) -> str | list[object] | tuple[object, ...] | None:
    """Return a string, list or tuple as just that: no method of a class derived from it runs."""
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, list):
        return list.__getitem__(value, slice(None))
    return tuple.__getitem__(value, slice(None)) if issubclass(kind, tuple) else None


def _items(items: list[object] | tuple[object, ...], what: str) -> list[str]:
    kind = "tuple" if isinstance(items, tuple) else "list"
    if not items:
        raise DefinitionError(
            f"{what} an empty {kind}", remedy="give at least one flag, or remove the definition"
        )
    if len(items) > LONGEST:
        raise too_long(what)
    tokens = []
    for index, item in enumerate(items):
        token = _plain(item)
        if not isinstance(token, str):
            raise DefinitionError(
                f"{what} a {kind} with {_described(item)} at index {index}, expected strings only",
                remedy="write every token as a string",
            )
        tokens.append(token)
    return tokens


def _described(value: object) -> str:
    if value is None:
        return "None"
    kind = type(value).__qualname__
    if type(value) in {bool, int, float, bytes}:
        with suppress(ValueError):  # Python writes whole numbers of up to 4300 digits
            return f"{shortened(repr(value))} ({kind})"
    return with_article(kind)
