from __future__ import annotations

import shutil
import tomllib

import every_module  # noqa: F401
import pytest
from plugin_project import EXAMPLE, Project, isolate


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(monkeypatch)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


@pytest.fixture
def example(pytester: pytest.Pytester) -> Project:
    """Give a copy of the example project, against the recorded Megatron."""
    project = Project(pytester)
    shutil.rmtree(project.root / "tests")
    shutil.rmtree(project.root / "scripts")
    shutil.copytree(
        EXAMPLE,
        project.root,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns(".*", "__pycache__"),
    )
    for path in (project.root / "tests").glob("test_*.py"):
        if path.name != "test_contracts.py":
            path.unlink()  # what else the example shows has tests of its own
    document = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())
    project.settings = {**document["tool"]["pytest"], "rope_contract_surface": "0.19.2"}
    del project.settings["strict"]
    project.ini()
    return project
