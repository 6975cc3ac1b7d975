"""Other ways in which a value goes missing: repeated, exchanged, or given to the wrong flag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ropecontract.contracts.expectation import equal
from pytest_ropecontract.contracts.rules import ROPE_DESTS, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_ropecontract.megatron.pipeline import Pipeline
    from pytest_ropecontract.omission.units import Units

    # Of other models, per dest of a flag with one value, that value.
    Siblings = Mapping[str, Mapping[str, str]]

# Flags of one family that are taken for those of another, by dest, in both directions.
FAMILIES = (
    ("rotary_scaling_factor", "rope_scaling_factor"),
    ("beta_fast", "yarn_beta_fast"),
    ("beta_slow", "yarn_beta_slow"),
    ("original_max_position_embeddings", "yarn_original_max_position_embeddings"),
    ("original_max_position_embeddings", "max_position_embeddings"),
    ("rope_type", "position_embedding_type"),
)
# Flags of one embedding whose values are exchanged.
PAIRS = (
    ("beta_fast", "beta_slow"),
    ("yarn_beta_fast", "yarn_beta_slow"),
    ("mscale", "mscale_all_dim"),
)
OTHER_VALUES = {"rope": "yarn", "yarn": "rope"}


@dataclass(frozen=True)
class Mutation:
    """A command line with one thing changed.

    Attributes:
        argv: All tokens.
        text: What was changed, in words.
        indices: The places of the flags that it changes.
        spelling: Whether only the spelling was changed, so that nothing may come of it.
    """

    argv: tuple[str, ...]
    text: str
    indices: frozenset[int]
    spelling: bool = False

    def __repr__(self) -> str:
        return self.text


def mutations(pipeline: Pipeline, units: Units, siblings: Siblings) -> Iterator[Mutation]:
    """Yield every mutation of a command line's RoPE flags.

    Args:
        pipeline: Knows the flags.
        units: The command line.
        siblings: The values that models of the same family give to the same flags.
    """
    places = {
        one.dest: index
        for index, one in enumerate(units.occurrences)
        if one.dest in ROPE_DESTS and len(one.values) == 1
    }
    for dest, index in places.items():
        one = units.occurrences[index]
        value, here = one.values[0], frozenset({index})
        attached = one.stop - one.start == 1
        spelled = (one.flag, value) if attached else (f"{one.flag}={value}",)
        yield Mutation(_replaced(units, index, spelled), " ".join(spelled), here, spelling=True)
        other = _other_value(value)
        if other is not None:
            text = f"{one.text} and then {one.flag} {other}"
            yield Mutation((*units.argv, one.flag, other), text, here)
        for foreign in _foreign_flags(pipeline, str(dest)):
            text = f"{foreign} {value} in place of {one.text}"
            yield Mutation(_replaced(units, index, (foreign, value)), text, here)
        for text, taken in _taken(siblings, str(dest), value):
            tokens = (one.flag, taken)
            yield Mutation(_replaced(units, index, tokens), f"{one.flag} {taken} {text}", here)
    for first, second in PAIRS:
        if first in places and second in places:
            yield from _exchanged(units, places[first], places[second])


def _taken(siblings: Siblings, dest: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield the values that other models give to a flag, each once, with who gives it."""
    known = [value]
    for model, values in siblings.items():
        taken = values.get(dest)
        if taken is not None and not any(equal(number(taken), number(one)) for one in known):
            known.append(taken)
            yield f"as in {model}", taken


def _other_value(value: str) -> str | None:
    if value in OTHER_VALUES:
        return OTHER_VALUES[value]
    try:
        return str(int(value) * 2)
    except ValueError:
        pass
    try:
        return str(float(value) * 2)
    except ValueError:
        return None


def _foreign_flags(pipeline: Pipeline, dest: str) -> Iterator[str]:
    for pair in FAMILIES:
        if dest in pair:
            other = pair[1] if pair[0] == dest else pair[0]
            yield pipeline.flag_of(other) or "--" + other.replace("_", "-")


def _replaced(units: Units, index: int, tokens: tuple[str, ...]) -> tuple[str, ...]:
    one = units.occurrences[index]
    return (*units.argv[: one.start], *tokens, *units.argv[one.stop :])


def _exchanged(units: Units, first: int, second: int) -> Iterator[Mutation]:
    one, other = units.occurrences[first], units.occurrences[second]
    if one.values == other.values:
        return
    argv = list(units.argv)
    for unit, value in ((one, other.values[0]), (other, one.values[0])):
        attached = unit.stop - unit.start == 1
        argv[unit.stop - 1] = f"{unit.flag}={value}" if attached else value
    text = f"{one.flag} {other.values[0]} and {other.flag} {one.values[0]} exchanged"
    yield Mutation(tuple(argv), text, frozenset({first, second}))


def values_of(units: Units) -> dict[str, str]:
    """Return the values that a command line gives to RoPE flags with one value, by dest."""
    return {
        str(one.dest): one.values[0]
        for one in units.occurrences
        if one.dest in ROPE_DESTS and len(one.values) == 1
    }
