"""The command ``ropecontract explain``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    import pytest

    from pytest_ropecontract.cli.against import Against
    from pytest_ropecontract.cli.colours import Paint
    from pytest_ropecontract.cli.comparing import Commands
    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.megatron.backend import Megatron
    from pytest_ropecontract.project import Project
    from pytest_ropecontract.report.explanation import Explanation

SCHEMA = 1
UNUSABLE = 2
# What to call tokens that are given in place of a model.
GIVEN = "argv"
DESCRIPTION = """\
Show which rotary embedding is built from a model's flags, where every value
comes from, which flags nothing reads, and what the model's contracts say.
"""
EPILOG = """\
examples:
  ropecontract explain kimi-k2
  ropecontract explain 'kimi-*' --json
  ropecontract explain kimi-k2 --against kimi-k25
  ropecontract explain kimi-k2 --against 0.18.2
  ropecontract explain kimi-k2 --against path/to/config.json
  ropecontract explain -- --num-layers 2 --hidden-size 64 ...

The project is the one in the working directory: its ini file, its conftest.py
and the rope_expect marks of its tests apply, as in 'pytest --rope-contract'. No
test is run, and a test file that cannot be imported is left out. The exit status
is 0, also where contracts fail, and 2 where a model cannot be expanded.
"""


@dataclass(frozen=True)
class Told:
    """What is to be printed.

    Attributes:
        surface: Name, version and mode of what was resolved against.
        models: What is known of every model.
        against: What each is compared with, in the same order, or None.
    """

    surface: Mapping[str, Any]
    models: tuple[Explanation, ...]
    against: tuple[Against | None, ...]


def add_command(commands: Commands) -> None:
    """Add the command to those of the parser."""
    import argparse

    parser = commands.add_parser(
        "explain",
        help="show what is built from a model's flags, and why",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "models", metavar="MODEL", nargs="*", help="names of models, or globs of names"
    )
    parser.add_argument(
        "--argv",
        metavar="FILE",
        help="explain the tokens in a file: one JSON string a line, or plain tokens with shell "
        "quoting; tokens can also be given after --",
    )
    parser.add_argument(
        "--against",
        metavar="OTHER",
        help="compare with another model, with another surface (a name, a version, a file made "
        "by 'surface record'), or with a checkpoint (its config.json or its folder)",
    )
    parser.add_argument(
        "--surface",
        metavar="NAME",
        help="what to resolve against, as --rope-contract-surface of pytest",
    )
    parser.add_argument("-c", "--config-file", metavar="FILE", help="the ini file, as for pytest")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=explain_models, takes_tokens=True)


def explain_models(options: argparse.Namespace) -> int:
    """Print what is known of some models; return 2 where one of them is unusable.

    Raises:
        RopeContractError: There is no such model or nothing to compare with, or the project
            cannot be read.
    """
    from pytest_ropecontract.cli.project import in_session

    if not options.models and options.argv is None and options.tokens is None:
        raise RopeContractError(
            "nothing is named to explain",
            remedy="name a model, or give its flags: ropecontract explain -- --num-layers 2 ...",
        )
    arguments: list[str] = []
    if options.surface is not None:
        arguments += ["--rope-contract-surface", options.surface]
    if options.config_file is not None:
        arguments += ["-c", options.config_file]
    told = in_session(lambda session: _tell(session, options), arguments)
    if options.json:
        print(json.dumps(_document(told), indent=2))
    else:
        from pytest_ropecontract.cli.colours import paint_for

        print("\n".join(_lines(told, paint_for(sys.stdout))))
    return UNUSABLE if any(one.error is not None for one in told.models) else 0


def _tell(session: pytest.Session, options: argparse.Namespace) -> Told:
    from pytest_ropecontract import marks
    from pytest_ropecontract.collection import no_definitions, project_of
    from pytest_ropecontract.report.document import megatron_document
    from pytest_ropecontract.report.explanation import explain

    project = project_of(session.config)
    if options.models and not len(project.registry):
        raise no_definitions(session.config)
    names = project.registry.select(options.models) if options.models else []
    megatron = _megatron(project, session.config)
    examinations = [project.examine(name) for name in names]
    examinations += [project.examine_argv(GIVEN, argv) for argv in _given(options)]
    expectations: Mapping[str, Sequence[Expectation]] = marks.of_project(session) if names else {}
    models = []
    for one in examinations:
        named = one.name in names
        models.append(explain(project, one, expectations.get(one.name, ()) if named else None))
    compared: tuple[Against | None, ...] = (None,) * len(models)
    if options.against is not None:
        from pytest_ropecontract.cli.against import Other

        other = Other(project, options.against)
        compared = tuple(other.against(one) for one in examinations)
    return Told(megatron_document(megatron), tuple(models), compared)


def _megatron(project: Project, config: pytest.Config) -> Megatron:
    """Return what is resolved against; an error says what chose it."""
    from pytest_ropecontract.collection import options_of
    from pytest_ropecontract.megatron.surface import SurfaceError

    try:
        return project.pipeline.megatron
    except SurfaceError as error:
        where = options_of(config).surface_from
        where = "--surface" if where == "--rope-contract-surface" else where
        raise RopeContractError(
            f"{where}: {error.headline}",
            origin=error.origin,
            details=error.details,
            remedy=error.remedy,
        ) from None


def _given(options: argparse.Namespace) -> list[tuple[str, ...]]:
    """Return the tokens that are given in place of models."""
    from pytest_ropecontract.definitions.argv_file import ArgvFile

    found = []
    if options.argv is not None:
        path = Path(options.argv).absolute()
        try:
            found.append(ArgvFile(path, path.parent).expand({}).argv)
        except RopeContractError as error:
            raise RopeContractError(
                f"--argv {options.argv}: {error.headline}",
                details=error.details,
                remedy=error.remedy,
            ) from None
    if options.tokens is not None:
        found.append(tuple(options.tokens))
    return found


def _lines(told: Told, paint: Paint) -> list[str]:
    from pytest_ropecontract.cli import explanation

    lines = [f"{told.surface['name']} ({told.surface['mode']})"]
    for one, against in zip(told.models, told.against, strict=True):
        lines += ["", *explanation.explanation_lines(one, paint)]
        if against is None:
            continue
        if against.findings is not None:
            lines += explanation.checkpoint_lines(against.name, against.findings, paint)
        else:
            lines += explanation.change_lines(against.change, against.before, against.name)
    return lines


def _document(told: Told) -> dict[str, Any]:
    from pytest_ropecontract.cli import explanation

    models = []
    for one, against in zip(told.models, told.against, strict=True):
        document = explanation.document(one)
        if against is not None:
            compared: dict[str, Any] = {"with": against.name}
            if against.findings is not None:
                found = [explanation.finding_document(finding) for finding in against.findings]
                compared["findings"] = found
            else:
                compared.update(explanation.change_document(against.change))
            document["against"] = compared
        models.append(document)
    return {"schema": SCHEMA, "surface": dict(told.surface), "models": models}
