"""The launchers that settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.launchers.launcher import discover

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("run-a.sh", "run-b.sh", "run_c.py"):
        (tmp_path / name).touch()
    return tmp_path


def shown(root: Path, *lines: str) -> list[tuple[str, str, str | None]]:
    return [(one.shown(root), one.id, one.model) for one in discover(root, lines)]


def test_a_glob_names_files_each_once(root: Path) -> None:
    assert shown(root, "run-*.sh", "run-a.sh") == [
        ("run-a.sh", "run-a", None),
        ("run-b.sh", "run-b", None),
    ]


def test_functions_of_a_script_are_launchers_of_their_own(root: Path) -> None:
    assert shown(root, "run_*.py::execute", "run_c.py::prepare=x", "run_c.py") == [
        ("run_c.py", "run_c", None),
        ("run_c.py::execute", "execute", None),
        ("run_c.py::prepare", "prepare", "x"),
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_a_line_with_a_model_counts_before_one_without(root: Path, order: int) -> None:
    lines = ["run-*.sh", "run-a.sh = kimi-k2.5"][::order]

    assert shown(root, *lines)[0] == ("run-a.sh", "run-a", "kimi-k2.5")


@pytest.mark.parametrize(
    ("lines", "headline"),
    [
        (["nothing"], "'nothing' matches no file"),
        (["= a"], "'= a' names no launcher"),
        (["/*.sh"], "'/*.sh' is no glob: Non-relative patterns are unsupported"),
        (["run-a.sh::f"], "run-a.sh::f: only a Python script has functions"),
        (["run-*.sh = a", "run-a.sh = b"], "run-a.sh launches 'a' and 'b'"),
    ],
)
def test_a_line_that_cannot_be_used_is_one_clear_error(
    root: Path, lines: list[str], headline: str
) -> None:
    with pytest.raises(RopeContractError) as caught:
        discover(root, lines)

    assert caught.value.headline == headline
    assert caught.value.remedy
