"""The facts about a launcher, as plain values that travel between processes."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import paths
from pytest_ropecontract.report.document import (
    finding_document,
    properties_of,
    rope_properties,
    surface_document,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_ropecontract.project_launchers import Inspection, Launched

LAUNCH = pytest.StashKey[dict[str, Any]]()


def launch_document(config: pytest.Config, inspection: Inspection) -> dict[str, Any]:
    """Return what an item found out about a launcher."""
    recording = inspection.recording
    launcher = {
        "name": inspection.launcher,
        "commands": [] if recording is None else [list(one.argv) for one in recording.commands],
        "training": [_training(one) for one in inspection.launched],
        "findings": [{"model": one.model, **finding_document(one)} for one in inspection.findings],
        "missing_layers": [] if recording is None else list(recording.missing_layers),
        "error": None if inspection.error is None else str(inspection.error),
    }
    return {
        "surface": surface_document(config),
        "launcher": paths.portable_value(launcher, config.rootpath),
    }


def _training(launched: Launched) -> dict[str, Any]:
    rope = launched.resolution.rope
    return {
        "model": launched.model,
        "script": launched.training.script,
        "argv": list(launched.training.argv),
        "through": list(launched.training.through),
        "environment": dict(launched.training.environment),
        "origin": launched.training.command.origin,
        "rope": None if rope is None else dataclasses.asdict(rope),
        "origins": dict(launched.resolution.origins),
    }


def properties(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what of a launcher's facts goes into a JUnit file: texts by name.

    As of a model, with the models that it launches; what is built where all build the same.
    """
    launcher = document["launcher"]
    found = {"launcher": launcher["name"]}
    training = launcher["training"]
    if training:
        found["model"] = " ".join(dict.fromkeys(one["model"] for one in training))
    first, *others = [rope_properties(one["rope"]) for one in training] or [{}]
    if all(one == first for one in others):
        found.update(first)
    return properties_of(found, launcher["findings"])


def merge(documents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the launchers of several items, sorted by name."""
    found = {one["launcher"]["name"]: one["launcher"] for one in documents}
    return [found[name] for name in sorted(found)]
