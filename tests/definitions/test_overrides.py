from __future__ import annotations

import pytest

from pytest_ropecontract.definitions import DefinitionError
from pytest_ropecontract.definitions.overrides import check_transferable, refuse_overrides


def headline_of(value: object) -> str:
    with pytest.raises(DefinitionError) as caught:
        check_transferable({"first": 1, "n": value})
    return caught.value.headline


@pytest.mark.parametrize(
    "value",
    [None, True, 61, 0.5, "a", [], {}, [[1], {"a": [None]}], {"a": {"b": ["c"]}}],
    ids=str,
)
def test_what_json_carries_unchanged_is_passed_on(value):
    check_transferable({"n": value})


class Text(str):
    __slots__ = ()


class Numbers(list):
    pass


class Table(dict):
    pass


class Liar:
    __class__ = property(lambda _: list)

    def __repr__(self) -> str:
        return "liar"


LOOP: list[object] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "shown", "kind"),
    [
        ((1,), "(1,)", "a tuple"),
        ([1, (2,)], "[1, (2,)]", "a tuple"),
        ([1, (2,), {3}], "[1, (2,), {3}]", "a tuple"),
        ({"a": 1, "b": b"x"}, "{'a': 1, 'b': b'x'}", "a bytes"),
        ({"a": 1, 2: b"x"}, "{'a': 1, 2: b'x'}", "an int"),
        ({Text("a"): 1}, "{'a': 1}", "a Text"),
        (Text("a"), "'a'", "a Text"),
        (Numbers([1]), "[1]", "a Numbers"),
        (Table(a=1), "{'a': 1}", "a Table"),
        (Liar(), "liar", "a Liar"),
        (LOOP, "[[...]]", "a list"),
        (object, "<class 'object'>", "a type"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_first_part_that_json_does_not_carry_is_named(value, shown, kind):
    expected = f"the override n={shown} holds {kind}, which cannot be passed to a script"
    assert headline_of(value) == expected


def test_number_of_too_many_digits_is_not_passed_on():
    expected = "the override n=<int> holds an int, which cannot be passed to a script"
    assert headline_of(10**5000) == expected


def test_source_without_overrides_names_those_that_it_got():
    refuse_overrides({}, "an argv file")
    with pytest.raises(DefinitionError) as caught:
        refuse_overrides({"nlayers": 2, "base": 1}, "an argv file")
    assert caught.value.headline == "an argv file takes no overrides, but got nlayers, base"
