"""Surfaces as text: what is read is what was written, and nothing else is read."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import (
    LONGEST,
    Argument,
    Attribute,
    ConfigClass,
    Edit,
    ExtraAttributes,
    OptionRecord,
    Refusal,
    RotaryPath,
    RotaryRule,
    Source,
    Surface,
    SurfaceError,
    holds,
)
from pytest_ropecontract.megatron.surface_files import (
    NEWEST,
    SIZE_LIMIT,
    dump,
    load_file,
    load_shipped,
    parse,
    shipped,
)
from pytest_ropecontract.megatron.surface_reader import MalformedError, check_characters

FOLDER = Path(__import__("pytest_ropecontract.megatron").megatron.__path__[0]) / "surfaces"
TEXT = (FOLDER / f"{NEWEST}.json").read_text(encoding="utf-8")
DOCUMENT: dict[str, Any] = json.loads(TEXT)
# A document with one record of every kind, so that a mutation seldom misses.
SMALL: dict[str, Any] = {
    **{key: DOCUMENT[key] for key in ("schema", "name", "version", "fingerprint")},
    "source": {"version": "0.19.2", "revision": "2e64d78-dirty", "arguments": ["frame:add"]},
    "enums": {"AttnBackend": {"flash": 1, "auto": 5}},
    "options": [
        {"flags": ["--num-layers"], "dest": "num_layers", "action": "store", "value_type": "int"},
        {"flags": ["--swiglu"], "dest": "swiglu", "action": "store_true", "default": False},
        {"flags": ["--rl-x"], "dest": "rl_x", "action": "boolean", "default": False},
        {
            "flags": ["--attention-backend"],
            "dest": "attention_backend",
            "action": "store",
            "value_type": "enum",
            "enum": "AttnBackend",
            "const": ["full"],
            "default": {"of": "AttnBackend", "member": "auto"},
            "choices": [{"of": "AttnBackend", "member": "flash"}],
        },
        {
            "flags": ["--betas", "--b"],
            "dest": "betas",
            "action": "store",
            "value_type": "float",
            "nargs": "+",
            "default": {"tuple": [0.9, 0.95]},
            "required": False,
        },
        {"flags": ["--level"], "dest": "level", "action": "store", "nargs": "?", "const": 1},
    ],
    "edits": [
        {"dest": "kv_channels", "when": {"kv_channels": [None]}, "quotient": ["hidden", "heads"]},
        {"dest": "latent", "when": {"pattern": {"contains": ["+"]}}, "value": True},
    ],
    "refusals": [
        {"by": "config", "when": {"x": {"given": True}}, "error": "ValueError", "message": "no {x}"}
    ],
    "classes": [
        {
            "name": "Config",
            "when": {},
            "attributes": {"no_rope": {"dest": "no_rope", "transform": "layer_pattern"}},
        }
    ],
    "extras": [{"when": {"y": ["yarn"]}, "attributes": {"beta": {"default": 32.0}}}],
    "paths": [
        {
            "name": "gpt-rope",
            "attention": "gpt",
            "kind": "rope",
            "rotary_class": "RotaryEmbedding",
            "returns": 1,
            "arguments": {
                "base": {"origin": "args", "name": "base"},
                "kv_channels": {"origin": "config", "name": "kv_channels"},
                "rotary_percent": {"origin": "constant", "value": 1.0},
            },
            "reads": {"scale": {"origin": "constant", "value": 1.0}},
        }
    ],
    "rules": [{"when": {"pattern": {"lacks": ["D"]}}, "path": "gpt-rope"}],
}


def test_shipped_surfaces_are_listed_in_order():
    assert list(shipped()) == sorted(file.stem for file in FOLDER.glob("*.json"))
    assert NEWEST in shipped()


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_surface_is_dumped_as_it_was_read(name: str):
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")

    assert dump(load_shipped(name)) == text


def test_a_surface_with_every_kind_of_record_survives():
    surface = parse(json.dumps(SMALL), "small.json")

    assert parse(dump(surface), "small.json") == surface
    # Only what equals a record's default is left out.
    assert json.loads(dump(surface)) == {
        **SMALL,
        "options": [
            {key: value for key, value in option.items() if key != "required"}
            for option in SMALL["options"]
        ],
    }


def test_a_surface_with_only_a_config_class_survives():
    surface = Surface("n", "1", "f", (), {}, (), (), (ConfigClass("Config", {}, {}),), (), {}, ())

    assert parse(dump(surface), "n.json") == surface


def test_no_help_text_is_kept():
    assert not any("help" in option for option in DOCUMENT["options"])


def test_another_name_is_refused():
    with pytest.raises(SurfaceError) as caught:
        load_shipped("megatron-core-0.1")

    assert str(caught.value).splitlines() == [
        "no surface is named 'megatron-core-0.1'",
        f"  shipped: {', '.join(shipped())}",
        "  remedy: name a shipped surface, a JSON file, 'live' or 'auto'",
    ]


def changed(*path: str | int, to: Any) -> str:
    document = copy.deepcopy(SMALL)
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = to
    return json.dumps(document)


def without(*path: str | int) -> str:
    document = copy.deepcopy(SMALL)
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return json.dumps(document)


NOT_JSON = "surface bad.json is not JSON at line "
CUT_OFF = "surface bad.json is cut off at line "
BAD_TEXTS = {
    "truncated": (
        TEXT[: TEXT.index('"enums"')],
        CUT_OFF + "7: Expecting property name enclosed in double quotes",
    ),
    "half": ('{"schema": 1, "name"', CUT_OFF + "1: Expecting ':' delimiter"),
    "empty": ("", NOT_JSON + "1: Expecting value"),
    "yaml": ("schema: 1\n", NOT_JSON + "1: Expecting value"),
    "extra": ('{"schema": 1}\n{}', NOT_JSON + "2: Extra data"),
    "list": ("[]", "surface bad.json is a list, not an object"),
    "text": ('"x"', "surface bad.json is a str, not an object"),
    "null": ("null", "surface bad.json is a NoneType, not an object"),
    "schema 2": (
        changed("schema", to=2),
        "surface bad.json has schema 2, this version reads 1",
    ),
    "schema true": (
        changed("schema", to=True),
        "surface bad.json has schema True, this version reads 1",
    ),
    "no schema": (without("schema"), "surface bad.json has schema None, this version reads 1"),
    "deep": ("[" * 200_000, "surface bad.json is nested too deeply"),
    "digits": (
        '{"schema": ' + "1" * 5000 + "}",
        "surface bad.json has an unusable number: it has too many digits",
    ),
    "nan": ('{"schema": NaN}', "surface bad.json has an unusable number: NaN is not finite"),
    "infinite": (
        '{"schema": 1e999}',
        "surface bad.json has an unusable number: 1e999 is not finite",
    ),
}
MALFORMED = {
    "no name": (without("name"), "surface.name is no text"),
    "empty name": (changed("name", to=""), "surface.name is no text"),
    "number as version": (changed("version", to=19), "surface.version is no text"),
    "source as text": (changed("source", to="megatron-core"), "surface.source is no object"),
    "empty distribution": (
        changed("source", "distribution", to=""),
        "source.distribution is no text",
    ),
    "number as revision": (changed("source", "revision", to=1), "source.revision is no text"),
    "arguments as text": (
        changed("source", "arguments", to="frame:add"),
        "source.arguments is no list of texts",
    ),
    "no options": (without("options"), "options is no list"),
    "options of text": (changed("options", 0, to="--x"), "options[0] is no object"),
    "rules as object": (changed("rules", to={}), "rules is no list"),
    "flag without dash": (
        changed("options", 0, "flags", to=["num-layers"]),
        "options[0].flags has something that is no flag",
    ),
    "no flags": (
        changed("options", 0, "flags", to=[]),
        "options[0].flags has something that is no flag",
    ),
    "flags as text": (
        changed("options", 0, "flags", to="--x"),
        "options[0].flags is no list of texts",
    ),
    "another action": (
        changed("options", 0, "action", to="eval"),
        (
            "options[0].action is 'eval', not one of ['append', 'boolean', 'count', 'extend', "
            "'store', 'store_const', 'store_false', 'store_true']"
        ),
    ),
    "another type": (
        changed("options", 0, "value_type", to="os.system"),
        (
            "options[0].value_type is 'os.system', not one of ['bool', 'enum', 'float', 'int', "
            "'int_tuple', 'list_pattern', 'str']"
        ),
    ),
    "dest as list": (changed("options", 0, "dest", to=["x"]), "options[0].dest is no text"),
    "nargs of zero": (changed("options", 4, "nargs", to=0), "options[4].nargs is 0"),
    "nargs of true": (changed("options", 4, "nargs", to=True), "options[4].nargs is True"),
    "endless nargs": (changed("options", 4, "nargs", to=10**9), "options[4].nargs is 1000000000"),
    "rest as nargs": (changed("options", 4, "nargs", to="..."), "options[4].nargs is '...'"),
    "choices as text": (changed("options", 0, "choices", to="ab"), "options[0].choices is no list"),
    "nested default": (
        changed("options", 0, "default", to=[[1]]),
        "options[0].default is no value of an option",
    ),
    "object as default": (
        changed("options", 0, "default", to={"x": 1}),
        "options[0].default is no value of an option",
    ),
    "member of no enum": (
        changed("options", 3, "default", to={"of": "Signals", "member": "auto"}),
        "options[3].default is no value of an option",
    ),
    "no member": (
        changed("options", 3, "default", "member", to="x"),
        "options[3].default is no value of an option",
    ),
    "choice of no enum": (
        changed("options", 3, "choices", 0, "of", to=["AttnBackend"]),
        "options[3].choices is no value of an option",
    ),
    "unknown enum": (
        changed("options", 3, "enum", to="Backend"),
        "--attention-backend reads 'Backend', no such enum",
    ),
    "enum without members": (
        changed("enums", "AttnBackend", to={}),
        "enums.AttnBackend is no object with members",
    ),
    "enum with a float": (
        changed("enums", "AttnBackend", "auto", to=0.5),
        "enums.AttnBackend has a member without a plain value",
    ),
    "enum with a dunder": (
        changed("enums", "AttnBackend", "__class__", to=1),
        "enums.AttnBackend has a member that is no name",
    ),
    "edit without dest": (without("edits", 0, "dest"), "edits[0].dest is no text"),
    "quotient of three": (
        changed("edits", 0, "quotient", to=["a", "b", "c"]),
        "edits[0].quotient needs two attributes",
    ),
    "condition as text": (
        changed("edits", 0, "when", "kv_channels", to="x"),
        "edits[0].when.kv_channels is no condition",
    ),
    "condition without values": (
        changed("edits", 0, "when", "kv_channels", to=[]),
        "edits[0].when.kv_channels is no condition",
    ),
    "unknown condition": (
        changed("rules", 0, "when", "pattern", to={"matches": [".*"]}),
        "rules[0].when.pattern is no condition",
    ),
    "condition of numbers": (
        changed("rules", 0, "when", "pattern", to={"contains": [1]}),
        "rules[0].when.pattern is no condition",
    ),
    "two conditions in one": (
        changed("rules", 0, "when", "pattern", to={"contains": ["+"], "lacks": ["D"]}),
        "rules[0].when.pattern is no condition",
    ),
    "when as list": (changed("rules", 0, "when", to=[]), "rules[0].when is no object"),
    "another refuser": (
        changed("refusals", 0, "by", to="parser"),
        "refusals[0].by is 'parser', not one of ['config', 'model', 'validate_args']",
    ),
    "refusal without message": (
        without("refusals", 0, "message"),
        "refusals[0].message is no text",
    ),
    "another transform": (
        changed("classes", 0, "attributes", "no_rope", "transform", to="eval"),
        "classes[0].attributes.no_rope.transform is 'eval', not one of ['layer_pattern']",
    ),
    "attribute as text": (
        changed("extras", 0, "attributes", "beta", to="32"),
        "extras[0].attributes.beta is no object",
    ),
    "another origin": (
        changed("paths", 0, "arguments", "base", "origin", to="environment"),
        (
            "paths[0].arguments.base.origin is 'environment', not one of "
            "['args', 'config', 'constant', 'constructor']"
        ),
    ),
    "origin without name": (
        without("paths", 0, "arguments", "base", "name"),
        "paths[0].arguments.base.name does not fit the origin 'args'",
    ),
    "constant with name": (
        changed("paths", 0, "reads", "scale", "name", to="x"),
        "paths[0].reads.scale.name does not fit the origin 'constant'",
    ),
    "argument as text": (
        changed("paths", 0, "arguments", "base", to="args"),
        "paths[0].arguments.base is no object",
    ),
    "half of a multiplier": (
        changed("paths", 0, "reads", "softmax_factor", to={"origin": "constant", "value": 4.0}),
        "paths[0].reads has one of softmax_factor and softmax_mscale",
    ),
    "three results": (changed("paths", 0, "returns", to=3), "paths[0].returns is 3"),
    "true results": (changed("paths", 0, "returns", to=True), "paths[0].returns is True"),
    "another kind": (
        changed("paths", 0, "kind", to="alibi"),
        "paths[0].kind is 'alibi', not one of ['mrope', 'none', 'rope', 'yarn']",
    ),
    "path that is not there": (
        changed("rules", 0, "path", to="mla-rope"),
        "rules name the path 'mla-rope', which is not there",
    ),
    "two paths of one name": (
        changed("paths", to=[*SMALL["paths"], *SMALL["paths"]]),
        "two paths have one name",
    ),
    "no config class": (changed("classes", to=[]), "classes names no config class"),
}
CASES = BAD_TEXTS | {
    name: (text, f"surface bad.json is malformed: {what}")
    for name, (text, what) in MALFORMED.items()
}


@pytest.mark.parametrize(("text", "first_line"), CASES.values(), ids=CASES)
def test_a_bad_document_is_one_clear_error(text: str, first_line: str):
    with pytest.raises(SurfaceError) as caught:
        parse(text, "bad.json")

    assert str(caught.value).splitlines() == [
        first_line,
        "  remedy: record it anew: ropecontract surface record -o FILE",
    ]


TEXTS = {
    "surface": [(), "name", "version", "fingerprint"],
    "options[0]": [("options", 0), "dest", "action"],
    "edits[0]": [("edits", 0), "dest"],
    "refusals[0]": [("refusals", 0), "by", "error", "message"],
    "classes[0]": [("classes", 0), "name"],
    "paths[0]": [("paths", 0), "name", "attention", "kind"],
    "paths[0].arguments.base": [("paths", 0, "arguments", "base"), "origin"],
    "paths[0].reads.scale": [("paths", 0, "reads", "scale"), "origin"],
    "rules[0]": [("rules", 0), "path"],
}
OPTIONAL_TEXTS = {
    "source": [("source",), "distribution", "version", "revision"],
    "options[0]": [("options", 0), "value_type", "reader", "enum"],
    "classes[0].attributes.no_rope": [
        *(("classes", 0, "attributes", "no_rope"), "dest", "transform"),
    ],
    "extras[0].attributes.beta": [("extras", 0, "attributes", "beta"), "dest", "transform"],
    "paths[0]": [("paths", 0), "rotary_class"],
    "paths[0].arguments.base": [("paths", 0, "arguments", "base"), "name"],
    "paths[0].reads.scale": [("paths", 0, "reads", "scale"), "name"],
}
OBJECTS = {
    "surface": [(), "enums", "source"],
    "edits[0]": [("edits", 0), "when"],
    "refusals[0]": [("refusals", 0), "when"],
    "classes[0]": [("classes", 0), "when", "attributes"],
    "extras[0]": [("extras", 0), "when", "attributes"],
    "paths[0]": [("paths", 0), "arguments", "reads"],
    "rules[0]": [("rules", 0), "when"],
}
VALUES = {
    "options[0]": [("options", 0), "default"],
    "options[5]": [("options", 5), "const", "choices"],
    "edits[1]": [("edits", 1), "value"],
    "classes[0].attributes.no_rope": [("classes", 0, "attributes", "no_rope"), "default"],
    "extras[0].attributes.beta": [("extras", 0, "attributes", "beta"), "default"],
    "paths[0].arguments.rotary_percent": [("paths", 0, "arguments", "rotary_percent"), "value"],
    "paths[0].reads.scale": [("paths", 0, "reads", "scale"), "value"],
}


def fields(table: dict[str, list[Any]]) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(where, (*at, key)) for where, (at, *keys) in table.items() for key in keys]


def malformed(text: str) -> str:
    with pytest.raises(SurfaceError) as caught:
        parse(text, "bad.json")
    assert caught.value.remedy == "record it anew: ropecontract surface record -o FILE"
    return caught.value.headline.removeprefix("surface bad.json is malformed: ")


@pytest.mark.parametrize(("where", "place"), fields(TEXTS))
def test_a_text_that_is_missing(where: str, place: tuple[str | int, ...]):
    assert malformed(without(*place)) == f"{where}.{place[-1]} is no text"
    assert malformed(changed(*place, to="")) == f"{where}.{place[-1]} is no text"


@pytest.mark.parametrize(("where", "place"), [*fields(TEXTS), *fields(OPTIONAL_TEXTS)])
def test_a_text_that_is_none(where: str, place: tuple[str | int, ...]):
    assert malformed(changed(*place, to=[])) == f"{where}.{place[-1]} is no text"


@pytest.mark.parametrize(("where", "place"), fields(OBJECTS))
def test_an_object_that_is_none(where: str, place: tuple[str | int, ...]):
    assert malformed(changed(*place, to=["x"])) == f"{where}.{place[-1]} is no object"


@pytest.mark.parametrize(("where", "place"), fields(VALUES))
@pytest.mark.parametrize(
    "value",
    [
        {},
        [[]],
        [1, {"tuple": 1}],
        {"tuple": [[]]},
        {"tuple": [1, {}]},
        {"tuple": [], "x": 1},
        {"of": "AttnBackend"},
        {"of": "AttnBackend", "member": "flash", "x": 1},
        {"of": 1, "member": "flash"},
        {"of": "AttnBackend", "member": ["flash"]},
        {"of": "AttnBackend", "member": 1},
        {"of": "", "member": "flash"},
    ],
)
def test_a_value_that_no_option_has(where: str, place: tuple[str | int, ...], value: Any):
    assert malformed(changed(*place, to=value)) == f"{where}.{place[-1]} is no value of an option"


def test_a_member_where_no_enum_is():
    document = json.loads(without("enums"))
    option = {"flags": ["-x"], "dest": "x", "action": "store"}
    document["options"] = [{**option, "default": {"of": "AttnBackend", "member": "auto"}}]

    assert malformed(json.dumps(document)) == "options[0].default is no value of an option"


@pytest.mark.parametrize(("where", "place"), fields(VALUES))
@pytest.mark.parametrize(
    "value",
    [
        [],
        [1, None, "x", {"tuple": [True, 0.5]}],
        [{"of": "AttnBackend", "member": "flash"}],
    ],
)
def test_a_value_that_an_option_may_have(where: str, place: tuple[str | int, ...], value: Any):
    text = changed(*place, to=value)

    assert parse(text, where) != parse(json.dumps(SMALL), where)


@pytest.mark.parametrize(
    "part", ["options", "edits", "refusals", "classes", "extras", "paths", "rules"]
)
def test_a_list_that_is_none(part: str):
    assert malformed(without(part)) == f"{part} is no list"
    assert malformed(changed(part, to={})) == f"{part} is no list"
    assert malformed(changed(part, to=[*SMALL[part], []])) == (
        f"{part}[{len(SMALL[part])}] is no object"
    )


@pytest.mark.parametrize("part", ["edits", "refusals", "classes", "extras", "rules"])
@pytest.mark.parametrize(
    "allowed",
    [
        *([], "x", None, {}, {"given": False}, {"given": True, "lacks": ["x"]}, {"lacks": "x"}),
        *({"contains": "x"}, {"contains": []}, {"lacks": [1, "x"]}, {"matches": ["x"]}),
    ],
)
def test_a_condition_that_is_none(part: str, allowed: Any):
    text = changed(part, 0, "when", to={"first": [1], "x": allowed})

    assert malformed(text) == f"{part}[0].when.x is no condition"


@pytest.mark.parametrize(
    "allowed", [[None], [1, "x"], {"given": True}, {"contains": ["x", "y"]}, {"lacks": ["x"]}]
)
def test_a_condition(allowed: Any):
    surface = parse(changed("rules", 0, "when", to={"x": allowed}), "x.json")

    assert surface.rules[0].when == {"x": allowed}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("options", 0, "flags"), ["--x", 1], "options[0].flags is no list of texts"),
        (
            *(("options", 0, "flags"), ["--x", "y"]),
            "options[0].flags has something that is no flag",
        ),
        (("options", 0, "flags"), ["--x", ""], "options[0].flags has something that is no flag"),
        (("options", 0, "dest"), "__dict__", "options[0].dest is '__dict__'"),
        (("options", 4, "nargs"), 65, "options[4].nargs is 65"),
        (("options", 4, "nargs"), -1, "options[4].nargs is -1"),
        (("options", 4, "nargs"), 1.0, "options[4].nargs is 1.0"),
        (("options", 0, "choices"), 5, "options[0].choices is no list"),
        (
            ("options", 1, "flags"),
            ["--y", "--num-layers"],
            "two options have the flag --num-layers",
        ),
        (("options", 1, "flags"), ["--y", "--y"], "two options have the flag --y"),
        (("options", 0, "enum"), "Gone", "--num-layers reads 'Gone', no such enum"),
        (("edits", 0, "quotient"), "mn", "edits[0].quotient is no list of texts"),
        (("edits", 0, "quotient"), ["m"], "edits[0].quotient needs two attributes"),
        (("enums", "B"), [], "enums.B is no object with members"),
        (("enums", "B"), "x", "enums.B is no object with members"),
        (("enums", "B"), {"a": None}, "enums.B has a member without a plain value"),
        (("enums", "B"), {"a": 1, "b-c": 2}, "enums.B has a member that is no name"),
        (("enums", "B"), {"a": 1, "_b": 2}, "enums.B has a member that is no name"),
        (("source", "arguments"), None, "source.arguments is no list of texts"),
        (("paths", 0, "returns"), 0, "paths[0].returns is 0"),
        (("paths", 0, "returns"), 1.0, "paths[0].returns is 1.0"),
        (
            *(("paths", 0, "attention"), "x"),
            "paths[0].attention is 'x', not one of ['gpt', 'hybrid', 'mla']",
        ),
        (("paths", 0, "reads", "scale"), [], "paths[0].reads.scale is no object"),
        (("paths", 0, "arguments"), {}, "paths[0].arguments lacks kv_channels"),
        (("paths", 0, "kind"), "mrope", None),
        (("paths", 0, "kind"), "yarn", "paths[0].arguments lacks mscale"),
        (
            *(("paths", 0, "reads", "softmax_mscale"), {"origin": "constant", "value": 4.0}),
            "paths[0].reads has one of softmax_factor and softmax_mscale",
        ),
        (
            *(("paths", 0, "arguments", "base"), {"origin": "constructor", "name": "x"}),
            "paths[0].arguments.base.name does not fit the origin 'constructor'",
        ),
        (
            *(("paths", 0, "arguments", "base"), {"origin": "config"}),
            "paths[0].arguments.base.name does not fit the origin 'config'",
        ),
        (
            *(("extras", 0, "attributes", "beta", "transform"), "x"),
            "extras[0].attributes.beta.transform is 'x', not one of ['layer_pattern']",
        ),
        (("classes", 0, "attributes", "y"), 5, "classes[0].attributes.y is no object"),
        # What is allowed at the limits.
        (("options", 4, "nargs"), 64, None),
        (("options", 4, "nargs"), 1, None),
        (("options", 4, "nargs"), "*", None),
        (("options", 0, "dest"), "_private", None),
        (("enums", "B"), {"a": "text", "b_c": 2}, None),
        (("paths", 0, "returns"), 2, None),
        (("paths", 0, "attention"), "mla", None),
        (("paths", 0, "attention"), "hybrid", None),
        (("refusals", 0, "by"), "model", None),
        (("refusals", 0, "by"), "validate_args", None),
    ],
)
def test_a_field(place: tuple[str | int, ...], value: Any, message: str | None):
    text = changed(*place, to=value)

    if message is not None:
        assert malformed(text) == message
    else:
        assert json.loads(dump(parse(text, "x.json"))) == json.loads(dump_of(text))


def dump_of(text: str) -> str:
    """Return a document without what equals a record's default."""
    document = json.loads(text)
    document["options"][4].pop("required")
    return json.dumps(document)


def test_every_field_is_read():
    option = {
        "flags": ["--x", "-x"],
        "dest": "x",
        "action": "store",
        "value_type": "enum",
        "reader": "own",
        "enum": "AttnBackend",
        "nargs": 2,
        "const": ["full"],
        "default": 5,
        "choices": ["a", {"tuple": [1]}],
        "required": True,
    }
    attribute = {"default": 1, "dest": "x", "none_is_default": True, "transform": "layer_pattern"}
    document = {
        **SMALL,
        "source": {"distribution": "d", "version": "v", "revision": "r", "arguments": ["a:b"]},
        "options": [option],
        "edits": [{"dest": "e", "when": {"x": [1]}, "value": 2, "quotient": ["m", "n"]}],
        "refusals": [{"by": "model", "when": {"x": [1]}, "error": "E", "message": "m"}],
        "classes": [{"name": "C", "when": {"x": [1]}, "attributes": {"y": attribute}}],
        "extras": [{"when": {"x": [1]}, "attributes": {"y": attribute}}],
        "rules": [{"when": {"x": [1]}, "path": "gpt-rope"}],
    }

    surface = parse(json.dumps(document), "x.json")

    assert (surface.name, surface.version) == (SMALL["name"], SMALL["version"])
    assert (surface.fingerprint, surface.enums) == (SMALL["fingerprint"], SMALL["enums"])
    assert surface.source == Source("d", "v", "r", ("a:b",))
    assert surface.options == (
        OptionRecord(
            *(("--x", "-x"), "x", "store", "enum", "own", "AttnBackend", 2, ["full"], 5),
            *(("a", {"tuple": [1]}), True),
        ),
    )
    assert surface.edits == (Edit("e", {"x": [1]}, 2, ("m", "n")),)
    assert surface.refusals == (Refusal("model", {"x": [1]}, "E", "m"),)
    attributes = {"y": Attribute(1, "x", none_is_default=True, transform="layer_pattern")}
    assert surface.classes == (ConfigClass("C", {"x": [1]}, attributes),)
    assert surface.extras == (ExtraAttributes({"x": [1]}, attributes),)
    assert surface.rules == (RotaryRule({"x": [1]}, "gpt-rope"),)
    assert surface.paths == {
        "gpt-rope": RotaryPath(
            *("gpt-rope", "gpt", "rope", "RotaryEmbedding", 1),
            {
                "base": Argument("args", "base"),
                "kv_channels": Argument("config", "kv_channels"),
                "rotary_percent": Argument("constant", None, 1.0),
            },
            {"scale": Argument("constant", None, 1.0)},
        )
    }


def test_what_need_not_be_there():
    document = {
        **{key: value for key, value in SMALL.items() if key not in ("source", "enums")},
        "options": [{"flags": ["-x"], "dest": "x", "action": "store"}],
        "edits": [{"dest": "e"}],
        "refusals": [{"by": "model", "error": "E", "message": "m"}],
        "classes": [{"name": "C"}],
        "extras": [{}],
        "paths": [{"name": "p", "attention": "mla", "kind": "none"}],
        "rules": [{"path": "p"}],
    }

    surface = parse(json.dumps(document), "x.json")

    assert (surface.source, surface.enums) == (Source(), {})
    assert surface.options == (OptionRecord(("-x",), "x", "store"),)
    assert surface.edits == (Edit("e", {}),)
    assert surface.refusals == (Refusal("model", {}, "E", "m"),)
    assert (surface.classes, surface.extras) == (
        (ConfigClass("C", {}, {}),),
        (ExtraAttributes({}, {}),),
    )
    assert surface.paths == {"p": RotaryPath("p", "mla", "none", None, None, {}, {})}


@pytest.mark.parametrize("value", [1, 0, "true", None, [True]])
def test_only_true_is_true(value: Any):
    text = changed("options", 4, "required", to=value)
    assert parse(text, "x.json").options[4].required is False

    text = changed("classes", 0, "attributes", "no_rope", "none_is_default", to=value)
    assert parse(text, "x.json").classes[0].attributes["no_rope"].none_is_default is False


CONTROL = "\x1b[31m"


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("bad", [CONTROL, "\b", "\f", "\r", "\x7f", "\u202e", "\ud800", "\u00a0"])
@pytest.mark.parametrize(
    "document",
    [
        *("{}", ["{}", "x"], ["x", "{}"], [["{}"], ["x"]], [{"a": "{}"}, {"b": 1}]),
        *({"a": "{}", "b": 1}, {"a": 1, "{}": 1}, [[], {"a": ["{}"]}]),
    ],
)
def test_a_character_that_cannot_be_shown(document: Any, bad: str, escaped: bool):
    document = json.loads(json.dumps(document).replace("{}", json.dumps(bad)[1:-1]))
    text = json.dumps(document, ensure_ascii=escaped)

    with pytest.raises(MalformedError, match=r"^'.* has a character that cannot be shown$"):
        check_characters(text, document)


@pytest.mark.parametrize("text", ["", "plain", "a\nb\tc", "é", "é\n\t", "日本", "\\", "ubfr\\x"])
def test_characters_that_can_be_shown(text: str):
    document = [1, None, {text: [text, 0.5]}]

    check_characters(json.dumps(document), document)
    check_characters(json.dumps(document, ensure_ascii=False, indent="\t"), document)


def test_a_document_with_such_a_character_is_malformed():
    text = changed("refusals", 0, "message", to=CONTROL)

    assert malformed(text) == "'\\x1b[31m' has a character that cannot be shown"


def test_only_the_beginning_of_what_cannot_be_shown_is_told():
    text = "x" * 39 + "\x1b" + "y"

    with pytest.raises(MalformedError) as caught:
        check_characters(json.dumps(text), text)

    assert str(caught.value) == f"'{'x' * 39}\\x1b' has a character that cannot be shown"


def test_a_bad_document_says_how_to_get_a_good_one():
    with pytest.raises(SurfaceError) as caught:
        parse("{", "bad.json")

    assert caught.value.remedy == "record it anew: ropecontract surface record -o FILE"


def test_a_file_is_read(tmp_path: Path):
    path = tmp_path / "fork.json"
    path.write_text(TEXT, encoding="utf-8")

    assert load_file(path) == load_shipped(NEWEST)


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(SurfaceError) as caught:
        load_file(tmp_path / "gone.json")

    assert str(caught.value).splitlines() == [
        "surface gone.json cannot be read: No such file or directory",
        f"  at: {tmp_path / 'gone.json'}",
        "  remedy: name a file made by ropecontract surface record -o FILE",
    ]


def test_a_folder_is_no_surface(tmp_path: Path):
    with pytest.raises(SurfaceError, match=r"^surface .+ is a folder, not a file\n"):
        load_file(tmp_path)


def test_a_file_that_is_not_text(tmp_path: Path):
    path = tmp_path / "bytes.json"
    path.write_bytes(b'{"schema": "\xff"}')

    with pytest.raises(SurfaceError, match=r"^surface bytes\.json is not UTF-8 text\n"):
        load_file(path)


def test_a_file_that_is_too_large_is_not_parsed(tmp_path: Path):
    path = tmp_path / "large.json"
    path.write_bytes(b"[" * (SIZE_LIMIT + 1))

    with pytest.raises(SurfaceError) as caught:
        load_file(path)

    assert caught.value.headline == "surface large.json is too large: more than 8388608 bytes"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"[" * (SIZE_LIMIT + 1), "is too large: more than 8388608 bytes"),
        (b"\xff", "is not UTF-8 text"),
        (None, "is a folder, not a file"),
    ],
    ids=["too large", "no text", "a folder"],
)
def test_where_a_bad_file_is_and_how_to_get_a_good_one(
    tmp_path: Path, content: bytes | None, what: str
):
    path = tmp_path / "bad.json"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)

    with pytest.raises(SurfaceError) as caught:
        load_file(path)

    assert str(caught.value).splitlines() == [
        f"surface bad.json {what}",
        f"  at: {path}",
        "  remedy: record it anew: ropecontract surface record -o FILE",
    ]


def test_the_largest_file_is_read(tmp_path: Path):
    path = tmp_path / "large.json"
    path.write_bytes(b" " * (SIZE_LIMIT - 2) + b"[]")

    with pytest.raises(SurfaceError, match=r"^surface large\.json is a list, not an object\n"):
        load_file(path)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"a"', "is cut off"),
        (' \n{"a"\n', "is cut off"),
        ('{"a"}', "is not JSON"),
        ('{"a"}\n ', "is not JSON"),
        ('["a"', "is not JSON"),
        ('x{"a"', "is not JSON"),
    ],
)
def test_what_begins_as_an_object_and_does_not_end_as_one_is_cut_off(text: str, state: str):
    with pytest.raises(SurfaceError, match=f"^surface x {state} at line "):
        parse(text, "x")


def test_text_is_of_one_record_a_line():
    surface = parse(json.dumps({**SMALL, "rules": [], "name": "é"}), "x.json")

    lines = dump(surface).splitlines(keepends=True)

    assert lines[:2] == ["{\n", ' "schema": 1,\n']
    assert ' "name": "\\u00e9",\n' in lines
    assert '  {"flags":["--num-layers"],"dest":"num_layers","action":"store",' in "".join(lines)
    assert lines[-2:] == [' "rules": []\n', "}\n"]
    assert lines.count(" ],\n") == len(
        ("options", "edits", "refusals", "classes", "extras", "paths")
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_would_not_be_read_is_not_written(number: float):
    surface = parse(json.dumps(SMALL), "x.json")
    edit = surface.edits[1]._replace(value=number)

    with pytest.raises(ValueError, match="not JSON compliant"):
        dump(surface._replace(edits=(edit,)))


def test_enums_stand_in_the_order_of_their_names():
    enums = {"B": {"z": 1, "a": 2}, "A": {"x": 1}}
    surface = parse(json.dumps({**SMALL, "enums": SMALL["enums"] | enums}), "x.json")

    found = json.loads(dump(surface))["enums"]

    assert [*found] == ["A", "AttnBackend", "B"]
    assert [*found["B"]] == ["z", "a"]


def test_a_value_of_another_type_than_the_default_is_kept():
    option = {"flags": ["-x"], "dest": "x", "action": "store"}
    edit = {"dest": "x", "when": {"x": [{"nested": (1, 2)}, 1.0, True]}, "value": False}
    document = {**SMALL, "options": [option], "edits": [edit]}

    found = json.loads(dump(parse(json.dumps(document), "x.json")))

    assert (found["options"], found["edits"]) == (
        [option],
        [{**edit, "when": {"x": [{"nested": [1, 2]}, 1.0, True]}}],
    )


def test_a_device_is_no_surface():
    with pytest.raises(SurfaceError, match=r"^surface zero is a device or a pipe, not a file\n"):
        load_file(Path("/dev/zero"))


def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.json")

    with pytest.raises(SurfaceError, match=r"^surface pipe.json is a device or a pipe, not a"):
        load_file(tmp_path / "pipe.json")


@pytest.mark.parametrize(
    ("length", "cut"), [(LONGEST, ""), (LONGEST + 1, "..."), (LONGEST * 2, "...")]
)
def test_a_long_headline_is_cut_off(length: int, cut: str):
    error = SurfaceError("x" * length, origin="here")

    assert str(error) == f"{'x' * LONGEST}{cut}\n  at: here"


class TestConditions:
    def test_without_attributes_it_holds(self):
        assert holds({}, {})

    def test_every_attribute_must_fit(self):
        condition = {"a": [1], "b": [2, 3]}

        assert holds(condition, {"a": 1, "b": 3})
        assert not holds(condition, {"a": 1, "b": 4})

    @pytest.mark.parametrize("value", [True, 1.0, "1", None])
    def test_a_value_of_another_type_does_not_fit(self, value: Any):
        assert not holds({"a": [1]}, {"a": value})

    def test_an_attribute_that_is_not_there_is_none(self):
        assert holds({"a": [None]}, {})

    def test_given_is_anything_but_none(self):
        assert holds({"a": {"given": True}}, {"a": False})
        assert not holds({"a": {"given": True}}, {"a": None})

    def test_contains_looks_for_a_part_of_a_text(self):
        assert holds({"a": {"contains": ["+", "D"]}}, {"a": "M*D"})
        assert not holds({"a": {"contains": ["+", "D"]}}, {"a": "M*"})
        assert not holds({"a": {"contains": ["+"]}}, {"a": None})

    def test_lacks_is_the_opposite(self):
        assert not holds({"a": {"lacks": ["+", "D"]}}, {"a": "M*D"})
        assert holds({"a": {"lacks": ["+", "D"]}}, {"a": "M*"})
        assert holds({"a": {"lacks": ["+"]}}, {"a": None})


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "-", "--", "--swiglu", "-h", "store", "enum", "int", "mro", "name", "?"]),
    st.text(max_size=3),
)
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["of", "member", "tuple", "given", "x", "mro"]), inner)
    ),
    max_leaves=6,
)


def places(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [at] if at else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*at, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            found += places(inner, (*at, index))
    return found


def usable_or_refused(text: str) -> None:
    """Read a surface and build its parser; any other error than SurfaceError is a failure."""
    try:
        surface = parse(text, "x.json")
        RecordedMegatron(surface).new_parser()
    except SurfaceError:
        return
    assert parse(dump(surface), "x.json") == surface


@given(st.sampled_from(places(SMALL)), junk)
@settings(max_examples=300)
@example(("enums", "AttnBackend"), {"mro": 1})
@example(("options", 0, "flags"), ["--num-layers", "--num-layers"])
@example(("options", 1, "flags"), ["--num-layers"])
@example(("options", 0, "flags"), ["-h"])
@example(("options", 0, "dest"), "\0")
@example(("enums",), {"A\0": {"a": 1}})
@example(("enums",), {"\ud800": {"a": 1}})
@example(("options", 3, "const"), 5)
def test_a_changed_document_is_used_or_refused(place: tuple[str | int, ...], value: Any):
    usable_or_refused(changed(*place, to=value))


@given(st.sampled_from(places(SMALL)))
def test_a_document_with_something_missing_is_used_or_refused(place: tuple[str | int, ...]):
    usable_or_refused(without(*place))


@given(st.integers(0, len(TEXT) - 3))
def test_a_cut_off_document_is_refused(length: int):
    with pytest.raises(SurfaceError, match=r"^surface x\.json is (cut off|not JSON) at line "):
        parse(TEXT[:length], "x.json")


@given(st.integers(0, 1500), st.characters())
def test_a_document_with_a_changed_character_is_used_or_refused(index: int, character: str):
    text = json.dumps(SMALL)
    usable_or_refused(text[:index] + character + text[index + 1 :])
