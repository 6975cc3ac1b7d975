"""Faults that were reported in public, each with what is found and with the right value.

The figures are those of the reports, or follow from the formulas that they name; none is
taken from what this package computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from built_configs import MLATransformerConfig
from published_configs import PUBLISHED, Config

from pytest_ropecontract.contracts import rules
from pytest_ropecontract.contracts.arity import rule as arity
from pytest_ropecontract.contracts.checkpoints import comparison
from pytest_ropecontract.contracts.checkpoints.reach import Attributes, Reach
from pytest_ropecontract.contracts.checkpoints.reader import read
from pytest_ropecontract.contracts.expectation import equal
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.rope.built import resolve_config
from pytest_ropecontract.rope.effect import compare
from pytest_ropecontract.rope.frequencies import correction_range
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.rope.resolution import Resolution

FRAME = Path(__file__).parents[2] / "example_project"
MLA = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
    "--max-position-embeddings 128 --position-embedding-type rope --multi-latent-attention "
    "--qk-pos-emb-head-dim 64 --no-rope-fusion"
)
GPT = (
    "--num-layers 2 --hidden-size 256 --num-attention-heads 4 --rotary-percent 1.0 "
    "--position-embedding-type rope"
)
KIMI = (
    f"{MLA} --rope-type yarn --rotary-base 50000 --rotary-scaling-factor 32 --mscale 1 "
    "--mscale-all-dim 1"
)
KIMI_64 = KIMI.replace("factor 32", "factor 64")
DEEPSEEK = f"{MLA} --rope-type yarn --rotary-base 10000 --rotary-scaling-factor 40"
LLAMA = f"{GPT} --kv-channels 128 --use-rope-scaling --rotary-base 500000"
GPT_OSS = f"{GPT} --kv-channels 64 --rotary-base 150000"
GPT_OSS_YARN = (
    f"{GPT_OSS} --rotary-scaling-factor 32 --yarn-original-max-position-embeddings 4096 "
    "--mscale 1.0 --mscale-all-dim 0.0"
).replace("type rope", "type yarn")
V4_SLICE: Config = {
    "rope_theta": 10000,
    "head_dim": 512,
    "qk_rope_head_dim": 64,
    "partial_rotary_factor": 0.125,
}
INVENTED_KEY: Config = {
    "rope_theta": 10000,
    "qk_rope_head_dim": 64,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 4.0,
        "attn_factor": 0.8782488562869419,
        "original_max_position_embeddings": 4096,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
    },
}


@cache
def pipeline(*, frame: bool = True, unknown: str = "reject") -> Pipeline:
    """Return Megatron with or without a framework's own YaRN flags."""
    added = ("ropeframe.arguments:add_rope_arguments",) if frame else ()
    filled = ("ropeframe.arguments:set_default_megatron_args",)
    settings = PipelineSettings(
        arguments=added,
        defaults=filled,
        unknown=unknown,
        pythonpath=(str(FRAME),),
    )
    return Pipeline(choose("megatron-core-0.19.2", Path.cwd()), settings)


def of(name: str) -> Config:
    return PUBLISHED[name].config


@dataclass(frozen=True)
class Report:
    """A fault that was reported.

    Attributes:
        argv: The flags that have it.
        config: The published config, or None where none is needed to see it.
        rule: The rule that finds it.
        field: The field in which it shows.
        right: The right value.
        wrong: The value that was used.
        size: What the report says about its size, as parts of the finding's.
        remedy: A part of what is to be done.
        corrected: The flags without the fault, or None where no flag corrects it.
        frame: Whether the parser has a framework's YaRN flags.
        unknown: What becomes of unknown flags.
    """

    argv: str
    config: Config | None
    rule: str
    field: str | None
    right: Any
    wrong: Any
    size: tuple[str, ...] = ()
    remedy: str = ""
    corrected: str | None = None
    frame: bool = True
    unknown: str = "reject"


REPORTS = {
    # Latent attention without a rope type: a default-filling function makes it YaRN.
    "GLM-4.7-Flash trains as yarn": Report(
        f"{MLA} --rotary-base 1000000",
        of("GLM-4.7-Flash"),
        *("checkpoint", "kind", "rope", "yarn"),
        size=("numerically identical",),
        remedy="--rope-type rope",
        corrected=f"{MLA} --rotary-base 1000000 --rope-type rope",
    ),
    "GLM-5 trains as yarn": Report(
        f"{MLA} --rotary-base 1000000",
        of("GLM-5"),
        *("checkpoint", "kind", "rope", "yarn"),
        size=("numerically identical",),
        corrected=f"{MLA} --rotary-base 1000000 --rope-type rope",
    ),
    "GLM-5.2 trains as yarn": Report(
        f"{MLA} --rotary-base 8000000",
        of("GLM-5.2"),
        *("checkpoint", "kind", "rope", "yarn"),
        size=("numerically identical",),
        corrected=f"{MLA} --rotary-base 8000000 --rope-type rope",
    ),
    "JoyAI-LLM-Flash trains as yarn": Report(
        f"{MLA} --rotary-base 32000000",
        of("JoyAI-LLM-Flash"),
        *("implicit-yarn", "kind", None, "yarn"),
        corrected=f"{MLA} --rotary-base 32000000 --rope-type rope",
    ),
    # The checkpoint's beta_fast is not the default.
    "Kimi K2 with the default beta_fast": Report(
        KIMI,
        of("Kimi-K2-Instruct"),
        *("checkpoint", "beta_fast", 1, 32),
        size=("11 of 32 frequencies differ",),
        remedy="--beta-fast 1",
        corrected=f"{KIMI} --beta-fast 1",
    ),
    "Kimi K2 where no flag sets beta_fast": Report(
        KIMI,
        of("Kimi-K2-Instruct"),
        *("unreachable-field", "beta_fast", 1, 32),
        size=("11 of 32 frequencies differ",),
        remedy="rope_contract_arguments",
        frame=False,
    ),
    "Kimi K2.5 with the flags of K2-Thinking": Report(
        f"{KIMI_64} --beta-fast 1",
        of("Kimi-K2.5"),
        *("checkpoint", "beta_fast", 32, 1),
        size=("11 of 32 frequencies differ", "ratio 10"),
        remedy="--beta-fast 32",
        corrected=f"{KIMI_64} --beta-fast 32",
    ),
    # The two mscales: one is the magnitude's, one the softmax scale's.
    "DeepSeek-V3 without mscale_all_dim: cosine and sine": Report(
        f"{DEEPSEEK} --mscale 1.0 --mscale-all-dim 0.0",
        of("DeepSeek-V3"),
        *("checkpoint", "magnitude", 1.0, 1.368888),
        size=("0 of 32 frequencies differ", "cosine and sine x1.369"),
        corrected=f"{DEEPSEEK} --mscale 1.0 --mscale-all-dim 1.0",
    ),
    "DeepSeek-V3 without mscale_all_dim: softmax": Report(
        f"{DEEPSEEK} --mscale 1.0 --mscale-all-dim 0.0",
        of("DeepSeek-V3"),
        *("checkpoint", "softmax_multiplier", 1.873854, 1.0),
        remedy="--mscale-all-dim 1",
        corrected=f"{DEEPSEEK} --mscale 1.0 --mscale-all-dim 1.0",
    ),
    "DeepSeek-V3 with the longest length as the original one": Report(
        f"{DEEPSEEK} --mscale 1 --mscale-all-dim 1 --original-max-position-embeddings 163840",
        of("DeepSeek-V3"),
        *("checkpoint", "original_max_position_embeddings", 4096, 163840),
        size=("21 of 32 frequencies differ", "ratio 40"),
        corrected=f"{DEEPSEEK} --mscale 1 --mscale-all-dim 1",
    ),
    "DeepSeek-V3 with 16384 as the original length": Report(
        f"{DEEPSEEK} --mscale 1 --mscale-all-dim 1 --original-max-position-embeddings 16384",
        of("DeepSeek-V3"),
        *("checkpoint", "original_max_position_embeddings", 4096, 16384),
        size=("17 of 32 frequencies differ",),
        corrected=f"{DEEPSEEK} --mscale 1 --mscale-all-dim 1",
    ),
    # The llama3 factor: parsed and not handed on, or given to a flag of another attention.
    "Llama 3.2 with a factor that is not handed on": Report(
        f"{LLAMA} --rope-scaling-factor 32",
        of("Llama-3.2-3B"),
        *("unreachable-field", "rope_scaling_factor", 32, 8),
        size=("35 of 64 frequencies differ", "ratio 4"),
    ),
    "Llama 3.2 with a flag that nothing reads": Report(
        f"{LLAMA} --rope-scaling-factor 32",
        of("Llama-3.2-3B"),
        *("inert-flag", "rope_scaling_factor", 32, 8),
    ),
    "Llama 3.2 with the factor of latent attention": Report(
        f"{LLAMA} --rotary-scaling-factor 32.0",
        of("Llama-3.2-3B"),
        *("inert-flag", "rope_scaling_factor", 32, 8),
    ),
    "Llama 3.1 as linear scaling": Report(
        f"{GPT} --kv-channels 128 --rotary-base 500000 --rotary-seq-len-interpolation-factor 8",
        of("Llama-3.1-8B"),
        *("checkpoint", "rope_scaling", True, False),
        size=("35 of 64 frequencies differ",),
        remedy="--use-rope-scaling",
        corrected=LLAMA,
    ),
    # The base.
    "Qwen2.5-1.5B with the base of another model": Report(
        f"{GPT} --kv-channels 128 --rotary-base 10000",
        of("Qwen2.5-1.5B"),
        *("checkpoint", "rotary_base", 1000000, 10000),
        remedy="--rotary-base 1000000",
        corrected=f"{GPT} --kv-channels 128 --rotary-base 1000000",
    ),
    # The correction range.
    "gpt-oss with rounded bounds": Report(
        GPT_OSS_YARN,
        of("gpt-oss-20b"),
        *("checkpoint", "round_to_int", False, True),
        size=("9 of 32 frequencies differ",),
        remedy="--no-yarn-correction-range-round-to-int",
        corrected=f"{GPT_OSS_YARN} --no-yarn-correction-range-round-to-int",
    ),
    "gpt-oss as plain RoPE": Report(
        GPT_OSS,
        of("gpt-oss-20b"),
        *("checkpoint", "kind", "yarn", "rope"),
        size=("23 of 32 frequencies differ", "cosine and sine x0.7426"),
        remedy="--position-embedding-type yarn",
        corrected=f"{GPT_OSS_YARN} --no-yarn-correction-range-round-to-int",
    ),
    # A fraction of the head, applied to the part of it that is rotated.
    "DeepSeek-V4 with an eighth of its slice": Report(
        f"{MLA} --rope-type rope --rotary-base 10000 --rotary-percent 0.125",
        V4_SLICE,
        *("checkpoint", "rotary_dim", 64, 8),
        size=("8 elements rotated against 64 elements",),
        remedy="--rotary-percent 1",
        corrected=f"{MLA} --rope-type rope --rotary-base 10000",
    ),
    # A key that is spelled in no known way: the file has to be decided upon.
    "a checkpoint with attn_factor": Report(
        f"{DEEPSEEK.replace('factor 40', 'factor 4')} --mscale 1 --mscale-all-dim 1",
        INVENTED_KEY,
        *("unknown-checkpoint-key", None, None, None),
        remedy="attention_factor",
    ),
    # Plain RoPE under latent attention needs fusion off: the pair has to be reported.
    "plain RoPE with fusion": Report(
        f"{MLA} --rope-type rope --rotary-base 1000000".replace(" --no-rope-fusion", ""),
        of("GLM-5"),
        *("config-refused", None, None, None),
        remedy="--no-rope-fusion",
        corrected=f"{MLA} --rope-type rope --rotary-base 1000000",
    ),
    # A flag of one fork on the parser of another.
    "a flag that is dropped": Report(
        f"{KIMI} --beta-fast 1",
        None,
        *("dropped-flag", None, None, None),
        frame=False,
        unknown="drop",
        corrected=KIMI,
    ),
    "a flag that is refused": Report(
        f"{KIMI} --beta-fast 1",
        None,
        *("rejected-flag", None, None, None),
        frame=False,
        corrected=KIMI,
    ),
}
every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=list(REPORTS))


def failing(report: Report, argv: str) -> list[Finding]:
    """Return the findings that fail, of the rules and of the checkpoint."""
    used = pipeline(frame=report.frame, unknown=report.unknown)
    resolution = resolve(used, argv.split())
    found = [*rules.check("m", resolution, used)]
    if report.config is not None:
        checkpoint = read(report.config, "m.json")
        found.extend(comparison.check("m", checkpoint, resolution, Reach(used)))
    return [one for one in found if one.status == "fail"]


def near(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, abs=1e-6)
    return equal(one, other)


@every_report
def test_the_fault_is_found(report: Report) -> None:
    found = [one for one in failing(report, report.argv) if one.rule == report.rule]
    (finding,) = [one for one in found if one.field == report.field]

    assert near(finding.expected, report.right), finding.expected
    assert near(finding.actual, report.wrong), finding.actual
    for part in report.size:
        assert part in (finding.effect or "")
    assert report.remedy in (finding.remedy or "")


@pytest.mark.parametrize(
    "report",
    [one for one in REPORTS.values() if one.corrected is not None],
    ids=[name for name, one in REPORTS.items() if one.corrected is not None],
)
def test_the_right_value_passes(report: Report) -> None:
    assert report.corrected is not None

    assert [one.headline for one in failing(report, report.corrected)] == []


def resolved(argv: str) -> Resolution:
    return resolve(pipeline(), argv.split())


@pytest.mark.parametrize(
    ("mscales", "softmax", "magnitude"),
    [
        ("--mscale 1.0 --mscale-all-dim 0.0", 1.0, 1.368888),
        ("--mscale 1.0 --mscale-all-dim 1.0", 1.873854, 1.0),
        ("--mscale 0.707 --mscale-all-dim 0.707", 1.589626, 1.0),
    ],
)
def test_softmax_scale_is_that_of_mscale_all_dim(
    mscales: str, softmax: float, magnitude: float
) -> None:
    rope = resolved(f"{DEEPSEEK} {mscales}").rope

    assert rope is not None
    assert rope.softmax_multiplier == pytest.approx(softmax, abs=1e-6)
    assert rope.magnitude == pytest.approx(magnitude, abs=1e-6)


def test_bounds_of_gpt_oss_are_not_rounded() -> None:
    shape = {"dim": 64, "base": 150000, "original_max_position_embeddings": 4096}

    low, high = correction_range(32, 1, **shape, round_to_int=False)

    assert (low, high) == (pytest.approx(8.093, abs=5e-4), pytest.approx(17.398, abs=5e-4))
    assert correction_range(32, 1, **shape, round_to_int=True) == (8, 18)


@pytest.mark.parametrize("base", ["1000000", "1000000.0"])
def test_whole_numbers_and_floats_are_the_same_base(base: str) -> None:
    config = {"rope_theta": float(base), "head_dim": 128}
    argv = f"{GPT} --kv-channels 128 --rotary-base 1000000"

    assert failing(Report(argv, config, "", None, None, None), argv) == []


@pytest.mark.parametrize("stale", [{}, {"rope_theta": None}])
def test_base_that_only_the_nested_block_states(stale: Config) -> None:
    block = {"rope_theta": 500000, "rope_type": "default"}
    argv = f"{GPT} --kv-channels 64 --rotary-base 500000"
    report = Report(
        argv, {**stale, "text_config": {"rope_parameters": block}}, "", None, None, None
    )

    assert failing(report, argv) == []


# A provider constructs the config in code: its class defaults stand where flags would.


NO_SCALING: list[Any] = [None, {}, {"rope_type": "default"}, {"type": "default"}]


@pytest.mark.parametrize("block", NO_SCALING, ids=repr)
def test_default_factor_of_a_provider_does_not_survive(block: Any) -> None:
    config = {"rope_theta": 50000, "qk_rope_head_dim": 64, "rope_scaling": block}
    provided = resolve_config(MLATransformerConfig(rotary_base=50000))

    (finding,) = comparison.check("moonlight", read(config, "m.json"), provided, Attributes())

    assert (finding.rule, finding.field) == ("checkpoint", "kind")
    assert "23 of 32 frequencies differ" in (finding.effect or "")
    assert "cosine and sine x1.369" in (finding.effect or "")
    right = resolve_config(MLATransformerConfig(rotary_base=50000, rope_type="rope"))
    assert comparison.check("moonlight", read(config), right, Attributes()) == ()


YARN_40 = {"rope_type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}
COMMON = {
    "kv_channels": 64,
    "multi_latent_attention": False,
    "position_embedding_type": "rope",
    "rotary_interleaved": False,
}


@pytest.mark.parametrize(
    ("built", "stated", "remedy"),
    [
        (
            MLATransformerConfig(rotary_base=10000, rope_type="rope"),
            {},
            "set MLATransformerConfig.rotary_base",
        ),
        # Its factor multiplies the softmax scale of plain RoPE, too.
        (
            MLATransformerConfig(rotary_base=50000, rope_type="rope", mscale_all_dim=1.0),
            {},
            "set mscale_all_dim",
        ),
        (SimpleNamespace(**COMMON), {}, "set GPTModel.rotary_base"),
        (
            SimpleNamespace(**COMMON, rotary_base=50000),
            {"no_rope_layers": [1, 1, 1, 0]},
            "set no_rope_freq",
        ),
        (
            MLATransformerConfig(rotary_base=50000),
            {"rope_scaling": {**YARN_40, "truncate": False, "mscale": 1.0, "mscale_all_dim": 0}},
            "allow the deviation, or construct the embedding in another way",
        ),
        (
            MLATransformerConfig(rotary_base=50000),
            {"rope_scaling": {**YARN_40, "rope_type": "longrope"}},
            "allow the deviation (rope_contract_allow), or train this model elsewhere",
        ),
    ],
    ids=["config", "factors", "model", "layers", "constructor", "no class"],
)
def test_what_to_set_on_a_provider(built: object, stated: Config, remedy: str) -> None:
    """Where nothing can be set, the rule is another one."""
    config = {"rope_theta": 50000, "head_dim": 64, "qk_rope_head_dim": 64, **stated}

    found = comparison.check("m", read(config, "m.json"), resolve_config(built), Attributes())

    rule = "checkpoint" if remedy.startswith("set ") else "unreachable-field"
    assert [one.remedy for one in found if one.rule == rule] == [remedy]


def test_type_that_nobody_knows_is_refused() -> None:
    config = {"rope_theta": 50000, "rope_scaling": {"rope_type": "unheard", "factor": 4.0}}
    built = resolve_config(MLATransformerConfig(rotary_base=50000, rope_type="rope"))

    found = comparison.check("moonlight", read(config, "m.json"), built, Attributes())

    assert [one.rule for one in found] == ["checkpoint"]
    assert "'unheard'" in found[0].message


def test_size_of_the_default_factor_for_glm5() -> None:
    """GLM-5 as YaRN is harmless from the command line, and not from a provider."""
    wrong = resolve_config(MLATransformerConfig(rotary_base=1000000)).rope
    right = resolve_config(MLATransformerConfig(rotary_base=1000000, rope_type="rope")).rope
    harmless = resolved(f"{MLA} --rotary-base 1000000").rope
    assert wrong is not None
    assert right is not None
    assert harmless is not None

    assert compare(wrong, right).text.startswith("25 of 32 frequencies differ")
    assert "cosine and sine x1.369" in compare(wrong, right).text
    assert compare(harmless, right).numerically_identical


# An adapter that branches on the type where it builds, and not where it calls.

ADAPTER = """
class Attention(Base):
    def __init__(self, config):
        if config.rope_type == "rope":
            self.rotary_pos_emb = RotaryEmbedding(config.qk_pos_emb_head_dim)
        else:
            self.rotary_pos_emb = YarnRotaryEmbedding(config.qk_pos_emb_head_dim)

    def forward(self, length):
        table, mscale = self.rotary_pos_emb(length)


def get_spec(args, config):
    return Attention
"""
AS_MEGATRON_DOES = """
        if self.config.rope_type == "rope":
            table = self.rotary_pos_emb(length)
            mscale = 1.0
        else:
            table, mscale = self.rotary_pos_emb(length)
"""


def test_adapter_of_glm5_with_the_right_type(tmp_path: Path) -> None:
    argv = f"{MLA} --rotary-base 1000000 --rope-type rope --spec glm5_adapter get_spec"
    resolution = resolved(argv)
    assert resolution.rope is not None
    assert (resolution.rope.returns, resolution.rope.magnitude) == (1, 1.0)
    path = tmp_path / "glm5_adapter.py"

    path.write_text(ADAPTER)
    (finding,) = arity.check("glm5", resolution, tmp_path, ())
    path.write_text(
        ADAPTER.replace("        table, mscale = self.rotary_pos_emb(length)\n", AS_MEGATRON_DOES)
    )
    assert arity.check("glm5", resolution, tmp_path, ()) == ()

    assert finding.rule == "return-arity"
    assert "glm5_adapter.py:10" in finding.message
