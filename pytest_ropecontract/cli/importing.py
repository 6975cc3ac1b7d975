"""What commands import: a Megatron that is named, or the one to record."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_ropecontract.megatron.backend import Megatron
    from pytest_ropecontract.megatron.surface import Surface

INSTALL = (
    "pip install 'pytest-ropecontract[megatron]' on Python 3.12 or newer, "
    "or name the folder of a checkout with --pythonpath"
)
SURFACE_HELP = "a name from the list, a version, 'live', or a file made by 'surface record'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says how a Megatron is recorded."""
    parser.add_argument(
        "--arguments",
        metavar="MODULE:FUNCTION",
        nargs="+",
        action="extend",
        default=[],
        help="functions of a framework that get the parser and add options to it",
    )
    parser.add_argument(
        "--pythonpath",
        metavar="DIR",
        nargs="+",
        action="extend",
        default=[],
        help="folders to import Megatron and the functions from",
    )


def choose(name: str) -> Megatron:
    """Return the Megatron that an argument names.

    Raises:
        SurfaceError: There is no such surface, or it cannot be read or imported.
    """
    from pytest_ropecontract.megatron import selection
    from pytest_ropecontract.megatron.recorded import RecordedMegatron
    from pytest_ropecontract.megatron.surface_files import load_file

    path = Path(name)
    try:
        is_file = path.is_file()
    except OSError:  # too long for a file name
        is_file = False
    return RecordedMegatron(load_file(path)) if is_file else selection.choose(name, Path.cwd())


def record(names: Sequence[str], folders: Sequence[str], *, name: str | None = None) -> Surface:
    """Record the importable Megatron.

    Args:
        names: ``module:function`` of functions that add options.
        folders: Where to import Megatron and the functions from, beside ``sys.path``.
        name: What to call the surface, or None.

    Raises:
        RopeContractError: A folder or function does not exist, or Megatron cannot be imported
            or recorded.
    """
    from pytest_ropecontract.megatron import recording
    from pytest_ropecontract.megatron.framework import add_options, importing_from, load_function
    from pytest_ropecontract.megatron.live import is_importable

    with importing_from([_folder(folder) for folder in folders]):
        if not is_importable():
            raise RopeContractError("megatron.training is not importable", remedy=INSTALL)
        functions = {
            one: functools.partial(
                add_options,
                "--arguments",
                one,
                load_function("--arguments", one, folders_key="--pythonpath"),
            )
            for one in names
        }
        print(f"recording {live_folder()}, about a minute", file=sys.stderr, flush=True)
        return recording.record(functions, name=name)


def live_folder() -> str:
    """Return the folder of the importable ``megatron.training``."""
    spec = importlib.util.find_spec("megatron.training")
    locations = None if spec is None else spec.submodule_search_locations
    return next(iter(locations or ()), "an unknown folder")


def _folder(name: str) -> str:
    path = Path(name)
    if not path.is_dir():
        raise RopeContractError(
            f"--pythonpath: there is no folder {name!r}",
            remedy="name the folder that holds the package, from the working directory",
        )
    return str(path.resolve())
