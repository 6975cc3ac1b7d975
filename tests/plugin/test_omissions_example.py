"""The example project: every model is guarded, and a contract that is taken away is missed."""

from __future__ import annotations

import ast
import fnmatch
import re
import shutil
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from plugin_project import EXAMPLE, REPORT, Project, Run

import pytest_ropecontract.omission.drawing
import pytest_ropecontract.omission.search  # noqa: F401  # kept for the runs in this process
from pytest_ropecontract.contracts.expectation import POSITIONAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FAMILIES = ("kimi-*", "glm*", "joyai-*", "deepseek-*")
# Only what is tried in any case: nothing here depends on what is drawn.
SYSTEMATIC = "--rope-contract-examples=0"


@dataclass(frozen=True)
class Mark:
    """A ``rope_expect`` of the example project.

    Attributes:
        function: The test that it is on.
        line: The first line of it, from 1.
        stop: The last line of it.
        models: The models that it names.
        fields: What it states, by field.
    """

    function: str
    line: int
    stop: int
    models: tuple[str, ...]
    fields: dict[str, Any]


def marks() -> Iterator[Mark]:
    """Yield the marks that name a model of one of the families."""
    known = [path.stem for path in (EXAMPLE / "scripts/models").iterdir() if path.is_file()]
    for node in ast.parse((EXAMPLE / "tests/test_contracts.py").read_text()).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        calls = [one for one in node.decorator_list if isinstance(one, ast.Call)]
        parametrized = [
            name
            for one in calls
            if ast.unparse(one.func) == "pytest.mark.parametrize"
            and ast.literal_eval(one.args[0]) == "rope_model"
            for name in ast.literal_eval(one.args[1])
        ]
        for one in calls:
            if ast.unparse(one.func) != "rope_expect":
                continue
            given = {str(key.arg): ast.literal_eval(key.value) for key in one.keywords}
            globs = given.pop("models", parametrized)
            models = tuple(
                sorted(name for name in known if any(fnmatch.fnmatch(name, glob) for glob in globs))
            )
            given.pop("declared", None)
            fields = dict(zip(POSITIONAL, map(ast.literal_eval, one.args), strict=False)) | given
            if any(fnmatch.fnmatch(models[0], family) for family in FAMILIES):
                yield Mark(node.name, one.lineno, one.end_lineno or one.lineno, models, fields)


MARKS = list(marks())
CHECKPOINTS = sorted(
    path.stem
    for path in (EXAMPLE / "tests/checkpoints").iterdir()
    if any(fnmatch.fnmatch(path.stem, family) for family in FAMILIES)
)
YARN = ("test_kimi_k2", "test_kimi_k2_thinking", "test_kimi_k25", "test_deepseek_v3")
# What it finds is allowed, so that it guards nothing; that it is gone the allowance notices.
ALLOWED = "glm5-744B-A40B"


class Example(Project):
    """A copy of the example project, from which contracts can be taken away."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        super().__init__(pytester)
        for name in ("tests", "scripts"):
            shutil.rmtree(self.root / name)
        hidden = shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(EXAMPLE, self.root, dirs_exist_ok=True, ignore=hidden)
        document = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
        self.settings = {**document["tool"]["pytest"], "rope_contract_surface": "0.19.2"}
        del self.settings["strict"]
        self.ini()
        self.contracts = self.root / "tests/test_contracts.py"

    def without(self, mark: Mark) -> None:
        lines = self.contracts.read_text().splitlines(keepends=True)
        # A decorator begins with its at sign, on the same line.
        del lines[mark.line - 1 : mark.stop]
        self.contracts.write_text("".join(lines))

    def search(self, models: Iterable[str], *args: str) -> dict[str, str]:
        """Return what ``test_omissions`` of some models say, nothing where they pass."""
        items = {m: f"scripts/models/{m}.py::test_omissions[{m}]" for m in models}
        run = Run(
            self,
            self.pytester.runpytest_inprocess(
                "--rope-contract", "-p", "no:randomly", *items.values(), *args
            ),
        )
        outcomes = run.outcomes
        assert set(outcomes) == set(items.values())
        return {
            model: run.text(item) if outcomes[item] == "failed" else ""
            for model, item in items.items()
        }


@pytest.fixture
def copied(pytester: pytest.Pytester) -> Example:
    return Example(pytester)


def test_no_flag_of_any_model_is_unguarded(copied: Example) -> None:
    run = copied.run_without("--rope-contract", "-k", "test_omissions", REPORT)

    assert set(run.outcomes.values()) == {"passed"}
    for model in run.report["models"]:
        losses = model["omissions"].values()
        assert "unguarded" not in losses
        assert "guarded" in losses


def printed(text: str) -> list[str]:
    """Return the decorators that a failure prints."""
    return list(dict.fromkeys(re.findall(r"@rope_expect\(.*\)", text)))


def stated(line: str) -> dict[str, Any]:
    """Return what a decorator states, by field."""
    (call,) = (one for one in ast.walk(ast.parse(line[1:])) if isinstance(one, ast.Call))
    fields = dict(zip(POSITIONAL, map(ast.literal_eval, call.args), strict=False))
    given = {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}
    del given["models"]
    given.pop("declared", None)
    return fields | given


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: f"{mark.function}-{mark.line}")
def test_run_fails_without_any_one_mark_and_names_it(copied: Example, mark: Mark) -> None:
    copied.without(mark)

    texts = copied.search(mark.models, SYSTEMATIC)

    for model, text in texts.items():
        assert text.startswith(f"unguarded-omission: {model} without --")
        named = [stated(line) for line in printed(text)]
        # The contract that is asked for is the one that was there, or what matters of it.
        assert named
        assert all(fields.items() <= mark.fields.items() for fields in named), (named, mark)
    lines = [line for text in texts.values() for line in printed(text)]
    copied.test(
        "\n".join(f"{line}\ndef test_{i}(): pass" for i, line in enumerate(lines)), "test_back"
    )
    assert set(copied.search(mark.models, SYSTEMATIC).values()) == {""}


@pytest.mark.parametrize("model", [name for name in CHECKPOINTS if name != ALLOWED])
def test_run_fails_without_any_one_checkpoint_and_names_it(copied: Example, model: str) -> None:
    path = copied.root / f"tests/checkpoints/{model}.json"
    content = path.read_bytes()
    path.unlink()

    text = copied.search([model], SYSTEMATIC)[model]

    assert text.startswith(f"unguarded-omission: {model} without --")
    assert f"or add the checkpoint's config.json as tests/checkpoints/{model}.json" in text
    path.write_bytes(content)
    assert copied.search([model], SYSTEMATIC) == {model: ""}


def test_run_fails_without_the_checkpoint_that_is_allowed_to_differ(copied: Example) -> None:
    (copied.root / f"tests/checkpoints/{ALLOWED}.json").unlink()
    item = "pyproject.toml::test_allowances"

    run = copied.run_without("--rope-contract", item)

    assert run.outcomes[item] == "failed"
    assert run.line(item).startswith(f"rope_contract_allow: '{ALLOWED} checkpoint ")


@pytest.mark.parametrize("function", YARN)
def test_mark_that_says_yarn_is_missed_also_where_it_is_not_strict(
    copied: Example, function: str
) -> None:
    """No number tells whether YaRN is still said: only the mark does."""
    copied.ini(rope_contract_strict=False)
    (mark,) = (one for one in MARKS if one.function == function)
    copied.without(mark)

    for model, text in copied.search(mark.models, SYSTEMATIC).items():
        headlines = [line for line in text.splitlines() if line.startswith("unguarded-omission: ")]
        assert len(headlines) == 1
        assert headlines[0].startswith(
            f"unguarded-omission: {model} without --rope-type yarn becomes yarn (factor "
        )


def test_documented_properties_hold(copied: Example) -> None:
    run = copied.run_without("tests/test_omissions.py")

    assert set(run.outcomes.values()) == {"passed"}
    assert len(run.outcomes) == 4
