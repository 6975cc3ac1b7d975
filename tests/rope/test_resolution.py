"""From command lines to the rotary embedding that is built, with the origin of every value."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from strategies import MEGATRON, SURFACE, argvs

from pytest_ropecontract.definitions import Registry
from pytest_ropecontract.megatron.framework import PipelineCallError
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.rope.config import DERIVED_FIELDS, FIELDS, RopeConfig
from pytest_ropecontract.rope.resolution import ORIGINS, Refused, Resolution, resolve

EXAMPLE = Path(__file__).parents[2] / "example_project"
STOCK = Pipeline(MEGATRON, PipelineSettings())
FRAMEWORK = Pipeline(
    MEGATRON,
    PipelineSettings(
        arguments=("ropeframe.arguments:add_rope_arguments",),
        defaults=("ropeframe.arguments:set_default_megatron_args",),
        stubs=("ropeframe.arguments:validate_gpus",),
        pythonpath=(str(EXAMPLE),),
    ),
)
FILL = "ropeframe.arguments:set_default_megatron_args"

SIZES = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --swiglu"
GPT = f"{SIZES} --position-embedding-type rope"
MLA = f"{GPT} --multi-latent-attention --qk-head-dim 128 --qk-pos-emb-head-dim 64 --no-rope-fusion"
OFF = {
    "rope_scaling": False,
    "rotary_interleaved": False,
    "magnitude": 1.0,
    "softmax_multiplier": 1.0,
}
PLAIN_GPT = {
    "kind": "rope",
    "attention": "gpt",
    "rotary_base": 10000,
    "rotary_percent": 1.0,
    "rotary_dim": 16,
    "rotary_class": "RotaryEmbedding",
    "returns": 1,
    **OFF,
}
PLAIN_MLA = {**PLAIN_GPT, "attention": "mla", "rotary_dim": 64}
YARN_MLA = {
    "kind": "yarn",
    "attention": "mla",
    "rotary_base": 10000,
    "rotary_dim": 64,
    "rotary_interleaved": False,
    "rotary_scaling_factor": 1.0,
    "original_max_position_embeddings": 4096,
    "beta_fast": 32,
    "beta_slow": 1,
    "mscale": 1.0,
    "mscale_all_dim": 0.0,
    "round_to_int": True,
    "magnitude": 1.0,
    "softmax_multiplier": 1.0,
    "rotary_class": "YarnRotaryEmbedding",
    "returns": 2,
}
YARN_GPT = {**YARN_MLA, "attention": "gpt", "rotary_dim": 16}
YARN = f"{SIZES} --position-embedding-type yarn"
LLAMA3 = {
    **PLAIN_GPT,
    "rope_scaling": True,
    "rope_scaling_factor": 8.0,
    "original_max_position_embeddings": 8192,
}
MROPE = {
    "kind": "mrope",
    "attention": "gpt",
    "rotary_base": 10000,
    "rotary_percent": 1.0,
    "rotary_dim": 16,
    "rotary_interleaved": False,
    "mrope_section": (2, 3, 3),
    "magnitude": 1.0,
    "softmax_multiplier": 1.0,
    "rotary_class": "MultimodalRotaryEmbedding",
    "returns": 1,
}
HYBRID = {
    "kind": "rope",
    "attention": "hybrid",
    "rotary_base": 10000,
    "rotary_percent": 1.0,
    "rotary_dim": 16,
    "rotary_class": "RotaryEmbedding",
    "returns": 1,
    **OFF,
}


def built(argv: str | list[str], pipeline: Pipeline = STOCK) -> Resolution:
    resolution = resolve(pipeline, argv.split() if isinstance(argv, str) else argv)
    assert resolution.refused is None
    return resolution


def values(resolution: Resolution) -> dict[str, Any]:
    assert resolution.rope is not None
    return {name: value for name, value in asdict(resolution.rope).items() if value is not None}


# Facts about megatron-core 0.19: what reaches which rotary class, captured at its constructor.
BUILT: dict[str, tuple[str, dict[str, Any]]] = {
    # common attention
    "gpt rope": (GPT, PLAIN_GPT),
    "gpt rope by the old flag": (f"{SIZES} --use-rotary-position-embeddings", PLAIN_GPT),
    "the old flag wins": (f"{YARN} --use-rotary-position-embeddings", PLAIN_GPT),
    "kv channels": (f"{GPT} --kv-channels 128", {**PLAIN_GPT, "rotary_dim": 128}),
    "a fraction": (
        f"{GPT} --kv-channels 128 --rotary-percent 0.33",
        {**PLAIN_GPT, "rotary_dim": 42, "rotary_percent": 0.33},
    ),
    "more than the head": (
        f"{GPT} --rotary-percent 2.0",
        {**PLAIN_GPT, "rotary_percent": 2.0},
    ),
    "interleaved": (f"{GPT} --rotary-interleaved", {**PLAIN_GPT, "rotary_interleaved": True}),
    "interpolation": (
        f"{GPT} --rotary-seq-len-interpolation-factor 3",
        {**PLAIN_GPT, "seq_len_interpolation_factor": 3},
    ),
    "no rope in every second layer": (
        f"{GPT} --no-rope-freq 2",
        {**PLAIN_GPT, "no_rope_layers": (0, 1, 0, 1)},
    ),
    "no rope by a pattern": (
        f"{GPT} --no-rope-freq [0]*3+[1]",
        {**PLAIN_GPT, "no_rope_layers": (0, 0, 0, 1)},
    ),
    "llama3": (f"{GPT} --use-rope-scaling", LLAMA3),
    "llama3 keeps factor 8": (
        (
            f"{GPT} --use-rope-scaling --rope-scaling-factor 32 --rotary-scaling-factor 32 "
            "--rotary-seq-len-interpolation-factor 3"
        ),
        {**LLAMA3, "seq_len_interpolation_factor": 3},
    ),
    "yarn's values do not reach plain rope": (
        f"{GPT} --rotary-scaling-factor 32 --mscale 2 --mscale-all-dim 1 --yarn-beta-fast 1",
        PLAIN_GPT,
    ),
    "gpt rope type": (f"{GPT} --rope-type rope", PLAIN_GPT),
    "gpt none": (f"{SIZES} --position-embedding-type none", {"kind": "none", "attention": "gpt"}),
    "gpt learned": (SIZES, {"kind": "none", "attention": "gpt"}),
    # YaRN without multi-latent attention
    "gpt yarn alone is plain in numbers": (YARN, YARN_GPT),
    "gpt-oss": (
        (
            f"{YARN} --kv-channels 64 --rotary-base 150000 --rotary-scaling-factor 32 "
            "--no-yarn-correction-range-round-to-int --rotary-percent 0.5"
        ),
        {
            **YARN_GPT,
            "rotary_dim": 64,
            "rotary_base": 150000,
            "rotary_scaling_factor": 32.0,
            "round_to_int": False,
            "magnitude": 1.346574,
        },
    ),
    "gpt yarn in full": (
        (
            f"{YARN} --rotary-scaling-factor 40 --yarn-original-max-position-embeddings 8192 "
            "--yarn-beta-fast 16 --yarn-beta-slow 2 --mscale 0.707 --mscale-all-dim 0.707"
        ),
        {
            **YARN_GPT,
            "rotary_scaling_factor": 40.0,
            "original_max_position_embeddings": 8192,
            "beta_fast": 16.0,
            "beta_slow": 2.0,
            "mscale": 0.707,
            "mscale_all_dim": 0.707,
        },
    ),
    # mrope
    "mrope": (f"{SIZES} --position-embedding-type mrope --mrope-section 2 3 3", MROPE),
    "mrope has no llama3 rule": (
        f"{SIZES} --position-embedding-type mrope --mrope-section 2 3 3 --use-rope-scaling",
        MROPE,
    ),
    # multi-latent attention
    "mla rope": (f"{MLA} --rope-type rope", PLAIN_MLA),
    "mla is yarn where nothing is said": (MLA, YARN_MLA),
    "mla reads its own width": (f"{MLA} --kv-channels 128", YARN_MLA),
    "mla rotates without a position embedding": (
        f"{MLA} --position-embedding-type none --rope-type rope",
        PLAIN_MLA,
    ),
    "mla rotates beside learned positions": (
        f"{MLA} --position-embedding-type learned_absolute",
        YARN_MLA,
    ),
    "mla ignores what common attention reads": (
        (
            f"{MLA} --rope-type rope --use-rope-scaling --rotary-seq-len-interpolation-factor 3 "
            "--no-rope-freq 2"
        ),
        PLAIN_MLA,
    ),
    "mla yarn ignores the fraction": (f"{MLA} --rotary-percent 0.5", YARN_MLA),
    "mla yarn ignores the yarn flags of common attention": (
        (
            f"{MLA} --yarn-beta-fast 1 --yarn-beta-slow 2 --no-yarn-correction-range-round-to-int "
            "--yarn-original-max-position-embeddings 8192"
        ),
        YARN_MLA,
    ),
    "mla rope reads the fraction": (
        f"{MLA} --rope-type rope --rotary-percent 0.5",
        {**PLAIN_MLA, "rotary_dim": 32, "rotary_percent": 0.5},
    ),
    "deepseek": (
        f"{MLA} --rotary-scaling-factor 40 --mscale 1 --mscale-all-dim 1",
        {
            **YARN_MLA,
            "rotary_scaling_factor": 40.0,
            "mscale_all_dim": 1.0,
            "softmax_multiplier": 1.873854,
        },
    ),
    "deepseek v2": (
        f"{MLA} --rotary-scaling-factor 40 --mscale 0.707 --mscale-all-dim 0.707",
        {
            **YARN_MLA,
            "rotary_scaling_factor": 40.0,
            "mscale": 0.707,
            "mscale_all_dim": 0.707,
            "softmax_multiplier": 1.589626,
        },
    ),
    "without mscale-all-dim the tables are scaled": (
        f"{MLA} --rotary-scaling-factor 40",
        {**YARN_MLA, "rotary_scaling_factor": 40.0, "magnitude": 1.368888},
    ),
    "kimi": (
        f"{MLA} --rotary-scaling-factor 32 --mscale-all-dim 1",
        {
            **YARN_MLA,
            "rotary_scaling_factor": 32.0,
            "mscale_all_dim": 1.0,
            "softmax_multiplier": 1.813260,
        },
    ),
    "factor 64": (
        f"{MLA} --rotary-scaling-factor 64 --mscale-all-dim 1",
        {
            **YARN_MLA,
            "rotary_scaling_factor": 64.0,
            "mscale_all_dim": 1.0,
            "softmax_multiplier": 2.004740,
        },
    ),
    "the softmax is scaled even with plain rope": (
        f"{MLA} --rope-type rope --rotary-scaling-factor 40 --mscale-all-dim 1",
        {**PLAIN_MLA, "softmax_multiplier": 1.873854},
    ),
    "mscales do nothing at factor 1": (
        f"{MLA} --mscale 0.5 --mscale-all-dim 2",
        {**YARN_MLA, "mscale": 0.5, "mscale_all_dim": 2.0},
    ),
    # hybrid
    "hybrid rope": (f"{GPT} --hybrid-layer-pattern M*M*", HYBRID),
    "hybrid ignores the llama3 rule and interleaving": (
        f"{GPT} --hybrid-layer-pattern M*M* --use-rope-scaling --rotary-interleaved",
        HYBRID,
    ),
    "hybrid none": (
        f"{SIZES} --position-embedding-type none --hybrid-layer-pattern M*M*",
        {"kind": "none", "attention": "hybrid"},
    ),
    "hybrid yarn": (
        f"{YARN} --hybrid-layer-pattern M*M* --rotary-scaling-factor 32",
        {
            **YARN_GPT,
            "attention": "hybrid",
            "rotary_scaling_factor": 32.0,
            "magnitude": 1.346574,
        },
    ),
    "hybrid with mla layers": (
        f"{GPT} --qk-pos-emb-head-dim 64 --no-rope-fusion --hybrid-layer-pattern M+M+",
        YARN_MLA,
    ),
}


@pytest.mark.parametrize(("argv", "expected"), BUILT.values(), ids=BUILT)
def test_what_is_built(argv: str, expected: dict[str, Any]):
    found = values(built(argv))
    rounded = {
        name: pytest.approx(value, abs=5e-7) if isinstance(value, float) else value
        for name, value in expected.items()
    }

    assert found == rounded


@pytest.mark.parametrize("argv", [argv for argv, _ in BUILT.values()], ids=BUILT)
def test_every_field_that_is_used_has_an_origin(argv: str):
    resolution = built(argv)
    # These follow from the others.
    derived = {"attention", "magnitude", "softmax_multiplier", "rotary_class", "returns"}
    used = values(resolution).keys() - derived

    assert used <= resolution.origins.keys()
    assert set(resolution.origins.values()) <= set(ORIGINS)
    assert list(resolution.origins) == [name for name in FIELDS if name in resolution.origins]


D, P, F, C, K = "declared", "parser-default", "filled", "config-default", "constructor-default"
ORIGIN: dict[str, tuple[Pipeline, str, dict[str, tuple[str, str]]]] = {
    "common attention": (
        STOCK,
        f"{GPT} --rotary-base 50000 --use-rope-scaling",
        {
            "kind": (D, "--position-embedding-type rope"),
            "rotary_base": (D, "--rotary-base 50000"),
            "rotary_dim": (F, "validate_args"),
            "rotary_percent": (P, "default of --rotary-percent"),
            "rotary_interleaved": (P, "default of --rotary-interleaved"),
            "rope_scaling": (D, "--use-rope-scaling"),
            "rope_scaling_factor": (K, "RotaryEmbedding.rope_scaling_factor"),
            "original_max_position_embeddings": (K, "RotaryEmbedding._apply_scaling"),
            "seq_len_interpolation_factor": (P, "default of --rotary-seq-len-interpolation-factor"),
        },
    ),
    "without scaling no factor is read": (
        STOCK,
        f"{GPT} --kv-channels 16",
        {
            "kind": (D, "--position-embedding-type rope"),
            "rotary_base": (P, "default of --rotary-base"),
            "rotary_dim": (D, "--kv-channels 16"),
            "rotary_percent": (P, "default of --rotary-percent"),
            "rotary_interleaved": (P, "default of --rotary-interleaved"),
            "rope_scaling": (P, "default of --use-rope-scaling"),
            "seq_len_interpolation_factor": (P, "default of --rotary-seq-len-interpolation-factor"),
        },
    ),
    "the old flag declares the kind": (
        STOCK,
        f"{SIZES} --use-rotary-position-embeddings",
        {"kind": (D, "--use-rotary-position-embeddings")},
    ),
    "nothing said about positions": (
        STOCK,
        SIZES,
        {"kind": (P, "default of --position-embedding-type")},
    ),
    "a layer pattern": (
        STOCK,
        f"{GPT} --no-rope-freq 2",
        {"no_rope_layers": (D, "--no-rope-freq 2")},
    ),
    "sections": (
        STOCK,
        f"{SIZES} --position-embedding-type mrope --mrope-section 2 3 3",
        {
            "kind": (D, "--position-embedding-type mrope"),
            "mrope_section": (D, "--mrope-section 2 3 3"),
        },
    ),
    "stock mla": (
        STOCK,
        f"{MLA} --rotary-scaling-factor 40",
        {
            "kind": (C, "MLATransformerConfig.rope_type"),
            "rotary_base": (P, "default of --rotary-base"),
            "rotary_dim": (D, "--qk-pos-emb-head-dim 64"),
            "rotary_interleaved": (K, "YarnRotaryEmbedding.rotary_interleaved"),
            "rotary_scaling_factor": (D, "--rotary-scaling-factor 40"),
            "original_max_position_embeddings": (
                C,
                "MLATransformerConfig.original_max_position_embeddings",
            ),
            "beta_fast": (C, "MLATransformerConfig.beta_fast"),
            "beta_slow": (C, "MLATransformerConfig.beta_slow"),
            "mscale": (P, "default of --mscale"),
            "mscale_all_dim": (P, "default of --mscale-all-dim"),
            "round_to_int": (K, "YarnRotaryEmbedding.correction_range_round_to_int"),
        },
    ),
    "mla in a framework": (
        FRAMEWORK,
        f"{MLA} --beta-fast 1",
        {
            "kind": (F, FILL),
            "beta_fast": (D, "--beta-fast 1"),
            "beta_slow": (P, "default of --beta-slow"),
            "original_max_position_embeddings": (
                P,
                "default of --original-max-position-embeddings",
            ),
        },
    ),
    "yarn without mla": (
        STOCK,
        f"{YARN} --yarn-beta-fast 16",
        {
            "kind": (D, "--position-embedding-type yarn"),
            "beta_fast": (D, "--yarn-beta-fast 16"),
            "beta_slow": (C, "TransformerConfig.yarn_beta_slow"),
            "rotary_scaling_factor": (P, "default of --rotary-scaling-factor"),
            "round_to_int": (C, "TransformerConfig.yarn_correction_range_round_to_int"),
        },
    ),
    "the last of two flags": (
        STOCK,
        f"{GPT} --rotary-base 5 --rotary-base 7",
        {"rotary_base": (D, "--rotary-base 7")},
    ),
    "base args declare too": (
        Pipeline(MEGATRON, PipelineSettings(base_args=("--rotary-base", "5"))),
        GPT,
        {"rotary_base": (D, "--rotary-base 5")},
    ),
    "a pin": (
        Pipeline(MEGATRON, PipelineSettings(pins={"rotary_base": 5})),
        f"{GPT} --rotary-base 7",
        {"rotary_base": ("pinned", "rope_contract_pins: rotary_base")},
    ),
}


@pytest.mark.parametrize(("pipeline", "argv", "expected"), ORIGIN.values(), ids=ORIGIN)
def test_where_a_value_comes_from(
    pipeline: Pipeline, argv: str, expected: dict[str, tuple[str, str]]
):
    sources = built(argv, pipeline).sources
    complete = len(expected) > 5

    assert {
        name: (source.origin, source.text)
        for name, source in sources.items()
        if complete or name in expected
    } == expected


PINNED = Pipeline(MEGATRON, PipelineSettings(pins={"rotary_base": 5}))
# From the flag to the argument of the class: origin, attribute of the namespace, a flag that sets
# it, attribute of the config, argument.
WAYS: dict[str, tuple[Pipeline, str, str, tuple[str | None, ...]]] = {
    "declared, not in the config": (
        *(STOCK, f"{GPT} --rotary-base 5", "rotary_base"),
        (D, "rotary_base", "--rotary-base", None, "rotary_base"),
    ),
    "a default of the parser": (
        *(STOCK, GPT, "rotary_percent"),
        (P, "rotary_percent", "--rotary-percent", None, "rotary_percent"),
    ),
    "under another name in the config": (
        *(STOCK, YARN, "rotary_scaling_factor"),
        (
            *(P, "rotary_scaling_factor", "--rotary-scaling-factor"),
            *("yarn_rotary_scaling_factor", "scaling_factor"),
        ),
    ),
    "written by validate_args": (
        *(STOCK, GPT, "rotary_dim"),
        (F, "kv_channels", "--kv-channels", "kv_channels", "kv_channels"),
    ),
    "written by validate_args because of another flag": (
        *(STOCK, f"{SIZES} --use-rotary-position-embeddings", "kind"),
        (D, "use_rotary_position_embeddings", "--position-embedding-type", None, None),
    ),
    "written by a framework": (
        *(FRAMEWORK, MLA, "kind"),
        (F, "rope_type", "--rope-type", "rope_type", None),
    ),
    "a default of the config that has a flag": (
        *(STOCK, YARN, "beta_slow"),
        (C, "yarn_beta_slow", "--yarn-beta-slow", "yarn_beta_slow", "beta_slow"),
    ),
    "a default of the config that has none": (
        *(STOCK, MLA, "beta_fast"),
        (C, "beta_fast", None, "beta_fast", "beta_fast"),
    ),
    "a default of the class": (
        *(STOCK, MLA, "round_to_int"),
        (K, None, None, None, "correction_range_round_to_int"),
    ),
    "pinned": (
        *(PINNED, GPT, "rotary_base"),
        ("pinned", "rotary_base", "--rotary-base", None, "rotary_base"),
    ),
}


@pytest.mark.parametrize(("pipeline", "argv", "name", "way"), WAYS.values(), ids=WAYS)
def test_the_way_of_a_value(pipeline: Pipeline, argv: str, name: str, way: tuple[str | None, ...]):
    source = built(argv, pipeline).sources[name]

    found = (source.origin, source.dest, source.flag, source.attribute, source.argument)
    assert found == way


def test_the_argv_is_the_definitions_and_the_parsed_one_has_the_base_args_too():
    base = ("--rotary-base", "5")
    resolution = built(GPT, Pipeline(MEGATRON, PipelineSettings(base_args=base)))

    assert resolution.argv == tuple(GPT.split())
    assert resolution.parsed.argv == (*base, *GPT.split())
    assert resolution.config_class == "TransformerConfig"


# Which class is constructed depends on these, for every attention.
KIND = {"position_embedding_type", "use_rotary_position_embeddings"}


@pytest.mark.parametrize(
    ("argv", "read"),
    [
        (
            GPT,
            {
                *("kv_channels", "rotary_base", "rotary_percent", "rotary_interleaved"),
                *("rotary_seq_len_interpolation_factor", "use_rope_scaling", "no_rope_freq"),
            },
        ),
        (
            MLA,
            {
                *("rope_type", "qk_pos_emb_head_dim", "rotary_base", "rotary_scaling_factor"),
                *("original_max_position_embeddings", "beta_fast", "beta_slow"),
                *("mscale", "mscale_all_dim"),
            },
        ),
        # The factor and the mscales have no flag of their own here, the rest has.
        (
            YARN,
            {
                *("kv_channels", "rotary_base", "rotary_scaling_factor", "no_rope_freq"),
                *("yarn_original_max_position_embeddings", "yarn_beta_fast", "yarn_beta_slow"),
                *("mscale", "mscale_all_dim", "yarn_correction_range_round_to_int"),
            },
        ),
    ],
    ids=["rope", "mla", "yarn"],
)
def test_what_is_built_tells_which_values_it_reads(argv: str, read: set[str]):
    """They are those whose flags change what is built, in the table above."""
    assert built(argv).reads == read | KIND


def test_a_kind_for_which_a_surface_has_no_rule_is_refused():
    rules = tuple(rule for rule in SURFACE.rules if rule.path != "gpt-rope")
    pipeline = Pipeline(RecordedMegatron(SURFACE._replace(rules=rules)), PipelineSettings())

    resolution = resolve(pipeline, GPT.split())

    said = "megatron-core-0.19.2 has no rotary rule for this config"
    assert resolution.refused == Refused("model", "unresolvable", said)
    assert resolution.rope is None
    assert resolution.argv == resolution.parsed.argv == tuple(GPT.split())


def test_an_attribute_that_a_forks_config_lacks_is_not_set():
    """As in a Megatron from before that attribute, whose config the rules read, too."""
    older = tuple(
        one._replace(attributes={k: v for k, v in one.attributes.items() if k != "no_rope_freq"})
        for one in SURFACE.classes
    )
    pipeline = Pipeline(RecordedMegatron(SURFACE._replace(classes=older)), PipelineSettings())

    resolution = built(f"{GPT} --no-rope-freq 2", pipeline)

    assert resolution.rope is not None
    assert resolution.rope.no_rope_layers is None
    assert "no_rope_layers" not in resolution.sources


def test_plain_rope_under_mla_reads_what_scales_its_softmax():
    assert {"rotary_scaling_factor", "mscale_all_dim"} <= built(f"{MLA} --rope-type rope").reads


@pytest.mark.parametrize(
    ("argv", "refused"),
    [
        (
            f"{GPT} --rotary-base 1e6",
            Refused("parser", "SystemExit", "argument --rotary-base: invalid int value: '1e6'"),
        ),
        (
            f"{GPT} --rope-type yarn",
            Refused(
                "config",
                "AssertionError",
                'Common attention only support rope_type="rope", but got yarn.',
            ),
        ),
        (
            f"{GPT} --multi-latent-attention --rope-type rope",
            Refused("config", "ValueError", "apply_rope_fusion for MLA only works with YARN RoPE."),
        ),
        (
            f"{MLA} --position-embedding-type yarn",
            Refused(
                "model",
                "AttributeError",
                "'MLATransformerConfig' object has no attribute 'yarn_rotary_scaling_factor'",
            ),
        ),
        (
            f"{GPT} --kv-channels 0",
            Refused("model", "unresolvable", "head_dim must be between 1 and 65536, got 0"),
        ),
        (
            f"{GPT} --rotary-percent nan",
            Refused(
                "model", "unresolvable", "rotary_percent must be a number of 0 or more, got nan"
            ),
        ),
        (
            f"{MLA} --rotary-scaling-factor 0",
            Refused(
                "model",
                "unresolvable",
                "rotary_scaling_factor must be a positive finite number, got 0.0",
            ),
        ),
        (
            (
                "--num-layers 4 --hidden-size 64 --num-attention-heads 0 --swiglu "
                "--position-embedding-type rope"
            ),
            Refused("model", "unresolvable", "head_dim is not set"),
        ),
    ],
)
def test_what_cannot_be_built_is_refused(argv: str, refused: Refused):
    resolution = resolve(STOCK, argv.split())

    assert resolution.refused == refused
    assert (resolution.rope, resolution.sources) == (None, {})
    assert resolution.argv == resolution.parsed.argv == tuple(argv.split())


@pytest.mark.parametrize(
    ("argv", "pins", "said"),
    [
        (GPT, {"rotary_base": "10000"}, "rotary_base is '10000', not a number"),
        (GPT, {"kv_channels": 64.0}, "rotary_dim is 64.0, not a whole number"),
        (GPT, {"use_rope_scaling": "yes"}, "rope_scaling is 'yes', not True or False"),
        (MLA, {"beta_fast": [32]}, "beta_fast is [32], not a number"),
    ],
)
def test_what_a_framework_hands_on_must_be_of_the_type_of_its_field(
    argv: str, pins: dict[str, Any], said: str
):
    settings = replace(FRAMEWORK.settings, pins=pins)

    resolution = resolve(Pipeline(MEGATRON, settings), argv.split())

    assert resolution.refused == Refused("model", "unresolvable", said)


def rotary(result: str, tmp_path: Path, name: str) -> Pipeline:
    (tmp_path / f"{name}.py").write_text(f"def rotary(args, config):\n    return {result}\n")
    settings = PipelineSettings(rotary=f"{name}:rotary", pythonpath=(str(tmp_path),))
    return Pipeline(MEGATRON, settings)


def test_a_frameworks_own_arguments_replace_those_of_the_rules(tmp_path: Path):
    pipeline = rotary('{"scaling_factor": 4.0, "kv_channels": 32}', tmp_path, "provider_replaces")

    resolution = built(MLA, pipeline)

    assert resolution.rope is not None
    assert (resolution.rope.rotary_scaling_factor, resolution.rope.rotary_dim) == (4.0, 32)
    assert resolution.sources["rotary_scaling_factor"].text == "provider_replaces:rotary"
    assert resolution.origins["rotary_dim"] == "filled"


def test_where_nothing_is_rotated_a_frameworks_arguments_go_nowhere(tmp_path: Path):
    """Its function is called for every config, and cannot know."""
    pipeline = rotary('{"beta_fast": 1}', tmp_path, "provider_of_nothing")

    rope = built(f"{SIZES} --position-embedding-type none", pipeline).rope

    assert rope == RopeConfig("none", "gpt")


def test_an_argument_that_the_class_does_not_take_is_an_error(tmp_path: Path):
    pipeline = rotary('{"beta_fast": 1}', tmp_path, "provider_errs")

    with pytest.raises(PipelineCallError) as caught:
        resolve(pipeline, GPT.split())

    assert caught.value.headline == (
        "rope_contract_rotary: provider_errs:rotary returned 'beta_fast', "
        "which RotaryEmbedding does not take"
    )
    # The way out is to return one of those that it does take.
    assert caught.value.remedy is not None
    assert caught.value.remedy.startswith("its arguments are ")
    assert {"kv_channels", "rotary_percent"} <= set(caught.value.remedy[18:].split(", "))


def definition(name: str) -> list[str]:
    registry = Registry(EXAMPLE, pythonpath=[EXAMPLE])
    return list(registry.add_file(EXAMPLE / "scripts" / "models" / f"{name}.py").expand().argv)


def leave_out(argv: list[str], *flags: str) -> list[str]:
    """Return argv without some flags and the one value of each."""
    found = list(argv)
    for flag in flags:
        at = found.index(flag)
        del found[at : at + 2]
    return found


YARN_FLAGS = ("--original-max-position-embeddings", "--beta-fast", "--beta-slow")


class TestBeforeTheCorrection:
    """The two real mistakes: definitions as they were before somebody noticed."""

    def test_kimi_k2_on_stock_megatron_falls_back_to_the_config_class(self):
        resolution = built(leave_out(definition("kimi-k2"), *YARN_FLAGS))

        assert resolution.rope is not None
        assert (resolution.rope.kind, resolution.rope.beta_fast) == ("yarn", 32)
        fields = ("original_max_position_embeddings", "beta_fast", "beta_slow")
        assert {resolution.origins[name] for name in fields} == {"config-default"}

    def test_kimi_k2_in_a_framework_falls_back_to_its_parser(self):
        resolution = built(leave_out(definition("kimi-k2"), *YARN_FLAGS), FRAMEWORK)

        assert resolution.rope is not None
        assert resolution.rope.beta_fast == 32
        assert resolution.sources["beta_fast"].origin == "parser-default"
        assert resolution.sources["beta_fast"].text == "default of --beta-fast"

    @pytest.mark.parametrize("name", ["glm4.7-flash", "joyai-llm-flash"])
    def test_a_plain_model_without_its_type_becomes_yarn_in_a_framework(self, name: str):
        resolution = built(leave_out(definition(name), "--rope-type"), FRAMEWORK)

        assert resolution.rope is not None
        assert (resolution.rope.kind, resolution.rope.returns) == ("yarn", 2)
        assert resolution.sources["kind"].origin == "filled"
        assert resolution.sources["kind"].text == FILL

    @pytest.mark.parametrize("name", ["glm4.7-flash", "joyai-llm-flash"])
    def test_a_plain_model_without_its_type_becomes_yarn_on_stock_megatron(self, name: str):
        resolution = built(leave_out(definition(name), "--rope-type"))

        assert resolution.rope is not None
        assert resolution.rope.kind == "yarn"
        assert resolution.sources["kind"].origin == "config-default"

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("kimi-k2", ("yarn", 4096, 1, 1, 32)),
            ("kimi-k2-thinking", ("yarn", 4096, 1, 1, 64)),
            ("kimi-k25", ("yarn", 4096, 32, 1, 64)),
            ("glm4.7-flash", ("rope", None, None, None, None)),
            ("joyai-llm-flash", ("rope", None, None, None, None)),
        ],
    )
    def test_the_corrected_definitions_are_what_the_checkpoints_say(
        self, name: str, expected: tuple[Any, ...]
    ):
        rope = built(definition(name), FRAMEWORK).rope

        assert rope is not None
        assert expected == (
            rope.kind,
            rope.original_max_position_embeddings,
            rope.beta_fast,
            rope.beta_slow,
            rope.rotary_scaling_factor,
        )


@given(argvs(most=5))
@example(["--rotary-percent", "-1"])
@example(["--rotary-percent", "inf", "--kv-channels", "100000"])
@example(["--num-layers", "1000000000000", "--no-rope-freq", "1"])
@example(["--multi-latent-attention", "--mscale", "nan"])
@example(["--multi-latent-attention", "--mscale-all-dim", "1e308", "--rotary-scaling-factor", "9"])
@settings(max_examples=150)
def test_any_command_line_is_built_or_refused(argv: list[str]):
    for base in (GPT, MLA, YARN):
        resolution = resolve(STOCK, [*base.split(), *argv])

        assert (resolution.rope is None) is (resolution.refused is not None)
        assert resolution.rope is None or isinstance(resolution.rope, RopeConfig)


@given(argvs(most=3))
@settings(max_examples=25)
def test_every_value_has_a_source_but_for_those_that_follow_from_others(argv: list[str]):
    for base in (GPT, MLA, YARN):
        resolution = resolve(STOCK, [*base.split(), *argv])
        used = {name for name in FIELDS if getattr(resolution.rope, name, None) is not None}

        assert used - DERIVED_FIELDS <= resolution.sources.keys()
        assert not DERIVED_FIELDS & resolution.sources.keys()


def test_the_same_argv_resolves_to_the_same():
    assert built(MLA) == built(MLA)


def test_of_what_is_refused_nothing_is_built() -> None:
    with pytest.raises(ValueError, match=r"^nothing is built$"):
        _ = resolve(STOCK, ["--no-such-flag"]).built
