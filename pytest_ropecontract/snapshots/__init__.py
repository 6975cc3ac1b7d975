"""Snapshots of flags, of what is built from them, and of what is launched, under syrupy."""

from __future__ import annotations

FOLDER = "tests/rope_snapshots"
# Endings that no other extension's ending is the end of: syrupy would take a file for its own.
ARGS = "ropeargs"
CONFIG = "ropeconfig"
LAUNCH = "ropelaunch"
SUFFIXES = (ARGS, CONFIG, LAUNCH)
