"""The commands ``ropecontract surface list``, ``show`` and ``record``, and the others under it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.cli import comparing, importing, output
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    import argparse

    from pytest_ropecontract.cli.comparing import Commands

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


def add_commands(commands: Commands) -> None:
    """Add ``surface`` and the commands under it to those of the parser."""
    surface = commands.add_parser(
        "surface",
        help="list, show, record and compare what Megatron versions accept",
        description="A surface is what one Megatron version accepts and does with it: options, "
        "what is edited and refused, how values reach the config, which rotary class is built. "
        "Those of some releases are shipped; any importable Megatron can be recorded.",
        allow_abbrev=False,
    )
    under = surface.add_subparsers(title="commands", metavar="COMMAND", required=True)

    listing = under.add_parser(
        "list",
        help="list the surfaces that can be chosen",
        description="List the surfaces that can be chosen by name, here and with "
        "--rope-contract-surface, and whether a live Megatron can be imported.",
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
    showing.add_argument("surface", metavar="NAME|PATH", help=importing.SURFACE_HELP)
    showing.set_defaults(run=show_surface)

    recording = under.add_parser(
        "record",
        help="record the importable Megatron",
        description="Record the importable Megatron, with the options that a framework adds, "
        "as a JSON file for --rope-contract-surface.",
        allow_abbrev=False,
    )
    output.add_arguments(recording)
    recording.add_argument(
        "--name",
        help="what to call the surface; by default after the distribution or the commit that "
        "it is recorded from, and the modules of --arguments",
    )
    importing.add_arguments(recording)
    recording.set_defaults(run=record_surface)

    comparing.add_commands(under)


def list_surfaces(_: argparse.Namespace) -> None:
    """Print the shipped surfaces, and whether there is a live Megatron."""
    from pytest_ropecontract.cli.tables import columns
    from pytest_ropecontract.megatron.live import is_importable
    from pytest_ropecontract.megatron.surface_files import NEWEST, load_shipped, shipped

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
        print(f"\nlive is the Megatron in\n  {importing.live_folder()}")


def show_surface(options: argparse.Namespace) -> None:
    """Print what of a surface concerns RoPE.

    Raises:
        SurfaceError: There is no such surface, or it cannot be read or imported.
    """
    from pytest_ropecontract.cli.description import describe

    print("\n".join(describe(importing.choose(options.surface).surface)))


def record_surface(options: argparse.Namespace) -> None:
    """Record the importable Megatron into a file.

    Raises:
        RopeContractError: The file cannot be written, a folder or function does not exist,
            or Megatron cannot be imported or recorded.
    """
    from pytest_ropecontract.megatron.surface_files import dump

    target = Path(options.output)
    if options.name is not None:
        _check_name(options.name)
    output.check(target, overwrite=options.force)
    surface = importing.record(options.arguments, options.pythonpath, name=options.name)
    output.write(target, dump(surface))
    print(f"recorded {surface.name}, {len(surface.options)} options, in {target}")


def _check_name(name: str) -> None:
    from pytest_ropecontract.megatron.surface_files import shipped

    if not NAME.fullmatch(name):
        raise RopeContractError(
            f"--name: {name!r} cannot name a surface",
            remedy="use letters, digits, '.', '_', '+' and '-', beginning with a letter or digit",
        )
    if name in shipped():
        raise RopeContractError(
            f"--name: {name} is the name of a shipped surface", remedy="give it a name of its own"
        )
