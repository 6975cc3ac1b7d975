"""Named sources of argv: scripts, shell arrays, text files and functions.

Whatever a definition's code does, it leaves no trace here. The names load on first use,
so that a script which needs only `load_sibling_model_args` pays for nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_ropecontract.definitions.argv import spaced_tokens
    from pytest_ropecontract.definitions.argv_file import ArgvFile
    from pytest_ropecontract.definitions.callable_source import CallableSource
    from pytest_ropecontract.definitions.definition import (
        Definition,
        DefinitionError,
        Expansion,
        Source,
    )
    from pytest_ropecontract.definitions.discovery import discover
    from pytest_ropecontract.definitions.literal import LiteralArgv
    from pytest_ropecontract.definitions.python_script import PythonScript
    from pytest_ropecontract.definitions.registry import Registry
    from pytest_ropecontract.definitions.shell_array import ShellArray
    from pytest_ropecontract.definitions.siblings import load_sibling_model_args
    from pytest_ropecontract.definitions.worker import close_worker

__all__ = [
    "ArgvFile",
    "CallableSource",
    "Definition",
    "DefinitionError",
    "Expansion",
    "LiteralArgv",
    "PythonScript",
    "Registry",
    "ShellArray",
    "Source",
    "close_worker",
    "discover",
    "load_sibling_model_args",
    "spaced_tokens",
]

_MODULES = {
    "ArgvFile": "argv_file",
    "CallableSource": "callable_source",
    "Definition": "definition",
    "DefinitionError": "definition",
    "Expansion": "definition",
    "LiteralArgv": "literal",
    "PythonScript": "python_script",
    "Registry": "registry",
    "ShellArray": "shell_array",
    "Source": "definition",
    "close_worker": "worker",
    "discover": "discovery",
    "load_sibling_model_args": "siblings",
    "spaced_tokens": "argv",
}


def __getattr__(name: str) -> Any:
    try:
        module = _MODULES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
