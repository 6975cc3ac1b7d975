"""From a parsed argv to the effective RoPE, with an origin for every field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from pytest_ropecontract.megatron import configuration
from pytest_ropecontract.megatron.backend import ConfigRefusedError
from pytest_ropecontract.megatron.framework import PipelineCallError
from pytest_ropecontract.megatron.pipeline import VALIDATE_ARGS
from pytest_ropecontract.megatron.surface import holds
from pytest_ropecontract.rope.config import FIELDS, RopeConfig, check_types
from pytest_ropecontract.rope.frequencies import magnitude, rotated_width, softmax_multiplier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_ropecontract.megatron.backend import Config
    from pytest_ropecontract.megatron.pipeline import Parsed, Pipeline
    from pytest_ropecontract.megatron.surface import Argument, RotaryPath

Origin = Literal[
    "declared", "parser-default", "filled", "config-default", "constructor-default", "pinned"
]
ORIGINS: tuple[Origin, ...] = get_args(Origin)

# Constructor arguments of Megatron's rotary classes, and the fields that they become.
COMMON_ARGUMENTS = {
    "kv_channels": "rotary_dim",
    "rotary_base": "rotary_base",
    "rotary_percent": "rotary_percent",
    "rotary_interleaved": "rotary_interleaved",
    "seq_len_interpolation_factor": "seq_len_interpolation_factor",
    "rope_scaling": "rope_scaling",
    "rope_scaling_factor": "rope_scaling_factor",
}
# YarnRotaryEmbedding passes rotary_percent and the interpolation factor to its base class,
# but computes its frequencies without them.
YARN_ARGUMENTS = {
    "kv_channels": "rotary_dim",
    "rotary_base": "rotary_base",
    "rotary_interleaved": "rotary_interleaved",
    "scaling_factor": "rotary_scaling_factor",
    "original_max_position_embeddings": "original_max_position_embeddings",
    "beta_fast": "beta_fast",
    "beta_slow": "beta_slow",
    "mscale": "mscale",
    "mscale_all_dim": "mscale_all_dim",
    "correction_range_round_to_int": "round_to_int",
}
# RotaryEmbedding._apply_scaling has this length as the default of an argument that nobody passes.
LLAMA3_ORIGINAL_LENGTH = 8192


@dataclass(frozen=True)
class Source:
    """Where the value of a field comes from.

    Attributes:
        origin: One of ``ORIGINS``.
        text: The flag as written, the function that wrote it, or the class whose default
            it is.
        dest: The namespace attribute that it went through, or None.
        flag: A flag that sets this attribute, or None where the parser has none.
        attribute: The config attribute that it went through, or None.
        argument: The argument of the rotary class that it arrives as, or None.
    """

    origin: Origin
    text: str
    dest: str | None = None
    flag: str | None = None
    attribute: str | None = field(default=None, compare=False)
    argument: str | None = field(default=None, compare=False)

    def arriving(self, argument: str) -> Source:
        """Return the same with the argument of the rotary class as which the value arrives."""
        return Source(self.origin, self.text, self.dest, self.flag, self.attribute, argument)


@dataclass(frozen=True)
class Refused:
    """Why nothing is built.

    Attributes:
        by: ``parser``, ``validate_args``, ``config`` or ``model``; of an omission also
            ``framework``, where one of its functions raises.
        error: Name of the exception.
        message: Megatron's own text.
    """

    by: str
    error: str
    message: str


@dataclass(frozen=True)
class Resolution:
    """The outcome for one argv.

    Attributes:
        argv: The definition's tokens, without those of ``rope_contract_base_args``.
        parsed: The argv with its namespace and who wrote its values.
        rope: What is built, or None where it is refused.
        sources: Where every field of ``rope`` that is read comes from.
        refused: Why nothing is built, or None.
        reads: The namespace attributes that what is built reads.
        config_class: Name of the config class, or None.
    """

    argv: tuple[str, ...]
    parsed: Parsed
    rope: RopeConfig | None = None
    sources: Mapping[str, Source] = field(default_factory=dict)
    refused: Refused | None = None
    reads: frozenset[str] = frozenset()
    config_class: str | None = None

    @property
    def built(self) -> RopeConfig:
        """What is built.

        Raises:
            ValueError: Nothing is, it is refused.
        """
        if self.rope is None:
            raise ValueError("nothing is built")
        return self.rope

    @property
    def origins(self) -> dict[str, Origin]:
        """The origin of every field that is read, in the order of the fields."""
        return {name: self.sources[name].origin for name in FIELDS if name in self.sources}


def resolve(pipeline: Pipeline, argv: Sequence[str]) -> Resolution:
    """Resolve an argv to the RoPE that a training run would build from it.

    Raises:
        PipelineCallError: A function of the framework raised.
    """
    tokens = tuple(argv)
    with pipeline.active():
        return resolve_parsed(pipeline, tokens, pipeline.parse(tokens))


def resolve_parsed(pipeline: Pipeline, tokens: tuple[str, ...], parsed: Parsed) -> Resolution:
    """Resolve an argv that is parsed already.

    Raises:
        PipelineCallError: A function of the framework raised.
    """
    if parsed.refusal is not None:
        refused = Refused("parser", "SystemExit", parsed.refusal)
        return Resolution(tokens, parsed, refused=refused)
    try:
        builder = _Builder(pipeline, parsed, pipeline.configure(parsed))
    except ConfigRefusedError as error:
        return Resolution(tokens, parsed, refused=Refused(error.by, error.error, error.message))
    return builder.resolution(tokens)


def fields_of(
    path: RotaryPath, look_up: Callable[[str, Argument], tuple[Any, Source]]
) -> tuple[dict[str, Any], dict[str, Source]]:
    """Return the fields of what a path constructs, and where they come from.

    Args:
        path: The way to a rotary embedding.
        look_up: Gives the value of an argument, or of what the attention reads, by its name.

    Raises:
        OverflowError, TypeError, ValueError: Values from which no embedding follows.
    """
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    if path.kind == "none":
        return values, sources
    table = YARN_ARGUMENTS if path.kind == "yarn" else COMMON_ARGUMENTS
    for argument, name in table.items():
        if argument in path.arguments:
            values[name], source = look_up(argument, path.arguments[argument])
            sources[name] = source.arriving(argument)
    _adjust(path, values, sources)
    values["softmax_multiplier"] = 1.0
    if "softmax_factor" in path.reads:
        factor, _ = look_up("softmax_factor", path.reads["softmax_factor"])
        mscale, _ = look_up("softmax_mscale", path.reads["softmax_mscale"])
        values["softmax_multiplier"] = softmax_multiplier(factor, mscale)
    for role, name in (("mrope_section", "mrope_section"), ("no_rope_freq", "no_rope_layers")):
        if role in path.reads:
            value, source = look_up(role, path.reads[role])
            if isinstance(value, list | tuple):
                values[name], sources[name] = tuple(value), source
    return values, sources


def _adjust(path: RotaryPath, values: dict[str, Any], sources: dict[str, Source]) -> None:
    """Derive what is not an argument, and leave out what the class does not use."""
    if path.kind == "yarn":
        values["magnitude"] = magnitude(
            values["rotary_scaling_factor"], values["mscale"], values["mscale_all_dim"]
        )
        return
    values["magnitude"] = 1.0
    values["rotary_dim"] = rotated_width(values["rotary_dim"], values["rotary_percent"])
    if values.get("rope_scaling"):
        values["original_max_position_embeddings"] = LLAMA3_ORIGINAL_LENGTH
        sources["original_max_position_embeddings"] = Source(
            "constructor-default", f"{path.rotary_class}._apply_scaling"
        )
    elif "rope_scaling_factor" in values:
        values["rope_scaling_factor"] = None
        del sources["rope_scaling_factor"]


class _Builder:
    """Applies the rotary rules of a surface to a namespace and a config."""

    def __init__(self, pipeline: Pipeline, parsed: Parsed, config: Config) -> None:
        self.surface = pipeline.megatron.surface
        self.parsed = parsed
        self.config = config
        self.attributes = configuration.attributes(self.surface, parsed.namespace)
        self.declared = {one.dest: one for one in parsed.occurrences if one.dest is not None}
        self.overridden = pipeline.rotary_arguments(parsed, config)
        self.override_name = pipeline.settings.rotary or ""
        self.flag_of = pipeline.flag_of
        self.values: dict[str, Any] = {}
        self.sources: dict[str, Source] = {}

    def resolution(self, argv: tuple[str, ...]) -> Resolution:
        merged = {**self.parsed.namespace, **self.config.values}
        path = next(
            (self.surface.paths[r.path] for r in self.surface.rules if holds(r.when, merged)), None
        )
        if path is None:
            refused = Refused(
                "model", "unresolvable", f"{self.surface.name} has no rotary rule for this config"
            )
            return Resolution(argv, self.parsed, refused=refused)
        try:
            self._fields(path)
            check_types(self.values)
        except (OverflowError, TypeError, ValueError) as error:
            # Values from which no embedding follows: a width of zero, a factor below zero.
            return Resolution(
                argv, self.parsed, refused=Refused("model", "unresolvable", str(error))
            )
        selector = "rope_type" if path.attention == "mla" else "position_embedding_type"
        self.sources["kind"] = self._selector(selector)
        rope = RopeConfig(
            kind=path.kind,  # type: ignore[arg-type]  # checked when the surface is read
            attention=path.attention,  # type: ignore[arg-type]  # the same
            rotary_class=path.rotary_class,
            returns=path.returns,
            **self.values,
        )
        return Resolution(
            argv=argv,
            parsed=self.parsed,
            rope=rope,
            sources=self.sources,
            reads=frozenset(self._reads(path, selector)),
            config_class=self.config.class_name,
        )

    def _fields(self, path: RotaryPath) -> None:
        unknown = set(self.overridden) - set(path.arguments)
        if unknown and path.kind != "none":
            raise PipelineCallError(
                f"rope_contract_rotary: {self.override_name} returned {min(unknown)!r}, "
                f"which {path.rotary_class} does not take",
                remedy=f"its arguments are {', '.join(path.arguments)}",
            )
        self.values, self.sources = fields_of(path, lambda *one: self._found(path, *one))

    def _found(self, path: RotaryPath, name: str, argument: Argument) -> tuple[Any, Source]:
        if name in self.overridden and name in path.arguments:
            return self.overridden[name], Source("filled", self.override_name)
        return self._value(argument), self._argument_source(argument, path, name)

    def _value(self, argument: Argument) -> Any:
        if argument.origin == "config" and argument.name is not None:
            return self.config.values.get(argument.name)
        if argument.origin == "args" and argument.name is not None:
            return self.parsed.namespace.get(argument.name)
        return argument.value

    def _argument_source(self, argument: Argument, path: RotaryPath, name: str) -> Source:
        if argument.origin == "args" and argument.name is not None:
            return self._dest_source(argument.name)
        if argument.origin == "config" and argument.name is not None:
            return self._attribute_source(argument.name)
        return Source("constructor-default", f"{path.rotary_class}.{name}")

    def _attribute_source(self, name: str) -> Source:
        attribute = self.attributes.get(name)
        if attribute is None or configuration.takes_default(attribute, self.parsed.namespace):
            dest = attribute.dest if attribute is not None else None
            text = f"{self.config.class_name}.{name}"
            return Source("config-default", text, dest, self.flag_of(dest or ""), name)
        return self._dest_source(attribute.dest or name, name)

    def _dest_source(self, dest: str, attribute: str | None = None) -> Source:
        flag = self.flag_of(dest)
        if dest in self.parsed.pinned:
            return Source("pinned", f"rope_contract_pins: {dest}", dest, flag, attribute)
        filler = self.parsed.fillers.get(dest)
        if filler == VALIDATE_ARGS:
            for edit in self.surface.edits:
                for trigger in edit.when:
                    if edit.dest == dest and trigger != dest and trigger in self.declared:
                        text = self.declared[trigger].text
                        return Source("declared", text, trigger, flag, attribute)
        if filler is not None:
            return Source("filled", filler, dest, flag, attribute)
        if dest in self.declared:
            return Source("declared", self.declared[dest].text, dest, flag, attribute)
        return Source("parser-default", f"default of {flag or dest}", dest, flag, attribute)

    def _selector(self, name: str) -> Source:
        return self._attribute_source(name) if name in self.attributes else self._dest_source(name)

    def _reads(self, path: RotaryPath, selector: str) -> set[str]:
        table = YARN_ARGUMENTS if path.kind == "yarn" else COMMON_ARGUMENTS
        used = [path.arguments[name] for name in table if name in path.arguments]
        read = {selector, "position_embedding_type", "use_rotary_position_embeddings"}
        for argument in (*used, *path.reads.values()):
            if argument.name is None:
                continue
            attribute = self.attributes.get(argument.name)
            dest = attribute.dest if argument.origin == "config" and attribute else None
            read.add(dest or argument.name)
        return read
