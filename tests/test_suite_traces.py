"""A test of this suite that leaves a trace fails, and says which."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

LEAVING = """\
import logging, os, signal, subprocess, sys, tempfile, threading, warnings

def test_environment(): os.environ["LEFT"] = "1"
def test_path(): sys.path.append("/left")
def test_argv(): sys.argv.append("left")
def test_directory(): os.chdir("/")
def test_filters(): warnings.filters.insert(0, ("ignore", None, Warning, None, 7))
def test_logging(): logging.root.addHandler(logging.NullHandler())
def test_signal(): signal.signal(signal.SIGUSR2, lambda *_: None)
def test_alarm(): signal.setitimer(signal.ITIMER_REAL, 500)
def test_thread(): threading.Thread(target=threading.Event().wait, daemon=True).start()
def test_file(): os.dup(0)
def test_process(): globals()["kept"] = subprocess.Popen(["sleep", "5"])
def test_temporary(): tempfile.mkdtemp()
def test_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SET", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").touch()
"""
NAMED = {
    "environment": "LEFT is '1'",
    "path": "sys.path: ",
    "argv": "sys.argv: ",
    "directory": "working directory: ",
    "filters": "warning filters: ",
    "logging": "logging: ",
    "signal": "signal handlers: ",
    "alarm": "alarm: ",
    "thread": "threads: ",
    "file": "open files: ",
    "process": "processes: ",
    "temporary": "temporary files: ",
}


def test_every_trace_is_named(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    pytester.makepyfile(test_leaving=LEAVING)

    done = pytester.runpytest_subprocess(
        "-p", "suite_traces", "-p", "no:randomly", "-p", "no:warnings"
    )

    done.assert_outcomes(passed=len(NAMED) + 1, errors=len(NAMED))
    for name, trace in NAMED.items():
        done.stdout.fnmatch_lines([f"*::test_{name} left a trace", f"  *{trace}*"])
