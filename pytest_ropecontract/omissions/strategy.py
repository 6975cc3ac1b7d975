"""The Hypothesis strategy over omissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies

from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.omissions.units import Omission, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_ropecontract.omissions.units import Units
    from pytest_ropecontract.project import Project


def subsets(units: Units, at_most: int | None, only: Iterable[str] | None) -> strategies.SearchStrategy[Omission]:
    """Return a strategy over what can be left out of a command line.

    Args:
        units: The command line.
        at_most: How many flags may be left out at most; None: any number.
        only: The flags, or namespace attributes, that may be left out; None: all.

    Raises:
        RopeContractError: ``only`` names something that the command line does not have.
    """
    eligible = sorted(range(len(units)) if only is None else _eligible(units, only))
    most = len(eligible) if at_most is None else min(at_most, len(eligible))
    if not eligible:
        return strategies.just(units.omission(()))
    # A set of places shrinks toward few of them, and toward the first.
    places = strategies.sets(strategies.sampled_from(eligible), max_size=most)
    return _drawn(units, places)


@strategies.composite
def _drawn(
    draw: strategies.DrawFn, units: Units, places: strategies.SearchStrategy[set[int]]
) -> Omission:
    # Mapping would be shorter, but Hypothesis reports a mapped value by its call, with the
    # whole command line in it.
    return units.omission(draw(places))


def _eligible(units: Units, only: Iterable[str]) -> frozenset[int]:
    found: set[int] = set()
    for name in [only] if isinstance(only, str) else only:
        named = units.named([name])
        if not named:
            raise RopeContractError(
                f"omissions: {name!r} is not on the command line",
                details=["flags: " + " ".join(one.flag for one in units.occurrences)],
            )
        found |= named
    return frozenset(found)


def omissions_of(
    project: Project,
    model_or_argv: str | Sequence[str],
    at_most: int | None = None,
    only: Iterable[str] | None = None,
) -> strategies.SearchStrategy[Omission]:
    """Return the strategy for a model of a project, or for an argv.

    Raises:
        RopeContractError: There is no such model, it cannot be expanded, or ``only`` names
            something that its command line does not have.
    """
    given = project.expand(model_or_argv) if isinstance(model_or_argv, str) else model_or_argv
    return subsets(units_of(project.pipeline, given), at_most, only)
