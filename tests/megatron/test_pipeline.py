"""What surrounds the parser: who wrote which value, and everything put back afterwards."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from strategies import MEGATRON

from pytest_ropecontract.megatron.backend import ConfigRefusedError
from pytest_ropecontract.megatron.framework import PipelineCallError, PipelineError
from pytest_ropecontract.megatron.pipeline import Parsed, Pipeline, PipelineSettings, Statement
from pytest_ropecontract.rope.resolution import Refused, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Framework

SIZES = ("--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4")
ROPE = (*SIZES, "--position-embedding-type", "rope", "--swiglu")
MLA = (*ROPE, "--multi-latent-attention")
NOTHING_ELSE: set[str] = {"kv_channels"}  # validate_args fills it wherever it is open


def refusal(pipeline: Pipeline, *argv: str) -> ConfigRefusedError:
    parsed = pipeline.parse(argv)
    assert parsed.refusal is None
    with pytest.raises(ConfigRefusedError) as caught:
        pipeline.configure(parsed)
    return caught.value


class TestParsing:
    def test_values_are_those_of_the_parser(self, framework: Framework):
        parsed = framework.pipeline().parse([*ROPE, "--rotary-base", "50000"])

        assert parsed.namespace["rotary_base"] == 50000
        assert parsed.namespace["mscale"] == 1.0
        assert parsed.refusal is None

    def test_a_refusal_is_an_outcome(self, framework: Framework):
        parsed = framework.pipeline().parse(["--swiglu", "--rotary-base", "1e6"])

        assert parsed.refusal == "argument --rotary-base: invalid int value: '1e6'"
        assert [one.flag for one in parsed.occurrences] == ["--swiglu", "--rotary-base"]
        assert parsed.namespace == {}

    def test_a_type_function_that_raises_refuses(self, framework: Framework):
        parsed = framework.pipeline().parse(["--attention-backend", "Flash"])

        assert parsed.refusal == "KeyError: 'Flash'"

    def test_asking_for_help_refuses(self, framework: Framework):
        parsed = framework.pipeline().parse(["--help"])

        assert parsed.refusal == "-h/--help prints help and ends the program"

    def test_base_args_come_first_and_are_counted(self, framework: Framework):
        pipeline = framework.pipeline(base_args=("--rotary-base", "5", "--swiglu"))

        parsed = pipeline.parse(["--rotary-base", "7"])

        assert parsed.argv == ("--rotary-base", "5", "--swiglu", "--rotary-base", "7")
        assert parsed.base_length == 3
        assert parsed.namespace["rotary_base"] == 7

    def test_an_unknown_flag_leaves_no_value(self, framework: Framework):
        parsed = framework.pipeline().parse([*ROPE, "--beta-fast", "1"])

        assert "beta_fast" not in parsed.namespace

    def test_one_argv_leaves_nothing_for_the_next(self, framework: Framework):
        pipeline = framework.pipeline(
            """
            def fill(args):
                args.cuda_graph_modules.append("x")
            """,
            defaults=("frame:fill",),
        )
        pipeline.parse(ROPE)

        assert pipeline.parse(ROPE).namespace["cuda_graph_modules"] == ["x"]


class TestOptions:
    SOURCE = """
        def add(parser):
            parser.add_argument("--beta-fast", type=float, default=32)
            return parser

        def add_in_place(parser):
            parser.add_argument("--beta-slow", type=float, default=1)
    """

    def test_functions_add_options(self, framework: Framework):
        pipeline = framework.pipeline(self.SOURCE, arguments=("frame:add", "frame:add_in_place"))

        namespace = pipeline.parse(["--beta-fast", "1"]).namespace

        assert (namespace["beta_fast"], namespace["beta_slow"]) == (1.0, 1)
        assert pipeline.flags["--beta-slow"].dest == "beta_slow"

    def test_an_added_option_reaches_the_config_field_of_its_name(self, framework: Framework):
        pipeline = framework.pipeline(self.SOURCE, arguments=("frame:add",))

        config = pipeline.configure(pipeline.parse([*MLA, "--beta-fast", "1"]))

        assert config.values["beta_fast"] == 1.0

    def test_an_added_option_may_be_named_self(self, framework: Framework):
        source = "def add(parser):\n    parser.add_argument('--self', action='store_true')\n"
        pipeline = framework.pipeline(source, arguments=("frame:add",))
        parsed = pipeline.parse([*MLA, "--rotary-base", "5", "--self"])

        assert parsed.namespace["self"] is True
        assert pipeline.configure(parsed).values["rotary_base"] == 5

    def test_statements_tell_how_a_value_is_stated(self, framework: Framework):
        pipeline = framework.pipeline()

        assert pipeline.statements("rotary_base") == (Statement("--rotary-base", True),)
        assert pipeline.statements("apply_rope_fusion") == (
            Statement("--no-rope-fusion", False, False),
        )
        assert pipeline.statements("yarn_correction_range_round_to_int") == (
            Statement("--yarn-correction-range-round-to-int", False, True),
            Statement("--no-yarn-correction-range-round-to-int", False, False),
        )
        assert pipeline.statements("nothing") == ()


class TestDefaults:
    SOURCE = """
        import argparse

        def fill(args):
            if args.rope_type is None:
                args.rope_type = "yarn"
            args.extra = 1

        def again(args):
            args.rotary_base = 5
            print("said something")

        def other(args):
            return argparse.Namespace(**{**vars(args), "mscale": 0.5})
    """

    def test_who_wrote_a_value_is_kept(self, framework: Framework):
        pipeline = framework.pipeline(self.SOURCE, defaults=("frame:fill", "frame:again"))

        fillers = dict(pipeline.parse(ROPE).fillers)

        assert fillers == {
            "rope_type": "frame:fill",
            "extra": "frame:fill",
            "rotary_base": "frame:again",
            "kv_channels": "validate_args",
        }

    def test_a_value_that_stays_has_no_filler(self, framework: Framework):
        pipeline = framework.pipeline(self.SOURCE, defaults=("frame:fill",))

        assert "rope_type" not in pipeline.parse([*ROPE, "--rope-type", "rope"]).fillers

    def test_a_new_namespace_replaces_the_old_one(self, framework: Framework):
        pipeline = framework.pipeline(self.SOURCE, defaults=("frame:other",))

        parsed = pipeline.parse(ROPE)

        assert parsed.namespace["mscale"] == 0.5
        assert parsed.fillers["mscale"] == "frame:other"

    def test_what_the_parser_gave_is_kept_beside_it(self, framework: Framework):
        pipeline = framework.pipeline(self.SOURCE, defaults=("frame:again",))

        parsed = pipeline.parse([*ROPE, "--rotary-base", "7"])

        assert (parsed.parsed["rotary_base"], parsed.namespace["rotary_base"]) == (7, 5)

    def test_what_it_prints_is_kept(self, framework: Framework, capfd: Any):
        pipeline = framework.pipeline(self.SOURCE, defaults=("frame:again",))

        assert pipeline.parse(ROPE).output == "said something\n"
        assert capfd.readouterr() == ("", "")

    def test_a_value_that_differs_in_type_only_is_filled(self, framework: Framework):
        pipeline = framework.pipeline(
            """
            def fill(args):
                args.mscale = 1
            """,
            defaults=("frame:fill",),
        )

        assert pipeline.parse(ROPE).fillers["mscale"] == "frame:fill"

    def test_a_value_that_cannot_be_compared_is_no_error(self, framework: Framework):
        pipeline = framework.pipeline(
            """
            class Array:
                def __eq__(self, other):
                    raise ValueError("ambiguous")
                __hash__ = None

            def one(args):
                args.array = Array()

            def two(args):
                args.array = Array()
            """,
            defaults=("frame:one", "frame:two"),
        )

        assert pipeline.parse(ROPE).fillers["array"] == "frame:two"


class TestValidateArgs:
    """What Megatron's validate_args writes about RoPE (megatron_rope: the edits)."""

    def test_kv_channels_are_the_width_of_a_head(self, framework: Framework):
        parsed = framework.pipeline().parse(ROPE)

        assert parsed.namespace["kv_channels"] == 16
        assert parsed.fillers["kv_channels"] == "validate_args"

    def test_the_old_flag_overrides_the_type(self, framework: Framework):
        argv = [*SIZES, "--position-embedding-type", "yarn", "--use-rotary-position-embeddings"]

        parsed = framework.pipeline().parse(argv)

        assert parsed.namespace["position_embedding_type"] == "rope"
        assert parsed.fillers["position_embedding_type"] == "validate_args"

    @pytest.mark.parametrize(
        ("kind", "fusion"), [("rope", True), ("yarn", False), ("mrope", False), ("none", False)]
    )
    def test_fusion_is_for_plain_rope(self, framework: Framework, kind: str, fusion: bool):
        parsed = framework.pipeline().parse([*SIZES, "--position-embedding-type", kind])

        assert parsed.namespace["apply_rope_fusion"] is fusion

    @pytest.mark.parametrize(
        ("pattern", "latent"), [("M*-+", True), ("M*-D", True), ("M*-", False)]
    )
    def test_a_layer_of_a_hybrid_pattern_may_ask_for_mla(
        self, framework: Framework, pattern: str, latent: bool
    ):
        parsed = framework.pipeline().parse([*ROPE, "--hybrid-layer-pattern", pattern])

        assert parsed.namespace["multi_latent_attention"] is latent

    def test_it_sees_what_the_framework_filled(self, framework: Framework):
        """A framework that leaves nothing learned lets MTP pass, whatever the parser gave."""
        pipeline = framework.pipeline(
            """
            def fill(args):
                args.position_embedding_type = "none"
                args.use_rotary_position_embeddings = True
            """,
            defaults=("frame:fill",),
        )

        parsed = pipeline.parse([*SIZES, "--swiglu", "--mtp-num-layers", "1"])

        assert parsed.namespace["position_embedding_type"] == "rope"
        assert pipeline.configure(parsed).class_name == "TransformerConfig"


class TestPins:
    def test_a_pin_is_set_last(self, framework: Framework):
        pipeline = framework.pipeline(
            """
            def fill(args):
                args.rotary_base = 5
            """,
            defaults=("frame:fill",),
            pins={"rotary_base": 9},
        )

        parsed = pipeline.parse(ROPE)

        assert parsed.namespace["rotary_base"] == 9
        assert parsed.unpinned["rotary_base"] == 5
        assert parsed.pinned == {"rotary_base"}

    def test_a_pin_never_hides_a_refusal(self, framework: Framework):
        pipeline = framework.pipeline(pins={"apply_rope_fusion": False})

        error = refusal(pipeline, *MLA, "--rope-type", "rope")

        assert str(error) == ("ValueError: apply_rope_fusion for MLA only works with YARN RoPE.")

    def test_without_fusion_the_same_flags_are_accepted(self, framework: Framework):
        pipeline = framework.pipeline(pins={"apply_rope_fusion": False})

        config = pipeline.configure(
            pipeline.parse([*MLA, "--rope-type", "rope", "--no-rope-fusion"])
        )

        assert config.values["rope_type"] == "rope"

    def test_a_pin_never_hides_a_refusal_of_validate_args(self, framework: Framework):
        pipeline = framework.pipeline(pins={"group_query_attention": False})

        error = refusal(pipeline, *MLA, "--group-query-attention")

        assert (error.by, error.message) == (
            "validate_args",
            "Group query attention is mutually exclusive with multi latent attention.",
        )

    def test_pinned_values_are_not_shared(self, framework: Framework):
        pipeline = framework.pipeline(pins={"mrope_section": [1, 2]})
        pipeline.parse(ROPE).namespace["mrope_section"].append(3)

        assert pipeline.parse(ROPE).namespace["mrope_section"] == [1, 2]


@pytest.mark.parametrize(
    ("argv", "by", "text"),
    [
        (
            (*SIZES, "--rope-type", "yarn"),
            "config",
            'AssertionError: Common attention only support rope_type="rope", but got yarn.',
        ),
        (
            (*MLA, "--rotary-interleaved"),
            "config",
            "ValueError: rotary_interleaved does not work with multi_latent_attention.",
        ),
        (
            (*SIZES, "--position-embedding-type", "mrope"),
            "validate_args",
            (
                "AssertionError: --mrope-section should be set when using "
                "--position-embedding-type mrope."
            ),
        ),
        (
            (*SIZES, "--mtp-num-layers", "1", "--use-rotary-position-embeddings"),
            "validate_args",
            (
                "AssertionError: Multi-Token Prediction (MTP) is not supported with "
                "learned_absolute position embedding type.The supported position embedding "
                "types are rope and none."
            ),
        ),
        (
            (*MLA, "--position-embedding-type", "yarn"),
            "model",
            (
                "AttributeError: 'MLATransformerConfig' object has no attribute "
                "'yarn_rotary_scaling_factor'"
            ),
        ),
    ],
)
def test_a_refusal_names_its_stage(framework: Framework, argv: tuple[str, ...], by: str, text: str):
    error = refusal(framework.pipeline(), *argv)

    assert (error.by, str(error)) == (by, text)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--yaml-cfg", "x.yaml"), "--yaml-cfg replaces the whole namespace by the file's values"),
        (("--use-checkpoint-args",), "--use-checkpoint-args takes values from the checkpoint"),
        (
            ("--heterogeneous-layers-config-path", "x.json"),
            "the heterogeneous config class is not covered",
        ),
    ],
)
def test_values_from_elsewhere_are_never_guessed(
    framework: Framework, argv: tuple[str, ...], message: str
):
    error = refusal(framework.pipeline(), *ROPE, *argv)

    assert (error.error, error.message) == ("unresolvable", message)


class TestStubs:
    SOURCE = """
        import validators

        class Checks:
            @staticmethod
            def gpu(args):
                raise RuntimeError("no GPU")

        def fill(args):
            validators.check(args, strict=True).seen = True
            Checks.gpu(args)

        def fail(args):
            validators.check(args)
            raise ValueError("after the check")
    """
    VALIDATORS = """
        def check(args, strict=False):
            raise RuntimeError("no GPU")
    """
    STUBS = ("validators:check", "frame:Checks.gpu")

    @pytest.fixture
    def framework(self, framework: Framework) -> Framework:
        framework.module(self.VALIDATORS, "validators")
        return framework

    def test_a_stub_returns_its_first_argument(self, framework: Framework):
        pipeline = framework.pipeline(self.SOURCE, defaults=("frame:fill",), stubs=self.STUBS)

        assert pipeline.parse(ROPE).namespace["seen"] is True

    @pytest.mark.parametrize("function", ["fill", "fail"])
    def test_validators_are_put_back(self, framework: Framework, function: str):
        pipeline = framework.pipeline(
            self.SOURCE, defaults=(f"frame:{function}",), stubs=self.STUBS
        )
        validators, frame = sys.modules["validators"], sys.modules["frame"]
        before = (validators.check, frame.Checks.gpu)

        if function == "fail":
            with pytest.raises(PipelineCallError):
                pipeline.parse(ROPE)
        else:
            pipeline.parse(ROPE)

        assert (validators.check, frame.Checks.gpu) == before

    def test_megatrons_own_is_replaced_under_every_name(self, framework: Framework):
        """A framework may bring Megatron's training code with it, also beside a recording."""
        source = "def validate_args(args, defaults=None):\n    raise RuntimeError('no GPU')\n"
        framework.module(source, "megatron.training.arguments")
        pipeline = framework.pipeline(
            """
            from megatron.training import arguments
            from megatron.training.arguments import validate_args

            def fill(args):
                args.rotary_base = 20000
                return validate_args(arguments.validate_args(args, {}))
            """,
            defaults=("frame:fill",),
        )
        before = sys.modules["frame"].validate_args

        assert pipeline.parse(ROPE).namespace["rotary_base"] == 20000
        assert sys.modules["frame"].validate_args is before
        assert sys.modules["megatron.training.arguments"].validate_args is before

    def test_without_it_the_validator_is_called(self, framework: Framework):
        pipeline = framework.pipeline(self.SOURCE, defaults=("frame:fill",))

        with pytest.raises(PipelineCallError, match="raised RuntimeError: no GPU"):
            pipeline.parse(ROPE)

    def test_megatrons_own_validators_are_absent_beside_a_recording(self, framework: Framework):
        pipeline = framework.pipeline(stubs=("megatron.training.arguments:validate_args",))

        assert pipeline.parse(ROPE).refusal is None


class TestRotary:
    SOURCE = """
        def rotary(args, config):
            args.rotary_base = 1
            return {"rotary_base": args.mscale * 100, "kv_channels": config.kv_channels * 2}

        def wrong(args, config):
            return [1]

        def fail(args, config):
            raise KeyError("hidden")
    """

    def arguments(self, framework: Framework, function: str) -> tuple[Parsed, dict[str, Any]]:
        pipeline = framework.pipeline(self.SOURCE, rotary=f"frame:{function}")
        parsed = pipeline.parse(ROPE)
        return parsed, pipeline.rotary_arguments(parsed, pipeline.configure(parsed))

    def test_it_sees_namespace_and_config(self, framework: Framework):
        assert self.arguments(framework, "rotary")[1] == {"rotary_base": 100.0, "kv_channels": 32}

    def test_it_cannot_change_the_namespace(self, framework: Framework):
        assert self.arguments(framework, "rotary")[0].namespace["rotary_base"] == 10000

    def test_without_it_nothing_differs(self, framework: Framework):
        pipeline = framework.pipeline()
        parsed = pipeline.parse(ROPE)

        assert pipeline.rotary_arguments(parsed, pipeline.configure(parsed)) == {}

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (
                "wrong",
                "rope_contract_rotary: frame:wrong returned list, not a dict of rotary arguments",
            ),
            ("fail", "rope_contract_rotary: frame:fail raised KeyError: 'hidden'"),
        ],
    )
    def test_a_bad_one_is_named(self, framework: Framework, function: str, message: str):
        with pytest.raises(PipelineCallError) as caught:
            self.arguments(framework, function)

        assert caught.value.headline == message


SETTINGS: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "arguments": ("rope_contract_arguments", lambda name: {"arguments": (name,)}),
    "defaults": ("rope_contract_defaults", lambda name: {"defaults": (name,)}),
    "parser": ("rope_contract_parser", lambda name: {"parser": name}),
    "rotary": ("rope_contract_rotary", lambda name: {"rotary": name}),
    "stubs": ("rope_contract_stubs", lambda name: {"stubs": (name,)}),
}
BROKEN = "import sys\n\nvalue = 5\n\ndef set_defaults(args):\n    pass\n"


KEEPS_THE_PARSER = """
    def add(parser):
        global kept
        kept = parser

    def f(args, config=None):
        print("looking")
        if args.rotary_base < 20000:
            kept.error(f"{args.rotary_base} is too small")
        return {}
"""


def error(framework: Framework, setting: str, name: str, source: str = BROKEN) -> list[str]:
    with pytest.raises(PipelineError) as caught:
        framework.pipeline(source, **SETTINGS[setting][1](name))
    return str(caught.value).splitlines()


@pytest.mark.parametrize("setting", SETTINGS)
class TestSettings:
    def test_a_module_that_does_not_exist(self, framework: Framework, setting: str):
        key = SETTINGS[setting][0]

        assert error(framework, setting, "farme:set_defaults") == [
            f"{key}: there is no module 'farme'",
            f"  at: {key} = farme:set_defaults",
            "  remedy: add its folder to rope_contract_pythonpath",
        ]

    def test_a_module_in_a_package_that_does_not_exist(self, framework: Framework, setting: str):
        framework.module("", "package.__init__")

        assert error(framework, setting, "package.deep:f")[0] == (
            f"{SETTINGS[setting][0]}: there is no module 'package.deep'"
        )

    def test_an_attribute_that_does_not_exist(self, framework: Framework, setting: str):
        key = SETTINGS[setting][0]

        assert error(framework, setting, "frame:set_default") == [
            f"{key}: module 'frame' has no attribute 'set_default'",
            f"  at: {key} = frame:set_default",
            "  remedy: did you mean set_defaults?",
        ]

    @pytest.mark.parametrize("name", ["frame", "frame.set_defaults", "frame:", ":f", ""])
    def test_a_name_of_another_form(self, framework: Framework, setting: str, name: str):
        assert error(framework, setting, name) == [
            f"{SETTINGS[setting][0]}: {name!r} is not of the form module:attribute",
            "  remedy: for example ropeframe.arguments:set_default_megatron_args",
        ]

    @pytest.mark.parametrize(
        ("source", "raised"),
        [
            ("raise ValueError('wrong side')", "ValueError: wrong side"),
            ("import sys\nsys.exit(3)", "SystemExit: 3"),
            ("import not_installed", "ModuleNotFoundError: No module named 'not_installed'"),
        ],
    )
    def test_a_module_that_raises_on_import(
        self, framework: Framework, setting: str, source: str, raised: str
    ):
        lines = error(framework, setting, "frame:f", source)

        assert lines[0] == f"{SETTINGS[setting][0]}: importing 'frame' raised {raised}"


@pytest.mark.parametrize("setting", [name for name in SETTINGS if name != "stubs"])
def test_a_name_of_something_that_is_no_function(framework: Framework, setting: str):
    assert error(framework, setting, "frame:value") == [
        f"{SETTINGS[setting][0]}: frame:value is of type int, not a function",
        "  remedy: name a function of the module",
    ]


@pytest.mark.parametrize(
    ("body", "raised"),
    [
        ("raise RuntimeError('no tables')", "raised RuntimeError: no tables"),
        ("import sys; sys.exit(1)", "raised SystemExit: 1"),
        (
            "parser.add_argument('--rotary-base')",
            (
                "raised ArgumentError: argument --rotary-base: conflicting option string: "
                "--rotary-base"
            ),
        ),
        ("return 5", "returned int, not a parser"),
    ],
)
def test_an_options_function_that_cannot_be_used(framework: Framework, body: str, raised: str):
    lines = error(framework, "arguments", "frame:add", f"def add(parser):\n    {body}\n")

    assert lines[0] == f"rope_contract_arguments: frame:add {raised}"


@pytest.mark.parametrize(
    "source",
    ["raise KeyboardInterrupt", "def add(parser): raise KeyboardInterrupt"],
    ids=["importing", "adding"],
)
def test_an_interrupt_is_no_fault_of_the_framework(framework: Framework, source: str):
    with pytest.raises(KeyboardInterrupt):
        framework.pipeline(source, arguments=("frame:add",))


def test_a_defaults_function_may_refuse_through_the_parser(framework: Framework):
    pipeline = framework.pipeline(KEEPS_THE_PARSER, arguments=("frame:add",), defaults=("frame:f",))

    parsed = pipeline.parse(ROPE)

    assert (parsed.refusal, parsed.namespace) == ("10000 is too small", {})
    assert parsed.output == "looking\n"
    assert pipeline.parse([*ROPE, "--rotary-base", "20000"]).refusal is None


def test_a_provider_may_refuse_through_the_parser(framework: Framework):
    pipeline = framework.pipeline(KEEPS_THE_PARSER, arguments=("frame:add",), rotary="frame:f")

    refused = resolve(pipeline, ROPE).refused

    assert refused == Refused("model", "SystemExit", "10000 is too small")
    assert resolve(pipeline, [*ROPE, "--rotary-base", "20000"]).refused is None


@pytest.mark.parametrize(
    ("body", "raised"),
    [
        ("raise RuntimeError('no GPU')", "RuntimeError: no GPU"),
        ("import sys; sys.exit('bye')", "SystemExit: bye"),
        ("args.gone", "AttributeError: 'Namespace' object has no attribute 'gone'"),
    ],
)
def test_a_defaults_function_that_raises_says_where(framework: Framework, body: str, raised: str):
    pipeline = framework.pipeline(f"def fill(args):\n    {body}\n", defaults=("frame:fill",))

    with pytest.raises(PipelineCallError) as caught:
        pipeline.parse(ROPE)

    assert str(caught.value).splitlines() == [
        f"rope_contract_defaults: frame:fill raised {raised}",
        f"  at: {framework.folder / 'frame.py'}:2",
        "  remedy: list what needs a GPU in rope_contract_stubs, or correct the function",
    ]


def test_a_whole_parser_needs_a_live_megatron(framework: Framework):
    assert error(framework, "parser", "frame:set_defaults") == [
        (
            "rope_contract_parser needs a live Megatron, and the surface is the recorded "
            "megatron-core-0.19.2"
        ),
        "  at: rope_contract_parser = frame:set_defaults",
        (
            "  remedy: choose --rope-contract-surface=live where Megatron is installed, or use "
            "rope_contract_arguments and rope_contract_defaults"
        ),
    ]


def test_a_stub_may_be_anything_that_exists(framework: Framework):
    assert framework.pipeline(BROKEN, stubs=("frame:value",)).parse(ROPE).refusal is None


def state() -> dict[str, Any]:
    root = logging.getLogger()
    return {
        "sys.path": list(sys.path),
        "sys.argv": list(sys.argv),
        "environment": dict(os.environ),
        "level": root.level,
        "handlers": list(root.handlers),
        "disabled": logging.root.manager.disable,
        "filters": list(warnings.filters),
        "stdout": sys.stdout,
        "stderr": sys.stderr,
    }


VANDAL = """
    import logging, os, sys, warnings

    def spoil():
        sys.argv[:] = ["x"]
        sys.path.insert(0, "/nowhere")
        os.environ["ROPE_VANDAL"] = "1"
        os.environ.pop("HOME", None)
        logging.getLogger().setLevel(logging.DEBUG)
        logging.getLogger().addHandler(logging.NullHandler())
        logging.disable(logging.NOTSET)
        warnings.simplefilter("always")
        warnings.warn("noise")
        print("noise", file=sys.stderr)

    {at_import}

    def add(parser):
        spoil()

    def fill(args):
        spoil()
        {then}

    def rotary(args, config):
        spoil()
        return {{}}
"""


@pytest.mark.parametrize("at_import", ["spoil()", ""])
@pytest.mark.parametrize("then", ["pass", "raise ValueError", "sys.exit()"])
def test_whatever_a_framework_changes_is_put_back(
    framework: Framework, capfd: Any, at_import: str, then: str
):
    before = state()
    pipeline = framework.pipeline(
        VANDAL.format(at_import=at_import, then=then),
        arguments=("frame:add",),
        defaults=("frame:fill",),
        rotary="frame:rotary",
    )

    if then == "pass":
        parsed = pipeline.parse(ROPE)
        pipeline.rotary_arguments(parsed, pipeline.configure(parsed))
    else:
        with pytest.raises(PipelineCallError):
            pipeline.parse(ROPE)

    assert state() == before
    assert capfd.readouterr() == ("", "")


def test_folders_are_looked_in_first_and_only_meanwhile(framework: Framework):
    framework.module("found = True\n\ndef add(parser):\n    import frame_late", "frame_first")
    framework.module("", "frame_late")

    pipeline = framework.pipeline(arguments=("frame_first:add",))

    assert pipeline.parse(ROPE).refusal is None
    assert str(framework.folder) not in sys.path


def test_no_setting_needs_no_module():
    assert Pipeline(MEGATRON, PipelineSettings()).parse(ROPE).fillers.keys() == NOTHING_ELSE
