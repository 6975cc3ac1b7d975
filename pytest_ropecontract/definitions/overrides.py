"""Check the overrides of a definition before its source is expanded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.wording import shortened, with_article
from pytest_ropecontract.errors import representation

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING = object()


def refuse_overrides(overrides: Mapping[str, Any], source: str) -> None:
    """Refuse overrides for a source that cannot take any.

    Raises:
        DefinitionError: There are overrides.
    """
    if overrides:
        raise DefinitionError(
            f"{source} takes no overrides, but got {', '.join(overrides)}",
            remedy="use a Python definition with model_args(**overrides) for variants",
        )


def check_transferable(overrides: Mapping[str, Any]) -> None:
    """Refuse overrides that another process would not get unchanged.

    Raises:
        DefinitionError: An override holds something that JSON does not carry.
    """
    for name, value in overrides.items():
        try:
            stranger = _no_json(value)
            json.dumps(value, default=str)
        except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
            stranger = value
        if stranger is not _NOTHING:
            kind = with_article(type(stranger).__qualname__)
            raise DefinitionError(
                f"the override {name}={shortened(representation(value))} holds {kind}, "
                "which cannot be passed to a script",
                remedy="use strings, numbers, booleans, None, and lists and dicts of them",
            )


def _no_json(value: object) -> object:
    """Return the first part of a value that JSON does not carry unchanged."""
    kind = type(value)
    if kind in {str, int, float, bool, type(None)}:
        return _NOTHING
    parts: list[object]
    if kind is list and isinstance(value, list):
        parts = value
    elif kind is dict and isinstance(value, dict):
        parts = list(value.values())
        for key in value:
            if type(key) is not str:
                return key
    else:
        return value
    return next((found for part in parts if (found := _no_json(part)) is not _NOTHING), _NOTHING)
