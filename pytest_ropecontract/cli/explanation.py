"""What is built from some flags, and why, as text and as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ropecontract.cli.differences import dropped_lines
from pytest_ropecontract.cli.tables import WIDTH, listed, wrapped
from pytest_ropecontract.contracts.findings import plain
from pytest_ropecontract.errors import visible
from pytest_ropecontract.report.json import plain_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_ropecontract.cli.colours import Paint
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.report.explanation import Contract, Explanation, Value
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.upgrade import ModelChange

ATTENTIONS = {"mla": "multi-latent attention", "gpt": "common attention", "hybrid": "hybrid model"}
RETURNS = {1: "returns one tensor", 2: "returns a pair"}
COLOURS = {"fails": "red", "cannot be checked": "red", "allowed": "yellow", "holds": "green"}
MARK = "*"
NO_BREAK = "\0"
INDENT = " " * 6
# How many values of a list are shown; some have one for every layer.
LISTED = 8


def explanation_lines(one: Explanation, paint: Paint) -> list[str]:
    """Return what ``ropecontract explain`` prints of a model."""
    lines = [paint(one.name, "bold") + (f"  {one.path}" if one.path else "")]
    if one.error is not None:
        first, *more = str(one.error).splitlines()
        return [*lines, *(f"  {line}" for line in (paint(first, "red"), *more))]
    if one.rope is None:
        lines += ["  builds nothing"]
    else:
        lines += ["", *_built(one, one.rope, paint)]
        lines += _flag_lines(one)
    lines += _contract_lines(one, paint)
    told = [finding for finding in one.findings if _is_told(finding)]
    if told:
        lines += ["", "  findings"]
        for finding in told:
            lines += _finding_lines(finding, paint)
    return lines


def _built(one: Explanation, rope: RopeConfig, paint: Paint) -> Iterator[str]:
    parts = [f"builds {rope.kind}"]
    if rope.rotary_class is not None:
        results = "" if rope.returns is None else f", which {RETURNS[rope.returns]}"
        parts.append(f"a {rope.rotary_class}{results}")
    parts.append(ATTENTIONS[rope.attention])
    yield from wrapped("  ", f"{parts[0]}: {'; '.join(parts[1:])}", hang=4)
    factors = [
        f"{text} x{plain(value)}"
        for text, value in (
            ("cosine and sine", rope.magnitude),
            ("softmax scale", rope.softmax_multiplier),
        )
        if value not in (None, 1.0)
    ]
    if factors:
        yield f"  {listed(factors)}"
    yield ""
    for value in one.values:
        yield from _value_lines(value, paint)
    if one.implicit:
        yield f"  {MARK} not declared in the definition's flags"


def _value_lines(one: Value, paint: Paint) -> Iterator[str]:
    mark = MARK if one.implicit else " "
    # A line of its own for what a value is; the way below it, as far as it fits.
    head = f"{mark} {one.field} {_shown(one.value)}"
    gap = " " * max(1, WIDTH - 2 - len(head) - len(one.origin))
    yield f"  {paint(head, 'yellow' if one.implicit else None)}{gap}{one.origin}"
    yield from wrapped("      ", visible(" -> ".join(_shortened(one))), hang=8)


def _shortened(one: Value) -> Iterator[str]:
    """Yield a way with the names that differ from the one before; the field's is the first."""
    name = one.field
    first, *steps = one.way
    yield first
    for step in steps:
        place, mark, rest = step.partition("(" if step.endswith(")") else ".")
        own = rest.removesuffix(")")
        yield place if own == name else f"{place}{mark}{rest}"
        name = own


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) > LISTED:
        return f"{plain(value[:LISTED])} ... ({len(value)} values)"
    return "not used" if value is None else visible(plain(value))


def _flag_lines(one: Explanation) -> list[str]:
    implicit = [f"{value.field} {_shown(value.value)}" for value in one.implicit]
    lines = [""]
    for label, texts in (("read", one.read), ("inert", one.inert), ("implicit", implicit)):
        # A flag is not divided from its value.
        whole = [visible(text).replace(" ", NO_BREAK) for text in texts]
        wrapped_lines = wrapped(f"  {label:<10}", listed(whole) or "none")
        lines += [line.replace(NO_BREAK, " ") for line in wrapped_lines]
    return lines


def _contract_lines(one: Explanation, paint: Paint) -> list[str]:
    if one.contracts is None:
        return []
    if not one.contracts:
        text = (
            f'no contract: mark a test with @rope_expect(..., models=["{one.name}"]), or add the '
            "model's checkpoint"
        )
        return ["", *wrapped("  ", text, hang=4)]
    lines = ["", "  contracts"]
    for contract in one.contracts:
        verdict = paint(f"{contract.verdict:<8}", COLOURS[contract.verdict])
        first, *rest = wrapped(" " * 13, contract.text)
        lines += [f"    {verdict} {first[13:]}", *rest]
        if contract.where is not None:
            lines += wrapped(" " * 13, f"in {contract.where}", hang=15)
        if contract.problem is not None:
            lines += [f"      {line}" for line in contract.problem.splitlines()]
        for finding in contract.findings:
            lines += _finding_lines(finding, paint)
    return lines


def _is_told(finding: Finding) -> bool:
    """Return whether a finding says more than that a value is implicit, which is shown anyway."""
    return finding.rule != "implicit-field" or finding.status == "fail"


def _finding_lines(finding: Finding, paint: Paint) -> list[str]:
    word = {"fail": "FAILS", "allowed": "allowed", "note": "note"}[finding.status]
    colour = {"fail": "red", "allowed": "yellow"}.get(finding.status)
    headline = visible(f"{word} {finding.rule}: {finding.message}")
    first, *rest = wrapped(INDENT, headline, hang=8)
    lines = [INDENT + paint(first.removeprefix(INDENT), colour), *rest]
    for label, text in (
        ("size", finding.effect),
        ("reason", finding.reason),
        ("remedy", finding.remedy),
    ):
        if text is not None:
            lines += wrapped(f"{INDENT}  {label + ':':<8}", visible(text))
    return lines


def change_lines(change: ModelChange | None, first: str, second: str) -> list[str]:
    """Return in what two of them differ, and how much that matters."""
    lines = ["", f"  {first} -> {second}"]
    if change is None:
        return [*lines, "    no difference in what is built"]
    if not change.fields:
        for name, outcome in ((first, change.before), (second, change.after)):
            what = f"refused: {'; '.join(outcome.refusals)}" if outcome.refusals else "accepted"
            lines += wrapped(f"    {name}: ", what, hang=6)
    for field in change.fields:
        origin = "" if field.origin is None else f" ({field.origin})"
        text = f"{_shown(field.before)} -> {_shown(field.after)}{origin}"
        lines += wrapped(f"    {field.field}: ", text, hang=6)
    lines += dropped_lines(change, first, second)
    if change.size is not None:
        lines += wrapped("    size: ", change.size, hang=6)
    return [visible(line) for line in lines]


def checkpoint_lines(name: str, findings: Sequence[Finding], paint: Paint) -> list[str]:
    """Return in what a model differs from a checkpoint."""
    lines = ["", f"  against {name}"]
    if not findings:
        return [*lines, "    no difference from what the checkpoint says"]
    for finding in findings:
        lines += _finding_lines(finding, paint)
    return lines


def document(one: Explanation) -> dict[str, Any]:
    """Return an explanation as plain values."""
    return {
        "name": one.name,
        "path": one.path,
        "argv": list(one.argv),
        "rope": None
        if one.rope is None
        else {k: plain_value(v) for k, v in vars(one.rope).items()},
        "values": {
            value.field: {
                "value": plain_value(value.value),
                "origin": value.origin,
                "way": list(value.way),
            }
            for value in one.values
        },
        "read": list(one.read),
        "inert": list(one.inert),
        "implicit": [value.field for value in one.implicit],
        "findings": [finding_document(finding) for finding in one.findings],
        "contracts": None
        if one.contracts is None
        else [_contract_document(contract) for contract in one.contracts],
        "error": None if one.error is None else str(one.error),
    }


def _contract_document(one: Contract) -> dict[str, Any]:
    return {
        "contract": one.text,
        "where": one.where,
        "verdict": one.verdict,
        "problem": one.problem,
        "findings": [finding_document(finding) for finding in one.findings],
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain values."""
    names = ("rule", "status", "field", "message", "effect", "remedy", "reason")
    found: dict[str, Any] = {name: getattr(finding, name) for name in names}
    return {
        **found,
        "expected": plain_value(finding.expected),
        "actual": plain_value(finding.actual),
    }


def change_document(change: ModelChange | None) -> Mapping[str, Any]:
    """Return a comparison as plain values."""
    if change is None:
        return {"same": True, "fields": [], "size": None, "refused": [[], []], "dropped": [[], []]}
    return {
        "same": False,
        "fields": [
            {
                "field": field.field,
                "before": plain_value(field.before),
                "after": plain_value(field.after),
                "origin": field.origin,
            }
            for field in change.fields
        ],
        "size": change.size,
        "refused": [list(change.before.refusals), list(change.after.refusals)],
        "dropped": [list(change.before.dropped), list(change.after.dropped)],
    }
