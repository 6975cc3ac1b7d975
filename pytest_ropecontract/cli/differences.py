"""What differs between two surfaces, and whom it concerns, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ropecontract.cli.tables import columns, listed, value_text, wrapped
from pytest_ropecontract.contracts.findings import plain
from pytest_ropecontract.contracts.rules import OTHER_DESTS, ROPE_DESTS
from pytest_ropecontract.errors import visible
from pytest_ropecontract.megatron.comparison import condition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_ropecontract.megatron.comparison import Difference
    from pytest_ropecontract.upgrade import Comparison, ModelChange, Outcome

TITLES = {
    "options": "Other options",
    "enums": "Values of enumerations",
    "edits": "What validate_args writes",
    "refusals": "What is refused",
    "classes": "Config classes",
    "extras": "What is set on a config after its construction",
    "paths": "Ways to a rotary embedding",
    "rules": "When which way is taken",
}
SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": "~"}
WORDS = {
    "none_is_default": "None is the default",
    "value_type": "type",
    "when": "where",
    "rotary_class": "class",
}


def difference_lines(found: Sequence[Difference]) -> list[str]:
    """Return what differs, part by part; options that concern rotation come first."""
    near = [one for one in found if one.part == "options" and _concerns_rope(one)]
    lines = _section("RoPE options", near)
    for part, title in TITLES.items():
        lines += _section(title, [one for one in found if one.part == part and one not in near])
    return lines[1:]


def _section(title: str, found: Sequence[Difference]) -> list[str]:
    if not found:
        return []
    counts = [
        f"{sum(one.change == change for one in found)} {change}"
        for change in SIGNS
        if any(one.change == change for one in found)
    ]
    lines = ["", f"{title}: {listed(counts)}"]
    for one in found:
        lines += wrapped(f"  {SIGNS[one.change]} ", _sentence(one), hang=6)
    return lines


def _concerns_rope(one: Difference) -> bool:
    known = {*ROPE_DESTS, *OTHER_DESTS}
    names = {one.subject.lstrip("-").replace("-", "_"), one.subject}
    for record in (one.before, one.after):
        if isinstance(record, dict):
            names.add(record.get("dest", ""))
    return not known.isdisjoint(names)


def _sentence(one: Difference) -> str:
    if one.change == "moved":
        return f"{one.subject}: {_moved(one)}"
    if one.change == "changed":
        name, _, inner = (one.aspect or "").partition(".")
        word = f"{name[:-1]} {inner}" if inner else WORDS.get(name, name)
        return f"{one.subject}: {word} {_changed(name, one.before, one.after)}"
    record = one.after if one.change == "added" else one.before
    return f"{one.subject}{_content(one.part, record)}"


def _moved(one: Difference) -> str:
    others = [name for name in one.after if name != one.subject]
    if one.part == "options":
        return f"now in the order {listed(one.after)}: the first one gives the default"
    return f"now {'after' if one.after[-1] == one.subject else 'before'} {'; '.join(others)}"


def _changed(aspect: str, before: Any, after: Any) -> str:
    """Write what a value was and is, and of lists and conditions only what differs."""
    if aspect == "choices" and isinstance(before, list) and isinstance(after, list):
        gone = [f"-{_text(value)}" for value in before if value not in after]
        new = [f"+{_text(value)}" for value in after if value not in before]
        if gone or new:
            return " ".join((*gone, *new))
    # A member of an enumeration may have any name.
    if aspect == "when" and isinstance(before, dict) and isinstance(after, dict):
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return f"{_clauses(before, names)} -> {_clauses(after, names)}"
    return f"{_text(before)} -> {_text(after)}"


def _clauses(when: Mapping[str, Any], names: Sequence[str]) -> str:
    return " and ".join(
        condition({name: when[name]}) if name in when else f"{name} is anything" for name in names
    )


def _content(part: str, record: Mapping[str, Any]) -> str:
    """Say what a record that only one surface has does, after its subject."""
    if part == "enums":
        return f": {listed(record)}"
    where = f" where {condition(record['when'])}" if record.get("when") else ""
    attributes = record.get("attributes")
    if part in ("classes", "extras"):
        # The condition of an extra is its subject.
        where = "" if part == "extras" else where
        default = _text(record.get("default"))
        return f"{where}: {f'default {default}' if attributes is None else listed(attributes)}"
    if part == "options":
        return f": {_option(record)}"
    if part == "paths":
        return f": builds {record.get('rotary_class', 'nothing')}"
    if part == "edits":
        quotient = record.get("quotient")
        return f" = {' // '.join(quotient) if quotient else _text(record.get('value'))}{where}"
    return where


def _option(record: Mapping[str, Any]) -> str:
    kind = record.get("enum") or record.get("value_type") or "str"
    parts = [kind if record["action"] == "store" else record["action"].replace("_", " ")]
    default = record.get("default")
    parts.append("no default" if default is None else f"default {_text(default)}")
    if "choices" in record:
        parts.append(f"one of {listed(map(_text, record['choices']))}")
    return "; ".join(parts)


def _text(value: Any) -> str:
    if isinstance(value, dict) and "origin" in value:
        return _argument(value)
    return value_text(value)


def _argument(value: Mapping[str, Any]) -> str:
    where = {"config": "config.", "args": "args."}.get(value["origin"])
    if where is not None:
        return f"{where}{value.get('name')}"
    return f"{value['origin']} {_text(value.get('value'))}"


def model_lines(models: Comparison, first: str, second: str) -> list[str]:
    """Return of which definitions something else is made, and how much that matters."""
    count = len(models.models)
    changed = len(models.changes)
    lines = [f"Models: {changed} of {count} {'changes' if changed == 1 else 'change'}"]
    for one in models.changes:
        lines += ["", f"  {one.model}"]
        lines += _change_lines(one, first, second)
    if models.refused:
        lines += ["", "  refused by both:"]
        for name, reasons in models.refused.items():
            lines += wrapped(f"    {name}: ", _shortened(reasons), hang=6)
    for name, error in models.unusable.items():
        lines += ["", f"  {name}", "    cannot be compared:"]
        lines += [f"      {line}" for line in str(error).splitlines()]
    return [visible(line) for line in lines]


def _shortened(reasons: Sequence[str]) -> str:
    """Return the first of several reasons, and how many more there are."""
    more = len(reasons) - 1
    return f"{reasons[0]} (and {more} more)" if more else reasons[0]


def _change_lines(one: ModelChange, first: str, second: str) -> list[str]:
    lines: list[str] = []
    if not one.fields:
        for name, outcome in ((first, one.before), (second, one.after)):
            lines += wrapped(f"    {name}: ", _outcome(outcome), hang=6)
    else:
        lines += columns([(field.field, _field(field)) for field in one.fields], 4)
    lines += dropped_lines(one, first, second)
    if one.size is not None:
        lines += wrapped("    size: ", one.size, hang=6)
    return lines


def dropped_lines(one: ModelChange, first: str, second: str) -> list[str]:
    """Return which flags only one of two drops."""
    lines: list[str] = []
    for name, outcome, other in (
        (first, one.before, one.after),
        (second, one.after, one.before),
    ):
        new = [flag for flag in outcome.dropped if flag not in other.dropped]
        if new:
            lines += wrapped(f"    dropped by {name}: ", listed(new), hang=6)
    return lines


def _field(field: Any) -> str:
    origin = "" if field.origin is None else f" ({field.origin})"
    return f"{plain(field.before)} -> {plain(field.after)}{origin}"


def _outcome(outcome: Outcome) -> str:
    rope = outcome.rope
    if rope is None:
        return f"refused: {'; '.join(outcome.refusals)}"
    names = (
        *("rotary_base", "rotary_dim", "rotary_scaling_factor"),
        *("original_max_position_embeddings", "beta_fast", "beta_slow", "mscale"),
        *("mscale_all_dim", "round_to_int", "rope_scaling_factor"),
    )
    values = [
        f"{name} {plain(getattr(rope, name))}" for name in names if getattr(rope, name) is not None
    ]
    return f"builds {rope.kind}: {listed(values)}" if values else f"builds {rope.kind}"
