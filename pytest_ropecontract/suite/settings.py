"""What is checked about the settings; collected under the ini file."""

from __future__ import annotations

import pytest

from pytest_ropecontract.collection import EXPECTATIONS, project_of


def test_allowances(request: pytest.FixtureRequest) -> None:
    """Every allowance still allows something."""
    project = project_of(request.config)
    expectations = request.config.stash.get(EXPECTATIONS, {})
    for model in project.registry:
        examination = project.examine(model)
        if examination.error is None:
            for expectation in expectations.get(model, []):
                project.check_expectation(model, expectation)
    unused = [one for one in project.settings.allowances if one not in project.used_allowances]
    if unused:
        lines = [f"rope_contract_allow: {unused[0]} allows nothing any more"]
        lines.extend(f"  also: {one}" for one in unused[1:])
        lines.append("  remedy: remove the line from rope_contract_allow")
        pytest.fail("\n".join(lines), pytrace=False)
