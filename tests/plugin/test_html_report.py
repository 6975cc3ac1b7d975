"""The HTML report of a run; the page itself has tests of its own."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from plugin_project import PLAIN, REPORT, YARN, Project

HTML = "--rope-contract-report=report.html"


@pytest.fixture
def two(project: Project) -> Project:
    """Give a project with a model that fails, one that does not, and contracts."""
    project.model("plain", f"{PLAIN} --rope-type rope")
    project.model("stretched", YARN)
    project.test('@rope_expect("yarn", rotary_base=5, models=["stretched"])\ndef test_it(): pass')
    return project


def page(project: Project) -> str:
    return (project.root / "report.html").read_text()


def test_page_and_json_have_the_same_numbers(two: Project) -> None:
    run = two.run(REPORT, HTML)

    (drawn,) = re.findall(r'id="curves">(.*?)</script>', page(two))
    for name in ("plain", "stretched"):
        curves = run.reported(name)["curves"]
        assert curves
        assert json.loads(drawn)[f"model-{name}"]["curves"] == curves


def test_same_page_in_several_processes(two: Project) -> None:
    two.run(HTML)
    alone = page(two)
    (two.root / "report.html").unlink()

    two.run(HTML, "-n2")

    assert page(two) == alone


def test_page_says_nothing_of_the_machine(two: Project) -> None:
    two.script("broken", "raise ValueError(__file__)")
    two.run(HTML)

    assert str(two.root) not in page(two)


def test_page_without_what_the_extra_brings(two: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)

    assert two.run(HTML).usage_error == [
        "ERROR: --rope-contract-report: 'report.html' needs vl_convert, which is not installed",
        "  remedy: pip install 'pytest-ropecontract[report]'",
    ]
    assert not (two.root / "report.html").exists()


def test_json_needs_nothing_of_the_extra(two: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setitem(sys.modules, "jinja2", None)

    assert two.run(REPORT).report["models"]


def test_folder_that_is_not_there(two: Project) -> None:
    assert two.run("--rope-contract-report=none/report.html").usage_error == [
        "ERROR: --rope-contract-report: there is no folder 'none'",
        "  remedy: mkdir -p none",
    ]


def test_folder_in_place_of_the_file(two: Project) -> None:
    (two.root / "report.html").mkdir()

    assert two.run(HTML).usage_error == [
        "ERROR: --rope-contract-report: 'report.html' is a folder",
        "  remedy: name a file",
    ]


def test_page_that_cannot_be_written_keeps_the_old_one(
    two: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    two.write("report.html", "old")

    def refuse(*_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    run = two.run(HTML, "-k", "plain")
    monkeypatch.undo()

    assert page(two) == "old"
    assert "ERROR: --rope-contract-report: report.html cannot be written: Permission denied" in (
        run.outlines
    )
    assert run.ret == pytest.ExitCode.USAGE_ERROR
