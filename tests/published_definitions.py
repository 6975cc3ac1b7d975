"""Definitions of a large framework, and how they differ from what is published."""

from __future__ import annotations

SAME_NUMBERS = ("kind", "numerically identical")
# What is expected of each: the fields that differ, with a part of their size.
REAL: dict[tuple[str, str], list[tuple[str, str]]] = {
    ("kimi-k2", "Kimi-K2-Instruct"): [],
    ("kimi-k2", "Kimi-K2-Instruct-0905"): [("rotary_scaling_factor", "12 of 32")],
    ("kimi-k2-thinking", "Kimi-K2-Thinking"): [],
    ("kimi-k25", "Kimi-K2.5"): [],
    ("kimi-k25_2layer", "Kimi-K2.5"): [],
    ("deepseek-v3", "DeepSeek-V3"): [],
    ("deepseek-v3-5layer", "DeepSeek-V3"): [],
    ("deepseek-v32", "DeepSeek-V3.2"): [],
    ("glm4.7-flash", "GLM-4.7-Flash"): [SAME_NUMBERS],
    ("joyai-llm-flash", "JoyAI-LLM-Flash"): [SAME_NUMBERS],
    ("glm5-744B-A40B", "GLM-5"): [SAME_NUMBERS],
    ("glm5-744B-A40B_4layer", "GLM-5"): [SAME_NUMBERS],
    ("glm5.1-744B-A40B_lora", "GLM-5.1"): [SAME_NUMBERS],
    ("glm5.2-744B-A40B", "GLM-5.2"): [SAME_NUMBERS],
    ("glm5.2-744B-A40B_5layer_lora", "GLM-5.2"): [SAME_NUMBERS],
    ("glm4.5-355B-A32B", "GLM-4.5"): [],
    ("glm4.5-106B-A12B", "GLM-4.5-Air"): [],
    ("glm4-32B", "GLM-4-32B-0414"): [],
    ("llama3.1-8B-Instruct", "Llama-3.1-8B"): [],
    ("llama3.2-3B-Instruct", "Llama-3.2-3B"): [("rope_scaling_factor", "35 of 64")],
    ("llama3.2-3B-Instruct-amd", "Llama-3.2-3B"): [("rope_scaling_factor", "35 of 64")],
    ("nemotron-3-nano-30b-a3b", "Nemotron-3-Nano-30B-A3B"): [],
    ("qwen2.5-7B", "Qwen2.5-7B"): [],
    ("qwen2.5-1.5B", "Qwen2.5-1.5B"): [("rotary_base", "63 of 64")],
    ("qwen3-4B", "Qwen3-4B"): [],
    ("qwen3-4B-Instruct-2507", "Qwen3-4B-Instruct-2507"): [],
    ("qwen3-30B-A3B", "Qwen3-30B-A3B"): [],
    ("qwen3-235B-A22B", "Qwen3-235B-A22B"): [],
    ("qwen3-next-80B-A3B", "Qwen3-Next-80B-A3B"): [],
    ("qwen3.5-27B", "Qwen3.5-27B"): [("kind", "the same where all axes")],
    ("qwen3.5-35B-A3B", "Qwen3.5-35B-A3B"): [("kind", "the same where all axes")],
    ("qwen3.5-9B", "Qwen3.5-9B"): [("kind", "the same where all axes")],
    ("gpt-oss-20b", "gpt-oss-20b"): [("kind", "23 of 32")],
}
