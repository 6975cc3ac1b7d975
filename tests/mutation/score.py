"""What the tests of a part noticed, and why some of the rest need not be noticed."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code

HERE = Path(__file__).parent
PACKAGE = "pytest_ropecontract"
NOTICED = {"killed", "timeout", "segfault"}


class Change(NamedTuple):
    """One changed line that no test noticed."""

    name: str
    text: str
    """``file function | line as it is | line as it was changed to``."""
    status: str


@dataclass
class Score:
    """Counts by file, and the changes that were not noticed."""

    counts: dict[str, Counter[str]]
    unnoticed: list[Change]
    hung: list[str]
    """Names of mutants that took too long, which on a busy machine says little."""

    def reasons(self, name: str) -> dict[Change, str]:
        """Return why changes need not be noticed, as far as the part's file says so."""
        return {
            change: entry["because"]
            for entry in _entries(name)
            for change in self.unnoticed
            if _is_about(entry, change)
        }

    def outdated(self, name: str) -> list[str]:
        """Return the reasons that are about no change any more; none before all are tried."""
        if any(count["not checked"] for count in self.counts.values()):
            return []
        return [
            entry["because"]
            for entry in _entries(name)
            if not any(_is_about(entry, change) for change in self.unnoticed)
        ]


def _entries(name: str) -> list[dict[str, Any]]:
    path = HERE / f"{name}.toml"
    entries: list[dict[str, Any]] = []
    if path.exists():
        entries = tomllib.loads(path.read_text("utf-8"))["same"]
    return entries


def _is_about(entry: dict[str, Any], change: Change) -> bool:
    if "like" in entry and re.search(entry["like"], change.text):
        return True
    return change.text in entry.get("changes", ())


def read(folder: Path) -> Score:
    """Read what mutmut left in the folder of a part."""
    counts: dict[str, Counter[str]] = {}
    unnoticed, hung = [], []
    with chdir(folder):
        for path in sorted(Path("mutants", PACKAGE).rglob("*.meta")):
            codes: dict[str, Any] = json.loads(path.read_text("utf-8"))["exit_code_by_key"]
            if not codes:
                continue
            source = path.relative_to("mutants").with_suffix("")
            file = source.relative_to(PACKAGE).as_posix()
            counts[file] = Counter(status_by_exit_code[code] for code in codes.values())
            for name, code in codes.items():
                status = status_by_exit_code[code]
                if status == "timeout":
                    hung.append(name)
                elif status not in NOTICED | {"not checked"}:
                    unnoticed.append(Change(name, _text(name, file, source), status))
    return Score(counts, unnoticed, hung)


def _text(name: str, file: str, source: Path) -> str:
    diff = get_diff_for_mutant(name, path=source).splitlines()[3:]
    before, after = (
        " ".join(line[1:].strip() for line in diff if line.startswith(sign)) for sign in "-+"
    )
    function = name.rpartition("__mutmut_")[0].rpartition(".")[2]
    function = function.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
    return f"{file} {function} | {before} | {after}"


def report(name: str, code: str, score: Score, tree: str) -> str:
    """Return the score of a part, whose code is in a folder, as a page of Markdown."""
    reasons = score.reasons(name)
    total = sum(score.counts.values(), Counter())
    lines = [
        f"# What the tests of {name} notice",
        "",
        f"Made by `tox -e mutation -- {name}` of the code that is `{tree}` by",
        f"`git rev-parse HEAD:{PACKAGE}/{code}`. A mutant is one small change of a function; it is",
        "killed where a test of the same part fails. What is decorated, and what stands outside of",
        f"functions, is not changed. The reasons are those in `{name}.toml`.",
        "",
        "| file | mutants | killed | hangs | survives, with a reason | survives | not tried |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    justified = Counter(change.text.split(" ", 1)[0] for change in reasons)
    rows = [*score.counts.items(), ("**all**", total)]
    for file, count in rows:
        mutants, untried = sum(count.values()), count["not checked"]
        fails, hangs = count["killed"] + count["segfault"], count["timeout"]
        reasoned = len(reasons) if file == "**all**" else justified[file]
        left = mutants - fails - hangs - untried - reasoned
        lines.append(
            f"| {file} | {mutants} | {fails} | {hangs} | {reasoned} | {left} | {untried} |"
        )
    for because in dict.fromkeys(reasons.values()):
        lines += ["", f"## {because}", ""]
        lines += [f"- `{change.text}`" for change, why in reasons.items() if why == because]
    left = [change for change in score.unnoticed if change not in reasons]
    if left:
        lines += ["", "## Not noticed, and without a reason", ""]
        lines += [f"- `{change.text}` ({change.status})" for change in left]
    return os.linesep.join(lines) + os.linesep
