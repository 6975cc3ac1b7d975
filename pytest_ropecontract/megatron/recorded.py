"""A Megatron rebuilt from a recorded surface: no torch, no Megatron."""

from __future__ import annotations

import argparse
import contextlib
from typing import TYPE_CHECKING, Any, Literal

from pytest_ropecontract.megatron import configuration
from pytest_ropecontract.megatron.backend import Config, RefusingParser
from pytest_ropecontract.megatron.surface import SurfaceError
from pytest_ropecontract.megatron.values import (
    enum_reader,
    make_enum,
    read_int_tuple,
    read_list_pattern,
)

if TYPE_CHECKING:
    import enum
    from collections.abc import Callable

    from pytest_ropecontract.megatron.surface import OptionRecord, Surface

PLAIN_READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "list_pattern": read_list_pattern,
    "int_tuple": read_int_tuple,
}


class RecordedMegatron:
    """Resolves against a recorded surface.

    Raises:
        SurfaceError: An enumeration has names that none can have.
    """

    @property
    def mode(self) -> Literal["recorded"]:
        """Always ``recorded``."""
        return "recorded"

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.enums: dict[str, type[enum.Enum]] = {}
        for name, members in surface.enums.items():
            try:
                self.enums[name] = make_enum(name, members)
            except (TypeError, ValueError) as error:
                raise SurfaceError(
                    f"surface {surface.name} has an unusable enum {name!r}: {error}"
                ) from None

    def new_parser(self) -> argparse.ArgumentParser:
        """Return a new parser with the recorded options.

        Raises:
            SurfaceError: The recorded options contradict each other.
        """
        parser = RefusingParser(allow_abbrev=False)
        # In a group, as Megatron adds them: for a parser's own, argparse also formats a help.
        group = parser.add_argument_group()
        for option in self.surface.options:
            try:
                group.add_argument(*option.flags, **self._keywords(option))
            except (argparse.ArgumentError, KeyError, TypeError, ValueError) as error:
                raise SurfaceError(
                    f"surface {self.surface.name} has an unusable option {option.flags[0]}: {error}"
                ) from None
        return parser

    def _keywords(self, option: OptionRecord) -> dict[str, Any]:
        keywords: dict[str, Any] = {"dest": option.dest, "default": self._value(option.default)}
        if option.required:
            keywords["required"] = True
        if option.action == "boolean":
            return {**keywords, "action": argparse.BooleanOptionalAction}
        keywords["action"] = option.action
        if option.action == "store_const":
            keywords["const"] = self._value(option.const)
        if option.action not in ("store", "append", "extend"):
            return keywords
        keywords["nargs"] = option.nargs
        if option.nargs == "?":
            keywords["const"] = self._value(option.const)
        if option.choices is not None:
            keywords["choices"] = [self._value(choice) for choice in option.choices]
        if option.value_type is not None:
            keywords["type"] = self._reader(option, option.value_type)
        return keywords

    def _reader(self, option: OptionRecord, value_type: str) -> Callable[[str], Any]:
        if value_type == "enum" and option.enum is not None:
            literals = frozenset(str(literal) for literal in option.const or ())
            reader = enum_reader(self.enums[option.enum], literals)
        else:
            reader = PLAIN_READERS[value_type]
        return reader if option.reader is None else _named(reader, option.reader)

    def _value(self, recorded: Any) -> Any:
        if isinstance(recorded, dict):
            if "member" in recorded:
                return self.enums[recorded["of"]][recorded["member"]]
            return tuple(recorded["tuple"])
        if isinstance(recorded, list):
            return [self._value(value) for value in recorded]
        return recorded

    def active(self) -> contextlib.AbstractContextManager[None]:
        """Nothing has to be made good for a prediction."""
        return contextlib.nullcontext()

    def configure(self, namespace: argparse.Namespace) -> Config:
        """Predict the config.

        Raises:
            ConfigRefusedError: A recorded refusal holds.
        """
        values = vars(namespace)
        configuration.check_refusals(self.surface, "config", values)
        chosen = configuration.choose_class(self.surface, values)
        return Config(
            chosen.name,
            {
                name: configuration.value_of(attribute, name, values)
                for name, attribute in configuration.attributes(self.surface, values).items()
            },
        )


def _named(reader: Callable[[str], Any], name: str) -> Callable[[str], Any]:
    """Return a reader that argparse calls by another name in a refusal."""

    def read(text: str) -> Any:
        return reader(text)

    read.__name__ = name
    return read
