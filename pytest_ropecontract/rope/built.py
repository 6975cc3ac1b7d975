"""The rotary embedding of a config that was built in code, without a command line.

Providers and bridges construct a config and hand it to the model. The rules by which the
model then constructs its rotary embedding are those of a command line (see ``resolution``);
what differs is that class defaults stand where a parser's defaults would: YaRN's factor is
40 in ``MLATransformerConfig`` and 1 on a command line.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.pipeline import Parsed
from pytest_ropecontract.rope.config import RopeConfig, check_types
from pytest_ropecontract.rope.frequencies import magnitude, rotated_width, softmax_multiplier
from pytest_ropecontract.rope.resolution import LLAMA3_ORIGINAL_LENGTH, Resolution, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

_ABSENT = object()
# What GPTModel takes beside the config, with the defaults of its constructor.
MODEL_ARGUMENTS: Mapping[str, Any] = {
    "position_embedding_type": _ABSENT,
    "rotary_base": 10000,
    "rotary_percent": 1.0,
    "seq_len_interpolation_factor": None,
    "rope_scaling": False,
    "rope_scaling_factor": 8.0,
}
# YaRN under multi-latent attention: config attribute and field.
MLA_YARN = {
    "rotary_scaling_factor": "rotary_scaling_factor",
    "original_max_position_embeddings": "original_max_position_embeddings",
    "beta_fast": "beta_fast",
    "beta_slow": "beta_slow",
    "mscale": "mscale",
    "mscale_all_dim": "mscale_all_dim",
}
# YaRN elsewhere: attributes that are set on the config after its construction.
GPT_YARN = {
    "yarn_rotary_scaling_factor": "rotary_scaling_factor",
    "yarn_original_max_position_embeddings": "original_max_position_embeddings",
    "yarn_beta_fast": "beta_fast",
    "yarn_beta_slow": "beta_slow",
    "yarn_mscale": "mscale",
    "yarn_mscale_all_dim": "mscale_all_dim",
    "yarn_correction_range_round_to_int": "round_to_int",
}
CLASSES = {
    "rope": ("RotaryEmbedding", 1),
    "yarn": ("YarnRotaryEmbedding", 2),
    "mrope": ("MultimodalRotaryEmbedding", 1),
    "none": (None, None),
}


class BuiltConfigError(RopeContractError):
    """A config object from which no rotary embedding follows."""


def resolve_config(config: object, **arguments: Any) -> Resolution:
    """Resolve a config object to what a model builds from it.

    Args:
        config: A ``TransformerConfig`` or ``MLATransformerConfig``, one of a subclass, as
            a bridge's provider is, or a ``GPTModelConfig`` that holds one.
        arguments: What the model is given beside it: ``position_embedding_type``,
            ``rotary_base``, ``rotary_percent``, ``seq_len_interpolation_factor``,
            ``rope_scaling``, ``rope_scaling_factor``. They come before attributes of the
            config; multi-latent attention reads none of them.

    Raises:
        BuiltConfigError: An attribute is missing or has a value from which no embedding
            follows, or an argument is not one of these.
    """
    for name in arguments:
        if name not in MODEL_ARGUMENTS:
            raise BuiltConfigError(
                f"from_config takes no argument {name!r}",
                details=[f"arguments: {', '.join(MODEL_ARGUMENTS)}"],
                remedy="set it on the config",
            )
    return _Reader(config, arguments).resolution()


class _Reader:
    def __init__(self, config: object, arguments: Mapping[str, Any]) -> None:
        inner = getattr(config, "transformer", None)
        # GPTModelConfig answers for attributes of both, and for these with its own defaults.
        self.config = inner if hasattr(inner, "kv_channels") else config
        self.model = config
        self.arguments = arguments
        self.values: dict[str, Any] = {}
        self.sources: dict[str, Source] = {}

    def resolution(self) -> Resolution:
        latent = bool(self._attribute("multi_latent_attention", default=False)[0])
        hybrid = bool(getattr(self.model, "hybrid_layer_pattern", None))
        try:
            kind = self._latent() if latent else self._common(hybrid=hybrid)
            check_types(self.values)
        except (TypeError, ValueError) as error:
            raise BuiltConfigError(f"{self._class}: {error}") from None
        rotary_class, returns = CLASSES[kind]
        rope = RopeConfig(
            kind=kind,  # type: ignore[arg-type]  # one of CLASSES
            attention="mla" if latent else "hybrid" if hybrid else "gpt",
            rotary_class=rotary_class,
            returns=returns,
            **self.values,
        )
        return Resolution(
            argv=(),
            parsed=Parsed((), 0, ()),
            rope=rope,
            sources=self.sources,
            config_class=type(self.config).__name__,
        )

    @property
    def _class(self) -> str:
        return type(self.config).__name__

    def _latent(self) -> str:
        kind = self._selected("rope_type", *self._attribute("rope_type"), ("rope", "yarn"))
        self._take("rotary_base", "rotary_base")
        self._take("qk_pos_emb_head_dim", "rotary_dim")
        self._constant("rotary_interleaved", False, CLASSES[kind][0])
        if kind == "yarn":
            for attribute, field in MLA_YARN.items():
                self._take(attribute, field)
            self._constant("round_to_int", True, CLASSES[kind][0])
            self._magnitude()
        else:
            self._take("rotary_percent", "rotary_percent")
            self._plain()
            self._constant("rope_scaling", False, CLASSES[kind][0])
        factor, _ = self._attribute("rotary_scaling_factor")
        all_dim, _ = self._attribute("mscale_all_dim")
        self.values["softmax_multiplier"] = softmax_multiplier(factor, all_dim)
        return kind

    def _common(self, *, hybrid: bool) -> str:
        value, source = self._argument("position_embedding_type")
        kinds = ("rope", "yarn", "mrope", "none", "learned_absolute", "relative")
        kind = self._selected("position_embedding_type", value, source, kinds)
        if kind not in ("rope", "yarn", "mrope"):
            return "none"
        self._keep("rotary_base", *self._argument("rotary_base"))
        self._head()
        if kind == "yarn":
            for attribute, field in GPT_YARN.items():
                self._take(attribute, field)
            self._constant("rotary_interleaved", False, CLASSES[kind][0])
            self._magnitude()
        else:
            self._keep("rotary_percent", *self._argument("rotary_percent"))
            self._plain()
            name = "seq_len_interpolation_factor"
            self._keep(name, *self._argument(name))
            if hybrid:
                self._constant("rotary_interleaved", False, CLASSES[kind][0])
            else:
                self._take("rotary_interleaved", "rotary_interleaved")
            if kind == "rope":
                self._scaling(hybrid=hybrid)
        if kind == "mrope":
            self._layers("mrope_section", "mrope_section")
        self._layers("no_rope_freq", "no_rope_layers")
        self.values["softmax_multiplier"] = 1.0
        return kind

    def _selected(self, name: str, value: Any, source: Source, choices: tuple[str, ...]) -> str:
        if value not in choices:
            raise BuiltConfigError(
                f"{self._class}: {name} is {value!r}, not one of {', '.join(choices)}",
                remedy=f"set {name} to the one that the model is built with",
            )
        self.sources["kind"] = source
        return str(value)

    def _head(self) -> None:
        channels, source = self._attribute("kv_channels")
        if channels is None:
            hidden, _ = self._attribute("hidden_size")
            heads, _ = self._attribute("num_attention_heads")
            channels = hidden // heads
        self._keep("rotary_dim", channels, source)

    def _plain(self) -> None:
        self.values["magnitude"] = 1.0
        self.values["rotary_dim"] = rotated_width(
            self.values["rotary_dim"], self.values["rotary_percent"]
        )

    def _magnitude(self) -> None:
        self.values["magnitude"] = magnitude(
            self.values["rotary_scaling_factor"],
            self.values["mscale"],
            self.values["mscale_all_dim"],
        )

    def _scaling(self, *, hybrid: bool) -> None:
        if hybrid:
            self._constant("rope_scaling", False, "RotaryEmbedding")
            return
        scaled, source = self._argument("rope_scaling")
        self._keep("rope_scaling", bool(scaled), source)
        if scaled:
            self._keep("rope_scaling_factor", *self._argument("rope_scaling_factor"))
            name = "original_max_position_embeddings"
            self._constant(name, LLAMA3_ORIGINAL_LENGTH, "RotaryEmbedding")

    def _layers(self, attribute: str, field: str) -> None:
        value, source = self._attribute(attribute, default=None)
        if isinstance(value, list | tuple):
            self._keep(field, tuple(value), source)

    def _take(self, attribute: str, field: str) -> None:
        self._keep(field, *self._attribute(attribute))

    def _constant(self, field: str, value: Any, rotary_class: str | None) -> None:
        self._keep(field, value, Source("constructor-default", f"{rotary_class}.{field}"))

    def _keep(self, field: str, value: Any, source: Source) -> None:
        self.values[field] = value
        self.sources[field] = source

    def _attribute(self, name: str, default: Any = _ABSENT) -> tuple[Any, Source]:
        value = getattr(self.config, name, default)
        if value is _ABSENT:
            raise BuiltConfigError(
                f"{self._class} has no attribute {name!r}, which the embedding is built from",
                remedy="give the config that the model is constructed with",
            )
        return value, self._source(self.config, name, value)

    def _argument(self, name: str) -> tuple[Any, Source]:
        if name in self.arguments:
            return self.arguments[name], Source("declared", f"the argument {name}")
        for holder in (self.model, self.config):
            value = getattr(holder, name, _ABSENT)
            if value is not _ABSENT:
                return value, self._source(holder, name, value)
        default = MODEL_ARGUMENTS[name]
        if default is _ABSENT:
            raise BuiltConfigError(
                f"{self._class} has no {name}: the model is given it beside the config",
                remedy=f'give it here, too: from_config(config, {name}="rope", ...)',
            )
        return default, Source("constructor-default", f"GPTModel.{name}")

    def _source(self, holder: object, name: str, value: Any) -> Source:
        """Say whether an attribute still has its class's default."""
        default = getattr(type(holder), name, _ABSENT)
        for field in dataclasses.fields(holder) if dataclasses.is_dataclass(holder) else ():
            if field.name == name:
                default = field.default
        same = type(default) is type(value) and default == value
        origin = "config-default" if same else "declared"
        return Source(origin, f"{type(holder).__name__}.{name}")  # type: ignore[arg-type]
