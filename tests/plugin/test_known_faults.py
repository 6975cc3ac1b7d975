"""Faults that real definitions had, put back into a copy of the example project."""

from __future__ import annotations

import pytest
from plugin_project import REPORT, Project


def declared(name: str) -> str:
    return f"scripts/models/{name}.py::test_declared[{name}]"


def expected(name: str) -> str:
    return f"scripts/models/{name}.py::test_expected[{name}]"


def edit(project: Project, name: str, *changes: tuple[str, str]) -> None:
    path = project.root / f"scripts/models/{name}.py"
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def test_example_passes_as_it_is(example: Project) -> None:
    run = example.run(REPORT)

    assert run.ret == pytest.ExitCode.OK
    assert {name for name, outcome in run.outcomes.items() if outcome != "passed"} == {
        declared(f"glm5-744B-A40B{variant}") for variant in ("", "_4layer", "_lora")
    }
    assert run.reason(declared("glm5-744B-A40B")) == (
        "implicit-yarn allowed: "
        "the attention adapter unpacks two results, so the plain class would break it"
    )


def test_kimi_k2_without_its_yarn_flags(example: Project) -> None:
    edit(
        example,
        "kimi-k2",
        ('        *("--original-max-position-embeddings", "4096"),\n', ""),
        ('        *("--beta-fast", f"{beta_fast:g}"),\n', ""),
        ('        *("--beta-slow", "1"),\n', ""),
    )

    run = example.run(REPORT)

    failed = {name for name, outcome in run.outcomes.items() if outcome == "failed"}
    assert failed == {
        declared("kimi-k2"),  # the project is strict: it says what is left to a default
        expected("kimi-k2"),
        "tests/test_contracts.py::test_kimi_k2",
    }
    text = run.text(expected("kimi-k2"))
    assert text.splitlines()[0] == (
        "implicit-field: kimi-k2: original_max_position_embeddings is 4096 as expected, "
        "but no flag declares it (parser-default: default of --original-max-position-embeddings)"
    )
    assert (
        "expectation: kimi-k2: beta_fast is 32 (parser-default: default of --beta-fast), "
        'expected 1 by rope_expect("yarn", 4096, 1, 1,' in text
    )
    model = run.reported("kimi-k2")
    assert (model["rope"]["beta_fast"], model["origins"]["beta_fast"]) == (32, "parser-default")


def test_kimi_k2_without_its_yarn_flags_on_stock_megatron(example: Project) -> None:
    """Without the framework's options the values are those of the config class."""
    edit(
        example,
        "kimi-k2",
        ('        *("--original-max-position-embeddings", "4096"),\n', ""),
        ('        *("--beta-fast", f"{beta_fast:g}"),\n', ""),
        ('        *("--beta-slow", "1"),\n', ""),
    )
    example.ini(rope_contract_arguments=None)

    run = example.run(REPORT, "-k", "kimi-k2] or test_kimi_k2", "scripts", "tests")

    model = run.reported("kimi-k2")
    assert (model["rope"]["beta_fast"], model["origins"]["beta_fast"]) == (32, "config-default")
    assert "beta_fast is 32 (config-default: MLATransformerConfig.beta_fast)" in run.text(
        expected("kimi-k2")
    )


def test_kimi_k25_with_the_flags_of_k2_thinking(example: Project) -> None:
    edit(example, "kimi-k25", (", beta_fast=32", ""))

    run = example.run(REPORT)

    failed = {name for name, outcome in run.outcomes.items() if outcome == "failed"}
    assert failed == {
        expected("kimi-k25"),
        expected("kimi-k25_2layer"),
        "tests/test_contracts.py::test_kimi_k25",
    }
    assert run.line(expected("kimi-k25")).startswith(
        "expectation: kimi-k25: beta_fast is 1 (declared: --beta-fast 1), "
        'expected 32 by rope_expect("yarn", 4096, 32, 1,'
    )
    assert run.reported("kimi-k25")["origins"]["beta_fast"] == "declared"


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("glm4.7-flash", '        *("--rope-type", "rope"),\n'),
        ("joyai-llm-flash", "        --rope-type rope\n"),
    ],
)
def test_flash_models_without_their_rope_type(example: Project, name: str, flag: str) -> None:
    edit(example, name, (flag, ""))

    run = example.run(REPORT)

    failed = {item for item, outcome in run.outcomes.items() if outcome == "failed"}
    assert {
        declared(name),
        expected(name),
        f"tests/test_contracts.py::test_flash_models_are_plain[{name}]",
    } <= failed
    assert not any("kimi" in item or "glm5" in item for item in failed)
    assert run.line(declared(name)) == (
        f"implicit-yarn: {name}: becomes yarn (factor 1.0, beta_fast 32, beta_slow 1) and no flag "
        "says so (filled: ropeframe.arguments:set_default_megatron_args)"
    )
    assert run.line(expected(name)).startswith(
        f"expectation: {name}: kind is yarn "
        "(filled: ropeframe.arguments:set_default_megatron_args), expected rope by "
    )
    assert run.reported(name)["origins"]["kind"] == "filled"


def test_flash_model_is_caught_without_any_contract(example: Project) -> None:
    (example.root / "tests/test_contracts.py").unlink()
    edit(example, "glm4.7-flash", ('        *("--rope-type", "rope"),\n', ""))

    run = example.run("scripts/models/glm4.7-flash.py")

    assert run.outcomes == {
        declared("glm4.7-flash"): "failed",
        expected("glm4.7-flash"): "skipped",
    }
