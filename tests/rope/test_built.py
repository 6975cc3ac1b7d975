"""Configs that were built in code, without a command line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from pytest_ropecontract import RopeConfig
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.pipeline import Parsed
from pytest_ropecontract.megatron.surface_files import load_shipped, shipped
from pytest_ropecontract.rope.built import resolve_config


@dataclass
class TransformerConfig:
    """Has the attributes that the rules read, with Megatron's defaults."""

    hidden_size: int = 256
    num_attention_heads: int = 4
    kv_channels: int | None = 64
    rotary_interleaved: bool = False
    multi_latent_attention: bool = False
    no_rope_freq: Any = None
    mrope_section: Any = None


@dataclass
class MLATransformerConfig(TransformerConfig):
    multi_latent_attention: bool = True
    rope_type: str = "yarn"
    rotary_base: float = 10000
    rotary_percent: float = 1.0
    qk_pos_emb_head_dim: int = 64
    rotary_scaling_factor: float = 40
    original_max_position_embeddings: int = 4096
    beta_fast: float = 32
    beta_slow: float = 1
    mscale: float = 1.0
    mscale_all_dim: float = 0.0


class LatentWithoutType:
    multi_latent_attention = True


@dataclass
class Provider(TransformerConfig):
    """As a bridge's provider, which is a config and makes the model, too."""

    position_embedding_type: str = "rope"
    rotary_base: int = 500000
    rotary_percent: float = 0.5
    seq_len_interpolation_factor: float | None = None


@dataclass
class GPTModelConfig:
    transformer: Any = field(default_factory=TransformerConfig)
    position_embedding_type: str = "learned_absolute"
    rotary_base: int = 10000
    rotary_percent: float = 1.0
    seq_len_interpolation_factor: float | None = None
    rope_scaling: bool = False
    rope_scaling_factor: float = 8.0


def test_class_defaults_of_latent_attention() -> None:
    """The factor is 40 here and 1 on a command line."""
    rope = RopeConfig.from_config(MLATransformerConfig())

    assert rope == RopeConfig(
        kind="yarn",
        attention="mla",
        rotary_base=10000,
        rotary_dim=64,
        rotary_interleaved=False,
        rotary_scaling_factor=40,
        original_max_position_embeddings=4096,
        beta_fast=32,
        beta_slow=1,
        mscale=1.0,
        mscale_all_dim=0.0,
        round_to_int=True,
        magnitude=pytest.approx(1.368888, abs=1e-6),
        softmax_multiplier=1.0,
        rotary_class="YarnRotaryEmbedding",
        returns=2,
    )


def test_plain_rope_under_latent_attention() -> None:
    config = MLATransformerConfig(rope_type="rope", rotary_percent=0.5, mscale_all_dim=1.0)

    rope = RopeConfig.from_config(config)

    assert (rope.kind, rope.rotary_dim, rope.returns) == ("rope", 32, 1)
    assert rope.magnitude == 1.0
    assert rope.softmax_multiplier == pytest.approx(1.873854, abs=1e-6)


def test_where_values_come_from() -> None:
    resolution = resolve_config(MLATransformerConfig(rotary_base=50000))

    assert resolution.config_class == "MLATransformerConfig"
    assert resolution.sources["rotary_base"].text == "MLATransformerConfig.rotary_base"
    assert resolution.origins["rotary_base"] == "declared"
    assert resolution.origins["rotary_scaling_factor"] == "config-default"
    assert resolution.origins["round_to_int"] == "constructor-default"
    # No flag, attribute or argument reaches it: it is a default of the rotary class alone.
    argument = "YarnRotaryEmbedding.correction_range_round_to_int"
    assert resolution.sources["round_to_int"].text == argument


def test_there_was_no_command_line() -> None:
    resolution = resolve_config(MLATransformerConfig())

    assert resolution.argv == ()
    assert resolution.parsed == Parsed(argv=(), base_length=0, occurrences=())


def test_values_of_a_provider_come_from_its_class_or_from_whoever_set_them() -> None:
    resolution = resolve_config(Provider(rotary_base=1000000))

    assert resolution.sources["rotary_base"].text == "Provider.rotary_base"
    assert resolution.origins["rotary_base"] == "declared"
    assert resolution.sources["rotary_percent"].text == "Provider.rotary_percent"
    assert resolution.origins["rotary_percent"] == "config-default"


class Plain:
    """A config that is no dataclass."""

    kv_channels = 64
    rotary_base = 500000
    rotary_percent = 1.0


def test_defaults_of_a_class_that_is_no_dataclass() -> None:
    config = Plain()
    config.rotary_percent = 0.5
    config.seq_len_interpolation_factor = None  # type: ignore[attr-defined]
    config.rotary_interleaved = False  # type: ignore[attr-defined]

    origins = resolve_config(config, position_embedding_type="rope").origins

    assert origins["rotary_base"] == "config-default"
    assert origins["rotary_percent"] == "declared"
    # The class has no value for it, so that None was set by somebody, too.
    assert origins["seq_len_interpolation_factor"] == "declared"


def test_defaults_of_a_dataclass_whose_class_does_not_hold_them() -> None:
    """With slots, the attribute of the class is the slot."""

    @dataclass(slots=True)
    class Slotted(TransformerConfig):
        rotary_base: float = 500000

    origins = resolve_config(Slotted(), position_embedding_type="rope").origins

    assert origins["rotary_base"] == "config-default"


def test_attributes_that_an_older_config_does_not_have() -> None:
    """Without them every layer is rotated, along one axis, and pairs are halves."""
    config = Plain()
    for name in ("scaling_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"):
        attribute = f"yarn_{name.replace('scaling', 'rotary_scaling')}"
        setattr(config, attribute, 1.0)
    config.yarn_original_max_position_embeddings = 4096  # type: ignore[attr-defined]
    config.yarn_correction_range_round_to_int = True  # type: ignore[attr-defined]

    rope = RopeConfig.from_config(config, position_embedding_type="yarn")

    assert (rope.kind, rope.no_rope_layers, rope.mrope_section) == ("yarn", None, None)


def test_provider() -> None:
    rope = RopeConfig.from_config(Provider())

    assert (rope.kind, rope.attention, rope.rotary_base, rope.rotary_dim) == (
        *("rope", "gpt", 500000),
        32,
    )
    assert rope.rope_scaling is False
    assert rope.rope_scaling_factor is None


def test_arguments_of_the_model() -> None:
    rope = RopeConfig.from_config(
        TransformerConfig(),
        position_embedding_type="rope",
        rotary_base=500000,
        rope_scaling=True,
        rope_scaling_factor=32.0,
        seq_len_interpolation_factor=2,
    )

    assert rope.rotary_base == 500000
    assert (rope.rope_scaling, rope.rope_scaling_factor) == (True, 32.0)
    assert rope.original_max_position_embeddings == 8192
    assert rope.seq_len_interpolation_factor == 2
    assert rope.rotary_percent == 1.0


@pytest.mark.parametrize("name", shipped())
def test_arguments_that_a_command_line_does_not_give(name: str) -> None:
    """The model hands them on in every version, be there a flag that reaches them or not."""
    rope = resolve_config(
        TransformerConfig(),
        load_shipped(name),
        position_embedding_type="rope",
        rope_scaling=True,
        rope_scaling_factor=32.0,
        seq_len_interpolation_factor=2,
    ).rope

    assert rope is not None
    assert (rope.rope_scaling_factor, rope.seq_len_interpolation_factor) == (32.0, 2)


def test_defaults_of_the_model_are_its_constructors() -> None:
    resolution = resolve_config(TransformerConfig(), position_embedding_type="rope")

    assert resolution.sources["rotary_base"].text == "GPTModel.rotary_base"
    assert resolution.origins["rotary_base"] == "constructor-default"
    assert resolution.sources["kind"].text == "the argument position_embedding_type"
    assert resolution.origins["kind"] == "declared"


def test_model_config_that_holds_a_config() -> None:
    rope = RopeConfig.from_config(
        GPTModelConfig(position_embedding_type="rope", rotary_base=500000, rope_scaling=True)
    )

    assert (rope.rotary_base, rope.rope_scaling_factor) == (500000, 8.0)


def test_model_config_with_latent_attention() -> None:
    """Its own rotary_base says nothing: the embedding is built from the inner config."""
    config = GPTModelConfig(MLATransformerConfig(rotary_base=50000), rotary_base=10000)

    assert RopeConfig.from_config(config).rotary_base == 50000


def test_yarn_without_latent_attention() -> None:
    config = TransformerConfig()
    with pytest.raises(RopeContractError, match="no attribute 'yarn_rotary_scaling_factor'"):
        RopeConfig.from_config(config, position_embedding_type="yarn")
    for name, value in {
        "yarn_rotary_scaling_factor": 32.0,
        "yarn_original_max_position_embeddings": 4096,
        "yarn_beta_fast": 32.0,
        "yarn_beta_slow": 1.0,
        "yarn_mscale": 1.0,
        "yarn_mscale_all_dim": 0.0,
        "yarn_correction_range_round_to_int": False,
    }.items():
        setattr(config, name, value)

    rope = RopeConfig.from_config(config, position_embedding_type="yarn", rotary_base=150000)

    assert (rope.kind, rope.rotary_scaling_factor, rope.round_to_int) == ("yarn", 32.0, False)
    assert rope.magnitude == pytest.approx(1.346574, abs=1e-6)
    assert rope.softmax_multiplier == 1.0


def test_sections_and_layers() -> None:
    config = TransformerConfig(mrope_section=[8, 12, 12], no_rope_freq=[0, 0, 0, 1])

    rope = RopeConfig.from_config(config, position_embedding_type="mrope")

    assert (rope.kind, rope.mrope_section) == ("mrope", (8, 12, 12))
    assert rope.no_rope_layers == (0, 0, 0, 1)


@pytest.mark.parametrize("kind", ["none", "learned_absolute", "relative"])
def test_nothing_is_rotated(kind: str) -> None:
    rope = RopeConfig.from_config(TransformerConfig(), position_embedding_type=kind)

    assert rope == RopeConfig("none", "gpt")


def test_hybrid_model() -> None:
    config = replace(TransformerConfig())
    config.hybrid_layer_pattern = "M*M*"  # type: ignore[attr-defined]

    rope = RopeConfig.from_config(config, position_embedding_type="rope", rope_scaling=True)

    assert (rope.attention, rope.rope_scaling) == ("hybrid", False)


@pytest.mark.parametrize(
    ("pattern", "kind"), [("M*M*", "none"), ("M*M*/+", "yarn"), ("MDMD", "yarn")]
)
def test_hybrid_model_with_latent_attention(pattern: str, kind: str) -> None:
    """Its layers are of latent attention only where the pattern says so."""
    config = MLATransformerConfig()
    config.hybrid_layer_pattern = pattern  # type: ignore[attr-defined]

    assert RopeConfig.from_config(config).kind == kind


def test_way_that_there_is_not() -> None:
    """YaRN of common attention is not constructed with interleaved pairs."""
    config = TransformerConfig(rotary_interleaved=True)

    with pytest.raises(RopeContractError) as caught:
        RopeConfig.from_config(config, position_embedding_type="yarn")

    assert caught.value.headline == (
        "megatron-core-0.19.2 has no rotary rule for this TransformerConfig"
    )
    assert "rotary_interleaved: True" in caught.value.details
    assert "position_embedding_type: yarn" in caught.value.details
    remedy = "use the surface of the Megatron that the config was built with"
    assert caught.value.remedy == remedy


def test_choices_are_those_of_the_attention_at_hand() -> None:
    """A kind that only the rules of latent attention mention cannot be set for another."""
    surface = load_shipped("megatron-core-0.19.2")
    kinds = [*surface.rules[0].when["position_embedding_type"], "xpos"]
    rules = [
        rule._replace(when={**rule.when, "position_embedding_type": kinds})
        if "rope_type" in rule.when
        else rule
        for rule in surface.rules
        if rule.path in ("gpt-rope", "mla-rope")
    ]

    with pytest.raises(RopeContractError) as caught:
        resolve_config(
            TransformerConfig(),
            surface._replace(rules=tuple(rules)),
            position_embedding_type="xpos",
        )

    assert caught.value.headline.endswith("is 'xpos', not one of rope")


@pytest.mark.parametrize("name", shipped())
@pytest.mark.parametrize("latent", [False, True])
def test_rules_are_those_of_a_surface(name: str, latent: bool) -> None:
    """As from a command line: one without rotary rules for a kind refuses it."""
    surface = load_shipped(name)
    config = MLATransformerConfig() if latent else TransformerConfig()

    resolution = resolve_config(config, surface, position_embedding_type="rope")

    assert resolution.rope is not None
    paths = [one for one in surface.paths.values() if one.attention == resolution.rope.attention]
    (path,) = [one for one in paths if one.kind == resolution.rope.kind]
    assert resolution.rope.rotary_class == path.rotary_class
    changed = surface._replace(paths={**surface.paths, path.name: path._replace(returns=7)})
    built = resolve_config(config, changed, position_embedding_type="rope").rope
    assert built is not None
    assert built.returns == 7


def test_width_that_is_derived() -> None:
    config = TransformerConfig(kv_channels=None)

    assert RopeConfig.from_config(config, position_embedding_type="rope").rotary_dim == 64


@pytest.mark.parametrize(
    ("config", "arguments", "said"),
    [
        (
            TransformerConfig(),
            {},
            (
                "TransformerConfig has no position_embedding_type: the model is given it beside "
                "the config"
            ),
        ),
        (
            TransformerConfig(),
            {"position_embedding_type": "rotary"},
            (
                "TransformerConfig: position_embedding_type is 'rotary', not one of rope, "
                "learned_absolute, relative, none, yarn, mrope"
            ),
        ),
        (
            MLATransformerConfig(rope_type="none"),
            {},
            "MLATransformerConfig: rope_type is 'none', not one of rope, yarn",
        ),
        (
            MLATransformerConfig(rotary_scaling_factor=-1),
            {},
            "MLATransformerConfig: rotary_scaling_factor must be a positive finite number, got -1",
        ),
        (
            MLATransformerConfig(rotary_base="10000"),
            {},
            "MLATransformerConfig: rotary_base is '10000', not a number",
        ),
        (
            LatentWithoutType(),
            {},
            ("LatentWithoutType has no attribute 'rope_type', which the embedding is built from"),
        ),
        (
            MLATransformerConfig(),
            {"beta_fast": 1},
            "from_config takes no argument 'beta_fast'",
        ),
        (
            object(),
            {"position_embedding_type": "rope"},
            "object has no attribute 'kv_channels', which the embedding is built from",
        ),
    ],
)
def test_config_from_which_nothing_follows(
    config: object, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(RopeContractError) as caught:
        RopeConfig.from_config(config, **arguments)

    assert caught.value.headline == said
