"""The rotary embedding of a config that was built in code, without a command line.

Providers and bridges construct a config and hand it to the model. Which embedding the model
then constructs, and from which attributes, is what a surface's rules and paths say, as for a
command line (see ``resolution``). What differs is that class defaults stand where a parser's
defaults would (YaRN's factor is 40 in ``MLATransformerConfig`` and 1 on a command line), and
that the model's own arguments stand where a path reads the namespace.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.pipeline import Parsed
from pytest_ropecontract.megatron.surface import holds
from pytest_ropecontract.megatron.surface_files import NEWEST, load_shipped
from pytest_ropecontract.rope.config import RopeConfig, check_types
from pytest_ropecontract.rope.resolution import Resolution, Source, fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ropecontract.megatron.surface import Argument, RotaryPath, Surface

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
# Without these, every layer is rotated, and along one axis.
LEFT_OUT = ("mrope_section", "no_rope_freq")


class BuiltConfigError(RopeContractError):
    """A config object from which no rotary embedding follows."""


def resolve_config(
    config: object, surface: Surface | None = None, /, **arguments: Any
) -> Resolution:
    """Resolve a config object to what a model builds from it.

    Args:
        config: A ``TransformerConfig`` or ``MLATransformerConfig``, one of a subclass, as
            a bridge's provider is, or a ``GPTModelConfig`` that holds one.
        surface: Whose rules are applied; None: those of the newest shipped one.
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
    return _Reader(config, surface or _newest(), arguments).resolution()


@functools.cache
def _newest() -> Surface:
    return load_shipped(NEWEST)


class _Reader:
    def __init__(self, config: object, surface: Surface, arguments: Mapping[str, Any]) -> None:
        inner = getattr(config, "transformer", None)
        # GPTModelConfig answers for attributes of both, and for these with its own defaults.
        self.config = inner if hasattr(inner, "kv_channels") else config
        self.model = config
        self.surface = surface
        self.arguments = arguments

    def resolution(self) -> Resolution:
        selector, source = self._selector()
        path = self._path(selector)
        try:
            values, sources = fields_of(path, lambda *one: self._found(path, *one))
            check_types(values)
        except (OverflowError, TypeError, ValueError) as error:
            raise BuiltConfigError(f"{self._class}: {error}") from None
        rope = RopeConfig(
            kind=path.kind,  # type: ignore[arg-type]  # checked when the surface is read
            attention=path.attention,  # type: ignore[arg-type]  # the same
            rotary_class=path.rotary_class,
            returns=path.returns,
            **values,
        )
        return Resolution(
            argv=(),
            parsed=Parsed((), 0, ()),
            rope=rope,
            sources={"kind": source, **sources},
            config_class=self._class,
        )

    @property
    def _class(self) -> str:
        return type(self.config).__name__

    @property
    def _latent(self) -> bool:
        return bool(getattr(self.config, "multi_latent_attention", False))

    def _selector(self) -> tuple[dict[str, Any], Source]:
        """Return the values that decide which path is taken, and the source of the kind."""
        values: dict[str, Any] = {
            "multi_latent_attention": self._latent,
            "hybrid_layer_pattern": getattr(self.model, "hybrid_layer_pattern", None) or None,
            "rotary_interleaved": getattr(self.config, "rotary_interleaved", False),
        }
        name = "rope_type" if self._latent else "position_embedding_type"
        read = self._attribute if self._latent else self._argument
        values[name], source = read(name)
        choices = self._choices(name)
        if values[name] not in choices:
            raise BuiltConfigError(
                f"{self._class}: {name} is {values[name]!r}, not one of {', '.join(choices)}",
                remedy=f"set {name} to the one that the model is built with",
            )
        # Latent attention does not read it, but the rules of a command line mention it.
        values.setdefault("position_embedding_type", "rope")
        return values, source

    def _choices(self, name: str) -> list[str]:
        """Return the values of an attribute for which there are rules."""
        allowed = [
            rule.when[name]
            for rule in self.surface.rules
            if name in rule.when
            and self._latent in rule.when.get("multi_latent_attention", (self._latent,))
        ]
        return list(dict.fromkeys(one for values in allowed for one in values))

    def _path(self, values: Mapping[str, Any]) -> RotaryPath:
        for rule in self.surface.rules:
            if holds(rule.when, values):
                return self.surface.paths[rule.path]
        raise BuiltConfigError(
            f"{self.surface.name} has no rotary rule for this {self._class}",
            details=[f"{name}: {value}" for name, value in values.items()],
            remedy="use the surface of the Megatron that the config was built with",
        )

    def _found(self, path: RotaryPath, name: str, argument: Argument) -> tuple[Any, Source]:
        """Return the value of an argument of the rotary class, or of what attention reads."""
        if argument.origin == "config" and argument.name is not None:
            if argument.name == "kv_channels":
                return self._head()
            if name in LEFT_OUT:
                return self._attribute(argument.name, default=None)
            return self._attribute(argument.name)
        # GPTModel hands on more than some versions give it from a command line.
        handed_on = path.attention == "gpt" and name in MODEL_ARGUMENTS
        if argument.origin == "args" or handed_on:
            return self._argument(name)
        return argument.value, Source("constructor-default", f"{path.rotary_class}.{name}")

    def _head(self) -> tuple[Any, Source]:
        """Return the width of a head, which a config that has none derives."""
        channels, source = self._attribute("kv_channels")
        if channels is None:
            hidden, _ = self._attribute("hidden_size")
            heads, _ = self._attribute("num_attention_heads")
            channels = hidden // heads
        return channels, source

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
