"""The RoPE parts of published ``config.json`` files, and what they say.

The files were seen in public copies, some only in part. A key that was not seen is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

Config = dict[str, Any]


@dataclass(frozen=True)
class Published:
    """A published config and how it is to be read.

    Attributes:
        config: The content of the file.
        values: Fields of the only embedding, or of the first.
        others: Fields of further embeddings, where layers differ.
        absent: Fields about which the file says nothing.
        problems: Parts of what is wrong with it.
    """

    config: Config
    values: dict[str, Any]
    others: tuple[dict[str, Any], ...] = ()
    absent: tuple[str, ...] = ()
    problems: tuple[str, ...] = field(default=())


def kimi(factor: float, beta_fast: float) -> Config:
    return {
        "rope_theta": 50000.0,
        "rope_scaling": {
            "beta_fast": beta_fast,
            "beta_slow": 1.0,
            "factor": factor,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096,
            "type": "yarn",
        },
    }


def latent(model_type: str, length: int, **more: Any) -> Config:
    return {
        "model_type": model_type,
        "max_position_embeddings": length,
        "qk_rope_head_dim": 64,
        **more,
    }


def heads(model_type: str, length: int, head: int | None, theta: float, **more: Any) -> Config:
    config = {"model_type": model_type, "max_position_embeddings": length, "rope_theta": theta}
    return {**config, **({} if head is None else {"head_dim": head}), **more}


def nested(model_type: str, text: Config) -> Config:
    return {"model_type": model_type, "text_config": text}


def yarn_values(base: float, factor: float, beta_fast: float, **more: Any) -> dict[str, Any]:
    return {
        "kind": "yarn",
        "rotary_base": base,
        "rotary_dim": 64,
        "rotary_scaling_factor": factor,
        "original_max_position_embeddings": 4096,
        "beta_fast": beta_fast,
        "beta_slow": 1,
        "round_to_int": True,
        "magnitude": 1.0,
        **more,
    }


def plain_values(base: float, width: int, **more: Any) -> dict[str, Any]:
    return {"kind": "rope", "rotary_base": base, "rotary_dim": width, "magnitude": 1.0, **more}


DEEPSEEK: Config = {
    "rope_theta": 10000,
    "rope_scaling": {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 4096,
        "type": "yarn",
    },
}
DEEPSEEK_V4: Config = {
    "rope_theta": 10000,
    "compress_rope_theta": 160000,
    "head_dim": 512,
    "rope_scaling": {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 16,
        "original_max_position_embeddings": 65536,
        "type": "yarn",
    },
}
V4_COMPRESSED = yarn_values(160000, 16, 32, original_max_position_embeddings=65536)
K27 = {**kimi(64.0, 32.0)["rope_scaling"], "rope_theta": 50000.0, "rope_type": "yarn"}
QWEN35: Config = {
    "mrope_interleaved": True,
    "mrope_section": [11, 11, 10],
    "rope_type": "default",
    "rope_theta": 10000000,
    "partial_rotary_factor": 0.25,
}
QWEN35_VALUES = {
    "kind": "mrope",
    "rotary_base": 10000000,
    "rotary_dim": 64,
    "mrope_section": (11, 11, 10),
    "mrope_interleaved": True,
}
GEMMA4: Config = {
    "full_attention": {
        "partial_rotary_factor": 0.25,
        "rope_theta": 1000000.0,
        "rope_type": "proportional",
    },
    "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"},
}


def qwen35(model_type: str) -> Published:
    text = {
        "model_type": f"{model_type}_text",
        "head_dim": 256,
        "max_position_embeddings": 262144,
        "rope_parameters": QWEN35,
    }
    return Published(nested(model_type, text), QWEN35_VALUES)


def gemma4(layers: int) -> Published:
    text = {
        "model_type": "gemma4_text",
        "head_dim": 256,
        "global_head_dim": 512,
        "max_position_embeddings": 262144,
        "layer_types": [*["sliding_attention"] * 5, "full_attention"] * layers,
        "rope_parameters": GEMMA4,
    }
    return Published(nested("gemma4", text), {"rotary_base": 1000000}, (plain_values(10000, 256),))


def glm5(theta: int, length: int, head: int) -> Published:
    config = latent("glm_moe_dsa", length, head_dim=head, rope_interleave=True)
    config["rope_parameters"] = {"rope_theta": theta, "rope_type": "default"}
    return Published(config, plain_values(theta, 64, rotary_interleaved=True))


def llama3(factor: float, high: float = 4.0) -> Config:
    return {
        "factor": factor,
        "low_freq_factor": 1.0,
        "high_freq_factor": high,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    }


def llama3_values(factor: float, high: float = 4.0) -> dict[str, Any]:
    return plain_values(
        500000,
        128,
        rope_scaling=True,
        rope_scaling_factor=factor,
        low_freq_factor=1.0,
        high_freq_factor=high,
        original_max_position_embeddings=8192,
    )


PUBLISHED: dict[str, Published] = {
    "Kimi-K2-Instruct": Published(
        latent("kimi_k2", 131072, qk_nope_head_dim=128, **kimi(32.0, 1.0)),
        yarn_values(50000, 32, 1),
    ),
    "Kimi-K2-Instruct-0905": Published(
        {"model_type": "kimi_k2", **kimi(64.0, 1.0)},
        {k: v for k, v in yarn_values(50000, 64, 1).items() if k != "rotary_dim"},
        absent=("rotary_dim",),
    ),
    "Kimi-K2-Thinking": Published(
        latent("kimi_k2", 262144, **kimi(64.0, 1.0)), yarn_values(50000, 64, 1)
    ),
    "Kimi-K2.5": Published(
        nested("kimi_k25", latent("kimi_k2", 262144, **kimi(64.0, 32.0))),
        yarn_values(50000, 64, 32),
    ),
    "Kimi-K2.6": Published(
        nested("kimi_k25", latent("deepseek_v3", 262144, **kimi(64.0, 32.0))),
        yarn_values(50000, 64, 32),
    ),
    "Kimi-K2.7-Code": Published(
        nested("kimi_k25", latent("deepseek_v3", 262144, rope_parameters=K27)),
        yarn_values(50000, 64, 32),
    ),
    "Moonlight-16B-A3B": Published(
        latent("deepseek_v3", 8192, rope_theta=50000), plain_values(50000, 64)
    ),
    "GLM-4.7-Flash": Published(
        latent(
            "glm4_moe_lite",
            202752,
            rope_theta=1000000,
            rope_scaling=None,
            partial_rotary_factor=1.0,
        ),
        plain_values(1000000, 64),
    ),
    "GLM-4.5": Published(
        heads("glm4_moe", 131072, 128, 1000000, rope_scaling=None, partial_rotary_factor=0.5),
        plain_values(1000000, 64),
    ),
    "GLM-4.5-Air": Published(
        heads("glm4_moe", 131072, 128, 1000000, rope_scaling=None, partial_rotary_factor=0.5),
        plain_values(1000000, 64),
    ),
    "GLM-4-32B-0414": Published(
        {
            "model_type": "glm4",
            "head_dim": 128,
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.5,
        },
        plain_values(10000, 64),
    ),
    "GLM-5": glm5(1000000, 202752, 64),
    "GLM-5.1": glm5(1000000, 202752, 64),
    "GLM-5.2": glm5(8000000, 1048576, 192),
    "JoyAI-LLM-Flash": Published(
        latent("joyai_llm_flash", 131072, rope_theta=32000000), plain_values(32000000, 64)
    ),
    "DeepSeek-V3": Published(latent("deepseek_v3", 163840, **DEEPSEEK), yarn_values(10000, 40, 32)),
    "DeepSeek-R1": Published(latent("deepseek_v3", 163840, **DEEPSEEK), yarn_values(10000, 40, 32)),
    "DeepSeek-V3.2": Published(
        latent("deepseek_v32", 163840, **DEEPSEEK), yarn_values(10000, 40, 32)
    ),
    "DeepSeek-V3.2-Exp": Published(
        latent("deepseek_v32", 163840, **DEEPSEEK), yarn_values(10000, 40, 32)
    ),
    # The first two layers have no compressor; the last ratio is that of a layer beyond the 43.
    "DeepSeek-V4-Flash": Published(
        latent(
            "deepseek_v4",
            1048576,
            num_hidden_layers=43,
            compress_ratios=[0, 0, *[4, 128] * 20, 4, 0],
            **DEEPSEEK_V4,
        ),
        plain_values(10000, 64),
        (V4_COMPRESSED,),
    ),
    # Every one of the 61 layers has a compressor.
    "DeepSeek-V4-Pro": Published(
        latent(
            "deepseek_v4",
            1048576,
            num_hidden_layers=61,
            compress_ratios=[128, 128, *[4, 128] * 29, 4, 0],
            **DEEPSEEK_V4,
        ),
        V4_COMPRESSED,
    ),
    "Llama-3.1-8B": Published(
        heads(
            "llama",
            131072,
            None,
            500000.0,
            rope_scaling=llama3(8.0),
            hidden_size=4096,
            num_attention_heads=32,
        ),
        llama3_values(8),
    ),
    "Llama-3.2-3B": Published(
        heads("llama", 131072, 128, 500000.0, rope_scaling=llama3(32.0)), llama3_values(32)
    ),
    "Llama-4-Scout": Published(
        nested(
            "llama4",
            heads("llama4_text", 10485760, 128, 500000.0, rope_scaling=llama3(16.0, 1.0)),
        ),
        llama3_values(16, 1.0),
        absent=("no_rope_layers",),
    ),
    "Qwen2.5-7B": Published(
        heads("qwen2", 131072, None, 1000000.0, hidden_size=3584, num_attention_heads=28),
        plain_values(1000000, 128),
    ),
    "Qwen2.5-1.5B": Published(
        heads("qwen2", 131072, None, 1000000.0, hidden_size=1536, num_attention_heads=12),
        plain_values(1000000, 128),
    ),
    "Qwen3-4B": Published(
        heads(
            "qwen3",
            40960,
            128,
            1000000,
            rope_scaling=None,
            hidden_size=2560,
            num_attention_heads=32,
        ),
        plain_values(1000000, 128),
    ),
    "Qwen3-4B-Instruct-2507": Published(
        heads("qwen3", 262144, 128, 5000000, rope_scaling=None), plain_values(5000000, 128)
    ),
    "Qwen3-30B-A3B": Published(
        heads("qwen3_moe", 40960, 128, 1000000.0, rope_scaling=None), plain_values(1000000, 128)
    ),
    "Qwen3-235B-A22B": Published(
        heads("qwen3_moe", 40960, 128, 1000000.0, rope_scaling=None), plain_values(1000000, 128)
    ),
    "Qwen3-Next-80B-A3B": Published(
        heads(
            "qwen3_next",
            262144,
            256,
            10000000,
            rope_scaling=None,
            partial_rotary_factor=0.25,
        ),
        plain_values(10000000, 64),
    ),
    "Qwen3.5-27B": qwen35("qwen3_5"),
    "Qwen3.5-35B-A3B": qwen35("qwen3_5_moe"),
    "Qwen3.5-122B-A10B": qwen35("qwen3_5_moe"),
    "Qwen3.5-397B-A17B": qwen35("qwen3_5_moe"),
    "Qwen3.5-9B": qwen35("qwen3_5"),
    "Qwen2.5-VL-7B-Instruct": Published(
        heads(
            "qwen2_5_vl",
            128000,
            None,
            1000000.0,
            rope_scaling={"type": "mrope", "mrope_section": [16, 24, 24]},
            hidden_size=3584,
            num_attention_heads=28,
        ),
        {
            "kind": "mrope",
            "rotary_base": 1000000,
            "rotary_dim": 128,
            "mrope_section": (16, 24, 24),
        },
        absent=("mrope_interleaved",),
    ),
    "gpt-oss-20b": Published(
        heads(
            "gpt_oss",
            131072,
            64,
            150000,
            rope_scaling={
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "factor": 32.0,
                "original_max_position_embeddings": 4096,
                "rope_type": "yarn",
                "truncate": False,
            },
            layer_types=["sliding_attention", "full_attention"] * 12,
        ),
        yarn_values(150000, 32, 32, round_to_int=False, magnitude=0.1 * math.log(32) + 1),
    ),
    "MiMo-7B-Base": Published(heads("mimo", 32768, 128, 640000), plain_values(640000, 128)),
    "MiMo-7B-RL": Published(heads("mimo", 32768, 128, 640000), plain_values(640000, 128)),
    # Its attention rotates nothing, although the file has a base and a fraction.
    "Nemotron-3-Nano-30B-A3B": Published(
        heads("nemotron_h", 262144, 128, 10000, partial_rotary_factor=1.0),
        {"kind": "none"},
        absent=("rotary_base", "rotary_dim"),
    ),
    # The bases are those of the class.
    "gemma-3-27b-it": Published(
        nested(
            "gemma3",
            {
                "model_type": "gemma3_text",
                "head_dim": 128,
                "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            },
        ),
        {"kind": "rope", "rotary_dim": 128, "seq_len_interpolation_factor": 8},
        ({"kind": "rope", "rotary_dim": 128},),
        absent=("rotary_base",),
    ),
    "gemma-3-1b": Published(
        heads("gemma3_text", 32768, 256, 1000000, rope_scaling=None, rope_local_base_freq=10000),
        plain_values(1000000, 256),
        (plain_values(10000, 256),),
    ),
    "gemma-4-26B-A4B": gemma4(5),
    "Gemma-4-31B-IT": gemma4(10),
    "SmolLM3-3B": Published(
        heads(
            "smollm3",
            65536,
            None,
            5000000.0,
            rope_scaling=None,
            no_rope_layers=[1, 1, 1, 0] * 9,
            no_rope_layer_interval=4,
        ),
        {
            "kind": "rope",
            "rotary_base": 5000000,
            "no_rope_layers": (0, 0, 0, 1) * 9,
        },
        absent=("rotary_dim",),
    ),
    "MiniMax-M2": Published(
        heads("minimax_m2", 196608, 128, 5000000, rotary_dim=64), plain_values(5000000, 64)
    ),
    "MiniMax-M2.5": Published(
        heads("minimax_m2", 196608, 128, 5000000, rotary_dim=64), plain_values(5000000, 64)
    ),
    "MiniMax-M2.7": Published(
        heads("minimax_m2", 204800, 128, 5000000, rotary_dim=64), plain_values(5000000, 64)
    ),
}
