"""The terminal summary: one line a model."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.findings import plain
from pytest_ropecontract.report.verdict import NO_CONTRACT, NOT_RUN, launcher_verdict
from pytest_ropecontract.report.verdict import verdict as judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = ("model", "kind", "base", "dim", "factor", "length", "betas", "mscales")
# What a narrow terminal is spared, the first one first.
SPARED = ("mscales", "length", "dim", "betas", "factor", "base", "kind")
MARK = "*"
WIDE = 100
NAME_AT_LEAST = 14
NAME_READABLE = 24
STATES = ("fail", "allowed", "ok")
# Of more models than this, those without a finding are only counted.
FOLDED_ABOVE = 40
INDENT = "    "
# Verdicts of what has no finding, and what is said where only that fits.
BARE = {NO_CONTRACT: "no contract", NOT_RUN: "not run"}
UNCHECKED = {NO_CONTRACT: "without a contract", NOT_RUN: "with contracts that were not run"}


def summary_lines(
    models: Sequence[Mapping[str, Any]], width: int, verbosity: int = 0
) -> list[tuple[str, str]]:
    """Return the lines of the summary, each with ``fail``, ``allowed``, ``ok`` or ``head``.

    What fails comes first, then what is allowed. The models without a finding are all shown
    with ``-v``, only counted with ``-q`` and where there are many, and with ``-qq`` all are.

    Args:
        models: The merged documents of the models.
        width: Columns of the terminal.
        verbosity: How often ``-v`` was given; below 0, how often ``-q``.
    """
    rows = sorted(
        ((*_cells(model), *judge(model)) for model in models),
        key=lambda row: STATES.index(row[-1]),
    )
    shown = _shown(rows, verbosity)
    lines = _table(shown, width) if shown else []
    if len(shown) < len(rows):
        lines.extend((text, "head") for text in textwrap.wrap(_counted(rows, shown), width))
    return lines


def _shown(rows: Sequence[Sequence[str]], verbosity: int) -> Sequence[Sequence[str]]:
    """Return the rows that are shown: those without a finding not always."""
    if verbosity < -1:
        return []
    if verbosity < 0 or (verbosity == 0 and len(rows) > FOLDED_ABOVE):
        return [row for row in rows if row[-1] != "ok"]
    return rows


def _counted(rows: Sequence[Sequence[str]], shown: Sequence[Sequence[str]]) -> str:
    """Return how many models come to what, of those that are not shown."""
    hidden = [row for row in rows if row not in shown]
    words = {"fail": "failed", "allowed": "allowed", "ok": "ok"}
    counts = [
        f"{number} {words[state]}"
        for state in STATES
        if (number := sum(row[-1] == state for row in hidden))
    ]
    text = f"{'and ' if shown else ''}{', '.join(counts)}"
    unchecked = ", ".join(
        f"{number} {said}"
        for verdict, said in UNCHECKED.items()
        if (number := sum(row[-2] == verdict for row in hidden))
    )
    return text + (f" ({unchecked})" if unchecked else "") + "; -v shows all"


def _table(rows: Sequence[Sequence[str]], width: int) -> list[tuple[str, str]]:
    gap = "  " if width >= WIDE else " "
    measured = {
        title: max(len(title), *(len(row[index]) for row in rows))
        for index, title in enumerate(COLUMNS)
    }
    name = measured.pop("model")
    for title in SPARED:
        if NAME_AT_LEAST + sum(measured.values()) + (len(measured) + 1) * len(gap) <= width - len(
            "verdict"
        ):
            break
        del measured[title]
    kept = [0, *(index for index, title in enumerate(COLUMNS) if title in measured)]
    # The name gives way to the other columns, and as far as it stays readable to the verdicts.
    room = width - sum(measured.values()) - (len(measured) + 1) * len(gap)
    verdicts = {len(row[-2]) for row in rows}
    fitting = [one for one in verdicts if one <= room - min(name, NAME_READABLE)]
    bare = [len(BARE[row[-2]]) for row in rows if row[-2] in BARE and room > NAME_READABLE]
    verdict = max([len("verdict"), *bare, *fitting])
    name = min(name, max(len("model"), room - verdict))
    widths = [name, *measured.values()]
    lines = [(_line([*(COLUMNS[index] for index in kept), "verdict"], widths, gap), "head")]
    for row in rows:
        cells = [row[index] for index in kept]
        lines.extend((text, row[-1]) for text in _row(cells, row[-2], widths, gap, width))
    if any(MARK in row[index] for row in rows for index in kept[1:]):
        lines.extend(
            (text, "head")
            for text in textwrap.wrap(f"{MARK} not declared in the definition's flags", width)
        )
    return lines


def _row(
    cells: Sequence[str], verdict: str, widths: Sequence[int], gap: str, width: int
) -> list[str]:
    """Return a row, with the rules of its verdict below it where they do not fit."""
    texts = (verdict, BARE[verdict], "ok") if verdict in BARE else (verdict,)
    for text in texts:
        if len(line := _line([*cells, text], widths, gap)) <= width:
            return [line]
    word, _, rules = verdict.partition(" ")
    below = textwrap.wrap(
        rules, width, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
    )
    return [_line([*cells, word], widths, gap), *below]


def _line(cells: Sequence[str], widths: Sequence[int], gap: str) -> str:
    padded = [
        _shortened(cell, width).ljust(width) for cell, width in zip(cells, widths, strict=False)
    ]
    return gap.join([*padded, cells[-1]]).rstrip()


def _shortened(name: str, width: int) -> str:
    """Leave out the middle of a name: variants differ at its end."""
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return f"{name[: width - 1 - tail]}~{name[-tail:]}"


def _cells(model: Mapping[str, Any]) -> tuple[str, ...]:
    rope, origins = model["rope"], model["origins"]
    if rope is None:
        return (model["name"], *("-" for _ in COLUMNS[1:]))

    def cell(*names: str) -> str:
        return "/".join(
            "-"
            if rope[name] is None
            else plain(rope[name]) + ("" if origins.get(name, "declared") == "declared" else MARK)
            for name in names
        ).replace("-/-", "-")

    factor = "rope_scaling_factor" if rope["rope_scaling"] else "rotary_scaling_factor"
    return (
        model["name"],
        cell("kind"),
        cell("rotary_base"),
        cell("rotary_dim"),
        cell(factor),
        cell("original_max_position_embeddings"),
        cell("beta_fast", "beta_slow"),
        cell("mscale", "mscale_all_dim"),
    )


def launcher_lines(
    launchers: Sequence[Mapping[str, Any]], width: int, verbosity: int = 0
) -> list[tuple[str, str]]:
    """Return one line for every launcher, what it launches and the verdict, as of models.

    Args:
        launchers: The documents of the launchers.
        width: Columns of the terminal.
        verbosity: How often ``-v`` was given; below 0, how often ``-q``.
    """
    rows = sorted(
        (
            (
                launcher["name"],
                ", ".join(dict.fromkeys(one["model"] for one in launcher["training"])) or "-",
                *launcher_verdict(launcher),
            )
            for launcher in launchers
        ),
        key=lambda row: STATES.index(row[-1]),
    )
    shown = _shown(rows, verbosity)
    lines = _launcher_table(shown, width) if shown else []
    if len(shown) < len(rows):
        text = f"launchers: {_counted(rows, shown).removeprefix('and ')}"
        lines.extend((line, "head") for line in textwrap.wrap(text, width))
    return lines


def _launcher_table(rows: Sequence[Sequence[str]], width: int) -> list[tuple[str, str]]:
    titles = ("launcher", "launches")
    gap = "  "
    name, models = (
        max(len(title), *(len(row[index]) for row in rows)) for index, title in enumerate(titles)
    )
    # The models give way to the names, and both to the first word of the verdict.
    room = width - len("verdict") - 2 * len(gap)
    models = min(models, max(len("launches"), room - name, room // 3))
    name = min(name, max(len("launcher"), room - models))
    lines = [(_line((*titles, "verdict"), (name, models), gap), "head")]
    for row in rows:
        cells = [row[0], _shortened(row[1], models)]
        lines.extend((text, row[-1]) for text in _row(cells, row[-2], (name, models), gap, width))
    return lines


def stray_lines(strays: Sequence[tuple[str, str | None]], more: int) -> list[tuple[str, str]]:
    """Return one line for everything that lies in a checkpoint's place and is no model's.

    Args:
        strays: The paths as they are shown, each with the model that it may be meant for.
        more: How many there are besides.
    """
    lines = [
        f"checkpoint of no model: {path}" + ("" if near is None else f", did you mean {near}?")
        for path, near in strays
    ]
    if more:
        lines.append(f"and {more} more checkpoints of no model")
    return [(line, "allowed") for line in lines]


LOSSES = ("refused", "harmless", "guarded", "unguarded")


def omission_lines(
    models: Sequence[Mapping[str, Any]], width: int, verbosity: int
) -> list[tuple[str, str]]:
    """Return what the loss of each single flag does, with ``-v``: one line a model.

    Unguarded flags are named below it, and with ``-vv`` all of them.

    Args:
        models: The merged documents of the models.
        width: Columns of the terminal.
        verbosity: How often ``-v`` was given.
    """
    shown = [model for model in models if model["omissions"]]
    if verbosity < 1 or not shown:
        return []
    title = "flags if lost"
    room = width - sum(len(name) + 1 for name in LOSSES)
    widths = [min(max(len(title), *(len(model["name"]) for model in shown)), room)]
    widths += [len(name) for name in LOSSES]
    lines = [(_line((title, *LOSSES), widths[:-1], " "), "head")]
    for model in shown:
        flags = {
            name: [flag for flag, loss in model["omissions"].items() if loss == name]
            for name in LOSSES
        }
        counts = [str(len(flags[name])).rjust(len(name)) for name in LOSSES]
        lines.append((_line((model["name"], *counts), widths[:-1], " "), "ok"))
        for name in LOSSES:
            if flags[name] and (name == "unguarded" or verbosity > 1):
                lines.extend((line, "ok") for line in _listing(name, flags[name], width))
    return lines


def _listing(name: str, flags: Sequence[str], width: int) -> list[str]:
    """Return flags as a wrapped list; none is divided between lines."""
    indent = f"  {name}: "
    lines, current = [], indent
    for index, flag in enumerate(flags):
        text = _shortened(flag, width - 5) + ("," if index < len(flags) - 1 else "")
        if current.strip() and len(current) + len(text) > width:
            lines.append(current.rstrip())
            current = "    "
        current += f"{text} "
    return [*lines, current.rstrip()]
