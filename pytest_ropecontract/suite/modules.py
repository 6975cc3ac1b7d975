"""The modules that hold a file's items: pytest makes plain functions of the suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from pytest_ropecontract.collection import (
    DefinitionModule,
    LaunchModule,
    launchers_by_path,
    models_by_path,
    options_of,
    project_file,
)
from pytest_ropecontract.suite import definition, launcher, settings

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

_Module = TypeVar("_Module", bound=DefinitionModule)


def modules_for(path: Path, parent: pytest.Collector) -> list[pytest.Module]:
    """Return the modules that hold a file's items, none where it is nothing of the project's."""
    config = parent.config
    modules: list[pytest.Module] = []
    names = models_by_path(config).get(path, [])
    if names:
        modules.append(_module(path, parent, definition, names, DefinitionModule))
    launchers = launchers_by_path(config).get(path, [])
    if launchers:
        module = _module(path, parent, launcher, [], LaunchModule)
        module.launchers = tuple(launchers)
        modules.append(module)
    if options_of(config).settings.allowances and path == project_file(config):
        modules.append(_module(path, parent, settings, [], DefinitionModule))
    return modules


def _module(
    path: Path,
    parent: pytest.Collector,
    suite: ModuleType,
    names: list[str],
    kind: type[_Module],
) -> _Module:
    # Setting up a package would import it, and with it who knows what.
    while isinstance(parent, pytest.Package) and isinstance(parent.parent, pytest.Collector):
        parent = parent.parent
    module: _Module = kind.from_parent(parent, path=path)
    module.obj = suite
    module.model_names = tuple(names)
    module.add_marker("rope_contract")
    return module
