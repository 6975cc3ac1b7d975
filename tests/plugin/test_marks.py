"""The mark rope_expect on hand-written tests."""

from __future__ import annotations

import inspect

import pytest
from plugin_project import MLA, PLAIN, YARN, Project

from pytest_ropecontract import rope_expect
from pytest_ropecontract.contracts.expectation import read

FILE = "tests/test_contracts.py"
TEST = f"{FILE}::test_it"
BASE_IS_WRONG = (
    "expectation: {}: rotary_base is 10000 (declared: --rotary-base 10000), "
    'expected 5 by rope_expect("rope", rotary_base=5)'
)


@pytest.fixture
def models(project: Project) -> Project:
    """Give a project with two plain models and a stretched one."""
    project.model("plain")
    project.model("plain-wide", PLAIN.replace("10000", "500000"))
    project.model("stretched", YARN)
    return project


def mark(project: Project, text: str, body: str = "pass", arguments: str = "") -> None:
    project.test(f"@{text}\ndef test_it({arguments}):\n    {body}\n")


@pytest.mark.parametrize(
    "text",
    [
        'rope_expect("yarn", 4096, 32, 1, declared=False, models=["stretched"])',
        'pytest.mark.rope_expect("yarn", 4096, 32, 1, declared=False, models=["stretched"])',
        'rope_expect(kind="yarn", beta_fast=32, declared=False, models=["stretched"])',
        'pytest.mark.rope_expect(kind="yarn", declared=False, models="stretched")',
        'rope_expect("rope", models="plain*")',
        'rope_expect("rope", models=("plain", "plain-wide"))',
        'rope_expect(rotary_base=10000.0, models=["plain", "str*"])',
    ],
)
def test_met_contract_passes(models: Project, text: str) -> None:
    mark(models, text)

    assert models.run_without().outcomes == {TEST: "passed"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("yarn", 4096, 32, 1),
        ("yarn", None, 1),
        ("none",),
        (),
    ],
)
@pytest.mark.parametrize(
    "keywords",
    [
        {"rotary_base": 5},
        {"mscale": None, "models": ["a", "b*"]},
        {"declared": False, "rope_scaling": True, "models": "a"},
        {"declared": True, "mrope_section": [1, 2]},
    ],
)
def test_imported_and_raw_mark_are_the_same(arguments: tuple, keywords: dict) -> None:
    imported = rope_expect(*arguments, **keywords)
    raw = pytest.mark.rope_expect(*arguments, **keywords)

    assert imported.name == raw.name == "rope_expect"
    one, other = (read(mark.args, mark.kwargs, "test_x.py") for mark in (imported, raw))
    assert one == other


def test_none_is_expected_where_it_is_given(models: Project) -> None:
    mark(models, 'rope_expect(beta_fast=None, models=["plain", "stretched"])')

    run = models.run_without()

    assert run.line(TEST) == (
        "expectation: stretched: beta_fast is 32 "
        "(config-default: MLATransformerConfig.beta_fast), "
        "expected None by rope_expect(beta_fast=None)"
    )


def test_broken_contract_fails_before_the_body(models: Project) -> None:
    mark(models, 'rope_expect("rope", rotary_base=5, models=["plain"])', "open('ran', 'w').close()")

    run = models.run_without()

    assert run.line(TEST) == BASE_IS_WRONG.format("plain")
    assert not (models.root / "ran").exists()


def test_broken_contract_says_what_to_do(models: Project) -> None:
    mark(models, 'rope_expect("rope", rotary_base=5, models=["plain"])')

    lines = models.run_without().text(TEST).splitlines()[1:]

    assert [line for line in lines if not line.startswith("  size:")] == [
        "  expected: 5",
        "  actual:   10000",
        "  origin:   declared (--rotary-base 10000)",
        (
            "  remedy:   declare --rotary-base 5 in the definition, "
            f"or correct the expectation in {TEST}"
        ),
        "  more:     ropecontract rule expectation",
    ]


def test_broken_contract_is_shown_without_a_traceback(models: Project) -> None:
    mark(models, 'rope_expect("rope", rotary_base=5, models=["plain"])')

    out = models.run_without().out

    assert "marks.py" not in out
    assert "FAILED tests/test_contracts.py::test_it - ContractFailed: expectation" in out


def test_every_model_that_breaks_the_contract_is_named(models: Project) -> None:
    mark(models, 'rope_expect("rope", rotary_base=5, models=["plain*"])')

    heads = [one for one in models.run_without().text(TEST).splitlines() if one[0:1].isalpha()]

    assert [head.split(":")[:2] for head in heads] == [
        ["expectation", " plain"],
        ["expectation", " plain-wide"],
    ]


def test_body_fails_as_in_any_test(models: Project) -> None:
    mark(models, 'rope_expect("rope", models=["plain"])', "assert 1 == 2")

    text = models.run_without().text(TEST)

    assert "assert 1 == 2" in text
    assert "tests/test_contracts.py:6: AssertionError" in text


def test_several_marks_apply_to_their_own_models(models: Project) -> None:
    models.test(
        '@rope_expect("rope", rotary_base=10000, models=["plain"])\n'
        '@rope_expect("rope", rotary_base=500000, models=["plain-wide"])\n'
        '@rope_expect("yarn", models=["stretched"])\n'
        "def test_it(): pass"
    )

    assert models.run_without().outcomes == {TEST: "passed"}


def test_each_of_several_marks_can_fail(models: Project) -> None:
    models.test(
        '@rope_expect("rope", rotary_base=5, models=["plain"])\n'
        '@rope_expect("rope", models=["stretched"])\n'
        "def test_it(): pass"
    )

    text = models.run_without().text(TEST)

    assert "expectation: stretched: kind is yarn" in text
    assert BASE_IS_WRONG.format("plain") in text


@pytest.mark.parametrize("indirect", ["", ", indirect=True"])
def test_mark_takes_the_models_of_the_parametrization(models: Project, indirect: str) -> None:
    models.test(
        f'@pytest.mark.parametrize("rope_model", ["plain", "plain-wide"]{indirect})\n'
        '@rope_expect("rope", rotary_base=10000)\n'
        "def test_it(rope_model): assert rope_model.startswith('plain')"
    )

    assert models.run_without().outcomes == {
        f"{TEST}[plain]": "passed",
        f"{TEST}[plain-wide]": "failed",
    }


def test_parametrization_beside_others_and_with_ids(models: Project) -> None:
    models.test(
        '@pytest.mark.parametrize("number, rope_model", [pytest.param(1, "plain", id="one")])\n'
        '@rope_expect("rope", rotary_base=10000)\n'
        "def test_it(rope_model, number): assert number == 1"
    )

    assert models.run_without().outcomes == {f"{TEST}[one]": "passed"}


def test_parametrized_model_that_is_not_defined_fails(models: Project) -> None:
    models.test(
        '@pytest.mark.parametrize("rope_model", ["plane"])\n'
        '@rope_expect("rope")\n'
        "def test_it(rope_model): pass"
    )

    run = models.run_without()

    assert run.text(f"{TEST}[plane]").splitlines() == [
        "there is no definition 'plane'",
        "  remedy: did you mean 'plain' or 'plain-wide'?",
    ]


def test_rope_model_runs_over_all_models(models: Project) -> None:
    models.test("def test_it(rope_model): pass")

    assert list(models.run_without().outcomes) == [
        f"{TEST}[plain]",
        f"{TEST}[plain-wide]",
        f"{TEST}[stretched]",
    ]


def test_rope_model_runs_over_the_models_of_the_marks(models: Project) -> None:
    models.test(
        '@rope_expect("rope", models=["plain"])\n'
        '@rope_expect("yarn", models=["str*"])\n'
        "@rope_expect(rotary_base=10000)\n"
        "def test_it(rope_model): pass"
    )

    assert models.run_without().outcomes == {
        f"{TEST}[plain]": "passed",
        f"{TEST}[stretched]": "passed",
    }


def test_models_of_the_marks_keep_their_own_contract(models: Project) -> None:
    models.test(
        '@rope_expect("rope", models=["plain"])\n'
        '@rope_expect("rope", models=["stretched"])\n'
        "def test_it(rope_model): pass"
    )

    assert models.run_without().outcomes == {
        f"{TEST}[plain]": "passed",
        f"{TEST}[stretched]": "failed",
    }


def test_parametrization_by_a_hook_of_the_project_stays(models: Project) -> None:
    models.test(
        "def pytest_generate_tests(metafunc):\n"
        '    metafunc.parametrize("rope_model", ["plain"], indirect=True)\n'
        '@rope_expect("rope")\n'
        "def test_it(rope_model): pass"
    )

    assert models.run_without().outcomes == {f"{TEST}[plain]": "passed"}


def test_parametrization_over_something_else_adds_to_the_models(models: Project) -> None:
    models.test(
        '@pytest.mark.parametrize("layers", [1, 2])\n'
        '@pytest.mark.parametrize(argnames=("width", "depth"), argvalues=[(3, 4)])\n'
        '@rope_expect("rope", models=["plain"])\n'
        "def test_it(rope_model, layers, width, depth): pass"
    )

    run = models.run_without()

    assert run.counts == {"passed": 2}
    assert all("plain" in node for node in run.outcomes)


def test_id_that_the_project_cannot_make_is_a_collection_error(models: Project) -> None:
    models.conftest("def pytest_make_parametrize_id(val): raise ValueError(f'no id for {val}')")
    mark(models, 'rope_expect("rope", models=["plain"])', arguments="rope_model")

    error = models.run_without().collect_error(FILE)

    assert "ValueError: no id for plain" in "\n".join(error)


def test_fixture_of_every_test_gets_a_model_where_an_item_has_one(models: Project) -> None:
    models.conftest("@pytest.fixture(autouse=True)\ndef always(rope_model): pass")
    models.ini(rope_contract_allow=["plain implicit-field it is one"])

    run = models.run("-k", "test_declared or test_allowances")

    allowances = "pyproject.toml::test_allowances"
    assert run.counts == {"passed": 3, "setup failed": 1}
    assert run.line(allowances).startswith("rope_model has no value here")


def test_signature_shows_what_may_be_left_out() -> None:
    """As help() and an editor show it."""
    parameters = inspect.signature(rope_expect).parameters

    assert [str(parameters[name]) for name in ("kind", "beta_fast", "models")] == [
        "kind: 'Kind' = ...",
        "beta_fast: 'float | None' = ...",
        "models: 'str | Sequence[str] | None' = None",
    ]


def test_mark_on_a_class(models: Project) -> None:
    models.test(
        '@rope_expect("rope", rotary_base=5, models=["plain"])\n'
        "class TestIt:\n    def test_one(self): pass\n    def test_two(self): pass\n"
    )

    assert models.run_without().outcomes == {
        f"{FILE}::TestIt::test_one": "failed",
        f"{FILE}::TestIt::test_two": "failed",
    }


def test_mark_on_a_module(models: Project) -> None:
    models.test(
        'pytestmark = [rope_expect("rope", models=["plain"])]\n'
        '@rope_expect("rope", models=["stretched"])\ndef test_it(): pass\n'
        "def test_other(): pass"
    )

    assert models.run_without().outcomes == {TEST: "failed", f"{FILE}::test_other": "passed"}


def test_mark_on_a_method_of_unittest(models: Project) -> None:
    models.test(
        "import unittest\n"
        "class TestIt(unittest.TestCase):\n"
        '    @rope_expect("rope", rotary_base=5, models=["plain"])\n'
        "    def test_named(self): pass\n"
        '    @rope_expect("rope")\n'
        "    def test_nameless(self): pass\n"
    )

    run = models.run()

    assert run.line(f"{FILE}::TestIt::test_named") == BASE_IS_WRONG.format("plain")
    assert run.line(f"{FILE}::TestIt::test_nameless") == (
        "rope_expect names no models, and the test has no rope_model"
    )


def test_mark_that_is_added_after_collection(models: Project) -> None:
    models.conftest(
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        if item.name == 'test_it': item.add_marker(pytest.mark.rope_expect(bad=1))"
    )
    models.test("def test_it(): pass")

    run = models.run()

    assert run.line(TEST) == "rope_expect has no field 'bad'"
    assert run.counts["passed"] == 3


def test_skipped_test_is_not_checked(models: Project) -> None:
    models.test(
        '@pytest.mark.skip(reason="later")\n'
        '@rope_expect("rope", rotary_base=5, models=["plain"])\ndef test_it(): pass'
    )

    assert models.run_without().reason(TEST) == "Skipped: later"


def test_declared_wants_a_flag(models: Project) -> None:
    mark(models, 'rope_expect("yarn", beta_fast=32, models=["stretched"])')

    assert models.run_without().line(TEST) == (
        "implicit-field: stretched: beta_fast is 32 as expected, but no flag declares it "
        "(config-default: MLATransformerConfig.beta_fast)"
    )


def test_declared_false_accepts_a_default(models: Project) -> None:
    mark(models, 'rope_expect("yarn", beta_fast=32, declared=False, models=["stretched"])')

    assert models.run_without().outcomes == {TEST: "passed"}


def test_declared_false_does_not_accept_another_value(models: Project) -> None:
    mark(models, 'rope_expect("yarn", beta_fast=1, declared=False, models=["stretched"])')

    assert models.run_without().line(TEST) == (
        "expectation: stretched: beta_fast is 32 "
        "(config-default: MLATransformerConfig.beta_fast), "
        'expected 1 by rope_expect("yarn", beta_fast=1, declared=False)'
    )


def test_contract_of_a_model_that_cannot_be_expanded(models: Project) -> None:
    models.script("broken", "raise ValueError('no')")
    mark(models, 'rope_expect("rope", models=["broken"])')

    assert models.run_without().text(TEST).splitlines() == [
        "broken: model_args() raised ValueError: no",
        "  at: scripts/models/broken.py:2",
        "  scripts/models/broken.py:2 in model_args: raise ValueError('no')",
        "  remedy: mend the line above; it runs here without a launcher around it",
    ]


def test_contract_of_a_model_that_is_refused(models: Project) -> None:
    models.model("fused", MLA.replace(" --no-rope-fusion", " --rope-type rope"))
    mark(models, 'rope_expect("rope", models=["fused"])')

    assert (
        models.run_without()
        .line(TEST)
        .startswith('expectation: fused: expected rope_expect("rope"), but nothing is built: ')
    )


def test_allowed_deviation_runs_the_body_and_is_an_expected_failure(models: Project) -> None:
    models.ini(rope_contract_allow=["plain expectation waits for the next release"])
    mark(models, 'rope_expect("rope", rotary_base=5, models=["plain"])', "open('ran', 'w').close()")

    run = models.run_without()

    assert run.outcomes == {TEST: "xfailed"}
    assert run.reason(TEST) == "expectation allowed: waits for the next release"
    assert (models.root / "ran").exists()


def test_body_of_an_allowed_deviation_can_fail(models: Project) -> None:
    models.ini(rope_contract_allow=["plain expectation waits for the next release"])
    mark(models, 'rope_expect("rope", rotary_base=5, models=["plain"])', "assert 1 == 2")

    assert models.run_without().outcomes == {TEST: "failed"}


FIELDS = (
    "  fields: kind, attention, rotary_base, rotary_dim, rotary_percent, rotary_interleaved, "
    "rotary_scaling_factor, original_max_position_embeddings, beta_fast, beta_slow, mscale, "
    "mscale_all_dim, round_to_int, rope_scaling, rope_scaling_factor, "
    "seq_len_interpolation_factor, mrope_section, no_rope_layers, magnitude, "
    "softmax_multiplier, rotary_class, returns"
)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            '"rope", rotary_bass=1, models=["plain"]',
            [
                "rope_expect has no field 'rotary_bass'",
                f"  at: {TEST}",
                FIELDS,
                "  remedy: did you mean rotary_base?",
            ],
        ),
        (
            '"rope", rotary_base="10000", models=["plain"]',
            ["rope_expect: rotary_base is '10000', not a number", f"  at: {TEST}"],
        ),
        (
            '"yarn", 4096.5, models=["plain"]',
            [
                "rope_expect: original_max_position_embeddings is 4096.5, not a whole number",
                f"  at: {TEST}",
            ],
        ),
        (
            '"spiral", models=["plain"]',
            [
                "rope_expect: kind is 'spiral', not one of rope, yarn, mrope, none",
                f"  at: {TEST}",
            ],
        ),
        (
            'None, 4096, models=["plain"]',
            [
                "rope_expect: kind is None, not one of rope, yarn, mrope, none",
                f"  at: {TEST}",
            ],
        ),
        (
            '"rope"',
            [
                "rope_expect names no models, and the test has no rope_model",
                f"  at: {TEST}",
                '  remedy: give models=["kimi-k2"], or parametrize the test over rope_model',
            ],
        ),
        (
            '"rope", models=["glm*"]',
            [
                "rope_expect: no definition matches 'glm*'",
                f"  at: {TEST}",
                "  remedy: the definitions are: plain, plain-wide, stretched",
            ],
        ),
        (
            '"rope", models=["plane"]',
            [
                "rope_expect: no definition matches 'plane'",
                f"  at: {TEST}",
                "  remedy: did you mean 'plain' or 'plain-wide'?",
            ],
        ),
        ('"rope", models=[]', ["rope_expect: models is empty", f"  at: {TEST}"]),
        (
            '"rope", models=5',
            ["rope_expect: models is 5, not a list of names", f"  at: {TEST}"],
        ),
        (
            'models=["plain"]',
            [
                "rope_expect expects nothing",
                f"  at: {TEST}",
                '  remedy: name what is expected, for example rope_expect("yarn", 4096, 32, 1)',
            ],
        ),
        (
            '"rope", declared="no", models=["plain"]',
            ["rope_expect: declared is 'no', not True or False", f"  at: {TEST}"],
        ),
        (
            '"rope", mscale=float("nan"), models=["plain"]',
            ["rope_expect: mscale is nan, not a number", f"  at: {TEST}"],
        ),
    ],
)
def test_mark_that_cannot_be_read_is_a_collection_error(
    models: Project, arguments: str, expected: list[str]
) -> None:
    mark(models, f"pytest.mark.rope_expect({arguments})")
    models.test("def test_fine(): pass", name="test_other")

    run = models.run("--continue-on-collection-errors")

    lines = run.collect_error(FILE)
    assert lines[: len(expected)] == expected
    assert lines[-1].startswith("  remedy: ")
    assert run.outcomes["tests/test_other.py::test_fine"] == "passed"
    assert run.outcomes["scripts/models/plain.py::test_declared[plain]"] == "passed"
    assert run.ret == pytest.ExitCode.TESTS_FAILED


def test_too_many_values_by_position(models: Project) -> None:
    mark(models, 'pytest.mark.rope_expect("yarn", 4096, 32, 1, 40, models=["plain"])')

    assert models.run_without().collect_error(FILE) == [
        "rope_expect takes 4 values by position, 5 are given",
        f"  at: {TEST}",
        "  by position: kind, original_max_position_embeddings, beta_fast, beta_slow",
        "  remedy: name the others, for example rotary_base=50000",
    ]


def test_value_by_position_and_by_name(models: Project) -> None:
    mark(models, 'pytest.mark.rope_expect("yarn", kind="rope", models=["plain"])')

    assert models.run_without().collect_error(FILE) == [
        "rope_expect gives 'kind' by position and by name",
        f"  at: {TEST}",
        "  remedy: give it once",
    ]


def test_collection_error_interrupts_the_run_and_names_the_file(models: Project) -> None:
    mark(models, 'rope_expect("rope", models=["glm"])')

    run = models.run()

    assert run.ret == pytest.ExitCode.INTERRUPTED
    assert "Traceback" not in run.out
    run.result.stdout.fnmatch_lines(
        [
            f"* ERROR collecting {FILE} *",
            "rope_expect: no definition matches 'glm'",
            f"ERROR {FILE}",
        ]
    )


def test_rope_model_without_any_definition_is_a_collection_error(project: Project) -> None:
    project.test("def test_it(rope_model): pass")

    assert project.run_without().collect_error(FILE) == [
        "rope_model has no models: no model definitions found",
        f"  at: {TEST}",
        "  remedy: set rope_contract_models, or register models with a hook",
    ]


def test_mark_without_any_definition_is_a_collection_error(project: Project) -> None:
    mark(project, 'rope_expect("rope", models=["plain"])')

    assert project.run_without().collect_error(FILE) == [
        "rope_expect: no definition matches 'plain'",
        f"  at: {TEST}",
        "  remedy: there are no definitions",
    ]
