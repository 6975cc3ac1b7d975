"""What is checked for every model; collected under the definition's own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract import owners, paths
from pytest_ropecontract.collection import EXPECTATIONS, options_of, project_of
from pytest_ropecontract.contracts.arity.rule import NotCheckedError
from pytest_ropecontract.marks import ContractFailed, allowed_reason
from pytest_ropecontract.report.document import DOCUMENT, model_document, properties
from pytest_ropecontract.suite.failing import failing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_ropecontract.contracts.demands import Demand
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.project import Examination
    from pytest_ropecontract.snapshots.extension import RopeSnapshot

# The node ids of a run's items.
RUN = pytest.StashKey[frozenset[str]]()


def test_declared(rope_model: str, request: pytest.FixtureRequest) -> None:
    """What is built is what the definition's flags say."""
    with failing(request):
        examination = project_of(request.config).examine(rope_model)
    _settle(request, examination, examination.findings, contracts=None)


def test_expected(rope_model: str, request: pytest.FixtureRequest) -> None:
    """What is built is what the marks ``rope_expect`` demand."""
    project = project_of(request.config)
    examination = _examine(request, rope_model)
    expectations = request.config.stash.get(EXPECTATIONS, {}).get(rope_model, [])
    findings: list[Finding] = []
    demands: Sequence[Demand] = ()
    if examination.error is None:
        for expectation in expectations:
            findings.extend(project.check_expectation(rope_model, expectation))
        demands = project.demanded_by_marks(rope_model, expectations)
    _settle(request, examination, findings, contracts=len(expectations), demands=demands)
    if not expectations:
        pytest.skip(f"no rope_expect mark of this run names {rope_model}")


def test_checkpoint(rope_model: str, request: pytest.FixtureRequest) -> None:
    """What is built is what the model's published checkpoint says."""
    project = project_of(request.config)
    examination = _examine(request, rope_model)
    findings: Sequence[Finding] = ()
    files: Sequence[Path] = ()
    demands: Sequence[Demand] = ()
    if examination.error is None:
        with failing(request):
            files = project.checkpoints(rope_model)
            findings = project.check_checkpoints(rope_model)
            demands = project.demanded_by_checkpoints(rope_model)
    _settle(request, examination, findings, contracts=len(files), demands=demands)


def test_arity(rope_model: str, request: pytest.FixtureRequest) -> None:
    """The adapter that ``--spec`` names takes as many results as the built class returns."""
    project = project_of(request.config)
    examination = _examine(request, rope_model)
    findings: Sequence[Finding] = ()
    if examination.error is None:
        try:
            findings = project.check_arity(rope_model)
        except NotCheckedError as reason:
            pytest.skip(str(reason))
    _settle(request, examination, findings, contracts=None)


def test_omissions(rope_model: str, request: pytest.FixtureRequest) -> None:
    """No flag can be lost so that YaRN is built and no contract of the model notices."""
    project = project_of(request.config)
    examination = _examine(request, rope_model)
    expectations = request.config.stash.get(EXPECTATIONS, {}).get(rope_model, [])
    given = options_of(request.config)
    search = None
    if examination.error is None:
        with failing(request):
            search = project.search_omissions(rope_model, expectations, given.examples, given.seed)
        if search is None:
            pytest.skip(f"nothing is built from the flags of {rope_model}")
    _settle(
        request,
        examination,
        search.findings if search else (),
        contracts=None,
        omissions=search.losses if search else None,
    )


def test_snapshot(rope_model: str, request: pytest.FixtureRequest) -> None:
    """The flags, and what is built from them, are those that were written down."""
    if not owners.is_loaded(request.config):
        pytest.skip("snapshots need syrupy, which this run does not load")
    examination = _examine(request, rope_model)
    if examination.error is not None:
        _settle(request, examination, (), contracts=None)
    try:
        _compare_with_snapshots(request, examination)
    except pytest.fail.Exception as failure:
        document = model_document(
            request.config,
            examination,
            (),
            contracts=None,
            snapshot=failure.msg,
            item=request.node.originalname,
        )
        request.node.stash[DOCUMENT] = document
        raise


def _compare_with_snapshots(request: pytest.FixtureRequest, examination: Examination) -> None:
    """Fail where the snapshots of a model differ, or cannot be compared."""
    snapshot: RopeSnapshot = request.getfixturevalue(owners.FIXTURE)
    kept = (examination.expansion and examination.expansion.argv, examination.resolution)
    # Both are compared, so that an update writes both.
    changes = [snapshot.change() for one in kept if one is not None and one != snapshot]
    if changes:
        text = "\n\n".join("\n".join(change.lines) for change in changes)
        pytest.fail(paths.printable(text), pytrace=False)


def _examine(request: pytest.FixtureRequest, model: str) -> Examination:
    """Return what is known of a model; skip where ``test_declared`` says why that is nothing."""
    with failing(request):
        examination = project_of(request.config).examine(model)
    if examination.error is not None and _has_sibling(request, "test_declared"):
        pytest.skip(f"test_declared says why nothing is known of {model}")
    return examination


def _has_sibling(request: pytest.FixtureRequest, function: str) -> bool:
    """Return whether another item of the same model is part of the run."""
    node, stash = request.node, request.config.stash
    if RUN not in stash:
        # Once, since a run can have many thousand items, and as many that ask.
        stash[RUN] = frozenset(item.nodeid for item in request.session.items)
    name = node.name.replace(node.originalname, function, 1)
    return f"{node.parent.nodeid}::{name}" in stash[RUN]


def _settle(  # noqa: PLR0913  # the facts of an item
    request: pytest.FixtureRequest,
    examination: Examination,
    findings: Sequence[Finding],
    *,
    contracts: int | None,
    omissions: Mapping[str, str] | None = None,
    demands: Sequence[Demand] = (),
) -> None:
    """Leave the facts for the report, then fail, xfail or pass."""
    document = model_document(
        request.config,
        examination,
        findings,
        contracts,
        omissions,
        demands=demands,
        item=request.node.originalname,
    )
    request.node.stash[DOCUMENT] = document
    request.node.user_properties.extend(properties(document))
    error = document["model"]["error"]
    if error is not None:
        pytest.fail(error, pytrace=False)
    failed = [one for one in findings if one.status == "fail"]
    if failed:
        raise ContractFailed(failed)
    allowed = [one for one in findings if one.status == "allowed"]
    if allowed:
        pytest.xfail(allowed_reason(allowed))
