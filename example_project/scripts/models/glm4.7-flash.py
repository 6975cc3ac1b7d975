"""GLM-4.7-Flash: multi-latent attention with plain RoPE.

``--rope-type rope`` must be said: left open, the framework fills in YaRN. Fused RoPE under
multi-latent attention exists for YaRN only, hence ``--no-rope-fusion``.
"""

from __future__ import annotations


def model_args(nlayers: int = 47) -> list[str]:
    return [
        *("--num-layers", str(nlayers)),
        *("--hidden-size", "2048"),
        *("--ffn-hidden-size", "10240"),
        *("--num-attention-heads", "20"),
        *("--vocab-size", "154880"),
        *("--make-vocab-size-divisible-by", "64"),
        *("--normalization", "RMSNorm"),
        *("--norm-epsilon", "1e-5"),
        "--disable-bias-linear",
        "--swiglu",
        "--untie-embeddings-and-output-weights",
        *("--mtp-num-layers", "1"),
        # attention
        "--multi-latent-attention",
        *("--q-lora-rank", "768"),
        *("--kv-lora-rank", "512"),
        *("--qk-head-dim", "192"),
        *("--qk-pos-emb-head-dim", "64"),
        *("--v-head-dim", "256"),
        # 20 heads do not divide 2048, so Megatron wants a width that this attention never reads
        *("--kv-channels", "192"),
        "--qk-layernorm",
        # rotary embedding
        *("--position-embedding-type", "rope"),
        *("--rope-type", "rope"),
        *("--rotary-base", "1000000"),
        *("--rotary-percent", "1.0"),
        "--no-rope-fusion",
        # experts: the first layer is dense
        *("--num-experts", "64"),
        *("--moe-layer-freq", f"[0]*1+[1]*{nlayers - 1}"),
        *("--moe-ffn-hidden-size", "1536"),
        *("--moe-shared-expert-intermediate-size", "1536"),
        *("--moe-router-topk", "4"),
        *("--moe-router-topk-scaling-factor", "1.8"),
        *("--moe-router-score-function", "sigmoid"),
        "--moe-router-pre-softmax",
        "--moe-router-enable-expert-bias",
        *("--moe-router-bias-update-rate", "0"),
        *("--moe-router-load-balancing-type", "seq_aux_loss"),
        *("--moe-aux-loss-coeff", "0"),
        *("--moe-router-dtype", "fp32"),
        "--moe-grouped-gemm",
        "--moe-permute-fusion",
    ]
