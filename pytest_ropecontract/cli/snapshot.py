"""The command ``ropecontract snapshot import``: golden files that a project already has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from pytest_ropecontract.cli.comparing import Commands
    from pytest_ropecontract.definitions import Registry

LEFT_OUT = 1


def add_commands(commands: Commands) -> None:
    """Add ``snapshot`` and the command under it."""
    snapshot = commands.add_parser(
        "snapshot",
        help="bring along the golden files that a project has",
        description="Snapshots are what test_snapshot of pytest --rope-contract compares with.",
        allow_abbrev=False,
    )
    under = snapshot.add_subparsers(title="commands", metavar="COMMAND", required=True)
    importing = under.add_parser(
        "import",
        help="write the flags of golden files as snapshots",
        description="Write the flags of golden files as snapshots, for the project in the working "
        "directory. A golden file is named after its model, with any ending or none, and holds "
        "one JSON string a line, or tokens with shell quoting. The exit status is 1 where a file "
        "is left out.",
        allow_abbrev=False,
    )
    importing.add_argument("folder", metavar="DIR", type=Path, help="the golden files")
    importing.add_argument(
        "--force", action="store_true", help="overwrite snapshots that hold other flags"
    )
    importing.add_argument(
        "-c", "--config-file", metavar="FILE", help="the ini file to read, as for pytest"
    )
    importing.set_defaults(run=import_golden)


def import_golden(options: argparse.Namespace) -> int:
    """Write the flags of golden files as snapshots, and say of every file what became of it.

    Raises:
        RopeContractError: There is no such folder, it holds no files, or the project's settings
            cannot be used.
    """
    from pytest_ropecontract.cli.project import load_project
    from pytest_ropecontract.definitions.wording import shown

    golden = _files(options.folder)
    project = load_project(config_file=options.config_file)
    root = project.settings.root
    folder = root / project.settings.snapshots
    taken: dict[str, Path] = {}
    count = 0
    for path in golden:
        try:
            model = _model(path, project.registry, taken)
            taken[model] = path
            done = _write(path, folder, model, root, overwrite=options.force)
        except RopeContractError as error:
            print(f"left out  {path.name}: {error.headline}")
            if error.remedy is not None:
                print(f"          {error.remedy}")
        else:
            count += 1
            print(f"{done}  {path.name}: {shown(snapshot_file(folder, model), root)}")
    left_out = len(golden) - count
    print(f"\n{count} imported, {left_out} left out")
    missing = [name for name in project.registry if name not in taken]
    if missing:
        print(f"models without a golden file: {', '.join(missing)}")
    if count:
        print("to write what the flags build: pytest --rope-contract --snapshot-update-new-only")
    return LEFT_OUT if left_out else 0


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise RopeContractError(f"there is no folder {str(folder)!r}")
    found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    if not found:
        raise RopeContractError(f"{str(folder)!r} holds no files")
    return found


def _model(path: Path, registry: Registry, taken: Mapping[str, Path]) -> str:
    """Return the model that a file is named after: as it is, or without its ending.

    Raises:
        RopeContractError: There is none, or another file is named after it, too.
    """
    name = next((name for name in (path.name, path.stem) if name in registry), None)
    if name is None:
        raise RopeContractError(f"no model is named {path.stem!r}")
    if name in taken:
        raise RopeContractError(f"{taken[name].name} is named after {name}, too")
    return name


def snapshot_file(folder: Path, model: str) -> Path:
    """Return the snapshot of a model's flags."""
    from pytest_ropecontract.snapshots import ARGS
    from pytest_ropecontract.snapshots.names import encoded

    return folder / f"{encoded(model)}.{ARGS}"


def _write(path: Path, folder: Path, model: str, root: Path, *, overwrite: bool) -> str:
    """Write the flags of a golden file, and say in a word what that did.

    Raises:
        RopeContractError: It holds no flags, or the snapshot is there and holds others.
    """
    from pytest_ropecontract.definitions import ArgvFile
    from pytest_ropecontract.definitions.wording import shown
    from pytest_ropecontract.snapshots import stored
    from pytest_ropecontract.snapshots.changes import story
    from pytest_ropecontract.snapshots.texts import argv_text

    target = snapshot_file(folder, model)
    text = argv_text(ArgvFile(path.absolute(), root).expand({}).argv)
    try:
        known = stored.read(target)
        differs = None if known is None else story(known, text)
    except stored.UnusableSnapshotError as problem:
        known, differs = "", f"it {problem}"
    if known == text:
        return "the same"
    if differs is not None and not overwrite:
        raise RopeContractError(
            f"{shown(target, root)} is there and differs: {differs}",
            remedy="overwrite it with --force, or remove one of them",
        )
    try:
        stored.write(target, text)
    except OSError as error:
        raise RopeContractError(
            f"{shown(target, root)} cannot be written: {error.strerror}"
        ) from None
    return "imported" if differs is None else "replaced"
