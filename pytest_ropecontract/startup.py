"""Starting a run with ``--rope-contract``: what cannot be used ends it with one clear text."""

from __future__ import annotations

import pytest

from pytest_ropecontract import arguments, collection, paths
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.selection import is_live
from pytest_ropecontract.megatron.surface import SurfaceError
from pytest_ropecontract.session import ContractSession


def start(config: pytest.Config) -> None:
    """Check the settings and register what the run needs.

    Raises:
        pytest.UsageError: A setting cannot be used, or there are no definitions.
    """
    try:
        _check(config)
        arguments.add(config)
    except SurfaceError as error:
        where = collection.options_of(config).surface_from
        raise _usage_error(f"{where}: {error}", config) from None
    except RopeContractError as error:
        raise _usage_error(str(error), config) from None
    config.pluginmanager.register(ContractSession(config), "rope_contract_session")


def _usage_error(text: str, config: pytest.Config) -> pytest.UsageError:
    return pytest.UsageError(paths.portable(text, config.rootpath))


def _check(config: pytest.Config) -> None:
    project = collection.project_of(config)
    if not len(project.registry):
        raise collection.no_definitions(config)
    if not hasattr(config, "workerinput") and not _leaves_it_to_workers(config):
        project.pipeline  # noqa: B018  # made now, so that its errors end the run at once


def _leaves_it_to_workers(config: pytest.Config) -> bool:
    """Importing a live Megatron takes seconds, for nothing in a process that runs no items."""
    live = is_live(collection.options_of(config).settings.surface)
    distributed = bool(config.getoption("numprocesses", None) or config.getoption("tx", None))
    return live and (distributed or bool(config.getoption("collectonly", False)))
