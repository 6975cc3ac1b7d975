"""How much it matters that two embeddings differ."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_ropecontract
from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.rope.effect import (
    Effect,
    Rotation,
    compare,
    compare_rotations,
    rotation,
    same_frequency,
    with_factors,
)

KIMI = with_factors(
    RopeConfig(
        kind="yarn",
        attention="mla",
        rotary_base=50000,
        rotary_dim=64,
        rotary_scaling_factor=32,
        original_max_position_embeddings=4096,
        beta_fast=1,
        beta_slow=1,
        mscale=1.0,
        mscale_all_dim=1.0,
        round_to_int=True,
    )
)
DEEPSEEK = with_factors(replace(KIMI, rotary_base=10000, rotary_scaling_factor=40, beta_fast=32))
PLAIN = RopeConfig(kind="rope", attention="gpt", rotary_base=10000, rotary_dim=64)
LLAMA = RopeConfig(
    kind="rope",
    attention="gpt",
    rotary_base=500000,
    rotary_dim=128,
    rope_scaling=True,
    rope_scaling_factor=8.0,
)
GPT_OSS = with_factors(
    replace(
        KIMI,
        attention="gpt",
        rotary_base=150000,
        beta_fast=32,
        mscale_all_dim=0.0,
        round_to_int=False,
        softmax_multiplier=1.0,
    )
)
GLM5 = RopeConfig(kind="rope", attention="mla", rotary_base=1000000, rotary_dim=64)
GLM5_YARN = replace(
    KIMI,
    rotary_base=1000000,
    beta_fast=32,
    mscale_all_dim=0.0,
    softmax_multiplier=1.0,
)


def test_is_public() -> None:
    assert pytest_ropecontract.compare is compare
    assert pytest_ropecontract.Effect is Effect


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (
            replace(KIMI, beta_fast=32),
            KIMI,
            (
                "11 of 32 frequencies differ, largest ratio 8.93; "
                "first phase off by 1 rad at position 171"
            ),
        ),
        (with_factors(replace(GLM5_YARN, rotary_scaling_factor=1)), GLM5, "numerically identical"),
        (
            with_factors(replace(GLM5_YARN, rotary_scaling_factor=40)),
            GLM5,
            (
                "25 of 32 frequencies differ, largest ratio 40.0; "
                "first phase off by 1 rad at position 163; cosine and sine x1.369"
            ),
        ),
        (
            LLAMA,
            replace(LLAMA, rope_scaling_factor=32.0),
            (
                "35 of 64 frequencies differ, largest ratio 4; "
                "first phase off by 1 rad at position 10495"
            ),
        ),
        (
            replace(GPT_OSS, round_to_int=True),
            GPT_OSS,
            (
                "9 of 32 frequencies differ, largest ratio 1.763; "
                "first phase off by 1 rad at position 4530"
            ),
        ),
        (
            DEEPSEEK,
            with_factors(replace(DEEPSEEK, mscale_all_dim=0.0)),
            "0 of 32 frequencies differ; cosine and sine x0.7305; softmax scale x1.874",
        ),
        (
            replace(PLAIN, rotary_dim=128),
            PLAIN,
            "64 of 64 frequencies differ; 128 elements rotated against 64 elements",
        ),
        (
            RopeConfig("none", "gpt"),
            PLAIN,
            "32 of 32 frequencies differ; none rotated against 64 elements",
        ),
        (RopeConfig("none", "gpt"), RopeConfig("none", "gpt"), "numerically identical"),
        (
            replace(PLAIN, rotary_interleaved=True),
            PLAIN,
            "0 of 32 frequencies differ; pairs are neighbours against halves",
        ),
        (
            PLAIN,
            replace(PLAIN, kind="mrope", mrope_section=(8, 12, 12)),
            (
                "0 of 32 frequencies differ; "
                "the same where all axes of a position are equal, as in text"
            ),
        ),
        (
            replace(PLAIN, kind="mrope", mrope_section=(16, 8, 8)),
            replace(PLAIN, kind="mrope", mrope_section=(8, 12, 12)),
            "0 of 32 frequencies differ; sections 16 8 8 against 8 12 12",
        ),
        (
            PLAIN,
            replace(PLAIN, no_rope_layers=(0, 0, 0, 1)),
            "0 of 32 frequencies differ; 1 of 4 layers rotate in one and not in the other",
        ),
        (
            replace(PLAIN, no_rope_layers=(0, 0, 0, 1)),
            PLAIN,
            "0 of 32 frequencies differ; 1 of 4 layers rotate in one and not in the other",
        ),
        (PLAIN, replace(PLAIN, no_rope_layers=(0, 0)), "numerically identical"),
        # The width comes before what matters less; nothing else is said where nothing is rotated.
        (
            replace(PLAIN, rotary_dim=128, rotary_interleaved=True),
            PLAIN,
            (
                "64 of 64 frequencies differ; 128 elements rotated against 64 elements; "
                "pairs are neighbours against halves"
            ),
        ),
        (
            RopeConfig("none", "gpt"),
            replace(PLAIN, rotary_interleaved=True),
            "32 of 32 frequencies differ; none rotated against 64 elements",
        ),
        # Only the multimodal embedding has axes to divide frequencies between.
        (PLAIN, replace(PLAIN, mrope_section=(8, 12, 12)), "numerically identical"),
        (
            replace(PLAIN, seq_len_interpolation_factor=2),
            PLAIN,
            "32 of 32 frequencies differ, largest ratio 2; first phase off by 1 rad at position 3",
        ),
    ],
)
def test_text(first: RopeConfig, second: RopeConfig, text: str) -> None:
    effect = compare(first, second)

    assert effect.text == str(effect) == text
    assert effect.numerically_identical is (text == "numerically identical")


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (2.0, "x2"),
        (1.0005, "x1.0005"),  # four digits would say 1
        (1.5, "x1.5"),
        (10.0, "x10.0"),
        (12.34, "x12.3"),
        (999999.0, "x999999.0"),
        (1e6, "x1e+06"),  # from here on, digits say less than the length
    ],
)
def test_a_ratio_has_the_digits_that_say_something(ratio: float, text: str) -> None:
    effect = Effect(0, 32, 1.0, None, magnitude_ratio=ratio, softmax_ratio=1.0)

    assert effect.text == f"0 of 32 frequencies differ; cosine and sine {text}"


def test_a_pair_that_does_not_turn_has_no_ratio_to_one_that_does() -> None:
    """A base that is large enough gives frequencies of zero in float32."""
    effect = compare_rotations(Rotation((1.0, 0.0)), Rotation((1.0, 0.5)))

    assert (effect.differing, effect.largest_ratio, effect.first_position) == (1, math.inf, 3)


@pytest.mark.parametrize(("one", "other", "ratio"), [(0, 0, 1), (2, 0, math.inf), (0, 2, 0)])
def test_factors_of_zero_are_compared(one: float, other: float, ratio: float) -> None:
    first, second = (
        Rotation((1.0,), magnitude=float(factor), softmax_multiplier=float(factor))
        for factor in (one, other)
    )

    effect = compare_rotations(first, second)

    assert (effect.magnitude_ratio, effect.softmax_ratio) == (ratio, ratio)


def test_layers_are_told_only_where_one_skips_rotation() -> None:
    assert rotation(replace(PLAIN, no_rope_layers=(0, 1))).skipped == (0, 1)
    assert rotation(replace(PLAIN, no_rope_layers=(0, 0))).skipped == ()
    assert rotation(PLAIN).skipped == ()


def test_first_phase_is_off_by_more_than_a_radian() -> None:
    effect = compare(replace(KIMI, beta_fast=32), KIMI)
    apart = max(
        abs(one - other)
        for one, other in zip(
            rotation(replace(KIMI, beta_fast=32)).frequencies,
            rotation(KIMI).frequencies,
            strict=True,
        )
    )

    assert effect.first_position is not None
    assert effect.first_position * apart > 1
    assert (effect.first_position - 1) * apart <= 1


def test_rounding_to_float32_is_no_difference() -> None:
    """A unit in the last place of a float32 is 2**-23 of the value, or 1.2e-7."""
    assert same_frequency(0.5, 0.5 * (1 + 4 * 2**-23))
    assert not same_frequency(0.5, 0.5 * (1 + 16 * 2**-23))
    # However small a frequency is: a long context makes something of it.
    assert not same_frequency(1e-12, 1.1e-12)


def test_values_from_which_nothing_follows() -> None:
    with pytest.raises(ValueError, match="beta_fast is not set"):
        compare(replace(KIMI, beta_fast=None), KIMI)


BARE = RopeConfig("yarn", "mla", rotary_scaling_factor=40, mscale=1.0, mscale_all_dim=0.0)


@pytest.mark.parametrize(
    ("rope", "factors"),
    [
        # 0.1 * ln(40) + 1, on the tables or, squared, on the softmax.
        (BARE, (1.368888, 1.0)),
        (replace(BARE, mscale_all_dim=1.0), (1.0, 1.873854)),
        (replace(BARE, mscale=0.0), (1.0, 1.0)),
        # Where one of the two is not set, mscale is 1; the softmax is then nobody's to tell.
        (replace(BARE, mscale_all_dim=None), (1.368888, None)),
        (replace(BARE, mscale_all_dim=None, softmax_multiplier=2.0), (1.368888, 2.0)),
        # Only multi-latent attention scales its softmax.
        (replace(BARE, attention="gpt", mscale_all_dim=1.0), (1.0, None)),
        (replace(BARE, attention="gpt", softmax_multiplier=1.0), (1.368888, 1.0)),
        (replace(BARE, kind="rope", magnitude=1.3), (1.0, None)),
    ],
)
def test_factors_that_follow(rope: RopeConfig, factors: tuple[float, float | None]) -> None:
    found = with_factors(rope)

    assert (found.magnitude, found.softmax_multiplier) == pytest.approx(factors, abs=5e-7)


def test_magnitude_without_scaling() -> None:
    assert with_factors(replace(KIMI, kind="rope")).magnitude == 1.0
    with pytest.raises(ValueError, match=r"^rotary_scaling_factor is not set$"):
        with_factors(replace(KIMI, rotary_scaling_factor=None))


CONFIGS = st.builds(
    RopeConfig,
    kind=st.just("yarn"),
    attention=st.sampled_from(["mla", "gpt"]),
    rotary_base=st.sampled_from([10000, 50000.0, 1e6]),
    rotary_dim=st.sampled_from([32, 64]),
    rotary_scaling_factor=st.floats(1, 64),
    original_max_position_embeddings=st.sampled_from([2048, 4096]),
    beta_fast=st.sampled_from([1, 16, 32]),
    beta_slow=st.sampled_from([0.5, 1]),
    mscale=st.sampled_from([0.0, 0.707, 1.0]),
    mscale_all_dim=st.sampled_from([0.0, 0.707, 1.0]),
    round_to_int=st.booleans(),
).map(with_factors)


@given(CONFIGS)
def test_nothing_differs_from_itself(rope: RopeConfig) -> None:
    assert compare(rope, rope).numerically_identical


@given(CONFIGS, CONFIGS)
def test_the_other_way_round(first: RopeConfig, second: RopeConfig) -> None:
    there, back = compare(first, second), compare(second, first)

    assert (there.differing, there.count) == (back.differing, back.count)
    assert there.largest_ratio == back.largest_ratio
    assert there.first_position == back.first_position
    assert math.isclose(there.magnitude_ratio * back.magnitude_ratio, 1.0)
    assert math.isclose(there.softmax_ratio * back.softmax_ratio, 1.0)
    assert there.numerically_identical == back.numerically_identical


def test_layers_beyond_the_shorter_list_are_rotated() -> None:
    shorter, longer = Rotation((1.0,), skipped=(0, 1)), Rotation((1.0,), skipped=(0, 1, 0))

    assert compare_rotations(shorter, longer).numerically_identical
