"""Single values of a document, each by the type that it must have."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_ropecontract.contracts.checkpoints.values import Collector, same, shown

OF_40 = "x" * 38
"""A text that is written in 40 characters, with its quotes."""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (10**40 - 1, "9" * 40),
        (10**40, "a number of more than 40 digits"),
        (-(10**40), "a number of more than 40 digits"),
        ({"a": 1}, "an object"),
        (1e300, "1e+300"),
        (OF_40, f"'{OF_40}'"),
        (f"{OF_40}x", f"'{'x' * 36}..."),
    ],
)
def test_a_value_is_written_in_one_short_piece(value: Any, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (True, True),
        ([1, [2]], [1.0, [2.0]]),
        ([], []),
        ({"a": {"b": 1}, "c": None}, {"a": {"b": 1.0}}),
        (None, None),
        ("yarn", "yarn"),
    ],
)
def test_values_that_mean_the_same(one: Any, other: Any) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (True, False),
        ([1], [True]),
        ([1, 2], [1]),
        ([1, 2], [1, 3]),
        ([1, 2], [2, 1]),
        ([], [1]),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ({"a": 0}, {}),
        ({}, []),
        ([], 0),
        ("1", 1),
    ],
)
def test_values_that_differ(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert not same(other, one)


@pytest.mark.parametrize(
    ("value", "zero", "said"),
    [
        (-1, True, "m.factor is -1, not a number of 0 or more"),
        (-1, False, "m.factor is -1, not a number above 0"),
        (0, False, "m.factor is 0, not a number above 0"),
    ],
)
def test_whether_zero_can_be_meant_is_said(value: int, said: str, *, zero: bool) -> None:
    collector = Collector()

    assert collector.number({"factor": value}, "factor", "m.", zero=zero) is None
    assert [one.message for one in collector.problems] == [said]
