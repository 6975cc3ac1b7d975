"""Call a definition's function and read what it returns."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions.argv import argv_of
from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.failure import failure
from pytest_ropecontract.definitions.wording import call_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def call_for_argv(
    function: Callable[..., object],
    overrides: Mapping[str, Any],
    *,
    name: str,
    own_file: str,
    caught: type[BaseException] | tuple[type[BaseException], ...],
) -> tuple[str, ...]:
    """Return the argv that a definition's function gives.

    Args:
        function: The function.
        overrides: Its keyword arguments.
        name: How the function is named in errors.
        own_file: The file name that the function's code carries.
        caught: The exceptions that count as a failure of the definition.

    Raises:
        DefinitionError: The function does not take the overrides, raised one of the
            exceptions, or returned something that is no argv.
    """
    origin = own_file
    with suppress(Exception):  # a callable object of a definition's own may be made of anything
        code = inspect.unwrap(function).__code__
        if code.co_filename == own_file:
            origin = f"{own_file}:{code.co_firstlineno}"
    _check_signature(function, overrides, name, origin)
    call = call_text(name, overrides)
    try:
        value = function(**overrides)
    except caught as error:
        raise failure(call, error, own_file) from None
    try:
        return argv_of(value, f"{call} returned")
    except DefinitionError as error:
        raise DefinitionError(error.headline, origin=origin, remedy=error.remedy) from None
    except Exception as error:  # noqa: BLE001 - the value's own class may do anything
        raise DefinitionError(
            f"{call} returned a value that cannot be read: {type(error).__name__}",
            origin=origin,
            remedy="return the flags as a plain string, or as a list of them",
        ) from None


def _check_signature(
    function: Callable[..., object], overrides: Mapping[str, Any], name: str, origin: str
) -> None:
    try:
        # A wrapper is called as itself, so what it wraps does not decide what it takes.
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    except Exception:  # noqa: BLE001 - its signature may be made by code of its own
        return
    takes = [
        parameter.name
        for parameter in parameters
        if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    ]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    for override in overrides:
        if override not in takes and not takes_any:
            raise DefinitionError(
                f"{name}() takes no override {override!r}",
                origin=origin,
                remedy=f"the overrides it takes are: {', '.join(takes)}"
                if takes
                else f"add the parameter {override} to {name}(), or expand it without overrides",
            )
    for parameter in parameters:
        if (
            parameter.default is parameter.empty
            and parameter.kind not in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}
            and parameter.name not in overrides
        ):
            raise DefinitionError(
                f"{name}() needs {parameter.name!r}, which has no default",
                origin=origin,
                remedy=f"give {parameter.name!r} a default, or register a variant that sets it",
            )
