"""How namespace values reach a config, by the rules of a surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ropecontract.megatron.backend import ConfigRefusedError
from pytest_ropecontract.megatron.surface import holds
from pytest_ropecontract.megatron.values import LIST_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ropecontract.megatron.surface import Attribute, ConfigClass, Surface

MISSING = object()


def choose_class(surface: Surface, namespace: Mapping[str, Any]) -> ConfigClass:
    """Return the config class that is constructed for a namespace."""
    for candidate in surface.classes:
        if holds(candidate.when, namespace):
            return candidate
    return surface.classes[-1]


def attributes(surface: Surface, namespace: Mapping[str, Any]) -> dict[str, Attribute]:
    """Return the config attributes that exist for a namespace, with their sources."""
    found = dict(choose_class(surface, namespace).attributes)
    for extra in surface.extras:
        if holds(extra.when, namespace):
            found.update(extra.attributes)
    return found


def takes_default(attribute: Attribute, namespace: Mapping[str, Any]) -> bool:
    """Return whether the class default, not a namespace value, is what a config has."""
    value = MISSING if attribute.dest is None else namespace.get(attribute.dest, MISSING)
    return value is MISSING or (value is None and attribute.none_is_default)


def value_of(attribute: Attribute, name: str, namespace: Mapping[str, Any]) -> Any:
    """Return the value of a config attribute.

    Raises:
        ConfigRefusedError: A pattern of layers does not fit their number.
    """
    if attribute.dest is None or takes_default(attribute, namespace):
        return attribute.default
    value = namespace[attribute.dest]
    if attribute.transform == "layer_pattern" and value:
        return layer_pattern(value, namespace.get("num_layers") or 0, name)
    return value


def layer_pattern(value: Any, layers: Any, name: str) -> Any:
    """Return a list with an element for every layer, as the config makes it of a number.

    Raises:
        ConfigRefusedError: The list has another length, or the number does not divide it.
    """
    if isinstance(value, list | tuple):
        if len(value) != layers:
            raise ConfigRefusedError(
                "config",
                "AssertionError",
                f"Length of no_rope list ({len(value)}) must match the number of layers ({layers})",
            )
        return value
    if not isinstance(value, int) or not isinstance(layers, int):
        text = f"{name}={value!r} and num_layers={layers!r} are not both whole numbers"
        raise ConfigRefusedError("config", "unresolvable", text)
    if layers % value:
        text = f"{name}={value} should be divisible by num_layers={layers}."
        raise ConfigRefusedError("config", "AssertionError", text)
    if max(layers, value) > LIST_LENGTH:
        raise ConfigRefusedError("config", "unresolvable", f"{layers} layers are too many")
    return ([0] * (value - 1) + [1]) * (layers // value)


def check_refusals(surface: Surface, by: str, namespace: Mapping[str, Any]) -> None:
    """Apply the recorded refusals of one stage.

    Raises:
        ConfigRefusedError: One of them holds.
    """
    for refusal in surface.refusals:
        if refusal.by == by and holds(refusal.when, namespace):
            message = refusal.message
            for name in refusal.when:
                message = message.replace("{" + name + "}", str(namespace.get(name)))
            raise ConfigRefusedError(by, refusal.error, message)


def edits(surface: Surface, namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that ``validate_args`` changes."""
    written: dict[str, Any] = {}
    for edit in surface.edits:
        if not holds(edit.when, namespace):
            continue
        if edit.quotient is None:
            written[edit.dest] = edit.value
            continue
        dividend, divisor = (namespace.get(name) for name in edit.quotient)
        if isinstance(dividend, int) and isinstance(divisor, int) and divisor:
            written[edit.dest] = dividend // divisor
    return {dest: value for dest, value in written.items() if namespace.get(dest, MISSING) != value}
