"""Frequencies and magnitudes against published formulas, tables and their own properties."""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_ropecontract.rope import float32
from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.rope.frequencies import (
    MAX_ROTARY_DIM,
    correction_range,
    inverse_frequencies,
    magnitude,
    position_scale,
    rotated_width,
    softmax_multiplier,
    yarn_get_mscale,
)

EPSILON = 2.0**-23

# Time says nothing about a formula, and runs out on a busy machine.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

PLAIN = RopeConfig(kind="rope", attention="gpt", rotary_dim=64, rotary_base=10000.0)
LLAMA_3 = replace(
    PLAIN, rotary_dim=128, rotary_base=500000.0, rope_scaling=True, rope_scaling_factor=8.0
)
DEEPSEEK_V3 = RopeConfig(
    kind="yarn",
    attention="mla",
    rotary_dim=64,
    rotary_base=10000.0,
    rotary_scaling_factor=40.0,
    original_max_position_embeddings=4096,
    beta_fast=32.0,
    beta_slow=1.0,
    mscale=1.0,
    mscale_all_dim=1.0,
    round_to_int=True,
)
KIMI_K2 = replace(DEEPSEEK_V3, rotary_base=50000.0, rotary_scaling_factor=32.0, beta_fast=1.0)
GPT_OSS = replace(
    DEEPSEEK_V3,
    attention="gpt",
    rotary_base=150000.0,
    rotary_scaling_factor=32.0,
    round_to_int=False,
)

dims = st.integers(1, 256).map(lambda half: 2 * half)
bases = st.floats(1.5, 1e9)
factors = st.floats(1.0, 200.0)
yarns = st.builds(
    RopeConfig,
    kind=st.just("yarn"),
    attention=st.just("mla"),
    rotary_dim=dims,
    rotary_base=bases,
    rotary_scaling_factor=factors,
    original_max_position_embeddings=st.integers(1, 10**7),
    beta_fast=st.floats(0.01, 1000.0),
    beta_slow=st.floats(0.01, 1000.0),
    round_to_int=st.booleans(),
)


def unscaled(rope: RopeConfig) -> tuple[float, ...]:
    return inverse_frequencies(replace(rope, kind="rope", rope_scaling=False))


def ratios(first: RopeConfig, second: RopeConfig) -> list[float]:
    """Return how far apart each pair of frequencies is, larger over smaller."""
    pairs = zip(inverse_frequencies(first), inverse_frequencies(second), strict=True)
    return [max(a / b, b / a) for a, b in pairs]


def differing(found: list[float]) -> int:
    return sum(ratio > 1 + 8 * EPSILON for ratio in found)


def yarn_range(rope: RopeConfig) -> tuple[float, float]:
    assert rope.beta_fast is not None
    assert rope.beta_slow is not None
    assert rope.rotary_dim is not None
    assert rope.rotary_base is not None
    assert rope.original_max_position_embeddings is not None
    assert rope.round_to_int is not None
    return correction_range(
        rope.beta_fast,
        rope.beta_slow,
        dim=rope.rotary_dim,
        base=rope.rotary_base,
        original_max_position_embeddings=rope.original_max_position_embeddings,
        round_to_int=rope.round_to_int,
    )


class TestFloat32:
    @untimed
    @given(st.floats(width=32))
    def test_a_float32_stays(self, value: float) -> None:
        assert struct.pack("<f", float32.rounded(value)) == struct.pack("<f", value)

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (1.0 + 2**-24, 1.0),
            (1.0 + 3 * 2**-24, 1.0 + 2**-22),
            (0.1, 13421773 * 2.0**-27),
            (2.0**24 + 1, 2.0**24),
            (2.0**-150, 0.0),
            (2.0**-149, 2.0**-149),
            (1e39, math.inf),
            (-1e39, -math.inf),
            (float32.LARGEST, float32.LARGEST),
        ],
    )
    def test_nearest_even(self, value: float, expected: float) -> None:
        assert float32.rounded(value) == expected

    def test_nan_stays(self) -> None:
        assert math.isnan(float32.rounded(math.nan))

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (4.0, 0.25),
            (3.0, 11184811 * 2.0**-25),
            (math.inf, 0.0),
            (0.0, math.inf),
            (-0.0, -math.inf),
        ],
    )
    def test_reciprocal(self, value: float, expected: float) -> None:
        assert float32.reciprocal(value) == expected


class TestPlain:
    @untimed
    @given(dim=dims, base=bases)
    def test_formula(self, dim: int, base: float) -> None:
        found = inverse_frequencies(replace(PLAIN, rotary_dim=dim, rotary_base=base))

        assert len(found) == dim // 2
        assert found[0] == 1.0
        # An exponent is rounded, which its power enlarges by the logarithm of the base.
        tolerance = (3 + math.log(base)) * EPSILON
        for index, frequency in enumerate(found):
            assert frequency == pytest.approx(base ** (-2 * index / dim), rel=tolerance)

    @untimed
    @given(dim=dims, base=bases)
    def test_values_are_float32(self, dim: int, base: float) -> None:
        found = inverse_frequencies(replace(PLAIN, rotary_dim=dim, rotary_base=base))

        assert found == tuple(float32.rounded(frequency) for frequency in found)

    @untimed
    @given(dim=dims, base=st.floats(10.0, 1e9))
    def test_falls(self, dim: int, base: float) -> None:
        found = inverse_frequencies(replace(PLAIN, rotary_dim=dim, rotary_base=base))

        assert all(first > second for first, second in pairwise(found))

    def test_base_of_one(self) -> None:
        assert inverse_frequencies(replace(PLAIN, rotary_base=1.0)) == (1.0,) * 32

    def test_exact_powers(self) -> None:
        found = inverse_frequencies(replace(PLAIN, rotary_dim=8, rotary_base=65536.0))

        assert found == (1.0, 2.0**-4, 2.0**-8, 2.0**-12)

    def test_the_base_is_a_float32(self) -> None:
        found = inverse_frequencies(replace(PLAIN, rotary_base=2.0**24 + 1))

        assert found == inverse_frequencies(replace(PLAIN, rotary_base=2.0**24))

    def test_integers_are_numbers(self) -> None:
        assert inverse_frequencies(replace(PLAIN, rotary_base=10000)) == unscaled(PLAIN)

    @untimed
    @given(dim=dims, base=bases)
    def test_mrope_is_plain(self, dim: int, base: float) -> None:
        rope = replace(PLAIN, rotary_dim=dim, rotary_base=base)

        assert inverse_frequencies(replace(rope, kind="mrope")) == inverse_frequencies(rope)

    def test_mrope_has_no_llama3_rule(self) -> None:
        assert inverse_frequencies(replace(LLAMA_3, kind="mrope")) == unscaled(LLAMA_3)

    def test_none_has_no_frequencies(self) -> None:
        assert inverse_frequencies(RopeConfig(kind="none", attention="gpt")) == ()


class TestLlama3:
    @untimed
    @given(dim=dims, base=bases, factor=factors)
    def test_kept_below_and_divided_above(self, dim: int, base: float, factor: float) -> None:
        rope = replace(LLAMA_3, rotary_dim=dim, rotary_base=base, rope_scaling_factor=factor)
        pairs = zip(unscaled(rope), inverse_frequencies(rope), strict=True)

        for plain, scaled in pairs:
            wavelength = 2 * math.pi / plain
            if wavelength < 2048 * (1 - 8 * EPSILON):
                assert scaled == plain
            elif wavelength > 8192 * (1 + 8 * EPSILON):
                assert scaled == float32.rounded(plain / float32.rounded(factor))
            else:
                slack = (30 + 4 * factor) * EPSILON
                assert plain / factor * (1 - slack) <= scaled <= plain * (1 + slack)

    @untimed
    @given(dim=dims, base=bases, factor=factors)
    def test_mix(self, dim: int, base: float, factor: float) -> None:
        rope = replace(LLAMA_3, rotary_dim=dim, rotary_base=base, rope_scaling_factor=factor)
        pairs = zip(unscaled(rope), inverse_frequencies(rope), strict=True)

        for plain, scaled in pairs:
            turns = 8192 * plain / (2 * math.pi)
            smooth = min(max((turns - 1) / 3, 0.0), 1.0)
            expected = (1 - smooth) * plain / factor + smooth * plain
            assert scaled == pytest.approx(expected, rel=(30 + 4 * factor) * EPSILON)

    @untimed
    @given(dim=dims, base=bases)
    def test_factor_of_one_changes_nothing(self, dim: int, base: float) -> None:
        rope = replace(LLAMA_3, rotary_dim=dim, rotary_base=base, rope_scaling_factor=1.0)

        assert inverse_frequencies(rope) == pytest.approx(unscaled(rope), rel=4 * EPSILON)

    def test_llama_3_2_needs_32_and_is_built_with_8(self) -> None:
        found = ratios(LLAMA_3, replace(LLAMA_3, rope_scaling_factor=32.0))

        assert differing(found) == 35
        assert max(found) == pytest.approx(4.0, rel=1e-6)


class TestYarn:
    @untimed
    @given(rope=yarns)
    @example(rope=KIMI_K2)
    @example(rope=GPT_OSS)
    def test_between_kept_and_divided(self, rope: RopeConfig) -> None:
        assert rope.rotary_scaling_factor is not None
        pairs = zip(unscaled(rope), inverse_frequencies(rope), strict=True)

        for plain, scaled in pairs:
            divided = plain / rope.rotary_scaling_factor
            assert divided * (1 - 8 * EPSILON) <= scaled <= plain * (1 + 8 * EPSILON)

    @untimed
    @given(rope=yarns)
    @example(rope=GPT_OSS)
    def test_ramp(self, rope: RopeConfig) -> None:
        assert rope.rotary_scaling_factor is not None
        low, high = yarn_range(rope)
        if abs(high - low) < 0.5:
            return
        pairs = zip(unscaled(rope), inverse_frequencies(rope), strict=True)

        for index, (plain, scaled) in enumerate(pairs):
            ramp = min(max((index - low) / (high - low), 0.0), 1.0)
            expected = ramp * plain / rope.rotary_scaling_factor + (1 - ramp) * plain
            # The error of the ramp, a float32, counts against the smaller of the two ends.
            tolerance = 1024 * rope.rotary_scaling_factor * EPSILON
            assert scaled == pytest.approx(expected, rel=tolerance)

    @untimed
    @given(rope=yarns)
    @example(rope=DEEPSEEK_V3)
    def test_factor_of_one_equals_plain_but_for_rounding(self, rope: RopeConfig) -> None:
        rope = replace(rope, rotary_scaling_factor=1.0)

        # The two weights are exact or add up to 1 within a rounding, and two products are added.
        assert inverse_frequencies(rope) == pytest.approx(unscaled(rope), rel=2 * EPSILON)

    def test_factor_of_one_equals_plain_where_nothing_is_mixed(self) -> None:
        rope = replace(KIMI_K2, rotary_scaling_factor=1.0)

        assert inverse_frequencies(rope) == unscaled(rope)

    def test_equal_bounds_are_a_step(self) -> None:
        rope = replace(KIMI_K2, beta_slow=1.0, round_to_int=False)
        low, high = yarn_range(rope)
        plain, found = unscaled(rope), inverse_frequencies(rope)

        assert low == high
        assert found[: math.ceil(low)] == plain[: math.ceil(low)]
        assert found[math.ceil(low) :] == tuple(f / 32 for f in plain[math.ceil(low) :])

    def test_equal_bounds_are_a_thousandth_apart(self) -> None:
        # The bound is half a thousandth below frequency 10, which is then mixed by halves.
        beta = 4096 / (2 * math.pi * 150000.0 ** (2 * 9.9995 / 64))
        rope = replace(GPT_OSS, beta_fast=beta, beta_slow=beta)
        plain, found = unscaled(rope), inverse_frequencies(rope)

        assert found[10] == pytest.approx(plain[10] * (1 + 1 / 32) / 2, rel=1e-3)
        assert found[9] == plain[9]
        assert found[11] == plain[11] / 32

    @pytest.mark.parametrize(
        ("rope", "expected"),
        [
            (KIMI_K2, (19, 20)),
            (replace(KIMI_K2, beta_fast=32.0), (8, 20)),
            (replace(GPT_OSS, round_to_int=True), (8, 18)),
            (GPT_OSS, (8.09, 17.40)),
            (DEEPSEEK_V3, (10, 23)),
            (replace(DEEPSEEK_V3, original_max_position_embeddings=8192), (12, 25)),
            (replace(DEEPSEEK_V3, original_max_position_embeddings=32768), (17, 30)),
            (replace(DEEPSEEK_V3, original_max_position_embeddings=163840), (23, 36)),
        ],
    )
    def test_published_correction_ranges(
        self, rope: RopeConfig, expected: tuple[float, float]
    ) -> None:
        tolerance = 0.0 if rope.round_to_int else 0.005

        assert yarn_range(rope) == pytest.approx(expected, abs=tolerance, rel=0)

    def test_kimi_k2_with_the_default_beta_fast(self) -> None:
        found = ratios(KIMI_K2, replace(KIMI_K2, beta_fast=32.0))

        assert differing(found) == 11
        assert max(found) == pytest.approx(8.9, abs=0.05)

    def test_gpt_oss_with_a_rounded_range(self) -> None:
        found = ratios(GPT_OSS, replace(GPT_OSS, round_to_int=True))

        assert differing(found) == 9
        assert max(found) == pytest.approx(1.76, abs=0.005)

    @pytest.mark.parametrize(("length", "ratio"), [(8192, 7), (32768, 22), (163840, 40)])
    def test_deepseek_v3_with_another_original_length(self, length: int, ratio: int) -> None:
        found = ratios(DEEPSEEK_V3, replace(DEEPSEEK_V3, original_max_position_embeddings=length))

        assert max(found) == pytest.approx(ratio, abs=0.5)

    def test_the_fraction_of_a_head_is_not_read(self) -> None:
        assert inverse_frequencies(replace(KIMI_K2, rotary_percent=0.5)) == inverse_frequencies(
            KIMI_K2
        )


class TestCorrectionRange:
    @untimed
    @given(
        fast=st.floats(0.01, 1000.0),
        slow=st.floats(0.01, 1000.0),
        dim=dims,
        base=bases,
        length=st.integers(1, 10**7),
    )
    def test_bounds(self, fast: float, slow: float, dim: int, base: float, length: int) -> None:
        def found(*, whole: bool) -> tuple[float, float]:
            return correction_range(
                fast,
                slow,
                dim=dim,
                base=base,
                original_max_position_embeddings=length,
                round_to_int=whole,
            )

        low, high = found(whole=False)
        whole_low, whole_high = found(whole=True)

        assert low >= 0
        assert high <= dim - 1
        assert whole_low == math.floor(low)
        assert whole_high == math.ceil(high)

    def test_the_bound_makes_beta_turns(self) -> None:
        low, high = yarn_range(replace(GPT_OSS, rotary_base=150000.0))

        for beta, index in ((32.0, low), (1.0, high)):
            wavelength = 2 * math.pi * 150000.0 ** (2 * index / 64)
            assert 4096 / wavelength == pytest.approx(beta)

    def test_swapped_betas_turn_the_range_around(self) -> None:
        low, high = yarn_range(replace(GPT_OSS, beta_fast=1.0, beta_slow=32.0))

        assert (high, low) == yarn_range(GPT_OSS)

    def test_the_bounds_stay_among_the_elements_of_a_head(self) -> None:
        """Megatron: ``max(low, 0), min(high, dim - 1)``; the betas ask for less and for more."""
        found = correction_range(
            1000.0,
            1e-9,
            dim=64,
            base=10000.0,
            original_max_position_embeddings=4096,
            round_to_int=True,
        )

        assert found == (0.0, 63.0)

    @pytest.mark.parametrize(
        "change",
        [
            {"base": 1.0},
            {"base": 0.0},
            {"base": -2.0},
            {"base": math.nan},
            {"dim": 0},
            {"dim": -2},
            {"dim": 63},
            {"dim": MAX_ROTARY_DIM + 2},
            {"original_max_position_embeddings": 0},
            {"original_max_position_embeddings": -1},
            {"beta_fast": 0.0},
            {"beta_slow": -1.0},
            {"beta_slow": math.inf},
            {"beta_fast": 1e308},
            {"beta_fast": 5e-324},
        ],
        ids=str,
    )
    def test_impossible(self, change: dict[str, Any]) -> None:
        arguments: dict[str, Any] = {
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "dim": 64,
            "base": 10000.0,
            "original_max_position_embeddings": 4096,
            "round_to_int": True,
        }
        with pytest.raises(ValueError, match=rf"\b{next(iter(change))} "):
            correction_range(**{**arguments, **change})


class TestMagnitude:
    @pytest.mark.parametrize(
        ("factor", "mscale", "all_dim", "concentration", "softmax"),
        [
            (40, 1.0, 1.0, 1.000000, 1.873854),
            (40, 0.707, 0.707, 1.000000, 1.589626),
            (40, 1.0, 0.0, 1.368888, 1.000000),
            (32, 1.0, 1.0, 1.000000, 1.813260),
            (32, 1.0, 0.0, 1.346574, 1.000000),
            (64, 1.0, 1.0, 1.000000, 2.004740),
            (40, 0.707, 0.0, 1.260804, 1.000000),
            (40, 0.0, 0.707, 0.793145, 1.589626),
        ],
    )
    def test_published(
        self, factor: float, mscale: float, all_dim: float, concentration: float, softmax: float
    ) -> None:
        assert magnitude(factor, mscale, all_dim) == pytest.approx(concentration, abs=5e-7)
        assert softmax_multiplier(factor, all_dim) == pytest.approx(softmax, abs=5e-7)

    @pytest.mark.parametrize(("factor", "scale"), [(40.0, 0.135234), (32.0, 0.130861)])
    def test_published_softmax_scale_of_a_head_of_192(self, factor: float, scale: float) -> None:
        assert softmax_multiplier(factor, 1.0) / math.sqrt(192) == pytest.approx(scale, abs=5e-7)

    @pytest.mark.parametrize(("mscale", "all_dim"), [(None, None), (0.5, None), (None, 0.5)])
    def test_a_missing_mscale(self, mscale: float | None, all_dim: float | None) -> None:
        assert magnitude(32.0, mscale, all_dim) == pytest.approx(1.346574, abs=5e-7)

    @untimed
    @given(factor=st.floats(1e-3, 1.0), mscale=st.floats(-5, 5), all_dim=st.floats(-5, 5))
    def test_no_effect_up_to_a_factor_of_one(
        self, factor: float, mscale: float, all_dim: float
    ) -> None:
        assert magnitude(factor, mscale, all_dim) == 1.0
        assert softmax_multiplier(factor, all_dim) == 1.0

    @untimed
    @given(factor=st.floats(1e-3, 1e6), mscale=st.floats(0, 5))
    def test_equal_mscales_cancel(self, factor: float, mscale: float) -> None:
        assert magnitude(factor, mscale, mscale) == 1.0

    @untimed
    @given(factor=st.floats(1.0, 1e6), mscale=st.floats(0, 5))
    def test_the_softmax_multiplier_is_the_square(self, factor: float, mscale: float) -> None:
        expected = yarn_get_mscale(factor, mscale) ** 2

        assert softmax_multiplier(factor, mscale) == pytest.approx(expected, rel=1e-15)

    def test_a_scale_of_zero_or_below_is_one(self) -> None:
        assert yarn_get_mscale(0.0, 0.5) == yarn_get_mscale(-3.0, 0.5) == 1.0

    def test_a_little_stretched_is_scaled_already(self) -> None:
        """From a scale of 1 on it is ``0.1 * mscale * ln(scale) + 1``; ln(1.5) is 0.405465."""
        assert yarn_get_mscale(1.5) == pytest.approx(1.0405465, abs=1e-7)

    @pytest.mark.parametrize(
        ("factor", "mscale", "all_dim", "message"),
        [
            (0.0, 1.0, 1.0, "rotary_scaling_factor must be a positive finite number, got 0.0"),
            (-1.0, 1.0, 1.0, "rotary_scaling_factor must be"),
            (math.nan, 1.0, 1.0, "rotary_scaling_factor must be"),
            (math.inf, 1.0, 1.0, "rotary_scaling_factor must be"),
            (10**400, 1.0, 1.0, "rotary_scaling_factor must be"),
            (40.0, math.nan, 1.0, "mscale must be a finite number, got nan"),
            (40.0, 1.0, math.inf, "mscale must be a finite number, got inf"),
            (
                *(math.e, 1.0, -10.0),
                (
                    "the magnitude is divided by zero for rotary_scaling_factor 2.71.* "
                    "and mscale_all_dim -10.0"
                ),
            ),
            (1e300, 1e307, 1.0, "the mscale is not finite: inf"),
            (math.e, 1e308, -9.999999999, "the magnitude is not finite: inf"),
        ],
    )
    def test_impossible(self, factor: float, mscale: float, all_dim: float, message: str) -> None:
        with pytest.raises(ValueError, match=f"^{message}"):
            magnitude(factor, mscale, all_dim)

    def test_impossible_softmax_multiplier(self) -> None:
        with pytest.raises(ValueError, match=r"^scale must be a finite number, got nan"):
            softmax_multiplier(math.nan, 1.0)
        with pytest.raises(ValueError, match=r"^the softmax multiplier is not finite: inf"):
            softmax_multiplier(40.0, 1e200)


class TestRotatedWidth:
    @pytest.mark.parametrize(
        ("head_dim", "percent", "expected"),
        [
            (128, 1.0, 128),
            (128, 2.0, 128),
            (128, 0.5, 64),
            (128, 0.25, 32),
            (128, 0.3, 38),
            (128, 0.33, 42),
            (64, 0.33, 21),
            (64, 0.01, 0),
            (64, 0.0, 0),
            (1, 1.0, 1),
            (MAX_ROTARY_DIM, 1.0, MAX_ROTARY_DIM),
        ],
    )
    def test_width(self, head_dim: int, percent: float, expected: int) -> None:
        assert rotated_width(head_dim, percent) == expected

    @pytest.mark.parametrize(
        ("head_dim", "percent", "message"),
        [
            (0, 1.0, "head_dim must be between 1 and 65536, got 0"),
            (-64, 0.5, "head_dim must be"),
            (10**400, 0.5, "head_dim must be"),
            (64, -0.5, "rotary_percent must be a number of 0 or more, got -0.5"),
            (64, math.nan, "rotary_percent must be"),
            (64, math.inf, "rotary_percent must be"),
        ],
    )
    def test_impossible(self, head_dim: int, percent: float, message: str) -> None:
        with pytest.raises(ValueError, match=f"^{message}"):
            rotated_width(head_dim, percent)


class TestPositionScale:
    @pytest.mark.parametrize("kind", ["rope", "mrope"])
    def test_the_inverse_of_the_factor(self, kind: Any) -> None:
        rope = replace(PLAIN, kind=kind, seq_len_interpolation_factor=4.0)

        assert position_scale(rope) == 0.25
        assert inverse_frequencies(rope) == unscaled(PLAIN)

    def test_rounded_to_float32(self) -> None:
        rope = replace(PLAIN, seq_len_interpolation_factor=3.0)

        assert position_scale(rope) == 11184811 * 2.0**-25

    def test_one_without_a_factor(self) -> None:
        assert position_scale(PLAIN) == 1.0

    @pytest.mark.parametrize("kind", ["yarn", "none"])
    def test_one_where_the_factor_is_not_read(self, kind: Any) -> None:
        assert position_scale(replace(PLAIN, kind=kind, seq_len_interpolation_factor=4.0)) == 1.0

    @pytest.mark.parametrize("factor", [float32.SMALLEST_NORMAL, float32.LARGEST])
    def test_the_first_and_the_last_that_fit_a_float32(self, factor: float) -> None:
        rope = replace(PLAIN, seq_len_interpolation_factor=factor)

        assert position_scale(rope) == float32.rounded(1.0 / factor)

    @pytest.mark.parametrize("factor", [0.0, -1.0, math.nan, math.inf, 1e-40, 1e39])
    def test_impossible(self, factor: float) -> None:
        with pytest.raises(ValueError, match=r"^seq_len_interpolation_factor must "):
            position_scale(replace(PLAIN, seq_len_interpolation_factor=factor))


class TestImpossible:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"rotary_dim": None}, "rotary_dim is not set"),
            ({"rotary_dim": 0}, "rotary_dim must be between 1 and 65536, got 0"),
            ({"rotary_dim": -64}, "rotary_dim must be between"),
            ({"rotary_dim": 21}, "rotary_dim must be even, .*, got 21"),
            ({"rotary_dim": MAX_ROTARY_DIM + 2}, "rotary_dim must be between"),
            ({"rotary_dim": 10**400}, "rotary_dim must be between"),
            ({"rotary_base": None}, "rotary_base is not set"),
            ({"rotary_base": 0.0}, "rotary_base must be a positive finite number, got 0.0"),
            ({"rotary_base": -10000.0}, "rotary_base must be a positive"),
            ({"rotary_base": math.nan}, "rotary_base must be a positive"),
            ({"rotary_base": math.inf}, "rotary_base must be a positive"),
            ({"rotary_base": 10**400}, "rotary_base must be a positive"),
            ({"rotary_base": 1e39}, "rotary_base must fit a float32, got 1e[+]39"),
            ({"rotary_base": 1e-40}, "rotary_base must fit a float32"),
        ],
        ids=lambda value: str(value)[:40],
    )
    @pytest.mark.parametrize("rope", [PLAIN, KIMI_K2], ids=["rope", "yarn"])
    def test_of_every_kind(self, rope: RopeConfig, change: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=f"^{message}"):
            inverse_frequencies(replace(rope, **change))

    @pytest.mark.parametrize("factor", [None, 0.0, -8.0, math.nan, math.inf, 1e39])
    def test_llama3_factor(self, factor: float | None) -> None:
        with pytest.raises(ValueError, match=r"^rope_scaling_factor "):
            inverse_frequencies(replace(LLAMA_3, rope_scaling_factor=factor))

    @pytest.mark.parametrize(
        ("field", "values"),
        [
            ("rotary_scaling_factor", [None, 0.0, -1.0, math.nan, math.inf, 1e39]),
            ("beta_fast", [None, 0.0, -1.0, math.nan, math.inf]),
            ("beta_slow", [None, 0.0, -1.0, math.nan, math.inf]),
            ("original_max_position_embeddings", [None, 0, -4096, 10**400]),
            ("round_to_int", [None]),
        ],
    )
    def test_yarn_fields(self, field: str, values: list[Any]) -> None:
        for value in values:
            with pytest.raises(ValueError, match=f"^{field} "):
                inverse_frequencies(replace(KIMI_K2, **{field: value}))

    def test_yarn_has_no_default_for_rounding(self) -> None:
        """It rounds under multi-latent attention, and as a flag says without."""
        with pytest.raises(ValueError, match=r"^round_to_int is not set, YaRN needs it$"):
            inverse_frequencies(replace(KIMI_K2, round_to_int=None))

    def test_a_base_of_one_has_no_correction_range(self) -> None:
        with pytest.raises(
            ValueError,
            match=r"^YaRN has no correction range for a base of 1: all frequencies are equal",
        ):
            inverse_frequencies(replace(KIMI_K2, rotary_base=1.0))

    def test_a_frequency_that_overflows(self) -> None:
        rope = replace(KIMI_K2, rotary_base=1e-30, rotary_scaling_factor=1e-30)

        with pytest.raises(ValueError, match=r"^frequency \d+ of 32 is (inf|nan)"):
            inverse_frequencies(rope)

    def test_the_widest_head_is_computed(self) -> None:
        assert len(inverse_frequencies(replace(KIMI_K2, rotary_dim=MAX_ROTARY_DIM))) == 32768
