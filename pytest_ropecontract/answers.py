"""What a helper process answers: a line, for which nobody waits longer than it may take."""

from __future__ import annotations

import os
import select
import time

_CHUNK = 64 * 1024


def read_answer(descriptor: int, patience: float) -> bytes:
    """Return what comes until the end of a line, or of the answers, or of patience.

    Args:
        descriptor: Where the answers come from.
        patience: Seconds.
    """
    deadline = time.monotonic() + patience
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    found = bytearray()
    while (left := deadline - time.monotonic()) > 0:
        if waiting.poll(left * 1000 + 1):
            chunk = os.read(descriptor, _CHUNK)
            found += chunk
            if not chunk or chunk.endswith(b"\n"):
                break
    return bytes(found)
