"""Hypothesis strategies for users' own property tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies

from pytest_ropecontract.collection import current_project
from pytest_ropecontract.omission.strategy import omissions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_ropecontract.omission.units import Omission


def omissions(
    model_or_argv: str | Sequence[str],
    at_most: int | None = None,
    only: Iterable[str] | None = None,
) -> strategies.SearchStrategy[Omission]:
    """Return a strategy over command lines with some flags left out.

    Its values have ``argv``, the tokens that remain, and ``omitted``, the flags that are
    gone; they shrink toward few omitted flags::

        @given(omission=omissions("kimi-k2", only=["--beta-fast", "--beta-slow"]))
        def test_betas_are_guarded(omission, rope_resolve): ...

    Args:
        model_or_argv: The name of a registered model, or tokens.
        at_most: How many flags may be left out at most; None: any number.
        only: The flags that may be left out; None: all.

    Raises:
        RopeContractError: When the first value is drawn: there is no such model, it cannot
            be expanded, ``at_most`` is no number of flags, or ``only`` names none, or one that
            it does not have.
    """
    chosen = None if only is None else [only] if isinstance(only, str) else list(only)
    return strategies.deferred(
        lambda: omissions_of(current_project(), model_or_argv, at_most, chosen)
    )
