"""Snapshots of flags, of what is built from them, and of what is launched, under syrupy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

EXTENSION = f"{__name__}.extension"
FOLDER = "tests/rope_snapshots"
# Endings that no other extension's ending is the end of: syrupy would take a file for its own.
ARGS = "ropeargs"
CONFIG = "ropeconfig"
LAUNCH = "ropelaunch"
SUFFIXES = (ARGS, CONFIG, LAUNCH)


def hide_from_others(options: argparse.Namespace) -> None:
    """Let no other extension of syrupy find these files, and take them for unused ones.

    Args:
        options: A run's options, of which syrupy adds one.
    """
    if hasattr(options, "ignore_file_extensions"):
        given = options.ignore_file_extensions or []
        options.ignore_file_extensions = [*dict.fromkeys([*given, *SUFFIXES])]
