"""What contracts demand, as the rotation that would satisfy them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_ropecontract.contracts.checkpoints import expected as expecting
from pytest_ropecontract.rope import effect

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.checkpoints.published import Checkpoint
    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.rope.config import RopeConfig


@dataclass(frozen=True)
class Demand:
    """What one contract demands.

    Attributes:
        of: ``expected`` by a mark, or published by a ``checkpoint``.
        name: The mark as it is written, or the checkpoint's file.
        rotation: What would satisfy it, or None where no frequencies follow.
    """

    of: Literal["expected", "checkpoint"]
    name: str
    rotation: effect.Rotation | None


def of_expectation(expectation: Expectation, built: RopeConfig) -> Demand:
    """Return what a mark demands; what it does not name is as it is built."""
    wanted = expectation.config(built)
    rotation = None
    if wanted is not None:
        try:
            rotation = effect.rotation(wanted)
        except ValueError:  # a value that is needed is expected to be absent
            rotation = None
    return Demand("expected", expectation.text(), rotation)


def of_checkpoint(checkpoint: Checkpoint, built: RopeConfig) -> list[Demand]:
    """Return what a checkpoint publishes, one for every embedding; the rest is as it is built."""
    return [
        Demand(
            "checkpoint",
            checkpoint.name if one.layers is None else f"{checkpoint.name} ({one.layers})",
            expecting.rotation(one, built, None),
        )
        for one in checkpoint.ropes
    ]
