from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from pytest_ropecontract.definitions import DefinitionError, Expansion, Registry, close_worker


class Project:
    """A project of its own with definitions under ``models/``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.models = root / "models"
        self.models.mkdir(parents=True)
        self.registry = Registry(root, pythonpath=["lib"])

    def write(self, file: str, content: str | bytes = "") -> Path:
        path = self.models / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def add(self, file: str, content: str | bytes) -> str:
        return self.registry.add_file(self.write(file, content)).name

    def expand(self, file: str, content: str | bytes, **overrides: Any) -> Expansion:
        return self.registry[self.add(file, content)].expand(**overrides)

    def error(self, file: str, content: str | bytes, **overrides: Any) -> DefinitionError:
        return self.failure(self.add(file, content), **overrides)

    def failure(self, name: str, **overrides: Any) -> DefinitionError:
        with pytest.raises(DefinitionError) as caught:
            self.registry[name].expand(**overrides)
        return caught.value


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the directory that temporary files go to during the test."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    monkeypatch.setenv("TMPDIR", str(directory))
    return directory


@pytest.fixture
def running_worker(project: Project) -> None:
    """Start the worker, so that it is no trace of the first expansion."""
    project.expand("warm_up.sh", "MODEL_ARGS=(--a)")


@pytest.fixture
def new_worker() -> Any:
    """Begin and end the test without a worker."""
    close_worker()
    yield
    close_worker()
