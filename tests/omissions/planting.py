"""Contracts with one guard taken away at random, and what must be found then, worked out apart.

The tests check a few seeds. ``tox -e planted`` checks the first thousand, in one process; so does
``PYTHONPATH=tests:tests/omissions python tests/omissions/planting.py 1000``.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from definitions import CASES, MEGATRON, Case

from pytest_ropecontract.contracts import rules
from pytest_ropecontract.contracts.expectation import Expectation, equal, read
from pytest_ropecontract.megatron.pipeline import Pipeline
from pytest_ropecontract.omission.engine import OmissionEngine
from pytest_ropecontract.omission.search import Search, Surroundings, search
from pytest_ropecontract.rope.config import FIELDS
from pytest_ropecontract.rope.resolution import Resolution, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

RANK = {"implicit": 1, "changed": 2, "implicit-yarn": 3}


@functools.cache
def pipeline_of(settings: str) -> Pipeline:
    return Pipeline(MEGATRON, next(c.settings for c in CASES if repr(c.settings) == settings))


def pipeline(case: Case) -> Pipeline:
    return pipeline_of(repr(case.settings))


@functools.lru_cache(maxsize=400)
def scratch(settings: str, argv: tuple[str, ...]) -> Resolution:
    return resolve(pipeline_of(settings), argv)


def guards(case: Case) -> list[Expectation]:
    """Return one expectation for every field of a case's contract."""
    return [Expectation({name: value}) for name, value in case.fields.items()]


def fails(expectations: Sequence[Expectation], resolution: Resolution) -> bool:
    return any(one.check("model", resolution) for one in expectations)


def run(
    case: Case,
    argv: Sequence[str],
    expectations: Sequence[Expectation],
    *,
    examples: int = 100,
    seed: int | None = None,
    strict: bool = True,
) -> Search:
    """Search the omissions of a command line as a run does."""
    line = pipeline(case)

    def loud(resolution: Resolution) -> bool:
        return any(one.status == "fail" for one in rules.check("model", resolution, line))

    around = Surroundings(lambda one, other: fails([one], other), loud, strict)
    with line.active():
        engine = OmissionEngine(line, argv, lambda resolution: fails(expectations, resolution))
        return search("model", engine, examples, seed, around)


def reread(text: str) -> list[Expectation]:
    """Read the lines of a remedy as Python does, with the checks that a mark goes through."""

    def rope_expect(*args: Any, **kwargs: Any) -> Expectation:
        return read(args, kwargs, "planted")

    lines = dict.fromkeys(re.findall(r"@(rope_expect\(.*\))", text))
    return [eval(line, {"rope_expect": rope_expect}) for line in lines]


def silent(before: Resolution, after: Resolution) -> str | None:
    """Say what silently became of a command line, from the words of the design alone."""
    if after.rope is None:
        return None
    yarn = [
        one.rope is not None and one.rope.kind == "yarn" and one.origins["kind"] != "declared"
        for one in (before, after)
    ]
    if yarn == [False, True]:
        return "implicit-yarn"
    if any(not equal(getattr(before.rope, n), getattr(after.rope, n)) for n in FIELDS):
        return "changed"
    for name, origin in before.origins.items():
        value = getattr(after.rope, name)
        lost = origin == "declared" and after.origins.get(name) not in (None, "declared")
        if lost and value is not None and value is not False:
            return "implicit"
    return None


@dataclass(frozen=True)
class Plant:
    """A definition whose contract misses one guard.

    Attributes:
        case: The definition.
        argv: Its command line, written in another order and spelling.
        kept: The guards that are left.
        removed: The one that is missing.
    """

    case: Case
    argv: tuple[str, ...]
    kept: tuple[Expectation, ...]
    removed: Expectation


def planted(seed: int) -> Plant:
    """Take a definition, write it in another way, and take one guard away."""
    rng = random.Random(seed)
    case = CASES[seed % len(CASES)]
    units = [list(one) for one in parts(case)]
    rng.shuffle(units)
    for unit in units:
        if len(unit) == 2 and rng.random() < 0.2:
            unit[:] = ["=".join(unit)]
    if rng.random() < 0.3:
        units.insert(rng.randrange(len(units) + 1), rng.choice(units))
    kept = guards(case)
    removed = kept.pop(rng.randrange(len(kept)))
    return Plant(case, tuple(token for unit in units for token in unit), tuple(kept), removed)


def parts(case: Case) -> list[tuple[str, ...]]:
    argv = case.argv
    return [tuple(argv[one.start : one.stop]) for one in pipeline(case).split(argv)]


def expected_gaps(plant: Plant, most: int = 2) -> dict[frozenset[int], str]:
    """Return the smallest unguarded omissions of few flags, by trying them all from scratch."""
    settings = repr(plant.case.settings)
    units = pipeline(plant.case).split(plant.argv)
    whole = scratch(settings, plant.argv)
    found: dict[frozenset[int], str] = {}
    for size in range(1, most + 1):
        for chosen in itertools.combinations(range(len(units)), size):
            argv = tuple(
                token
                for index, one in enumerate(units)
                if index not in chosen
                for token in plant.argv[one.start : one.stop]
            )
            after = scratch(settings, argv)
            what = silent(whole, after)
            if what is None or fails(plant.kept, after):
                continue
            if not any(
                smaller < set(chosen) and RANK[found[smaller]] >= RANK[what] for smaller in found
            ):
                found[frozenset(chosen)] = what
    return found


def check(plant: Plant, most: int = 2, examples: int = 100) -> int:
    """Check that a search names exactly the gaps of a plant, and return how many there are."""
    expected = expected_gaps(plant, most)
    result = run(plant.case, plant.argv, plant.kept, examples=examples)
    named = {gap.omission.indices: gap.outcome for gap in result.gaps}
    assert {s: o for s, o in named.items() if len(s) <= most} == expected, plant
    settings = repr(plant.case.settings)
    whole = scratch(settings, plant.argv)
    for gap in result.gaps:
        after = scratch(settings, gap.omission.argv)
        assert silent(whole, after) == gap.outcome
        assert not fails(plant.kept, after)
        assert fails([plant.removed], after)
    whole_again = run(plant.case, plant.argv, [*plant.kept, plant.removed], examples=examples)
    assert not whole_again.gaps
    assert not whole_again.findings
    return len(expected)


def main(count: int) -> int:
    """Check as many seeds, and return the exit code."""
    gaps = 0
    wrong = []
    for seed in range(count):
        try:
            gaps += check(planted(seed), examples=20)
        except AssertionError as error:
            wrong.append(seed)
            sys.stdout.write(f"seed {seed}: {error}\n")
        if (seed + 1) % 50 == 0 or seed + 1 == count:
            sys.stdout.write(f"{seed + 1} plants, {gaps} gaps named, {len(wrong)} plants wrong\n")
            sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
