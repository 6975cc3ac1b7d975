"""The mark ``rope_expect``: read when collected, asserted before the test."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import paths
from pytest_ropecontract.collection import EXPECTATIONS, DefinitionModule, project_of
from pytest_ropecontract.errors import visible
from pytest_ropecontract.runs import FIXTURE, MARK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.rope.config import Kind


class _NotGiven:
    """Stands for an argument that was left out; None is a value that can be expected."""

    def __repr__(self) -> str:
        return "..."


_NOT_GIVEN: Any = _NotGiven()


def rope_expect(  # noqa: PLR0913  # the fields that a contract names most often
    kind: Kind = _NOT_GIVEN,
    original_max_position_embeddings: int | None = _NOT_GIVEN,
    beta_fast: float | None = _NOT_GIVEN,
    beta_slow: float | None = _NOT_GIVEN,
    *,
    models: str | Sequence[str] | None = None,
    declared: bool = True,
    **fields: Any,
) -> pytest.MarkDecorator:
    """Mark a test with what the RoPE of some models must be.

    The contract is asserted before the test's body, which may be empty. A value of None
    demands that nothing which is built reads the field.

    Args:
        kind: ``rope``, ``yarn``, ``mrope`` or ``none``.
        original_max_position_embeddings: The length, in tokens, that is stretched from.
        beta_fast: Rotations above which a frequency is kept.
        beta_slow: Rotations below which a frequency is divided by the factor.
        models: Names and globs of the models; without it, those over which the test's
            ``rope_model`` is parametrized.
        declared: Whether every value must come from the definition's flags; False accepts
            a default that is the same.
        fields: Any other field of ``RopeConfig``, for example ``rotary_base=50000``.
    """
    given: dict[str, Any] = {
        "kind": kind,
        "original_max_position_embeddings": original_max_position_embeddings,
        "beta_fast": beta_fast,
        "beta_slow": beta_slow,
    }
    keywords = {name: value for name, value in given.items() if value is not _NOT_GIVEN}
    keywords.update(fields)
    if models is not None:
        keywords["models"] = models
    if declared is not True:
        keywords["declared"] = declared
    return getattr(pytest.mark, MARK)(**keywords)  # type: ignore[no-any-return]


# What the marks of a test found, of each with the model that it was asserted of.
ASSERTED = pytest.StashKey[list[tuple[str, "Expectation", tuple["Finding", ...]]]]()
# What of it fails.
FAILED = pytest.StashKey[tuple["Finding", ...]]()


class ContractFailed(pytest.fail.Exception):  # type: ignore[name-defined,misc]
    """A broken contract; pytest shows its text without a traceback.

    Attributes:
        findings: What was found.
    """

    __module__ = "builtins"

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        text = "\n\n".join(one.text() for one in self.findings)
        names = " ".join(dict.fromkeys(one.rule for one in self.findings))
        text += f"\n  {'more:':<10}ropecontract rule {names}"
        super().__init__(visible(paths.printable(text)), pytrace=False)


def expectations(node: pytest.Item | pytest.Function) -> Iterator[Expectation]:
    """Yield the expectations that mark a test.

    Raises:
        ExpectationError: A mark cannot be read.
    """
    from pytest_ropecontract.contracts.expectation import read

    for mark in node.iter_markers(MARK):
        yield read(mark.args, mark.kwargs, node.nodeid)


def generate(metafunc: pytest.Metafunc) -> None:
    """Check the marks of a test and parametrize its ``rope_model``.

    Raises:
        pytest.Collector.CollectError: A mark cannot be read, or names no models.
    """
    from pytest_ropecontract.errors import RopeContractError

    module = metafunc.definition.getparent(DefinitionModule)
    if module is not None:
        if module.model_names:
            _parametrize(metafunc, module.model_names)
        return
    try:
        names = _named_models(metafunc)
        if FIXTURE not in metafunc.fixturenames or _parametrized(metafunc):
            return
        names = names or list(project_of(metafunc.config).registry)
    except (RopeContractError, pytest.UsageError) as error:
        raise pytest.Collector.CollectError(str(error)) from None
    if not names:
        raise pytest.Collector.CollectError(
            "rope_model has no models: no model definitions found\n"
            f"  at: {metafunc.definition.nodeid}\n"
            "  remedy: set rope_contract_models, or register models with a hook"
        )
    _parametrize(metafunc, names)


def _parametrize(metafunc: pytest.Metafunc, names: Sequence[str]) -> None:
    try:
        metafunc.parametrize(FIXTURE, names, indirect=True, scope="session")
    except (ValueError, pytest.Collector.CollectError) as error:
        # A pytest_generate_tests, or the parameters of a fixture, of the project did it.
        if f"duplicate parametrization of {FIXTURE!r}" not in str(error):
            raise


def _named_models(metafunc: pytest.Metafunc) -> list[str]:
    named: set[str] = set()
    for expectation in expectations(metafunc.definition):
        if expectation.models:
            named.update(_selected(metafunc.definition, expectation))
        elif FIXTURE not in metafunc.fixturenames and not _parametrized(metafunc):
            raise _no_models(metafunc.definition)
    return sorted(named)


def _selected(node: pytest.Item, expectation: Expectation) -> list[str]:
    """Return the names of an expectation's models."""
    with _naming(node):
        return project_of(node.config).registry.select(expectation.models)


def _selects(node: pytest.Item, expectation: Expectation, model: str) -> bool:
    """Return whether an expectation is one of a model."""
    with _naming(node):
        return project_of(node.config).registry.selects(expectation.models, model)


@contextlib.contextmanager
def _naming(node: pytest.Item) -> Iterator[None]:
    """Say which test it is that names no model."""
    from pytest_ropecontract.errors import RopeContractError

    try:
        yield
    except RopeContractError as error:
        raise RopeContractError(
            f"rope_expect: {error.headline}", origin=node.nodeid, remedy=error.remedy
        ) from None


def _no_models(node: pytest.Item) -> Exception:
    from pytest_ropecontract.contracts.expectation import ExpectationError

    return ExpectationError(
        "rope_expect names no models, and the test has no rope_model",
        origin=node.nodeid,
        remedy='give models=["kimi-k2"], or parametrize the test over rope_model',
    )


def _parametrized(metafunc: pytest.Metafunc) -> bool:
    for mark in metafunc.definition.iter_markers("parametrize"):
        names = mark.kwargs.get("argnames", mark.args[0] if mark.args else ())
        listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        if FIXTURE in listed:
            return True
    return False


def applying(item: pytest.Item) -> Iterator[tuple[Expectation, str]]:
    """Yield every expectation of a test with each model that it applies to.

    Raises:
        RopeContractError: A mark cannot be read, or names no model that is defined.
    """
    callspec = getattr(item, "callspec", None)
    current = callspec.params.get(FIXTURE) if callspec is not None else None
    for expectation in expectations(item):
        if current is None:
            if not expectation.models:
                raise _no_models(item)
            yield from ((expectation, model) for model in _selected(item, expectation))
        elif not expectation.models or _selects(item, expectation, current):
            yield expectation, current


def assert_marks(item: pytest.Item) -> list[Finding]:
    """Assert the expectations that mark a test, and return what is found but allowed.

    Raises:
        ContractFailed: One of them finds something that fails.
    """
    findings, problem = _findings(item)
    if problem is not None:
        pytest.fail(paths.portable(problem, item.config.rootpath), pytrace=False)
    failed = [one for one in findings if one.status == "fail"]
    if failed:
        item.stash[FAILED] = tuple(failed)
        raise ContractFailed(failed)
    return [one for one in findings if one.status == "allowed"]


def _findings(item: pytest.Item) -> tuple[list[Finding], str | None]:
    """Return what the expectations of a test find, or why they cannot be checked."""
    from pytest_ropecontract.errors import RopeContractError

    found: list[Finding] = []
    asserted = item.stash.setdefault(ASSERTED, [])
    try:
        for expectation, model in applying(item):
            findings = project_of(item.config).check_expectation(model, expectation)
            asserted.append((model, expectation, findings))
            found.extend(findings)
    except (RopeContractError, pytest.UsageError) as error:
        return found, str(error)
    return found, None


def allowed_reason(findings: Iterable[Finding]) -> str:
    """Return why findings are allowed, each rule with its reason once."""
    texts = [f"{one.rule} allowed: {one.reason}" for one in findings]
    return "; ".join(dict.fromkeys(texts))


def gather(session: pytest.Session, items: Sequence[pytest.Item]) -> None:
    """Remember, per model, the expectations of all tests, also of those not collected."""
    from pytest_ropecontract import uncollected

    more: Iterable[pytest.Item] = ()
    if uncollected.is_partial(session.config) and any(i.getparent(DefinitionModule) for i in items):
        more = uncollected.items(session, DefinitionModule)
    session.config.stash[EXPECTATIONS] = _by_model((*items, *more))


def of_project(session: pytest.Session) -> dict[str, list[Expectation]]:
    """Return, per model, the expectations of a project of which nothing is collected."""
    from pytest_ropecontract import uncollected

    return _by_model(uncollected.items(session, DefinitionModule))


def _by_model(items: Iterable[pytest.Item]) -> dict[str, list[Expectation]]:
    from pytest_ropecontract.errors import RopeContractError

    found: dict[str, list[Expectation]] = {}
    for item in items:
        if item.get_closest_marker(MARK) is None:
            continue
        try:
            applied = list(applying(item))
        except RopeContractError:
            continue  # a mark that was added after collection; its test will say so
        for expectation, model in applied:
            known = found.setdefault(model, [])
            stated = (expectation.fields, expectation.declared)
            if all((one.fields, one.declared) != stated for one in known):
                known.append(expectation)
    return found


def expectations_of(session: pytest.Session, model: str) -> list[Expectation]:
    """Return what the marks of a run demand of a model."""
    if EXPECTATIONS not in session.config.stash:
        gather(session, session.items)  # a run without --rope-contract
    return session.config.stash[EXPECTATIONS].get(model, [])
