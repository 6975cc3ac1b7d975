"""What is checked for every model; collected under the definition's own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract.collection import EXPECTATIONS, project_of
from pytest_ropecontract.marks import ContractFailed
from pytest_ropecontract.report.document import DOCUMENT, model_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.project import Examination


def test_declared(rope_model: str, request: pytest.FixtureRequest) -> None:
    """What is built is what the definition's flags say."""
    examination = project_of(request.config).examine(rope_model)
    _settle(request, examination, examination.findings, contracts=None)


def test_expected(rope_model: str, request: pytest.FixtureRequest) -> None:
    """What is built is what the marks ``rope_expect`` demand."""
    project = project_of(request.config)
    examination = project.examine(rope_model)
    expectations = request.config.stash.get(EXPECTATIONS, {}).get(rope_model, [])
    findings: list[Finding] = []
    if examination.error is None:
        for expectation in expectations:
            findings.extend(project.check_expectation(rope_model, expectation))
    _settle(request, examination, findings, contracts=len(expectations))
    if not expectations:
        pytest.skip(f"no rope_expect mark of this run names {rope_model}")


def _settle(
    request: pytest.FixtureRequest,
    examination: Examination,
    findings: Sequence[Finding],
    *,
    contracts: int | None,
) -> None:
    """Leave the facts for the report, then fail, xfail or pass."""
    document = model_document(request.config, examination, findings, contracts)
    request.node.stash[DOCUMENT] = document
    if examination.error is not None:
        pytest.fail(str(examination.error), pytrace=False)
    failed = [one for one in findings if one.status == "fail"]
    if failed:
        raise ContractFailed(failed)
    allowed = [one for one in findings if one.status == "allowed"]
    if allowed:
        pytest.xfail("; ".join(f"{one.rule} allowed: {one.reason}" for one in allowed))
