"""Put this process back as it was after a definition's code has run in it."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager, suppress
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def restored_process() -> Iterator[None]:
    """Restore what a definition's code is likely to change, also when it raises.

    That is the environment, ``sys.path``, ``sys.argv``, ``sys.modules``, the working
    directory and the warning filters. Modules of the standard library, of this package and
    of packages with extension modules stay loaded: to load them twice breaks them.
    """
    environ, variables = os.environ, dict(os.environ)
    lists = {name: (getattr(sys, name), list(getattr(sys, name))) for name in ("path", "argv")}
    modules = dict(sys.modules)
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    directory = os.getcwd()  # noqa: PTH109 - a string is all that is needed
    try:
        with warnings.catch_warnings():
            yield
    finally:
        os.environ = environ  # noqa: B003 - the very object is put back
        _restore_variables(variables)
        for name, (original, content) in lists.items():
            original[:] = content
            setattr(sys, name, original)
        _restore_modules(modules)
        sys.dont_write_bytecode = writes_bytecode
        with suppress(OSError):
            os.chdir(directory)


def _restore_variables(variables: dict[str, str]) -> None:
    for name in set(os.environ) - set(variables):
        del os.environ[name]
    for name, value in variables.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def _restore_modules(before: Mapping[str, object]) -> None:
    now: dict[str, object] = dict(sys.modules)
    new = {name: module for name, module in now.items() if name not in before}
    kept = {_top(name) for name, module in new.items() if _is_extension(module)}
    kept |= {*sys.stdlib_module_names, _top(__name__)}
    for name, module in new.items():
        if _top(name) in kept:
            continue
        del sys.modules[name]
        package, _, last = name.rpartition(".")
        parent = before.get(package)
        if getattr(parent, "__dict__", {}).get(last) is module:
            delattr(parent, last)
    sys.modules.update(before)  # type: ignore[arg-type]  # may be any object


def _top(name: str) -> str:
    return name.partition(".")[0]


def _is_extension(module: object) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and file.endswith(tuple(EXTENSION_SUFFIXES))
