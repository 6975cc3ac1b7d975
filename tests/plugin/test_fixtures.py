"""The fixtures for hand-written tests."""

from __future__ import annotations

import pytest
from plugin_project import MLA, PLAIN, Project

FILE = "tests/test_contracts.py"
TEST = f"{FILE}::test_it"
WIDE = (
    f"base = overrides.get('rotary_base', 10000)\n    return {PLAIN!r}.replace('10000', str(base))"
)


@pytest.fixture
def models(project: Project) -> Project:
    """Give a project with a model that takes an override, a broken and a refused one."""
    project.script("plain", WIDE)
    project.script("broken", "raise ValueError('no')")
    project.model("fused", MLA.replace(" --no-rope-fusion", " --rope-type rope"))
    return project


def passes(project: Project, arguments: str, *body: str) -> None:
    project.test("\n    ".join([f"def test_it({arguments}):", *body]))
    assert set(project.run_without().outcomes.values()) == {"passed"}


def test_rope_models_is_the_registry(models: Project) -> None:
    passes(
        models,
        "rope_models",
        "from pytest_ropecontract import Registry",
        "assert isinstance(rope_models, Registry)",
        "assert list(rope_models) == ['broken', 'fused', 'plain']",
        "assert rope_models['plain'].path.name == 'plain.py'",
    )


def test_rope_models_are_those_of_the_hook_too(models: Project) -> None:
    models.conftest(
        f"def pytest_ropecontract_models(registry): registry.add('tiny', {PLAIN.split()!r})"
    )
    passes(models, "rope_models", "assert 'tiny' in rope_models")


def test_rope_model_is_a_name(models: Project) -> None:
    models.test(
        '@pytest.mark.parametrize("rope_model", ["plain"], indirect=True)\n'
        "def test_it(rope_model): assert rope_model == 'plain'"
    )

    assert models.run_without().outcomes == {f"{TEST}[plain]": "passed"}


def test_rope_model_cannot_be_asked_for_late(models: Project) -> None:
    models.test("def test_it(request): request.getfixturevalue('rope_model')")

    assert models.run_without().line(TEST) == (
        "rope_model has no value here: getfixturevalue() comes too late"
    )


def test_rope_expand_returns_the_tokens(models: Project) -> None:
    passes(models, "rope_expand", f"assert rope_expand('plain') == {PLAIN.split()!r}")


def test_rope_expand_takes_overrides(models: Project) -> None:
    passes(
        models,
        "rope_expand",
        "argv = rope_expand('plain', rotary_base=7)",
        "assert argv[argv.index('--rotary-base') + 1] == '7'",
    )


def test_rope_expand_takes_overrides_of_any_name(models: Project) -> None:
    passes(models, "rope_expand", "assert rope_expand('plain', model=1, self=2)")


def test_rope_expand_returns_a_list_of_its_own(models: Project) -> None:
    passes(
        models,
        "rope_expand",
        "rope_expand('plain').clear()",
        "assert rope_expand('plain')",
    )


def test_rope_resolve_resolves_a_model(models: Project) -> None:
    passes(
        models,
        "rope_resolve",
        "resolution = rope_resolve('plain')",
        "assert resolution.rope.rotary_base == 10000",
        "assert resolution.origins['rotary_base'] == 'declared'",
        f"assert resolution.argv == tuple({PLAIN.split()!r})",
    )


def test_rope_resolve_takes_overrides(models: Project) -> None:
    passes(
        models,
        "rope_resolve",
        "assert rope_resolve('plain', rotary_base=7).rope.rotary_base == 7",
        "assert rope_resolve('plain').rope.rotary_base == 10000",
    )


def test_rope_resolve_resolves_a_list_of_tokens(models: Project) -> None:
    passes(
        models,
        "rope_resolve, rope_expand",
        "argv = rope_expand('plain')",
        "assert rope_resolve(argv).rope == rope_resolve('plain').rope",
        "assert rope_resolve([*argv, '--rotary-base', '9']).rope.rotary_base == 9",
    )


def test_rope_resolve_of_a_refused_model_has_no_rope(models: Project) -> None:
    passes(
        models,
        "rope_resolve",
        "resolution = rope_resolve('fused')",
        "assert resolution.rope is None",
        "assert resolution.refused.by == 'model' or resolution.refused.by == 'config'",
    )


def test_rope_config_is_what_is_built(models: Project) -> None:
    models.test(
        '@pytest.mark.parametrize("rope_model", ["plain"], indirect=True)\n'
        "def test_it(rope_config):\n"
        "    from pytest_ropecontract import RopeConfig\n"
        "    assert isinstance(rope_config, RopeConfig)\n"
        "    assert rope_config.kind == 'rope'"
    )

    assert models.run_without().outcomes == {f"{TEST}[plain]": "passed"}


def test_rope_config_runs_over_all_models(models: Project) -> None:
    models.test("def test_it(rope_config): pass")

    assert models.run_without().outcomes == {
        f"{TEST}[broken]": "setup failed",
        f"{TEST}[fused]": "setup failed",
        f"{TEST}[plain]": "passed",
    }


def test_rope_config_of_a_refused_model_says_why(models: Project) -> None:
    models.test("def test_it(rope_config): pass")

    line, remedy = models.run_without().text(f"{TEST}[fused]").splitlines()

    assert line.startswith("rope_config: fused: nothing is built: ")
    assert "fus" in line.removeprefix("rope_config: fused: nothing is built: ")
    assert remedy == "  remedy: correct what is refused: ropecontract explain fused"


def test_rope_config_of_a_broken_model_says_where(models: Project) -> None:
    models.test("def test_it(rope_config): pass")

    assert models.run_without().text(f"{TEST}[broken]").splitlines()[:2] == [
        "broken: model_args() raised ValueError: no",
        "  at: scripts/models/broken.py:2",
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            "rope_expand('plane')",
            "pytest_ropecontract.errors.RopeContractError: there is no definition 'plane'",
        ),
        (
            "rope_resolve('broken')",
            (
                "pytest_ropecontract.definitions.definition.DefinitionError: "
                "broken: model_args() raised ValueError: no"
            ),
        ),
        (
            "rope_resolve(['--num-layers', '2'], rotary_base=7)",
            "pytest_ropecontract.errors.RopeContractError: an argv takes no override 'rotary_base'",
        ),
        (
            "rope_resolve(['--num-layers', 2])",
            "pytest_ropecontract.errors.RopeContractError: token 2 of the argv is 2, not a string",
        ),
    ],
)
def test_error_shows_the_line_of_the_test_alone(models: Project, call: str, expected: str) -> None:
    models.test(f"def test_it(rope_expand, rope_resolve):\n    {call}")

    lines = models.run_without("--tb=short").text(TEST).splitlines()

    assert lines[0].startswith("tests/test_contracts.py:5: in test_it")
    assert lines[1] == f"    {call}"
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E")]
    assert errors[0] == expected
    assert not any(".py:" in line and "scripts/models" not in line for line in lines[1:])


def test_errors_can_be_caught(models: Project) -> None:
    models.test(
        "from pytest_ropecontract import RopeContractError\n"
        "def test_it(rope_resolve):\n"
        "    with pytest.raises(RopeContractError, match='there is no definition'):\n"
        "        rope_resolve('plane')\n"
    )

    assert models.run_without().outcomes == {TEST: "passed"}


def test_hook_that_raises_is_the_error_of_the_fixture(models: Project) -> None:
    models.conftest("def pytest_ropecontract_models(registry): raise KeyError('what')")
    models.test("def test_it(rope_models): pass")

    assert models.run_without().text(TEST).splitlines() == [
        "pytest_ropecontract_models raised KeyError: 'what'",
        "  at: conftest.py:3",
        "  remedy: mend the line above; it runs here without a launcher around it",
    ]


def test_models_are_expanded_once_for_all_tests(models: Project) -> None:
    models.script("counted", "open('count', 'a').write('x')", f"return {PLAIN!r}")
    models.test(
        '@rope_expect("rope", models=["counted"])\ndef test_it(): pass\n'
        '@rope_expect("rope", rotary_base=10000, models=["counted"])\ndef test_too(): pass\n'
    )

    run = models.run("-k", "counted or test_it or test_too")

    assert (models.root / "count").read_text() == "x"
    assert set(run.outcomes.values()) == {"passed"}
