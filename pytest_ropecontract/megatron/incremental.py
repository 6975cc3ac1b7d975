"""Parsing a command line again and again, with some of its flags left out."""

from __future__ import annotations

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
    does not know, a stray token, a flag that counts or appends, a framework's own
    ``parse_args``), the remaining tokens are parsed as a whole.

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
        self.values: list[tuple[str, Any]] | None = self._read()

    def _read(self) -> list[tuple[str, Any]] | None:
        """Return what every flag sets, base args first; None: it has to be parsed as a whole."""
        pipeline = self.pipeline
        given = (*self._base_occurrences, *self.occurrences)
        if pipeline.parses_whole or any(one.dest is None for one in given):
            return None
        if any(not pipeline.is_plain(one.flag) for one in given):
            return None
        whole = pipeline.namespace((*self.base, *self.argv))
        if whole is None:
            return None
        last = {one.dest: one for one in given}
        tokens = (*self.base, *self.argv)
        values: list[tuple[str, Any]] = []
        start = 0
        for one in given:
            length = one.stop - one.start
            own = tokens[start : start + length]
            start += length
            if last[one.dest] is one:
                values.append((str(one.dest), whole[str(one.dest)]))
                continue
            alone = pipeline.namespace(own)
            if alone is None:
                return None
            values.append((str(one.dest), alone[str(one.dest)]))
        return values

    def parse(self, omitted: frozenset[int]) -> Parsed:
        """Parse the command line without some of its flags.

        Args:
            omitted: Places of the flags among the command line's.

        Raises:
            PipelineCallError: A function of the framework raised.
        """
        kept = [index for index in range(len(self.occurrences)) if index not in omitted]
        tokens = tuple(
            token
            for index in kept
            for token in self.argv[self.occurrences[index].start : self.occurrences[index].stop]
        )
        with self.pipeline.active() as output:
            output.seek(0)
            output.truncate()
            if self.values is None:
                return self.pipeline.parse(tokens)
            offset = len(self.values) - len(self.occurrences)
            namespace = self.pipeline.default_namespace()
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
