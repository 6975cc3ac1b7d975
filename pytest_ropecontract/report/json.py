"""The JSON report."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.writing import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["render", "write"]

SCHEMA = 1


def document(
    surface: Mapping[str, Any],
    models: Sequence[Mapping[str, Any]],
    launchers: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the report: the same for the same run, whatever the order of items."""
    return {
        "schema": SCHEMA,
        "plugin": metadata.version("pytest-ropecontract"),
        "surface": dict(surface),
        "models": [dict(model) for model in models],
        "launchers": [dict(launcher) for launcher in launchers],
    }


def render(document: Mapping[str, Any]) -> str:
    """Return the report as text."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
