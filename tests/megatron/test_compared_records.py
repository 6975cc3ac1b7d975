"""What differs between two surfaces of a few records, and how it is said."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_ropecontract.megatron.comparison import Difference, compare, compatible, plain
from pytest_ropecontract.megatron.surface import (
    Argument,
    Attribute,
    ConfigClass,
    Edit,
    ExtraAttributes,
    OptionRecord,
    Refusal,
    RotaryPath,
    RotaryRule,
    Surface,
)

BLANK = Surface("blank", "0", "", (), {}, (), (), (), (), {}, ())


def differences(part: str, first: Any, second: Any) -> list[Difference]:
    """Return what differs where only one part of two surfaces has records."""
    surfaces = (BLANK._replace(**{part: records}) for records in (first, second))
    return list(compare(*surfaces))


def changes(part: str, first: Any, second: Any) -> list[tuple[Any, ...]]:
    """Return what differs, without the part."""
    found = differences(part, first, second)
    assert {one.part for one in found} <= {part}
    return [(one.subject, one.change, one.aspect, one.before, one.after) for one in found]


def option(*flags: str, dest: str = "x", **more: Any) -> OptionRecord:
    return OptionRecord(flags, dest, "store", **more)


def record(*flags: str, dest: str = "x", default: Any = None) -> dict[str, Any]:
    return {"flags": [*flags], "dest": dest, "action": "store", "default": default}


OPTIONS = {
    "none": ([], [], []),
    "the same": ([option("--x")], [option("--x")], []),
    "one that is gone": (
        [option("--x", "--y")],
        [],
        [("--x", "removed", None, record("--x", "--y"), None)],
    ),
    "one that is new": (
        [],
        [option("--x", "--y", default=0)],
        [("--x", "added", None, None, record("--x", "--y", default=0))],
    ),
    "one that has lost its first flag": (
        [option("--x", "--y")],
        [option("--y")],
        [("--x", "changed", "flags", ["--x", "--y"], ["--y"])],
    ),
    "two that became one": (
        [option("--x"), option("--y"), option("--z", dest="z")],
        [option("--x", "--y"), option("--z", dest="z")],
        [
            ("--x", "changed", "flags", ["--x"], ["--x", "--y"]),
            ("--y", "removed", None, record("--y"), None),
        ],
    ),
    "one that became two": (
        [option("--x", "--y")],
        [option("--x"), option("--y")],
        [
            ("--x", "changed", "flags", ["--x", "--y"], ["--x"]),
            ("--y", "added", None, None, record("--y")),
        ],
    ),
    "several fields": (
        [option("--x", default=1, required=True)],
        [option("--x", default=True, nargs="+", choices=(1, 2))],
        [
            ("--x", "changed", "nargs", None, "+"),
            ("--x", "changed", "default", 1, True),
            ("--x", "changed", "choices", None, [1, 2]),
            ("--x", "changed", "required", True, False),
        ],
    ),
    "another dest": (
        [option("--x")],
        [option("--x", dest="y")],
        [("--x", "changed", "dest", "x", "y")],
    ),
    "order of one dest": (
        [option("--a"), option("--b"), option("--c", dest="c")],
        [option("--c", dest="c"), option("--b"), option("--a")],
        [("x", "moved", "order", ["--a", "--b"], ["--b", "--a"])],
    ),
    "one more of a dest": (
        [option("--a")],
        [option("--b"), option("--a")],
        [("--b", "added", None, None, record("--b"))],
    ),
}


@pytest.mark.parametrize(("first", "second", "found"), OPTIONS.values(), ids=OPTIONS)
def test_options(first: Any, second: Any, found: Any):
    assert changes("options", tuple(first), tuple(second)) == found


ENUMS = {
    "none": ({}, {}, []),
    "the same": ({"A": {"a": 1}}, {"A": {"a": 1}}, []),
    "one that is gone": (
        {"A": {"a": 1}, "B": {"b": 2}},
        {"B": {"b": 2}},
        [("A", "removed", None, {"a": 1}, None)],
    ),
    "one that is new": (
        {"B": {"b": 2}},
        {"A": {"a": 1}, "B": {"b": 2}},
        [("A", "added", None, None, {"a": 1})],
    ),
    "members": (
        {"A": {"a": 1, "b": 2, "c": 3}},
        {"A": {"b": 2, "c": 4, "d": 5}},
        [
            ("A", "changed", "a", 1, None),
            ("A", "changed", "c", 3, 4),
            ("A", "changed", "d", None, 5),
        ],
    ),
    "type of a member": ({"A": {"a": 1}}, {"A": {"a": "1"}}, [("A", "changed", "a", 1, "1")]),
}


@pytest.mark.parametrize(("first", "second", "found"), ENUMS.values(), ids=ENUMS)
def test_enums(first: Any, second: Any, found: Any):
    assert changes("enums", first, second) == found


A, B = {"a": [1]}, {"b": [1]}
EDITS = {
    "the same in another order": ([Edit("x", A, 1), Edit("y", {}, 2)], None, []),
    "two of the same": ([Edit("x", A, 1), Edit("x", A, 1)], None, []),
    "one that is written elsewhere": (
        [Edit("x", A, 1)],
        [Edit("x", B, 1)],
        [("x", "changed", "when", A, B)],
    ),
    "another value": (
        [Edit("x", A, 1)],
        [Edit("x", A, 1.0)],
        [("x", "changed", "value", 1, 1.0)],
    ),
    "a quotient": (
        [Edit("x", A, quotient=("m", "n"))],
        [Edit("x", A, quotient=("m", "k"))],
        [("x", "changed", "quotient", ["m", "n"], ["m", "k"])],
    ),
    "a quotient elsewhere": (
        [Edit("x", A, quotient=("m", "n")), Edit("x", B, quotient=("m", "k"))],
        [Edit("x", {"c": [1]}, quotient=("m", "n")), Edit("x", {}, quotient=("m", "k"))],
        [("x", "changed", "when", A, {"c": [1]}), ("x", "changed", "when", B, {})],
    ),
    "another value elsewhere": (
        [Edit("x", A, 1)],
        [Edit("x", B, 2)],
        [
            ("x", "removed", None, {"dest": "x", "when": A, "value": 1}, None),
            ("x", "added", None, None, {"dest": "x", "when": B, "value": 2}),
        ],
    ),
    "another dest": (
        [Edit("x", A, 1)],
        [Edit("y", A, 1)],
        [
            ("x", "removed", None, {"dest": "x", "when": A, "value": 1}, None),
            ("y", "added", None, None, {"dest": "y", "when": A, "value": 1}),
        ],
    ),
    "order of one dest": (
        [Edit("x", A, 1), Edit("x", B, 2)],
        None,
        [("x", "moved", "order", ["x", "x"], ["x", "x"])],
    ),
    "order of the same value": (
        [Edit("x", A, 1), Edit("x", A | B, 1)],
        None,
        [("x", "moved", "order", ["x", "x"], ["x", "x"])],
    ),
    "order of what excludes each other": (
        [Edit("x", A, 1), Edit("x", {"a": [2]}, 2)],
        None,
        [],
    ),
    "order of two dests": ([Edit("x", A, 1), Edit("y", A, 2)], None, []),
}


@pytest.mark.parametrize(("first", "second", "found"), EDITS.values(), ids=EDITS)
def test_edits(first: Any, second: Any, found: Any):
    second = first[::-1] if second is None else second

    assert changes("edits", tuple(first), tuple(second)) == found


def refusal(message: str, when: Any = A, by: Any = "config", error: str = "E") -> Refusal:
    return Refusal(by, when, error, message)


REFUSALS = {
    "the same text elsewhere": (
        [refusal("no")],
        [refusal("no", B)],
        [("config: no", "changed", "when", A, B)],
    ),
    "another text": (
        [refusal("no")],
        [refusal("never")],
        [("config: no", "changed", "message", "no", "never")],
    ),
    "another error": (
        [refusal("no")],
        [refusal("no", error="F")],
        [("config: no", "changed", "error", "E", "F")],
    ),
    "another error elsewhere": (
        [refusal("no")],
        [refusal("no", B, error="F")],
        [
            (
                *("config: no", "removed", None),
                *({"by": "config", "when": A, "error": "E", "message": "no"}, None),
            ),
            (
                *("config: no", "added", None, None),
                {"by": "config", "when": B, "error": "F", "message": "no"},
            ),
        ],
    ),
    "another one who refuses": (
        [refusal("no")],
        [refusal("no", by="model")],
        [
            (
                *("config: no", "removed", None),
                *({"by": "config", "when": A, "error": "E", "message": "no"}, None),
            ),
            (
                *("model: no", "added", None, None),
                {"by": "model", "when": A, "error": "E", "message": "no"},
            ),
        ],
    ),
    "order of two texts": (
        [refusal("no"), refusal("never", B)],
        None,
        [
            (
                *("config: no", "moved", "order"),
                *(["config: no", "config: never"], ["config: never", "config: no"]),
            )
        ],
    ),
    "order of two errors": (
        [refusal("no"), refusal("no", B, error="F")],
        None,
        [("config: no", "moved", "order", ["config: no"] * 2, ["config: no"] * 2)],
    ),
    "order of one text": ([refusal("no"), refusal("no", B)], None, []),
    "order of two who refuse": ([refusal("no"), refusal("never", B, by="model")], None, []),
    "order of what excludes each other": (
        [refusal("no"), refusal("never", {"a": [2]})],
        None,
        [],
    ),
}


@pytest.mark.parametrize(("first", "second", "found"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(first: Any, second: Any, found: Any):
    second = first[::-1] if second is None else second

    assert changes("refusals", tuple(first), tuple(second)) == found


def config(name: str, when: Any = A, **attributes: Any) -> ConfigClass:
    return ConfigClass(name, when, attributes)


CLASSES = {
    "the same": ([config("C"), config("D", {})], [config("C"), config("D", {})], []),
    "one that is gone": (
        [config("C", x=Attribute(1)), config("D", {})],
        [config("D", {})],
        [
            (
                *("C", "removed", None),
                *({"name": "C", "when": A, "attributes": {"x": {"default": 1}}}, None),
            )
        ],
    ),
    "one that is gone before another that changed": (
        [config("C"), config("D", {})],
        [config("D", A)],
        [
            ("C", "removed", None, {"name": "C", "when": A}, None),
            ("D", "changed", "when", {}, A),
        ],
    ),
    "one that is new": (
        [config("D", {})],
        [config("C"), config("D", {})],
        [("C", "added", None, None, {"name": "C", "when": A})],
    ),
    "one that holds elsewhere": (
        [config("C"), config("D", {})],
        [config("C", B), config("D", {})],
        [("C", "changed", "when", A, B)],
    ),
    "attributes": (
        [config("C", x=Attribute(1, "x"), y=Attribute(2), z=Attribute(3))],
        [config("C", z=Attribute(4), w=Attribute(), x=Attribute(1, "y", none_is_default=True))],
        [
            ("C.x", "changed", "dest", "x", "y"),
            ("C.x", "changed", "none_is_default", False, True),
            ("C.y", "removed", None, {"default": 2}, None),
            ("C.z", "changed", "default", 3, 4),
            ("C.w", "added", None, None, {"default": None}),
        ],
    ),
    "one that moves back": (
        [config("C"), config("D"), config("E")],
        [config("D"), config("E"), config("C")],
        [("C", "moved", "order", ["C", "D", "E"], ["D", "E", "C"])],
    ),
    "one that moves to the front": (
        [config("C"), config("D"), config("E")],
        [config("E"), config("C"), config("D")],
        [("E", "moved", "order", ["C", "D", "E"], ["E", "C", "D"])],
    ),
    "two pairs that are turned": (
        [config("C"), config("D"), config("E"), config("F")],
        [config("D"), config("C"), config("F"), config("E")],
        [
            ("C", "moved", "order", ["C", "D"], ["D", "C"]),
            ("E", "moved", "order", ["E", "F"], ["F", "E"]),
        ],
    ),
    "order around one that is gone and one that is new": (
        [config("C"), config("D"), config("E")],
        [config("E"), config("F"), config("C")],
        [
            ("D", "removed", None, {"name": "D", "when": A}, None),
            ("F", "added", None, None, {"name": "F", "when": A}),
            ("C", "moved", "order", ["C", "E"], ["E", "C"]),
        ],
    ),
    "all turned": (
        [config("C"), config("D"), config("E")],
        [config("E"), config("D"), config("C")],
        [
            ("C", "moved", "order", ["C", "D", "E"], ["D", "E", "C"]),
            ("D", "moved", "order", ["D", "E"], ["E", "D"]),
        ],
    ),
}


@pytest.mark.parametrize(("first", "second", "found"), CLASSES.values(), ids=CLASSES)
def test_classes(first: Any, second: Any, found: Any):
    assert changes("classes", tuple(first), tuple(second)) == found


def extra(when: Any = A, **attributes: Any) -> ExtraAttributes:
    return ExtraAttributes(when, {name: Attribute(value) for name, value in attributes.items()})


EXTRAS = {
    "the same": ([extra(x=1)], [extra(x=1)], []),
    "another value": (
        [extra(x=1)],
        [extra(x=2)],
        [("config where a is 1.x", "changed", "default", 1, 2)],
    ),
    "a value that is set always": (
        [extra({}, x=1)],
        [extra({}, x=2)],
        [("config.x", "changed", "default", 1, 2)],
    ),
    "the same attributes elsewhere": (
        [extra(x=1, y=2)],
        [extra(B, y=2, x=1)],
        [("config where a is 1", "changed", "when", A, B)],
    ),
    "other attributes elsewhere": (
        [extra(x=1)],
        [extra(B, y=1)],
        [
            (
                *("config where a is 1", "removed", None),
                *({"when": A, "attributes": {"x": {"default": 1}}}, None),
            ),
            (
                *("config where b is 1", "added", None, None),
                {"when": B, "attributes": {"y": {"default": 1}}},
            ),
        ],
    ),
    "one more attribute": (
        [extra(x=1)],
        [extra(x=1, y=2)],
        [("config where a is 1.y", "added", None, None, {"default": 2})],
    ),
    "order of one attribute": (
        [extra(A, x=1, y=1), extra(B, x=2)],
        None,
        [
            (
                *("config where a is 1", "moved", "order"),
                ["config where a is 1", "config where b is 1"],
                ["config where b is 1", "config where a is 1"],
            )
        ],
    ),
    "order of two attributes": ([extra(A, x=1), extra(B, y=2)], None, []),
    "order of what excludes each other": ([extra(A, x=1), extra({"a": [2]}, x=2)], None, []),
}


@pytest.mark.parametrize(("first", "second", "found"), EXTRAS.values(), ids=EXTRAS)
def test_extras(first: Any, second: Any, found: Any):
    second = first[::-1] if second is None else second

    assert changes("extras", tuple(first), tuple(second)) == found


PATH = RotaryPath(
    "p", "gpt", "rope", "R", 1, {"base": Argument("args", "base")}, {"s": Argument("constant")}
)
PATH_RECORD = {
    "name": "p",
    "attention": "gpt",
    "kind": "rope",
    "rotary_class": "R",
    "returns": 1,
    "arguments": {"base": {"origin": "args", "name": "base"}},
    "reads": {"s": {"origin": "constant"}},
}
PATHS = {
    "the same": ([PATH], [PATH], []),
    "one that is gone": (
        [PATH, PATH._replace(name="q")],
        [PATH._replace(name="q")],
        [("p", "removed", None, PATH_RECORD, None)],
    ),
    "one that is gone before another that changed": (
        [PATH, PATH._replace(name="q")],
        [PATH._replace(name="q", returns=2)],
        [("p", "removed", None, PATH_RECORD, None), ("q", "changed", "returns", 1, 2)],
    ),
    "one that is new": (
        [PATH._replace(name="q")],
        [PATH, PATH._replace(name="q")],
        [("p", "added", None, None, PATH_RECORD)],
    ),
    "every aspect": (
        [PATH],
        [PATH._replace(attention="mla", kind="yarn", rotary_class=None, returns=2)],
        [
            ("p", "changed", "attention", "gpt", "mla"),
            ("p", "changed", "kind", "rope", "yarn"),
            ("p", "changed", "rotary_class", "R", None),
            ("p", "changed", "returns", 1, 2),
        ],
    ),
    "arguments and what is read": (
        [PATH],
        [
            PATH._replace(
                arguments={"dim": Argument("constant", value=0)},
                reads={"s": Argument("constant", value=2)},
            )
        ],
        [
            ("p", "changed", "arguments.base", {"origin": "args", "name": "base"}, None),
            ("p", "changed", "arguments.dim", None, {"origin": "constant", "value": 0}),
            (
                *("p", "changed", "reads.s"),
                *({"origin": "constant"}, {"origin": "constant", "value": 2}),
            ),
        ],
    ),
}


@pytest.mark.parametrize(("first", "second", "found"), PATHS.values(), ids=PATHS)
def test_paths(first: Any, second: Any, found: Any):
    both = ({path.name: path for path in paths} for paths in (first, second))

    assert changes("paths", *both) == found


def rule(path: str, **when: Any) -> RotaryRule:
    return RotaryRule({name: [value] for name, value in when.items()}, path)


RULES = {
    "the same": ([rule("p"), rule("q")], [rule("p"), rule("q")], []),
    "one that leads elsewhere": (
        [rule("p", a=1)],
        [rule("q", a=1)],
        [("p", "changed", "path", "p", "q")],
    ),
    "one that holds elsewhere": (
        [rule("p", a=1)],
        [rule("p", a=2)],
        [("p", "changed", "when", {"a": [1]}, {"a": [2]})],
    ),
    "one that leads and holds elsewhere": (
        [rule("p", a=1)],
        [rule("q", a=2)],
        [
            ("p", "removed", None, {"when": {"a": [1]}, "path": "p"}, None),
            ("q", "added", None, None, {"when": {"a": [2]}, "path": "q"}),
        ],
    ),
    "the nearest of several": (
        [rule("p", a=1, b=1, c=1)],
        [rule("p", a=2, b=2, c=2), rule("p", a=1, b=1, d=2), rule("p", a=1, b=1, c=2)],
        [
            (
                "p",
                "changed",
                "when",
                {"a": [1], "b": [1], "c": [1]},
                {"a": [1], "b": [1], "c": [2]},
            ),
            ("p", "added", None, None, {"when": {"a": [2], "b": [2], "c": [2]}, "path": "p"}),
            ("p", "added", None, None, {"when": {"a": [1], "b": [1], "d": [2]}, "path": "p"}),
        ],
    ),
    "what is the same is no change of another": (
        [rule("p", a=1), rule("p", a=2)],
        [rule("p", a=2), rule("p", a=3)],
        [("p", "changed", "when", {"a": [1]}, {"a": [3]})],
    ),
    "one with a change that also moved": (
        [rule("p", a=1, b=1), rule("q", b=1), rule("r", b=1)],
        [rule("q", b=1), rule("r", b=1), rule("p", a=2, b=1)],
        [
            ("p", "changed", "when", {"a": [1], "b": [1]}, {"a": [2], "b": [1]}),
            ("p", "moved", "order", ["p", "q", "r"], ["q", "r", "p"]),
        ],
    ),
    "order of one path": ([rule("p", a=1), rule("p", b=1)], None, []),
    "order of two paths": (
        [rule("p", a=1), rule("q", b=1)],
        None,
        [("p", "moved", "order", ["p", "q"], ["q", "p"])],
    ),
    "order of what excludes each other": ([rule("p", a=1), rule("q", a=2)], None, []),
    "order beside one that is gone": (
        [rule("p", a=1), rule("q", b=1), rule("r", c=1)],
        [rule("r", c=1), rule("p", a=1)],
        [
            ("q", "removed", None, {"when": {"b": [1]}, "path": "q"}, None),
            ("p", "moved", "order", ["p", "r"], ["r", "p"]),
        ],
    ),
}


@pytest.mark.parametrize(("first", "second", "found"), RULES.values(), ids=RULES)
def test_rules(first: Any, second: Any, found: Any):
    second = first[::-1] if second is None else second

    assert changes("rules", tuple(first), tuple(second)) == found


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ({"a": [1], "b": [1]}, {"a": [1], "b": [2]}, False),
        ({"a": [2], "b": [1]}, {"a": [1], "b": [1]}, False),
        ({"a": [1, None]}, {"a": {"given": True}}, True),
        ({"a": [None], "b": [1]}, {"b": [1]}, True),
        ({"b": [1], "a": [None]}, {"b": [1], "a": {"given": True}}, False),
        ({"a": [None], "b": [1]}, {"a": {"lacks": ["x"]}, "b": [2]}, False),
        ({"a": {"contains": ["x"]}}, {"a": {"lacks": ["x"]}}, True),
    ],
)
def test_conditions_that_can_hold_together(one: Any, other: Any, together: bool):
    assert compatible(one, other) is together
    assert compatible(other, one) is together


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (1, 1),
        ("text", "text"),
        ((1, (2, [3])), [1, [2, [3]]]),
        ({"a": (1,), "b": {"c": (2,)}}, {"a": [1], "b": {"c": [2]}}),
        # What a record has not is left out, except for a default.
        (Attribute(), {"default": None}),
        (
            Attribute(0, "x", none_is_default=True),
            {"default": 0, "dest": "x", "none_is_default": True},
        ),
        (Attribute({"tuple": [1]}), {"default": {"tuple": [1]}}),
        ([Argument("constant", value=0)], [{"origin": "constant", "value": 0}]),
        (Argument("constant", value=False), {"origin": "constant"}),
        (Argument("constant", value=[]), {"origin": "constant"}),
        (Argument("constant", value={}), {"origin": "constant"}),
        (ExtraAttributes({}, {"x": Attribute(1)}), {"attributes": {"x": {"default": 1}}}),
    ],
)
def test_value_as_json(value: Any, found: Any):
    assert repr(plain(value)) == repr(found)


def test_parts_are_told_in_order():
    first = BLANK._replace(
        options=(option("--x"),),
        enums={"A": {"a": 1}},
        edits=(Edit("x", {}, 1),),
        refusals=(refusal("no"),),
        classes=(config("C"),),
        extras=(extra(x=1),),
        paths={"p": PATH},
        rules=(rule("p"),),
    )

    found = [(one.part, one.subject, one.change) for one in compare(first, BLANK)]

    assert found == [
        ("options", "--x", "removed"),
        ("enums", "A", "removed"),
        ("edits", "x", "removed"),
        ("refusals", "config: no", "removed"),
        ("classes", "C", "removed"),
        ("extras", "config where a is 1", "removed"),
        ("paths", "p", "removed"),
        ("rules", "p", "removed"),
    ]
