"""The process between pytest and a launcher: confines it, waits for it, ends all that is left.

It runs apart from the process that asks, for one request, and ends when that process does.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

from pytest_ropecontract import processes
from pytest_ropecontract.launchers.sandbox import kernel

OUTPUT_LIMIT = 8 * 1024 * 1024
"""Bytes of standard output and of standard error, each."""

NOT_ASKED = "it was not asked for"

_REQUEST = 0
_CHUNK = 1024 * 1024
"""As much as a pipe can hold, so that one read takes all that there is."""

_TICK = 0.02
_NICER = 5


def serve() -> None:
    """Run the one request that comes on standard input."""
    request = json.loads(_line())
    answers = os.dup(1)
    # Whatever is printed here goes where errors go, not into the answer.
    os.dup2(2, 1)
    try:
        answer = _Run(request).outcome()
    except OSError as error:
        answer = {"failure": str(error)}
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(answers, data) :]


def _line() -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        chunk = os.read(_REQUEST, _CHUNK)
        if not chunk:
            sys.exit(0)
        line += chunk
    return bytes(line)


class _Run:
    """One command, from its start until nothing of it is left."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.kept: dict[int, bytearray] = {}
        self.together: str | None = None
        self.status = bytearray()

    def outcome(self) -> dict[str, Any]:
        wake_read, wake_write = os.pipe()
        for descriptor in (wake_read, wake_write):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        kernel.become_subreaper()

        self.together = NOT_ASKED
        if self.request["namespaces"]:
            self.together = kernel.enter_namespaces()
        output, error, status = os.pipe(), os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            _begin(self.request, (output[1], error[1], status[1]), apart=self.together is None)
        for pipe in (output, error, status):
            os.close(pipe[1])
            os.set_blocking(pipe[0], False)
            self.kept[pipe[0]] = bytearray()
        try:
            ended = self._wait(pid, wake_read)
        finally:
            raw = processes.end(pid)
        for pipe in (output, error, status):
            # What the ended processes have left in it.
            self._take(pipe[0])
        return self._answer(
            ended, raw, *(bytes(self.kept[one[0]]) for one in (output, error, status))
        )

    def _wait(self, pid: int, wake: int) -> str | None:
        """Collect what the command says until it ends. Return why it must be ended."""
        poll = select.poll()
        for descriptor in (*self.kept, wake, _REQUEST):
            poll.register(descriptor, select.POLLIN)
        limit, most = self.request["time_limit"], self.request["most_processes"]
        deadline = time.monotonic() + limit
        while not processes.has_ended(pid):
            left = deadline - time.monotonic()
            if left <= 0:
                return f"it did not end within {limit:g} s"
            for descriptor, _ in poll.poll(min(left, _TICK) * 1000 + 1):
                if descriptor == _REQUEST:
                    # Whoever asked is gone: nobody waits for an answer.
                    sys.exit(0)
                if descriptor == wake:
                    with suppress(BlockingIOError):
                        os.read(wake, _CHUNK)
                elif not self._take(descriptor):
                    poll.unregister(descriptor)
            if any(len(kept) > OUTPUT_LIMIT for kept in self.kept.values()):
                return f"it wrote more than {OUTPUT_LIMIT // 1024 // 1024} MiB of output"
            if processes.more_than(most, pid):
                return f"it began more than {most} processes"
        return None

    def _take(self, descriptor: int) -> bool:
        """Take a part of the output; tell whether there may be more."""
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return True
        self.kept[descriptor] += chunk
        return bool(chunk)

    def _answer(
        self, ended: str | None, raw: int, output: bytes, error: bytes, status: bytes
    ) -> dict[str, Any]:
        # A process that cannot start tells why first; then its end is told, too.
        told = json.loads(status.splitlines()[0]) if status else {}
        if "failure" in told:
            return {"failure": told["failure"]}
        raw = told.get("raw", raw)
        return {
            "returncode": None if ended else os.waitstatus_to_exitcode(raw),
            "stdout": output[:OUTPUT_LIMIT].decode("utf-8", "backslashreplace"),
            "stderr": error[:OUTPUT_LIMIT].decode("utf-8", "backslashreplace"),
            "ended": ended,
            "together": self.together,
        }


def _begin(
    request: dict[str, Any],
    pipes: tuple[int, int, int],
    *,
    apart: bool,
) -> NoReturn:
    """Become the command; where it has namespaces of its own, stay to take in its orphans."""
    output, error, status = pipes
    try:
        kernel.end_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        if apart and (pid := os.fork()):
            _take_in_orphans(pid, status)
        os.setsid()
        _redirect(request["stdin"], output, error)
        os.chdir(request["folder"])
        os.nice(_NICER)
        kernel.limit_resources(request["time_limit"])
        kernel.gain_nothing()
        if request["ruleset"] is not None:
            kernel.restrict(request["ruleset"])
        argv, environment = request["argv"], request["environment"]
        os.set_inheritable(status, False)
        os.closerange(3, status)
        os.closerange(status + 1, 256)
        os.execve(argv[0], argv, environment)  # noqa: S606 - that is what it is for
    except BaseException as failure:  # noqa: BLE001 - nothing may run on as a second supervisor
        with suppress(OSError):
            _tell(status, failure=str(failure))
    os._exit(70)


def _take_in_orphans(pid: int, status: int) -> NoReturn:
    """Be the first process of the namespace: the kernel ends all others when it ends."""
    os.closerange(0, status)
    os.closerange(status + 1, 256)
    while True:
        ended, raw = os.waitpid(-1, 0)
        if ended == pid:
            _tell(status, raw=raw)
            os._exit(0)


def _tell(status: int, **what: Any) -> None:
    os.write(status, json.dumps(what).encode() + b"\n")


def _redirect(stdin: str, output: int, error: int) -> None:
    with open(os.memfd_create("stdin"), "r+b", closefd=False) as file:
        file.write(stdin.encode())
        file.seek(0)
        file.flush()
        os.dup2(file.fileno(), 0)
    os.dup2(output, 1)
    os.dup2(error, 2)
