"""What a run without paths looks at for the sake of definitions, and what it does not."""

from __future__ import annotations

import pytest
from plugin_project import PLAIN, Project

HOLDS_A_TEST = "def test_of_something_else(): pass\n"


def files(project: Project, *args: str) -> set[str]:
    """Return the files of which items are collected."""
    run = project.run("--collect-only", "-q", *args)
    return {line.partition("::")[0] for line in run.outlines if "::" in line}


def models(*names: str) -> set[str]:
    return {f"scripts/models/{name}.py" for name in names}


def test_folder_of_definitions_is_listed_once(project: Project) -> None:
    for number in range(20):
        project.model(f"m{number}")
    project.conftest("def pytest_collect_file(file_path): print('SEEN', file_path.name)")

    run = project.run("--collect-only", "-q", "-s")

    seen = [line for line in run.outlines if line.startswith("SEEN m")]
    assert len(seen) == len(set(seen)) == 20


def test_tests_beside_definitions_are_not_collected_for_their_sake(project: Project) -> None:
    project.model("plain")
    project.write("scripts/models/test_other.py", HOLDS_A_TEST)
    project.write("scripts/models/more/test_other.py", HOLDS_A_TEST)
    project.ini(rope_contract_models=["scripts/models/p*.py"])

    assert files(project) == models("plain")


def test_tests_beside_definitions_are_collected_where_pytest_looks_for_them(
    project: Project,
) -> None:
    project.model("plain")
    project.write("scripts/models/test_other.py", HOLDS_A_TEST)
    project.ini(rope_contract_models=["scripts/models/p*.py"], testpaths=["scripts"])

    assert files(project) == {*models("plain"), "scripts/models/test_other.py"}


@pytest.mark.parametrize("testpaths", [None, ["tests"]], ids=["anywhere", "tests"])
def test_definitions_in_a_folder_without_tests_are_collected(
    project: Project, testpaths: list[str] | None
) -> None:
    project.ini(
        rope_contract_models=["scripts/models/**/*.py"],
        norecursedirs=["scripts", "small"],
        testpaths=testpaths,
    )
    project.model("plain")
    project.model("small/tiny")
    for folder in ("scripts", "scripts/other", "scripts/models/other", "scripts/models/small/more"):
        project.write(f"{folder}/test_other.py", HOLDS_A_TEST)
    project.write("tests/test_own.py", HOLDS_A_TEST)
    project.ini(rope_contract_models=["scripts/models/p*.py", "scripts/models/small/*.py"])

    assert files(project) == {*models("plain", "small/tiny"), "tests/test_own.py"}


@pytest.mark.parametrize("testpaths", [None, ["tests"]], ids=["anywhere", "tests"])
def test_what_a_conftest_ignores_as_tests_is_collected_as_definitions(
    project: Project, testpaths: list[str] | None
) -> None:
    project.ini(testpaths=testpaths)
    project.model("plain")
    project.conftest("collect_ignore_glob = ['scripts/*']")

    assert files(project) == models("plain")


@pytest.mark.parametrize("testpaths", [None, ["tests"]], ids=["anywhere", "tests"])
@pytest.mark.parametrize(
    ("option", "left"),
    [
        ("--ignore=scripts/models/other.py", ["plain", "small/tiny"]),
        ("--ignore=scripts/models/small", ["plain", "other"]),
        ("--ignore=scripts", []),
        ("--ignore-glob=*/o*.py", ["plain", "small/tiny"]),
        ("--ignore-glob=scripts/*", []),
    ],
)
def test_what_the_command_line_ignores_is_not_collected(
    project: Project, option: str, left: list[str], testpaths: list[str] | None
) -> None:
    project.ini(rope_contract_models=["scripts/models/**/*.py"], testpaths=testpaths)
    for name in ("plain", "other", "small/tiny"):
        project.model(name)

    assert files(project, option) == models(*left)


def test_definitions_beside_the_tests_are_collected(project: Project) -> None:
    project.ini(rope_contract_models=["*.txt"])
    project.write("tiny.txt", PLAIN)
    project.write("other.txt", PLAIN)
    project.write("test_at_the_root.py", HOLDS_A_TEST)

    assert files(project) == {"tiny.txt", "other.txt"}


def test_processes_collect_the_same(project: Project) -> None:
    project.ini(norecursedirs=["models"])
    project.model("plain")
    project.write("scripts/models/test_other.py", HOLDS_A_TEST)
    project.ini(rope_contract_models=["scripts/models/p*.py"])

    run = project.run_apart("-p", "xdist", "-n2")

    assert run.result.parseoutcomes() == {"passed": 1, "skipped": 1}
