"""What is checked for every launcher; collected under the launcher's own file."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from pytest_ropecontract import paths
from pytest_ropecontract.collection import EXPECTATIONS, LaunchModule, launchers_of
from pytest_ropecontract.marks import ContractFailed, allowed_reason
from pytest_ropecontract.report.launches import LAUNCH, launch_document, properties

if TYPE_CHECKING:
    from pytest_ropecontract.launchers.launcher import Launcher

MORE = "  more: ropecontract rule launcher-override"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every item for each launcher of the file."""
    launchers = cast("LaunchModule", metafunc.definition.getparent(LaunchModule)).launchers
    metafunc.parametrize("launcher", launchers, ids=[one.id for one in launchers])


def test_launch(launcher: Launcher, request: pytest.FixtureRequest) -> None:
    """What is launched is what the definition that the launcher names builds."""
    expectations = request.config.stash.get(EXPECTATIONS, {})
    inspection = launchers_of(request.config).inspect(launcher, expectations)
    document = launch_document(request.config, inspection)
    request.node.stash[LAUNCH] = document
    request.node.user_properties.extend(properties(document))
    failed = [one for one in inspection.findings if one.status == "fail"]
    error = document["launcher"]["error"]
    if error is not None:
        text = "\n\n".join([f"{error}\n{MORE}", *(one.text() for one in failed)])
        pytest.fail(paths.printable(text), pytrace=False)
    if failed:
        raise ContractFailed(failed)
    allowed = [one for one in inspection.findings if one.status == "allowed"]
    if allowed:
        pytest.xfail(allowed_reason(allowed))
