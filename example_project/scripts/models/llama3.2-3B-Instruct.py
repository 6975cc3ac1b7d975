"""Llama-3.2-3B-Instruct: RoPE with the llama3 rule.

The checkpoint publishes a factor of 32. Megatron builds the rule with the factor 8, the default of
its RotaryEmbedding, and no flag reaches that argument: ``--rope-scaling-factor`` is parsed and not
handed on, ``--rotary-scaling-factor`` belongs to YaRN. Neither is passed here, because a flag that
nothing reads would only look like the right value. Training starts from another positional
embedding than the checkpoint's; the contract in ``tests/test_contracts.py`` pins what is built.
"""

from __future__ import annotations


def model_args(nlayers: int = 28) -> str:
    return f"""
        --num-layers {nlayers}
        --hidden-size 3072
        --ffn-hidden-size 8192
        --num-attention-heads 24
        --group-query-attention
        --num-query-groups 8
        --kv-channels 128
        --vocab-size 128256
        --normalization RMSNorm
        --norm-epsilon 1e-5
        --disable-bias-linear
        --swiglu

        --position-embedding-type rope
        --rotary-base 500000
        --rotary-percent 1.0
        --use-rope-scaling
    """
