"""Reading single values of a document, each by the type that it must have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.checkpoints.published import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_TEXT = 40


class Collector:
    """Values with where they come from, and what is wrong with those that cannot be read."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.sources: dict[str, str] = {}
        self.problems: list[Problem] = []

    def put(self, name: str, value: Any, source: str) -> None:
        """Keep a value under the field that it is of."""
        self.values[name] = value
        self.sources[name] = source

    def drop(self, name: str) -> None:
        """Forget a value: it is not certain, and must not be compared."""
        del self.values[name]
        del self.sources[name]

    def problem(self, message: str, field: str | None = None, remedy: str | None = None) -> None:
        """Keep what cannot be read without guessing."""
        self.problems.append(Problem("checkpoint", message, field, remedy))

    def number(
        self, holder: Mapping[str, Any], key: str, path: str, *, zero: bool = False
    ) -> float | None:
        """Return a positive number, or None where there is none.

        Args:
            holder: The object that states it.
            key: Its key.
            path: Where the object is in the document, with a dot at the end, or nothing.
            zero: Whether 0 is a number that can be meant.
        """
        value = holder.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.problem(f"{path}{key} is {shown(value)}, not a number")
            return None
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.problem(f"{path}{key} is {shown(value)}, not a finite number")
            return None
        if number < 0 or (number == 0 and not zero):
            self.problem(
                f"{path}{key} is {shown(value)}, not a number "
                f"{'of 0 or more' if zero else 'above 0'}"
            )
            return None
        return number

    def whole(self, holder: Mapping[str, Any], key: str, path: str) -> int | None:
        """Return a positive whole number, or None where there is none."""
        number = self.number(holder, key, path)
        if number is None:
            return None
        if not number.is_integer():
            self.problem(f"{path}{key} is {shown(holder[key])}, not a whole number")
            return None
        return int(holder[key])

    def truth(self, holder: Mapping[str, Any], key: str, path: str) -> bool | None:
        """Return true or false, or None where there is none."""
        value = holder.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.problem(f"{path}{key} is {shown(value)}, neither true nor false")
        return None

    def text(self, holder: Mapping[str, Any], key: str, path: str) -> str | None:
        """Return a text, or None where there is none."""
        value = holder.get(key)
        if value is None or isinstance(value, str):
            return value
        self.problem(f"{path}{key} is {shown(value)}, not a text")
        return None

    def whole_list(self, holder: Mapping[str, Any], key: str, path: str) -> list[int] | None:
        """Return a list of whole numbers of 0 or more, or None where there is none."""
        value = holder.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(
            isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in value
        ):
            self.problem(f"{path}{key} is {shown(value)}, not a list of whole numbers")
            return None
        return list(value)


def shown(value: Any) -> str:
    """Write a value of a document in one short piece."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**LONGEST_TEXT:
        # Writing out more digits than Python converts would fail.
        return f"a number of more than {LONGEST_TEXT} digits"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, float):
        return str(value)
    text = repr(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}..."


def same(one: Any, other: Any) -> bool:
    """Return whether two values of a document mean the same: numbers as numbers."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        left = {key: value for key, value in one.items() if value is not None}
        right = {key: value for key, value in other.items() if value is not None}
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
