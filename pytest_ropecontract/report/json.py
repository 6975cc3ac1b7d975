"""The JSON report."""

from __future__ import annotations

import json
import os
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = 1


def render(surface: Mapping[str, Any], models: Sequence[Mapping[str, Any]]) -> str:
    """Return the report as text: the same for the same run, whatever the order of items."""
    document = {
        "schema": SCHEMA,
        "plugin": metadata.version("pytest-ropecontract"),
        "surface": dict(surface),
        "models": [
            {name: value for name, value in model.items() if name != "contracts"}
            for model in models
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(path: Path, text: str) -> None:
    """Write a file as a whole, or not at all.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    half = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        half.chmod(0o666 & ~_umask())
        half.replace(path)
    except BaseException:
        half.unlink()
        raise


def _umask() -> int:
    """Return which rights new files do not get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
