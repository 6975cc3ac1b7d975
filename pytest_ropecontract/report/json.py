"""The JSON report."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def plain_value(value: Any) -> Any:
    """Return a value as JSON can write it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    return str(value)


def render(document: Mapping[str, Any]) -> str:
    """Return the report as text."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
