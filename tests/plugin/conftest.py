from __future__ import annotations

import importlib
import pkgutil
import shutil
import sys
import tomllib

import pytest
from plugin_project import EXAMPLE, Project

import pytest_ropecontract

# In a worker of pytest-xdist, syrupy takes the runs inside for those of workers, too.
WORKER = "PYTEST_XDIST_WORKER"


def _import_everything() -> None:
    """Import what is imported lazily: a run in this process drops what it imports itself."""
    for module in pkgutil.walk_packages(
        pytest_ropecontract.__path__, f"{pytest_ropecontract.__name__}."
    ):
        if "recording" not in module.name:
            importlib.import_module(module.name)


_import_everything()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing of this run's own settings reach the runs inside."""
    for name in ("ROPE_CONTRACT_SURFACE", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "CI", WORKER):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    # A test file that is written again within a second would be taken from its bytecode.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


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
