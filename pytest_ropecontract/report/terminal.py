"""The terminal summary: one line a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts.findings import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = ("model", "kind", "base", "dim", "factor", "length", "betas", "mscales")
MARK = "*"
WIDE = 100
NAME_AT_LEAST = 14
NAME_READABLE = 24


def summary_lines(models: Sequence[Mapping[str, Any]], width: int) -> list[tuple[str, str]]:
    """Return the lines of the summary, each with ``fail``, ``allowed``, ``ok`` or ``head``.

    Args:
        models: The merged documents of the models.
        width: Columns of the terminal.
    """
    rows = [(*_cells(model), *_verdict(model)) for model in models]
    gap = "  " if width >= WIDE else " "
    widths = [
        max(len(title), *(len(row[index]) for row in rows)) if rows else len(title)
        for index, title in enumerate(COLUMNS)
    ]
    # The name gives way to the other columns, and as far as it stays readable to the verdict.
    columns = sum(widths[1:]) + len(widths) * len(gap)
    verdict = max(len(text) for text in ("verdict", *(row[-2] for row in rows)))
    widths[0] = min(
        widths[0],
        max(NAME_AT_LEAST, width - columns - len("verdict")),
        max(NAME_READABLE, width - columns - verdict),
    )
    lines = [(_line((*COLUMNS, "verdict"), widths, gap), "head")]
    lines.extend((_line(row[:-1], widths, gap), row[-1]) for row in rows)
    if any(MARK in cell for row in rows for cell in row[1:-2]):
        lines.append((f"{MARK} not declared in the definition's flags", "head"))
    return lines


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


def _verdict(model: Mapping[str, Any]) -> tuple[str, str]:
    if model["error"] is not None:
        return "ERROR", "fail"
    failed = _rules(model, "fail")
    if failed:
        return f"FAILED {', '.join(failed)}", "fail"
    allowed = _rules(model, "allowed")
    if allowed:
        return f"allowed {', '.join(allowed)}", "allowed"
    return ("ok" if model["contracts"] else "ok, no contract"), "ok"


def _rules(model: Mapping[str, Any], status: str) -> list[str]:
    return list(dict.fromkeys(one["rule"] for one in model["findings"] if one["status"] == status))


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
