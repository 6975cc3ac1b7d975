"""Model definitions that build on one another."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any


def load_sibling_model_args(definition: str, name: str, **overrides: Any) -> list[str]:
    """Expand the definition ``name`` that lies beside another one.

    Args:
        definition: The calling script, ``__file__``.
        name: The sibling's file name without ``.py``.
        overrides: Keyword arguments for the sibling's ``model_args``.

    Returns:
        The sibling's flags and values, one token each.

    Raises:
        FileNotFoundError: There is no such sibling.
        TypeError: It defines no ``model_args``.
    """
    path = Path(definition).resolve().with_name(f"{name}.py")
    if not path.is_file():
        raise FileNotFoundError(f"{definition}: no definition {name!r} beside it ({path})")
    model_args = runpy.run_path(str(path)).get("model_args")
    if not callable(model_args):
        raise TypeError(f"{path} defines no function model_args")
    expanded = model_args(**overrides)
    return expanded.split() if isinstance(expanded, str) else list(expanded)
