"""What one Megatron version accepts and does with it, as data.

A surface is recorded from an importable Megatron (see ``recording``) and never written by
hand. It holds the parser's options, what ``validate_args`` changes and refuses about RoPE,
how namespace values reach the config, and which rotary class is constructed from what.

Conditions are mappings from a namespace attribute to the values for which they hold; all
of them must hold. In place of the values, ``{"contains": [...]}`` means a text with one of
these parts, ``{"lacks": [...]}`` anything else, and ``{"given": true}`` any value but None.

The records are named tuples: a surface has a thousand of them, and is loaded in every process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Mapping


Condition = dict[str, Any]


LONGEST = 300


class SurfaceError(RopeContractError):
    """A surface that cannot be read.

    The headline may quote it, and is cut off after ``LONGEST`` characters.
    """

    def __init__(self, headline: str, **more: Any) -> None:
        cut = headline if len(headline) <= LONGEST else f"{headline[:LONGEST]}..."
        super().__init__(cut, **more)


class OptionRecord(NamedTuple):
    """One option of the parser, in the order in which it was added.

    Beside the arguments of ``add_argument``:

    Attributes:
        value_type: How its values are read, one of ``VALUE_TYPES``, or None for text.
        reader: Name of Megatron's function for that, as it stands in a refusal, where it has
            a name of its own.
        enum: Name of the enumeration whose members it reads.
    """

    flags: tuple[str, ...]
    dest: str
    action: str
    value_type: str | None = None
    reader: str | None = None
    enum: str | None = None
    nargs: int | str | None = None
    const: Any = None
    default: Any = None
    choices: tuple[Any, ...] | None = None
    required: bool = False


class Edit(NamedTuple):
    """A value that ``validate_args`` writes.

    Attributes:
        dest: The namespace attribute that it writes.
        when: The namespace values, before any edit, for which it writes.
        value: What it writes, unless ``quotient`` is given.
        quotient: The two attributes whose integer quotient it writes.
    """

    dest: str
    when: Condition
    value: Any = None
    quotient: tuple[str, str] | None = None


class Refusal(NamedTuple):
    """Namespace values that ``validate_args`` or the config constructor refuses.

    Attributes:
        by: ``validate_args``, ``config`` or ``model``: who raises.
        when: The values that it refuses.
        error: Name of the exception.
        message: Its text, with ``{dest}`` where the value of an attribute stands.
    """

    by: Literal["validate_args", "config", "model"]
    when: Condition
    error: str
    message: str


class Attribute(NamedTuple):
    """One config attribute: where its value comes from.

    Attributes:
        default: The class default.
        dest: The namespace attribute that is copied into it, or None.
        none_is_default: Whether a namespace value None leaves the class default.
        transform: How the value is changed on its way; ``layer_pattern`` turns a whole
            number n into a list with a one at every n-th layer.
    """

    default: Any = None
    dest: str | None = None
    none_is_default: bool = False
    transform: Literal["layer_pattern"] | None = None


class ConfigClass(NamedTuple):
    """A config class, and when ``core_transformer_config_from_args`` chooses it."""

    name: str
    when: Condition
    attributes: Mapping[str, Attribute]


class ExtraAttributes(NamedTuple):
    """Attributes that are set on a config after its construction."""

    when: Condition
    attributes: Mapping[str, Attribute]


class Argument(NamedTuple):
    """Where an argument of a rotary class comes from.

    Attributes:
        origin: ``config`` or ``args``: an attribute of the config or of the namespace;
            ``constructor``: the default of the class; ``constant``: a value that the
            model always passes.
        name: The attribute, for ``config`` and ``args``.
        value: The value, for ``constructor`` and ``constant``.
    """

    origin: Literal["config", "args", "constructor", "constant"]
    name: str | None = None
    value: Any = None


class RotaryPath(NamedTuple):
    """One way to a rotary embedding: class, arguments, results.

    Attributes:
        name: The path's name, for example ``mla-yarn``.
        attention: ``mla``, ``gpt`` or ``hybrid``.
        kind: ``rope``, ``yarn``, ``mrope`` or ``none``.
        rotary_class: The class that is constructed, or None.
        returns: The number of results of its ``forward``.
        arguments: The arguments of its constructor.
        reads: Config or namespace attributes that the attention reads beside them, by
            role: ``softmax_factor`` and ``softmax_mscale`` for the softmax scale,
            ``no_rope_freq`` and ``mrope_section`` for what rotation is applied to.
    """

    name: str
    attention: str
    kind: str
    rotary_class: str | None
    returns: int | None
    arguments: Mapping[str, Argument]
    reads: Mapping[str, Argument]


class RotaryRule(NamedTuple):
    """Which path is taken for which values."""

    when: Condition
    path: str


class Source(NamedTuple):
    """Where a surface was recorded from.

    Attributes:
        distribution: Name of the installed distribution, or None of a checkout.
        version: Version of that distribution.
        revision: The commit of a checkout, with ``-dirty`` where files differ from it, or None.
        arguments: ``module:function`` of a framework's functions that added options.
    """

    distribution: str | None = None
    version: str | None = None
    revision: str | None = None
    arguments: tuple[str, ...] = ()


class Surface(NamedTuple):
    """A Megatron version as data.

    Attributes:
        name: For example ``megatron-core-0.19.2``.
        version: The version that the package states.
        fingerprint: SHA-256 over the sources that the rules were recorded from.
        options: The parser's options, in order.
        enums: Members of the enumerations that options read.
        edits: What ``validate_args`` writes, as far as it concerns RoPE.
        refusals: What is refused, as far as it concerns RoPE.
        classes: The config classes, the first whose condition holds is taken.
        extras: Attributes that are set after construction.
        paths: Ways to a rotary embedding, by name.
        rules: Which way is taken; the first whose condition holds.
        source: Where it was recorded from.
    """

    name: str
    version: str
    fingerprint: str
    options: tuple[OptionRecord, ...]
    enums: Mapping[str, Mapping[str, int | str]]
    edits: tuple[Edit, ...]
    refusals: tuple[Refusal, ...]
    classes: tuple[ConfigClass, ...]
    extras: tuple[ExtraAttributes, ...]
    paths: Mapping[str, RotaryPath]
    rules: tuple[RotaryRule, ...]
    source: Source = Source()


def is_record(value: object) -> bool:
    """Return whether a value is one of these records, and no plain tuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def holds(condition: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Return whether every attribute of a condition has one of its values."""
    # Loops, since this is asked some fifty times of every command line.
    for name, allowed in condition.items():
        value = values.get(name)
        if isinstance(allowed, dict):
            if not _allows(allowed, value):
                return False
            continue
        kind = type(value)
        for one in allowed:
            if kind is type(one) and value == one:
                break
        else:
            return False
    return True


def _allows(allowed: Mapping[str, Any], value: Any) -> bool:
    if "given" in allowed:
        return value is not None
    parts = allowed.get("contains") or allowed["lacks"]
    contains = isinstance(value, str) and any(part in value for part in parts)
    return contains is ("contains" in allowed)
