"""Measures an interpreter of the package's own that neither site-packages nor a variable reaches.

Such a process is started with a frozen environment, some without site-packages, under the kernel's
guard, behind an audit hook, and it ends by ``os._exit`` or by becoming another program. What is
measured in it is written at any of these ends.
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import Any

import coverage


def begin(data_file: str, package: str) -> None:
    """Measure this process from here on, unless it is measured already.

    Args:
        data_file: Where the data goes, but for the process' own suffix.
        package: The folder that is measured.
    """
    measured = coverage.Coverage.current()
    if measured is None:
        measured = coverage.Coverage(
            data_file=data_file,
            data_suffix=True,
            branch=True,
            source_dirs=[package],
            config_file=False,
            messages=False,
        )
        measured.start()
    hooks: list[Any] = []

    def save() -> None:
        looking = [one.__call__ for one in hooks]
        for one in hooks:
            one.__call__ = staticmethod(_ignore)
        # A process that cannot be measured to its end goes on all the same.
        with suppress(Exception):
            measured.save()
        for one, hook in zip(hooks, looking, strict=True):
            one.__call__ = staticmethod(hook)

    def before(end: Any) -> Any:
        def saved(*given: Any) -> Any:
            # What a script has broken would break the measuring of these lines, too.
            tracing = sys.gettrace()
            sys.settrace(None)
            save()
            try:
                return end(*given)
            finally:
                sys.settrace(tracing)

        return saved

    def addaudithook(hook: Any, add: Any = sys.addaudithook) -> None:
        class Hook:
            """Is called without a frame of its own: the hook looks at those around it."""

            # Python measures nothing inside of a hook that does not say so.
            __cantrace__ = True
            __call__ = staticmethod(hook)

        hooks.append(Hook)
        add(Hook())

    atexit.register(save)
    os._exit = before(os._exit)
    os.execve = before(os.execve)
    sys.addaudithook = addaudithook


def _ignore(*_: object) -> None:
    """Look at nothing, in place of a hook that would stop the data from being written."""
