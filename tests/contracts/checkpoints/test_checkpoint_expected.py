"""What would be built if it were as a checkpoint publishes it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from pytest_ropecontract.contracts.checkpoints.expected import config, rotation, softmax_multiplier
from pytest_ropecontract.contracts.checkpoints.published import PublishedRope
from pytest_ropecontract.rope import effect
from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.rope.frequencies import softmax_multiplier as of_factor

PLAIN = RopeConfig(
    "rope", "gpt", rotary_base=10000, rotary_dim=4, rope_scaling=False, softmax_multiplier=1.0
)
LLAMA3 = dataclasses.replace(PLAIN, rope_scaling=True, rope_scaling_factor=2.0)
YARN = RopeConfig(
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
    magnitude=1.25,
    softmax_multiplier=1.5,
)


def published(kind: Any, **values: Any) -> PublishedRope:
    return PublishedRope(kind, kind, {"kind": kind, **values})


def rule(length: int, low: float, high: float) -> PublishedRope:
    """Return plain RoPE with the llama3 rule, a factor of 2 and these constants."""
    return published(
        "rope",
        rope_scaling=True,
        rope_scaling_factor=2.0,
        original_max_position_embeddings=length,
        low_freq_factor=low,
        high_freq_factor=high,
    )


# The rule llama3, at a frequency of 0.01: a wavelength of 628.3 positions


@pytest.mark.parametrize(
    ("constants", "frequency"),
    [
        # Longer than length / low: divided by the factor.
        ((600, 1.0, 4.0), 0.005),
        ((1000, 2.0, 8.0), 0.005),
        # Shorter than length / high: kept.
        ((6000, 1.0, 4.0), 0.01),
        ((1000, 1.0, 1.25), 0.01),
        # Between, (1000 / 628.3 - 1) / (4 - 1) = 0.19718 of it is kept.
        ((1000, 1.0, 4.0), 0.0059859),
        ((2000, 2.0, 8.0), 0.0059859),
        # Without anything between.
        ((1000, 1.0, 1.0), 0.01),
        ((600, 1.0, 1.0), 0.005),
    ],
)
@pytest.mark.parametrize("field", [None, "kind", "rope_scaling"])
def test_llama3_rule_with_constants_of_its_own(
    constants: tuple[int, float, float], frequency: float, field: str | None
) -> None:
    wanted = rotation(rule(*constants), LLAMA3, field)

    assert wanted is not None
    assert wanted.frequencies[1] == pytest.approx(frequency, rel=1e-5)


@pytest.mark.parametrize(
    ("field", "frequency"),
    [
        ("original_max_position_embeddings", 0.0059859),
        # Megatron's length 8192 over 20 is 409.6 positions.
        ("low_freq_factor", 0.005),
        # (8192 / 628.3 - 1) / (80 - 1) = 0.15238 of it is kept.
        ("high_freq_factor", 0.0057619),
        ("rotary_base", 0.01),
    ],
)
def test_one_constant_of_the_llama3_rule(field: str, frequency: float) -> None:
    wanted = rotation(rule(1000, 20.0, 80.0), LLAMA3, field)

    assert wanted is not None
    assert wanted.frequencies[1] == pytest.approx(frequency, rel=1e-5)


def test_constants_take_the_place_of_megatrons() -> None:
    """A wavelength of 62832 positions is beyond both lengths, and divided once."""
    slow = dataclasses.replace(LLAMA3, rotary_base=1e8)

    wanted = rotation(rule(1000, 1.0, 4.0), slow, "original_max_position_embeddings")

    assert wanted is not None
    assert wanted.frequencies[1] == pytest.approx(0.5e-4, rel=1e-5)


def test_constants_like_megatrons_change_no_bit() -> None:
    wide = dataclasses.replace(LLAMA3, rotary_base=500000, rotary_dim=1024)
    published_rule = rule(8192, 1.0, 4.0)

    assert rotation(published_rule, wide, "rope_scaling") == effect.rotation(wide)


def test_constants_of_a_rule_that_is_not_used() -> None:
    unscaled = dataclasses.replace(PLAIN, rope_scaling_factor=2.0)

    wanted = rotation(rule(600, 1.0, 4.0), unscaled, "original_max_position_embeddings")

    assert wanted == effect.rotation(unscaled)


def test_constants_that_are_not_published_are_megatrons() -> None:
    values = {"rope_scaling": True, "rope_scaling_factor": 2.0}

    assert rotation(published("rope", **values), LLAMA3, None) == effect.rotation(LLAMA3)


# What is replaced


def test_type_that_is_not_scaled_undoes_what_scales() -> None:
    scaled = dataclasses.replace(LLAMA3, seq_len_interpolation_factor=8.0)

    assert config(published("rope", rotary_base=500), scaled, None) == dataclasses.replace(
        LLAMA3, rotary_base=500, rope_scaling=False
    )


@pytest.mark.parametrize("field", ["kind", "rope_scaling"])
def test_what_has_a_finding_of_its_own_stays(field: str) -> None:
    other: dict[str, Any] = {"rotary_base": 500, "rotary_dim": 8, "no_rope_layers": (0, 1)}

    assert config(published("rope", **other), PLAIN, field) == PLAIN


def test_all_of_what_is_published() -> None:
    other: dict[str, Any] = {"rotary_base": 500, "rotary_dim": 8, "no_rope_layers": (0, 1)}

    assert config(published("rope", **other), PLAIN, None) == dataclasses.replace(PLAIN, **other)


def test_one_field_is_replaced_alone() -> None:
    wanted = published("yarn", rotary_base=500, beta_fast=4.0, magnitude=2.0)

    assert config(wanted, YARN, "beta_fast") == dataclasses.replace(YARN, beta_fast=4.0)


def test_positions_that_are_not_divided() -> None:
    divided = dataclasses.replace(PLAIN, seq_len_interpolation_factor=8.0)

    assert config(published("rope"), divided, "seq_len_interpolation_factor") == PLAIN


def test_kind_that_megatron_has_no_class_for() -> None:
    assert config(PublishedRope("dynamic", None), PLAIN, None) is None
    assert rotation(PublishedRope("dynamic", None), PLAIN, None) is None


# Magnitude and softmax

UNSCALED: dict[str, Any] = {"rope_scaling": False}


@pytest.mark.parametrize("field", [None, "kind", "rotary_scaling_factor"])
def test_factors_follow_from_the_published_one(field: str | None) -> None:
    wanted = published("yarn", rotary_scaling_factor=64.0, magnitude=1.1, mscale_all_dim=1.0)

    assert config(wanted, YARN, field) == dataclasses.replace(
        YARN,
        rotary_scaling_factor=64.0,
        magnitude=1.1,
        softmax_multiplier=of_factor(64.0, 1.0),
        **({} if field == "rotary_scaling_factor" else UNSCALED),
    )


def test_magnitude_alone() -> None:
    wanted = published("yarn", magnitude=1.1, mscale_all_dim=0.5)

    assert config(wanted, YARN, "magnitude") == dataclasses.replace(YARN, magnitude=1.1)


def test_softmax_alone_follows_from_the_factor_that_is_built() -> None:
    wanted = published("yarn", magnitude=1.1, mscale_all_dim=0.5)

    assert config(wanted, YARN, "softmax_multiplier") == dataclasses.replace(
        YARN, softmax_multiplier=of_factor(40.0, 0.5)
    )


def test_factors_that_are_not_published_are_those_that_are_built() -> None:
    wanted = config(published("yarn", rotary_scaling_factor=64.0), YARN, None)

    assert wanted is not None
    assert (wanted.magnitude, wanted.softmax_multiplier) == (1.25, 1.5)


@pytest.mark.parametrize(
    ("kind", "attention", "expected"),
    [
        ("yarn", "mla", of_factor(40.0, 1.0)),
        # Other attention of transformers multiplies with nothing, as does another type.
        ("yarn", "gpt", 1.0),
        ("rope", "mla", 1.0),
    ],
)
def test_softmax_multiplier(kind: Any, attention: Any, expected: float) -> None:
    assert softmax_multiplier(published(kind, mscale_all_dim=1.0), attention, 40.0) == expected


@pytest.mark.parametrize("factor", [0.5, 1.0, 40.0])
def test_softmax_of_an_mscale_of_zero(factor: float) -> None:
    assert softmax_multiplier(published("yarn", mscale_all_dim=0.0), "mla", factor) == 1.0


@pytest.mark.parametrize(
    ("values", "factor"),
    [({"mscale_all_dim": 1.0}, None), ({}, 40.0), ({"mscale_all_dim": 1e200}, 40.0)],
    ids=["no factor", "no mscale", "no finite number"],
)
def test_softmax_that_does_not_follow(values: dict[str, Any], factor: float | None) -> None:
    assert softmax_multiplier(published("yarn", **values), "mla", factor) is None
