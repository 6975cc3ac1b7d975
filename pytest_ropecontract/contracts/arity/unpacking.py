"""Where the result of a rotary embedding is taken apart, for what is built.

The statements of every function are followed in order, with what names, attributes, lists and
dicts hold of results. A branch that the built embedding
does not take is left out, and so is everything after a ``return`` that it does. A condition
that says nothing about the embedding leaves both of its branches in.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from pytest_ropecontract.contracts.arity import guards
from pytest_ropecontract.contracts.arity.containers import (
    ANY,
    Containers,
    Content,
    key_of,
    place_of,
)
from pytest_ropecontract.contracts.arity.guards import CLASS_RETURNS, Facts, last_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_ropecontract.contracts.arity.adapter import Module, Part

# Under this name Megatron's attention holds its embedding.
INHERITED = "rotary_pos_emb"
Function = ast.FunctionDef | ast.AsyncFunctionDef
_Loop = ast.For | ast.AsyncFor | ast.While
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


@dataclass(frozen=True)
class Unpacking:
    """A place where a result is taken apart.

    Attributes:
        module: The module that it is in.
        line: Its line.
        expected: How many results are taken.
        returned: How many there are, or None where that could not be read.
    """

    module: Module
    line: int
    expected: int
    returned: int | None


def find(parts: Sequence[Part], facts: Facts) -> list[Unpacking]:
    """Return the places that take another number of results than there are, or than can be read."""
    functions = _Functions(parts)
    builders = {
        one.node.name
        for one in functions.mentioning(CLASS_RETURNS)
        if _constructed(one.node, facts)
    }
    held = _held(parts, builders) | {INHERITED}
    facts = dataclasses.replace(facts, rotary=facts.rotary | held, bound=_bound_once(parts))
    facts = _constructed_instead(parts, functions, facts, builders)
    wrappers = _wrappers(functions, facts)
    found: dict[tuple[str, int], Unpacking] = {}
    elsewhere = _kept_in_attributes(parts, functions, facts, wrappers)
    attributes = {name.rpartition(".")[2] for name in elsewhere.names}
    wanted = deque(
        (one, _NOTHING) for one in functions.mentioning({*facts.rotary, *wrappers, *attributes})
    )
    seen: set[tuple[str, _Given]] = set()
    while wanted:
        one, given = wanted.popleft()
        walk = _Walk(facts, wrappers, given, elsewhere)
        walk.function(one.node)
        for line, expected, returned in walk.mismatches:
            place = Unpacking(one.module, line, expected, returned)
            known = found.setdefault((one.module.name, line), place)
            if known.returned is None:
                found[one.module.name, line] = place
        for name, handed in walk.handed:
            if name in functions.defined and (name, handed) not in seen:
                seen.add((name, handed))
                wanted.append((functions.defined[name], handed))
    return sorted(found.values(), key=lambda one: (one.module.name, one.line))


@dataclass(frozen=True)
class _Given:
    """What a function is called with.

    Attributes:
        results: Parameters that hold the result of an embedding, with how many there are.
        embeddings: Parameters that hold an embedding.
    """

    results: tuple[tuple[int | str, int], ...] = ()
    embeddings: tuple[int | str, ...] = ()

    def named(self, node: Function) -> tuple[dict[str, int], set[str]]:
        """Return both by the names that a function gives them."""
        names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        if names[:1] in (["self"], ["cls"]):
            del names[0]

        def name(key: int | str) -> str:
            return key if isinstance(key, str) else (names[key] if key < len(names) else "")

        counts = {name(key): count for key, count in self.results}
        return counts, {name(key) for key in self.embeddings}


_NOTHING = _Given()


@dataclass(frozen=True)
class _Defined:
    """A function of an adapter, with the identifiers that it mentions."""

    module: Module
    node: Function
    mentions: frozenset[str]


class _Functions:
    """The functions of an adapter, with those inside of other functions and classes.

    A lambda that is given a name is one of them.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.all = [
            _Defined(part.module, function, _identifiers(function))
            for part in parts
            for node in ast.walk(part.node)
            for function in _defined_by(node)
        ]
        self.named: dict[str, list[_Defined]] = {}
        for one in self.all:
            self.named.setdefault(one.node.name, []).append(one)
        self.defined = {name: same[-1] for name, same in self.named.items()}

    def mentioning(self, names: Iterable[str]) -> list[_Defined]:
        """Return those that mention one of some names; no other has to be followed."""
        wanted = frozenset(names)
        return [one for one in self.all if not wanted.isdisjoint(one.mentions)]


def _defined_by(node: ast.AST) -> Iterator[Function]:
    """Yield the functions that a statement gives a name."""
    if isinstance(node, Function):
        yield node
    for name, value in _named_lambdas(node):
        body = ast.copy_location(ast.Return(value.body), value.body)
        yield ast.copy_location(ast.FunctionDef(name, value.args, [body], []), value)


def _named_lambdas(node: ast.AST) -> Iterator[tuple[str, ast.Lambda]]:
    """Yield the lambdas to which a node gives a name, as the default of a parameter, too."""
    pairs: list[tuple[ast.expr, ast.expr | None]] = []
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        pairs = [(node.target, node.value)]
    elif isinstance(node, ast.arguments):
        named = [*node.posonlyargs, *node.args]
        defaults = zip(reversed(named), reversed(node.defaults), strict=False)
        for parameter, value in (
            *defaults,
            *zip(node.kwonlyargs, node.kw_defaults, strict=True),
        ):
            pairs.append((ast.Name(parameter.arg), value))
    for target, value in pairs:
        inner = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            inner = [*zip(target.elts, value.elts, strict=False)]
        for one, lambda_ in inner:
            name = last_name(one)
            if name is not None and isinstance(lambda_, ast.Lambda):
                yield name, lambda_


def _identifiers(node: ast.AST) -> frozenset[str]:
    names = {name for one in ast.walk(node) if (name := last_name(one)) is not None}
    # An attribute may be named by a text.
    texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
    return frozenset(names.union(one for one in texts if isinstance(one, str)))


def _held(parts: Sequence[Part], builders: set[str]) -> set[str]:
    """Return the names to which an embedding is assigned."""
    made = {*CLASS_RETURNS, *builders}
    return {
        name
        for part in parts
        for node in ast.walk(part.node)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if (name := last_name(target)) is not None and _makes(node.value, made)
    }


def _bound_once(parts: Sequence[Part]) -> dict[str, ast.expr]:
    """Return what the constants of modules and the attributes of ``self`` are bound to.

    One that is bound to several things may be any of them, and is left out.
    """
    found: dict[str, list[ast.expr]] = {}
    for part in parts:
        for node in ast.walk(part.node):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute):
                    found.setdefault(f".{target.attr}", []).append(node.value)
                elif isinstance(target, ast.Name) and node is part.node:
                    found.setdefault(target.id, []).append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _makes(value: ast.expr, made: set[str]) -> bool:
    if isinstance(value, ast.IfExp):
        return _makes(value.body, made) or _makes(value.orelse, made)
    return isinstance(value, ast.Call) and last_name(value.func) in made


def _constructed(node: Function, facts: Facts) -> set[str]:
    """Return the classes that a function returns an embedding of."""
    walk = _Walk(facts, {})
    walk.function(node)
    called = {name for value in walk.returned for name in _called_names(value, walk.facts)}
    return called & CLASS_RETURNS.keys()


def _constructed_instead(
    parts: Sequence[Part], functions: _Functions, facts: Facts, builders: set[str]
) -> Facts:
    """Return what is known where the adapter itself constructs an embedding.

    Where it constructs none, or several, or leaves that open, it is the class that Megatron
    builds.
    """
    called: set[str] = set()
    for part in parts:
        body = part.node.body if isinstance(part.node, ast.ClassDef) else [part.node]
        for node in body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                called |= _called_names(node.value, facts)
    for one in functions.mentioning({*CLASS_RETURNS, *builders}):
        walk = _Walk(facts, {})
        walk.function(one.node)
        for value in walk.assigned:
            called |= _called_names(value, walk.facts)
    classes = called & CLASS_RETURNS.keys()
    for name in called & builders:
        classes |= _constructed(functions.defined[name].node, facts)
    if len(classes) == 1:
        facts = dataclasses.replace(facts, rotary_class=min(classes))
    counts = {CLASS_RETURNS[name] for name in classes}
    return dataclasses.replace(facts, returns=counts.pop()) if len(counts) == 1 else facts


def _called_names(value: ast.expr, facts: Facts) -> set[str]:
    """Return the last names of what an expression may be a call of."""
    calls = (one for one in _options(value, facts) if isinstance(one, ast.Call))
    return {name for call in calls if (name := last_name(call.func)) is not None}


def _options(value: ast.expr, facts: Facts) -> Iterator[ast.expr]:
    """Yield what an expression may be, without the branches that are not taken."""
    if not isinstance(value, ast.IfExp):
        yield value
        return
    decided = guards.holds(value.test, facts)
    if decided is not False:
        yield from _options(value.body, facts)
    if decided is not True:
        yield from _options(value.orelse, facts)


def _wrappers(functions: _Functions, facts: Facts) -> dict[str, int]:
    """Return the functions that hand on the result of an embedding, with their own count."""
    wrappers: dict[str, int] = {}
    for _ in functions.all:  # each may hand on what another one does
        known = dict(wrappers)
        mentioning = functions.mentioning({*facts.rotary, *wrappers})
        for name in dict.fromkeys(one.node.name for one in mentioning):
            if name in facts.rotary:
                continue
            # A name that several functions have stands for any of them.
            counts = {_handed_on(one.node, facts, wrappers) for one in functions.named[name]}
            count = max(counts) if len(counts) == 1 else 0
            if count:
                wrappers[name] = count
        if wrappers == known:
            break
    return wrappers


def _handed_on(node: Function, facts: Facts, wrappers: dict[str, int]) -> int:
    """Return how many results of an embedding a function returns, alone or with others, or 0."""
    walk = _Walk(facts, wrappers)
    walk.function(node)
    counts = set()
    for value in walk.returned:
        for option in _options(value, walk.facts):
            if isinstance(option, ast.Tuple):
                counts.add((len(option.elts), False))
            else:
                counts.add((walk.count(option) or 0, walk.is_result(option)))
    hands_on = any(result for _, result in counts)
    distinct = {count for count, _ in counts}
    return distinct.pop() if hands_on and len(distinct) == 1 else 0


class _Walk:
    """Follows the statements of one function."""

    def __init__(
        self,
        facts: Facts,
        wrappers: dict[str, int],
        given: _Given = _NOTHING,
        kept: Containers | None = None,
    ) -> None:
        self.kept = Containers() if kept is None else kept.copy()
        results = frozenset(name.rpartition(".")[2] for name in self.kept.names)
        facts = dataclasses.replace(facts, results=facts.results | results)
        self.facts = facts
        self.given = given
        self.wrappers = wrappers
        self.counts: dict[str, int] = {}
        self.embeddings: set[str] = set()
        self.mismatches: list[tuple[int, int, int | None]] = []
        self.stored: set[ast.AST] = set()
        self.returned: list[ast.expr] = []
        self.assigned: list[ast.expr] = []
        self.handed: list[tuple[str, _Given]] = []

    def function(self, node: Function) -> None:
        """Follow a function from its first statement."""
        self.counts, self.embeddings = self.given.named(node)
        results = self.facts.results | self.counts.keys()
        self.facts = dataclasses.replace(self.facts, results=results)
        self._block(node.body)

    def count(self, value: ast.expr) -> int | None:
        """Return how many results an expression holds, or None where it holds none."""
        value = _inner(value)
        if isinstance(value, ast.Name):
            return self.counts.get(value.id)
        if isinstance(value, ast.Call) and (found := self._called(value.func, value)) is not None:
            return found
        if isinstance(value, ast.Call) and (iterable := _transposed(value)) is not None:
            return self._each(iterable)
        return self.kept.read(value)

    def _is_unread(self, value: ast.expr) -> bool:
        """Return whether an expression may be a result, but cannot be told to be one."""
        value = _inner(value)
        if isinstance(value, ast.Call) and (iterable := _transposed(value)) is not None:
            return self._touches(iterable)
        return self.kept.is_open(value)

    def _touches(self, value: ast.AST) -> bool:
        """Return whether something in an expression is a result, or holds some."""
        return any(
            isinstance(one, ast.expr)
            and (self.is_result(one) or self.is_embedding(one) or self.kept.holds(one))
            for one in ast.walk(value)
        )

    def _called(self, function: ast.expr, call: ast.Call | None = None) -> int | None:
        """Return how many results of an embedding a call of something returns, or None."""
        if isinstance(function, ast.Lambda):
            with self._inside(function.args):
                self._bind_parameters(function, call)
                return self.count(function.body)
        if self.is_embedding(function):
            return self.facts.returns
        if isinstance(function, ast.Call | ast.Subscript):
            if _is_partial(function):
                return self._called(function.args[0])
            return self.kept.read(function, called=True)
        name = last_name(function)
        if name in ("forward", "__call__") and isinstance(function, ast.Attribute):
            return self.facts.returns if self.is_embedding(function.value) else None
        return None if name is None else self.wrappers.get(name)

    def is_embedding(self, value: ast.expr) -> bool:
        """Return whether an expression is the embedding itself."""
        if isinstance(value, ast.Name):
            # A local of the inherited name is a table of angles, unless it is bound here.
            held = value.id in self.facts.rotary and value.id != INHERITED
            return held or value.id in self.embeddings
        if isinstance(value, ast.Call) and last_name(value.func) == "getattr":
            key = value.args[1] if len(value.args) > 1 else None
            return isinstance(key, ast.Constant) and key.value in self.facts.rotary
        return last_name(value) in self.facts.rotary

    def is_result(self, value: ast.expr) -> bool:
        """Return whether an expression is the result of an embedding."""
        return self.count(value) is not None

    def _each(self, iterable: ast.expr) -> int | None:
        """Return how many results every element holds of what is gone over, or None."""
        iterable = _inner(iterable)
        if isinstance(iterable, ast.Call):
            if last_name(iterable.func) == "map" and iterable.args:
                return self._called(iterable.args[0])
            if last_name(iterable.func) in _SAME_ELEMENTS and iterable.args:
                return self._each(iterable.args[-1])
        if isinstance(iterable, ast.Tuple | ast.List | ast.Set):
            counts = {self.count(one) or 0 for one in iterable.elts}
            return max(counts) or None if len(counts) == 1 else None
        if not isinstance(iterable, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return self.kept.each(iterable)
        with self._inside():
            return self.count(iterable.elt) if self._generated(iterable.generators) else None

    def _block(self, body: Iterable[ast.stmt]) -> bool:
        """Follow statements, and return whether the function goes on after them."""
        return all(self._statement(node) for node in body)

    def _statement(  # noqa: C901, PLR0911, PLR0912  # one case for every kind of statement
        self, node: ast.stmt
    ) -> bool:
        if isinstance(node, ast.If):
            return self._branches(node)
        if isinstance(node, ast.Match):
            return self._cases(node)
        if isinstance(node, ast.Try | ast.TryStar):
            return self._tried(node)
        if isinstance(node, ast.With | ast.AsyncWith):
            return self._block(node.body)
        if isinstance(node, _Loop):
            self._heading(node)
            self._block(node.body)
            return self._block(node.orelse)
        if isinstance(node, Function | ast.ClassDef):
            return True  # followed on its own
        if isinstance(node, ast.Return):
            if node.value is not None:
                self._expression(node.value)
                self.returned.append(node.value)
            return False
        if isinstance(node, ast.Raise | ast.Break | ast.Continue):
            return not isinstance(node, ast.Raise)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            self._assignment(node)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child)
        return True

    def _heading(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        """Follow what a loop goes over."""
        if isinstance(node, ast.While):
            self._expression(node.test)
            return
        self._expression(node.iter)
        self._bind_each(node.target, node.iter)

    def _branches(self, node: ast.If) -> bool:
        self._expression(node.test)
        decided = guards.holds(node.test, self.facts)
        if decided is not None:
            return self._block(node.body if decided else node.orelse)
        if guards.asks_about(node.test, self.facts):
            self._looked_at(node)
            return True
        before, known, kept = dict(self.counts), len(self.mismatches), self.kept.copy()
        goes_on = self._block(node.body)
        after, self.counts = self.counts, before
        after_kept, self.kept = self.kept, kept
        between = len(self.mismatches)
        other = self._block(node.orelse)
        self.counts = {**after, **self.counts}
        self.kept = self.kept.either(after_kept)
        self._weigh(known, between, node.body, node.orelse)
        return goes_on or other

    def _weigh(
        self, known: int, between: int, body: Sequence[ast.AST], orelse: Sequence[ast.AST]
    ) -> None:
        """Forget what is wrong in one of two branches where the other takes what there is.

        The condition is about that, in the adapter's own way.
        """
        wrong = (between > known, len(self.mismatches) > between)
        if any(wrong) and not all(wrong) and self._takes(body) and self._takes(orelse):
            del self.mismatches[known:]

    def _looked_at(self, node: ast.If) -> None:
        """Forget the results that a condition asks about, and those that change under it.

        The code looks at what it got, and what is in them after that is not known.
        """
        before, known, kept = dict(self.counts), len(self.mismatches), self.kept.copy()
        self._block([*node.body, *node.orelse])
        del self.mismatches[known:]
        asked = _identifiers(node.test)
        self.kept = kept.without(asked, self.kept)
        self.counts = {
            name: count
            for name, count in before.items()
            if self.counts.get(name) == count and name not in asked
        }

    def _takes(self, body: Sequence[ast.AST]) -> bool:
        """Return whether statements, or an expression, take the result of an embedding."""
        nodes = (one for statement in body for one in ast.walk(statement))
        return any(isinstance(one, ast.expr) and self.is_result(one) for one in nodes)

    def _cases(self, node: ast.Match) -> bool:
        goes_on = False
        for case in node.cases:
            decided = guards.matches(node.subject, case.pattern, self.facts)
            if case.guard is not None and decided:
                decided = guards.holds(case.guard, self.facts)
            if decided is False:
                continue
            goes_on = self._block(case.body) or goes_on
            if decided:
                return goes_on
        return True

    def _tried(self, node: ast.Try | ast.TryStar) -> bool:
        caught = {
            guards.last_name(one)
            for handler in node.handlers
            for one in (
                handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            )
            if one is not None
        }
        bare = any(handler.type is None for handler in node.handlers)
        if bare or caught & {"ValueError", "TypeError", "Exception", "BaseException"}:
            # A wrong number of results raises ValueError, and that is dealt with.
            return self._block(node.finalbody)
        goes_on = self._block([*node.body, *node.orelse])
        for handler in node.handlers:
            goes_on = self._block(handler.body) or goes_on
        return self._block(node.finalbody) and goes_on

    def _assignment(self, node: ast.Assign | ast.AnnAssign) -> None:
        if node.value is None:
            return
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        self._expression(node.value)
        self.assigned.append(node.value)
        for value in _options(node.value, self.facts):
            for target in targets:
                self._bind(target, value, node.value)

    def _bind_each(self, target: ast.expr, iterable: ast.expr) -> None:
        """Bind a target to the elements of what is gone over."""
        if isinstance(iterable, ast.Tuple | ast.List | ast.Set) and iterable.elts:
            for one in iterable.elts:
                self._bind(target, one, one)
            return
        if (beside := _beside(target, iterable)) is not None:
            self._forget(_identifiers(target))
            for one, inner in beside:
                self._bind_each(one, inner)
            return
        count = self._each(iterable)
        unread = count is None and self._leaves_open(iterable)
        self._forget(_identifiers(target))
        if count is not None:
            self._hold(target, count)
        elif unread and isinstance(target, ast.Tuple | ast.List):
            self.mismatches.append((target.lineno, len(target.elts), None))

    def _leaves_open(self, iterable: ast.expr) -> bool:
        """Return whether some elements may be results, but cannot be told to be."""
        iterable = _inner(iterable)
        if isinstance(iterable, ast.Call) and last_name(iterable.func) in _OTHER_ELEMENTS:
            return self._touches(iterable)
        return self.kept.is_open_each(iterable)

    def _bind(self, target: ast.expr, value: ast.expr, whole: ast.expr) -> None:
        count = self.count(value)
        if isinstance(target, ast.Tuple | ast.List):
            self._bind_parts(target, value, count)
            return
        if isinstance(target, ast.Subscript):
            called = self._called(value)
            self._kept(
                target, self.kept.store(place_of(target.value), key_of(target.slice), count, called)
            )
            return
        contents = self._contents(value)
        is_embedding = self.is_embedding(value)
        if isinstance(target, ast.Name):
            self._forget({target.id})
        self._kept(target, self.kept.bind(target, count, contents))
        if not isinstance(target, ast.Name):
            return
        if count is not None:
            self._hold(target, count)
        if is_embedding:
            self.embeddings.add(target.id)
        bound = {**self.facts.bound, target.id: whole}
        self.facts = dataclasses.replace(self.facts, bound=bound)

    def _bind_parts(self, target: ast.Tuple | ast.List, value: ast.expr, count: int | None) -> None:
        """Bind targets to the parts of a value that holds so many results, or none."""
        if count is not None:
            self._taken_apart(target, count)
        elif isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            for one, inner in zip(target.elts, value.elts, strict=True):
                self._bind(one, inner, inner)
        elif self._is_unread(value):
            self.mismatches.append((target.lineno, len(target.elts), None))

    def _kept(self, node: ast.AST, name: str | None) -> None:
        """Remember which statement lets a container, or an attribute, hold a result."""
        if name is not None:
            self.stored.add(node)
            results = self.facts.results | {name.rpartition(".")[2]}
            self.facts = dataclasses.replace(self.facts, results=results)

    def _contents(self, value: ast.expr) -> Content | None:
        """Return what a list or a dict holds, and None of anything else."""
        pairs: list[tuple[object, ast.expr]]
        if isinstance(value, ast.Dict):
            pairs = [(key_of(key), one) for key, one in zip(value.keys, value.values, strict=True)]
        elif isinstance(value, ast.Call) and last_name(value.func) == "dict" and not value.args:
            pairs = [(one.arg or ANY, one.value) for one in value.keywords]
        elif isinstance(value, ast.Tuple | ast.List):
            starred = any(isinstance(one, ast.Starred) for one in value.elts)
            pairs = [(ANY if starred else at, one) for at, one in enumerate(value.elts)]
        elif isinstance(value, ast.DictComp):
            with self._inside():
                known = self._generated(value.generators)
                return Content({ANY: self.count(value.value) if known else None})
        elif (known_as := self.kept.of(value)) is not None:
            return known_as
        else:
            count = self._each(value)
            return None if count is None else Content({ANY: count}, ordered=True)
        elements = [(key, self.count(one), self._called(one)) for key, one in pairs]
        return Content.of(elements, ordered=isinstance(value, ast.Tuple | ast.List))

    def _hold(self, target: ast.expr, count: int) -> None:
        """Let a target hold the result of an embedding, or take it apart."""
        if isinstance(target, ast.Tuple | ast.List):
            self._taken_apart(target, count)
        elif isinstance(target, ast.Name):
            self.counts[target.id] = count
            results = self.facts.results | {target.id}
            self.facts = dataclasses.replace(self.facts, results=results)

    def _forget(self, names: Iterable[str]) -> None:
        """Forget what names hold: they are bound to something else."""
        gone = frozenset(names)
        self.counts = {name: count for name, count in self.counts.items() if name not in gone}
        self.embeddings -= gone
        self.kept.forget(gone)
        bound = {name: value for name, value in self.facts.bound.items() if name not in gone}
        results = self.facts.results - gone
        self.facts = dataclasses.replace(self.facts, results=results, bound=bound)

    @contextlib.contextmanager
    def _inside(self, parameters: ast.arguments | None = None) -> Iterator[None]:
        """Follow what has names of its own; outside of it they stand for what they did."""
        before = dict(self.counts), set(self.embeddings), self.facts, self.kept.copy()
        if parameters is not None:
            self._forget(one.arg for one in ast.walk(parameters) if isinstance(one, ast.arg))
        try:
            yield
        finally:
            self.counts, self.embeddings, self.facts, self.kept = before

    def _bind_parameters(self, function: ast.Lambda, call: ast.Call | None) -> None:
        """Bind the parameters of a lambda that is called where it is written."""
        if call is None or any(isinstance(one, ast.Starred) for one in call.args):
            return
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        given = [*zip(names, call.args, strict=False)]
        given += [(one.arg, one.value) for one in call.keywords if one.arg is not None]
        for name, value in given:
            self._bind(ast.Name(name), value, value)

    def _taken_apart(self, target: ast.Tuple | ast.List, count: int) -> None:
        wanted = len(target.elts)
        starred = any(isinstance(one, ast.Starred) for one in target.elts)
        fits = count >= wanted - 1 and count > 1 if starred else count == wanted
        if not fits:
            self.mismatches.append((target.lineno, wanted - starred, count))

    def _expression(self, value: ast.AST) -> None:
        """Look for what is taken apart in an expression: ``rotary(n)[0]``."""
        if isinstance(value, ast.IfExp):
            self._either(value)
        elif isinstance(value, ast.BoolOp):
            self._one_by_one(value)
        elif isinstance(value, ast.Lambda):
            with self._inside(value.args):
                self._expression(value.body)
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Lambda):
            for one in (*value.args, *(keyword.value for keyword in value.keywords)):
                self._expression(one)
            self._spread(value.func, value)
            with self._inside(value.func.args):
                self._bind_parameters(value.func, value)
                self._expression(value.func.body)
        elif isinstance(value, _Comprehension):
            with self._inside():
                if self._generated(value.generators):
                    self._parts(value)
        else:
            self._parts(value)
            self._taken(value)

    def _parts(self, value: ast.AST) -> None:
        for child in ast.iter_child_nodes(value):
            if not isinstance(child, ast.comprehension):
                self._expression(child)

    def _taken(self, node: ast.AST) -> None:
        """Look at one expression, after those inside of it."""
        if isinstance(node, ast.NamedExpr):
            self._bind(node.target, node.value, node.value)
        elif isinstance(node, ast.Call):
            self._hand_on(node)
            self._collect(node)
        # What a function does with a tensor that it is given is its own affair.
        elif isinstance(node, ast.Subscript) and self.given is _NOTHING:
            count, index = self.count(node.value), _index(node.slice)
            if count == 1 and index is not None:
                # One tensor: this is the first position of it, and not an error.
                self.mismatches.append((node.lineno, max(index + 1, 2), count))

    def _collect(self, call: ast.Call) -> None:
        """Remember what is added to a list, or to a dict where it has none yet."""
        if not isinstance(call.func, ast.Attribute) or not call.args:
            return
        key: object = ANY
        if call.func.attr == "setdefault" and len(call.args) > 1:
            key = key_of(call.args[0])
        elif call.func.attr not in ("append", "appendleft", "add"):
            return
        count = self.count(call.args[-1])
        place = place_of(call.func.value)
        self._kept(call, self.kept.store(place, key, count, None, ordered=key is ANY))

    def _spread(self, function: ast.Lambda, call: ast.Call) -> None:
        """Compare the parameters of a lambda with the results that are spread over them."""
        spread = [one.value for one in call.args if isinstance(one, ast.Starred)]
        parameters = function.args
        if len(spread) != 1 or parameters.vararg or parameters.defaults or call.keywords:
            return
        wanted = len(parameters.posonlyargs) + len(parameters.args) - len(call.args) + 1
        count = self.count(spread[0])
        if count is not None and count != wanted:
            self.mismatches.append((call.lineno, wanted, count))

    def _either(self, node: ast.IfExp) -> None:
        self._expression(node.test)
        decided = guards.holds(node.test, self.facts)
        if decided is not None:
            self._expression(node.body if decided else node.orelse)
        elif not guards.asks_about(node.test, self.facts):
            known = len(self.mismatches)
            self._expression(node.body)
            between = len(self.mismatches)
            self._expression(node.orelse)
            self._weigh(known, between, [node.body], [node.orelse])

    def _one_by_one(self, node: ast.BoolOp) -> None:
        """Follow the operands of ``and`` and ``or`` up to the one that ends them."""
        for value in node.values:
            self._expression(value)
            decided = guards.holds(value, self.facts)
            if decided is isinstance(node.op, ast.Or):
                return
            if decided is None and guards.asks_about(value, self.facts):
                return

    def _generated(self, generators: Iterable[ast.comprehension]) -> bool:
        """Follow what a comprehension goes over; return whether its elements are known then."""
        for one in generators:
            self._expression(one.iter)
            self._bind_each(one.target, one.iter)
            for test in one.ifs:
                self._expression(test)
                decided = guards.holds(test, self.facts)
                if decided is False:
                    return False
                if decided is None and guards.asks_about(test, self.facts):
                    return False
        return True

    def _hand_on(self, call: ast.Call) -> None:
        """Remember a call that gets an embedding, or what one returns."""
        given: list[tuple[int | str, ast.expr]] = [
            *enumerate(call.args),
            *((one.arg, one.value) for one in call.keywords if one.arg is not None),
        ]
        counts = ((key, self.count(value)) for key, value in given)
        results = tuple((key, count) for key, count in counts if count is not None)
        embeddings = tuple(key for key, value in given if self.is_embedding(value))
        name = last_name(call.func)
        if name is not None and (results or embeddings):
            self.handed.append((name, _Given(results, embeddings)))


# Of these every element is one of what they are given.
_SAME_ELEMENTS = ("reversed", "iter", "sorted", "filter")
# What these make of the elements is not followed.
_OTHER_ELEMENTS = (
    "zip",
    "zip_longest",
    "chain",
    "starmap",
    "map",
    "product",
    "pairwise",
    "batched",
)


def _transposed(call: ast.Call) -> ast.expr | None:
    """Return what ``zip(*X)``, or ``next(X)``, gives as many of as one element of it holds."""
    name = call.func.id if isinstance(call.func, ast.Name) else None
    if len(call.args) != 1:
        return None
    (argument,) = call.args
    if name == "zip" and isinstance(argument, ast.Starred):
        return argument.value
    return argument if name == "next" else None


def _is_partial(value: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(value, ast.Call) and last_name(value.func) == "partial" and bool(value.args)


def _beside(target: ast.expr, iterable: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """Return which targets go over what, where several things are gone over side by side."""
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(iterable, ast.Call):
        return None
    pair = len(target.elts) == 2  # noqa: PLR2004  # a pair
    name = last_name(iterable.func)
    if pair and name == "enumerate" and iterable.args:
        return [(target.elts[1], iterable.args[0])]
    if pair and name == "items" and isinstance(iterable.func, ast.Attribute):
        values = ast.Attribute(iterable.func.value, "values")
        return [(target.elts[1], ast.Call(values, [], []))]
    spread = any(isinstance(one, ast.Starred) for one in iterable.args)
    if name == "zip" and not spread and len(iterable.args) == len(target.elts):
        return [*zip(target.elts, iterable.args, strict=True)]
    return None


def _kept_in_attributes(
    parts: Sequence[Part], functions: _Functions, facts: Facts, wrappers: dict[str, int]
) -> Containers:
    """Return what attributes of ``self`` hold of results, for whichever function takes them.

    Where something else is assigned to one somewhere, it is not known what it holds.
    """
    found = Containers()
    stored: set[ast.AST] = set()
    for one in functions.mentioning({*facts.rotary, *wrappers}):
        walk = _Walk(facts, wrappers)
        walk.function(one.node)
        found = found.either(walk.kept.of_self())
        stored |= walk.stored
    for part in parts:
        for node in ast.walk(part.node):
            if isinstance(node, ast.Assign | ast.AnnAssign) and not _is_empty(node.value):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if target not in stored:
                        found.blur(target)
    return found


def _is_empty(value: ast.expr | None) -> bool:
    """Return whether nothing is assigned: None, or a list or dict without anything."""
    if isinstance(value, ast.Call):
        return not value.args and not value.keywords
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List | ast.Tuple):
        return not value.elts
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _inner(value: ast.expr) -> ast.expr:
    """Return the expression that another one is, or has all elements of."""
    while True:
        if isinstance(value, ast.NamedExpr | ast.Await):
            value = value.value
        elif (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and value.func.id in ("tuple", "list")
            and len(value.args) == 1
        ):
            value = value.args[0]
        elif (
            isinstance(value, ast.Tuple | ast.List)
            and len(value.elts) == 1
            and isinstance(value.elts[0], ast.Starred)
        ):
            value = value.elts[0].value
        elif (
            isinstance(value, ast.ListComp | ast.GeneratorExp)
            and len(value.generators) == 1
            and not value.generators[0].ifs
            and isinstance(value.elt, ast.Name)
            and last_name(value.generators[0].target) == value.elt.id
        ):
            value = value.generators[0].iter
        else:
            return value


def _index(node: ast.expr) -> int | None:
    """Return a whole number that is written as an index; one from the end as the first."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return None if _index(node.operand) is None else 0
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
