"""A framework's own ``parse_args()``, beside what stands for an importable Megatron."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, Literal

import pytest
from strategies import SURFACE

from pytest_ropecontract.megatron.framework import PipelineCallError, PipelineError
from pytest_ropecontract.megatron.incremental import IncrementalParser
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import Source

if TYPE_CHECKING:
    from conftest import Framework


class Importable(RecordedMegatron):
    """A recording that says of itself that it is the importable Megatron."""

    @property
    def mode(self) -> Literal["live"]:
        return "live"


MEGATRON = Importable(SURFACE._replace(options=SURFACE.options[:3]))
SOURCE = """
    import argparse
    import sys

    def parser():
        found = argparse.ArgumentParser(prog=sys.argv[0], allow_abbrev=False)
        found.add_argument("--rotary-base", type=int, default=10000)
        found.add_argument("--sections", type=int, nargs="+", default=[1])
        found.add_argument("--rope-type")
        return found

    def whole():
        early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        early.add_argument("--model")
        early.parse_known_args()
        main = parser()
        main.add_argument("--model")
        args = main.parse_args()
        args.sections.append(9)
        args.called = sys.argv[0]
        if args.rope_type is None:
            args.rope_type = "yarn"
        late = argparse.ArgumentParser(allow_abbrev=False)
        late.add_argument("--late", default=5)
        late.parse_known_args([])
        return args

    def twice():
        parser().parse_args()
        return parser().parse_args(sys.argv[1:], argparse.Namespace(rope_type="first"))

    def known():
        return parser().parse_known_args()[0]

    def alone():
        return argparse.Namespace(rotary_base=3)

    def ends():
        print("bye")
        sys.exit(0)

    def breaks():
        raise KeyError("gpu")

    def number():
        return 5

    def own_tokens():
        return parser().parse_args(["--rotary-base", "6"])
"""


def around(framework: Framework, function: str = "whole", **settings: Any) -> Pipeline:
    framework.module(SOURCE)
    folder = str(framework.folder)
    return Pipeline(
        MEGATRON, PipelineSettings(parser=f"frame:{function}", pythonpath=(folder,), **settings)
    )


def test_only_with_one_the_framework_parses(framework: Framework):
    assert around(framework).parses_whole
    assert not Pipeline(MEGATRON, PipelineSettings()).parses_whole


def test_what_argparse_gave_and_what_the_framework_made_of_it(framework: Framework):
    parsed = around(framework).parse(["--rotary-base", "5", "--sections", "4"])

    assert parsed.parsed == {
        "model": None,
        "rotary_base": 5,
        "sections": [4],
        "rope_type": None,
    }
    assert parsed.unedited == {
        **parsed.parsed,
        "sections": [4, 9],
        "rope_type": "yarn",
        "called": "rope-contract",
    }
    assert dict.fromkeys(("sections", "rope_type", "called"), "frame:whole").items() <= (
        parsed.fillers.items()
    )
    assert "rotary_base" not in parsed.fillers


def test_base_args_stand_before_the_command_line(framework: Framework):
    pipeline = around(framework, base_args=("--rotary-base", "5", "--model", "m"))

    parsed = pipeline.parse(["--rotary-base", "7"])

    assert parsed.argv == ("--rotary-base", "5", "--model", "m", "--rotary-base", "7")
    assert parsed.base_length == 4
    assert (parsed.namespace["rotary_base"], parsed.namespace["model"]) == (7, "m")


def test_flags_are_those_of_the_frameworks_parser(framework: Framework):
    pipeline = around(framework)

    parsed = pipeline.parse(["--rope-type", "rope", "--model", "m"])

    assert [(one.flag, one.dest) for one in parsed.occurrences] == [
        ("--rope-type", "rope_type"),
        ("--model", "model"),
    ]
    assert {*pipeline.flags} == {
        *("-h", "--help", "--rotary-base", "--sections", "--rope-type", "--model"),
    }


def test_flags_are_known_also_where_it_refuses(framework: Framework):
    parsed = around(framework).parse(["--sections", "1", "2", "--rotary-base", "1e6"])

    assert parsed.refusal == "argument --rotary-base: invalid int value: '1e6'"
    assert [(one.flag, one.values) for one in parsed.occurrences] == [
        ("--sections", ("1", "2")),
        ("--rotary-base", ("1e6",)),
    ]


@pytest.mark.parametrize(
    ("function", "argv", "refusal"),
    [
        ("whole", ["--stray"], "unrecognized arguments: --stray"),
        ("whole", ["--help"], "-h/--help prints help and ends the program"),
        ("ends", [], "the framework's parser ended the run"),
    ],
)
def test_refusal_is_an_outcome(
    framework: Framework, function: str, argv: list[str], refusal: str, capfd: Any
):
    parsed = around(framework, function).parse(argv)

    assert (parsed.refusal, parsed.namespace) == (refusal, {})
    assert capfd.readouterr() == ("", "")


def test_last_of_several_parsers_counts(framework: Framework):
    parsed = around(framework, "twice").parse(["--rotary-base", "5"])

    assert parsed.parsed["rope_type"] == "first"
    assert "rope_type" not in parsed.fillers


def test_it_may_parse_other_tokens_than_it_is_given(framework: Framework):
    parsed = around(framework, "own_tokens").parse(["--rotary-base", "5"])

    assert (parsed.parsed["rotary_base"], parsed.namespace["rotary_base"]) == (6, 6)


@pytest.mark.parametrize(
    "stubs", [("megatron.training.arguments:validate_args",), ()], ids=["named", "not named"]
)
def test_megatrons_own_validator_is_replaced(framework: Framework, stubs: tuple[str, ...]):
    source = "def validate_args(args):\n    raise RuntimeError('no GPU')\n"
    framework.module(source, "megatron.training.arguments")
    framework.module(
        """
        import argparse
        from megatron.training.arguments import validate_args

        def whole():
            parser = argparse.ArgumentParser()
            parser.add_argument("--rotary-base", type=int)
            return validate_args(parser.parse_args())
        """,
        "validating",
    )
    settings = PipelineSettings(
        parser="validating:whole", stubs=stubs, pythonpath=(str(framework.folder),)
    )

    parsed = Pipeline(MEGATRON, settings).parse(["--rotary-base", "5"])

    assert parsed.namespace["rotary_base"] == 5


def test_stub_of_what_megatron_lacks_is_an_error(framework: Framework):
    framework.module("", "megatron.training.arguments")

    with pytest.raises(PipelineError, match="has no attribute 'validate'"):
        around(framework, stubs=("megatron.training.arguments:validate",))


def test_flags_that_it_does_not_know_may_pass(framework: Framework):
    parsed = around(framework, "known").parse(["--rotary-base", "5", "--stray"])

    assert (parsed.refusal, parsed.namespace["rotary_base"]) == (None, 5)


def test_without_a_parser_what_it_returns_is_what_was_parsed(framework: Framework):
    parsed = around(framework, "alone").parse([])

    assert parsed.parsed == {"rotary_base": 3}
    assert "rotary_base" not in parsed.fillers


@pytest.mark.parametrize(
    ("function", "lines"),
    [
        (
            "breaks",
            [
                "rope_contract_parser: frame:breaks raised KeyError: 'gpu'",
                "  remedy: list what needs a GPU in rope_contract_stubs, or correct the function",
            ],
        ),
        (
            "number",
            [
                "rope_contract_parser: frame:number returned int, not a namespace",
                "  remedy: return what parser.parse_args() returned",
            ],
        ),
    ],
)
def test_one_that_cannot_be_used(framework: Framework, function: str, lines: list[str]):
    with pytest.raises(PipelineCallError) as caught:
        around(framework, function).parse([])

    said = str(caught.value).splitlines()
    assert [said[0], said[-1]] == lines


def test_argparse_and_the_arguments_are_put_back(framework: Framework):
    kept = (
        argparse.ArgumentParser.parse_known_args,
        argparse.ArgumentParser.error,
        argparse.ArgumentParser.print_help,
    )
    argv = list(sys.argv)
    pipeline = around(framework)
    for tokens in (["--rotary-base", "5"], ["--rotary-base", "x"], ["-h"]):
        pipeline.parse(tokens)

    assert sys.argv == argv
    assert kept == (
        argparse.ArgumentParser.parse_known_args,
        argparse.ArgumentParser.error,
        argparse.ArgumentParser.print_help,
    )


def test_what_remains_where_flags_are_left_out_is_parsed_by_it(framework: Framework):
    pipeline = around(framework)
    pipeline.parse([])
    parser = IncrementalParser(pipeline, ["--rotary-base", "5", "--rope-type", "rope"])

    assert parser.values is None
    for omitted, tokens in (({0}, ["--rope-type", "rope"]), ({1}, ["--rotary-base", "5"])):
        assert parser.parse(frozenset(omitted)) == pipeline.parse(tokens)


@pytest.mark.parametrize(("kind", "flags"), [(RecordedMegatron, 0), (Importable, 2)])
def test_options_of_a_recorded_framework_are_added_to_what_is_importable(
    framework: Framework, kind: type[RecordedMegatron], flags: int
):
    framework.module("def add(parser):\n    parser.add_argument('--one', '--two')\n")
    surface = SURFACE._replace(options=(), source=Source(arguments=("frame:add",)))
    settings = PipelineSettings(arguments=("frame:add",), pythonpath=(str(framework.folder),))

    assert len(Pipeline(kind(surface), settings).flags) == flags + len(("-h", "--help"))
