"""Splitting a text into commands, as bash does."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_ropecontract.launchers.command_text import commands_in

# What is run instead of a program: it tells how many words it got, and which.
TELL = 'tell() { printf \'%s\\0\' "$#" "$@"; }\n'
PIECES = [
    "a",
    "-x=1",
    "'b c'",
    '"d e"',
    "\\ ",
    '"\\""',
    "'\\'",
    "#",
    "'#'",
    '"\'"',
    "[0]*2",
    "\\;",
    "=",
    "2",
]
words = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
commands = st.lists(words, max_size=4).map(lambda found: " ".join(["tell", *found]))
texts = st.lists(
    st.tuples(
        commands,
        st.sampled_from(
            [" && ", "; ", "\n", ";", " 2>&1; ", " <  /dev/null\n", " &>/dev/stdout; "]
        ),
    ),
    min_size=1,
    max_size=3,
).map(lambda found: "".join(part for pair in found for part in pair).removesuffix(" && "))


@settings(max_examples=60, deadline=None)
@given(texts)
def test_words_are_those_of_bash(text: str) -> None:
    told = subprocess.run(["bash", "-fc", TELL + text], capture_output=True, check=True).stdout
    expected = "".join(
        f"{word}\0"
        for one in commands_in(text)
        for word in (str(len(one.words) - 1), *one.words[1:])
    )

    assert told.decode() == expected


@pytest.mark.parametrize("text", ["a $B", 'a "$B"', "a `b`", "a ${B[@]}", "a $(b)"])
def test_what_a_shell_expands_is_marked(text: str) -> None:
    assert commands_in(text)[0].expands


@pytest.mark.parametrize("text", ["a '$B'", "a \\$B", 'a "\\$B"', "a b"])
def test_what_is_quoted_is_not(text: str) -> None:
    assert not commands_in(text)[0].expands


def test_commands_of_pipes_and_groups_are_separate() -> None:
    found = commands_in("(cd /x; a 1) | b 2 || { c 3; } & d 4")

    assert [one.words for one in found] == [
        ["cd", "/x"],
        ["a", "1"],
        ["b", "2"],
        ["{", "c", "3"],
        ["}"],
        ["d", "4"],
    ]
