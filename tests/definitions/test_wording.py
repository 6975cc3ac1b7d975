from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ropecontract.definitions.wording import (
    call_text,
    nearest,
    one_line,
    output_lines,
    seconds,
    shortened,
    shown,
    with_article,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("one", "one"),
        ("one\n", "one"),
        ("one\n \n", "one"),
        ("one\ntwo", "one ..."),
        ("one\n\ntwo", "one ..."),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 120 + " ..."),
        ("x" * 121 + "\ny", "x" * 120 + " ..."),
    ],
)
def test_one_line_marks_what_it_leaves_out(text, expected):
    assert one_line(text) == expected


def test_one_line_of_another_width():
    assert (one_line("abc", 3), one_line("abcd", 3)) == ("abc", "abc ...")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + " ..."),
        ("a\0b", "a\\0b"),
        ("\0" * 30, "\\0" * 30),
    ],
    ids=["fits", "long", "nul", "nuls"],
)
def test_what_is_shortened_fits_into_a_headline(text, expected):
    assert shortened(text) == expected


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        *((noun, f"an {noun}") for noun in ("apple", "Expansion", "int", "object", "Union")),
        *((noun, f"a {noun}") for noun in ("str", "Path", "NoneType")),
    ],
)
def test_article(noun, expected):
    assert with_article(noun) == expected


def test_call_is_written_as_in_python():
    assert call_text("model_args", {}) == "model_args()"
    assert call_text("model_args", {"n": 2, "name": "a\0"}) == r"model_args(n=2, name='a\x00')"
    assert call_text("f", {"n": "x" * 80}) == f"f(n='{'x' * 59} ...)"


@pytest.mark.parametrize(("limit", "text"), [(20.0, "20 s"), (0.5, "0.5 s"), (1e-3, "0.001 s")])
def test_seconds(limit, text):
    assert seconds(limit) == text


def test_path_is_shown_from_the_root_where_it_lies_below():
    assert shown(Path("/project/models/a.py"), Path("/project")) == "models/a.py"
    assert shown(Path("/elsewhere/a.py"), Path("/project")) == "/elsewhere/a.py"


def test_last_ten_lines_of_an_output_are_shown():
    output = "".join(f"{number}\n\n \n" for number in range(12))
    assert output_lines(output) == [f"printed: {number}" for number in range(2, 12)]
    assert output_lines("x" * 121) == [f"printed: {'x' * 120} ..."]
    assert output_lines(" \n") == []


def test_nearest_names_at_most_three_that_are_alike():
    choices = ["kimi-k5", "kimi-k2", "kimi-k3", "kimi-k4", "llama"]
    found = nearest("kimi-k", iter(choices), "definitions")
    assert found == "did you mean 'kimi-k5' or 'kimi-k4' or 'kimi-k3'?"


@pytest.mark.parametrize(("name", "alike"), [("abcfg", True), ("abfgh", False)])
def test_nearest_is_alike_in_more_than_half(name, alike):
    """Of ten letters of both, six are the same in the first pair, and four in the second."""
    expected = "did you mean 'abcde'?" if alike else "the siblings are: abcde"
    assert nearest(name, ["abcde"], "siblings") == expected


def test_without_a_near_one_the_first_twenty_are_listed():
    names = [f"m{number:02}" for number in range(21)]
    assert nearest("", reversed(names[:20]), "models") == f"the models are: {', '.join(names[:20])}"
    assert nearest("", names, "models") == f"the models are: {', '.join(names[:20])} and 1 more"
    assert nearest("", [], "models") == "there are no models"
