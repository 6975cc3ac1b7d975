"""The items test_expected and test_allowances."""

from __future__ import annotations

import pytest
from plugin_project import MLA, PLAIN, YARN, Project

EXPECTED = "scripts/models/plain.py::test_expected[plain]"
DECLARED = "scripts/models/plain.py::test_declared[plain]"
ALLOWANCES = "pyproject.toml::test_allowances"
SILENT = "def fill(args):\n    if args.rope_type is None: args.rope_type = 'yarn'\n"


@pytest.fixture
def plain(project: Project) -> Project:
    project.model("plain")
    return project


def contract(project: Project, text: str) -> None:
    project.test(f"@rope_expect({text})\ndef test_it(): pass")


def test_passes_where_the_contract_is_met(plain: Project) -> None:
    contract(plain, '"rope", models=["plain"]')

    assert plain.run().outcomes[EXPECTED] == "passed"


def test_fails_as_the_marked_test_does(plain: Project) -> None:
    contract(plain, '"rope", rotary_base=5, models=["plain"]')

    run = plain.run()

    assert run.text(EXPECTED) == run.text("tests/test_contracts.py::test_it")
    assert run.line(EXPECTED) == (
        "expectation: plain: rotary_base is 10000 (declared: --rotary-base 10000), "
        'expected 5 by rope_expect("rope", rotary_base=5)'
    )


def test_is_skipped_where_no_mark_names_the_model(plain: Project) -> None:
    plain.model("other")
    contract(plain, '"rope", models=["other"]')

    assert plain.run().reason(EXPECTED) == "Skipped: no rope_expect mark of this run names plain"


def test_contracts_of_files_that_are_not_selected_are_known(plain: Project) -> None:
    contract(plain, '"rope", rotary_base=5, models=["plain"]')

    run = plain.run("scripts")

    assert run.outcomes == {DECLARED: "passed", EXPECTED: "failed"}


@pytest.mark.parametrize(
    "args",
    [
        ("-m", "rope_contract"),
        ("-k", "test_expected"),
        ("--deselect", "tests/test_contracts.py::test_it"),
    ],
)
def test_contracts_of_deselected_tests_are_known(plain: Project, args: tuple[str, str]) -> None:
    contract(plain, '"rope", rotary_base=5, models=["plain"]')

    outcomes = plain.run(*args).outcomes

    assert outcomes[EXPECTED] == "failed"
    assert "tests/test_contracts.py::test_it" not in outcomes


def test_contracts_of_skipped_tests_are_known(plain: Project) -> None:
    plain.test(
        '@pytest.mark.skip\n@rope_expect("rope", rotary_base=5, models=["plain"])\n'
        "def test_it(): pass"
    )

    assert plain.run().outcomes[EXPECTED] == "failed"


def test_contracts_of_a_parametrization_are_known(plain: Project) -> None:
    plain.model("other")
    plain.test(
        '@pytest.mark.parametrize("rope_model", ["plain"])\n'
        '@rope_expect("rope", rotary_base=5)\ndef test_it(rope_model): pass'
    )

    outcomes = plain.run("-m", "rope_contract").outcomes

    assert outcomes[EXPECTED] == "failed"
    assert outcomes["scripts/models/other.py::test_expected[other]"] == "skipped"


def test_contracts_are_known_in_every_process(plain: Project) -> None:
    contract(plain, '"rope", rotary_base=5, models=["plain"]')

    run = plain.run("-n2", "-m", "rope_contract")

    assert run.outcomes == {DECLARED: "passed", EXPECTED: "failed"}


def test_same_contract_of_two_tests_is_checked_once(plain: Project) -> None:
    plain.test(
        '@rope_expect("rope", rotary_base=5, models=["plain"])\ndef test_it(): pass\n'
        '@rope_expect("rope", rotary_base=5, models=["pl*"])\ndef test_too(): pass\n'
        '@rope_expect("rope", rotary_base=6, models=["plain"])\ndef test_other(): pass\n'
    )

    text = plain.run().text(EXPECTED)

    # The models are part of a contract; its test is not.
    assert text.count("expected 5 by") == 1
    assert text.count("expected 6 by") == 1


def test_broken_definition_is_the_failure_of_one_item(plain: Project) -> None:
    plain.script("plain", "raise ValueError('no')")
    contract(plain, '"rope", models=["plain"]')

    run = plain.run("-m", "rope_contract")

    assert run.outcomes == {DECLARED: "failed", EXPECTED: "skipped"}
    assert run.reason(EXPECTED) == "Skipped: test_declared says why nothing is known of plain"


def test_broken_definition_fails_also_where_it_is_the_only_item(plain: Project) -> None:
    plain.script("plain", "raise ValueError('no')")
    contract(plain, '"rope", models=["plain"]')

    run = plain.run("-k", "test_expected")

    assert run.line(EXPECTED) == "plain: model_args() raised ValueError: no"


# Allowances.


@pytest.fixture
def silent(project: Project) -> Project:
    """Give a project whose one model turns into YaRN."""
    project.ini(rope_contract_pythonpath=["."], rope_contract_defaults=["fill:fill"])
    project.write("fill.py", SILENT)
    project.model("plain", MLA)
    return project


def test_allowed_finding_is_an_expected_failure_with_its_reason(silent: Project) -> None:
    silent.ini(rope_contract_allow=["pl* implicit-yarn the adapter wants two results"])

    run = silent.run()

    assert run.outcomes == {DECLARED: "xfailed", EXPECTED: "skipped", ALLOWANCES: "passed"}
    assert run.reason(DECLARED) == "implicit-yarn allowed: the adapter wants two results"


def test_allowance_for_another_model_does_not_count(silent: Project) -> None:
    silent.model("other", PLAIN)
    silent.ini(rope_contract_allow=["other implicit-yarn no"])

    assert silent.run().outcomes[DECLARED] == "failed"


def test_allowance_for_another_rule_does_not_count(silent: Project) -> None:
    silent.ini(rope_contract_allow=["plain inert-flag no"])

    assert silent.run().outcomes[DECLARED] == "failed"


def test_allowance_for_one_of_two_findings_is_not_enough(silent: Project) -> None:
    silent.ini(rope_contract_allow=["plain implicit-yarn why"])
    silent.model("plain", f"{MLA} --unheard-of")

    run = silent.run()

    assert run.outcomes[DECLARED] == "failed"
    assert run.line(DECLARED).startswith("rejected-flag: plain: ")


def test_allowed_expectation_is_an_expected_failure(plain: Project) -> None:
    plain.ini(rope_contract_allow=["plain expectation waits"])
    contract(plain, '"rope", rotary_base=5, models=["plain"]')

    run = plain.run()

    assert run.outcomes == {
        "tests/test_contracts.py::test_it": "xfailed",
        DECLARED: "passed",
        EXPECTED: "xfailed",
        ALLOWANCES: "passed",
    }


def test_unused_allowance_fails(plain: Project) -> None:
    plain.ini(
        rope_contract_allow=["plain implicit-yarn it was so", "glm* expectation it was so too"]
    )

    run = plain.run()

    assert run.text(ALLOWANCES).splitlines() == [
        "rope_contract_allow: 'plain implicit-yarn it was so' allows nothing any more",
        "  also: glm* expectation it was so too",
        "  remedy: remove the lines from rope_contract_allow",
    ]


def test_allowance_of_a_note_is_used(plain: Project) -> None:
    plain.model("plain", PLAIN.replace(" --rotary-percent 1.0", ""))
    plain.ini(rope_contract_allow=["plain implicit-field as ever"])

    assert plain.run().outcomes[ALLOWANCES] == "passed"
    assert plain.run("--rope-contract-strict").outcomes == {
        DECLARED: "xfailed",
        EXPECTED: "skipped",
        ALLOWANCES: "passed",
    }


def test_allowance_of_a_broken_definition_is_not_judged(silent: Project) -> None:
    silent.ini(rope_contract_allow=["plain implicit-yarn why"])
    silent.script("plain", "raise ValueError('no')")

    run = silent.run()

    assert run.outcomes == {DECLARED: "failed", EXPECTED: "skipped", ALLOWANCES: "passed"}


def test_allowances_are_judged_whatever_is_deselected(silent: Project) -> None:
    silent.ini(rope_contract_allow=["plain implicit-yarn why"])

    assert silent.run("-k", "allowances").outcomes == {ALLOWANCES: "passed"}


def test_allowances_are_judged_in_any_process(silent: Project) -> None:
    silent.ini(rope_contract_allow=["plain implicit-yarn why"])
    silent.model("other", YARN)

    assert silent.run("-n2").outcomes[ALLOWANCES] == "passed"


def test_allowances_are_not_judged_where_a_path_is_given(silent: Project) -> None:
    silent.ini(rope_contract_allow=["plain inert-flag no"])

    assert ALLOWANCES not in silent.run("scripts").outcomes
    assert ALLOWANCES not in silent.run(DECLARED).outcomes


def test_allowances_of_an_ini_file_elsewhere_are_judged(plain: Project) -> None:
    plain.ini(rope_contract_allow=["plain inert-flag no"])
    elsewhere = plain.root.parent / f"{plain.root.name}.toml"
    (plain.root / "pyproject.toml").rename(elsewhere)
    args = ("-c", str(elsewhere), f"--rootdir={plain.root}", "--rope-contract-annotate=github")
    assert plain.run(*args).counts == {"passed": 1, "skipped": 1}

    plain.conftest("")
    run = plain.run(*args)

    unused = "rope_contract_allow: 'plain inert-flag no' allows nothing any more"
    assert run.line("conftest.py::test_allowances") == unused
    assert "::error file=conftest.py,line=1," in run.out


def test_no_item_without_allowances(plain: Project) -> None:
    assert ALLOWANCES not in plain.run().outcomes
