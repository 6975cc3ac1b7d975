from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import warnings

import pytest
from no_trace import no_trace


def leave(aspect: str, undo: list, temporary) -> None:
    if aspect == "environment":
        os.environ["ROPE_TEST_X"] = "1"
        undo.append(lambda: os.environ.pop("ROPE_TEST_X"))
    elif aspect == "sys.path":
        sys.path.append("/x")
        undo.append(sys.path.pop)
    elif aspect == "sys.argv":
        sys.argv.append("/x")
        undo.append(sys.argv.pop)
    elif aspect == "sys.modules":
        sys.modules["rope_test_x"] = sys
        undo.append(lambda: sys.modules.pop("rope_test_x"))
    elif aspect == "working directory":
        before = os.getcwd()
        os.chdir("/")
        undo.append(lambda: os.chdir(before))
    elif aspect == "warning filters":
        filters = warnings.filters[:]
        warnings.simplefilter("ignore")
        undo.append(lambda: warnings.filters.__setitem__(slice(None), filters))
    elif aspect == "logging":
        level = logging.root.level
        logging.root.setLevel(level + 1)
        undo.append(lambda: logging.root.setLevel(level))
    elif aspect == "signal handlers":
        handler = signal.signal(signal.SIGUSR2, lambda *_: None)
        undo.append(lambda: signal.signal(signal.SIGUSR2, handler))
    elif aspect == "alarm":
        signal.setitimer(signal.ITIMER_REAL, 500)
        undo.append(lambda: signal.setitimer(signal.ITIMER_REAL, 0))
    elif aspect == "threads":
        event = threading.Event()
        threading.Thread(target=event.wait).start()
        undo.append(event.set)
    elif aspect == "open files":
        number = os.open("/dev/null", os.O_RDONLY)
        undo.append(lambda: os.close(number))
    elif aspect == "processes":
        process = subprocess.Popen(["sleep", "600"])
        undo.extend([process.wait, process.kill])
    elif aspect == "temporary files":
        (temporary / "x").touch()


ASPECTS = [
    "environment",
    "sys.path",
    "sys.argv",
    "sys.modules",
    "working directory",
    "warning filters",
    "logging",
    "signal handlers",
    "alarm",
    "threads",
    "open files",
    "processes",
    "temporary files",
]


@pytest.mark.parametrize("aspect", ASPECTS)
def test_trace_is_found(aspect, temporary):
    undo: list = []
    try:
        with pytest.raises(pytest.fail.Exception, match=f"(?m)^{aspect}: "), no_trace(temporary):
            leave(aspect, undo, temporary)
    finally:
        while undo:
            undo.pop()()


def test_no_trace_is_no_failure(temporary):
    with no_trace(temporary):
        pass
