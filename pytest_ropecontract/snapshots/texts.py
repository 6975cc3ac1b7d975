"""What a snapshot holds: flags, a resolved RoPE, or a launcher's recording, as lines of text."""

from __future__ import annotations

import math
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract import paths
from pytest_ropecontract.rope.config import DERIVED_FIELDS, FIELDS
from pytest_ropecontract.snapshots.tokens import argv_lines, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_ropecontract.launchers.recording import Command, Recording
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Refused, Resolution, Source

_BEFORE = r"(?<![\w./~-])"


def argv_text(argv: Sequence[str]) -> str:
    """Return a command line, one flag with its values a line."""
    return _joined(argv_lines(argv))


def resolution_text(resolution: Resolution, root: Path | None = None) -> str:
    """Return what is built, one field with its value and its origin a line.

    Fields that nothing reads are left out. Of what is refused the lines say by whom, and why.

    Args:
        resolution: The outcome for a command line.
        root: The project's folder; paths in Megatron's messages are shown relative to it.
    """
    if resolution.refused is not None:
        return _joined(_refusal(resolution.refused, root))
    return config_text(resolution.built, resolution.sources)


def _refusal(refused: Refused, root: Path | None) -> Iterator[str]:
    yield f"refused: by {refused.by} ({refused.error})"
    message = refused.message if root is None else paths.portable(refused.message, root)
    for line in message.split("\n"):
        yield f"  {_printable(line)}"


def config_text(rope: RopeConfig, sources: Mapping[str, Source] | None = None) -> str:
    """Return an effective RoPE, one field with its value, and its origin where known, a line."""
    lines = []
    for name in FIELDS:
        value = getattr(rope, name)
        if value is None:
            continue
        source = (sources or {}).get(name)
        origin = "" if source is None else f" ({source.origin}: {_printable(source.text)})"
        lines.append(f"{name}: {_value(value, derived=name in DERIVED_FIELDS)}{origin}")
    return _joined(lines)


def _value(value: Any, *, derived: bool) -> str:
    if isinstance(value, list | tuple):
        return " ".join(_value(one, derived=derived) for one in value) or "empty"
    if isinstance(value, float):
        if math.isfinite(value) and value.is_integer():
            return str(int(value))
        # What is computed may differ in the last digit from machine to machine.
        return f"{value:.6g}" if derived else repr(value)
    return _printable(str(value))


def recording_text(recording: Recording, root: Path | None = None) -> str:
    """Return what became of a launcher: its commands, a flag a line, its files and its output.

    What differs between machines and runs is left out or replaced: the project's folder becomes
    ``<project>``, the interpreter ``<python>``, its virtual environment ``<environment>``, folders
    for temporary files ``<scratch>``, ``<scratch-2>`` and so on in the order in which they are
    used, and the home folder ``~``. Line numbers of the launcher, its complaints on standard error
    and the protections that a machine lacks are no part of it.

    Args:
        recording: What a launcher would have run.
        root: The project's folder, or None where there is none.
    """
    lines = [line for command in recording.commands for line in _command(command)]
    for name in sorted(recording.files):
        lines.append(f"file {quoted(name)}")
        lines += _quotation(recording.files[name])
    if recording.stdout:
        lines += ["stdout", *_quotation(recording.stdout)]
    if recording.stop is not None:
        lines.append(f"stopped: {_printable(recording.stop.reason)}")
    else:
        lines.append(f"exit {recording.returncode}")
    return _with_placeholders(_joined(lines), root)


def _command(command: Command) -> Iterator[str]:
    first, *others = argv_lines(command.argv)
    yield f"$ {first}"
    yield from (f"    {line}" for line in others)
    for name in sorted(command.environment):
        yield f"  env {quoted(name)}={quoted(command.environment[name])}"
    if command.folder != ".":
        yield f"  folder {quoted(command.folder)}"
    if command.stdin is not None:
        yield "  stdin"
        yield from (f"  {line}" for line in _quotation(command.stdin))


def _quotation(text: str) -> Iterator[str]:
    """Yield the lines of a text, so that none can be taken for one of the snapshot's own."""
    *whole, rest = text.split("\n")
    yield from (f"  | {_printable(line)}" if line else "  |" for line in whole)
    if rest:
        yield f"  \\ {_printable(rest)}"


def _with_placeholders(text: str, root: Path | None) -> str:
    known = {} if root is None else {str(root): "<project>", str(root.resolve()): "<project>"}
    known[sys.executable] = "<python>"
    if sys.prefix != sys.base_prefix:  # that of a virtual environment; /usr is everybody's
        known[sys.prefix] = "<environment>"
    for path in sorted(known.keys() - {"/", ""}, key=lambda one: (-len(one), one)):
        text = re.sub(rf"{_BEFORE}{re.escape(path)}(?![\w.-])", known[path], text)
    scratch: dict[str, str] = {}

    def replaced(found: re.Match[str]) -> str:
        number = len(scratch) + 1
        name = "<scratch>" if number == 1 else f"<scratch-{number}>"
        return scratch.setdefault(found[0], name)

    temporary = re.escape(tempfile.gettempdir().rstrip("/"))
    text = re.sub(rf"{_BEFORE}{temporary}/[\w.-]+", replaced, text)
    home = str(Path.home())
    return re.sub(rf"{_BEFORE}{re.escape(home)}(?![\w.-])", "~", text) if len(home) > 1 else text


def _printable(text: str) -> str:
    """Return a text in one line, with what cannot be printed escaped."""
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )


def _joined(lines: Iterator[str] | Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
