from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ropecontract.definitions import ArgvFile, DefinitionError

TOKENS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1)


@given(tokens=TOKENS, ascii_only=st.booleans())
def test_any_tokens_survive_as_json_lines(tmp_path_factory, tokens, ascii_only):
    path = tmp_path_factory.getbasetemp() / "json.txt"
    lines = [json.dumps(token, ensure_ascii=ascii_only) for token in tokens]
    path.write_bytes("\n".join(lines).encode())
    assert ArgvFile(path).expand({}).argv == tuple(tokens)


@given(tokens=TOKENS, several=st.booleans())
def test_any_tokens_survive_with_shell_quoting(tmp_path_factory, tokens, several):
    path = tmp_path_factory.getbasetemp() / "quoted.txt"
    path.write_bytes((" " if several else "\n").join(map(shlex.quote, tokens)).encode())
    assert ArgvFile(path).expand({}).argv == tuple(tokens)


GOOD = {
    "json": ('"--a"\n"b c"\n"\\u00e9"\n""\n', ("--a", "b c", "é", "")),
    "json-with-comments-and-blank-lines": ('# golden\n\n"--a"\r\n # b\n"c"\n', ("--a", "c")),
    "plain": ("--a 1\n--b 'c d'  # why\n", ("--a", "1", "--b", "c d")),
    "plain-and-quoted": ('"--a" 1\n"--b"\n', ("--a", "1", "--b")),
    "continued": ("--a \\\n  1\n", ("--a", "1")),
    "json-of-another-type": ("61\n", ("61",)),
    "byte-order-mark": ("\ufeff--a\n", ("--a",)),
    "json-behind-an-indented-comment": (' \t# golden\n"\\u00e9"\n', ("é",)),
    "json-between-tabs": ('\t"\\u00e9" \t\n', ("é",)),
    # Neither a form feed nor a wide space is a blank of a shell.
    "form-feed-before-a-quote": ('\f"\\u00e9"\n', ("\f\\u00e9",)),
    "wide-space-alone": ('\u2003\n"\\u00e9"\n', ("\u2003", "\\u00e9")),
    "form-feed-before-a-comment": ('\f# a\n"\\u00e9"\n', ("\f#", "a", "\\u00e9")),
    "letter-before-a-quote": ('X"\\u00e9"\n', ("X\\u00e9",)),
    "letter-alone": ('X\n"\\u00e9"\n', ("X", "\\u00e9")),
    "letter-before-a-hash": ('X# a\n"\\u00e9"\n', ("X#", "a", "\\u00e9")),
}


@pytest.mark.parametrize(("text", "argv"), GOOD.values(), ids=GOOD)
def test_tokens(project, text, argv):
    assert project.expand("kimi-k2.txt", text).argv == argv


BAD = {
    "json-and-plain": (
        '\n"--a"\n--b\n',
        "line 3 of the argv file is no JSON string, as line 2 is",
        3,
    ),
    "broken-json": ('"--a"\n"--b\n', "line 2 of the argv file is no JSON string, as line 1 is", 2),
    "number": ('"--a"\n61\n', "line 2 of the argv file is no JSON string, as line 1 is", 2),
    "quote": (
        "--a\n--b 'c\n",
        "the argv file is wrongly quoted in line 2: the quote ' does not end",
        2,
    ),
    "empty": ("\n", "the argv file holds no tokens", None),
    "comments": ("# --a\n", "the argv file holds no tokens", None),
    "not-utf-8": (b"--a\n\xe9\n", "the argv file is not UTF-8: byte 0xe9 in line 2", 2),
    "not-utf-8-behind-a-mark": (
        b"\xef\xbb\xbf--a\n\xe9\n",
        "the argv file is not UTF-8: byte 0xe9 in line 2",
        2,
    ),
    "nul": ('"a\\u0000"\n', r"the argv file holds a NUL character in token a\0 (index 0)", None),
    "long": (
        b"x" * (2 * 1024 * 1024 + 1),
        "the argv file holds more than 2 MiB of argv, longer than any command line",
        None,
    ),
    "large": (b" " * (16 * 1024 * 1024 + 1), "the argv file is larger than 16 MiB", None),
}


@pytest.mark.parametrize(("text", "headline", "line"), BAD.values(), ids=BAD)
def test_first_line_and_origin(project, text, headline, line):
    error = project.error("kimi-k2.txt", text)
    assert str(error).splitlines()[0] == f"kimi-k2: {headline}"
    assert error.origin == "models/kimi-k2.txt" + ("" if line is None else f":{line}")
    assert error.remedy


def test_overrides_are_refused(project):
    error = project.error("kimi-k2.txt", "--a\n", nlayers=2)
    assert error.headline == "kimi-k2: an argv file takes no overrides, but got nlayers"


def test_directory(project):
    project.write("kimi-k2.txt/x")
    project.registry.add_file(project.models / "kimi-k2.txt")
    assert project.failure("kimi-k2").headline == "kimi-k2: the path is a folder, not an argv file"


def test_line_that_is_no_json_is_shown(project):
    error = project.error("kimi-k2.txt", '"--a"\n  --b 2\n')
    assert error.details == ("--b 2",)


def test_paths_are_relative_to_the_working_directory_by_default(tmp_path, monkeypatch):
    (tmp_path / "kimi-k2.txt").write_text("--a '", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DefinitionError) as caught:
        ArgvFile(Path("kimi-k2.txt")).expand({})
    assert caught.value.origin == "kimi-k2.txt:1"


def test_words_are_counted_with_what_separates_them(project, monkeypatch):
    monkeypatch.setattr("pytest_ropecontract.definitions.argv_file.LONGEST", 10)
    assert project.expand("fits.txt", "--a bcdef").argv == ("--a", "bcdef")
    error = project.error("long.txt", "--a bcdefg 'without an end")
    assert error.headline == (
        "long: the argv file holds more than 2 MiB of argv, longer than any command line"
    )
