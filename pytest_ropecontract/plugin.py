"""The pytest plugin: declarations and delegation.

What does the work is imported when it is needed: pytest imports this module at every start.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import options, runs, snapshots
from pytest_ropecontract.fixtures import (
    rope_config,
    rope_contract_of,
    rope_expand,
    rope_launch,
    rope_model,
    rope_models,
    rope_omissions,
    rope_resolve,
    rope_snapshot,
)

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = [
    "rope_config",
    "rope_contract_of",
    "rope_expand",
    "rope_launch",
    "rope_model",
    "rope_models",
    "rope_omissions",
    "rope_resolve",
    "rope_snapshot",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks."""
    from pytest_ropecontract.hookspecs import RopeContractSpecs

    pluginmanager.add_hookspecs(RopeContractSpecs)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks and, where asked for, start a session."""
    runs.begin(config)
    snapshots.hide_from_others(config.option)
    config.addinivalue_line(
        "markers",
        "rope_expect(kind, original_max_position_embeddings, beta_fast, beta_slow, *, "
        "models=None, declared=True, **fields): what the RoPE of some models must be, asserted "
        "before the test, for example rope_expect('yarn', 4096, 32, 1, models=['kimi-k2']); "
        "fields are those of RopeConfig, declared=False accepts defaults that match",
    )
    config.addinivalue_line(
        "markers",
        "rope_contract: the items that --rope-contract adds under the definitions' own files; "
        "select them with -m rope_contract",
    )
    if config.getoption("rope_contract"):
        from pytest_ropecontract import startup

        startup.start(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Check the marks of a test, and parametrize its ``rope_model``."""
    if runs.FIXTURE in metafunc.fixturenames or any(metafunc.definition.iter_markers(runs.MARK)):
        from pytest_ropecontract import marks

        marks.generate(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Remember the contracts of all tests, also of those that are deselected later."""
    runs.remember(session.config, items)
    if session.config.getoption("rope_contract"):
        from pytest_ropecontract import marks

        marks.gather(session, items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Assert the contracts of a test before its body."""
    __tracebackhide__ = True
    reason = None
    if item.get_closest_marker(runs.MARK) is not None:
        from pytest_ropecontract import marks

        reason = marks.allowed_reason(marks.assert_marks(item))
    result = yield
    item.stash[runs.FINISHED] = True
    if reason:
        pytest.xfail(reason)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_assertrepr_compare(left: object, right: object) -> Generator[None, Any, Any]:
    """Begin with the whole story where a snapshot differs."""
    explanations = yield
    if snapshots.EXTENSION not in sys.modules:
        return explanations
    from pytest_ropecontract import owners

    lines = owners.explanation(left, right)
    return explanations if lines is None else [lines, *explanations]
