"""The strategy: what it draws, how it shows it, and what it shrinks to."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import hypothesis
import pytest
from definitions import CASES
from hypothesis import Phase, given, settings
from hypothesis.errors import NonInteractiveExampleWarning
from hypothesis.vendor.pretty import pretty
from planting import pipeline

from pytest_ropecontract import RopeContractError
from pytest_ropecontract.definitions import Registry
from pytest_ropecontract.megatron.surface_files import NEWEST
from pytest_ropecontract.omission.strategy import omissions_of, searched, subsets
from pytest_ropecontract.omission.units import Omission, units_of
from pytest_ropecontract.project import Project, Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hypothesis.strategies import SearchStrategy

CASE = CASES[0]
UNITS = units_of(pipeline(CASE), CASE.argv)


def drawn(count: int, **arguments) -> list[Omission]:
    return drawn_by(subsets(UNITS, **arguments), count)


def drawn_by(strategy: SearchStrategy[Omission], count: int) -> list[Omission]:
    found: list[Omission] = []

    @settings(max_examples=count, database=None, derandomize=True, phases=[Phase.generate])
    @given(strategy)
    def collect(omission: Omission) -> None:
        found.append(omission)

    collect()
    return found


def smallest(condition: Callable[[Omission], bool], **arguments) -> Omission:
    many = settings(database=None, derandomize=True, max_examples=5000)
    return hypothesis.find(subsets(UNITS, **arguments), condition, settings=many)


def test_argv_is_what_remains() -> None:
    for omission in drawn(100):
        kept = [u for i, u in enumerate(UNITS.occurrences) if i not in omission.indices]
        assert list(omission.argv) == [t for u in kept for t in CASE.argv[u.start : u.stop]]
        assert omission.omitted == tuple(
            UNITS.occurrences[i].text for i in sorted(omission.indices)
        )


def test_something_is_left_out_and_draws_differ() -> None:
    found = drawn(300)

    assert all(omission.omitted for omission in found)
    # Every set comes of one sequence of draws, so that none is wasted on another's.
    assert len({omission.indices for omission in found}) == len(found)
    assert {i for omission in found for i in omission.indices} == set(range(len(UNITS)))
    sizes = [len(omission.indices) for omission in found]
    assert {1, 2, 3, 4, 5} <= set(sizes)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_at_most(most: int) -> None:
    sizes = {len(omission.indices) for omission in drawn(100, at_most=most)}

    assert sizes == set(range(1, most + 1))


def test_at_most_none_is_everything_that_is_there() -> None:
    assert drawn(5, at_most=0)[0].omitted == ()
    assert repr(drawn(5, at_most=0)[0]) == "without nothing"
    assert max(len(one.indices) for one in drawn(50, only=["--beta-fast", "--beta-slow"])) == 2


@pytest.mark.parametrize(
    "only",
    [["--beta-fast", "--rope-type"], ["beta_fast", "rope_type"], ("--beta-fast", "rope_type")],
)
def test_only_by_flag_or_dest(only) -> None:
    flags = {text.split()[0] for omission in drawn(30, only=only) for text in omission.omitted}

    assert flags == {"--beta-fast", "--rope-type"}


def test_only_one_name() -> None:
    assert {omission.omitted for omission in drawn(10, only="--beta-fast")} == {("--beta-fast 1",)}


def test_only_what_is_not_there() -> None:
    with pytest.raises(RopeContractError) as caught:
        subsets(UNITS, only=["--beta-fast", "--rope-tipe"])

    lines = str(caught.value).splitlines()
    assert lines[0] == "omissions: '--rope-tipe' is not on the command line"
    assert "--rope-type" in lines[1]


@pytest.mark.parametrize("most", [-1, 1.5, "2", True])
def test_at_most_that_is_no_number(most) -> None:
    with pytest.raises(RopeContractError, match=r"at_most is .*, not a whole number from 0"):
        subsets(UNITS, at_most=most)


@pytest.mark.parametrize("only", [[], (), iter([])])
def test_only_nothing_is_no_way_to_test_nothing(only) -> None:
    with pytest.raises(RopeContractError, match="only names no flag"):
        subsets(UNITS, only=only)


def test_empty_command_line() -> None:
    units = units_of(pipeline(CASE), [])

    with pytest.warns(NonInteractiveExampleWarning):
        assert subsets(units).example().argv == ()


def test_half_of_what_a_search_draws_is_quiet_alone() -> None:
    found = drawn_by(searched(UNITS, iter([2, 5])), 200)

    quiet = [one for one in found if one.indices <= {2, 5}]
    assert {one.indices for one in quiet} == {frozenset({2}), frozenset({5}), frozenset({2, 5})}
    assert {i for one in found for i in one.indices} == set(range(len(UNITS)))


def test_search_draws_of_everything_where_nothing_is_quiet() -> None:
    assert drawn_by(searched(UNITS, []), 50) == drawn_by(subsets(UNITS), 50)


@pytest.mark.parametrize("named", [True, False])
def test_strategy_of_a_project_takes_a_model_or_a_command_line(named: bool, tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    registry.add("one", CASE.argv)
    project = Project(Settings(tmp_path, NEWEST, CASE.settings), registry)
    flags = ["--beta-fast", "--beta-slow"]
    given = "one" if named else tuple(CASE.argv)

    found = drawn_by(omissions_of(project, given, at_most=1, only=flags), 20)

    assert {one.omitted for one in found} == {("--beta-fast 1",), ("--beta-slow 1",)}
    assert all(len(one.argv) == len(CASE.argv) - 2 for one in found)


@pytest.mark.parametrize(
    ("omitted", "shown"), [((), "without nothing"), (("--a 1", "--b"), "without --a 1, --b")]
)
def test_omission_is_shown_as_what_is_left_out(omitted: tuple[str, ...], shown: str) -> None:
    omission = Omission(("--num-layers", "4"), omitted, frozenset(range(len(omitted))))

    assert repr(omission) == shown
    assert pretty(omission) == shown


def test_shrinks_to_one_flag_that_has_to_do_with_rope() -> None:
    found = smallest(lambda _: True)

    assert len(found.omitted) == 1
    assert found.omitted[0].split()[0] == "--multi-latent-attention"


def test_shrinks_to_what_matters() -> None:
    found = smallest(lambda one: {"--beta-slow 1", "--num-layers 4"} <= set(one.omitted))

    assert found.omitted == ("--num-layers 4", "--beta-slow 1")
    assert repr(found) == "without --num-layers 4, --beta-slow 1"


def test_counterexample_is_shown_in_words() -> None:
    @settings(database=None, derandomize=True, max_examples=200, print_blob=False)
    @given(omission=subsets(UNITS))
    def never_loses_beta_fast(omission: Omission) -> None:
        assert "--beta-fast 1" not in omission.omitted

    with pytest.raises(AssertionError) as caught, redirect_stdout(io.StringIO()):
        never_loses_beta_fast()

    notes = "\n".join(caught.value.__notes__)
    assert "omission=without --beta-fast 1" in notes
    assert "--hidden-size" not in notes


def test_nothing_is_drawn_but_booleans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis mixes constants of imported modules into all other draws."""
    from hypothesis.internal.conjecture import providers  # noqa: PLC0415

    monkeypatch.setattr(
        providers.HypothesisProvider, "draw_integer", lambda *_, **__: pytest.fail("an integer")
    )

    assert len(drawn(50)) == 50
