"""No error of the package is without a golden text: each place that raises one is found."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pytest_ropecontract

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(pytest_ropecontract.__file__).parent
GOLDEN = Path(__file__).parent / "__snapshots__"
# What a user reads; other exceptions are turned into these.
ERRORS = (
    *("RopeContractError", "DefinitionError", "ExpectationError", "AllowanceError"),
    *("CheckpointError", "PipelineError", "PipelineCallError", "SurfaceError"),
    *("BuiltConfigError", "UsageError", "CollectError", "fail", "_failure"),
)
# Modules whose errors need what a test cannot have everywhere, with the tests that have it.
ELSEWHERE = {
    "megatron/live.py": "a Megatron that cannot be imported: tests/plugin",
    "megatron/recording/options.py": "a Megatron with strange options: tests/megatron, tests/live",
    "megatron/recording/rotary.py": "a Megatron that builds nothing: tests/megatron",
    "megatron/recorded.py": "a surface that a person changed: tests/megatron",
    "definitions/worker.py": "no process can be started: tests/definitions/test_worker.py",
    "definitions/outcome.py:started": "the same",
    "definitions/shell_array.py:bash": "no bash: tests/definitions/test_shell_array.py",
    "definitions/script.py:compiled": "depends on the Python: tests/definitions",
    "megatron/pipeline.py:not set": "a live Megatron: tests/megatron",
    "megatron/pipeline.py:namespace": "the same",
    "cli/importing.py:importable": "no Megatron: tests/cli",
    "cli/snapshot.py": "lines of a list, for the file that each is about: tests/cli",
    "settings.py:not installed": "a library that is missing: tests/plugin/test_html_report.py",
    "rope/built.py:no rotary rule": "a surface that a person changed: tests/rope",
    "fixtures.py:syrupy": "a run without syrupy: tests/plugin",
    "owners.py": "marks and files of snapshots: tests/plugin",
    "cli/comparing.py": "an importable Megatron: tests/cli/test_cli_verify.py",
}
# The constant part of a headline that must be there for a site to be told from others.
TELLING = 8


class Site:
    """A place that raises an error, with what its headline looks like."""

    def __init__(self, path: Path, call: ast.Call) -> None:
        self.module = path.relative_to(ROOT).as_posix()
        self.line = call.lineno
        self.pattern = _pattern(call.args[0]) if call.args else None

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.pattern}"


def _pattern(node: ast.expr) -> str | None:
    """Return a regular expression of a text, or None where little of it is constant."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        parts: list[ast.expr] = [node]
    elif isinstance(node, ast.JoinedStr):
        parts = node.values
    else:
        return None
    constants = [str(one.value) for one in parts if isinstance(one, ast.Constant)]
    if max(map(len, constants), default=0) < TELLING:
        return None
    written = "".join(
        re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".*" for one in parts
    )
    return written.split(re.escape("\n"))[0]


@functools.cache
def sites() -> tuple[Site, ...]:
    return tuple(_sites())


@functools.cache
def golden_lines() -> tuple[str, ...]:
    return tuple(
        line.strip()
        for path in GOLDEN.rglob("*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
    )


def _sites() -> Iterator[Site]:
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
                if name in ERRORS and (site := Site(path, node)).pattern is not None:
                    yield site


@pytest.mark.parametrize("module", sorted({site.module for site in sites()}))
def test_every_error_has_a_golden_text(module: str) -> None:
    if module in ELSEWHERE:
        return
    missing = [
        str(site)
        for site in sites()
        if site.module == module
        and not any(re.search(rf"(?:^|: ){site.pattern}", line) for line in golden_lines())
        and not any(
            key.startswith(f"{module}:") and key.partition(":")[2] in str(site).replace("\\", "")
            for key in ELSEWHERE
        )
    ]
    assert missing == []
