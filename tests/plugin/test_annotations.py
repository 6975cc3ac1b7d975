"""Failures as a CI service reads them: workflow commands, and properties in a JUnit file."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest
from plugin_project import PLAIN, YARN, Project

ANNOTATE = "--rope-contract-annotate=github"
COMMAND = re.compile(r"::error (?P<properties>[^:]*)::(?P<message>.*)")


def unescaped(text: str) -> str:
    """Undo what the runner of GitHub Actions undoes, in its order."""
    for code, character in (
        ("%0D", "\r"),
        ("%0A", "\n"),
        ("%3A", ":"),
        ("%2C", ","),
        ("%25", "%"),
    ):
        text = text.replace(code, character)
    return text


def annotations(out: str) -> list[dict[str, str]]:
    """Read the workflow commands of an output as the runner does: at the start of a line."""
    found = []
    for line in out.splitlines():
        if match := COMMAND.fullmatch(line):
            pairs = (one.split("=", 1) for one in match["properties"].split(","))
            properties = {name: unescaped(value) for name, value in pairs}
            found.append({**properties, "message": unescaped(match["message"])})
    return found


@pytest.fixture(autouse=True)
def _no_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")


@pytest.fixture
def failing(project: Project) -> Project:
    """Give a project with a flag that is wrong in line 3, and one that no line has."""
    project.script("wrong", f"flags = {PLAIN.replace('--rotary-base 10000', '')!r}.split()",
                   'return [*flags, "--rotary-base", "20000"]')  # fmt: skip
    project.model("fine")
    project.test('@rope_expect(rotary_base=10000, models=["*"])\ndef test_it(): pass')
    return project


def test_nothing_is_printed_unless_asked_for(failing: Project) -> None:
    """Neither is it on the machines of GitHub, where a project may have its own annotations."""
    assert "::error" not in failing.run().out
    assert "::error" not in failing.run("--rope-contract-annotate=none").out


def test_flag_is_shown_at_its_line(failing: Project) -> None:
    (found,) = annotations(failing.run(ANNOTATE).out)

    assert found["file"] == "scripts/models/wrong.py"
    assert found["line"] == "3"
    assert found["title"] == "expectation: wrong"
    first, *more = found["message"].splitlines()
    assert first.startswith("rotary_base is 20000 (declared: --rotary-base 20000), expected 10000")
    assert [line.split(":")[0] for line in more] == ["size", "remedy"]


def test_missing_flag_is_shown_where_the_definition_begins(project: Project) -> None:
    project.write("scripts/models/silent.py", f"X = 1\n\n\ndef model_args():\n    return {YARN!r}")
    project.write("scripts/models/array.sh", f"#!/bin/bash\n\nMODEL_ARGS=(\n{YARN}\n)\n")
    project.test("@rope_expect(beta_fast=1, models=['*'])\ndef test_it(): pass")

    found = {one["file"]: one["line"] for one in annotations(project.run(ANNOTATE).out)}

    assert found == {"scripts/models/silent.py": "4", "scripts/models/array.sh": "3"}


def test_commented_flag_is_not_the_flag(project: Project) -> None:
    project.script("wrong", '# not "--rotary-base"', f"return {PLAIN!r}", '# "--rotary-base 1"')
    project.test("@rope_expect(rotary_base=1, models=['*'])\ndef test_it(): pass")

    assert [one["line"] for one in annotations(project.run(ANNOTATE).out)] == ["3"]


def test_unusable_definition_is_shown_at_its_own_line(project: Project) -> None:
    project.script("broken", "x = 1", "raise ValueError('100%, no: \\r\\nnothing')")

    (found,) = annotations(project.run(ANNOTATE).out)

    assert (found["file"], found["line"]) == ("scripts/models/broken.py", "3")
    assert found["title"].startswith("broken: model_args() raised ValueError: 100%, no: ")
    assert "\n" not in found["title"]


def test_allowed_findings_are_not_shown(failing: Project) -> None:
    failing.ini(rope_contract_allow=["wrong expectation for now"])

    assert annotations(failing.run(ANNOTATE).out) == []


def test_marks_of_a_run_of_the_tests_alone(failing: Project) -> None:
    """What they find is annotated at the definition, whose own items are not in the run."""
    whole = annotations(failing.run(ANNOTATE).out)

    assert annotations(failing.run(ANNOTATE, "tests").out) == whole
    assert annotations(failing.run(ANNOTATE, "tests", "-n2").out) == whole


def test_allowance_that_allows_nothing_is_shown_in_the_ini_file(project: Project) -> None:
    project.model("fine")
    project.ini(rope_contract_allow=['fine  inert-flag "for now"'])

    (found,) = annotations(project.run(ANNOTATE).out)

    lines = (project.root / "pyproject.toml").read_text().splitlines()
    assert found["file"] == "pyproject.toml"
    assert "fine  inert-flag" in lines[int(found["line"]) - 1]
    assert found["title"] == (
        "rope_contract_allow: 'fine inert-flag \"for now\"' allows nothing any more"
    )
    assert "remedy: remove the line from rope_contract_allow" in found["message"]


@pytest.fixture
def launching(project: Project) -> Project:
    """Give a project with two launchers that change a flag, and one that cannot be recorded."""
    project.model("fine")
    command = ["python3", "train.py", *PLAIN.split(), "--rotary-base", "20000"]
    project.write("scripts/run-it.sh", f"#!/bin/bash\n\n{' '.join(command)}\n")
    project.write(
        "scripts/run_it.py",
        "import subprocess\n\n\n"
        f"COMMAND = {command[:-2]!r}\nBASE = '20000'\n\n\n"
        "def execute():\n    subprocess.run([*COMMAND, '--rotary' + '-base', BASE])\n\n\n"
        "def broken():\n    raise ValueError\n",
    )
    project.ini(
        rope_contract_launchers=[
            "scripts/run-it.sh = fine",
            "scripts/run_it.py::execute = fine",
            "scripts/run_it.py::broken = fine",
        ]
    )
    return project


def test_launcher_is_shown_at_the_flag_or_where_its_function_begins(launching: Project) -> None:
    found = annotations(launching.run_with_all(ANNOTATE, "-k", "test_launch").out)

    places = {
        (one["file"], one["line"]) for one in found if one["title"].startswith("launcher-override")
    }
    assert places == {("scripts/run-it.sh", "3"), ("scripts/run_it.py", "4")}
    titles = {one["title"] for one in found}
    assert "launcher-override: scripts/run_it.py::execute" in titles
    (broken,) = (one for one in found if "broken" in one["title"])
    assert (broken["file"], broken["line"]) == ("scripts/run_it.py", "12")
    assert all(one["message"].startswith("fine: ") for one in found if one != broken)


def test_launcher_without_the_flag_is_shown_where_it_begins(project: Project) -> None:
    project.model("fine")
    flags = PLAIN.replace("--rotary-base 10000", "--rotary-$NAME 20000")
    project.write("scripts/run.sh", f"#!/bin/bash\nNAME=base\npython3 train.py {flags}\n")
    project.ini(rope_contract_launchers=["scripts/run.sh = fine"])

    (found,) = annotations(project.run_with_all(ANNOTATE, "-k", "test_launch").out)

    assert found["title"] == "launcher-override: scripts/run.sh"
    assert (found["file"], found["line"]) == ("scripts/run.sh", "1")


def test_model_without_a_file_is_shown_nowhere(project: Project) -> None:
    argv = PLAIN.replace("10000", "1e6").split()
    project.conftest(f"def pytest_ropecontract_models(registry): registry.add('tiny', {argv})\n")

    run = project.run(ANNOTATE)

    assert run.outcomes["pyproject.toml::test_declared[tiny]"] == "failed"
    assert annotations(run.out) == []


def test_definition_that_lies_elsewhere_is_shown_by_its_name(project: Project) -> None:
    away = project.root.parent / f"{project.root.name}-away"
    away.mkdir()
    (away / "plain.txt").write_text(f"--swiglu\n{PLAIN.replace('10000', '1e6')}")
    (project.root / "scripts/models/plain.txt").symlink_to(away / "plain.txt")
    project.ini(rope_contract_models=["scripts/models/*.txt"])

    (found,) = annotations(project.run(ANNOTATE).out)

    assert (found["file"], found["line"]) == ("plain.txt", "1")


def test_junit_has_what_launchers_build(launching: Project) -> None:
    launching.run_with_all("--junit-xml=junit.xml", "-k", "test_launch")
    found = properties(launching)

    assert found["test_launch[run-it]"] == {
        "launcher": "scripts/run-it.sh",
        "model": "fine",
        "kind": "rope",
        "base": "20000",
        "rules": "launcher-override repeated-flag",
    }
    assert found["test_launch[broken]"] == {"launcher": "scripts/run_it.py::broken"}


def test_printed_once_by_several_processes(failing: Project) -> None:
    assert annotations(failing.run("-n2", ANNOTATE).out) == annotations(failing.run(ANNOTATE).out)


def test_paths_start_from_the_repository(failing: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pytest's root is a folder of it."""
    (failing.root.parent / ".git").mkdir()
    try:
        (found,) = annotations(failing.run(ANNOTATE).out)
    finally:
        (failing.root.parent / ".git").rmdir()
    assert found["file"] == f"{failing.root.name}/scripts/models/wrong.py"

    monkeypatch.setenv("GITHUB_WORKSPACE", str(failing.root.parents[1]))
    (found,) = annotations(failing.run(ANNOTATE).out)
    assert (
        found["file"] == f"{failing.root.parent.name}/{failing.root.name}/scripts/models/wrong.py"
    )


def test_printed_without_a_terminal_reporter_and_without_a_summary(failing: Project) -> None:
    expected = annotations(failing.run(ANNOTATE).out)

    for args in (("-p", "no:terminal"), ("--no-summary",), ("-qq",)):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "--rope-contract", ANNOTATE, *args, "-k", "expected"],
            check=False,
            capture_output=True,
            text=True,
            cwd=failing.root,
        )
        assert annotations(done.stdout) == expected


def test_unknown_service_is_a_usage_error(failing: Project) -> None:
    run = failing.run("--rope-contract-annotate=gitlab")

    assert run.ret == pytest.ExitCode.USAGE_ERROR
    assert "invalid choice: 'gitlab' (choose from" in run.err


def junit(project: Project, *args: str) -> dict[str, dict[str, str]]:
    """Return the properties of every item by its name, without the prefix of their names."""
    project.run("--junit-xml=junit.xml", *args)
    return properties(project)


def properties(project: Project) -> dict[str, dict[str, str]]:
    found = {}
    for case in ET.parse(project.root / "junit.xml").iter("testcase"):
        values = {one.get("name"): one.get("value") for one in case.iter("property")}
        found[case.get("name")] = {
            name.removeprefix("rope_contract."): value for name, value in values.items()
        }
    return found


@pytest.mark.parametrize("processes", ["-n0", "-n2"])
def test_junit_has_what_is_built_and_the_rules(failing: Project, processes: str) -> None:
    failing.model("stretched", f"{YARN} --rope-scaling-factor 8")
    failing.script("broken", "return None")

    found = junit(failing, processes)

    assert found["test_expected[wrong]"] == {
        "model": "wrong",
        "kind": "rope",
        "base": "20000",
        "rules": "expectation",
    }
    assert found["test_declared[wrong]"] == {"model": "wrong", "kind": "rope", "base": "20000"}
    assert found["test_declared[stretched]"] == {
        "model": "stretched",
        "kind": "yarn",
        "base": "10000",
        "factor": "4",
        "rules": "inert-flag",
    }
    assert found["test_declared[broken]"] == {"model": "broken"}
    assert found["test_it"] == {}
