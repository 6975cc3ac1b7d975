"""The command ``ropecontract checkpoint pull``."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.cli import output
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from pytest_ropecontract.cli.comparing import Commands
    from pytest_ropecontract.contracts.checkpoints.published import Checkpoint

TIME_LIMIT = 60.0
ANOTHER = "name the repository, or the folder, of a model"


def add_commands(commands: Commands) -> None:
    """Add ``checkpoint`` and the command under it to those of the parser."""
    checkpoint = commands.add_parser(
        "checkpoint",
        help="fetch what a published checkpoint says about RoPE",
        description="A checkpoint's config.json is the contract of the models that it is of.",
        allow_abbrev=False,
    )
    under = checkpoint.add_subparsers(metavar="COMMAND", required=True)
    pulling = under.add_parser(
        "pull",
        help="write the RoPE part of a published config.json to a file",
        description="Write the RoPE part of a config.json, with the repository and the commit "
        "that it is of, to a file for test_checkpoint.",
        allow_abbrev=False,
    )
    pulling.add_argument(
        "source",
        metavar="REPO_ID|PATH",
        help="a repository of the hub; or, without network, a folder that holds a model, a "
        "repository in a local hub cache, or a config.json",
    )
    pulling.add_argument("--revision", metavar="R", help="a commit, branch or tag; by default main")
    output.add_arguments(pulling)
    pulling.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=_seconds,
        default=TIME_LIMIT,
        help=f"how long to wait for the hub; by default {TIME_LIMIT:g}",
    )
    pulling.set_defaults(run=pull)


def pull(options: argparse.Namespace) -> None:
    """Write the RoPE part of a ``config.json`` to a file.

    Raises:
        RopeContractError: The file cannot be written, there is no such config, it cannot be
            fetched or read, or states nothing about RoPE.
    """
    from pytest_ropecontract.contracts.checkpoints import document, excerpt, folders, reader

    target = Path(options.output)
    output.check(target, overwrite=options.force)
    source = Path(options.source)
    unreached = None
    if os.path.lexists(source):
        located = folders.locate(source, options.source, options.revision)
    else:
        from pytest_ropecontract import hub

        published = hub.fetch(options.source, options.revision, options.time_limit)
        name = f"{folders.CONFIG_FILE} of {options.source}"
        located = folders.Located(published.path, name, options.source, published.commit)
        unreached = published.unreached
    try:
        whole = document.load(located.path, located.name)
    except document.CheckpointError as error:
        # What is wrong is not in the project, where a file could be put in its place.
        raise RopeContractError(error.headline, remedy=ANOTHER) from None
    content = excerpt.excerpt(whole, located.repo_id, located.commit)
    read = reader.read(content, located.name)
    if not read.ropes:
        raise RopeContractError(f"{located.name}: {read.problems[0].message}", remedy=ANOTHER)
    output.write(target, excerpt.dump(content))
    if unreached is not None:
        print(f"from the local cache, because the hub is not reached: {unreached}")
    print(f"wrote {target}: {_summary(read, content[excerpt.NOTE])}")


def _summary(read: Checkpoint, note: dict[str, Any]) -> str:
    """Say in one line what a file publishes, and of what it is."""
    from pytest_ropecontract.contracts.findings import plain

    parts = []
    for rope in read.ropes:
        base = rope.values.get("rotary_base")
        parts.append(rope.rope_type if base is None else f"{rope.rope_type} at {plain(base)}")
    known = [note[key] for key in ("repo_id", "revision") if key in note]
    problems = f", {len(read.problems)} problems" if read.problems else ""
    return f"{' and '.join(parts)}{problems}" + (f", {' at '.join(known)}" if known else "")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value
