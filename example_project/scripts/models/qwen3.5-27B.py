"""Qwen3.5-27B: three layers of linear attention to one of full attention, RoPE on a quarter.

The checkpoint splits the frequencies into sections for time, height and width. In text all three
positions of a token are the same number, and then the sections are plain RoPE: this definition
trains on text, so it says ``rope``.
"""

from __future__ import annotations


def model_args(nlayers: int = 64) -> list[str]:
    return [
        *("--num-layers", str(nlayers)),
        *("--hidden-size", "5120"),
        *("--ffn-hidden-size", "17408"),
        *("--vocab-size", "248320"),
        *("--normalization", "RMSNorm"),
        *("--norm-epsilon", "1e-6"),
        "--apply-layernorm-1p",
        "--disable-bias-linear",
        "--swiglu",
        "--untie-embeddings-and-output-weights",
        # full attention
        *("--num-attention-heads", "24"),
        "--group-query-attention",
        *("--num-query-groups", "4"),
        *("--kv-channels", "256"),
        "--qk-layernorm",
        "--attention-output-gate",
        # linear attention
        *("--experimental-attention-variant", "gated_delta_net"),
        *("--linear-attention-freq", "4"),
        *("--linear-conv-kernel-dim", "4"),
        *("--linear-key-head-dim", "128"),
        *("--linear-value-head-dim", "128"),
        *("--linear-num-key-heads", "16"),
        *("--linear-num-value-heads", "48"),
        # rotary embedding: 64 of a head's 256 elements
        *("--position-embedding-type", "rope"),
        *("--rotary-base", "10000000"),
        *("--rotary-percent", "0.25"),
    ]
