from __future__ import annotations

from enum import StrEnum

import pytest

from pytest_ropecontract.definitions import DefinitionError, spaced_tokens
from pytest_ropecontract.definitions.argv import argv_of

TOO_LONG = "it gave more than 2 MiB of argv, longer than any command line"


def error_of(value: object) -> DefinitionError:
    with pytest.raises(DefinitionError) as caught:
        argv_of(value, "it gave")
    return caught.value


def test_spaced_tokens_are_empty_or_hold_whitespace():
    argv = ["--a", "b c", "", "d", " e", "f\n", "\u2003"]
    assert spaced_tokens(argv) == ("b c", "", " e", "f\n", "\u2003")


def test_subclasses_of_str_become_plain_strings():
    class Flag(StrEnum):
        A = "--a"

    assert [type(token) for token in argv_of([Flag.A], "it gave")] == [str]
    assert [type(token) for token in argv_of(Flag.A, "it gave")] == [str]


def test_methods_of_a_class_of_its_own_do_not_run():
    class Text(str):
        __slots__ = ()

        def split(self, *_: object) -> list[str]:
            raise AssertionError

    class Tokens(list):
        def __iter__(self) -> object:
            raise AssertionError

    assert argv_of(Text("--a 1"), "it gave") == ("--a", "1")
    assert argv_of(Tokens(["--a", Text("1")]), "it gave") == ("--a", "1")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "None, expected a string or a list of strings"),
        (b"--a", "b'--a' (bytes), expected a string or a list of strings"),
        (1.5, "1.5 (float), expected a string or a list of strings"),
        (True, "True (bool), expected a string or a list of strings"),
        pytest.param(10**5000, "an int, expected a string or a list of strings", id="5001-digits"),
        ({"--a"}, "a set, expected a string or a list of strings"),
        ("", "an empty string"),
        ([], "an empty list"),
        ((), "an empty tuple"),
        (["--a", None], "a list with None at index 1, expected strings only"),
        ((["--a"],), "a tuple with a list at index 0, expected strings only"),
        (["--a", "b\0c"], r"a NUL character in token b\0c (index 1)"),
        ("--a \0", r"a NUL character in token \0 (index 1)"),
    ],
)
def test_value_that_is_no_argv(value, expected):
    assert error_of(value).headline == f"it gave {expected}"


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (None, "return the flags: is a return statement missing?"),
        (61, "give the flags as one string, or as a list with a string for every token"),
    ],
)
def test_only_none_looks_like_a_return_statement_that_is_missing(value, remedy):
    assert error_of(value).remedy == remedy


@pytest.mark.parametrize("value", ["--a bcdef", ["--a", "bcdef"], [""] * 10])
def test_argv_may_be_as_long_as_a_command_line_with_what_separates_it(value, monkeypatch):
    monkeypatch.setattr("pytest_ropecontract.definitions.argv.LONGEST", 10)
    assert len("".join(argv_of(value, "it gave"))) + len(argv_of(value, "it gave")) == 10


@pytest.mark.parametrize("value", ["--a bcdefg", ["--a", "bcdefg"], [""] * 11, ("a",) * 6])
def test_argv_may_not_be_longer(value, monkeypatch):
    monkeypatch.setattr("pytest_ropecontract.definitions.argv.LONGEST", 10)
    assert error_of(value).headline == TOO_LONG


def test_list_of_too_many_is_refused_before_it_is_looked_through(monkeypatch):
    monkeypatch.setattr("pytest_ropecontract.definitions.argv.LONGEST", 10)
    assert error_of([None] * 11).headline == TOO_LONG
    assert error_of([None] * 10).headline.startswith("it gave a list with None at index 0")
