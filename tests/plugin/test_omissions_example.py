"""The example project: every model is guarded, and a contract that is taken away is missed."""

from __future__ import annotations

import ast
import shutil
import tomllib
from typing import TYPE_CHECKING

import pytest
from plugin_project import EXAMPLE, REPORT, Project, Run

import pytest_ropecontract.omission.drawing
import pytest_ropecontract.omission.search  # noqa: F401  # kept for the runs in this process

if TYPE_CHECKING:
    from collections.abc import Iterable

STRICT = "--rope-contract-strict"
YARN = {
    "test_kimi_k2": ["kimi-k2"],
    "test_kimi_k2_thinking": ["kimi-k2-thinking"],
    "test_kimi_k25": ["kimi-k25", "kimi-k25_2layer"],
    "test_deepseek_v3": ["deepseek-v3"],
}
FLASH = {
    "glm4.7-flash": "test_glm47_flash_says_its_rope_type",
    "joyai-llm-flash": "test_joyai_llm_flash",
}
BOTH_FLASH = "test_flash_models_are_plain"
GLM5 = ["glm5-744B-A40B", "glm5-744B-A40B_4layer", "glm5-744B-A40B_lora"]


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

    def without_mark(self, function: str, place: int = 0) -> None:
        text = self.contracts.read_text()
        (node,) = (
            one
            for one in ast.parse(text).body
            if isinstance(one, ast.FunctionDef) and one.name == function
        )
        marks = [
            one
            for one in node.decorator_list
            if isinstance(one, ast.Call) and ast.unparse(one.func) == "rope_expect"
        ]
        lines = text.splitlines(keepends=True)
        del lines[marks[place].lineno - 1 : marks[place].end_lineno]
        self.contracts.write_text("".join(lines))

    def without_checkpoint(self, model: str) -> None:
        (self.root / f"tests/checkpoints/{model}.json").unlink()

    def search(self, models: Iterable[str], *args: str) -> dict[str, list[str]]:
        """Return what ``test_omissions`` of some models say, a line each, none where they pass."""
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
            model: [
                line.removeprefix(f"unguarded-omission: {model} without ")
                for line in run.text(item).splitlines()
                if line.startswith("unguarded-omission: ")
            ]
            if outcomes[item] == "failed"
            else []
            for model, item in items.items()
        }


@pytest.fixture
def copied(pytester: pytest.Pytester) -> Example:
    return Example(pytester)


def test_no_flag_of_any_model_is_unguarded(copied: Example) -> None:
    run = copied.run_without("--rope-contract", STRICT, "-k", "test_omissions", REPORT)

    assert set(run.outcomes.values()) == {"passed"}
    for model in run.report["models"]:
        losses = model["omissions"].values()
        assert "unguarded" not in losses
        assert "guarded" in losses


@pytest.mark.parametrize("function", YARN)
def test_mark_of_a_yarn_model_is_missed(copied: Example, function: str) -> None:
    """Its checkpoint notices every value that changes, and not that YaRN is no longer said."""
    copied.without_mark(function)

    for model, lines in copied.search(YARN[function]).items():
        assert len(lines) == 1, model
        assert lines[0].startswith("--rope-type yarn becomes yarn (factor ")
        assert lines[0].endswith(") and no contract notices")
    for lines in copied.search(YARN[function], STRICT).values():
        lost = [line.partition(" leaves ")[0] for line in lines if " leaves " in line]
        assert "--qk-pos-emb-head-dim 64" in lost


@pytest.mark.parametrize("model", ["kimi-k2", "kimi-k2-thinking", "kimi-k25", "deepseek-v3"])
def test_checkpoint_of_a_yarn_model_repeats_its_mark(copied: Example, model: str) -> None:
    """The mark states every field, declared: nothing is unguarded without the checkpoint."""
    copied.without_checkpoint(model)

    assert copied.search([model], STRICT) == {model: []}


@pytest.mark.parametrize("model", ["kimi-k2", "deepseek-v3"])
def test_mark_and_checkpoint_of_a_yarn_model_are_missed(copied: Example, model: str) -> None:
    copied.without_checkpoint(model)
    copied.without_mark(next(name for name, models in YARN.items() if model in models))

    assert copied.search([model])[model][0].startswith("--rope-type yarn becomes yarn")
    texts = copied.search([model], STRICT)[model]
    assert any(line.startswith("--beta-fast ") for line in texts)
    assert any(line.startswith("--rotary-base ") for line in texts)


@pytest.mark.parametrize("model", FLASH)
def test_each_of_three_contracts_alone_keeps_a_flash_model_from_yarn(
    copied: Example, model: str
) -> None:
    """Two marks and the checkpoint say ``rope``: the run fails when the last of them is gone."""
    copied.without_mark(BOTH_FLASH)
    assert copied.search([model]) == {model: []}
    copied.without_mark(FLASH[model])
    assert copied.search([model]) == {model: []}  # by the checkpoint
    copied.without_checkpoint(model)
    assert copied.search([model])[model] == [
        (
            "--rope-type rope becomes yarn (factor 1.0, beta_fast 32, beta_slow 1) and no contract "
            "notices"
        )
    ]


@pytest.mark.parametrize("model", FLASH)
def test_each_mark_alone_keeps_a_flash_model_from_yarn(copied: Example, model: str) -> None:
    copied.without_checkpoint(model)
    copied.without_mark(FLASH[model])
    assert copied.search([model]) == {model: []}  # by the mark of both models

    copied.contracts.write_text((EXAMPLE / "tests/test_contracts.py").read_text())
    copied.without_mark(BOTH_FLASH)
    assert copied.search([model]) == {model: []}  # by its own mark


@pytest.mark.parametrize("model", FLASH)
def test_mark_of_both_flash_models_is_missed_where_it_is_strict(
    copied: Example, model: str
) -> None:
    copied.without_mark(BOTH_FLASH)

    lost = [line.partition(" leaves ")[0] for line in copied.search([model], STRICT)[model]]

    assert {"--qk-pos-emb-head-dim 64", "--rotary-percent 1.0"} <= set(lost)


@pytest.mark.parametrize("model", FLASH)
def test_base_of_a_flash_model_is_missed_when_mark_and_checkpoint_are_gone(
    copied: Example, model: str
) -> None:
    """Each of the two states the base."""
    copied.without_mark(FLASH[model])
    assert copied.search([model], STRICT) == {model: []}
    copied.without_checkpoint(model)

    (line,) = copied.search([model], STRICT)[model]

    assert line.startswith("--rotary-base ")
    assert " has rotary_base 10000 instead of " in line


def test_marks_of_the_glm5_family_are_missed_where_it_is_strict(copied: Example) -> None:
    """They build YaRN without saying so already, so that no loss makes them: all are notes.

    The checkpoint guards nothing, because what it finds is allowed.
    """
    copied.without_checkpoint(GLM5[0])
    assert copied.search(GLM5, STRICT) == {model: [] for model in GLM5}
    copied.without_mark("test_glm5_is_plain_in_numbers", 1)
    for lines in copied.search(GLM5, STRICT).values():
        assert [line.split()[0] for line in lines] == ["--qk-pos-emb-head-dim"]
    copied.without_mark("test_glm5_is_plain_in_numbers", 0)

    for lines in copied.search(GLM5, STRICT).values():
        lost = {line.split()[0] for line in lines}
        assert {"--qk-pos-emb-head-dim", "--rotary-base"} <= lost
    assert copied.search(GLM5) == {model: [] for model in GLM5}


def test_documented_properties_hold(copied: Example) -> None:
    run = copied.run_without("tests/test_omissions.py")

    assert set(run.outcomes.values()) == {"passed"}
    assert len(run.outcomes) == 4
