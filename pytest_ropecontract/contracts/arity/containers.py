"""What lists, dicts and attributes hold of the results of a rotary embedding."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Methods that give an element of a dict, by its key.
GETTERS = ("get", "pop", "setdefault", "__getitem__")
# The key of everything that is kept under no key that can be read.
ANY = ...


@dataclass(frozen=True)
class Content:
    """What a container holds.

    Attributes:
        counts: How many results each element holds, by key; None of one that is no result, or
            that is one of several things.
        calls: How many results there are when an element is called, by key.
        ordered: Whether going over it gives its elements, and not its keys.
        blurred: Whether an element may be a result or something else.
    """

    counts: dict[object, int | None] = field(default_factory=dict)
    calls: dict[object, int | None] = field(default_factory=dict)
    ordered: bool = False
    blurred: bool = False

    def read(self, key: object, *, called: bool = False) -> int | None:
        """Return how many results an element holds, where every one that it may be agrees."""
        counts = self.calls if called else self.counts
        if key is not ANY and (key in counts or ANY not in counts):
            return counts.get(key)
        found = {counts[ANY]} if key is not ANY else set(counts.values())
        return found.pop() if len(found) == 1 else None

    @property
    def holds(self) -> bool:
        """Whether any element is a result, or may be one."""
        return self.blurred or any(one is not None for one in self.counts.values())

    def is_open(self, key: object) -> bool:
        """Return whether an element may be a result, but which one it is cannot be told."""
        if self.read(key) is not None or not self.holds:
            return False
        return key is ANY or self.blurred or (key not in self.counts and ANY in self.counts)

    def either(self, other: Content) -> Content:
        """Return what holds where it is not known which of two it is."""
        blurred = any(
            self.counts[key] != other.counts[key]
            for key in self.counts.keys() & other.counts.keys()
        )
        return Content(
            _agreed(self.counts, other.counts),
            _agreed(self.calls, other.calls),
            self.ordered or other.ordered,
            self.blurred or other.blurred or blurred,
        )

    @classmethod
    def of(
        cls, elements: Iterable[tuple[object, int | None, int | None]], *, ordered: bool
    ) -> Content:
        """Return what holds of elements: their keys, their counts, and those when called."""
        counts: dict[object, int | None] = {}
        calls: dict[object, int | None] = {}
        blurred = False
        for key, count, called in elements:
            # Several elements may have the key of everything.
            blurred = blurred or counts.get(key, count) != count
            counts[key] = count if counts.get(key, count) == count else None
            if called is not None:
                calls[key] = called
        return cls(counts, calls, ordered, blurred)


def _agreed(
    one: dict[object, int | None], two: dict[object, int | None]
) -> dict[object, int | None]:
    same = {key: count if two.get(key, count) == count else None for key, count in one.items()}
    return {**two, **same}


class Containers:
    """The containers of a function by the expression that names them: ``cache``, ``self.cache``."""

    def __init__(self, known: dict[str, Content] | None = None) -> None:
        self._known = {} if known is None else known

    @property
    def names(self) -> frozenset[str]:
        """The names of those that hold a result."""
        return frozenset(name for name, one in self._known.items() if one.holds or one.calls)

    def copy(self) -> Containers:
        """Return the same, to go on from."""
        return Containers(dict(self._known))

    def of_self(self) -> Containers:
        """Return those that are attributes."""
        return Containers({name: one for name, one in self._known.items() if "." in name})

    def either(self, other: Containers) -> Containers:
        """Return what holds where it is not known which of two it is."""
        both = {**other._known, **self._known}
        for name in self._known.keys() & other._known.keys():
            both[name] = self._known[name].either(other._known[name])
        return Containers(both)

    def without(self, names: frozenset[str], changed: Containers) -> Containers:
        """Return those that were not asked about, and that are the same as they became."""
        return Containers(
            {
                name: one
                for name, one in self._known.items()
                if name.rpartition(".")[2] not in names and changed._known.get(name) == one
            }
        )

    def forget(self, names: frozenset[str]) -> None:
        """Forget what names, and what belongs to them, hold."""
        self._known = {
            name: one for name, one in self._known.items() if name.partition(".")[0] not in names
        }

    def bind(self, target: ast.expr, count: int | None, content: Content | None) -> str | None:
        """Let a name or an attribute be something else.

        Args:
            target: The name or the attribute.
            count: How many results it holds itself.
            content: What it holds as a container.

        Returns:
            Its name where results are in it.
        """
        place = place_of(target)
        if place is None:
            return None
        self._known.pop(place, None)
        if count is not None and isinstance(target, ast.Attribute):
            self._known[place] = Content({_ITSELF: count})
        elif content is not None:
            self._known[place] = content
        return place if place in self.names else None

    def store(
        self,
        place: str | None,
        key: object,
        count: int | None,
        called: int | None,
        *,
        ordered: bool = False,
    ) -> str | None:
        """Let a container hold another element.

        Returns:
            Its name where the element is a result.
        """
        if place is None:
            return None
        known = self._known.get(place, Content(ordered=ordered))
        counts = dict(known.counts)
        mixed = key is ANY and counts.get(key, count) != count
        counts[key] = None if mixed else count
        calls = dict(known.calls)
        if called is not None:
            calls[key] = called
        self._known[place] = Content(counts, calls, known.ordered, known.blurred or mixed)
        return place if count is not None or called is not None else None

    def blur(self, target: ast.expr) -> None:
        """Let it be unknown what a container holds: something else is assigned to it."""
        place = place_of(target.value if isinstance(target, ast.Subscript) else target)
        if place in self.names:
            known = self._known[place]
            counts: dict[object, int | None] = {**dict.fromkeys(known.counts), ANY: None}
            self._known[place] = Content(counts, {}, known.ordered, blurred=True)

    def read(self, value: ast.expr, *, called: bool = False) -> int | None:
        """Return how many results an element holds that an expression gives, or None."""
        content, key = self._element(value)
        return None if content is None else content.read(key, called=called)

    def is_open(self, value: ast.expr) -> bool:
        """Return whether an expression gives an element that may be a result, or may not."""
        content, key = self._element(value)
        return content is not None and content.is_open(key)

    def holds(self, value: ast.expr) -> bool:
        """Return whether an expression is a container in which a result is."""
        content = self.of(value)
        return content is not None and content.holds

    def each(self, iterable: ast.expr) -> int | None:
        """Return how many results every element holds that is gone over, or None."""
        content = self._gone_over(iterable)
        return None if content is None else content.read(ANY)

    def is_open_each(self, iterable: ast.expr) -> bool:
        """Return whether the elements that are gone over may be results, or may not."""
        content = self._gone_over(iterable)
        return content is not None and content.is_open(ANY)

    def of(self, node: ast.expr) -> Content | None:
        """Return what an expression holds that names a container, or None."""
        place = place_of(node)
        return None if place is None else self._known.get(place)

    def _gone_over(self, iterable: ast.expr) -> Content | None:
        if (
            isinstance(iterable, ast.Call)
            and isinstance(iterable.func, ast.Attribute)
            and iterable.func.attr == "values"
        ):
            return self.of(iterable.func.value)
        content = self.of(iterable)
        return content if content is not None and content.ordered else None

    def _element(self, value: ast.expr) -> tuple[Content | None, object]:
        if isinstance(value, ast.Attribute):
            content = self.of(value)
            itself = content is not None and _ITSELF in content.counts
            return (content, _ITSELF) if itself else (None, ANY)
        if isinstance(value, ast.Subscript):
            return self.of(value.value), key_of(value.slice)
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in GETTERS
            and value.args
        ):
            content = self.of(value.func.value)
            return content, key_of(value.args[0])
        return None, ANY


# The key of an attribute that is itself a result.
_ITSELF = object()


def place_of(node: ast.expr) -> str | None:
    """Return the text of a name, or of attributes of one, and None of everything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = place_of(node.value)
        return None if inner is None else f"{inner}.{node.attr}"
    return None


def key_of(node: ast.expr | None) -> object:
    """Return a key that is written out, else the one of everything."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return node.value
    return ANY
