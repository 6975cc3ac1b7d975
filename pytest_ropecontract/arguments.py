"""What pytest looks at for the sake of definitions and launchers, beside what holds tests.

A run without paths is given them as further arguments. pytest lists a folder anew for each file
in it that it is given, so a folder with many of them is given as a whole, and what else is in it
is ignored.
"""

from __future__ import annotations

import os.path
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract import collection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

ADDED = pytest.StashKey["Added"]()


class Added:
    """What was added to the arguments of a run.

    Args:
        files: The files that were added one by one.
        folders: The folders that were added; of these only what is wanted is collected.
        wanted: All files that hold items, and the folders above them.
    """

    def __init__(
        self, files: Iterable[Path], folders: Iterable[Path], wanted: Iterable[Path]
    ) -> None:
        self.files = frozenset(files)
        self.folders = frozenset(folders)
        self.wanted = frozenset(wanted)
        self._closed = set(self.folders)

    def is_ignored(self, path: Path, *, ignored: bool) -> bool:
        """Return whether pytest ignores a path, which it would do, or not, of itself.

        What holds items is looked at also where pytest looks for no tests, for example in a
        folder that ``norecursedirs`` names. Nothing else is for that reason.
        """
        closed = path.parent in self._closed
        if path not in self.wanted:
            return closed or ignored
        if (closed or ignored) and path.is_dir():
            self._closed.add(path)
        return False


def add(config: pytest.Config) -> None:
    """Collect what holds items beside what a run without paths collects.

    Raises:
        RopeContractError: There is no file for the models that have none of their own.
    """
    known = [*collection.models_by_path(config), *collection.launchers_by_path(config)]
    whole = collection.project_file(config)
    if collection.options_of(config).settings.allowances and whole is not None:
        known.append(whole)
    refused = _refused(config)
    known = [path for path in dict.fromkeys(known) if not refused(path)]
    wanted = {*known, *(folder for path in known for folder in path.parents)}
    files: list[Path] = []
    folders: list[Path] = []
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        given = [config.invocation_params.dir / arg for arg in config.args]
        by_folder: dict[Path, list[Path]] = {}
        for path in known:
            by_folder.setdefault(path.parent, []).append(path)
        for folder, inside in by_folder.items():
            if any(path.is_relative_to(folder) for path in given):
                files.extend(inside)
            elif not any(folder.is_relative_to(path) for path in given):
                folders.append(folder)
        config.args = [*config.args, *map(str, folders), *map(str, files)]
    config.stash[ADDED] = Added(files, folders, wanted)


def keeps_test_module(path: Path, config: pytest.Config) -> bool:
    """Return whether a file that holds items is also the test module that pytest takes it for.

    A definition never is, nor is a launcher: it would be imported. A file whose functions a hook
    registers is, unless pytest looks at it only because its path was added for its items.
    """
    if path in collection.launchers_by_path(config):
        return False
    names = collection.models_by_path(config).get(path, [])
    project = collection.project_of(config)
    from pytest_ropecontract.definitions import CallableSource

    own = [name for name in names if project.registry[name].path == path]
    if any(not isinstance(project.registry[name].source, CallableSource) for name in own):
        return False
    return path not in config.stash[ADDED].files or any(
        fnmatchcase(path.name if "/" not in pattern else str(path), pattern)
        for pattern in config.getini("python_files")
    )


def _refused(config: pytest.Config) -> Callable[[Path], bool]:
    """Return what tells whether the command line ignores a file, or a folder above it."""
    folder = config.invocation_params.dir
    options = (config.getoption(name, None) or () for name in ("ignore", "ignore_glob"))
    # Path.resolve() would follow links, which pytest does not here.
    named, patterns = ([os.path.abspath(folder / one) for one in given] for given in options)  # noqa: PTH100  # see above

    def refuses(path: Path) -> bool:
        return any(
            one in named or any(fnmatchcase(one, pattern) for pattern in patterns)
            for one in map(str, (path, *path.parents))
        )

    return refuses if named or patterns else lambda _: False
