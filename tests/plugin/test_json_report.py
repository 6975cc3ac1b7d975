"""The JSON report of a run."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from plugin_project import MLA, PLAIN, REPORT, YARN, Project

from pytest_ropecontract import RopeConfig
from pytest_ropecontract.contracts.findings import RULES
from pytest_ropecontract.rope.effect import compare
from pytest_ropecontract.rope.frequencies import inverse_frequencies
from pytest_ropecontract.rope.resolution import ORIGINS

FILL = "def fill(args):\n    if args.rope_type is None: args.rope_type = 'yarn'\n"
PATH = re.compile(r"(?<![\w.<>~-])/[\w.+-]+/")


@pytest.fixture
def mixed(project: Project) -> Project:
    """Give a project with models of every verdict, and contracts."""
    project.ini(
        rope_contract_pythonpath=["."],
        rope_contract_defaults=["fill:fill"],
        rope_contract_allow=["allowed implicit-yarn because"],
    )
    project.write("fill.py", FILL + "def explode(args): raise OSError(__file__)\n")
    project.model("plain", f"{PLAIN} --rope-type rope")
    project.model("noted", PLAIN.replace(" --rotary-percent 1.0", " --rope-type rope"))
    project.model("allowed", MLA)
    project.model("silent", MLA)
    project.model("stretched", YARN)
    project.model("rejected", f"{PLAIN} --rope-type rope --rotary-base 1e6")
    project.script("broken", "raise ValueError(__file__)")
    project.write("scripts/models/shell.sh", 'echo "in $PWD"; exit 3')
    project.test('@rope_expect("yarn", rotary_base=5, models=["stretched"])\ndef test_it(): pass')
    return project


def test_top_level(mixed: Project) -> None:
    report = mixed.run(REPORT).report

    assert list(report) == ["schema", "plugin", "surface", "models", "launchers"]
    assert report["schema"] == 1
    assert report["plugin"] == metadata.version("pytest-ropecontract")
    assert report["surface"] == {
        "name": "megatron-core-0.19.2",
        "version": "0.19.2",
        "mode": "recorded",
    }


def test_models_are_sorted_by_name(mixed: Project) -> None:
    names = [model["name"] for model in mixed.run(REPORT).report["models"]]

    assert names == [
        *("allowed", "broken", "noted", "plain", "rejected", "shell", "silent", "stretched")
    ]


def test_every_model_has_every_key(mixed: Project) -> None:
    fields = [field.name for field in dataclasses.fields(RopeConfig)]

    for model in mixed.run(REPORT).report["models"]:
        assert list(model) == [
            *("name", "path", "argv", "rope", "origins", "sources", "curves", "findings"),
            *("omissions", "snapshot", "error", "contracts", "contracts_not_run"),
        ]
        assert model["rope"] is None or list(model["rope"]) == fields
        assert set(model["origins"]) <= set(fields)
        assert set(model["origins"].values()) <= set(ORIGINS)
        assert list(model["sources"]) == list(model["origins"])
        for finding in model["findings"]:
            keys = ["rule", "field", "expected", "actual", "origin", "message", "status"]
            keys += ["effect", "flag", "source", "details", "reason", "remedy"]
            assert list(finding) == keys
            assert finding["rule"] in RULES
            assert finding["status"] in ("fail", "note", "allowed")


def test_model_with_its_values(mixed: Project) -> None:
    model = mixed.run(REPORT).reported("stretched")

    assert model["path"] == "scripts/models/stretched.py"
    assert model["argv"] == YARN.split()
    assert model["rope"]["kind"] == "yarn"
    assert model["rope"]["rotary_scaling_factor"] == 4
    assert model["rope"]["returns"] == 2
    assert model["origins"]["rotary_scaling_factor"] == "declared"
    assert model["origins"]["beta_fast"] == "config-default"
    assert model["error"] is None


def test_failed_expectation(mixed: Project) -> None:
    findings = mixed.run(REPORT).reported("stretched")["findings"]

    (failed,) = [finding for finding in findings if finding["status"] == "fail"]
    failed.pop("effect", None)
    assert failed == {
        "rule": "expectation",
        "field": "rotary_base",
        "expected": 5,
        "actual": 10000,
        "origin": "declared",
        "message": "rotary_base is 10000 (declared: --rotary-base 10000), "
        'expected 5 by rope_expect("yarn", rotary_base=5)',
        "status": "fail",
        "flag": "--rotary-base 10000",
        "source": "--rotary-base 10000",
        "details": [],
        "reason": None,
        "remedy": "declare --rotary-base 5 in the definition, or correct the expectation in "
        "tests/test_contracts.py::test_it",
    }


def test_way_of_every_value(mixed: Project) -> None:
    sources = mixed.run(REPORT).reported("stretched")["sources"]

    assert sources["mscale"] == {
        "flag": "--mscale",
        "dest": "mscale",
        "attribute": "mscale",
        "argument": "mscale",
        "text": "--mscale 1.0",
    }
    assert sources["round_to_int"] == {
        "flag": None,
        "dest": None,
        "attribute": None,
        "argument": "correction_range_round_to_int",
        "text": "YarnRotaryEmbedding.correction_range_round_to_int",
    }


def test_curves_are_those_of_what_is_built_and_of_what_is_expected(mixed: Project) -> None:
    model = mixed.run(REPORT).reported("stretched")

    built = RopeConfig(**model["rope"])
    expected = dataclasses.replace(built, rotary_base=5)
    resolved, mark = model["curves"]
    assert resolved["of"] == "resolved"
    assert (mark["of"], mark["name"]) == ("expected", 'rope_expect("yarn", rotary_base=5)')
    for one, rope in ((resolved, built), (mark, expected)):
        turns = [2 * math.pi / frequency for frequency in inverse_frequencies(rope)]
        assert one["wavelengths"] == turns
    assert mark["differing"] == [1, 2, 3]
    assert mark["effect"] == compare(built, expected).text


def test_curve_of_a_checkpoint(project: Project) -> None:
    project.model("plain", f"{PLAIN} --rope-type rope")
    project.write("tests/checkpoints/plain.json", '{"rope_theta": 500, "head_dim": 16}')

    run = project.run_with_all(REPORT, "-k", "checkpoint")

    published = dataclasses.replace(RopeConfig(**run.reported("plain")["rope"]), rotary_base=500)
    _, curve = run.reported("plain")["curves"]
    assert (curve["of"], curve["name"]) == ("checkpoint", "tests/checkpoints/plain.json")
    assert curve["wavelengths"] == [2 * math.pi / one for one in inverse_frequencies(published)]


def test_numbers_of_contracts(mixed: Project) -> None:
    run = mixed.run(REPORT)

    assert run.reported("stretched")["contracts"] == 1
    assert not run.reported("plain")["contracts"]


def test_statuses(mixed: Project) -> None:
    run = mixed.run(REPORT)

    def status(name: str, rule: str) -> list[str]:
        return [f["status"] for f in run.reported(name)["findings"] if f["rule"] == rule]

    assert status("allowed", "implicit-yarn") == ["allowed"]
    assert status("silent", "implicit-yarn") == ["fail"]
    assert set(status("noted", "implicit-field")) == {"note"}
    assert status("rejected", "rejected-flag") == ["fail"]


def test_refused_model_has_no_rope_and_no_error(mixed: Project) -> None:
    model = mixed.run(REPORT).reported("rejected")

    assert model["rope"] is None
    assert model["origins"] == {}
    assert model["error"] is None
    assert model["argv"][-1] == "1e6"


def test_broken_definition_has_an_error(mixed: Project) -> None:
    model = mixed.run(REPORT).reported("broken")

    assert model["error"].splitlines()[:2] == [
        "broken: model_args() raised ValueError: scripts/models/broken.py",
        "  at: scripts/models/broken.py:2",
    ]
    assert (model["argv"], model["rope"], model["findings"]) == ([], None, [])


def test_same_bytes_every_time(mixed: Project) -> None:
    first = mixed.run(REPORT).report_text

    assert mixed.run(REPORT).report_text == first
    assert mixed.run_shuffled("1", REPORT).report_text == first
    assert mixed.run_shuffled("2", REPORT).report_text == first


def test_same_bytes_in_several_processes(mixed: Project) -> None:
    alone = mixed.run(REPORT).report_text
    (mixed.root / "report.json").unlink()

    assert mixed.run(REPORT, "-n2").report_text == alone


def test_same_bytes_in_another_folder(mixed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    mixed.ini(rope_contract_defaults=["fill:fill", "fill:explode"])
    here = mixed.run(REPORT).report_text
    moved = mixed.root.parent / f"{mixed.root.name}-moved"
    mixed.root.rename(moved)
    mixed.root.mkdir()
    monkeypatch.chdir(moved)

    mixed.run(REPORT)

    assert (moved / "report.json").read_text() == here


def test_no_absolute_paths(mixed: Project) -> None:
    mixed.ini(rope_contract_defaults=["fill:fill", "fill:explode"])
    text = mixed.run(REPORT).report_text

    assert str(mixed.root) not in text
    assert [match for match in PATH.findall(text) if match != "/usr/"] == []
    assert json.loads(text)["models"][0]["error"].splitlines()[:2] == [
        "rope_contract_defaults: fill:explode raised OSError: fill.py",
        "  at: fill.py:3",
    ]


def test_no_addresses(project: Project) -> None:
    project.script("plain", "raise ValueError(object())")

    assert project.run(REPORT).reported("plain")["error"].splitlines()[0] == (
        "plain: model_args() raised ValueError: <object object at 0x...>"
    )


def test_path_in_an_argv_is_relative(project: Project) -> None:
    project.script("plain", f"return {PLAIN!r} + ' --save ' + __file__")

    assert project.run(REPORT).reported("plain")["argv"][-1] == "scripts/models/plain.py"


def test_home_that_is_the_root_is_nobodys(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is of a user without one, in a container."""
    monkeypatch.setenv("HOME", "/")
    project.model("plain", f"{PLAIN} --load /")

    assert project.run(REPORT).reported("plain")["argv"][-1] == "/"


def test_model_without_a_file_has_no_path(project: Project) -> None:
    project.conftest(
        f"def pytest_ropecontract_models(registry): registry.add('tiny', {PLAIN.split()!r})"
    )

    assert project.run(REPORT).reported("tiny")["path"] is None


def test_only_models_whose_items_ran(mixed: Project) -> None:
    report = mixed.run(REPORT, "-k", "stretched").report

    assert [model["name"] for model in report["models"]] == ["stretched"]


def test_report_can_be_given_twice(mixed: Project) -> None:
    mixed.run(REPORT, "--rope-contract-report=other.json")

    assert (mixed.root / "other.json").read_text() == (mixed.root / "report.json").read_text()


def test_report_is_written_into_a_folder_from_where_pytest_was_started(
    mixed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mixed.root / "tests")

    mixed.run("--rope-contract-report=../scripts/report.json")

    assert (mixed.root / "scripts/report.json").exists()


def test_report_replaces_an_older_one_and_leaves_nothing_else(mixed: Project) -> None:
    mixed.write("report.json", "old")
    before = {path.name for path in mixed.root.iterdir()} | {".pytest_cache"}

    assert mixed.run(REPORT).report["schema"] == 1

    assert {path.name for path in mixed.root.iterdir()} - {"__pycache__"} <= before


def test_report_has_the_rights_of_any_new_file(mixed: Project) -> None:
    mixed.write("any", "")
    mixed.run(REPORT)

    assert (mixed.root / "report.json").stat().st_mode == (mixed.root / "any").stat().st_mode


def test_report_that_cannot_be_written_keeps_the_old_one(
    mixed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed.write("report.json", "old")

    def refuse(*_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    run = mixed.run(REPORT, "-k", "plain")
    monkeypatch.undo()

    assert run.report_text == "old"
    assert not list(mixed.root.glob(".report*"))
    assert "ERROR: --rope-contract-report: report.json cannot be written: Permission denied" in (
        run.outlines
    )
    assert run.counts["passed"] == 1
    assert run.ret == pytest.ExitCode.USAGE_ERROR


def test_report_that_cannot_be_written_does_not_hide_failures(mixed: Project) -> None:
    mixed.conftest(
        "import pathlib\ndef pytest_sessionstart():\n    pathlib.Path('report.json').mkdir()\n"
    )

    run = mixed.run(REPORT)

    assert "ERROR: --rope-contract-report: report.json cannot be written: Is a directory" in (
        run.outlines
    )
    assert run.outcomes["scripts/models/broken.py::test_declared[broken]"] == "failed"
    assert run.ret == pytest.ExitCode.TESTS_FAILED


def test_no_report_of_a_mere_collection(mixed: Project) -> None:
    mixed.write("report.json", "old")

    assert mixed.run(REPORT, "--collect-only").report_text == "old"


def test_report_without_any_item(mixed: Project) -> None:
    report = mixed.run(REPORT, "-k", "nothing").report

    assert report["models"] == []


def test_values_of_a_list_are_a_list(project: Project) -> None:
    argv = PLAIN.replace("rope --rotary-base", "mrope --mrope-section 2 3 3 --rotary-base")
    project.model("sections", argv)
    project.test('@rope_expect(mrope_section=(4, 2, 2), models=["sections"])\ndef test_it(): pass')

    findings = project.run(REPORT).reported("sections")["findings"]

    (failed,) = [one for one in findings if one["status"] == "fail"]
    assert (failed["expected"], failed["actual"]) == ([4, 2, 2], [2, 3, 3])


def test_value_that_json_does_not_have_is_its_text(project: Project) -> None:
    """A framework can put anything in place of what a flag declares."""
    project.ini(rope_contract_defaults=["fill:fill"], rope_contract_pythonpath=["."])
    project.write(
        "fill.py",
        "import decimal\ndef fill(args): args.rotary_base = decimal.Decimal(20000)\n",
    )
    project.model("plain")

    findings = project.run(REPORT).reported("plain")["findings"]

    (written,) = [one for one in findings if one["rule"] == "overwritten-flag"]
    assert (written["expected"], written["actual"]) == (10000, "20000")


def test_numbers_that_json_does_not_have_are_texts(project: Project) -> None:
    project.ini(rope_contract_rotary="rotary:rotary", rope_contract_pythonpath=["."])
    project.write("rotary.py", "def rotary(*_): return {'seq_len_interpolation_factor': 1e999}")
    project.model("plain")

    def refuse(name: str) -> Any:
        pytest.fail(f"{name} is no JSON")

    run = project.run(REPORT)
    json.loads(run.report_text, parse_constant=refuse)

    assert run.reported("plain")["rope"]["seq_len_interpolation_factor"] == "inf"
