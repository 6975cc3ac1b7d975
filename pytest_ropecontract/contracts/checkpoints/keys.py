"""The keys of a RoPE block, and which rope type reads which.

From ``modeling_rope_utils`` of transformers 5: the functions in ``ROPE_INIT_FUNCTIONS`` and
the validators of ``RotaryEmbeddingConfigMixin``.
"""

from __future__ import annotations

import difflib

# Every type may state these.
COMMON = frozenset({"rope_type", "type", "rope_theta", "partial_rotary_factor"})
# Multimodal models divide the frequencies of an unscaled embedding among three axes.
MULTIMODAL = frozenset({"mrope_section", "mrope_interleaved"})
YARN = frozenset(
    {
        "factor",
        "original_max_position_embeddings",
        "attention_factor",
        "beta_fast",
        "beta_slow",
        "mscale",
        "mscale_all_dim",
        "truncate",
    }
)
LLAMA3 = frozenset(
    {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"}
)
LONGROPE = frozenset(
    {
        "factor",
        "original_max_position_embeddings",
        "attention_factor",
        "short_factor",
        "long_factor",
    }
)
KEYS: dict[str, frozenset[str]] = {
    "default": COMMON | MULTIMODAL,
    "linear": COMMON | MULTIMODAL | {"factor"},
    "dynamic": COMMON | MULTIMODAL | {"factor"},
    "yarn": COMMON | MULTIMODAL | YARN,
    "longrope": COMMON | LONGROPE,
    "llama3": COMMON | MULTIMODAL | LLAMA3,
    "proportional": COMMON | {"factor"},
    "axial": COMMON,
}
TYPES = tuple(KEYS)
EVERY_KEY = frozenset().union(*KEYS.values())

# Layer types of transformers, and the two names under which DeepSeek-V4 keeps its embeddings.
LAYER_TYPES = frozenset(
    {
        "full_attention",
        "sliding_attention",
        "chunked_attention",
        "linear_attention",
        "compressed_sparse_attention",
        "heavily_compressed_attention",
        "main",
        "compress",
    }
)


def nearest(key: str, rope_type: str) -> str | None:
    """Return the known key that is most like one that is not, or None where none is.

    Keys that this type reads come before those of others.
    """
    for known in (KEYS[rope_type], EVERY_KEY):
        near = difflib.get_close_matches(key, sorted(known), n=1, cutoff=0.7)
        if near:
            return near[0]
    return None


def readers(key: str) -> list[str]:
    """Return the rope types that read a key."""
    return [name for name, known in KEYS.items() if key in known]


def nearest_type(name: str) -> str | None:
    """Return the rope type that is most like a name, or None where none is."""
    near = difflib.get_close_matches(name.lower(), TYPES, n=1)
    return near[0] if near else None
