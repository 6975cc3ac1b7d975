"""The text of every error that a run of pytest ends or fails with."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from mistakes import TOKENS

from pytest_ropecontract import paths

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

# Each: settings of the ini file, or options.
SETTINGS = {
    "examples": ["--rope-contract-examples=many"],
    "time-limit": {"rope_contract_time_limit": "soon"},
    "time-limits": {"rope_contract_time_limit": [2, 3]},
    "strict": {"rope_contract_strict": "perhaps"},
    "report-without-suffix": ["--rope-contract-report=report.yaml"],
    "report-in-no-folder": ["--rope-contract-report=out/report.json"],
    "report-is-a-folder": ["--rope-contract-report=folder.json"],
    "snapshots": {"rope_contract_snapshots": "pyproject.toml"},
    "unknown": {"rope_contract_unknown": "ignore"},
    "launchers": {"rope_contract_launchers": ["scripts/run-*.sh"]},
    "launch-answers": {"rope_contract_launch_answers": ["nvidia-smi"]},
    "launch-environment": {"rope_contract_launch_environment": ["=1"]},
    "pins": {"rope_contract_pins": ["moe_permute_fusion"]},
    "no-models": {"rope_contract_models": ["models/*.py"]},
    "models-glob": {"rope_contract_models": ["/models/*.py"]},
    "surface": ["--rope-contract-surface=0.20"],
}
HOOKS = {
    "models-returns": ("models(registry)", "return 7"),
    "models-raises": ("models(registry)", "registry.add('a b', '--x')"),
    "models-fails": ("models(registry)", "registry.nothing"),
    "pipeline-returns-a-list": ("pipeline(settings)", "return ['x']"),
    "pipeline-has-no-such-setting": ("pipeline(settings)", "return {'pin': {}}"),
    "pipeline-has-a-wrong-value": ("pipeline(settings)", "return {'pins': 7}"),
}
TESTS = {
    "mark-without-models": "@rope_expect('rope')\ndef test_it(): pass",
    "mark-with-no-such-model": "@rope_expect('rope', models=['kimi-k3'])\ndef test_it(): pass",
    "rope-model-too-late": "def test_it(request): request.getfixturevalue('rope_model')",
    "rope-config-of-nothing": "def test_it(rope_config): pass",
    "contract-of-no-model": "def test_it(rope_contract_of): rope_contract_of(CONFIG)",
    "contract-of-a-model-without": (
        "def test_it(rope_contract_of): rope_contract_of(CONFIG, 'kimi-k2')"
    ),
}
CONFIG = """
CONFIG = type("TransformerConfig", (), {
    "multi_latent_attention": False, "kv_channels": 16, "rotary_base": 10000,
    "position_embedding_type": "rope", "rotary_percent": 1.0, "rotary_interleaved": False,
    "seq_len_interpolation_factor": None, "rope_scaling": False,
})()
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("ROPE_CONTRACT_SURFACE", raising=False)
    pytester.mkdir("folder.json")
    folder = pytester.path / "scripts/models"
    folder.mkdir(parents=True)
    (folder / "kimi-k2.txt").write_text(TOKENS)
    ini(pytester)
    return pytester


def ini(pytester: pytest.Pytester, **settings: object) -> None:
    known = {"rope_contract_models": ["scripts/models/*"], "rope_contract_surface": "0.19.2"}
    lines = [f"{name} = {json.dumps(value)}" for name, value in {**known, **settings}.items()]
    text = "\n".join(["[tool.pytest]", 'testpaths = ["tests"]', *lines])
    (pytester.path / "pyproject.toml").write_text(f"{text}\n")


def usage_error(pytester: pytest.Pytester, *args: str) -> str:
    """Return the text of the usage error that a run ends with."""
    result = pytester.runpytest_inprocess("--rope-contract", "-p", "no:randomly", *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    return result.stderr.str().strip().removeprefix("ERROR: ")


@pytest.mark.parametrize("name", SETTINGS)
def test_setting(name: str, project: pytest.Pytester, golden: SnapshotAssertion) -> None:
    given = SETTINGS[name]
    ini(project, **(given if isinstance(given, dict) else {}))

    text = usage_error(project, *(given if isinstance(given, list) else []))

    assert text == golden
    assert "\n  remedy: " in text


@pytest.mark.parametrize("name", HOOKS)
def test_hook(name: str, project: pytest.Pytester, golden: SnapshotAssertion) -> None:
    head, body = HOOKS[name]
    project.makeconftest(f"def pytest_ropecontract_{head}:\n    {body}\n")

    text = usage_error(project)

    assert text == golden
    assert "\n  remedy: " in text


def failure(pytester: pytest.Pytester, *args: str) -> str:
    """Return the text that the only test, or the only file, fails with."""
    result = pytester.inline_run("-p", "no:randomly", *args)
    texts = {
        report.longreprtext
        for hook in ("pytest_runtest_logreport", "pytest_collectreport")
        for report in result.getreports(hook)
        if report.failed
    }
    (text,) = texts
    assert "\n  remedy: " in text
    return paths.portable(text, pytester.path)


@pytest.mark.parametrize("name", TESTS)
def test_test(name: str, project: pytest.Pytester, golden: SnapshotAssertion) -> None:
    if name == "rope-config-of-nothing":
        (project.path / "scripts/models/kimi-k2.txt").write_text("--num-layers 2")
    project.mkdir("tests")
    text = f"from pytest_ropecontract import rope_expect\n{CONFIG}\n{TESTS[name]}\n"
    (project.path / "tests/test_rope.py").write_text(text)

    assert failure(project, "tests") == golden


def test_rope_model_without_models(project: pytest.Pytester, golden: SnapshotAssertion) -> None:
    ini(project, rope_contract_models=["models/*"])
    project.makepyfile(test_rope="def test_it(rope_model): pass")

    assert failure(project, "test_rope.py") == golden


def test_checkpoints_hook(project: pytest.Pytester, golden: SnapshotAssertion) -> None:
    project.makeconftest("def pytest_ropecontract_checkpoints(model): return 7")

    assert failure(project, "--rope-contract", "-k", "test_checkpoint") == golden


def test_unused_allowance(project: pytest.Pytester, golden: SnapshotAssertion) -> None:
    allowed = ["kimi-* implicit-yarn the adapter unpacks two", "glm-* inert-flag because"]
    ini(project, rope_contract_allow=allowed)

    assert failure(project, "--rope-contract", "-k", "test_allowances") == golden


def test_no_file_for_a_model(project: pytest.Pytester, golden: SnapshotAssertion) -> None:
    """A model that a plugin registers, in a project without a file of its own."""
    (project.path / "pyproject.toml").unlink()
    project.makepyfile(
        models_plugin="def pytest_ropecontract_models(registry): registry.add('a', '--x')"
    )
    project.syspathinsert()
    try:
        text = usage_error(project, "-p", "models_plugin", "--rootdir=.")
    finally:
        sys.modules.pop("models_plugin", None)

    assert text == golden


def test_model_outside_of_a_run(golden: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_ropecontract import collection, runs  # noqa: PLC0415

    monkeypatch.setattr(runs, "_RUNS", [])
    with pytest.raises(Exception, match="known only") as caught:
        collection.current_project()

    assert str(caught.value) == golden
