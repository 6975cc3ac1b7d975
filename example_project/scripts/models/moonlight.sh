# Moonlight-16B-A3B: multi-latent attention with plain RoPE.
# Source this file, then pass "${MODEL_ARGS[@]}" on. MODEL_ARGS_NUM_LAYERS cuts the model, and
# MODEL_ARGS_ROTARY_BASE replaces the base.

MODEL_ARGS_NUM_LAYERS="${MODEL_ARGS_NUM_LAYERS:-27}"
MODEL_ARGS_DENSE_LAYERS=1

model_args_moe_layer_freq() {
    local moe=$((MODEL_ARGS_NUM_LAYERS - MODEL_ARGS_DENSE_LAYERS))
    printf '[0]*%d+[1]*%d' "${MODEL_ARGS_DENSE_LAYERS}" "${moe}"
}

MODEL_ARGS=(
    --num-layers "${MODEL_ARGS_NUM_LAYERS}"
    --hidden-size 2048
    --ffn-hidden-size 11264
    --num-attention-heads 16
    --vocab-size 163840
    --normalization RMSNorm
    --norm-epsilon 1e-5
    --disable-bias-linear
    --swiglu
    --untie-embeddings-and-output-weights

    # attention: queries are not compressed
    --multi-latent-attention
    --kv-lora-rank 512
    --qk-head-dim 128
    --qk-pos-emb-head-dim 64
    --v-head-dim 128
    --qk-layernorm

    # rotary embedding
    --position-embedding-type rope
    --rope-type rope
    --rotary-base "${MODEL_ARGS_ROTARY_BASE:-50000}"
    --rotary-percent 1.0
    --no-rope-fusion

    # experts
    --num-experts 64
    --moe-layer-freq "$(model_args_moe_layer_freq)"
    --moe-ffn-hidden-size 1408
    --moe-shared-expert-intermediate-size 2816
    --moe-router-topk 6
    --moe-router-topk-scaling-factor 2.446
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
)
