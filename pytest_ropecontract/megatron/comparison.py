"""What differs between two surfaces, record by record."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from pytest_ropecontract.megatron.surface import is_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pytest_ropecontract.megatron.surface import (
        Attribute,
        ConfigClass,
        Edit,
        ExtraAttributes,
        OptionRecord,
        Refusal,
        RotaryPath,
        RotaryRule,
        Surface,
    )

Part = Literal["options", "enums", "edits", "refusals", "classes", "extras", "paths", "rules"]
PARTS: tuple[Part, ...] = get_args(Part)
Change = Literal["added", "removed", "changed", "moved"]


@dataclass(frozen=True)
class Difference:
    """One thing in which the second of two surfaces differs from the first.

    Attributes:
        part: The part of a surface that it is in.
        subject: What it is about: a flag, ``MLATransformerConfig.mscale``, the text of a
            refusal, the name of a rotary path.
        change: ``added`` and ``removed`` are seen from the first surface; ``moved`` is an
            order that decides which of several records applies.
        aspect: What of the subject changed, for example ``default``; ``order`` where it moved;
            None where all of it was added or removed.
        before: What the first surface has, as a JSON value; None where it was added.
        after: What the second surface has; None where it was removed.
    """

    part: Part
    subject: str
    change: Change
    aspect: str | None = None
    before: Any = None
    after: Any = None


def compare(first: Surface, second: Surface) -> tuple[Difference, ...]:
    """Return what the second surface does otherwise than the first, part by part.

    Name, version, source and fingerprint are no part of what a Megatron does, so surfaces of
    two versions can be equal. The order of records counts where it decides something.
    """
    return (
        *_options(first.options, second.options),
        *_enums(first.enums, second.enums),
        *_edits(first.edits, second.edits),
        *_refusals(first.refusals, second.refusals),
        *_classes(first.classes, second.classes),
        *_extras(first.extras, second.extras),
        *_paths(first.paths, second.paths),
        *_rules(first.rules, second.rules),
    )


def _options(first: Sequence[OptionRecord], second: Sequence[OptionRecord]) -> Iterator[Difference]:
    taken: set[int] = set()
    by_flag = {flag: index for index, one in enumerate(second) for flag in one.flags}
    for option in first:
        index = next((by_flag[flag] for flag in option.flags if flag in by_flag), None)
        if index is None or index in taken:
            yield Difference("options", option.flags[0], "removed", before=_record(option))
            continue
        taken.add(index)
        yield from _fields("options", option.flags[0], option, second[index])
    for index, option in enumerate(second):
        if index not in taken:
            yield Difference("options", option.flags[0], "added", after=_record(option))
    # Of options with one dest, the one that is added first gives the default.
    orders = (_flags_by_dest(first), _flags_by_dest(second))
    for dest, flags in orders[0].items():
        others = orders[1].get(dest, [])
        if flags != others and sorted(flags) == sorted(others):
            yield Difference("options", dest, "moved", "order", flags, others)


def _flags_by_dest(options: Iterable[OptionRecord]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for option in options:
        found.setdefault(option.dest, []).append(option.flags[0])
    return found


def _enums(
    first: Mapping[str, Mapping[str, int | str]], second: Mapping[str, Mapping[str, int | str]]
) -> Iterator[Difference]:
    for name, members in first.items():
        if name not in second:
            yield Difference("enums", name, "removed", before=dict(members))
        else:
            yield from _entries("enums", name, "", members, second[name])
    for name, members in second.items():
        if name not in first:
            yield Difference("enums", name, "added", after=dict(members))


def _edits(first: Sequence[Edit], second: Sequence[Edit]) -> Iterator[Difference]:
    yield from _paired(
        "edits",
        (first, second),
        lambda one: one.dest,
        (
            lambda one: (one.dest, repr(one.value), one.quotient),
            lambda one: (one.dest, _key(one.when)),
        ),
        lambda one, other: one.dest == other.dest,
    )


def _refusals(first: Sequence[Refusal], second: Sequence[Refusal]) -> Iterator[Difference]:
    yield from _paired(
        "refusals",
        (first, second),
        lambda one: f"{one.by}: {one.message}",
        (
            lambda one: (one.by, one.error, one.message),
            lambda one: (one.by, _key(one.when)),
        ),
        lambda one, other: (
            one.by == other.by and (one.error, one.message) != (other.error, other.message)
        ),
    )


def _classes(first: Sequence[ConfigClass], second: Sequence[ConfigClass]) -> Iterator[Difference]:
    others = {one.name: one for one in second}
    for one in first:
        other = others.get(one.name)
        if other is None:
            yield Difference("classes", one.name, "removed", before=_record(one))
            continue
        yield from _value("classes", one.name, "when", one.when, other.when)
        yield from _attributes("classes", one.name, one.attributes, other.attributes)
    known = {one.name for one in first}
    for one in second:
        if one.name not in known:
            yield Difference("classes", one.name, "added", after=_record(one))
    yield from _order("classes", (first, second), lambda one: one.name, lambda *_: True)


def _extras(
    first: Sequence[ExtraAttributes], second: Sequence[ExtraAttributes]
) -> Iterator[Difference]:
    """Compare what is set on a config, by the condition under which it is set."""
    yield from _paired(
        "extras",
        (first, second),
        lambda one: f"config where {condition(one.when)}" if one.when else "config",
        (lambda one: tuple(sorted(one.attributes)), lambda one: _key(one.when)),
        lambda one, other: not one.attributes.keys().isdisjoint(other.attributes),
    )


def _attributes(
    part: Part, holder: str, first: Mapping[str, Attribute], second: Mapping[str, Attribute]
) -> Iterator[Difference]:
    for name, attribute in first.items():
        if name not in second:
            yield Difference(part, f"{holder}.{name}", "removed", before=_record(attribute))
        else:
            yield from _fields(part, f"{holder}.{name}", attribute, second[name])
    for name, attribute in second.items():
        if name not in first:
            yield Difference(part, f"{holder}.{name}", "added", after=_record(attribute))


def _paths(
    first: Mapping[str, RotaryPath], second: Mapping[str, RotaryPath]
) -> Iterator[Difference]:
    for name, path in first.items():
        if name not in second:
            yield Difference("paths", name, "removed", before=_record(path))
            continue
        other = second[name]
        for aspect in ("attention", "kind", "rotary_class", "returns"):
            yield from _value("paths", name, aspect, getattr(path, aspect), getattr(other, aspect))
        yield from _entries("paths", name, "arguments.", path.arguments, other.arguments)
        yield from _entries("paths", name, "reads.", path.reads, other.reads)
    for name, path in second.items():
        if name not in first:
            yield Difference("paths", name, "added", after=_record(path))


def _rules(first: Sequence[RotaryRule], second: Sequence[RotaryRule]) -> Iterator[Difference]:
    yield from _paired(
        "rules",
        (first, second),
        lambda one: one.path,
        (lambda one: one.path, lambda one: _key(one.when)),
        lambda one, other: one.path != other.path,
    )


def _paired(
    part: Part,
    both: tuple[Sequence[Any], Sequence[Any]],
    name: Callable[[Any], str],
    keys: Sequence[Callable[[Any], Any]],
    decides: Callable[[Any, Any], bool],
) -> Iterator[Difference]:
    """Compare two lists of records that have no names of their own.

    Args:
        part: The part of a surface that they are.
        both: The two lists.
        name: How to call a record.
        keys: What makes two records one that changed, the first that fits.
        decides: Whether the order of two records can matter, where both could apply.
    """
    first, second = list(both[0]), list(both[1])
    pairs: list[tuple[Any, Any]] = []
    for key in (_key, *keys):
        for one in list(first):
            candidates = [other for other in second if key(other) == key(one)]
            if candidates:
                other = min(candidates, key=functools.partial(_distance, one))
                pairs.append((one, other))
                first.remove(one)
                second.remove(other)
    for one, other in pairs:
        yield from _fields(part, name(one), one, other)
    for one in first:
        yield Difference(part, name(one), "removed", before=_record(one))
    for other in second:
        yield Difference(part, name(other), "added", after=_record(other))

    same = {id(one): _key(other) for one, other in pairs}
    kept = [one for one in both[0] if id(one) in same]
    yield from _order(
        part,
        (kept, both[1]),
        lambda one: same.get(id(one), _key(one)),
        lambda one, other: decides(one, other) and compatible(one.when, other.when),
        name,
    )


def _order(
    part: Part,
    both: tuple[Sequence[Any], Sequence[Any]],
    key: Callable[[Any], Any],
    decides: Callable[[Any, Any], bool],
    name: Callable[[Any], str] = lambda one: str(one.name),
) -> Iterator[Difference]:
    """Find records that decide together and stand in the other order."""
    places = {key(one): index for index, one in enumerate(both[1])}
    known = [one for one in both[0] if key(one) in places]
    turned = [
        (one, other)
        for one, other in itertools.combinations(known, 2)
        if places[key(one)] > places[key(other)] and decides(one, other)
    ]
    while turned:
        counts = Counter(id(one) for pair in turned for one in pair)
        moved = max(known, key=lambda one: counts[id(one)])
        passed = [one for pair in turned if any(one is moved for one in pair) for one in pair]
        names = [name(one) for one in passed if one is not moved]
        turned = [pair for pair in turned if not any(one is moved for one in pair)]
        # Each pair has them in their first order: the one that moved stands first in all of
        # its pairs, or in none.
        own = name(moved)
        old = [own, *names] if passed[0] is moved else [*names, own]
        new = [*names, own] if passed[0] is moved else [own, *names]
        yield Difference(part, own, "moved", "order", old, new)


def compatible(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two conditions can hold for the same values, as far as lists tell."""
    for name, allowed in one.items():
        values = other.get(name)
        if isinstance(allowed, list) and isinstance(values, list):
            if not any(_same(left, right) for left in allowed for right in values):
                return False
        elif _only_none(allowed, values) or _only_none(values, allowed):
            return False
    return True


def _only_none(allowed: Any, values: Any) -> bool:
    """Return whether one condition wants no value, and the other wants one."""
    return allowed == [None] and isinstance(values, dict) and "lacks" not in values


def _distance(one: Any, other: Any) -> int:
    when, then = one.when, other.when
    return sum(not _same(when.get(name), then.get(name)) for name in {*when, *then})


def _fields(part: Part, subject: str, one: Any, other: Any) -> Iterator[Difference]:
    """Compare two records field by field, and mappings among their fields entry by entry."""
    for name, left, right in zip(one._fields, one, other, strict=True):
        if name == "attributes":
            yield from _attributes(part, subject, left, right)
        else:
            yield from _value(part, subject, name, left, right)


def _value(part: Part, subject: str, aspect: str, one: Any, other: Any) -> Iterator[Difference]:
    if not _same(one, other):
        yield Difference(part, subject, "changed", aspect, plain(one), plain(other))


def _entries(
    part: Part, subject: str, prefix: str, first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[Difference]:
    for name in dict.fromkeys((*first, *second)):
        one, other = first.get(name), second.get(name)
        if not _same(one, other):
            yield Difference(part, subject, "changed", prefix + name, plain(one), plain(other))


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are equal and of one type, also within."""
    return _key(one) == _key(other)


def _key(value: Any) -> str:
    # 1, 1.0 and True are equal, and their representations are not.
    return repr(value)


def _record(record: Any) -> dict[str, Any]:
    """Return the fields of a record that are not empty, as JSON values."""
    found = {name: plain(value) for name, value in record._asdict().items()}
    empty: tuple[Any, ...] = (None, False, {}, [])
    return {
        name: value
        for name, value in found.items()
        if not any(_same(value, one) for one in empty) or name == "default"
    }


def plain(value: Any) -> Any:
    """Return a value of a surface as a JSON value."""
    if is_record(value):
        return _record(value)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value


def condition(when: Mapping[str, Any]) -> str:
    """Say in one line when a condition holds."""
    return " and ".join(_clause(name, allowed) for name, allowed in when.items()) or "always"


def _clause(name: str, allowed: Any) -> str:
    if isinstance(allowed, list):
        return f"{name} is {' or '.join(map(str, allowed))}"
    if "given" in allowed:
        return f"{name} is given"
    verb = "contains" if "contains" in allowed else "lacks"
    return f"{name} {verb} {' or '.join(map(str, allowed[verb]))}"
