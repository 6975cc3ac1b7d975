"""Fixtures for hand-written tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_ropecontract.collection import project_of
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.project import Project
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution


class RopeExpand(Protocol):
    """The type of the fixture ``rope_expand``."""

    def __call__(self, model: str, **overrides: Any) -> list[str]:
        """Return the argv of a model."""


class RopeResolve(Protocol):
    """The type of the fixture ``rope_resolve``."""

    def __call__(self, model_or_argv: str | Sequence[str], **overrides: Any) -> Resolution:
        """Return what is built from a model, or from an argv."""


def _project(config: pytest.Config) -> Project:
    try:
        return project_of(config)
    except RopeContractError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def rope_models(pytestconfig: pytest.Config) -> Registry:
    """The registered model definitions, a mapping from name to definition."""
    return _project(pytestconfig).registry


@pytest.fixture(scope="session")
def rope_model(request: pytest.FixtureRequest) -> str:
    """The name of a model; a test that asks for it runs once for every model.

    With ``rope_expect(..., models=[...])`` it runs for those models, and with
    ``@pytest.mark.parametrize("rope_model", [...])`` for the ones listed.
    """
    model: str = request.param
    return model


@pytest.fixture(scope="session")
def rope_expand(pytestconfig: pytest.Config) -> RopeExpand:
    """A function that expands a model: ``rope_expand("kimi-k2", nlayers=2) -> list[str]``."""
    return _project(pytestconfig).expand


@pytest.fixture(scope="session")
def rope_resolve(pytestconfig: pytest.Config) -> RopeResolve:
    """A function that resolves a model or an argv to a ``Resolution``.

    ``rope_resolve("kimi-k2", nlayers=2).rope`` is the ``RopeConfig`` that is built, and
    ``.origins`` says where every field comes from.
    """
    return _project(pytestconfig).resolve


@pytest.fixture(scope="session")
def rope_config(rope_model: str, rope_resolve: RopeResolve) -> RopeConfig:
    """The ``RopeConfig`` that is built for ``rope_model``."""
    resolution = rope_resolve(rope_model)
    if resolution.rope is None:
        refused = resolution.refused
        pytest.fail(
            f"rope_config: {rope_model}: nothing is built: "
            f"{refused.message if refused else 'refused'}",
            pytrace=False,
        )
    return resolution.rope
