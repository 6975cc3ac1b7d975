"""A definition in Python: a script with a function ``model_args``."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pytest_ropecontract.definitions.argv import argv_of, too_long
from pytest_ropecontract.definitions.definition import DefinitionError, Expansion
from pytest_ropecontract.definitions.outcome import ended_early, placed
from pytest_ropecontract.definitions.overrides import check_transferable
from pytest_ropecontract.definitions.wording import one_line, output_lines
from pytest_ropecontract.definitions.worker import shared_worker
from pytest_ropecontract.definitions.worker_task import BROKEN, FAILED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What the script's process tells: its flags, or why there are none.
_FLAGS: Mapping[str, Any] = {"argv": list, "environment": list}
_FAILURE: Mapping[str, Any] = {
    "headline": str,
    "origin": str | None,
    "details": list,
    "remedy": str | None,
    "environment": list,
}


@dataclass(frozen=True)
class PythonScript:
    """A script whose ``model_args(**overrides)`` returns the flags.

    It runs in a process of its own, so that it can change nothing here and nothing for
    the next definition.

    Attributes:
        path: The script.
        root: The directory that it runs in and that paths are shown relative to.
        pythonpath: Directories that its imports are looked up in first, relative ones
            from the root; then come this process's ``sys.path`` and the script's own
            directory.
        time_limit: Seconds after which it is ended.
        environment: Variables beside those that it always has.
    """

    path: Path
    root: Path = field(default_factory=Path.cwd)
    pythonpath: Sequence[Path | str] = ()
    time_limit: float = 20.0
    # Python 3.11 takes a mapping proxy, which is not hashable, for a mutable default.
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)

    def under(self, environment: Mapping[str, str]) -> Self:
        """Return this script with further environment variables."""
        return replace(self, environment={**self.environment, **environment})

    def expand(self, overrides: Mapping[str, Any]) -> Expansion:
        """Run the script and its function.

        Raises:
            DefinitionError: An override cannot be passed on; the script cannot be loaded;
                it or its function raised, exited, did not end, or gave no argv.
        """
        path = self.root / self.path
        try:
            return self._expand(path, overrides)
        except DefinitionError as error:
            raise placed(error, path, self.root) from None

    def _expand(self, path: Path, overrides: Mapping[str, Any]) -> Expansion:
        check_transferable(overrides)
        if not self.root.is_dir():
            raise DefinitionError(
                f"the root {self.root} is no directory", remedy="name a directory that exists"
            )
        answer = shared_worker().ask(
            {
                "path": str(path),
                "cwd": str(self.root),
                "environ": {**os.environ, **self.environment},
                "sys_path": [
                    *(str(self.root / entry) for entry in self.pythonpath),
                    *(os.path.abspath(entry) for entry in sys.path),  # noqa: PTH100 - '' is the cwd
                    str(path.parent),
                ],
                "overrides": dict(overrides),
                "time_limit": self.time_limit,
            }
        )
        output = answer["output"]
        if answer["ended"] == "large":
            raise too_long("model_args() returned")
        told = _told(answer["result"])
        if told is None and answer["status"] == FAILED:
            raise _broken(answer["result"])
        if told is None:
            raise ended_early(
                answer,
                origin=_hanging_line(answer["result"], path),
                limit=self.time_limit,
                expected="before model_args() returned",
            )
        if "headline" in told:
            raise DefinitionError(
                told["headline"],
                origin=told["origin"],
                details=[*told["details"], *output_lines(output)],
                remedy=told["remedy"],
            )
        argv = argv_of(told["argv"], "model_args() returned")
        return Expansion(argv, tuple(told["environment"]), output)


def _told(result: str) -> dict[str, Any] | None:
    """Return what the script's process reported, or None where it did not come to that."""
    try:
        told = json.loads(result)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    # A script can write to where this comes from.
    shape = _FLAGS if "argv" in told else _FAILURE
    fits = told.keys() == shape.keys() and all(
        isinstance(told[key], kind) for key, kind in shape.items()
    )
    lists = [value for value in told.values() if isinstance(value, list)]
    return told if fits and all(isinstance(one, str) for each in lists for one in each) else None


def _broken(result: str) -> DefinitionError:
    """Tell that a script has broken what its flags would be read with."""
    _, broken, reason = result.partition(BROKEN)
    return DefinitionError(
        "the flags cannot be read after what the script does to its process"
        + (f": {one_line(reason)}" if broken else ""),
        remedy="let it leave Python's own modules, builtins and open files as they are",
    )


def _hanging_line(dump: str, path: Path) -> str | None:
    """Return the script's innermost line in a dump of its stack, or None where it has none."""
    found = re.search(rf'File "{re.escape(str(path))}", line (\d+)', dump)
    return f"{path}:{found[1]}" if found else None
