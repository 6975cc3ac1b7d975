"""A framework's own ``parse_args()``, run as a whole with its validators out of the way."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from likeness import (
    EXAMPLE,
    FRAMEWORK,
    configured,
    definitions,
    difference,
    live_megatron,
    pipelines,
    plain,
)

from pytest_ropecontract.contracts import rules
from pytest_ropecontract.contracts.expectation import read
from pytest_ropecontract.megatron.framework import PipelineCallError
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.rope.resolution import Resolution, resolve

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = "ropeframe.arguments:parse_args"
EXAMPLES = {
    name.removeprefix("example/"): argv
    for name, argv in definitions().items()
    if name.startswith("example/")
}
ROPE = ["--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4", "--swiglu"]


@functools.cache
def whole() -> Pipeline:
    settings = PipelineSettings(
        parser=WHOLE, stubs=FRAMEWORK.stubs, pythonpath=FRAMEWORK.pythonpath
    )
    return Pipeline(live_megatron(), settings)


def composed() -> Pipeline:
    return pipelines(framework=True)[1]


# A definition may use a flag that this version lacks; its whole parser refuses that at once.
PARSED = {
    name: argv
    for name, argv in EXAMPLES.items()
    if all(one.dest is not None for one in composed().parse(argv).occurrences)
}
examples = pytest.mark.parametrize("argv", PARSED.values(), ids=PARSED)


def test_the_definitions_are_compared():
    assert {"kimi-k2", "glm4.7-flash", "glm5-744B-A40B", "moonlight"} <= PARSED.keys()


@examples
def test_its_namespace_is_that_of_the_composed_way(argv: list[str]):
    one, other = whole().parse(argv), composed().parse(argv)

    # Newer versions keep a private attribute for themselves.
    assert {name: plain(v) for name, v in one.namespace.items() if not name.startswith("_")} == {
        name: plain(value) for name, value in other.namespace.items()
    }
    assert (one.refusal, one.occurrences) == (other.refusal, other.occurrences)


@examples
def test_its_config_is_that_of_the_composed_way(argv: list[str]):
    assert difference(configured(whole(), argv), configured(composed(), argv)) == {}


@examples
def test_its_embedding_is_that_of_the_composed_way(argv: list[str]):
    one, other = resolve(whole(), argv), resolve(composed(), argv)

    assert one.rope == other.rope
    assert one.refused == other.refused
    assert one.origins == other.origins


@examples
def test_its_findings_are_those_of_the_composed_way(argv: list[str]):
    def found(pipeline: Pipeline) -> list[tuple[Any, ...]]:
        findings = rules.check("m", resolve(pipeline, argv), pipeline)
        return [(one.rule, one.field, one.status, one.origin) for one in findings]

    assert found(whole()) == found(composed())


def leave_out(name: str, *flags: str) -> list[str]:
    argv = list(EXAMPLES[name])
    for flag in flags:
        at = argv.index(flag)
        del argv[at : at + 2]
    return argv


def failures(argv: list[str], *args: Any, **kwargs: Any) -> list[tuple[str, str | None]]:
    """Return what the rules and a contract find on an argv, as rule and origin."""
    resolution = resolve(whole(), argv)
    findings = [*rules.check("m", resolution, whole())]
    if args or kwargs:
        findings += read(args, kwargs, __name__).check("m", resolution)
    return [(one.rule, one.origin) for one in findings if one.status == "fail"]


class TestBeforeTheCorrection:
    """The two real mistakes, seen through the framework's own function."""

    def test_kimi_k2_without_its_yarn_flags(self):
        argv = leave_out(
            "kimi-k2", "--original-max-position-embeddings", "--beta-fast", "--beta-slow"
        )
        rope = resolve(whole(), argv).rope

        assert rope is not None
        assert (rope.kind, rope.beta_fast) == ("yarn", 32)
        assert failures(argv, "yarn", 4096, 1, 1) == [
            ("implicit-field", "parser-default"),
            ("expectation", "parser-default"),
            ("implicit-field", "parser-default"),
        ]

    def test_kimi_k25_with_the_flags_of_k2_thinking(self):
        argv = EXAMPLES["kimi-k2-thinking"]

        assert failures(argv, "yarn", 4096, 32, 1) == [("expectation", "declared")]

    @pytest.mark.parametrize("name", ["glm4.7-flash", "joyai-llm-flash"])
    def test_plain_rope_without_its_type(self, name: str):
        argv = leave_out(name, "--rope-type")
        resolution = resolve(whole(), argv)

        assert resolution.rope is not None
        assert (resolution.rope.kind, resolution.rope.returns) == ("yarn", 2)
        assert failures(argv, "rope") == [("implicit-yarn", "filled"), ("expectation", "filled")]
        assert resolution.sources["kind"].text == WHOLE

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("kimi-k2", ("yarn", 4096, 1, 1)),
            ("kimi-k2-thinking", ("yarn", 4096, 1, 1)),
            ("kimi-k25", ("yarn", 4096, 32, 1)),
            ("glm4.7-flash", ("rope",)),
            ("joyai-llm-flash", ("rope",)),
        ],
    )
    def test_the_corrected_definitions_pass(self, name: str, expected: tuple[Any, ...]):
        assert failures(EXAMPLES[name], *expected) == []


class TestRefusals:
    def test_a_bad_value_is_argparses_refusal(self):
        resolution = resolve(whole(), [*ROPE, "--rotary-base", "1e6"])

        assert resolution.refused is not None
        assert resolution.refused.message == "argument --rotary-base: invalid int value: '1e6'"

    def test_an_unknown_flag_is_refused(self):
        resolution = resolve(whole(), [*ROPE, "--beta-fats", "1"])

        assert resolution.refused is not None
        assert resolution.refused.message == "unrecognized arguments: --beta-fats 1"

    def test_asking_for_help_is_a_refusal(self):
        resolution = resolve(whole(), ["--help"])

        assert resolution.refused is not None
        assert resolution.refused.message == "-h/--help prints help and ends the program"

    def test_a_framework_that_exits_refuses(self, tmp_path: Path):
        (tmp_path / "exit_frame.py").write_text("import sys\n\ndef whole():\n    sys.exit(0)\n")
        pipeline = Pipeline(
            live_megatron(),
            PipelineSettings(parser="exit_frame:whole", pythonpath=(str(tmp_path),)),
        )

        assert pipeline.parse(ROPE).refusal == "the framework's parser ended the run"

    def test_the_frameworks_own_flags_are_known_where_the_first_line_is_refused(self):
        fresh = Pipeline(
            live_megatron(),
            PipelineSettings(parser=WHOLE, stubs=FRAMEWORK.stubs, pythonpath=FRAMEWORK.pythonpath),
        )

        resolution = resolve(fresh, ["--beta-fast", "1", "--rotary-base", "1e6"])

        assert {one.flag: one.dest for one in resolution.parsed.occurrences} == {
            "--beta-fast": "beta_fast",
            "--rotary-base": "rotary_base",
        }


class TestSurroundings:
    def test_the_arguments_of_the_process_are_put_back(self):
        before = list(sys.argv)

        whole().parse(EXAMPLES["kimi-k2"])
        whole().parse(["--rotary-base", "1e6"])

        assert sys.argv == before

    def test_nothing_is_printed(self, capfd: pytest.CaptureFixture[str]):
        resolve(whole(), EXAMPLES["kimi-k2"])
        resolve(whole(), ["--rotary-base", "1e6"])
        resolve(whole(), ["--help"])

        assert capfd.readouterr() == ("", "")

    def test_a_validator_that_is_not_stubbed_needs_a_gpu(self):
        pipeline = Pipeline(
            live_megatron(), PipelineSettings(parser=WHOLE, pythonpath=(str(EXAMPLE),))
        )

        with pytest.raises(PipelineCallError) as caught:
            pipeline.parse(EXAMPLES["qwen3-4B"])

        assert caught.value.headline == (
            f"rope_contract_parser: {WHOLE} raised RuntimeError: "
            "training needs a GPU, and torch finds none"
        )

    def test_megatrons_own_validator_is_replaced_and_put_back(self):
        arguments = sys.modules["megatron.training.arguments"]
        before = arguments.validate_args

        whole().parse(EXAMPLES["qwen3-4B"])

        assert arguments.validate_args is before

    def test_a_validator_imported_under_its_own_name_is_replaced_too(self, tmp_path: Path):
        (tmp_path / "own_frame.py").write_text(
            "from megatron.training.arguments import parse_args, validate_args\n\n"
            "def whole():\n    return validate_args(parse_args())\n"
        )
        pipeline = Pipeline(
            live_megatron(),
            PipelineSettings(parser="own_frame:whole", pythonpath=(str(tmp_path),)),
        )

        assert pipeline.parse([*ROPE, "--rotary-base", "5"]).namespace["rotary_base"] == 5

    def test_something_that_is_no_namespace_is_an_error(self, tmp_path: Path):
        (tmp_path / "odd_frame.py").write_text("def whole():\n    return 5\n")
        pipeline = Pipeline(
            live_megatron(),
            PipelineSettings(parser="odd_frame:whole", pythonpath=(str(tmp_path),)),
        )

        with pytest.raises(PipelineCallError) as caught:
            pipeline.parse(ROPE)

        assert caught.value.headline == (
            "rope_contract_parser: odd_frame:whole returned int, not a namespace"
        )


def test_what_it_fills_carries_its_name():
    resolution: Resolution = resolve(whole(), EXAMPLES["glm5-744B-A40B"])

    assert (resolution.sources["kind"].origin, resolution.sources["kind"].text) == ("filled", WHOLE)
