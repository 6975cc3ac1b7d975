"""The Hypothesis strategy over omissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies

from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.omission.units import RELEVANT, Omission, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_ropecontract.omission.units import Units
    from pytest_ropecontract.project import Project


def subsets(
    units: Units, at_most: int | None = None, only: Iterable[str] | None = None
) -> strategies.SearchStrategy[Omission]:
    """Return a strategy over what can be left out of a command line.

    Args:
        units: The command line.
        at_most: How many flags may be left out at most; None: any number.
        only: The flags, or namespace attributes, that may be left out; None: all.

    Raises:
        RopeContractError: ``at_most`` is no number of flags, or ``only`` names nothing, or
            something that the command line does not have.
    """
    if at_most is not None and (type(at_most) is not int or at_most < 0):
        raise RopeContractError(
            f"omissions: at_most is {at_most!r}, not a whole number from 0",
            remedy="leave it out where any number of flags may be left out",
        )
    eligible = range(len(units)) if only is None else _eligible(units, only)
    return _of_places(units, eligible, at_most)


def searched(units: Units, quiet: Iterable[int]) -> strategies.SearchStrategy[Omission]:
    """Return a strategy for a search: half of its draws are of places that are quiet alone.

    What is noticed, or refused, where it is lost alone mostly hides what is lost with it.

    Args:
        units: The command line.
        quiet: The places whose loss alone nobody notices.
    """
    everything = _of_places(units, range(len(units)), None)
    places = list(quiet)
    return _either(_of_places(units, places, None), everything) if places else everything


def _of_places(
    units: Units, eligible: Iterable[int], at_most: int | None
) -> strategies.SearchStrategy[Omission]:
    # What a draw shrinks to comes first: the flags that have to do with RoPE.
    relevant = units.named(RELEVANT)
    places = sorted(eligible, key=lambda index: (index not in relevant, index))
    most = len(places) if at_most is None else min(at_most, len(places))
    if most < 1:
        return strategies.just(units.omission(()))
    return _drawn(units, places, most)


@strategies.composite
def _either(
    draw: strategies.DrawFn,
    first: strategies.SearchStrategy[Omission],
    second: strategies.SearchStrategy[Omission],
) -> Omission:
    return draw(second if draw(_BOOLEANS) else first)


@strategies.composite
def _drawn(draw: strategies.DrawFn, units: Units, places: list[int], most: int) -> Omission:
    """Draw between one and ``most`` of some places.

    The places are halved again and again, and every time it is drawn which half goes on, or
    that both do, while there is room. Each set of places comes of exactly one sequence of
    draws, and shrinks toward few places, the first ones. The draws are booleans only:
    Hypothesis mixes constants of the project's own modules into all others, and what is drawn
    would depend on which modules a run happens to have imported.
    """
    found: list[int] = []
    halves = [(0, len(places))]
    while halves:
        start, stop = halves.pop()
        if stop - start == 1:
            found.append(places[start])
            continue
        middle = (start + stop) // 2
        second = draw(_BOOLEANS)
        if second:
            halves.append((middle, stop))
        room = most - len(found) - len(halves)
        if not second or (room > 0 and draw(_BOOLEANS)):
            halves.append((start, middle))
    return units.omission(found)


_BOOLEANS = strategies.booleans()


def _eligible(units: Units, only: Iterable[str]) -> frozenset[int]:
    found: set[int] = set()
    only = [only] if isinstance(only, str) else list(only)
    if not only:
        raise RopeContractError(
            "omissions: only names no flag", remedy="leave it out where every flag may be left out"
        )
    for name in only:
        named = units.named([name])
        if not named:
            raise RopeContractError(
                f"omissions: {name!r} is not on the command line",
                details=["flags: " + " ".join(one.flag for one in units.occurrences)],
                remedy="name one of them, as the definition writes it or by its dest",
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
        RopeContractError: There is no such model, it cannot be expanded, a token is no string,
            ``at_most`` is no number of flags, or ``only`` names nothing, or something that the
            command line does not have.
    """
    given = project.argv(model_or_argv)
    return subsets(units_of(project.pipeline, given), at_most, only)
