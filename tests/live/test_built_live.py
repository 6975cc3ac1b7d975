"""Configs that were built in code, with Megatron's real classes."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from likeness import live_megatron, pipelines

from pytest_ropecontract import RopeConfig, compare
from pytest_ropecontract.rope.built import MODEL_ARGUMENTS
from pytest_ropecontract.rope.resolution import resolve

pytestmark = pytest.mark.filterwarnings("ignore")

transformer_config = pytest.importorskip(
    "megatron.core.transformer.transformer_config", exc_type=ImportError
)

SHAPE: dict[str, Any] = {"num_layers": 4, "hidden_size": 256, "num_attention_heads": 4}
# The namespace attributes from which a command line's model arguments come.
DESTS = {
    "rope_scaling": "use_rope_scaling",
    "seq_len_interpolation_factor": "rotary_seq_len_interpolation_factor",
}


def test_class_defaults_of_latent_attention() -> None:
    """YaRN with factor 40, where a command line says 1."""
    config = transformer_config.MLATransformerConfig(**SHAPE)

    rope = RopeConfig.from_config(config)

    assert (rope.kind, rope.rotary_scaling_factor) == ("yarn", 40)
    assert (rope.original_max_position_embeddings, rope.beta_fast, rope.beta_slow) == (4096, 32, 1)
    plain = transformer_config.MLATransformerConfig(**SHAPE, rope_type="rope")
    assert compare(rope, RopeConfig.from_config(plain)).text.endswith("cosine and sine x1.369")


def test_common_attention() -> None:
    config = transformer_config.TransformerConfig(**SHAPE, no_rope_freq=4)

    rope = RopeConfig.from_config(config, position_embedding_type="rope", rotary_base=500000)

    assert (rope.kind, rope.rotary_base, rope.rotary_dim) == ("rope", 500000, 64)
    assert rope.no_rope_layers == (0, 0, 0, 1)


def test_model_config_hands_on_the_llama3_factor() -> None:
    """Its builder passes the factor, which no flag of a command line reaches."""
    models = pytest.importorskip("megatron.training.models.gpt", exc_type=ImportError)
    inner = transformer_config.TransformerConfig(**SHAPE)
    config = models.GPTModelConfig(
        transformer=inner,
        vocab_size=128,
        position_embedding_type="rope",
        rotary_base=500000,
        rope_scaling=True,
        rope_scaling_factor=32.0,
    )

    rope = RopeConfig.from_config(config)

    assert (rope.rotary_base, rope.rope_scaling_factor, rope.rotary_dim) == (500000, 32.0, 64)


def test_model_config_of_latent_attention() -> None:
    """It hands its own rotary_base on, and then answers with the default of its class."""
    models = pytest.importorskip("megatron.training.models.gpt", exc_type=ImportError)
    inner = transformer_config.MLATransformerConfig(**SHAPE, rotary_base=50000)
    config = models.GPTModelConfig(transformer=inner, vocab_size=128)
    config.rotary_base = 70000

    assert (config.rotary_base, inner.rotary_base) == (10000, 70000)
    assert RopeConfig.from_config(config).rotary_base == 70000


def test_same_as_from_a_command_line(definition: list[str]) -> None:
    """The config that a command line leads to, read as one that was built in code."""
    assert live_megatron().mode == "live"
    _, live = pipelines(framework=True)
    resolution = resolve(live, definition)
    if resolution.rope is None:
        pytest.skip("nothing is built")
    namespace = resolution.parsed.namespace
    arguments = {
        name: namespace[DESTS.get(name, name)]
        for name in MODEL_ARGUMENTS
        # No command line hands this one on.
        if name != "rope_scaling_factor"
    }
    config = live.configure(resolution.parsed).instance
    if namespace.get("hybrid_layer_pattern"):
        config.hybrid_layer_pattern = namespace["hybrid_layer_pattern"]

    assert RopeConfig.from_config(config, **arguments) == resolution.rope
