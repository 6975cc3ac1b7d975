"""Whose RoPE, or whose acceptance, another Megatron changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract.definitions import Registry
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.pipeline import PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface_files import load_shipped
from pytest_ropecontract.upgrade import Comparison, ModelChange, compare_models

if TYPE_CHECKING:
    from pytest_ropecontract.megatron.surface import Surface

SIZES = ["--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4"]
ROPE = [*SIZES, "--position-embedding-type", "rope"]
GPT_OSS = [
    *(*SIZES, "--position-embedding-type", "yarn", "--rotary-scaling-factor", "32"),
    *("--yarn-original-max-position-embeddings", "4096"),
]
MLA = [*SIZES, "--swiglu", "--multi-latent-attention", "--position-embedding-type", "rope"]
OLD, MIDDLE, NEW = (
    load_shipped(f"megatron-core-{version}") for version in ("0.17.1", "0.18.2", "0.19.2")
)


def compare(
    argv: list[str], first: Surface = MIDDLE, second: Surface = NEW, **settings: Any
) -> Comparison:
    registry = Registry()
    registry.add("model", argv)
    both = RecordedMegatron(first), RecordedMegatron(second)
    return compare_models(registry, ["model"], both, PipelineSettings(**settings))


def only(comparison: Comparison) -> ModelChange:
    (change,) = comparison.changes
    return change


@pytest.mark.parametrize("argv", [ROPE, [*ROPE, "--use-rope-scaling"], MLA])
def test_what_does_not_change_is_not_named(argv: list[str]):
    for first, second in ((OLD, MIDDLE), (MIDDLE, NEW), (OLD, NEW), (NEW, OLD)):
        found = compare(argv, first, second)

        assert found == Comparison(("model",), (), {}, {})


def test_yarn_without_mla_is_built_from_0_19():
    change = only(compare(GPT_OSS))

    assert not change.before.accepted
    assert change.before.refusals == (
        "megatron-core-0.18.2 has no flag --yarn-original-max-position-embeddings",
        (
            "building the model raises AttributeError: 'TransformerConfig' object has no attribute "
            "'yarn_rotary_scaling_factor'"
        ),
    )
    assert change.after.accepted
    assert change.after.rope is not None
    assert (change.after.rope.kind, change.after.rope.rotary_scaling_factor) == ("yarn", 32.0)
    assert (change.fields, change.size) == ((), None)


def test_what_both_refuse_does_not_change():
    """0.17 does not take the choice, 0.18 takes it and cannot build it: no run can start."""
    found = compare(GPT_OSS, OLD, MIDDLE)

    assert found.changes == ()
    assert list(found.refused) == ["model"]
    assert found.refused["model"][0].startswith("megatron-core-0.18.2 has no flag ")


def test_the_interpolation_factor_comes_alive_in_0_19():
    change = only(compare([*ROPE, "--rotary-seq-len-interpolation-factor", "4"]))

    (field,) = change.fields
    assert (field.field, field.before, field.after) == ("seq_len_interpolation_factor", None, 4)
    assert field.origin == "declared: --rotary-seq-len-interpolation-factor 4"
    assert change.size == (
        "8 of 8 frequencies differ, largest ratio 4; first phase off by 1 rad at position 2"
    )


def with_default(surface: Surface, dest: str, value: Any) -> Surface:
    options = tuple(
        one._replace(default=value) if one.dest == dest else one for one in surface.options
    )
    return surface._replace(name="fork", options=options)


def test_a_default_that_changes_is_a_change_of_who_does_not_declare_it():
    fork = with_default(NEW, "rotary_base", 500000)

    change = only(compare(ROPE, NEW, fork))
    (field,) = change.fields
    assert (field.field, field.before, field.after) == ("rotary_base", 10000, 500000)
    assert field.origin == "parser-default: default of --rotary-base"
    assert change.size is not None
    assert change.size.startswith("7 of 8 frequencies differ")

    assert compare([*ROPE, "--rotary-base", "10000"], NEW, fork).changes == ()


def test_a_flag_that_is_newly_dropped_is_a_change():
    """Also where what is built stays the same: here YaRN's original length is 4096 anyway."""
    without = NEW._replace(
        name="fork",
        options=tuple(o for o in NEW.options if "yarn_original" not in o.dest),
    )

    change = only(compare(GPT_OSS, NEW, without, unknown="drop"))

    assert change.before.dropped == ()
    assert change.after.dropped == ("--yarn-original-max-position-embeddings 4096",)
    assert change.after.accepted
    assert change.fields == ()


def test_a_definition_that_cannot_be_expanded_does_not_end_the_others():
    registry = Registry()
    registry.add("broken", lambda: 1 / 0)
    registry.add("good", [*ROPE, "--rotary-seq-len-interpolation-factor", "4"])
    both = RecordedMegatron(MIDDLE), RecordedMegatron(NEW)

    found = compare_models(registry, ["broken", "good"], both, PipelineSettings())

    assert found.models == ("broken", "good")
    assert [one.model for one in found.changes] == ["good"]
    assert found.unusable["broken"].headline.startswith("broken: ")


def test_a_setting_that_cannot_be_used_is_an_error():
    with pytest.raises(RopeContractError, match="there is no module 'nowhere'"):
        compare(ROPE, defaults=("nowhere:fill",))


def test_a_surface_that_has_a_frameworks_options_gets_them_once(tmp_path, monkeypatch):
    """It was recorded with them; adding them again would be a conflict."""
    (tmp_path / "upgrade_frame.py").write_text(
        "def add(parser):\n    parser.add_argument('--rotary-base')\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    source = NEW.source._replace(arguments=("upgrade_frame:add",))
    fork = NEW._replace(name="fork", source=source)

    with pytest.raises(RopeContractError, match="conflicting option string"):
        compare(ROPE, NEW, fork, arguments=("upgrade_frame:add",))
    assert compare(ROPE, fork, fork, arguments=("upgrade_frame:add",)).changes == ()
