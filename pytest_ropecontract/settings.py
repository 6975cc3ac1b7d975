"""What was asked for on the command line and in the ini file, read once."""

from __future__ import annotations

import ast
import importlib.util
import math
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import ini
from pytest_ropecontract.contracts.allowances import read as read_allowances
from pytest_ropecontract.contracts.checkpoints import files
from pytest_ropecontract.definitions.wording import shortened
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.launchers.launcher import discover
from pytest_ropecontract.launchers.training import DEFAULT_SCRIPTS
from pytest_ropecontract.megatron.pipeline import PipelineSettings
from pytest_ropecontract.options import DEFAULT_MODELS, DEFAULT_TIME_LIMIT, SURFACE_VARIABLE
from pytest_ropecontract.project import Settings
from pytest_ropecontract.project_launchers import LaunchSettings
from pytest_ropecontract.snapshots import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORT_SUFFIXES = (".json", ".html")
# What the HTML report is made with.
REPORT_EXTRA = ("jinja2", "vl_convert")
MOST_EXAMPLES = 1_000_000


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line and in the ini file.

    Attributes:
        enabled: Whether ``--rope-contract`` was given.
        models: Globs of the files that define models.
        pythonpath: Absolute folders in which modules are found.
        time_limit: Seconds that the expansion of one definition may take.
        examples: How many omissions are drawn for every model; None: as many as the
            Hypothesis profile says.
        seed: Of the draws, as ``--hypothesis-seed`` gives it, or None.
        reports: Files to write.
        annotate: How failures are printed for a CI service: one of ``ANNOTATIONS``.
        surface_from: The option, variable or ini key that names the surface.
        keeps_snapshots: Whether the project has snapshots of its models, or asks for them.
        settings: What the project states about itself.
        launching: What it states about its launchers.
    """

    enabled: bool
    models: tuple[str, ...]
    pythonpath: tuple[str, ...]
    time_limit: float
    examples: int | None
    seed: int | str | None
    reports: tuple[Path, ...]
    annotate: str
    surface_from: str
    keeps_snapshots: bool
    settings: Settings
    launching: LaunchSettings


def read(config: pytest.Config) -> Options:
    """Read the options of a run.

    Raises:
        pytest.UsageError: A value that cannot be used; the text names the option or key.
    """
    folders = ini.lines(config, "rope_contract_pythonpath")
    pythonpath = (
        *(str((config.rootpath / folder).resolve()) for folder in folders),
        # Commands resolve when pytest has ended, and taken its own from sys.path.
        *map(str, config.getini("pythonpath")),
    )
    try:
        allowances = read_allowances(ini.lines(config, "rope_contract_allow"))
    except RopeContractError as error:
        raise pytest.UsageError(str(error)) from None
    surface, surface_from = _surface(config)
    snapshots = _snapshots(config)
    return Options(
        enabled=bool(config.getoption("rope_contract")),
        models=ini.lines(config, "rope_contract_models") or DEFAULT_MODELS,
        pythonpath=pythonpath,
        time_limit=_time_limit(config),
        examples=_examples(config),
        seed=_seed(config),
        surface_from=surface_from,
        keeps_snapshots=_keeps_snapshots(config, snapshots),
        reports=tuple(_report(config, name) for name in config.getoption("rope_contract_report")),
        annotate=str(config.getoption("rope_contract_annotate")),
        settings=Settings(
            root=config.rootpath,
            surface=surface,
            pipeline=_pipeline(config, pythonpath),
            allowances=allowances,
            strict=bool(
                config.getoption("rope_contract_strict")
                or ini.truth(config, "rope_contract_strict")
            ),
            checkpoints=_checkpoints(config),
            snapshots=snapshots,
        ),
        launching=_launching(config),
    )


def _checkpoints(config: pytest.Config) -> tuple[str, ...]:
    patterns = ini.lines(config, "rope_contract_checkpoints") or files.DEFAULT_PATTERNS
    try:
        for pattern in patterns:
            files.check_pattern(pattern)
    except RopeContractError as error:
        raise pytest.UsageError(str(error)) from None
    return patterns


def _snapshots(config: pytest.Config) -> str:
    """Return the folder of the snapshots, an absolute path."""
    text = ini.text(config, "rope_contract_snapshots") or FOLDER
    folder = Path(os.path.normpath(config.rootpath / os.path.expanduser(text)))  # noqa: PTH111
    # These never raise, as those of a Path do where a name is too long or nobody's home.
    if os.path.exists(folder) and not os.path.isdir(folder):  # noqa: PTH110, PTH112
        raise pytest.UsageError(
            f"rope_contract_snapshots: {text!r} is a file, not a folder\n"
            "  remedy: name a folder; it need not be there yet"
        )
    return str(folder)


def _keeps_snapshots(config: pytest.Config, folder: str) -> bool:
    """Return whether a missing snapshot is a fault: nobody has to keep any."""
    return (
        os.path.isdir(folder)  # noqa: PTH112 - the same
        or ini.text(config, "rope_contract_snapshots") is not None
        or bool(config.getoption("update_snapshots", default=False))
        or bool(config.getoption("update_new_snapshots_only", default=False))
    )


def _launching(config: pytest.Config) -> LaunchSettings:
    try:
        launchers = discover(config.rootpath, ini.lines(config, "rope_contract_launchers"))
    except RopeContractError as error:
        raise pytest.UsageError(f"rope_contract_launchers: {error}") from None
    answers = dict(
        _pair(config, "rope_contract_launch_answers", "COMMAND = TEXT", "nvidia-smi topo -m = NV18")
    )
    return LaunchSettings(
        launchers=launchers,
        scripts=ini.lines(config, "rope_contract_training") or DEFAULT_SCRIPTS,
        environment=dict(
            _pair(config, "rope_contract_launch_environment", "NAME=VALUE", "NODES=2")
        ),
        answers={command: text.replace("\\n", "\n") for command, text in answers.items()},
    )


def _pair(config: pytest.Config, name: str, form: str, example: str) -> Iterator[tuple[str, str]]:
    """Yield the two sides of every line of a key."""
    for line in ini.lines(config, name):
        left, equals, right = line.partition("=")
        if not equals or not left.strip():
            raise pytest.UsageError(
                f"{name}: {line!r} is not of the form {form}\n  remedy: for example {example}"
            )
        yield left.strip(), right.strip()


def _surface(config: pytest.Config) -> tuple[str, str]:
    """Return what to resolve against, and what says so."""
    for given, where in (
        (config.getoption("rope_contract_surface"), "--rope-contract-surface"),
        (os.environ.get(SURFACE_VARIABLE), SURFACE_VARIABLE),
    ):
        if given:
            # As with every path on a command line, it starts from the working directory.
            is_path = given.endswith(".json") or "/" in given
            folder = config.invocation_params.dir
            return str(folder / os.path.expanduser(given)) if is_path else given, where  # noqa: PTH111
    return ini.text(config, "rope_contract_surface") or "auto", "rope_contract_surface"


def _examples(config: pytest.Config) -> int | None:
    given = config.getoption("rope_contract_examples")
    name = "rope_contract_examples" if given is None else "--rope-contract-examples"
    text = ini.number(config, "rope_contract_examples") if given is None else given
    if text is None:
        return None
    text = text.removesuffix(".0")  # a float of TOML
    digits = len(str(MOST_EXAMPLES))
    if not text.isdecimal() or len(text) > digits or int(text) > MOST_EXAMPLES:
        raise pytest.UsageError(
            f"{name}: {shortened(repr(text))} is not a whole number from 0 to {MOST_EXAMPLES}\n"
            "  remedy: write a number, or leave it out for as many as the Hypothesis profile says"
        )
    return int(text)


def _seed(config: pytest.Config) -> int | str | None:
    """Return what ``--hypothesis-seed`` gives: a whole number, else any text."""
    text = config.getoption("--hypothesis-seed", None)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return str(text)


def _time_limit(config: pytest.Config) -> float:
    text = ini.number(config, "rope_contract_time_limit") or DEFAULT_TIME_LIMIT
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if not (math.isfinite(limit) and limit > 0):
        raise pytest.UsageError(
            f"rope_contract_time_limit: {text!r} is not a number of seconds above 0\n"
            f"  remedy: write a number, for example {DEFAULT_TIME_LIMIT}"
        )
    return limit


def _report(config: pytest.Config, name: str) -> Path:
    path = config.invocation_params.dir / name
    if path.suffix not in REPORT_SUFFIXES:
        raise pytest.UsageError(
            f"--rope-contract-report: {shortened(repr(name))} does not end in "
            f"{' or '.join(REPORT_SUFFIXES)}\n"
            f"  remedy: --rope-contract-report={Path(name).stem}{REPORT_SUFFIXES[0]}"
        )
    missing = [one for one in REPORT_EXTRA if importlib.util.find_spec(one) is None]
    if path.suffix == ".html" and missing:
        raise pytest.UsageError(
            f"--rope-contract-report: {name!r} needs {missing[0]}, which is not installed\n"
            "  remedy: pip install 'pytest-ropecontract[report]'"
        )
    if not os.path.isdir(path.parent):  # noqa: PTH112 - a name may be too long
        raise pytest.UsageError(
            f"--rope-contract-report: there is no folder {str(Path(name).parent)!r}\n"
            f"  remedy: mkdir -p {shlex.quote(str(Path(name).parent))}"
        )
    if os.path.isdir(path):  # noqa: PTH112 - the same
        raise pytest.UsageError(
            f"--rope-contract-report: {name!r} is a folder\n  remedy: name a file"
        )
    return path


def _pipeline(config: pytest.Config, pythonpath: tuple[str, ...]) -> PipelineSettings:
    unknown = ini.text(config, "rope_contract_unknown") or "reject"
    if unknown not in ("reject", "drop"):
        raise pytest.UsageError(
            f"rope_contract_unknown: {unknown!r} is neither reject nor drop\n"
            "  remedy: write drop where the framework ignores unknown flags, else leave it out"
        )
    return PipelineSettings(
        arguments=ini.lines(config, "rope_contract_arguments"),
        defaults=ini.lines(config, "rope_contract_defaults"),
        parser=ini.text(config, "rope_contract_parser"),
        stubs=ini.lines(config, "rope_contract_stubs"),
        base_args=ini.tokens(config, "rope_contract_base_args"),
        pins=dict(_pin(line) for line in ini.lines(config, "rope_contract_pins")),
        rotary=ini.text(config, "rope_contract_rotary"),
        unknown=unknown,  # type: ignore[arg-type]  # checked above
        pythonpath=pythonpath,
    )


def _pin(line: str) -> tuple[str, Any]:
    """Read ``dest=value``; what is no Python literal is text."""
    dest, equals, text = line.partition("=")
    if not equals or not dest.strip().isidentifier():
        raise pytest.UsageError(
            f"rope_contract_pins: {line!r} is not of the form dest=value\n"
            "  remedy: for example moe_permute_fusion=False"
        )
    try:
        return dest.strip(), ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return dest.strip(), text.strip()
