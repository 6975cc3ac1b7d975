"""Config objects as a provider constructs them in code."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class MLATransformerConfig(SimpleNamespace):
    """A config object with the class defaults of Megatron's own."""

    def __init__(self, **values: Any) -> None:
        defaults = {
            "multi_latent_attention": True,
            "rope_type": "yarn",
            "rotary_base": 10000,
            "rotary_percent": 1.0,
            "qk_pos_emb_head_dim": 64,
            "rotary_scaling_factor": 40,
            "original_max_position_embeddings": 4096,
            "beta_fast": 32,
            "beta_slow": 1,
            "mscale": 1.0,
            "mscale_all_dim": 0.0,
            "kv_channels": 64,
        }
        super().__init__(**{**defaults, **values})
