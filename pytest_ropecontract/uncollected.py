"""Contracts in test files that a run leaves out.

A run of one definition's items, by path or with ``--lf``, does not collect the tests whose
marks say what that definition must be. Those files are looked at all the same: whether a
lost flag is guarded must not depend on what else was selected.
"""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ropecontract.collection import DefinitionModule

MARK = b"rope_expect"
SIZE_LIMIT = 4 * 1024 * 1024


def is_partial(config: pytest.Config) -> bool:
    """Return whether a run may leave out test files of the project."""
    selected = config.args_source is pytest.Config.ArgsSource.ARGS
    return selected or bool(config.getoption("lf", default=False))


def items(session: pytest.Session, module_class: type[DefinitionModule]) -> Iterator[pytest.Item]:
    """Yield the marked tests of the files that a run does not collect.

    They are collected like any other, but not run and not reported. A file that cannot be
    imported is left out: it says why when it is run.
    """
    known = {item.path for item in session.items if item.getparent(module_class) is None}
    for path in _files(session.config):
        if path not in known:
            module = pytest.Module.from_parent(session, path=path)
            try:
                yield from _items(module)
            except (Exception, SystemExit, pytest.skip.Exception):  # noqa: S112, BLE001
                continue


def _items(node: pytest.Collector) -> Iterator[pytest.Item]:
    for child in node.collect():
        if isinstance(child, pytest.Item):
            yield child
        elif isinstance(child, pytest.Collector):
            yield from _items(child)


def _files(config: pytest.Config) -> Iterator[Path]:
    """Yield the test files of a project in which the mark occurs."""
    patterns = config.getini("python_files")
    avoided = config.getini("norecursedirs")
    roots = [config.rootpath / name for name in config.getini("testpaths")] or [config.rootpath]
    for root in roots:
        if root.is_file():
            yield root
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(
                name
                for name in folders
                if not any(fnmatch.fnmatch(name, pattern) for pattern in avoided)
                and not (Path(folder) / name / "pyvenv.cfg").exists()
            )
            for name in sorted(names):
                path = Path(folder) / name
                if any(fnmatch.fnmatch(name, pattern) for pattern in patterns) and _has_mark(path):
                    yield path


def _has_mark(path: Path) -> bool:
    try:
        return path.stat().st_size < SIZE_LIMIT and MARK in path.read_bytes()
    except OSError:
        return False
