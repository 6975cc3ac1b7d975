from __future__ import annotations

import linecache
import os

import pytest

from pytest_ropecontract.definitions import DefinitionError
from pytest_ropecontract.definitions.failure import failure

FILE = "/models/kimi-k2.py"
MEND = "mend the line above; it runs here without a launcher around it"


@pytest.fixture
def failing(monkeypatch):
    """Give what runs a script that fails, and describes how."""

    def run(script: str, doing: str = "model_args()", **names: object) -> DefinitionError:
        entry = (len(script), None, script.splitlines(keepends=True), FILE)
        monkeypatch.setitem(linecache.cache, FILE, entry)
        try:
            exec(compile(script, FILE, "exec"), names)
        except BaseException as error:  # noqa: BLE001
            return failure(doing, error, FILE)
        raise AssertionError(script)

    return run


def kind_in(module: str) -> type[Exception]:
    return type("NoGpu", (Exception,), {"__module__": module})


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("builtins", "NoGpu"),
        ("__main__", "NoGpu"),
        ("rope_definition_kimi_k2", "NoGpu"),
        ("torch.cuda", "torch.cuda.NoGpu"),
    ],
)
def test_class_of_a_library_is_named_with_its_module(failing, module, name):
    error = failing("raise NoGpu('none')", NoGpu=kind_in(module))
    assert error.headline == f"model_args() raised {name}: none"


@pytest.mark.parametrize("claimed", [DefinitionError, SystemExit, ModuleNotFoundError])
def test_class_that_an_exception_claims_to_have_does_not_count(failing, claimed):
    class LiarError(Exception):
        __class__ = property(lambda _: claimed)

    LiarError.__module__ = "__main__"
    LiarError.__qualname__ = "LiarError"
    error = failing("raise told('no')", told=LiarError)
    assert error.headline == "model_args() raised LiarError: no"
    assert error.remedy == MEND


def test_parts_of_an_error_that_says_what_is_wrong_are_kept(failing):
    told = DefinitionError("no layers", origin="base.py:7", details=["why"], remedy="add some")
    error = failing("raise told", told=told)
    assert str(error) == "no layers\n  at: base.py:7\n  why\n  remedy: add some"


def test_error_that_says_what_is_wrong_gets_the_line_that_raised_it(failing):
    error = failing("\nraise told", told=DefinitionError("no layers"))
    assert (error.headline, error.origin) == ("no layers", f"{FILE}:2")


def test_error_that_says_nothing_is_described_as_any_other(failing):
    error = failing("raise told", told=DefinitionError(" "))
    assert error.headline.startswith("model_args() raised pytest_ropecontract.")


@pytest.mark.parametrize(
    ("code", "shown"),
    [("None", ""), ("0", "0"), ("'no GPU'", "'no GPU'"), ("'a\\nb'", "'a\\nb'")],
    ids=["none", "zero", "text", "lines"],
)
def test_exit_is_told_with_its_status_and_its_calls(failing, code, shown):
    error = failing(f"def leave():\n    raise SystemExit({code})\nleave()", doing="loading")
    assert error.headline == f"loading called sys.exit({shown})"
    assert error.origin == f"{FILE}:2"
    assert error.details == (
        f"{FILE}:3 in <module>: leave()",
        f"{FILE}:2 in leave: raise SystemExit({code})",
    )


def test_origin_is_the_innermost_of_its_own_lines(failing):
    error = failing("import textwrap\n\ntextwrap.dedent(61)")
    assert error.origin == f"{FILE}:3"
    assert error.details[0] == f"{FILE}:3 in <module>: textwrap.dedent(61)"
    assert "textwrap.py:" in error.details[1]


def test_without_a_line_of_its_own_the_file_is_the_origin():
    found = failure("loading", ValueError(), FILE)
    assert (found.headline, found.origin) == ("loading raised ValueError", FILE)
    assert found.details == ()


def test_code_without_line_numbers_shows_no_line(monkeypatch):
    monkeypatch.setitem(linecache.cache, FILE, (1, None, ["'first line'\n"], FILE))
    code = compile("raise ValueError", FILE, "exec").replace(co_linetable=b"")
    try:
        exec(code, {})
    except ValueError as error:
        found = failure("loading", error, FILE)
    assert found.details == (f"{FILE}:None in <module>: ",)


@pytest.mark.parametrize(
    ("depth", "first"),
    [(6, f"{FILE}:4 in <module>: count(6)"), (7, "... 1 calls before these")],
    ids=["eight", "nine"],
)
def test_of_many_calls_the_last_eight_are_shown(failing, depth, first):
    script = (
        "def count(left):\n    if left: count(left - 1)\n    else: raise ValueError\ncount({})\n"
    )
    details = failing(script.format(depth)).details
    assert details[0] == first
    assert [line for line in details if line.startswith(FILE)] == list(details[-8:])


CAUSES = {
    "on-purpose": (
        "try: {}['n']\nexcept KeyError as error: raise ValueError from error",
        ("caused by KeyError: 'n' (line 1)",),
    ),
    "while-handling": (
        "try: {}['n']\nexcept KeyError: raise ValueError",
        ("caused by KeyError: 'n' (line 1)",),
    ),
    "suppressed": ("try: {}['n']\nexcept KeyError: raise ValueError from None", ()),
    "innermost-line": (
        "def a(): {}['n']\ndef b(): a()\ntry:\n  b()\nexcept KeyError: raise ValueError",
        ("caused by KeyError: 'n' (line 1)",),
    ),
    "never-raised": ("raise ValueError from KeyError('n')", ("caused by KeyError: 'n'",)),
    "causes-of-causes": (
        "try:\n  try: 1 / 0\n  except ArithmeticError: {}['n']\nexcept KeyError: raise ValueError",
        (
            "caused by KeyError: 'n' (line 3)",
            "caused by ZeroDivisionError: division by zero (line 2)",
        ),
    ),
}


@pytest.mark.parametrize(("script", "causes"), CAUSES.values(), ids=CAUSES)
def test_what_caused_the_error_is_told(failing, script, causes):
    assert failing(script).details[1:] == causes


@pytest.mark.parametrize(
    ("notes", "shown"),
    [
        (["one", "two\nthree"], ("one", "two", "three")),
        (("one",), ("one",)),
        (["one", 2], ("one",)),
        ("one", ()),
    ],
    ids=["list", "tuple", "number", "text"],
)
def test_notes_are_told_where_they_are_some(failing, notes, shown):
    error = ValueError()
    error.__notes__ = notes
    assert failing("raise error", error=error).details[1:] == shown


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("layers", "install layers, or add the directory that holds it"),
        ("layers.deep", "install layers, or add the directory that holds it"),
        ("", MEND),
        (None, MEND),
        (61, MEND),
    ],
)
def test_remedy_of_a_missing_module_names_what_to_install(failing, name, remedy):
    error = ModuleNotFoundError("nowhere", name=name)
    assert failing("raise error", error=error).remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("script", "remedy"),
    [
        ("import os\nos.environ['ROPE_TEST_NOT_SET']", "set the environment variable ROPE_TEST_"),
        ("{}['ROPE_TEST_NOT_SET']", MEND),
        ("import os\nos.environ[61]", MEND),
        ("undefined_name", MEND),
    ],
    ids=["environment", "other-key", "no-name", "other-name"],
)
def test_remedy_names_the_environment_variable_that_is_missing(failing, script, remedy):
    assert failing(script).remedy.startswith(remedy)


def test_lookup_in_the_environment_is_no_call_of_the_script(failing, monkeypatch):
    monkeypatch.delenv("ROPE_TEST_NOT_SET", raising=False)
    error = failing("environ['ROPE_TEST_NOT_SET']", environ=os.environ)
    assert error.details == (f"{FILE}:1 in <module>: environ['ROPE_TEST_NOT_SET']",)
