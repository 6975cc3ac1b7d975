"""The source of the adapter that ``--spec`` names, found in the project."""

from __future__ import annotations

import ast
import functools
import warnings
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ropecontract import reading
from pytest_ropecontract.contracts.arity.containers import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

SPEC_LENGTH = 2
SIZE_LIMIT = 4 * 1024 * 1024
MODULE_LIMIT = 100
"""Modules that are followed from an adapter, those that are nearest to it first."""
MEGATRON = "megatron"
EVALUATES = frozenset({"exec", "eval", "__getattr__", "vars", "locals", "globals"})
"""What a module mentions that may bind a name which is not written in it."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Module:
    """A module of the project, parsed.

    Attributes:
        name: Its dotted name.
        path: Its file.
        tree: Its syntax tree.
        package: Whether it is the ``__init__.py`` of a package.
    """

    name: str
    path: Path
    tree: ast.Module
    package: bool = False

    @functools.cached_property
    def bindings(self) -> Mapping[str, Sequence[ast.stmt]]:
        """The statements that bind the names of the module: under a condition, several."""
        bound: dict[str, list[ast.stmt]] = {}
        for node in _statements(self.tree.body):
            for name in _bound_by(node):
                bound.setdefault(name, []).append(node)
        return bound

    @functools.cached_property
    def imports(self) -> Mapping[str, tuple[str, str]]:
        """The names that are imported from a module: that module, and the name in it."""
        return {
            alias.asname or alias.name: (_absolute(self, node), alias.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if alias.name != "*"
        }

    @functools.cached_property
    def imported_modules(self) -> Mapping[str, str]:
        """The names that stand for a module: that module. A dotted name stands for itself."""
        return {
            alias.asname or alias.name: alias.name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }

    @functools.cached_property
    def may_bind(self) -> frozenset[str]:
        """The names that running the module may bind, in whatever way.

        A text is among them, as in ``globals()["get_spec"]``. What is evaluated may bind any.
        """
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, Definition):
                found.add(node.name)
            elif isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.alias):
                found.add(node.asname or node.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
        return frozenset(found)

    @functools.cached_property
    def star_imports(self) -> Sequence[str]:
        """The modules all of whose names are imported."""
        return [
            _absolute(self, node)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names)
        ]


@dataclass(frozen=True)
class Part:
    """A top-level statement of a module that belongs to an adapter."""

    module: Module
    node: ast.stmt


class UnreadableAdapterError(Exception):
    """The adapter's module is there and cannot be parsed; the text says why."""


class Sources:
    """Parses modules of a project by name, each once.

    Args:
        folders: Where modules are looked for, in order.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)
        self._known: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """Return a module, or None where the project has none of this name.

        Raises:
            UnreadableAdapterError: Its file cannot be read or parsed.
        """
        if name not in self._known:
            self._known[name] = self._parse(name)
        return self._known[name]

    def _parse(self, name: str) -> Module | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return None
        for folder in self.folders:
            base = folder.joinpath(*parts)
            for path in (base / "__init__.py", base.with_name(f"{base.name}.py")):
                if path.is_file():
                    return Module(name, path, _tree(path), path.name == "__init__.py")
        return None


def _tree(path: Path) -> ast.Module:
    try:
        # Training shows what Python warns of in a module; as errors they would be of its syntax.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(reading.read(path, SIZE_LIMIT))
    except reading.TooLargeError:
        raise UnreadableAdapterError(f"{path.name} is too large") from None
    except SyntaxError as error:
        raise UnreadableAdapterError(
            f"{path.name}:{error.lineno or 0} is not Python: {error.msg}"
        ) from None
    except (reading.NotAFileError, OSError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableAdapterError(f"{path.name} cannot be read: {error}") from None


def named(spec: object) -> tuple[str, str] | None:
    """Return the module and the function that a value of ``--spec`` names, or None."""
    if not isinstance(spec, list | tuple) or len(spec) != SPEC_LENGTH:
        return None
    module, function = spec
    if not isinstance(module, str) or not isinstance(function, str):
        return None
    return module, function


def parts(sources: Sources, module: Module, function: str) -> list[Part]:
    """Return what an adapter consists of: the function, and what it refers to in the project.

    Names are followed through the module, and through ``import`` into other modules of the
    project, but not into Megatron's own, which ask for the rope type themselves. Where the
    module does not define the function by a statement of its own, all of the module belongs
    to it.
    """
    found: dict[int, Part] = {}
    wanted = deque([(module, function)])
    if not {function} & {*module.bindings, *module.imports} and not module.star_imports:
        wanted = deque((module, name) for name in module.bindings)
    seen: set[tuple[str, str]] = set()
    followed = {module.name}
    while wanted:
        owner, name = wanted.popleft()
        if (owner.name, name) in seen:
            continue
        seen.add((owner.name, name))
        nodes = owner.bindings.get(name, ())
        for node in nodes:
            found.setdefault(id(node), Part(owner, node))
            wanted.extend((owner, used) for used in _names(node))
        for origin, original in () if nodes else _origins(owner, name):
            if not _is_followed(origin, module, followed):
                continue
            imported = sources.module(origin)
            if imported is not None:
                followed.add(origin)
                wanted.append((imported, original))
    return list(found.values())


def lacking(sources: Sources, module: Module, function: str) -> Module | None:
    """Return the module that should have a function and certainly has not, or None.

    That is the adapter's own, or one of the project that it imports the function from.
    """
    seen: set[tuple[str, str]] = set()
    while (module.name, function) not in seen:
        seen.add((module.name, function))
        if function not in module.imports or function in module.bindings:
            break
        origin, function = module.imports[function]
        inner = sources.module(origin)
        if inner is None or sources.module(f"{origin}.{function}") is not None:
            return None
        module = inner
    anything = bool(module.star_imports) or not module.may_bind.isdisjoint(EVALUATES)
    return None if anything or function in module.may_bind else module


def _origins(module: Module, name: str) -> Iterator[tuple[str, str]]:
    """Yield the modules that a name, which may be dotted, may come from, with its name there."""
    if name in module.imports:
        yield module.imports[name]
        return
    head, _, last = name.rpartition(".")
    if not head:
        yield from ((one, name) for one in module.star_imports)
    elif head in module.imported_modules:
        yield module.imported_modules[head], last
    elif head in module.imports:
        package, inner = module.imports[head]
        yield f"{package}.{inner}" if package else inner, last


def _bound_by(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module binds."""
    if isinstance(node, Definition):
        return [node.name]
    targets: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those under ``if`` and ``try``."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handlers = [one for handler in node.handlers for one in handler.body]
            yield from _statements([*node.body, *handlers, *node.orelse, *node.finalbody])


def _names(node: ast.AST) -> set[str]:
    """Return the names in a statement, those of attributes with what they are of."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    dotted = (place_of(one) for one in ast.walk(node) if isinstance(one, ast.Attribute))
    return found.union(one for one in dotted if one is not None)


def _is_followed(name: str, adapter: Module, followed: set[str]) -> bool:
    """Return whether names are followed into a module."""
    if name in followed:
        return True
    top = name.partition(".")[0]
    foreign = top == MEGATRON and adapter.name.partition(".")[0] != MEGATRON
    return bool(name) and not foreign and len(followed) < MODULE_LIMIT


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    kept = module.name.split(".") if node.level else []
    drop = node.level - (1 if module.package else 0)
    inner = [] if node.module is None else [node.module]
    return ".".join([*kept[: len(kept) - drop], *inner])
