"""The project that a command looks at, as ``pytest --rope-contract`` sees it there."""

from __future__ import annotations

import contextlib
import glob
import io
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.megatron.pipeline import PipelineSettings
    from pytest_ropecontract.project import Project

PLUGIN = "ropecontract"


def load_project(folders: Sequence[Path] = (), config_file: str | None = None) -> Project:
    """Return the project of some folders, with its ini file and the hooks of its conftest.py.

    pytest itself finds and reads them, so every way to write an ini file is understood, and
    nothing is collected or run.

    Args:
        folders: Folders of the project, as they would be given to pytest; none: the working
            directory.
        config_file: The ini file, as ``pytest -c`` takes it.

    Raises:
        RopeContractError: pytest, or the plugin, refuses the settings.
    """
    import pytest

    from pytest_ropecontract import collection

    found: list[Project] = []
    errors: list[RopeContractError] = []

    class Ask:
        @pytest.hookimpl(tryfirst=True)
        def pytest_cmdline_main(self, config: pytest.Config) -> int:
            """Take the project, and end before anything runs."""
            try:
                found.append(collection.project_of(config))
            except RopeContractError as error:
                errors.append(error)
            return 0

    # Assertions are left as they are: this process has imported the plugin already.
    argv = ["--assert=plain", "-p", _plugin(), *map(str, folders)]
    if config_file is not None:
        argv += ["-c", config_file]
    output = io.StringIO()
    with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
        pytest.main(argv, plugins=[Ask()])
    if errors:
        raise errors[0]
    if not found:
        lines = [line for line in output.getvalue().splitlines() if line.strip()]
        raise RopeContractError("pytest cannot read the project's settings", details=lines[-20:])
    return found[0]


def _plugin() -> str:
    """Return how pytest can load the plugin: by its entry point, where it is installed."""
    names = {point.name for point in metadata.entry_points(group="pytest11")}
    return PLUGIN if PLUGIN in names else "pytest_ropecontract.plugin"


def select(
    patterns: Sequence[str], config_file: str | None = None
) -> tuple[Registry, list[str], PipelineSettings]:
    """Return the definitions that globs match, and what surrounds the parser in their project.

    Args:
        patterns: Globs of files, from the working directory, or else of names that the
            project in the working directory registers.
        config_file: The ini file, as ``pytest -c`` takes it.

    Raises:
        RopeContractError: A glob matches nothing, two files have one name, or the project's
            settings cannot be used.
    """
    from pytest_ropecontract.definitions import Registry

    matches = {pattern: _files(pattern) for pattern in patterns}
    files = sorted({path for found in matches.values() for path in found})
    project = load_project(sorted({path.parent for path in files}), config_file)
    settings, known = project.settings.pipeline, project.registry
    names: list[str] = []
    others = [pattern for pattern, found in matches.items() if not found]
    if others:
        try:
            names = known.select(others)
        except RopeContractError as error:
            raise RopeContractError(
                f"--models: no file and {error.headline}", remedy=error.remedy
            ) from None
    if not files:
        return known, names, settings
    registry = Registry(known.root, pythonpath=known.pythonpath, time_limit=known.time_limit)
    for path in files:
        registry.add_file(path)
    for name in names:
        if name not in registry:
            definition = known[name]
            registry.add(name, definition.source, path=definition.path)
    return registry, sorted(registry), settings


def _files(pattern: str) -> list[Path]:
    """Return the definitions among the files that a glob matches."""
    found = (Path(name).absolute() for name in glob.glob(pattern, recursive=True))  # noqa: PTH207  # it may be absolute
    return [path for path in found if path.is_file() and not path.name.startswith(("_", "."))]
