"""Which files are the checkpoints of which models."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

MODEL = "{model}"
DEFAULT_PATTERNS = ("tests/checkpoints/{model}.json", "tests/checkpoints/{model}@*.json")
"""A file named as the model, and any number of further ones: ``kimi-k2@0905.json``."""


def check_pattern(pattern: str) -> None:
    """Check that a pattern says where the model's name stands.

    Raises:
        RopeContractError: It does not: every file would be the checkpoint of every model.
    """
    if MODEL not in pattern:
        raise RopeContractError(
            f"rope_contract_checkpoints: {pattern!r} does not contain {MODEL}",
            remedy=f"for example {DEFAULT_PATTERNS[0]}",
        )


def find(root: Path, patterns: Sequence[str], models: Iterable[str]) -> dict[str, tuple[Path, ...]]:
    """Find the files of all models.

    A file whose path fits several models, as ``kimi-k25.json`` fits ``kimi-k2`` by
    ``{model}*.json``, belongs to the one with the longest name: a variant is never held to
    another model's checkpoint.

    Args:
        root: The folder that patterns start from.
        patterns: Globs with ``{model}`` in the place of a model's name.
        models: All names.
    """
    owners: dict[str, str] = {}
    for model in models:
        for pattern in patterns:
            named = pattern.replace(MODEL, glob.escape(model))
            matching = glob.glob(named, root_dir=root, recursive=True)  # noqa: PTH207  # absolute, too
            for path in matching:
                known = owners.get(path)
                if known is None or len(known) < len(model):
                    owners[path] = model
    found: dict[str, tuple[Path, ...]] = {}
    for path, model in sorted(owners.items()):
        found[model] = (*found.get(model, ()), root / path)
    return found
