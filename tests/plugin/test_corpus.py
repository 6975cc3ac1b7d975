"""The definitions of a large framework, where the environment names a folder with them.

``ROPE_CONTRACT_CORPUS`` names a folder whose ``miles_model_args`` holds one argv file a model.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from plugin_project import EXAMPLE, REPORT, Project, Run
from published_configs import PUBLISHED
from published_definitions import REAL

# What test_checkpoint finds; the other rules are those about definitions.
COMPARED = ("checkpoint", "unreachable-field", "unknown-checkpoint-key")
CORPUS = os.environ.get("ROPE_CONTRACT_CORPUS", "")

pytestmark = pytest.mark.skipif(not CORPUS, reason="ROPE_CONTRACT_CORPUS names no corpus")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run pytest over the whole corpus, once."""
    root = tmp_path_factory.mktemp("corpus")
    models = Path(CORPUS) / "miles_model_args"
    shutil.copytree(models, root / "models")
    shutil.copytree(EXAMPLE / "ropeframe", root / "ropeframe")
    return root


@pytest.fixture(scope="module")
def results() -> dict[str, Run]:
    return {}


@pytest.fixture
def corpus(run: Path, results: dict[str, Run], pytester: pytest.Pytester) -> Run:
    if "run" not in results:
        project = Project(pytester)
        shutil.copytree(run, project.root, dirs_exist_ok=True)
        project.ini(
            rope_contract_models=["models/*.txt"],
            rope_contract_pythonpath=["."],
            rope_contract_surface="0.19.2",
            rope_contract_arguments=["ropeframe.arguments:add_rope_arguments"],
            rope_contract_defaults=["ropeframe.arguments:set_default_megatron_args"],
            rope_contract_stubs=["ropeframe.arguments:validate_gpus"],
        )
        publish(project)
        done = project.run_without("--rope-contract", REPORT, "-k", "declared or checkpoint")
        done.models = {model["name"]: model for model in done.report["models"]}
        results["run"] = done
    return results["run"]


def publish(project: Project) -> None:
    """Give every definition the checkpoints that it is of."""
    for model, name in REAL:
        suffix = "@0905" if name.endswith("-0905") else ""
        text = json.dumps(PUBLISHED[name].config)
        project.write(f"tests/checkpoints/{model}{suffix}.json", text)


def rope(run: Run, name: str, *fields: str) -> tuple[Any, ...]:
    return tuple(run.models[name]["rope"][field] for field in fields)


def rules(run: Run, name: str, status: str = "fail") -> set[str]:
    findings = run.models[name]["findings"]
    return {one["rule"] for one in findings if one["status"] == status}


def messages(run: Run, name: str, rule: str) -> list[str]:
    findings = run.models[name]["findings"]
    return [one["message"] for one in findings if one["rule"] == rule]


def test_no_definition_ends_the_run(corpus: Run) -> None:
    files = {path.stem for path in (Path(CORPUS) / "miles_model_args").glob("*.txt")}

    assert "INTERNALERROR" not in corpus.out + corpus.err
    assert set(corpus.models) == files
    assert len([one for one in corpus.outcomes if "::test_declared" in one]) == len(files)
    assert not [one for one in corpus.models.values() if one["error"]]


def test_kimi_k2_is_declared_yarn(corpus: Run) -> None:
    fields = (
        *("kind", "rotary_scaling_factor", "original_max_position_embeddings"),
        *("beta_fast", "beta_slow", "rotary_base"),
    )

    assert rope(corpus, "kimi-k2", *fields) == ("yarn", 32, 4096, 1, 1, 50000)
    origins = corpus.models["kimi-k2"]["origins"]
    assert {origins[field] for field in fields} == {"declared"}


def test_deepseek_v3_is_implicit_yarn(corpus: Run) -> None:
    assert "implicit-yarn" in rules(corpus, "deepseek-v3")
    assert rope(corpus, "deepseek-v3", "rotary_scaling_factor") == (40,)
    magnitude, multiplier = rope(corpus, "deepseek-v3", "magnitude", "softmax_multiplier")
    assert magnitude == pytest.approx(1.0)
    assert multiplier == pytest.approx(1.873854, abs=5e-7)


def test_flash_models_and_the_glm5_family_are_implicit_yarn_of_factor_one(corpus: Run) -> None:
    glm5 = [name for name in corpus.models if name.startswith("glm5")]
    assert len(glm5) == 10

    for name in ("glm4.7-flash", "joyai-llm-flash", *glm5):
        assert "implicit-yarn" in rules(corpus, name), name
        assert rope(corpus, name, "kind", "rotary_scaling_factor") == ("yarn", 1), name


def test_llama_32_has_an_inert_flag(corpus: Run) -> None:
    name = "llama3.2-3B-Instruct"

    assert rules(corpus, name) - set(COMPARED) == {"inert-flag"}
    assert "--rotary-scaling-factor" in messages(corpus, name, "inert-flag")[0]
    assert rope(corpus, name, "rope_scaling_factor") == (8.0,)
    origins = corpus.models[name]["origins"]
    assert origins["rope_scaling_factor"] == "constructor-default"


def test_llama_31_has_the_same_flag_as_a_note(corpus: Run) -> None:
    name = "llama3.1-8B-Instruct"

    assert rules(corpus, name) == set()
    assert "--rotary-scaling-factor" in messages(corpus, name, "inert-flag")[0]
    assert "inert-flag" in rules(corpus, name, "note")


def test_common_attention(corpus: Run) -> None:
    assert rope(corpus, "qwen3-4B", "kind", "rotary_base") == ("rope", 1000000)
    assert rope(corpus, "gpt-oss-20b", "kind") == ("rope",)


def test_glm45_rotates_half_of_its_heads(corpus: Run) -> None:
    argv = corpus.models["glm4.5-355B-A32B"]["argv"]
    channels = int(argv[argv.index("--kv-channels") + 1])

    assert rope(corpus, "glm4.5-355B-A32B", "rotary_dim") == (channels // 2,)


@pytest.mark.parametrize(
    "name", ["nemotron-3-nano-4b", "nemotron-3-super-120b-a12b", "inkling", "inkling-small"]
)
def test_models_that_rotate_nothing(corpus: Run, name: str) -> None:
    model = corpus.models[name]
    if model["rope"] is None:
        assert "rejected-flag" in rules(corpus, name)
    else:
        assert model["rope"]["kind"] == "none"


def test_flags_that_megatron_does_not_know_are_named(corpus: Run) -> None:
    rejected = {
        name: messages(corpus, name, "rejected-flag")
        for name in corpus.models
        if "rejected-flag" in rules(corpus, name)
    }

    assert rejected
    for name, texts in rejected.items():
        assert all("has no flag --" in text or "argument --" in text for text in texts), name


@pytest.mark.parametrize("model", sorted({model for model, _ in REAL}))
def test_definition_against_its_checkpoints(corpus: Run, model: str) -> None:
    expected = [one for (name, _), fields in REAL.items() if name == model for one in fields]

    found = [one for one in corpus.models[model]["findings"] if one["rule"] in COMPARED]

    assert [one["field"] for one in found] == [field for field, _ in expected]
    for finding, (_, size) in zip(found, expected, strict=True):
        assert size in finding["effect"]
    outcome = corpus.outcomes[f"models/{model}.txt::test_checkpoint[{model}]"]
    assert outcome == ("failed" if expected else "passed")
