"""Command lines of every kind of attention, with the contract that guards them wholly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from strategies import MEGATRON

from pytest_ropecontract.megatron.pipeline import PipelineSettings

SIZES = "--num-layers 4 --hidden-size 256 --num-attention-heads 4 --ffn-hidden-size 512"
LATENT = (
    "--multi-latent-attention --q-lora-rank 32 --kv-lora-rank 16 --qk-head-dim 32 --v-head-dim 32"
)
YARN_MLA = (
    "--rope-type yarn --rotary-base 50000 --rotary-scaling-factor 32 --beta-slow 1 "
    "--original-max-position-embeddings 4096 --mscale 1.0 --mscale-all-dim 1.0 --no-rope-fusion"
)
YARN_GPT = (
    "--position-embedding-type yarn --rotary-base 150000 --rotary-scaling-factor 32 "
    "--yarn-original-max-position-embeddings 4096 --yarn-beta-fast 32 --yarn-beta-slow 1 "
    "--mscale 1 --mscale-all-dim 0 --kv-channels 64 --no-rope-fusion"
)
ROPE = "--position-embedding-type rope --rotary-base 1000000 --rotary-percent 1.0"
FRAMEWORK = PipelineSettings(arguments=("frames:add_options",), defaults=("frames:fill",))


@dataclass(frozen=True)
class Case:
    """A command line, and what its contracts say field by field."""

    name: str
    text: str
    fields: dict[str, Any]
    settings: PipelineSettings = FRAMEWORK

    @property
    def argv(self) -> list[str]:
        return self.text.split()


CASES = [
    Case(
        "mla-yarn",
        f"{SIZES} {LATENT} --qk-pos-emb-head-dim 32 {YARN_MLA} --beta-fast 1",
        {
            "kind": "yarn",
            "original_max_position_embeddings": 4096,
            "beta_fast": 1,
            "beta_slow": 1,
            "rotary_base": 50000,
            "rotary_dim": 32,
            "rotary_scaling_factor": 32,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
        },
    ),
    Case(
        "mla-yarn-defaults",
        f"{SIZES} {LATENT} --rope-type yarn --rotary-base 10000 --rotary-scaling-factor 40",
        {"kind": "yarn", "rotary_base": 10000, "rotary_scaling_factor": 40},
    ),
    Case(
        "mla-rope",
        f"{SIZES} {LATENT} --qk-pos-emb-head-dim 64 {ROPE} --rope-type rope --no-rope-fusion",
        {
            "kind": "rope",
            "attention": "mla",
            "rotary_base": 1000000,
            "rotary_dim": 64,
            "rotary_percent": 1.0,
        },
    ),
    Case(
        "mla-rope-bare",
        f"{SIZES} {LATENT} --rope-type rope --rotary-base 50000 --no-rope-fusion",
        {"kind": "rope", "rotary_base": 50000},
    ),
    Case(
        "mla-without-position",
        f"{SIZES} {LATENT} --position-embedding-type none --rope-type rope --rotary-base 10000 "
        "--no-rope-fusion",
        {"kind": "rope", "rotary_base": 10000},
    ),
    Case(
        "gpt-rope",
        f"{SIZES} --group-query-attention --num-query-groups 2 --kv-channels 64 {ROPE}",
        {"kind": "rope", "rotary_base": 1000000, "rotary_dim": 64, "rotary_percent": 1.0},
    ),
    Case(
        "gpt-rope-twice",
        f"{SIZES} --use-rotary-position-embeddings --position-embedding-type rope "
        "--rotary-base 500000 --rotary-percent 0.5 --rotary-interleaved --no-rope-fusion",
        {
            "kind": "rope",
            "rotary_base": 500000,
            "rotary_percent": 0.5,
            "rotary_interleaved": True,
        },
    ),
    Case(
        "gpt-interpolated",
        f"{SIZES} {ROPE} --kv-channels 64 --rotary-seq-len-interpolation-factor 4",
        {
            "kind": "rope",
            "seq_len_interpolation_factor": 4,
            "rotary_base": 1000000,
            "rotary_percent": 1.0,
            "rotary_dim": 64,
        },
    ),
    Case(
        "llama3",
        f"{SIZES} {ROPE} --use-rope-scaling",
        {"kind": "rope", "rope_scaling": True, "rotary_base": 1000000, "rotary_percent": 1.0},
    ),
    Case(
        "gpt-yarn",
        f"{SIZES} {YARN_GPT} --no-yarn-correction-range-round-to-int",
        {
            "kind": "yarn",
            "original_max_position_embeddings": 4096,
            "beta_fast": 32,
            "beta_slow": 1,
            "rotary_base": 150000,
            "rotary_scaling_factor": 32,
            "mscale": 1,
            "mscale_all_dim": 0,
            "round_to_int": False,
            "rotary_dim": 64,
        },
    ),
    Case(
        "mrope",
        f"{SIZES} --position-embedding-type mrope --mrope-section 8 12 12 --rotary-base 5000000 "
        "--rotary-percent 1.0 --kv-channels 64",
        {
            "kind": "mrope",
            "mrope_section": (8, 12, 12),
            "rotary_base": 5000000,
            "rotary_percent": 1.0,
            "rotary_dim": 64,
        },
    ),
    Case(
        "no-rope-layers",
        f"{SIZES} {ROPE} --no-rope-freq [0]*3+[1]",
        {
            "kind": "rope",
            "no_rope_layers": (0, 0, 0, 1),
            "rotary_base": 1000000,
            "rotary_percent": 1.0,
        },
    ),
    Case("none", f"{SIZES} --position-embedding-type none", {"kind": "none"}),
    Case(
        "learned",
        f"{SIZES} --position-embedding-type learned_absolute --max-position-embeddings 4096",
        {"kind": "none"},
    ),
    Case(
        "hybrid",
        f"{SIZES} --hybrid-layer-pattern M*M* {ROPE} --kv-channels 64",
        {
            "kind": "rope",
            "attention": "hybrid",
            "rotary_base": 1000000,
            "rotary_percent": 1.0,
            "rotary_dim": 64,
        },
    ),
    Case(
        "loose",
        f"{SIZES} {LATENT} --rope-type rope --rotary-base 50000 --rotary-percent 0.5 "
        "--no-rope-fusion",
        {"kind": "rope", "rotary_base": 50000, "rotary_percent": 0.5},
        PipelineSettings(arguments=("frames:add_options",), defaults=("frames:loose",)),
    ),
]
__all__ = ["CASES", "FRAMEWORK", "MEGATRON", "Case"]
