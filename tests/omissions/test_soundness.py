"""A loss is guarded exactly where the contracts fail once a definition is changed so."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from definitions import CASES, FRAMEWORK
from planting import guards, planted

from pytest_ropecontract.contracts import allowances
from pytest_ropecontract.definitions import Registry
from pytest_ropecontract.megatron.pipeline import PipelineSettings
from pytest_ropecontract.omission.units import units_of
from pytest_ropecontract.project import Project, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.contracts.expectation import Expectation

EXAMPLE = Path(__file__).parents[2] / "example_project"
ROPEFRAME = PipelineSettings(
    arguments=("ropeframe.arguments:add_rope_arguments",),
    defaults=("ropeframe.arguments:set_default_megatron_args",),
    pythonpath=(str(EXAMPLE),),
)
INI = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["tool"]["pytest"]
ALLOWED = allowances.read(INI["rope_contract_allow"])
PUBLISHED = sorted(path.stem for path in (EXAMPLE / "tests/checkpoints").glob("*.json"))


def project_of(
    root: Path, pipeline: PipelineSettings, model: str, argv: Sequence[str], strict: bool = False
) -> Project:
    registry = Registry(root)
    registry.add(model, list(argv))
    settings = Settings(root, "0.19.2", pipeline, allowances=ALLOWED, strict=strict)
    return Project(settings, registry)


def fails(project: Project, model: str, expectations: Sequence[Expectation]) -> bool:
    """Return whether a contract of a model fails, as its items find out."""
    found = list(project.check_checkpoints(model))
    for one in expectations:
        found.extend(project.check_expectation(model, one))
    return any(one.status == "fail" for one in found)


def assert_sound(
    root: Path,
    pipeline: PipelineSettings,
    model: str,
    argv: Sequence[str],
    expectations: Sequence[Expectation],
) -> set[str]:
    """Change a definition by the loss of every flag, and return which outcomes there were."""
    project = project_of(root, pipeline, model, argv)
    assert not fails(project, model, expectations)
    result = project.search_omissions(model, expectations, 0, None)
    assert result is not None
    whole = project.resolve(model)
    units = units_of(project.pipeline, argv)
    for index, one in enumerate(units.occurrences):
        changed = project_of(root, pipeline, model, units.remaining({index}))
        built = changed.resolve(model)
        loss = result.losses[one.text]
        assert (loss == "refused") == (built.rope is None), one
        if loss == "guarded":
            assert fails(changed, model, expectations), one
        elif loss != "refused":
            assert not fails(changed, model, expectations), one
        if loss == "harmless":
            assert built.rope == whole.rope
    return set(result.losses.values())


@pytest.mark.parametrize("model", PUBLISHED)
def test_checkpoint_alone(model: str) -> None:
    definition = Registry(EXAMPLE, pythonpath=[EXAMPLE])
    suffix = "py" if (EXAMPLE / f"scripts/models/{model}.py").exists() else "sh"
    definition.add_file(EXAMPLE / f"scripts/models/{model}.{suffix}")

    found = assert_sound(EXAMPLE, ROPEFRAME, model, definition[model].expand().argv, [])

    # What the checkpoint of GLM-5 finds is allowed, whatever it is.
    assert ("guarded" in found) == (model != "glm5-744B-A40B")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_expectations(case, tmp_path: Path) -> None:
    found = assert_sound(tmp_path, case.settings, "m", case.argv, guards(case))

    assert "unguarded" not in found


@pytest.mark.parametrize("seed", range(len(CASES)))
def test_expectations_of_which_one_is_missing(seed: int, tmp_path: Path) -> None:
    plant = planted(seed)

    assert_sound(tmp_path, plant.case.settings, "m", plant.argv, plant.kept)


def test_strict_contracts_notice_what_they_only_note(tmp_path: Path) -> None:
    case = CASES[0]
    project = project_of(tmp_path, FRAMEWORK, "m", case.argv, strict=True)
    bare = project.search_omissions("m", [], 0, None)

    assert bare is not None
    assert all(one.status == "fail" for one in bare.findings)
    whole = project.search_omissions("m", guards(case), 0, None)
    assert whole is not None
    assert not whole.findings
