"""Frequencies and magnitudes of Megatron's rotary embeddings, without torch.

The frequencies are those of ``RotaryEmbedding``, ``MultimodalRotaryEmbedding`` and
``YarnRotaryEmbedding``: computed by the same operations in the same order, each rounded to
float32, and returned as Python floats that hold float32 values.

How close they are to the tensors of those classes on a CPU:

- All operations but one are correctly rounded in torch, as they are here. From the same
  powers ``base ** (2 * i / dim)`` the same frequencies follow, bit for bit.
- The power is not. Torch takes it from SLEEF where it works on vectors and from the C
  library where it does not, so it depends on the processor and on the place in the tensor;
  both have an error of at most one unit in the last place (ulp). Here the power is rounded
  from double precision. The two powers are equal or neighbours.
- Neighbouring powers give plain frequencies at most 2 ulp apart, and YaRN frequencies at
  most 10 ulp apart. Where the llama3 rule mixes, it subtracts two numbers that may be
  close, and frequencies are at most ``30 + 4 * factor`` ulp apart for a factor of 1 or more.
  These sum up the worst case of every rounding.

A GPU takes another power and divides by a scalar through its rounded reciprocal, which adds
a few ulp that are not bounded here.

Megatron computes the magnitude and the softmax multiplier in double precision. They are
equal exactly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_ropecontract.rope import float32

if TYPE_CHECKING:
    from pytest_ropecontract.rope.config import RopeConfig

MAX_ROTARY_DIM = 65_536
"""The widest head, in elements, that is computed; the time and memory taken are linear in it."""

# The defaults of RotaryEmbedding._apply_scaling, which no caller overrides.
_LLAMA3_LOW_FREQ_FACTOR = 1.0
_LLAMA3_HIGH_FREQ_FACTOR = 4.0
_LLAMA3_ORIGINAL_LENGTH = 8192.0


def inverse_frequencies(rope: RopeConfig) -> tuple[float, ...]:
    """Return the frequencies of an embedding, fastest first for a base above 1.

    Frequency ``i`` is the angle by which pair ``i`` of a head turns from one position to the
    next. It does not include the position scale (see ``position_scale``).

    - ``rope`` and ``mrope``: ``base ** (-2 * i / rotary_dim)``, from the constructors of
      ``RotaryEmbedding`` and ``MultimodalRotaryEmbedding``. With ``rope_scaling``, plain RoPE
      goes through ``RotaryEmbedding._apply_scaling``: a wavelength above 8192 positions is
      multiplied with ``rope_scaling_factor``, one below 2048 is kept, those between are mixed.
    - ``yarn``: a mix of the plain frequencies and those divided by ``rotary_scaling_factor``,
      along a ramp over the ``correction_range``, from ``YarnRotaryEmbedding.get_emb``. A factor
      of 1 gives the plain frequencies, those on the ramp up to a rounding.
    - ``none``: nothing.

    Args:
        rope: The embedding. ``rotary_dim`` and ``rotary_base`` are read, and what the kind
            needs besides.

    Returns:
        ``rotary_dim / 2`` float32 values, in radians per position.

    Raises:
        ValueError: If a value that is needed is missing or not a positive float32 number, if
            ``rotary_dim`` is odd, not positive or above ``MAX_ROTARY_DIM``, if YaRN has no
            correction range, or if a frequency is infinite or NaN.
    """
    if rope.kind == "none":
        return ()
    dim = _even_width("rotary_dim", rope.rotary_dim)
    base = _positive_float32("rotary_base", rope.rotary_base)
    powers = _powers(base, dim)
    if rope.kind == "yarn":
        frequencies = _interpolate_yarn(powers, rope, base, dim)
    else:
        frequencies = [float32.reciprocal(power) for power in powers]
        if rope.kind == "rope" and rope.rope_scaling:
            factor = _positive_float32("rope_scaling_factor", rope.rope_scaling_factor)
            frequencies = [_scale_llama3(frequency, factor) for frequency in frequencies]
    for index, frequency in enumerate(frequencies):
        if not math.isfinite(frequency):
            raise ValueError(f"frequency {index} of {len(frequencies)} is {frequency}")
    return tuple(frequencies)


def position_scale(rope: RopeConfig) -> float:
    """Return what every position is multiplied with before it meets the frequencies.

    ``1 / seq_len_interpolation_factor`` as ``RotaryEmbedding.get_freqs_non_repeated`` and
    ``MultimodalRotaryEmbedding.forward`` apply it, a float32 value without unit; 1 without a
    factor. YaRN takes the factor and ignores it: 1.

    Raises:
        ValueError: If the factor is read and is not a positive float32 number.
    """
    if rope.kind in ("none", "yarn") or rope.seq_len_interpolation_factor is None:
        return 1.0
    name = "seq_len_interpolation_factor"
    factor = _positive_float32(name, rope.seq_len_interpolation_factor)
    return float32.rounded(1.0 / factor)


def rotated_width(head_dim: int, rotary_percent: float) -> int:
    """Return how many elements of a head the frequencies are computed for.

    ``int(head_dim * rotary_percent)`` if the fraction is below 1, else ``head_dim``, from the
    constructor of ``RotaryEmbedding``. YaRN does not take a fraction. The result may be zero
    or odd, as it may in Megatron.

    Args:
        head_dim: Width of a head (``kv_channels`` or ``qk_pos_emb_head_dim``), in elements.
        rotary_percent: The fraction of it that is rotated.

    Raises:
        ValueError: If the width is not positive or above ``MAX_ROTARY_DIM``, or the fraction
            is negative or not finite.
    """
    _width("head_dim", head_dim)
    if not math.isfinite(rotary_percent) or rotary_percent < 0:
        raise ValueError(f"rotary_percent must be a number of 0 or more, got {rotary_percent!r}")
    return int(head_dim * rotary_percent) if rotary_percent < 1.0 else head_dim


def correction_range(  # noqa: PLR0913 - the arguments of Megatron's own function
    beta_fast: float,
    beta_slow: float,
    *,
    dim: int,
    base: float,
    original_max_position_embeddings: float,
    round_to_int: bool,
) -> tuple[float, float]:
    """Return the range of frequencies over which YaRN goes from keeping to dividing.

    Frequency ``dim * ln(length / (2 * pi * beta)) / (2 * ln(base))`` makes ``beta`` turns
    within the original length. The bounds are those of ``beta_fast`` and ``beta_slow``,
    rounded down and up if asked, the lower at least 0 and the upper at most ``dim - 1``. From
    ``_yarn_find_correction_range``.

    Args:
        beta_fast: Turns above which a frequency is kept.
        beta_slow: Turns below which a frequency is divided by the factor.
        dim: Width of a head, in elements.
        base: The base of the frequencies.
        original_max_position_embeddings: The length before it was stretched, in tokens.
        round_to_int: Whether the bounds are whole.

    Returns:
        The lower and upper bound, as indices of frequencies. The upper may exceed the last
        frequency, and is below the lower where the betas are swapped or the original length
        is shorter than a turn.

    Raises:
        ValueError: If a number is not positive and finite, the width is odd or above
            ``MAX_ROTARY_DIM``, the base is 1, or the length holds no finite number of turns.
    """
    _even_width("dim", dim)
    _positive("base", base)
    _positive("original_max_position_embeddings", original_max_position_embeddings)
    if math.log(base) == 0:
        raise ValueError("YaRN has no correction range for a base of 1: all frequencies are equal")
    bounds = []
    for name, beta in (("beta_fast", beta_fast), ("beta_slow", beta_slow)):
        _positive(name, beta)
        turns = original_max_position_embeddings / (beta * 2 * math.pi)
        if not 0 < turns < math.inf:
            raise ValueError(
                f"YaRN has no correction range for {name} {beta!r} "
                f"and an original length of {original_max_position_embeddings!r}"
            )
        bounds.append((dim * math.log(turns)) / (2 * math.log(base)))
    low, high = bounds
    if round_to_int:
        low, high = float(math.floor(low)), float(math.ceil(high))
    return max(low, 0.0), min(high, dim - 1.0)


def yarn_get_mscale(scale: float, mscale: float = 1.0) -> float:
    """Return YaRN's ``0.1 * mscale * ln(scale) + 1``, or 1 for a scale of at most 1.

    In double precision and without unit. From Megatron's ``_yarn_get_mscale``, which, like
    this, accepts a scale of zero or below.

    Raises:
        ValueError: If an argument or the result is not finite.
    """
    for name, value in (("scale", scale), ("mscale", mscale)):
        if not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value!r}")
    if scale <= 1:
        return 1.0
    return _finite("mscale", 0.1 * mscale * math.log(scale) + 1.0)


def magnitude(factor: float, mscale: float | None, mscale_all_dim: float | None) -> float:
    """Return what YaRN multiplies cosine and sine with.

    ``yarn_get_mscale(factor, mscale) / yarn_get_mscale(factor, mscale_all_dim)``, or
    ``yarn_get_mscale(factor, 1)`` where one of the two is None. In double precision and
    without unit. From ``_yarn_get_concentration_factor``.

    Raises:
        ValueError: If the factor is not positive, an argument or the result is not finite, or
            the denominator is zero.
    """
    _positive("rotary_scaling_factor", factor)
    if mscale is None or mscale_all_dim is None:
        return yarn_get_mscale(factor)
    denominator = yarn_get_mscale(factor, mscale_all_dim)
    if denominator == 0:
        raise ValueError(
            f"the magnitude is divided by zero for rotary_scaling_factor {factor!r} "
            f"and mscale_all_dim {mscale_all_dim!r}"
        )
    return _finite("magnitude", yarn_get_mscale(factor, mscale) / denominator)


def softmax_multiplier(factor: float, mscale_all_dim: float) -> float:
    """Return what multi-latent attention multiplies the softmax scale with.

    The square of ``yarn_get_mscale(factor, mscale_all_dim)``, in double precision and without
    unit. From the constructor of ``MultiLatentAttention``, which applies it whatever the kind
    of the embedding.

    Raises:
        ValueError: If an argument or the result is not finite.
    """
    mscale = yarn_get_mscale(factor, mscale_all_dim)
    return _finite("softmax multiplier", mscale * mscale)


def _powers(base: float, dim: int) -> list[float]:
    base = float32.rounded(base)
    return [float32.rounded(base ** float32.rounded(even / dim)) for even in range(0, dim, 2)]


def _interpolate_yarn(powers: list[float], rope: RopeConfig, base: float, dim: int) -> list[float]:
    factor = float32.rounded(_positive_float32("rotary_scaling_factor", rope.rotary_scaling_factor))
    if rope.round_to_int is None:
        raise ValueError("round_to_int is not set, YaRN needs it")
    low, high = correction_range(
        _positive("beta_fast", rope.beta_fast),
        _positive("beta_slow", rope.beta_slow),
        dim=dim,
        base=base,
        original_max_position_embeddings=_positive(
            "original_max_position_embeddings", rope.original_max_position_embeddings
        ),
        round_to_int=rope.round_to_int,
    )
    if low == high:
        high += 0.001
    # A bound is a Python number in Megatron, so the width of the ramp is subtracted in double
    # precision and only then meets a tensor.
    start, width = float32.rounded(low), float32.rounded(high - low)
    frequencies = []
    for index, power in enumerate(powers):
        kept = float32.reciprocal(power)
        divided = float32.reciprocal(float32.rounded(factor * power))
        ramp = float32.rounded(float32.rounded(index - start) / width)
        mask = float32.rounded(1.0 - min(max(ramp, 0.0), 1.0))
        inverse_mask = float32.rounded(1.0 - mask)
        frequencies.append(
            float32.rounded(float32.rounded(divided * inverse_mask) + float32.rounded(kept * mask))
        )
    return frequencies


def _scale_llama3(frequency: float, factor: float) -> float:
    factor = float32.rounded(factor)
    # Torch divides a number by a tensor through the rounded reciprocal of the tensor.
    wavelength = float32.rounded(float32.reciprocal(frequency) * float32.rounded(2 * math.pi))
    if wavelength > _LLAMA3_ORIGINAL_LENGTH / _LLAMA3_LOW_FREQ_FACTOR:
        return float32.rounded(frequency / factor)
    if wavelength < _LLAMA3_ORIGINAL_LENGTH / _LLAMA3_HIGH_FREQ_FACTOR:
        return frequency
    turns = float32.rounded(float32.reciprocal(wavelength) * _LLAMA3_ORIGINAL_LENGTH)
    smooth = float32.rounded(
        float32.rounded(turns - _LLAMA3_LOW_FREQ_FACTOR)
        / (_LLAMA3_HIGH_FREQ_FACTOR - _LLAMA3_LOW_FREQ_FACTOR)
    )
    divided = float32.rounded(float32.rounded(float32.rounded(1.0 - smooth) * frequency) / factor)
    return float32.rounded(divided + float32.rounded(smooth * frequency))


def _width(name: str, value: int | None) -> int:
    if value is None:
        raise ValueError(f"{name} is not set")
    if not 0 < value <= MAX_ROTARY_DIM:
        raise ValueError(f"{name} must be between 1 and {MAX_ROTARY_DIM}, got {value!r}")
    return value


def _even_width(name: str, value: int | None) -> int:
    width = _width(name, value)
    if width % 2:
        raise ValueError(f"{name} must be even, elements are rotated in pairs, got {value!r}")
    return width


def _positive(name: str, value: float | None) -> float:
    if value is None:
        raise ValueError(f"{name} is not set")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")
    return number


def _positive_float32(name: str, value: float | None) -> float:
    number = _positive(name, value)
    if not float32.SMALLEST_NORMAL <= number <= float32.LARGEST:
        raise ValueError(f"{name} must fit a float32, got {value!r}")
    return number


def _finite(name: str, value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"the {name} is not finite: {value}")
    return value
