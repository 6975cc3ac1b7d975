"""The types of the fixtures that are functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hypothesis.strategies import SearchStrategy

    from pytest_ropecontract.omission.units import Omission
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution


class RopeExpand(Protocol):
    """The type of the fixture ``rope_expand``."""

    def __call__(self, model: str, /, **overrides: Any) -> list[str]:
        """Return the argv of a model."""


class RopeResolve(Protocol):
    """The type of the fixture ``rope_resolve``."""

    def __call__(self, model_or_argv: str | Sequence[str], /, **overrides: Any) -> Resolution:
        """Return what is built from a model, or from an argv."""


class RopeOmissions(Protocol):
    """The type of the fixture ``rope_omissions``."""

    def __call__(
        self,
        model_or_argv: str | Sequence[str],
        at_most: int | None = None,
        only: Iterable[str] | None = None,
    ) -> SearchStrategy[Omission]:
        """Return a strategy over command lines with some flags left out."""


class RopeContractOf(Protocol):
    """The type of the fixture ``rope_contract_of``."""

    def __call__(self, config: object, model: str | None = None, /, **arguments: Any) -> RopeConfig:
        """Check a config object, and return what is built from it."""
