"""What one forked process of the worker does: run a Python script, or become bash.

Nothing here returns to the worker's own loop. The result goes to one file descriptor, as
JSON from a Python script and as raw bytes from bash; whatever is printed goes to another.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.environ import environment_reads
from pytest_ropecontract.definitions.script import expand_script

if TYPE_CHECKING:
    from collections.abc import Callable

RESULT_FD = 99
"""High enough to be out of the way of a script that uses the low numbers itself."""

DUMP_SIGNAL = signal.SIGUSR1
"""Makes a Python script that hangs write where it hangs to the result."""

FAILED = 70
"""The status where bash does not start, or a script has left no Python to read its flags with."""

BROKEN = "\0"
"""Begins the result in that case, before what went wrong."""

_MOST_FDS = 256

# A script may replace these attributes of the module.
_exit = os._exit
_write = os.write


def run_task(
    request: dict[str, Any], output: int, result: int, *, leave: Callable[[int], NoReturn] = _exit
) -> NoReturn:
    """Run the task of a request in this process, then end it."""
    status = FAILED
    try:
        _detach(output, result)
        if "program" in request:
            _become_bash(request)
        _run_script(request)
        status = 0
    except BaseException as error:  # noqa: BLE001 - it may be anything
        told = f"{BROKEN}{type(error).__name__}: {error}"
        _write(RESULT_FD, told.encode("utf-8", "backslashreplace"))
    finally:
        leave(status)  # whatever is broken, nothing runs on into the worker's loop


def _detach(output: int, result: int) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(result, RESULT_FD, inheritable=True)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, RESULT_FD)
    os.closerange(RESULT_FD + 1, _MOST_FDS)


def _become_bash(request: dict[str, Any]) -> NoReturn:
    os.chdir(request["cwd"])
    os.execve(  # noqa: S606 - a definition is code to be run
        request["bash"],
        ["bash", "--noprofile", "--norc", "-c", request["program"], request["path"]],
        request["environ"],
    )


def _run_script(request: dict[str, Any]) -> None:
    # Python's own setting; only a program that is executed needs the other one.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.set_inheritable(RESULT_FD, False)
    os.chdir(request["cwd"])
    _set_environment(request["environ"])
    path = Path(request["path"])
    sys.path[:] = request["sys_path"]
    sys.argv = [str(path)]
    sys.dont_write_bytecode = True
    sys.stdin = _stream(0, "r")
    sys.stdout = _stream(1, "w")
    sys.stderr = _stream(2, "w")
    faulthandler.register(DUMP_SIGNAL, file=RESULT_FD, all_threads=True)
    own, own_id, dumps, write = os.getpid(), os.getpid, json.dumps, os.write
    answer: dict[str, Any]
    with environment_reads() as asked:
        try:
            answer = {"argv": expand_script(path, request["overrides"], caught=BaseException)}
        except DefinitionError as error:
            answer = {
                "headline": error.headline,
                "origin": error.origin,
                "details": error.details,
                "remedy": error.remedy,
            }
    answer["environment"] = sorted(asked)
    for stream in (sys.stdout, sys.stderr):
        # The script may have closed or replaced it.
        with suppress(BaseException):
            stream.flush()
    if own_id() != own:
        return  # a fork that the script has made and that returns, too
    data = dumps(answer).encode()
    while data:
        data = data[write(RESULT_FD, data) :]


def _stream(number: int, mode: str) -> Any:
    return open(
        number, mode, encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )


def _set_environment(wanted: dict[str, str]) -> None:
    for name in set(os.environ) - set(wanted):
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
