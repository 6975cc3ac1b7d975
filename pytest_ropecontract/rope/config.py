"""The effective rotary position embedding, under one vocabulary for every attention."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["rope", "yarn", "mrope", "none"]
Attention = Literal["mla", "gpt", "hybrid"]


@dataclass(frozen=True)
class RopeConfig:
    """What the constructed rotary embedding uses.

    A field is None where nothing that is built reads it: ``beta_fast`` of plain RoPE,
    ``rotary_percent`` of YaRN.

    Attributes:
        kind: ``rope``, ``yarn``, ``mrope`` or ``none``, decided by what is constructed.
        attention: ``mla`` (multi-latent), ``gpt`` (common) or ``hybrid``.
        rotary_base: The base (theta) of the frequencies.
        rotary_dim: The rotated width of a head, in elements; there are half as many
            frequencies.
        rotary_percent: The fraction of the head that is rotated, already in ``rotary_dim``.
        rotary_interleaved: Whether pairs are neighbours instead of halves.
        rotary_scaling_factor: YaRN's factor.
        original_max_position_embeddings: The length, in tokens, that YaRN or the llama3
            rule stretches from.
        beta_fast: Rotations above which a frequency is kept.
        beta_slow: Rotations below which a frequency is divided by the factor.
        mscale: Numerator of YaRN's magnitude.
        mscale_all_dim: Denominator of YaRN's magnitude, and MLA's softmax scale.
        round_to_int: Whether the correction range is rounded to whole dimensions.
        rope_scaling: Whether the llama3 rule is applied.
        rope_scaling_factor: The factor of the llama3 rule.
        seq_len_interpolation_factor: What positions are divided by.
        mrope_section: Frequencies for the temporal, height and width axis.
        no_rope_layers: Per layer, 1 where rotation is skipped; None where no layer skips it.
        magnitude: What cosine and sine are multiplied with.
        softmax_multiplier: What the softmax scale is multiplied with.
        rotary_class: Name of the Megatron class that is constructed.
        returns: Number of results of that class's ``forward``.
    """

    kind: Kind
    attention: Attention
    rotary_base: float | None = None
    rotary_dim: int | None = None
    rotary_percent: float | None = None
    rotary_interleaved: bool | None = None
    rotary_scaling_factor: float | None = None
    original_max_position_embeddings: int | None = None
    beta_fast: float | None = None
    beta_slow: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    round_to_int: bool | None = None
    rope_scaling: bool | None = None
    rope_scaling_factor: float | None = None
    seq_len_interpolation_factor: float | None = None
    mrope_section: tuple[int, ...] | None = None
    no_rope_layers: tuple[int, ...] | None = None
    magnitude: float | None = None
    softmax_multiplier: float | None = None
    rotary_class: str | None = None
    returns: int | None = None

    @classmethod
    def from_config(cls, config: object, **arguments: Any) -> RopeConfig:
        """Return what a model builds from a config object that was made in code.

        Args:
            config: A ``TransformerConfig`` or ``MLATransformerConfig``, one of a subclass,
                as a bridge's provider is, or a ``GPTModelConfig`` that holds one.
            arguments: What the model is given beside it, where the config does not have it:
                ``position_embedding_type``, ``rotary_base``, ``rotary_percent``,
                ``seq_len_interpolation_factor``, ``rope_scaling``, ``rope_scaling_factor``.

        Raises:
            RopeContractError: An attribute is missing or has a value from which no
                embedding follows, or an argument is not one of these.
        """
        from pytest_ropecontract.rope.built import (  # noqa: PLC0415  # it imports this module
            resolve_config,
        )

        return resolve_config(config, **arguments).built


FIELDS: tuple[str, ...] = tuple(field.name for field in fields(RopeConfig))
DERIVED_FIELDS: frozenset[str] = frozenset(
    {"attention", "magnitude", "softmax_multiplier", "rotary_class", "returns"}
)

_NUMBERS = (
    *("rotary_base", "rotary_percent", "rotary_scaling_factor", "beta_fast", "beta_slow"),
    *("original_max_position_embeddings", "mscale", "mscale_all_dim", "rope_scaling_factor"),
    "seq_len_interpolation_factor",
)
_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    **dict.fromkeys(_NUMBERS, ((int, float), "a number")),
    "rotary_dim": (int, "a whole number"),
    **dict.fromkeys(
        ("rotary_interleaved", "round_to_int", "rope_scaling"), (bool, "True or False")
    ),
    **dict.fromkeys(("mrope_section", "no_rope_layers"), (tuple, "a list")),
}


def check_types(values: Mapping[str, Any]) -> None:
    """Refuse what no embedding is built from; a framework or a surface may hand on anything.

    Args:
        values: Fields of a ``RopeConfig``.

    Raises:
        TypeError: A value is of another type than its field.
    """
    for name, value in values.items():
        if value is not None and name in _TYPES:
            types, word = _TYPES[name]
            if not isinstance(value, types):
                raise TypeError(f"{name} is {value!r}, not {word}")
