"""The facts about a model, as plain values that travel between processes."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import paths
from pytest_ropecontract.collection import EXPECTATIONS, project_of
from pytest_ropecontract.contracts.findings import plain
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.report.curves import curve_documents
from pytest_ropecontract.report.json import plain_value
from pytest_ropecontract.rope.config import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_ropecontract.contracts.demands import Demand
    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.megatron.backend import Megatron
    from pytest_ropecontract.project import Examination
    from pytest_ropecontract.rope.resolution import Resolution

ITEMS = (
    *("test_declared", "test_arity", "test_omissions", "test_snapshot"),
    *("test_expected", "test_checkpoint"),
)
DOCUMENT = pytest.StashKey[dict[str, Any]]()


def model_document(  # noqa: PLR0913  # the facts of an item
    config: pytest.Config,
    examination: Examination,
    findings: Sequence[Finding],
    contracts: int | None,
    omissions: Mapping[str, str] | None = None,
    *,
    demands: Sequence[Demand] = (),
    snapshot: str | None = None,
    item: str = "",
) -> dict[str, Any]:
    """Return what one item found out about a model.

    Args:
        config: The run.
        examination: What is known of the model.
        findings: What this item found.
        contracts: How many expectations or checkpoints it checked, or None where it checks
            none.
        omissions: What the loss of each flag does, or None where that was not looked at.
        demands: What the contracts that it checked demand, as rotations.
        snapshot: What differs from the snapshots, or None where nothing does, or that was not
            looked at.
        item: Name of the function of the item.
    """
    resolution = examination.resolution
    rope = resolution.rope if resolution is not None else None
    return {
        "item": item,
        "surface": surface_document(config),
        "contracts": contracts,
        "existing": _existing(config, examination.name),
        "model": _portable(
            config,
            {
                "name": examination.name,
                "path": examination.path,
                "argv": list(examination.expansion.argv) if examination.expansion else [],
                "rope": None if rope is None else dataclasses.asdict(rope),
                "origins": {} if resolution is None else dict(resolution.origins),
                "sources": {} if resolution is None else _sources(resolution),
                "curves": curve_documents(rope, demands),
                "findings": [finding_document(one) for one in findings],
                "omissions": None if omissions is None else dict(omissions),
                "snapshot": snapshot,
                "error": None if examination.error is None else str(examination.error),
            },
        ),
    }


def _existing(config: pytest.Config, model: str) -> int:
    """Return how many marks and checkpoints of the project are of a model, run or not."""
    found = len(config.stash.get(EXPECTATIONS, {}).get(model, ()))
    with contextlib.suppress(RopeContractError):  # its item says why
        found += len(project_of(config).checkpoints(model))
    return found


def mark_document(
    config: pytest.Config, model: str, expectation: Expectation, findings: Sequence[Finding]
) -> dict[str, Any]:
    """Return what a mark that a test of the project asserted found on a model."""
    found: dict[str, Any] = paths.portable_value(
        {
            "model": model,
            "contract": expectation.text(),
            "findings": [finding_document(one) for one in findings],
        },
        config.rootpath,
    )
    return found


def _portable(config: pytest.Config, model: dict[str, Any]) -> dict[str, Any]:
    portable: dict[str, Any] = paths.portable_value(model, config.rootpath)
    return portable


def surface_document(config: pytest.Config) -> dict[str, Any]:
    """Return name, version and mode of what a run resolves against."""
    try:
        megatron = project_of(config).pipeline.megatron
    except Exception:  # noqa: BLE001  # the items say why; the report has no surface then
        return {"name": None, "version": None, "mode": None}
    return megatron_document(megatron)


def megatron_document(megatron: Megatron) -> dict[str, Any]:
    """Return name, version and mode of a Megatron."""
    surface = megatron.surface
    return {"name": surface.name, "version": surface.version, "mode": megatron.mode}


def _sources(resolution: Resolution) -> dict[str, Any]:
    """Return the way of every value, from the flag to the argument of the rotary class."""
    return {
        name: {
            "flag": source.flag,
            "dest": source.dest,
            "attribute": source.attribute,
            "argument": source.argument,
            "text": source.text,
        }
        for name in FIELDS
        if (source := resolution.sources.get(name)) is not None
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain values."""
    return {
        "rule": finding.rule,
        "field": finding.field,
        "expected": plain_value(finding.expected),
        "actual": plain_value(finding.actual),
        "origin": finding.origin,
        "message": finding.message,
        "status": finding.status,
        "effect": finding.effect,
        # The flag that it is about, as the definition has it.
        "flag": finding.flag or (finding.source if finding.origin == "declared" else None),
        "source": finding.source,
        "details": list(finding.details),
        "reason": finding.reason,
        "remedy": finding.remedy,
    }


def properties(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what of an item's facts goes into a JUnit file: texts by name.

    The model, the kind, base and factor of what is built from it where anything is, and the
    rules that the item found broken or allowed.
    """
    model = document["model"]
    return properties_of(
        {"model": model["name"], **rope_properties(model["rope"])}, model["findings"]
    )


def rope_properties(rope: Mapping[str, Any] | None) -> dict[str, str]:
    """Return kind, base and factor of what is built, those that there are."""
    if rope is None:
        return {}
    factor = "rope_scaling_factor" if rope["rope_scaling"] else "rotary_scaling_factor"
    named = {"kind": rope["kind"], "base": rope["rotary_base"], "factor": rope[factor]}
    return {name: plain(value) for name, value in named.items() if value is not None}


def properties_of(
    facts: Mapping[str, str], findings: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Return facts as a JUnit file has them, with the rules that were broken or allowed."""
    rules = [one["rule"] for one in findings if one["status"] != "note"]
    found = {**facts, "rules": " ".join(dict.fromkeys(rules))} if rules else facts
    return [(f"rope_contract.{name}", value) for name, value in found.items()]


def _place(document: Mapping[str, Any]) -> tuple[bool, int]:
    """Sort by item, not by which process was done first; contracts come after the rules."""
    item = document["item"]
    return document["contracts"] is not None, ITEMS.index(item) if item in ITEMS else len(ITEMS)


def merge(
    documents: Iterable[dict[str, Any]], marks: Iterable[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Merge what several items found out about the same models, sorted by name.

    Args:
        documents: The facts of the items.
        marks: What the tests of the project found whose marks are contracts: the item
            ``test_expected`` of a model checks them too, and may not be part of the run.
    """
    merged: dict[str, dict[str, Any]] = {}
    checked_marks: set[str] = set()
    for document in sorted(documents, key=_place):
        model = document["model"]
        empty: dict[str, Any] = {"findings": [], "curves": [], "contracts": None}
        known = merged.setdefault(model["name"], {**model, **empty})
        known["contracts_not_run"] = document["existing"]
        for name in ("findings", "curves"):
            known[name].extend(one for one in model[name] if one not in known[name])
        for name in ("omissions", "snapshot"):
            if model[name] is not None:
                known[name] = model[name]
        if document["contracts"] is not None:
            known["contracts"] = (known["contracts"] or 0) + document["contracts"]
        checked_marks.update({model["name"]} if document["item"] == "test_expected" else ())
    asserted: dict[str, set[str]] = {}
    for mark in marks:
        if mark["model"] in merged and mark["model"] not in checked_marks:
            asserted.setdefault(mark["model"], set()).add(mark["contract"])
            found = merged[mark["model"]]["findings"]
            found.extend(one for one in mark["findings"] if one not in found)
    for name, known in merged.items():
        if name in asserted:
            known["contracts"] = (known["contracts"] or 0) + len(asserted[name])
        known["contracts_not_run"] = max(0, known["contracts_not_run"] - (known["contracts"] or 0))
    return [merged[name] for name in sorted(merged)]
