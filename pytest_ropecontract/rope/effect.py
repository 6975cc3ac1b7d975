"""How much it matters that two rotary embeddings differ."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ropecontract.rope.frequencies import (
    inverse_frequencies,
    magnitude,
    position_scale,
    softmax_multiplier,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.rope.config import RopeConfig

# YaRN with a factor of 1, and a division of positions in place of frequencies, differ from
# plain RoPE by a few units in the last place of a float32, each 1.2e-7 of the value.
SAME_FREQUENCY = 1e-6
SAME_FACTOR = 1e-9
# Fields that no frequency follows from; the fraction is already in rotary_dim.
NOT_NUMBERS = ("attention", "rotary_percent", "rotary_class", "returns")
FACTORS = ("magnitude", "softmax_multiplier")
_LONG_NUMBER = 1e6
_TWO_DIGITS = 10


@dataclass(frozen=True)
class Rotation:
    """What an embedding does to a head, in numbers.

    Attributes:
        frequencies: Radians per position, one for every rotated pair of elements.
        magnitude: What cosine and sine are multiplied with.
        softmax_multiplier: What the softmax scale is multiplied with.
        interleaved: Whether pairs are neighbours instead of halves.
        sections: Frequencies for the axes of a position, or None where there is one axis.
        skipped: Per layer, 1 where rotation is skipped; empty where no layer skips it.
    """

    frequencies: tuple[float, ...]
    magnitude: float = 1.0
    softmax_multiplier: float = 1.0
    interleaved: bool = False
    sections: tuple[int, ...] | None = None
    skipped: tuple[int, ...] = ()


@dataclass(frozen=True)
class Effect:
    """How the first of two embeddings differs from the second.

    Attributes:
        differing: Number of frequencies that differ by more than float32 rounding; all of
            them where another width is rotated.
        count: Number of frequencies, of the wider embedding.
        largest_ratio: The largest quotient of two frequencies of one index, the larger over
            the smaller: 1 or more. None where the widths differ.
        first_position: The first position, counted from 0, at which the angle of a pair is
            off by more than one radian; None where none is.
        magnitude_ratio: The first's factor on cosine and sine over the second's.
        softmax_ratio: The first's factor on the softmax scale over the second's.
        remarks: What differs beside these numbers, in words.
    """

    differing: int
    count: int
    largest_ratio: float | None
    first_position: int | None
    magnitude_ratio: float
    softmax_ratio: float
    remarks: tuple[str, ...] = ()

    @property
    def numerically_identical(self) -> bool:
        """Whether both rotate every head by the same numbers."""
        return not (
            self.differing
            or self.remarks
            or _differs(self.magnitude_ratio)
            or _differs(self.softmax_ratio)
        )

    @property
    def text(self) -> str:
        """The whole effect in one line."""
        if self.numerically_identical:
            return "numerically identical"
        parts = []
        if self.largest_ratio is None:
            parts.append(f"{self.differing} of {self.count} frequencies differ")
        elif self.differing:
            parts.append(
                f"{self.differing} of {self.count} frequencies differ, "
                f"largest ratio {_short(self.largest_ratio)}"
            )
        else:
            parts.append(f"0 of {self.count} frequencies differ")
        if self.first_position is not None:
            parts.append(f"first phase off by 1 rad at position {self.first_position}")
        for name, ratio in (
            ("cosine and sine", self.magnitude_ratio),
            ("softmax scale", self.softmax_ratio),
        ):
            if _differs(ratio):
                parts.append(f"{name} x{_short(ratio)}")
        return "; ".join((*parts, *self.remarks))

    def __str__(self) -> str:
        return self.text


def compare(first: RopeConfig, second: RopeConfig) -> Effect:
    """Measure how the first of two embeddings differs from the second.

    The first is what is used and the second what should be, for ratios to read as "is x
    times too large".

    Raises:
        ValueError: If an embedding has values from which no frequencies follow, see
            ``inverse_frequencies``.
    """
    return compare_rotations(rotation(first), rotation(second))


def size(first: RopeConfig, second: RopeConfig) -> str | None:
    """Return what `compare` measures in words, or None where no frequencies follow."""
    try:
        return compare(first, second).text
    except (OverflowError, ValueError):
        return None


def rotation(rope: RopeConfig) -> Rotation:
    """Return what an embedding does to a head, in numbers.

    Raises:
        ValueError: If its values lead to no frequencies.
    """
    scale = position_scale(rope)
    skipped = rope.no_rope_layers or ()
    return Rotation(
        frequencies=tuple(one * scale for one in inverse_frequencies(rope)),
        magnitude=1.0 if rope.magnitude is None else rope.magnitude,
        softmax_multiplier=1.0 if rope.softmax_multiplier is None else rope.softmax_multiplier,
        interleaved=bool(rope.rotary_interleaved),
        sections=rope.mrope_section if rope.kind == "mrope" else None,
        skipped=skipped if any(skipped) else (),
    )


def with_factors(rope: RopeConfig) -> RopeConfig:
    """Return a config with the magnitude that follows from its other values.

    For YaRN under multi-latent attention also with the softmax multiplier that follows.
    Without YaRN, cosine and sine are multiplied with nothing.

    Raises:
        ValueError: No magnitude follows from its values.
    """
    if rope.kind != "yarn":
        return dataclasses.replace(rope, magnitude=1.0)
    factor, all_dim = rope.rotary_scaling_factor, rope.mscale_all_dim
    if factor is None:
        raise ValueError("rotary_scaling_factor is not set")
    softmax = rope.softmax_multiplier
    if rope.attention == "mla" and all_dim is not None:
        softmax = softmax_multiplier(factor, all_dim)
    return dataclasses.replace(
        rope, magnitude=magnitude(factor, rope.mscale, all_dim), softmax_multiplier=softmax
    )


def compare_rotations(first: Rotation, second: Rotation) -> Effect:
    """Measure how the first of two rotations differs from the second."""
    left, right = first.frequencies, second.frequencies
    remarks = list(_remarks(first, second))
    if len(left) != len(right):
        remarks.insert(0, f"{_width(left)} rotated against {_width(right)}")
        differing, largest, position = max(len(left), len(right)), None, None
    else:
        differing, largest, position = _frequencies(left, right)
    return Effect(
        differing=differing,
        count=max(len(left), len(right)),
        largest_ratio=largest,
        first_position=position,
        magnitude_ratio=_ratio(first.magnitude, second.magnitude),
        softmax_ratio=_ratio(first.softmax_multiplier, second.softmax_multiplier),
        remarks=tuple(remarks),
    )


def same_frequency(one: float, other: float) -> bool:
    """Return whether two frequencies differ by no more than float32 rounding."""
    return math.isclose(one, other, rel_tol=SAME_FREQUENCY, abs_tol=0.0)


def _frequencies(left: Sequence[float], right: Sequence[float]) -> tuple[int, float, int | None]:
    """Return how many frequencies differ, their largest ratio, and where it shows first."""
    differing, largest, apart = 0, 1.0, 0.0
    for one, other in zip(left, right, strict=True):
        if same_frequency(one, other):
            continue
        differing += 1
        apart = max(apart, abs(one - other))
        low, high = sorted((one, other))
        largest = max(largest, high / low if low > 0 else math.inf)
    # The first whole number of positions whose product with the distance is above 1.
    position = math.floor(1.0 / apart) + 1 if apart > 0 and 1.0 / apart < math.inf else None
    return differing, largest, position


def _remarks(first: Rotation, second: Rotation) -> list[str]:
    remarks: list[str] = []
    if not first.frequencies or not second.frequencies:
        return remarks
    if first.interleaved != second.interleaved:
        words = ("halves", "neighbours")
        remarks.append(f"pairs are {words[first.interleaved]} against {words[second.interleaved]}")
    if first.sections != second.sections:
        if first.sections is None or second.sections is None:
            remarks.append("the same where all axes of a position are equal, as in text")
        else:
            remarks.append(f"sections {_listed(first.sections)} against {_listed(second.sections)}")
    if first.skipped != second.skipped:
        length = max(len(first.skipped), len(second.skipped))
        padded = [(*one.skipped, *[0] * (length - len(one.skipped))) for one in (first, second)]
        count = sum(bool(one) != bool(other) for one, other in zip(*padded, strict=True))
        if count:
            remarks.append(f"{count} of {length} layers rotate in one and not in the other")
    return remarks


def _width(frequencies: Sequence[float]) -> str:
    return f"{2 * len(frequencies)} elements" if frequencies else "none"


def _ratio(first: float, second: float) -> float:
    return first / second if second else (1.0 if first == second else math.inf)


def _differs(ratio: float) -> bool:
    return not math.isclose(ratio, 1.0, rel_tol=SAME_FACTOR, abs_tol=0.0)


def _short(ratio: float) -> str:
    """Write a ratio with as many digits as say something about it."""
    if ratio >= _LONG_NUMBER:
        return f"{ratio:.2g}"
    if abs(ratio - 1.0) < 1e-3:  # noqa: PLR2004  # "x1.00" would say that nothing differs
        return f"{ratio:.9g}"
    return f"{ratio:.4g}" if ratio < _TWO_DIGITS else f"{ratio:.1f}"


def _listed(values: Sequence[int]) -> str:
    return " ".join(str(value) for value in values)
