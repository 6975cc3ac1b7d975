"""The process that runs definitions apart from this one."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from pytest_ropecontract.answers import read_answer
from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.wording import one_line

_CHUNK = 64 * 1024
_SAID_LINES = 5
_PATIENCE = 10.0
"""How long the worker may take beyond a definition's own limit, in seconds."""

# The worker loads this very package, whatever else its sys.path offers under the name.
_START = """
import sys, importlib.util
where, answers = sys.argv.pop(), int(sys.argv.pop())
spec = importlib.util.spec_from_file_location(
    "pytest_ropecontract", where + "/__init__.py", submodule_search_locations=[where])
package = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from pytest_ropecontract.definitions.worker_loop import serve
serve(answers)
"""


@dataclass(frozen=True)
class _Helper:
    """The helper process, and the pipes to and from it."""

    process: subprocess.Popen[bytes]
    requests: IO[bytes]
    complaints: IO[bytes]
    answers: int


class Worker:
    """A long-lived helper process that runs every request in a fork of itself.

    It starts with the first request, is replaced when it dies, and ends when this process
    ends, however that happens.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._helper: _Helper | None = None

    @property
    def pid(self) -> int | None:
        """The helper's process id, or None while there is none."""
        return None if self._helper is None else self._helper.process.pid

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run one request.

        Raises:
            DefinitionError: The helper process did not start, died or gave no answer.
        """
        data = json.dumps(request).encode() + b"\n"
        with self._lock:
            try:
                helper = self._send(data)
                line = read_answer(helper.answers, request["time_limit"] + _PATIENCE)
            except BaseException:
                # An answer that comes later would be taken for that of the next request.
                self._end()
                raise
            if not line.endswith(b"\n"):
                raise self._death()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the helper process and all that it runs. A later request starts another."""
        with self._lock:
            self._end()

    def forget(self) -> None:
        """Let go of a helper that belongs to the process this one was forked from."""
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.process.returncode = 0
            helper.requests.close()
            helper.complaints.close()
            os.close(helper.answers)
        self._lock = threading.Lock()

    def _send(self, data: bytes) -> _Helper:
        if self._helper is not None and self._helper.process.poll() is not None:
            self._end()
        helper = self._helper or self._start()
        try:
            helper.requests.write(data)
        except BrokenPipeError:
            self._end()
            helper = self._start()
            # One that ends at once gives no answer, which says how it ended.
            with suppress(BrokenPipeError):
                helper.requests.write(data)
        return helper

    def _start(self) -> _Helper:
        if not sys.executable:
            raise DefinitionError(
                "there is no Python to run definitions with: sys.executable is empty",
                remedy="run pytest with a Python executable",
            )
        answers, theirs = os.pipe()
        package = Path(__file__).parent.parent
        try:
            process = subprocess.Popen(  # noqa: S603 - this Python, with code from here
                [sys.executable, "-P", "-c", _START, str(theirs), str(package)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=[theirs],
                # An interrupt from the keyboard is for this process alone.
                start_new_session=True,
            )
        except OSError as error:
            os.close(answers)
            raise DefinitionError(
                f"the process that runs definitions cannot be started: {error}",
                remedy="check the Python executable and the limit on processes",
            ) from None
        finally:
            os.close(theirs)
        requests, complaints = (cast("IO[bytes]", pipe) for pipe in (process.stdin, process.stderr))
        self._helper = _Helper(process, requests, complaints, answers)
        return self._helper

    def _death(self) -> DefinitionError:
        status, said = self._end()
        how = (
            f"ended with status {status}"
            if status >= 0
            else f"was killed by {signal_name(-status)}"
        )
        return DefinitionError(
            f"the process that runs definitions {how}",
            details=[one_line(text) for text in said.splitlines()[-_SAID_LINES:]],
            remedy="check that the definition does not end processes that are not its own",
        )

    def _end(self) -> tuple[int, str]:
        """End the helper. Return its exit status and what it wrote to standard error."""
        helper, self._helper = self._helper, None
        if helper is None:
            return 0, ""
        process = helper.process
        with suppress(OSError):
            helper.requests.close()
        try:
            # The end of its input makes the helper kill what it runs, and end itself.
            status = process.wait(_PATIENCE / 2)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        os.close(helper.answers)
        os.set_blocking(helper.complaints.fileno(), False)
        said = helper.complaints.read(_CHUNK) or b""
        helper.complaints.close()
        return status, said.decode("utf-8", "replace")


def signal_name(number: int) -> str:
    """Return a signal's name, or its number where it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_shared = Worker()
atexit.register(_shared.close)
os.register_at_fork(after_in_child=_shared.forget)


def shared_worker() -> Worker:
    """Return this process's one worker."""
    return _shared


def close_worker() -> None:
    """End this process's worker and all that it runs; the next expansion starts another."""
    _shared.close()
