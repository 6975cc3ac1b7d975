"""How long it takes to load a recorded surface and to build its parser, on top of Python's start.

    python tests/benchmarks/surface_loading.py [RUNS]

Every run is a process of its own, and of all runs the shortest counts: what else the machine does
makes a run longer, and nothing makes one shorter. The time is that of the processor. It is given
twice: in an empty process, where most of it goes into the standard library's modules, and in one
that has imported pytest, as every process that uses the plugin has.
"""

from __future__ import annotations

import subprocess
import sys

MEASURE = """
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


def milliseconds(before: str, runs: int) -> list[float]:
    """Return the shortest import, load and build of some runs, and the shortest sum."""
    script = MEASURE.format(before=before)
    times = []
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        )
        steps = [1000 * float(text) for text in done.stdout.split()]
        times.append([*steps, sum(steps)])
    return [min(column) for column in zip(*times, strict=True)]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for name, before in PROCESSES.items():
        imports, load, build, total = milliseconds(before, runs)
        steps = f"imports {imports:.1f}, surface {load:.1f}, parser {build:.1f}"
        print(f"{name}: {total:.1f} ms ({steps})")  # noqa: T201  # a command


if __name__ == "__main__":
    main()
