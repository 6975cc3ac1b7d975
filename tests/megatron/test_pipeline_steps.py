"""What every step of a pipeline hands on, around a Megatron of a few options."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract.megatron.backend import ConfigRefusedError
from pytest_ropecontract.megatron.command_line import Occurrence
from pytest_ropecontract.megatron.framework import PipelineCallError, PipelineError
from pytest_ropecontract.megatron.pipeline import (
    Parsed,
    Pipeline,
    PipelineSettings,
    Statement,
    statements,
)
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import (
    Attribute,
    ConfigClass,
    Edit,
    OptionRecord,
    Refusal,
    Surface,
)

if TYPE_CHECKING:
    from conftest import Framework

OPTIONS = (
    OptionRecord(("--rotary-base", "--rb"), "rotary_base", "store", "int", default=10000),
    OptionRecord(("--rope-type",), "rope_type", "store", choices=("rope", "yarn")),
    OptionRecord(("--swiglu",), "swiglu", "store_true", default=False),
    OptionRecord(("--no-fusion",), "fusion", "store_false", default=True),
    OptionRecord(("--fused",), "fusion", "store_const", const="all"),
    OptionRecord(("--round",), "round", "boolean"),
    OptionRecord(("--rank",), "rank", "store", "int", default=7),
    OptionRecord(("--world-size",), "world_size", "store", "int", default=8),
    OptionRecord(("-v",), "verbose", "count", default=0),
    OptionRecord(("--many",), "many", "append"),
    OptionRecord(("--more",), "more", "extend", nargs="+"),
    OptionRecord(("--yaml-cfg",), "yaml_cfg", "store"),
)
DEFAULTS: dict[str, Any] = {
    "rotary_base": 10000,
    "rope_type": None,
    "swiglu": False,
    "fusion": True,
    "round": None,
    "rank": 0,
    "world_size": 1,
    "verbose": 0,
    "many": None,
    "more": None,
    "yaml_cfg": None,
}
ATTRIBUTES = {"base": Attribute(1, "rotary_base"), "kind": Attribute("none", "rope_type")}
TINY = RecordedMegatron(
    Surface(
        "tiny",
        "0",
        "",
        OPTIONS,
        {},
        (Edit("rope_type", {"rope_type": [None]}, "rope"),),
        (
            Refusal("validate_args", {"rope_type": [None], "rotary_base": [1]}, "TypeError", "v"),
            Refusal("config", {"rotary_base": [2]}, "ValueError", "config of {rotary_base}"),
            Refusal("model", {"base": [3], "swiglu": [True]}, "AttributeError", "model of {base}"),
        ),
        (ConfigClass("Config", {}, ATTRIBUTES),),
        (),
        {},
        (),
    )
)
SOURCE = """
    import argparse

    kept = []

    def add(parser):
        kept.append(parser)
        parser.add_argument("--sections", type=int, nargs="+", default=[1])

    def fill(args):
        args.sections.append(2)
        args.swiglu = True
        print("filled")

    def again(args):
        args.sections.append(3)
        args.rotary_base += 1

    def other(args):
        return argparse.Namespace(**{**vars(args), "rope_type": "yarn"})

    def number(args):
        args.rotary_base = 20
        return 5

    def refuse(args):
        print("refusing")
        kept[0].error("no good")

    def refuse_rotary(args, config):
        kept[0].error("no rotary")

    def rotary(args, config):
        args.sections.append(9)
        config.base = 0
        return {"rotary_base": args.rotary_base, "config": sorted(vars(config))}
"""


def around(framework: Framework | None = None, **settings: Any) -> Pipeline:
    if framework is None:
        return Pipeline(TINY, PipelineSettings(**settings))
    framework.module(SOURCE)
    folder = str(framework.folder)
    settings.setdefault("arguments", ("frame:add",))
    return Pipeline(TINY, PipelineSettings(pythonpath=(folder,), **settings))


class TestFlags:
    def test_nearest_one_is_told_for_each(self):
        pipeline = around()

        for _ in range(2):
            assert pipeline.nearest_flag("--rotary-bas") == "--rotary-base"
            assert pipeline.nearest_flag("--rope-tpye") == "--rope-type"
            assert pipeline.nearest_flag("--beta-fast") is None

    def test_of_a_dest_the_first_one_is_told(self):
        pipeline = around()

        found = [pipeline.flag_of(dest) for dest in ("rotary_base", "fusion", "round", "gone")]

        assert found == ["--rotary-base", "--no-fusion", "--round", None]

    @pytest.mark.parametrize(
        ("dest", "stated"),
        [
            ("rotary_base", [("--rotary-base", True, None), ("--rb", True, None)]),
            ("swiglu", [("--swiglu", False, True)]),
            ("fusion", [("--no-fusion", False, False), ("--fused", False, "all")]),
            ("round", [("--round", False, True), ("--no-round", False, False)]),
            ("more", [("--more", True, None)]),
            ("gone", []),
        ],
    )
    def test_values_that_they_state(self, dest: str, stated: list[tuple[str, bool, Any]]):
        expected = tuple(Statement(*one) for one in stated)

        assert around().statements(dest) == expected
        assert statements(TINY.new_parser()).get(dest, ()) == expected

    @pytest.mark.parametrize(
        ("flag", "plain"),
        [
            *((flag, True) for flag in ("--rb", "--rotary-base", "--swiglu", "--no-fusion")),
            *((flag, True) for flag in ("--fused", "--round", "--no-round")),
            *((flag, False) for flag in ("-v", "--many", "--more", "-h", "--help", "--gone")),
        ],
    )
    def test_ones_that_depend_on_their_own_values_alone(self, flag: str, plain: bool):
        assert around().is_plain(flag) is plain

    def test_ones_that_the_parser_demands(self, framework: Framework):
        framework.module(
            """
            def add(parser):
                parser.add_argument("--must", "--shall", required=True)
                for required in (True, False):
                    group = parser.add_mutually_exclusive_group(required=required)
                    group.add_argument(f"--one-{required}")
                    group.add_argument(f"--two-{required}", "-t" if required else "-f")
            """,
            "demanding",
        )
        pipeline = around(framework, arguments=("demanding:add",))

        assert pipeline.demands == (
            frozenset({"--must", "--shall"}),
            frozenset({"--one-True", "--two-True", "-t"}),
        )
        assert around().demands == ()

    def test_an_argv_is_split_into_those_that_are_known(self):
        assert around().split(["--rb", "1", "2", "--swiglu"]) == (
            Occurrence("--rb", "rotary_base", ("1",), 0, 2),
            Occurrence("2", None, ("2",), 2, 3),
            Occurrence("--swiglu", "swiglu", (), 3, 4),
        )


class TestParsed:
    def test_without_a_framework(self):
        parsed = around(base_args=("--rb", "5")).parse(["--swiglu"])

        before = DEFAULTS | {"rotary_base": 5, "swiglu": True}
        after = before | {"rope_type": "rope"}
        assert parsed == Parsed(
            argv=("--rb", "5", "--swiglu"),
            base_length=2,
            occurrences=(
                Occurrence("--rb", "rotary_base", ("5",), 0, 2),
                Occurrence("--swiglu", "swiglu", (), 2, 3),
            ),
            parsed=before,
            namespace=after,
            fillers={"rope_type": "validate_args"},
            unpinned=after,
            unedited=before,
        )

    def test_with_functions_and_pins(self, framework: Framework):
        pipeline = around(
            framework,
            defaults=("frame:fill", "frame:again"),
            pins={"rotary_base": 3, "new": [4]},
        )

        parsed = pipeline.parse(["--sections", "5"])

        given = DEFAULTS | {"sections": [5]}
        filled = given | {"sections": [5, 2, 3], "swiglu": True, "rotary_base": 10001}
        edited = filled | {"rope_type": "rope"}
        assert parsed == Parsed(
            argv=("--sections", "5"),
            base_length=0,
            occurrences=(Occurrence("--sections", "sections", ("5",), 0, 2),),
            parsed=given,
            namespace=edited | {"rotary_base": 3, "new": [4]},
            fillers={
                "sections": "frame:again",
                "swiglu": "frame:fill",
                "rotary_base": "frame:again",
                "rope_type": "validate_args",
            },
            pinned=frozenset({"rotary_base", "new"}),
            unpinned=edited,
            unedited=filled,
            output="filled\n",
        )

    def test_where_the_parser_refuses(self):
        parsed = around(base_args=("--swiglu",)).parse(["--rope-type", "ntk"])

        assert parsed.refusal is not None
        assert parsed.refusal.startswith("argument --rope-type: invalid choice: 'ntk'")
        assert parsed == Parsed(
            argv=("--swiglu", "--rope-type", "ntk"),
            base_length=1,
            occurrences=(
                Occurrence("--swiglu", "swiglu", (), 0, 1),
                Occurrence("--rope-type", "rope_type", ("ntk",), 1, 3),
            ),
            refusal=parsed.refusal,
        )

    def test_where_a_function_refuses(self, framework: Framework):
        pipeline = around(framework, defaults=("frame:refuse",), base_args=("--swiglu",))

        assert pipeline.parse(["--rb", "5"]) == Parsed(
            argv=("--swiglu", "--rb", "5"),
            base_length=1,
            occurrences=(
                Occurrence("--swiglu", "swiglu", (), 0, 1),
                Occurrence("--rb", "rotary_base", ("5",), 1, 3),
            ),
            refusal="no good",
            output="refusing\n",
        )

    def test_one_that_is_returned_replaces_the_namespace(self, framework: Framework):
        parsed = around(framework, defaults=("frame:other", "frame:again")).parse([])

        assert (parsed.namespace["rope_type"], parsed.namespace["rotary_base"]) == ("yarn", 10001)
        assert parsed.fillers == {
            "rope_type": "frame:other",
            "sections": "frame:again",
            "rotary_base": "frame:again",
        }

    def test_what_else_is_returned_replaces_nothing(self, framework: Framework):
        parsed = around(framework, defaults=("frame:number",)).parse([])

        assert parsed.namespace["rotary_base"] == 20

    def test_place_among_machines_is_that_of_a_single_one(self):
        parsed = around().parse(["--rank", "3", "--world-size", "4"])

        assert (parsed.namespace["rank"], parsed.namespace["world_size"]) == (0, 1)

    def test_flags_that_are_known_already_are_not_looked_for(self):
        known = (Occurrence("--known", None, (), 0, 1),)

        assert around().fill(("--rb", "5"), dict(DEFAULTS), known).occurrences == known

    def test_outside_of_a_run_nothing_is_printed(self):
        assert around().fill((), dict(DEFAULTS)).output == ""

    def test_what_is_the_same_is_there_once(self):
        """Thousands of these are kept at a time."""
        parsed = around().parse(["--rope-type", "rope"])

        assert parsed.namespace is parsed.unpinned is parsed.unedited is parsed.parsed


def test_namespace_is_what_the_parser_alone_makes(framework: Framework):
    pipeline = around(framework, defaults=("frame:fill",), pins={"rotary_base": 3})

    assert pipeline.namespace(["--rb", "5"]) == DEFAULTS | {"rotary_base": 5, "sections": [1]}
    assert pipeline.namespace(["--rb", "x"]) is None


def test_reader_that_refuses_as_argparse_does_not_expect(framework: Framework):
    framework.module(
        """
        def read(text):
            raise LookupError(f"no {text}")

        def add(parser):
            parser.add_argument("--odd", type=read)
        """,
        "odd",
    )

    parsed = around(framework, arguments=("odd:add",)).parse(["--odd", "x"])

    assert parsed.refusal == "LookupError: no x"


class TestConfig:
    def test_it_is_of_the_namespace_with_edits_and_pins(self):
        pipeline = around(pins={"rotary_base": 9})

        config = pipeline.configure(pipeline.parse(["--rb", "5"]))

        assert (config.class_name, config.values) == ("Config", {"base": 9, "kind": "rope"})

    @pytest.mark.parametrize(
        ("argv", "pins", "by", "text"),
        [
            (["--rb", "1"], {}, "validate_args", "TypeError: v"),
            (["--rb", "1"], {"rotary_base": 5}, "validate_args", "TypeError: v"),
            (["--rb", "2"], {}, "config", "ValueError: config of 2"),
            (["--rb", "2"], {"rotary_base": 5}, "config", "ValueError: config of 2"),
            (["--rb", "5"], {"rotary_base": 2}, "config", "ValueError: config of 2"),
            (["--rb", "3", "--swiglu"], {}, "model", "AttributeError: model of 3"),
            (["--swiglu"], {"rotary_base": 3}, "model", "AttributeError: model of 3"),
            (
                *(["--rb", "2", "--yaml-cfg", "x"], {"yaml_cfg": None}, "config"),
                "unresolvable: --yaml-cfg replaces the whole namespace by the file's values",
            ),
        ],
    )
    def test_who_refuses_it(self, argv: list[str], pins: dict[str, Any], by: str, text: str):
        pipeline = around(pins=pins)
        parsed = pipeline.parse(argv)

        with pytest.raises(ConfigRefusedError) as caught:
            pipeline.configure(parsed)

        assert (caught.value.by, str(caught.value)) == (by, text)

    @pytest.mark.parametrize(
        ("argv", "pins"),
        [
            (["--rb", "3"], {}),
            (["--rb", "3", "--swiglu"], {"rotary_base": 5}),
            (["--rb", "1", "--rope-type", "rope"], {}),
            ([], {"yaml_cfg": "x"}),
        ],
    )
    def test_what_is_not_refused(self, argv: list[str], pins: dict[str, Any]):
        pipeline = around(pins=pins)
        parsed = pipeline.parse(argv)

        assert pipeline.configure(parsed).values["base"] == parsed.namespace["rotary_base"]


class TestRotary:
    def test_it_gets_copies(self, framework: Framework):
        pipeline = around(framework, rotary="frame:rotary", pins={"rotary_base": 4})
        parsed = pipeline.parse([])
        config = pipeline.configure(parsed)

        found = pipeline.rotary_arguments(parsed, config)

        assert found == {"rotary_base": 4, "config": ["base", "kind"]}
        assert (parsed.namespace["sections"], config.values["base"]) == ([1], 4)

    def test_it_gets_the_config_itself_where_there_is_one(self, framework: Framework):
        pipeline = around(framework, rotary="frame:rotary")
        parsed = pipeline.parse([])
        instance = argparse.Namespace(real=True)

        found = pipeline.rotary_arguments(
            parsed, pipeline.configure(parsed)._replace(instance=instance)
        )

        assert found["config"] == ["base", "real"]
        assert instance.base == 0

    def test_refusal_of_the_parser_is_one_of_the_model(self, framework: Framework):
        pipeline = around(framework, rotary="frame:refuse_rotary")
        parsed = pipeline.parse([])

        with pytest.raises(ConfigRefusedError) as caught:
            pipeline.rotary_arguments(parsed, pipeline.configure(parsed))

        refused = caught.value
        assert (refused.by, refused.error, refused.message) == ("model", "SystemExit", "no rotary")

    def test_what_is_no_mapping_is_an_error(self, framework: Framework):
        framework.module("def rotary(args, config):\n    return [1]\n", "listing")
        pipeline = around(framework, rotary="listing:rotary")
        parsed = pipeline.parse([])

        with pytest.raises(PipelineCallError) as caught:
            pipeline.rotary_arguments(parsed, pipeline.configure(parsed))

        assert str(caught.value).splitlines() == [
            "rope_contract_rotary: listing:rotary returned list, not a dict of rotary arguments",
            (
                "  remedy: return the arguments that differ by name, "
                'for example {"rotary_base": 5e5}'
            ),
        ]


class TestActive:
    def test_it_is_entered_once(self):
        pipeline = around()

        with pipeline.active() as outer:
            with pipeline.active() as inner:
                print("said")  # noqa: T201  # it is kept
            print("more")  # noqa: T201

        assert outer is inner
        assert outer.getvalue() == "said\nmore\n"
        with pipeline.active() as later:
            assert later is not outer

    def test_it_is_left_also_where_something_raises(self):
        pipeline = around()

        with pytest.raises(KeyError), pipeline.active() as first:
            raise KeyError
        with pipeline.active() as second:
            assert second is not first

    def test_what_is_printed_before_belongs_to_it(self, framework: Framework):
        pipeline = around(framework, defaults=("frame:fill",))

        with pipeline.active():
            outputs = [pipeline.parse([]).output for _ in range(2)]

        assert outputs == ["filled\n", "filled\nfilled\n"]


class TestStubs:
    """What a stub replaces gives back what it is given first."""

    SOURCE = """
        class Outer:
            class Inner:
                def check(args):
                    raise RuntimeError

        def fill(args):
            args.given = Outer.Inner.check("first", 2, third=3)
            args.nothing = Outer.Inner.check()
    """

    def test_attribute_of_an_attribute(self, framework: Framework):
        framework.module(self.SOURCE, "nested")
        pipeline = around(framework, defaults=("nested:fill",), stubs=("nested:Outer.Inner.check",))

        namespace = pipeline.parse([]).namespace

        assert (namespace["given"], namespace["nothing"]) == ("first", None)

    @pytest.mark.parametrize("name", ["Outer.Inner.gone", "Outer.gone.check", "gone"])
    def test_what_is_not_there(self, framework: Framework, name: str):
        framework.module(self.SOURCE, "nested")

        with pytest.raises(PipelineError) as caught:
            around(framework, stubs=(f"nested:{name}",))

        assert str(caught.value).splitlines()[:2] == [
            f"rope_contract_stubs: module 'nested' has no attribute {name!r}",
            f"  at: rope_contract_stubs = nested:{name}",
        ]

    def test_only_megatrons_own_are_left_out(self, framework: Framework):
        with pytest.raises(PipelineError, match="there is no module 'megatronic'"):
            around(framework, stubs=("megatronic.training:check",))

    @pytest.mark.parametrize(
        ("setting", "replaced"),
        [("defaults", True), ("rotary", True), (None, False)],
    )
    def test_megatrons_validator_is_replaced_where_a_framework_may_call_it(
        self, framework: Framework, setting: str | None, replaced: bool
    ):
        framework.module(
            "def validate_args(args):\n    return None\n", "megatron.training.arguments"
        )
        framework.module("from megatron.training.arguments import validate_args\n", "own")
        settings: dict[str, Any] = {"arguments": ()}
        if setting:
            framework.module(SOURCE)
            name = "frame:fill" if setting == "defaults" else "frame:rotary"
            settings[setting] = (name,) if setting == "defaults" else name
        framework.module("import own\n\ndef add(parser):\n    pass\n", "adding")
        pipeline = around(framework, **settings | {"arguments": ("adding:add",)})
        original = sys.modules["own"].validate_args

        with pipeline.active():
            inside = [
                sys.modules[name].validate_args for name in ("own", "megatron.training.arguments")
            ]

        assert [one is not original for one in inside] == [replaced, replaced]
        assert sys.modules["own"].validate_args is original
        assert sys.modules["megatron.training.arguments"].validate_args is original


def test_further_lines_of_what_a_function_raises_are_told(framework: Framework):
    framework.module("def fill(args):\n    raise RuntimeError('one\\ntwo\\nthree')\n", "raising")

    with pytest.raises(PipelineCallError) as caught:
        around(framework, defaults=("raising:fill",)).parse([])

    assert caught.value.headline == (
        "rope_contract_defaults: raising:fill raised RuntimeError: one ..."
    )
    assert caught.value.details == ("two", "three")


def test_setting_and_function_of_what_cannot_be_added_are_told(framework: Framework):
    framework.module("def add(parser):\n    raise LookupError('no table')\n", "raising")

    with pytest.raises(PipelineError) as caught:
        around(framework, arguments=("frame:add", "raising:add"))

    assert caught.value.headline == (
        "rope_contract_arguments: raising:add raised LookupError: no table"
    )
