"""What the pipeline needs of a Megatron, live or recorded."""

from __future__ import annotations

import argparse
import functools
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Protocol

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Mapping

    from pytest_ropecontract.megatron.surface import Surface


HELP_REFUSED = "-h/--help prints help and ends the program"


WIDTH = 80


class ArgumentRefusedError(Exception):
    """The parser refuses an argv; the text is argparse's message."""


class ConfigRefusedError(Exception):
    """Megatron refuses a namespace.

    Attributes:
        by: Who refuses: ``validate_args``, ``config`` or ``model``.
        error: Name of the exception that Megatron raises.
        message: Its text.
    """

    def __init__(self, by: str, error: str, message: str) -> None:
        self.by = by
        self.error = error
        self.message = message
        super().__init__(f"{error}: {message}")


class RefusingParser(argparse.ArgumentParser):
    """A parser that raises where argparse would print and exit."""

    def __init__(self, **keywords: Any) -> None:
        # argparse asks for a formatter for every option that is added, to check it: one serves
        # them all, since no help is printed, and need not ask for the terminal's width.
        formatter = functools.partial(argparse.HelpFormatter, width=WIDTH)
        super().__init__(formatter_class=functools.cache(formatter), **keywords)

    def error(self, message: str) -> NoReturn:
        """Raise the message instead of printing it and exiting."""
        raise ArgumentRefusedError(message)

    def exit(self, _status: int = 0, message: str | None = None) -> NoReturn:
        """Raise instead of exiting."""
        raise ArgumentRefusedError(message or "the parser ends the program")

    def print_help(self, _file: object = None) -> None:
        """Raise instead of printing: the program would end after it."""
        raise ArgumentRefusedError(HELP_REFUSED)


class Config(NamedTuple):
    """A constructed config.

    Attributes:
        class_name: Name of its class.
        values: The attributes that the surface knows of.
        instance: The real object, live; None, recorded.
    """

    class_name: str
    values: Mapping[str, Any]
    instance: Any = None


class Megatron(Protocol):
    """A Megatron to resolve against."""

    surface: Surface

    @property
    def mode(self) -> Literal["live", "recorded"]:
        """Whether it is the importable Megatron or a recording."""

    def new_parser(self) -> argparse.ArgumentParser:
        """Return a new parser with Megatron's options."""

    def active(self) -> contextlib.AbstractContextManager[None]:
        """Make good, for the while, what the machine lacks to configure."""

    def configure(self, namespace: argparse.Namespace) -> Config:
        """Construct the config, while this is active; the namespace stays as it is.

        Raises:
            ConfigRefusedError: The constructor raises.
        """
