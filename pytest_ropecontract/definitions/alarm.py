"""A time limit for code that runs in this process."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_AGAIN = 0.05


class TimeUp(BaseException):
    """The time limit is over. No Exception, so that code seldom catches it."""


@contextmanager
def time_limit(limit: float) -> Iterator[None]:
    """Raise in the code that runs in the context when it takes too long.

    There is a limit only in the main thread, and only while nobody else uses the alarm
    signal or its timer.

    Args:
        limit: Seconds.

    Raises:
        TimeUp: The code took longer.
    """
    if not _is_free():
        yield
        return
    running = True

    def ring(*_: object) -> None:
        if running:
            raise TimeUp

    original = signal.signal(signal.SIGALRM, ring)
    try:
        # Rings again for code that has caught the first one.
        signal.setitimer(signal.ITIMER_REAL, limit, _AGAIN)
        yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, original)


def _is_free() -> bool:
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
        and signal.getsignal(signal.SIGALRM) in {signal.SIG_DFL, signal.SIG_IGN}
    )
