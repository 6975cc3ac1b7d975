"""The frequencies against Megatron's own classes, and against transformers where installed."""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from pytest_ropecontract.rope import frequencies
from pytest_ropecontract.rope.config import RopeConfig

pytestmark = pytest.mark.filterwarnings("ignore")

torch = pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("megatron.core", exc_type=ImportError)
_EMBEDDINGS = "megatron.core.models.common.embeddings"
rotary_pos_embedding = pytest.importorskip(f"{_EMBEDDINGS}.rotary_pos_embedding")
yarn = pytest.importorskip(f"{_EMBEDDINGS}.yarn_rotary_pos_embedding")

POWER_ULP = 1
PLAIN_ULP = 2
YARN_ULP = 10


def llama3_ulp(factor: float) -> float:
    return 30 + 4 * factor


def ordinal(value: float) -> int:
    """Neighbouring positive float32 numbers have neighbouring ordinals."""
    result: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return result


def ulps(first: tuple[float, ...], second: tuple[float, ...]) -> int:
    return max(abs(ordinal(a) - ordinal(b)) for a, b in zip(first, second, strict=True))


def torch_powers(base: float, dim: int) -> list[float]:
    """Return the one intermediate that torch does not round correctly."""
    exponents = torch.arange(0, dim, 2, dtype=torch.float32) / dim
    powers: list[float] = (base**exponents).tolist()
    return powers


def with_torch_powers(rope: RopeConfig) -> tuple[float, ...]:
    with mock.patch.object(frequencies, "_powers", torch_powers):
        return frequencies.inverse_frequencies(rope)


def on_cpu(build: Any) -> Any:
    with mock.patch("torch.cuda.current_device", return_value=torch.device("cpu")):
        return build()


def first_half_of_row_one(embedding: Any) -> tuple[float, ...]:
    row = embedding[1, 0, 0].tolist()
    return tuple(row[: len(row) // 2])


def megatron_plain(rope: RopeConfig, position: int = 1) -> tuple[float, ...]:
    def build() -> Any:
        module = rotary_pos_embedding.RotaryEmbedding(
            rope.rotary_dim,
            1.0,
            rotary_base=rope.rotary_base,
            rope_scaling=bool(rope.rope_scaling),
            rope_scaling_factor=rope.rope_scaling_factor,
            seq_len_interpolation_factor=rope.seq_len_interpolation_factor,
        )
        return module.forward(position + 1)[position - 1 :]

    return first_half_of_row_one(on_cpu(build))


def megatron_yarn(rope: RopeConfig) -> tuple[tuple[float, ...], float]:
    def build() -> Any:
        # The constructor fills a cosine table of the original length, which is not read here.
        with mock.patch.object(yarn.YarnRotaryEmbedding, "_set_cos_sin_cache"):
            module = yarn.YarnRotaryEmbedding(
                rope.rotary_dim,
                rotary_base=rope.rotary_base,
                scaling_factor=rope.rotary_scaling_factor,
                original_max_position_embeddings=rope.original_max_position_embeddings,
                beta_fast=rope.beta_fast,
                beta_slow=rope.beta_slow,
                mscale=rope.mscale,
                mscale_all_dim=rope.mscale_all_dim,
                correction_range_round_to_int=rope.round_to_int,
                seq_len_interpolation_factor=rope.seq_len_interpolation_factor,
            )
        return module.forward(2)

    embedding, factor = on_cpu(build)
    return first_half_of_row_one(embedding), factor


def positive(low: float, high: float) -> st.SearchStrategy[float]:
    """Fractions and whole numbers, as flags give both."""
    return st.floats(low, high) | st.integers(math.ceil(low), int(high)).map(float)


DIMS = st.sampled_from([2, 4, 32, 64, 80, 96, 128, 192, 256]) | st.integers(1, 300).map(
    lambda half: 2 * half
)
BASES = st.sampled_from([10000.0, 50000.0, 150000.0, 500000.0, 1e6, 5e6, 8e6, 1e7, 3e8]) | positive(
    1.5, 1e9
)
FACTORS = st.sampled_from([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0]) | positive(0.25, 200.0)
BETAS = st.sampled_from([1.0, 2.0, 16.0, 32.0, 64.0]) | positive(0.01, 1000.0)
MSCALES = st.sampled_from([0.0, 0.707, 1.0]) | positive(0.0, 3.0)
LENGTHS = st.sampled_from([2048, 4096, 8192, 32768, 65536, 163840]) | st.integers(1, 10**7)

PLAIN = st.builds(
    RopeConfig,
    kind=st.just("rope"),
    attention=st.just("gpt"),
    rotary_dim=DIMS,
    rotary_base=BASES,
)
LLAMA3 = st.builds(
    RopeConfig,
    kind=st.just("rope"),
    attention=st.just("gpt"),
    rotary_dim=DIMS,
    rotary_base=BASES,
    rope_scaling=st.just(True),
    rope_scaling_factor=st.sampled_from([1.0, 8.0, 32.0]) | positive(1.0, 200.0),
)
YARN = st.builds(
    RopeConfig,
    kind=st.just("yarn"),
    attention=st.just("mla"),
    rotary_dim=DIMS,
    rotary_base=BASES,
    rotary_scaling_factor=FACTORS,
    original_max_position_embeddings=LENGTHS,
    beta_fast=BETAS,
    beta_slow=BETAS,
    mscale=MSCALES,
    mscale_all_dim=MSCALES,
    round_to_int=st.booleans(),
    seq_len_interpolation_factor=st.none() | st.just(4.0),
)
KIMI_K2 = RopeConfig(
    kind="yarn",
    attention="mla",
    rotary_dim=64,
    rotary_base=50000.0,
    rotary_scaling_factor=32.0,
    original_max_position_embeddings=4096,
    beta_fast=1.0,
    beta_slow=1.0,
    mscale=1.0,
    mscale_all_dim=1.0,
    round_to_int=True,
)
GPT_OSS = replace(
    KIMI_K2,
    attention="gpt",
    rotary_base=150000.0,
    beta_fast=32.0,
    mscale=None,
    mscale_all_dim=None,
    round_to_int=False,
)
LLAMA_3_1 = RopeConfig(
    kind="rope",
    attention="gpt",
    rotary_dim=128,
    rotary_base=500000.0,
    rope_scaling=True,
    rope_scaling_factor=8.0,
)

thorough = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@thorough
@given(dim=DIMS, base=BASES)
def test_power_is_equal_or_a_neighbour(dim: int, base: float) -> None:
    assert ulps(tuple(torch_powers(base, dim)), tuple(frequencies._powers(base, dim))) <= POWER_ULP


@thorough
@given(rope=PLAIN)
def test_plain(rope: RopeConfig) -> None:
    expected = megatron_plain(rope)

    assert with_torch_powers(rope) == expected
    assert ulps(frequencies.inverse_frequencies(rope), expected) <= PLAIN_ULP


@thorough
@given(rope=LLAMA3)
@example(rope=LLAMA_3_1)
@example(rope=replace(LLAMA_3_1, rope_scaling_factor=32.0))
def test_llama3(rope: RopeConfig) -> None:
    expected = megatron_plain(rope)

    assert with_torch_powers(rope) == expected
    assert rope.rope_scaling_factor is not None
    assert ulps(frequencies.inverse_frequencies(rope), expected) <= llama3_ulp(
        rope.rope_scaling_factor
    )


@thorough
@given(rope=YARN)
@example(rope=KIMI_K2)
@example(rope=replace(KIMI_K2, beta_fast=32.0))
@example(rope=GPT_OSS)
def test_yarn(rope: RopeConfig) -> None:
    assert rope.rotary_scaling_factor is not None
    expected, factor = megatron_yarn(rope)

    assert with_torch_powers(rope) == expected
    assert ulps(frequencies.inverse_frequencies(rope), expected) <= YARN_ULP
    assert factor == frequencies.magnitude(
        rope.rotary_scaling_factor, rope.mscale, rope.mscale_all_dim
    )
    assert frequencies.position_scale(rope) == 1.0


@thorough
@given(rope=PLAIN, section=st.integers(0, 100))
def test_mrope(rope: RopeConfig, section: int) -> None:
    rope = replace(rope, kind="mrope", rope_scaling=True)
    dim = rope.rotary_dim
    assert dim is not None
    first = min(section, dim // 2)

    def build() -> Any:
        module = rotary_pos_embedding.MultimodalRotaryEmbedding(
            dim, 1.0, rotary_base=rope.rotary_base
        )
        positions = torch.arange(2).expand(3, 1, 2)
        return module.forward(positions, [first, dim // 2 - first])

    expected = first_half_of_row_one(on_cpu(build))

    assert with_torch_powers(rope) == expected


@thorough
@given(rope=PLAIN, factor=positive(0.1, 100.0), position=st.integers(1, 2000))
def test_position_scale(rope: RopeConfig, factor: float, position: int) -> None:
    rope = replace(rope, seq_len_interpolation_factor=factor)

    def rounded(value: float) -> float:
        result: float = struct.unpack("<f", struct.pack("<f", value))[0]
        return result

    scaled = rounded(position * frequencies.position_scale(rope))
    angles = tuple(rounded(scaled * f) for f in with_torch_powers(rope))

    assert angles == megatron_plain(rope, position)


@thorough
@given(
    head_dim=st.integers(1, 512),
    percent=st.sampled_from([0.0, 0.25, 0.3, 0.33, 0.5, 0.75, 1.0, 2.0]) | st.floats(0, 2),
)
def test_rotated_width(head_dim: int, percent: float) -> None:
    module = on_cpu(lambda: rotary_pos_embedding.RotaryEmbedding(head_dim, percent))
    width = frequencies.rotated_width(head_dim, percent)

    assert len(module.inv_freq) == (width + 1) // 2
    if width > 0 and width % 2 == 0:
        rope = RopeConfig("rope", "gpt", rotary_dim=width, rotary_base=10000.0)
        assert with_torch_powers(rope) == tuple(module.inv_freq.tolist())


@thorough
@given(rope=YARN)
def test_correction_range_is_exact(rope: RopeConfig) -> None:
    arguments: Any = (
        rope.beta_fast,
        rope.beta_slow,
        rope.rotary_dim,
        rope.rotary_base,
        rope.original_max_position_embeddings,
        rope.round_to_int,
    )
    names = ("dim", "base", "original_max_position_embeddings", "round_to_int")
    found = frequencies.correction_range(
        *arguments[:2], **dict(zip(names, arguments[2:], strict=True))
    )

    assert found == yarn._yarn_find_correction_range(*arguments)


@thorough
@given(
    factor=FACTORS,
    mscale=st.none() | st.floats(-3, 3),
    all_dim=st.none() | st.floats(-3, 3),
)
def test_magnitude_is_exact(factor: float, mscale: float | None, all_dim: float | None) -> None:
    try:
        expected = yarn._yarn_get_concentration_factor(factor, mscale, all_dim)
    except ZeroDivisionError:
        with pytest.raises(ValueError, match="divided by zero"):
            frequencies.magnitude(factor, mscale, all_dim)
    else:
        assert frequencies.magnitude(factor, mscale, all_dim) == expected


@thorough
@given(scale=st.floats(-10, 1e6), mscale=st.floats(-10, 10))
def test_mscale_and_softmax_multiplier_are_exact(scale: float, mscale: float) -> None:
    expected = yarn._yarn_get_mscale(scale, mscale)

    assert frequencies.yarn_get_mscale(scale, mscale) == expected
    assert frequencies.softmax_multiplier(scale, mscale) == expected * expected


@pytest.mark.parametrize(
    "change",
    [
        {"rotary_base": 0.0},
        {"rotary_base": -1.0},
        {"rotary_base": 1.0},
        {"rotary_base": float("nan")},
        {"rotary_scaling_factor": 0.0},
        {"rotary_scaling_factor": float("nan")},
        {"beta_fast": 0.0},
        {"beta_fast": -1.0},
        {"beta_slow": 0.0},
        {"beta_fast": float("nan")},
        {"beta_fast": float("inf")},
        {"original_max_position_embeddings": 0},
        {"rotary_dim": 0},
        {"rotary_dim": 1},
        {"rotary_dim": 7},
    ],
    ids=str,
)
def test_what_is_refused_is_unusable_in_megatron(change: dict[str, Any]) -> None:
    rope = replace(KIMI_K2, **change)
    try:
        found, _ = megatron_yarn(rope)
    except (ArithmeticError, RuntimeError, ValueError):
        found = ()
    usable = len(found) > 0 and all(0 <= value < float("inf") for value in found)

    assert not usable
    with pytest.raises(ValueError, match=r"."):
        frequencies.inverse_frequencies(rope)


class TestTransformers:
    @pytest.fixture(scope="class")
    def compute(self) -> Any:
        transformers = pytest.importorskip("transformers", exc_type=ImportError)
        rope_utils = pytest.importorskip("transformers.modeling_rope_utils", exc_type=ImportError)

        def run(rope: RopeConfig, kind: str, **parameters: Any) -> tuple[tuple[float, ...], float]:
            config = transformers.LlamaConfig(
                head_dim=rope.rotary_dim,
                hidden_size=rope.rotary_dim,
                num_attention_heads=1,
                max_position_embeddings=10**8,
                rope_parameters={
                    "rope_type": kind,
                    "rope_theta": rope.rotary_base,
                    **parameters,
                },
            )
            found, factor = rope_utils.ROPE_INIT_FUNCTIONS[kind](config, "cpu")
            return tuple(found.tolist()), factor

        return run

    @thorough
    @given(rope=YARN)
    @example(rope=KIMI_K2)
    @example(rope=GPT_OSS)
    def test_yarn(self, compute: Any, rope: RopeConfig) -> None:
        # Zero is no mscale there, and a factor has a lower limit of 1.
        assume(bool(rope.mscale) == bool(rope.mscale_all_dim))
        assert rope.rotary_scaling_factor is not None
        assume(rope.rotary_scaling_factor >= 1)
        found, factor = compute(
            rope,
            "yarn",
            factor=rope.rotary_scaling_factor,
            original_max_position_embeddings=rope.original_max_position_embeddings,
            beta_fast=rope.beta_fast,
            beta_slow=rope.beta_slow,
            mscale=rope.mscale,
            mscale_all_dim=rope.mscale_all_dim,
            truncate=rope.round_to_int,
        )
        mscales = (rope.mscale, rope.mscale_all_dim) if rope.mscale else (None, None)

        assert with_torch_powers(rope) == found
        assert frequencies.magnitude(rope.rotary_scaling_factor, *mscales) == factor

    @thorough
    @given(rope=LLAMA3)
    @example(rope=LLAMA_3_1)
    def test_llama3(self, compute: Any, rope: RopeConfig) -> None:
        found, factor = compute(
            rope,
            "llama3",
            factor=rope.rope_scaling_factor,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=8192,
        )

        assert with_torch_powers(rope) == found
        assert factor == 1.0

    @thorough
    @given(rope=PLAIN, exponent=st.integers(0, 6))
    def test_linear(self, compute: Any, rope: RopeConfig, exponent: int) -> None:
        # Megatron divides the position, transformers the frequency: equal for powers of two.
        rope = replace(rope, seq_len_interpolation_factor=2.0**exponent)
        found, _ = compute(rope, "linear", factor=2.0**exponent)
        scale = frequencies.position_scale(rope)

        assert tuple(f * scale for f in with_torch_powers(rope)) == found
