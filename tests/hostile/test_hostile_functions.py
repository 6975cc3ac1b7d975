"""Functions and sources that a hook registers: one line each, and this process is as before."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pytest
from hostile_functions import FUNCTIONS
from hostile_python import PLAIN
from no_trace import no_trace
from one_line import first_line

from pytest_ropecontract.definitions import Registry
from pytest_ropecontract.project import Project, Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str, temporary: Path) -> None:
    source, said = FUNCTIONS[name]
    registry = Registry(temporary, time_limit=0.5)
    project = Project(Settings(temporary, "0.19.2"), registry, None)
    registry.add("hostile", source)
    registry.add("good", PLAIN)
    assert project.examine("good").error is None

    with no_trace(temporary):
        examination = project.examine("hostile")

    if said:
        line = first_line(str(examination.error))
        assert line.startswith("hostile: ")
        assert said in line
    else:
        assert examination.error is None
        assert examination.findings == ()
