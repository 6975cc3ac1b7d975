"""How namespace values reach a config, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_ropecontract.megatron import configuration
from pytest_ropecontract.megatron.backend import ConfigRefusedError
from pytest_ropecontract.megatron.surface import (
    Attribute,
    ConfigClass,
    Edit,
    ExtraAttributes,
    Refusal,
    Surface,
)
from pytest_ropecontract.megatron.values import LIST_LENGTH

BLANK = Surface("blank", "0", "", (), {}, (), (), (), (), {}, ())
CLASSES = tuple(
    ConfigClass(name, {"kind": [name]}, {"x": Attribute(place), name: Attribute(0)})
    for place, name in enumerate(("first", "second", "third"))
)


def refusal(value: Any, layers: Any) -> tuple[str, str, str]:
    with pytest.raises(ConfigRefusedError) as caught:
        configuration.layer_pattern(value, layers, "freq")
    return caught.value.by, caught.value.error, caught.value.message


@pytest.mark.parametrize(
    ("kind", "name"),
    [("first", "first"), ("second", "second"), ("third", "third"), ("none", "third")],
)
def test_first_class_that_fits_is_chosen_or_the_last(kind: str, name: str):
    surface = BLANK._replace(classes=CLASSES)

    assert configuration.choose_class(surface, {"kind": kind}).name == name


def test_attributes_are_those_of_the_class_and_all_that_is_set_afterwards():
    extras = (
        ExtraAttributes({"kind": ["second"]}, {"x": Attribute(7), "y": Attribute(8)}),
        ExtraAttributes({"kind": ["first"]}, {"z": Attribute(9)}),
        ExtraAttributes({}, {"y": Attribute(10)}),
    )
    surface = BLANK._replace(classes=CLASSES, extras=extras)

    assert configuration.attributes(surface, {"kind": "second"}) == {
        "x": Attribute(7),
        "second": Attribute(0),
        "y": Attribute(10),
    }
    assert CLASSES[1].attributes["x"] == Attribute(1)


@pytest.mark.parametrize(
    ("attribute", "namespace", "takes"),
    [
        (Attribute(5), {"x": 7}, True),
        (Attribute(5, "x"), {"x": 7}, False),
        (Attribute(5, "x"), {"x": None}, False),
        (Attribute(5, "x"), {}, True),
        (Attribute(5, "x", none_is_default=True), {"x": None}, True),
        (Attribute(5, "x", none_is_default=True), {"x": 0}, False),
    ],
)
def test_when_the_class_default_is_what_a_config_has(
    attribute: Attribute, namespace: dict[str, Any], takes: bool
):
    assert configuration.takes_default(attribute, namespace) is takes
    assert configuration.value_of(attribute, "attribute", namespace) == (
        5 if takes else namespace["x"]
    )


PATTERN = Attribute(None, "x", transform="layer_pattern")


@pytest.mark.parametrize(
    ("attribute", "namespace", "value"),
    [
        (PATTERN, {"x": 2, "num_layers": 4}, [0, 1, 0, 1]),
        (PATTERN, {"x": 1, "num_layers": 2}, [1, 1]),
        (PATTERN, {"x": 3, "num_layers": 6}, [0, 0, 1, 0, 0, 1]),
        (PATTERN, {"x": 0, "num_layers": 4}, 0),
        (PATTERN, {"x": None, "num_layers": 4}, None),
        # Without layers there is nothing to mark.
        (PATTERN, {"x": 1, "num_layers": None}, []),
        (PATTERN, {"x": 1}, []),
        (Attribute(None, "x"), {"x": 2, "num_layers": 4}, 2),
        (PATTERN, {"x": [0, 1], "num_layers": 2}, [0, 1]),
        (PATTERN, {"x": (1, 1), "num_layers": 2}, (1, 1)),
    ],
)
def test_number_becomes_a_pattern_of_layers(
    attribute: Attribute, namespace: dict[str, Any], value: Any
):
    assert configuration.value_of(attribute, "freq", namespace) == value


def test_longest_pattern_is_made():
    assert configuration.layer_pattern(1, LIST_LENGTH, "freq") == [1] * LIST_LENGTH


@pytest.mark.parametrize(
    ("value", "layers", "error", "message"),
    [
        (
            *([1, 0], 3, "AssertionError"),
            "Length of no_rope list (2) must match the number of layers (3)",
        ),
        (
            *((1,), None, "AssertionError"),
            "Length of no_rope list (1) must match the number of layers (None)",
        ),
        (
            *("2", 4, "unresolvable"),
            "freq='2' and num_layers=4 are not both whole numbers",
        ),
        (
            *(2, 4.0, "unresolvable"),
            "freq=2 and num_layers=4.0 are not both whole numbers",
        ),
        (*(3, 4, "AssertionError"), "freq=3 should be divisible by num_layers=4."),
        (*(1, LIST_LENGTH + 1, "unresolvable"), f"{LIST_LENGTH + 1} layers are too many"),
        # Nothing remains of no layers, however long the pattern.
        (*(LIST_LENGTH + 1, 0, "unresolvable"), "0 layers are too many"),
    ],
)
def test_pattern_that_does_not_fit_is_refused(value: Any, layers: Any, error: str, message: str):
    assert refusal(value, layers) == ("config", error, message)


REFUSALS = (
    Refusal("validate_args", {"x": [1]}, "AssertionError", "{x} of {y} and {y}, {z}"),
    Refusal("config", {"x": [1], "y": [2]}, "ValueError", "{x} of {y} and {y}, {z}"),
    Refusal("config", {"x": [1]}, "TypeError", "second"),
)


@pytest.mark.parametrize(
    ("by", "namespace", "expected"),
    [
        ("validate_args", {"x": 1}, ("AssertionError", "1 of {y} and {y}, {z}")),
        ("config", {"x": 1, "y": 2, "z": 3}, ("ValueError", "1 of 2 and 2, {z}")),
        ("config", {"x": 1, "y": 3}, ("TypeError", "second")),
    ],
)
def test_first_refusal_of_a_stage_that_holds(
    by: str, namespace: dict[str, Any], expected: tuple[str, str]
):
    with pytest.raises(ConfigRefusedError) as caught:
        configuration.check_refusals(BLANK._replace(refusals=REFUSALS), by, namespace)

    assert (caught.value.by, caught.value.error, caught.value.message) == (by, *expected)


def test_value_that_is_not_there_stands_as_none_in_a_refusal():
    refusals = (Refusal("model", {"gone": [None]}, "AttributeError", "no {gone}"),)

    with pytest.raises(ConfigRefusedError, match=r"^AttributeError: no None$"):
        configuration.check_refusals(BLANK._replace(refusals=refusals), "model", {})


@pytest.mark.parametrize(("by", "x"), [("model", 1), ("config", 2), ("parser", 1)])
def test_no_other_refusal_is_raised(by: str, x: int):
    configuration.check_refusals(BLANK._replace(refusals=REFUSALS), by, {"x": x})


@pytest.mark.parametrize(
    ("edits", "namespace", "written"),
    [
        ([Edit("a", {"b": [1]}, 5)], {"b": 2}, {}),
        ([Edit("a", {"b": [1]}, 5), Edit("c", {}, 6)], {"b": 2}, {"c": 6}),
        ([Edit("a", {}, None)], {}, {"a": None}),
        ([Edit("a", {}, None)], {"a": None}, {}),
        ([Edit("a", {}, 5), Edit("a", {}, 6)], {"a": 5}, {"a": 6}),
        (
            [Edit("a", {}, quotient=("m", "n")), Edit("b", {}, 1)],
            {"m": 9, "n": 2},
            {"a": 4, "b": 1},
        ),
        ([Edit("a", {}, quotient=("m", "n")), Edit("b", {}, 1)], {"m": 9, "n": 0}, {"b": 1}),
        ([Edit("a", {}, quotient=("m", "n"))], {"m": "9", "n": 2}, {}),
        ([Edit("a", {}, quotient=("m", "n"))], {"m": 9, "n": 2.0}, {}),
        ([Edit("a", {}, quotient=("m", "n"))], {"m": 9, "n": 1}, {"a": 9}),
    ],
)
def test_what_validate_args_writes(
    edits: list[Edit], namespace: dict[str, Any], written: dict[str, Any]
):
    surface = BLANK._replace(edits=tuple(edits))

    assert configuration.edits(surface, namespace) == written
