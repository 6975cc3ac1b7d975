"""A model definition and what it expands to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ropecontract.definitions.wording import shortened
from pytest_ropecontract.errors import (
    RopeContractError,
    described,
    further,
    raised_at,
    representation,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NO_OVERRIDES: Mapping[str, Any] = MappingProxyType({})


class DefinitionError(RopeContractError):
    """A definition that cannot be expanded.

    A source does not know the name that its definition has, so its headline starts with
    what went wrong; `Definition.expand` puts the name in front.
    """


@dataclass(frozen=True)
class Expansion:
    """What a definition expanded to.

    Attributes:
        argv: The flags and their values, as a launcher would pass them on.
        environment: Names of the environment variables that the source asked for, sorted.
        output: What the source printed, standard output and standard error together; of
            much output the end.
    """

    argv: tuple[str, ...]
    environment: tuple[str, ...] = ()
    output: str = ""


class Source(Protocol):
    """Where a definition's argv comes from: a script, an array, a text file, a callable."""

    def expand(self, overrides: Mapping[str, Any]) -> Expansion:
        """Expand to argv.

        Raises:
            DefinitionError: The source failed, or gave something that is no argv.
        """


@dataclass(frozen=True)
class Definition:
    """A named source of argv.

    Attributes:
        name: The model's name, for a file its stem (``glm4.7-flash``).
        source: What expands to argv.
        path: The file under which the definition's test items are shown, or None.
        overrides: Keyword arguments that this variant gives to the source.
        unpacks: How many results the model's attention takes from its rotary embedding, or
            None where that is read from the adapter that ``--spec`` names.
    """

    name: str
    source: Source = field(repr=False, hash=False)
    path: Path | None = None
    # Python 3.11 takes a mapping proxy, which is not hashable, for a mutable default.
    overrides: Mapping[str, Any] = field(default_factory=lambda: NO_OVERRIDES, hash=False)
    unpacks: int | None = None

    def under(self, environment: Mapping[str, str]) -> Definition:
        """Return this definition as it expands with further environment variables.

        Only a script reads any; any other definition stays the same.
        """
        under = getattr(self.source, "under", None)
        return self if under is None else replace(self, source=under(environment))

    def expand(self, /, **overrides: Any) -> Expansion:
        """Expand to argv, with the variant's overrides and then the given ones.

        Raises:
            DefinitionError: The source failed, or gave something that is no argv. The
                headline begins with the definition's name.
        """
        try:
            found = self.source.expand({**self.overrides, **overrides})
        except DefinitionError as error:
            raise DefinitionError(
                f"{self.name}: {error.headline}",
                origin=error.origin,
                details=error.details,
                remedy=error.remedy,
            ) from error.__cause__
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a project's own may raise any
            raise DefinitionError(
                f"{self.name}: its source raised {described(error)}",
                origin=raised_at(error),
                details=further(error),
                remedy="mend the line above, or raise a DefinitionError that says what is wrong",
            ) from None
        if not issubclass(type(found), Expansion):
            raise DefinitionError(
                f"{self.name}: its source gave {shortened(representation(found))}, "
                "expected an Expansion",
                remedy="return an Expansion with a tuple of tokens",
            )
        return found
