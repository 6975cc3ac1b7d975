from __future__ import annotations

import sys
from pathlib import Path

import every_module  # noqa: F401
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "plugin"))

from plugin_project import Project, isolate


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(monkeypatch)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)
