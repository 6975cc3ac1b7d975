"""How an item fails where nothing can be checked."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract import paths
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def failing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail, without a traceback, where a setting of the project cannot be used."""
    try:
        yield
    except RopeContractError as error:
        text = paths.portable(str(error), request.config.rootpath)
        raise pytest.fail.Exception(text, pytrace=False) from None
