"""What ``validate_args`` and the config constructor do with RoPE values, found by trying."""

from __future__ import annotations

import dataclasses
import itertools
import traceback
from typing import TYPE_CHECKING, Any, Literal

from pytest_ropecontract.megatron.recording.conditions import (
    CANDIDATE,
    Probe,
    box,
    cover,
    others,
    same,
)
from pytest_ropecontract.megatron.surface import (
    Attribute,
    ConfigClass,
    Edit,
    ExtraAttributes,
    Refusal,
    holds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MISSING = object()
# Options that turn validation itself off or replace the namespace.
VALIDATORS_OWN = frozenset({"yaml_cfg", "use_checkpoint_args"})
SENTINELS = {bool: True, int: 48, float: 0.25, str: "probe"}


def attempt(action: Callable[..., Any], *values: Any) -> tuple[Any, BaseException | None]:
    """Return the result of an action with some values, or what it raised."""
    try:
        return action(*values), None
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a refusal may be any of them
        return None, error


@dataclasses.dataclass(frozen=True)
class Validated:
    """What ``validate_args`` did with one namespace: an error, or values that it wrote."""

    error: BaseException | None
    written: dict[str, Any]


class Validations:
    """What ``validate_args`` does at the starting points and around them."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.outputs = [
            dest
            for dest in vars(probe.contexts["gpt"])
            if CANDIDATE.search(dest) or dest.endswith("_fusion")
        ]
        self.known: dict[str, Validated] = {}

    def at(self, context: str, changes: dict[str, Any]) -> Validated:
        """Return what is done with a namespace."""
        key = repr((context, sorted(changes.items(), key=str)))
        if key not in self.known:
            before = self.probe.namespace(context, changes)
            after, error = attempt(self.probe.laboratory.validate, before)
            written = {}
            if error is None:
                for dest in self.outputs:
                    old, new = getattr(before, dest, MISSING), getattr(after, dest, MISSING)
                    plain = new is None or isinstance(new, bool | int | float | str)
                    if plain and not same(old, new):
                        written[dest] = new
            self.known[key] = Validated(error, written)
        return self.known[key]


def record_edits(validations: Validations) -> tuple[Edit, ...]:
    """Record the RoPE values that ``validate_args`` writes, and when."""
    probe = validations.probe
    edits: list[Edit] = []
    for dest, relevant in _influences(validations).items():
        if _is_quotient(validations, dest):
            quotient = ("hidden_size", "num_attention_heads")
            edits.append(Edit(dest, {dest: [None]}, quotient=quotient))
            continue
        domains = {name: probe.domains[name] for name in sorted(relevant)}
        written: list[tuple[Any, dict[str, Any]]] = []
        unknown: list[dict[str, Any]] = []
        for combination in itertools.product(*domains.values()):
            cell = dict(zip(domains, combination, strict=True))
            outcome = _outcome(validations, cell)
            if outcome.error is not None:
                unknown.append(cell)
            elif dest in outcome.written:
                written.append((outcome.written[dest], cell))
        values: list[Any] = []
        for value, _ in written:
            if not any(same(value, known) for known in values):
                values.append(value)
        for value in values:
            cells = [cell for one, cell in written if same(one, value)]
            # Where the value is there already, writing it again changes nothing.
            free = [*unknown, *_holding(domains, dest, value)]
            edits.extend(Edit(dest, when, value) for when in cover(cells, domains, free))
    return tuple(edits)


def _outcome(validations: Validations, cell: dict[str, Any]) -> Validated:
    outcome = validations.at("gpt", cell)
    return outcome if outcome.error is None else validations.at("mla", cell)


def _holding(domains: dict[str, list[Any]], dest: str, value: Any) -> list[dict[str, Any]]:
    if dest not in domains:
        return []
    cells = (dict(zip(domains, one, strict=True)) for one in itertools.product(*domains.values()))
    return [cell for cell in cells if same(cell[dest], value)]


def _influences(validations: Validations) -> dict[str, set[str]]:
    """Return per written attribute the options on which it depends what is written."""
    probe = validations.probe
    found: dict[str, set[str]] = {}
    for context in probe.contexts:
        for changes in probe.changes():
            here = validations.at(context, changes)
            for dest in here.written:
                found.setdefault(dest, set())
            for left in changes:
                rest = {name: value for name, value in changes.items() if name != left}
                there = validations.at(context, rest)
                if here.error is not None or there.error is not None:
                    continue
                for dest in {*here.written, *there.written}:
                    one = here.written.get(dest, MISSING)
                    if not same(one, there.written.get(dest, MISSING)):
                        found.setdefault(dest, set()).add(left)
    return dict(sorted(found.items()))


def _is_quotient(validations: Validations, dest: str) -> bool:
    for heads in (2, 4, 8):
        changes = {"num_attention_heads": heads, "hidden_size": 192, dest: None}
        if validations.at("gpt", changes).written.get(dest) != 192 // heads:
            return False
    return True


def record_refusals(validations: Validations) -> tuple[Refusal, ...]:
    """Record the RoPE values that ``validate_args`` and the config refuse."""
    probe = validations.probe
    prepared = {
        context: vars(probe.laboratory.validate(namespace))
        for context, namespace in probe.contexts.items()
    }

    def configure(context: str, changes: dict[str, Any]) -> BaseException | None:
        namespace = probe.namespace(context, {**prepared[context], **changes})
        return attempt(probe.laboratory.configure, namespace)[1]

    def validate(context: str, changes: dict[str, Any]) -> BaseException | None:
        return validations.at(context, changes).error

    parsed = {context: vars(namespace) for context, namespace in probe.contexts.items()}
    return (
        *_refusals(probe, "validate_args", parsed, validate),
        *_refusals(probe, "config", prepared, configure),
    )


def _refusals(
    probe: Probe,
    by: Literal["validate_args", "config"],
    bases: dict[str, dict[str, Any]],
    stage: Callable[[str, dict[str, Any]], BaseException | None],
) -> list[Refusal]:
    found: list[Refusal] = []
    for context in probe.contexts:
        for changes in probe.changes():
            error = stage(context, changes)
            if error is None:
                continue
            base = bases[context]
            if any(holds(refusal.when, {**base, **changes}) for refusal in found):
                continue
            point = {dest: changes.get(dest, base.get(dest)) for dest in probe.domains}

            def refused(values: dict[str, Any], context: str = context) -> Any:
                raised = stage(context, values)
                return None if raised is None else _place(raised)

            accepted = {dest: base.get(dest) for dest in probe.domains}
            condition = box(point, accepted, probe.domains, refused)
            message = str(error) or type(error).__name__
            for dest, allowed in condition.items():
                value = point[dest]
                if isinstance(value, str) and isinstance(allowed, list) and len(allowed) > 1:
                    message = message.replace(value, "{" + dest + "}")
            for dest, value in _exceptions(probe, accepted, (base, point), refused):
                condition[dest] = [value]
            found.append(Refusal(by, condition, type(error).__name__, message))
    return found


def _exceptions(
    probe: Probe,
    accepted: dict[str, Any],
    at: tuple[dict[str, Any], dict[str, Any]],
    refused: Callable[[dict[str, Any]], Any],
) -> Iterator[tuple[str, Any]]:
    """Yield the options beyond the varied ones, and their values, on which a refusal depends."""
    base, point = at
    reason = refused(point)
    for option in probe.options:
        if option.dest in probe.domains or option.dest in VALIDATORS_OWN:
            continue
        current = base.get(option.dest)
        if current is not None and not isinstance(current, bool | str | int | float):
            continue
        for value in others(option, current):
            change = {option.dest: value}
            if refused({**point, **change}) != reason and refused({**accepted, **change}) is None:
                yield option.dest, current
                break


def _place(error: BaseException) -> tuple[str, int]:
    """Return where an error was raised: the same check, whatever values its text shows."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return (frame.f_code.co_filename, line)


def record_config(probe: Probe) -> tuple[tuple[ConfigClass, ...], tuple[ExtraAttributes, ...]]:
    """Record the config classes, where their RoPE fields come from, and what is added."""
    classes = []
    for context, when in (("mla", {"multi_latent_attention": [True]}), ("gpt", {})):
        config = _configured(probe, context, {})
        names = [f.name for f in dataclasses.fields(config) if CANDIDATE.search(f.name)]
        classes.append(
            ConfigClass(
                type(config).__name__,
                when,
                {name: _attribute(probe, context, type(config), name) for name in names},
            )
        )
    return tuple(classes), _extras(probe)


def _configured(probe: Probe, context: str, changes: dict[str, Any]) -> Any:
    validated = vars(probe.laboratory.validate(probe.contexts[context]))
    namespace = probe.namespace(context, {**validated, "apply_rope_fusion": False, **changes})
    return probe.laboratory.configure(namespace)


def _attribute(probe: Probe, context: str, config_class: type, name: str) -> Attribute:
    default = next(f for f in dataclasses.fields(config_class) if f.name == name).default
    default = None if default is dataclasses.MISSING else default
    domain = [value for value in probe.domains.get(name, []) if value is not None]
    tried = domain or [SENTINELS.get(type(default), 48)]
    transform: Any = None
    copied = False
    for value in tried:
        config, error = attempt(_configured, probe, context, {name: value})
        if error is not None:
            continue
        result = getattr(config, name)
        copied = copied or same(result, value)
        if isinstance(value, int) and result == [0, 1, 0, 1]:
            transform = "layer_pattern"
    config, error = attempt(_configured, probe, context, {name: None})
    dropped = error is None and default is not None and same(getattr(config, name), default)
    return Attribute(
        default, name if copied or transform else None, none_is_default=dropped, transform=transform
    )


def _extras(probe: Probe) -> tuple[ExtraAttributes, ...]:
    """Record attributes that are set on a config beside its fields."""
    selectors = ("multi_latent_attention", "position_embedding_type", "rope_type")
    domains = {name: probe.domains[name] for name in selectors if name in probe.domains}
    cells: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    unknown: list[dict[str, Any]] = []
    for combination in itertools.product(*domains.values()):
        cell = dict(zip(domains, combination, strict=True))
        context = "mla" if cell["multi_latent_attention"] else "gpt"
        config, error = attempt(_configured, probe, context, cell)
        if error is None:
            cells.setdefault(tuple(sorted(_added(config))), []).append(cell)
        else:
            unknown.append(cell)
    return tuple(
        ExtraAttributes(condition, _extra_attributes(probe, found, names_added))
        for names_added, found in cells.items()
        if names_added
        for condition in cover(found, domains, unknown)
    )


def _added(config: Any) -> list[str]:
    fields = {field.name for field in dataclasses.fields(config)}
    return [name for name in vars(config) if name not in fields and CANDIDATE.search(name)]


def _extra_attributes(
    probe: Probe, cells: list[dict[str, Any]], names: Sequence[str]
) -> dict[str, Attribute]:
    cell = cells[0]
    context = "mla" if cell["multi_latent_attention"] else "gpt"
    base = _configured(probe, context, cell)
    attributes = {}
    for name in names:
        source, default = None, getattr(base, name)
        for dest in vars(probe.contexts[context]):
            if dest in cell or not CANDIDATE.search(dest):
                continue
            for value in (48, 0.25, True, False):
                if same(getattr(probe.contexts[context], dest, None), value):
                    continue
                config, error = attempt(_configured, probe, context, {**cell, dest: value})
                arrived = error is None and same(getattr(config, name, MISSING), value)
                if arrived and not same(value, default):
                    source = dest
        if source is not None:
            config, error = attempt(_configured, probe, context, {**cell, source: None})
            default = getattr(config, name) if error is None else default
        attributes[name] = Attribute(default, source, none_is_default=source is not None)
    return attributes
