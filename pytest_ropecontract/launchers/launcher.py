"""The launchers of a project, as its settings name them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_LINE = re.compile(r"(?P<glob>[^=\s].*?)(?:::(?P<function>\w+))?(?:\s*=\s*(?P<model>\S+))?")
_FORM = "a line is: GLOB, GLOB::FUNCTION, or either with = MODEL behind it"


@dataclass(frozen=True)
class Launcher:
    """A launcher: a shell script, a Python script, or a function of one.

    Attributes:
        path: The file.
        function: The function that is called, or None where the file runs as such.
        model: The definition that it launches, or None where that is found out.
    """

    path: Path
    function: str | None = None
    model: str | None = None

    @property
    def id(self) -> str:
        """What tells it apart from the other launchers of its file."""
        return self.function or self.path.stem

    def shown(self, root: Path) -> str:
        """Return how it is written in the project."""
        inside = self.path.is_relative_to(root)
        path = self.path.relative_to(root).as_posix() if inside else self.path.name
        return path if self.function is None else f"{path}::{self.function}"


def discover(root: Path, lines: Iterable[str]) -> tuple[Launcher, ...]:
    """Return the launchers that lines of settings name, each once, sorted.

    A line with a model counts before those without.

    Raises:
        RopeContractError: A line cannot be read, matches no file, or names another model
            than a line before it.
    """
    found: dict[tuple[Path, str], Launcher] = {}
    for line in lines:
        for one in _read(root, line):
            key = one.path, one.function or ""
            known = found.setdefault(key, one)
            if known.model is None:
                found[key] = one
            elif one.model not in (None, known.model):
                raise RopeContractError(
                    f"{one.shown(root)} launches {known.model!r} and {one.model!r}",
                    remedy="name one of them",
                )
    return tuple(found[key] for key in sorted(found))


def _read(root: Path, line: str) -> list[Launcher]:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise RopeContractError(f"{line!r} names no launcher", remedy=_FORM)
    try:
        paths = [path for path in root.glob(match["glob"]) if path.is_file()]
    except (ValueError, NotImplementedError, OSError, IndexError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        if isinstance(error, IndexError):
            said = "it names no file"  # of '.', in Python 3.11
        raise RopeContractError(f"{match['glob']!r} is no glob: {said}", remedy=_FORM) from None
    if not paths:
        raise RopeContractError(
            f"{match['glob']!r} matches no file", remedy="write it relative to the root"
        )
    launchers = [Launcher(path, match["function"], match["model"]) for path in paths]
    for one in launchers:
        if one.function is not None and one.path.suffix != ".py":
            raise RopeContractError(
                f"{one.shown(root)}: only a Python script has functions", remedy=_FORM
            )
    return launchers
