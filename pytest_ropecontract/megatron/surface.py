"""What one Megatron version accepts and does with it, as data.

A surface is recorded from an importable Megatron (see ``recording``) and never written by
hand. It holds the parser's options, what ``validate_args`` changes and refuses about RoPE,
how namespace values reach the config, and which rotary class is constructed from what.

Conditions are mappings from a namespace attribute to the values for which they hold; all
of them must hold. In place of the values, ``{"contains": [...]}`` means a text with one of
these parts, ``{"lacks": [...]}`` anything else, and ``{"given": true}`` any value but None.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SCHEMA = 1
NEWEST = "megatron-core-0.19.2"
SIZE_LIMIT = 8 * 1024 * 1024

Condition = dict[str, Any]


class SurfaceError(RopeContractError):
    """A surface that cannot be read."""


@dataclass(frozen=True)
class OptionRecord:
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


@dataclass(frozen=True)
class Edit:
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


@dataclass(frozen=True)
class Refusal:
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


@dataclass(frozen=True)
class Attribute:
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


@dataclass(frozen=True)
class ConfigClass:
    """A config class, and when ``core_transformer_config_from_args`` chooses it."""

    name: str
    when: Condition
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True)
class ExtraAttributes:
    """Attributes that are set on a config after its construction."""

    when: Condition
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True)
class Argument:
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


@dataclass(frozen=True)
class RotaryPath:
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


@dataclass(frozen=True)
class RotaryRule:
    """Which path is taken for which values."""

    when: Condition
    path: str


@dataclass(frozen=True)
class Source:
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


@dataclass(frozen=True)
class Surface:
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


def holds(condition: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Return whether every attribute of a condition has one of its values."""
    return all(_allows(allowed, values.get(name)) for name, allowed in condition.items())


def _allows(allowed: Any, value: Any) -> bool:
    if not isinstance(allowed, dict):
        return any(value == one and type(value) is type(one) for one in allowed)
    if "given" in allowed:
        return value is not None
    parts = allowed.get("contains") or allowed["lacks"]
    contains = isinstance(value, str) and any(part in value for part in parts)
    return contains is ("contains" in allowed)


def shipped() -> tuple[str, ...]:
    """Return the names of the surfaces that are part of this package, sorted."""
    folder = resources.files("pytest_ropecontract.megatron") / "surfaces"
    return tuple(sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".json")))


def load_shipped(name: str) -> Surface:
    """Load a surface that is part of this package.

    Raises:
        SurfaceError: There is no surface of this name.
    """
    if name not in shipped():
        raise SurfaceError(
            f"no surface is named {name!r}",
            details=[f"shipped: {', '.join(shipped())}"],
            remedy="name a shipped surface, a JSON file, 'live' or 'auto'",
        )
    folder = resources.files("pytest_ropecontract.megatron") / "surfaces"
    return parse((folder / f"{name}.json").read_text(encoding="utf-8"), f"{name}.json")


def load_file(path: Path) -> Surface:
    """Load a surface from a JSON file made by ``ropecontract surface record``.

    Raises:
        SurfaceError: The file cannot be read, or is no surface of this schema.
    """
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
        if len(content) > SIZE_LIMIT:
            raise SurfaceError(
                f"surface {path.name} is too large: more than {SIZE_LIMIT} bytes",
                origin=str(path),
            )
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise SurfaceError(f"surface {path.name} is not UTF-8 text", origin=str(path)) from None
    except OSError as error:
        raise SurfaceError(
            f"surface {path.name} cannot be read: {error.strerror}", origin=str(path)
        ) from None
    return parse(text, path.name)


def parse(text: str, name: str) -> Surface:
    """Read a surface from JSON text.

    Args:
        text: The JSON document.
        name: What to call it in errors.

    Raises:
        SurfaceError: Not JSON, cut off, of another schema, or with a field that is
            missing or of the wrong type.
    """
    remedy = "record it anew: ropecontract surface record -o FILE"
    try:
        document = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except json.JSONDecodeError as error:
        cut = text.lstrip().startswith("{") and not text.rstrip().endswith("}")
        state = "is cut off" if cut else "is not JSON"
        raise SurfaceError(
            f"surface {name} {state} at line {error.lineno}: {error.msg}", remedy=remedy
        ) from None
    except RecursionError:
        raise SurfaceError(f"surface {name} is nested too deeply", remedy=remedy) from None
    except ValueError as error:
        raise SurfaceError(
            f"surface {name} has an unusable number: {error}", remedy=remedy
        ) from None
    if not isinstance(document, dict):
        raise SurfaceError(f"surface {name} is a {type(document).__name__}, not an object")
    schema = document.get("schema")
    if schema != SCHEMA or type(schema) is not int:
        raise SurfaceError(
            f"surface {name} has schema {schema!r}, this version reads {SCHEMA}",
            remedy=remedy,
        )
    try:
        _check_characters(text, document)
        return _Reader(document).surface()
    except _MalformedError as error:
        raise SurfaceError(f"surface {name} is malformed: {error}", remedy=remedy) from None


def _check_characters(text: str, document: Any) -> None:
    """Refuse what a terminal would take for commands, or cannot be printed at all."""
    if _is_printable(text) and not any(mark in text for mark in ("\\u", "\\b", "\\f", "\\r")):
        return
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += [*value, *value.values()]
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str) and not _is_printable(value):
            raise _MalformedError(f"{value[:40]!a} has a character that cannot be shown")


def _is_printable(text: str) -> bool:
    return text.replace("\n", "").replace("\t", "").isprintable()


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number


def dump(surface: Surface) -> str:
    """Return a surface as JSON text, the same for the same surface."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "name": surface.name,
        "version": surface.version,
        "fingerprint": surface.fingerprint,
        "source": _slim(surface.source),
        "enums": {name: dict(members) for name, members in sorted(surface.enums.items())},
        "options": [_slim(option) for option in surface.options],
        "edits": [_slim(edit) for edit in surface.edits],
        "refusals": [_slim(refusal) for refusal in surface.refusals],
        "classes": [_slim(one) for one in surface.classes],
        "extras": [_slim(one) for one in surface.extras],
        "paths": [_slim(path) for path in surface.paths.values()],
        "rules": [_slim(rule) for rule in surface.rules],
    }
    return _Writer().document(document)


class _Writer:
    """Writes one record a line: small, and readable as a difference."""

    def document(self, document: Mapping[str, Any]) -> str:
        parts = []
        for key, value in document.items():
            if isinstance(value, list):
                lines = ",\n  ".join(self.line(item) for item in value)
                parts.append(f' "{key}": [\n  {lines}\n ]' if value else f' "{key}": []')
            else:
                parts.append(f' "{key}": {self.line(value)}')
        return "{\n" + ",\n".join(parts) + "\n}\n"

    def line(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _slim(record: Any) -> Any:
    """Turn records into JSON values, leaving out what equals the record's defaults."""
    if isinstance(record, dict):
        return {name: _slim(value) for name, value in record.items()}
    if isinstance(record, list | tuple):
        return [_slim(value) for value in record]
    if not hasattr(record, "__dataclass_fields__"):
        return record
    return {
        name: _slim(getattr(record, name))
        for name, spec in record.__dataclass_fields__.items()
        if getattr(record, name) != spec.default
        or type(getattr(record, name)) is not type(spec.default)
    }


class _MalformedError(Exception):
    pass


ACTIONS = frozenset(
    {"store", "store_const", "store_true", "store_false", "append", "count", "extend", "boolean"}
)
VALUE_TYPES = frozenset({"int", "float", "str", "bool", "list_pattern", "int_tuple", "enum"})
MOST_VALUES = 64
ORIGINS = frozenset({"config", "args", "constructor", "constant"})
# What each kind of embedding is computed from.
PLAIN_ARGUMENTS = frozenset({"kv_channels", "rotary_percent"})
NEEDED_ARGUMENTS = {
    "none": frozenset[str](),
    "rope": PLAIN_ARGUMENTS,
    "mrope": PLAIN_ARGUMENTS,
    "yarn": frozenset({"kv_channels", "scaling_factor", "mscale", "mscale_all_dim"}),
}
SOFTMAX = frozenset({"softmax_factor", "softmax_mscale"})


class _Reader:
    """Checks a document field by field; nothing of it is executed."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def surface(self) -> Surface:
        document = self.document
        enums = self.enums(document)
        paths = [self.path(*pair) for pair in self.records(document, "paths")]
        surface = Surface(
            name=self.text(document, "name", "surface"),
            version=self.text(document, "version", "surface"),
            fingerprint=self.text(document, "fingerprint", "surface"),
            options=tuple(self.option(*pair) for pair in self.records(document, "options")),
            enums=enums,
            edits=tuple(self.edit(*pair) for pair in self.records(document, "edits")),
            refusals=tuple(self.refusal(*pair) for pair in self.records(document, "refusals")),
            classes=tuple(self.config_class(*pair) for pair in self.records(document, "classes")),
            extras=tuple(self.extra(*pair) for pair in self.records(document, "extras")),
            paths={path.name: path for path in paths},
            rules=tuple(self.rule(*pair) for pair in self.records(document, "rules")),
            source=self.source(document),
        )
        flags = [flag for option in surface.options for flag in option.flags]
        if len(set(flags)) < len(flags):
            twice = next(flag for index, flag in enumerate(flags) if flag in flags[:index])
            raise _MalformedError(f"two options have the flag {twice}")
        if len(surface.paths) < len(paths):
            raise _MalformedError("two paths have one name")
        for rule in surface.rules:
            if rule.path not in surface.paths:
                raise _MalformedError(f"rules name the path {rule.path!r}, which is not there")
        for option in surface.options:
            if option.enum is not None and option.enum not in surface.enums:
                raise _MalformedError(f"{option.flags[0]} reads {option.enum!r}, no such enum")
        return surface

    def records(self, holder: Any, key: str) -> Iterator[tuple[dict[str, Any], str]]:
        value = holder.get(key)
        if not isinstance(value, list):
            raise _MalformedError(f"{key} is no list")
        for index, record in enumerate(value):
            if not isinstance(record, dict):
                raise _MalformedError(f"{key}[{index}] is no object")
            yield record, f"{key}[{index}]"

    def text(self, record: dict[str, Any], key: str, where: str) -> str:
        value = record.get(key)
        if not isinstance(value, str) or not value:
            raise _MalformedError(f"{where}.{key} is no text")
        return value

    def optional_text(self, record: dict[str, Any], key: str, where: str) -> str | None:
        return None if record.get(key) is None else self.text(record, key, where)

    def texts(self, record: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = record.get(key)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise _MalformedError(f"{where}.{key} is no list of texts")
        return tuple(value)

    def one_of(self, record: dict[str, Any], key: str, allowed: frozenset[str], where: str) -> Any:
        value = self.text(record, key, where)
        if value not in allowed:
            raise _MalformedError(f"{where}.{key} is {value!r}, not one of {sorted(allowed)}")
        return value

    def value(self, record: dict[str, Any], key: str, where: str) -> Any:
        value = record.get(key)
        if value is None or isinstance(value, str | int | float):
            return value
        elements = value if isinstance(value, list) else [value]
        if not all(self.plain(element) for element in elements):
            raise _MalformedError(f"{where}.{key} is no value of an option")
        return value

    def plain(self, value: Any) -> bool:
        """Return whether a value is a scalar, a member of an enum, or a tuple of scalars."""
        if not isinstance(value, dict):
            return not isinstance(value, list)
        if value.keys() == {"tuple"} and isinstance(value["tuple"], list):
            return not any(isinstance(one, list | dict) for one in value["tuple"])
        if value.keys() != {"of", "member"} or not isinstance(value["of"], str):
            return False
        members = self.document.get("enums", {}).get(value["of"], {})
        return isinstance(value["member"], str) and value["member"] in members

    def mapping(self, record: dict[str, Any], key: str, where: str) -> dict[str, Any]:
        value = record.get(key, {})
        if not isinstance(value, dict):
            raise _MalformedError(f"{where}.{key} is no object")
        return value

    def condition(self, record: dict[str, Any], where: str) -> Condition:
        condition = self.mapping(record, "when", where)
        for name, allowed in condition.items():
            if allowed == {"given": True} or (isinstance(allowed, list) and allowed):
                continue
            parts = None
            if isinstance(allowed, dict) and len(allowed) == 1:
                parts = allowed.get("contains") or allowed.get("lacks")
            if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
                raise _MalformedError(f"{where}.when.{name} is no condition")
        return condition

    def enums(self, document: dict[str, Any]) -> dict[str, dict[str, int | str]]:
        enums = self.mapping(document, "enums", "surface")
        for name, members in enums.items():
            if not isinstance(members, dict) or not members:
                raise _MalformedError(f"enums.{name} is no object with members")
            if not all(isinstance(value, int | str) for value in members.values()):
                raise _MalformedError(f"enums.{name} has a member without a plain value")
            if not all(member.isidentifier() and member[0] != "_" for member in members):
                raise _MalformedError(f"enums.{name} has a member that is no name")
        return enums

    def source(self, document: dict[str, Any]) -> Source:
        record = self.mapping(document, "source", "surface")
        return Source(
            distribution=self.optional_text(record, "distribution", "source"),
            version=self.optional_text(record, "version", "source"),
            revision=self.optional_text(record, "revision", "source"),
            arguments=self.texts(record, "arguments", "source") if "arguments" in record else (),
        )

    def option(self, record: dict[str, Any], where: str) -> OptionRecord:
        flags = self.texts(record, "flags", where)
        if not flags or not all(flag.startswith("-") for flag in flags):
            raise _MalformedError(f"{where}.flags has something that is no flag")
        action = self.one_of(record, "action", ACTIONS, where)
        kind = record.get("value_type")
        if kind is not None:
            self.one_of(record, "value_type", VALUE_TYPES, where)
        nargs = record.get("nargs")
        if nargs not in (None, "?", "*", "+") and (
            type(nargs) is not int or not 0 < nargs <= MOST_VALUES
        ):
            raise _MalformedError(f"{where}.nargs is {nargs!r}")
        choices = self.value(record, "choices", where)
        if choices is not None and not isinstance(choices, list):
            raise _MalformedError(f"{where}.choices is no list")
        dest = self.text(record, "dest", where)
        if dest.startswith("__"):
            # A namespace is an object; these are its own attributes.
            raise _MalformedError(f"{where}.dest is {dest!r}")
        return OptionRecord(
            flags=flags,
            dest=dest,
            action=action,
            value_type=kind,
            reader=self.optional_text(record, "reader", where),
            enum=self.optional_text(record, "enum", where),
            nargs=nargs,
            const=self.value(record, "const", where),
            default=self.value(record, "default", where),
            choices=None if choices is None else tuple(choices),
            required=record.get("required") is True,
        )

    def edit(self, record: dict[str, Any], where: str) -> Edit:
        quotient = None
        if record.get("quotient") is not None:
            names = self.texts(record, "quotient", where)
            if len(names) != 2:  # noqa: PLR2004
                raise _MalformedError(f"{where}.quotient needs two attributes")
            quotient = (names[0], names[1])
        return Edit(
            self.text(record, "dest", where),
            self.condition(record, where),
            self.value(record, "value", where),
            quotient,
        )

    def refusal(self, record: dict[str, Any], where: str) -> Refusal:
        return Refusal(
            self.one_of(record, "by", frozenset({"validate_args", "config", "model"}), where),
            self.condition(record, where),
            self.text(record, "error", where),
            self.text(record, "message", where),
        )

    def attributes(self, record: dict[str, Any], where: str) -> dict[str, Attribute]:
        attributes = {}
        for name, value in self.mapping(record, "attributes", where).items():
            here = f"{where}.attributes.{name}"
            if not isinstance(value, dict):
                raise _MalformedError(f"{here} is no object")
            transform = value.get("transform")
            if transform is not None:
                self.one_of(value, "transform", frozenset({"layer_pattern"}), here)
            attributes[name] = Attribute(
                self.value(value, "default", here),
                self.optional_text(value, "dest", here),
                value.get("none_is_default") is True,
                transform,
            )
        return attributes

    def config_class(self, record: dict[str, Any], where: str) -> ConfigClass:
        return ConfigClass(
            self.text(record, "name", where),
            self.condition(record, where),
            self.attributes(record, where),
        )

    def extra(self, record: dict[str, Any], where: str) -> ExtraAttributes:
        return ExtraAttributes(self.condition(record, where), self.attributes(record, where))

    def arguments(self, record: dict[str, Any], key: str, where: str) -> dict[str, Argument]:
        arguments = {}
        for name, value in self.mapping(record, key, where).items():
            here = f"{where}.{key}.{name}"
            if not isinstance(value, dict):
                raise _MalformedError(f"{here} is no object")
            origin = self.one_of(value, "origin", ORIGINS, here)
            source = self.optional_text(value, "name", here)
            if (origin in ("config", "args")) != (source is not None):
                raise _MalformedError(f"{here}.name does not fit the origin {origin!r}")
            arguments[name] = Argument(origin, source, self.value(value, "value", here))
        return arguments

    def path(self, record: dict[str, Any], where: str) -> RotaryPath:
        returns = record.get("returns")
        if returns is not None and (returns not in (1, 2) or type(returns) is not int):
            raise _MalformedError(f"{where}.returns is {returns!r}")
        path = RotaryPath(
            name=self.text(record, "name", where),
            attention=self.one_of(record, "attention", frozenset({"mla", "gpt", "hybrid"}), where),
            kind=self.one_of(record, "kind", frozenset(NEEDED_ARGUMENTS), where),
            rotary_class=self.optional_text(record, "rotary_class", where),
            returns=returns,
            arguments=self.arguments(record, "arguments", where),
            reads=self.arguments(record, "reads", where),
        )
        missing = sorted(NEEDED_ARGUMENTS[path.kind] - path.arguments.keys())
        if missing:
            raise _MalformedError(f"{where}.arguments lacks {missing[0]}")
        if len(SOFTMAX & path.reads.keys()) == 1:
            raise _MalformedError(f"{where}.reads has one of {' and '.join(sorted(SOFTMAX))}")
        return path

    def rule(self, record: dict[str, Any], where: str) -> RotaryRule:
        return RotaryRule(self.condition(record, where), self.text(record, "path", where))
