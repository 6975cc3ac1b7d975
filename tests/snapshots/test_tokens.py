"""Command lines as lines of text."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_ropecontract.definitions.shell_words import shell_words
from pytest_ropecontract.snapshots.tokens import argv_lines

few = settings(max_examples=30, deadline=None)
ANY = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
FLAG = st.from_regex(r"--[a-z]{1,5}(-[a-z]{1,3})?", fullmatch=True)
ARGV = st.lists(st.one_of(ANY, FLAG, st.sampled_from(["-1", "--", "-", "#", "", "a=b", "it's"])))


def bash_tokens(text: str) -> list[bytes]:
    """Return the tokens that bash reads from a text."""
    script = "declare -a ARGV=(\n" + text + ")\nprintf '%s\\0' \"${ARGV[@]}\""
    done = subprocess.run(
        ["bash", "-c", script],
        check=True,
        capture_output=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    return done.stdout.split(b"\0")[:-1]


@few
@given(argv=st.lists(st.one_of(ANY, FLAG), min_size=1))
@example(argv=["--a", "x\ny", "\t", "\\", "'", "\u2028", "\x7f", "é", "\U0001f600", "#", "--"])
def test_bash_reads_the_same_tokens(argv):
    text = "".join(f"{line}\n" for line in argv_lines(argv))

    assert bash_tokens(text) == [token.encode() for token in argv]


@few
@given(argv=ARGV.map(lambda argv: [token for token in argv if token.isprintable()]))
def test_an_argv_file_reads_the_same_tokens(argv):
    assert list(shell_words("\n".join(argv_lines(argv)))) == argv


@few
@given(argv=ARGV)
def test_every_line_can_be_printed(argv):
    assert all(line.isprintable() for line in argv_lines(argv))


@few
@given(argv=ARGV, other=ARGV)
def test_other_tokens_are_other_lines(argv, other):
    assert (argv_lines(argv) == argv_lines(other)) == (argv == other)


def test_bytes_that_are_no_text_are_told_apart():
    assert argv_lines(["a\udcff", "a\udcfe"]) == ["$'a\\xff' $'a\\xfe'"]
    assert bash_tokens("$'a\\xff'\n") == [b"a\xff"]


@pytest.mark.parametrize(
    ("argv", "lines"),
    [
        (["--a", "1", "--b", "--c", "2", "3"], ["--a 1", "--b", "--c 2 3"]),
        (["--freq", "[0]*3+[1]*58"], ["--freq '[0]*3+[1]*58'"]),
        (["--a", "-1", "--b", "-0.5"], ["--a -1", "--b -0.5"]),
        (["--a=1", "-b", "2"], ["--a=1", "-b 2"]),
        (["--a", "--x y"], ["--a '--x y'"]),
        (["stray", "--a"], ["stray", "--a"]),
        (["--a", ""], ["--a ''"]),
        ([], ["# no flags"]),
    ],
)
def test_a_line_is_a_flag_with_its_values(argv, lines):
    assert argv_lines(argv) == lines


@few
@given(argv=st.lists(FLAG, min_size=1), at=st.integers(0, 20))
def test_a_new_flag_is_one_new_line(argv, at):
    at = min(at, len(argv))
    before, now = argv_lines(argv), argv_lines([*argv[:at], "--rope-type", "rope", *argv[at:]])

    assert now == [*before[:at], "--rope-type rope", *before[at:]]
