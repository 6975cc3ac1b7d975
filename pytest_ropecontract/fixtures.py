"""Fixtures for hand-written tests."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.fixture_types import (
        RopeContractOf,
        RopeExpand,
        RopeOmissions,
        RopeResolve,
    )
    from pytest_ropecontract.launch import RopeLaunch
    from pytest_ropecontract.project import Project
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution
    from pytest_ropecontract.snapshots.extension import RopeSnapshot


def _project(config: pytest.Config) -> Project:
    from pytest_ropecontract.collection import project_of

    try:
        return project_of(config)
    except (RopeContractError, pytest.UsageError) as error:
        raise _failure(str(error), config) from None


def _failure(problem: str, config: pytest.Config) -> BaseException:
    """Return what lets a fixture fail with a text and without a traceback."""
    from pytest_ropecontract import paths

    text = paths.portable(problem, config.rootpath)
    failed: BaseException = pytest.fail.Exception(text, pytrace=False)
    return failed


@pytest.fixture(scope="session")
def rope_models(pytestconfig: pytest.Config) -> Registry:
    """The registered model definitions, a mapping from name to definition."""
    return _project(pytestconfig).registry


@pytest.fixture(scope="session")
def rope_model(request: pytest.FixtureRequest) -> str:
    """The name of a model; a test that asks for it runs once for every model.

    With ``rope_expect(..., models=[...])`` it runs for those models, and with
    ``@pytest.mark.parametrize("rope_model", [...])`` for the ones listed.
    """
    if not hasattr(request, "param"):
        pytest.fail(
            "rope_model has no value here: getfixturevalue() comes too late\n"
            "  remedy: name it among the arguments of the test or of a fixture",
            pytrace=False,
        )
    model: str = request.param
    return model


@pytest.fixture(scope="session")
def rope_expand(pytestconfig: pytest.Config) -> RopeExpand:
    """A function that expands a model: ``rope_expand("kimi-k2", nlayers=2) -> list[str]``.

    It raises ``RopeContractError`` for a model that is not defined or cannot be expanded.
    """
    project = _project(pytestconfig)

    def expand(model: str, /, **overrides: Any) -> list[str]:
        __tracebackhide__ = True
        try:
            return project.expand(model, **overrides)
        except RopeContractError as error:
            raise _shortened(error) from None

    return expand


@pytest.fixture(scope="session")
def rope_resolve(pytestconfig: pytest.Config) -> RopeResolve:
    """A function that resolves a model or an argv to a ``Resolution``.

    ``rope_resolve("kimi-k2", nlayers=2).rope`` is the ``RopeConfig`` that is built, or None
    where it is refused, and ``.origins`` says where every field comes from. It raises
    ``RopeContractError`` for a model that is not defined or cannot be expanded.
    """
    project = _project(pytestconfig)

    def resolve(model_or_argv: str | Sequence[str], /, **overrides: Any) -> Resolution:
        __tracebackhide__ = True
        try:
            return project.resolve(model_or_argv, **overrides)
        except RopeContractError as error:
            raise _shortened(error) from None

    return resolve


def _shortened(error: RopeContractError) -> RopeContractError:
    """Return an error whose traceback begins anew: its text says where it comes from."""
    return error.with_traceback(None)


@pytest.fixture(scope="session")
def rope_omissions(pytestconfig: pytest.Config) -> RopeOmissions:
    """A function that returns a Hypothesis strategy over what a model's flags can lose.

    ``data.draw(rope_omissions("kimi-k2", at_most=2)).argv`` are the tokens that remain; see
    ``pytest_ropecontract.omissions`` for use with ``@given``.
    """
    from pytest_ropecontract.omission.strategy import omissions_of

    return functools.partial(omissions_of, _project(pytestconfig))


@pytest.fixture
def rope_config(
    rope_model: str, rope_resolve: RopeResolve, pytestconfig: pytest.Config
) -> RopeConfig:
    """The ``RopeConfig`` that is built for ``rope_model``."""
    try:
        resolution = rope_resolve(rope_model)
    except RopeContractError as error:
        raise _failure(str(error), pytestconfig) from None
    if resolution.rope is None:
        refused = resolution.refused
        message = refused.message if refused is not None else "refused"
        raise _failure(
            f"rope_config: {rope_model}: nothing is built: {message}\n"
            f"  remedy: correct what is refused: ropecontract explain {rope_model}",
            pytestconfig,
        )
    return resolution.rope


@pytest.fixture
def rope_snapshot(request: pytest.FixtureRequest) -> RopeSnapshot:
    """What was written down in ``rope_contract_snapshots``: ``assert argv == rope_snapshot``.

    It takes a command line (a list of strings), what ``rope_resolve`` returns, a ``RopeConfig``,
    or what a launcher would have run, and writes one line for every flag or field. Several in one
    test can have names: ``rope_snapshot(name="two_nodes")``. syrupy's options apply.
    """
    from pytest_ropecontract import owners

    if not owners.is_loaded(request.config):
        raise _failure("rope_snapshot needs syrupy, which this run does not load", request.config)
    try:
        return owners.snapshot_of(request)
    except (RopeContractError, pytest.UsageError) as error:
        raise _failure(str(error), request.config) from None


@pytest.fixture
def rope_contract_of(request: pytest.FixtureRequest) -> RopeContractOf:
    """A function that checks a config which was built in code against a model's contracts.

    ``rope_contract_of(provider, "kimi-k2")`` resolves the config object as the model would,
    checks the ``rope_expect`` marks and the checkpoints of the model on it, and returns the
    ``RopeConfig``. Without a name the model is the test's own ``rope_model``. What the model
    is given beside its config is given here, too: ``rotary_base=500000``.
    """
    project = _project(request.config)

    def check(config: object, model: str | None = None, /, **arguments: Any) -> RopeConfig:
        __tracebackhide__ = True
        from pytest_ropecontract import marks
        from pytest_ropecontract.rope.built import resolve_config

        name = model or _own_model(request)
        try:
            surface = project.pipeline.megatron.surface
            resolution = resolve_config(config, surface, **arguments)
            expectations = marks.expectations_of(request.session, name)
            known = expectations or project.checkpoints(project.registry[name].name)
            findings = project.check_config(name, resolution, expectations)
        except (RopeContractError, pytest.UsageError) as error:
            raise _failure(str(error), request.config) from None
        if not known or resolution.rope is None:
            raise _failure(
                f"rope_contract_of: {name} has no contract\n"
                "  remedy: mark a test with rope_expect, or add the model's checkpoint",
                request.config,
            )
        failed = [one for one in findings if one.status == "fail"]
        if failed:
            raise marks.ContractFailed(failed)
        return resolution.rope

    return check


@pytest.fixture(scope="session")
def rope_launch(pytestconfig: pytest.Config) -> RopeLaunch:
    """Records what a launcher would run: ``rope_launch.shell("scripts/run.sh")``.

    ``rope_launch.python("scripts/run.py", "execute", num_nodes=2)`` calls a function, and
    ``rope_launch.script("scripts/run.py", args=["--nodes", "2"])`` runs a script. Nothing of
    it is executed. What comes back has ``commands``, ``training``, ``files`` and ``stdout``.
    """
    from pytest_ropecontract.collection import launchers_of
    from pytest_ropecontract.launch import RopeLaunch

    _project(pytestconfig)
    return RopeLaunch(launchers_of(pytestconfig))


def _own_model(request: pytest.FixtureRequest) -> str:
    callspec = getattr(request.node, "callspec", None)
    model = callspec.params.get("rope_model") if callspec is not None else None
    if model is None:
        raise _failure(
            "rope_contract_of: no model is named, and the test has no rope_model\n"
            '  remedy: rope_contract_of(config, "kimi-k2"), or let the test ask for rope_model',
            request.config,
        )
    return str(model)
