# A model whose array is sourced.
LAYERS=${LAYERS:-47}
MODEL_ARGS=(
    --num-layers "$LAYERS"
    --moe-layer-freq "[0]*1+[1]*46"
    --position-embedding-type rope
    --rotary-base 1000000
)
