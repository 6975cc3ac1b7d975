"""Failures as annotations of a CI service, at the line of the definition that they are about."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_ropecontract import paths, reading
from pytest_ropecontract.collection import project_of
from pytest_ropecontract.report.document import finding_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_ropecontract.contracts.findings import Finding

# Where a definition begins to say something, where the flag itself is not in its file.
DEFINING = re.compile(r"\s*(?:async\s+)?def\s+model_args\b|\s*(?:declare\b.*\s)?MODEL_ARGS\+?=")
PLACE = re.compile(r"  at: (?P<path>.+):(?P<line>\d+)")


SIZE_LIMIT = 16 * 1024 * 1024
"""Of a file whose lines are looked for, in bytes."""


class Annotation(NamedTuple):
    """What is wrong, and where."""

    path: str
    line: int
    title: str
    message: str


# What is wrong with an item, where no document of a model or a launcher says it.
ANNOTATIONS = pytest.StashKey[list[Annotation]]()


def of_models(models: Iterable[Mapping[str, Any]], root: Path) -> Iterator[Annotation]:
    """Yield an annotation for every failing finding and every unusable definition.

    Args:
        models: Documents of the models.
        root: The folder that their paths are relative to.
    """
    for model in models:
        if model["path"] is not None:
            yield from _of(model, model["path"], DEFINING, root)


def of_launchers(launchers: Iterable[Mapping[str, Any]], root: Path) -> Iterator[Annotation]:
    """Yield an annotation for every failing finding and every unusable launcher.

    Args:
        launchers: Documents of the launchers.
        root: The folder that their names are relative to.
    """
    for launcher in launchers:
        path, _, function = launcher["name"].partition("::")
        begins = re.compile(rf"\s*(?:async\s+)?def\s+{re.escape(function)}\b")
        yield from _of(launcher, path, begins if function else None, root)


def of_marks(config: pytest.Config, findings: Iterable[Finding]) -> Iterator[Annotation]:
    """Yield an annotation for everything that the marks of a test found, at the definition."""
    for one in findings:
        document = {
            "name": one.model,
            "path": project_of(config).examine(one.model).path,
            "error": None,
            "findings": [finding_document(one)],
        }
        yield from of_models([paths.portable_value(document, config.rootpath)], config.rootpath)


def of_settings(path: Path, values: Iterable[str], message: str, root: Path) -> Annotation:
    """Return an annotation of settings, at the first line that has one of some values.

    Args:
        path: The ini file, or the file that stands for the project.
        values: What is wrong in it.
        message: Why.
        root: The folder that the annotation's path is relative to.
    """
    lines = [" ".join(line.split()) for line in _lines(path)]
    found = (n for n, line in enumerate(lines, 1) if any(one in line for one in values))
    title, *_ = message.splitlines()
    return Annotation(path.relative_to(root).as_posix(), next(found, 1), title, message)


def _of(
    subject: Mapping[str, Any], path: str, begins: re.Pattern[str] | None, root: Path
) -> Iterator[Annotation]:
    lines = _lines(root / path)
    if subject["error"] is not None:
        yield _of_error(subject["error"], path, _line(lines, None, begins))
    for one in subject["findings"]:
        if one["status"] == "fail":
            line = _line(lines, one["flag"], begins)
            yield Annotation(path, line, f"{one['rule']}: {subject['name']}", _message(one))


def _message(finding: Mapping[str, Any]) -> str:
    # A launcher's findings name the model that it launches.
    model = f"{finding['model']}: " if "model" in finding else ""
    lines = [f"{model}{finding['message']}"]
    for name, key in (("size", "effect"), ("remedy", "remedy")):
        if finding[key] is not None:
            lines.append(f"{name}: {finding[key]}")
    return "\n".join(lines)


def _of_error(error: str, path: str, line: int) -> Annotation:
    headline, *more = error.splitlines()
    place = PLACE.match(more[0]) if more else None
    if place is not None:
        return Annotation(place["path"], int(place["line"]), headline, error)
    return Annotation(path, line, headline, error)


def _lines(path: Path) -> list[str]:
    try:
        return reading.read(path, SIZE_LIMIT).decode("utf-8", "replace").splitlines()
    except (OSError, reading.UnusableFileError):
        return []


def _line(lines: Sequence[str], flag: str | None, begins: re.Pattern[str] | None) -> int:
    """Return the line, counted from 1, of a flag, or else the one at which its subject begins.

    Of a flag that is given several times the last one counts, as for argparse.
    """
    if flag:
        name = re.compile(rf"(?<![\w-]){re.escape(flag.split()[0])}(?![\w-])")
        for number in range(len(lines), 0, -1):
            if name.search(lines[number - 1]) and not lines[number - 1].lstrip().startswith("#"):
                return number
    if begins is None:
        return 1
    return next((n for n, line in enumerate(lines, 1) if begins.match(line)), 1)


def github_lines(found: Iterable[Annotation], root: Path) -> Iterator[str]:
    """Yield workflow commands of GitHub Actions, a line each, and each once.

    Their format and escaping are those of the runner (``actions/toolkit``, ``command.ts``).

    Args:
        found: The annotations.
        root: The folder that their paths are relative to; the command's start from the
            repository.
    """
    repository = _repository(root)
    for one in dict.fromkeys(found):
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
