"""Loading a recorded surface and building its parser, on top of Python's start.

Every run is a process of its own, and of all runs the shortest counts: what else the machine does
makes a run longer, and nothing makes one shorter. The time is that of the processor. It is given
twice: for an empty process, where most of it goes into modules of the standard library, and for
one that has imported pytest, as every process that uses the plugin has.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = """
import sys, time
{before}
begin = time.process_time()
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface_files import NEWEST, load_shipped
imported = time.process_time()
surface = load_shipped(NEWEST)
loaded = time.process_time()
RecordedMegatron(surface).new_parser()
built = time.process_time()
if "torch" in sys.modules:
    sys.exit("torch was imported")
print(imported - begin, loaded - imported, built - loaded)
"""
PROCESSES = {"an empty process": "", "a process that has pytest": "import pytest"}


def shortest(before: str, runs: int) -> list[float]:
    """Return the shortest import, load, build and sum of some runs, in milliseconds."""
    script = SCRIPT.format(before=before)
    times = []
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        )
        steps = [1000 * float(text) for text in done.stdout.split()]
        times.append([*steps, sum(steps)])
    return [min(column) for column in zip(*times, strict=True)]


def lines(*, quick: bool) -> Iterator[str]:
    for name, before in PROCESSES.items():
        imports, load, build, total = shortest(before, 3 if quick else 20)
        steps = f"imports {imports:.1f}, surface {load:.1f}, parser {build:.1f}"
        yield f"{name}: {total:.1f} ms ({steps})"
