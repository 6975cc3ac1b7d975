"""The rule ``return-arity``."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, NamedTuple

from pytest_ropecontract.contracts.arity import adapter, unpacking
from pytest_ropecontract.contracts.arity.guards import SELECTORS, Facts
from pytest_ropecontract.contracts.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_ropecontract.rope.resolution import Resolution, Source

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
    built = _built(model, resolution)
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
    facts = Facts(_selectors(resolution, built), built.rotary_class, built.returns)
    found = unpacking.find(parts, facts)
    return tuple(
        _finding(
            model,
            f"{_relative(one.module.path, root)}:{one.line}",
            one.expected,
            one.returned,
            built,
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
    built = _built(model, resolution)
    if built.returns == unpacks:
        return ()
    return (_finding(model, "its registration", unpacks, built.returns, built),)


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


class _Built(NamedTuple):
    """What is built of the embedding."""

    rotary_class: str
    returns: int
    attention: str
    kind: str
    source: Source
    """Where the kind comes from."""


def _built(model: str, resolution: Resolution) -> _Built:
    rope = resolution.rope
    if rope is None or rope.rotary_class is None or rope.returns is None:
        raise NotCheckedError(f"no rotary embedding is built for {model}")
    source = resolution.sources["kind"]
    return _Built(rope.rotary_class, rope.returns, rope.attention, rope.kind, source)


def _selectors(resolution: Resolution, built: _Built) -> dict[str, object]:
    namespace = resolution.parsed.namespace
    selectors = {name: namespace[name] for name in SELECTORS if name in namespace}
    if built.attention == "mla":
        selectors["rope_type"] = built.kind  # where it is None, the config class decides
    return selectors


def _finding(model: str, place: str, expected: int, returned: int, built: _Built) -> Finding:
    return Finding(
        "return-arity",
        model,
        f"{place} takes {_results(expected)} from the rotary embedding, and {built.rotary_class} "
        f"returns {_results(returned)} (kind {built.kind}: {built.source.text})",
        field="returns",
        expected=expected,
        actual=returned,
        origin=built.source.origin,
        source=built.source.text,
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
    near = difflib.get_close_matches(function, module.bindings)
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
