"""GLM-5: multi-latent attention through the adapter in ``ropeframe.models.glm5``.

The checkpoint uses plain RoPE. There is no ``--rope-type`` here on purpose: the adapter takes two
results from its rotary embedding, which only the YaRN class gives, and the framework fills in YaRN
with factor 1, which is plain RoPE in numbers. The adapter's own text says what has to change first.
Everything else about that YaRN is declared, so that no other default makes more of it.
"""

from __future__ import annotations

DENSE_LAYERS = 3


def model_args(nlayers: int = 78) -> list[str]:
    dense = min(DENSE_LAYERS, nlayers)
    return [
        *("--spec", "ropeframe.models.glm5", "get_glm5_spec"),
        *("--num-layers", str(nlayers)),
        *("--hidden-size", "6144"),
        *("--ffn-hidden-size", "12288"),
        *("--num-attention-heads", "64"),
        *("--vocab-size", "154880"),
        *("--make-vocab-size-divisible-by", "16"),
        *("--normalization", "RMSNorm"),
        *("--norm-epsilon", "1e-5"),
        "--disable-bias-linear",
        "--swiglu",
        "--untie-embeddings-and-output-weights",
        # attention
        "--multi-latent-attention",
        *("--q-lora-rank", "2048"),
        *("--kv-lora-rank", "512"),
        *("--qk-head-dim", "192"),
        *("--qk-pos-emb-head-dim", "64"),
        *("--v-head-dim", "256"),
        "--qk-layernorm",
        # rotary embedding
        *("--position-embedding-type", "rope"),
        *("--rotary-base", "1000000"),
        *("--rotary-scaling-factor", "1.0"),
        *("--original-max-position-embeddings", "4096"),
        *("--beta-fast", "32"),
        *("--beta-slow", "1"),
        *("--mscale", "1.0"),
        *("--mscale-all-dim", "0.0"),
        "--no-rope-fusion",
        # experts
        *("--num-experts", "256"),
        *("--moe-layer-freq", f"[0]*{dense}+[1]*{nlayers - dense}"),
        *("--moe-ffn-hidden-size", "2048"),
        *("--moe-shared-expert-intermediate-size", "2048"),
        *("--moe-router-topk", "8"),
        *("--moe-router-topk-scaling-factor", "2.5"),
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
