"""The commands ``ropecontract surface verify`` and ``diff``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.cli import importing
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from pytest_ropecontract.megatron.backend import Megatron
    from pytest_ropecontract.megatron.surface import Surface
    from pytest_ropecontract.upgrade import Comparison

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  # has no other name

DRIFT = 1
UNUSABLE = 2


def add_commands(commands: Commands) -> None:
    """Add the two commands to those under ``surface``."""
    verifying = commands.add_parser(
        "verify",
        help="compare a surface with the importable Megatron",
        description="Record the importable Megatron and compare a surface with it. "
        "The exit status is 1 where they differ.",
        allow_abbrev=False,
    )
    verifying.add_argument(
        "surface",
        metavar="NAME|PATH",
        nargs="?",
        help="what to compare with; by default the shipped surface of the same version",
    )
    importing.add_arguments(verifying)
    _add_json(verifying)
    verifying.set_defaults(run=verify_surface)

    differing = commands.add_parser(
        "diff",
        help="show what another Megatron changes",
        description="Show in which options, defaults, refusals and rotary rules two surfaces "
        "differ and, with --models, for which model definitions that changes what is built.",
        allow_abbrev=False,
    )
    differing.add_argument("first", metavar="A", help=importing.SURFACE_HELP)
    differing.add_argument("second", metavar="B", help="the same, of the one to change to")
    differing.add_argument(
        "--models",
        metavar="GLOB",
        nargs="+",
        action="extend",
        default=[],
        help="definitions to resolve with both: globs of files, or of names that the project "
        "registers; the project's ini file and conftest.py apply, as in 'pytest --rope-contract'",
    )
    differing.add_argument(
        "-c", "--config-file", metavar="FILE", help="the ini file to read, as for pytest"
    )
    _add_json(differing)
    differing.set_defaults(run=diff_surfaces)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def verify_surface(options: argparse.Namespace) -> int:
    """Compare a surface with the importable Megatron; return 1 where they differ.

    Raises:
        RopeContractError: There is no such surface, none of this version is shipped, or
            Megatron cannot be imported or recorded.
    """
    from pytest_ropecontract.cli.differences import difference_lines
    from pytest_ropecontract.megatron.comparison import compare

    given = None if options.surface is None else importing.choose(options.surface)
    if given is not None and given.mode == "live":
        raise RopeContractError("a live Megatron is compared with a recorded surface")
    if given is not None:
        _check_arguments(given.surface, options.arguments)
    live = importing.record(options.arguments, options.pythonpath)
    recorded = _same_version(live) if given is None else given.surface
    found = compare(recorded, live)
    if options.json:
        _print_json(
            {
                "recorded": _identity(recorded),
                "live": _identity(live),
                "drift": bool(found),
                "differences": [_document(one) for one in found],
            }
        )
    elif found:
        print(f"{recorded.name} differs from {_described(live)}\n")
        print("\n".join(difference_lines(found)))
        print(f"\n{_counted(len(found), 'difference')}; - is recorded, + is live")
    else:
        print(f"{recorded.name} does what {_described(live)} does")
        if recorded.fingerprint != live.fingerprint:
            print("the sources differ, and nothing that a surface holds")
    return DRIFT if found else 0


def _check_arguments(surface: Surface, given: Sequence[str]) -> None:
    """Ask for the functions that a surface was recorded with.

    They are named in its file, and what a file names is not imported.
    """
    if tuple(given) == surface.source.arguments:
        return
    wanted = " ".join(surface.source.arguments)
    raise RopeContractError(
        f"{surface.name} was recorded {'with other' if wanted else 'without'} --arguments",
        remedy=f"give the same: --arguments {wanted}" if wanted else "leave --arguments out",
    )


def _same_version(live: Surface) -> Surface:
    from pytest_ropecontract.megatron.surface_files import load_shipped, shipped

    # Megatron in a checkout adds the commit to its version.
    release = live.version.partition("+")[0]
    for name in shipped():
        surface = load_shipped(name)
        if surface.version == release:
            return surface
    raise RopeContractError(
        f"no surface of megatron-core {live.version} is shipped",
        details=[f"shipped: {', '.join(shipped())}"],
        remedy="name a surface, or record this one: ropecontract surface record -o FILE",
    )


def diff_surfaces(options: argparse.Namespace) -> int:
    """Show what the second of two surfaces changes; return 2 where a definition is unusable.

    Raises:
        RopeContractError: There is no such surface, a glob matches nothing, or the project
            cannot be read.
    """
    from pytest_ropecontract.cli.differences import difference_lines, model_lines
    from pytest_ropecontract.megatron.comparison import compare

    both = importing.choose(options.first), importing.choose(options.second)
    first, second = both[0].surface, both[1].surface
    models = _compare_models(options, both) if options.models else None
    found = compare(first, second)
    if options.json:
        document: dict[str, Any] = {
            "first": _identity(first),
            "second": _identity(second),
            "differences": [_document(one) for one in found],
        }
        if models is not None:
            document["models"] = _models_document(models)
        _print_json(document)
    else:
        print(f"{first.name} -> {second.name}\n")
        print("\n".join(difference_lines(found) or ["no differences"]))
        if models is not None:
            print("\n" + "\n".join(model_lines(models, first.name, second.name)))
    return UNUSABLE if models is not None and models.unusable else 0


def _compare_models(options: argparse.Namespace, both: tuple[Megatron, Megatron]) -> Comparison:
    from pytest_ropecontract.cli.project import select
    from pytest_ropecontract.upgrade import compare_models

    registry, names, settings = select(options.models, options.config_file)
    return compare_models(registry, names, both, settings)


def _identity(surface: Surface) -> dict[str, Any]:
    from pytest_ropecontract.megatron.comparison import plain

    return {
        "name": surface.name,
        "version": surface.version,
        "fingerprint": surface.fingerprint,
        "source": {**surface.source._asdict(), "arguments": plain(surface.source.arguments)},
    }


def _described(live: Surface) -> str:
    return f"the importable {live.name}"


def _document(record: Any) -> dict[str, Any]:
    from pytest_ropecontract.megatron.comparison import plain

    return {name: plain(value) for name, value in vars(record).items()}


def _models_document(models: Comparison) -> dict[str, Any]:
    return {
        "compared": list(models.models),
        "changes": [
            {
                "model": one.model,
                "before": _outcome_document(one.before),
                "after": _outcome_document(one.after),
                "fields": [_document(field) for field in one.fields],
                "size": one.size,
            }
            for one in models.changes
        ],
        "refused": [
            {"model": name, "refusals": list(reasons)} for name, reasons in models.refused.items()
        ],
        "errors": [{"model": name, "error": str(error)} for name, error in models.unusable.items()],
    }


def _outcome_document(outcome: Any) -> dict[str, Any]:
    from pytest_ropecontract.megatron.comparison import plain

    rope: Mapping[str, Any] | None = None
    if outcome.rope is not None:
        rope = {name: plain(value) for name, value in vars(outcome.rope).items()}
    return {
        "accepted": outcome.accepted,
        "rope": rope,
        "refusals": list(outcome.refusals),
        "dropped": list(outcome.dropped),
    }


def _print_json(document: Mapping[str, Any]) -> None:
    print(json.dumps(document, indent=2, ensure_ascii=True))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
