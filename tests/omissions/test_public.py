"""What is public stays what it is, whatever else of the package is imported."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import pytest_ropecontract


def test_no_module_has_the_name_of_something_public() -> None:
    """Importing it would put it in the place of the other."""
    names = {one.name for one in pkgutil.iter_modules(pytest_ropecontract.__path__)}

    assert not names & set(pytest_ropecontract.__all__)


@pytest.mark.parametrize("first", ["omission.search", "strategies", "project"])
def test_strategy_can_be_imported_after_anything(first: str) -> None:
    code = (
        f"import pytest_ropecontract.{first}\n"
        "from pytest_ropecontract import omissions\n"
        "assert callable(omissions), omissions\n"
        "import pytest_ropecontract.omission.drawing\n"
        "assert pytest_ropecontract.omissions is omissions\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
