"""Qwen3-4B: plain RoPE over the whole head."""

from __future__ import annotations


def model_args(nlayers: int = 36, rotary_base: int = 1000000) -> str:
    return (
        f"--num-layers {nlayers} --hidden-size 2560 --ffn-hidden-size 9728 "
        "--num-attention-heads 32 --group-query-attention --num-query-groups 8 --kv-channels 128 "
        "--vocab-size 151936 --normalization RMSNorm --norm-epsilon 1e-6 --qk-layernorm "
        "--disable-bias-linear --swiglu "
        f"--use-rotary-position-embeddings --rotary-base {rotary_base} --rotary-percent 1.0"
    )
