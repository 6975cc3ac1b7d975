"""Loading the functions of a framework, and saying what is wrong with them."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import sys
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.errors import RopeContractError, described, further, raised_at
from pytest_ropecontract.megatron import machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class PipelineError(RopeContractError):
    """A pipeline setting that cannot be used: nothing can be resolved with it."""


class PipelineCallError(RopeContractError):
    """A pipeline function that raised for one argv."""


@contextlib.contextmanager
def importing_from(folders: Sequence[str]) -> Iterator[None]:
    """Look for modules in some folders before all others, for the duration."""
    before = list(sys.path)
    sys.path[:0] = [folder for folder in folders if folder not in before]
    try:
        yield
    finally:
        sys.path[:] = before


def load_function(
    key: str, name: str, *, folders_key: str = "rope_contract_pythonpath"
) -> Callable[..., Any]:
    """Import the function that a setting names.

    Args:
        key: The setting, for errors.
        name: ``module:function``.
        folders_key: The setting that adds folders to look in, for errors.

    Raises:
        PipelineError: The module cannot be imported, or has no such function.
    """
    module, attribute = import_attribute(name, key, folders_key)
    function: Any = module
    for part in attribute.split("."):
        function = getattr(function, part, None)
    if function is None:
        raise missing_attribute(key, name, module)
    if not callable(function):
        raise PipelineError(
            f"{key}: {name} is of type {type(function).__name__}, not a function",
            remedy="name a function of the module",
        )
    loaded: Callable[..., Any] = function
    return loaded


def add_options(
    key: str, name: str, function: Callable[..., Any], parser: argparse.ArgumentParser
) -> argparse.ArgumentParser:
    """Let a framework's function add its options, and return the parser that it returns.

    Args:
        key: The setting that names the function, for errors.
        name: ``module:function``, for errors.
        function: Gets the parser; returns it, another one, or nothing.
        parser: The parser to add to.

    Raises:
        PipelineError: The function raised, or returned something else.
    """
    with machine.quiet():
        try:
            added = function(parser) or parser
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise PipelineError(
                f"{key}: {name} raised {described(error)}",
                details=further(error),
                remedy="the function gets an argparse parser and adds options to it",
            ) from error
    if not isinstance(added, argparse.ArgumentParser):
        raise PipelineError(
            f"{key}: {name} returned {type(added).__name__}, not a parser",
            remedy="return the parser, or nothing",
        )
    return added


def import_attribute(
    name: str, key: str, folders_key: str = "rope_contract_pythonpath"
) -> tuple[Any, str]:
    """Import the module of ``module:attribute``, and return it with the attribute.

    Raises:
        PipelineError: The name is not of this form, or its module cannot be imported.
    """
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise PipelineError(
            f"{key}: {name!r} is not of the form module:attribute",
            remedy="for example ropeframe.arguments:set_default_megatron_args",
        )
    try:
        with machine.quiet():
            return importlib.import_module(module_name), attribute
    except ModuleNotFoundError as error:
        if error.name and (module_name + ".").startswith(error.name + "."):
            raise PipelineError(
                f"{key}: there is no module {error.name!r}",
                origin=f"{key} = {name}",
                remedy=f"add its folder to {folders_key}",
            ) from None
        raise _broken(key, name, error) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _broken(key, name, error) from error


def _broken(key: str, name: str, error: BaseException) -> PipelineError:
    return PipelineError(
        f"{key}: importing {name.partition(':')[0]!r} raised {described(error)}",
        origin=raised_at(error),
        details=further(error),
        remedy="mend the line above; it runs here without a launcher around it",
    )


def missing_attribute(key: str, name: str, module: Any) -> PipelineError:
    """Return the error that a module does not have an attribute, with the nearest it has."""
    attribute = name.partition(":")[2]
    near = difflib.get_close_matches(attribute, dir(module), n=3)
    return PipelineError(
        f"{key}: module {module.__name__!r} has no attribute {attribute!r}",
        origin=f"{key} = {name}",
        remedy=f"did you mean {', '.join(near)}?" if near else None,
    )
