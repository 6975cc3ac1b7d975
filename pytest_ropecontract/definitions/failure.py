"""Turn an exception out of a definition's code into an error that shows the line at fault."""

from __future__ import annotations

import linecache
import os
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING

from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.wording import one_line
from pytest_ropecontract.errors import message, representation

if TYPE_CHECKING:
    from types import CodeType

_PACKAGE = Path(__file__).parent
_ENVIRON_LOOKUP = os._Environ.__getitem__.__code__  # noqa: SLF001 - it has no public name
_FRAMES = 8
_CAUSES = 3


def failure(doing: str, error: BaseException, own_file: str) -> DefinitionError:
    """Describe an exception that a definition's own code let out.

    Args:
        doing: What was being done, for example ``model_args()`` or ``loading the script``.
        error: The exception, with its traceback.
        own_file: The file name that the definition's code objects carry; the innermost
            of its lines is the origin.
    """
    frames: list[tuple[CodeType, int | None]] = [
        (frame.f_code, line)
        for frame, line in walk_tb(error.__traceback__)
        if Path(frame.f_code.co_filename).parent != _PACKAGE
    ]
    own = [line for code, line in frames if code.co_filename == own_file]
    origin = f"{own_file}:{own[-1]}" if own else own_file
    # What an object says of its own class may be anything.
    kind = type(error)
    if (
        issubclass(kind, DefinitionError)
        and isinstance(error, DefinitionError)
        and error.headline.strip()
    ):
        return DefinitionError(
            error.headline,
            origin=error.origin or origin,
            details=error.details,
            remedy=error.remedy,
        )
    if issubclass(kind, SystemExit) and isinstance(error, SystemExit):
        argument = "" if error.code is None else one_line(representation(error.code))
        return DefinitionError(
            f"{doing} called sys.exit({argument})",
            origin=origin,
            details=_lines(frames, own_file),
            remedy="return the flags, or raise an exception that says why there are none",
        )
    return DefinitionError(
        f"{doing} raised {_text(error)}",
        origin=origin,
        details=[*_lines(frames, own_file), *_causes(error), *_notes(error)],
        remedy=_remedy(error, frames),
    )


def _text(error: BaseException) -> str:
    kind = type(error)
    module = str(kind.__module__)
    own = module in {"builtins", "__main__"} or module.startswith("rope_definition_")
    name = kind.__qualname__ if own else f"{module}.{kind.__qualname__}"
    text = message(error)
    return one_line(f"{name}: {text}" if text else name)


def _notes(error: BaseException) -> list[str]:
    notes = getattr(error, "__notes__", ())
    if not isinstance(notes, list | tuple):
        return []
    return [line for note in notes if isinstance(note, str) for line in note.splitlines()]


def _lines(frames: list[tuple[CodeType, int | None]], own_file: str) -> list[str]:
    """Return the traceback from the definition's first line on, a line for every frame."""
    frames = [(code, line) for code, line in frames if code is not _ENVIRON_LOOKUP]
    start = next((i for i, (code, _) in enumerate(frames) if code.co_filename == own_file), None)
    if start is None:
        return []
    kept = frames[start:]
    left_out = [f"... {len(kept) - _FRAMES} calls before these"] if len(kept) > _FRAMES else []
    return left_out + [
        f"{code.co_filename}:{line} in {code.co_name}: "
        + one_line(linecache.getline(code.co_filename, line or 0).strip())
        for code, line in kept[-_FRAMES:]
    ]


def _causes(error: BaseException) -> list[str]:
    lines = []
    for _ in range(_CAUSES):
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None:
            break
        where = [f" (line {line})" for _, line in walk_tb(cause.__traceback__)][-1:]
        lines.append("".join((f"caused by {_text(cause)}", *where)))
        error = cause
    return lines


def _remedy(error: BaseException, frames: list[tuple[CodeType, int | None]]) -> str:
    missing = getattr(error, "name", None) if issubclass(type(error), ModuleNotFoundError) else None
    if isinstance(missing, str) and missing:
        top = missing.partition(".")[0]
        return f"install {top}, or add the directory that holds it to rope_contract_pythonpath"
    innermost = frames[-1][0] if frames else None
    if issubclass(type(error), KeyError) and innermost is _ENVIRON_LOOKUP:
        return f"set the environment variable {error.args[0]}, or give it a default in the script"
    return "mend the line above; it runs here without a launcher around it"
