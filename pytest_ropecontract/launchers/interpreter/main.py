"""Calls a launcher's function, or runs it as a script, in an interpreter that records."""

from __future__ import annotations

import dataclasses
import difflib
import importlib.util
import inspect
import json
import os
import runpy
import sys
import traceback
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.launchers.interpreter import recorders
from pytest_ropecontract.launchers.interpreter.channel import Channel
from pytest_ropecontract.launchers.interpreter.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKAGE = __name__.partition(".")[0]
_RAISED = 1


class _UnusableError(Exception):
    """A function that cannot be called as was asked."""

    def __init__(self, headline: str, remedy: str) -> None:
        super().__init__(headline)
        self.remedy = remedy


def main() -> None:
    """Do what the document on standard input asks for."""
    task = json.load(sys.stdin)
    sys.stdin.close()
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    os.environ.pop("PYTHONHASHSEED", None)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # a descriptor
    channel = Channel(task["requests"], task["answers"], (task["path"], task["root"] + os.sep))
    sys.argv = [task["path"], *task["arguments"]]
    sys.path[:0] = task["first"]
    sys.path.extend(one for one in task["last"] if one not in sys.path)
    # The launcher may import the package itself, of which only parts are loaded here.
    for name in [one for one in sys.modules if one.partition(".")[0] == _PACKAGE]:
        del sys.modules[name]
    recorders.install(channel, (task["scratch"],))
    Guard(channel, (task["scratch"],)).install()
    status = _call(channel, task)
    channel.tell(ended=status)
    # Threads that go on, and what is to run at the end, follow, under the same guard.
    sys.exit(status)


def _call(channel: Channel, task: dict[str, Any]) -> int:
    """Run the launcher; return the status that a script of its own would exit with."""
    try:
        if task["function"] is None:
            runpy.run_path(task["path"], run_name="__main__")
        else:
            _call_function(task["path"], task["function"], task["keywords"])
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stderr.write(f"{error.code}\n")
        return _RAISED
    except _UnusableError as error:
        channel.end(_RAISED, unusable=str(error), remedy=error.remedy)
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is told
        _show(error, task["path"])
        return _RAISED
    return 0


def _show(error: BaseException, path: str) -> None:
    """Print a traceback that begins in the launcher."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace or error.__traceback__)


def _call_function(path: str, name: str, keywords: dict[str, Any]) -> None:
    stem = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(
        "rope_launcher_" + "".join(one if one.isalnum() else "_" for one in stem), path
    )
    if spec is None or spec.loader is None:
        raise _UnusableError("it is no Python script", "name a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    # Classes look their module up here while they are made.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function = vars(module).get(name)
    if not callable(function):
        names = [one for one, value in vars(module).items() if inspect.isfunction(value)]
        near = difflib.get_close_matches(name, names, n=1)
        raise _UnusableError(
            f"it has no function {name!r}",
            f"did you mean {near[0]!r}?" if near else f"its functions: {', '.join(names) or '-'}",
        )
    arguments = _arguments(function, keywords)
    result = function(**arguments)
    if inspect.iscoroutine(result):
        import asyncio  # noqa: PLC0415  # few need it

        asyncio.run(result)


def _arguments(function: Callable[..., Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call; a dataclass that is required is made of its defaults."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except (NameError, TypeError, ValueError):
        return keywords
    arguments = dict(keywords)
    for name, parameter in signature.parameters.items():
        kind = parameter.annotation
        if (
            name not in arguments
            and parameter.default is parameter.empty
            and isinstance(kind, type)
            and dataclasses.is_dataclass(kind)
        ):
            fields = {one.name for one in dataclasses.fields(kind) if one.init}
            arguments[name] = kind(**{one: arguments.pop(one) for one in fields & arguments.keys()})
    try:
        signature.bind(**arguments)
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        raise _UnusableError(
            f"{name}() cannot be called: {error}", f"it takes {signature}"
        ) from None
    return arguments
