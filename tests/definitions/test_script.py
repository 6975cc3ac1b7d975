"""A script as it is loaded in this process, without the process that runs it for a definition."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract.definitions import DefinitionError
from pytest_ropecontract.definitions.script import compiled, expand_script

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = "def model_args():\n    return '--a'\n"


@pytest.fixture
def script(tmp_path):
    """Give what writes a script."""

    def write(content: str | bytes, file: str = "kimi-k2.py") -> Path:
        path = tmp_path / file
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def error_of(script):
    """Give what expands a script that fails."""

    def fail(content: str | bytes, **overrides: object) -> DefinitionError:
        with pytest.raises(DefinitionError) as caught:
            expand_script(script(content), overrides)
        return caught.value

    return fail


def test_overrides_reach_the_function(script):
    path = script("def model_args(n):\n    return ['--n', str(n)]\n")
    assert expand_script(path, {"n": 2}) == ("--n", "2")


def test_module_knows_its_file_and_that_it_is_no_package(script):
    path = script("def model_args():\n    return [__file__, __name__, __package__]\n", "a-b.c.py")
    assert expand_script(path, {}) == (str(path), "rope_definition_a_b_c", "")


def test_module_can_be_looked_up_while_it_runs_and_not_afterwards(script):
    path = script(
        "import sys\nLOADING = sys.modules[__name__].__file__\n"
        "def model_args():\n    return [LOADING, sys.modules[__name__].__file__]\n"
    )
    before = dict(sys.modules)
    assert expand_script(path, {}) == (str(path), str(path))
    assert "rope_definition_kimi_k2" not in sys.modules
    assert dict(sys.modules) == before


@pytest.mark.parametrize("content", ["1 / 0\n", PLAIN.replace("'--a'", "1 / 0")])
def test_module_that_was_there_is_put_back_after_a_failure(script, content, monkeypatch):
    monkeypatch.setitem(sys.modules, "rope_definition_kimi_k2", sys)
    with pytest.raises(DefinitionError):
        expand_script(script(content), {})
    assert sys.modules["rope_definition_kimi_k2"] is sys


def test_script_that_removes_its_own_module(script):
    content = "import sys\ndel sys.modules[__name__]\n" + PLAIN
    assert expand_script(script(content), {}) == ("--a",)


@pytest.mark.parametrize("content", ["{}\n", "def model_args():\n    {}\n"], ids=["load", "call"])
def test_what_is_meant_for_the_runner_passes_unless_it_is_asked_for(script, content):
    path = script(content.format("raise KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        expand_script(path, {})
    with pytest.raises(DefinitionError, match="raised KeyboardInterrupt"):
        expand_script(path, {}, caught=BaseException)


@pytest.mark.parametrize("content", ["{}\n", "def model_args():\n    {}\n"], ids=["load", "call"])
def test_exit_is_a_failure(error_of, content):
    error = error_of(content.format("raise SystemExit(2)"))
    assert error.headline.endswith(" called sys.exit(2)")


def test_failure_at_loading_has_the_line_of_the_script(error_of, tmp_path):
    error = error_of("\n1 / 0\n")
    assert error.headline == ("loading the script raised ZeroDivisionError: division by zero")
    assert error.origin == f"{tmp_path / 'kimi-k2.py'}:2"


def test_failure_of_the_function_has_the_line_of_the_script(error_of, tmp_path):
    error = error_of("def model_args(n):\n    return {}[n]\n", n=2)
    assert error.headline == "model_args(n=2) raised KeyError: 2"
    assert error.origin == f"{tmp_path / 'kimi-k2.py'}:2"


def test_function_without_code_of_its_own_is_placed_at_the_script(error_of, tmp_path):
    error = error_of("model_args = dict\n")
    assert error.headline == (
        "model_args() returned a dict, expected a string or a list of strings"
    )
    assert error.origin == str(tmp_path / "kimi-k2.py")


LOADING = (
    "from pytest_ropecontract.definitions import load_sibling_model_args as load\n"
    "def model_args():\n    return load(__file__, '{}')\n"
)


def test_circle_is_told_from_where_it_begins(script):
    script(LOADING.format("b"), "a.py")
    script(LOADING.format("c"), "b.py")
    script(LOADING.format("b"), "c.py")
    with pytest.raises(DefinitionError) as caught:
        expand_script(script(LOADING.format("a"), "start.py"), {})
    assert caught.value.headline == "sibling cycle: b -> c -> b"


def test_script_may_be_expanded_again_after_a_circle(script):
    path = script(LOADING.format("kimi-k2"))
    for _ in range(2):
        with pytest.raises(DefinitionError, match=r"^sibling cycle: kimi-k2 -> kimi-k2\n"):
            expand_script(path, {})


SHAPES = {
    "nothing": (b"", "the script is empty", None),
    "blank": (b" \n\t\n", "the script is empty", None),
    "syntax": (b"a = 1\ndef model_args(:\n", "the script has a syntax error: invalid syntax", 2),
    "future": (
        b"a = 1\nfrom __future__ import annotations\n",
        (
            "the script has a syntax error: "
            "from __future__ imports must occur at the beginning of the file"
        ),
        2,
    ),
    "latin": (b"a = 1\n# \xe9\n", "the script is not UTF-8: byte 0xe9 in line 2", 2),
    "latin-declared-too-late": (
        b"\n\n# coding: latin-1\n# \xe9\n",
        "the script is not UTF-8: byte 0xe9 in line 4",
        4,
    ),
    "latin-declared-in-code": (
        b"a = 'coding: latin-1'\n# \xe9\n",
        "the script is not UTF-8: byte 0xe9 in line 2",
        2,
    ),
    "nul": (b"a = 1\nb = '\0'\n\0\n", "the script contains a NUL byte in line 2", 2),
    "nul-behind-a-blank-line": (b"\n\0\n", "the script contains a NUL byte in line 2", 2),
    "nul-at-once": (b"\0\n", "the script contains a NUL byte in line 1", 1),
    "nul-in-latin": (b"# coding: latin-1\n\0", "the script contains a NUL byte in line 2", 2),
    "value": (b"model_args = '--a'\n", "model_args is a str, not a function", None),
    "expansion": (b"model_args = OSError()\n", "model_args is an OSError, not a function", None),
    "none": (b"model_args = None\n", "model_args is a NoneType, not a function", None),
    "no-function": (b"a = 1\n", "the script defines no model_args()", None),
}


@pytest.mark.parametrize(("content", "headline", "line"), SHAPES.values(), ids=SHAPES)
def test_file_that_is_no_definition(error_of, tmp_path, content, headline, line):
    error = error_of(content)
    assert error.headline == headline
    place = str(tmp_path / "kimi-k2.py")
    assert error.origin == (place if line is None else f"{place}:{line}")


@pytest.mark.parametrize("first", ["# coding: latin-1\n", "\n# vim: set fileencoding=latin-1 :\n"])
def test_encoding_is_declared_in_one_of_the_first_two_lines(script, first):
    path = script(f"{first}def model_args():\n    return ['é']\n".encode("latin-1"))
    assert expand_script(path, {}) == ("é",)


def test_unknown_encoding_is_a_syntax_error_without_a_line(error_of, tmp_path):
    error = error_of(b"# coding: nothing\n" + PLAIN.encode())
    assert error.headline == "the script has a syntax error: unknown encoding: nothing"
    assert error.origin == str(tmp_path / "kimi-k2.py")
    assert error.details == ()


def test_line_of_a_syntax_error_is_shown(error_of):
    assert error_of("\nif a = 1:\n    pass\n").details == ("if a = 1:",)


def test_script_does_not_inherit_what_is_switched_on_here(script):
    """Annotations are postponed in the package's own modules."""
    path = script("def f(a: int): ...\ndef model_args():\n    return [repr(f.__annotations__)]\n")
    assert expand_script(path, {}) == ("{'a': <class 'int'>}",)


def test_code_carries_the_file(script):
    path = script(PLAIN)
    assert compiled(path).co_filename == str(path)


@pytest.mark.parametrize(
    ("content", "close"),
    [
        ("a = 1\n", ""),
        ("model_arg = 1\n", ""),
        ("def other(): ...\n", ""),
        ("def model_arg(): ...\n", "; did you mean 'model_arg'?"),
    ],
    ids=["none", "value", "unlike", "alike"],
)
def test_function_that_is_called_alike_is_suggested(error_of, content, close):
    expected = "define model_args(**overrides) that returns the flags" + close
    assert error_of(content).remedy == expected


def test_script_that_is_nested_too_deeply_is_told_with_its_file(error_of, tmp_path):
    error = error_of("a = " + "-" * 100_000 + "1\n")
    kinds = r"the script cannot be compiled: (MemoryError|RecursionError)(: .*)?"
    assert re.fullmatch(kinds, error.headline)
    assert error.remedy == "split expressions that are nested too deeply"
    assert error.origin == str(tmp_path / "kimi-k2.py")


def test_folder_is_no_script(tmp_path):
    with pytest.raises(DefinitionError) as caught:
        compiled(tmp_path)
    assert caught.value.headline == "the path is a folder, not a script"
