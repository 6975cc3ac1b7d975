"""The reader against transformers: its types, its functions and its config classes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from published_configs import PUBLISHED, Config

from pytest_ropecontract.contracts.checkpoints import expected, keys, model_types
from pytest_ropecontract.contracts.checkpoints.blocks import KINDS, UNBUILDABLE
from pytest_ropecontract.contracts.checkpoints.published import PublishedRope
from pytest_ropecontract.contracts.checkpoints.reader import read
from pytest_ropecontract.rope.config import RopeConfig

pytestmark = pytest.mark.filterwarnings("ignore")

torch = pytest.importorskip("torch", exc_type=ImportError)
transformers = pytest.importorskip("transformers", "5.0", exc_type=ImportError)
rope_utils = pytest.importorskip("transformers.modeling_rope_utils")
CONFIGS = pytest.importorskip("transformers.models.auto.configuration_auto").CONFIG_MAPPING

# A processor's float32 power may be off by an ulp from the rounded one, and where the llama3
# rule mixes it subtracts numbers that may be close.
CLOSE = 2e-6
LLAMA3_CLOSE = 2e-5


def parameters_of(config: Any, layer_type: str | None) -> Config:
    return config.rope_parameters if layer_type is None else config.rope_parameters[layer_type]


def width_of(config: Any, layer_type: str | None) -> int:
    shaped = config
    if getattr(config, "is_heterogeneous", False):
        shaped = config.per_layer_config[layer_type]
    head = getattr(shaped, "head_dim", None) or shaped.hidden_size // shaped.num_attention_heads
    return int(head * parameters_of(config, layer_type).get("partial_rotary_factor", 1.0))


def computed_by_transformers(
    config: Any, layer_type: str | None = None
) -> tuple[list[float], float]:
    """Return frequencies and magnitude, as a model of this config would have them."""
    parameters = parameters_of(config, layer_type)
    name = parameters["rope_type"]
    if name == "default":
        width = width_of(config, layer_type)
        exponents = torch.arange(0, width, 2, dtype=torch.float32) / width
        return (1.0 / (parameters["rope_theta"] ** exponents)).tolist(), 1.0
    function = rope_utils.ROPE_INIT_FUNCTIONS[name]
    frequencies, magnitude = function(config, torch.device("cpu"), layer_type=layer_type)
    return frequencies.tolist(), float(magnitude)


def computed_here(rope: PublishedRope, attention: Any = "gpt") -> tuple[tuple[float, ...], float]:
    assert rope.kind is not None
    rotation = expected.rotation(rope, RopeConfig(rope.kind, attention), None)
    assert rotation is not None
    return rotation.frequencies, rotation.magnitude


def assert_same(rope: PublishedRope, config: Any, layer_type: str | None = None) -> None:
    theirs, their_magnitude = computed_by_transformers(config, layer_type)
    ours, our_magnitude = computed_here(rope)
    assert len(ours) == len(theirs)
    close = LLAMA3_CLOSE if rope.rope_type == "llama3" else CLOSE
    for one, other in zip(ours, theirs, strict=True):
        assert math.isclose(one, other, rel_tol=close)
    assert math.isclose(our_magnitude, their_magnitude, rel_tol=1e-12)


def test_no_type_is_unknown() -> None:
    assert set(rope_utils.ROPE_INIT_FUNCTIONS) | {"default", "axial"} == set(keys.TYPES)


@pytest.mark.parametrize("name", [name for name in keys.TYPES if name != "axial"])
def test_keys_of_a_type_are_those_that_transformers_knows(name: str) -> None:
    validate = getattr(transformers.PretrainedConfig, f"_validate_{name}_rope_parameters")
    source = inspect.getsource(validate)

    for key in keys.KEYS[name] - keys.COMMON - keys.MULTIMODAL:
        # Read by _compute_proportional_rope_parameters, although its validator warns.
        assert f'"{key}"' in source or (name, key) == ("proportional", "factor")


BLOCKS = {
    "default": st.fixed_dictionaries({}),
    "linear": st.fixed_dictionaries({"factor": st.floats(1, 64)}),
    "llama3": st.fixed_dictionaries(
        {
            "factor": st.floats(1, 64),
            "low_freq_factor": st.floats(0.5, 2),
            "high_freq_factor": st.floats(2.5, 8),
            "original_max_position_embeddings": st.sampled_from([2048, 4096, 8192, 32768]),
        }
    ),
    "yarn": st.fixed_dictionaries(
        {
            "factor": st.floats(1, 64),
            "original_max_position_embeddings": st.sampled_from([2048, 4096, 65536]),
        },
        optional={
            "beta_fast": st.sampled_from([None, 0, 1, 16, 32.0]),
            "beta_slow": st.sampled_from([None, 0, 0.5, 1]),
            "mscale": st.sampled_from([None, 0, 0.707, 1.0]),
            "mscale_all_dim": st.sampled_from([None, 0, 0.707, 1.0]),
            "attention_factor": st.sampled_from([None, 0.5, 1.25]),
            "truncate": st.booleans(),
        },
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_frequencies_and_magnitude(name: str, data: st.DataObject) -> None:
    block = {
        "rope_type": name,
        "rope_theta": data.draw(st.sampled_from([10000, 50000.0, 1000000])),
        **data.draw(BLOCKS[name]),
    }
    if data.draw(st.booleans()):
        block["partial_rotary_factor"] = data.draw(st.sampled_from([0.25, 0.5, 1.0]))
    document = {"head_dim": data.draw(st.sampled_from([64, 128])), "rope_parameters": block}
    document["max_position_embeddings"] = 131072
    (rope,) = read({"model_type": "llama", **document}).ropes

    assert_same(rope, transformers.LlamaConfig(**copy.deepcopy(document)))


@pytest.mark.parametrize("name", ["dynamic", "longrope", "proportional"])
def test_types_that_megatron_does_not_have(name: str) -> None:
    block = {
        "rope_type": name,
        "rope_theta": 10000.0,
        "factor": 2.0,
        "short_factor": [1.0] * 32,
        "long_factor": [2.0] * 32,
        "original_max_position_embeddings": 4096,
    }
    known = {key: value for key, value in block.items() if key in keys.KEYS[name]}
    document = {"head_dim": 64, "rope_parameters": known, "max_position_embeddings": 8192}
    (rope,) = read({"model_type": "llama", **document}).ropes

    assert computed_by_transformers(transformers.LlamaConfig(**copy.deepcopy(document)))
    assert rope.rope_type == name
    assert rope.kind is None
    assert rope.refusal == UNBUILDABLE[name]


def test_every_type_is_built_or_refused() -> None:
    assert set(keys.TYPES) == set(KINDS) | set(UNBUILDABLE)
    assert not set(KINDS) & set(UNBUILDABLE)


def text_config(config: Config) -> tuple[str, Config]:
    inner = config.get("text_config", config)
    return inner["model_type"], {key: value for key, value in inner.items() if key != "model_type"}


def config_of(name: str) -> Any:
    """Return what transformers makes of a published config.

    Where it has no class of this model type, because the repository brings its own code, it
    is a Llama's: the functions that compute are the same.
    """
    model_type, document = text_config(PUBLISHED[name].config)
    if "layer_types" in document:
        document["num_hidden_layers"] = len(document["layer_types"])
    known = model_type if model_type in CONFIGS else "llama"
    config = CONFIGS[known](**copy.deepcopy(document)).get_text_config()
    if "qk_rope_head_dim" in document and model_type != "deepseek_v4":
        # Classes derive it, some under the name head_dim, which the file has for another.
        config.head_dim = config.qk_rope_head_dim = document["qk_rope_head_dim"]
    return config


ROTATING = [name for name, one in PUBLISHED.items() if one.values.get("kind") != "none"]


@pytest.mark.parametrize("name", ROTATING)
def test_published_config(name: str) -> None:
    config = config_of(name)
    ropes = read(PUBLISHED[name].config).ropes
    assert ropes
    for rope in ropes:
        where = label(rope, config)
        if rope.kind is None:
            assert rope.refusal == UNBUILDABLE[rope.rope_type]
            assert rope.rope_type == parameters_of(config, where)["rope_type"]
        else:
            used = as_text(rope) if rope.values.get("mrope_section") else rope
            assert_same(completed(used, config, where), config, where)


def completed(rope: PublishedRope, config: Any, layer_type: str | None) -> PublishedRope:
    """Return the embedding with what the file leaves to the class: base and width."""
    left = {
        "rotary_base": parameters_of(config, layer_type)["rope_theta"],
        "rotary_dim": width_of(config, layer_type),
    }
    return dataclasses.replace(rope, values={**left, **rope.values})


def as_text(rope: PublishedRope) -> PublishedRope:
    """Return the embedding as it is where all axes of a position are equal."""
    values = {key: value for key, value in rope.values.items() if key != "mrope_section"}
    return PublishedRope("default", "rope", {**values, "kind": "rope"}, rope.sources)


def label(rope: PublishedRope, config: Any) -> str | None:
    """Return the key under which transformers keeps the parameters of these layers."""
    if not any(isinstance(value, dict) for value in config.rope_parameters.values()):
        return None
    if "main" in config.rope_parameters:
        return "main" if rope.kind == "rope" else "compress"
    return rope.layers


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("mscale", [0.0, 0.707, 1.0])
def test_softmax_of_latent_attention(scaled: bool, mscale: float) -> None:
    name = "transformers.models.deepseek_v3.modeling_deepseek_v3"
    yarn_apply_mscale = pytest.importorskip(name).yarn_apply_mscale
    block: Config = {"rope_type": "default"}
    if scaled:
        block = {
            "rope_type": "yarn",
            "factor": 40.0,
            "original_max_position_embeddings": 4096,
            "mscale": mscale,
            "mscale_all_dim": mscale,
        }
    (rope,) = read({"rope_theta": 10000, "qk_rope_head_dim": 64, "rope_scaling": block}).ropes

    ours = expected.softmax_multiplier(rope, "mla", rope.values.get("rotary_scaling_factor"))

    assert ours == pytest.approx(yarn_apply_mscale(block, 1.0), rel=1e-12)


def configs_with_defaults() -> dict[str, Any]:
    """Return what every config class of transformers makes of nothing."""
    found = {}
    for model_type in CONFIGS:
        try:
            found[model_type] = CONFIGS[model_type]()
        except Exception:  # noqa: BLE001  # many need what is not installed
            continue
    return found


def test_classes_with_their_own_fraction() -> None:
    own = set()
    decoders = pytest.importorskip("transformers.models.auto.modeling_auto")
    decoders = decoders.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    for model_type, config in configs_with_defaults().items():
        if model_type not in decoders and not model_type.endswith("_text"):
            continue
        parameters = getattr(config, "rope_parameters", None)
        if not isinstance(parameters, dict) or any(
            isinstance(value, dict) for value in parameters.values()
        ):
            continue
        if parameters.get("partial_rotary_factor", 1.0) != 1.0:
            own.add(model_type)

    assert own <= model_types.OWN_FRACTION, own - model_types.OWN_FRACTION


@pytest.mark.parametrize("model_type", sorted(model_types.DERIVED_HEAD))
def test_classes_without_a_head_width(model_type: str) -> None:
    config = CONFIGS[model_type](hidden_size=768, num_attention_heads=8, num_key_value_heads=8)
    config = config.get_text_config()

    assert (getattr(config, "head_dim", None) or 96) == 96


@pytest.mark.parametrize("model_type", sorted(model_types.LOCAL_ROPE))
def test_classes_with_an_unscaled_embedding_for_sliding_layers(model_type: str) -> None:
    block = {"rope_type": "linear", "factor": 8.0}
    config = CONFIGS[model_type](rope_scaling=block)

    assert config.rope_parameters["full_attention"]["rope_type"] == "linear"
    assert config.rope_parameters["sliding_attention"]["rope_type"] == "default"


@pytest.mark.parametrize("model_type", sorted(model_types.NO_ROTATION))
def test_models_that_rotate_nothing(model_type: str) -> None:
    module = f"transformers.models.{model_type}.modeling_{model_type}"
    source = inspect.getsource(pytest.importorskip(module))

    assert "RotaryEmbedding(" not in source


def test_empty_list_of_layers_that_are_not_rotated() -> None:
    for model_type in model_types.FILLS_NO_ROPE_LAYERS:
        config = CONFIGS[model_type](no_rope_layers=[], num_hidden_layers=8)
        assert config.no_rope_layers == [1, 1, 1, 0] * 2
