"""Hypothesis inside: drawing omissions and shrinking what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis
from hypothesis import Phase, Verbosity, settings

from pytest_ropecontract.omissions.search import UnguardedOmissionError
from pytest_ropecontract.omissions.strategy import subsets

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ropecontract.omissions.engine import OmissionEngine, Trial
    from pytest_ropecontract.omissions.units import Omission


def draw(
    engine: OmissionEngine,
    is_gap: Callable[[Trial], bool],
    examples: int,
    seed: int | None,
) -> frozenset[int] | None:
    """Draw omissions, and return the smallest that is a gap, or None.

    Without a seed the draws are the same in every run. Nothing is written to an example
    database, and Hypothesis prints nothing.
    """

    def check(omission: Omission) -> None:
        if omission.indices and is_gap(engine.attempt(omission.indices)):
            raise UnguardedOmissionError(omission.indices)

    test = hypothesis.given(subsets(engine.units, None, None))(check)
    test = settings(
        max_examples=examples,
        derandomize=seed is None,
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
    )(test)
    if seed is not None:
        test = hypothesis.seed(seed)(test)
    try:
        test()
    except UnguardedOmissionError as gap:
        # The exception that Hypothesis lets through is that of the smallest example.
        return gap.indices
    return None
