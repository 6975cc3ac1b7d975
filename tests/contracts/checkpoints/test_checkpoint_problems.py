"""What is said of a document that cannot be read without guessing: rule, field and remedy."""

from __future__ import annotations

from typing import Any

import pytest
from published_configs import DEEPSEEK, Config

from pytest_ropecontract.contracts.checkpoints.published import Problem
from pytest_ropecontract.contracts.checkpoints.reader import read

PLAIN = {"rope_theta": 10000}
TRAINED = "keep the one that the checkpoint was trained with"
DEFAULT_BLOCK = {"rope_type": "default"}
BY_TYPE = {"full_attention": PLAIN, "sliding_attention": {"rope_theta": 5}}

NOTES: list[tuple[Any, Problem]] = [
    ("text", Problem("checkpoint", "ropecontract is 'text', not an object")),
    (
        {"note": "for tests", "revision": 5},
        Problem("checkpoint", "ropecontract.revision is 5, not a text"),
    ),
    (
        {"repo": "org/name"},
        Problem(
            "unknown-checkpoint-key",
            "ropecontract.repo is no key of this object; did you mean repo_id?",
            remedy="one of repo_id, revision, part, note",
        ),
    ),
    (
        {"url": None},
        Problem(
            "unknown-checkpoint-key",
            "ropecontract.url is no key of this object",
            remedy="one of repo_id, revision, part, note",
        ),
    ),
]


@pytest.mark.parametrize(("note", "problem"), NOTES)
def test_of_what_a_file_says_about_itself(note: Any, problem: Problem) -> None:
    assert read({**PLAIN, "ropecontract": note}).problems == (problem,)


LAYERS: list[tuple[Config, Problem]] = [
    (
        {**PLAIN, "layer_types": ["full_attention", 1]},
        Problem("checkpoint", "layer_types is ['full_attention', 1], not a list of texts"),
    ),
    (
        {"rope_parameters": {"ful_attention": PLAIN, "sliding_attention": PLAIN}},
        Problem(
            "unknown-checkpoint-key",
            "rope_parameters.ful_attention names no layer type; did you mean full_attention?",
            remedy="name a layer type of layer_types",
        ),
    ),
    (
        {"rope_parameters": {"x": None, "sliding_attention": PLAIN}},
        Problem(
            "unknown-checkpoint-key",
            "rope_parameters.x names no layer type",
            remedy="name a layer type of layer_types",
        ),
    ),
    (
        {"rope_parameters": {"full_attention": PLAIN, "factor": 2}},
        Problem(
            "checkpoint",
            "rope_parameters.factor stands beside parameters by layer type; transformers does "
            "not read it",
            remedy="move it into each of them",
        ),
    ),
    (
        {"rope_parameters": {"full_attention": PLAIN, "sliding_attention": None}},
        Problem(
            "checkpoint",
            "rope_parameters.sliding_attention is null, and no layer_types say which layers are "
            "not rotated",
            "no_rope_layers",
        ),
    ),
    (
        {**PLAIN, "no_rope_layers": [1, 2]},
        Problem("checkpoint", "no_rope_layers has numbers other than 0 and 1", "no_rope_layers"),
    ),
    (
        {**PLAIN, "no_rope_layers": [1, 0], "num_hidden_layers": 3},
        Problem("checkpoint", "no_rope_layers has 2 numbers for 3 layers", "no_rope_layers"),
    ),
    (
        {**PLAIN, "no_rope_layer_interval": 4},
        Problem(
            "checkpoint",
            "no_rope_layer_interval is 4, and num_hidden_layers is not stated",
            "no_rope_layers",
        ),
    ),
    (
        {**PLAIN, "no_rope_layer_interval": 4, "num_hidden_layers": 100_001},
        Problem(
            "checkpoint",
            "num_hidden_layers is 100001, more than any model has",
            "no_rope_layers",
        ),
    ),
    (
        {**PLAIN, "model_type": "llama4_text", "no_rope_layers": []},
        Problem(
            "checkpoint",
            "no_rope_layers is empty, which llama4_text replaces by a rule of its class",
            "no_rope_layers",
            "state no_rope_layer_interval, or one number for every layer",
        ),
    ),
]


@pytest.mark.parametrize(("config", "problem"), LAYERS)
def test_of_layers(config: Config, problem: Problem) -> None:
    assert read(config).problems == (problem,)


WIDTHS: list[tuple[Config, Problem]] = [
    (
        {"head_dim": 128, "rotary_dim": 64, "partial_rotary_factor": 0.25},
        Problem(
            "checkpoint",
            "rotary_dim is 64, but partial_rotary_factor 0.25 of head_dim 128 is 32",
            "rotary_dim",
            "correct the one that is wrong",
        ),
    ),
    (
        {"head_dim": 128, "rotary_dim": 64, "rope_scaling": {"partial_rotary_factor": 0.25}},
        Problem(
            "checkpoint",
            "rotary_dim is 64, but rope_scaling.partial_rotary_factor 0.25 of head_dim 128 is 32",
            "rotary_dim",
            "correct the one that is wrong",
        ),
    ),
    (
        {"head_dim": 128, "rotary_pct": 0.5, "rope_scaling": {"partial_rotary_factor": 0.25}},
        Problem(
            "checkpoint",
            "rotary_pct is 0.5 and rope_scaling.partial_rotary_factor is 0.25; transformers "
            "reads the latter",
            "rotary_dim",
            TRAINED,
        ),
    ),
    (
        {"qk_rope_head_dim": 64, "head_dim": 256, "partial_rotary_factor": 0.5},
        Problem(
            "checkpoint",
            "qk_rope_head_dim is 64 and partial_rotary_factor is 0.5, which may mean that 64 or "
            "that 32 elements are rotated",
            "rotary_dim",
            "remove the fraction, or state the head_dim that it is of",
        ),
    ),
    (
        {"head_dim": 4, "partial_rotary_factor": 0.1},
        Problem(
            "checkpoint",
            "the rotated width is 0 (head_dim * partial_rotary_factor), and elements are rotated "
            "in pairs",
            "rotary_dim",
        ),
    ),
    (
        {"head_dim": 128, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 16]}},
        Problem(
            "checkpoint",
            "rope_scaling.mrope_section sums up to 56 frequencies, and the rotated width of 128 "
            "(head_dim) has 64",
            "mrope_section",
        ),
    ),
]


@pytest.mark.parametrize(("config", "problem"), WIDTHS)
def test_of_widths(config: Config, problem: Problem) -> None:
    assert read({**PLAIN, **config}).problems == (problem,)


TWICE: list[tuple[Config, Problem]] = [
    (
        {**DEEPSEEK, "rope_parameters": {**PLAIN, **DEFAULT_BLOCK}},
        Problem(
            "checkpoint",
            "rope_scaling and rope_parameters state different things; transformers reads "
            "rope_scaling alone",
            "kind",
            TRAINED,
        ),
    ),
    (
        {**PLAIN, "text_config": {"rope_theta": 500000}},
        Problem(
            "checkpoint",
            "rope_theta is 10000 and text_config.rope_theta is 500000; transformers reads "
            "text_config",
            "rotary_base",
            TRAINED,
        ),
    ),
    (
        {"thinker_config": {"rope_theta": 7, "text_config": PLAIN}},
        Problem(
            "checkpoint",
            "thinker_config.rope_theta is 7 and thinker_config.text_config.rope_theta is 10000; "
            "transformers reads thinker_config.text_config",
            "rotary_base",
            TRAINED,
        ),
    ),
    (
        {"rope_scaling": {"type": "linear", "factor": 2}, "text_config": DEEPSEEK},
        Problem(
            "checkpoint",
            "rope_scaling.type is rope and text_config.rope_scaling.type is yarn; transformers "
            "reads text_config",
            "kind",
            TRAINED,
        ),
    ),
    (
        {
            "rope_scaling": {"type": "yarn", "factor": 40},
            "text_config": {"head_dim": 64, "rope_scaling": {"type": "yarn", "factor": 32}},
        },
        Problem(
            "checkpoint",
            "rope_scaling.factor is 40 and text_config.rope_scaling.factor is 32; transformers "
            "reads text_config",
            "rotary_scaling_factor",
            TRAINED,
        ),
    ),
    (
        {"rope_scaling": 5, **PLAIN},
        Problem("checkpoint", "rope_scaling is 5, not an object", "kind"),
    ),
    (
        {"text_config": {"rope_parameters": [], **PLAIN}},
        Problem("checkpoint", "text_config.rope_parameters is [], not an object", "kind"),
    ),
    (
        {"text_config": {"llm_config": "x", **PLAIN}},
        Problem("checkpoint", "text_config.llm_config is 'x', not an object"),
    ),
    (
        {},
        Problem(
            "checkpoint",
            "nothing is stated about RoPE: there is none of rope_parameters, rope_scaling, "
            "rope_theta",
            remedy="copy the checkpoint's config.json, or its RoPE part, here",
        ),
    ),
]


@pytest.mark.parametrize(("config", "problem"), TWICE)
def test_of_objects(config: Config, problem: Problem) -> None:
    assert read(config).problems == (problem,)


def test_one_that_two_embeddings_have_is_told_once() -> None:
    assert len(read({"head_dim": 64.5, "rope_parameters": BY_TYPE}).problems) == 1


@pytest.mark.parametrize(
    ("config", "paths"),
    [
        (
            {
                "model_type": 1,
                "layer_types": 1,
                "head_dim": "x",
                "partial_rotary_factor": "x",
                "rope_interleave": 1,
                "no_rope_layers": 1,
                "no_rope_layer_interval": "x",
                "num_hidden_layers": "x",
                "rope_scaling": {"partial_rotary_factor": "x"},
                **PLAIN,
            },
            [
                *("model_type", "layer_types", "rope_scaling.partial_rotary_factor"),
                *("partial_rotary_factor", "head_dim", "rope_interleave", "no_rope_layers"),
                *("no_rope_layer_interval", "num_hidden_layers"),
            ],
        ),
        (
            {"qk_rope_head_dim": "x", "rotary_dim": "x", "head_dim": 64, **PLAIN},
            ["qk_rope_head_dim", "rotary_dim"],
        ),
        ({"qk_rope_head_dim": 64, "head_dim": "x", "rotary_pct": 1.0, **PLAIN}, []),
        (
            {"qk_rope_head_dim": 64, "head_dim": "x", "rotary_pct": 0.5, **PLAIN},
            ["head_dim", "qk_rope_head_dim"],
        ),
        (
            {
                "model_type": "llama",
                "hidden_size": "x",
                "num_attention_heads": "x",
                "rotary_emb_base": "x",
            },
            ["rotary_emb_base", "hidden_size", "num_attention_heads"],
        ),
        (
            {
                "rope_parameters": {"full_attention": PLAIN, "sliding_attention": PLAIN},
                "global_head_dim": "x",
                "head_dim": 64,
            },
            ["global_head_dim"],
        ),
        (
            {"compress_rope_theta": "x", "compress_ratios": "x", "num_hidden_layers": "x"},
            ["compress_ratios", "num_hidden_layers", "compress_rope_theta"],
        ),
        ({"rope_local_base_freq": "x", **PLAIN}, ["rope_local_base_freq"]),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_where_a_value_is_that_cannot_be_read(
    config: Config, paths: list[str], *, nested: bool
) -> None:
    found = read({"text_config": config} if nested else config).problems

    prefix = "text_config." if nested else ""
    assert {one.message.split(" is ")[0] for one in found} == {f"{prefix}{path}" for path in paths}
