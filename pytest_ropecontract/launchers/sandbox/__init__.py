"""Runs a child command where it can change nothing: what protects, for every kind of launcher."""

from __future__ import annotations

from pytest_ropecontract.launchers.sandbox.running import (
    EVERY_LAYER,
    UNGUARDED,
    Finished,
    Layer,
    SandboxError,
    run,
    without_landlock,
)
from pytest_ropecontract.launchers.sandbox.scratch import frozen_environment, scratch, show, written

__all__ = [
    "EVERY_LAYER",
    "UNGUARDED",
    "Finished",
    "Layer",
    "SandboxError",
    "frozen_environment",
    "run",
    "scratch",
    "show",
    "without_landlock",
    "written",
]
