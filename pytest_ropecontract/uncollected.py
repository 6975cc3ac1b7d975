"""Contracts in test files that a run leaves out.

A run of one definition's items, by path, node id or with ``--lf``, does not collect all the
tests whose marks say what that definition must be. They are looked at all the same: whether a
lost flag is guarded must not depend on what else was selected.
"""

from __future__ import annotations

import contextlib
import glob
import io
import re
import warnings
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pytest_ropecontract.collection import DefinitionModule

PARTIAL = "rope_contract_partial"
MARK = "rope_expect"
SIZE_LIMIT = 4 * 1024 * 1024


def is_partial(config: pytest.Config) -> bool:
    """Return whether a run may leave out test files of the project."""
    handed_down: dict[str, bool] = getattr(config, "workerinput", {})
    if PARTIAL in handed_down:
        # The arguments of a worker are those that its run came to, never a user's.
        return handed_down[PARTIAL]
    if config.getoption("lf", default=False):
        return True
    if config.args_source is pytest.Config.ArgsSource.INVOCATION_DIR:
        return config.invocation_params.dir != config.rootpath
    return config.args_source is pytest.Config.ArgsSource.ARGS


def items(session: pytest.Session, module_class: type[DefinitionModule]) -> list[pytest.Item]:
    """Return the tests of the files that a run does not collect, or not as a whole.

    They are found and collected as pytest itself does, but not run and not reported. A module
    that is imported already is not imported again. A file that cannot be imported is left
    out: it says why when it is run.
    """
    complete = _complete(session, module_class)
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        modules = list(_modules(session, module_class))
        wanted = _mentioning([module.path for module in modules])
        return [
            item
            for module in modules
            if module.path in wanted and module.path not in complete
            for item in _collected(module)
        ]


def _complete(session: pytest.Session, module_class: type[DefinitionModule]) -> set[Path]:
    """Return the files of which the run collects every test."""
    if session.config.getoption("lf", default=False):
        return set()
    folder = session.config.invocation_params.dir
    args = [arg.partition("::") for arg in session.config.args]
    parts = {(folder / path).resolve() for path, colons, _ in args if colons}
    found = {one.path for one in session.items if one.getparent(module_class) is None}
    return {path for path in found if path.resolve() not in parts}


def _collected(module: pytest.Module) -> list[pytest.Item]:
    try:
        return list(_items(module))
    except (Exception, SystemExit, pytest.skip.Exception):  # noqa: BLE001  # see items()
        return []


def _items(node: pytest.Collector) -> Iterator[pytest.Item]:
    for child in node.collect():
        if isinstance(child, pytest.Item):
            yield child
        else:
            yield from _items(child)


def _modules(
    session: pytest.Session, module_class: type[DefinitionModule]
) -> Iterator[pytest.Module]:
    """Yield the test modules that a run of the whole project would collect."""
    nodes: dict[Path, pytest.Collector] = {}
    seen: set[Path] = set()
    for root in _roots(session.config):
        folder = root if root.is_dir() else root.parent
        for module in _modules_in(_folder(session, folder, nodes), module_class):
            if module.path not in seen and module.path.is_relative_to(root):
                seen.add(module.path)
                yield module


def _roots(config: pytest.Config) -> list[Path]:
    root = config.rootpath
    named = [
        root / path
        for pattern in config.getini("testpaths")
        # As pytest expands testpaths; Path.glob takes no absolute ones, and no "..".
        for path in sorted(glob.glob(pattern, root_dir=root, recursive=True))  # noqa: PTH207  # see above
    ]
    return named or [root]


def _folder(
    session: pytest.Session, path: Path, nodes: dict[Path, pytest.Collector]
) -> pytest.Collector:
    """Return the node of a folder, with those of the folders above it."""
    if path not in nodes:
        parent: pytest.Collector = session
        if path != session.config.rootpath and path.is_relative_to(session.config.rootpath):
            parent = _folder(session, path.parent, nodes)
            _children(parent)
        collect = session.gethookproxy(path.parent).pytest_collect_directory
        nodes[path] = collect(path=path, parent=parent)
    return nodes[path]


def _children(node: pytest.Collector) -> list[pytest.Item | pytest.Collector]:
    """Return what is in a folder, after its ``conftest.py`` was loaded as pytest loads it."""
    report = node.ihook.pytest_make_collect_report(collector=node)
    return list(report.result) if report.outcome == "passed" else []


def _modules_in(
    node: pytest.Collector, module_class: type[DefinitionModule]
) -> Iterator[pytest.Module]:
    for child in _children(node):
        if isinstance(child, pytest.Directory):
            yield from _modules_in(child, module_class)
        elif isinstance(child, pytest.Module) and not isinstance(child, module_class):
            yield child


def _mentioning(paths: Iterable[Path]) -> set[Path]:
    """Return the files in which the mark occurs, or the name of a module in which it does.

    The modules are those that lie beside the files: where a project states its marks once, for
    several tests.
    """
    texts = {path: _text(path) for path in paths}
    beside = {one for folder in {path.parent for path in texts} for one in folder.glob("*.py")}
    sources = {**{path: _text(path) for path in beside - texts.keys()}, **texts}
    found = {path for path, text in sources.items() if MARK in text}
    while names := {re.escape(path.stem) for path in found}:
        imported = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
        more = {path for path, text in sources.items() if _imports(text, imported)} - found
        if not more:
            break
        found |= more
    return found & texts.keys()


def _imports(text: str, names: re.Pattern[str]) -> bool:
    return any(names.search(line) for line in text.splitlines() if "import" in line)


def _text(path: Path) -> str:
    try:
        return reading.read(path, SIZE_LIMIT).decode("utf-8", "replace")
    except (OSError, reading.UnusableFileError):
        return ""
