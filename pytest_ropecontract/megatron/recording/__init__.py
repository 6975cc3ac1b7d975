"""Recording a surface from the importable Megatron, by experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ropecontract.megatron import machine
from pytest_ropecontract.megatron.recording.conditions import Probe
from pytest_ropecontract.megatron.recording.laboratory import Laboratory
from pytest_ropecontract.megatron.recording.options import record_options
from pytest_ropecontract.megatron.recording.provenance import find_source, name_of
from pytest_ropecontract.megatron.recording.rotary import record_rotary
from pytest_ropecontract.megatron.recording.rules import (
    Validations,
    record_config,
    record_edits,
    record_refusals,
)
from pytest_ropecontract.megatron.surface import Surface

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["record"]


def record(
    arguments: Mapping[str, Callable[..., Any]] | None = None, *, name: str | None = None
) -> Surface:
    """Record the importable Megatron.

    Args:
        arguments: A framework's functions that add options to the parser, by their names,
            ``module:function``.
        name: What to call the surface; by default after where it was recorded from, see
            ``provenance.name_of``.

    Raises:
        SurfaceError: ``megatron.training`` cannot be imported, or a tiny model cannot be
            built on this machine.
    """
    functions = arguments or {}
    with Laboratory(tuple(functions.values())) as laboratory:
        source = find_source(laboratory.live.package, tuple(functions))
        options, enums = record_options(laboratory.parser)
        with machine.quiet():
            probe = Probe(laboratory, options)
            classes, extras = record_config(probe)
            validations = Validations(probe)
            edits = record_edits(validations)
            refusals = record_refusals(validations)
            paths, rules, built = record_rotary(probe, classes, extras)
    read = {
        argument.name
        for path in paths.values()
        for argument in (*path.arguments.values(), *path.reads.values())
    }
    read.update(name for rule in rules for name in rule.when)
    classes = tuple(
        one._replace(attributes={name: a for name, a in one.attributes.items() if name in read})
        for one in classes
    )
    return Surface(
        name=name or name_of(source, laboratory.version, laboratory.fingerprint),
        version=laboratory.version,
        fingerprint=laboratory.fingerprint,
        options=options,
        enums=enums,
        edits=edits,
        refusals=(*refusals, *built),
        classes=classes,
        extras=extras,
        paths=paths,
        rules=rules,
        source=source,
    )
