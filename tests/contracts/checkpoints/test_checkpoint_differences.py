"""The fields in which a published embedding and a built one differ."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from pytest_ropecontract.contracts.checkpoints.comparison import Difference, differences
from pytest_ropecontract.contracts.checkpoints.published import PublishedRope
from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.rope.effect import with_factors
from pytest_ropecontract.rope.frequencies import softmax_multiplier, yarn_get_mscale

PLAIN = RopeConfig("rope", "gpt", rotary_base=10000, rotary_dim=64, rope_scaling=False)
LLAMA3 = dataclasses.replace(
    PLAIN,
    rope_scaling=True,
    rope_scaling_factor=8.0,
    original_max_position_embeddings=8192,
)
SECTIONS = dataclasses.replace(PLAIN, kind="mrope", mrope_section=(8, 12, 12))
YARN = with_factors(
    RopeConfig(
        "yarn",
        "mla",
        rotary_base=10000,
        rotary_dim=64,
        rotary_scaling_factor=40.0,
        original_max_position_embeddings=4096,
        beta_fast=32.0,
        beta_slow=1.0,
        mscale=1.0,
        mscale_all_dim=1.0,
        round_to_int=True,
    )
)


def published(kind: Any, **values: Any) -> PublishedRope:
    """Return an embedding that states every value where its name says."""
    values = {"kind": kind, **values}
    return PublishedRope(kind, kind, values, {name: f"at {name}" for name in values})


@pytest.mark.parametrize(
    ("built", "values", "difference"),
    [
        (PLAIN, {"rotary_base": 500}, Difference("rotary_base", 500, 10000, "at rotary_base")),
        (PLAIN, {"rotary_dim": 32}, Difference("rotary_dim", 32, 64, "at rotary_dim")),
        (
            PLAIN,
            {"seq_len_interpolation_factor": 4.0},
            Difference("seq_len_interpolation_factor", 4.0, 1.0, "at seq_len_interpolation_factor"),
        ),
        # What the type does not have is stated where the type is.
        (
            dataclasses.replace(PLAIN, seq_len_interpolation_factor=4.0),
            {},
            Difference("seq_len_interpolation_factor", 1.0, 4.0, "at kind"),
        ),
        (
            PLAIN,
            {"rope_scaling": True, "rope_scaling_factor": 32.0},
            Difference("rope_scaling", True, False, "at rope_scaling"),
        ),
        (LLAMA3, {}, Difference("rope_scaling", False, True, "at kind")),
        (
            LLAMA3,
            {"rope_scaling": True, "rope_scaling_factor": 32.0},
            Difference("rope_scaling_factor", 32.0, 8.0, "at rope_scaling_factor"),
        ),
        (
            LLAMA3,
            {"rope_scaling": True, "original_max_position_embeddings": 4096},
            Difference(
                "original_max_position_embeddings",
                4096,
                8192,
                "at original_max_position_embeddings",
            ),
        ),
        (
            LLAMA3,
            {"rope_scaling": True, "low_freq_factor": 2.0},
            Difference("low_freq_factor", 2.0, 1.0, "at low_freq_factor"),
        ),
        (
            LLAMA3,
            {"rope_scaling": True, "high_freq_factor": 8.0},
            Difference("high_freq_factor", 8.0, 4.0, "at high_freq_factor"),
        ),
        (
            SECTIONS,
            {"mrope_section": (16, 8, 8)},
            Difference("mrope_section", (16, 8, 8), (8, 12, 12), "at mrope_section"),
        ),
        (
            SECTIONS,
            {"mrope_section": (8, 12, 12), "mrope_interleaved": True},
            Difference("mrope_interleaved", True, False, "at mrope_interleaved"),
        ),
        (
            dataclasses.replace(PLAIN, softmax_multiplier=1.5),
            {},
            Difference("softmax_multiplier", 1.0, 1.5, "at kind"),
        ),
        (
            YARN,
            {"round_to_int": False},
            Difference("round_to_int", False, True, "at round_to_int"),
        ),
        (YARN, {"beta_slow": 2.0}, Difference("beta_slow", 2.0, 1.0, "at beta_slow")),
        (YARN, {"magnitude": 1.25}, Difference("magnitude", 1.25, 1.0, "at magnitude")),
        (
            YARN,
            {"mscale_all_dim": 0.0},
            Difference(
                "softmax_multiplier", 1.0, softmax_multiplier(40.0, 1.0), "at mscale_all_dim"
            ),
        ),
        (
            PLAIN,
            {"rotary_interleaved": True},
            Difference("rotary_interleaved", True, False, "at rotary_interleaved"),
        ),
        (
            dataclasses.replace(PLAIN, rotary_interleaved=True),
            {"rotary_interleaved": False},
            Difference("rotary_interleaved", False, True, "at rotary_interleaved"),
        ),
        # Multi-latent attention pairs neighbours, whatever its config says.
        (
            YARN,
            {"rotary_interleaved": False},
            Difference("rotary_interleaved", False, True, "at rotary_interleaved"),
        ),
        (
            PLAIN,
            {"no_rope_layers": (0, 0, 0, 1)},
            Difference("no_rope_layers", (0, 0, 0, 1), (0, 0, 0, 0), "at no_rope_layers"),
        ),
        # As far as both have layers.
        (
            dataclasses.replace(PLAIN, no_rope_layers=(0, 2)),
            {"no_rope_layers": (1, 0, 0, 1)},
            Difference("no_rope_layers", (1, 0), (0, 1), "at no_rope_layers"),
        ),
        (
            dataclasses.replace(PLAIN, no_rope_layers=(0, 1, 1)),
            {"no_rope_layers": (1, 0)},
            Difference("no_rope_layers", (1, 0), (0, 1), "at no_rope_layers"),
        ),
    ],
)
def test_difference_in_one_field(
    built: RopeConfig, values: dict[str, Any], difference: Difference
) -> None:
    assert differences(published(built.kind, **values), built) == [difference]


@pytest.mark.parametrize("built", [PLAIN, LLAMA3, YARN], ids=["rope", "llama3", "yarn"])
def test_another_kind_is_all_of_what_belongs_to_it(built: RopeConfig) -> None:
    wanted = published("mrope", mrope_section=(8, 12, 12), rotary_base=500, rotary_dim=32)

    assert differences(wanted, built) == [
        Difference("kind", "mrope", built.kind, "at kind"),
        Difference("rotary_base", 500, 10000, "at rotary_base"),
        Difference("rotary_dim", 32, 64, "at rotary_dim"),
    ]


def test_nothing_else_is_compared_where_nothing_is_rotated() -> None:
    none = RopeConfig("none", "gpt")
    wanted = published("rope", rotary_base=500, rotary_dim=32, no_rope_layers=(0, 1))

    assert differences(wanted, none) == [Difference("kind", "rope", "none", "at kind")]
    assert differences(published("none"), PLAIN) == [Difference("kind", "none", "rope", "at kind")]
    assert differences(published("none"), none) == []


def test_type_that_megatron_has_no_class_for() -> None:
    """Its width is not that of what another type rotates."""
    values = {"rotary_base": 500, "rotary_dim": 32}
    sources = {"kind": "at kind", "rotary_base": "at base", "rotary_dim": "at width"}
    wanted = PublishedRope("dynamic", None, values, sources, refusal="no class has it")

    assert differences(wanted, PLAIN) == [
        Difference("kind", "dynamic", "rope", "at kind"),
        Difference("rotary_base", 500, 10000, "at base"),
    ]


def test_type_that_is_not_known_is_no_difference() -> None:
    wanted = PublishedRope("new", None, {"rotary_dim": 32}, {"rotary_dim": "at width"})

    assert differences(wanted, PLAIN) == [Difference("rotary_dim", 32, 64, "at width")]


def test_softmax_that_no_config_states_is_multiplied_with_nothing() -> None:
    assert PLAIN.softmax_multiplier is None
    assert differences(published("rope"), PLAIN) == []


# The two factors of YaRN


def test_factors_that_only_follow_from_the_scaling_factor() -> None:
    """With the published scaling factor, magnitude and softmax are as published, too."""
    built = with_factors(dataclasses.replace(YARN, mscale_all_dim=0.0))
    wanted = published(
        "yarn", rotary_scaling_factor=64.0, magnitude=yarn_get_mscale(64.0), mscale_all_dim=0.0
    )

    assert [one.field for one in differences(wanted, built)] == ["rotary_scaling_factor"]


def test_factors_at_the_published_scaling_factor() -> None:
    built = with_factors(dataclasses.replace(YARN, mscale_all_dim=0.0))
    wanted = published("yarn", rotary_scaling_factor=64.0, magnitude=1.0, mscale_all_dim=1.0)

    assert differences(wanted, built)[1:] == [
        Difference("magnitude", 1.0, yarn_get_mscale(64.0), "at magnitude"),
        Difference("softmax_multiplier", softmax_multiplier(64.0, 1.0), 1.0, "at mscale_all_dim"),
    ]


def test_factors_at_the_scaling_factor_that_is_built() -> None:
    """The checkpoint leaves its own open."""
    wanted = published("yarn", magnitude=1.25, mscale_all_dim=0.0)

    assert [(one.field, one.expected) for one in differences(wanted, YARN)] == [
        ("magnitude", 1.25),
        ("softmax_multiplier", 1.0),
    ]


def test_softmax_of_other_attention_is_stated_by_the_kind() -> None:
    built = dataclasses.replace(YARN, attention="gpt")

    assert differences(published("yarn"), built) == [
        Difference("softmax_multiplier", 1.0, softmax_multiplier(40.0, 1.0), "at kind")
    ]


def test_factors_that_one_side_leaves_open_are_not_compared() -> None:
    built = dataclasses.replace(YARN, attention="gpt", softmax_multiplier=None)

    assert differences(published("yarn"), built) == []
    assert differences(published("yarn"), YARN) == []


def test_factors_that_do_not_follow_are_not_compared() -> None:
    built = dataclasses.replace(YARN, rotary_scaling_factor=None)

    assert differences(published("yarn", magnitude=1.25, mscale_all_dim=0.0), built) == []
