"""The rule about launchers: what is launched is what the definition builds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ropecontract.contracts.expectation import equal
from pytest_ropecontract.contracts.findings import Finding, plain
from pytest_ropecontract.contracts.rules import OTHER_DESTS, ROPE_DESTS
from pytest_ropecontract.rope import effect
from pytest_ropecontract.rope.config import DERIVED_FIELDS, FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_ropecontract.contracts.findings import Rule
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution

RULE: Rule = "launcher-override"


@dataclass(frozen=True)
class Named:
    """A definition, and the launcher that names it.

    Attributes:
        launcher: The launcher, as it is shown.
        model: The definition's name.
        because: What of the launcher names it, as a clause: ``which --load /x names``.
    """

    launcher: str
    model: str
    because: str


def check(
    named: Named, launched: Resolution, defined: Resolution, expanded: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Return where a launched command line builds another RoPE than a definition.

    Args:
        named: The definition.
        launched: What is built from the launched command line.
        defined: What is built from the definition.
        expanded: The definitions whose flags it launches, where those are others.
    """
    if launched.rope is None or defined.rope is None:
        return ()
    changed = differing(launched.rope, defined.rope)
    if not changed:
        return ()
    first = changed[0]
    message = (
        f"{first} is {_value(launched.rope, first)}, and {named.model}, {named.because}, "
        f"builds {_value(defined.rope, first)}"
    )
    if expanded:
        message += f"; the flags are those of {' or '.join(expanded)}"
    source = launched.sources.get(first)
    details = (
        *_flags(defined, launched),
        *(
            f"{name}: {_told(defined, name)} -> {_told(launched, name)}"
            for name in changed
            if name not in DERIVED_FIELDS
        ),
    )
    return (
        Finding(
            RULE,
            named.model,
            message,
            field=first,
            expected=getattr(defined.rope, first),
            actual=getattr(launched.rope, first),
            origin=source.origin if source else None,
            source=source.text if source else None,
            details=details,
            argv=launched.argv,
            effect=effect.size(launched.rope, defined.rope),
            launcher=named.launcher,
            remedy=f"launch the flags of {named.model} without a change, or define what is "
            "launched under a name of its own and name that in rope_contract_launchers",
        ),
    )


def unreached(
    named: Named,
    variables: Mapping[str, str],
    where: str,
    launched: Resolution,
    meant: Resolution,
) -> Finding | None:
    """Return a finding where variables reach a process, and not the command line.

    Args:
        named: The definition.
        variables: The variables.
        where: Where they are set.
        launched: What is built from the launched command line.
        meant: What would be built had they reached it.

    Raises:
        ValueError: One of the two builds nothing.
    """
    changed = differing(launched.built, meant.built)
    if not changed:
        return None
    first = changed[0]
    told = ", ".join(f"{name}={value}" for name, value in variables.items())
    return Finding(
        RULE,
        named.model,
        f"{told} {'reaches' if len(variables) == 1 else 'reach'} {where} alone and no flag: "
        f"{first} is {_value(launched.built, first)}, not {_value(meant.built, first)}",
        field=first,
        expected=getattr(meant.rope, first),
        actual=getattr(launched.rope, first),
        details=tuple(_flags(meant, launched)),
        argv=launched.argv,
        effect=effect.size(launched.built, meant.built),
        launcher=named.launcher,
        remedy="set it before the flags are expanded, or pass the flag itself",
    )


def differing(one: RopeConfig, other: RopeConfig) -> tuple[str, ...]:
    """Return the fields in which two embeddings differ; what others follow from first."""
    changed = [name for name in FIELDS if not equal(getattr(one, name), getattr(other, name))]
    stated = [name for name in changed if name not in DERIVED_FIELDS]
    return (*stated, *(name for name in changed if name in DERIVED_FIELDS))


def _value(rope: RopeConfig, name: str) -> str:
    value = getattr(rope, name)
    return "read by nothing" if value is None else plain(value)


def _told(resolution: Resolution, name: str) -> str:
    source = resolution.sources.get(name)
    origin = "" if source is None else f" ({source.origin})"
    return f"{_value(resolution.built, name)}{origin}"


def _flags(first: Resolution, second: Resolution) -> Iterable[str]:
    """Yield how the RoPE flags of two command lines differ, and how many others do."""
    before, after = _by_dest(first), _by_dest(second)
    others = 0
    for dest in dict.fromkeys((*before, *after)):
        if before.get(dest) == after.get(dest):
            continue
        if dest not in ROPE_DESTS.keys() | OTHER_DESTS:
            others += 1
            continue
        texts = (" ".join(one.get(dest, ())) or "nothing" for one in (before, after))
        yield "flags: " + " -> ".join(texts)
    if others:
        yield f"and {others} {'flag that rotates' if others == 1 else 'flags that rotate'} nothing"


def _by_dest(resolution: Resolution) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one in resolution.parsed.occurrences:
        if one.start >= resolution.parsed.base_length:
            name = one.dest or one.flag
            found[name] = (*found.get(name, ()), one.text)
    return found
