from __future__ import annotations

import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ropecontract.definitions.shell_words import QuotingError, shell_words

TEXTS = {
    "blanks": ("  a\t b \r\n c", ["a", "b", "c"]),
    "nothing": (" \n", []),
    "single": ("'a b'c'd'", ["a bcd"]),
    "double": ('"a \'b"', ["a 'b"]),
    "empty-words": ("'' \"\"", ["", ""]),
    "escapes": (r"a\ b \'c \\", ["a b", "'c", "\\"]),
    "escapes-in-double-quotes": (r'"\"\$\`\n\\"', ['"$`\\n\\']),
    "nothing-escapes-in-single-quotes": (r"'a\'", ["a\\"]),
    "comments": ("a # b 'c\n#d\ne#f", ["a", "e#f"]),
    "continued-lines": ('a \\\nb\\\nc "d\\\ne" f\\\r\n g', ["a", "bc", "de", "f", "g"]),
    "continued-behind-a-word": ("a\\\r\nb\\\nc", ["abc"]),
    "words-between-comments": ("a # b\nc\n# d\n", ["a", "c"]),
    "comment-without-an-end": ("a # b", ["a"]),
    "comment-first": ("# a\nb", ["b"]),
    "quoted-lines": ("'a\nb'", ["a\nb"]),
    "no-expansion": ("[0]*3+[1]*58 $A `b` ;", ["[0]*3+[1]*58", "$A", "`b`", ";"]),
}


@pytest.mark.parametrize(("text", "words"), TEXTS.values(), ids=TEXTS)
def test_words(text, words):
    assert list(shell_words(text)) == words


@given(st.lists(st.text()))
def test_quoted_words_survive(words):
    assert list(shell_words(shlex.join(words))) == words


@given(st.text(" \t\nab'\"\\"))
@example("\\\\\n\n")
def test_same_as_the_standard_library_without_continued_lines(text):
    while "\\\n" in text:  # where one is taken out, another can come about
        text = text.replace("\\\n", "")
    try:
        expected = shlex.split(text)
    except ValueError:
        with pytest.raises(QuotingError):
            list(shell_words(text))
    else:
        assert list(shell_words(text)) == expected


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("a\n'b\n\n", "the quote ' does not end", 2),
        ("\"a'\n", 'the quote " does not end', 1),
        ("\n'", "the quote ' does not end", 2),
        ("a\nb\\", "a backslash at the end", 2),
    ],
    ids=["single", "double", "behind-a-blank-line", "backslash"],
)
def test_line_of_wrong_quoting(text, problem, line):
    with pytest.raises(QuotingError, match=f"^{problem}$") as caught:
        list(shell_words(text))
    assert caught.value.line == line
