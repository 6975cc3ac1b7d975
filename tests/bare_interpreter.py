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
    saving = False

    def save() -> None:
        nonlocal saving
        saving = True
        # A process that cannot be measured to its end goes on all the same.
        with suppress(Exception):
            measured.save()
        saving = False

    def before(end: Any) -> Any:
        def saved(*given: Any) -> Any:
            save()
            return end(*given)

        return saved

    def addaudithook(hook: Any, add: Any = sys.addaudithook) -> None:
        def unless_saving(event: str, given: tuple[Any, ...]) -> None:
            if not saving:
                hook(event, given)

        # Python measures nothing inside of a hook that does not say so.
        unless_saving.__cantrace__ = True  # type: ignore[attr-defined]
        add(unless_saving)

    atexit.register(save)
    os._exit = before(os._exit)
    os.execve = before(os.execve)
    sys.addaudithook = addaudithook
