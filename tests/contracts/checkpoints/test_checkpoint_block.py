"""One block of parameters: what it publishes, where it says so, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_ropecontract.contracts.checkpoints.blocks import Surroundings, read, same_parameters
from pytest_ropecontract.contracts.checkpoints.published import Problem, PublishedRope
from pytest_ropecontract.rope.frequencies import magnitude, yarn_get_mscale

Block = dict[str, Any]

LENGTH = "original_max_position_embeddings"
LONGEST = "max_position_embeddings"
CHOOSE = "keep the one that the checkpoint was trained with"
LINEAR: Block = {"type": "linear", "factor": 4.0}
LLAMA3: Block = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    LENGTH: 8192,
}
YARN: Block = {"type": "yarn", "factor": 40.0, LENGTH: 4096}


def reading(block: Block, **beside: Any) -> tuple[PublishedRope, list[Problem]]:
    """Read a block that is at ``t.scaling``, beside other keys of ``t``."""
    return read(block, "t.scaling", Surroundings(beside, "t."))


def stated(block: Block, **beside: Any) -> dict[str, tuple[Any, str]]:
    """Return the values of a block without problems, with where they are stated."""
    rope, problems = reading(block, **beside)
    assert problems == []
    assert set(rope.sources) >= set(rope.values)
    return {name: (value, rope.sources[name]) for name, value in rope.values.items()}


def messages(block: Block, **beside: Any) -> list[str]:
    return [one.message for one in reading(block, **beside)[1]]


# What is published, and where


def test_nothing_stated() -> None:
    assert stated({}) == {
        "kind": ("rope", "no scaling is stated"),
        "magnitude": (1.0, "default leaves cosine and sine alone"),
    }


def test_linear_scaling() -> None:
    assert stated(LINEAR) == {
        "kind": ("rope", "t.scaling.type"),
        "seq_len_interpolation_factor": (4.0, "t.scaling.factor"),
        "magnitude": (1.0, "linear leaves cosine and sine alone"),
    }


@pytest.mark.parametrize("key", ["type", "rope_type"])
def test_llama3_rule(key: str) -> None:
    block = {("type" if one == "rope_type" else one): value for one, value in LLAMA3.items()}
    block[key] = block.pop("type")

    assert stated(block) == {
        "kind": ("rope", f"t.scaling.{key}"),
        "rope_scaling": (True, f"t.scaling.{key}"),
        "rope_scaling_factor": (8.0, "t.scaling.factor"),
        "low_freq_factor": (1.0, "t.scaling.low_freq_factor"),
        "high_freq_factor": (4.0, "t.scaling.high_freq_factor"),
        LENGTH: (8192, f"t.scaling.{LENGTH}"),
        "magnitude": (1.0, "llama3 leaves cosine and sine alone"),
    }


def test_yarn_with_everything() -> None:
    block = {
        **YARN,
        "beta_fast": 4.0,
        "beta_slow": 2.0,
        "truncate": False,
        "mscale": 0.5,
        "mscale_all_dim": 0.25,
    }

    assert stated(block) == {
        "kind": ("yarn", "t.scaling.type"),
        LENGTH: (4096, f"t.scaling.{LENGTH}"),
        "rotary_scaling_factor": (40.0, "t.scaling.factor"),
        "beta_fast": (4.0, "t.scaling.beta_fast"),
        "beta_slow": (2.0, "t.scaling.beta_slow"),
        "round_to_int": (False, "t.scaling.truncate"),
        "mscale_all_dim": (0.25, "t.scaling.mscale_all_dim"),
        "magnitude": (magnitude(40.0, 0.5, 0.25), "t.scaling.mscale and mscale_all_dim"),
    }


def test_yarn_with_nothing_more_than_it_needs() -> None:
    assert stated(YARN) == {
        "kind": ("yarn", "t.scaling.type"),
        LENGTH: (4096, f"t.scaling.{LENGTH}"),
        "rotary_scaling_factor": (40.0, "t.scaling.factor"),
        "beta_fast": (32.0, "default of beta_fast in transformers"),
        "beta_slow": (1.0, "default of beta_slow in transformers"),
        "round_to_int": (True, "default of truncate in transformers"),
        "mscale_all_dim": (0.0, "no mscale_all_dim is stated"),
        "magnitude": (yarn_get_mscale(40.0), "t.scaling.factor"),
    }


def test_truncate_that_is_stated_like_its_default() -> None:
    assert stated({**YARN, "truncate": True})["round_to_int"] == (True, "t.scaling.truncate")


def test_sections() -> None:
    block = {"rope_type": "default", "mrope_section": [16, 24, 24], "mrope_interleaved": True}

    assert stated(block) == {
        "kind": ("mrope", "t.scaling.mrope_section"),
        "mrope_section": ((16, 24, 24), "t.scaling.mrope_section"),
        "mrope_interleaved": (True, "t.scaling.mrope_interleaved"),
        "magnitude": (1.0, "default leaves cosine and sine alone"),
    }


def test_sections_one_after_another_are_as_megatron_builds_them() -> None:
    block = {"type": "mrope", "mrope_section": [16, 24, 24], "mrope_interleaved": False}

    assert "mrope_interleaved" not in stated(block)


@pytest.mark.parametrize(
    ("block", "beside", "value"),
    [
        ({"attention_factor": 1.25}, {}, (1.25, "t.scaling.attention_factor")),
        ({"attention_factor": None}, {}, (yarn_get_mscale(40.0), "t.scaling.factor")),
        # One that is 0 is as none.
        ({"mscale": 0, "mscale_all_dim": 0.5}, {}, (yarn_get_mscale(40.0), "t.scaling.factor")),
        ({"mscale": 0.5, "mscale_all_dim": 0}, {}, (yarn_get_mscale(40.0), "t.scaling.factor")),
    ],
)
def test_magnitude(block: Block, beside: Block, value: tuple[float, str]) -> None:
    assert stated({**YARN, **block}, **beside)["magnitude"] == value


def test_magnitude_without_a_factor_is_left_open() -> None:
    assert "magnitude" not in stated({**YARN, "factor": None})


def test_own_magnitude_needs_no_factor() -> None:
    found = stated({**YARN, "factor": None, "attention_factor": 1.25})

    assert found["magnitude"] == (1.25, "t.scaling.attention_factor")


def test_mscale_all_dim_of_zero_is_stated() -> None:
    assert stated({**YARN, "mscale_all_dim": 0})["mscale_all_dim"] == (
        0.0,
        "t.scaling.mscale_all_dim",
    )


@pytest.mark.parametrize("zero", [0, None])
def test_beta_of_zero_is_the_default(zero: int | None) -> None:
    found = stated({**YARN, "beta_fast": zero, "beta_slow": zero})

    assert found["beta_fast"] == (32.0, "default of beta_fast in transformers")
    assert found["beta_slow"] == (1.0, "default of beta_slow in transformers")


@pytest.mark.parametrize(
    ("block", "beside", "value"),
    [
        ({"rope_theta": 500.0}, {}, (500.0, "t.scaling.rope_theta")),
        ({}, {"rope_theta": 500.0}, (500.0, "t.rope_theta")),
        ({"rope_theta": 500.0}, {"rope_theta": 500}, (500.0, "t.scaling.rope_theta")),
    ],
)
def test_base(block: Block, beside: Block, value: tuple[float, str]) -> None:
    assert stated(block, **beside)["rotary_base"] == value


def test_base_of_other_layers_is_another_one() -> None:
    around = Surroundings({"rope_local_base_freq": 500.0}, "t.", base_key="rope_local_base_freq")

    beside, problems = read({}, "t.scaling", around)
    inside, further = read({"rope_theta": 10000}, "t.scaling", around)

    assert beside.sources["rotary_base"] == "t.rope_local_base_freq"
    assert (beside.values["rotary_base"], inside.values["rotary_base"]) == (500, 10000)
    assert problems == further == []


@pytest.mark.parametrize("block", [YARN, LLAMA3], ids=["yarn", "llama3"])
@pytest.mark.parametrize(
    ("inside", "beside", "value"),
    [
        ({LENGTH: 2048}, {}, (2048, f"t.scaling.{LENGTH}")),
        ({LENGTH: 2048}, {LENGTH: 2048.0}, (2048, f"t.{LENGTH}")),
        ({}, {LENGTH: 2048}, (2048, f"t.{LENGTH}")),
        ({}, {LONGEST: 2048}, (2048, f"t.{LONGEST}")),
        ({LENGTH: None}, {LONGEST: 2048}, (2048, f"t.{LONGEST}")),
        ({}, {LENGTH: 1024, LONGEST: 40960}, (1024, f"t.{LENGTH}")),
    ],
)
def test_original_length(
    block: Block, inside: Block, beside: Block, value: tuple[int, str]
) -> None:
    rest = {key: one for key, one in block.items() if key != LENGTH}

    assert stated({**rest, **inside}, **beside)[LENGTH] == value


def test_original_length_that_nothing_states() -> None:
    assert LENGTH not in stated({"type": "yarn", "factor": 40.0})


@pytest.mark.parametrize(
    ("block", "beside", "value"),
    [
        ({"factor": None}, {LONGEST: 163840}, (40.0, f"t.{LONGEST} / original length")),
        ({}, {LONGEST: 163840}, (40.0, "t.scaling.factor")),
        # A file that was not lengthened yet: the longest length is the original one.
        ({}, {LONGEST: 4096}, (40.0, "t.scaling.factor")),
    ],
)
def test_factor_of_yarn(block: Block, beside: Block, value: tuple[float, str]) -> None:
    assert stated({**YARN, **block}, **beside)["rotary_scaling_factor"] == value


@pytest.mark.parametrize("beside", [{}, {LONGEST: None}])
def test_factor_that_follows_from_nothing(beside: Block) -> None:
    assert "rotary_scaling_factor" not in stated({**YARN, "factor": None}, **beside)


def test_factor_that_cannot_be_read_is_not_the_ratio() -> None:
    rope, _ = reading({**YARN, "factor": "40"}, **{LONGEST: 163840})

    assert "rotary_scaling_factor" not in rope.values


# Types


@pytest.mark.parametrize(
    ("block", "refusal"),
    [
        (
            {"type": "dynamic", "factor": 2.0},
            "no class of Megatron changes its base with the length of the input",
        ),
        (
            {"type": "su", "short_factor": [1.0], "long_factor": [2.0]},
            "no class of Megatron takes a factor for every frequency",
        ),
        (
            {"type": "linear", "factor": 2.0, "mrope_section": [8, 12, 12]},
            "no class of Megatron divides scaled frequencies among axes",
        ),
        # What is said of the type is said first.
        (
            {"type": "dynamic", "factor": 2.0, "mrope_section": [8, 12, 12]},
            "no class of Megatron changes its base with the length of the input",
        ),
    ],
)
def test_type_that_megatron_does_not_build(block: Block, refusal: str) -> None:
    rope, problems = reading(block)

    assert (rope.kind, rope.refusal, problems) == (None, refusal, [])
    assert rope.sources["kind"] == "t.scaling.type"
    assert {"kind", "magnitude"}.isdisjoint(rope.values)


@pytest.mark.parametrize("key", ["type", "rope_type"])
@pytest.mark.parametrize("sections", [{}, {"mrope_section": None}, {"mrope_section": []}])
def test_mrope_without_sections(key: str, sections: Block) -> None:
    rope, problems = reading({key: "mrope", **sections})

    assert (rope.kind, rope.refusal) == (None, None)
    assert "kind" not in rope.sources
    assert problems == [
        Problem("checkpoint", "t.scaling.mrope_section is missing, which mrope needs", field="kind")
    ]


def test_mrope_with_sections_that_are_none_has_one_problem() -> None:
    assert messages({"type": "mrope", "mrope_section": "8 12 12"}) == [
        "t.scaling.mrope_section is '8 12 12', not a list of whole numbers"
    ]


def test_two_types_that_differ() -> None:
    rope, problems = reading({"rope_type": "default", "type": "linear", "factor": 2.0})

    assert rope.rope_type == "default"
    assert problems[0] == Problem(
        "checkpoint",
        "t.scaling.rope_type is 'default' and t.scaling.type is 'linear'; transformers reads "
        "rope_type",
        "kind",
        CHOOSE,
    )


@pytest.mark.parametrize(
    "names",
    [
        {"rope_type": "longrope", "type": "su"},
        {"rope_type": "su", "type": "longrope"},
        {"rope_type": "su", "type": "su"},
    ],
)
def test_two_names_of_one_type(names: Block) -> None:
    rope, problems = reading({**names, "short_factor": [1.0], "long_factor": [2.0]})

    assert (rope.rope_type, problems) == ("longrope", [])


@pytest.mark.parametrize("key", ["type", "rope_type"])
def test_type_that_is_not_known(key: str) -> None:
    rope, problems = reading({key: "linaer", "factor": 2.0, "rope_theta": 500.0})

    assert (rope.rope_type, rope.kind, rope.refusal) == ("linaer", None, None)
    assert (rope.values, rope.sources) == (
        {"rotary_base": 500.0},
        {"rotary_base": "t.scaling.rope_theta"},
    )
    assert problems == [
        Problem(
            "checkpoint",
            "t.scaling.rope_type is 'linaer', which transformers does not know; did you mean "
            "linear?",
            "kind",
            "one of default, linear, dynamic, yarn, longrope, llama3, proportional, axial",
        )
    ]


def test_type_that_is_like_none() -> None:
    assert messages({"type": "zzz"}) == [
        "t.scaling.rope_type is 'zzz', which transformers does not know"
    ]


@pytest.mark.parametrize("key", ["type", "rope_type"])
def test_type_that_is_no_text(key: str) -> None:
    rope, problems = reading({key: 5, "rope_theta": 500.0})

    assert (rope.rope_type, rope.kind, rope.refusal) == ("", None, None)
    assert (rope.values, rope.sources) == (
        {"rotary_base": 500.0},
        {"rotary_base": "t.scaling.rope_theta"},
    )
    assert [one.message for one in problems] == [f"t.scaling.{key} is 5, not a text"]


@pytest.mark.parametrize("block", [{"type": 5, "rope_type": "linear"}, {"type": "linear"}])
def test_one_type_that_is_a_text_is_enough(block: Block) -> None:
    rope, _ = reading({**block, "factor": 2.0})

    assert (rope.rope_type, rope.kind) == ("linear", "rope")


@pytest.mark.parametrize(("names", "rope_type"), [(True, "longrope"), (False, "yarn")])
def test_model_types_that_call_longrope_yarn(*, names: bool, rope_type: str) -> None:
    around = Surroundings({}, "t.", longrope_names=names)

    assert read(YARN, "t.scaling", around)[0].rope_type == rope_type
    assert read(LINEAR, "t.scaling", around)[0].rope_type == "linear"


@pytest.mark.parametrize(
    ("rope_type", "needed"),
    [
        ("linear", ["factor"]),
        ("dynamic", ["factor"]),
        ("yarn", ["factor"]),
        ("longrope", ["short_factor", "long_factor"]),
        ("llama3", ["factor", "low_freq_factor", "high_freq_factor"]),
        ("proportional", []),
        ("default", []),
    ],
)
def test_keys_that_a_type_needs(rope_type: str, needed: list[str]) -> None:
    assert reading({"type": rope_type})[1] == [
        Problem(
            "checkpoint",
            f"t.scaling.{key} is missing, without which transformers refuses {rope_type}",
        )
        for key in needed
    ]
    # That they are null is for transformers the same as any value.
    assert messages({"type": rope_type, **dict.fromkeys(needed)}) == []


# Contradictions


def test_two_bases() -> None:
    assert reading({"rope_theta": 500}, rope_theta=10000.0)[1] == [
        Problem(
            "checkpoint",
            "t.rope_theta is 10000 and t.scaling.rope_theta is 500; transformers reads the latter",
            "rotary_base",
            CHOOSE,
        )
    ]


def test_two_original_lengths() -> None:
    assert reading(YARN, **{LENGTH: 8192})[1] == [
        Problem(
            "checkpoint",
            f"t.{LENGTH} is 8192 and t.scaling.{LENGTH} is 4096; transformers reads the former",
            LENGTH,
            CHOOSE,
        )
    ]


def test_factor_that_is_not_the_ratio() -> None:
    assert reading(YARN, **{LONGEST: 131072})[1] == [
        Problem(
            "checkpoint",
            f"t.scaling.factor is 40, but t.{LONGEST} is 32 times the original length: "
            "131072 / 4096; transformers uses the factor",
            "rotary_scaling_factor",
            "correct the one that is wrong",
        )
    ]


def test_magnitude_that_does_not_follow() -> None:
    block = {**YARN, "factor": 1e10, "mscale": 1e308, "mscale_all_dim": 1}

    assert reading(block)[1] == [
        Problem("checkpoint", "t.scaling: the mscale is not finite: inf", "magnitude")
    ]
    assert "magnitude" not in reading(block)[0].values


# Values that cannot be read are left open


@pytest.mark.parametrize(
    ("block", "key", "field"),
    [
        (LINEAR, "factor", "seq_len_interpolation_factor"),
        (LLAMA3, "factor", "rope_scaling_factor"),
        (LLAMA3, "low_freq_factor", "low_freq_factor"),
        (LLAMA3, "high_freq_factor", "high_freq_factor"),
        (LLAMA3, LENGTH, LENGTH),
        (YARN, LENGTH, LENGTH),
        (YARN, "factor", "rotary_scaling_factor"),
        (YARN, "beta_fast", "beta_fast"),
        (YARN, "beta_slow", "beta_slow"),
        (YARN, "attention_factor", "magnitude"),
        (YARN, "mscale", "magnitude"),
        (YARN, "mscale_all_dim", "magnitude"),
        (YARN, "mscale_all_dim", "mscale_all_dim"),
        ({}, "rope_theta", "rotary_base"),
    ],
)
def test_number_that_cannot_be_read(block: Block, key: str, field: str) -> None:
    rope, problems = reading({**block, key: "four"})

    assert [one.message for one in problems] == [f"t.scaling.{key} is 'four', not a number"]
    assert field not in rope.values


@pytest.mark.parametrize("block", [YARN, LLAMA3], ids=["yarn", "llama3"])
def test_original_length_that_cannot_be_read_is_not_the_longest(block: Block) -> None:
    rope, _ = reading({**block, LENGTH: "four"}, **{LONGEST: 40960})

    assert LENGTH not in rope.values


@pytest.mark.parametrize("key", ["mscale", "mscale_all_dim", "beta_fast", "beta_slow"])
def test_number_below_zero(key: str) -> None:
    assert messages({**YARN, key: -1}) == [f"t.scaling.{key} is -1, not a number of 0 or more"]


@pytest.mark.parametrize(
    ("block", "key", "field"),
    [
        (YARN, LENGTH, LENGTH),
        ({}, "rope_theta", "rotary_base"),
        (YARN, LONGEST, None),
        ({"type": "yarn", "factor": 40.0}, LONGEST, LENGTH),
    ],
)
def test_number_beside_the_block_that_cannot_be_read(
    block: Block, key: str, field: str | None
) -> None:
    rope, problems = reading(block, **{key: "four"})

    assert {one.message for one in problems} == {f"t.{key} is 'four', not a number"}
    if key != LENGTH:
        assert field not in rope.values


def test_truncate_that_is_neither_true_nor_false() -> None:
    assert messages({**YARN, "truncate": 1}) == ["t.scaling.truncate is 1, neither true nor false"]


def test_interleaved_that_is_neither_true_nor_false() -> None:
    block = {"mrope_section": [8, 12, 12], "mrope_interleaved": 1}

    assert messages(block) == ["t.scaling.mrope_interleaved is 1, neither true nor false"]


# Keys that are not read


@pytest.mark.parametrize(
    ("block", "message", "remedy"),
    [
        (
            {**LINEAR, "low_freq_factor": 1.0},
            "t.scaling.low_freq_factor is 1.0, which linear does not read; a key of llama3",
            "remove it, or state the rope_type that it is for: llama3",
        ),
        (
            {**LINEAR, "attention_factor": 1.0},
            (
                "t.scaling.attention_factor is 1.0, which linear does not read; a key of yarn, "
                "longrope"
            ),
            "remove it, or state the rope_type that it is for: yarn, longrope",
        ),
        (
            {"rope_type": "linear", "factor": 4.0, "beta_fast": 32},
            "t.scaling.beta_fast is 32, which linear does not read; a key of yarn",
            "remove it, or state the rope_type that it is for: yarn",
        ),
        (
            {"beta_fast": 32},
            (
                "t.scaling.beta_fast is 32, but no rope_type is stated, so it is not read; a key "
                "of yarn"
            ),
            "remove it, or state the rope_type that it is for: yarn",
        ),
        (
            {**LINEAR, "factr": 4},
            "t.scaling.factr is 4, a key that transformers does not read; did you mean factor?",
            "remove it, or spell it factor",
        ),
        (
            {**LINEAR, "zzz": True},
            "t.scaling.zzz is true, a key that transformers does not read; no known key is like it",
            "remove it",
        ),
    ],
)
def test_key_that_is_not_read(block: Block, message: str, remedy: str) -> None:
    assert reading(block)[1] == [Problem("unknown-checkpoint-key", message, remedy=remedy)]


def test_keys_that_are_not_read_are_all_told() -> None:
    """One that is null, or that is read, or an object, ends nothing."""
    block = {**LINEAR, "a": None, "full_attention": {}, "zzz": 1, "xxx": 2}

    assert [one.partition(" is ")[0] for one in messages(block)] == [
        "t.scaling.zzz",
        "t.scaling.xxx",
    ]


ON_TOP = (
    " (cosine and sine are multiplied with 1.36889 without it, with 2 as attention_factor, and "
    "with 2.73778 where it comes on top)"
)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"attn_factor": 2}, ON_TOP),
        ({"attn_factor": 2, "factor": 40}, ON_TOP),
        ({"attn_factor": "2"}, ""),
        ({"attn_factor": True}, ""),
        ({"attn_factor": 2, "factor": "40"}, ""),
        ({"attn_factor": 2, "factor": True}, ""),
        ({"attn_factor": 2, "factor": None}, ""),
        ({"attn_factor": 2, "factor": float("inf")}, ""),
        ({"attn_factor": 10**400}, ""),
        ({"attn_factor": 2, "factor": 10**400}, ""),
    ],
)
def test_factor_that_a_reader_puts_on_top(more: Block, said: str) -> None:
    (problem,) = (one for one in messages({**YARN, **more}) if "attn_factor" in one)

    assert problem.partition("did you mean attention_factor?")[2] == said


@pytest.mark.parametrize("block", [{**YARN, "factr": 2.0}, {**LINEAR, "attn_factor": 2.0}])
def test_other_keys_come_on_top_of_nothing(block: Block) -> None:
    (problem,) = messages(block)

    assert "on top" not in problem


# Two blocks of one meaning


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "yarn", "factor": 4}, {"rope_type": "yarn", "factor": 4.0}),
        ({"type": "su"}, {"rope_type": "longrope"}),
        ({"type": "mrope"}, {"rope_type": "default", "type": "mrope"}),
        ({}, {"type": "default"}),
        ({"rope_theta": 5}, {"rope_type": "default", "rope_theta": 5}),
        ({"type": "yarn", "rope_type": "linear"}, {"rope_type": "linear"}),
        ({"type": 5}, {"rope_type": 5}),
        ({"type": ["yarn"]}, {"rope_type": ["yarn"]}),
    ],
)
def test_the_same_parameters(one: Block, other: Block) -> None:
    assert same_parameters(one, other)
    assert same_parameters(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "yarn"}, {"type": "linear"}),
        ({"type": "yarn"}, {}),
        ({"type": "yarn", "factor": 4}, {"type": "yarn", "factor": 8}),
        ({"type": 5}, {}),
    ],
)
def test_other_parameters(one: Block, other: Block) -> None:
    assert not same_parameters(one, other)
    assert not same_parameters(other, one)
