"""Which files are the checkpoints of which models."""

from __future__ import annotations

import difflib
import fnmatch
import glob
import os
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.contracts.checkpoints.folders import CONFIG_FILE, SNAPSHOTS
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

MODEL = "{model}"
DEFAULT_PATTERNS = ("tests/checkpoints/{model}.json", "tests/checkpoints/{model}@*.json")
"""A file named as the model, and any number of further ones: ``kimi-k2@0905.json``."""
_WILD = re.compile(r"(\{model\}|\*\*/|\*+|\?|\[[^]]+\])")
_TOLD = 20


@dataclass(frozen=True)
class Stray:
    """A file in a checkpoint's place that is no model's.

    Attributes:
        path: The file, or the folder.
        near: The model that it may be meant for, or None.
    """

    path: Path
    near: str | None


def check_pattern(pattern: str) -> None:
    """Check that a pattern says where the model's name stands.

    Raises:
        RopeContractError: It does not: every file would be the checkpoint of every model.
    """
    if MODEL not in pattern:
        raise RopeContractError(
            f"rope_contract_checkpoints: {pattern!r} does not contain {MODEL}",
            remedy=f"for example {DEFAULT_PATTERNS[0]}",
        )


def find(root: Path, patterns: Sequence[str], models: Iterable[str]) -> dict[str, tuple[Path, ...]]:
    """Find the files of all models.

    A file whose path fits several models, as ``kimi-k25.json`` fits ``kimi-k2`` by
    ``{model}*.json``, belongs to the one with the longest name: a variant is never held to
    another model's checkpoint.

    Args:
        root: The folder that patterns start from.
        patterns: Globs with ``{model}`` in the place of a model's name.
        models: All names.
    """
    owners: dict[str, str] = {}
    # Of names that are equally long, the first.
    ranks = {model: (len(model), -index) for index, model in enumerate(models)}
    for pattern in patterns:
        for path, model in _named_by(root, pattern, ranks.keys()):
            owners[path] = max(owners.get(path, model), model, key=ranks.__getitem__)
    found: dict[str, tuple[Path, ...]] = {}
    for path, model in sorted(owners.items()):
        found[model] = (*found.get(model, ()), root / path)
    return found


def _named_by(root: Path, pattern: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what matches a pattern with a model's name in the model's place, with the name."""
    folder, slash, file = pattern.rpartition("/")
    before, _, after = file.partition(MODEL)
    if glob.has_magic(before + after) and MODEL not in folder + after and "[" not in file:
        # Else the folder would be listed for every name.
        anyone = folder + slash + re.sub(r"\*+", "*", file.replace(MODEL, "*"))
        for path in glob.iglob(anyone, root_dir=root, recursive=True):  # noqa: PTH207  # as below
            for model in _names_in(path.rpartition("/")[2], before, after, names):
                yield path, model
        return
    for model in names:
        named = pattern.replace(MODEL, glob.escape(model))
        for path in glob.iglob(named, root_dir=root, recursive=True):  # noqa: PTH207  # absolute, too
            yield path, model


def _names_in(file: str, before: str, after: str, names: Collection[str]) -> Iterator[str]:
    """Yield the names that stand in a file's, between what matches two globs."""
    for start in range(len(file)):
        if not fnmatch.fnmatchcase(file[:start], before):
            continue
        for stop in range(start + 1, len(file) + 1):
            if file[start:stop] in names and fnmatch.fnmatchcase(file[stop:], after):
                yield file[start:stop]


def strays(
    root: Path, patterns: Sequence[str], models: Mapping[str, Sequence[Path]], others: Iterable[str]
) -> tuple[list[Stray], int]:
    """Return what lies in a checkpoint's place and is no model's, and how much more there is.

    Only folders of the project that a pattern names are looked at: of ``{model}/config.json``
    every folder would be a model's.

    Args:
        root: The folder that patterns start from.
        patterns: Globs with ``{model}`` in the place of a model's name.
        models: All names, with the checkpoints of each.
        others: Further names that are no strays'.
    """
    owned = {os.path.normpath(path) for paths in models.values() for path in paths}
    # Where case does not count, a file is found by other names than its own.
    alike = {path.casefold(): path for path in owned}
    around = {str(parent) for path in owned for parent in Path(path).parents}
    known = {*models, *others}
    found: dict[str, list[str]] = {}
    for path, name in _in_place(root, patterns):
        found.setdefault(path, []).append(name)
    stray = (
        (Path(path), names)
        for path, names in sorted(found.items())
        if known.isdisjoint(names)
        and path not in owned
        and path not in around
        and owned.isdisjoint(map(str, Path(path).parents))
        and not _is_same(path, alike.get(path.casefold()))
    )
    told = [Stray(path, _near(names, models)) for path, names in islice(stray, _TOLD)]
    return told, sum(1 for _ in stray)


def _in_place(root: Path, patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what matches patterns, whatever the model, with the name in the model's place."""
    for pattern in patterns:
        relative = os.path.relpath(root / pattern, root)
        head = relative.partition("/")[0]
        if head == ".." or _WILD.search(head):
            continue
        named = re.compile(_named(relative))
        anyone = relative.replace(MODEL, "*")
        for one in glob.iglob(anyone, root_dir=root, recursive=True):  # noqa: PTH207  # as find()
            match = named.fullmatch(one)
            path = os.path.normpath(root / one)
            if match is not None and _is_checkpoint(path):
                yield path, match["model"]


def _named(pattern: str) -> str:
    """Return a glob as a regular expression with the group ``model``."""
    wild = {"**/": "(?:[^/]+/)*", "?": "[^/]", MODEL: "(?P<model>[^/]*)"}
    found = ""
    for piece in _WILD.split(pattern):
        if piece == MODEL and "(?P<model>" in found:
            found += "(?P=model)"
        elif _WILD.fullmatch(piece):
            found += wild.get(piece, "[^/]" if piece.startswith("[") else "[^/]*")
        else:
            found += re.escape(piece)
    return found


def _is_checkpoint(path: str) -> bool:
    """Return whether a path is a file, or a folder that would be read."""
    if not os.path.isdir(path):  # noqa: PTH112  # Path.is_dir raises for some of them
        return True
    return any(os.path.lexists(f"{path}/{name}") for name in (CONFIG_FILE, SNAPSHOTS))


def _is_same(path: str, other: str | None) -> bool:
    try:
        return other is not None and Path(path).samefile(other)
    except OSError:
        return False


def _near(names: Sequence[str], models: Mapping[str, Sequence[Path]]) -> str | None:
    """Return the model of which one of some names is a misspelling; one without a checkpoint."""
    folded = {model.casefold(): model for model in models}
    missing = [name for name, model in folded.items() if not models[model]]
    for name in map(str.casefold, names):
        if name in folded:
            return folded[name]
    for name in map(str.casefold, names):
        if near := difflib.get_close_matches(name, missing, n=1):
            return folded[near[0]]
    return None
