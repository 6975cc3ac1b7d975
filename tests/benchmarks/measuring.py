"""Measurements that are compared: taken in turn, so that a machine's moods meet both."""

from __future__ import annotations

import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TESTS = Path(__file__).parents[1]
EXAMPLE = TESTS.parent / "example_project"


@dataclass(frozen=True)
class Pair:
    """Two measurements, in seconds, and their ratio: the median of the rounds' own ratios."""

    one: float
    other: float
    ratio: float


def in_turn(one: Callable[[], float], other: Callable[[], float], rounds: int) -> Pair:
    """Measure two things in turn; each returns its seconds. The first round only warms up."""
    found = [(one(), other()) for _ in range(rounds + 1)][1:]
    return Pair(
        statistics.median(first for first, _ in found),
        statistics.median(second for _, second in found),
        statistics.median(first / second for first, second in found),
    )


def processor_time(body: Callable[[], object], times: int) -> float:
    """Return the processor time of one call, in seconds."""
    start = time.process_time()
    for _ in range(times):
        body()
    return (time.process_time() - start) / times


@dataclass(frozen=True)
class Finished:
    """A process that has ended.

    Attributes:
        status: Its exit status.
        seconds: Its wall time.
        processor: The processor time of it and of the processes that it waited for, in seconds.
        mebibytes: Its largest memory.
    """

    status: int
    seconds: float
    processor: float
    mebibytes: float


def run_python(arguments: Sequence[str], folder: Path) -> Finished:
    """Run Python in a folder, its output thrown away."""
    null = os.open(os.devnull, os.O_RDWR)
    before = Path.cwd()
    start = time.perf_counter()
    os.chdir(folder)
    try:
        child = os.posix_spawn(
            sys.executable,
            [sys.executable, *arguments],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)],
        )
    finally:
        os.chdir(before)
        os.close(null)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    processor = usage.ru_utime + usage.ru_stime
    return Finished(os.waitstatus_to_exitcode(status), seconds, processor, usage.ru_maxrss / 1024)
