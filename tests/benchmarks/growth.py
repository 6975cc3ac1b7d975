"""Many definitions: time and memory of each, of a run that collects, checks and reports them.

Only ``test_declared`` is run; collection, the marks of the project's own tests, the terminal
summary and a JSON report are part of it. The definitions pass: pytest itself takes, for its summary
of n failures, a time that grows with n times n.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import run_python
from benchmarks.whole_run import command_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SIZES = (10, 100, 1_000, 10_000)
RUN = (
    *("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--rope-contract"),
    *("--rope-contract-surface=megatron-core-0.19.2", "--rope-contract-report=report.json"),
    *("-k", "test_declared"),
)
SETTINGS = """[tool.pytest]
testpaths = ["tests"]
rope_contract_models = ["scripts/models/*.txt"]
"""
MARKED = """
@rope_expect({kind!r}, models=["{name}"], declared=False)
def test_{number}():
    pass
"""
DIFFERENT = 10
A_MARK_FOR = 10


def lines(*, quick: bool) -> Iterator[str]:
    """Measure, and yield what is printed."""
    with tempfile.TemporaryDirectory() as scratch:
        chosen = passing(Path(scratch) / "all")
        before = None
        for size in SIZES[:3] if quick else SIZES:
            folder = Path(scratch) / str(size)
            marks = ["from pytest_ropecontract import rope_expect\n"]
            models = {}
            for number in range(size):
                # No two are alike, so that nothing is resolved once for many.
                argv, kind = chosen[number % len(chosen)]
                models[f"model-{number}"] = [*argv, "--seed", str(number + 1)]
                if not number % A_MARK_FOR:
                    marks.append(MARKED.format(kind=kind, name=f"model-{number}", number=number))
            write_project(folder, models, "".join(marks))
            run = run_python(RUN, folder)
            if run.status:
                raise SystemExit(f"pytest ended with status {run.status}")
            line = f"{size:6} definitions: {run.seconds:7.1f} s, {run.mebibytes:6.0f} MiB"
            if before is not None:
                small, known = before
                more = size - small
                spent = (run.processor - known.processor) / more * 1e3
                held = (run.mebibytes - known.mebibytes) / more * 1024
                line += f"; each of the {more} more: {spent:.2f} ms of processor, {held:.1f} KiB"
            before = size, run
            yield line


def write_project(folder: Path, models: Mapping[str, Sequence[str]], tests: str = "") -> None:
    """Write a project with some definitions, and one module of tests."""
    (folder / "scripts/models").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    (folder / "tests/test_marks.py").write_text(tests, encoding="utf-8")
    for name, argv in models.items():
        text = "".join(f"{json.dumps(token)}\n" for token in argv)
        (folder / f"scripts/models/{name}.txt").write_text(text, encoding="utf-8")


def passing(folder: Path) -> list[tuple[list[str], str]]:
    """Return command lines without a finding, from all over the alphabet, with what is built."""
    argv = command_lines()
    write_project(folder, argv)
    run_python(RUN, folder)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    found = [(argv[one["name"]], one["rope"]["kind"]) for one in report["models"] if fits(one)]
    return found[:: max(1, len(found) // DIFFERENT)][:DIFFERENT]


def fits(model: Mapping[str, Any]) -> bool:
    return model["rope"] is not None and not model["findings"]
