"""The worker process: takes requests, runs each in a fork of itself, answers.

It runs apart from the process that asks, holds no state between two requests, and ends
when the other end of its standard input is closed.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from pytest_ropecontract import processes
from pytest_ropecontract.definitions.worker_task import DUMP_SIGNAL, run_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OUTPUT_KEPT = 64 * 1024
RESULT_LIMIT = 32 * 1024 * 1024

_REQUESTS = 0
_CHUNK = 1024 * 1024
"""As much as a pipe can hold, so that one read takes all that there is."""

_DUMP_PATIENCE = 0.5
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def serve(answers: int) -> None:
    """Answer requests, a JSON object a line, until standard input ends."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    control = _process_control()
    control(_PR_SET_CHILD_SUBREAPER, 1)
    # Objects that are never collected are pages that a fork does not copy.
    gc.collect()
    gc.freeze()
    for line in _lines():
        request = json.loads(line)
        try:
            answer = _run(request, wake_read, control)
        except OSError as error:
            answer = {"ended": "unable", "reason": str(error), "output": "", "result": ""}
        data = json.dumps(answer).encode() + b"\n"
        while data:
            data = data[os.write(answers, data) :]


def _lines() -> Iterator[bytes]:
    pending = bytearray()
    while chunk := os.read(_REQUESTS, _CHUNK):
        pending += chunk
        while (end := pending.find(b"\n")) >= 0:
            line = bytes(pending[:end])
            del pending[: end + 1]
            yield line


def _run(
    request: dict[str, Any], wake: int, control: Callable[[int, int], object]
) -> dict[str, Any]:
    with ExitStack() as stack:
        if "scratch_in" in request:
            scratch = stack.enter_context(
                tempfile.TemporaryDirectory(
                    prefix="ropecontract-",
                    dir=request["scratch_in"],
                    ignore_cleanup_errors=True,
                )
            )
            request["cwd"] = request["environ"]["HOME"] = scratch
        output, output_write = os.pipe()
        stack.callback(os.close, output)
        result, result_write = os.pipe()
        stack.callback(os.close, result)
        try:
            pid = os.fork()
            if pid == 0:
                control(_PR_SET_PDEATHSIG, signal.SIGKILL)
                run_task(request, output_write, result_write)
        finally:
            os.close(output_write)
            os.close(result_write)
        return _Run(request, pid, output, result, wake).outcome()


class _Run:
    """One forked process, from its start until nothing of it is left."""

    def __init__(
        self, request: dict[str, Any], pid: int, output: int, result: int, wake: int
    ) -> None:
        self.request = request
        self.pid = pid
        self.kept = {output: bytearray(), result: bytearray()}
        self.output = output
        self.result = result
        self.wake = wake
        self.poll = select.poll()
        for descriptor in (output, result, wake, _REQUESTS):
            self.poll.register(descriptor, select.POLLIN)
        for descriptor in (output, result):
            os.set_blocking(descriptor, False)

    def outcome(self) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        try:
            ended = self._wait(time.monotonic() + self.request["time_limit"])
            if ended == "time" and "program" not in self.request:
                self._dump()
        finally:
            answer["status"] = os.waitstatus_to_exitcode(processes.end(self.pid))
        self._drain()
        answer["ended"] = ended
        answer["output"] = self.kept[self.output].decode("utf-8", "replace")
        answer["result"] = self.kept[self.result].decode("utf-8", "surrogateescape")
        return answer

    def _wait(self, deadline: float) -> str:
        """Collect what the process says until it ends, or must be ended."""
        while not processes.has_ended(self.pid):
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            for descriptor, _ in self.poll.poll(left * 1000 + 1):
                if descriptor == _REQUESTS:
                    # Whoever asked is gone: nobody waits for an answer.
                    sys.exit(0)
                if descriptor == self.wake:
                    os.read(self.wake, _CHUNK)
                else:
                    self._take(descriptor)
            if len(self.kept[self.result]) > RESULT_LIMIT:
                return "large"
        return "itself"

    def _take(self, descriptor: int) -> bool:
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            with suppress(KeyError):
                self.poll.unregister(descriptor)
            return False
        kept = self.kept[descriptor]
        kept += chunk
        if descriptor == self.output and len(kept) > OUTPUT_KEPT:
            del kept[:-OUTPUT_KEPT]
        return True

    def _drain(self) -> None:
        """Take what the ended processes have left in the pipes, which is not much."""
        self._take(self.output)
        self._take(self.result)

    def _dump(self) -> None:
        os.kill(self.pid, DUMP_SIGNAL)
        deadline = time.monotonic() + _DUMP_PATIENCE
        waiting = select.poll()
        waiting.register(self.result, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0 and waiting.poll(left * 1000 + 1):
            if not self._take(self.result):
                break
            deadline = min(deadline, time.monotonic() + _DUMP_PATIENCE / 10)


def _process_control() -> Callable[[int, int], object]:
    """Return Linux' ``prctl``, elsewhere a function that does nothing."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes  # noqa: PLC0415 - not every Python has it

            prctl: Callable[[int, int], object] = ctypes.CDLL(None).prctl
            return prctl
    return lambda _option, _value: None  # pragma: no cover - other kernels than Linux
