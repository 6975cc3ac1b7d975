"""The project that a command looks at, as ``pytest --rope-contract`` sees it there."""

from __future__ import annotations

import contextlib
import glob
import io
import re
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.megatron.pipeline import PipelineSettings
    from pytest_ropecontract.project import Project

PLUGIN = "ropecontract"
# Of a complaint of argparse, the usage and the program are those of no run.
_USAGE = re.compile(r"(ERROR: )?usage: |\s*$")
_ERROR = re.compile(r"^\S+: error: ")
# The processes of pytest-xdist, a run of the definitions' items, and what syrupy would write.
NOTHING_STARTED = {
    "numprocesses": 0,
    "dist": "no",
    "tx": [],
    "rope_contract": False,
    "update_snapshots": False,
    "update_new_snapshots_only": False,
}

T = TypeVar("T")


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

    result = _Result[Any]()

    class Ask:
        @pytest.hookimpl(tryfirst=True)
        def pytest_cmdline_main(self, config: pytest.Config) -> int:
            """Take the project, and end before anything runs."""
            result.take(lambda: collection.project_of(config))
            return 0

    _run(Ask(), result, [*map(str, folders)], config_file)
    project: Project = result.get()
    return project


def in_session(visit: Callable[[pytest.Session], T], arguments: Sequence[str] = ()) -> T:
    """Return what a function makes of a session of the project in the working directory.

    The session has begun, so that tests can be collected in it, and ends without that any is
    collected or run. What is printed meanwhile is not shown.

    Args:
        visit: The function.
        arguments: What pytest is given, for example ``-c`` and an ini file.

    Raises:
        RopeContractError: pytest, or the plugin, refuses the settings, or the function raised.
    """
    import pytest

    result = _Result[T]()

    class Visit:
        @pytest.hookimpl(tryfirst=True)
        def pytest_cmdline_main(self, config: pytest.Config) -> None:
            """Leave out what the project's own options would start."""
            vars(config.option).update(NOTHING_STARTED)

        @pytest.hookimpl(tryfirst=True)
        def pytest_collection(self, session: pytest.Session) -> bool:
            """Call the function in place of a collection."""
            result.take(lambda: visit(session))
            return True

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self) -> bool:
            """Run nothing."""
            return True

    with tempfile.TemporaryDirectory() as cache:
        nothing_kept = ["-o", f"cache_dir={cache}"]
        _run(Visit(), result, ["--collect-only", "--capture=no", *nothing_kept, *arguments])
    return result.get()


class _Result(Generic[T]):
    """What came of a function that pytest called: a value, an error, or nothing."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self.errors: list[BaseException] = []
        self.output = ""

    def take(self, function: Callable[[], T]) -> None:
        try:
            self.values.append(function())
        except BaseException as error:  # noqa: BLE001  # pytest would show it as its own failure
            self.errors.append(error)

    def get(self) -> T:
        if self.errors:
            import pytest

            error = self.errors[0]
            if isinstance(error, pytest.UsageError):
                headline, *more = str(error).split("\n")
                details = [line.removeprefix("  ") for line in more]
                raise RopeContractError(headline, details=details) from None
            raise error
        if not self.values:
            lines = [
                _ERROR.sub("", line) for line in self.output.splitlines() if not _USAGE.match(line)
            ]
            raise RopeContractError(
                "pytest cannot read the project's settings",
                details=lines[-20:],
                remedy="make this work first: pytest --collect-only",
            )
        return self.values[0]


def _run(
    plugin: object, result: _Result[T], arguments: Sequence[str], config_file: str | None = None
) -> None:
    import pytest

    # Assertions are left as they are: this process has imported the plugin already.
    argv = ["--assert=plain", "-p", _plugin(), *arguments]
    if config_file is not None:
        argv += ["-c", config_file]
    output = io.StringIO()
    with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
        pytest.main(argv, plugins=[plugin])
    result.output = output.getvalue()


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
