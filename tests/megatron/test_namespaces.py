"""Copies of namespaces, and what differs between two."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_ropecontract.megatron.namespaces import (
    changed_dests,
    copy_of,
    namespace_of,
    snapshot,
)


class Uncopied:
    """A value of a framework's own, which may be anything."""

    def __deepcopy__(self, memo: object) -> Uncopied:
        raise TypeError


def test_lists_of_a_copy_are_its_own():
    values: dict[str, Any] = {"flat": [1], "deep": [[2]], "dict": {"a": [3]}, "set": {4}, "x": 5}
    copied = snapshot(values)
    assert copied == values

    values["flat"].append(0)
    values["deep"][0].append(0)
    values["dict"]["a"].append(0)
    values["set"].add(0)
    values["x"] = 0

    assert copied == {"flat": [1], "deep": [[2]], "dict": {"a": [3]}, "set": {4}, "x": 5}


def test_other_values_are_the_same_in_a_copy():
    one = Uncopied()

    copied = vars(copy_of({"one": one, "some": [one], "tuple": (one,)}))

    assert (copied["one"], copied["some"], copied["tuple"]) == (one, [one], (one,))


def test_namespace_may_have_an_attribute_of_any_name():
    values = {"self": 1, "not a name": 2}

    assert vars(namespace_of(values)) == vars(copy_of(values)) == values


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({}, {}, []),
        ({"a": 1, "b": [2]}, {"a": 1, "b": [2]}, []),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ["b"]),
        ({"a": 5}, {"a": None}, ["a"]),
        ({"a": None}, {"a": None}, []),
        ({}, {"a": None}, ["a"]),
        ({"a": 1}, {}, []),
        ({"a": 1, "b": 0, "c": (1,)}, {"a": 1.0, "b": False, "c": [1]}, ["a", "b", "c"]),
        ({"a": [1]}, {"a": [2], "b": 1}, ["a", "b"]),
    ],
)
def test_names_whose_value_changed(
    before: dict[str, Any], after: dict[str, Any], changed: list[str]
):
    assert changed_dests(before, after) == changed


class Array:
    """Compares as arrays do: one by one, which is no truth."""

    def __eq__(self, other: object) -> Any:
        raise ValueError

    __hash__ = None  # type: ignore[assignment]


def test_value_that_cannot_be_compared_changed_where_it_is_another():
    one = Array()

    assert changed_dests({"a": one}, {"a": one}) == []
    assert changed_dests({"a": one}, {"a": Array()}) == ["a"]
