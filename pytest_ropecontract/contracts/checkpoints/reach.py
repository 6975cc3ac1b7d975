"""Which flags, if any, make a model use a value: found out by using them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ropecontract.contracts.checkpoints.expected import (
    FOLLOWS_FROM,
    at_published_factor,
    softmax_multiplier,
)
from pytest_ropecontract.contracts.expectation import equal
from pytest_ropecontract.contracts.rules import NO_FUSION, ROPE_DESTS
from pytest_ropecontract.megatron.framework import PipelineCallError
from pytest_ropecontract.rope import effect
from pytest_ropecontract.rope.frequencies import yarn_get_mscale
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_ropecontract.contracts.checkpoints.comparison import Difference
    from pytest_ropecontract.contracts.checkpoints.published import PublishedRope
    from pytest_ropecontract.megatron.pipeline import Pipeline
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution


@dataclass(frozen=True)
class Reached:
    """Whether some flags make a model use a value.

    Attributes:
        flags: The tokens that do, an empty list where removing a flag does, or None where
            nothing does.
        remedy: What to type.
        reason: Why nothing does.
    """

    flags: tuple[str, ...] | None
    remedy: str
    reason: str = ""


@dataclass(frozen=True)
class _Candidate:
    """An argv that may lead to a value: what is added to a definition's, and removed."""

    argv: tuple[str, ...]
    added: tuple[str, ...]
    removed: str | None = None

    @property
    def text(self) -> str:
        """What to do."""
        added, removed = " ".join(self.added), self.removed
        if not added:
            return f"remove {removed} from the definition"
        what = f"declare {added}" if removed is None else f"replace {removed} by {added}"
        return f"{what} in the definition"


class Finder(Protocol):
    """Finds out what makes a model use a value."""

    def find(
        self, resolution: Resolution, difference: Difference, published: PublishedRope
    ) -> Reached:
        """Return what makes a model use a published value.

        Args:
            resolution: What is built.
            difference: The field, and the published value.
            published: The whole that it is part of.
        """


class Attributes:
    """Finds the attribute of a config that was built in code."""

    def find(
        self, resolution: Resolution, difference: Difference, published: PublishedRope
    ) -> Reached:
        """Return which attribute makes a model use a published value."""
        refused = _refused(difference, published)
        if refused is not None:
            return refused
        field = difference.field
        name = FOLLOWS_FROM.get(field, field)
        source = resolution.sources.get(name)
        if source is not None and source.origin == "constructor-default":
            settable = source.text.startswith("GPTModel.")
            source = source if settable else None
        if source is None and field not in ("no_rope_layers", "softmax_multiplier"):
            remedy = "allow the deviation, or construct the embedding in another way"
            return Reached(None, remedy, "and nothing of the config sets it")
        if source is not None:
            return Reached((), f"set {source.text}")
        return Reached((), f"set {'no_rope_freq' if name == field else name}")


def _refused(difference: Difference, published: PublishedRope) -> Reached | None:
    """Return why Megatron cannot build a published kind at all, or None where it can."""
    if difference.field == "kind" and published.refusal is not None:
        remedy = "allow the deviation (rope_contract_allow), or train this model elsewhere"
        return Reached(None, remedy, f"and {published.refusal}")
    sections = difference.field in ("kind", "mrope_interleaved")
    if sections and published.values.get("mrope_interleaved"):
        why = "and Megatron divides frequencies into contiguous sections, not interleaved ones"
        return Reached(None, "allow it where only text is trained (rope_contract_allow)", why)
    return None


class Reach:
    """Finds the flags that make a model use a value, by resolving the model with them.

    A flag that is parsed and never handed on, one whose type cannot hold the value, and one
    that makes the config refuse are thereby told from one that works.

    Args:
        pipeline: What resolves an argv.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def find(
        self, resolution: Resolution, difference: Difference, published: PublishedRope
    ) -> Reached:
        """Return which flags make a model use a published value.

        Args:
            resolution: What is built without them.
            difference: The field, and the published value.
            published: The whole that it is part of.
        """
        surface = self.pipeline.megatron.surface.name
        refused = _refused(difference, published)
        if refused is not None:
            return refused
        for one in self._candidates(resolution, difference, published):
            if self._uses(one.argv, difference, published):
                return Reached(one.added, one.text)
        return Reached(
            None,
            "add a flag that reaches it (rope_contract_arguments, rope_contract_rotary), or "
            "allow the deviation (rope_contract_allow)",
            f"and no flag of {surface} sets it",
        )

    def _uses(self, argv: Sequence[str], difference: Difference, published: PublishedRope) -> bool:
        """Return whether an argv leads to the published value."""
        try:
            rope = resolve(self.pipeline, argv).rope
        except PipelineCallError:
            return False
        if rope is not None and difference.field in effect.FACTORS:
            rope = at_published_factor(published, rope)
        if rope is None:
            return False
        actual = getattr(rope, difference.field)
        if difference.field == "no_rope_layers":
            actual = tuple(int(bool(one)) for one in actual or (0,) * len(difference.expected))
            actual = actual[: len(difference.expected)]
        return equal(difference.expected, actual)

    def _candidates(
        self, resolution: Resolution, difference: Difference, published: PublishedRope
    ) -> list[_Candidate]:
        """Return what may lead to the value."""
        argv = resolution.argv
        source = resolution.sources.get(difference.field)
        without: _Candidate | None = None
        if source is not None and source.origin == "declared" and source.dest is not None:
            without = _Candidate(self._without(resolution, source.dest), (), source.text)
        found = []
        for tokens in self._additions(resolution, difference, published):
            found.append(_Candidate((*argv, *tokens), tokens))
            if difference.field != "kind":
                continue
            # A parser that has no such flag drops it or refuses it: nothing is reached by it.
            unfused = (*tokens, NO_FUSION)
            found.append(_Candidate((*argv, *unfused), unfused))
            if without is not None:
                # --use-rotary-position-embeddings overrides what is said beside it.
                found.append(_Candidate((*without.argv, *tokens), tokens, without.removed))
        if without is not None:
            found.append(without)
        return found

    def _without(self, resolution: Resolution, dest: str) -> tuple[str, ...]:
        """Return a definition's argv without the flags of one namespace attribute."""
        tokens = list(resolution.parsed.argv)
        removed: set[int] = set()
        for one in resolution.parsed.occurrences:
            if one.dest == dest:
                removed.update(range(one.start, one.stop))
        start = resolution.parsed.base_length
        return tuple(
            token for index, token in enumerate(tokens) if index >= start and index not in removed
        )

    def _additions(
        self, resolution: Resolution, difference: Difference, published: PublishedRope
    ) -> Iterator[tuple[str, ...]]:
        rope = resolution.built
        field, value = difference.field, difference.expected
        mla = rope.attention == "mla"
        if field == "kind":
            yield from self._kind("rope_type" if mla else "position_embedding_type", published)
        elif field == "rotary_dim":
            yield from self._width(rope, value, mla=mla)
        elif field in ("magnitude", "softmax_multiplier"):
            yield from self._mscales(rope, published, field)
        elif field == "no_rope_layers":
            yield from self._stated("no_rope_freq", "[" + ",".join(map(str, value)) + "]")
        else:
            for dest, fields in ROPE_DESTS.items():
                if field in fields:
                    yield from self._stated(dest, value)

    def _kind(self, selector: str, published: PublishedRope) -> Iterator[tuple[str, ...]]:
        for tokens in self._stated(selector, published.kind):
            if published.kind == "mrope":
                sections = map(str, published.values["mrope_section"])
                yield (*tokens, "--mrope-section", *sections)
            else:
                yield tokens

    def _width(self, rope: RopeConfig, width: int, *, mla: bool) -> Iterator[tuple[str, ...]]:
        rotated, percent = rope.rotary_dim or 0, rope.rotary_percent
        whole = round(rotated / percent) if percent and percent < 1 else rotated
        # A fraction that leaves nothing of a head does not tell how wide it is.
        share = width / whole if whole else 1.0
        # Multi-latent attention has a part of its own for rotation, which is rotated whole.
        if share == 1 or not mla:
            yield from self._stated("rotary_percent", share)
        yield from self._stated("qk_pos_emb_head_dim" if mla else "kv_channels", width)

    def _mscales(
        self, rope: RopeConfig, published: PublishedRope, field: str
    ) -> Iterator[tuple[str, ...]]:
        """Yield the mscales from which a magnitude and a softmax multiplier follow."""
        if rope.kind != "yarn":
            yield from self._stated("mscale_all_dim", 0)
            return
        factor = published.values.get("rotary_scaling_factor", rope.rotary_scaling_factor)
        softmax = softmax_multiplier(published, rope.attention, factor)
        wanted = published.values.get("magnitude")
        if factor is None or factor <= 1 or softmax is None:
            return
        growth = 0.1 * math.log(factor)
        all_dim = (math.sqrt(softmax) - 1.0) / growth
        for scale in self._stated("mscale_all_dim", _tidy(all_dim)):
            if field == "softmax_multiplier" or rope.attention != "mla":
                yield scale
            if wanted is not None:
                mscale = (wanted * yarn_get_mscale(factor, all_dim) - 1.0) / growth
                for numerator in self._stated("mscale", _tidy(mscale)):
                    yield (*numerator, *scale)

    def _stated(self, dest: str, value: Any) -> Iterator[tuple[str, ...]]:
        for one in self.pipeline.statements(dest):
            if not one.anything:
                if one.constant is value:
                    yield (one.flag,)
            elif not isinstance(value, bool):
                values = value if isinstance(value, tuple) else (value,)
                yield (one.flag, *(_written(single) for single in values))


def _tidy(value: float) -> float:
    """Return the short decimal that a value was, before a logarithm was taken of it."""
    short = round(value, 6)
    return short if math.isclose(short, value, abs_tol=1e-12) else value


def _written(value: Any) -> str:
    """Write a value as a flag takes it: whole numbers without a fraction, others exactly."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
