"""From a document to what it publishes."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_configs import DEEPSEEK, K27, PUBLISHED, Config, heads, latent, llama3, nested

from pytest_ropecontract.contracts.checkpoints.published import PublishedRope
from pytest_ropecontract.contracts.checkpoints.reader import read

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.checkpoints.published import Checkpoint

PLAIN = {"rope_theta": 10000}


def only(config: Config) -> dict[str, Any]:
    """Return the values of a document that has one embedding and no problems."""
    checkpoint = read(config)
    assert checkpoint.problems == ()
    (rope,) = checkpoint.ropes
    return dict(rope.values)


def problems(config: Config) -> list[str]:
    return [one.message for one in read(config).problems]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_config(name: str) -> None:
    published = PUBLISHED[name]

    checkpoint = read(published.config)

    assert [one.message for one in checkpoint.problems] == list(published.problems)
    expected = (published.values, *published.others)
    assert len(checkpoint.ropes) == len(expected)
    for rope, values in zip(checkpoint.ropes, expected, strict=True):
        assert {key: rope.values.get(key) for key in values} == values
        assert not set(published.absent) & set(rope.values)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_value_says_where_it_comes_from(name: str) -> None:
    config = PUBLISHED[name].config
    for rope in read(config).ropes:
        assert set(rope.values) <= set(rope.sources)
        for source in rope.sources.values():
            if " " not in source:
                assert _at(config, source) is not None


def _at(config: Any, path: str) -> Any:
    for key in path.split("."):
        config = config[key]
    return config


@pytest.mark.parametrize("config", [{}, PLAIN])
def test_name(config: Config) -> None:
    assert read(config).name == "config.json"
    assert read(config, "m.json").name == "m.json"


def test_model_that_rotates_nothing() -> None:
    checkpoint = read({"model_type": "mamba2", **PLAIN})

    assert checkpoint.problems == ()
    assert checkpoint.ropes == (PublishedRope("none", "none", {"kind": "none"}),)
    assert checkpoint.ropes[0].sources == {
        "kind": "mamba2 rotates nothing, whatever its config states"
    }


def test_model_that_rotates_nothing_need_not_state_anything() -> None:
    assert only({"model_type": "jamba"}) == {"kind": "none"}


# Nesting


@pytest.mark.parametrize(("depth", "count"), [(0, 1), (3, 1), (4, 0)])
def test_how_deep_an_object_is_looked_for(depth: int, count: int) -> None:
    config: Config = PLAIN
    for _ in range(depth):
        config = {"llm_config": config}

    assert len(read(config).ropes) == count


def test_nested_object_that_is_null_is_none() -> None:
    assert only({"text_config": None, "ropecontract": None, **PLAIN})["rotary_base"] == 10000


def layers(config: Config) -> list[tuple[str | None, int | None]]:
    return [(one.layers, one.layer_count) for one in read(config).ropes]


LOCAL = [("full_attention", None), ("sliding_attention", None)]


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("gemma3", {}, LOCAL),
        ("gemma3", {"model_type": None}, LOCAL),
        ("gemma3", {"model_type": "qwen3"}, [(None, None)]),
        ("qwen3", {}, [(None, None)]),
        (None, {}, [(None, None)]),
    ],
)
def test_a_nested_config_without_a_type_is_of_the_outer_ones_family(
    outer: str | None, inner: Config, expected: list[tuple[str | None, int | None]]
) -> None:
    assert layers({"model_type": outer, "text_config": {**PLAIN, **inner}}) == expected


def test_a_config_without_a_type_is_of_no_family() -> None:
    assert layers(PLAIN) == [(None, None)]


BARE_YARN = {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}


@pytest.mark.parametrize(
    ("outer", "inner"),
    [({}, {"beta_fast": 1.0}), ({"beta_slow": 2.0}, {})],
)
def test_a_default_contradicts_nothing(outer: Config, inner: Config) -> None:
    blocks = [{**PLAIN, "rope_scaling": {**BARE_YARN, **one}} for one in (outer, inner)]

    assert problems({**blocks[0], "text_config": blocks[1]}) == []


def test_a_value_that_only_one_object_states_contradicts_nothing() -> None:
    assert problems({"rope_scaling": BARE_YARN, "text_config": DEEPSEEK}) == []
    assert problems({**DEEPSEEK, "text_config": {"rope_scaling": BARE_YARN}}) == []


def test_one_for_all_is_not_held_against_parameters_by_layer_type() -> None:
    by_type = {"full_attention": PLAIN, "sliding_attention": {"rope_theta": 5}}

    assert problems({"rope_parameters": by_type, "text_config": {"rope_theta": 7}}) == []


# Spelling


def _spelled(draw: st.DrawFn, config: Config) -> Config:
    """Spell a config in another of the ways that mean the same."""
    config = copy.deepcopy(config)
    text = config.get("text_config")
    holder = text if text is not None else config
    block = holder.pop("rope_scaling", None) or holder.pop("rope_parameters", None) or {}
    holder.pop("rope_parameters", None)
    by_layer = any(isinstance(value, dict) for value in block.values())
    compressed = "compress_rope_theta" in holder or "rope_local_base_freq" in holder
    gemma3 = holder.get("model_type") == "gemma3_text"
    name = block.pop("rope_type", None) or block.get("type")
    block.pop("type", None)
    if name not in (None, "default") or block:
        if not by_layer:
            for key in draw(st.sampled_from([("type",), ("rope_type",), ("type", "rope_type")])):
                block[key] = name
        key = draw(st.sampled_from(["rope_scaling", "rope_parameters"]))
        inside = draw(st.booleans()) and not by_layer and not compressed and not gemma3
        if inside and "rope_theta" in holder:
            block["rope_theta"] = holder.pop("rope_theta")
        if inside and "partial_rotary_factor" in holder and "qk_rope_head_dim" not in holder:
            block["partial_rotary_factor"] = holder.pop("partial_rotary_factor")
        holder[key] = block
    else:
        empty = st.sampled_from([None, {}, {"rope_type": "default"}, {"type": "default"}])
        for key in draw(st.sets(st.sampled_from(["rope_scaling", "rope_parameters"]))):
            holder[key] = copy.copy(draw(empty))
    if text is None and draw(st.booleans()):
        nesting = draw(st.sampled_from(["text_config", "llm_config", "language_config"]))
        config = {"model_type": "outer", nesting: config}
    return _shuffled(draw, config)


def _shuffled(draw: st.DrawFn, value: Any) -> Any:
    """Change the order of keys, and whole numbers to floats and back."""
    if isinstance(value, dict):
        keys = draw(st.permutations(sorted(value)))
        return {key: _shuffled(draw, value[key]) for key in keys}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, int):
        return float(value) if draw(st.booleans()) else value
    return int(value) if value.is_integer() and draw(st.booleans()) else value


FACTORS = st.sampled_from([1, 2.0, 32, 40.0, 0.707])
LENGTHS = st.sampled_from([2048, 4096, 8192])
DRAWN = st.fixed_dictionaries(
    {
        "rope_theta": st.sampled_from([10000, 50000.0, 1e6]),
        "rope_scaling": st.one_of(
            st.fixed_dictionaries({"type": st.just("linear"), "factor": FACTORS}),
            st.fixed_dictionaries(
                {"type": st.just("yarn"), "factor": FACTORS},
                optional={
                    "original_max_position_embeddings": LENGTHS,
                    "beta_fast": st.sampled_from([None, 0, 1, 32.0]),
                    "beta_slow": FACTORS,
                    "mscale": FACTORS,
                    "mscale_all_dim": FACTORS,
                    "attention_factor": st.sampled_from([None, 1.25]),
                    "truncate": st.booleans(),
                    "attn_factor": FACTORS,
                },
            ),
            st.fixed_dictionaries(
                {
                    "type": st.just("llama3"),
                    "factor": FACTORS,
                    "low_freq_factor": FACTORS,
                    "high_freq_factor": FACTORS,
                    "original_max_position_embeddings": LENGTHS,
                }
            ),
            st.fixed_dictionaries({"type": st.just("dynamic"), "factor": FACTORS}),
        ),
    },
    optional={
        "head_dim": st.sampled_from([64, 128]),
        "partial_rotary_factor": st.sampled_from([0.25, 0.5, 1, 1.0]),
        "max_position_embeddings": LENGTHS,
        "rope_interleave": st.booleans(),
        "no_rope_layers": st.lists(st.sampled_from([0, 1])),
    },
)


@settings(deadline=None)
@given(st.data())
def test_spelling_does_not_matter(data: st.DataObject) -> None:
    published = st.sampled_from([one.config for one in PUBLISHED.values()])
    config = data.draw(published | DRAWN)

    spelled = data.draw(st.composite(_spelled)(config))

    assert _meaning(read(spelled)) == _meaning(read(config)), json.dumps(spelled)


def _meaning(checkpoint: Checkpoint) -> Any:
    return (
        [(one.kind, one.rope_type, one.layers, one.values) for one in checkpoint.ropes],
        [one.rule for one in checkpoint.problems],
    )


@pytest.mark.parametrize(
    "block", [None, {}, {"rope_type": "default"}, {"type": "default"}, {"rope_theta": 10000}]
)
@pytest.mark.parametrize("key", ["rope_scaling", "rope_parameters"])
def test_all_forms_of_no_scaling(key: str, block: Any) -> None:
    values = only({"rope_theta": 10000, key: block})

    assert values == {"kind": "rope", "rotary_base": 10000, "magnitude": 1.0}


# Precedence


def test_base_inside_the_block_comes_first() -> None:
    config = {"rope_theta": 10000, "rope_parameters": {"rope_theta": 500000}}

    (rope,) = read(config).ropes

    assert rope.values["rotary_base"] == 500000
    assert problems(config) == [
        (
            "rope_theta is 10000 and rope_parameters.rope_theta is 500000; "
            "transformers reads the latter"
        )
    ]


def test_stale_base_at_the_top_level() -> None:
    text = {"rope_parameters": {"rope_theta": 500000, "rope_type": "default"}}

    assert only({"text_config": text})["rotary_base"] == 500000
    assert problems({"rope_theta": 10000, "text_config": text}) == [
        (
            "rope_theta is 10000 and text_config.rope_parameters.rope_theta is 500000; "
            "transformers reads text_config"
        )
    ]


def test_parameters_by_layer_type_are_not_held_against_one_for_all() -> None:
    """Which of them the other one would be is not said."""
    by_type = {
        "full_attention": {"rope_theta": 1000000, "rope_type": "default"},
        "sliding_attention": {"rope_theta": 10000, "rope_type": "default"},
    }
    text = {"rope_parameters": by_type, "layer_types": [*by_type]}

    found = read({"rope_theta": 500000, "text_config": text})

    assert [rope.values["rotary_base"] for rope in found.ropes] == [1000000, 10000]
    assert found.problems == ()


def test_rope_scaling_comes_before_rope_parameters() -> None:
    config = latent(
        "deepseek_v3",
        163840,
        **DEEPSEEK,
        rope_parameters={"rope_theta": 10000, "rope_type": "default"},
    )

    (rope,) = read(config).ropes

    assert rope.kind == "yarn"
    assert problems(config) == [
        (
            "rope_scaling and rope_parameters state different things; "
            "transformers reads rope_scaling alone"
        )
    ]


def test_the_same_block_under_both_names() -> None:
    block = {**K27, "type": "yarn"}

    assert only({"rope_scaling": block, "rope_parameters": {**block, "rope_type": "yarn"}})


@pytest.mark.parametrize("beside", [{}, {"rope_theta": 50000.0}])
def test_a_base_beside_two_blocks_is_that_of_both(beside: Config) -> None:
    block = {key: value for key, value in K27.items() if key != "rope_theta" or not beside}

    assert problems({**beside, "rope_scaling": block, "rope_parameters": K27}) == []


def test_a_base_beside_two_blocks_is_not_that_of_one_with_its_own() -> None:
    other = {**BARE_YARN, "rope_theta": 5}

    assert problems({**PLAIN, "rope_scaling": BARE_YARN, "rope_parameters": other}) == [
        (
            "rope_scaling and rope_parameters state different things; transformers reads "
            "rope_scaling alone"
        )
    ]


@pytest.mark.parametrize("key", ["rope_scaling", "rope_parameters"])
def test_parameters_that_are_no_object_leave_the_kind_open(key: str) -> None:
    (rope,) = read({**PLAIN, "head_dim": 64, key: []}).ropes

    assert rope.kind is None
    assert rope.values == {"rotary_base": 10000, "rotary_dim": 64}


def test_parameters_that_are_no_object_beside_others_that_are() -> None:
    (rope,) = read({**PLAIN, "rope_scaling": 5, "rope_parameters": BARE_YARN}).ropes

    assert rope.kind == rope.values["kind"] == "yarn"


@pytest.mark.parametrize(
    ("config", "base", "source"),
    [
        ({"rotary_emb_base": 5}, 5, "rotary_emb_base"),
        ({"rotary_emb_base": 5, "rope_theta": 7}, 7, "rope_theta"),
        (
            {"rotary_emb_base": 5, "rope_parameters": {"rope_theta": 5}},
            5,
            "rope_parameters.rope_theta",
        ),
    ],
)
def test_the_other_name_of_the_base(config: Config, base: int, source: str) -> None:
    (rope,) = read(config).ropes

    assert rope.values["rotary_base"] == base
    assert rope.sources["rotary_base"] == source


def test_two_types() -> None:
    config = {
        "rope_theta": 10000,
        "rope_scaling": {**DEEPSEEK["rope_scaling"], "rope_type": "linear"},
    }

    assert problems(config)[0] == (
        "rope_scaling.rope_type is 'linear' and rope_scaling.type is 'yarn'; "
        "transformers reads rope_type"
    )


def test_mrope_saved_under_both_names() -> None:
    block = {"type": "mrope", "rope_type": "default", "mrope_section": [16, 24, 24]}

    assert only({"rope_theta": 1000000.0, "rope_scaling": block})["kind"] == "mrope"


def test_original_length_beside_the_block() -> None:
    block = {"type": "yarn", "factor": 4.0}

    beside = only(
        {"rope_theta": 10000, "rope_scaling": block, "original_max_position_embeddings": 4096}
    )
    longest = only({"rope_theta": 10000, "rope_scaling": block, "max_position_embeddings": 8192})

    assert beside["original_max_position_embeddings"] == 4096
    assert longest["original_max_position_embeddings"] == 8192


def test_class_defaults_are_not_published() -> None:
    values = only({"model_type": "llama", "rope_scaling": llama3(8.0)})

    assert "rotary_base" not in values
    assert "rotary_dim" not in values


# Defaults of the types


def yarn(**more: Any) -> Config:
    block = {"rope_type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, **more}
    return {"rope_theta": 10000, "qk_rope_head_dim": 64, "rope_scaling": block}


def test_yarn_defaults() -> None:
    values = only(yarn())

    assert (values["beta_fast"], values["beta_slow"]) == (32, 1)
    assert values["round_to_int"] is True
    assert values["magnitude"] == pytest.approx(1.368888, abs=1e-6)
    assert values["mscale_all_dim"] == 0


@pytest.mark.parametrize(
    ("more", "magnitude"),
    [
        ({"mscale": 1.0, "mscale_all_dim": 1.0}, 1.0),
        ({"mscale": 0.707, "mscale_all_dim": 0.707}, 1.0),
        ({"mscale": 1.0, "mscale_all_dim": 0.0}, 1.368888),
        ({"mscale": 0.707, "mscale_all_dim": 0.0}, 1.368888),
        ({"mscale": 0.0, "mscale_all_dim": 0.707}, 1.368888),
        ({"attention_factor": 1.25, "mscale": 1.0, "mscale_all_dim": 1.0}, 1.25),
    ],
)
def test_yarn_magnitude(more: Config, magnitude: float) -> None:
    assert only(yarn(**more))["magnitude"] == pytest.approx(magnitude, abs=1e-6)


def test_zero_betas_are_the_defaults() -> None:
    values = only(yarn(beta_fast=0, beta_slow=None))

    assert (values["beta_fast"], values["beta_slow"]) == (32, 1)


def test_magnitude_that_is_no_number_is_a_problem() -> None:
    assert problems(yarn(factor=1e10, mscale=1e308, mscale_all_dim=1)) == [
        "rope_scaling: the mscale is not finite: inf"
    ]


def test_magnitude_of_an_mscale_that_cannot_be_read_is_left_open() -> None:
    checkpoint = read(yarn(mscale="1"))

    assert "magnitude" not in checkpoint.ropes[0].values
    assert [one.message for one in checkpoint.problems] == [
        "rope_scaling.mscale is '1', not a number"
    ]


def test_original_length_that_is_stated_twice() -> None:
    (problem,) = problems({**yarn(), "original_max_position_embeddings": 8192})

    assert problem == (
        "original_max_position_embeddings is 8192 and "
        "rope_scaling.original_max_position_embeddings is 4096; transformers reads the former"
    )


def test_unknown_key_whose_effect_cannot_be_computed() -> None:
    messages = problems(yarn(factor=10**400, attn_factor=0.5))

    assert [one for one in messages if "attn_factor" in one] == [
        (
            "rope_scaling.attn_factor is 0.5, a key that transformers does not read; "
            "did you mean attention_factor?"
        )
    ]


def test_object_that_is_nested_too_deeply_is_not_looked_into() -> None:
    config: Config = yarn()
    for _ in range(5):
        config = {"text_config": config}

    assert read(config).ropes == ()


def test_null_parameters_of_layers_that_nothing_names() -> None:
    blocks = {"full_attention": {"rope_theta": 10000}, "sliding_attention": None}

    assert problems({"head_dim": 64, "rope_parameters": blocks}) == [
        (
            "rope_parameters.sliding_attention is null, and no layer_types say which layers are "
            "not rotated"
        )
    ]


def test_null_parameters_of_layers_that_there_are_none_of() -> None:
    blocks = {"full_attention": {"rope_theta": 10000}, "sliding_attention": None}
    config = {"head_dim": 64, "rope_parameters": blocks, "layer_types": ["full_attention"]}

    assert "no_rope_layers" not in only(config)


def test_width_of_layers_that_see_everything() -> None:
    config = {
        "model_type": "gemma4_text",
        "head_dim": 256,
        "global_head_dim": 512,
        "rope_parameters": {
            "full_attention": {"rope_theta": 1e6},
            "sliding_attention": {"rope_theta": 1e4},
        },
    }

    widths = {one.layers: one.values["rotary_dim"] for one in read(config).ropes}

    assert widths == {"full_attention": 512, "sliding_attention": 256}


def test_only_layers_that_see_everything_have_the_other_width() -> None:
    assert only({**PLAIN, "head_dim": 256, "global_head_dim": 512})["rotary_dim"] == 256


def test_compressed_layers_that_there_are_none_of() -> None:
    config = {
        "model_type": "deepseek_v4",
        "rope_theta": 10000,
        "compress_rope_theta": 160000,
        "qk_rope_head_dim": 64,
        "num_hidden_layers": 2,
        "compress_ratios": [0, 0],
    }

    (rope,) = read(config).ropes

    assert rope.values["rotary_base"] == 10000


def test_null_factor_is_the_ratio_of_the_lengths() -> None:
    config = {**yarn(factor=None), "max_position_embeddings": 163840}

    assert only(config)["rotary_scaling_factor"] == 40


def test_factor_that_is_not_the_ratio_of_the_lengths() -> None:
    assert problems({**yarn(), "max_position_embeddings": 131072}) == [
        (
            "rope_scaling.factor is 40, but max_position_embeddings is 32 times the original "
            "length: 131072 / 4096; transformers uses the factor"
        )
    ]


def test_missing_factor() -> None:
    block = {"type": "yarn", "original_max_position_embeddings": 4096}

    assert problems({"rope_theta": 10000, "rope_scaling": block}) == [
        "rope_scaling.factor is missing, without which transformers refuses yarn"
    ]


# Types that Megatron does not have


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("dynamic", {"factor": 2.0}),
        ("longrope", {"short_factor": [1.0], "long_factor": [2.0]}),
        ("su", {"short_factor": [1.0], "long_factor": [2.0]}),
        ("proportional", {"partial_rotary_factor": 0.25}),
        ("axial", {}),
    ],
)
def test_types_that_megatron_does_not_have(name: str, more: Config) -> None:
    (rope,) = read({"rope_theta": 10000, "rope_scaling": {"type": name, **more}}).ropes

    assert rope.kind is None
    assert rope.rope_type == ("longrope" if name == "su" else name)
    assert str(rope.refusal).startswith("no class of Megatron")


def test_phi3_calls_longrope_yarn() -> None:
    block = {"type": "yarn", "short_factor": [1.0], "long_factor": [2.0]}

    (rope,) = read({"model_type": "phi3", "rope_theta": 10000, "rope_scaling": block}).ropes

    assert rope.rope_type == "longrope"


@pytest.mark.parametrize(
    ("model_type", "rope_type"),
    [("phi3", "longrope"), ("phi4_multimodal", "longrope"), ("phi", "yarn"), (None, "yarn")],
)
def test_models_that_call_longrope_yarn(model_type: str | None, rope_type: str) -> None:
    block = {"type": "yarn", "factor": 2.0}

    (rope,) = read({"model_type": model_type, **PLAIN, "rope_scaling": block}).ropes

    assert rope.rope_type == rope_type


def test_unknown_type() -> None:
    assert problems({"rope_theta": 10000, "rope_scaling": {"type": "yarm", "factor": 2}}) == [
        "rope_scaling.rope_type is 'yarm', which transformers does not know; did you mean yarn?"
    ]


def test_sections_with_scaling() -> None:
    block = {**DEEPSEEK["rope_scaling"], "mrope_section": [16, 24, 24]}

    (rope,) = read({"rope_theta": 10000, "rope_scaling": block}).ropes

    assert rope.kind is None
    assert rope.refusal == "no class of Megatron divides scaled frequencies among axes"


# Unknown keys


def test_unknown_key_with_the_nearest() -> None:
    (problem,) = read(yarn(factor=4.0, attn_factor=0.8782488562869419)).problems

    assert problem.rule == "unknown-checkpoint-key"
    assert problem.message == (
        "rope_scaling.attn_factor is 0.8782488562869419, a key that transformers does not read; "
        "did you mean attention_factor? (cosine and sine are multiplied with 1.13863 without it, "
        "with 0.878249 as attention_factor, and with 1 where it comes on top)"
    )


def test_key_of_another_type() -> None:
    (problem,) = read(
        {"rope_theta": 10000, "rope_scaling": {"type": "linear", "factor": 2, "beta_fast": 32}}
    ).problems

    assert problem.message == (
        "rope_scaling.beta_fast is 32, which linear does not read; a key of yarn"
    )


def test_scaling_without_a_type() -> None:
    (problem,) = read({"rope_theta": 10000, "rope_scaling": {"factor": 4.0}}).problems

    assert problem.rule == "unknown-checkpoint-key"
    assert problem.message.startswith(
        "rope_scaling.factor is 4.0, but no rope_type is stated, so it is not read; a key of linear"
    )


def test_key_that_states_nothing() -> None:
    assert only(yarn(attn_factor=None))


def test_layer_type_that_there_is_not() -> None:
    (problem,) = read(
        {"rope_parameters": {"full_atention": {"rope_theta": 1}, "sliding_attention": PLAIN}}
    ).problems

    assert problem.message == (
        "rope_parameters.full_atention names no layer type; did you mean full_attention?"
    )


# Width


@pytest.mark.parametrize(
    ("config", "width"),
    [
        ({"head_dim": 128}, 128),
        ({"head_dim": 128, "partial_rotary_factor": 0.5}, 64),
        ({"head_dim": 128, "rotary_dim": 64}, 64),
        ({"head_dim": 128, "rotary_dim": 64, "partial_rotary_factor": 0.5}, 64),
        ({"head_dim": 128, "rope_parameters": {"partial_rotary_factor": 0.25}}, 32),
        ({"head_dim": 192, "qk_rope_head_dim": 64}, 64),
        ({"head_dim": 512, "qk_rope_head_dim": 64, "partial_rotary_factor": 0.125}, 64),
        ({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}, 128),
        ({"model_type": "qwen3", "hidden_size": 2560, "num_attention_heads": 32}, None),
        ({"model_type": "glm4_moe", "head_dim": 128}, None),
        ({"model_type": "gpt_neox", "head_dim": 128, "rotary_pct": 0.25}, 32),
    ],
)
def test_width(config: Config, width: int | None) -> None:
    assert only({**PLAIN, **config}).get("rotary_dim") == width


@pytest.mark.parametrize(
    ("config", "width", "source"),
    [
        ({"head_dim": 128}, 128, "head_dim"),
        (
            {"head_dim": 128, "partial_rotary_factor": 0.5, "rotary_pct": 0.25},
            64,
            "head_dim * partial_rotary_factor",
        ),
        (
            {"head_dim": 128, "partial_rotary_factor": None, "rotary_pct": 0.25},
            32,
            "head_dim * rotary_pct",
        ),
        (
            {
                "head_dim": 128,
                "partial_rotary_factor": 0.25,
                "rope_scaling": {"partial_rotary_factor": 0.25},
            },
            32,
            "head_dim * rope_scaling.partial_rotary_factor",
        ),
        ({"rotary_dim": 64, "partial_rotary_factor": 0.5}, 64, "rotary_dim"),
        ({"rotary_dim": 64, "head_dim": 128}, 64, "rotary_dim"),
        ({"rotary_dim": 64, "head_dim": 128, "rotary_pct": 0.5}, 64, "rotary_dim"),
        ({"rotary_dim": 32, "qk_rope_head_dim": 64}, 64, "qk_rope_head_dim"),
        ({"qk_rope_head_dim": 64, "rotary_pct": 1}, 64, "qk_rope_head_dim"),
        (
            {"qk_rope_head_dim": 64, "head_dim": 512, "rotary_pct": 0.125},
            64,
            "qk_rope_head_dim",
        ),
        (
            {"model_type": "llama", "hidden_size": 100, "num_attention_heads": 8},
            12,
            "hidden_size / num_attention_heads",
        ),
        ({"head_dim": 2}, 2, "head_dim"),
    ],
)
def test_where_the_width_comes_from(config: Config, width: int, source: str) -> None:
    for checkpoint in (read({**PLAIN, **config}), read({"llm_config": {**PLAIN, **config}})):
        (rope,) = checkpoint.ropes

        assert rope.values["rotary_dim"] == width
        assert rope.sources["rotary_dim"].replace("llm_config.", "") == source
    assert rope.sources["rotary_dim"].count("llm_config.") == len(source.split(" * "))


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "llama", "hidden_size": 4096},
        {"model_type": "llama", "num_attention_heads": 32},
        {
            "model_type": "llama",
            "head_dim": "x",
            "hidden_size": 4096,
            "num_attention_heads": 32,
        },
        {"head_dim": 128, "rotary_dim": 64, "partial_rotary_factor": 0.25},
        {"head_dim": 128, "rope_scaling": {"type": "proportional"}},
        {"head_dim": 7},
    ],
)
def test_width_that_is_left_open(config: Config) -> None:
    (rope,) = read({**PLAIN, **config}).ropes

    assert "rotary_dim" not in rope.values
    assert "rotary_dim" not in rope.sources


@pytest.mark.parametrize("interleaved", [False, True])
def test_pairing(*, interleaved: bool) -> None:
    (rope,) = read({**PLAIN, "rope_interleave": interleaved}).ropes

    assert rope.values["rotary_interleaved"] is interleaved
    assert rope.sources["rotary_interleaved"] == "rope_interleave"


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (
            {"head_dim": 128, "rotary_dim": 64, "partial_rotary_factor": 0.25},
            "rotary_dim is 64, but partial_rotary_factor 0.25 of head_dim 128 is 32",
        ),
        (
            {"qk_rope_head_dim": 64, "partial_rotary_factor": 0.5},
            (
                "qk_rope_head_dim is 64 and partial_rotary_factor is 0.5, which may mean that 64 "
                "or that 32 elements are rotated"
            ),
        ),
        (
            {"head_dim": 7},
            "the rotated width is 7 (head_dim), and elements are rotated in pairs",
        ),
        (
            {
                "head_dim": 128,
                "partial_rotary_factor": 0.5,
                "rope_scaling": {"partial_rotary_factor": 0.25},
            },
            (
                "partial_rotary_factor is 0.5 and rope_scaling.partial_rotary_factor is 0.25; "
                "transformers reads the latter"
            ),
        ),
    ],
)
def test_width_that_is_not_certain(config: Config, problem: str) -> None:
    assert problems({**PLAIN, **config}) == [problem]


def test_sections_that_do_not_fill_the_width() -> None:
    block = {"type": "mrope", "mrope_section": [16, 24, 16]}

    assert problems({**PLAIN, "head_dim": 128, "rope_scaling": block}) == [
        (
            "rope_scaling.mrope_section sums up to 56 frequencies, and the rotated width of 128 "
            "(head_dim) has 64"
        )
    ]


# Layers


def test_ones_are_layers_that_are_rotated() -> None:
    config = {**PLAIN, "no_rope_layers": [1, 1, 1, 0], "num_hidden_layers": 4}

    assert only(config)["no_rope_layers"] == (0, 0, 0, 1)


def test_interval_of_layers_that_are_not_rotated() -> None:
    config = {**PLAIN, "no_rope_layer_interval": 2, "num_hidden_layers": 4}

    assert only(config)["no_rope_layers"] == (0, 1, 0, 1)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (
            {"model_type": "llama4_text", "no_rope_layers": []},
            "no_rope_layers is empty, which llama4_text replaces by a rule of its class",
        ),
        (
            {"no_rope_layer_interval": 4},
            "no_rope_layer_interval is 4, and num_hidden_layers is not stated",
        ),
        (
            {"no_rope_layers": [1, 0], "num_hidden_layers": 3},
            "no_rope_layers has 2 numbers for 3 layers",
        ),
        ({"no_rope_layers": [1, 2]}, "no_rope_layers has numbers other than 0 and 1"),
        ({"no_rope_layers": "0"}, "no_rope_layers is '0', not a list of whole numbers"),
        (
            {"no_rope_layer_interval": 4, "num_hidden_layers": 10**9},
            "num_hidden_layers is 1000000000, more than any model has",
        ),
        (
            {"no_rope_layer_interval": 4, "num_hidden_layers": 10**300},
            "num_hidden_layers is a number of more than 40 digits, more than any model has",
        ),
    ],
)
def test_layers_that_are_not_certain(config: Config, problem: str) -> None:
    assert problems({**PLAIN, **config}) == [problem]


@pytest.mark.parametrize(
    ("config", "skipped", "source"),
    [
        ({"no_rope_layers": [1, 0]}, (0, 1), "no_rope_layers"),
        (
            {"no_rope_layers": [], "no_rope_layer_interval": 3, "num_hidden_layers": 4},
            (0, 0, 1, 0),
            "no_rope_layer_interval",
        ),
        (
            {
                "model_type": "llama4_text",
                "no_rope_layers": [],
                "no_rope_layer_interval": 1,
                "num_hidden_layers": 2,
            },
            (1, 1),
            "no_rope_layer_interval",
        ),
        (
            {"no_rope_layer_interval": 100_001, "num_hidden_layers": 100_000},
            (0,) * 100_000,
            "no_rope_layer_interval",
        ),
        (
            {
                "layer_types": ["mine", "full_attention"],
                "rope_parameters": {"mine": None, "full_attention": PLAIN},
            },
            (1, 0),
            "rope_parameters.mine",
        ),
    ],
)
def test_where_layers_that_are_not_rotated_come_from(
    config: Config, skipped: tuple[int, ...], source: str
) -> None:
    checkpoint = read({**PLAIN, **config})

    assert checkpoint.problems == ()
    (rope,) = checkpoint.ropes
    assert rope.values["no_rope_layers"] == skipped
    assert rope.sources["no_rope_layers"] == source


@pytest.mark.parametrize(
    "config",
    [
        {"no_rope_layers": [1, 2]},
        {"no_rope_layers": [1, 0], "num_hidden_layers": 3},
        {"no_rope_layers": "0", "no_rope_layer_interval": 2, "num_hidden_layers": 4},
        {"no_rope_layer_interval": 2},
        {"no_rope_layers": []},
        {"model_type": "llama4_text"},
        {"rope_parameters": {"full_attention": PLAIN, "sliding_attention": None}},
        {"rope_parameters": {"full_attention": PLAIN, "factor": None}},
    ],
)
def test_layers_that_are_left_open(config: Config) -> None:
    (rope,) = read({**PLAIN, **config}).ropes

    assert "no_rope_layers" not in rope.values


def test_empty_list_of_layers_is_no_problem_where_no_class_fills_it() -> None:
    assert only({**PLAIN, "no_rope_layers": []})


def test_nothing_of_a_key_that_is_null_is_said() -> None:
    blocks = {"full_attention": PLAIN, "factor": None}

    assert only({"rope_parameters": blocks})


def test_layer_types_without_parameters_are_not_rotated() -> None:
    config = {
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {"sliding_attention": PLAIN, "full_attention": None},
    }

    assert only(config)["no_rope_layers"] == (0, 1)


def test_equal_layer_types_are_one() -> None:
    block = {"rope_theta": 10000, "rope_type": "default"}
    config = {"rope_parameters": {"full_attention": block, "sliding_attention": dict(block)}}

    assert only(config)["rotary_base"] == 10000


def test_equal_layer_types_are_those_of_all_layers() -> None:
    types = ["full_attention", "sliding_attention"]
    config = {"layer_types": types, "rope_parameters": dict.fromkeys(types, PLAIN)}

    assert layers(config) == [(None, None)]


def test_how_many_layers_are_of_a_type() -> None:
    types = ["sliding_attention", "sliding_attention", "mine", "full_attention"]
    blocks = {"full_attention": PLAIN, "mine": PLAIN, "sliding_attention": {"rope_theta": 5}}

    assert layers({"layer_types": types, "rope_parameters": blocks}) == [
        ("full_attention", 1),
        ("mine", 1),
        ("sliding_attention", 2),
    ]
    assert layers({"rope_parameters": {"full_attention": PLAIN, "chunked_attention": {}}}) == [
        ("chunked_attention", None),
        ("full_attention", None),
    ]


def test_names_under_which_embeddings_are_kept_are_of_no_layer() -> None:
    blocks = {"main": PLAIN, "compress": {"rope_theta": 5}, "sliding_attention": {"rope_theta": 7}}

    found = read({"layer_types": ["full_attention"], "rope_parameters": blocks})

    assert found.problems == ()
    assert [(one.layers, one.sources["rotary_base"]) for one in found.ropes] == [
        ("compress", "rope_parameters.compress.rope_theta"),
        ("main", "rope_parameters.main.rope_theta"),
    ]


@pytest.mark.parametrize("config", [{"model_type": "gemma3n_text"}, {"rope_local_base_freq": 5}])
def test_layers_with_an_unscaled_embedding_of_their_own(config: Config) -> None:
    block = {"type": "linear", "factor": 8.0}

    found = read({**config, "rotary_emb_base": 7, "head_dim": 64, "rope_scaling": block})

    assert found.problems == ()
    whole, local = found.ropes
    assert (whole.layers, local.layers) == ("full_attention", "sliding_attention")
    assert (whole.rope_type, local.rope_type) == ("linear", "default")
    assert whole.sources["rotary_base"] == "rotary_emb_base"
    assert local.values.get("rotary_base") == config.get("rope_local_base_freq")
    assert local.values["rotary_dim"] == 64


def compressed(**more: Any) -> Config:
    block = {**BARE_YARN, "rope_theta": 7}
    return {"rope_theta": 5, "compress_rope_theta": 9, "rope_scaling": block, **more}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [("compress ratio 0", None), ("a compress ratio", None)]),
        ({"num_hidden_layers": 3}, [("compress ratio 0", None), ("a compress ratio", None)]),
        ({"compress_ratios": [0, 4, 4]}, [("compress ratio 0", 1), ("a compress ratio", 2)]),
        (
            {"compress_ratios": [0, 4, 4, 0, 0], "num_hidden_layers": 4},
            [("compress ratio 0", 2), ("a compress ratio", 2)],
        ),
        ({"compress_ratios": [0, 4], "num_hidden_layers": 1}, [(None, None)]),
        ({"compress_ratios": [4, 0], "num_hidden_layers": 1}, [(None, None)]),
        (
            {"compress_rope_theta": None, "model_type": "deepseek_v4"},
            [("compress ratio 0", None), ("a compress ratio", None)],
        ),
    ],
)
def test_layers_with_and_without_a_compressor(
    more: Config, expected: list[tuple[str | None, int | None]]
) -> None:
    assert layers(compressed(**more)) == expected


def test_embeddings_with_and_without_a_compressor() -> None:
    found = read(compressed(qk_rope_head_dim=64))

    assert found.problems == ()
    without, scaled = found.ropes
    assert (without.kind, without.values["rotary_base"]) == ("rope", 5)
    assert (scaled.kind, scaled.values["rotary_base"]) == ("yarn", 9)
    assert scaled.sources["rotary_base"] == "compress_rope_theta"
    assert without.values["rotary_dim"] == scaled.values["rotary_dim"] == 64


@pytest.mark.parametrize(
    ("block", "magnitude", "source"),
    [
        (BARE_YARN, 1.0, "DeepSeek-V4 multiplies cosine and sine with nothing"),
        ({**BARE_YARN, "attention_factor": 1.25}, 1.25, "rope_scaling.attention_factor"),
        ({"type": "linear", "factor": 2}, 1.0, "linear leaves cosine and sine alone"),
    ],
)
def test_magnitude_with_a_compressor(block: Config, magnitude: float, source: str) -> None:
    scaled = read(compressed(rope_scaling=block)).ropes[1]

    assert scaled.values["magnitude"] == magnitude
    assert scaled.sources["magnitude"] == source


def test_magnitude_without_a_compressor() -> None:
    assert read(compressed()).ropes[0].sources["magnitude"] == (
        "default leaves cosine and sine alone"
    )


def test_layer_type_that_no_layer_has() -> None:
    config = {
        "layer_types": ["full_attention"] * 2,
        "rope_parameters": {"full_attention": PLAIN, "sliding_attention": {"rope_theta": 5}},
    }

    assert only(config)["rotary_base"] == 10000


def test_values_beside_layer_types() -> None:
    config = {"rope_parameters": {"rope_theta": 5, "full_attention": PLAIN}}

    assert problems(config) == [
        (
            "rope_parameters.rope_theta stands beside parameters by layer type; transformers does "
            "not read it"
        )
    ]


# Values that cannot be read


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "nan, not a finite number"),
        (float("inf"), "inf, not a finite number"),
        (-4, "-4, not a number above 0"),
        (0, "0, not a number above 0"),
        ("4", "'4', not a number"),
        (True, "true, not a number"),
        ([4], "[4], not a number"),
        ({"a": 4}, "an object, not a number"),
        (10**400, "a number of more than 40 digits, not a finite number"),
    ],
)
def test_numbers_that_are_none(value: Any, said: str) -> None:
    assert problems(yarn(factor=value)) == [f"rope_scaling.factor is {said}"]
    assert problems({"rope_theta": value}) == [f"rope_theta is {said}"]


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"rope_scaling": []}, "rope_scaling is [], not an object"),
        ({"rope_scaling": "yarn"}, "rope_scaling is 'yarn', not an object"),
        ({"rope_scaling": {"type": 5}}, "rope_scaling.type is 5, not a text"),
        ({"text_config": 5}, "text_config is 5, not an object"),
        ({"rope_interleave": "yes"}, "rope_interleave is 'yes', neither true nor false"),
        ({"layer_types": {}}, "layer_types is an object, not a list of texts"),
        ({"head_dim": 64.5}, "head_dim is 64.5, not a whole number"),
        (
            {"rope_scaling": {"mrope_section": [1, -1]}},
            "rope_scaling.mrope_section is [1, -1], not a list of whole numbers",
        ),
        ({"model_type": 3}, "model_type is 3, not a text"),
        ({"model_type": []}, "model_type is [], not a text"),
    ],
)
def test_values_of_the_wrong_type(config: Config, problem: str) -> None:
    assert problems({**PLAIN, **config}) == [problem]


@pytest.mark.parametrize("config", [{}, {"model_type": "llama", "hidden_size": 64}])
def test_nothing_about_rope(config: Config) -> None:
    assert problems(config) == [
        "nothing is stated about RoPE: there is none of rope_parameters, rope_scaling, rope_theta"
    ]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "rope_scaling",
                        "rope_parameters",
                        "rope_theta",
                        "type",
                        "rope_type",
                        "factor",
                    ),
                    *("text_config", "head_dim", "qk_rope_head_dim", "layer_types", "mscale", "x"),
                    *("no_rope_layers", "partial_rotary_factor", "compress_rope_theta"),
                    *("full_attention", "original_max_position_embeddings", "compress_ratios"),
                ]
            ),
            inner | st.sampled_from(["yarn", "llama3", "linear", "mrope"]),
            max_size=6,
        )
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "rope_theta",
                "rope_scaling",
                "rope_parameters",
                "text_config",
                "head_dim",
                "model_type",
            ]
        ),
        _JSON,
    )
)
def test_no_document_breaks_the_reader(config: Config) -> None:
    for rope in read(config).ropes:
        assert set(rope.values) <= set(rope.sources)


def test_nested_deeper() -> None:
    config = nested("omni", {"a": 1})
    config = {"thinker_config": {"text_config": heads("x", 4096, 64, 10000)}}

    (rope,) = read(config).ropes

    assert rope.sources["rotary_base"] == "thinker_config.text_config.rope_theta"
