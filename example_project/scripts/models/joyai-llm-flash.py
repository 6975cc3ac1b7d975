"""JoyAI-LLM-Flash: multi-latent attention with plain RoPE over a very long base.

Its configuration has no scaling, so there is no factor and no magnitude to pass: only the type,
the base and the width.
"""

from __future__ import annotations


def model_args(nlayers: int = 40) -> str:
    return f"""
        --num-layers {nlayers}
        --hidden-size 2048
        --ffn-hidden-size 7168
        --num-attention-heads 32
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
        --rope-type rope
        --rotary-base 32000000
        --rotary-percent 1.0
        --no-rope-fusion

        --num-experts 256
        --moe-layer-freq [0]*1+[1]*{nlayers - 1}
        --moe-ffn-hidden-size 768
        --moe-shared-expert-intermediate-size 768
        --moe-router-topk 8
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
