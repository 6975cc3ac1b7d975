"""Where results are taken apart, statement by statement."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import dedent, indent

import pytest

from pytest_ropecontract.contracts.arity import unpacking
from pytest_ropecontract.contracts.arity.adapter import Module, Part
from pytest_ropecontract.contracts.arity.guards import CLASS_RETURNS, Facts

CLASSES = {"rope": "RotaryEmbedding", "yarn": "YarnRotaryEmbedding"}
FORWARD = "class Attention(Base):\n    def forward(self, length, hidden):"


def taken(text: str, kind: str) -> list[str]:
    """Return the lines of an adapter that take another number of results, and both numbers."""
    tree = ast.parse(text)
    module = Module("frame.adapter", Path("adapter.py"), tree)
    facts = Facts({"rope_type": kind}, CLASSES[kind], CLASS_RETURNS[CLASSES[kind]])
    found = unpacking.find([Part(module, node) for node in tree.body], facts)
    assert all(one.module is module for one in found)
    return [f"{one.line}: {one.expected} of {one.returned or 'an unknown number'}" for one in found]


def within(statements: str, kind: str) -> list[str]:
    """Return the same of the statements of a method, counting from the first of them."""
    # Line 1 is on the head's second line.
    text = f"{FORWARD}\n" + indent(statements, " " * 8)
    return [
        f"{int(line) - 2}:{numbers}"
        for line, _, numbers in (one.partition(":") for one in taken(text, kind))
    ]


GUARDED = [
    # As Megatron's own multi-latent attention does it.
    """\
    FORWARD
            if self.config.rope_type == "rope":
                packed = self.packed is not None
                rotary_pos_emb = self.rotary_pos_emb(length, packed_seq=packed)
            else:
                if self.config.apply_rope_fusion:
                    cos, sin = self.rotary_pos_emb.get_cached_cos_sin(length)
                else:
                    rotary_pos_emb, mscale = self.rotary_pos_emb(length)
            return rotary_pos_emb
    """,
    """\
    FORWARD
            mscale = 1.0
            if self.config.rope_type != "yarn":
                return self.rotary_pos_emb(length)
            table, mscale = self.rotary_pos_emb(length)
            return table * mscale
    """,
    """\
    FORWARD
            yarn = getattr(self.config, "rope_type", None) in ("yarn",)
            if yarn and length:
                table, mscale = self.rotary_pos_emb(length)
            elif not yarn:
                table, mscale = self.rotary_pos_emb(length), 1.0
    """,
    """\
    FORWARD
            table, mscale = (
                self.rotary_pos_emb(length)
                if self.config.rope_type == "yarn"
                else (self.rotary_pos_emb(length), 1.0)
            )
    """,
    """\
    FORWARD
            match self.config.rope_type:
                case "rope" | "none":
                    table = self.rotary_pos_emb(length)
                case _:
                    table, mscale = self.rotary_pos_emb(length)
    """,
    """\
    FORWARD
            table = self.rotary_pos_emb(length)
            if isinstance(table, tuple):
                table, mscale = table
    """,
    """\
    FORWARD
            table = self.rotary_pos_emb(length)
            if not torch.is_tensor(table):
                table, mscale = table
    """,
    """\
    FORWARD
            table = self.rotary_pos_emb(length)
            if len(table) == 2:
                table, mscale = table
    """,
    """\
    FORWARD
            if isinstance(self.rotary_pos_emb, YarnRotaryEmbedding):
                table, mscale = self.rotary_pos_emb(length)
    """,
    """\
    FORWARD
            try:
                table, mscale = self.rotary_pos_emb(length)
            except ValueError:
                table = self.rotary_pos_emb(length)
    """,
    """\
    FORWARD
            table, mscale = self.rotate(length)

        def rotate(self, length):
            if self.config.rope_type == "rope":
                return self.rotary_pos_emb(length), 1.0
            return self.rotary_pos_emb(length)
    """,
    """\
    FORWARD
            if "rope" == self.config.rope_type:
                raise NotImplementedError
            table, mscale = self.rotary_pos_emb(length)
    """,
    """\
    FORWARD
            cos, sin = rotary_pos_emb(length)
            first, second = self.other(length)
            (a, b), c = hidden, length
    """,
    # What is looked at may be anything after that: Megatron's attention duplicates a tensor.
    """\
    FORWARD
            table = self.rotary_pos_emb(length)
            if table is not None and not isinstance(table, tuple):
                table = (table,) * 2
            query, key = table
    """,
    """\
    FORWARD
            table = self.rotary_pos_emb(length)
            if hidden and not isinstance(table, tuple):
                table = (table,) * 2
            query, key = table
    """,
    """\
    FORWARD
            return self.attend(hidden, self.rotary_pos_emb(length))

        def attend(self, hidden, table):
            if not isinstance(table, tuple):
                table = (table, 1.0)
            first = hidden[0], table[0]
            table, mscale = table
    """,
    # A condition of the adapter's own, between one result and two.
    """\
    FORWARD
            if self.layer.two_results:
                table, mscale = self.rotary_pos_emb(length)
            else:
                table = self.rotary_pos_emb(length)
    """,
    """\
    FORWARD
            table = self.rotary_pos_emb(length)
            table, mscale = table if isinstance(table, tuple) else (table, 1.0)
    """,
    """\
    FORWARD
            if self.config.rope_type.lower().startswith("y"):
                table, mscale = self.rotary_pos_emb(length)
    """,
    """\
    YARN = "yarn"
    KINDS = (YARN, "other")

    FORWARD
            if self.config.rope_type == YARN and self.config.rope_type in KINDS:
                table, mscale = self.rotary_pos_emb(length)
    """,
    """\
    FORWARD
            if self.is_yarn and self.scales():
                table, mscale = self.rotary_pos_emb(length)

        def __init__(self, config):
            self.rope_kind = config.rope_type
            self.is_yarn = self.rope_kind == "yarn"
    """,
    # Expressions that look at what they got, or ask for the kind.
    """\
    FORWARD
            out = self.rotary_pos_emb(length)
            table = out[0] if isinstance(out, tuple) else out
            table = out[0] if self.config.rope_type == "yarn" else out
            table = out[0] if len(out) == 2 else out
            table = out[0] if self.layer.two_results else out
            return (isinstance(out, tuple) and out[0]) or out
    """,
    """\
    FORWARD
            out = self.rotary_pos_emb(length)
            return not isinstance(out, tuple) or out[0]
    """,
    # Lambdas and comprehensions have names of their own.
    """\
    FORWARD
            table = self.rotary_pos_emb(length)
            first = lambda table: table[0]
            return first(hidden), table
    """,
    """\
    FORWARD
            rotary = self.rotary_pos_emb
            return [rotary(length)[0] for rotary in hidden], (lambda rotary: rotary(0)[0])
    """,
    """\
    FORWARD
            table = self.rotary_pos_emb(length)
            parts = [table[0] for table in hidden], {table: table[0] for table in hidden}
            for table in hidden:
                first = table[0]
    """,
    """\
    FORWARD
            tables = [self.rotary_pos_emb(one) for one in (length, length)]
            query, key = tables
            query, key = [self.rotary_pos_emb(one) for one in (length, length)]
            query, key = (self.rotary_pos_emb(one) for one in (length, length))
    """,
    """\
    FORWARD
            all_of = [self.rotary_pos_emb(one) for one in hidden]
            firsts = [out[0] for out in [self.rotary_pos_emb(0)] if isinstance(out, tuple)]
            return [out[0] if isinstance(out, tuple) else out for out in all_of], firsts
    """,
    """\
    FORWARD
            rotate = lambda length: (self.rotary_pos_emb(length), 1.0)
            if self.config.rope_type == "yarn":
                rotate = lambda length: self.rotary_pos_emb(length)
            table, mscale = rotate(length)
    """,
    # What is kept is looked at, or taken as what it is.
    """\
    FORWARD
            self.cache[length] = self.rotary_pos_emb(length)
            if isinstance(self.cache.get(length), tuple):
                table, scale = self.cache.get(length)
    """,
    """\
    FORWARD
            self.cache[length] = self.rotary_pos_emb(length)
            if isinstance(self.cache[length], tuple):
                table, scale = self.cache[length]
            out = [self.rotary_pos_emb(n) for n in hidden]
            first, second = out
            tables = tuple(zip(*out)) if self.config.rope_type == "yarn" else (out, None)
            table, scale = tables
    """,
    """\
    FORWARD
            out = {"r": self.rotary_pos_emb(length), "sizes": (1, 2), **hidden}
            height, width = out["sizes"]
            other = {**hidden}
            height, width = other["sizes"]
            out["r"] = (1, 2)
            height, width = out["r"]
            for name, value in out.items():
                pass
            for index, table in enumerate([self.rotary_pos_emb(n) for n in hidden]):
                pass
    """,
    """\
    FORWARD
            query, key = self.rotate(hidden, self.rotary_pos_emb(length))
            query, key = map(self.rotary_pos_emb, hidden)
            height, width = zip(*hidden)
            (lambda *parts: parts)(*self.rotary_pos_emb(length))
    """,
    # Of two functions of one name it may be either.
    """\
    FORWARD
            if self.config.rope_type == "yarn":
                def rotate(length):
                    return self.rotary_pos_emb(length)
            else:
                def rotate(length):
                    return self.rotary_pos_emb(length), 1.0
            table, mscale = rotate(length)
    """,
    """\
    FORWARD
            out = self.rotary_pos_emb(length)
            if isinstance(out, Pair):
                table, mscale = out
    """,
    """\
    FORWARD
            out = self.rotary_pos_emb(length)
            if isinstance(out, torch.Tensor):
                return out
            table, mscale = out
    """,
    """\
    FORWARD
            out = self.rotary_pos_emb(length)
            if out is None:
                table, mscale = out
    """,
    """\
    FORWARD
            for self.table in (self.rotary_pos_emb(n) for n in hidden):
                pass
    """,
    """\
    FORWARD
            outs = (self.rotary_pos_emb(n) for n in hidden)
            return [one[0] for one in outs if isinstance(one, tuple)]
    """,
    """\
    FORWARD
            return [n[0] for n in [self.rotary_pos_emb(length)] if isinstance(n, Pair)]
    """,
    """\
    FORWARD
            self.ways[0] = lambda n: self.rotary_pos_emb(n)
            return self.ways[0](length)
    """,
]


@pytest.mark.parametrize("kind", ["rope", "yarn"])
@pytest.mark.parametrize("body", GUARDED)
def test_guarded(body: str, kind: str) -> None:
    assert taken(dedent(body).replace("FORWARD", FORWARD), kind) == []


UNGUARDED_WAYS = [
    ("table = self.rotary_pos_emb(length)", "table, mscale = table"),
    ("if self.config.cache:", "    table, mscale = self.rotary_pos_emb(length)"),
    ("[table, mscale] = self.rotary_pos_emb.forward(length)",),
    ("table, *rest = self.rotary_pos_emb(length)",),
    ("table = self.rotary_pos_emb(length)[0]",),
    ("return use(self.rotary_pos_emb(length)[1])",),
    ("with torch.no_grad():", "    table, mscale = self.rotary_pos_emb(length)"),
    ("for part in hidden:", "    table, mscale = self.rotary_pos_emb(length)"),
    (
        "try:",
        "    table, mscale = self.rotary_pos_emb(length)",
        "except KeyError:",
        "    pass",
    ),
    ('if self.config.rope_type in ("rope", "yarn"):', "    a, b = self.rotary_pos_emb(length)"),
    ("if hidden is None or True:", "    a, b = self.rotary_pos_emb(length)"),
    ("table, mscale = (out := self.rotary_pos_emb(length))",),
    ("if (out := self.rotary_pos_emb(length)) is not None:", "    table, mscale = out"),
    ("both = table, mscale = self.rotary_pos_emb(length)",),
    ("rotary = self.rotary_pos_emb", "table, mscale = rotary(length)"),
    ('table, mscale = getattr(self, "rotary_pos_emb")(length)',),
    ("for table, mscale in [self.rotary_pos_emb(length)]:", "    pass"),
    ("out = [*self.rotary_pos_emb(length)]", "table, mscale = out"),
    ("table, mscale = tuple(self.rotary_pos_emb(length))",),
    ("(table, mscale), other = self.rotary_pos_emb(length), hidden",),
    ("*rest, mscale = self.rotary_pos_emb(length)",),
    ("out = self.rotary_pos_emb(length)", "return out[-1]"),
    ("def inner():", "    table, mscale = self.rotary_pos_emb(length)", "return inner()"),
    ("while hidden:", "    table, mscale = self.rotary_pos_emb(length)"),
    ("if self.a:", "    t, m = self.rotary_pos_emb(length)", "else:", "    pass"),
    ("rotate = lambda n: self.rotary_pos_emb(n)", "table, mscale = rotate(length)"),
    ("self.rotate = lambda n: self.rotary_pos_emb(n)", "table, mscale = self.rotate(length)"),
    ("table, mscale = (lambda n: self.rotary_pos_emb(n))(length)",),
    ("table = self.rotary_pos_emb(length)", "return (lambda: table[0])()"),
    ("return [table for table, mscale in [self.rotary_pos_emb(length)]]",),
    ("return next(table for table, mscale in (self.rotary_pos_emb(length),))",),
    ("return {n: table for n in hidden for table, mscale in {self.rotary_pos_emb(n)}}",),
    ("return [table for table, mscale in (self.rotary_pos_emb(n) for n in hidden)]",),
    ("for table, mscale in [self.rotary_pos_emb(n) for n in hidden]:", "    pass"),
    ("table, mscale = [one for one in self.rotary_pos_emb(length)]",),
    ("return [self.rotary_pos_emb(n)[0] for n in hidden]",),
    ("out = self.rotary_pos_emb(length)", "return out[0] if hidden else length"),
    ("return hidden and self.rotary_pos_emb(length)[0]",),
    # Side by side, and in turn.
    ("tables, scales = zip(*[self.rotary_pos_emb(n) for n in hidden])",),
    ("out = [self.rotary_pos_emb(n) for n in hidden]", "tables, scales = zip(*out, strict=True)"),
    (
        "tables, scales = zip(self.rotary_pos_emb(0), self.rotary_pos_emb(1))",
        "tables, scales = zip(*(self.rotary_pos_emb(n) for n in hidden))",
    ),
    ("tables, scales = zip(*map(self.rotary_pos_emb, hidden))",),
    (
        "tables, scales = [list(one) for one in zip(*[self.rotary_pos_emb(n) for n in hidden])]",
        "table, scale = next(self.rotary_pos_emb(n) for n in hidden)",
    ),
    ("for n, (table, scale) in zip(hidden, map(self.rotary_pos_emb, hidden)):", "    pass"),
    (
        "out = [self.rotary_pos_emb(n) for n in hidden]",
        "for n, (table, scale) in enumerate(reversed(out)):",
        "    pass",
    ),
    (
        "out = []",
        "for n in hidden:",
        "    out.append(self.rotary_pos_emb(n))",
        "return [table for table, scale in out]",
    ),
    ("out = [self.rotary_pos_emb(0), self.rotary_pos_emb(1)]", "table, scale = out[1]"),
    ("out = hidden, self.rotary_pos_emb(0)", "table, scale = out[1]"),
    # Dicts and attributes.
    ("out = {'r': self.rotary_pos_emb(length), 'mask': hidden}", "table, scale = out['r']"),
    ("out = dict(r=self.rotary_pos_emb(length))", "return out['r'][0]"),
    ("out = {}", "out['r'] = self.rotary_pos_emb(length)", "table, scale = out.get('r')"),
    (
        "if length not in self.cache:",
        "    self.cache[length] = self.rotary_pos_emb(length)",
        "table, scale = self.cache[length]",
    ),
    (
        "out = {n: self.rotary_pos_emb(n) for n in hidden}",
        "for table, scale in out.values():",
        "    pass",
    ),
    (
        "out = {n: self.rotary_pos_emb(n) for n in hidden}",
        "for n, (table, scale) in out.items():",
        "    pass",
    ),
    ("table, scale = self.cache.setdefault(length, self.rotary_pos_emb(length))",),
    ("self.pair = self.rotary_pos_emb(length)", "table, scale = self.pair"),
    # Lambdas, and what makes functions of functions.
    ("if (rotate := lambda n: self.rotary_pos_emb(n)):", "    table, scale = rotate(length)"),
    ("rotate, other = lambda n: self.rotary_pos_emb(n), hidden", "table, scale = rotate(length)"),
    ("def inner(rotate=lambda n: self.rotary_pos_emb(n)):", "    table, scale = rotate(length)"),
    (
        "table, scale = {'r': lambda n: self.rotary_pos_emb(n)}['r'](length)",
        "ways = {'r': lambda n: self.rotary_pos_emb(n)}",
        "table, scale = ways['r'](length)",
    ),
    ("table, scale = partial(self.rotary_pos_emb, length)()",),
    ("return (lambda table, scale: table)(*self.rotary_pos_emb(length))",),
    ("return (lambda out: out[0])(self.rotary_pos_emb(length))",),
    ("table, scale = (lambda rotary: rotary(length))(self.rotary_pos_emb)",),
    ("one = two", "two = one", "if one:", "    table, mscale = self.rotary_pos_emb(length)"),
    ("match hidden:", "    case 'rope':", "        table, mscale = self.rotary_pos_emb(length)"),
    (
        "match self.config.rope_type:",
        "    case str():",
        "        table, mscale = self.rotary_pos_emb(length)",
    ),
    (
        "match self.config.rope_type:",
        "    case 'rope' | 'yarn' if hidden:",
        "        table, mscale = self.rotary_pos_emb(length)",
    ),
    ("if self.config.rope_type > 'a':", "    table, mscale = self.rotary_pos_emb(length)"),
    ("out = self.rotary_pos_emb(length)", "if out is not None:", "    table, mscale = out"),
    ("if hidden:", "    return", "table, mscale = self.rotary_pos_emb(length)"),
    ("use(self.rotary_pos_emb(length)[1])",),
    ("table: Tensor", "table, mscale = self.rotary_pos_emb(length)"),
]


@pytest.mark.parametrize("statements", UNGUARDED_WAYS)
def test_unguarded(statements: tuple[str, ...]) -> None:
    text = "\n".join(statements)

    assert len(within(text, "rope")) == 1
    assert within(text, "yarn") == []


UNREAD = [
    ("out = {'r': self.rotary_pos_emb(length), 'mask': hidden}", "table, scale = out[hidden]"),
    (
        "out = {'r': self.rotary_pos_emb(length), 'mask': hidden}",
        "for table, scale in out.values():",
        "    pass",
    ),
    ("out = [self.rotary_pos_emb(length)]", "out.append(hidden)", "table, scale = out[length]"),
    (
        "hidden.append(length)",
        "hidden.append(self.rotary_pos_emb(length))",
        "for table, scale in hidden:",
        "    pass",
    ),
    ("for table, scale in chain([self.rotary_pos_emb(length)], hidden):", "    pass"),
    ("tables, scales = zip(*[self.rotary_pos_emb(length), hidden])",),
    (
        "if self.a:",
        "    out = {0: self.rotary_pos_emb(length)}",
        "else:",
        "    out = {0: (self.rotary_pos_emb(length), 1.0)}",
        "table, scale = out[length]",
    ),
]


@pytest.mark.parametrize("kind", ["rope", "yarn"])
@pytest.mark.parametrize("statements", UNREAD)
def test_what_cannot_be_read(statements: tuple[str, ...], kind: str) -> None:
    (note,) = within("\n".join(statements), kind)

    assert note.endswith(": 2 of an unknown number")


# What takes a result apart says "table, scale", or stands in the last line.
JUDGED = [
    "table, scale = self.rotary_pos_emb(length)",
    "[table, scale] = self.rotary_pos_emb(length)",
    "table, scale = await self.rotary_pos_emb(length)",
    "table, scale = self.rotary_pos_emb.forward(length)",
    "table, scale = self.rotary_pos_emb.__call__(length)",
    "table, scale = self.layer.rotary_pos_emb(length)",
    'table, scale = getattr(self, "rotary_pos_emb")(length)',
    "table, scale = list(self.rotary_pos_emb(length))",
    "table, scale = [*self.rotary_pos_emb(length)]",
    "table, scale = (*self.rotary_pos_emb(length),)",
    "table, scale = (one for one in self.rotary_pos_emb(length))",
    "table, scale = both = self.rotary_pos_emb(length)",
    "both = table, scale = self.rotary_pos_emb(length)",
    "(table, scale), other = self.rotary_pos_emb(length), hidden",
    "other, (table, scale) = hidden, self.rotary_pos_emb(length)",
    "out = self.rotary_pos_emb(length)\nother = hidden\ntable, scale = out",
    "out: Pair = self.rotary_pos_emb(length)\ntable, scale = out",
    "out, other = self.rotary_pos_emb(length), hidden\ntable, scale = out",
    "use(out := self.rotary_pos_emb(length))\ntable, scale = out",
    "table, scale = (out := self.rotary_pos_emb(length))",
    "out = self.rotary_pos_emb(length)\nmore = out\ntable, scale = more",
    "rotary = self.rotary_pos_emb\ntable, scale = rotary(length)",
    "rotary = self.rotary_pos_emb\ntable, scale = rotary.forward(length)",
    'rotary = getattr(self, "rotary_pos_emb", None)\ntable, scale = rotary(length)',
    "rotary = more = self.rotary_pos_emb\ntable, scale = more(length)",
    "table, scale = partial(self.rotary_pos_emb, length)()",
    "table, scale = functools.partial(self.rotary_pos_emb)(length)",
    "if hidden:\n    pass\nelse:\n    table, scale = self.rotary_pos_emb(length)",
    "if hidden:\n    out = self.rotary_pos_emb(length)\nelse:\n    out = hidden\ntable, scale = out",
    "if hidden:\n    out = hidden\nelse:\n    out = self.rotary_pos_emb(length)\ntable, scale = out",
    "if hidden:\n    return\ntable, scale = self.rotary_pos_emb(length)",
    "if hidden:\n    pass\nelse:\n    return\ntable, scale = self.rotary_pos_emb(length)",
    "if hidden:\n    raise Error\nelse:\n    pass\ntable, scale = self.rotary_pos_emb(length)",
    "if hidden:\n    table, scale = self.rotary_pos_emb(length)\nelse:\n    use(length)",
    "if isinstance(hidden, tuple):\n    table, scale = self.rotary_pos_emb(length)",
    "if use(hidden):\n    out = {}\nelse:\n    out = {'r': self.rotary_pos_emb(0)}\ntable, scale = out['r']",
    "if use(hidden):\n    out = {'r': self.rotary_pos_emb(0)}\nelse:\n    out = {}\ntable, scale = out['r']",
    "for one in hidden:\n    table, scale = self.rotary_pos_emb(one)",
    "async for one in hidden:\n    table, scale = self.rotary_pos_emb(one)",
    "while hidden:\n    table, scale = self.rotary_pos_emb(length)",
    "while (out := self.rotary_pos_emb(length)) is not None:\n    table, scale = out",
    "for one in hidden:\n    pass\nelse:\n    table, scale = self.rotary_pos_emb(length)",
    "for one in hidden:\n    return\ntable, scale = self.rotary_pos_emb(length)",
    "for one in hidden:\n    break\ntable, scale = self.rotary_pos_emb(length)",
    "for one in hidden:\n    if one:\n        continue\n    table, scale = self.rotary_pos_emb(one)",
    "for one in hidden:\n    if one:\n        break\n    table, scale = self.rotary_pos_emb(one)",
    "with open(length) as file:\n    table, scale = self.rotary_pos_emb(length)",
    "async with hidden:\n    table, scale = self.rotary_pos_emb(length)",
    "try:\n    table, scale = self.rotary_pos_emb(length)\nexcept KeyError:\n    pass",
    "try:\n    use(length)\nexcept KeyError:\n    table, scale = self.rotary_pos_emb(length)",
    "try:\n    use(length)\nexcept KeyError:\n    pass\nelse:\n    table, scale = self.rotary_pos_emb(length)",
    "try:\n    use(length)\nfinally:\n    table, scale = self.rotary_pos_emb(length)",
    "try:\n    use(length)\nexcept ValueError:\n    pass\nfinally:\n    table, scale = self.rotary_pos_emb(length)",
    "try:\n    return hidden\nexcept KeyError:\n    pass\ntable, scale = self.rotary_pos_emb(length)",
    "try:\n    use(length)\nexcept KeyError:\n    return\ntable, scale = self.rotary_pos_emb(length)",
    "try:\n    use(length)\nexcept KeyError:\n    pass\nexcept OSError:\n    return\ntable, scale = self.rotary_pos_emb(length)",
    "try:\n    return hidden\nexcept ValueError:\n    pass\ntable, scale = self.rotary_pos_emb(length)",
    "try:\n    table, scale = self.rotary_pos_emb(length)\nexcept* KeyError:\n    pass",
    "try:\n    table, scale = self.rotary_pos_emb(length)\nexcept (OSError, KeyError):\n    pass",
    "match hidden:\n    case 'rope':\n        table, scale = self.rotary_pos_emb(length)",
    "match hidden:\n    case 'rope':\n        return\ntable, scale = self.rotary_pos_emb(length)",
    "match hidden:\n    case 'rope':\n        return\n    case 'yarn':\n        pass\n    case _:\n        return\ntable, scale = self.rotary_pos_emb(length)",
    "match hidden:\n    case 'rope':\n        pass\n    case _:\n        return\ntable, scale = self.rotary_pos_emb(length)",
    "match hidden:\n    case 'rope':\n        return\n    case _:\n        pass\ntable, scale = self.rotary_pos_emb(length)",
    "match hidden:\n    case _ if length:\n        return\n    case _:\n        table, scale = self.rotary_pos_emb(length)",
    "for table, scale in [self.rotary_pos_emb(0), self.rotary_pos_emb(1)]:\n    pass",
    "for table, scale in (self.rotary_pos_emb(0),):\n    pass",
    "for table, scale in {self.rotary_pos_emb(0)}:\n    pass",
    "for table, scale in [self.rotary_pos_emb(n) for n in hidden]:\n    pass",
    "for table, scale in {self.rotary_pos_emb(n) for n in hidden}:\n    pass",
    "for table, scale in (self.rotary_pos_emb(n) for n in hidden):\n    pass",
    "for table, scale in [out for out in [self.rotary_pos_emb(n) for n in hidden]]:\n    pass",
    "for table, scale in map(self.rotary_pos_emb, hidden):\n    pass",
    "for table, scale in map(lambda n: self.rotary_pos_emb(n), hidden):\n    pass",
    "for table, scale in reversed([self.rotary_pos_emb(n) for n in hidden]):\n    pass",
    "for table, scale in iter([self.rotary_pos_emb(n) for n in hidden]):\n    pass",
    "for table, scale in sorted([self.rotary_pos_emb(n) for n in hidden], key=use):\n    pass",
    "for table, scale in filter(use, [self.rotary_pos_emb(n) for n in hidden]):\n    pass",
    "for table, scale in list([self.rotary_pos_emb(n) for n in hidden]):\n    pass",
    "for n, (table, scale) in enumerate([self.rotary_pos_emb(n) for n in hidden]):\n    pass",
    "for n, (table, scale) in enumerate([self.rotary_pos_emb(n) for n in hidden], 1):\n    pass",
    "for n, (table, scale) in zip(hidden, map(self.rotary_pos_emb, hidden)):\n    pass",
    "for (table, scale), n in zip(map(self.rotary_pos_emb, hidden), hidden):\n    pass",
    "for a, b, (table, scale) in zip(hidden, hidden, map(self.rotary_pos_emb, hidden)):\n    pass",
    "out = {n: self.rotary_pos_emb(n) for n in hidden}\nfor table, scale in out.values():\n    pass",
    "out = {n: self.rotary_pos_emb(n) for n in hidden}\nfor n, (table, scale) in out.items():\n    pass",
    "out = {n: self.rotary_pos_emb(n) for n in hidden}\nmore = out\nfor table, scale in more.values():\n    pass",
    "out = [self.rotary_pos_emb(n) for n in hidden]\nmore = out\nfor table, scale in more:\n    pass",
    "for out in [self.rotary_pos_emb(n) for n in hidden]:\n    table, scale = out",
    "for out in self.rotary_pos_emb(0), self.rotary_pos_emb(1):\n    table, scale = out",
    "for rotary in [self.rotary_pos_emb]:\n    table, scale = rotary(length)",
    "for rotary, n in [(self.rotary_pos_emb, 0)]:\n    table, scale = rotary(n)",
    "return [table for table, scale in map(self.rotary_pos_emb, hidden)]",
    "return {table for table, scale in map(self.rotary_pos_emb, hidden)}",
    "return {table: 1 for table, scale in map(self.rotary_pos_emb, hidden)}",
    "return (table for table, scale in map(self.rotary_pos_emb, hidden))",
    "return [table for n in hidden for table, scale in map(self.rotary_pos_emb, n)]",
    "return [table for n in hidden if n for table, scale in map(self.rotary_pos_emb, n)]",
    "return [n for n in [out for table, scale in map(self.rotary_pos_emb, hidden)]]",
    "return [use(table for table, scale in map(self.rotary_pos_emb, n)) for n in hidden]",
    "return [n for n in hidden if [1 for table, scale in map(self.rotary_pos_emb, n)]]",
    "tables, scales = zip(*map(self.rotary_pos_emb, hidden))",
    "tables, scales = zip(*[self.rotary_pos_emb(n) for n in hidden])",
    "tables, scales = zip(*[self.rotary_pos_emb(n) for n in hidden], strict=True)",
    "out = [self.rotary_pos_emb(n) for n in hidden]\ntables, scales = zip(*out)",
    "table, scale = next(map(self.rotary_pos_emb, hidden))",
    "out = next(self.rotary_pos_emb(n) for n in hidden)\ntable, scale = out",
    "out = [self.rotary_pos_emb(0), self.rotary_pos_emb(1)]\ntable, scale = out[1]",
    "out = [self.rotary_pos_emb(0), self.rotary_pos_emb(1)]\ntable, scale = out[length]",
    "out = self.rotary_pos_emb(0), hidden\ntable, scale = out[0]",
    "out = [self.rotary_pos_emb(0), *map(self.rotary_pos_emb, hidden)]\nout = [self.rotary_pos_emb(0)]\ntable, scale = out[0]",
    "out = {'r': self.rotary_pos_emb(length), 'mask': hidden}\ntable, scale = out['r']",
    "out = {**hidden, 'r': self.rotary_pos_emb(length)}\ntable, scale = out['r']",
    "out = dict(r=self.rotary_pos_emb(length), mask=hidden)\ntable, scale = out['r']",
    "out = dict(**hidden, r=self.rotary_pos_emb(length))\ntable, scale = out['r']",
    "out = {n: self.rotary_pos_emb(n) for n in hidden}\ntable, scale = out[length]",
    "out = {}\nout['r'] = self.rotary_pos_emb(length)\ntable, scale = out.get('r')",
    "out['r'] = self.rotary_pos_emb(length)\ntable, scale = out.pop('r')",
    "out = []\nout.append(self.rotary_pos_emb(length))\ntable, scale = out[0]",
    "out = deque()\nout.appendleft(self.rotary_pos_emb(length))\nfor table, scale in out:\n    pass",
    "out = set()\nout.add(self.rotary_pos_emb(length))\nfor table, scale in out:\n    pass",
    "out = {}\nout.setdefault('r', self.rotary_pos_emb(length))\ntable, scale = out['r']",
    "table, scale = out.setdefault('r', self.rotary_pos_emb(length))",
    "out = {'m': hidden}\nout.setdefault('r', self.rotary_pos_emb(length))\ntable, scale = out['r']",
    "self.pair = self.rotary_pos_emb(length)\ntable, scale = self.pair",
    "self.pair = None\nself.pair = self.rotary_pos_emb(length)\ntable, scale = self.pair",
    "self.layer.pair = self.rotary_pos_emb(length)\ntable, scale = self.layer.pair",
    "self.a = self.b = self.rotary_pos_emb(length)\ntable, scale = self.a",
    "self.out = [self.rotary_pos_emb(length)]\ntable, scale = self.out[0]",
    "pair = self.rotary_pos_emb(length)\nself.pair = pair\ntable, scale = self.pair",
    "self.pair = self.rotary_pos_emb(length)\npair = self.pair\ntable, scale = pair",
    "rotate = lambda n: self.rotary_pos_emb(n)\ntable, scale = rotate(length)",
    "rotate: Rotate = lambda n: self.rotary_pos_emb(n)\ntable, scale = rotate(length)",
    "one = rotate = lambda n: self.rotary_pos_emb(n)\ntable, scale = one(length)",
    "one = rotate = lambda n: self.rotary_pos_emb(n)\ntable, scale = rotate(length)",
    "self.rotate = lambda n: self.rotary_pos_emb(n)\ntable, scale = self.rotate(length)",
    "use(rotate := lambda n: self.rotary_pos_emb(n))\ntable, scale = rotate(length)",
    "one, rotate = hidden, lambda n: self.rotary_pos_emb(n)\ntable, scale = rotate(length)",
    "rotate, *one = lambda n: self.rotary_pos_emb(n), 1, 2\ntable, scale = rotate(length)",
    "def inner(rotate=lambda n: self.rotary_pos_emb(n)):\n    table, scale = rotate(length)",
    "def inner(one, rotate=lambda n: self.rotary_pos_emb(n)):\n    table, scale = rotate(length)",
    "def inner(rotate=lambda n: self.rotary_pos_emb(n), one=1):\n    table, scale = rotate(length)",
    "def inner(one, /, rotate=lambda n: self.rotary_pos_emb(n)):\n    table, scale = rotate(length)",
    "def inner(rotate=lambda n: self.rotary_pos_emb(n), /, one=1):\n    table, scale = rotate(length)",
    "def inner(*, rotate=lambda n: self.rotary_pos_emb(n)):\n    table, scale = rotate(length)",
    "def inner(*, one, rotate=lambda n: self.rotary_pos_emb(n)):\n    table, scale = rotate(length)",
    "table, scale = (lambda n: self.rotary_pos_emb(n))(length)",
    "table, scale = (lambda rotary: rotary(length))(self.rotary_pos_emb)",
    "table, scale = (lambda n, rotary: rotary(n))(length, self.rotary_pos_emb)",
    "table, scale = (lambda n, /, rotary: rotary(n))(length, self.rotary_pos_emb)",
    "table, scale = (lambda n, rotary: rotary(n))(length, rotary=self.rotary_pos_emb)",
    "table, scale = (lambda n, more=1, *, out: out)(length, out=self.rotary_pos_emb(0))",
    "table, scale = (lambda out: out)(self.rotary_pos_emb(length))",
    "table, scale = (lambda a, out, b: out)(length, self.rotary_pos_emb(length), length)",
    "ways = {'r': lambda n: self.rotary_pos_emb(n)}\ntable, scale = ways['r'](length)",
    "ways = [lambda n: self.rotary_pos_emb(n)]\ntable, scale = ways[0](length)",
    "ways = {'r': self.rotary_pos_emb}\ntable, scale = ways['r'](length)",
    "ways = {}\nways['r'] = self.rotary_pos_emb\ntable, scale = ways['r'](length)",
    "ways = {}\nways['r'] = self.rotary_pos_emb\ntable, scale = ways.get('r')(length)",
    "return (lambda table, scale: table)(*self.rotary_pos_emb(length))",
    "return (lambda table, scale, /: table)(*self.rotary_pos_emb(length))",
    "return (lambda table, /, scale: table)(*self.rotary_pos_emb(length))",
    "return (lambda n, table, scale: table)(length, *self.rotary_pos_emb(length))",
    "use(hidden, key=[table for table, scale in map(self.rotary_pos_emb, hidden)])",
    "return lambda: [table for table, scale in map(self.rotary_pos_emb, hidden)]",
    "del hidden[[table for table, scale in map(self.rotary_pos_emb, hidden)]]",
    "hidden += [table for table, scale in map(self.rotary_pos_emb, hidden)]",
    "assert [table for table, scale in map(self.rotary_pos_emb, hidden)]",
    "if [table for table, scale in map(self.rotary_pos_emb, hidden)]:\n    pass",
    "while [table for table, scale in map(self.rotary_pos_emb, hidden)]:\n    pass",
    "for one in [table for table, scale in map(self.rotary_pos_emb, hidden)]:\n    pass",
    "return [table for table, scale in map(self.rotary_pos_emb, hidden)] if hidden else None",
    "return None if hidden else [table for table, scale in map(self.rotary_pos_emb, hidden)]",
    "return 1 if [table for table, scale in map(self.rotary_pos_emb, hidden)] else 2",
    "return hidden or [table for table, scale in map(self.rotary_pos_emb, hidden)]",
    "return (lambda: [table for table, scale in map(self.rotary_pos_emb, hidden)])()",
    "return (lambda n: n)([table for table, scale in map(self.rotary_pos_emb, hidden)])",
    "return (lambda n: n)(n=[table for table, scale in map(self.rotary_pos_emb, hidden)])\n",
]


def judged_line(statements: str) -> int:
    lines = statements.splitlines()
    taking = [number for number, line in enumerate(lines, 1) if "table, scale" in line]
    return (taking or [len(lines)])[-1]


@pytest.mark.parametrize("statements", JUDGED)
def test_results_are_counted(statements: str) -> None:
    line = judged_line(statements)

    assert within(statements, "rope") == [f"{line}: 2 of 1"]
    assert within(statements, "yarn") == []


@pytest.mark.parametrize("statements", JUDGED)
def test_three_results_are_too_many_for_every_class(statements: str) -> None:
    line = judged_line(statements)
    three = re.sub(r"(table(s?)), (/, )?scale", r"\1, more\2, \3scale", statements)

    assert within(three, "rope") == [f"{line}: 3 of 1"]
    assert within(three, "yarn") == [f"{line}: 3 of 2"]
