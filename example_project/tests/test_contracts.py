"""Which rotary embedding every model of this project must train with.

The mark is the contract: it is asserted before the test's body, which adds what numbers alone do
not say. The checkpoints in ``checkpoints`` are contracts, too. They notice every number that is
wrong, and a mark states what they cannot notice: that a flag is there whose value the framework
would fill in anyway. So no contract of the Kimi, GLM, JoyAI and DeepSeek models repeats another,
and the run fails without any one of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import rope_expect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_ropecontract.rope.config import RopeConfig


def yarn_magnitude(factor: float, mscale: float = 1.0) -> float:
    """YaRN's growth of the attention with the logarithm of the factor."""
    return 0.1 * mscale * math.log(factor) + 1.0


@rope_expect("yarn", 4096, 1, 1, rotary_dim=64, mscale=1.0, models=["kimi-k2"])
def test_kimi_k2():
    """Both betas are 1: the fast one is not YaRN's usual 32."""


@rope_expect("yarn", 4096, 1, 1, rotary_dim=64, mscale=1.0, models=["kimi-k2-thinking"])
def test_kimi_k2_thinking(rope_resolve: Callable[..., Any]):
    """It stretches twice as far as K2, so its softmax is scaled more."""
    thinking = rope_resolve("kimi-k2-thinking").rope

    assert thinking.softmax_multiplier > rope_resolve("kimi-k2").rope.softmax_multiplier


@rope_expect("yarn", 4096, 32, 1, rotary_dim=64, mscale=1.0, models=["kimi-k25", "kimi-k25_2layer"])
def test_kimi_k25(rope_expand: Callable[..., list[str]]):
    """K2.5 takes K2-Thinking's flags and replaces exactly one value."""
    thinking, k25 = rope_expand("kimi-k2-thinking"), rope_expand("kimi-k25")

    changed = [i for i, (old, new) in enumerate(zip(thinking, k25, strict=True)) if old != new]

    assert [k25[i - 1 : i + 1] for i in changed] == [["--beta-fast", "32"]]


@rope_expect(
    "yarn", 4096, 32, 1, rotary_base=10000, rotary_dim=64, mscale=1.0, models=["deepseek-v3"]
)
def test_deepseek_v3(rope_resolve: Callable[..., Any]):
    """Equal mscales leave cosine and sine alone and scale the softmax instead."""
    rope = rope_resolve("deepseek-v3").rope

    assert rope.magnitude == pytest.approx(1.0)
    assert rope.softmax_multiplier == pytest.approx(yarn_magnitude(40) ** 2)


@pytest.mark.parametrize("rope_model", ["glm4.7-flash", "joyai-llm-flash"], indirect=True)
@rope_expect("rope", attention="mla", rotary_dim=64)
def test_flash_models_are_plain(rope_config: RopeConfig):
    """Multi-latent attention with plain RoPE, which the framework would not fill in."""
    assert rope_config.rotary_class == "RotaryEmbedding"
    assert rope_config.returns == 1


@rope_expect("rope", rotary_percent=1.0, models=["glm4.7-flash"])
def test_glm47_flash_says_its_rope_type(
    rope_expand: Callable[..., list[str]], rope_resolve: Callable[..., Any]
):
    """Without the flag the same command line would train YaRN."""
    argv = rope_expand("glm4.7-flash")
    flag = argv.index("--rope-type")

    silent = rope_resolve(argv[:flag] + argv[flag + 2 :])

    assert silent.rope.kind == "yarn"


@rope_expect("rope", rotary_percent=1.0, models=["joyai-llm-flash"])
def test_joyai_llm_flash(rope_resolve: Callable[..., Any]):
    """The base alone makes room for the long context."""
    rope = rope_resolve("joyai-llm-flash").rope

    assert rope.rotary_base > rope_resolve("glm4.7-flash").rope.rotary_base
    assert rope.seq_len_interpolation_factor is None


@rope_expect("rope", rotary_base=50000, rotary_dim=64, rotary_percent=1.0, models=["moonlight"])
def test_moonlight():
    """Defined by a shell array; the contract is the same."""


@rope_expect("yarn", declared=False, rotary_base=1000000, models=["glm5-*"])
@rope_expect(
    original_max_position_embeddings=4096,
    beta_fast=32,
    beta_slow=1,
    rotary_dim=64,
    rotary_scaling_factor=1.0,
    mscale=1.0,
    mscale_all_dim=0.0,
    models=["glm5-*"],
)
def test_glm5_is_plain_in_numbers(rope_resolve: Callable[..., Any]):
    """Factor 1 makes YaRN plain RoPE; only the two results, which the adapter wants, remain."""
    rope = rope_resolve("glm5-744B-A40B").rope

    assert rope.magnitude == 1.0
    assert rope.softmax_multiplier == 1.0
    assert rope.returns == 2
    assert rope_resolve("glm5-744B-A40B_lora").rope == rope
    assert rope_resolve("glm5-744B-A40B_4layer").rope == rope


@rope_expect(
    "rope",
    rotary_base=500000,
    rotary_dim=128,
    rotary_percent=1.0,
    rope_scaling=True,
    models=["llama3.2-3B-Instruct"],
)
def test_llama32_uses_the_llama3_rule():
    """The rule is declared; its factor cannot be."""


@rope_expect("rope", declared=False, rope_scaling_factor=8.0, models=["llama3.2-3B-Instruct"])
def test_llama32_factor_is_megatrons(rope_resolve: Callable[..., Any]):
    """The checkpoint publishes 32. Megatron builds 8, and no flag changes that.

    This pins the known difference: once a flag reaches the factor, the test fails and the
    definition can say 32.
    """
    assert rope_resolve("llama3.2-3B-Instruct").origins["rope_scaling_factor"] == (
        "constructor-default"
    )


@rope_expect("rope", rotary_base=1000000, rotary_percent=1.0, models=["qwen3-4B"])
def test_qwen3_4b(rope_resolve: Callable[..., Any]):
    """The whole head is rotated, and another base can be asked for."""
    assert rope_resolve("qwen3-4B").rope.rotary_dim == 128
    assert rope_resolve("qwen3-4B", rotary_base=5000000).rope.rotary_base == 5000000


@rope_expect("rope", rotary_base=10000000, rotary_percent=0.25, models=["qwen3.5-27B"])
def test_qwen35_27b(rope_resolve: Callable[..., Any]):
    """A quarter of a head's 256 elements is rotated."""
    assert rope_resolve("qwen3.5-27B").rope.rotary_dim == 64


@rope_expect(
    "yarn",
    4096,
    32,
    1,
    rotary_base=150000,
    rotary_scaling_factor=32,
    mscale=1.0,
    mscale_all_dim=0.0,
    round_to_int=False,
    models=["gpt-oss-20b"],
)
def test_gpt_oss_20b(rope_resolve: Callable[..., Any]):
    """YaRN on common attention scales cosine and sine, and not the softmax."""
    rope = rope_resolve("gpt-oss-20b").rope

    assert rope.attention == "gpt"
    assert rope.magnitude == pytest.approx(yarn_magnitude(32))


@pytest.mark.parametrize(
    "model",
    ["deepseek-v3", "glm4.7-flash", "joyai-llm-flash", "kimi-k2", "kimi-k2-thinking", "kimi-k25"],
)
def test_two_layers_keep_the_rope(model: str, rope_resolve: Callable[..., Any]):
    """A model that is cut for a quick run still trains with its own rotary embedding."""
    assert rope_resolve(model, nlayers=2).rope == rope_resolve(model).rope


def test_every_model_rotates(rope_models: Iterable[str], rope_resolve: Callable[..., Any]):
    """No model of this project goes without a rotary embedding."""
    kinds = {name: rope_resolve(name).rope.kind for name in rope_models}

    assert "moonlight" in kinds
    assert "none" not in kinds.values()
