"""The engine's outcome is that of the remaining command line, parsed and resolved from scratch."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from definitions import CASES, MEGATRON, SIZES
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strategies import argvs, joined, parts

from pytest_ropecontract.megatron.framework import PipelineCallError
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.omission.engine import OmissionEngine
from pytest_ropecontract.omission.units import units_of
from pytest_ropecontract.rope.resolution import Refused, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_ropecontract.rope.resolution import Resolution

BASE = ("--rotary-base", "20000", "--kv-channels", "32", "--layer-names", "a", "b")
PLAIN_OPTIONS = ("frames:add_options",)
PIPELINES = {
    "stock": PipelineSettings(),
    "fill": PipelineSettings(arguments=PLAIN_OPTIONS, defaults=("frames:fill",)),
    "base": PipelineSettings(arguments=PLAIN_OPTIONS, defaults=("frames:fill",), base_args=BASE),
    "drop": PipelineSettings(
        arguments=PLAIN_OPTIONS, defaults=("frames:ignore",), unknown="drop", pins={"moe": [1]}
    ),
    "mutate": PipelineSettings(
        arguments=PLAIN_OPTIONS, defaults=("frames:mutate", "frames:fill"), base_args=BASE
    ),
    "counting": PipelineSettings(
        arguments=("frames:add_counting_options",),
        defaults=("frames:mutate", "frames:fill"),
        base_args=("--tag", "base", "--loud"),
    ),
    "demanding": PipelineSettings(
        arguments=("frames:add_demanding_options",), defaults=("frames:fill",)
    ),
    "demanding-base": PipelineSettings(
        arguments=("frames:add_demanding_options",),
        defaults=("frames:mutate", "frames:fill"),
        base_args=("--long", "2"),
    ),
    "insist": PipelineSettings(
        arguments=PLAIN_OPTIONS, defaults=("frames:insist", "frames:fill", "frames:mutate")
    ),
}
# Parsers of which argparse cannot tell what they demand, and a flag that shows it.
OWN_PARSERS = {
    "configured": ("frames:add_configured_parser", []),
    "wants more": ("frames:add_parser_that_wants_more", []),
    "checks": ("frames:add_parser_that_checks", ["--rotary-base", "500", "--rotary-base", "20000"]),
}
# What a parser demands, some of it again.
DEMANDED = {
    "demanding": [["--checkpoint", "a"], ["--long=3"], ["--long", "4"], ["--checkpoint=b"]],
    "demanding-base": [["--checkpoint", "a"], ["--long", "4"]],
}
FRAMEWORK_PARTS = [
    ["--tag", "one"],
    ["--tag=two"],
    ["--tags", "x", "y"],
    ["--loud"],
    ["--layer-names"],
    ["--layer-names", "p", "q", "r"],
    ["--beta-fast", "0.5"],
    ["--beta-fast=2"],
    ["--beta-slow", "1"],
    ["--rope-type", "rope"],
    ["--rope-type=yarn"],
    ["--unknown"],
    ["stray"],
]


@functools.cache
def pipeline(name: str) -> Pipeline:
    return Pipeline(MEGATRON, PIPELINES[name])


@functools.cache
def another(name: str) -> Pipeline:
    """Return a pipeline of its own, so that nothing that the first one left behind helps."""
    return Pipeline(MEGATRON, PIPELINES[name])


def described(resolution: Resolution) -> dict[str, Any]:
    parsed = resolution.parsed
    return {
        "argv": resolution.argv,
        "rope": resolution.rope,
        "sources": dict(resolution.sources),
        "refused": resolution.refused,
        "reads": resolution.reads,
        "class": resolution.config_class,
        "tokens": (parsed.argv, parsed.base_length, parsed.occurrences, parsed.refusal),
        # NaN is not equal to itself, and 1 is equal to True.
        "namespaces": repr(
            [
                sorted(one.items())
                for one in (parsed.parsed, parsed.namespace, parsed.unpinned, parsed.unedited)
            ]
        ),
        "writers": (dict(parsed.fillers), parsed.pinned),
    }


def assert_same(name: str, engine: OmissionEngine, omitted: frozenset[int]) -> None:
    remaining = engine.units.remaining(omitted)
    got = engine.resolve(omitted)
    try:
        expected = resolve(another(name), remaining)
    except PipelineCallError as error:
        refused = got.refused and (got.refused.by, got.refused.message)
        same = got.rope is None and refused == ("framework", error.headline)
    else:
        same = described(got) == described(expected)
    assert same, (remaining, got)


def mixed() -> st.SearchStrategy[list[list[str]]]:
    """Return the flags of a definition among others, some of them again."""
    known = st.sampled_from(CASES).map(lambda case: split(case.argv))
    odd = st.lists(st.one_of(parts(), st.sampled_from(FRAMEWORK_PARTS)), max_size=5)
    return st.tuples(known, odd, st.randoms(use_true_random=False)).map(_shuffled)


def _shuffled(drawn: tuple[list[list[str]], list[list[str]], Any]) -> list[list[str]]:
    units, odd, random = drawn
    again = [random.choice(units) for _ in range(random.randrange(3))]
    everything = [*units, *odd, *again]
    random.shuffle(everything)
    return everything


def split(argv: Sequence[str]) -> list[list[str]]:
    return [list(argv[one.start : one.stop]) for one in pipeline("fill").split(argv)]


@pytest.mark.parametrize("name", PIPELINES)
@given(
    argv=st.one_of(mixed().map(joined), argvs().map(lambda argv: [*SIZES.split(), *argv])),
    data=st.data(),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_subset_is_resolved_as_from_scratch(
    name: str, argv: list[str], data: st.DataObject
) -> None:
    demanded = joined(data.draw(st.permutations(DEMANDED.get(name, []))))
    engine = OmissionEngine(pipeline(name), [*demanded, *argv], lambda _: False)
    places = range(len(engine.units))
    subset = st.sets(st.sampled_from(places)) if places else st.just(set())
    for omitted in data.draw(st.lists(subset, min_size=1, max_size=4)):
        assert_same(name, engine, frozenset(omitted))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_definition_is_resolved_incrementally(case: Any) -> None:
    engine = OmissionEngine(pipeline("mutate"), case.argv, lambda _: False)

    assert engine.parser.values is not None
    for omitted in engine.systematic():
        assert_same("mutate", engine, omitted)


@pytest.mark.parametrize("name", DEMANDED)
def test_what_the_parser_demands_is_refused_where_it_is_lost(name: str) -> None:
    argv = [*CASES[0].argv, *joined(DEMANDED[name])]
    engine = OmissionEngine(pipeline(name), argv, lambda _: False)
    checkpoint, long = engine.units.named(["checkpoint"]), engine.units.named(["long"])

    assert engine.parser.values is not None
    outcomes = {
        "checkpoint": engine.attempt(checkpoint).outcome,
        "long": engine.attempt(long).outcome,
        "rope_type": engine.attempt(engine.units.named(["rope_type"])).outcome,
    }
    assert outcomes == {
        "checkpoint": "refused",
        "long": "refused" if name == "demanding" else "same",
        "rope_type": "implicit-yarn",
    }
    for omitted in (*engine.systematic(), checkpoint, long, checkpoint | long):
        assert_same(name, engine, omitted)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("fill", ["--unknown"]),
        ("fill", ["stray"]),
        ("counting", ["--tag", "x"]),
        ("counting", ["--loud"]),
        ("counting", []),
    ],
)
def test_what_argparse_does_otherwise_is_parsed_as_a_whole(name: str, more: list[str]) -> None:
    engine = OmissionEngine(pipeline(name), [*CASES[0].argv, *more], lambda _: False)

    assert engine.parser.values is None


@pytest.mark.parametrize("name", OWN_PARSERS)
def test_what_a_parser_does_beside_argparse_is_parsed_as_a_whole(name: str) -> None:
    options, more = OWN_PARSERS[name]
    line = Pipeline(MEGATRON, PipelineSettings(arguments=(options,), defaults=("frames:fill",)))
    case = next(case for case in CASES if "--rope-type" in case.argv)
    engine = OmissionEngine(line, [*case.argv, *more], lambda _: False)

    assert engine.whole.refused is None
    assert engine.parser.values is None
    for omitted in engine.systematic():
        expected = resolve(line, engine.units.remaining(omitted))
        assert described(engine.resolve(omitted)) == described(expected)


def test_refusal_through_the_parser_is_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a function that is called when the parser has done its part."""
    import frames  # noqa: PLC0415

    def refuse(args: argparse.Namespace) -> None:
        if args.rope_type is None:
            line._parser.error("which type?")

    monkeypatch.setattr(frames, "fill", refuse)
    line = Pipeline(MEGATRON, PIPELINES["fill"])
    engine = OmissionEngine(line, CASES[0].argv, lambda _: False)

    trial = engine.attempt(engine.units.named(["rope_type"]))

    assert engine.parser.values is not None
    assert trial.outcome == "refused"
    assert trial.resolution.refused == Refused("parser", "SystemExit", "which type?")


@given(parts=st.permutations([["--rotary-base", "1"], ["--rotary-base", "2"], ["--rotary-base=3"]]))
@example([["--rotary-base", "1"], ["--rotary-base", "2"], ["--rotary-base=3"]])
def test_last_of_a_repeated_flag_that_remains_counts(parts: list[list[str]]) -> None:
    argv = [*SIZES.split(), "--position-embedding-type", "rope", *joined(parts)]
    engine = OmissionEngine(pipeline("stock"), argv, lambda _: False)
    last = [int(part[-1].rpartition("=")[2]) for part in parts]
    first = len(engine.units) - 3

    bases = [
        engine.resolve(frozenset(gone)).rope.rotary_base  # type: ignore[union-attr]
        for gone in ((), (first + 2,), (first + 1, first + 2), (first, first + 1, first + 2))
    ]

    assert bases == [last[2], last[1], last[0], 10000]


def test_defaults_functions_are_called_for_every_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    import frames  # noqa: PLC0415

    calls = []
    original = frames.fill
    monkeypatch.setattr(frames, "fill", lambda args: calls.append(1) or original(args))
    line = Pipeline(MEGATRON, PIPELINES["fill"])
    engine = OmissionEngine(line, CASES[0].argv, lambda _: False)
    calls.clear()

    for omitted in engine.systematic():
        engine.attempt(omitted)

    assert len(calls) == engine.tried


def test_refusal_of_the_framework_is_loud() -> None:
    argv = [*CASES[0].argv, "--tensor-model-parallel-size", "1"]
    argv[argv.index("--beta-slow") + 1] = "20"
    argv[argv.index("--beta-fast") + 1] = "30"
    engine = OmissionEngine(pipeline("insist"), argv, lambda _: False)
    place = next(i for i, one in enumerate(engine.units.occurrences) if one.flag == "--beta-fast")
    # Without it the framework's default of 32 is used.
    assert engine.attempt(frozenset({place})).outcome == "changed"

    argv[argv.index("--beta-slow") + 1] = "40"
    argv[argv.index("--beta-fast") + 1] = "50"
    engine = OmissionEngine(pipeline("insist"), argv, lambda _: False)
    trial = engine.attempt(frozenset({place}))

    assert trial.outcome == "refused"
    assert trial.resolution.refused == Refused(
        "framework",
        "ValueError",
        "rope_contract_defaults: frames:insist raised ValueError: beta_fast is below beta_slow",
    )
    assert trial.resolution.argv == engine.units.remaining({place})


def test_command_line_that_the_framework_refuses_is_split_all_the_same() -> None:
    line = Pipeline(MEGATRON, replace(PIPELINES["insist"], base_args=("--num-layers", "3")))
    argv = [*CASES[0].argv, "--beta-slow", "50"]
    engine = OmissionEngine(line, CASES[0].argv, lambda _: False)

    found = engine.resolve_argv(argv)

    assert found.refused is not None
    assert found.refused.by == "framework"
    assert found.argv == tuple(argv)
    assert found.parsed.argv == ("--num-layers", "3", *argv)
    assert found.parsed.base_length == 2
    assert found.parsed.occurrences == line.split(found.parsed.argv)


@pytest.mark.parametrize("guarded", [True, False])
def test_quiet_is_what_changes_nothing_or_what_no_contract_notices(guarded: bool) -> None:
    engine = OmissionEngine(pipeline("fill"), CASES[0].argv, lambda _: guarded)
    alone = {index: engine.attempt(frozenset({index})) for index in range(len(engine.units))}
    outcomes = {trial.outcome for trial in alone.values()}
    assert {"same", "refused", "changed"} <= outcomes

    quiet = {"same"} if guarded else outcomes - {"refused"}
    assert engine.quiet() == [i for i, trial in alone.items() if trial.outcome in quiet]


def test_systematic_omissions_are_singles_relevant_pairs_and_all_relevant() -> None:
    engine = OmissionEngine(pipeline("fill"), CASES[0].argv, lambda _: False)
    found = list(engine.systematic())
    relevant = engine.relevant

    assert found[: len(engine.units)] == [frozenset({i}) for i in range(len(engine.units))]
    pairs = [one for one in found if len(one) == 2]
    assert len(pairs) == len(relevant) * (len(relevant) - 1) // 2
    assert found[-1] == relevant
    flags = {engine.units.occurrences[i].flag for i in relevant}
    assert {"--rope-type", "--beta-fast", "--multi-latent-attention", "--no-rope-fusion"} <= flags
    assert "--ffn-hidden-size" not in flags


def test_repeated_flag_is_lost_as_a_whole_too() -> None:
    argv = [*CASES[0].argv, *("--seed", "1"), *("--seed", "2"), *("--beta-fast", "4")]
    engine = OmissionEngine(pipeline("fill"), argv, lambda _: False)
    found = list(engine.systematic())
    seeds, fast = engine.units.named(["--seed"]), engine.units.named(["--beta-fast"])

    assert len(seeds) == len(fast) == 2
    assert {seeds, fast, fast | engine.units.named(["--rope-type"])} <= {*found}
    assert len({*found}) == len(found)


def test_nothing_is_no_omission() -> None:
    engine = OmissionEngine(pipeline("fill"), ["--seed", "1"], lambda _: False)

    assert list(engine.systematic()) == [frozenset({0})]


def test_smallest_is_what_cannot_lose_another_one() -> None:
    case = next(case for case in CASES if case.name == "loose")
    argv = ["--beta-fast", "1", *case.argv, "--beta-slow", "1"]
    engine = OmissionEngine(Pipeline(MEGATRON, case.settings), argv, lambda _: False)
    needed = engine.units.named(["rope_type", "rotary_base", "rotary_percent"])
    everything = engine.relevant - engine.units.named(["multi_latent_attention"])
    assert len(everything - needed) == 3

    found = engine.smallest(everything, lambda trial: trial.outcome == "implicit-yarn")

    assert found == needed


def test_one_omission_is_resolved_once() -> None:
    engine = OmissionEngine(pipeline("fill"), CASES[0].argv, lambda _: False)

    assert engine.attempt(frozenset({3})) is engine.attempt(frozenset({3}))
    assert engine.tried == 1


def test_unknown_flag_that_was_there_before_does_not_make_a_loss_loud() -> None:
    """An unknown flag can be allowed, or dropped by the framework; YaRN is built all the same."""
    argv = [*CASES[2].argv, "--flag-of-a-fork", "1"]
    engine = OmissionEngine(pipeline("fill"), argv, lambda _: False)
    place = next(i for i, one in enumerate(engine.units.occurrences) if one.dest == "rope_type")

    assert engine.attempt(frozenset({place})).outcome == "implicit-yarn"


def test_unknown_flag_sets_nothing_together_with_another() -> None:
    argv = ["--swiglu", "--flag-of-a-fork", "1", "--seed", "1", "--swiglu"]

    assert units_of(pipeline("drop"), argv).by_dest() == [frozenset({0, 3}), frozenset({2})]
