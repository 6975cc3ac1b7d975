"""Failures as annotations of a CI service, at the line of the definition that they are about."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# Where a definition begins to say something, where the flag itself is not in its file.
DEFINING = re.compile(r"\s*(?:async\s+)?def\s+model_args\b|\s*(?:declare\b.*\s)?MODEL_ARGS\+?=")
PLACE = re.compile(r"  at: (?P<path>.+):(?P<line>\d+)")


class Annotation(NamedTuple):
    """What is wrong, and where."""

    path: str
    line: int
    title: str
    message: str


def failures(models: Iterable[Mapping[str, Any]], root: Path) -> list[Annotation]:
    """Return an annotation for every failing finding and every unusable definition.

    Args:
        models: The merged documents of the models.
        root: The folder that their paths are relative to.
    """
    found: list[Annotation] = []
    for model in models:
        if model["path"] is None:
            continue
        lines = _lines(root / model["path"])
        if model["error"] is not None:
            found.append(_of_error(model, lines))
        found.extend(
            Annotation(
                model["path"],
                _line(lines, one["flag"]),
                f"{one['rule']}: {model['name']}",
                _message(one),
            )
            for one in model["findings"]
            if one["status"] == "fail"
        )
    return list(dict.fromkeys(found))


def _message(finding: Mapping[str, Any]) -> str:
    lines = [finding["message"]]
    for name, key in (("size", "effect"), ("remedy", "remedy")):
        if finding[key] is not None:
            lines.append(f"{name}: {finding[key]}")
    return "\n".join(lines)


def _of_error(model: Mapping[str, Any], lines: Sequence[str]) -> Annotation:
    headline, *more = model["error"].splitlines()
    place = PLACE.match(more[0]) if more else None
    if place is not None:
        return Annotation(place["path"], int(place["line"]), headline, model["error"])
    return Annotation(model["path"], _line(lines, None), headline, model["error"])


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _line(lines: Sequence[str], flag: str | None) -> int:
    """Return the line, counted from 1, of a flag, or else the one at which a definition begins.

    Of a flag that is given several times the last one counts, as for argparse.
    """
    if flag:
        name = re.compile(rf"(?<![\w-]){re.escape(flag.split()[0])}(?![\w-])")
        for number in range(len(lines), 0, -1):
            if name.search(lines[number - 1]) and not lines[number - 1].lstrip().startswith("#"):
                return number
    return next((n for n, line in enumerate(lines, 1) if DEFINING.match(line)), 1)


def github_lines(found: Iterable[Annotation], root: Path) -> Iterator[str]:
    """Yield workflow commands of GitHub Actions, a line each.

    Their format and escaping are those of the runner (``actions/toolkit``, ``command.ts``).

    Args:
        found: The annotations.
        root: The folder that their paths are relative to; the command's start from the
            repository.
    """
    repository = _repository(root)
    for one in found:
        path = os.path.relpath(root / one.path, repository)
        properties = {"file": Path(path).as_posix(), "line": str(one.line), "title": one.title}
        listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        yield f"::error {listed}::{_data(one.message)}"


def _repository(root: Path) -> Path:
    """Return the folder of the checkout, or the root itself where it is in none."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if workspace and root.is_relative_to(workspace):
        return Path(workspace)
    return next((one for one in (root, *root.parents) if (one / ".git").exists()), root)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
