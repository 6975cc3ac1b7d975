"""Choosing a Megatron by name: live, a shipped recording, or a file."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from pytest_ropecontract.megatron.live import LiveMegatron, is_importable
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import SurfaceError
from pytest_ropecontract.megatron.surface_files import NEWEST, load_file, load_shipped, shipped

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ropecontract.megatron.backend import Megatron


def is_live(name: str) -> bool:
    """Return whether a setting names the importable Megatron."""
    return name == "live" or (name == "auto" and is_importable())


def choose(name: str, root: Path) -> Megatron:
    """Return the Megatron that a setting names.

    Args:
        name: ``auto`` (live where importable, else the newest recording), ``live``, the
            name or the version of a shipped surface, or the path of a JSON file.
        root: What a relative path starts from.

    Raises:
        SurfaceError: There is no such surface, or it cannot be read or imported.
    """
    if is_live(name):
        return _live()
    if name == "auto":
        return _shipped(NEWEST)
    for known in shipped():
        if name in (known, known.removeprefix("megatron-core-")):
            return _shipped(known)
    if name.endswith(".json") or "/" in name:
        return RecordedMegatron(load_file(root / os.path.expanduser(name)))  # noqa: PTH111 - it never raises
    raise SurfaceError(
        f"no surface is named {name!r}",
        details=[f"shipped: {', '.join(shipped())}"],
        remedy="name a shipped surface, a JSON file, 'live' or 'auto'",
    )


@functools.cache
def _live() -> LiveMegatron:
    # Importing takes seconds; the parser and the rules are the same for the whole process.
    return LiveMegatron()


@functools.cache
def _shipped(name: str) -> RecordedMegatron:
    return RecordedMegatron(load_shipped(name))
