"""A Megatron rebuilt from a surface."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from strategies import MEGATRON, SURFACE

from pytest_ropecontract.megatron import configuration
from pytest_ropecontract.megatron.backend import (
    ArgumentRefusedError,
    ConfigRefusedError,
    RefusingParser,
)
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import (
    Attribute,
    Edit,
    OptionRecord,
    Refusal,
    Surface,
    SurfaceError,
)

if TYPE_CHECKING:
    import argparse

BLANK = Surface("blank", "0", "", (), {}, (), (), (), (), {}, ())


def parser(*options: OptionRecord, **surface: Any) -> argparse.ArgumentParser:
    return RecordedMegatron(BLANK._replace(options=options, **surface)).new_parser()


def parse(argv: list[str], *options: OptionRecord, **surface: Any) -> dict[str, Any]:
    return vars(parser(*options, **surface).parse_args(argv))


def refusal(*argv: str) -> str:
    with pytest.raises(ArgumentRefusedError) as caught:
        MEGATRON.new_parser().parse_args(argv)
    return str(caught.value)


def test_neither_torch_nor_megatron_is_imported():
    code = (
        "import sys\n"
        "from pytest_ropecontract.megatron.recorded import RecordedMegatron\n"
        "from pytest_ropecontract.megatron.surface_files import NEWEST, load_shipped\n"
        "RecordedMegatron(load_shipped(NEWEST)).new_parser()\n"
        "print(sorted({'torch', 'megatron', 'numpy', 'pytest', 'hypothesis'} & {*sys.modules}))\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("dest", "default"),
    [  # megatron_rope: options table, megatron-core 0.19
        ("position_embedding_type", "learned_absolute"),
        ("rope_type", None),
        ("rotary_base", 10000),
        ("rotary_percent", 1.0),
        ("rotary_interleaved", False),
        ("rotary_seq_len_interpolation_factor", None),
        ("use_rope_scaling", False),
        ("rope_scaling_factor", 8.0),
        ("rotary_scaling_factor", 1.0),
        ("mscale", 1.0),
        ("mscale_all_dim", 0.0),
        ("yarn_original_max_position_embeddings", None),
        ("yarn_beta_fast", None),
        ("yarn_correction_range_round_to_int", None),
        ("qk_pos_emb_head_dim", 64),
        ("kv_lora_rank", 32),
        ("apply_rope_fusion", True),
        ("add_position_embedding", True),
        ("multi_latent_attention", False),
        ("mrope_section", None),
    ],
)
def test_a_default_is_megatrons(dest: str, default: Any):
    value = getattr(MEGATRON.new_parser().parse_args([]), dest)

    assert (type(value), value) == (type(default), default)


@pytest.mark.parametrize(
    "flag", ["--beta-fast", "--beta-slow", "--original-max-position-embeddings"]
)
def test_a_flag_that_only_a_fork_has_is_unknown(flag: str):
    assert MEGATRON.new_parser().parse_known_args([flag, "1"])[1] == [flag, "1"]


def test_abbreviations_are_unknown():
    assert MEGATRON.new_parser().parse_known_args(["--rotary-bas", "1"])[1] == ["--rotary-bas", "1"]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--rotary-base", "1e6"), "argument --rotary-base: invalid int value: '1e6'"),
        (("--rotary-base", "10000.0"), "argument --rotary-base: invalid int value: '10000.0'"),
        (("--rotary-base",), "argument --rotary-base: expected one argument"),
        (("--rotary-base", "--swiglu"), "argument --rotary-base: expected one argument"),
        (("--mrope-section",), "argument --mrope-section: expected at least one argument"),
        (("--swiglu=1",), "argument --swiglu: ignored explicit argument '1'"),
        (("--rope-type", "ntk"), "argument --rope-type: invalid choice: 'ntk' (choose from "),
        (("--stray", "1"), "unrecognized arguments: --stray 1"),
        (("--help",), "-h/--help prints help and ends the program"),
    ],
)
def test_a_refusal_has_argparses_text(argv: tuple[str, ...], message: str):
    assert refusal(*argv).startswith(message)


def test_a_refusing_parser_raises_where_argparse_would_exit():
    with pytest.raises(ArgumentRefusedError, match=r"^the parser ends the program$"):
        RefusingParser().exit(0)


def test_a_refusing_parser_says_what_a_framework_ends_with():
    with pytest.raises(ArgumentRefusedError, match=r"^no GPU$"):
        RefusingParser().exit(2, "no GPU")
    with pytest.raises(ArgumentRefusedError, match=r"^wrong$"):
        RefusingParser().error("wrong")


def test_what_a_config_is_refused_with():
    error = ConfigRefusedError("model", "ValueError", "no")

    assert (error.by, error.error, error.message) == ("model", "ValueError", "no")
    assert str(error) == "ValueError: no"


def test_a_list_pattern_is_read():
    namespace = MEGATRON.new_parser().parse_args(["--moe-layer-freq", "[0]*3+[1]*58"])

    assert namespace.moe_layer_freq == [0] * 3 + [1] * 58


def test_an_enum_is_read_by_name():
    namespace = MEGATRON.new_parser().parse_args(["--attention-backend", "fused"])

    assert (namespace.attention_backend.name, namespace.attention_backend.value) == ("fused", 2)


def test_the_first_default_of_a_shared_dest_counts():
    options = (
        OptionRecord(("--round",), "round", "store_true", default=None),
        OptionRecord(("--no-round",), "round", "store_false", default=True),
    )

    assert parse([], *options) == {"round": None}
    assert parse(["--no-round"], *options) == {"round": False}


def test_a_default_list_is_not_shared_between_parsers():
    megatron = RecordedMegatron(
        BLANK._replace(options=(OptionRecord(("--x",), "x", "store", default=[]),))
    )
    megatron.new_parser().parse_args([]).x.append(1)

    assert megatron.new_parser().parse_args([]).x == []


def test_a_recorded_tuple_is_a_tuple():
    option = OptionRecord(("--b",), "b", "store", "float", nargs=2, default={"tuple": [0.9, 0.95]})

    assert parse([], option) == {"b": (0.9, 0.95)}


ENUMS = {"Backend": {"flash": 1, "fused": 2}}
MEMBER = {"of": "Backend", "member": "fused"}


def test_members_and_tuples_stand_also_in_lists():
    option = OptionRecord(("--b",), "b", "store", default=[MEMBER, {"tuple": [1, 2]}, "x", None])

    first, *rest = parse([], option, enums=ENUMS)["b"]

    assert (first.name, first.value) == ("fused", 2)
    assert rest == [(1, 2), "x", None]


@pytest.mark.parametrize(("text", "name"), [("full", "full"), ("7", "7"), ("flash", "flash")])
def test_literal_of_an_enum_option_stays_text_and_a_member_does_not(text: str, name: str):
    option = OptionRecord(("--b",), "b", "store", "enum", enum="Backend", const=["full", 7])

    value = parse(["--b", text], option, enums=ENUMS)["b"]

    assert value == name if text != "flash" else value.value == 1


def test_member_may_be_a_constant_and_a_choice():
    options = (
        OptionRecord(("--const",), "const", "store_const", const=MEMBER),
        OptionRecord(("--maybe",), "maybe", "store", "enum", enum="Backend", nargs="?", const=[]),
        OptionRecord(("--some",), "some", "store", "enum", enum="Backend", choices=(MEMBER,)),
    )

    found = parse(["--const", "--maybe", "fused", "--some", "fused"], *options, enums=ENUMS)

    assert {name: value.name for name, value in found.items()} == {
        **dict.fromkeys(("const", "maybe", "some"), "fused")
    }
    with pytest.raises(ArgumentRefusedError, match=r"^argument --some: invalid choice: "):
        parse(["--some", "flash"], *options, enums=ENUMS)


@pytest.mark.parametrize(
    ("value_type", "text", "value"),
    [
        (None, "5", "5"),
        ("str", "5", "5"),
        ("int", "5", 5),
        ("float", "5", 5.0),
        ("bool", "False", True),  # as bool() of any text
        ("list_pattern", "[0]*2", [0, 0]),
        ("int_tuple", "1,2", (1, 2)),
    ],
)
@pytest.mark.parametrize("reader", [None, "own_type"])
def test_every_type_is_read(value_type: str | None, reader: str | None, text: str, value: Any):
    option = OptionRecord(("--x",), "x", "store", value_type, reader, enum="Backend")

    found = parse(["--x", text], option, enums=ENUMS)["x"]

    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(("reader", "name"), [(None, "read_list_pattern"), ("freq", "freq")])
def test_refusal_names_megatrons_function(reader: str | None, name: str):
    option = OptionRecord(("--x",), "x", "store", "list_pattern", reader)

    with pytest.raises(ArgumentRefusedError, match=f"^argument --x: invalid {name} value: 'a'$"):
        parse(["--x", "a"], option)


@pytest.mark.parametrize(
    ("required", "action"), [(True, "store"), (True, "boolean"), (False, "store")]
)
def test_only_what_is_required_is_missed(required: bool, action: str):
    options = OptionRecord(("--must",), "must", action, required=required)

    assert [one.required for one in parser(options)._actions if one.dest == "must"] == [required]


def test_every_kind_of_action_is_rebuilt():
    options = (
        OptionRecord(("--on",), "on", "store_true", default=False),
        OptionRecord(("--off",), "off", "store_false", default=True),
        OptionRecord(("--const",), "const", "store_const", const=7),
        OptionRecord(("--both",), "both", "boolean", default=True),
        OptionRecord(("--many",), "many", "append", "int"),
        OptionRecord(("--more",), "more", "extend", "int", nargs="+"),
        OptionRecord(("-v",), "verbose", "count", default=0),
        OptionRecord(("--maybe",), "maybe", "store", "int", nargs="?", const=3),
    )

    argv = "--on --off --const --no-both --many 1 --many 2 --more 3 4 -vv --maybe"

    assert parse(argv.split(), *options) == {
        "on": True,
        "off": False,
        "const": 7,
        "both": False,
        "many": [1, 2],
        "more": [3, 4],
        "verbose": 2,
        "maybe": 3,
    }


def test_a_required_option_is_missed():
    option = OptionRecord(("--must",), "must", "store", required=True)

    with pytest.raises(ArgumentRefusedError, match="the following arguments are required: --must"):
        parse([], option)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [OptionRecord(("--x",), "x", "store"), OptionRecord(("--x",), "y", "store")],
            (
                "surface blank has an unusable option --x: "
                "argument --x: conflicting option string: --x"
            ),
        ),
        (
            [OptionRecord(("--x",), "x", "store", "enum", enum="Gone")],
            "surface blank has an unusable option --x: 'Gone'",
        ),
        (
            [OptionRecord(("--x",), "x", "store", "enum")],
            "surface blank has an unusable option --x: 'enum'",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: list[OptionRecord], message: str):
    with pytest.raises(SurfaceError) as caught:
        parser(*options)

    assert str(caught.value) == message


def test_an_enum_that_python_cannot_have_is_refused():
    surface = BLANK._replace(enums={"Odd": {"mro": 1}})

    with pytest.raises(SurfaceError, match=r"^surface blank has an unusable enum 'Odd': "):
        RecordedMegatron(surface)


def configure(*argv: str, **changes: Any) -> dict[str, Any]:
    namespace = MEGATRON.new_parser().parse_args(
        ["--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4", *argv]
    )
    vars(namespace).update({"kv_channels": 16, "add_bias_linear": False, "swiglu": True, **changes})
    return dict(MEGATRON.configure(namespace).values)


def test_class_whose_condition_never_holds_is_chosen_where_it_is_the_last():
    (latent, common) = SURFACE.classes
    never = common._replace(when={"num_layers": ["never"]})

    assert configuration.choose_class(SURFACE._replace(classes=(latent, never)), {}) is never


def test_the_class_follows_from_the_attention():
    for latent, name in ((True, "MLATransformerConfig"), (False, "TransformerConfig")):
        chosen = configuration.choose_class(SURFACE, {"multi_latent_attention": latent})

        assert chosen.name == name


def test_a_namespace_value_beats_the_class_default():
    values = configure("--multi-latent-attention", "--no-rope-fusion")

    # The class has 40; the parser's default is 1.0.
    assert values["rotary_scaling_factor"] == 1.0


def test_a_class_default_is_used_where_the_parser_has_no_option():
    values = configure("--multi-latent-attention", "--no-rope-fusion")

    assert (values["beta_fast"], values["beta_slow"]) == (32, 1)
    assert values["original_max_position_embeddings"] == 4096


def test_an_open_rope_type_is_the_class_default():
    assert configure("--multi-latent-attention")["rope_type"] == "yarn"


def test_yarn_attributes_exist_only_for_yarn_without_mla():
    with_yarn = configure("--position-embedding-type", "yarn", "--rotary-scaling-factor", "32")

    assert with_yarn["yarn_rotary_scaling_factor"] == 32.0
    assert with_yarn["yarn_beta_fast"] == 32.0
    assert with_yarn["yarn_correction_range_round_to_int"] is True
    assert "yarn_beta_fast" not in configure("--position-embedding-type", "rope")
    assert "yarn_beta_fast" not in configure("--multi-latent-attention")


def test_a_whole_number_of_no_rope_becomes_a_pattern():
    assert configure("--no-rope-freq", "2")["no_rope_freq"] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("3", "no_rope_freq=3 should be divisible by num_layers=4."),
        ("[0]*3", "Length of no_rope list (3) must match the number of layers (4)"),
    ],
)
def test_a_pattern_that_does_not_fit_the_layers_is_refused(value: str, message: str):
    with pytest.raises(ConfigRefusedError) as caught:
        configure("--no-rope-freq", value)

    assert (caught.value.error, caught.value.message) == ("AssertionError", message)


def test_a_pattern_of_absurdly_many_layers_takes_no_memory():
    with pytest.raises(ConfigRefusedError, match="1000000000000 layers are too many"):
        configure("--no-rope-freq", "1", num_layers=10**12)


@pytest.mark.parametrize(("frequency", "layers"), [(2, "4"), (2.0, 4), ("1", 4)])
def test_a_pattern_that_is_not_made_of_whole_numbers_is_refused(frequency: Any, layers: Any):
    with pytest.raises(ConfigRefusedError) as caught:
        configure(no_rope_freq=frequency, num_layers=layers)

    assert caught.value.message == (
        f"no_rope_freq={frequency!r} and num_layers={layers!r} are not both whole numbers"
    )


def test_a_recorded_refusal_has_megatrons_text():
    with pytest.raises(ConfigRefusedError) as caught:
        configure("--multi-latent-attention", "--rope-type", "rope")

    assert str(caught.value) == "ValueError: apply_rope_fusion for MLA only works with YARN RoPE."
    assert caught.value.by == "config"


def test_the_value_of_an_attribute_stands_in_the_text_of_a_refusal():
    refusal = Refusal("config", {"x": ["a", "b"]}, "AssertionError", "not with {x}")

    with pytest.raises(ConfigRefusedError, match=r"^AssertionError: not with b$"):
        configuration.check_refusals(BLANK._replace(refusals=(refusal,)), "config", {"x": "b"})


def test_only_the_refusals_of_the_stage_are_looked_at():
    refusal = Refusal("model", {}, "AttributeError", "no")

    configuration.check_refusals(BLANK._replace(refusals=(refusal,)), "config", {})


class TestEdits:
    def apply(self, edits: tuple[Edit, ...], **namespace: Any) -> tuple[dict[str, Any], Any]:
        changed = configuration.edits(BLANK._replace(edits=edits), namespace)
        return {**namespace, **changed}, changed

    def test_all_see_the_values_before_any_of_them(self):
        edits = (Edit("b", {"a": [1]}, "x"), Edit("a", {}, 2), Edit("c", {"a": [2]}, "y"))

        assert self.apply(edits, a=1, b=None)[0] == {"a": 2, "b": "x"}

    def test_what_is_there_already_is_no_change(self):
        assert self.apply((Edit("a", {}, 1),), a=1)[1] == {}

    @pytest.mark.parametrize(
        ("dividend", "divisor", "expected"),
        [(64, 4, 16), (65, 4, 16), (64, 0, None), (64, None, None), (None, 4, None)],
    )
    def test_a_quotient_is_written_where_there_is_one(
        self, dividend: Any, divisor: Any, expected: Any
    ):
        edit = Edit("k", {"k": [None]}, quotient=("h", "n"))

        assert self.apply((edit,), k=None, h=dividend, n=divisor)[0]["k"] == expected


def test_without_its_dest_in_the_namespace_an_attribute_is_the_class_default():
    assert configuration.value_of(Attribute(5, "x"), "x", {}) == 5


def test_an_attribute_that_nothing_is_copied_into_is_the_class_default():
    assert configuration.value_of(Attribute(default=5), "x", {"x": 7}) == 5


def test_none_in_the_namespace_is_a_value_unless_the_class_default_takes_over():
    assert configuration.value_of(Attribute(5, "x"), "x", {"x": None}) is None
    assert configuration.value_of(Attribute(5, "x", none_is_default=True), "x", {"x": None}) == 5
