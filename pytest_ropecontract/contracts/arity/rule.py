"""The rule ``return-arity``."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from pytest_ropecontract.contracts.arity import adapter, unpacking
from pytest_ropecontract.contracts.arity.guards import Facts
from pytest_ropecontract.contracts.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution

SPEC = "--spec"
DEFINITION_SUFFIXES = (".py", ".sh", ".txt", ".args")
TEXT_LIMIT = 1024 * 1024
NUMBERS = {1: "one result", 2: "two results"}


class NotCheckedError(Exception):
    """There is nothing to check; the text is the reason for a skip."""


def check(
    model: str, resolution: Resolution, root: Path, folders: Sequence[Path | str]
) -> tuple[Finding, ...]:
    """Return where an adapter takes another number of results than its embedding returns.

    Args:
        model: The model's name.
        resolution: What is built.
        root: The project's folder, in which modules are looked for first.
        folders: Further folders in which they are.

    Raises:
        NotCheckedError: The definition names no adapter, it is not in the project, or no
            rotary embedding is built.
    """
    spec = adapter.named(resolution.parsed.namespace.get("spec"))
    if spec is None:
        raise NotCheckedError(f"{model} names no adapter with --spec")
    rope = resolution.rope
    if rope is None or rope.returns is None or rope.rotary_class is None:
        raise NotCheckedError(f"no rotary embedding is built for {model}")
    name, function = spec
    sources = adapter.Sources([root, *(root / folder for folder in folders)])
    try:
        module = sources.module(name)
        if module is None:
            raise NotCheckedError(f"the module {name} of --spec is not in the project")
        lacking = adapter.lacking(sources, module, function)
        if lacking is not None:
            return (_lacking(model, name, function, lacking),)
        parts = adapter.parts(sources, module, function)
        if not parts:
            raise NotCheckedError(f"the function {function} of --spec is not in the project")
    except adapter.UnreadableAdapterError as error:
        return (
            Finding(
                "return-arity",
                model,
                f"the adapter {name} cannot be read: {error}",
                flag=f"--spec {name} {function}",
                remedy="correct the module, training imports it too",
            ),
        )
    facts = Facts(_selectors(resolution, rope), rope.rotary_class, rope.returns)
    found = unpacking.find(parts, facts)
    return tuple(
        _finding(
            model,
            f"{_relative(one.module.path, root)}:{one.line}",
            one.expected,
            one.returned,
            resolution,
        )
        if one.returned is not None
        else _unread(model, f"{_relative(one.module.path, root)}:{one.line}", one.expected)
        for one in found
    )


def check_stated(model: str, resolution: Resolution, unpacks: int) -> tuple[Finding, ...]:
    """Return whether a definition states another number of results than there are.

    Args:
        model: The model's name.
        resolution: What is built.
        unpacks: How many results its attention takes, as its registration says.

    Raises:
        NotCheckedError: No rotary embedding is built.
    """
    rope = resolution.rope
    if rope is None or rope.returns is None:
        raise NotCheckedError(f"no rotary embedding is built for {model}")
    if rope.returns == unpacks:
        return ()
    return (_finding(model, "its registration", unpacks, rope.returns, resolution),)


def mentions_spec(text: str) -> bool:
    """Return whether the text of a definition may name an adapter."""
    return SPEC in text


def mentioning(folders: Iterable[Path]) -> set[Path]:
    """Return the files in some folders that mention an adapter's flag.

    A file that names another one of its folder, as a variant names what it varies, mentions
    what that one does.
    """
    found: set[Path] = set()
    for folder in folders:
        texts = {
            path: _beginning(path)
            for path in sorted(folder.glob("*"))
            if path.suffix in DEFINITION_SUFFIXES and path.is_file()
        }
        new = {path for path, text in texts.items() if mentions_spec(text)}
        while new:
            found |= new
            names = "|".join(re.escape(path.stem) for path in sorted(new))
            named = re.compile(rf"(?<![\w-])(?:{names})(?![\w-])")
            new = {path for path, text in texts.items() if named.search(text)} - found
    return found


def _beginning(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(TEXT_LIMIT)
    except OSError:
        return ""


def _selectors(resolution: Resolution, rope: RopeConfig) -> dict[str, object]:
    selectors = {
        name: resolution.parsed.namespace[name]
        for name in ("rope_type", "position_embedding_type")
        if name in resolution.parsed.namespace
    }
    if rope.attention == "mla":
        selectors["rope_type"] = rope.kind  # where it is None, the config class decides
    return selectors


def _finding(
    model: str, place: str, expected: int, returned: int, resolution: Resolution
) -> Finding:
    rope = resolution.rope
    built = rope.rotary_class if rope is not None else None
    source = resolution.sources.get("kind")
    come = "" if source is None or rope is None else f" (kind {rope.kind}: {source.text})"
    return Finding(
        "return-arity",
        model,
        f"{place} takes {_results(expected)} from the rotary embedding, and {built} returns "
        f"{_results(returned)}{come}",
        field="returns",
        expected=expected,
        actual=returned,
        origin=source.origin if source else None,
        source=source.text if source else None,
        remedy='take the results by the rope type: if config.rope_type == "rope", one; else two',
    )


def _unread(model: str, place: str, expected: int) -> Finding:
    return Finding(
        "return-arity",
        model,
        f"{place} takes {_results(expected)} from where a result of the rotary embedding may be "
        "kept, which could not be read",
        field="returns",
        expected=expected,
        remedy="take the result apart where the embedding is called, then it is checked",
        status="note",
    )


def _lacking(model: str, name: str, function: str, module: adapter.Module) -> Finding:
    near = difflib.get_close_matches(function, module.bindings, n=1)
    imported = "" if module.name == name else f", from which {name} imports it"
    return Finding(
        "return-arity",
        model,
        f"the module {module.name} has no {function}{imported}"
        + (f", did you mean {near[0]}?" if near else ""),
        flag=f"--spec {name} {function}",
        remedy="correct --spec in the definition, training does not find it either",
    )


def _results(count: int) -> str:
    return NUMBERS.get(count, f"{count} results")


def _relative(path: Path, root: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name
