"""A guard that is missing is found, with the smallest set of flags, and nothing else is."""

from __future__ import annotations

import pytest
from definitions import CASES
from planting import check, expected_gaps, fails, guards, pipeline, planted, reread, run

from pytest_ropecontract.rope.resolution import resolve

SEEDS = range(2 * len(CASES))


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{CASES[seed % len(CASES)].name}-{seed}")
def test_missing_guard_is_named(seed: int) -> None:
    check(planted(seed), examples=20)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{CASES[seed % len(CASES)].name}-{seed}")
def test_printed_lines_are_the_missing_guard(seed: int) -> None:
    """Whatever gaps a plant leaves, the lines that are printed close them, and hold."""
    plant = planted(seed)
    found = run(plant.case, plant.argv, plant.kept, examples=10).findings
    printed = [expectation for one in found for expectation in reread(str(one.remedy))]

    again = run(plant.case, plant.argv, [*plant.kept, *printed], examples=10)

    assert not fails(printed, resolve(pipeline(plant.case), plant.argv))
    assert not again.findings


def test_plants_are_of_every_attention_and_most_are_gaps() -> None:
    plants = [planted(seed) for seed in SEEDS]

    assert len({plant.case.name for plant in plants}) >= 12
    assert sum(bool(expected_gaps(plant, most=1)) for plant in plants) > len(plants) // 2


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_is_named_where_every_field_is_guarded(case) -> None:
    result = run(case, case.argv, guards(case), examples=40)

    assert not result.findings
    assert set(result.losses.values()) <= {"refused", "harmless", "guarded"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_without_any_contract_every_silent_loss_is_named(case) -> None:
    """Beside the gaps of many flags, which the systematic search of a few may not reach."""
    plant = planted(CASES.index(case))
    bare = type(plant)(case, tuple(case.argv), (), plant.removed)
    expected = expected_gaps(bare)

    result = run(case, case.argv, [], examples=0)

    few = {
        gap.omission.indices: gap.outcome for gap in result.gaps if len(gap.omission.indices) < 3
    }
    assert few == expected
