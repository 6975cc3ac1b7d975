"""What is checked about the settings; collected under the file that stands for the project."""

from __future__ import annotations

import contextlib

import pytest

from pytest_ropecontract.collection import EXPECTATIONS, launchers_of, options_of, project_of
from pytest_ropecontract.contracts.arity.rule import NotCheckedError
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.report.annotating import ANNOTATIONS, of_settings
from pytest_ropecontract.suite.failing import failing

OMISSION = "unguarded-omission"


def test_allowances(request: pytest.FixtureRequest) -> None:
    """Every allowance still allows something."""
    project = project_of(request.config)
    expectations = request.config.stash.get(EXPECTATIONS, {})
    allowances = project.settings.allowances
    unknown = []
    for model in project.registry:
        with failing(request):
            examination = project.examine(model)
        if examination.error is not None:
            unknown.append(model)
            continue
        for expectation in expectations.get(model, []):
            project.check_expectation(model, expectation)
        with contextlib.suppress(RopeContractError):  # test_checkpoint says why
            project.check_checkpoints(model)
        with contextlib.suppress(NotCheckedError):
            project.check_arity(model)
        if any(one.rule == OMISSION and one.is_for(model) for one in allowances):
            found = expectations.get(model, [])
            given = options_of(request.config)
            with contextlib.suppress(RopeContractError):  # test_omissions says why
                project.search_omissions(model, found, given.examples, given.seed)
    if not project.used_allowances.issuperset(allowances):
        unknown.extend(_unknown_launchers(request.config))
    unused = [
        one
        for one in allowances
        # Of a model that cannot be expanded nobody knows what there would be to allow.
        if one not in project.used_allowances and not any(map(one.is_for, unknown))
    ]
    if unused:
        lines = [f"rope_contract_allow: '{unused[0]}' allows nothing any more"]
        lines.extend(f"  also: {one}" for one in unused[1:])
        noun = "line" if len(unused) == 1 else "lines"
        lines.append(f"  remedy: remove the {noun} from rope_contract_allow")
        text = "\n".join(lines)
        # As far as an ini file cannot quote it.
        values = [f"{one.models} {one.rule}" for one in unused]
        request.node.stash[ANNOTATIONS] = [
            of_settings(request.path, values, text, request.config.rootpath)
        ]
        pytest.fail(text, pytrace=False)


def _unknown_launchers(config: pytest.Config) -> list[str]:
    """Check what launchers need allowances for; return those of which that is not known."""
    launching = launchers_of(config)
    expectations = config.stash.get(EXPECTATIONS, {})
    inspected = (launching.inspect(one, expectations) for one in launching.settings.launchers)
    return [one.launcher for one in inspected if one.error is not None]
