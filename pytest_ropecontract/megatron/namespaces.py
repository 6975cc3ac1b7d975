"""Copying and comparing the values of a namespace."""

from __future__ import annotations

import argparse
import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MUTABLE = frozenset({list, dict, set})


def snapshot(values: Mapping[str, Any]) -> dict[str, Any]:
    """Copy values so that changing a list in one leaves the other; most values are atoms."""
    copied = dict(values)
    for name in [name for name, value in values.items() if type(value) in MUTABLE]:
        value = values[name]
        flat = type(value) is list and MUTABLE.isdisjoint(map(type, value))
        copied[name] = value.copy() if flat else copy.deepcopy(value)
    return copied


def namespace_of(values: Mapping[str, Any]) -> argparse.Namespace:
    """Return a namespace with some values; one may be named ``self``."""
    namespace = argparse.Namespace()
    vars(namespace).update(values)
    return namespace


def copy_of(values: Mapping[str, Any]) -> argparse.Namespace:
    """Return a namespace with copies of some values."""
    return namespace_of(snapshot(values))


def changed_dests(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names whose value is not what it was."""
    missing = object()
    return [
        dest
        for dest, value in after.items()
        if before.get(dest, missing) is not value and not _equal(before.get(dest, missing), value)
    ]


def _equal(left: Any, right: Any) -> bool:
    try:
        return type(left) is type(right) and bool(left == right)
    except Exception:  # noqa: BLE001  # arrays and the like compare in their own way
        return left is right
