"""Conditions about the rotary embedding, decided for the one that is built."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# What forward of each class of Megatron returns: one tensor, or a pair.
CLASS_RETURNS = {
    "RotaryEmbedding": 1,
    "MultimodalRotaryEmbedding": 1,
    "YarnRotaryEmbedding": 2,
}
SELECTORS = ("rope_type", "position_embedding_type")
RESULT_TESTS = frozenset({"isinstance", "len", "is_tensor", "type", "hasattr"})
SPELLINGS = ("lower", "upper", "casefold", "strip")
_UNKNOWN = object()
# Names may be bound to one another.
_DEEPEST = 20


@dataclass(frozen=True)
class Facts:
    """What is known where a condition is met.

    Attributes:
        selectors: Values of the config attributes that select a kind, ``rope_type`` and
            ``position_embedding_type``.
        rotary_class: The class that is built.
        returns: How many results its ``forward`` gives.
        rotary: Names under which the embedding is held.
        results: Names that hold its result.
        bound: Names that are bound to an expression, and attributes, with a dot before.
    """

    selectors: Mapping[str, Any]
    rotary_class: str
    returns: int
    rotary: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    bound: Mapping[str, ast.expr] = field(default_factory=dict)


def holds(  # noqa: PLR0911  # one way out for every kind of condition
    test: ast.expr, facts: Facts, depth: int = 0
) -> bool | None:
    """Return whether a condition holds for what is built, or None where that is not known."""
    if depth > _DEEPEST:
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = holds(test.operand, facts, depth + 1)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        decided = [holds(one, facts, depth + 1) for one in test.values]
        ends = isinstance(test.op, ast.Or)
        if ends in decided:
            return ends
        return None if None in decided else not ends
    if (bound := _bound(test, facts)) is not None:
        return holds(bound, facts, depth + 1)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test.left, test.ops[0], test.comparators[0], facts)
    if isinstance(test, ast.Call):
        return _asked(test, facts)
    return None


def matches(subject: ast.expr, pattern: ast.pattern, facts: Facts) -> bool | None:
    """Return whether a case of a ``match`` statement is taken, or None."""
    value = _selected(subject, facts)
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
        return True
    if value is _UNKNOWN:
        return None
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant):
        return bool(pattern.value.value == value)
    if isinstance(pattern, ast.MatchOr):
        decided = [matches(subject, one, facts) for one in pattern.patterns]
        return True if True in decided else None if None in decided else False
    return None


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr, facts: Facts) -> bool | None:
    value, constant = _selected(left, facts), _constant(right, facts)
    if constant is None and last_name(left) in facts.results:
        # There is a result, be it one tensor or two.
        return {ast.Is: False, ast.IsNot: True}.get(type(operator))
    if value is _UNKNOWN:
        value, constant = _selected(right, facts), _constant(left, facts)
    if value is _UNKNOWN or constant is _UNKNOWN:
        return None
    if isinstance(operator, ast.Eq | ast.Is):
        return bool(value == constant)
    if isinstance(operator, ast.NotEq | ast.IsNot):
        return bool(value != constant)
    if isinstance(operator, ast.In | ast.NotIn) and isinstance(constant, tuple):
        return (value in constant) == isinstance(operator, ast.In)
    return None


def _asked(call: ast.Call, facts: Facts) -> bool | None:  # noqa: PLR0911  # one a question
    """Decide ``isinstance`` of the embedding or of its result, and ``torch.is_tensor``."""
    name = last_name(call.func)
    if not call.args:
        return None
    if name in ("startswith", "endswith") and isinstance(call.func, ast.Attribute):
        value, constant = _selected(call.func.value, facts), _constant(call.args[0], facts)
        texts = isinstance(value, str) and isinstance(constant, str)
        return bool(getattr(value, name)(constant)) if texts else None
    subject = last_name(call.args[0])
    if name == "is_tensor" and subject in facts.results:
        return facts.returns == 1
    if name != "isinstance" or len(call.args) != 2:  # noqa: PLR2004  # its object and its classes
        return None
    given = call.args[1]
    classes = {last_name(one) for one in (given.elts if isinstance(given, ast.Tuple) else [given])}
    if subject in facts.results:
        if classes <= {"tuple", "list"}:
            # A pair may have been made a list of.
            return None if facts.returns > 1 and "tuple" not in classes else facts.returns > 1
        if classes == {"Tensor"}:
            return facts.returns == 1
        return None
    if subject in facts.rotary:
        return _is_one_of(classes, facts)
    return None


def _is_one_of(classes: set[str | None], facts: Facts) -> bool | None:
    """Return whether the embedding is of one of some classes, or None."""
    own = {facts.rotary_class}
    if facts.rotary_class == "YarnRotaryEmbedding":
        own.add("RotaryEmbedding")
    if not own.isdisjoint(classes):
        return True
    # Another class may be one that it is derived from, or its own by another name.
    return None if classes - CLASS_RETURNS.keys() else False


def asks_about(test: ast.expr, facts: Facts) -> bool:
    """Return whether a condition that could not be decided is about the result itself."""
    return any(
        isinstance(one, ast.Call)
        and last_name(one.func) in RESULT_TESTS
        and any(last_name(_kept_in(arg)) in facts.results | facts.rotary for arg in one.args)
        for one in ast.walk(test)
    )


def _kept_in(node: ast.expr) -> ast.expr:
    """Return what an expression is an element of, or the expression itself."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            node = node.func.value
        else:
            return node


def last_name(node: ast.AST) -> str | None:
    """Return the last identifier of a name or an attribute."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else None


def _bound(node: ast.expr, facts: Facts) -> ast.expr | None:
    """Return the expression that a name, or an attribute, is bound to."""
    if isinstance(node, ast.Name):
        return facts.bound.get(node.id)
    return facts.bound.get(f".{node.attr}") if isinstance(node, ast.Attribute) else None


def _selected(node: ast.expr, facts: Facts, depth: int = 0) -> Any:
    """Return the value of an expression that selects the kind, as the config has it."""
    name = last_name(node)
    if isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 1:
        key = node.args[1]
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _respelled(node.func, facts, depth)
    if name in SELECTORS and name in facts.selectors:
        return facts.selectors[name]
    bound = _bound(node, facts)
    return _UNKNOWN if bound is None or depth == _DEEPEST else _selected(bound, facts, depth + 1)


def _respelled(method: ast.Attribute, facts: Facts, depth: int) -> Any:
    """Return a value in other letters: ``config.rope_type.lower()``."""
    value = _selected(method.value, facts, depth)
    known = isinstance(value, str) and method.attr in SPELLINGS
    return getattr(value, method.attr)() if known else _UNKNOWN


def _constant(node: ast.expr, facts: Facts, depth: int = 0) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        values = [_constant(one, facts, depth) for one in node.elts]
        return _UNKNOWN if any(one is _UNKNOWN for one in values) else tuple(values)
    bound = _bound(node, facts)
    return _UNKNOWN if bound is None or depth == _DEEPEST else _constant(bound, facts, depth + 1)
