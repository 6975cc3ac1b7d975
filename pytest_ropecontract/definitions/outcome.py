"""Errors about a definition's process, whichever program it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.wording import output_lines, seconds
from pytest_ropecontract.definitions.worker import signal_name

if TYPE_CHECKING:
    from pathlib import Path


def ended_early(
    answer: dict[str, Any], *, origin: str | None, limit: float, expected: str
) -> DefinitionError:
    """Tell how a process ended that gave no result.

    Args:
        answer: What the worker said of the process.
        origin: Where the definition hangs, or None where that is not known.
        limit: The time limit in seconds.
        expected: What should have come first, for example ``before model_args() returned``.
    """
    details = output_lines(answer["output"])
    if answer["ended"] == "time":
        return DefinitionError(
            f"did not end within {seconds(limit)}",
            origin=origin,
            details=details,
            remedy="remove what it waits for; a definition only has to name flags",
        )
    if answer["ended"] == "unable":
        return DefinitionError(
            f"no process can be started for it: {answer['reason']}",
            origin=origin,
            remedy="check the limits on processes, open files and temporary space",
        )
    status = answer["status"]
    if status < 0:
        return DefinitionError(
            f"was killed by {signal_name(-status)} {expected}",
            origin=origin,
            details=details,
            remedy="check which library it loads, and how much memory it takes",
        )
    return DefinitionError(
        f"ended its process with status {status} {expected}",
        origin=origin,
        details=details,
        remedy="let it return, or raise an exception that says what is wrong",
    )


def placed(error: DefinitionError, path: Path, root: Path) -> DefinitionError:
    """Return an error with an origin, and with paths below the root written from there.

    Args:
        error: The error.
        path: The definition's file, which is the origin of an error without one.
        root: The directory.
    """
    start = f"{root.as_posix()}/"

    def shorter(text: str) -> str:
        return text if start == "//" else text.replace(start, "")

    return DefinitionError(
        shorter(error.headline),
        origin=shorter(error.origin or str(path)),
        details=[shorter(line) for line in error.details],
        remedy=error.remedy,
    )
