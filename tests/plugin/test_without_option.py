"""A run without --rope-contract is a run without the plugin, but for marks and fixtures."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from plugin_project import PLAIN, Project

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("hypothesis", "syrupy", "numpy", "torch", "megatron")


def loaded_by(code: str, folder: Path | None = None) -> list[str]:
    """Return the modules that are loaded after some code ran in a fresh process."""
    code = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=folder
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_no_items(project: Project) -> None:
    project.model("plain")
    project.test("def test_own(): pass")

    assert project.run_without().outcomes == {"tests/test_contracts.py::test_own": "passed"}


def test_no_items_for_a_path_of_a_definition(project: Project) -> None:
    project.model("plain")

    assert project.run_without("scripts/models").counts == {}


def test_no_output(project: Project) -> None:
    project.model("plain")
    project.test("def test_own(): pass")
    with_plugin = project.run_without("-v", "-rA").outlines

    without = project.run_without("-v", "-rA", "-p", "no:ropecontract").outlines

    shown = [line for line in with_plugin if " in " not in line and "plugins:" not in line]
    assert shown == [line for line in without if " in " not in line and "plugins:" not in line]
    assert not any("rope" in line for line in shown if "rootdir" not in line)


def test_no_files(project: Project) -> None:
    project.ini(rope_contract_models=["scripts/models/*.py"])
    project.model("plain")
    project.test("def test_own(): pass")
    before = set(project.root.rglob("*"))

    project.run_without("-p", "no:cacheprovider", "--rope-contract-report=report.json")

    new = {path for path in set(project.root.rglob("*")) - before if "__pycache__" not in str(path)}
    assert new == set()


def test_no_definition_is_expanded(project: Project) -> None:
    project.script("plain", "open('expanded', 'w')", f"return {PLAIN!r}")
    project.test("def test_own(): pass")

    project.run_without()

    assert not (project.root / "expanded").exists()


def test_a_bad_setting_is_no_error(project: Project) -> None:
    project.ini(rope_contract_unknown="perhaps", rope_contract_defaults=["nowhere:nothing"])
    project.test("def test_own(): pass")

    assert project.run_without().counts == {"passed": 1}


def test_importing_the_plugin_loads_nothing_heavy() -> None:
    before = set(loaded_by("import pytest"))

    new = set(loaded_by("import pytest, pytest_ropecontract.plugin")) - before

    assert not {name for name in new if name.split(".")[0] in HEAVY}
    layers = {name.split(".")[1] for name in new if name.startswith("pytest_ropecontract.")}
    assert layers <= {"plugin", "options", "runs", "fixtures", "errors", "snapshots"}


def test_run_without_option_loads_no_layer_below(project: Project) -> None:
    project.model("plain")
    project.test("def test_own(): pass")

    new = loaded_by("import pytest\nassert pytest.main(['-q']) == 0", project.root)

    for package in ("megatron", "definitions", "rope", "contracts", "report", "session"):
        assert not any(name.startswith(f"pytest_ropecontract.{package}") for name in new), package
    assert "pytest_ropecontract.plugin" in new


def test_run_that_uses_nothing_loads_only_what_declares(project: Project) -> None:
    (project.root / "tests/test_own.py").write_text("def test_own(): pass")

    new = loaded_by("import pytest\nassert pytest.main(['-q']) == 0", project.root)

    assert {name.split(".")[1] for name in new if name.startswith("pytest_ropecontract.")} == {
        *("plugin", "options", "runs", "hookspecs", "fixtures", "errors", "snapshots"),
    }


def test_importing_the_package_loads_nothing_of_it() -> None:
    new = loaded_by("import pytest_ropecontract")

    assert [name for name in new if "ropecontract" in name and "editable" not in name] == [
        "pytest_ropecontract"
    ]


def test_mark_is_asserted(project: Project) -> None:
    project.model("plain")
    project.test('@rope_expect("rope", rotary_base=5, models=["plain"])\ndef test_plain(): pass')

    run = project.run_without()

    assert run.line("tests/test_contracts.py::test_plain") == (
        "expectation: plain: rotary_base is 10000 (declared: --rotary-base 10000), "
        'expected 5 by rope_expect("rope", rotary_base=5)'
    )


def test_fixtures_work(project: Project) -> None:
    project.model("plain")
    project.test(
        "def test_plain(rope_config, rope_resolve, rope_expand, rope_models):\n"
        "    assert rope_config.rotary_base == 10000\n"
        "    assert rope_resolve('plain').rope == rope_config\n"
        "    assert rope_expand('plain')[0] == '--num-layers'\n"
        "    assert list(rope_models) == ['plain']\n"
    )

    assert project.run_without().outcomes == {
        "tests/test_contracts.py::test_plain[plain]": "passed"
    }


def test_bad_setting_is_the_failure_of_the_test_that_needs_it(project: Project) -> None:
    project.ini(rope_contract_unknown="perhaps")
    project.model("plain")
    project.test("def test_own(): pass\ndef test_models(rope_models): pass")

    run = project.run_without()

    assert run.outcomes == {
        "tests/test_contracts.py::test_own": "passed",
        "tests/test_contracts.py::test_models": "setup failed",
    }
    assert run.line("tests/test_contracts.py::test_models") == (
        "rope_contract_unknown: 'perhaps' is neither reject nor drop"
    )


def test_help_shows_the_options_and_keys(project: Project) -> None:
    out = project.run_without("--help").out

    for name in (
        *("--rope-contract ", "--rope-contract-surface=NAME", "--rope-contract-strict"),
        *("--rope-contract-report=FILE", "rope_contract_models (", "rope_contract_pythonpath ("),
        *("rope_contract_arguments (", "rope_contract_defaults (", "rope_contract_stubs ("),
        *("rope_contract_base_args (", "rope_contract_pins (", "rope_contract_allow ("),
        *("rope_contract_surface (", "rope_contract_parser (", "rope_contract_rotary ("),
        *("rope_contract_unknown (", "rope_contract_strict (", "rope_contract_time_limit ("),
    ):
        assert name in out, name


def test_marks_and_fixtures_are_listed(project: Project) -> None:
    marks = project.run_without("--markers").out
    fixtures = project.run_without("--fixtures").out

    assert "@pytest.mark.rope_expect(kind, original_max_position_embeddings," in marks
    assert "@pytest.mark.rope_contract: " in marks
    for name in ("rope_models", "rope_model", "rope_expand", "rope_resolve"):
        assert f"\n{name} [session scope] -- " in fixtures
    assert "\nrope_config -- " in fixtures
