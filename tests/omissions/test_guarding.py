"""The line that is printed really notices, and holds on the model."""

from __future__ import annotations

import random

import pytest
from definitions import CASES
from planting import fails, pipeline, reread

from pytest_ropecontract.omission.engine import OmissionEngine
from pytest_ropecontract.omission.guarding import guarding, line


def notices(expectation, resolution) -> bool:
    return fails([expectation], resolution)


def engine_of(case) -> OmissionEngine:
    return OmissionEngine(pipeline(case), case.argv, lambda _: False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_silent_omission_can_be_guarded(case) -> None:
    engine = engine_of(case)
    rng = random.Random(case.name)
    omitted = [*engine.systematic()]
    omitted += [frozenset(rng.sample(range(len(engine.units)), 3)) for _ in range(50)]
    silent = [trial for trial in map(engine.attempt, omitted) if not trial.guarded]
    assert silent

    for trial in silent:
        lines = [line("m", one) for one in guarding(engine.whole, [trial.resolution], notices)]
        assert lines
        again = reread("\n".join(lines))
        assert len(again) == len(lines)
        assert all(one.models == ("m",) for one in again)
        assert not fails(again, engine.whole)
        assert fails(again, trial.resolution)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_contract_guards_all(case) -> None:
    engine = engine_of(case)
    silent = [t for t in map(engine.attempt, engine.systematic()) if not t.guarded]

    found = guarding(engine.whole, [trial.resolution for trial in silent], notices)

    assert 1 <= len(found) <= 2
    assert not fails(found, engine.whole)
    assert all(fails(found, trial.resolution) for trial in silent)


def lines(name: str, *flags: str) -> list[str]:
    case = next(case for case in CASES if case.name == name)
    engine = engine_of(case)
    trial = engine.attempt(engine.units.named(flags))
    return [line(name, one) for one in guarding(engine.whole, [trial.resolution], notices)]


def test_plain_rope_needs_the_kind_alone() -> None:
    assert lines("mla-rope", "--rope-type") == ['@rope_expect("rope", models=["mla-rope"])']


def test_declared_yarn_is_stated_with_its_length_and_betas() -> None:
    assert lines("mla-yarn", "--rope-type") == [
        '@rope_expect("yarn", 4096, 1, 1, models=["mla-yarn"])'
    ]


def test_yarn_with_defaults_is_stated_with_what_is_declared() -> None:
    assert lines("mla-yarn-defaults", "--rope-type") == [
        '@rope_expect("yarn", models=["mla-yarn-defaults"])'
    ]


def test_field_that_changes_is_added() -> None:
    assert lines("gpt-rope", "--rotary-base") == [
        '@rope_expect("rope", rotary_base=1000000, models=["gpt-rope"])'
    ]
    assert lines("mrope", "--rotary-base", "--rotary-percent") == [
        '@rope_expect("mrope", rotary_base=5000000, models=["mrope"])'
    ]


def test_fields_are_values_that_python_reads() -> None:
    assert lines("gpt-rope-twice", "--rotary-interleaved") == [
        '@rope_expect("rope", rotary_interleaved=True, models=["gpt-rope-twice"])'
    ]
    assert lines("no-rope-layers", "--no-rope-freq") == [
        '@rope_expect("rope", no_rope_layers=(0, 0, 0, 1), models=["no-rope-layers"])'
    ]


def test_value_that_no_mark_takes_is_not_stated() -> None:
    case = next(case for case in CASES if case.name == "mla-yarn")
    engine = OmissionEngine(pipeline(case), [*case.argv, "--beta-fast", "inf"], lambda _: False)
    trial = engine.attempt(engine.units.named(["--rotary-base"]))

    (found,) = [line("m", one) for one in guarding(engine.whole, [trial.resolution], notices)]

    assert found == '@rope_expect("yarn", 4096, beta_slow=1, rotary_base=50000, models=["m"])'
    assert not fails(reread(found), engine.whole)


def test_fraction_is_stated_as_it_is() -> None:
    case = next(case for case in CASES if case.name == "mla-yarn")
    argv = list(case.argv)
    argv[argv.index("--mscale") + 1] = "0.707"
    engine = OmissionEngine(pipeline(case), argv, lambda _: False)
    trial = engine.attempt(engine.units.named(["--mscale"]))

    (found,) = guarding(engine.whole, [trial.resolution], notices)

    assert found.fields["mscale"] == 0.707


def test_large_number_is_stated_as_it_is() -> None:
    """A whole number of that size is written with digits that a float does not have."""
    case = next(case for case in CASES if case.name == "mla-yarn")
    engine = OmissionEngine(pipeline(case), [*case.argv, "--beta-fast", "1e300"], lambda _: False)
    trial = engine.attempt(engine.units.named(["--rotary-base"]))

    (found,) = guarding(engine.whole, [trial.resolution], notices)

    assert repr(found.fields["beta_fast"]) == "1e+300"


def test_what_is_unused_or_off_is_stated_with_what_is_declared() -> None:
    """No flag says so, and a contract that demands flags asks for none."""
    case = next(case for case in CASES if case.name == "gpt-rope")
    engine = engine_of(case)
    yarn = engine.resolve_argv([*case.argv, "--position-embedding-type", "yarn"])

    def notices_the_scaling(expectation, resolution) -> bool:
        told = {"beta_fast", "rope_scaling"} <= expectation.fields.keys()
        return resolution is yarn and told

    found = guarding(engine.whole, [yarn], notices_the_scaling)

    assert found[0].declared
    assert found[0].fields["beta_fast"] is None
    assert found[0].fields["rope_scaling"] is False


def test_attention_is_stated_where_only_it_changes() -> None:
    assert lines("mla-rope", "--multi-latent-attention") == [
        '@rope_expect("rope", attention="mla", models=["mla-rope"])'
    ]


def test_default_is_accepted_by_a_line_of_its_own() -> None:
    """Of a value that no flag declares, only that it is what it is can be demanded."""
    case = next(case for case in CASES if case.name == "mla-yarn-defaults")
    engine = engine_of(case)
    other = engine.resolve_argv([*case.argv, "--beta-slow", "2"])
    lost = engine.attempt(engine.units.named(["--rotary-base"])).resolution

    found = [line("m", one) for one in guarding(engine.whole, [other, lost], notices)]

    assert found == [
        '@rope_expect("yarn", rotary_base=10000, models=["m"])',
        '@rope_expect(beta_slow=1, declared=False, models=["m"])',
    ]


def test_nothing_guards_where_everything_is_allowed() -> None:
    case = CASES[0]
    engine = engine_of(case)
    trial = engine.attempt(engine.units.named(["--beta-fast"]))

    assert guarding(engine.whole, [trial.resolution], lambda *_: False) == ()
