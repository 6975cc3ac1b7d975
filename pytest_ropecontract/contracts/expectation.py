"""Expectations: what a ``rope_expect`` mark demands of a model's RoPE."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
import sys
import types
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from pytest_ropecontract.contracts.findings import Finding, plain
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.rope import effect
from pytest_ropecontract.rope.config import FIELDS, RopeConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_ropecontract.rope.resolution import Resolution, Source

TYPE_NAMES: dict[type, str] = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    str: "a text",
    tuple: "a list of whole numbers",
}
# Where None is a value: nothing is divided, no layer is skipped.
OPTIONAL = ("seq_len_interpolation_factor", "no_rope_layers")
POSITIONAL = ("kind", "original_max_position_embeddings", "beta_fast", "beta_slow")


class ExpectationError(RopeContractError):
    """An expectation that cannot be read."""


@dataclass(frozen=True)
class Expectation:
    """What a model's RoPE must be.

    Attributes:
        fields: The expected values by field.
        models: Names and globs of the models; empty: those of the test's own
            ``rope_model`` parametrization.
        declared: Whether the values must come from argv.
        where: The test that states it.
    """

    fields: Mapping[str, Any]
    models: tuple[str, ...] = ()
    declared: bool = True
    where: str = field(default="", compare=False)

    def text(self) -> str:
        """Return the expectation as it is written: ``rope_expect("yarn", 4096, 1, 1)``."""
        parts: list[str] = []
        rest = dict(self.fields)
        for name in POSITIONAL:
            if name not in rest:
                break
            parts.append(_literal(rest.pop(name)))
        parts.extend(f"{name}={_literal(value)}" for name, value in rest.items())
        if not self.declared:
            parts.append("declared=False")
        return f"rope_expect({', '.join(parts)})"

    def check(self, model: str, resolution: Resolution) -> tuple[Finding, ...]:
        """Return a finding for every field that differs or is not declared."""
        refused = resolution.refused
        if refused is not None:
            return (
                Finding(
                    "expectation",
                    model,
                    f"expected {self.text()}, but nothing is built: {refused.message}",
                    remedy="correct what is refused; the contract is checked after that",
                ),
            )
        built, findings = resolution.built, []
        for name, expected in self.fields.items():
            actual = getattr(built, name)
            # What follows from other fields has no source, and no flag could declare it.
            source = resolution.sources.get(name)
            if not equal(expected, actual):
                size = self._size(name, built)
                differs = self._differs(model, name, expected, actual, source)
                findings.append(dataclasses.replace(differs, effect=size))
            elif self.declared and source is not None and not _is_declared(source, actual):
                findings.append(self._implicit(model, name, actual, source))
        return tuple(findings)

    def _differs(
        self, model: str, name: str, expected: Any, actual: Any, source: Source | None
    ) -> Finding:
        used = "is not used" if actual is None else f"is {plain(actual)}"
        come = "" if source is None else f" ({source.origin}: {source.text})"
        return Finding(
            "expectation",
            model,
            f"{name} {used}{come}, expected {plain(expected)} by {self.text()}",
            field=name,
            expected=expected,
            actual=actual,
            origin=source.origin if source else None,
            source=source.text if source else None,
            remedy=f"{_declaring(source, expected)}, "
            f"or correct the expectation in {self.where or 'the test'}",
        )

    def _size(self, name: str, rope: RopeConfig) -> str | None:
        """Return how much a differing field matters, or None where that is not known.

        A kind comes with everything else that is expected: most of it belongs to the kind.
        """
        names = tuple(self.fields) if name == "kind" else (name,)
        changes = {one: value for one, value in self.fields.items() if one in names}
        absent = None in (changes[name], getattr(rope, name)) and name not in OPTIONAL
        if absent or name in effect.NOT_NUMBERS:
            return None
        try:
            return effect.compare(rope, self._changed(rope, changes)).text
        except (TypeError, ValueError):
            return None

    def config(self, rope: RopeConfig) -> RopeConfig | None:
        """Return what is built with the expected values in place of its own.

        Returns:
            None where no magnitude follows from them.
        """
        try:
            return self._changed(rope, self.fields)
        except (TypeError, ValueError):
            return None

    def _changed(self, rope: RopeConfig, fields: Mapping[str, Any]) -> RopeConfig:
        changes: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in fields.items()
        }
        derived = effect.with_factors(dataclasses.replace(rope, **changes))
        # What is expected of a factor itself stands.
        kept = {one: changes[one] for one in changes if one in effect.FACTORS}
        return dataclasses.replace(derived, **kept)

    def _implicit(self, model: str, name: str, actual: Any, source: Source) -> Finding:
        return Finding(
            "implicit-field",
            model,
            f"{name} is {plain(actual)} as expected, but no flag declares it "
            f"({source.origin}: {source.text})",
            field=name,
            expected=self.fields[name],
            actual=actual,
            origin=source.origin,
            source=source.text,
            remedy=f"{_declaring(source, actual)}, or accept the default with declared=False",
        )


def _declaring(source: Source | None, value: Any) -> str:
    """Say how a definition would declare a value."""
    if source is None:
        return "change the flags that decide what is built"
    if source.flag is None:
        return "no flag of this Megatron sets it: add one with rope_contract_arguments"
    if isinstance(value, bool):
        return f"declare {source.flag}" if value else f"remove {source.flag}"
    return f"declare {source.flag} {plain(value)} in the definition"


def _is_declared(source: Source, value: Any) -> bool:
    # No flag states that something is off or absent.
    return value is None or value is False or source.origin == "declared"


def equal(expected: Any, actual: Any) -> bool:
    """Compare by meaning: numbers as numbers, lists element by element."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        try:
            return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=0.0)
        except OverflowError:  # a whole number beyond all floats
            return expected == actual
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(
            equal(one, other) for one, other in zip(expected, actual, strict=True)
        )
    return bool(expected == actual)


def read(args: Sequence[Any], kwargs: Mapping[str, Any], where: str) -> Expectation:
    """Read the arguments of a ``rope_expect`` mark.

    Raises:
        ExpectationError: An unknown field, a value of the wrong type, no field at all.
    """
    if len(args) > len(POSITIONAL):
        raise ExpectationError(
            f"rope_expect takes {len(POSITIONAL)} values by position, {len(args)} are given",
            origin=where,
            details=[f"by position: {', '.join(POSITIONAL)}"],
            remedy="name the others, for example rotary_base=50000",
        )
    fields = dict(zip(POSITIONAL, args, strict=False))
    rest = dict(kwargs)
    models = _models(rest.pop("models", None), where)
    declared = rest.pop("declared", True)
    if not isinstance(declared, bool):
        raise ExpectationError(
            f"rope_expect: declared is {declared!r}, not True or False",
            origin=where,
            remedy="write declared=False to accept a default, or leave it out",
        )
    for name, value in rest.items():
        if name not in FIELDS:
            near = difflib.get_close_matches(name, (*FIELDS, "models", "declared"), n=1)
            raise ExpectationError(
                f"rope_expect has no field {name!r}",
                origin=where,
                details=[f"fields: {', '.join(FIELDS)}"],
                remedy=f"did you mean {near[0]}?" if near else "name one of the fields above",
            )
        if name in fields:
            raise ExpectationError(
                f"rope_expect gives {name!r} by position and by name",
                origin=where,
                remedy="give it once",
            )
        fields[name] = value
    if not fields:
        raise ExpectationError(
            "rope_expect expects nothing",
            origin=where,
            remedy='name what is expected, for example rope_expect("yarn", 4096, 32, 1)',
        )
    hints = _hints()
    for name, value in fields.items():
        _check_type(name, value, hints[name], where)
    return Expectation(fields, models, declared, where)


@functools.cache
def _hints() -> dict[str, Any]:
    """Return the types of the fields: evaluated once, since a project may have many marks."""
    return get_type_hints(RopeConfig)


_MODELS = 'name models or globs of them, for example models=["kimi-k2", "kimi-k25*"]'


def _models(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise ExpectationError(
            f"rope_expect: models is {value!r}, not a list of names",
            origin=where,
            remedy=_MODELS,
        )
    if not names:
        raise ExpectationError("rope_expect: models is empty", origin=where, remedy=_MODELS)
    return tuple(names)


def _check_type(name: str, value: Any, hint: Any, where: str) -> None:
    choices = get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        if value not in choices:
            raise ExpectationError(
                f"rope_expect: {name} is {value!r}, not one of {', '.join(choices)}",
                origin=where,
                remedy=f"write one of them, for example rope_expect({name}={_literal(choices[0])})",
            )
        return
    if value is None:
        return
    # Every other field holds values of one type, or None.
    (wanted,) = (typing.get_origin(one) or one for one in choices if one is not types.NoneType)
    if not _fits(value, wanted):
        raise ExpectationError(
            f"rope_expect: {name} is {value!r}, not {TYPE_NAMES[wanted]}",
            origin=where,
            remedy=f"write {TYPE_NAMES[wanted]}, or None where nothing may read the field",
        )


def _fits(value: Any, wanted: type) -> bool:
    given = type(value)
    if wanted is tuple:
        return given in (list, tuple) and all(type(one) is int for one in value)
    if isinstance(value, int | float) and not abs(value) <= sys.float_info.max:
        return False
    if wanted is int and isinstance(value, float):
        return value.is_integer()
    return given is wanted or (given is int and wanted is float)


def _literal(value: Any) -> str:
    return repr(value) if isinstance(value, str) is False else f'"{value}"'
