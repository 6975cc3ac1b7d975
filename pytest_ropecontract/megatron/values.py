"""Values of a command line, read without evaluating anything.

Megatron's own readers of list patterns go through ``eval``; these parse the text, walk the
syntax tree and stop at a size, so that neither a surface file nor a flag's value can run
code or take the machine's memory.
"""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PATTERN_CHARACTERS = frozenset(",0123456789[]()+*")
PATTERN_LENGTH = 20_000
LIST_LENGTH = 100_000
INTEGER_BITS = 256


class PatternTooLargeError(ValueError):
    """A list pattern that is longer, deeper or larger than any model needs."""


def read_list_pattern(text: str) -> Any:
    """Read an integer or a list pattern such as ``[0]*3+[1]*58``.

    The grammar is that of Megatron's ``moe_freq_type``, ``no_rope_freq_type`` and
    ``la_freq_type``: an integer, or an expression over integers, lists and tuples with
    ``+``, ``*``, ``**`` and subscripts.

    Raises:
        ValueError: A character outside the grammar, or no integer.
        SyntaxError: Not an expression.
        TypeError: An operation that lists and integers do not have.
        IndexError: A subscript past the end.
        PatternTooLargeError: More than 100,000 elements, those of inner lists
            included, a number over 256 bits, or text over 20,000 characters.
    """
    if "[" not in text:
        return int(text)
    if not PATTERN_CHARACTERS.issuperset(text):
        raise ValueError(f"Invalid pattern: {text}")
    if len(text) > PATTERN_LENGTH:
        raise PatternTooLargeError(f"pattern of {len(text)} characters")
    try:
        return _evaluate(ast.parse(text, mode="eval").body).value
    except (MemoryError, RecursionError):
        raise PatternTooLargeError("pattern nested too deeply") from None


class _Sized(NamedTuple):
    """A value with the number of elements that it has, those of inner lists included."""

    value: Any
    size: int


def _evaluate(node: ast.expr) -> _Sized:
    if isinstance(node, ast.Constant):
        return _Sized(node.value, 1)
    if isinstance(node, ast.List):
        return _display(node.elts)
    if isinstance(node, ast.Tuple):
        value, size = _display(node.elts)
        return _Sized(tuple(value), size)
    if isinstance(node, ast.UnaryOp):
        # The only unary operator of the grammar is the plus sign.
        return _Sized(+_evaluate(node.operand).value, 1)
    if isinstance(node, ast.BinOp):
        return _combine(node.op, _evaluate(node.left), _evaluate(node.right))
    if isinstance(node, ast.Subscript):
        value = _evaluate(node.value).value[_evaluate(node.slice).value]
        return _Sized(value, _size(value))
    # Nothing but a call is left of what these characters can say.
    called = _evaluate(cast("ast.Call", node).func).value
    raise TypeError(f"'{type(called).__name__}' object is not callable")


def _display(nodes: list[ast.expr]) -> _Sized:
    elements: list[Any] = []
    size = 0
    for node in nodes:
        if isinstance(node, ast.Starred):
            inner = _evaluate(node.value)
            elements.extend(inner.value)
            size += inner.size
        else:
            inner = _evaluate(node)
            elements.append(inner.value)
            size += max(inner.size, 1)
        _check_size(size)
    return _Sized(elements, size)


def _combine(operator: ast.operator, left: _Sized, right: _Sized) -> _Sized:
    one, other = left.value, right.value
    size = 1
    if isinstance(operator, ast.Add):
        if isinstance(one, list | tuple) and isinstance(other, list | tuple):
            size = left.size + right.size
            _check_size(size)
        return _Sized(one + other, size)
    if isinstance(operator, ast.Mult):
        for sequence, count in ((left, right), (right, left)):
            if isinstance(sequence.value, list | tuple) and isinstance(count.value, int):
                size = sequence.size * count.value
                _check_size(size)
        _check_bits(one, other, _bits(one) + _bits(other))
        return _Sized(one * other, size)
    _check_bits(one, other, _bits(one) * (other if isinstance(other, int) else 1))
    return _Sized(one**other, 1)


def _size(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(max(_size(element), 1) for element in value)
    return 1


def _check_size(size: int) -> None:
    if size > LIST_LENGTH:
        raise PatternTooLargeError(f"pattern of {size} elements")


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _check_bits(left: Any, right: Any, bits: int) -> None:
    if isinstance(left, int) and isinstance(right, int) and bits > INTEGER_BITS:
        raise PatternTooLargeError("pattern with a number over 256 bits")


def read_int_tuple(text: str) -> tuple[int, ...]:
    """Read ``128,0`` or ``(128,0)``, as Megatron's ``tuple_type`` does.

    Raises:
        ValueError: An element that is no integer.
    """
    return tuple(int(element) for element in text.strip("()").split(","))


def enum_reader(members: type[enum.Enum], literals: frozenset[str]) -> Callable[[str], Any]:
    """Return a reader of member names that passes ``literals`` through as text.

    The reader raises KeyError for another name, which Megatron's readers do too.
    """

    def read(text: str) -> Any:
        return text if text in literals else members[text]

    return read


def make_enum(name: str, members: Mapping[str, int | str]) -> type[enum.Enum]:
    """Return an enumeration class that stands for one of Megatron's."""
    return enum.Enum(name, dict(members))  # type: ignore[return-value]  # functional API
