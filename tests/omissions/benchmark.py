"""What a drawn omission costs, beside what Hypothesis needs to draw it: run it by hand.

``PYTHONPATH=.:tests python tests/omissions/benchmark.py`` prints, for every definition, the time
of an example with an empty body and with the engine and its contracts, and the ratio of both, of
one process.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from definitions import CASES
from hypothesis import HealthCheck, Phase, given, settings
from planting import fails, guards, pipeline

from pytest_ropecontract.omission.engine import OmissionEngine
from pytest_ropecontract.omission.strategy import searched

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ropecontract.omission.units import Omission

EXAMPLES = 500
ROUNDS = 3


def microseconds(engine: OmissionEngine, body: Callable[[Omission], object]) -> float:
    """Return the processor time of one example, of the fastest round."""
    found = []
    for _ in range(ROUNDS):
        engine._trials.clear()
        test = settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(given(searched(engine.units, QUIET[id(engine)]))(body))
        start = time.process_time()
        test()
        found.append((time.process_time() - start) / EXAMPLES * 1e6)
    return min(found)


def attempting(engine: OmissionEngine) -> Callable[[Omission], None]:
    def attempt(omission: Omission) -> None:
        engine.attempt(omission.indices)

    return attempt


QUIET: dict[int, list[int]] = {}


def main() -> None:
    total = [0.0, 0.0]
    for case in CASES:
        contract = guards(case)
        line = pipeline(case)
        engine = OmissionEngine(line, case.argv, lambda other, kept=contract: fails(kept, other))
        with line.active():
            QUIET[id(engine)] = engine.quiet()
            empty = microseconds(engine, lambda omission: None)  # noqa: ARG005
            whole = microseconds(engine, attempting(engine))
        total[0] += empty
        total[1] += whole
        sys.stdout.write(f"{case.name:22}{empty:8.0f} us {whole:8.0f} us {whole / empty:6.2f}\n")
    sys.stdout.write(f"{'all':22}{'':24}{total[1] / total[0]:6.2f}\n")


if __name__ == "__main__":
    main()
