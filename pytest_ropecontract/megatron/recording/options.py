"""The options of a live parser, as records."""

from __future__ import annotations

import enum
import inspect
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.megatron.recorded import PLAIN_READERS
from pytest_ropecontract.megatron.surface import OptionRecord, SurfaceError
from pytest_ropecontract.megatron.values import enum_reader, make_enum

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

ACTION_NAMES = {
    "_StoreAction": "store",
    "_StoreConstAction": "store_const",
    "_StoreTrueAction": "store_true",
    "_StoreFalseAction": "store_false",
    "_AppendAction": "append",
    "_CountAction": "count",
    "_ExtendAction": "extend",
    "BooleanOptionalAction": "boolean",
}
PROBES = (
    *("0", "1", "-1", "007", "1.5", "1e3", "nan", "", " 1 ", "abc", "True", "None", "1_000"),
    *("[0]*2+[1]", "([0]+[1])*2", "[1", "[x]", "[0]+1", "[]", "1,2", "(1,2)", "(1)", "1,", "a,b"),
)


def record_options(
    parser: argparse.ArgumentParser,
) -> tuple[tuple[OptionRecord, ...], dict[str, dict[str, int | str]]]:
    """Record every option of a parser, in order, and the enumerations that they read.

    Raises:
        SurfaceError: An option of a kind that cannot be recorded.
    """
    enums: dict[str, dict[str, int | str]] = {}
    records = []
    for action in parser._actions:  # noqa: SLF001  # argparse has no public list of them
        kind = type(action).__name__
        if kind == "_HelpAction":
            continue
        if kind not in ACTION_NAMES or not action.option_strings:
            name = "/".join(action.option_strings) or action.dest
            raise SurfaceError(f"option {name} is a {kind}, which cannot be recorded")
        records.append(_record(action, ACTION_NAMES[kind], enums))
    return tuple(records), enums


def _record(
    action: argparse.Action, kind: str, enums: dict[str, dict[str, int | str]]
) -> OptionRecord:
    value_type: str | None = None
    enum_name: str | None = None
    literals: tuple[str, ...] = ()
    if kind in ("store", "append", "extend") and action.type is not None:
        value_type, enum_name, literals = _recognise(action, enums)
    name = None if value_type is None else getattr(action.type, "__name__", None)
    takes_const = kind == "store_const" or action.nargs == "?"
    flags = tuple(action.option_strings)
    if kind == "boolean":
        flags = tuple(flag for flag in flags if not flag.startswith("--no-"))
    return OptionRecord(
        flags=flags,
        dest=action.dest,
        action=kind,
        value_type=value_type,
        reader=None if name == value_type else name,
        enum=enum_name,
        nargs=action.nargs if kind in ("store", "append", "extend") else None,
        const=list(literals) or (_plain(action.const, enums) if takes_const else None),
        default=_plain(action.default, enums),
        choices=None
        if action.choices is None or kind not in ("store", "append", "extend")
        else tuple(_plain(choice, enums) for choice in action.choices),
        required=action.required,
    )


def _recognise(
    action: argparse.Action, enums: dict[str, dict[str, int | str]]
) -> tuple[str, str | None, tuple[str, ...]]:
    """Recognise a type function by what it does with a set of texts."""
    reader: Any = action.type
    for name, candidate in PLAIN_READERS.items():
        if all(_outcome(reader, text) == _outcome(candidate, text) for text in PROBES):
            return name, None, ()
    for found in _enumerations(reader):
        members = [*found.__members__]
        literals = tuple(
            sorted(text for text in _texts(reader) if _outcome(reader, text) == ("value", text))
        )
        stand_in = enum_reader(make_enum(found.__name__, _members(found)), frozenset(literals))
        texts = [*members, *literals, *PROBES]
        if all(
            _member(_outcome(reader, text)) == _member(_outcome(stand_in, text)) for text in texts
        ):
            enums[found.__name__] = _members(found)
            return "enum", found.__name__, literals
    name = getattr(reader, "__qualname__", repr(reader))
    raise SurfaceError(
        f"option {action.option_strings[0]} reads its values with {name}, "
        "which behaves like no reader that can be recorded"
    )


def _outcome(reader: Callable[[str], Any], text: str) -> tuple[str, Any]:
    try:
        value = reader(text)
    except Exception as error:  # noqa: BLE001  # whatever a reader raises is its behaviour
        return ("error", type(error).__name__)
    if isinstance(value, float):
        return ("value", repr(value))
    return ("value", value) if type(value) is not bool else ("truth", value)


def _member(outcome: tuple[str, Any]) -> tuple[str, Any]:
    kind, value = outcome
    if not isinstance(value, enum.Enum):
        return outcome
    return (kind, f"{type(value).__name__}.{value.name}")


def _enumerations(reader: Any) -> list[type[enum.Enum]]:
    """Return the enumerations that a function closes over or names."""
    function = inspect.unwrap(reader)
    cells = getattr(function, "__closure__", None) or ()
    candidates: list[Any] = [function, *(cell.cell_contents for cell in cells)]
    code = getattr(function, "__code__", None)
    if code is not None:
        candidates.extend(function.__globals__.get(name) for name in code.co_names)
    return [one for one in candidates if isinstance(one, type) and issubclass(one, enum.Enum)]


def _texts(reader: Any) -> set[str]:
    """Return the text constants of a function's code."""
    code = getattr(inspect.unwrap(reader), "__code__", None)
    found: set[str] = set()
    for constant in getattr(code, "co_consts", ()):
        if isinstance(constant, str):
            found.add(constant)
        elif isinstance(constant, tuple | frozenset):
            found.update(one for one in constant if isinstance(one, str))
    return found


def _members(found: type[enum.Enum]) -> dict[str, int | str]:
    return {
        name: member.value if isinstance(member.value, int | str) else name
        for name, member in found.__members__.items()
    }


def _plain(value: Any, enums: dict[str, dict[str, int | str]]) -> Any:
    """Turn a default, a constant or a choice into a JSON value."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, enum.Enum):
        enums[type(value).__name__] = _members(type(value))
        return {"of": type(value).__name__, "member": value.name}
    if isinstance(value, int | float):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_plain(one, enums) for one in value]}
    if isinstance(value, list):
        return [_plain(one, enums) for one in value]
    raise SurfaceError(f"a default of type {type(value).__name__} cannot be recorded")
