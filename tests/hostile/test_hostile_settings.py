"""Settings, options and hooks that no run can use: one usage error, and no item runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hostile_settings import FILES, HEAD, HOOKS, INI, OPTIONS
from one_line import first_line
from plugin_project import PLAIN, Project

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def plain(project: Project) -> Project:
    """Give a project with one good model, and modules that do harm."""
    project.write("scripts/models/good.txt", PLAIN)
    (project.root / "folder.json").mkdir()
    for name, text in FILES.items():
        project.write(name, text)
    project.ini(rope_contract_models=["scripts/models/*"], rope_contract_pythonpath=["."])
    return project


def refusal(start: Callable[[], pytest.Config]) -> str:
    """Return the first line of why a run cannot begin; empty where it can."""
    try:
        config = start()
    except pytest.UsageError as error:
        return first_line("\n".join(map(str, error.args)))
    config._ensure_unconfigure()
    return ""


@pytest.mark.parametrize("name", INI)
def test_ini(plain: Project, name: str) -> None:
    settings, said = INI[name]
    plain.ini(**{f"rope_contract_{key}": value for key, value in settings.items()})

    line = refusal(lambda: plain.pytester.parseconfigure("--rope-contract"))

    assert said in line
    assert bool(line) == bool(said)


@pytest.mark.parametrize("name", OPTIONS)
def test_option(plain: Project, name: str) -> None:
    arguments, said = OPTIONS[name]

    line = refusal(lambda: plain.pytester.parseconfigure("--rope-contract", *arguments))

    assert said in line


@pytest.mark.parametrize("name", HOOKS)
def test_hook(plain: Project, name: str) -> None:
    code, said = HOOKS[name]
    plain.write("conftest.py", HEAD + code)

    line = refusal(lambda: plain.pytester.parseconfigure("--rope-contract", str(plain.root)))

    assert said in line


def test_a_usage_error_is_all_that_a_run_says(plain: Project) -> None:
    plain.ini(rope_contract_defaults=["raises:f"])

    lines = plain.run().usage_error

    assert lines[0] == (
        "ERROR: rope_contract_defaults: importing 'raises' raised E: <its text cannot be made>"
    )
