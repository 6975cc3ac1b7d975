"""What would be built if it were as a checkpoint publishes it."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from pytest_ropecontract.rope import effect, float32, frequencies

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.checkpoints.published import PublishedRope
    from pytest_ropecontract.rope.config import Attention, RopeConfig

COMPARED: tuple[str, ...] = (
    "rotary_base",
    "rotary_dim",
    "rotary_scaling_factor",
    "original_max_position_embeddings",
    "beta_fast",
    "beta_slow",
    "round_to_int",
    "rope_scaling",
    "rope_scaling_factor",
    "seq_len_interpolation_factor",
    "mrope_section",
    "no_rope_layers",
)
INTERPOLATION = "seq_len_interpolation_factor"
# The field of RopeConfig that a compared factor follows from, and whose origin is its own.
FOLLOWS_FROM = {"magnitude": "mscale", "softmax_multiplier": "mscale_all_dim"}
_LLAMA3_LENGTH = 8192
_LLAMA3_CONSTANTS = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}


def softmax_multiplier(
    published: PublishedRope, attention: Attention, factor: float | None
) -> float | None:
    """Return what a checkpoint's attention multiplies its softmax scale with.

    Multi-latent attention of transformers squares ``yarn_get_mscale`` where the type is not
    ``default`` and ``mscale_all_dim`` is not 0; other attention multiplies with nothing.
    """
    if attention != "mla" or published.kind != "yarn":
        return 1.0
    mscale = published.values.get("mscale_all_dim")
    if mscale is None or factor is None:
        return None
    try:
        return frequencies.softmax_multiplier(factor, mscale)
    except ValueError:
        return None


def at_published_factor(published: PublishedRope, built: RopeConfig) -> RopeConfig | None:
    """Return what is built with the published scaling factor, where one is published.

    Returns:
        With the magnitude and the softmax multiplier that follow, or None where none do.
    """
    factor = published.values.get("rotary_scaling_factor", built.rotary_scaling_factor)
    try:
        return effect.with_factors(dataclasses.replace(built, rotary_scaling_factor=factor))
    except ValueError:
        return None


def config(published: PublishedRope, built: RopeConfig, field: str | None) -> RopeConfig | None:
    """Return what is built with the published values in place of its own.

    Args:
        published: The published embedding.
        built: What is built.
        field: The one field that is replaced, or None for all. A kind, or the llama3 rule,
            is replaced with everything that belongs to it.

    Returns:
        None where Megatron has no class for it.
    """
    if published.kind is None:
        return None
    values = published.values
    whole = field in (None, "kind", "rope_scaling")
    names = [name for name in COMPARED if whole or name == field]
    changes = {name: values[name] for name in names if name in values}
    if whole:
        # A type that has no llama3 rule, or does not divide positions, does not say so.
        unstated = {"rope_scaling": False, INTERPOLATION: None}
        changes = {"kind": published.kind, **unstated, **changes}
        if field is not None:
            # What has a finding of its own is not part of this one.
            for name in ("rotary_base", "rotary_dim", "no_rope_layers"):
                changes.pop(name, None)
    elif field == INTERPOLATION:
        changes = {INTERPOLATION: None, **changes}
    rope = dataclasses.replace(built, **changes)
    if whole or field in ("magnitude", "softmax_multiplier", "rotary_scaling_factor"):
        rope = _with_factors(published, built, rope, field)
    return rope


def _with_factors(
    published: PublishedRope, built: RopeConfig, rope: RopeConfig, field: str | None
) -> RopeConfig:
    magnitude = published.values.get("magnitude", rope.magnitude)
    factor = published.values.get("rotary_scaling_factor", built.rotary_scaling_factor)
    softmax = softmax_multiplier(published, built.attention, factor)
    if field == "magnitude":
        return dataclasses.replace(rope, magnitude=magnitude)
    if field == "softmax_multiplier":
        return dataclasses.replace(rope, softmax_multiplier=softmax)
    if softmax is None:
        softmax = rope.softmax_multiplier
    return dataclasses.replace(rope, magnitude=magnitude, softmax_multiplier=softmax)


def rotation(
    published: PublishedRope, built: RopeConfig, field: str | None
) -> effect.Rotation | None:
    """Return what a checkpoint's embedding does to a head, in numbers.

    Args:
        published: The published embedding.
        built: What is built; its values stand for those that are not published.
        field: The one field that is replaced in what is built, or None for all.

    Returns:
        None where no frequencies follow, or the type is one that Megatron has no class for.
    """
    rope = config(published, built, field)
    if rope is None:
        return None
    try:
        rotated = effect.rotation(rope)
        if rope.kind == "rope" and rope.rope_scaling:
            rule = _llama3_rule(published, rope, field)
            if rule is not None:
                plain = dataclasses.replace(rope, rope_scaling=False)
                rotated = dataclasses.replace(
                    rotated,
                    frequencies=tuple(map(rule, effect.rotation(plain).frequencies)),
                )
    except ValueError:
        return None
    return rotated


def _llama3_rule(published: PublishedRope, rope: RopeConfig, field: str | None) -> _Llama3 | None:
    """Return the rule with the published constants, None where they are Megatron's."""
    constants: dict[str, float] = {
        "original_max_position_embeddings": _LLAMA3_LENGTH,
        **_LLAMA3_CONSTANTS,
    }
    own = dict(constants)
    for name in own:
        if name in published.values and field in (None, "kind", "rope_scaling", name):
            own[name] = published.values[name]
    if own == constants or rope.rope_scaling_factor is None:
        return None
    return _Llama3(
        rope.rope_scaling_factor,
        own["original_max_position_embeddings"],
        own["low_freq_factor"],
        own["high_freq_factor"],
    )


@dataclasses.dataclass(frozen=True)
class _Llama3:
    """The llama3 rule with constants of its own, which Megatron does not take.

    From ``_compute_llama3_parameters`` of transformers, in float32.
    """

    factor: float
    length: float
    low: float
    high: float

    def __call__(self, frequency: float) -> float:
        wavelength = float32.rounded(2 * math.pi / frequency)
        if wavelength > self.length / self.low:
            return float32.rounded(frequency / self.factor)
        if wavelength < self.length / self.high or self.high == self.low:
            return frequency
        smooth = (self.length / wavelength - self.low) / (self.high - self.low)
        return float32.rounded((1 - smooth) * frequency / self.factor + smooth * frequency)
