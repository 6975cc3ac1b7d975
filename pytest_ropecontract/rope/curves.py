"""What is drawn of rotary embeddings: wavelengths, and how far phases are apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_ropecontract.rope.effect import same_frequency

if TYPE_CHECKING:
    from pytest_ropecontract.rope.effect import Rotation

POSITIONS: tuple[int, ...] = tuple(2**power for power in range(21))
"""Where phases are compared: the powers of two up to a million tokens."""


def wavelengths(rotation: Rotation) -> tuple[float, ...]:
    """Return after how many positions every rotated pair has made a whole turn.

    ``2 * pi / frequency``, in positions, one for every frequency; infinite for a frequency
    of zero, which float32 has for a base that is large enough.
    """
    return tuple(2 * math.pi / one if one else math.inf for one in rotation.frequencies)


def differing(first: Rotation, second: Rotation) -> tuple[int, ...]:
    """Return the indices of the frequencies that differ by more than float32 rounding.

    Where another width is rotated, all of the wider one do.
    """
    left, right = first.frequencies, second.frequencies
    if len(left) != len(right):
        return tuple(range(max(len(left), len(right))))
    pairs = enumerate(zip(left, right, strict=True))
    return tuple(index for index, pair in pairs if not same_frequency(*pair))


def phase_errors(first: Rotation, second: Rotation) -> tuple[tuple[int, float], ...] | None:
    """Return by how much the phase of the worst pair is off, position by position.

    Returns:
        A position of ``POSITIONS`` with radians each, not reduced to a turn; None where
        another width is rotated, and no pair has a counterpart.
    """
    left, right = first.frequencies, second.frequencies
    if len(left) != len(right):
        return None
    apart = max((abs(left[index] - right[index]) for index in differing(first, second)), default=0)
    return tuple((position, position * float(apart)) for position in POSITIONS)
