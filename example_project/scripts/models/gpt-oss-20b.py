"""gpt-oss-20b: YaRN without multi-latent attention, which Megatron builds from 0.19 on.

The checkpoint keeps the bounds of the correction range fractional (``truncate: false``) and states
no attention factor: the magnitude is then that of mscale 1 over mscale-all-dim 0.
"""

from __future__ import annotations


def model_args(nlayers: int = 24) -> list[str]:
    return [
        *("--num-layers", str(nlayers)),
        *("--hidden-size", "2880"),
        *("--ffn-hidden-size", "2880"),
        *("--vocab-size", "201088"),
        *("--normalization", "RMSNorm"),
        *("--norm-epsilon", "1e-5"),
        "--quick-geglu",
        *("--glu-linear-offset", "1.0"),
        *("--activation-func-clamp-value", "7.0"),
        "--no-bias-gelu-fusion",
        "--untie-embeddings-and-output-weights",
        # attention: every other layer sees a window of 128 tokens
        *("--num-attention-heads", "64"),
        "--group-query-attention",
        *("--num-query-groups", "8"),
        *("--kv-channels", "64"),
        *("--softmax-type", "learnable"),
        *("--window-size", "128,0"),
        *("--window-attn-skip-freq", "2"),
        "--no-masked-softmax-fusion",
        # rotary embedding
        *("--position-embedding-type", "yarn"),
        *("--rotary-base", "150000"),
        *("--rotary-scaling-factor", "32"),
        *("--yarn-original-max-position-embeddings", "4096"),
        *("--yarn-beta-fast", "32"),
        *("--yarn-beta-slow", "1"),
        "--no-yarn-correction-range-round-to-int",
        *("--mscale", "1"),
        *("--mscale-all-dim", "0"),
        "--no-rope-fusion",
        # experts
        *("--num-experts", "32"),
        *("--moe-ffn-hidden-size", "2880"),
        *("--moe-router-topk", "4"),
        *("--moe-router-load-balancing-type", "aux_loss"),
        *("--moe-aux-loss-coeff", "0"),
        *("--moe-router-dtype", "fp32"),
        *("--moe-token-dispatcher-type", "alltoall"),
        "--moe-grouped-gemm",
    ]
