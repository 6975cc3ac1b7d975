from __future__ import annotations

from enum import StrEnum

from pytest_ropecontract.definitions import spaced_tokens
from pytest_ropecontract.definitions.argv import argv_of


def test_spaced_tokens_are_empty_or_hold_whitespace():
    argv = ["--a", "b c", "", "d", " e", "f\n", "\u2003"]
    assert spaced_tokens(argv) == ("b c", "", " e", "f\n", "\u2003")


def test_subclasses_of_str_become_plain_strings():
    class Flag(StrEnum):
        A = "--a"

    assert [type(token) for token in argv_of([Flag.A], "it gave")] == [str]
    assert [type(token) for token in argv_of(Flag.A, "it gave")] == [str]
