"""Measures what runs in the package's own interpreters, for coverage: a plugin, ``-p measuring``.

Coverage itself measures every process that loads site-packages and has its variable. These have
not: the supervisor of launchers, the interpreter of Python launchers, the Python in a shell
launcher that prints a model's flags, and what the worker of definitions becomes.
"""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import coverage
import pytest

import pytest_ropecontract
from pytest_ropecontract.definitions import worker
from pytest_ropecontract.launchers import python
from pytest_ropecontract.launchers.sandbox import landlock, running
from pytest_ropecontract.launchers.shell import recorder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from landlockpy import Ruleset

PACKAGE = Path(pytest_ropecontract.__file__).parent
BARE = Path(__file__).with_name("bare_interpreter.py")
# An interpreter without site-packages finds coverage there, and nothing of it stays on the path.
BEGIN = """
import runpy, sys
sys.path.append({installed!r})
runpy.run_path({bare!r})["begin"]({data_file!r}, {package!r})
sys.path.remove({installed!r})
"""
GUARD = """
runpy.run_path({guard!r}, run_name="__main__")
"""


def pytest_configure() -> None:
    measured = coverage.Coverage.current()
    if measured is None:
        raise pytest.UsageError("nothing is measured: run `coverage run -m pytest -p measuring`")
    data_file = Path(str(measured.get_option("run:data_file"))).absolute()
    # A process that has become another user writes there, too.
    data_file.parent.chmod(0o1777)
    begin = BEGIN.format(
        installed=sysconfig.get_path("purelib"),
        bare=str(BARE),
        data_file=str(data_file),
        package=str(PACKAGE),
    )
    for module in (worker, python, running):
        module._START = begin + module._START

    script = data_file.with_name(f"{recorder._GUARD.stem}-measured.py")
    text = begin + GUARD.format(guard=str(recorder._GUARD))
    # Every process of pytest-xdist writes the same, and others may read it meanwhile.
    part = script.with_name(f"{script.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(script)
    recorder._GUARD = script

    ruleset = landlock.ruleset

    def with_data(programs: Iterable[Path], writable: Iterable[Path]) -> Ruleset:
        return ruleset(programs, [*writable, data_file.parent])

    landlock.ruleset = with_data
