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
SILENT: frozenset[Outcome] = frozenset({"implicit", "changed", "implicit-yarn"})


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
    def sentence(self) -> str:
        """The change in words."""
        if equal(self.before, self.after):
            return f"leaves {self.field} to a default"
        before = "unused" if self.before is None else plain(self.before)
        after = "unused" if self.after is None else plain(self.after)
        return f"{self.field} becomes {after} for {before}"

    def __str__(self) -> str:
        before = "unused" if self.before is None else plain(self.before)
        after = "unused" if self.after is None else plain(self.after)
        was = f" ({self.before_origin})" if self.before_origin else ""
        source = f": {self.after_source}" if self.after_source else ""
        becomes = f" ({self.after_origin}{source})" if self.after_origin else ""
        return f"{self.field}: {before}{was} -> {after}{becomes}"


def outcome(before: Resolution, after: Resolution) -> Outcome:
    """Classify what a change of the command line did.

    ``refused``: nothing is built any more, or a flag is unknown, which is loud and so fine.
    ``implicit-yarn``: YaRN is built and no flag says so, which was not so before.
    ``changed``: another RoPE is built. ``implicit``: the same, but a value that was declared
    is filled in now. ``same``: neither.
    """
    if after.rope is None or has_unknown(after):
        return "refused"
    if is_implicit_yarn(after) and not is_implicit_yarn(before):
        return "implicit-yarn"
    if before.rope is None:
        return "changed"
    if any(not equal(getattr(before.rope, n), getattr(after.rope, n)) for n in FIELDS):
        return "changed"
    if any(
        source.origin == "declared"
        and name in after.sources
        and after.sources[name].origin != "declared"
        for name, source in before.sources.items()
    ):
        return "implicit"
    return "same"


def is_implicit_yarn(resolution: Resolution) -> bool:
    """Return whether YaRN is built and no flag says so."""
    source = resolution.sources.get("kind")
    return (
        resolution.rope is not None
        and resolution.rope.kind == "yarn"
        and source is not None
        and source.origin != "declared"
    )


def has_unknown(resolution: Resolution) -> bool:
    """Return whether the command line has something that the parser does not know."""
    return any(one.dest is None for one in resolution.parsed.occurrences)


def changes(before: Resolution, after: Resolution) -> tuple[FieldChange, ...]:
    """Return the fields whose value changed or which lost their flag, in order."""
    found = []
    for name in FIELDS:
        if name in DERIVED_FIELDS:
            continue
        old = getattr(before.rope, name) if before.rope is not None else None
        new = getattr(after.rope, name) if after.rope is not None else None
        one, other = before.sources.get(name), after.sources.get(name)
        one_origin = one.origin if one else None
        other_origin = other.origin if other else None
        lost = one_origin == "declared" and other_origin not in (None, "declared")
        if not equal(old, new) or lost:
            found.append(
                FieldChange(name, old, one_origin, new, other_origin, other.text if other else None)
            )
    return tuple(found)
