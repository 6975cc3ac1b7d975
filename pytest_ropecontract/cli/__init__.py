"""The command ``ropecontract``."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.cli import checkpoint, explain, rule, snapshot, surface
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

UNUSABLE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        argv: The arguments, without the command's name; by default the process's own.

    Returns:
        0; 1 where a comparison finds what it looks for; 2 where the input cannot be used:
        what is wrong stands on standard error.

    Raises:
        SystemExit: The arguments are not those of the command, or ask for its help.
    """
    options = parse(list(sys.argv[1:] if argv is None else argv))
    run: Callable[[argparse.Namespace], int | None] = options.run
    try:
        status = run(options) or 0
        sys.stdout.flush()
    except RopeContractError as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough. Python would flush once more at exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return status


def parse(argv: list[str]) -> argparse.Namespace:
    """Read arguments; ``run`` of what is returned is the command.

    Raises:
        SystemExit: They are not those of a command, or ask for its help.
    """
    before, dashes, tokens = _partition(argv)
    parser = _parser()
    options = parser.parse_args(before)
    if dashes and not options.takes_tokens:
        parser.error("only explain takes flags after --")
    options.tokens = tokens if dashes else None
    return options


def _partition(argv: list[str]) -> tuple[list[str], bool, list[str]]:
    """Divide arguments at the first ``--``; what follows are a model's flags."""
    if "--" not in argv:
        return argv, False, []
    at = argv.index("--")
    return argv[:at], True, argv[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ropecontract",
        description="Show which rotary position embedding a Megatron builds from a model's "
        "flags, and what Megatron versions accept.",
        epilog="The checks themselves are run by pytest: pytest --rope-contract",
        allow_abbrev=False,
    )
    parser.set_defaults(takes_tokens=False)
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    explain.add_command(commands)
    rule.add_command(commands)
    checkpoint.add_commands(commands)
    surface.add_commands(commands)
    snapshot.add_commands(commands)
    return parser


class _Version(argparse.Action):
    """Looks the version up when it is asked for: every other run saves the time."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"ropecontract {version('pytest-ropecontract')}")
        parser.exit()
