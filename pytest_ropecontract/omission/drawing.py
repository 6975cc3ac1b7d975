"""Hypothesis inside: drawing omissions and shrinking what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, settings

from pytest_ropecontract.omission.strategy import searched

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ropecontract.omission.engine import OmissionEngine, Trial
    from pytest_ropecontract.omission.units import Omission


class _GapError(Exception):
    """What a drawn omission found; the omission itself is the counterexample."""

    def __init__(self, indices: frozenset[int]) -> None:
        self.indices = indices
        super().__init__(f"unguarded: {sorted(indices)}")


def draw(
    engine: OmissionEngine,
    is_gap: Callable[[Trial], bool],
    examples: int | None,
    seed: int | str | None,
) -> frozenset[int] | None:
    """Draw omissions, and return the smallest that is a gap, or None.

    The settings are those of the user's profile, save what would make the outcome depend on
    the machine or on earlier runs: there is no deadline, no example database and no health
    check. Hypothesis prints nothing.

    Args:
        engine: Tries the omissions.
        is_gap: Whether a trial is what is looked for.
        examples: How many are drawn; None: as many as the profile says.
        seed: Of the draws; None: the same draws in every run.
    """
    profile = settings()
    phases = [one for one in (Phase.generate, Phase.shrink) if one in profile.phases]
    count = profile.max_examples if examples is None else examples
    if Phase.generate not in phases or not count or not len(engine.units):
        return None

    def check(omission: Omission) -> None:
        if is_gap(engine.attempt(omission.indices)):
            raise _GapError(omission.indices)

    test = hypothesis.given(searched(engine.units, engine.quiet()))(check)
    test = settings(
        max_examples=count,
        derandomize=seed is None,
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )(test)
    if seed is not None:
        test = hypothesis.seed(seed)(test)
    try:
        test()
    except _GapError as gap:
        # The exception that Hypothesis lets through is that of the smallest example.
        return gap.indices
    return None
