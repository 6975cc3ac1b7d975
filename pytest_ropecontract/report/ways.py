"""The way of a value, from what writes it to the argument of the rotary class, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a value does on its way, where nothing on the command line says it.
_BEGINNINGS = {
    "filled": "filled by {}",
    "config-default": "default of {}",
    "constructor-default": "default of {}",
}


def beginning(origin: str, text: str) -> str:
    """Return what writes a value.

    Args:
        origin: One of ``ORIGINS``.
        text: The flag as written, the function that wrote it, or the class whose default it is.
    """
    return _BEGINNINGS.get(origin, "{}").format(text)


def places(
    origin: str,
    rotary_class: str | None,
    *,
    dest: str | None,
    attribute: str | None,
    argument: str | None,
) -> Iterator[str]:
    """Yield what a value goes through: namespace, config, rotary class, as far as it does.

    Args:
        origin: One of ``ORIGINS``.
        rotary_class: The class that is built, or None.
        dest: The namespace attribute, or None.
        attribute: The config attribute, or None.
        argument: The argument of the rotary class, or None.
    """
    if dest is not None and origin != "config-default":
        yield f"args.{dest}"
    if attribute is not None and origin != "config-default":
        yield f"config.{attribute}"
    if argument is not None and origin != "constructor-default":
        yield f"{rotary_class}({argument})"
