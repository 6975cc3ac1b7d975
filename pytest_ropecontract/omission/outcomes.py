"""What becomes of a command line that is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_ropecontract.contracts.expectation import equal
from pytest_ropecontract.contracts.findings import plain
from pytest_ropecontract.rope.config import DERIVED_FIELDS, FIELDS

if TYPE_CHECKING:
    from pytest_ropecontract.rope.resolution import Resolution

Outcome = Literal["refused", "same", "implicit", "changed", "implicit-yarn"]
# What nobody is told, the worst last.
SILENT: tuple[Outcome, ...] = ("implicit", "changed", "implicit-yarn")
# The attention decides what every other field means; derived fields only say the same again.
COMPARED = (
    *(name for name in FIELDS if name not in DERIVED_FIELDS or name == "attention"),
    *(name for name in FIELDS if name in DERIVED_FIELDS and name != "attention"),
)


@dataclass(frozen=True)
class FieldChange:
    """What a field was and became, with origins."""

    field: str
    before: object
    before_origin: str | None
    after: object
    after_origin: str | None
    after_source: str | None

    @property
    def is_lost(self) -> bool:
        """Whether only the flag is gone, and the value is what it was."""
        return equal(self.before, self.after)

    @property
    def sentence(self) -> str:
        """The change of a value in words, of a model that ..."""
        if self.after is None:
            return f"does not use {self.field} any more"
        instead = "" if self.before is None else f" instead of {plain(self.before)}"
        return f"has {self.field} {plain(self.after)}{instead}"

    def __str__(self) -> str:
        before = "unused" if self.before is None else plain(self.before)
        after = "unused" if self.after is None else plain(self.after)
        was = f" ({self.before_origin})" if self.before_origin else ""
        source = f": {self.after_source}" if self.after_source else ""
        becomes = f" ({self.after_origin}{source})" if self.after_origin else ""
        return f"{self.field}: {before}{was} -> {after}{becomes}"


def outcome(before: Resolution, after: Resolution) -> Outcome:
    """Classify what a change of the command line did.

    ``refused``: nothing is built any more, or there is a flag that the parser does not know
    and that was not there before, which is loud and so fine.
    ``implicit-yarn``: YaRN is built and no flag says so, which was not so before.
    ``changed``: another RoPE is built. ``implicit``: the same, but a value that was declared
    is filled in now. ``same``: neither.
    """
    if after.rope is None or _unknown(after) - _unknown(before):
        return "refused"
    if is_implicit_yarn(after) and not is_implicit_yarn(before):
        return "implicit-yarn"
    if before.rope is None or any(differing(before, after, name) for name in FIELDS):
        return "changed"
    if any(has_lost_flag(before, after, name) for name in before.sources):
        return "implicit"
    return "same"


def differing(before: Resolution, after: Resolution, name: str) -> bool:
    """Return whether a field has another value."""
    return not equal(getattr(before.rope, name), getattr(after.rope, name))


def has_lost_flag(before: Resolution, after: Resolution, name: str) -> bool:
    """Return whether a field was declared, and its value now comes from somewhere else.

    That something is off or absent no flag states, and no contract asks for it.
    """
    was, source = before.sources.get(name), after.sources.get(name)
    if was is None or was.origin != "declared" or source is None or source.origin == "declared":
        return False
    value = getattr(after.rope, name)
    return value is not None and value is not False


def is_implicit_yarn(resolution: Resolution) -> bool:
    """Return whether YaRN is built and no flag says so."""
    source = resolution.sources.get("kind")
    return (
        resolution.rope is not None
        and resolution.rope.kind == "yarn"
        and source is not None
        and source.origin != "declared"
    )


def _unknown(resolution: Resolution) -> frozenset[str]:
    return frozenset(one.text for one in resolution.parsed.occurrences if one.dest is None)


def changes(before: Resolution, after: Resolution) -> tuple[FieldChange, ...]:
    """Return the fields whose value changed or which lost their flag, in order.

    Derived fields, and what is off instead of unused, are among them only where nothing
    else is.
    """
    found = []
    for name in COMPARED:
        if differing(before, after, name) or has_lost_flag(before, after, name):
            one, other = before.sources.get(name), after.sources.get(name)
            found.append(
                FieldChange(
                    name,
                    getattr(before.rope, name),
                    one.origin if one else None,
                    getattr(after.rope, name),
                    other.origin if other else None,
                    other.text if other else None,
                )
            )
    told = [
        one
        for one in found
        if (one.field not in DERIVED_FIELDS or one.field == "attention")
        and not all(value is None or value is False for value in (one.before, one.after))
    ]
    return tuple(told or found)
