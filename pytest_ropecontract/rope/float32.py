"""Single precision arithmetic on Python floats.

A sum, difference, product or quotient of two float32 values, computed in double precision
and rounded once, is the correctly rounded float32 result: a double has more than twice the
digits that are needed. An expression rounded after every operation is therefore what an
IEEE 754 float32 kernel computes, bit for bit.
"""

from __future__ import annotations

import math
import struct

_FLOAT32 = struct.Struct("<f")

LARGEST = float.fromhex("0x1.fffffep+127")
SMALLEST_NORMAL = float.fromhex("0x1p-126")


def rounded(value: float) -> float:
    """Return the float32 nearest to ``value``, as a Python float.

    Ties go to the even neighbour. What is too large becomes infinite and NaN stays NaN, as
    in a float32 kernel.
    """
    try:
        result: float = _FLOAT32.unpack(_FLOAT32.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return result


def reciprocal(value: float) -> float:
    """Return the float32 nearest to ``1 / value``; infinite, with the sign of zero, at zero."""
    if value == 0.0:
        return math.copysign(math.inf, value)
    return rounded(1.0 / value)
