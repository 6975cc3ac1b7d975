"""DeepSeek-V3: YaRN from 4096 tokens by 40, with betas 32 and 1."""

from __future__ import annotations

DENSE_LAYERS = 3


def model_args(nlayers: int = 61) -> str:
    moe_layers = ",".join("0" if layer < DENSE_LAYERS else "1" for layer in range(nlayers))
    return f"""
        --num-layers {nlayers}
        --hidden-size 7168
        --ffn-hidden-size 18432
        --num-attention-heads 128
        --vocab-size 129280
        --normalization RMSNorm
        --norm-epsilon 1e-6
        --disable-bias-linear
        --swiglu
        --untie-embeddings-and-output-weights

        --multi-latent-attention
        --q-lora-rank 1536
        --kv-lora-rank 512
        --qk-head-dim 128
        --qk-pos-emb-head-dim 64
        --v-head-dim 128
        --qk-layernorm
        --attention-softmax-in-fp32

        --position-embedding-type rope
        --rope-type yarn
        --rotary-base 10000
        --rotary-scaling-factor 40
        --original-max-position-embeddings 4096
        --beta-fast 32
        --beta-slow 1
        --mscale 1.0
        --mscale-all-dim 1.0
        --no-rope-fusion

        --num-experts 256
        --moe-layer-freq [{moe_layers}]
        --moe-ffn-hidden-size 2048
        --moe-shared-expert-intermediate-size 2048
        --moe-router-topk 8
        --moe-router-num-groups 8
        --moe-router-group-topk 4
        --moe-router-topk-scaling-factor 2.5
        --moe-router-score-function sigmoid
        --moe-router-pre-softmax
        --moe-router-enable-expert-bias
        --moe-router-bias-update-rate 0
        --moe-router-load-balancing-type seq_aux_loss
        --moe-aux-loss-coeff 0
        --moe-router-dtype fp32
        --moe-token-dispatcher-type alltoall
        --moe-grouped-gemm
        --moe-permute-fusion
    """
