"""Many definitions: time and memory of each, of a run that collects, checks and reports them.

Only ``test_declared`` is run; collection, the terminal summary and a JSON report are part of it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import run_python
from benchmarks.whole_run import SETTINGS, command_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = (10, 100, 1_000, 10_000)
RUN = (
    *("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--rope-contract"),
    *("--rope-contract-surface=megatron-core-0.19.2", "--rope-contract-report=report.json"),
    *("-k", "test_declared", "scripts/models"),
)


def lines(*, quick: bool) -> Iterator[str]:
    """Measure, and yield what is printed."""
    settings = "\n".join(SETTINGS.splitlines()[:3])
    argv = command_lines()
    with tempfile.TemporaryDirectory() as scratch:
        before = None
        for size in SIZES[:3] if quick else SIZES:
            folder = Path(scratch) / str(size)
            models = folder / "scripts/models"
            models.mkdir(parents=True)
            (folder / "tests").mkdir()
            (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
            for number in range(size):
                # No two are alike, so that nothing is resolved once for many.
                tokens = [*argv[list(argv)[number % len(argv)]], "--seed", str(number + 1)]
                text = "".join(f"{json.dumps(token)}\n" for token in tokens)
                (models / f"model-{number}.txt").write_text(text, encoding="utf-8")
            run = run_python(RUN, folder)
            line = f"{size:6} definitions: {run.seconds:7.1f} s, {run.mebibytes:6.0f} MiB"
            if before is not None:
                small, known = before
                more = size - small
                line += (
                    f"; each of the {more} more: {(run.seconds - known.seconds) / more * 1e3:.2f} "
                    f"ms, {(run.mebibytes - known.mebibytes) / more * 1024:.1f} KiB"
                )
            before = size, run
            yield line
