"""What is built from some flags, and why: the way of every value, and what contracts say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.arity.rule import NotCheckedError
from pytest_ropecontract.contracts.rules import ROPE_DESTS
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.report import ways
from pytest_ropecontract.rope.config import DERIVED_FIELDS, FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.project import Examination, Project
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution

STATED = ("declared", "pinned")


@dataclass(frozen=True)
class Value:
    """A value that is used, and how it came there.

    Attributes:
        field: The field of ``RopeConfig``.
        value: Its value.
        origin: One of ``ORIGINS``.
        way: From a flag, a default or a function over the namespace (``args.``) and the
            config (``config.``) to an argument of the rotary class.
    """

    field: str
    value: Any
    origin: str
    way: tuple[str, ...]

    @property
    def implicit(self) -> bool:
        """Whether no flag of the definition states it; none states that something is off."""
        return self.origin not in STATED and self.value is not None and self.value is not False


@dataclass(frozen=True)
class Contract:
    """What a contract says of a model.

    Attributes:
        text: The expectation as it is written, the checkpoint's file, or the adapter.
        where: The test that states it, or None.
        findings: What it finds.
        problem: Why it cannot be checked, or None.
    """

    text: str
    where: str | None = None
    findings: tuple[Finding, ...] = ()
    problem: str | None = None

    @property
    def verdict(self) -> str:
        """``holds``, ``fails``, ``allowed`` or ``cannot be checked``."""
        if self.problem is not None:
            return "cannot be checked"
        states = {one.status for one in self.findings}
        return "fails" if "fail" in states else "allowed" if "allowed" in states else "holds"


@dataclass(frozen=True)
class Explanation:
    """What is known of a model, or of an argv.

    Attributes:
        name: The model's name.
        path: Its definition's file, relative to the root, or None.
        argv: Its tokens.
        rope: What is built, or None.
        values: What the embedding uses, with the way of each.
        read: The flags, with their values, that what is built reads.
        inert: The RoPE flags that nothing reads.
        findings: What the rules about definitions find.
        contracts: Its contracts, each with what it finds; None of an argv, which has none.
        error: Why nothing is known, or None.
    """

    name: str
    path: str | None
    argv: tuple[str, ...] = ()
    rope: RopeConfig | None = None
    values: tuple[Value, ...] = ()
    read: tuple[str, ...] = ()
    inert: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    contracts: tuple[Contract, ...] | None = None
    error: RopeContractError | None = None

    @property
    def implicit(self) -> tuple[Value, ...]:
        """The values that no flag states."""
        return tuple(one for one in self.values if one.implicit)


def explain(
    project: Project, examination: Examination, expectations: Sequence[Expectation] | None
) -> Explanation:
    """Explain what was examined.

    Args:
        project: The project that it belongs to.
        examination: A model, or an argv.
        expectations: What marks demand of the model; None for an argv, which has no contracts.
    """
    resolution = examination.resolution
    contracts: tuple[Contract, ...] | None = None
    if resolution is None:
        argv = examination.expansion.argv if examination.expansion is not None else ()
        return Explanation(examination.name, examination.path, argv, error=examination.error)
    if expectations is not None:
        contracts = tuple(_contracts(project, examination.name, resolution, expectations))
    rope = resolution.rope
    return Explanation(
        name=examination.name,
        path=examination.path,
        argv=resolution.argv,
        rope=rope,
        values=() if rope is None else tuple(_values(rope, resolution)),
        read=() if rope is None else tuple(_flags(resolution, read=True)),
        inert=() if rope is None else tuple(_flags(resolution, read=False)),
        findings=examination.findings,
        contracts=contracts,
    )


def _values(rope: RopeConfig, resolution: Resolution) -> Iterator[Value]:
    for name in FIELDS:
        source = resolution.sources.get(name)
        if source is not None and name not in DERIVED_FIELDS:
            way = ways.places(
                source.origin,
                rope.rotary_class,
                dest=source.dest,
                attribute=source.attribute,
                argument=source.argument,
            )
            first = ways.beginning(source.origin, source.text)
            yield Value(name, getattr(rope, name), source.origin, (first, *way))


def _flags(resolution: Resolution, *, read: bool) -> Iterator[str]:
    """Yield the flags of the definition that are read, or those that would be of use but are not.

    Each dest once: of two occurrences the last one counts.
    """
    latent = resolution.rope is not None and resolution.rope.attention == "mla"
    parsed = resolution.parsed
    last = {one.dest: one for one in parsed.occurrences if one.start >= parsed.base_length}
    for dest, one in last.items():
        if dest is None:
            continue
        is_read = dest in resolution.reads or (latent and dest == "multi_latent_attention")
        if is_read if read else dest in ROPE_DESTS and not is_read:
            yield one.text


def _contracts(
    project: Project, model: str, resolution: Resolution, expectations: Sequence[Expectation]
) -> Iterator[Contract]:
    for one in expectations:
        found = project.check_expectation(model, one)
        yield Contract(one.text(), one.where or None, found)
    try:
        files = project.checkpoints(model)
    except RopeContractError as error:
        yield Contract("checkpoints", problem=str(error))
        files = ()
    for path in files:
        found = project.check_checkpoint(model, resolution, path)
        yield Contract(project.shown(path), None, found)
    if project.may_have_adapter(model):
        try:
            yield Contract("the adapter of --spec", None, project.check_arity(model))
        except NotCheckedError:
            return
