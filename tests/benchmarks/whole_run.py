"""A whole run of 66 definitions, against a run of as many tests that only draw.

Every kind of item, 100 examples each, recorded surface; the other run has as many tests, of which
those in place of ``test_omissions`` draw the same omissions and do nothing with them.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import EXAMPLE, in_turn, run_python
from pytest_ropecontract.cli.project import in_session, load_project
from pytest_ropecontract.collection import project_of
from pytest_ropecontract.omission.engine import OmissionEngine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

DEFINITIONS = 66
EXAMPLES = 100
KINDS = 5
SETTINGS = """[tool.pytest]
testpaths = ["tests"]
rope_contract_models = ["scripts/models/*.txt"]
rope_contract_pythonpath = ["."]
rope_contract_arguments = ["ropeframe.arguments:add_rope_arguments"]
rope_contract_defaults = ["ropeframe.arguments:set_default_megatron_args"]
rope_contract_stubs = ["ropeframe.arguments:validate_gpus"]
"""
DRAWS = """
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from pytest_ropecontract.megatron.command_line import Occurrence
from pytest_ropecontract.omission.strategy import searched
from pytest_ropecontract.omission.units import Units

SEARCHES = json.loads(Path(__file__).with_name("searches.json").read_text())


@pytest.mark.parametrize("kind", range(%d))
@pytest.mark.parametrize("model", SEARCHES)
def test_nothing(model, kind):
    pass


@pytest.mark.parametrize("model", SEARCHES)
def test_draws(model):
    if SEARCHES[model] is None:
        pytest.skip("nothing is built")
    argv, occurrences, quiet = SEARCHES[model]
    units = Units(tuple(argv), tuple(Occurrence(*one) for one in occurrences))

    @settings(
        max_examples=%d,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(searched(units, quiet))
    def draw(omission):
        pass

    draw()
"""


def command_lines() -> dict[str, list[str]]:
    """Return 66 command lines by name: published ones, or those of the example, repeated."""
    corpus = os.environ.get("ROPE_CONTRACT_CORPUS")
    found: dict[str, list[str]] = {}
    if corpus:
        for path in sorted(Path(corpus).rglob("*.txt")):
            text = path.read_text(encoding="utf-8")
            found.setdefault(path.stem, [json.loads(line) for line in text.splitlines() if line])
    else:
        project = load_project([EXAMPLE])
        for number in range(DEFINITIONS):
            name = list(project.registry)[number % len(project.registry)]
            found[f"{name}-{number}"] = project.expand(name)
    return dict(list(found.items())[:DEFINITIONS])


def make_project(folder: Path) -> Path:
    """Write a project with the definitions, and one test module that only draws."""
    models = folder / "scripts/models"
    models.mkdir(parents=True)
    (folder / "tests").mkdir()
    shutil.copytree(EXAMPLE / "ropeframe", folder / "ropeframe")
    (folder / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    for name, argv in command_lines().items():
        text = "".join(f"{json.dumps(token)}\n" for token in argv)
        (models / f"{name}.txt").write_text(text, encoding="utf-8")
    found = in_session(searches, ["--rope-contract-surface=megatron-core-0.19.2", str(folder)])
    (folder / "tests/searches.json").write_text(json.dumps(found), encoding="utf-8")
    draws = DRAWS % (KINDS - 1, EXAMPLES)
    (folder / "tests/test_draws.py").write_text(draws, encoding="utf-8")
    return folder


def searches(session: pytest.Session) -> dict[str, Any]:
    """Return of every model its command line, its flags and those whose loss is quiet."""
    project = project_of(session.config)
    found: dict[str, Any] = {}
    for model in project.registry:
        found[model] = None
        if project.resolve(model).rope is not None:
            argv = project.expand(model)
            engine = OmissionEngine(project.pipeline, argv, project.guard(model, ()))
            found[model] = (argv, engine.units.occurrences, engine.quiet())
    return found


def lines(*, quick: bool) -> Iterator[str]:
    """Measure, and yield what is printed."""
    quiet = ("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")
    whole = (
        *quiet,
        *("--rope-contract", f"--rope-contract-examples={EXAMPLES}"),
        *("--rope-contract-surface=megatron-core-0.19.2", "scripts/models"),
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = make_project(Path(scratch) / "project")
        first = run_python(whole, folder)
        yield f"the first run: {first.seconds:.1f} s, {first.mebibytes:.0f} MiB"
        for workers in ((), ("-n2",)):
            pair = in_turn(
                lambda more=workers: run_python((*whole, *more), folder).seconds,
                lambda more=workers: run_python((*quiet, "tests", *more), folder).seconds,
                1 if quick else 5,
            )
            yield (
                f"{workers[0] if workers else '-n0'}: {pair.one:.1f} s, only drawing "
                f"{pair.other:.1f} s: {pair.ratio:.2f} times"
            )
