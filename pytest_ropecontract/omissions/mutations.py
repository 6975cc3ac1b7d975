"""Other ways in which a value goes missing: repeated, swapped, or given to the wrong flag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ropecontract.contracts.rules import ROPE_DESTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ropecontract.megatron.command_line import Occurrence
    from pytest_ropecontract.megatron.pipeline import Pipeline
    from pytest_ropecontract.omissions.units import Units

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
SIBLINGS = (("beta_fast", "beta_slow"), ("mscale", "mscale_all_dim"))
OTHER_VALUES = {"rope": "yarn", "yarn": "rope"}


@dataclass(frozen=True)
class Mutation:
    """A command line with one thing changed.

    Attributes:
        argv: All tokens.
        text: What was changed, in words.
        spelling: Whether only the spelling was changed, so that nothing may come of it.
    """

    argv: tuple[str, ...]
    text: str
    spelling: bool = False

    def __repr__(self) -> str:
        return self.text


def mutations(pipeline: Pipeline, units: Units) -> Iterator[Mutation]:
    """Yield every mutation of a command line's RoPE flags."""
    places = {
        one.dest: index for index, one in enumerate(units.occurrences) if one.dest in ROPE_DESTS
    }
    for dest, index in places.items():
        one = units.occurrences[index]
        tokens = units.argv[one.start : one.stop]
        if len(tokens) != 2:  # noqa: PLR2004  # a flag with one value
            continue
        flag, value = tokens
        yield Mutation(
            _replaced(units, index, (f"{flag}={value}",)), f"{flag}={value}", spelling=True
        )
        other = _other_value(value)
        if other is not None:
            yield Mutation((*units.argv, flag, other), f"{one.text} and then {flag} {other}")
        for foreign in _foreign_flags(pipeline, str(dest)):
            yield Mutation(
                _replaced(units, index, (foreign, value)), f"{foreign} {value} for {one.text}"
            )
    for first, second in SIBLINGS:
        if first in places and second in places:
            yield from _swapped(units, places[first], places[second])


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


def _swapped(units: Units, first: int, second: int) -> Iterator[Mutation]:
    one, other = units.occurrences[first], units.occurrences[second]
    if one.values == other.values or not one.values or not other.values:
        return
    argv = list(units.argv)
    for unit, values in ((one, other.values), (other, one.values)):
        if unit.stop - unit.start != 1 + len(values):
            return
        argv[unit.start + 1 : unit.stop] = values
    yield Mutation(tuple(argv), f"the values of {_flags(one, other)} exchanged")


def _flags(one: Occurrence, other: Occurrence) -> str:
    return f"{one.flag} and {other.flag}"
