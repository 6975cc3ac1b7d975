"""Reading a surface from a JSON document, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ropecontract.megatron.surface import (
    Argument,
    Attribute,
    Condition,
    ConfigClass,
    Edit,
    ExtraAttributes,
    OptionRecord,
    Refusal,
    RotaryPath,
    RotaryRule,
    Source,
    Surface,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ACTIONS = frozenset(
    {"store", "store_const", "store_true", "store_false", "append", "count", "extend", "boolean"}
)
VALUE_TYPES = frozenset({"int", "float", "str", "bool", "list_pattern", "int_tuple", "enum"})
MOST_VALUES = 64
TEXT = frozenset({str})
SHOWN = b"\n\t" + bytes(range(ord(" "), ord("~") + 1))
DASH = frozenset({"-"})
SCALARS = frozenset({bool, int, float, str, type(None)})
REQUIRED_FIELDS = len(OptionRecord._fields) - len(OptionRecord._field_defaults)
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


def check_characters(text: str, document: Any) -> None:
    """Refuse what a terminal would take for commands, or cannot be printed at all."""
    escaped = (part[:1] for part in text.split("\\")[1:])
    if _is_printable(text) and not any(character in "ubfr" for character in escaped):
        return
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += [*value, *value.values()]
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str) and not _is_printable(value):
            raise MalformedError(f"{value[:40]!a} has a character that cannot be shown")


def _is_printable(text: str) -> bool:
    if text.isascii():
        return not text.encode().translate(None, SHOWN)
    return text.replace("\n", "").replace("\t", "").isprintable()


class MalformedError(Exception):
    """A field that is missing or of the wrong type."""


def read(document: dict[str, Any]) -> Surface:
    """Read a surface from a JSON document.

    Raises:
        MalformedError: A field is missing, of the wrong type, or names what is not there.
    """
    return _Reader(document).surface()


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
            raise MalformedError(f"two options have the flag {twice}")
        if not surface.classes:
            raise MalformedError("classes names no config class")
        if len(surface.paths) < len(paths):
            raise MalformedError("two paths have one name")
        for rule in surface.rules:
            if rule.path not in surface.paths:
                raise MalformedError(f"rules name the path {rule.path!r}, which is not there")
        for option in surface.options:
            if option.enum is not None and option.enum not in surface.enums:
                raise MalformedError(f"{option.flags[0]} reads {option.enum!r}, no such enum")
        return surface

    def records(self, holder: Any, key: str) -> Iterator[tuple[dict[str, Any], str]]:
        value = holder.get(key)
        if not isinstance(value, list):
            raise MalformedError(f"{key} is no list")
        for index, record in enumerate(value):
            if not isinstance(record, dict):
                raise MalformedError(f"{key}[{index}] is no object")
            yield record, f"{key}[{index}]"

    def text(self, record: dict[str, Any], key: str, where: str) -> str:
        value = record.get(key)
        if not isinstance(value, str) or not value:
            raise MalformedError(f"{where}.{key} is no text")
        return value

    def optional_text(self, record: dict[str, Any], key: str, where: str) -> str | None:
        return None if record.get(key) is None else self.text(record, key, where)

    def texts(self, record: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        value = record.get(key)
        if not isinstance(value, list) or not TEXT.issuperset(map(type, value)):
            raise MalformedError(f"{where}.{key} is no list of texts")
        return tuple(value)

    def one_of(self, record: dict[str, Any], key: str, allowed: frozenset[str], where: str) -> Any:
        value = self.text(record, key, where)
        if value not in allowed:
            raise MalformedError(f"{where}.{key} is {value!r}, not one of {sorted(allowed)}")
        return value

    def value(self, record: dict[str, Any], key: str, where: str) -> Any:
        value = record.get(key)
        if type(value) in SCALARS:
            return value
        elements = value if isinstance(value, list) else [value]
        if not all(self.plain(element) for element in elements):
            raise MalformedError(f"{where}.{key} is no value of an option")
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
            raise MalformedError(f"{where}.{key} is no object")
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
                raise MalformedError(f"{where}.when.{name} is no condition")
        return condition

    def enums(self, document: dict[str, Any]) -> dict[str, dict[str, int | str]]:
        enums = self.mapping(document, "enums", "surface")
        for name, members in enums.items():
            if not isinstance(members, dict) or not members:
                raise MalformedError(f"enums.{name} is no object with members")
            if not all(isinstance(value, int | str) for value in members.values()):
                raise MalformedError(f"enums.{name} has a member without a plain value")
            if not all(member.isidentifier() and member[0] != "_" for member in members):
                raise MalformedError(f"enums.{name} has a member that is no name")
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
        if {flag[:1] for flag in flags} != DASH:
            raise MalformedError(f"{where}.flags has something that is no flag")
        dest = self.text(record, "dest", where)
        if dest.startswith("__"):
            # A namespace is an object; these are its own attributes.
            raise MalformedError(f"{where}.dest is {dest!r}")
        action = self.one_of(record, "action", ACTIONS, where)
        # There are nearly a thousand options, and most have only a default beside these.
        default = self.value(record, "default", where)
        if len(record) - ("default" in record) == REQUIRED_FIELDS:
            return OptionRecord(flags, dest, action, None, None, None, None, None, default)
        value_type = record.get("value_type")
        if value_type is not None:
            self.one_of(record, "value_type", VALUE_TYPES, where)
        return OptionRecord(
            flags,
            dest,
            action,
            value_type,
            self.optional_text(record, "reader", where),
            self.optional_text(record, "enum", where),
            self.nargs(record, where),
            self.value(record, "const", where),
            default,
            self.choices(record, where),
            record.get("required") is True,
        )

    def nargs(self, record: dict[str, Any], where: str) -> int | str | None:
        nargs = record.get("nargs")
        if nargs in (None, "?", "*", "+"):
            return nargs
        if type(nargs) is int and 0 < nargs <= MOST_VALUES:
            return nargs
        raise MalformedError(f"{where}.nargs is {nargs!r}")

    def choices(self, record: dict[str, Any], where: str) -> tuple[Any, ...] | None:
        choices = self.value(record, "choices", where)
        if choices is None:
            return None
        if not isinstance(choices, list):
            raise MalformedError(f"{where}.choices is no list")
        return tuple(choices)

    def edit(self, record: dict[str, Any], where: str) -> Edit:
        quotient = None
        if record.get("quotient") is not None:
            names = self.texts(record, "quotient", where)
            if len(names) != 2:  # noqa: PLR2004  # the dividend and the divisor
                raise MalformedError(f"{where}.quotient needs two attributes")
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
                raise MalformedError(f"{here} is no object")
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
                raise MalformedError(f"{here} is no object")
            origin = self.one_of(value, "origin", ORIGINS, here)
            source = self.optional_text(value, "name", here)
            if (origin in ("config", "args")) != (source is not None):
                raise MalformedError(f"{here}.name does not fit the origin {origin!r}")
            arguments[name] = Argument(origin, source, self.value(value, "value", here))
        return arguments

    def path(self, record: dict[str, Any], where: str) -> RotaryPath:
        returns = record.get("returns")
        if returns is not None and (returns not in (1, 2) or type(returns) is not int):
            raise MalformedError(f"{where}.returns is {returns!r}")
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
            raise MalformedError(f"{where}.arguments lacks {missing[0]}")
        if len(SOFTMAX & path.reads.keys()) == 1:
            raise MalformedError(f"{where}.reads has one of {' and '.join(sorted(SOFTMAX))}")
        return path

    def rule(self, record: dict[str, Any], where: str) -> RotaryRule:
        return RotaryRule(self.condition(record, where), self.text(record, "path", where))
