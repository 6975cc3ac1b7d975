"""Test items under the definitions' own files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import options

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.definitions.definition import Expansion
    from pytest_ropecontract.errors import RopeContractError
    from pytest_ropecontract.megatron.pipeline import PipelineSettings
    from pytest_ropecontract.project import Project

OPTIONS = pytest.StashKey[options.Options]()
PROJECT = pytest.StashKey["Project"]()
EXPECTATIONS = pytest.StashKey[dict[str, list["Expectation"]]]()


class DefinitionModule(pytest.Module):
    """The items of the models that one file defines.

    Its object is the plugin's own suite, so that pytest itself makes plain functions of it.
    """

    model_names: tuple[str, ...] = ()


def options_of(config: pytest.Config) -> options.Options:
    """Return the options of a run, read when first asked for.

    Raises:
        pytest.UsageError: A value that cannot be used.
    """
    if OPTIONS not in config.stash:
        config.stash[OPTIONS] = options.read(config)
    return config.stash[OPTIONS]


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
            given.settings, pipeline=_hooked_pipeline(config, given.settings.pipeline)
        )
        config.stash[PROJECT] = Project(settings, _registry(config, given))
    return config.stash[PROJECT]


def _registry(config: pytest.Config, given: options.Options) -> Registry:
    from pytest_ropecontract.definitions import Registry, discover
    from pytest_ropecontract.errors import RopeContractError

    registry = Registry(config.rootpath, pythonpath=given.pythonpath)
    for path in discover(config.rootpath, given.models):
        try:
            registry.add_file(path)
        except RopeContractError as error:
            # Shown as one failing item under the file; the other definitions go on.
            registry.add(_slug(path.name), Unusable(error), path=path)
    _call_hook(config, "pytest_ropecontract_models", registry=registry)
    return registry


def _call_hook(config: pytest.Config, name: str, **arguments: Any) -> list[Any]:
    """Call a hook; what an implementation raises is an error of the settings."""
    from pytest_ropecontract.errors import RopeContractError

    try:
        results: list[Any] = getattr(config.hook, name)(config=config, **arguments)
    except RopeContractError:
        raise
    except Exception as error:
        trace = error.__traceback__
        place = None
        while trace is not None:
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
        raise RopeContractError(
            f"{name} raised {type(error).__name__}: {error}", origin=place
        ) from error
    return results


def _slug(name: str) -> str:
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._+-") else "-" for c in name)
    return kept if kept[:1].isalnum() else f"x{kept}"


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


def _hooked_pipeline(config: pytest.Config, settings: PipelineSettings) -> PipelineSettings:
    from pytest_ropecontract.megatron.pipeline import PipelineError

    known = {field.name for field in dataclasses.fields(settings)}
    for result in reversed(_call_hook(config, "pytest_ropecontract_pipeline", settings=settings)):
        if not isinstance(result, Mapping):
            raise PipelineError(
                f"pytest_ropecontract_pipeline returned {type(result).__name__}, not a mapping"
            )
        changes = dict(result)
        unknown = sorted(set(changes) - known)
        if unknown:
            raise PipelineError(
                f"pytest_ropecontract_pipeline: there is no setting {unknown[0]!r}",
                details=[f"settings: {', '.join(sorted(known))}"],
            )
        lists = {k: tuple(v) for k, v in changes.items() if isinstance(v, list)}
        settings = dataclasses.replace(settings, **{**changes, **lists})
    return settings


def models_by_path(config: pytest.Config) -> dict[Path, list[str]]:
    """Return the files under which items are shown, with the names of their models."""
    project = project_of(config)
    fallback = config.inipath or config.rootpath / "conftest.py"
    found: dict[Path, list[str]] = {}
    for name in project.registry:
        path = project.registry[name].path or fallback
        if not path.is_relative_to(config.rootpath):
            path = fallback
        found.setdefault(path, []).append(name)
    return found


def add_arguments(config: pytest.Config) -> None:
    """Collect the definitions beside what a run without paths collects."""
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        return
    paths = [*models_by_path(config)]
    if options_of(config).settings.allowances and config.inipath is not None:
        paths.append(config.inipath)
    config.args = [*config.args, *(str(path) for path in dict.fromkeys(paths))]


def modules_for(path: Path, parent: pytest.Collector) -> list[pytest.Module]:
    """Return the modules that hold a file's items, none where it defines no model."""
    config = parent.config
    modules: list[pytest.Module] = []
    names = models_by_path(config).get(path, [])
    if names:
        from pytest_ropecontract.suite import definition

        modules.append(_module(path, parent, definition, names))
    if path == config.inipath and options_of(config).settings.allowances:
        from pytest_ropecontract.suite import settings

        modules.append(_module(path, parent, settings, []))
    return modules


def _module(
    path: Path, parent: pytest.Collector, suite: ModuleType, names: list[str]
) -> DefinitionModule:
    module: DefinitionModule = DefinitionModule.from_parent(parent, path=path)
    module.obj = suite
    module.model_names = tuple(names)
    module.add_marker("rope_contract")
    return module


def is_definition(path: Path, config: pytest.Config) -> bool:
    """Return whether a file is a definition, and so no test module."""
    definition = models_by_path(config).get(path)
    if definition is None:
        return False
    project = project_of(config)
    from pytest_ropecontract.definitions import CallableSource

    return not any(
        isinstance(project.registry[name].source, CallableSource)
        or project.registry[name].path is None
        for name in definition
    )
