"""What can be left out of a command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_ropecontract import paths
from pytest_ropecontract.contracts.rules import OTHER_DESTS, ROPE_DESTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_ropecontract.megatron.command_line import Occurrence
    from pytest_ropecontract.megatron.pipeline import Pipeline


# Beside what rotates: what decides over the config class, the layers or the adapter.
RELEVANT = (
    frozenset(ROPE_DESTS)
    | OTHER_DESTS
    | {"apply_rope_fusion", "spec", "group_query_attention", "hybrid_layer_pattern"}
)


@dataclass(frozen=True)
class Omission:
    """A command line with some of its flags left out.

    Attributes:
        argv: The tokens that remain.
        omitted: The flags that are left out, with their values, in order.
        indices: Their places among the flags of the whole command line.
    """

    argv: tuple[str, ...]
    omitted: tuple[str, ...]
    indices: frozenset[int]

    def __repr__(self) -> str:
        text = f"without {', '.join(self.omitted)}" if self.omitted else "without nothing"
        # A token may hold what no terminal, and no other process, takes as text.
        return paths.printable(text)

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        # Hypothesis would print a dataclass field by field, the whole command line first.
        printer.text(repr(self))


@dataclass(frozen=True)
class Units:
    """A command line as the units that can be left out of it: a flag with its values.

    Attributes:
        argv: The whole command line, without the base args.
        occurrences: Its units, in order; together they cover every token once.
    """

    argv: tuple[str, ...]
    occurrences: tuple[Occurrence, ...]

    def __len__(self) -> int:
        return len(self.occurrences)

    def remaining(self, omitted: Iterable[int]) -> tuple[str, ...]:
        """Return the tokens of the units that are not left out."""
        gone = frozenset(omitted)
        return tuple(
            token
            for index, one in enumerate(self.occurrences)
            if index not in gone
            for token in self.argv[one.start : one.stop]
        )

    def omission(self, omitted: Iterable[int]) -> Omission:
        """Return the command line without some units."""
        indices = frozenset(omitted)
        texts = tuple(self.occurrences[index].text for index in sorted(indices))
        return Omission(self.remaining(indices), texts, indices)

    def named(self, names: Iterable[str]) -> frozenset[int]:
        """Return the units whose flag, or whose dest, is one of some names."""
        wanted = frozenset(names)
        return frozenset(
            index
            for index, one in enumerate(self.occurrences)
            if one.flag in wanted or one.dest in wanted
        )

    def by_dest(self) -> list[frozenset[int]]:
        """Return the units that set the same namespace attribute, together."""
        found: dict[str, set[int]] = {}
        for index, one in enumerate(self.occurrences):
            if one.dest is not None:
                found.setdefault(one.dest, set()).add(index)
        return [frozenset(places) for places in found.values()]


def units_of(pipeline: Pipeline, argv: Sequence[str]) -> Units:
    """Split a command line into units, by the flags that a pipeline's parser knows."""
    tokens = tuple(argv)
    return Units(tokens, pipeline.split(tokens))
