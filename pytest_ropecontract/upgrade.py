"""Whose RoPE, or whose acceptance, another Megatron changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts import rules
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.pipeline import Pipeline
from pytest_ropecontract.rope import effect
from pytest_ropecontract.rope.config import FIELDS
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.megatron.backend import Megatron
    from pytest_ropecontract.megatron.pipeline import PipelineSettings
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Source

# Findings that say that a training run cannot start.
REFUSING_RULES = frozenset({"rejected-flag", "config-refused"})
DROPPED = "dropped-flag"


@dataclass(frozen=True)
class Outcome:
    """What one Megatron makes of a definition.

    Attributes:
        rope: What is built, or None where nothing is.
        sources: Where the fields of ``rope`` come from.
        refusals: Why no run can start, a sentence each; empty where it can.
        dropped: The flags, with their values, that are dropped without a word.
    """

    rope: RopeConfig | None
    sources: dict[str, Source]
    refusals: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether a training run can start."""
        return not self.refusals


@dataclass(frozen=True)
class FieldChange:
    """A field of what is built that differs.

    Attributes:
        field: A field of ``RopeConfig``.
        before: Its value with the first Megatron.
        after: Its value with the second.
        origin: Where the second value comes from, in words, or None.
    """

    field: str
    before: Any
    after: Any
    origin: str | None


@dataclass(frozen=True)
class ModelChange:
    """A definition of which two Megatrons make something else.

    Attributes:
        model: Its name.
        before: What the first Megatron makes of it.
        after: What the second makes of it.
        fields: What differs in what is built; empty where only one of them builds anything.
        size: How much that matters, in one line, or None where nothing can be compared.
    """

    model: str
    before: Outcome
    after: Outcome
    fields: tuple[FieldChange, ...] = ()
    size: str | None = None


@dataclass(frozen=True)
class Comparison:
    """What an upgrade does to a set of definitions.

    Attributes:
        models: The definitions that were compared.
        changes: Those of which something else is made.
        refused: Those that both Megatrons refuse, with why the second one does.
        unusable: Those that could not be expanded or resolved, with the reason.
    """

    models: tuple[str, ...]
    changes: tuple[ModelChange, ...]
    refused: dict[str, tuple[str, ...]]
    unusable: dict[str, RopeContractError]


def compare_models(
    registry: Registry,
    models: Sequence[str],
    both: tuple[Megatron, Megatron],
    settings: PipelineSettings,
) -> Comparison:
    """Resolve definitions with two Megatrons and return what changes from one to the other.

    Args:
        registry: The definitions.
        models: The names of those to compare.
        both: The Megatron that is used and the one to change to.
        settings: What surrounds the parser, with both.

    Raises:
        RopeContractError: A setting of the pipeline cannot be used.
    """
    first, second = (Pipeline(megatron, settings) for megatron in both)
    changes: list[ModelChange] = []
    refused: dict[str, tuple[str, ...]] = {}
    unusable: dict[str, RopeContractError] = {}
    for model in models:
        try:
            argv = registry[model].expand().argv
            before, after = (outcome(one, model, argv) for one in (first, second))
        except RopeContractError as error:
            unusable[model] = error
            continue
        if not before.accepted and not after.accepted:
            refused[model] = after.refusals
        change = changed(model, before, after)
        if change is not None:
            changes.append(change)
    return Comparison(tuple(models), tuple(changes), refused, unusable)


def outcome(pipeline: Pipeline, model: str, argv: Sequence[str]) -> Outcome:
    """Return what one Megatron makes of a command line.

    Raises:
        RopeContractError: A function of the framework raised.
    """
    resolution = resolve(pipeline, argv)
    findings = rules.check(model, resolution, pipeline)
    refusals = tuple(one.message for one in findings if one.rule in REFUSING_RULES)
    return Outcome(
        # A parser that does not know a flag ends the run, whatever the other flags lead to.
        rope=None if refusals else resolution.rope,
        sources=dict(resolution.sources),
        refusals=refusals,
        dropped=tuple(one.flag or "" for one in findings if one.rule == DROPPED),
    )


def changed(model: str, before: Outcome, after: Outcome) -> ModelChange | None:
    """Return in what two outcomes differ, or None where they do not.

    That both refuse a definition for another reason is no change: no run can start.
    """
    if not before.accepted and not after.accepted:
        return None
    if before.rope == after.rope and before.dropped == after.dropped:
        return None
    if before.rope is None or after.rope is None:
        return ModelChange(model, before, after)
    differing = _fields(before.rope, after.rope, after.sources)
    size = effect.size(after.rope, before.rope) if differing else None
    return ModelChange(model, before, after, tuple(differing), size)


def _fields(
    before: RopeConfig, after: RopeConfig, sources: dict[str, Source]
) -> Iterable[FieldChange]:
    found = []
    for name in FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            source = sources.get(name)
            origin = None if source is None else f"{source.origin}: {source.text}"
            found.append(FieldChange(name, old, new, origin))
    return found
