"""Leaving out flags: which losses are loud, harmless, guarded, or unnoticed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ropecontract.megatron.framework import PipelineCallError
from pytest_ropecontract.megatron.incremental import IncrementalParser
from pytest_ropecontract.megatron.pipeline import Parsed
from pytest_ropecontract.omission.outcomes import (
    SILENT,
    Outcome,
    outcome,
)
from pytest_ropecontract.omission.units import RELEVANT, Omission, Units, units_of
from pytest_ropecontract.rope.resolution import Refused, Resolution, resolve, resolve_parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_ropecontract.megatron.pipeline import Pipeline

    Guard = Callable[[Resolution], bool]


@dataclass(frozen=True)
class Trial:
    """One omission with what became of it.

    Attributes:
        units: The whole command line.
        indices: The places of what was left out.
        outcome: How what is built differs.
        guarded: Whether a contract of the model finds something; True where the outcome
            is not silent.
        resolution: What is built from what remains.
    """

    units: Units
    indices: frozenset[int]
    outcome: Outcome
    guarded: bool
    resolution: Resolution

    @property
    def omission(self) -> Omission:
        """What was left out."""
        return self.units.omission(self.indices)


class OmissionEngine:
    """Tries omissions from one model's command line.

    Args:
        pipeline: What resolves a command line.
        argv: The model's command line.
        guard: Tells whether a contract of the model finds something on a resolution.
    """

    def __init__(self, pipeline: Pipeline, argv: Sequence[str], guard: Guard) -> None:
        self.pipeline = pipeline
        self.units: Units = units_of(pipeline, argv)
        self.guard = guard
        self.parser = IncrementalParser(pipeline, self.units.argv)
        self.whole = self.resolve(frozenset())
        self._trials: dict[frozenset[int], Trial] = {}

    @property
    def relevant(self) -> frozenset[int]:
        """The units that have to do with RoPE."""
        return self.units.named(RELEVANT)

    def resolve(self, omitted: frozenset[int]) -> Resolution:
        """Resolve what remains without some units.

        Where a function of the framework raises, that refuses the command line.
        """
        try:
            parsed = self.parser.parse(omitted)
            return resolve_parsed(self.pipeline, parsed.argv[parsed.base_length :], parsed)
        except PipelineCallError as error:
            return self._raised(self.units.remaining(omitted), error)

    def resolve_argv(self, argv: Sequence[str]) -> Resolution:
        """Resolve another command line, through the same pipeline.

        Where a function of the framework raises, that refuses the command line.
        """
        try:
            return resolve(self.pipeline, argv)
        except PipelineCallError as error:
            return self._raised(tuple(argv), error)

    def _raised(self, argv: tuple[str, ...], error: PipelineCallError) -> Resolution:
        base = self.pipeline.settings.base_args
        tokens = (*base, *argv)
        parsed = Parsed(tokens, len(base), self.pipeline.split(tokens))
        refused = Refused("framework", type(error.__cause__ or error).__name__, error.headline)
        return Resolution(argv, parsed, refused=refused)

    @property
    def tried(self) -> int:
        """How many different omissions were tried."""
        return len(self._trials)

    def attempt(self, omitted: frozenset[int]) -> Trial:
        """Try one omission; the same one is tried once."""
        if omitted not in self._trials:
            resolution = self.resolve(omitted)
            found = outcome(self.whole, resolution)
            guarded = found not in SILENT or self.guard(resolution)
            self._trials[omitted] = Trial(self.units, omitted, found, guarded, resolution)
        return self._trials[omitted]

    def unrepeated(self, trials: Iterable[Trial]) -> tuple[Resolution, Resolution] | None:
        """Try omissions again, and return the first that is built otherwise now, or None."""
        for trial in trials:
            again = self.resolve(trial.indices)
            # NaN is not equal to itself, but it is written alike.
            if repr(again.rope) != repr(trial.resolution.rope):
                return trial.resolution, again
        return None

    def systematic(self) -> Iterator[frozenset[int]]:
        """Yield every single unit, every pair of RoPE units, and all RoPE units together.

        A flag that is repeated is lost only where all its occurrences are: they are tried
        together, too, and as one of a pair.
        """
        tried = set()
        singles = [frozenset({index}) for index in range(len(self.units))]
        relevant = self.relevant
        repeated = [places for places in self.units.by_dest() if len(places) > 1]
        chosen = [one for one in (*singles, *repeated) if one <= relevant]
        pairs = (one | other for one, other in itertools.combinations(chosen, 2))
        for omitted in (*singles, *repeated, *pairs, relevant):
            if omitted and omitted not in tried:
                tried.add(omitted)
                yield omitted

    def quiet(self) -> list[int]:
        """Return the units that nobody notices where they alone are lost."""
        alone = [self.attempt(frozenset({index})) for index in range(len(self.units))]
        return [
            index
            for index, trial in enumerate(alone)
            if trial.outcome == "same" or not trial.guarded
        ]

    def smallest(self, omitted: frozenset[int], wanted: Callable[[Trial], bool]) -> frozenset[int]:
        """Return a smallest subset of an omission for which something goes on to hold.

        Units are put back one by one while it holds; what remains cannot lose another one.
        """
        current = omitted
        again = True
        while again:
            again = False
            for index in sorted(current):
                fewer = current - {index}
                if fewer and wanted(self.attempt(fewer)):
                    current, again = fewer, True
                    break
        return current
