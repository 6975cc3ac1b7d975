"""Which tokens of an argv belong to which flag.

The rules are argparse's for a parser without abbreviations: what starts with a dash is a
flag unless it looks like a negative number or has a space inside, and a flag takes the
following tokens that are no flags, up to its ``nargs``.
"""

from __future__ import annotations

import difflib
import functools
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

NEGATIVE_NUMBER = re.compile(r"-(?:\d+|\d*\.\d+)")


class Occurrence(NamedTuple):
    """One flag with its values, at its place in an argv.

    Attributes:
        flag: The flag as written, without an ``=value`` part; of stray values, the first.
        dest: The namespace attribute that it sets, or None where the parser does not know it.
        values: The tokens that belong to it.
        start: Index of its first token.
        stop: Index after its last token.
    """

    flag: str
    dest: str | None
    values: tuple[str, ...]
    start: int
    stop: int

    @property
    def text(self) -> str:
        """The flag and its values as one would type them."""
        return " ".join((self.flag, *self.values)) if self.values != (self.flag,) else self.flag


class Arity(NamedTuple):
    """How many values a flag takes, and the namespace attribute that it sets."""

    dest: str
    most: int


def arities(parser: argparse.ArgumentParser) -> dict[str, Arity]:
    """Return every flag of a parser with its dest and the most values that it takes."""
    table: dict[str, Arity] = {}
    for action in actions(parser):
        if action.nargs is None:
            most = 1
        elif isinstance(action.nargs, int):
            most = action.nargs
        else:
            most = 1 if action.nargs == "?" else sys.maxsize
        for flag in action.option_strings:
            table[flag] = Arity(action.dest, most)
    return table


def actions(parser: argparse.ArgumentParser) -> Sequence[argparse.Action]:
    """Return the actions of a parser, in the order in which they were added."""
    return parser._actions  # noqa: SLF001  # has no public name; stable since Python 2.7


def demands(parser: argparse.ArgumentParser) -> tuple[frozenset[str], ...]:
    """Return sets of flags of which a parser demands one each."""
    groups = parser._mutually_exclusive_groups  # noqa: SLF001  # has no public name either
    return (
        *(frozenset(action.option_strings) for action in actions(parser) if action.required),
        *(
            frozenset(flag for action in group._group_actions for flag in action.option_strings)  # noqa: SLF001
            for group in groups
            if group.required
        ),
    )


def split(argv: Sequence[str], table: Mapping[str, Arity]) -> tuple[Occurrence, ...]:
    """Split an argv into flag occurrences, in order, covering every token once."""
    occurrences: list[Occurrence] = []
    index = 0
    while index < len(argv):
        token = argv[index]
        name, equals, attached = token.partition("=")
        if token in table:
            name, equals = token, ""
        arity = table.get(name)
        stop = index + 1
        values: list[str] = [attached] if equals else []
        if arity is None:
            limit = len(argv) if is_flag(token, table) else 0
            if not limit:
                name, values = token, [token]
        else:
            limit = 0 if equals else arity.most
        while stop < len(argv) and len(values) < limit and not is_flag(argv[stop], table):
            values.append(argv[stop])
            stop += 1
        dest = arity.dest if arity is not None else None
        occurrences.append(Occurrence(name, dest, tuple(values), index, stop))
        index = stop
    return tuple(occurrences)


def is_flag(token: str, table: Mapping[str, Arity]) -> bool:
    """Return whether argparse takes a token for a flag."""
    if not token.startswith("-") or len(token) == 1:
        return False
    if token in table or token.partition("=")[0] in table:
        return True
    return not NEGATIVE_NUMBER.fullmatch(token) and " " not in token


# A flag with one of these more says the opposite.
NEGATIONS = frozenset({"no", "disable"})
SAME_WORD = 0.7
MORE_WORDS = 2


def nearest_flag(flag: str, known: Iterable[str]) -> str | None:
    """Return the known flag that is most likely meant by an unknown one, or None.

    That is one with the same words, some perhaps misspelt, or one with a word or two more, as
    ``--yarn-beta-fast`` for ``--beta-fast``. One with fewer words is another option:
    ``--max-position-embeddings`` is not ``--original-max-position-embeddings``.
    """
    words = _words(flag)
    ranked = sorted((-score, one) for one in known if (score := _likeness(words, _words(one))))
    return ranked[0][1] if ranked else None


@functools.lru_cache(maxsize=4096)
def _words(flag: str) -> tuple[str, ...]:
    return tuple(re.split(r"[-_.]+", flag.lstrip("-").lower()))


def _likeness(words: tuple[str, ...], known: tuple[str, ...]) -> float:
    """Return how likely a flag with known words is meant, from 0, not at all, to 1."""
    more = len(known) - len(words)
    if more:
        starts = range(more + 1) if 0 < more <= MORE_WORDS and len(words) > 1 else ()
        within = any(known[at : at + len(words)] == words for at in starts)
        score = len(words) / len(known) if within else 0.0
    else:
        score = 1.0
        for one, other in zip(words, known, strict=True):
            if one == other:
                continue
            # A number is a name of its own, not a misspelt one.
            if re.search(r"\d", one + other):
                return 0.0
            ratio = difflib.SequenceMatcher(None, one, other).ratio()
            if ratio < SAME_WORD:
                score = 0.0
                break
            score *= ratio
    if not score and "".join(words) == "".join(known):
        score = 1.0
    return score if NEGATIONS.isdisjoint({*words} ^ {*known}) else 0.0
