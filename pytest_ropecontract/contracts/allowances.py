"""Known deviations, allowed in the open."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pytest_ropecontract.contracts.findings import RULES, Finding
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class AllowanceError(RopeContractError):
    """An allowance that cannot be read."""


@dataclass(frozen=True)
class Allowance:
    """One line of ``rope_contract_allow``: ``MODEL_GLOB RULE reason``.

    The glob may also be that of a launcher.
    """

    models: str
    rule: str
    reason: str

    def is_for(self, model: str) -> bool:
        """Return whether a model is one of those that this line names."""
        return fnmatchcase(model, self.models)

    def covers(self, finding: Finding) -> bool:
        """Return whether a finding is allowed by this line."""
        named = [finding.model, *([finding.launcher] if finding.launcher else [])]
        return finding.rule == self.rule and any(map(self.is_for, named))

    def __str__(self) -> str:
        return f"{self.models} {self.rule} {self.reason}"


def read(lines: Iterable[str]) -> tuple[Allowance, ...]:
    """Read the lines of ``rope_contract_allow``.

    Raises:
        AllowanceError: An unknown rule, or no reason.
    """
    allowances = []
    for line in lines:
        parts = line.strip().split(None, 2)
        if not parts:
            continue
        if len(parts) == 1:
            raise AllowanceError(
                f"rope_contract_allow: {line.strip()!r} names no rule",
                remedy="a line is: MODEL_GLOB RULE reason",
            )
        if parts[1] not in RULES:
            near = difflib.get_close_matches(parts[1], RULES, n=1)
            raise AllowanceError(
                f"rope_contract_allow: there is no rule {parts[1]!r}",
                origin=f"rope_contract_allow = {line.strip()}",
                details=[f"rules: {', '.join(RULES)}"],
                remedy=f"did you mean {near[0]}?" if near else "a line is: MODEL_GLOB RULE reason",
            )
        if not parts[2:]:
            raise AllowanceError(
                f"rope_contract_allow: {line.strip()!r} gives no reason",
                remedy="say why it is allowed: MODEL_GLOB RULE reason",
            )
        allowances.append(Allowance(*parts))
    return tuple(allowances)


def strict(finding: Finding) -> Finding:
    """Return a finding that fails where it would only be a note."""
    return replace(finding, status="fail") if finding.status == "note" else finding


def covering(finding: Finding, allowances: Iterable[Allowance]) -> Allowance | None:
    """Return the first line that covers a finding, or None."""
    return next((one for one in allowances if one.covers(finding)), None)


def apply(findings: Iterable[Finding], allowances: Sequence[Allowance]) -> tuple[Finding, ...]:
    """Return the findings with those that fail and are covered marked as allowed."""
    result = []
    for finding in findings:
        cover = covering(finding, allowances)
        if cover is not None and finding.status == "fail":
            result.append(finding.allowed(cover.reason))
        else:
            result.append(finding)
    return tuple(result)
