"""The package reads from left to right, and what may be imported where."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import pytest_ropecontract

NAME = pytest_ropecontract.__name__
ROOT = Path(pytest_ropecontract.__file__).parent

# The parts of the package from left to right: each imports from those before it alone.
ORDER = (
    *("errors", "processes", "answers", "paths", "reading", "writing"),
    *("definitions", "megatron", "rope", "contracts", "omission"),
    *("launchers", "snapshots", "upgrade", "project", "hub", "project_launchers", "launch"),
    *("runs", "options", "ini", "settings", "hooked", "uncollected", "collection"),
    *("arguments", "owners", "strategies", "marks", "fixture_types", "fixtures"),
    *("report", "suite", "session", "startup", "hookspecs", "plugin", "cli"),
)
# The parts that know of a library.
KNOWS = {
    "pytest": ORDER[ORDER.index("runs") :],
    "pluggy": (),
    "hypothesis": ("omission", "strategies", "fixture_types"),
    "syrupy": ("snapshots", "suite"),
    "landlockpy": ("launchers",),
    "tree_sitter": ("launchers",),
    "tree_sitter_bash": ("launchers",),
    "huggingface_hub": ("hub",),
    "jinja2": ("report",),
    "vl_convert": ("report",),
}


class Import(NamedTuple):
    """What a module imports: the imported module, and whether only types are needed."""

    module: str
    typing: bool
    top: bool


def parts(path: Path) -> str:
    """Return the part of the package that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def module_name(path: Path) -> str:
    inner = path.relative_to(ROOT).with_suffix("").parts
    return ".".join((NAME, *inner)).removesuffix(".__init__")


FILES = sorted(ROOT.rglob("*.py"))
MODULES = {module_name(path): path for path in FILES}


class _Finder(ast.NodeVisitor):
    """Finds the imports of a file."""

    def __init__(self) -> None:
        self.found: list[Import] = []
        self._typing = False
        self._inside = 0

    def visit_If(self, node: ast.If) -> None:
        before = self._typing
        self._typing = before or (
            isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        )
        for child in node.body:
            self.visit(child)
        self._typing = before
        for child in node.orelse:
            self.visit(child)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside += 1
        self.generic_visit(node)
        self._inside -= 1

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level:
            pytest.fail(f"line {node.lineno} has a relative import")
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            self._add(inner if inner in MODULES else str(node.module))

    def _add(self, module: str) -> None:
        self.found.append(Import(module, self._typing, self._inside == 0))


def imports(path: Path) -> list[Import]:
    finder = _Finder()
    finder.visit(ast.parse(path.read_text(encoding="utf-8")))
    return finder.found


def own(found: list[Import]) -> list[Import]:
    return [one for one in found if one.module == NAME or one.module.startswith(f"{NAME}.")]


every_file = pytest.mark.parametrize(
    "path", FILES, ids=[path.relative_to(ROOT).as_posix() for path in FILES]
)
every_part_but_the_root = pytest.mark.parametrize(
    "path",
    [path for path in FILES if path != ROOT / "__init__.py"],
    ids=[path.relative_to(ROOT).as_posix() for path in FILES if path != ROOT / "__init__.py"],
)


@every_part_but_the_root
def test_imports_go_from_right_to_left(path: Path) -> None:
    here = parts(path)
    assert here in ORDER, "a new part needs its place"

    for one in own(imports(path)):
        if one.typing:
            continue
        there = one.module.removeprefix(f"{NAME}.").partition(".")[0]
        assert there == here or there in ORDER[: ORDER.index(here)], one.module


def test_package_itself_imports_nothing_of_its_own() -> None:
    assert [one for one in own(imports(ROOT / "__init__.py")) if not one.typing] == []


def test_no_cycles() -> None:
    graph = {
        name: {one.module for one in own(imports(path)) if one.top and not one.typing} - {name}
        for name, path in MODULES.items()
    }
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            pytest.fail(" -> ".join((*way[way.index(name) :], name)))
        if name not in done:
            for other in sorted(graph.get(name, ())):
                visit(other, (*way, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@every_part_but_the_root
def test_libraries_are_known_where_they_belong(path: Path) -> None:
    for one in imports(path):
        top = one.module.partition(".")[0]
        if top in KNOWS and not one.typing:
            assert parts(path) in KNOWS[top], f"{parts(path)} knows of {top}"


@every_file
def test_nothing_else_is_needed(path: Path) -> None:
    allowed = {NAME, *KNOWS, *sys.stdlib_module_names}

    assert {one.module.partition(".")[0] for one in imports(path)} <= allowed


OPTIONAL = ("jinja2", "vl_convert")
HTML = f"{NAME}.report.html"


@every_file
def test_what_an_extra_brings_is_imported_by_what_needs_it_alone(path: Path) -> None:
    if module_name(path).startswith(f"{HTML}."):
        return
    for one in imports(path):
        assert one.module.partition(".")[0] not in OPTIONAL
        assert not (one.top and one.module.startswith(f"{HTML}.")), "it needs the extra"


@every_file
def test_no_private_modules_of_pytest_and_pluggy(path: Path) -> None:
    for one in imports(path):
        assert not one.module.startswith(("_pytest", "pluggy._")), one.module


@every_file
def test_no_assert_in_the_package(path: Path) -> None:
    """Asserts of a plugin are rewritten inside of pytest, and gone under ``-O``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))

    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)] == []


@every_file
def test_no_fixture_that_nobody_asked_for(path: Path) -> None:
    assert "autouse" not in path.read_text(encoding="utf-8")
