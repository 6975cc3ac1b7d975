"""Load a Python script by its path and call its ``model_args``, in this process."""

from __future__ import annotations

import re
import sys
from contextvars import ContextVar
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_ropecontract.definitions.calling import call_for_argv
from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.failure import failure
from pytest_ropecontract.definitions.reading import decoded, read_file
from pytest_ropecontract.definitions.wording import nearest, one_line, with_article
from pytest_ropecontract.errors import described

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Caught: TypeAlias = type[BaseException] | tuple[type[BaseException], ...]

FUNCTION = "model_args"

_running: ContextVar[tuple[Path, ...]] = ContextVar("running", default=())
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def expand_script(
    path: Path, overrides: Mapping[str, Any], *, caught: Caught = (Exception, SystemExit)
) -> tuple[str, ...]:
    """Return the argv of a script's ``model_args(**overrides)``.

    The script runs in a fresh module that is gone from ``sys.modules`` afterwards.
    Everything else that it changes stays changed, so a caller that must not be
    changed runs this in another process.

    Args:
        path: The script, absolute.
        overrides: Keyword arguments of ``model_args``.
        caught: The exceptions that count as a failure of the script; by default not those
            that are meant for whoever runs it, such as an interrupt.

    Raises:
        DefinitionError: The file is no script that can be loaded, it or its function
            raised or called ``sys.exit``, or what it returned is no argv.
    """
    chain = (*_running.get(), path)
    if path in chain[:-1]:
        names = " -> ".join(script.stem for script in chain[chain.index(path) :])
        raise DefinitionError(
            f"sibling cycle: {names}", remedy="let one of them hold its own flags"
        )
    code = compiled(path)
    module = ModuleType("rope_definition_" + re.sub(r"\W", "_", path.stem))
    # An empty package makes a relative import fail with Python's own clear message, also
    # where the stem contains a dot.
    module.__dict__.update(__file__=str(path), __package__="")
    before = sys.modules.get(module.__name__)
    token = _running.set(chain)
    # Classes look their module up here while they are made (dataclasses, enum, typing).
    sys.modules[module.__name__] = module
    try:
        try:
            exec(code, module.__dict__)  # noqa: S102 - a definition is code to be run
        except caught as error:
            raise failure("loading the script", error, str(path)) from None
        return call_for_argv(
            _function(module, path),
            overrides,
            name=FUNCTION,
            own_file=str(path),
            caught=caught,
        )
    finally:
        _running.reset(token)
        if before is None:
            sys.modules.pop(module.__name__, None)
        else:
            sys.modules[module.__name__] = before


def compiled(path: Path) -> Any:
    """Return a script's code object.

    Raises:
        DefinitionError: The file cannot be read or is no Python.
    """
    source = read_file(path, "a script")
    if not source.strip():
        raise DefinitionError(
            "the script is empty", origin=str(path), remedy="define model_args() in it"
        )
    _check_text(source, path)
    try:
        return compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        text = (error.text or "").strip()
        raise DefinitionError(
            f"the script has a syntax error: {one_line(error.msg)}",
            origin=f"{path}:{error.lineno}" if error.lineno else str(path),
            details=[one_line(text)] if text else [],
            remedy="mend the line above",
        ) from None
    except (RecursionError, MemoryError) as error:
        raise DefinitionError(
            f"the script cannot be compiled: {described(error)}",
            origin=str(path),
            remedy="split expressions that are nested too deeply",
        ) from None


def _check_text(source: bytes, path: Path) -> None:
    if not any(map(_COOKIE.match, source.split(b"\n", 2)[:2])):
        decoded(source, path, "the script")
    if b"\0" in source:
        line = source.count(b"\n", 0, source.index(b"\0")) + 1
        raise DefinitionError(
            f"the script contains a NUL byte in line {line}",
            origin=f"{path}:{line}",
            remedy="save it as plain text",
        )


def _function(module: ModuleType, path: Path) -> Any:
    found = vars(module).get(FUNCTION)
    if callable(found):
        return found
    if FUNCTION in vars(module):
        raise DefinitionError(
            f"{FUNCTION} is {with_article(type(found).__qualname__)}, not a function",
            origin=str(path),
            remedy=f"define {FUNCTION}(**overrides) that returns the flags",
        )
    functions = [name for name, value in vars(module).items() if callable(value)]
    close = nearest(FUNCTION, functions, "functions")
    raise DefinitionError(
        f"the script defines no {FUNCTION}()",
        origin=str(path),
        remedy=f"define {FUNCTION}(**overrides) that returns the flags"
        + (f"; {close}" if close.startswith("did") else ""),
    )
