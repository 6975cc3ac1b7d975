"""Kimi-K2-Thinking: YaRN from 4096 tokens by 64, with both betas 1."""

from __future__ import annotations


def model_args(nlayers: int = 61, beta_fast: float = 1) -> list[str]:
    return [
        *("--num-layers", str(nlayers)),
        *("--hidden-size", "7168"),
        *("--ffn-hidden-size", "18432"),
        *("--num-attention-heads", "64"),
        *("--vocab-size", "163840"),
        *("--normalization", "RMSNorm"),
        *("--norm-epsilon", "1e-5"),
        "--disable-bias-linear",
        "--swiglu",
        "--untie-embeddings-and-output-weights",
        # attention
        "--multi-latent-attention",
        *("--q-lora-rank", "1536"),
        *("--kv-lora-rank", "512"),
        *("--qk-head-dim", "128"),
        *("--qk-pos-emb-head-dim", "64"),
        *("--v-head-dim", "128"),
        "--qk-layernorm",
        "--attention-softmax-in-fp32",
        # rotary embedding
        *("--position-embedding-type", "rope"),
        *("--rope-type", "yarn"),
        *("--rotary-base", "50000"),
        *("--rotary-scaling-factor", "64"),
        *("--original-max-position-embeddings", "4096"),
        *("--beta-fast", f"{beta_fast:g}"),
        *("--beta-slow", "1"),
        *("--mscale", "1.0"),
        *("--mscale-all-dim", "1.0"),
        "--no-rope-fusion",
        # experts: the first layer is dense
        *("--num-experts", "384"),
        *("--moe-layer-freq", f"[0]*1+[1]*{nlayers - 1}"),
        *("--moe-ffn-hidden-size", "2048"),
        *("--moe-shared-expert-intermediate-size", "2048"),
        *("--moe-router-topk", "8"),
        *("--moe-router-topk-scaling-factor", "2.827"),
        *("--moe-router-score-function", "sigmoid"),
        "--moe-router-pre-softmax",
        "--moe-router-enable-expert-bias",
        *("--moe-router-bias-update-rate", "0"),
        *("--moe-router-load-balancing-type", "seq_aux_loss"),
        *("--moe-aux-loss-coeff", "0"),
        *("--moe-router-dtype", "fp32"),
        *("--moe-token-dispatcher-type", "alltoall"),
        "--moe-grouped-gemm",
        "--moe-permute-fusion",
    ]
