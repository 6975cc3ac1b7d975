"""The items that are added for the definitions, and how they are selected."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from plugin_project import MLA, PLAIN, YARN, Project

from pytest_ropecontract import project as projects
from pytest_ropecontract.definitions import Registry

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = "scripts/models/plain.py::test_declared[plain]"
EXPECTED = "scripts/models/plain.py::test_expected[plain]"


def items(project: Project, *args: str) -> list[str]:
    run = project.run("--collect-only", "-q", *args)
    return [line for line in run.outlines if "::" in line]


@pytest.fixture
def two(project: Project) -> Project:
    """Give a project with two definitions and a contract test."""
    project.model("plain")
    project.model("stretched", YARN)
    project.test('@rope_expect("rope", models=["plain"])\ndef test_plain(): pass')
    return project


def test_definition_is_expanded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where what it resolves to is not kept any longer."""
    monkeypatch.setattr(projects, "KEPT", 1)
    registry, calls = Registry(tmp_path), []
    for name in ("one", "other"):
        registry.add(name, lambda name=name: calls.append(name) or PLAIN)
    whole = projects.Project(projects.Settings(tmp_path), registry)

    first, _, again = [whole.examine(name) for name in ("one", "other", "one")]

    assert first is not again
    assert first == again
    assert calls == ["one", "other"]


def test_a_family_is_expanded_once_for_the_omissions_of_all_its_models(tmp_path: Path) -> None:
    registry, calls = Registry(tmp_path), []

    def broken() -> str:
        calls.append("kimi-broken")
        raise ValueError

    for name in ("kimi-one", "kimi-other", "glm"):
        registry.add(name, lambda name=name: calls.append(name) or PLAIN)
    registry.add("kimi-broken", broken)
    whole = projects.Project(projects.Settings(tmp_path, "0.19.2"), registry)

    searches = [whole.search_omissions(name, [], 0, None) for name in ("kimi-one", "kimi-other")]

    assert None not in searches
    assert sorted(calls) == ["kimi-broken", "kimi-one", "kimi-other"]


def test_items_are_under_the_definitions_file(project: Project) -> None:
    project.model("kimi-k2")

    assert items(project) == [
        "scripts/models/kimi-k2.py::test_declared[kimi-k2]",
        "scripts/models/kimi-k2.py::test_expected[kimi-k2]",
    ]


def test_shell_arrays_and_argv_files_have_items(project: Project) -> None:
    project.ini(rope_contract_models=["scripts/models/*.sh", "scripts/models/*.txt"])
    project.write("scripts/models/a.sh", f"MODEL_ARGS=({PLAIN})")
    project.write("scripts/models/b.txt", PLAIN)

    assert project.run().outcomes == {
        "scripts/models/a.sh::test_declared[a]": "passed",
        "scripts/models/a.sh::test_expected[a]": "skipped",
        "scripts/models/b.txt::test_declared[b]": "passed",
        "scripts/models/b.txt::test_expected[b]": "skipped",
    }


def test_registered_function_has_items_under_its_own_file(project: Project) -> None:
    project.conftest(
        f"def tiny(): return {PLAIN!r}\n"
        "@pytest.hookimpl(optionalhook=True)\n"
        "def pytest_ropecontract_models(registry): registry.add('tiny', tiny)"
    )

    assert project.run().outcomes == {
        "conftest.py::test_declared[tiny]": "passed",
        "conftest.py::test_expected[tiny]": "skipped",
    }


def test_registered_tokens_have_items_under_the_ini_file(project: Project) -> None:
    project.conftest(
        f"def pytest_ropecontract_models(registry): registry.add('tiny', {PLAIN.split()!r})"
    )

    assert project.run("-k", "declared").outcomes == {
        "pyproject.toml::test_declared[tiny]": "passed"
    }


def test_variant_has_items_beside_the_original(project: Project) -> None:
    project.script("plain", f'return {PLAIN!r} + f\' --rope-type {{overrides.get("t", "rope")}}\'')
    project.conftest(
        "def pytest_ropecontract_models(registry): registry.variant('other', 'plain', t='rope')"
    )

    assert items(project, "-k", "declared") == [
        "scripts/models/plain.py::test_declared[other]",
        DECLARED,
    ]


def test_models_without_a_file_need_one_to_be_shown_under(project: Project) -> None:
    (project.root / "pyproject.toml").unlink()
    project.write(
        "tests/conftest.py",
        f"def pytest_ropecontract_models(registry): registry.add('tiny', {PLAIN!r})",
    )

    assert project.run("--rootdir=.", "tests").usage_error == [
        "ERROR: rope-contract: there is no file under which the tests of 'tiny' can be shown",
        "  remedy: add an ini file, or a conftest.py, to the project's root",
    ]


def test_module_of_a_registered_function_is_not_imported_as_a_test_module(
    project: Project,
) -> None:
    project.ini(pythonpath=["."])
    project.write("lib.py", f"def tiny(): return {PLAIN!r}\ndef test_no(): raise ValueError")
    project.conftest(
        "import lib\ndef pytest_ropecontract_models(registry): registry.add('tiny', lib.tiny)"
    )

    assert items(project) == ["lib.py::test_declared[tiny]", "lib.py::test_expected[tiny]"]


def test_test_module_that_holds_a_registered_function_keeps_its_tests(project: Project) -> None:
    project.ini(pythonpath=["tests"])
    project.test(f"def tiny(): return {PLAIN!r}\ndef test_own(): pass", name="test_tiny")
    project.conftest(
        "def pytest_ropecontract_models(registry):\n"
        "    import test_tiny\n    registry.add('tiny', test_tiny.tiny)"
    )

    assert sorted(items(project)) == [
        "tests/test_tiny.py::test_declared[tiny]",
        "tests/test_tiny.py::test_expected[tiny]",
        "tests/test_tiny.py::test_own",
    ]


def test_path_selects_a_definition(two: Project) -> None:
    assert two.run("scripts/models/plain.py").outcomes == {
        DECLARED: "passed",
        EXPECTED: "passed",
    }


def test_folder_selects_its_definitions(two: Project) -> None:
    assert len(items(two, "scripts")) == 4


def test_node_id_selects_an_item(two: Project) -> None:
    assert two.run(DECLARED).outcomes == {DECLARED: "passed"}


def test_node_id_selects_an_item_of_a_shell_array(project: Project) -> None:
    project.write("scripts/models/a.sh", f"MODEL_ARGS=({PLAIN})")

    assert items(project, "scripts/models/a.sh::test_declared[a]") == [
        "scripts/models/a.sh::test_declared[a]"
    ]


def test_keyword_selects_items(two: Project) -> None:
    assert items(two, "-k", "stretched and declared") == [
        "scripts/models/stretched.py::test_declared[stretched]"
    ]


def test_mark_rope_contract_selects_the_added_items(two: Project) -> None:
    selected = items(two, "-m", "rope_contract")

    assert len(selected) == 4
    assert not any(item.startswith("tests/") for item in selected)


def test_mark_rope_expect_selects_the_contract_tests(two: Project) -> None:
    assert items(two, "-m", "rope_expect") == ["tests/test_contracts.py::test_plain"]


def test_last_failed_runs_what_failed(two: Project) -> None:
    two.model("silent", MLA + " --rope-type yarn --rotary-scaling-factor 2 --rope-scaling-factor 3")
    first = two.run()
    failed = {item for item, outcome in first.outcomes.items() if outcome == "failed"}
    assert failed == {"scripts/models/silent.py::test_declared[silent]"}

    assert set(two.run("--lf").outcomes) == failed


def test_last_failed_does_not_forget_a_broken_contract(project: Project) -> None:
    project.model("plain")
    project.test('@rope_expect("rope", rotary_base=5, models=["plain"])\ndef test_plain(): pass')
    project.run("-m", "rope_contract")

    again = project.run("--lf", "-m", "rope_contract")

    assert again.outcomes == {EXPECTED: "failed"}
    assert again.line(EXPECTED).startswith("expectation: plain: rotary_base is 10000")


def test_stepwise_stops_at_the_first_failure_and_goes_on_there(project: Project) -> None:
    project.script("a", "raise ValueError('no')")
    project.model("plain")
    failing = "scripts/models/a.py::test_declared[a]"

    assert project.run("--sw").outcomes == {failing: "failed"}

    project.model("a")
    assert len(project.run("--sw").outcomes) == 4


def test_same_outcomes_in_two_processes(two: Project) -> None:
    two.script("broken", "raise ValueError('no')")
    alone = two.run()

    shared = two.run("-n2", "-v")

    assert alone.outcomes == {
        **dict.fromkeys(shared.outcomes, ""),
        **shared.outcomes,
    }
    assert shared.counts == {"passed": 4, "failed": 1, "skipped": 2}


def test_any_order_gives_the_same_outcomes(two: Project) -> None:
    ordered = two.run()

    orders = set()
    for seed in "1234":
        shuffled = two.run_shuffled(seed)
        assert shuffled.outcomes == ordered.outcomes
        orders.add(tuple(shuffled.outcomes))
    assert len(orders) > 1


def test_junit_names_the_definition(two: Project) -> None:
    two.run("--junitxml=junit.xml", "scripts/models/plain.py")

    cases = ET.parse(two.root / "junit.xml").getroot().iter("testcase")
    assert [(case.get("classname"), case.get("name")) for case in cases] == [
        ("scripts.models.plain", "test_declared[plain]"),
        ("scripts.models.plain", "test_expected[plain]"),
    ]


def test_junit_and_verbose_output_name_no_file_of_the_plugin(two: Project) -> None:
    run = two.run("-vv", "-rs", "--junitxml=junit.xml", "-o", "junit_family=xunit1")

    assert "suite" not in run.out
    assert "suite/definition" not in (two.root / "junit.xml").read_text()
    assert "SKIPPED [1] scripts/models/stretched.py:1: no rope_expect mark" in run.out


def test_definitions_are_added_once_where_no_path_is_given(two: Project) -> None:
    for testpaths in (["tests"], ["tests", "scripts"], ["."], None):
        two.ini(testpaths=testpaths)
        found = items(two)
        assert len(found) == len(set(found)) == 5, testpaths


def test_definitions_under_a_given_path_are_not_added_again(two: Project) -> None:
    for path in (".", str(two.root), "scripts tests"):
        found = items(two, *path.split())
        assert len(found) == len(set(found)) == 5, path


def test_another_path_adds_no_definition(two: Project) -> None:
    run = two.run("tests")

    assert run.outcomes == {"tests/test_contracts.py::test_plain": "passed"}
    assert run.summary == []


def test_run_from_a_subfolder_adds_the_definitions(
    two: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(two.root / "tests")

    assert len(two.run().outcomes) == 5


def test_definition_is_never_imported_as_a_test_module(project: Project) -> None:
    project.ini(python_files=["*.py"])
    project.write(
        "scripts/models/plain.py",
        "if __name__ == 'plain': raise ValueError('imported')\n"
        f"def model_args(): return {PLAIN!r}\n"
        "def test_of_the_script(): raise ValueError\n",
    )

    for path in ((), (".",), ("scripts/models/plain.py",)):
        assert items(project, *path) == [DECLARED, EXPECTED]


def test_definition_is_not_searched_for_doctests(project: Project) -> None:
    project.ini(rope_contract_models=["scripts/models/*"])
    project.model("plain")
    project.write("scripts/models/text.txt", PLAIN + "\n# >>> 1 / 0\n")

    found = items(project, "--doctest-modules", "--doctest-glob=*.txt")
    assert len(found) == len(set(found)) == 4


def test_project_below_the_working_directory_uses_its_own_settings(project: Project) -> None:
    (project.root / "pyproject.toml").rename(project.root / "scripts" / "pyproject.toml")
    project.write("scripts/scripts/models/inner.py", f"def model_args(): return {PLAIN!r}")
    project.model("outer")

    assert items(project, "scripts") == [
        "scripts/models/inner.py::test_declared[inner]",
        "scripts/models/inner.py::test_expected[inner]",
    ]


def test_projects_below_one_root(project: Project) -> None:
    project.ini(rope_contract_models=["projects/*/models/*.py"])
    for name in ("one", "two"):
        project.write(f"projects/{name}/models/{name}.py", f"def model_args(): return {PLAIN!r}")

    assert items(project, "-k", "declared") == [
        "projects/one/models/one.py::test_declared[one]",
        "projects/two/models/two.py::test_declared[two]",
    ]


def test_definition_outside_the_root_is_shown_under_the_ini_file(project: Project) -> None:
    outside = project.root.parent / f"{project.root.name}-outside"
    outside.mkdir()
    (outside / "far.py").write_text(f"def model_args(): return {PLAIN!r}")
    project.ini(rope_contract_models=[f"../{outside.name}/*.py"])

    assert project.run("-k", "declared").outcomes == {
        "pyproject.toml::test_declared[far]": "passed"
    }


def test_package_of_definitions_is_not_imported(project: Project) -> None:
    project.model("plain")
    project.write("scripts/models/__init__.py", "raise ValueError('imported')")

    assert project.run("-k", "declared").outcomes[DECLARED] == "passed"
