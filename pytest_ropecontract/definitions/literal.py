"""A definition whose argv is given as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions.argv import argv_of
from pytest_ropecontract.definitions.definition import Expansion
from pytest_ropecontract.definitions.overrides import refuse_overrides

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class LiteralArgv:
    """Argv that was registered as a string or as a list of tokens.

    Attributes:
        value: A string, split at whitespace, or tokens that are taken as they are.
    """

    value: str | Sequence[str]

    def expand(self, overrides: Mapping[str, Any]) -> Expansion:
        """Return the argv.

        Raises:
            DefinitionError: Overrides were given, or the value is no argv.
        """
        refuse_overrides(overrides, "argv that is given as it is")
        return Expansion(argv_of(self.value, "its registration gave"))
