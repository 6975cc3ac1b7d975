"""A checkpoint against what is built from flags."""

from __future__ import annotations

import dataclasses
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_configs import DEEPSEEK, PUBLISHED, Config, kimi, latent, llama3
from published_definitions import REAL

from pytest_ropecontract.contracts.checkpoints.comparison import check, differences
from pytest_ropecontract.contracts.checkpoints.expected import COMPARED
from pytest_ropecontract.contracts.checkpoints.expected import config as expected_config
from pytest_ropecontract.contracts.checkpoints.keys import EVERY_KEY, LAYER_TYPES, TYPES
from pytest_ropecontract.contracts.checkpoints.reach import Reach, Reached
from pytest_ropecontract.contracts.checkpoints.reader import read
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    import argparse

    from pytest_ropecontract.contracts.findings import Finding

SURFACE = "megatron-core-0.19.2"
FILE = "m.json"
GPT = (
    "--num-layers 4 --hidden-size 256 --num-attention-heads 4 --kv-channels 64 "
    "--position-embedding-type rope --rotary-base 10000 --rotary-percent 1.0"
)
MLA = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --multi-latent-attention "
    "--q-lora-rank 8 --kv-lora-rank 8 --qk-head-dim 128 --qk-pos-emb-head-dim 64 "
    "--v-head-dim 128 --position-embedding-type rope --no-rope-fusion"
)
YARN = f"{MLA} --rope-type yarn --rotary-base 50000 --mscale 1.0 --mscale-all-dim 1.0"
KIMI = (
    f"{YARN} --rotary-scaling-factor 32 --original-max-position-embeddings 4096 "
    "--beta-fast 1 --beta-slow 1"
)


def add_yarn_flags(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--original-max-position-embeddings", type=int, default=4096)
    parser.add_argument("--beta-fast", type=float, default=32)
    parser.add_argument("--beta-slow", type=float, default=1)
    return parser


def fill(args: argparse.Namespace) -> None:
    if args.rope_type is None:
        args.rope_type = "yarn" if args.multi_latent_attention else "rope"


def add_rounding_flag(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--round-range", dest="yarn_correction_range_round_to_int", default=True)
    return parser


def refuse_other_betas(args: argparse.Namespace) -> None:
    fill(args)
    if args.beta_fast != 1:
        raise RuntimeError("not with this framework")


@cache
def pipeline(*, extended: bool = True, surface: str = SURFACE) -> Pipeline:
    settings = PipelineSettings(
        arguments=(f"{__name__}:add_yarn_flags",) if extended else (),
        defaults=(f"{__name__}:fill",),
        unknown="drop",
        pythonpath=(str(Path(__file__).parent),),
    )
    return Pipeline(choose(surface, Path.cwd()), settings)


def findings(argv: str, config: Config, **kind: Any) -> list[Finding]:
    used = pipeline(**kind)
    return list(check("m", read(config, FILE), resolve(used, argv.split()), Reach(used)))


def only(argv: str, config: Config, **kind: Any) -> Finding:
    (finding,) = findings(argv, config, **kind)
    return finding


def of(name: str) -> Config:
    return PUBLISHED[name].config


def test_factor_that_cannot_be_read_is_no_part_of_a_difference() -> None:
    """The file is at fault; the size of what else differs is told without it."""
    published = of("Kimi-K2-Instruct")
    scaling = {**published["rope_scaling"], "mscale_all_dim": "one"}
    plain = f"{MLA} --rope-type rope --rotary-base 50000 --rotary-scaling-factor 32"

    problem, kind = findings(f"{plain} --mscale-all-dim 1", {**published, "rope_scaling": scaling})

    assert "rope_scaling.mscale_all_dim is 'one'" in problem.message
    assert (kind.field, kind.expected) == ("kind", "yarn")
    assert "frequencies differ" in (kind.effect or "")
    assert "softmax" not in (kind.effect or "")


def test_agrees() -> None:
    assert findings(KIMI, of("Kimi-K2-Instruct")) == []


def test_differs_in_the_factor_alone() -> None:
    assert only(KIMI, of("Kimi-K2-Instruct-0905")).text().splitlines() == [
        (
            "checkpoint: m: rotary_scaling_factor is 32 (declared: --rotary-scaling-factor 32), "
            "the checkpoint's is 64 (m.json: rope_scaling.factor)"
        ),
        "  expected: 64",
        "  actual:   32",
        "  origin:   declared (--rotary-scaling-factor 32)",
        (
            "  size:     12 of 32 frequencies differ, largest ratio 2; first phase off by 1 rad at "
            "position 55340; softmax scale x0.9045"
        ),
        "  remedy:   declare --rotary-scaling-factor 64 in the definition",
    ]


@pytest.mark.parametrize(
    "broken",
    [{"rope_scaling": "yarn"}, {"rope_parameters": [1]}, {"rope_scaling": {"type": 5}}],
)
def test_block_that_says_nothing_is_not_taken_for_unscaled(broken: Config) -> None:
    config = {key: value for key, value in of("Kimi-K2-Instruct").items() if key != "rope_scaling"}

    finding = only(KIMI, {**config, **broken})

    assert ", not a" in finding.message
    assert finding.remedy == "put there what the checkpoint's own config.json states"
    other = findings(KIMI, {**config, **broken, "rope_theta": 10000.0})
    assert [one.field for one in other[1:]] == ["rotary_base"]


def test_kind_of_the_same_numbers() -> None:
    finding = only(f"{MLA} --rotary-base 1000000", of("GLM-5"))

    assert finding.headline == (
        "checkpoint: m: kind is yarn (filled: test_checkpoint_comparison:fill), the checkpoint's "
        "is rope (m.json: rope_parameters.rope_type)"
    )
    assert finding.effect == "numerically identical"
    assert finding.remedy == "declare --rope-type rope in the definition"


def test_remedy_that_needs_another_flag() -> None:
    argv = f"{MLA} --rotary-base 1000000".replace(" --no-rope-fusion", "")

    assert only(argv, of("GLM-5")).remedy == (
        "declare --rope-type rope --no-rope-fusion in the definition"
    )


def test_remedy_that_replaces_a_flag() -> None:
    argv = f"{GPT} --use-rotary-position-embeddings".replace("10000", "150000").replace(
        "--position-embedding-type rope ", ""
    )
    finding = only(argv, of("gpt-oss-20b"))

    assert finding.message.startswith(
        "kind is rope (declared: --use-rotary-position-embeddings), the checkpoint's is yarn "
        "(rotary_scaling_factor 32, original_max_position_embeddings 4096, beta_fast 32, "
        "beta_slow 1) (m.json: rope_scaling.rope_type)"
    )
    assert finding.remedy == (
        "replace --use-rotary-position-embeddings by --position-embedding-type yarn "
        "in the definition"
    )


def test_numbers_are_compared_as_numbers() -> None:
    argv = GPT.replace("10000", "1000000")

    assert findings(argv, {"rope_theta": 1000000.0, "head_dim": 64}) == []


def test_width_is_compared_and_not_the_fraction() -> None:
    argv = GPT.replace("--rotary-percent 1.0", "--rotary-percent 0.5")

    assert findings(argv, {"rope_theta": 10000, "head_dim": 64, "rotary_dim": 32}) == []
    finding = only(GPT, {"rope_theta": 10000, "head_dim": 64, "rotary_dim": 32})
    assert (finding.expected, finding.actual) == (32, 64)
    assert finding.message == (
        "rotary_dim is 64 (declared: --kv-channels 64), the checkpoint's is 32 (m.json: rotary_dim)"
    )
    assert finding.remedy == "declare --rotary-percent 0.5 in the definition"
    assert finding.effect == "32 of 32 frequencies differ; 64 elements rotated against 32 elements"


def test_fraction_that_leaves_nothing_of_a_head() -> None:
    argv = GPT.replace("--rotary-percent 1.0", "--rotary-percent 0.001")

    finding = only(argv, {"rope_theta": 10000, "head_dim": 64})

    assert (finding.expected, finding.actual) == (64, 0)
    assert finding.remedy == "declare --rotary-percent 1 in the definition"


def test_width_under_latent_attention() -> None:
    finding = only(KIMI, {**of("Kimi-K2-Instruct"), "qk_rope_head_dim": 32})

    assert finding.remedy == "declare --qk-pos-emb-head-dim 32 in the definition"


# Values that no flag sets


def test_flag_that_is_parsed_and_never_handed_on() -> None:
    argv = f"{GPT.replace('10000', '500000')} --use-rope-scaling --rope-scaling-factor 32"
    config = {"rope_theta": 500000.0, "head_dim": 64, "rope_scaling": llama3(32.0)}

    finding = only(argv, config)

    assert finding.rule == "unreachable-field"
    assert finding.headline == (
        "unreachable-field: m: rope_scaling_factor is 8 (constructor-default: "
        "RotaryEmbedding.rope_scaling_factor), the checkpoint's is 32 (m.json: "
        "rope_scaling.factor), and no flag of megatron-core-0.19.2 sets it"
    )
    assert finding.effect is not None
    assert finding.effect.startswith("17 of 32 frequencies differ, largest ratio 4;")


def test_flag_that_only_another_attention_reads() -> None:
    """This Megatron has --yarn-beta-fast, but not for multi-latent attention."""
    argv = f"{YARN} --rotary-scaling-factor 32"

    (fast,) = findings(argv, of("Kimi-K2-Instruct"), extended=False)

    assert fast.rule == "unreachable-field"
    assert fast.field == "beta_fast"
    assert fast.effect == (
        "11 of 32 frequencies differ, largest ratio 8.93; first phase off by 1 rad at position 171"
    )
    assert findings(argv, of("Kimi-K2-Instruct"))[0].remedy == (
        "declare --beta-fast 1 in the definition"
    )


def test_value_that_no_flag_sets_is_no_finding_where_it_is_used() -> None:
    argv = f"{YARN} --rotary-scaling-factor 64"

    assert findings(argv, of("Kimi-K2.5"), extended=False) == []


def test_type_of_a_flag_that_cannot_hold_the_value() -> None:
    finding = only(GPT, {"rope_theta": 10000.5, "head_dim": 64})

    assert finding.rule == "unreachable-field"


def test_kind_that_this_megatron_cannot_choose() -> None:
    argv = f"{GPT} --rotary-scaling-factor 32".replace("10000", "150000")

    assert only(argv, of("gpt-oss-20b"), surface="megatron-core-0.17.1").rule == (
        "unreachable-field"
    )


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ({"type": "dynamic", "factor": 2.0}, "changes its base with the length of the input"),
        (
            {"type": "longrope", "short_factor": [1.0], "long_factor": [2.0]},
            "takes a factor for every frequency",
        ),
        ({"type": "proportional"}, "leaves the lower frequencies of a head at zero"),
    ],
)
def test_types_that_no_class_computes(block: Config, why: str) -> None:
    finding = only(GPT, {"rope_theta": 10000, "head_dim": 64, "rope_scaling": block})

    assert finding.headline == (
        f"unreachable-field: m: kind is rope (declared: --position-embedding-type rope), the "
        f"checkpoint's is {block['type']} (m.json: rope_scaling.type), and no class of Megatron "
        f"{why}"
    )
    assert finding.effect is None


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"low_freq_factor": 2.0}, "low_freq_factor"),
        ({"high_freq_factor": 8.0}, "high_freq_factor"),
        ({"original_max_position_embeddings": 4096}, "original_max_position_embeddings"),
    ],
)
def test_constants_of_the_llama3_rule(more: Config, field: str) -> None:
    argv = f"{GPT.replace('10000', '500000')} --use-rope-scaling"
    config = {"rope_theta": 500000, "head_dim": 64, "rope_scaling": {**llama3(8.0), **more}}

    finding = only(argv, config)

    assert (finding.rule, finding.field) == ("unreachable-field", field)
    assert finding.effect is not None
    assert "frequencies differ" in finding.effect


def test_interleaved_sections() -> None:
    argv = f"{GPT.replace('10000', '10000000').replace('64', '256')} --rotary-percent 0.25"

    finding = only(argv, of("Qwen3.5-27B"))

    assert finding.rule == "unreachable-field"
    assert finding.effect == (
        "0 of 32 frequencies differ; the same where all axes of a position are equal, as in text"
    )


def test_interleaved_sections_of_an_embedding_with_sections() -> None:
    argv = GPT.replace("--position-embedding-type rope", "--position-embedding-type mrope")
    block = {"type": "mrope", "mrope_section": [8, 12, 12], "mrope_interleaved": True}
    config = {"rope_theta": 10000, "head_dim": 64, "rope_scaling": block}

    finding = only(f"{argv} --mrope-section 8 12 12", config)

    assert finding.headline == (
        "unreachable-field: m: mrope_interleaved is false, the checkpoint's is true (m.json: "
        "rope_scaling.mrope_interleaved), and Megatron divides frequencies into contiguous "
        "sections, not interleaved ones"
    )
    assert finding.remedy == "allow it where only text is trained (rope_contract_allow)"
    assert finding.effect == (
        "0 of 32 frequencies differ; the same where all axes of a position are equal, as in text"
    )


def test_neighbouring_pairs_of_latent_attention() -> None:
    config = {**of("Kimi-K2-Instruct"), "rope_interleave": True}

    assert findings(KIMI, config) == []
    finding = only(KIMI, {**config, "rope_interleave": False})
    assert (finding.rule, finding.field) == ("unreachable-field", "rotary_interleaved")
    assert finding.effect == "0 of 32 frequencies differ; pairs are neighbours against halves"


@pytest.mark.parametrize(
    ("flag", "published", "remedy", "effect"),
    [
        ("", True, "declare --rotary-interleaved", "halves against neighbours"),
        (
            " --rotary-interleaved",
            False,
            "remove --rotary-interleaved",
            "neighbours against halves",
        ),
    ],
)
def test_pairs_of_common_attention(flag: str, published: bool, remedy: str, effect: str) -> None:
    config = {"rope_theta": 10000, "head_dim": 64, "rope_interleave": published}

    finding = only(f"{GPT}{flag}", config)

    assert finding.effect == f"0 of 32 frequencies differ; pairs are {effect}"
    assert (finding.remedy or "").startswith(remedy)


# What belongs to the rule llama3, to linear scaling and to sections


def test_rule_that_is_not_used() -> None:
    config = {"rope_theta": 500000, "head_dim": 64, "rope_scaling": llama3(8.0)}

    finding = only(GPT.replace("10000", "500000"), config)

    assert finding.message.startswith(
        "rope_scaling is false (parser-default: default of --use-rope-scaling), the "
        "checkpoint's is true (rope_scaling_factor 8, original_max_position_embeddings 8192, "
        "low_freq_factor 1, high_freq_factor 4)"
    )
    assert finding.remedy == "declare --use-rope-scaling in the definition"


def test_rule_that_should_not_be_used() -> None:
    finding = only(f"{GPT} --use-rope-scaling", {"rope_theta": 10000, "head_dim": 64})

    assert finding.remedy == "remove --use-rope-scaling from the definition"


def test_linear_scaling_is_a_division_of_positions() -> None:
    config = {
        "rope_theta": 10000,
        "head_dim": 64,
        "rope_scaling": {"type": "linear", "factor": 4.0},
    }

    assert findings(f"{GPT} --rotary-seq-len-interpolation-factor 4", config) == []
    finding = only(GPT, config)
    assert finding.remedy == "declare --rotary-seq-len-interpolation-factor 4 in the definition"
    config["rope_scaling"]["factor"] = 2.5
    assert only(GPT, config).rule == "unreachable-field"


def test_size_of_positions_that_should_not_be_divided() -> None:
    argv = f"{GPT} --rotary-seq-len-interpolation-factor 8"

    finding = only(argv, {"rope_theta": 10000, "head_dim": 64})

    assert finding.field == "seq_len_interpolation_factor"
    assert "32 of 32 frequencies differ, largest ratio 8" in str(finding.effect)


def test_width_that_a_fraction_makes_too_small() -> None:
    argv = f"{MLA} --rope-type rope --rotary-base 10000 --rotary-percent 0.125"

    finding = only(argv, {"rope_theta": 10000, "qk_rope_head_dim": 64})

    assert finding.message.startswith(
        "rotary_dim is 8 (declared: --qk-pos-emb-head-dim 64; declared: --rotary-percent 0.125), "
        "the checkpoint's is 64"
    )
    assert finding.remedy == "declare --rotary-percent 1 in the definition"


def test_sections() -> None:
    argv = GPT.replace("--position-embedding-type rope", "--position-embedding-type mrope")
    block = {"type": "mrope", "mrope_section": [8, 12, 12]}
    config = {"rope_theta": 10000, "head_dim": 64, "rope_scaling": block}

    assert findings(f"{argv} --mrope-section 8 12 12", config) == []
    finding = only(f"{argv} --mrope-section 16 8 8", config)
    assert finding.remedy == "declare --mrope-section 8 12 12 in the definition"
    assert only(GPT, config).remedy == (
        "declare --position-embedding-type mrope --mrope-section 8 12 12 in the definition"
    )


def test_layers_that_are_not_rotated() -> None:
    config = {"rope_theta": 10000, "head_dim": 64, "no_rope_layers": [1, 1, 1, 0]}

    assert findings(f"{GPT} --no-rope-freq 4", config) == []
    finding = only(GPT, config)
    assert finding.message.startswith(
        "no_rope_layers is none, the checkpoint's is 1 layers (3) (m.json: no_rope_layers)"
    )
    assert finding.remedy == "declare --no-rope-freq [0,0,0,1] in the definition"
    longer = {**config, "no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0]}
    assert findings(f"{GPT} --no-rope-freq 4", longer) == []


@pytest.mark.parametrize(
    ("unrotated", "shown"), [(4, "0, 1, 2, 3"), (5, "0, 1, 2, 3, ..."), (8, "0, 1, 2, 3, ...")]
)
def test_many_layers_that_are_not_rotated_are_counted(unrotated: int, shown: str) -> None:
    layers = [0] * unrotated + [1] * (8 - unrotated)

    finding = only(GPT, {"rope_theta": 10000, "head_dim": 64, "no_rope_layers": layers})

    assert f"the checkpoint's is {unrotated} layers ({shown}) (m.json" in finding.message


# Magnitude and softmax


def deepseek(**more: Any) -> Config:
    block = {**DEEPSEEK["rope_scaling"], **more}
    return latent("deepseek_v3", 163840, rope_theta=10000, rope_scaling=block)


DEEPSEEK_ARGV = (
    f"{MLA} --rope-type yarn --rotary-base 10000 --rotary-scaling-factor 40 "
    "--beta-fast 32 --beta-slow 1 --original-max-position-embeddings 4096"
)


def test_mscales_of_one_meaning() -> None:
    argv = f"{DEEPSEEK_ARGV} --mscale 0.707 --mscale-all-dim 0.707"

    assert findings(argv, deepseek(mscale=0.707, mscale_all_dim=0.707)) == []
    # Both mscales 0: transformers then takes 1 over nothing, as Megatron does by default.
    assert findings(f"{DEEPSEEK_ARGV} --mscale 1", deepseek(mscale=0, mscale_all_dim=0)) == []


def test_missing_mscale_all_dim() -> None:
    magnitude, softmax = findings(DEEPSEEK_ARGV, deepseek())

    assert (magnitude.field, softmax.field) == ("magnitude", "softmax_multiplier")
    assert (magnitude.origin, magnitude.source) == ("parser-default", "default of --mscale")
    assert (softmax.origin, softmax.source) == ("parser-default", "default of --mscale-all-dim")
    assert magnitude.actual == pytest.approx(1.368888, abs=1e-6)
    assert softmax.expected == pytest.approx(1.873854, abs=1e-6)
    assert magnitude.effect == "0 of 32 frequencies differ; cosine and sine x1.369"
    assert softmax.effect == "0 of 32 frequencies differ; softmax scale x0.5337"
    assert magnitude.remedy == "declare --mscale 1 --mscale-all-dim 1 in the definition"
    assert softmax.remedy == "declare --mscale-all-dim 1 in the definition"


def test_magnitude_that_only_other_mscales_give() -> None:
    argv = f"{DEEPSEEK_ARGV} --mscale 1 --mscale-all-dim 1"

    finding = only(argv, deepseek(attention_factor=1.25))

    assert finding.remedy is not None
    assert finding.remedy.startswith("declare --mscale 1.927")
    flags = finding.remedy.removeprefix("declare ").removesuffix(" in the definition")
    assert findings(f"{argv} {flags}", deepseek(attention_factor=1.25)) == []


@pytest.mark.parametrize("missing", [{"factor": None}, {"mscale_all_dim": 1e200}])
def test_what_does_not_follow_from_the_checkpoint_is_not_compared(missing: Config) -> None:
    argv = f"{DEEPSEEK_ARGV} --mscale 1 --mscale-all-dim 1"

    fields = {one.field for one in findings(argv, deepseek(**missing)) if one.expected}

    assert fields.isdisjoint({"softmax_multiplier"})


def test_magnitude_that_does_not_follow_with_the_published_factor() -> None:
    argv = DEEPSEEK_ARGV.replace("factor 40", "factor 2") + " --mscale 1e308 --mscale-all-dim 0"

    config = deepseek(factor=1e10, mscale=0, mscale_all_dim=0)

    fields = {one.field for one in findings(argv, config)}

    assert "rotary_scaling_factor" in fields
    assert "magnitude" not in fields


def test_embedding_without_frequencies_differs_by_no_size() -> None:
    argv = f"{DEEPSEEK_ARGV} --mscale 1 --mscale-all-dim 1".replace("base 10000", "base 1")

    base = findings(argv, deepseek(mscale=1, mscale_all_dim=1))[0]

    assert (base.field, base.effect) == ("rotary_base", None)


def test_value_that_a_framework_leaves_out() -> None:
    used = pipeline()
    whole = resolve(used, KIMI.split())
    without = dataclasses.replace(whole, rope=dataclasses.replace(whole.built, beta_fast=None))

    (finding,) = check("m", read(of("Kimi-K2-Instruct"), FILE), without, Reach(used))

    assert finding.message.startswith("beta_fast is not used (")


def test_value_that_the_framework_refuses_is_not_reached_by_its_flag() -> None:
    settings = dataclasses.replace(
        pipeline().settings, defaults=(f"{__name__}:refuse_other_betas",)
    )
    used = Pipeline(choose(SURFACE, Path.cwd()), settings)

    (finding,) = check("m", read(kimi(32.0, 32.0), FILE), resolve(used, KIMI.split()), Reach(used))

    assert (finding.rule, finding.field) == ("unreachable-field", "beta_fast")


def test_flag_that_takes_a_text_cannot_say_no() -> None:
    settings = dataclasses.replace(
        pipeline().settings,
        arguments=(*pipeline().settings.arguments, f"{__name__}:add_rounding_flag"),
    )
    used = Pipeline(choose(SURFACE, Path.cwd()), settings)
    config = kimi(32.0, 1.0)
    config["rope_scaling"]["truncate"] = False

    (finding,) = check("m", read(config, FILE), resolve(used, KIMI.split()), Reach(used))

    assert (finding.rule, finding.field) == ("unreachable-field", "round_to_int")


def test_softmax_of_plain_rope_under_latent_attention() -> None:
    """Megatron multiplies the softmax scale whatever the kind."""
    argv = f"{MLA} --rope-type rope --rotary-base 1000000 --rotary-scaling-factor 40 "
    argv += "--mscale-all-dim 1.0"

    finding = only(argv, of("GLM-5"))

    assert finding.field == "softmax_multiplier"
    assert finding.effect == "0 of 32 frequencies differ; softmax scale x1.874"
    assert finding.remedy == "declare --mscale-all-dim 0 in the definition"


# Several embeddings, nothing built, problems


def test_two_embeddings_of_deepseek_v4() -> None:
    argv = (
        f"{MLA} --rope-type yarn --rotary-base 160000 --rotary-scaling-factor 16 --mscale 0 "
        "--original-max-position-embeddings 65536 --beta-fast 32 --beta-slow 1"
    )

    finding = only(argv, of("DeepSeek-V4-Flash"))

    assert finding.headline == (
        "unreachable-field: m: the 2 layers with compress ratio 0 need kind rope (built: yarn), "
        "rotary_base 10000 (built: 160000) by m.json (no scaling is stated), and Megatron "
        "builds one embedding for all layers"
    )
    assert findings(argv, of("DeepSeek-V4-Pro")) == []


def test_embedding_that_is_most_alike_is_the_one_meant() -> None:
    argv = GPT.replace("10000", "1000000").replace("64", "256")
    local, other = findings(argv, {**of("gemma-3-1b"), "rope_theta": 2000000})

    assert (local.rule, local.field) == ("checkpoint", "rotary_base")
    assert "for layers with full_attention (m.json: rope_theta)" in local.message
    assert other.message.startswith(
        "the layers with sliding_attention need rotary_base 10000 (built: 1000000)"
    )
    assert other.effect is not None
    assert other.effect.startswith("127 of 128 frequencies differ")


def test_nothing_is_built() -> None:
    argv = f"{GPT} --position-embedding-type yarnn"
    refused = resolve(pipeline(), argv.split()).refused
    assert refused is not None

    assert only(argv, of("Qwen3-4B")).text().splitlines() == [
        f"checkpoint: m: m.json cannot be compared, because nothing is built: {refused.message}",
        "  remedy:   correct what is refused; the checkpoint is compared after that",
    ]


def test_nothing_is_built_and_nothing_published() -> None:
    (finding,) = findings(f"{GPT} --position-embedding-type yarnn", {})

    assert finding.headline.startswith("checkpoint: m: m.json: nothing is stated about RoPE")


def test_embedding_of_other_layers_in_full() -> None:
    argv = GPT.replace("10000", "1000000").replace("64", "256")

    assert only(argv, of("gemma-3-1b")).text().splitlines() == [
        (
            "unreachable-field: m: the layers with sliding_attention need rotary_base 10000 "
            "(built: 1000000) by m.json (rope_local_base_freq), and Megatron builds one embedding "
            "for all layers"
        ),
        "  expected: 10000",
        "  actual:   1000000",
        (
            "  size:     127 of 128 frequencies differ, largest ratio 96.5; first phase off by "
            "1 rad at position 7"
        ),
        "  remedy:   build these layers with a rotary embedding of their own",
    ]
    assert only(argv, of("gemma-3-1b")).field == "rotary_base"


def test_other_layers_that_are_not_rotated_are_counted() -> None:
    argv = GPT.replace("10000", "1000000").replace("64", "256")
    config = {**of("gemma-3-1b"), "no_rope_layers": [0, 1]}

    _, other = findings(argv, config)

    assert (
        "need rotary_base 10000 (built: 1000000), no_rope_layers 1 layers (0) (built: none) by"
        in other.message
    )


def test_problem_of_the_file_comes_first() -> None:
    block = {**kimi(64.0, 1.0)["rope_scaling"], "attn_factor": 0.5}
    unknown, factor = findings(KIMI, {"rope_theta": 50000, "rope_scaling": block})

    assert unknown.rule == "unknown-checkpoint-key"
    assert unknown.message.startswith("m.json: rope_scaling.attn_factor is 0.5, ")
    assert factor.field == "rotary_scaling_factor"


def test_unknown_type_is_not_compared() -> None:
    config = {"rope_theta": 10000, "head_dim": 64, "rope_scaling": {"type": "new"}}

    assert [one.field for one in findings(GPT, config)] == ["kind"]


def test_unrotated_checkpoint() -> None:
    argv = GPT.replace("--position-embedding-type rope", "--position-embedding-type none")

    assert findings(argv, of("Nemotron-3-Nano-30B-A3B")) == []
    finding = only(GPT, of("Nemotron-3-Nano-30B-A3B"))
    assert finding.remedy == "declare --position-embedding-type none in the definition"
    assert finding.effect == "32 of 32 frequencies differ; 64 elements rotated against none"


# Real definitions, where a folder of them is given

CORPUS = os.environ.get("ROPE_CONTRACT_CORPUS")


@pytest.mark.skipif(CORPUS is None, reason="ROPE_CONTRACT_CORPUS names no folder of definitions")
@pytest.mark.parametrize(("model", "name"), REAL)
def test_real_definition(model: str, name: str) -> None:
    (file,) = Path(str(CORPUS)).rglob(f"{model}.txt")
    tokens = [json.loads(line) for line in file.read_text().splitlines() if line]
    used = pipeline()

    found = check(model, read(of(name), FILE), resolve(used, tokens), Reach(used))

    expected = REAL[model, name]
    assert [one.field for one in found] == [field for field, _ in expected]
    for finding, (_, size) in zip(found, expected, strict=True):
        assert finding.effect is not None
        assert size in finding.effect


def test_findings_can_be_replaced() -> None:
    """A finding is data: its size is part of it."""
    finding = only(KIMI, of("Kimi-K2-Instruct-0905"))

    assert dataclasses.replace(finding, effect=None).effect is None


# Any document against anything that is built

_NUMBERS = st.sampled_from([0, 1, 0.5, 4.0, 32, 64, 4096, 10000, -1, float("nan"), "1", None, True])
_BLOCKS = st.dictionaries(
    st.sampled_from(sorted(EVERY_KEY | {"attn_factor"})),
    _NUMBERS | st.sampled_from([*TYPES, "mrope", [8, 12, 12], [], {}]),
)
_DOCUMENTS = st.fixed_dictionaries(
    {"rope_theta": _NUMBERS},
    optional={
        "rope_scaling": _BLOCKS | st.dictionaries(st.sampled_from(sorted(LAYER_TYPES)), _BLOCKS),
        "rope_parameters": _BLOCKS,
        "head_dim": _NUMBERS,
        "qk_rope_head_dim": _NUMBERS,
        "compress_rope_theta": _NUMBERS,
        "compress_ratios": st.sampled_from([[0, 4], [4], "x"]),
        "rope_local_base_freq": _NUMBERS,
        "no_rope_layers": st.sampled_from([[1, 0], [], [2], None]),
        "no_rope_layer_interval": _NUMBERS,
        "num_hidden_layers": _NUMBERS,
        "max_position_embeddings": _NUMBERS,
        "rope_interleave": st.sampled_from([True, False, None, 1]),
        "partial_rotary_factor": _NUMBERS,
        "model_type": st.sampled_from(["llama", "gemma3_text", "deepseek_v4", "nemotron_h", 5]),
    },
)
_BUILT = (
    GPT,
    KIMI,
    f"{MLA} --rope-type rope",
    f"{GPT} --use-rope-scaling --no-rope-freq 2",
    f"{GPT.replace('embedding-type rope', 'embedding-type yarn')} --rotary-scaling-factor 4",
    f"{GPT.replace('embedding-type rope', 'embedding-type mrope')} --mrope-section 8 12 12",
    GPT.replace("embedding-type rope", "embedding-type none"),
)


class _NotSearched:
    """Stands for the search for flags, which takes most of the time."""

    def find(self, *_: object) -> Reached:
        return Reached((), "")


@given(config=_DOCUMENTS, argv=st.sampled_from(_BUILT))
@settings(deadline=None, max_examples=300)
def test_any_document_against_anything_that_is_built(config: Config, argv: str) -> None:
    resolution = resolve(pipeline(), argv.split())

    for finding in check("m", read(config, FILE), resolution, _NotSearched()):
        assert "\n" not in finding.headline
        assert finding.text()


@given(config=_DOCUMENTS, argv=st.sampled_from(_BUILT))
@settings(deadline=None, max_examples=300)
def test_every_difference_has_a_size_of_its_own(config: Config, argv: str) -> None:
    """What is compared for the size is what is built with exactly this value changed."""
    built = resolve(pipeline(), argv.split()).rope
    assert built is not None
    for published in read(config, FILE).ropes:
        for one in differences(published, built):
            if published.kind is not None and one.field in COMPARED:
                changed = expected_config(published, built, one.field)
                assert changed is not None
                assert getattr(changed, one.field) != getattr(built, one.field), one


@given(config=_DOCUMENTS, argv=st.sampled_from(_BUILT))
@settings(deadline=None, max_examples=25)
def test_remedies_lead_to_the_published_value(config: Config, argv: str) -> None:
    """A remedy that says what to declare is one with which the finding is gone."""
    for finding in findings(argv, config):
        declared = (finding.remedy or "").removesuffix(" in the definition")
        if finding.rule != "checkpoint" or not declared.startswith("declare "):
            continue
        after = findings(f"{argv} {declared.removeprefix('declare ')}", config)
        assert finding.field not in [one.field for one in after if one.origin == "declared"]
