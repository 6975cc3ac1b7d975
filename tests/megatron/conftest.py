from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from strategies import MEGATRON

from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Framework:
    """A framework around the recorded Megatron: modules of its own, and settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def module(self, source: str, name: str = "frame") -> None:
        path = self.folder / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")

    def pipeline(self, source: str = "", **settings: Any) -> Pipeline:
        self.module(source)
        return Pipeline(MEGATRON, PipelineSettings(pythonpath=(str(self.folder),), **settings))


@pytest.fixture
def framework(tmp_path: Path) -> Iterator[Framework]:
    known = set(sys.modules)
    yield Framework(tmp_path)
    for name in set(sys.modules) - known:
        del sys.modules[name]
