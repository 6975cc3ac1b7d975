"""What a checkpoint publishes about its rotary embedding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ropecontract.rope.config import Kind

ProblemRule = Literal["checkpoint", "unknown-checkpoint-key"]


@dataclass(frozen=True)
class Problem:
    """Something in a checkpoint's file that cannot be read without guessing.

    Attributes:
        rule: The rule that it breaks.
        message: What is wrong, in one sentence.
        field: The RopeConfig field that it concerns, or None.
        remedy: What to change.
    """

    rule: ProblemRule
    message: str
    field: str | None = None
    remedy: str | None = None


@dataclass(frozen=True)
class PublishedRope:
    """One rotary embedding as a checkpoint publishes it.

    A field that the file does not state, and that does not follow from what it states, is
    not in ``values``: it is not compared.

    Attributes:
        rope_type: The type under transformers' name, for example ``llama3``.
        kind: The kind under Megatron's name, or None where no class of Megatron is of this
            type.
        values: The values of RopeConfig fields, and of a few for which RopeConfig has no
            field because Megatron has no choice: ``low_freq_factor``, ``high_freq_factor``,
            ``mrope_interleaved``.
        sources: Where every value comes from: the path in the JSON document, or the default
            of the type.
        layers: The layers that use it, where not all do; for example ``full_attention``.
        layer_count: How many layers that are, or None where the file does not say.
        refusal: Why Megatron cannot build it, or None where it can, or where the type is not
            known.
    """

    rope_type: str
    kind: Kind | None
    values: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    layers: str | None = None
    layer_count: int | None = None
    refusal: str | None = None


@dataclass(frozen=True)
class Checkpoint:
    """What one file publishes.

    Attributes:
        name: What the file is called in texts: its path, relative to the project.
        ropes: The embeddings; more than one where layers differ, none where the file says
            nothing about RoPE or cannot be read.
        problems: What cannot be read without guessing.
    """

    name: str = field(compare=False)
    ropes: tuple[PublishedRope, ...] = ()
    problems: tuple[Problem, ...] = ()
