"""Copying and comparing the values of a namespace."""

from __future__ import annotations

import argparse
import copy
import operator
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# A namespace has nearly a thousand values, and is copied and compared for every omission that is
# tried: the few that matter are picked here without a step of Python for each of the others.
MUTABLE = frozenset({list, dict, set})
_MISSING = object()


def snapshot(values: Mapping[str, Any]) -> dict[str, Any]:
    """Copy values so that changing a list in one leaves the other; most values are atoms."""
    copied = dict(values)
    types = map(type, values.values())
    for name, value in [*compress(values.items(), map(MUTABLE.__contains__, types))]:
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
    others = map(operator.is_not, map(before.get, after, repeat(_MISSING)), after.values())
    return [
        dest
        for dest, value in compress(after.items(), others)
        if not _equal(before.get(dest, _MISSING), value)
    ]


def _equal(left: Any, right: Any) -> bool:
    try:
        return type(left) is type(right) and bool(left == right)
    except Exception:  # noqa: BLE001  # arrays and the like compare in their own way
        return left is right
