"""Parsing a command line again and again, with some of its flags left out."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.megatron.command_line import Occurrence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.megatron.pipeline import Parsed, Pipeline


class IncrementalParser:
    """Gives for every subset of a command line's flags what parsing it anew gives.

    The value of every flag is read once, by the real parser. A namespace is then put
    together from the parser's defaults and the values of the flags that remain, the last of
    a repeated one. Where that is not how argparse comes to its namespace (a flag that it
    does not know, a stray token, a flag that counts or appends, a flag that it demands and
    that is left out, a framework's own ``parse_args``), the remaining tokens are parsed as a
    whole.

    Args:
        pipeline: What parses.
        argv: The whole command line, without the base args.
    """

    def __init__(self, pipeline: Pipeline, argv: Sequence[str]) -> None:
        self.pipeline = pipeline
        self.base = pipeline.settings.base_args
        self.argv = tuple(argv)
        self.occurrences: tuple[Occurrence, ...] = pipeline.split(self.argv)
        self._base_occurrences = pipeline.split(self.base)
        self._tokens = [self.argv[one.start : one.stop] for one in self.occurrences]
        self._defaults: dict[str, Any] = {}
        self._demanded: list[frozenset[int]] = []
        self.values: list[tuple[str, Any]] | None = self._read()

    def _read(self) -> list[tuple[str, Any]] | None:
        """Return what every flag sets, base args first; None: it has to be parsed as a whole."""
        pipeline = self.pipeline
        given = (*self._base_occurrences, *self.occurrences)
        if pipeline.parses_whole or any(one.dest is None for one in given):
            return None
        if any(not pipeline.is_plain(one.flag) for one in given):
            return None
        tokens = (*self.base, *self.argv)
        whole = pipeline.namespace(tokens)
        if whole is None:
            return None
        given_tokens: list[tuple[str, ...]] = []
        start = 0
        for one in given:
            length = one.stop - one.start
            given_tokens.append(tokens[start : start + length])
            start += length
        demanded = self._read_demanded(given, given_tokens)
        if demanded is None:
            return None
        last = {one.dest: index for index, one in enumerate(given)}
        values: list[tuple[str, Any]] = []
        for index, one in enumerate(given):
            dest = str(one.dest)
            source = whole
            if last[one.dest] != index:
                alone = pipeline.namespace((*demanded, *given_tokens[index]))
                if alone is None:
                    return None
                source = alone
            values.append((dest, source[dest]))
        return values

    def _read_demanded(
        self, given: Sequence[Occurrence], tokens: Sequence[tuple[str, ...]]
    ) -> tuple[str, ...] | None:
        """Read the defaults, and return the fewest tokens that the parser accepts."""
        first = len(self._base_occurrences)
        fewest: list[str] = []
        for flags in self.pipeline.demands:
            meeting = [index for index, one in enumerate(given) if one.flag in flags]
            if not meeting:
                return None
            fewest.extend(tokens[meeting[-1]])
            if meeting[0] >= first:
                self._demanded.append(frozenset(index - first for index in meeting))
        defaults = self.pipeline.namespace(fewest)
        if defaults is None:
            return None
        self._defaults = defaults
        return tuple(fewest)

    def parse(self, omitted: frozenset[int]) -> Parsed:
        """Parse the command line without some of its flags.

        Args:
            omitted: Places of the flags among the command line's.

        Raises:
            PipelineCallError: A function of the framework raised.
        """
        kept = [index for index in range(len(self.occurrences)) if index not in omitted]
        tokens = tuple(itertools.chain.from_iterable(map(self._tokens.__getitem__, kept)))
        with self.pipeline.active() as output:
            output.seek(0)
            output.truncate()
            if self.values is None or any(places <= omitted for places in self._demanded):
                return self.pipeline.parse(tokens)
            offset = len(self.values) - len(self.occurrences)
            namespace = dict(self._defaults)
            namespace.update(self.values[:offset])
            namespace.update(self.values[offset + index] for index in kept)
            occurrences = self._shifted(kept)
            return self.pipeline.fill((*self.base, *tokens), namespace, occurrences)

    def _shifted(self, kept: Sequence[int]) -> tuple[Occurrence, ...]:
        """Return the flags that remain, at their new places."""
        found = list(self._base_occurrences)
        start = len(self.base)
        for index in kept:
            one = self.occurrences[index]
            stop = start + one.stop - one.start
            found.append(Occurrence(one.flag, one.dest, one.values, start, stop))
            start = stop
        return tuple(found)
