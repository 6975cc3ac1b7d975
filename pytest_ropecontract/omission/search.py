"""Finding the smallest omissions that no contract notices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pytest_ropecontract.contracts.findings import Finding, becomes_yarn, plain
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.omission.guarding import guarding, line
from pytest_ropecontract.omission.mutations import mutations
from pytest_ropecontract.omission.outcomes import SILENT, changes, outcome
from pytest_ropecontract.rope.effect import size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.omission.engine import OmissionEngine, Trial
    from pytest_ropecontract.omission.mutations import Mutation
    from pytest_ropecontract.omission.outcomes import Outcome
    from pytest_ropecontract.rope.resolution import Resolution

Loss = Literal["refused", "harmless", "guarded", "unguarded"]
# The better first: of two equal flags the worse loss is told.
LOSSES: tuple[Loss, ...] = ("refused", "harmless", "guarded", "unguarded")
YARN = "implicit-yarn"
# Of those that are drawn; every round of draws finds one.
GAPS_AT_MOST = 16
# Further lines of a remedy stand below its first.
CONTINUED = "\n            "


class UnrepeatableError(RopeContractError):
    """A framework that makes something else of the same command line every time."""


@dataclass(frozen=True)
class Surroundings:
    """What a search has to know beside the command line.

    Attributes:
        notices: Whether an expectation would have a finding that fails on a resolution.
        loud: Whether a rule about definitions fails on a resolution. A flag that is repeated
            or misplaced is found by those rules; one that is not there is not.
        strict: Whether what is only noted fails.
        checkpoint: The file in which the model's checkpoint would be a contract, or None.
        siblings: The values that models of the same family give to RoPE flags.
        faults: Tells what of what is built fails with every flag in place: no contract
            may demand what is built then.
    """

    notices: Callable[[Expectation, Resolution], bool]
    loud: Callable[[Resolution], bool]
    strict: bool = False
    checkpoint: str | None = None
    siblings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    faults: Callable[[], tuple[Finding, ...]] = tuple


@dataclass(frozen=True)
class Search:
    """What is known of the omissions from one model's command line.

    Attributes:
        losses: Per flag, as written, what its loss alone does.
        gaps: The smallest omissions that no contract notices, in the order found.
        findings: The same as findings, and what other mutations go unnoticed.
        tried: How many different omissions were tried.
    """

    losses: dict[str, Loss]
    gaps: tuple[Trial, ...]
    findings: tuple[Finding, ...]
    tried: int


@dataclass(frozen=True)
class _Unnoticed:
    """A command line that builds something else, and no contract notices."""

    text: str
    argv: tuple[str, ...]
    omitted: tuple[str, ...]
    outcome: Outcome
    resolution: Resolution


def search(
    model: str,
    engine: OmissionEngine,
    examples: int | None,
    seed: int | str | None,
    around: Surroundings,
) -> Search:
    """Try omissions systematically, then drawn ones, then other mutations.

    Args:
        model: The model's name.
        engine: Tries them.
        examples: How many are drawn; None: as many as the Hypothesis profile says.
        seed: Of the draws; None: the same draws in every run.
        around: What else has to be known.

    Raises:
        UnrepeatableError: The same command line leads to something else the second time.
    """
    whole = engine.attempt(frozenset())
    _check_repeated(model, engine, [whole])
    gaps: list[Trial] = []
    for omitted in engine.systematic():
        _note(engine, engine.attempt(omitted), gaps)
    if examples != 0:
        # Hypothesis takes its time to load, and has nothing to do where nothing is drawn.
        from pytest_ropecontract.omission.drawing import draw  # noqa: PLC0415

        for _ in range(GAPS_AT_MOST):
            found = draw(engine, lambda trial: _is_new(trial, gaps), examples, seed)
            if found is None:
                break
            _note(engine, engine.attempt(found), gaps)
    _check_repeated(model, engine, [whole, *gaps])
    unnoticed = [
        _Unnoticed(
            f"without {', '.join(gap.omission.omitted)}",
            gap.omission.argv,
            gap.omission.omitted,
            gap.outcome,
            gap.resolution,
        )
        for gap in gaps
    ]
    mutated = list(mutations(engine.pipeline, engine.units, around.siblings))
    unnoticed.extend(_mutated(mutated, engine, around, gaps))
    findings = [
        *_findings(model, engine.whole, unnoticed, around),
        *_misspelled(model, mutated, engine),
    ]
    return Search(_losses(engine), tuple(gaps), tuple(findings), engine.tried)


def _check_repeated(model: str, engine: OmissionEngine, trials: Sequence[Trial]) -> None:
    found = engine.unrepeated(trials)
    if found is None:
        return
    first, second = found
    if first.rope is None or second.rope is None:
        details = ["it is refused, and it is not"]
    else:
        details = [
            f"{one.field}: {plain(one.before)} and then {plain(one.after)}"
            for one in changes(first, second)
            if not one.is_lost
        ]
    raise UnrepeatableError(
        f"{model}: the framework makes something else of the same flags every time",
        details=details,
        remedy="let what it fills in depend on nothing but the namespace, or pin the value with "
        "rope_contract_pins",
    )


def _losses(engine: OmissionEngine) -> dict[str, Loss]:
    losses: dict[str, Loss] = {}
    for index in range(len(engine.units)):
        trial = engine.attempt(frozenset({index}))
        loss: Loss = "harmless"
        if trial.outcome == "refused":
            loss = "refused"
        elif trial.outcome in SILENT:
            loss = "guarded" if trial.guarded else "unguarded"
        text = trial.omission.omitted[0]
        losses[text] = max(losses.get(text, loss), loss, key=LOSSES.index)
    return losses


def _explains(gap: Trial, trial: Trial) -> bool:
    """Return whether a gap says already what a larger omission would say."""
    return gap.indices <= trial.indices and (
        SILENT.index(gap.outcome) >= SILENT.index(trial.outcome)
    )


def _is_new(trial: Trial, gaps: Sequence[Trial]) -> bool:
    return not trial.guarded and not any(_explains(gap, trial) for gap in gaps)


def _note(engine: OmissionEngine, trial: Trial, gaps: list[Trial]) -> None:
    if not _is_new(trial, gaps):
        return
    smallest = engine.smallest(
        trial.indices,
        lambda one: not one.guarded and one.outcome == trial.outcome,
    )
    gaps.append(engine.attempt(smallest))


def _mutated(
    mutated: Sequence[Mutation],
    engine: OmissionEngine,
    around: Surroundings,
    gaps: Sequence[Trial],
) -> list[_Unnoticed]:
    """Return what happens unnoticed when a value is repeated, exchanged or misplaced."""
    found = []
    for mutation in mutated:
        if mutation.spelling or any(gap.indices <= mutation.indices for gap in gaps):
            # Where nobody notices that a flag is lost, another value of it goes unnoticed, too.
            continue
        resolution = engine.resolve_argv(mutation.argv)
        what = outcome(engine.whole, resolution)
        if what in SILENT and not around.loud(resolution) and not engine.guard(resolution):
            text = f"with {mutation.text}"
            found.append(_Unnoticed(text, mutation.argv, (), what, resolution))
    return found


def _misspelled(model: str, mutated: Sequence[Mutation], engine: OmissionEngine) -> list[Finding]:
    """Return where ``--flag=value`` is something else than ``--flag value``."""
    return [
        Finding(
            "unguarded-omission",
            model,
            f"with the spelling {mutation.text} something else is built",
            flag=mutation.text,
            argv=mutation.argv,
            remedy="let the framework's own parser take both spellings",
        )
        for mutation in mutated
        if mutation.spelling and not _same(engine, mutation)
    ]


def _same(engine: OmissionEngine, mutation: Mutation) -> bool:
    resolution = engine.resolve_argv(mutation.argv)
    whole = engine.whole
    return (resolution.rope, resolution.origins) == (whole.rope, whole.origins)


def _findings(
    model: str, whole: Resolution, unnoticed: Sequence[_Unnoticed], around: Surroundings
) -> list[Finding]:
    failing = [one for one in unnoticed if around.strict or one.outcome == YARN]
    # One contract for all that fails: whoever types it is done.
    remedy = _remedy(model, whole, failing, around) if failing else None
    found = []
    # The worst first: its headline is all that a summary shows.
    for one in sorted(unnoticed, key=lambda one: -SILENT.index(one.outcome)):
        fails = one.outcome == YARN
        found.append(
            Finding(
                "unguarded-omission",
                model,
                f"{one.text} {_becomes(whole, one)} and no contract notices",
                flag=", ".join(one.omitted) or one.text,
                omitted=one.omitted,
                argv=one.argv,
                details=tuple(str(change) for change in changes(whole, one.resolution)),
                effect=size(one.resolution.built, whole.built),
                remedy=remedy if fails or around.strict else _remedy(model, whole, [one], around),
                status="fail" if fails else "note",
            )
        )
    return found


def _becomes(whole: Resolution, one: _Unnoticed) -> str:
    if one.outcome == YARN:
        rope = one.resolution.built
        return becomes_yarn(rope.rotary_scaling_factor, rope.beta_fast, rope.beta_slow)
    found = changes(whole, one.resolution)
    if one.outcome == "implicit":
        return f"leaves {', '.join(change.field for change in found)} to a default"
    changed = [change for change in found if not change.is_lost]
    first, *others = changed
    noun = "change" if len(others) == 1 else "changes"
    return f"{first.sentence}, {len(others)} more {noun}," if others else first.sentence


def _remedy(
    model: str, whole: Resolution, unnoticed: Sequence[_Unnoticed], around: Surroundings
) -> str:
    """Return the contract that would notice: the exact lines, and the checkpoint's file.

    Where the model itself fails, what to correct about it before it gets a contract.
    """
    if faults := around.faults():
        return _correct_first(model, faults)
    resolutions = [one.resolution for one in unnoticed]
    lines = [line(model, one) for one in guarding(whole, resolutions, around.notices)]
    if not lines:
        return "rope_contract_allow allows what a contract would find; take its line away"
    text = "mark a test with " + f"{CONTINUED}and with ".join(lines)
    told = all(
        one.built.kind != whole.built.kind
        or size(one.built, whole.built) not in (None, "numerically identical")
        for one in resolutions
    )
    if around.checkpoint is not None and told:
        text += f",{CONTINUED}or add the checkpoint's config.json as {around.checkpoint}"
    return text


def _correct_first(model: str, faults: Sequence[Finding]) -> str:
    first, *others = faults
    more = f" (and {len(others)} more)" if others else ""
    lines = [
        f"correct {model} itself first, a contract of what is built now would demand the fault:",
        f"{first.rule}: {first.message}{more}",
        *([first.remedy] if first.remedy else []),
    ]
    return CONTINUED.join(lines)
