"""Test items under the definitions' own files."""

from __future__ import annotations

import dataclasses
import functools
from os.path import isfile
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import hooked, runs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.definitions.definition import Expansion
    from pytest_ropecontract.errors import RopeContractError
    from pytest_ropecontract.launchers.launcher import Launcher
    from pytest_ropecontract.project import Project
    from pytest_ropecontract.project_launchers import ProjectLaunchers
    from pytest_ropecontract.settings import Options

OPTIONS = pytest.StashKey["Options"]()
PROJECT = pytest.StashKey["Project"]()
LAUNCHING = pytest.StashKey["ProjectLaunchers"]()
BY_PATH = pytest.StashKey[dict["Path", list[str]]]()
# A launcher runs several processes, where a definition runs one.
LAUNCHER_TAKES = 3
EXPECTATIONS = pytest.StashKey[dict[str, list["Expectation"]]]()


class DefinitionModule(pytest.Module):
    """The items of the models that one file defines.

    Its object is the plugin's own suite, so that pytest itself makes plain functions of it.
    """

    model_names: tuple[str, ...] = ()

    def istestfunction(self, obj: object, name: str) -> bool:
        """Return whether a function of the suite checks one of the models at all.

        pytest makes items of those that do, which is most of what collecting costs.
        """
        return super().istestfunction(obj, name) and self._concerns_any(name)

    def _concerns_any(self, function: str) -> bool:
        if not self.model_names:
            return True
        return any(_concerns(self.config, function, model) for model in self.model_names)

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        """Return the items, without those of contracts that a model does not have."""
        return [item for item in super().collect() if _applies(item)]


class LaunchModule(DefinitionModule):
    """The items of the launchers that one file is."""

    launchers: tuple[Launcher, ...] = ()


def options_of(config: pytest.Config) -> Options:
    """Return the options of a run, read when first asked for.

    Raises:
        pytest.UsageError: A value that cannot be used.
    """
    if OPTIONS not in config.stash:
        from pytest_ropecontract.settings import read

        config.stash[OPTIONS] = read(config)
    return config.stash[OPTIONS]


def current_project() -> Project:
    """Return the project of the run that goes on.

    Raises:
        RopeContractError: There is no run, or its settings cannot be used.
    """
    from pytest_ropecontract.errors import RopeContractError

    config = runs.current()
    if config is None:
        raise RopeContractError(
            "a model's name is known only while pytest runs",
            remedy="ask for it in a test or a fixture, or give the model's argv",
        )
    return project_of(config)


def project_of(config: pytest.Config) -> Project:
    """Return the project of a run, made when first asked for.

    Raises:
        RopeContractError: A model that a hook registers cannot be one, or a hook returns
            settings that cannot be used.
    """
    if PROJECT not in config.stash:
        from pytest_ropecontract.project import Project

        given = options_of(config)
        settings = dataclasses.replace(
            given.settings, pipeline=hooked.pipeline(config, given.settings.pipeline)
        )
        config.stash[PROJECT] = Project(
            settings, _registry(config, given), functools.partial(hooked.checkpoints, config)
        )
    return config.stash[PROJECT]


def knows_all_models(config: pytest.Config) -> bool:
    """Return whether a run has the models that the ini file says: options may say otherwise."""
    overridden = config.getoption("override_ini", None) or ()
    return not any("rope_contract" in one for one in overridden)


def no_definitions(config: pytest.Config) -> RopeContractError:
    """Return the error that a project has no definitions."""
    from pytest_ropecontract.errors import RopeContractError

    return RopeContractError(
        "rope-contract: no model definitions found",
        details=[f"rope_contract_models: {' '.join(options_of(config).models)}"],
        remedy="set rope_contract_models, or register models with the hook "
        "pytest_ropecontract_models",
    )


def launchers_of(config: pytest.Config) -> ProjectLaunchers:
    """Return the launchers of a run, made when first asked for.

    Raises:
        RopeContractError: The project's settings cannot be used.
    """
    if LAUNCHING not in config.stash:
        from pytest_ropecontract.project_launchers import ProjectLaunchers

        given = options_of(config)
        config.stash[LAUNCHING] = ProjectLaunchers(
            project_of(config), given.launching, LAUNCHER_TAKES * given.time_limit
        )
    return config.stash[LAUNCHING]


def launchers_by_path(config: pytest.Config) -> dict[Path, list[Launcher]]:
    """Return the files that are launchers, with what of each is one."""
    found: dict[Path, list[Launcher]] = {}
    for launcher in options_of(config).launching.launchers:
        found.setdefault(launcher.path, []).append(launcher)
    return found


def _applies(item: pytest.Item | pytest.Collector) -> bool:
    """Return whether a model has what an item checks."""
    callspec = getattr(item, "callspec", None)
    model = callspec.params.get("rope_model") if callspec is not None else None
    name = getattr(item, "originalname", None)
    return model is None or name is None or _concerns(item.config, name, model)


def _concerns(config: pytest.Config, function: str, model: str) -> bool:
    """Return whether a model has what a function checks; most functions concern every model."""
    if function == "test_snapshot":
        return options_of(config).keeps_snapshots
    if function == "test_arity":
        return project_of(config).may_have_adapter(model)
    if function == "test_checkpoint":
        from pytest_ropecontract.errors import RopeContractError

        try:
            return bool(project_of(config).checkpoints(model))
        except RopeContractError:
            return True  # the item says why
    return True


def _registry(config: pytest.Config, given: Options) -> Registry:
    from pytest_ropecontract.definitions import Registry, discover
    from pytest_ropecontract.errors import RopeContractError

    registry = Registry(config.rootpath, pythonpath=given.pythonpath, time_limit=given.time_limit)
    try:
        files = discover(config.rootpath, given.models)
    except RopeContractError as error:
        raise RopeContractError(
            f"rope_contract_models: {error.headline}", remedy=error.remedy
        ) from None
    for path in files:
        try:
            registry.add_file(path)
        except RopeContractError as error:
            # Shown as one failing item under the file; the other definitions go on.
            registry.add(_free_name(path.name, registry), Unusable(error), path=path)
    hooked.register_models(config, registry)
    return registry


def _free_name(file: str, registry: Registry) -> str:
    """Return a name that a registry takes for a file whose own name it does not take."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._+-") else "-" for c in file)
    name = free = kept if kept[:1].isalnum() else f"x{kept}"
    taken = {known.casefold() for known in registry}
    number = 2
    while free.casefold() in taken:
        free, number = f"{name}-{number}", number + 1
    return free


class Unusable:
    """Stands for a file that cannot be registered."""

    def __init__(self, error: RopeContractError) -> None:
        self.error = error

    def expand(self, overrides: Mapping[str, Any]) -> Expansion:
        """Raise why it cannot."""
        from pytest_ropecontract.definitions.definition import DefinitionError

        del overrides
        raise DefinitionError(
            self.error.headline,
            origin=self.error.origin,
            details=self.error.details,
            remedy=self.error.remedy,
        )


def models_by_path(config: pytest.Config) -> dict[Path, list[str]]:
    """Return the files under which items are shown, with the names of their models.

    Raises:
        RopeContractError: There is no file for the models that have none of their own.
    """
    if BY_PATH in config.stash:
        return config.stash[BY_PATH]  # asked for again with every file that pytest looks at
    project = project_of(config)
    found: dict[Path, list[str]] = {}
    for name in project.registry:
        path = project.registry[name].path
        inside = path is not None and path.is_relative_to(config.rootpath)
        # Path.is_file() raises where a name is too long.
        if path is None or not inside or ".." in path.parts or not isfile(path):  # noqa: PTH113  # see above
            path = project_file(config)
        if path is None:
            raise _no_file(name)
        found.setdefault(path, []).append(name)
    config.stash[BY_PATH] = found
    return found


def project_file(config: pytest.Config) -> Path | None:
    """Return the file that stands for the whole project, or None where there is none."""
    for path in (config.inipath, config.rootpath / "conftest.py"):
        if path is not None and path.is_file() and path.is_relative_to(config.rootpath):
            return path
    return None


def _no_file(name: str) -> RopeContractError:
    from pytest_ropecontract.errors import RopeContractError

    return RopeContractError(
        f"rope-contract: there is no file under which the tests of {name!r} can be shown",
        remedy="add an ini file, or a conftest.py, to the project's root",
    )
