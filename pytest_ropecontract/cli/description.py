"""What of a surface concerns RoPE, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ropecontract.cli.tables import columns, listed, value_text, wrapped
from pytest_ropecontract.contracts.rules import OTHER_DESTS, ROPE_DESTS
from pytest_ropecontract.megatron.comparison import condition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ropecontract.megatron.surface import (
        Argument,
        Attribute,
        Condition,
        OptionRecord,
        RotaryPath,
        Source,
        Surface,
    )

SETTERS = {"store_true": "sets True", "store_false": "sets False", "boolean": "sets True or False"}
SOURCES = {
    "config": "from the config:",
    "args": "from the namespace:",
    "constructor": "constructor default:",
    "constant": "always:",
}


def describe(surface: Surface) -> list[str]:
    """Return the lines that ``ropecontract surface show`` prints."""
    flags = {option.dest: option.flags[0] for option in reversed(surface.options)}
    lines = [surface.name, ""]
    lines += columns(
        [
            ("version", surface.version),
            ("recorded from", _source(surface.source)),
            ("options", str(len(surface.options))),
            ("fingerprint", surface.fingerprint[:12]),
        ]
    )
    lines += ["", "RoPE options"]
    lines += columns([_option_row(option) for option in _rope_options(surface)] or [("none",)], 2)
    for one in surface.classes:
        lines += ["", *wrapped("", f"{one.name} {_where(one.when, 'in all other cases')}")]
        lines += _attribute_lines(one.attributes, flags)
    for extra in surface.extras:
        lines += ["", *wrapped("", f"set on the config {_where(extra.when, 'always')}")]
        lines += _attribute_lines(extra.attributes, flags)
    lines += ["", "Rotary paths"]
    for path in surface.paths.values():
        lines += _path_lines(path)
    lines += ["", "Which path is taken: the first whose condition holds"]
    for rule in surface.rules:
        lines += wrapped("  ", f"{rule.path} {_where(rule.when, 'in all other cases')}", hang=4)
    return lines


def _source(source: Source) -> str:
    """Say where a surface was recorded from."""
    parts = []
    if source.distribution is not None:
        parts.append(f"{source.distribution} {source.version}")
    if source.revision is not None:
        parts.append(f"commit {source.revision}")
    origin = listed(parts) or "sources without a version"
    return origin + (f", with {listed(source.arguments)}" if source.arguments else "")


def _rope_options(surface: Surface) -> list[OptionRecord]:
    """Return the options that only concern rotation, and those that decide about it."""
    dests = {*ROPE_DESTS, *OTHER_DESTS}
    for path in surface.paths.values():
        for argument in (*path.arguments.values(), *path.reads.values()):
            if argument.origin == "args" and argument.name is not None:
                dests.add(argument.name)
    for rule in surface.rules:
        dests.update(rule.when)
    return [option for option in surface.options if option.dest in dests]


def _option_row(option: OptionRecord) -> tuple[str, str]:
    default = option.default
    parts = [_takes(option)]
    parts.append("no default" if default is None else f"default {value_text(default)}")
    if option.choices is not None:
        parts.append(f"one of {listed(map(value_text, option.choices))}")
    return listed(option.flags), "; ".join(parts)


def _takes(option: OptionRecord) -> str:
    """Say what stands behind a flag."""
    if option.action == "store_const":
        return f"sets {value_text(option.const)}"
    if option.action in SETTERS:
        return SETTERS[option.action]
    kind = option.enum or option.value_type or "str"
    if option.nargs == "?":
        return f"{kind}, may be left out"
    if option.nargs is not None and option.nargs != 1:
        return f"{kind}, {'several' if isinstance(option.nargs, str) else option.nargs} values"
    return kind


def _attribute_lines(attributes: Mapping[str, Attribute], flags: Mapping[str, str]) -> list[str]:
    rows = []
    for name, attribute in sorted(attributes.items()):
        flag = flags.get(attribute.dest or "", "no flag")
        rows.append((name, f"default {value_text(attribute.default)}; {flag}"))
    return columns(rows, 2) if rows else ["  none"]


def _path_lines(path: RotaryPath) -> list[str]:
    built = path.rotary_class or "nothing"
    results = "" if path.returns is None else f", returns {path.returns}"
    lines = [f"  {path.name}: builds {built}{results}"]
    for origin, label in SOURCES.items():
        items = [
            _argument(name, argument)
            for name, argument in path.arguments.items()
            if argument.origin == origin
        ]
        if items:
            lines += wrapped("    ", f"{label} {listed(items)}", hang=6)
    if path.reads:
        items = [_argument(role, argument) for role, argument in path.reads.items()]
        lines += wrapped("    ", f"read by the attention: {listed(items)}", hang=6)
    return lines


def _argument(name: str, argument: Argument) -> str:
    """Name an argument of a rotary class, and what arrives there under another name."""
    if argument.name is None:
        return f"{name} {value_text(argument.value)}"
    return name if argument.name == name else f"{name} ({argument.name})"


def _where(when: Condition, otherwise: str) -> str:
    """Say when a condition holds."""
    return f"where {condition(when)}" if when else otherwise
