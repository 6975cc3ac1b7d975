"""Calling the hooks that a project implements, and checking what they give."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import paths

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.megatron.pipeline import PipelineSettings

MODELS = "pytest_ropecontract_models"
PIPELINE = "pytest_ropecontract_pipeline"
CHECKPOINTS = "pytest_ropecontract_checkpoints"
_LISTS = ("arguments", "defaults", "stubs", "base_args", "pythonpath")
_TEXTS = ("parser", "rotary")
_UNKNOWN = ("reject", "drop")


def register_models(config: pytest.Config, registry: Registry) -> None:
    """Let the project register models.

    Raises:
        RopeContractError: An implementation raised, or returned something.
    """
    from pytest_ropecontract.errors import RopeContractError

    for result in _call(config, MODELS, registry=registry):
        raise RopeContractError(
            f"{MODELS} returned {type(result).__name__}, expected nothing",
            remedy="register models with registry.add(name, source)",
        )


def pipeline(config: pytest.Config, settings: PipelineSettings) -> PipelineSettings:
    """Return the settings of the ini file with what the project's hooks change in them.

    Raises:
        RopeContractError: An implementation raised, or returned something that is no
            mapping of settings.
    """
    from pytest_ropecontract.errors import representation
    from pytest_ropecontract.megatron.framework import PipelineError

    known = [field.name for field in dataclasses.fields(settings)]
    for result in reversed(_call(config, PIPELINE, settings=settings)):
        if not isinstance(result, Mapping):
            raise PipelineError(
                f"{PIPELINE} returned {type(result).__name__}, not a mapping",
                remedy='return settings by name, for example {"pins": {"rope_fusion": False}}',
            )
        changes = {}
        for name, value in result.items():
            if name not in known:
                raise PipelineError(
                    f"{PIPELINE}: there is no setting {representation(name)}",
                    details=[f"settings: {', '.join(known)}"],
                    remedy="return the settings that differ, by these names",
                )
            changes[name] = _checked(name, value)
        settings = dataclasses.replace(settings, **changes)
    return settings


def checkpoints(config: pytest.Config, model: str) -> list[Path]:
    """Return the paths of checkpoints that the project names for a model.

    Raises:
        RopeContractError: An implementation raised, or returned something that is no path.
    """
    from pytest_ropecontract.errors import RopeContractError, representation

    found: list[Path] = []
    for result in _call(config, CHECKPOINTS, model=model):
        for one in result if isinstance(result, list | tuple) else [result]:
            if not isinstance(one, str | PathLike) or not isinstance(fspath(one), str):
                raise RopeContractError(
                    f"{CHECKPOINTS} returned {representation(one)} for {model!r}, which is no path",
                    remedy="return a path, a list of paths, or None",
                )
            found.append(config.rootpath / fspath(one))
    return found


def _checked(name: str, value: Any) -> Any:
    from pytest_ropecontract.errors import representation
    from pytest_ropecontract.megatron.framework import PipelineError

    if name in _LISTS:
        fits = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        wanted = "a list of strings"
        value = tuple(value) if fits else value
    elif name in _TEXTS:
        fits, wanted = value is None or isinstance(value, str), "a string or None"
    elif name == "unknown":
        fits, wanted = value in _UNKNOWN, " or ".join(map(repr, _UNKNOWN))
    else:
        fits = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        wanted = "a mapping from names to values"
    if not fits:
        raise PipelineError(
            f"{PIPELINE}: {name} is {representation(value)}, expected {wanted}",
            remedy=f"return {wanted} for {name}, or leave it out",
        )
    return value


def _call(config: pytest.Config, name: str, **arguments: Any) -> list[Any]:
    """Call a hook; what an implementation raises is an error of the settings."""
    from pytest_ropecontract.errors import RopeContractError, described, further

    try:
        results: list[Any] = getattr(config.hook, name)(config=config, **arguments)
    except RopeContractError as error:
        raise RopeContractError(
            f"{name}: {error.headline}",
            origin=error.origin or _implementation(error, config),
            details=error.details,
            remedy=error.remedy,
        ) from None
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as error:
        raise RopeContractError(
            f"{name} raised {described(error)}",
            origin=paths.place(error, config.rootpath),
            details=further(error),
            remedy="mend the line above; it runs here without a launcher around it",
        ) from error
    return results


def _implementation(error: BaseException, config: pytest.Config) -> str | None:
    """Return the last line of the traceback that is not this package's."""
    package = __file__.rpartition("/")[0]
    trace = error.__traceback__
    found = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(package):
            found = f"{file}:{trace.tb_lineno}"
        trace = trace.tb_next
    return None if found is None else paths.portable(found, config.rootpath)
