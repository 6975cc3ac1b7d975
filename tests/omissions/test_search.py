"""What a search finds, how it says it, and that it says the same again."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import hypothesis
import pytest
from definitions import CASES, MEGATRON, Case
from hypothesis import HealthCheck, Phase, Verbosity, settings
from planting import fails, guards, pipeline, run

from pytest_ropecontract.contracts import rules
from pytest_ropecontract.contracts.expectation import Expectation
from pytest_ropecontract.contracts.findings import Finding
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.omission import drawing
from pytest_ropecontract.omission.engine import OmissionEngine
from pytest_ropecontract.omission.mutations import mutations, values_of
from pytest_ropecontract.omission.outcomes import FieldChange
from pytest_ropecontract.omission.search import Surroundings, UnrepeatableError, search
from pytest_ropecontract.omission.units import units_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_ropecontract.rope.resolution import Resolution

BY_NAME = {case.name: case for case in CASES}


def failing(findings: Sequence[Finding]) -> list[str]:
    return [one.text() for one in findings if one.status == "fail"]


def test_whole_text_of_an_unguarded_yarn() -> None:
    result = run(BY_NAME["mla-rope-bare"], BY_NAME["mla-rope-bare"].argv, [], strict=False)

    assert failing(result.findings) == [
        (
            "unguarded-omission: model without --rope-type rope becomes yarn (factor 1.0, "
            "beta_fast 32, beta_slow 1) and no contract notices\n"
            "  kind: rope (declared) -> yarn (filled: frames:fill)\n"
            "  rotary_percent: 1 (parser-default) -> unused\n"
            "  rotary_scaling_factor: unused -> 1 (parser-default: default of "
            "--rotary-scaling-factor)\n"
            "  original_max_position_embeddings: unused -> 4096 (parser-default: default of "
            "--original-max-position-embeddings)\n"
            "  beta_fast: unused -> 32 (parser-default: default of --beta-fast)\n"
            "  beta_slow: unused -> 1 (parser-default: default of --beta-slow)\n"
            "  mscale: unused -> 1 (parser-default: default of --mscale)\n"
            "  mscale_all_dim: unused -> 0 (parser-default: default of --mscale-all-dim)\n"
            "  round_to_int: unused -> True (constructor-default: "
            "YarnRotaryEmbedding.correction_range_round_to_int)\n"
            "  size:     numerically identical\n"
            '  remedy:   mark a test with @rope_expect("rope", models=["model"])'
        )
    ]


def test_counterexample_is_data() -> None:
    case = BY_NAME["mla-rope-bare"]
    (finding,) = (f for f in run(case, case.argv, [], strict=False).findings if f.status == "fail")

    assert finding.omitted == ("--rope-type rope",)
    assert finding.flag == "--rope-type rope"
    argv = list(case.argv)
    place = argv.index("--rope-type")
    assert finding.argv == (*argv[:place], *argv[place + 2 :])


def test_changed_value_is_a_note_with_its_size() -> None:
    case = BY_NAME["gpt-rope"]
    kept = [one for one in guards(case) if "rotary_base" not in one.fields]

    (finding,) = run(case, case.argv, kept, strict=False).findings

    assert finding.status == "note"
    assert finding.text() == (
        "unguarded-omission: model without --rotary-base 1000000 has rotary_base 10000 instead "
        "of 1000000 and no contract notices\n"
        "  rotary_base: 1000000 (declared) -> 10000 (parser-default: default of --rotary-base)\n"
        "  size:     31 of 32 frequencies differ, largest ratio 86.6; first phase off by 1 rad at "
        "position 7\n"
        '  remedy:   mark a test with @rope_expect("rope", rotary_base=1000000, models=["model"])'
    )


def test_lost_flag_of_an_equal_default_is_a_note() -> None:
    case = BY_NAME["gpt-rope"]
    kept = [one for one in guards(case) if "rotary_percent" not in one.fields]

    (finding,) = run(case, case.argv, kept, strict=False).findings

    assert finding.headline == (
        "unguarded-omission: model without --rotary-percent 1.0 leaves rotary_percent to a "
        "default and no contract notices"
    )
    assert finding.effect == "numerically identical"


def test_several_changes_are_counted() -> None:
    case = BY_NAME["gpt-rope"]
    findings = run(case, case.argv, [], strict=False).findings

    told = [f.headline for f in findings if "--position-embedding-type" in f.headline]
    assert told == [
        (
            "unguarded-omission: model without --position-embedding-type rope has kind none "
            "instead of rope, 3 more changes, and no contract notices"
        )
    ]


def test_two_flags_are_told_together_and_one_more_change_is_counted() -> None:
    case = BY_NAME["gpt-rope"]
    argv = [*case.argv, "--rotary-seq-len-interpolation-factor", "2"]

    def notices_one(resolution: Resolution) -> bool:
        rope = resolution.built
        return (rope.rotary_base, rope.seq_len_interpolation_factor) != (10000, None)

    engine = OmissionEngine(pipeline(case), argv, notices_one)
    findings = search(
        "m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False)
    ).findings

    (finding,) = (one for one in findings if "--rotary-base" in one.headline)
    lost = "--rotary-base 1000000, --rotary-seq-len-interpolation-factor 2"
    assert finding.headline == (
        f"unguarded-omission: m without {lost} has rotary_base 10000 instead of 1000000, 1 more "
        "change, and no contract notices"
    )
    assert finding.flag == lost


def test_several_defaults_are_told_together() -> None:
    case = BY_NAME["gpt-rope"]
    argv = [token if token != "1000000" else "10000" for token in case.argv]
    lost = {"rotary_base", "rotary_percent"}
    engine = OmissionEngine(
        pipeline(case),
        argv,
        lambda other: any(other.origins.get(name) == "declared" for name in lost),
    )
    findings = search(
        "m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False)
    ).findings

    assert [one.headline for one in findings if "--position" not in one.headline] == [
        (
            "unguarded-omission: m without --rotary-base 10000, --rotary-percent 1.0 leaves "
            "rotary_base, rotary_percent to a default and no contract notices"
        )
    ]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (None, "kind: rope (declared) -> yarn (filled)"),
        ("f:fill", "kind: rope (declared) -> yarn (filled: f:fill)"),
    ],
)
def test_change_names_a_source_where_there_is_one(source: str | None, shown: str) -> None:
    assert str(FieldChange("kind", "rope", "declared", "yarn", "filled", source)) == shown


def test_worst_is_told_first() -> None:
    case = BY_NAME["mla-rope"]

    findings = run(case, case.argv, [], strict=True).findings

    assert "becomes yarn" in findings[0].headline
    told = [" leaves " in one.headline for one in findings]
    assert told == sorted(told)


def test_framework_that_answers_differently_every_time_is_told() -> None:
    case = BY_NAME["gpt-rope"]
    line = Pipeline(MEGATRON, PipelineSettings(defaults=("frames:vary",)))
    engine = OmissionEngine(line, case.argv, lambda _: False)

    with pytest.raises(UnrepeatableError) as caught:
        search("m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False))

    lines = str(caught.value).splitlines()
    assert lines[0] == "m: the framework makes something else of the same flags every time"
    assert re.fullmatch(r"  rotary_base: \d+ and then \d+", lines[1])
    bases = re.findall(r"\d+", lines[1])
    assert int(bases[0]) < int(bases[1])


def test_framework_that_answers_differently_late_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    case = BY_NAME["gpt-rope"]
    engine = OmissionEngine(pipeline(case), case.argv, lambda _: False)
    plain, calls = engine.resolve, []

    def resolve(omitted: frozenset[int]) -> object:
        calls.append(omitted)
        return plain(omitted if len(calls) < 10 else engine.units.named(["rotary_base"]))

    monkeypatch.setattr(engine, "resolve", resolve)

    with pytest.raises(UnrepeatableError, match=r"^m: the framework"):
        search("m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False))


def test_framework_that_refuses_now_and_then_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    case = BY_NAME["gpt-rope"]
    engine = OmissionEngine(pipeline(case), case.argv, lambda _: False)
    plain, calls = engine.resolve, []

    def resolve(omitted: frozenset[int]) -> object:
        calls.append(omitted)
        return plain(omitted) if len(calls) < 10 else replace(plain(omitted), rope=None)

    monkeypatch.setattr(engine, "resolve", resolve)

    with pytest.raises(UnrepeatableError) as caught:
        search("m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False))

    assert caught.value.details == ("it is refused, and it is not",)


def test_embedding_without_frequencies_has_no_size() -> None:
    case = BY_NAME["mla-rope-bare"]

    result = run(case, [*case.argv, "--rotary-base", "1"], [], strict=False)

    assert [one.effect for one in result.findings if "becomes yarn" in one.message] == [None]


def test_no_more_is_drawn_than_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_ropecontract.omission.search.GAPS_AT_MOST", 1)
    drawn = []
    monkeypatch.setattr(drawing, "draw", lambda *_: drawn.append(1) or frozenset({0}))

    run(BY_NAME["loose"], BY_NAME["loose"].argv, [], strict=False)

    assert drawn == [1]


def test_checkpoint_is_named_where_it_would_notice() -> None:
    case = BY_NAME["gpt-rope"]
    line = pipeline(case)
    around = Surroundings(lambda one, other: fails([one], other), lambda _: False)
    named = Surroundings(around.notices, around.loud, checkpoint="tests/checkpoints/m.json")
    engine = OmissionEngine(line, case.argv, lambda _: False)
    remedies = {f.flag: f.remedy for f in search("m", engine, 0, None, named).findings}

    assert remedies["--rotary-base 1000000"] == (
        'mark a test with @rope_expect("rope", rotary_base=1000000, models=["m"]),\n'
        "            or add the checkpoint's config.json as tests/checkpoints/m.json"
    )
    # The numbers are the same without the flag, so that no checkpoint can tell.
    assert "config.json" not in str(remedies["--rotary-percent 1.0"])
    assert "config.json" not in str(
        [f.remedy for f in search("m", engine, 0, None, around).findings]
    )


def test_two_lines_where_a_default_is_part_of_it() -> None:
    """Without a flag for its betas, YaRN can be told from another one by them all the same."""
    case = BY_NAME["mla-yarn-defaults"]
    result = run(case, [*case.argv, "--beta-slow", "2"], [], strict=True)
    (remedy,) = {one.remedy for one in result.findings}

    assert remedy is not None
    assert remedy.startswith('mark a test with @rope_expect("yarn", ')


def test_remedy_says_where_allowances_hide_it() -> None:
    case = BY_NAME["mla-rope-bare"]
    engine = OmissionEngine(pipeline(case), case.argv, lambda _: False)
    around = Surroundings(lambda *_: False, lambda _: False)

    finding = search("m", engine, 0, None, around).findings[0]

    assert finding.remedy == (
        "rope_contract_allow allows what a contract would find; take its line away"
    )


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (["take it away"], "expectation: wrong\ntake it away"),
        ([None], "expectation: wrong"),
        ([None, "another"], "expectation: wrong (and 1 more)"),
        ([None, None, None], "expectation: wrong (and 2 more)"),
    ],
)
def test_model_that_is_at_fault_is_to_be_corrected_first(
    faults: list[str | None], said: str
) -> None:
    case = BY_NAME["mla-rope-bare"]
    engine = OmissionEngine(pipeline(case), case.argv, lambda _: False)
    found = tuple(Finding("expectation", "m", "wrong", remedy=remedy) for remedy in faults)
    around = Surroundings(lambda *_: True, lambda _: False, faults=lambda: found)

    remedy = search("m", engine, 0, None, around).findings[0].remedy

    assert remedy is not None
    assert [line.strip() for line in remedy.splitlines()] == [
        "correct m itself first, a contract of what is built now would demand the fault:",
        *said.splitlines(),
    ]


def test_losses_of_every_flag() -> None:
    case = BY_NAME["mla-rope"]
    kept = [one for one in guards(case) if "rotary_base" not in one.fields]

    losses = run(case, case.argv, kept).losses

    assert losses["--num-layers 4"] == "refused"
    assert losses["--ffn-hidden-size 512"] == "harmless"
    assert losses["--rope-type rope"] == "guarded"
    assert losses["--rotary-base 1000000"] == "unguarded"
    assert len(losses) == len(units_of(pipeline(case), case.argv))


def test_of_two_equal_flags_the_worse_loss_is_told() -> None:
    """Every ``append`` of a value is a flag of its own, and equal ones have one text."""
    line = Pipeline(
        MEGATRON,
        PipelineSettings(
            arguments=("frames:add_counting_options",), defaults=("frames:mutate", "frames:fill")
        ),
    )
    argv = [*BY_NAME["gpt-rope"].argv, *("--tag", "x"), *("--tag", "x")]
    engine = OmissionEngine(line, argv, lambda _: False)

    losses = search("m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False)).losses

    assert losses["--tag x"] == "unguarded"


@pytest.mark.parametrize("last", [True, False])
def test_loss_that_a_contract_notices_is_worse_than_one_without_effect(last: bool) -> None:
    """Of two equal flags the last one counts, so that the loss of the first changes nothing."""
    case = BY_NAME["gpt-rope"]
    argv = [*case.argv, "--rotary-base", "1000000"]
    if last:
        argv += ["--rotary-base", "20000", "--rotary-base", "1000000"]
    engine = OmissionEngine(pipeline(case), argv, lambda _: True)

    losses = search("m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False)).losses

    assert losses["--rotary-base 1000000"] == ("guarded" if last else "harmless")


def test_what_was_drawn_is_shrunk_to_what_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile may leave out that Hypothesis shrinks."""
    case = BY_NAME["loose"]
    units = units_of(pipeline(case), case.argv)
    needed = units.named(["rope_type", "rotary_base", "rotary_percent"])
    drawn = iter([needed | units.named(["ffn_hidden_size"])])
    monkeypatch.setattr(drawing, "draw", lambda *_: next(drawn, None))

    result = run(case, case.argv, [], strict=False)

    yarn = [gap for gap in result.gaps if gap.outcome == "implicit-yarn"]
    assert [gap.indices for gap in yarn] == [needed]


def test_worse_loss_is_told_whichever_of_equal_flags_it_is_of() -> None:
    framework = PipelineSettings(
        arguments=("frames:add_counting_options",), defaults=("frames:take_first_tag",)
    )
    argv = [*BY_NAME["gpt-rope"].argv, *("--tag", "20000", "--tag", "30000", "--tag", "20000")]
    engine = OmissionEngine(Pipeline(MEGATRON, framework), argv, lambda _: False)
    first, _, last = sorted(engine.units.named(["--tag"]))
    assert engine.attempt(frozenset({first})).outcome == "changed"
    assert engine.attempt(frozenset({last})).outcome == "same"

    losses = search("m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False)).losses

    assert losses["--tag 20000"] == "unguarded"


def test_number_of_what_was_tried_is_told() -> None:
    case = BY_NAME["gpt-rope"]
    engine = OmissionEngine(pipeline(case), case.argv, lambda _: True)

    found = search("m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False))

    assert found.tried == len({frozenset(), *engine.systematic()})


def test_set_of_three_flags_is_drawn_and_shrunk() -> None:
    case = BY_NAME["loose"]
    argv = [token for token in case.argv if token not in ("--rotary-percent", "0.5")]
    argv += ["--rotary-percent", "0.5"]

    result = run(case, argv, [], strict=False)

    yarn = [gap for gap in result.gaps if gap.outcome == "implicit-yarn"]
    assert [set(gap.omission.omitted) for gap in yarn] == [
        {"--rope-type rope", "--rotary-base 50000", "--rotary-percent 0.5"}
    ]
    assert [f.status for f in result.findings if "becomes yarn" in f.message] == ["fail"]


def test_nothing_is_drawn_for_no_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "draw", lambda *_: pytest.fail("drawn"))

    run(CASES[0], CASES[0].argv, [], examples=0)


def test_examples_and_seed_are_those_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(drawing, "draw", lambda *args: asked.append(args[2:]))

    run(CASES[0], CASES[0].argv, [], examples=5, seed=7)

    assert asked == [(5, 7)]


# How Hypothesis is used


@pytest.fixture
def profile() -> Iterator[None]:
    current = settings.get_current_profile_name()
    yield
    settings.load_profile(current)


def tried(examples: int | None, seed: int | str | None) -> list[frozenset[int]]:
    case = BY_NAME["gpt-yarn"]
    engine = OmissionEngine(pipeline(case), case.argv, lambda _: False)
    order: list[frozenset[int]] = []

    def is_gap(trial) -> bool:
        order.append(trial.omission.indices)
        return False

    assert drawing.draw(engine, is_gap, examples, seed) is None
    return order


def test_draws_are_the_same_in_every_run_and_differ_by_seed() -> None:
    first = tried(50, None)

    assert tried(50, None) == first
    assert tried(50, 1) == tried(50, 1) != first
    assert tried(50, 2) != tried(50, 1)
    assert tried(50, "text") == tried(50, "text") != first
    assert len(first) == 50


def test_nothing_is_drawn_where_none_is_wanted_or_there_is_nothing_to_lose() -> None:
    assert tried(0, None) == []
    empty = OmissionEngine(pipeline(CASES[0]), [], lambda _: False)
    assert drawing.draw(empty, lambda _: pytest.fail("drawn"), 5, None) is None


@pytest.mark.usefixtures("profile")
def test_profile_says_how_many_where_nothing_else_does() -> None:
    settings.register_profile("few", max_examples=7, database=None)
    settings.load_profile("few")

    assert len(tried(None, None)) == 7
    assert len(tried(12, None)) == 12


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize("phases", [[Phase.explicit], [Phase.reuse, Phase.explain], []])
def test_profile_without_generation_draws_nothing(phases: list[Phase]) -> None:
    settings.register_profile("none", phases=phases)
    settings.load_profile("none")

    assert tried(None, None) == []


@pytest.mark.usefixtures("profile")
def test_profile_of_a_user_does_not_make_it_depend_on_the_machine() -> None:
    first = tried(30, None)
    settings.register_profile("random", derandomize=False, deadline=1, print_blob=True)
    current = settings.get_current_profile_name()
    settings.load_profile("random")
    try:
        assert tried(30, None) == first
        assert HealthCheck.filter_too_much not in settings().suppress_health_check
    finally:
        settings.load_profile(current)


@pytest.mark.parametrize("seed", [None, 1])
def test_example_database_is_neither_read_nor_written(seed: int | None) -> None:
    class Watched(hypothesis.database.InMemoryExampleDatabase):
        def save(self, key: bytes, value: bytes) -> None:
            del key, value
            pytest.fail("saved")

        def fetch(self, key: bytes) -> Iterator[bytes]:
            del key
            pytest.fail("read")

    settings.register_profile("watched", database=Watched())
    current = settings.get_current_profile_name()
    settings.load_profile("watched")
    try:
        result = run(BY_NAME["loose"], BY_NAME["loose"].argv, [], examples=200, seed=seed)
        assert [gap for gap in result.gaps if gap.outcome == "implicit-yarn"]
    finally:
        settings.load_profile(current)


@pytest.mark.usefixtures("profile")
def test_hypothesis_prints_nothing_where_a_profile_is_talkative(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.register_profile("talkative", verbosity=Verbosity.debug)
    settings.load_profile("talkative")

    tried(20, None)

    assert capsys.readouterr() == ("", "")


def test_hypothesis_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(BY_NAME["loose"], BY_NAME["loose"].argv, [])

    assert result.gaps
    assert capsys.readouterr() == ("", "")


# Beyond omission


def mutated(case: Case, siblings=None):
    line = pipeline(case)
    return line, list(mutations(line, units_of(line, case.argv), siblings or {}))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_spelling_never_changes_the_outcome(case: Case) -> None:
    line, found = mutated(case)
    engine = OmissionEngine(line, case.argv, lambda _: False)
    spelled = [one for one in found if one.spelling]

    for one in spelled:
        resolution = engine.resolve_argv(one.argv)
        assert (resolution.rope, resolution.sources) == (engine.whole.rope, engine.whole.sources)
    single = [u for u in engine.units.occurrences if u.dest in rules.ROPE_DESTS]
    assert len(spelled) == len([u for u in single if len(u.values) == 1])


def test_both_spellings_are_turned_into_the_other() -> None:
    case = BY_NAME["gpt-rope"]
    argv = [t for t in case.argv if t not in ("--rotary-base", "1000000")]
    other = Case("m", " ".join([*argv, "--rotary-base=1000000"]), {})

    texts = {repr(one) for one in mutated(other)[1] if one.spelling}

    assert texts == {"--rotary-base 1000000", "--rotary-percent=1.0"}


def test_spelling_that_changes_something_is_a_finding() -> None:
    """A framework that reads ``sys.argv`` itself may know one spelling only."""
    case = BY_NAME["gpt-rope"]
    line = pipeline(case)
    engine = OmissionEngine(line, case.argv, lambda _: True)
    plain = engine.resolve_argv
    engine.resolve_argv = lambda argv: plain(  # type: ignore[method-assign]
        [one for one in argv if not one.startswith("--rotary-base=")]
    )

    found = search("m", engine, 0, None, Surroundings(lambda *_: False, lambda _: False)).findings

    assert [one.text().splitlines()[0] for one in found] == [
        "unguarded-omission: m with the spelling --rotary-base=1000000 something else is built"
    ]
    assert found[0].status == "fail"
    assert "--rotary-base=1000000" in (found[0].argv or ())
    assert found[0].flag == "--rotary-base=1000000"


@pytest.mark.parametrize("flag", ["--beta-fast", "--rotary-base", "--rope-type"])
def test_mutation_names_the_place_that_it_changes(flag: str) -> None:
    case = BY_NAME["mla-yarn"]
    siblings = {"m-two": {"beta_fast": "32", "rotary_base": "20000", "rope_type": "rope"}}
    found = mutated(case, siblings)[1]

    places = units_of(pipeline(case), case.argv).named([flag])
    changing = [one for one in found if re.search(rf"(?<!-){flag}[ =]", one.text)]
    assert len(changing) >= 3
    assert {one.indices for one in changing} == {places}


def test_mutations_of_a_yarn() -> None:
    siblings = {
        "m-two": {"beta_fast": "32", "rotary_base": "5e4"},
        "m-three": {"beta_fast": "32.0"},
    }
    texts = [repr(one) for one in mutated(BY_NAME["mla-yarn"], siblings)[1]]

    assert "--beta-fast 1 and then --beta-fast 2" in texts
    assert "--yarn-beta-fast 1 in place of --beta-fast 1" in texts
    assert "--rope-scaling-factor 32 in place of --rotary-scaling-factor 32" in texts
    assert "--position-embedding-type yarn in place of --rope-type yarn" in texts
    assert "--rope-type yarn and then --rope-type rope" in texts
    # 5e4 is the value that is there, and 32.0 is what another one says already.
    assert [text for text in texts if " as in " in text] == ["--beta-fast 32 as in m-two"]
    # Equal values cannot be exchanged.
    assert not [text for text in texts if "exchanged" in text]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("--rotary-scaling-factor 1.5", "--rotary-scaling-factor 3.0"),
        ("--rotary-base 5e4", "--rotary-base 100000.0"),
        ("--rotary-base 50000", "--rotary-base 100000"),
    ],
)
def test_number_is_repeated_twice_as_large(given: str, text: str) -> None:
    line = pipeline(BY_NAME["mla-yarn"])
    found = mutations(line, units_of(line, given.split()), {})

    assert f"{given} and then {text}" in [one.text for one in found]


@pytest.mark.parametrize(
    ("given", "foreign"),
    [
        ("--yarn-beta-fast 4", "--fast 4"),
        ("--fast 4", "--yarn-beta-fast 4"),
        ("--rope-scaling-factor 8.0", "--rotary-scaling-factor 8.0"),
        # Whose dest no flag of this version sets.
        ("--yarn-original-max-position-embeddings 4096", "--original-max-position-embeddings 4096"),
    ],
)
def test_value_is_given_to_the_flag_of_the_other_family(given: str, foreign: str) -> None:
    line = Pipeline(MEGATRON, PipelineSettings(arguments=("frames:add_renamed_options",)))
    found = mutations(line, units_of(line, given.split()), {})

    assert f"{foreign} in place of {given}" in [one.text for one in found]


def test_values_are_exchanged() -> None:
    (one,) = [
        m
        for m in mutated(BY_NAME["gpt-yarn"])[1]
        if "yarn-beta" in repr(m) and m.argv and "exchanged" in repr(m)
    ]

    assert repr(one) == "--yarn-beta-fast 1 and --yarn-beta-slow 32 exchanged"
    assert one.argv[one.argv.index("--yarn-beta-fast") + 1] == "1"
    assert one.argv[one.argv.index("--yarn-beta-slow") + 1] == "32"
    units = units_of(pipeline(BY_NAME["gpt-yarn"]), BY_NAME["gpt-yarn"].argv)
    assert one.indices == units.named(["--yarn-beta-fast", "--yarn-beta-slow"])


@pytest.mark.parametrize(
    ("written", "exchanged"),
    [
        (["--beta-fast=32", "--beta-slow=1"], ["--beta-fast=1", "--beta-slow=32"]),
        (["--beta-fast", "32", "--beta-slow=1"], ["--beta-fast", "1", "--beta-slow=32"]),
    ],
)
def test_values_are_exchanged_as_they_are_written(written: list[str], exchanged: list[str]) -> None:
    line = pipeline(BY_NAME["mla-yarn"])
    units = units_of(line, ["--num-layers", "4", *written])

    (one,) = [one for one in mutations(line, units, {}) if "exchanged" in one.text]

    assert one.argv == ("--num-layers", "4", *exchanged)


def test_unguarded_mutation_is_named_like_an_omission() -> None:
    case = BY_NAME["mla-yarn"]
    kept = [one for one in guards(case) if "beta_fast" not in one.fields]
    kept.append(Expectation({"beta_fast": 1}))
    line = pipeline(case)
    around = Surroundings(
        lambda one, other: fails([one], other),
        lambda other: any(f.status == "fail" for f in rules.check("m", other, line)),
        siblings={"m-two": {"beta_fast": "32"}},
    )
    # A contract that asks only whether there is a flag: no loss goes unnoticed, its value does.
    engine = OmissionEngine(
        line,
        case.argv,
        lambda other: (
            other.origins.get("beta_fast") != "declared"
            or fails([one for one in kept if "beta_fast" not in one.fields], other)
        ),
    )

    found = search("m", engine, 0, None, around).findings

    assert [one.headline for one in found] == [
        (
            "unguarded-omission: m with --beta-fast 32 as in m-two has beta_fast 32 instead of 1 "
            "and no contract notices"
        )
    ]
    assert found[0].omitted == ()
    assert found[0].argv is not None
    assert found[0].argv[found[0].argv.index("--beta-fast") + 1] == "32"
    assert found[0].remedy == 'mark a test with @rope_expect("yarn", 4096, 1, 1, models=["m"])'


def test_other_value_of_an_unguarded_flag_is_not_said_again() -> None:
    case = BY_NAME["gpt-rope"]
    kept = [one for one in guards(case) if "rotary_base" not in one.fields]

    line = pipeline(case)
    engine = OmissionEngine(line, case.argv, lambda other: fails(kept, other))
    siblings = {"m-two": {"rotary_base": "20000"}}
    around = Surroundings(lambda *_: False, lambda _: False, siblings=siblings)

    (finding,) = search("m", engine, 0, None, around).findings

    assert finding.omitted == ("--rotary-base 1000000",)


def test_values_of_a_command_line() -> None:
    case = BY_NAME["mrope"]

    assert values_of(units_of(pipeline(case), case.argv)) == {
        "rotary_base": "5000000",
        "rotary_percent": "1.0",
    }
