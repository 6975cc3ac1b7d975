"""Omissions against the live Megatron: as from scratch, and as against its recording."""

from __future__ import annotations

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

import functools
import random
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from likeness import FRAMEWORK, STOCK, definitions, described, live_megatron, pipelines
from strategies import joined, parts

from pytest_ropecontract.contracts.expectation import Expectation
from pytest_ropecontract.megatron.pipeline import Pipeline
from pytest_ropecontract.omission.engine import OmissionEngine
from pytest_ropecontract.omission.search import Surroundings, search
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.omission.search import Search

ARGVS = {name: tuple(argv) for name, argv in definitions().items() if name.startswith("example/")}


@functools.cache
def another() -> Pipeline:
    """Return a pipeline of its own, so that nothing that the first one left behind helps."""
    return Pipeline(live_megatron(), FRAMEWORK)


def engine_of(argv: Sequence[str]) -> OmissionEngine:
    return OmissionEngine(pipelines(framework=True)[1], argv, lambda _: False)


def assert_same(engine: OmissionEngine, omitted: frozenset[int]) -> None:
    expected = resolve(another(), engine.units.remaining(omitted))

    assert described(engine.resolve(omitted)) == described(expected), engine.units.omission(omitted)


@pytest.mark.parametrize("name", ARGVS)
def test_every_single_loss_is_resolved_as_from_scratch(name: str) -> None:
    engine = engine_of(ARGVS[name])

    # Nothing is put together of what this Megatron's parser refuses, or does not know.
    refused = engine.whole.refused is not None and engine.whole.refused.by == "parser"
    unknown = any(one.dest is None for one in engine.parser.occurrences)
    assert (engine.parser.values is None) is (refused or unknown)
    for index in range(len(engine.units)):
        assert_same(engine, frozenset({index}))


@given(name=st.sampled_from(sorted(ARGVS)), data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_subset_is_resolved_as_from_scratch(name: str, data: st.DataObject) -> None:
    units = [list(unit) for unit in _split(ARGVS[name])]
    units += data.draw(st.lists(parts(), max_size=3))
    order = data.draw(st.randoms(use_true_random=False))
    units += [order.choice(units) for _ in range(order.randrange(3))]
    order.shuffle(units)
    engine = engine_of(joined(units))
    places = range(len(engine.units))

    for omitted in data.draw(st.lists(st.sets(st.sampled_from(places)), min_size=1, max_size=2)):
        assert_same(engine, frozenset(omitted))


def _split(argv: Sequence[str]) -> list[tuple[str, ...]]:
    units = pipelines(framework=True)[1].split(argv)
    return [tuple(argv[one.start : one.stop]) for one in units]


def searched(pipeline: Pipeline, argv: Sequence[str], kept: Sequence[Expectation]) -> Search:
    def fails(expectations: Sequence[Expectation], resolution: object) -> bool:
        return any(one.check("model", resolution) for one in expectations)  # type: ignore[arg-type]

    with pipeline.active():
        engine = OmissionEngine(pipeline, argv, lambda resolution: fails(kept, resolution))
        around = Surroundings(lambda one, other: fails([one], other), lambda _: False, strict=True)
        return search("model", engine, 30, None, around)


@pytest.mark.parametrize("name", ARGVS)
def test_recorded_search_finds_what_the_live_one_finds(name: str) -> None:
    """With a contract that misses one of the declared fields, another for every model."""
    recorded, live = pipelines(framework=True)
    whole = resolve(live, ARGVS[name])
    if whole.rope is None:
        pytest.skip(f"this Megatron refuses {name}")
    fields = [n for n, origin in whole.origins.items() if origin == "declared"]
    missing = random.Random(name).choice(fields)
    kept = [Expectation({n: getattr(whole.rope, n)}) for n in fields if n != missing]

    first, second = searched(recorded, ARGVS[name], kept), searched(live, ARGVS[name], kept)

    # A recording refuses what has to do with RoPE, and a config more than that.
    differing = {
        flag: (loss, second.losses[flag])
        for flag, loss in first.losses.items()
        if loss != second.losses[flag]
    }
    assert set(differing.values()) <= {("harmless", "refused")}
    assert not [flag for flag in differing if "rop" in flag or "rotary" in flag or "beta" in flag]
    assert [gap.omission for gap in first.gaps] == [gap.omission for gap in second.gaps]
    assert first.findings == second.findings


def test_stock_megatron_falls_back_to_yarn_by_itself() -> None:
    """Without a framework it is the config class that fills the rope type."""
    sizes = "--num-layers 4 --hidden-size 64 --num-attention-heads 4"
    argv = f"{sizes} --multi-latent-attention --rope-type rope --no-rope-fusion".split()
    live = Pipeline(live_megatron(), STOCK)

    result = searched(live, argv, [])

    yarn = [gap for gap in result.gaps if gap.outcome == "implicit-yarn"]
    assert [gap.omission.omitted for gap in yarn] == [("--rope-type rope",)]
    assert [f.status for f in result.findings if "becomes yarn" in f.message] == ["fail"]
