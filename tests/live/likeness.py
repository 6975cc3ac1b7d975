"""One command line through a recorded Megatron and the live one, in comparable form."""

from __future__ import annotations

import enum
import functools
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions import Registry
from pytest_ropecontract.megatron.backend import ConfigRefusedError
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.megatron.surface_files import load_shipped
from pytest_ropecontract.rope.resolution import Resolution, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.megatron.backend import Megatron
    from pytest_ropecontract.megatron.pipeline import Parsed

ABSENT = "<absent>"
SIMPLE = (str, int, float, type(None), frozenset)
EXAMPLE = Path(__file__).parents[2] / "example_project"
STOCK = PipelineSettings()
FRAMEWORK = PipelineSettings(
    arguments=("ropeframe.arguments:add_rope_arguments",),
    defaults=("ropeframe.arguments:set_default_megatron_args",),
    stubs=("ropeframe.arguments:validate_gpus",),
    pythonpath=(str(EXAMPLE),),
)


def definitions() -> dict[str, list[str]]:
    """Return the argv of every example definition, and of a corpus where one is named.

    The corpus is a folder of argv text files that the environment variable
    ROPE_CONTRACT_CORPUS gives.
    """
    registry = Registry(EXAMPLE, pythonpath=[EXAMPLE])
    for path in sorted((EXAMPLE / "scripts" / "models").glob("*.[ps][yh]")):
        registry.add_file(path)
    found = {f"example/{name}": list(registry[name].expand().argv) for name in registry}
    corpus = os.environ.get("ROPE_CONTRACT_CORPUS")
    if corpus:
        files = Registry(Path(corpus))
        for path in sorted(Path(corpus).rglob("*.txt")):
            files.add_file(path)
        found |= {f"corpus/{name}": list(files[name].expand().argv) for name in files}
    return found


def live_megatron() -> Megatron:
    return choose("live", EXAMPLE)


@functools.cache
def recorded_megatron() -> RecordedMegatron:
    """Return the shipped recording of the installed version."""
    return RecordedMegatron(load_shipped(live_megatron().surface.name))


@functools.cache
def pipelines(*, framework: bool = False) -> tuple[Pipeline, Pipeline]:
    settings = FRAMEWORK if framework else STOCK
    return Pipeline(recorded_megatron(), settings), Pipeline(live_megatron(), settings)


def plain(value: Any) -> Any:
    """Return a value with its type, an enum member by name."""
    if isinstance(value, enum.Enum):
        return ("member", type(value).__name__, value.name)
    if isinstance(value, list | tuple):
        return (type(value).__name__, [plain(one) for one in value])
    return (type(value).__name__, repr(value))


def parsed(pipeline: Pipeline, argv: Sequence[str]) -> dict[str, Any]:
    """Return what the parser and the framework's functions make of an argv."""
    return read(pipeline.parse(argv))


def read(outcome: Parsed) -> dict[str, Any]:
    """Return the namespaces, who filled them, and the flags; or the refusal."""
    return {
        "refusal": outcome.refusal,
        "parsed": dict(outcome.parsed),
        "namespace": dict(outcome.namespace),
        "fillers": dict(outcome.fillers),
        "occurrences": outcome.occurrences,
    }


def configured(pipeline: Pipeline, argv: Sequence[str]) -> dict[str, Any]:
    """Return the config that is constructed, or the refusal."""
    try:
        config = pipeline.configure(pipeline.parse(argv))
    except ConfigRefusedError as error:
        return {"refused": (error.by, error.error, error.message)}
    names = {
        name
        for one in (*recorded_megatron().surface.classes, *recorded_megatron().surface.extras)
        for name in one.attributes
    }
    return {
        "class": config.class_name,
        "values": {name: plain(value) for name, value in config.values.items() if name in names},
    }


def resolved(pipeline: Pipeline, argv: Sequence[str]) -> dict[str, Any]:
    return described(resolve(pipeline, argv))


def described(resolution: Resolution) -> dict[str, Any]:
    """Return the effective RoPE with its sources, or the refusal."""
    rope = None if resolution.rope is None else asdict(resolution.rope)
    return {
        "rope": rope and {name: plain(value) for name, value in rope.items()},
        "sources": dict(resolution.sources),
        "refused": resolution.refused,
        "reads": resolution.reads,
    }


def difference(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return what differs between two results, key by key, a level deep; types count."""
    found: dict[str, Any] = {}
    for key in {**one, **other}:
        left, right = one.get(key, ABSENT), other.get(key, ABSENT)
        if isinstance(left, dict) and isinstance(right, dict):
            inner = difference(left, right)
            if inner:
                found[key] = inner
        elif not _same(left, right):
            found[key] = (left, right)
    return found


def _same(left: Any, right: Any) -> bool:
    if type(left) is type(right) and isinstance(left, SIMPLE):
        return bool(left == right) or left != left  # noqa: PLR0124  # nan is the same as nan
    return bool(plain(left) == plain(right))
