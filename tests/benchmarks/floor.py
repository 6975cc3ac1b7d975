"""A drawn omission, against what Hypothesis itself needs to draw it and call an empty function.

Both draw the same omissions of a definition of the example project. One resolves each and asks
the contracts of the model, its marks and its checkpoint; the other does nothing with it.
"""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING

import hypothesis
from hypothesis import HealthCheck, Phase, settings

from benchmarks.measuring import EXAMPLE, Pair, in_turn, processor_time
from pytest_ropecontract import marks
from pytest_ropecontract.cli.project import in_session
from pytest_ropecontract.collection import project_of
from pytest_ropecontract.megatron.live import is_importable
from pytest_ropecontract.omission.engine import OmissionEngine
from pytest_ropecontract.omission.strategy import searched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pytest

    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.omission.units import Omission
    from pytest_ropecontract.project import Project

SURFACES = ("megatron-core-0.19.2", "live")


def lines(*, quick: bool) -> Iterator[str]:
    """Measure, and yield what is printed."""
    for surface in SURFACES:
        if surface == "live" and not is_importable():
            yield "live: not measured, Megatron is not installed"
            continue
        arguments = [f"--rope-contract-surface={surface}", str(EXAMPLE)]
        project, expectations = in_session(contracts, arguments)
        rounds, examples = (1, 100) if quick else (7, 500)
        ratios = []
        for model in project.registry:
            pair = measure(project, model, expectations.get(model, ()), rounds, examples)
            ratios.append(pair.ratio)
            times = f"{pair.one * 1e6:6.0f} us{pair.other * 1e6:6.0f} us{pair.ratio:6.2f} times"
            yield f"{model:26}{surface:22}{times}"
        median = statistics.median(ratios)
        yield f"{surface}: largest {max(ratios):.2f} times, median {median:.2f} times"


def contracts(session: pytest.Session) -> tuple[Project, Mapping[str, Sequence[Expectation]]]:
    """Return the project of a session, and what its marks demand of every model."""
    return project_of(session.config), marks.of_project(session)


def measure(
    project: Project,
    model: str,
    expectations: Sequence[Expectation],
    rounds: int,
    examples: int,
) -> Pair:
    """Measure one example of a model, with the engine and its contracts, and with nothing."""
    argv, guard = project.expand(model), project.guard(model, expectations)
    # Hypothesis draws the same again where it is given the same seed.
    seeds, others = itertools.count(), itertools.count()

    def drawing(seed: int, body: Callable[[Omission], object]) -> float:
        test = hypothesis.given(searched(engine.units, quiet))(body)
        test = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(test)
        return processor_time(hypothesis.seed(seed)(test), 1) / examples

    def whole() -> float:
        # What was tried once is known: each round begins with an engine that knows nothing.
        fresh = OmissionEngine(project.pipeline, argv, guard)

        def attempt(omission: Omission) -> None:
            fresh.attempt(omission.indices)

        return drawing(next(seeds), attempt)

    def empty() -> float:
        return drawing(next(others), lambda omission: None)  # noqa: ARG005  # named by nobody

    with project.pipeline.active():
        engine = OmissionEngine(project.pipeline, argv, guard)
        quiet = engine.quiet()
        return in_turn(whole, empty, rounds)
