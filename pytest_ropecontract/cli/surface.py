"""The commands ``ropecontract surface list``, ``show`` and ``record``."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_ropecontract.megatron.surface import Surface

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  # has no other name

INSTALL = (
    "pip install 'pytest-ropecontract[megatron]' on Python 3.12 or newer, "
    "or name the folder of a checkout with --pythonpath"
)


def add_commands(commands: Commands) -> None:
    """Add ``surface`` and the commands under it to those of the parser."""
    surface = commands.add_parser(
        "surface",
        help="list, show and record what Megatron versions accept",
        description="A surface is what one Megatron version accepts and does with it.",
        allow_abbrev=False,
    )
    under = surface.add_subparsers(metavar="COMMAND", required=True)

    listing = under.add_parser(
        "list",
        help="list the surfaces that can be chosen",
        description="List the surfaces that can be chosen by name.",
        allow_abbrev=False,
    )
    listing.set_defaults(run=list_surfaces)

    showing = under.add_parser(
        "show",
        help="show what of a surface concerns RoPE",
        description="Show the RoPE options of a surface, the defaults of its config classes, "
        "and the ways to a rotary embedding.",
        allow_abbrev=False,
    )
    showing.add_argument(
        "surface",
        metavar="NAME|PATH",
        help="a name from the list, a version, 'live', or a file made by 'surface record'",
    )
    showing.set_defaults(run=show_surface)

    recording = under.add_parser(
        "record",
        help="record the importable Megatron",
        description="Record the importable Megatron, with the options that a framework adds, "
        "as a JSON file for --rope-contract-surface.",
        allow_abbrev=False,
    )
    recording.add_argument("-o", "--output", metavar="FILE", required=True, help="what to write")
    recording.add_argument(
        "--arguments",
        metavar="MODULE:FUNCTION",
        nargs="+",
        action="extend",
        default=[],
        help="functions of a framework that get the parser and add options to it",
    )
    recording.add_argument(
        "--pythonpath",
        metavar="DIR",
        nargs="+",
        action="extend",
        default=[],
        help="folders to import Megatron and the functions from",
    )
    recording.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    recording.set_defaults(run=record_surface)


def list_surfaces(_: argparse.Namespace) -> None:
    """Print the shipped surfaces, and whether there is a live Megatron."""
    from pytest_ropecontract.cli.tables import columns
    from pytest_ropecontract.megatron.live import is_importable
    from pytest_ropecontract.megatron.surface import NEWEST, load_shipped, shipped

    live = is_importable()
    rows = [("NAME", "VERSION", "OPTIONS", "FROM")]
    for name in shipped():
        surface = load_shipped(name)
        origin = "shipped, the default" if name == NEWEST and not live else "shipped"
        rows.append((name, surface.version, str(len(surface.options)), origin))
    state = "importable, the default" if live else "megatron.training is not importable"
    rows.append(("live", "-", "-", state))
    print("\n".join(columns(rows)))
    if live:
        print(f"\nlive is the Megatron in\n  {_live_folder()}")


def show_surface(options: argparse.Namespace) -> None:
    """Print what of a surface concerns RoPE.

    Raises:
        SurfaceError: There is no such surface, or it cannot be read or imported.
    """
    from pytest_ropecontract.cli.description import describe
    from pytest_ropecontract.megatron.selection import choose
    from pytest_ropecontract.megatron.surface import load_file

    path = Path(options.surface)
    try:
        is_file = path.is_file()
    except OSError:  # too long for a file name
        is_file = False
    surface = load_file(path) if is_file else choose(options.surface, Path.cwd()).surface
    print("\n".join(describe(surface)))


def record_surface(options: argparse.Namespace) -> None:
    """Record the importable Megatron into a file.

    Raises:
        RopeContractError: The file cannot be written, a folder or function does not exist,
            or Megatron cannot be imported or recorded.
    """
    from pytest_ropecontract.megatron.pipeline import importing_from
    from pytest_ropecontract.megatron.surface import dump

    target = Path(options.output)
    with _writing(target):
        _check_target(target, overwrite=options.force)
    folders = [_folder(name) for name in options.pythonpath]
    with importing_from(folders):
        surface = _record(options.arguments)
    with _writing(target):
        _write(target, dump(surface))
    print(f"recorded {surface.name}, {len(surface.options)} options, in {target}")


def _record(names: Sequence[str]) -> Surface:
    from pytest_ropecontract.megatron.live import is_importable
    from pytest_ropecontract.megatron.pipeline import add_options, load_function
    from pytest_ropecontract.megatron.recording import record

    if not is_importable():
        raise RopeContractError("megatron.training is not importable", remedy=INSTALL)
    functions = [
        functools.partial(
            add_options,
            "--arguments",
            name,
            load_function("--arguments", name, folders_key="--pythonpath"),
        )
        for name in names
    ]
    print(f"recording {_live_folder()}, about a minute", file=sys.stderr, flush=True)
    return record(functions)


def _live_folder() -> str:
    """Return the folder of the importable ``megatron.training``."""
    spec = importlib.util.find_spec("megatron.training")
    locations = None if spec is None else spec.submodule_search_locations
    return next(iter(locations or ()), "an unknown folder")


def _folder(name: str) -> str:
    path = Path(name)
    if not path.is_dir():
        raise RopeContractError(f"--pythonpath: there is no folder {name!r}")
    return str(path.resolve())


def _check_target(target: Path, *, overwrite: bool) -> None:
    """Find out before a recording, which takes a while, that it could not be written."""
    if target.is_dir():
        raise RopeContractError(f"{target} is a folder", remedy="name a file in it")
    if not target.parent.is_dir():
        raise RopeContractError(
            f"there is no folder {str(target.parent)!r}",
            origin=f"-o {target}",
            remedy="create it, or name another file",
        )
    if target.exists() and not overwrite:
        raise RopeContractError(
            f"{target} exists already", remedy="name another file, or overwrite it with --force"
        )


def _write(target: Path, text: str) -> None:
    """Write a file so that nobody ever sees a part of it."""
    final = target.resolve()
    partial = final.with_name(f".{final.name}.{os.getpid()}")
    try:
        with partial.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        partial.replace(final)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Raise what the system refuses as an error that names the file."""
    try:
        yield
    except OSError as error:
        raise RopeContractError(f"{target} cannot be written: {error.strerror}") from error
