"""Finding the smallest omissions that no contract notices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_ropecontract.contracts.expectation import POSITIONAL, equal
from pytest_ropecontract.contracts.findings import Finding, plain
from pytest_ropecontract.omissions.mutations import mutations
from pytest_ropecontract.omissions.outcomes import SILENT, changes, outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_ropecontract.omissions.engine import OmissionEngine, Trial
    from pytest_ropecontract.omissions.mutations import Mutation
    from pytest_ropecontract.rope.resolution import Resolution

Loss = Literal["refused", "harmless", "guarded", "unguarded"]
YARN = "implicit-yarn"
GAPS_AT_MOST = 16


class UnguardedOmissionError(Exception):
    """What a drawn omission found; the omission itself is the counterexample."""

    def __init__(self, indices: frozenset[int]) -> None:
        self.indices = indices
        super().__init__(f"unguarded: {sorted(indices)}")


@dataclass(frozen=True)
class Search:
    """What is known of the omissions from one model's command line.

    Attributes:
        losses: Per flag, as written, what its loss alone does.
        gaps: The smallest omissions that no contract notices, in the order found.
        findings: The same as findings.
        tried: How many different omissions were tried.
    """

    losses: dict[str, Loss]
    gaps: tuple[Trial, ...]
    findings: tuple[Finding, ...]
    tried: int


def search(
    model: str,
    engine: OmissionEngine,
    examples: int,
    seed: int | None,
    loud: Callable[[Resolution], bool],
) -> Search:
    """Try omissions systematically, then drawn ones.

    Args:
        model: The model's name.
        engine: Tries them.
        examples: How many are drawn.
        seed: Of the draws; None: the same draws in every run.
        loud: Tells whether a rule about definitions fails on a resolution. A flag that is
            repeated or misplaced is found by those rules; one that is not there is not.

    Raises:
        PipelineCallError: A function of the framework raised.
    """
    gaps: list[Trial] = []
    for omitted in engine.systematic():
        _note(engine, engine.attempt(omitted), gaps)
    if examples:
        from pytest_ropecontract.omissions.drawing import draw

        for _ in range(GAPS_AT_MOST):
            found = draw(engine, lambda trial: _is_new(trial, gaps), examples, seed)
            if found is None:
                break
            _note(engine, engine.attempt(found), gaps)
    findings = [_finding(model, engine, gap) for gap in gaps]
    findings.extend(_mutated(model, engine, loud))
    return Search(_losses(engine), tuple(gaps), tuple(findings), engine.tried)


def _losses(engine: OmissionEngine) -> dict[str, Loss]:
    losses: dict[str, Loss] = {}
    for index in range(len(engine.units)):
        trial = engine.attempt(frozenset({index}))
        loss: Loss = "harmless"
        if trial.outcome == "refused":
            loss = "refused"
        elif trial.outcome in SILENT:
            loss = "guarded" if trial.guarded else "unguarded"
        losses[trial.omission.omitted[0]] = loss
    return losses


def _explained(trial: Trial, gaps: Sequence[Trial]) -> bool:
    """Return whether a smaller gap says the same already."""
    return any(
        gap.omission.indices <= trial.omission.indices
        and (gap.outcome == trial.outcome or trial.outcome != YARN)
        for gap in gaps
    )


def _is_new(trial: Trial, gaps: Sequence[Trial]) -> bool:
    return not trial.guarded and not _explained(trial, gaps)


def _note(engine: OmissionEngine, trial: Trial, gaps: list[Trial]) -> None:
    if not _is_new(trial, gaps):
        return
    smallest = engine.smallest(
        trial.omission.indices,
        lambda one: not one.guarded and one.outcome == trial.outcome,
    )
    gaps.append(engine.attempt(smallest))


def _finding(model: str, engine: OmissionEngine, gap: Trial) -> Finding:
    flags = ", ".join(gap.omission.omitted)
    rope = gap.resolution.rope
    details = tuple(str(change) for change in engine.changes(gap))
    if gap.outcome == YARN and rope is not None:
        becomes = (
            f"becomes yarn (factor {plain(rope.rotary_scaling_factor)}, "
            f"beta_fast {plain(rope.beta_fast)}, beta_slow {plain(rope.beta_slow)})"
        )
    elif gap.outcome == "changed":
        changed = [c for c in engine.changes(gap) if not equal(c.before, c.after)]
        becomes = f"{changed[0].sentence}" if changed else "something else is built"
    else:
        implicit = [c.field for c in engine.changes(gap)]
        becomes = f"leaves {', '.join(implicit)} to a default"
    return Finding(
        "unguarded-omission",
        model,
        f"without {flags} {becomes} and no contract notices",
        flag=flags,
        details=details,
        remedy=f"guard it: {_guard(model, engine.whole, gap)}",
        status="fail" if gap.outcome == YARN else "note",
    )


def _guard(model: str, whole: Resolution, gap: Trial) -> str:
    """Return the line that would notice a gap."""
    rope = whole.rope
    if rope is None:
        return "correct the definition first"
    parts = [repr(rope.kind).replace("'", '"')]
    if rope.kind == "yarn":
        parts += [plain(getattr(rope, name)) for name in POSITIONAL[1:]]
    fields = [c.field for c in changes(whole, gap.resolution) if c.field not in POSITIONAL]
    parts += [
        f"{name}={_literal(getattr(rope, name))}"
        for name in fields
        if getattr(rope, name) is not None and whole.origins.get(name) == "declared"
    ]
    if whole.origins.get("kind") != "declared":
        parts.append("declared=False")
    return f'@rope_expect({", ".join(parts)}, models=["{model}"])'


def _literal(value: object) -> str:
    return repr(value) if isinstance(value, bool | tuple | str) else plain(value)


def _mutated(
    model: str, engine: OmissionEngine, loud: Callable[[Resolution], bool]
) -> list[Finding]:
    """Return what happens unnoticed when a value is repeated, exchanged or misplaced."""
    findings = []
    for mutation in mutations(engine.pipeline, engine.units):
        resolution = engine.resolve_argv(mutation.argv)
        found = outcome(engine.whole, resolution)
        if found not in SILENT or loud(resolution) or engine.guard(resolution):
            continue
        findings.append(_mutation_finding(model, engine, mutation, resolution))
    return findings


def _mutation_finding(
    model: str, engine: OmissionEngine, mutation: Mutation, resolution: Resolution
) -> Finding:
    found = changes(engine.whole, resolution)
    yarn = outcome(engine.whole, resolution) == YARN
    return Finding(
        "unguarded-omission",
        model,
        f"with {mutation.text} {found[0].sentence if found else 'something else is built'} "
        "and no contract notices",
        flag=mutation.text,
        details=tuple(str(change) for change in found),
        remedy="guard the field with rope_expect",
        status="fail" if yarn else "note",
    )
