from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import ExitStack
from pathlib import Path

import pytest
from no_trace import no_trace


def environment(_):
    os.environ["ROPE_TEST_X"] = "1"
    return lambda: os.environ.pop("ROPE_TEST_X")


def path(_):
    sys.path.append("/x")
    return sys.path.pop


def argv(_):
    sys.argv.append("/x")
    return sys.argv.pop


def modules(_):
    sys.modules["rope_test_x"] = sys
    return lambda: sys.modules.pop("rope_test_x")


def directory(_):
    before = Path.cwd()
    os.chdir("/")
    return lambda: os.chdir(before)


def filters(_):
    before = warnings.filters[:]
    warnings.simplefilter("ignore")
    return lambda: warnings.filters.__setitem__(slice(None), before)


def level(_):
    before = logging.root.level
    logging.root.setLevel(before + 1)
    return lambda: logging.root.setLevel(before)


def handler(_):
    before = signal.signal(signal.SIGUSR2, lambda *_: None)
    return lambda: signal.signal(signal.SIGUSR2, before)


def alarm(_):
    signal.setitimer(signal.ITIMER_REAL, 500)
    return lambda: signal.setitimer(signal.ITIMER_REAL, 0)


def thread(_):
    event = threading.Event()
    waiting = threading.Thread(target=event.wait)
    waiting.start()
    return lambda: (event.set(), waiting.join())


def descriptor(_):
    number = os.open("/dev/null", os.O_RDONLY)
    return lambda: os.close(number)


def process(_):
    started = subprocess.Popen(["sleep", "600"])
    return lambda: (started.kill(), started.wait())


def file(temporary):
    path = temporary / "x"
    path.touch()
    return path.unlink


TRACES = {
    "environment": environment,
    "sys.path": path,
    "sys.argv": argv,
    "sys.modules": modules,
    "working directory": directory,
    "warning filters": filters,
    "logging": level,
    "signal handlers": handler,
    "alarm": alarm,
    "threads": thread,
    "open files": descriptor,
    "processes": process,
    "temporary files": file,
}


@pytest.mark.parametrize(("aspect", "leave"), TRACES.items(), ids=TRACES)
def test_trace_is_found(aspect, leave, temporary):
    left = pytest.raises(pytest.fail.Exception, match=f"(?m)^{aspect}: ")
    with ExitStack() as undo, left, no_trace(temporary):
        undo.callback(leave(temporary))


def test_no_trace_is_no_failure(temporary):
    with no_trace(temporary):
        pass
