"""What a launcher would have run."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Command:
    """One external command, as it would have been executed.

    Attributes:
        argv: The program as the launcher named it, and its arguments exactly as expanded.
        environment: The variables that differ from the frozen environment the launcher began with.
        folder: The working directory.
        stdin: What it was given on standard input, or None where that is not known.
        origin: The launcher's file and line, ``launch.sh:12``, or None where that is not known.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    folder: str = "."
    stdin: str | None = None
    origin: str | None = None


@dataclass(frozen=True)
class Stop:
    """Why a launcher was stopped.

    Attributes:
        reason: What it tried that cannot be recorded safely, in one sentence.
        origin: The launcher's file and line, or None where that is not known.
        remedy: What to change, or None.
    """

    reason: str
    origin: str | None = None
    remedy: str | None = None


@dataclass(frozen=True)
class Recording:
    """What became of a launcher.

    Attributes:
        commands: What it would have run, in order.
        files: What it wrote inside of the scratch directory: the text by path relative to it.
        stdout: What it printed.
        stderr: What it complained of.
        returncode: Its exit status, or None where it was stopped.
        stop: Why it was stopped, or None.
        missing_layers: Protections that this machine does not have, a sentence each.
    """

    commands: tuple[Command, ...] = ()
    files: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    stdout: str = ""
    stderr: str = ""
    returncode: int | None = 0
    stop: Stop | None = None
    missing_layers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a recorded command is said to have answered.

    Attributes:
        stdout: What it prints.
        returncode: Its exit status, from 0 to 255; 127 says that there is no such program.
    """

    stdout: str = ""
    returncode: int = 0
