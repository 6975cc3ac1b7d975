"""The numbers that are drawn of a model, as plain values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.rope import curves, effect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.contracts.demands import Demand
    from pytest_ropecontract.rope.config import RopeConfig

RESOLVED = "resolved"


def curve_documents(rope: RopeConfig | None, demands: Sequence[Demand]) -> list[Any]:
    """Return the curve of what is built, then one for everything that a contract demands.

    Nothing is drawn where nothing is built, or where no frequencies follow from it.
    """
    if rope is None:
        return []
    try:
        built = effect.rotation(rope)
    except ValueError:
        return []
    found: list[Any] = [
        {
            "of": RESOLVED,
            "name": rope.rotary_class,
            "wavelengths": _finite(curves.wavelengths(built)),
            "differing": [],
            "phase_errors": None,
            "effect": None,
        }
    ]
    for one in demands:
        wanted = one.rotation
        if wanted is None:
            continue
        phases = curves.phase_errors(built, wanted)
        found.append(
            {
                "of": one.of,
                "name": one.name,
                "wavelengths": _finite(curves.wavelengths(wanted)),
                "differing": list(curves.differing(built, wanted)),
                "phase_errors": None if phases is None else [list(pair) for pair in phases],
                "effect": effect.compare_rotations(built, wanted).text,
            }
        )
    return found


def _finite(values: Sequence[float]) -> list[float | None]:
    """Return numbers that JSON has; None stands for a pair that never turns."""
    return [value if math.isfinite(value) else None for value in values]
