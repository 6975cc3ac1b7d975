"""Between a launcher's interpreter and the process that started it: one JSON document a line."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import suppress
from typing import Any, NoReturn

_CHUNK = 64 * 1024
_STOPPED = 70

# A launcher may replace these attributes of the modules.
_exit = os._exit
_read = os.read
_write = os.write
_dumps = json.dumps
_loads = json.loads


class Channel:
    """Two named pipes, one for each direction.

    Args:
        requests: The one that this process writes to.
        answers: The one that it reads from.
        files: Folders whose files are named as origins, the launcher's own file first.
    """

    def __init__(self, requests: str, answers: str, files: tuple[str, ...]) -> None:
        self._requests = os.open(requests, os.O_WRONLY)
        self._answers = os.open(answers, os.O_RDONLY)
        self._files = files
        self._lock = threading.RLock()
        self._rest = b""

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request, and return the answer to it."""
        with self._lock:
            self._send(request)
            while b"\n" not in self._rest:
                chunk = _read(self._answers, _CHUNK)
                if not chunk:
                    _exit(_STOPPED)
                self._rest += chunk
            line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = _loads(line)
        return answer

    def tell(self, **message: Any) -> None:
        """Send what needs no answer."""
        with self._lock:
            self._send(message)

    def stop(self, reason: str, remedy: str | None = None) -> NoReturn:
        """Tell why the launcher cannot go on, and end this process at once."""
        self.end(_STOPPED, stop=reason, remedy=remedy, origin=self.origin())

    def end(self, status: int, **message: Any) -> NoReturn:
        """End this process at once; nothing of the launcher runs any more."""
        try:
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            self.tell(ended=status, **message)
        finally:
            _exit(status & 0xFF)

    def origin(self) -> str | None:
        """Return the innermost line of the launcher's own file, else of a file beside it."""
        frame = sys._getframe()  # noqa: SLF001  # its documented name
        found: str | None = None
        while frame is not None:
            file = frame.f_code.co_filename
            if file == self._files[0]:
                return f"{file}:{frame.f_lineno}"
            if found is None and file.startswith(self._files[1:]):
                found = f"{file}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]  # the outermost has none
        return found

    def _send(self, message: dict[str, Any]) -> None:
        data = _dumps(message).encode() + b"\n"
        while data:
            data = data[_write(self._requests, data) :]
