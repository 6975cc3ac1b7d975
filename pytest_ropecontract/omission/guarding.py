"""The contract that would notice what nobody notices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.expectation import POSITIONAL, Expectation
from pytest_ropecontract.omission.outcomes import COMPARED, differing, has_lost_flag
from pytest_ropecontract.rope.config import DERIVED_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_ropecontract.rope.resolution import Resolution

    Notices = Callable[[Expectation, Resolution], bool]

WHOLE_AT_MOST = 1e15


def guarding(
    whole: Resolution, unnoticed: Sequence[Resolution], notices: Notices
) -> tuple[Expectation, ...]:
    """Return expectations that hold on a model, and that find something on each of others.

    Values that its flags declare are demanded as declared; for one that is a default, a
    second expectation accepts that. Both begin with what a contract says first: the kind, and
    of a declared YaRN its length and betas.

    Args:
        whole: What is built from the model's command line.
        unnoticed: What is built from others, from which the expectations must differ.
        notices: Whether an expectation has a finding that fails on a resolution.

    Returns:
        One or two expectations; none where no expectation notices, because what it finds is
        allowed.
    """
    stated: dict[bool, dict[str, Any]] = {True: {}, False: {}}
    for name in _heading(whole):
        _state(stated, whole, name)
    for other in unnoticed:
        for name in _telling(whole, other):
            if any(notices(one, other) for one in _expectations(stated)):
                break
            _state(stated, whole, name)
    found = _expectations(stated)

    def suffices(some: Sequence[Expectation]) -> bool:
        return all(any(notices(one, other) for one in some) for other in unnoticed)

    for one in found:
        if suffices([one]):
            found = (one,)
            break
    holds = not any(notices(one, whole) for one in found)
    return found if holds and suffices(found) else ()


def _heading(whole: Resolution) -> Iterator[str]:
    yield "kind"
    if whole.rope is not None and whole.rope.kind == "yarn" and _is_declared(whole, "kind"):
        for name in POSITIONAL[1:]:
            if not _is_declared(whole, name):
                break
            yield name


def _telling(whole: Resolution, other: Resolution) -> Iterator[str]:
    """Yield the fields that tell two resolutions apart, by value or by origin."""
    for name in COMPARED:
        if differing(whole, other, name) or has_lost_flag(whole, other, name):
            yield name


def _is_declared(resolution: Resolution, name: str) -> bool:
    return resolution.origins.get(name) == "declared"


def _state(stated: dict[bool, dict[str, Any]], whole: Resolution, name: str) -> None:
    value = getattr(whole.rope, name)
    if isinstance(value, float):
        if not math.isfinite(value):
            return
        if value.is_integer() and abs(value) < WHOLE_AT_MOST:
            value = int(value)
    # Of what is off, unused or derived no flag can say so, and none is asked for.
    free = value is None or value is False or name in DERIVED_FIELDS
    stated[free or _is_declared(whole, name)][name] = value


def _expectations(stated: dict[bool, dict[str, Any]]) -> tuple[Expectation, ...]:
    return tuple(
        Expectation(_ordered(fields), declared=declared)
        for declared, fields in stated.items()
        if fields
    )


def _ordered(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in (*POSITIONAL, *COMPARED) if name in fields}


def line(model: str, expectation: Expectation) -> str:
    """Return an expectation as the decorator that states it for a model."""
    return f'@{expectation.text()[:-1]}, models=["{model}"])'
