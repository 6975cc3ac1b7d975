"""What the config classes of transformers decide by themselves.

A file states what its class does not. These tables name the model types whose class adds
something that a reader of the file must know, or must not assume. A value that a class would
fill in is never taken as published.
"""

from __future__ import annotations

# Classes with their own fraction of the head that is rotated: without the key in the file,
# the width is theirs.
OWN_FRACTION = frozenset(
    {
        "bamba",
        "deepseek_v4",
        "fuyu",
        "glm",
        "glm4",
        "glm4_moe",
        "glm4v_moe_text",
        "gpt_neox",
        "gpt_neox_japanese",
        "laguna",
        "lfm3",
        "mimo_v2_flash",
        "minimax_m2",
        "mistral4",
        "nemotron",
        "persimmon",
        "phi",
        "phi3",
        "phi4_multimodal",
        "qwen3_5_moe_text",
        "qwen3_5_text",
        "qwen3_next",
        "recurrent_gemma",
        "sarvam_moe",
        "stablelm",
        "step3p5",
        "zaya",
    }
)
# Classes without a head width of their own: without the key in the file, it is the hidden
# size divided by the number of heads.
DERIVED_HEAD = frozenset(
    {
        "granite",
        "llama",
        "mistral",
        "mixtral",
        "olmo",
        "olmo2",
        "qwen2",
        "qwen2_5_vl",
        "qwen2_5_vl_text",
        "qwen2_moe",
        "qwen2_vl",
        "qwen2_vl_text",
        "smollm3",
        "starcoder2",
    }
)
# Multi-latent attention, told from the file where it states qk_rope_head_dim.
NO_ROTATION = frozenset({"falcon_mamba", "jamba", "mamba", "mamba2", "nemotron_h"})
# Classes that rotate sliding layers by an unscaled embedding of its own base.
LOCAL_ROPE = frozenset({"gemma3_text", "gemma3n_text"})
# Two embeddings: plain for layers without compression, scaled for those with.
COMPRESSED = frozenset({"deepseek_v4"})
# Classes that fill an empty list of layers without rotation by a rule of their own.
FILLS_NO_ROPE_LAYERS = frozenset({"llama4_text"})
