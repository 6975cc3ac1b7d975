"""Which flags, or attributes of a config, make a model use a published value."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from built_configs import MLATransformerConfig
from published_configs import DEEPSEEK, Config, latent

from pytest_ropecontract.contracts.checkpoints.comparison import check, differences
from pytest_ropecontract.contracts.checkpoints.reach import Attributes, Reach, Reached
from pytest_ropecontract.contracts.checkpoints.reader import read
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.rope.built import resolve_config
from pytest_ropecontract.rope.frequencies import yarn_get_mscale
from pytest_ropecontract.rope.resolution import resolve

GPT = (
    "--num-layers 4 --hidden-size 256 --num-attention-heads 4 --kv-channels 64 "
    "--position-embedding-type rope --rotary-base 10000"
)
MLA = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --multi-latent-attention "
    "--q-lora-rank 8 --kv-lora-rank 8 --qk-head-dim 128 --qk-pos-emb-head-dim 64 "
    "--v-head-dim 128 --position-embedding-type rope --no-rope-fusion --rotary-base 10000"
)
LATENT = f"{MLA} --rope-type yarn --rotary-scaling-factor 40 --mscale 1 --mscale-all-dim 0"
COMMON = (
    f"{GPT.replace('embedding-type rope', 'embedding-type yarn')} --rotary-scaling-factor 40 "
    "--mscale 1 --mscale-all-dim 1"
)
WHERE = "in the definition"
NO_FLAG = (
    "add a flag that reaches it (rope_contract_arguments, rope_contract_rotary), or allow the "
    "deviation (rope_contract_allow)"
)


@cache
def pipeline(**more: Any) -> Pipeline:
    settings = PipelineSettings(pythonpath=(str(Path(__file__).parent),), **more)
    return Pipeline(choose("megatron-core-0.19.2", Path.cwd()), settings)


def reached(argv: str, config: Config) -> dict[str | None, str | None]:
    """Return what to declare for every field that differs, None where no flag sets it."""
    used = pipeline()
    found = check("m", read(config), resolve(used, argv.split()), Reach(used))
    assert {one.rule for one in found} <= {"checkpoint", "unreachable-field"}
    return {one.field: one.remedy if one.rule == "checkpoint" else None for one in found}


def yarn(**more: Any) -> Config:
    block = {**DEEPSEEK["rope_scaling"], "mscale": 1.0, "mscale_all_dim": 0.0, **more}
    return latent("deepseek_v3", 163840, rope_theta=10000, rope_scaling=block)


def plain(**more: Any) -> Config:
    return {"rope_theta": 10000, "head_dim": 64, **more}


# Width


@pytest.mark.parametrize(
    ("argv", "config", "remedy"),
    [
        (GPT, plain(rotary_dim=32), "declare --rotary-percent 0.5"),
        # A fraction does not make a head wider.
        (GPT, plain(head_dim=96), "declare --kv-channels 96"),
        # A fraction of 1 or more leaves the head as it is.
        (f"{GPT} --rotary-percent 1.5", plain(rotary_dim=32), "declare --rotary-percent 0.5"),
        (f"{GPT} --rotary-percent 0.25", plain(rotary_dim=32), "declare --rotary-percent 0.5"),
        # Multi-latent attention has a part of its own for rotation.
        (
            f"{MLA} --rope-type rope",
            plain(qk_rope_head_dim=32),
            "declare --qk-pos-emb-head-dim 32",
        ),
        (
            f"{MLA} --rope-type rope --rotary-percent 0.5",
            plain(qk_rope_head_dim=64),
            "declare --rotary-percent 1",
        ),
    ],
)
def test_width(argv: str, config: Config, remedy: str) -> None:
    assert reached(argv, config) == {"rotary_dim": f"{remedy} {WHERE}"}


def test_width_of_an_embedding_that_reads_no_fraction() -> None:
    block = {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}
    config = plain(head_dim=32, rope_scaling={**block, "attention_factor": 1.0})

    assert reached(COMMON, config)["rotary_dim"] == f"declare --kv-channels 32 {WHERE}"


def test_fraction_of_nothing() -> None:
    remedy = f"declare --rotary-percent 1 {WHERE}"

    assert reached(f"{GPT} --rotary-percent 0", plain()) == {"rotary_dim": remedy}


# The two mscales


@pytest.mark.parametrize(
    ("mscale", "all_dim"),
    [("1", "1"), ("0.707", "0.707"), ("0.5", "0.25"), ("0.123456", "0.654321")],
)
def test_mscales_are_found_as_they_were_written(mscale: str, all_dim: str) -> None:
    config = yarn(mscale=float(mscale), mscale_all_dim=float(all_dim))

    assert reached(LATENT, config) == {
        "magnitude": f"declare --mscale {mscale} --mscale-all-dim {all_dim} {WHERE}",
        "softmax_multiplier": f"declare --mscale-all-dim {all_dim} {WHERE}",
    }


@pytest.mark.parametrize("factor", [2.0, 64.0])
def test_mscales_where_the_scaling_factor_differs_too(factor: float) -> None:
    """Each remedy is about its own field: the factor has a finding of its own."""
    assert reached(LATENT, yarn(factor=factor, mscale=0.5, mscale_all_dim=1.0)) == {
        "rotary_scaling_factor": f"declare --rotary-scaling-factor {factor:.0f} {WHERE}",
        "magnitude": f"declare --mscale 0.5 --mscale-all-dim 1 {WHERE}",
        "softmax_multiplier": f"declare --mscale-all-dim 1 {WHERE}",
    }


def test_mscale_of_zero_is_not_written_as_a_rounding() -> None:
    """Its product with the denominator is 1 but for the last bit."""
    all_dim = next(one / 10 for one in range(1, 100) if 1 / _at(one / 10) * _at(one / 10) < 1.0)
    config = yarn(attention_factor=1 / _at(all_dim), mscale_all_dim=all_dim)

    remedy = f"declare --mscale 0 --mscale-all-dim {all_dim:g} {WHERE}"
    assert reached(LATENT, config)["magnitude"] == remedy


def _at(mscale: float) -> float:
    return yarn_get_mscale(40.0, mscale)


def test_softmax_without_a_published_factor() -> None:
    """Nothing publishes a magnitude, and the softmax follows from what is built."""
    config = yarn(factor=None, mscale_all_dim=1.0)
    config.pop("max_position_embeddings")

    assert reached(LATENT, config) == {
        "softmax_multiplier": f"declare --mscale-all-dim 1 {WHERE}",
    }


@pytest.mark.parametrize("factor", [0.5, 1.0])
def test_magnitude_that_no_mscale_changes(factor: float) -> None:
    """At a factor of at most 1, both mscales are multiplied with nothing."""
    argv = LATENT.replace("factor 40", f"factor {factor}")

    config = {**yarn(factor=factor, attention_factor=1.25), "max_position_embeddings": None}

    assert reached(argv, config) == {"magnitude": None}


@pytest.mark.parametrize(
    ("factor", "remedy"),
    [
        (yarn_get_mscale(40.0), "declare --mscale-all-dim 0"),
        (yarn_get_mscale(40.0, 0.5), "declare --mscale 0.5 --mscale-all-dim 0"),
    ],
)
def test_magnitude_of_common_attention(factor: float, remedy: str) -> None:
    """Its softmax is multiplied with nothing, whatever mscale_all_dim is."""
    block = {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}
    config = plain(rope_scaling={**block, "attention_factor": factor})

    assert reached(COMMON, config) == {"magnitude": f"{remedy} {WHERE}"}


# Flags that are removed


def test_layers_that_only_the_removal_rotates() -> None:
    """A list of two layers is refused for a model of four."""
    assert reached(f"{GPT} --no-rope-freq 2", plain(no_rope_layers=[1, 1])) == {
        "no_rope_layers": "remove --no-rope-freq 2 from the definition"
    }


def test_flag_of_the_base_args_is_not_removed_from_the_definition() -> None:
    used = pipeline(base_args=("--rotary-interleaved",))
    resolution = resolve(used, GPT.split())

    (finding,) = check("m", read(plain(rope_interleave=False)), resolution, Reach(used))

    assert finding.rule == "unreachable-field"


def test_flag_is_removed_with_all_of_its_values_and_repetitions() -> None:
    argv = f"--rotary-interleaved {GPT} --rotary-interleaved"

    assert reached(argv, plain(rope_interleave=False)) == {
        "rotary_interleaved": "remove --rotary-interleaved from the definition"
    }


# Kinds


def test_flag_that_overrides_the_kind_is_replaced() -> None:
    argv = GPT.replace("--position-embedding-type rope", "--use-rotary-position-embeddings")
    block = {"type": "mrope", "mrope_section": [8, 12, 12]}

    assert reached(argv, plain(rope_scaling=block)) == {
        "kind": "replace --use-rotary-position-embeddings by --position-embedding-type mrope "
        f"--mrope-section 8 12 12 {WHERE}"
    }


def test_what_no_flag_sets() -> None:
    used = pipeline()
    resolution = resolve(used, GPT.split())
    published = read(plain(rope_theta=10000.5)).ropes[0]
    (difference,) = differences(published, resolution.built)

    assert Reach(used).find(resolution, difference, published) == Reached(
        None, NO_FLAG, "and no flag of megatron-core-0.19.2 sets it"
    )


# A config that was made in code


@pytest.mark.parametrize(
    ("field", "stated", "wanted"),
    [
        ("beta_fast", {"beta_fast": 1}, Reached((), "set MLATransformerConfig.beta_fast")),
        (
            "magnitude",
            {"attention_factor": 1.25},
            Reached((), "set MLATransformerConfig.mscale"),
        ),
        (
            "softmax_multiplier",
            {"mscale_all_dim": 1.0},
            Reached((), "set MLATransformerConfig.mscale_all_dim"),
        ),
        (
            "round_to_int",
            {"truncate": False},
            Reached(
                None,
                "allow the deviation, or construct the embedding in another way",
                "and nothing of the config sets it",
            ),
        ),
        (
            "kind",
            {"type": "dynamic"},
            Reached(
                None,
                "allow the deviation (rope_contract_allow), or train this model elsewhere",
                "and no class of Megatron changes its base with the length of the input",
            ),
        ),
        (
            "kind",
            {"type": "mrope", "mrope_section": [8, 12, 12], "mrope_interleaved": True},
            Reached(
                None,
                "allow it where only text is trained (rope_contract_allow)",
                ("and Megatron divides frequencies into contiguous sections, not interleaved ones"),
            ),
        ),
    ],
)
def test_attribute_of_a_config(field: str, stated: Config, wanted: Reached) -> None:
    resolution = resolve_config(MLATransformerConfig())
    published = read(yarn(**stated)).ropes[0]
    (difference,) = (one for one in differences(published, resolution.built) if one.field == field)

    assert Attributes().find(resolution, difference, published) == wanted


def test_interleaved_sections_are_no_matter_of_other_fields() -> None:
    resolution = resolve_config(MLATransformerConfig(rope_type="rope", rotary_base=500))
    block = {"type": "mrope", "mrope_section": [8, 12, 12], "mrope_interleaved": True}
    published = read(plain(rope_scaling=block)).ropes[0]
    base = next(
        one for one in differences(published, resolution.built) if one.field == "rotary_base"
    )
    allowed = dataclasses.replace(published, refusal="no class has it")

    assert Attributes().find(resolution, base, allowed) == Reached(
        (), "set MLATransformerConfig.rotary_base"
    )
