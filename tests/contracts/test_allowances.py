"""Known deviations: allowed in the open, one finding at a time."""

from __future__ import annotations

import pytest

from pytest_ropecontract.contracts.allowances import Allowance, AllowanceError, apply, read, strict
from pytest_ropecontract.contracts.findings import RULES, Finding

GLM5 = Allowance("glm5-*", "implicit-yarn", "the adapter unpacks two results")
YARN = Finding("implicit-yarn", "glm5-744B", "becomes yarn")


def test_a_line_is_models_rule_and_reason():
    assert read(["glm5-* implicit-yarn the adapter unpacks two results"]) == (GLM5,)


def test_a_line_survives_being_shown():
    assert read([str(GLM5)]) == (GLM5,)


def test_white_space_around_and_empty_lines_do_not_count():
    assert read(["", "   ", "  glm5-*\timplicit-yarn  because of it  "]) == (
        Allowance("glm5-*", "implicit-yarn", "because of it"),
    )


ERRORS = {
    "glm5-*": [
        "rope_contract_allow: 'glm5-*' names no rule",
        "  remedy: a line is: MODEL_GLOB RULE reason",
    ],
    "glm5-* implicit-yarns because": [
        "rope_contract_allow: there is no rule 'implicit-yarns'",
        "  at: rope_contract_allow = glm5-* implicit-yarns because",
        f"  rules: {', '.join(RULES)}",
        "  remedy: did you mean implicit-yarn?",
    ],
    "glm5-* zzz because": [
        "rope_contract_allow: there is no rule 'zzz'",
        "  at: rope_contract_allow = glm5-* zzz because",
        f"  rules: {', '.join(RULES)}",
        "  remedy: a line is: MODEL_GLOB RULE reason",
    ],
    "glm5-* implicit-yarn": [
        "rope_contract_allow: 'glm5-* implicit-yarn' gives no reason",
        "  remedy: say why it is allowed: MODEL_GLOB RULE reason",
    ],
    "  glm5-* implicit-yarn   ": [
        "rope_contract_allow: 'glm5-* implicit-yarn' gives no reason",
        "  remedy: say why it is allowed: MODEL_GLOB RULE reason",
    ],
}


@pytest.mark.parametrize(("line", "lines"), ERRORS.items(), ids=ERRORS)
def test_a_line_that_cannot_be_read_says_why(line: str, lines: list[str]):
    with pytest.raises(AllowanceError) as caught:
        read(["* inert-flag fine", line])

    assert str(caught.value).splitlines() == lines


def test_a_covered_finding_is_allowed_with_its_reason():
    (finding,) = apply([YARN], [GLM5])

    assert (finding.status, finding.reason) == ("allowed", "the adapter unpacks two results")
    assert finding.text().splitlines() == [
        "implicit-yarn: glm5-744B: becomes yarn",
        "  allowed:  the adapter unpacks two results",
    ]


@pytest.mark.parametrize(
    ("models", "covered"), [("scripts/*", True), ("one", True), ("two", False), ("None", False)]
)
def test_a_line_may_name_a_launcher(models: str, covered: bool):
    finding = Finding("launcher-override", "one", "m", launcher="scripts/run.sh")

    assert Allowance(models, "launcher-override", "a try").covers(finding) == covered


def test_a_model_alone_has_no_launcher_that_a_line_could_name():
    assert not Allowance("None", "implicit-yarn", "a try").covers(YARN)


@pytest.mark.parametrize(
    "finding",
    [
        Finding("implicit-yarn", "glm4.7-flash", "another model"),
        Finding("implicit-yarn", "GLM5-744B", "another case"),
        Finding("inert-flag", "glm5-744B", "another rule"),
    ],
)
def test_any_other_finding_stays(finding: Finding):
    assert not GLM5.covers(finding)
    assert apply([finding], [GLM5]) == (finding,)


def test_a_note_needs_no_allowance():
    note = Finding("implicit-yarn", "glm5-744B", "m", status="note")

    assert apply([note], [GLM5]) == (note,)


def test_the_first_allowance_that_covers_gives_the_reason():
    other = Allowance("*", "implicit-yarn", "other")

    assert [one.reason for one in apply([YARN], [other, GLM5])] == ["other"]


def test_strict_turns_a_note_into_a_failure_and_leaves_the_rest():
    note = Finding("implicit-field", "m", "x", status="note")
    allowed = YARN.allowed("fine")

    assert strict(note).status == "fail"
    assert strict(allowed) == allowed
    assert strict(YARN) == YARN
