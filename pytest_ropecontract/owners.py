"""Who the files of snapshots belong to: models, and tests that were collected.

syrupy takes a snapshot for unused where a run did not use it, and guesses which ones a run leaves
out. A file that it deletes by mistake is lost, so here only what is certain counts.
"""

from __future__ import annotations

import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.collection import (
    DefinitionModule,
    knows_all_models,
    options_of,
    project_of,
)
from pytest_ropecontract.runs import COLLECTED, FINISHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_ropecontract.snapshots.extension import RopeSnapshot

FIXTURE = "rope_snapshot"
ITEM = "test_snapshot"


def is_loaded(config: pytest.Config) -> bool:
    """Return whether a run has syrupy."""
    return config.pluginmanager.has_plugin("syrupy")


def snapshot_of(request: pytest.FixtureRequest) -> RopeSnapshot:
    """Return the snapshot of a test.

    Raises:
        pytest.UsageError: An ini key cannot be used.
        RopeContractError: The name of the test cannot be told from another one's.
    """
    from pytest_ropecontract.snapshots.extension import RopeSnapshot, Site
    from pytest_ropecontract.snapshots.names import module_folder

    item, config = request.node, request.config
    folder = config.rootpath / options_of(config).settings.snapshots
    own = item.getparent(DefinitionModule) is not None and item.originalname == ITEM
    model = item.callspec.params["rope_model"] if own else None
    if model is None:
        _refuse_likeness(item)
    option = "--rope-contract " if config.getoption("rope_contract") else ""
    site = Site(
        root=config.rootpath,
        folder=folder,
        inner=Path() if model is not None else module_folder(item.path, folder),
        model=model,
        title=str(model or item.name),
        update=f"pytest {option}--snapshot-update {shlex.quote(item.nodeid)}",
        is_unused=functools.partial(_is_unused, config, folder),
    )
    return RopeSnapshot.of(request.getfixturevalue("snapshot"), site)


def explanation(left: object, right: object) -> list[str] | None:
    """Return why a snapshot differs, or None where none is compared."""
    from pytest_ropecontract.snapshots.extension import RopeSnapshot

    for one in (left, right):
        if isinstance(one, RopeSnapshot):
            return one.change().lines
    return None


def _refuse_likeness(item: pytest.Item) -> None:
    """Refuse a test whose files are another one's on a file system that ignores case."""
    from pytest_ropecontract.errors import RopeContractError

    name = _name(item)
    for other in item.config.stash.get(COLLECTED, ()):
        if other.path != item.path or FIXTURE not in getattr(other, "fixturenames", ()):
            continue
        if _name(other) != name and _name(other).casefold() == name.casefold():
            raise RopeContractError(
                f"{FIXTURE}: {name} and {_name(other)} differ only in case",
                origin=item.nodeid,
                remedy="rename one of them: their snapshots are one file on some systems",
            )


def _name(item: pytest.Item) -> str:
    """Return the name of a test, with those of its classes."""
    return ".".join(item.nodeid.split("::")[1:])


def _is_unused(config: pytest.Config, folder: Path, path: Path) -> bool:
    relative = path.relative_to(folder)
    if len(relative.parts) == 1:
        return _is_of_no_model(config, path)
    return _is_of_no_test(config, folder, path)


def _is_of_no_model(config: pytest.Config, path: Path) -> bool:
    """Return whether no model has a name; whatever else a run leaves out, it knows all models."""
    if not config.getoption("rope_contract") or not knows_all_models(config):
        return False
    registry = project_of(config).registry
    files = [one.path.stem for one in registry.values() if one.path is not None]
    if path.stem in (*registry, *files):  # a file that cannot be registered has another name
        return False
    alike = next((name for name in registry if name.casefold() == path.stem.casefold()), None)
    # Where case does not count, it is the file of the model that was renamed.
    own = None if alike is None else path.with_name(f"{alike}{path.suffix}")
    return own is None or not own.exists() or not own.samefile(path)


def _is_of_no_test(config: pytest.Config, folder: Path, path: Path) -> bool:
    """Return whether no test is left that could use a file, or one ran and did not."""
    from pytest_ropecontract.snapshots.names import is_of, module_of

    modules = [one for one in module_of(path.parent.relative_to(folder), folder) if one.is_file()]
    if not modules:
        return True
    collected = config.stash.get(COLLECTED, ())
    tests = [item for item in collected if item.path in modules]
    if not tests or not _is_complete(config, modules):
        return False
    own = [item for item in tests if is_of(path.stem, _name(item))]
    return all(item.stash.get(FINISHED, False) for item in own)


def _is_complete(config: pytest.Config, modules: Sequence[Path]) -> bool:
    """Return whether every test of some modules was collected.

    syrupy knows, too, but only from 7.0.2 on does it tell a test from one with a longer name.
    """
    if config.getoption("lf", default=False):
        return False
    folder = config.invocation_params.dir
    parts = {(folder / arg.partition("::")[0]).resolve() for arg in config.args if "::" in arg}
    return not any(module.resolve() in parts for module in modules)
