"""What the page shows of a report, as its templates take it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.findings import plain
from pytest_ropecontract.report.curves import RESOLVED
from pytest_ropecontract.report.verdict import NO_CONTRACT, NOT_RUN, launcher_verdict, verdict
from pytest_ropecontract.report.ways import beginning, places
from pytest_ropecontract.rope.config import DERIVED_FIELDS
from pytest_ropecontract.snapshots.tokens import argv_lines, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# The columns of the overview, with the fields that each shows.
COLUMNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Kind", ("kind",)),
    ("Base", ("rotary_base",)),
    ("Dim", ("rotary_dim",)),
    ("Factor", ("rotary_scaling_factor", "rope_scaling_factor")),
    ("Length", ("original_max_position_embeddings",)),
    ("Betas", ("beta_fast", "beta_slow")),
    ("Mscales", ("mscale", "mscale_all_dim")),
)
# What comes of a model, worst first, as it is counted and filtered.
STATES = {
    "fail": "Failed",
    "allowed": "Allowed",
    "bare": "No contract",
    "unrun": "Contract not run",
    "ok": "OK",
}
# The states of those that have no finding, because nothing was asked.
UNCHECKED = {NO_CONTRACT: "bare", NOT_RUN: "unrun"}
STATUSES = {"fail": "Failed", "allowed": "Allowed", "note": "Note"}
# What the loss of a flag does, worst first.
LOSSES = {
    "unguarded": "something else is built, and no contract notices",
    "guarded": "something else is built, and a contract notices",
    "refused": "nothing is built: Megatron or the framework refuses it",
    "harmless": "the same is built",
}


@dataclass(frozen=True)
class Value:
    """A value of a field.

    Attributes:
        text: The value as a flag would have it.
        origin: Where it comes from, or None where that is the definition's own flags.
    """

    text: str
    origin: str | None


@dataclass(frozen=True)
class Step:
    """A place on the way of a value.

    Attributes:
        kind: ``given`` and ``absent`` of a flag, ``writer`` of what writes the value in its
            place, ``place`` of what the value goes through.
        text: What is there.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Way:
    """The way of one value, from the command line to the rotary class.

    Attributes:
        field: The RopeConfig field.
        value: The value.
        origin: Its origin, or ``derived`` where it follows from other values.
        steps: Flag, namespace, config, rotary argument: as far as it went through them.
    """

    field: str
    value: str
    origin: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Model:
    """A model, as the page shows it.

    Attributes:
        document: The model's part of the JSON report.
        anchor: Its place on the page.
        verdict: What comes of it, in a line.
        state: One of ``STATES``.
        cells: Per column of the overview, the values to show; none where no value is used.
        ways: The way of every value that is used.
        flags: The command line, a flag with its values each.
        losses: Per kind of loss, the flags.
        references: The curves that contracts demand, each with its label.
        drawn: Whether there is a curve of what is built.
        phases: Whether a phase is off anywhere.
    """

    document: Mapping[str, Any]
    anchor: str
    verdict: str
    state: str
    cells: tuple[tuple[Value, ...], ...]
    ways: tuple[Way, ...]
    flags: tuple[str, ...]
    losses: Mapping[str, tuple[str, ...]]
    references: tuple[tuple[str, Mapping[str, Any]], ...]
    drawn: bool
    phases: bool

    @property
    def severity(self) -> int:
        """0 for what has to be seen first."""
        return list(STATES).index(self.state)


@dataclass(frozen=True)
class Training:
    """A command of a launcher that trains, as the page shows it.

    Attributes:
        document: The command's part of the JSON report.
        anchor: The place of the model that it trains, or None where that is not on the page.
        cells: Per column of the overview, the values that it builds.
        flags: Its flags, each with its values.
    """

    document: Mapping[str, Any]
    anchor: str | None
    cells: tuple[tuple[Value, ...], ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Launcher:
    """A launcher, as the page shows it.

    Attributes:
        document: The launcher's part of the JSON report.
        anchor: Its place on the page.
        verdict: What comes of it, in a line.
        state: ``fail``, ``allowed`` or ``ok``.
        training: Its commands that train.
        commands: All of its commands.
    """

    document: Mapping[str, Any]
    anchor: str
    verdict: str
    state: str
    training: tuple[Training, ...]
    commands: tuple[str, ...]

    @property
    def severity(self) -> int:
        """0 for what has to be seen first."""
        return list(STATES).index(self.state)


def launchers(report: Mapping[str, Any], shown: Sequence[Model]) -> list[Launcher]:
    """Return the launchers of a report, those that failed first.

    Args:
        report: What the JSON report says.
        shown: The models that are on the page.
    """
    places = {one.document["name"]: one.anchor for one in shown}
    found = [_launcher(one, index, places) for index, one in enumerate(report["launchers"])]
    return sorted(found, key=lambda one: (one.severity, one.document["name"]))


def models(report: Mapping[str, Any]) -> list[Model]:
    """Return the models of a report, those that failed first."""
    shown = [_model(one, index) for index, one in enumerate(report["models"])]
    return sorted(shown, key=lambda one: (one.severity, one.document["name"]))


def labels(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what each curve of a model is called in charts and tables."""
    kinds = [one["of"] for one in curves]
    return [
        f"{kind} {kinds[:index].count(kind) + 1}" if kinds.count(kind) > 1 else kind
        for index, kind in enumerate(kinds)
    ]


def _model(document: Mapping[str, Any], index: int) -> Model:
    text, state = verdict(document)
    state = UNCHECKED.get(text, state)
    curves = document["curves"]
    named = list(zip(labels(curves), curves, strict=True))
    losses = document["omissions"] or {}
    return Model(
        document=document,
        anchor=_anchor("model", document["name"], index),
        verdict=text,
        state=state,
        cells=tuple(tuple(_cell(document, names)) for _, names in COLUMNS),
        ways=tuple(_ways(document)),
        flags=_flags(document["argv"]),
        losses={kind: tuple(f for f, loss in losses.items() if loss == kind) for kind in LOSSES},
        references=tuple(one for one in named if one[1]["of"] != RESOLVED),
        drawn=any(one["wavelengths"] for one in curves),
        phases=any(error for one in curves for _, error in one["phase_errors"] or ()),
    )


def _launcher(document: Mapping[str, Any], index: int, places: Mapping[str, str]) -> Launcher:
    text, state = launcher_verdict(document)
    return Launcher(
        document=document,
        anchor=_anchor("launcher", document["name"], index),
        verdict=text,
        state=state,
        training=tuple(
            Training(
                document=one,
                anchor=places.get(one["model"]),
                cells=tuple(tuple(_cell(one, names)) for _, names in COLUMNS),
                flags=_flags(one["argv"]),
            )
            for one in document["training"]
        ),
        commands=tuple(" ".join(map(quoted, argv)) for argv in document["commands"]),
    )


def _anchor(kind: str, name: str, index: int) -> str:
    """Return the same anchor for a name in every report; others get one by their place."""
    plain_name = re.fullmatch(r"[\w.+-]+(?:[/:]+[\w.+-]+)*", name)
    return f"{kind}-{name}" if plain_name else f"{kind}s-{index + 1}"


def _cell(document: Mapping[str, Any], names: Sequence[str]) -> Iterator[Value]:
    rope, origins = document["rope"] or {}, document["origins"]
    for name in names:
        if rope.get(name) is not None:
            origin = origins.get(name, "declared")
            yield Value(plain(rope[name]), None if origin == "declared" else origin)


def _ways(document: Mapping[str, Any]) -> Iterator[Way]:
    rope, origins = document["rope"] or {}, document["origins"]
    for name, value in rope.items():
        source = document["sources"].get(name)
        if source is None:
            if name in DERIVED_FIELDS and value is not None:
                yield Way(name, plain(value), "derived")
            continue
        yield Way(
            field=name,
            value="not used" if value is None else plain(value),
            origin=origins[name],
            steps=tuple(_steps(origins[name], source, rope["rotary_class"])),
        )


def _steps(origin: str, source: Mapping[str, Any], rotary_class: str | None) -> Iterator[Step]:
    if origin == "declared":
        yield Step("given", source["text"])
    elif source["flag"] is not None:
        yield Step("absent", f"{source['flag']} not given")
    # That the flag is not given says as much as that its default is taken.
    if origin not in ("declared", "parser-default"):
        yield Step("writer", beginning(origin, source["text"]))
    through = {name: source[name] for name in ("dest", "attribute", "argument")}
    for place in places(origin, rotary_class, **through):
        yield Step("place", place)


def _flags(argv: Sequence[str]) -> tuple[str, ...]:
    """Return flags, each with its values, as snapshots have them and bash reads them."""
    return tuple(argv_lines(argv)) if argv else ()
