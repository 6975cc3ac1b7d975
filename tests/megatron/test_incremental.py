"""Command lines with flags left out: every subset gives what parsing it anew gives."""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract.megatron.incremental import IncrementalParser
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import OptionRecord, Surface

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Framework

OPTIONS = (
    OptionRecord(("--rotary-base", "--rb"), "rotary_base", "store", "int", default=10000),
    OptionRecord(("--rope-type",), "rope_type", "store", choices=("rope", "yarn")),
    OptionRecord(("--swiglu",), "swiglu", "store_true", default=False),
    OptionRecord(("--no-fusion",), "fusion", "store_false", default=True),
    OptionRecord(("--no-base",), "rotary_base", "store_const", const=0, default=1),
    OptionRecord(("--sections",), "sections", "store", "int", nargs="+", default=[1]),
    OptionRecord(("--round",), "round", "boolean"),
    OptionRecord(("-v",), "verbose", "count", default=0),
    OptionRecord(("--many",), "many", "append"),
)
MUST = OptionRecord(("--must", "--shall"), "must", "store", "int", required=True)


def megatron(*options: OptionRecord) -> RecordedMegatron:
    return RecordedMegatron(Surface("tiny", "0", "", options, {}, (), (), (), (), {}, ()))


TINY = megatron(*OPTIONS)
DEMANDING = megatron(*OPTIONS, MUST)


def around(base: str = "", like: RecordedMegatron = TINY, **settings: Any) -> Pipeline:
    return Pipeline(like, PipelineSettings(base_args=tuple(base.split()), **settings))


def subsets(count: int) -> Iterator[frozenset[int]]:
    lengths = (combinations(range(count), length) for length in range(count + 1))
    return map(frozenset, chain.from_iterable(lengths))


def check_every_subset(pipeline: Pipeline, argv: str) -> None:
    parser = IncrementalParser(pipeline, argv.split())
    for omitted in subsets(len(parser.occurrences)):
        kept = [one for index, one in enumerate(parser.occurrences) if index not in omitted]
        tokens = [token for one in kept for token in argv.split()[one.start : one.stop]]

        assert parser.parse(omitted) == pipeline.parse(tokens)


LINES = [
    "",
    "--rotary-base 5 --swiglu --rope-type yarn",
    "--rotary-base=5 --no-fusion --rb 6 --rotary-base 7",
    "--rb 5 --no-base --rb 6",
    "--sections 1 2 3 --swiglu --sections 4 --round --no-round",
    "--rope-type=yarn --sections 16 --rope-type rope",
]
LINES_AS_A_WHOLE = [
    "--swiglu --beta-fast 32 --rotary-base 5",
    "stray --rotary-base 5",
    "--swiglu stray",
    "-v --rotary-base 5 -v",
    "--many a --rotary-base 5 --many b",
    "--rotary-base 1e6 --swiglu",
    "--rope-type ntk --rope-type yarn",
]


@pytest.mark.parametrize("base", ["", "--swiglu --rb 3", "--sections 7 8 --rope-type yarn"])
@pytest.mark.parametrize("argv", LINES)
def test_flags_that_are_read_once(base: str, argv: str):
    pipeline = around(base)

    assert IncrementalParser(pipeline, argv.split()).values is not None
    check_every_subset(pipeline, argv)


@pytest.mark.parametrize("base", ["", "--swiglu --rb 3"])
@pytest.mark.parametrize("argv", LINES_AS_A_WHOLE)
def test_flags_that_are_parsed_together(base: str, argv: str):
    pipeline = around(base)

    assert IncrementalParser(pipeline, argv.split()).values is None
    check_every_subset(pipeline, argv)


@pytest.mark.parametrize("base", ["--unknown 1", "-v", "--many a", "--rb x"])
def test_base_args_that_are_parsed_with_the_rest(base: str):
    pipeline = around(base)

    assert IncrementalParser(pipeline, ["--rotary-base", "5"]).values is None
    check_every_subset(pipeline, "--rotary-base 5 --swiglu")


def test_each_flag_has_the_value_that_it_sets_alone():
    parser = IncrementalParser(around("--rb 3"), ["--rb", "5", "--swiglu", "--rb=7", "--no-base"])

    assert parser.values == [
        *(("rotary_base", 3), ("rotary_base", 5)),
        *(("swiglu", True), ("rotary_base", 7), ("rotary_base", 0)),
    ]


class TestDemands:
    @pytest.mark.parametrize(
        "argv",
        [
            "--must 1 --swiglu",
            "--swiglu --must 1 --rb 5 --must 2",
            "--shall 3 --rb 5 --rb 6 --must 4",
            "--rb 5",
        ],
    )
    @pytest.mark.parametrize("base", ["", "--must 9", "--rb 3"])
    def test_what_the_parser_demands(self, base: str, argv: str):
        check_every_subset(around(base, DEMANDING), argv)

    @pytest.mark.parametrize(
        ("base", "argv", "at_once"),
        [
            ("", "--must 1 --rb 5", True),
            ("--must 1", "--rb 5", True),
            ("", "--rb 5", False),
        ],
    )
    def test_flags_are_read_once_where_it_is_met(self, base: str, argv: str, at_once: bool):
        parser = IncrementalParser(around(base, DEMANDING), argv.split())

        assert (parser.values is not None) is at_once

    def test_without_it_the_parser_refuses(self):
        parser = IncrementalParser(around("", DEMANDING), ["--must", "1", "--rb", "5"])

        assert parser.parse(frozenset({1})).refusal is None
        assert parser.parse(frozenset({0})).refusal == (
            "the following arguments are required: --must/--shall"
        )

    def test_only_parsing_of_what_lacks_it_takes_the_parser(self, monkeypatch: pytest.MonkeyPatch):
        pipeline = around("--must 9", DEMANDING)
        parser = IncrementalParser(pipeline, ["--must", "1", "--rb", "5"])
        monkeypatch.setattr(pipeline, "parse", None)

        assert parser.parse(frozenset({0})).namespace["must"] == 9
        assert parser.parse(frozenset({1})).namespace["must"] == 1

    @pytest.mark.parametrize("argv", ["--one 1", "--two 2 --rb 5", "--one 1 --one 3", "--rb 5"])
    def test_one_of_several_flags(self, framework: Framework, argv: str):
        framework.module(
            """
            def add(parser):
                group = parser.add_mutually_exclusive_group(required=True)
                group.add_argument("--one", type=int, default=0)
                group.add_argument("--two", type=int, default=0)
            """
        )
        folder = str(framework.folder)

        check_every_subset(around(arguments=("frame:add",), pythonpath=(folder,)), argv)


class TestFramework:
    def test_reader_that_refuses_later_on(self, framework: Framework):
        """What is read alone for its value may be refused then; it is parsed as a whole."""
        framework.module(
            """
            seen = []

            def read(text):
                seen.append(text)
                if len(seen) > 2:
                    raise ValueError
                return text

            def add(parser):
                parser.add_argument("--stateful", type=read)
            """
        )
        pipeline = around(arguments=("frame:add",), pythonpath=(str(framework.folder),))

        assert IncrementalParser(pipeline, ["--stateful", "a", "--stateful", "b"]).values is None

    def test_reader_that_refuses_what_is_demanded_later_on(self, framework: Framework):
        framework.module(
            """
            seen = []

            def read(text):
                seen.append(text)
                if len(seen) > 1:
                    raise ValueError
                return text

            def add(parser):
                parser.add_argument("--stateful", type=read, required=True)
            """
        )
        pipeline = around(arguments=("frame:add",), pythonpath=(str(framework.folder),))

        assert IncrementalParser(pipeline, ["--stateful", "a"]).values is None

    def test_what_it_fills_in_follows_from_what_remains(self, framework: Framework):
        framework.module(
            """
            def fill(args):
                if args.rope_type is None:
                    args.rotary_base = 7
                args.sections.append(len(args.sections))
                print("filled", args.rope_type)
            """
        )
        pipeline = around(defaults=("frame:fill",), pythonpath=(str(framework.folder),))

        check_every_subset(pipeline, "--rope-type yarn --rb 5 --sections 4 4")

    def test_what_it_prints_is_of_one_command_line(self, framework: Framework):
        source = "def fill(args):\n    print('base', args.rotary_base)\n"
        framework.module(source)
        pipeline = around(defaults=("frame:fill",), pythonpath=(str(framework.folder),))
        parser = IncrementalParser(pipeline, ["--rb", "5"])

        with pipeline.active():
            outputs = [parser.parse(omitted).output for omitted in subsets(1)]

        assert outputs == ["base 10000\n", "base 5\n"][::-1]
