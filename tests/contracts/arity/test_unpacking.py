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


def blocks(text: str) -> list[str]:
    """Return the pieces of a text that empty lines separate."""
    return text.strip().split("\n\n")


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
JUDGED = blocks(
    """
out = {}
out.setdefault("r", self.rotary_pos_emb(length))
out.setdefault("h", hidden)
table, scale = out["r"]

out = self.rotary_pos_emb(length)
out = self.other(length)
if isinstance(out, tuple):
    table, scale = self.rotary_pos_emb(length)

yarn = self.config.rope_type == "yarn"
for yarn in hidden:
    pass
if yarn:
    table, scale = self.rotary_pos_emb(length)

table, scale = self.rotary_pos_emb(length)

[table, scale] = self.rotary_pos_emb(length)

table, scale = await self.rotary_pos_emb(length)

table, scale = self.rotary_pos_emb.forward(length)

table, scale = self.rotary_pos_emb.__call__(length)

table, scale = self.layer.rotary_pos_emb(length)

table, scale = getattr(self, "rotary_pos_emb")(length)

table, scale = list(self.rotary_pos_emb(length))

table, scale = [*self.rotary_pos_emb(length)]

table, scale = (*self.rotary_pos_emb(length),)

table, scale = (one for one in self.rotary_pos_emb(length))

table, scale = both = self.rotary_pos_emb(length)

both = table, scale = self.rotary_pos_emb(length)

(table, scale), other = self.rotary_pos_emb(length), hidden

other, (table, scale) = hidden, self.rotary_pos_emb(length)

out = self.rotary_pos_emb(length)
other = hidden
table, scale = out

out: Pair = self.rotary_pos_emb(length)
table, scale = out

out, other = self.rotary_pos_emb(length), hidden
table, scale = out

use(out := self.rotary_pos_emb(length))
table, scale = out

table, scale = (out := self.rotary_pos_emb(length))

out = self.rotary_pos_emb(length)
more = out
table, scale = more

rotary = self.rotary_pos_emb
table, scale = rotary(length)

rotary = self.rotary_pos_emb
table, scale = rotary.forward(length)

rotary = getattr(self, "rotary_pos_emb", None)
table, scale = rotary(length)

rotary = more = self.rotary_pos_emb
table, scale = more(length)

table, scale = partial(self.rotary_pos_emb, length)()

table, scale = functools.partial(self.rotary_pos_emb)(length)

if hidden:
    pass
else:
    table, scale = self.rotary_pos_emb(length)

if hidden:
    out = self.rotary_pos_emb(length)
else:
    out = hidden
table, scale = out

if hidden:
    out = hidden
else:
    out = self.rotary_pos_emb(length)
table, scale = out

if hidden:
    return
table, scale = self.rotary_pos_emb(length)

if hidden:
    pass
else:
    return
table, scale = self.rotary_pos_emb(length)

if hidden:
    raise Error
else:
    pass
table, scale = self.rotary_pos_emb(length)

if hidden:
    table, scale = self.rotary_pos_emb(length)
else:
    use(length)

if isinstance(hidden, tuple):
    table, scale = self.rotary_pos_emb(length)

if use(hidden):
    out = {}
else:
    out = {'r': self.rotary_pos_emb(0)}
table, scale = out['r']

if use(hidden):
    out = {'r': self.rotary_pos_emb(0)}
else:
    out = {}
table, scale = out['r']

def inner():
    return hidden
table, scale = self.rotary_pos_emb(length)

class Inner:
    pass
table, scale = self.rotary_pos_emb(length)

out = self.rotary_pos_emb(length)
more = self.rotary_pos_emb(length)
if len(more) == 2:
    pass
table, scale = out

out = [self.rotary_pos_emb(length)]
more = self.rotary_pos_emb(length)
if len(more) == 2:
    pass
table, scale = out[0]

for one in hidden:
    table, scale = self.rotary_pos_emb(one)

async for one in hidden:
    table, scale = self.rotary_pos_emb(one)

while hidden:
    table, scale = self.rotary_pos_emb(length)

while (out := self.rotary_pos_emb(length)) is not None:
    table, scale = out

for one in hidden:
    pass
else:
    table, scale = self.rotary_pos_emb(length)

for one in hidden:
    return
table, scale = self.rotary_pos_emb(length)

for one in hidden:
    break
table, scale = self.rotary_pos_emb(length)

for one in hidden:
    if one:
        continue
    table, scale = self.rotary_pos_emb(one)

for one in hidden:
    if one:
        break
    table, scale = self.rotary_pos_emb(one)

with open(length) as file:
    table, scale = self.rotary_pos_emb(length)

async with hidden:
    table, scale = self.rotary_pos_emb(length)

try:
    table, scale = self.rotary_pos_emb(length)
except KeyError:
    pass

try:
    use(length)
except KeyError:
    table, scale = self.rotary_pos_emb(length)

try:
    use(length)
except KeyError:
    pass
else:
    table, scale = self.rotary_pos_emb(length)

try:
    use(length)
finally:
    table, scale = self.rotary_pos_emb(length)

try:
    use(length)
except ValueError:
    pass
finally:
    table, scale = self.rotary_pos_emb(length)

try:
    return hidden
except KeyError:
    pass
table, scale = self.rotary_pos_emb(length)

try:
    use(length)
except KeyError:
    return
table, scale = self.rotary_pos_emb(length)

try:
    use(length)
except KeyError:
    pass
except OSError:
    return
table, scale = self.rotary_pos_emb(length)

try:
    return hidden
except ValueError:
    pass
table, scale = self.rotary_pos_emb(length)

try:
    table, scale = self.rotary_pos_emb(length)
except* KeyError:
    pass

try:
    table, scale = self.rotary_pos_emb(length)
except (OSError, KeyError):
    pass

match hidden:
    case 'rope':
        table, scale = self.rotary_pos_emb(length)

match hidden:
    case 'rope':
        return
table, scale = self.rotary_pos_emb(length)

match hidden:
    case 'rope':
        return
    case 'yarn':
        pass
    case _:
        return
table, scale = self.rotary_pos_emb(length)

match hidden:
    case 'rope':
        pass
    case _:
        return
table, scale = self.rotary_pos_emb(length)

match hidden:
    case 'rope':
        return
    case _:
        pass
table, scale = self.rotary_pos_emb(length)

match hidden:
    case _ if length:
        return
    case _:
        table, scale = self.rotary_pos_emb(length)

for table, scale in [self.rotary_pos_emb(0), self.rotary_pos_emb(1)]:
    pass

for table, scale in (self.rotary_pos_emb(0),):
    pass

for table, scale in {self.rotary_pos_emb(0)}:
    pass

for table, scale in [self.rotary_pos_emb(n) for n in hidden]:
    pass

for table, scale in {self.rotary_pos_emb(n) for n in hidden}:
    pass

for table, scale in (self.rotary_pos_emb(n) for n in hidden):
    pass

for table, scale in [out for out in [self.rotary_pos_emb(n) for n in hidden]]:
    pass

for table, scale in map(self.rotary_pos_emb, hidden):
    pass

for table, scale in map(lambda n: self.rotary_pos_emb(n), hidden):
    pass

for table, scale in reversed([self.rotary_pos_emb(n) for n in hidden]):
    pass

for table, scale in iter([self.rotary_pos_emb(n) for n in hidden]):
    pass

for table, scale in sorted([self.rotary_pos_emb(n) for n in hidden], key=use):
    pass

for table, scale in filter(use, [self.rotary_pos_emb(n) for n in hidden]):
    pass

for table, scale in list([self.rotary_pos_emb(n) for n in hidden]):
    pass

for n, (table, scale) in enumerate([self.rotary_pos_emb(n) for n in hidden]):
    pass

for n, (table, scale) in enumerate([self.rotary_pos_emb(n) for n in hidden], 1):
    pass

for n, (table, scale) in zip(hidden, map(self.rotary_pos_emb, hidden)):
    pass

for (table, scale), n in zip(map(self.rotary_pos_emb, hidden), hidden):
    pass

for a, b, (table, scale) in zip(hidden, hidden, map(self.rotary_pos_emb, hidden)):
    pass

out = {n: self.rotary_pos_emb(n) for n in hidden}
for table, scale in out.values():
    pass

out = {n: self.rotary_pos_emb(n) for n in hidden}
for n, (table, scale) in out.items():
    pass

out = {n: self.rotary_pos_emb(n) for n in hidden}
more = out
for table, scale in more.values():
    pass

out = [self.rotary_pos_emb(n) for n in hidden]
more = out
for table, scale in more:
    pass

for out in [self.rotary_pos_emb(n) for n in hidden]:
    table, scale = out

for out in self.rotary_pos_emb(0), self.rotary_pos_emb(1):
    table, scale = out

for rotary in [self.rotary_pos_emb]:
    table, scale = rotary(length)

for rotary, n in [(self.rotary_pos_emb, 0)]:
    table, scale = rotary(n)

return [table for table, scale in map(self.rotary_pos_emb, hidden)]

return {table for table, scale in map(self.rotary_pos_emb, hidden)}

return {table: 1 for table, scale in map(self.rotary_pos_emb, hidden)}

return (table for table, scale in map(self.rotary_pos_emb, hidden))

return [table for n in hidden for table, scale in map(self.rotary_pos_emb, n)]

return [table for n in hidden if n for table, scale in map(self.rotary_pos_emb, n)]

return [n for n in [out for table, scale in map(self.rotary_pos_emb, hidden)]]

return [use(table for table, scale in map(self.rotary_pos_emb, n)) for n in hidden]

return [n for n in hidden if [1 for table, scale in map(self.rotary_pos_emb, n)]]

tables, scales = zip(*map(self.rotary_pos_emb, hidden))

tables, scales = zip(*[self.rotary_pos_emb(n) for n in hidden])

tables, scales = zip(*[self.rotary_pos_emb(n) for n in hidden], strict=True)

out = [self.rotary_pos_emb(n) for n in hidden]
tables, scales = zip(*out)

table, scale = next(map(self.rotary_pos_emb, hidden))

table, scale = zip(*[self.rotary_pos_emb(0), self.rotary_pos_emb(1)])

table, scale = zip(*(self.rotary_pos_emb(0), self.rotary_pos_emb(1)))

table, scale = zip(*{self.rotary_pos_emb(0)})

out = next(self.rotary_pos_emb(n) for n in hidden)
table, scale = out

out = [self.rotary_pos_emb(0), self.rotary_pos_emb(1)]
table, scale = out[1]

out = [self.rotary_pos_emb(0), self.rotary_pos_emb(1)]
table, scale = out[length]

out = self.rotary_pos_emb(0), hidden
table, scale = out[0]

out = [self.rotary_pos_emb(0), *map(self.rotary_pos_emb, hidden)]
out = [self.rotary_pos_emb(0)]
table, scale = out[0]

out = {'r': self.rotary_pos_emb(length), 'mask': hidden}
table, scale = out['r']

out = {**hidden, 'r': self.rotary_pos_emb(length)}
table, scale = out['r']

out = dict(r=self.rotary_pos_emb(length), mask=hidden)
table, scale = out['r']

out = dict(**hidden, r=self.rotary_pos_emb(length))
table, scale = out['r']

out = {n: self.rotary_pos_emb(n) for n in hidden}
table, scale = out[length]

out = {}
out['r'] = self.rotary_pos_emb(length)
table, scale = out.get('r')

out['r'] = self.rotary_pos_emb(length)
table, scale = out.pop('r')

out = []
out.append(self.rotary_pos_emb(length))
table, scale = out[0]

out = deque()
out.appendleft(self.rotary_pos_emb(length))
for table, scale in out:
    pass

out = set()
out.add(self.rotary_pos_emb(length))
for table, scale in out:
    pass

out = {}
out.setdefault('r', self.rotary_pos_emb(length))
table, scale = out['r']

table, scale = out.setdefault('r', self.rotary_pos_emb(length))

out = {'m': hidden}
out.setdefault('r', self.rotary_pos_emb(length))
table, scale = out['r']

self.pair = self.rotary_pos_emb(length)
table, scale = self.pair

self.pair = None
self.pair = self.rotary_pos_emb(length)
table, scale = self.pair

self.layer.pair = self.rotary_pos_emb(length)
table, scale = self.layer.pair

self.a = self.b = self.rotary_pos_emb(length)
table, scale = self.a

self.out = [self.rotary_pos_emb(length)]
table, scale = self.out[0]

pair = self.rotary_pos_emb(length)
self.pair = pair
table, scale = self.pair

self.pair = self.rotary_pos_emb(length)
pair = self.pair
table, scale = pair

rotate = lambda n: self.rotary_pos_emb(n)
table, scale = rotate(length)

rotate: Rotate = lambda n: self.rotary_pos_emb(n)
table, scale = rotate(length)

one = rotate = lambda n: self.rotary_pos_emb(n)
table, scale = one(length)

one = rotate = lambda n: self.rotary_pos_emb(n)
table, scale = rotate(length)

self.rotate = lambda n: self.rotary_pos_emb(n)
table, scale = self.rotate(length)

use(rotate := lambda n: self.rotary_pos_emb(n))
table, scale = rotate(length)

one, rotate = hidden, lambda n: self.rotary_pos_emb(n)
table, scale = rotate(length)

rotate, *one = lambda n: self.rotary_pos_emb(n), 1, 2
table, scale = rotate(length)

def inner(rotate=lambda n: self.rotary_pos_emb(n)):
    table, scale = rotate(length)

def inner(one, rotate=lambda n: self.rotary_pos_emb(n)):
    table, scale = rotate(length)

def inner(rotate=lambda n: self.rotary_pos_emb(n), one=1):
    table, scale = rotate(length)

def inner(one, /, rotate=lambda n: self.rotary_pos_emb(n)):
    table, scale = rotate(length)

def inner(rotate=lambda n: self.rotary_pos_emb(n), /, one=1):
    table, scale = rotate(length)

def inner(*, rotate=lambda n: self.rotary_pos_emb(n)):
    table, scale = rotate(length)

def inner(*, one, rotate=lambda n: self.rotary_pos_emb(n)):
    table, scale = rotate(length)

table, scale = (lambda n: self.rotary_pos_emb(n))(length)

table, scale = (lambda rotary: rotary(length))(self.rotary_pos_emb)

table, scale = (lambda n, rotary: rotary(n))(length, self.rotary_pos_emb)

table, scale = (lambda n, /, rotary: rotary(n))(length, self.rotary_pos_emb)

table, scale = (lambda n, rotary: rotary(n))(length, rotary=self.rotary_pos_emb)

table, scale = (lambda n, more=1, *, out: out)(length, out=self.rotary_pos_emb(0))

table, scale = (lambda out: out)(self.rotary_pos_emb(length))

table, scale = (lambda a, out, b: out)(length, self.rotary_pos_emb(length), length)

ways = {'r': lambda n: self.rotary_pos_emb(n)}
table, scale = ways['r'](length)

ways = [lambda n: self.rotary_pos_emb(n)]
table, scale = ways[0](length)

ways = {'r': self.rotary_pos_emb}
table, scale = ways['r'](length)

ways = {}
ways['r'] = self.rotary_pos_emb
table, scale = ways['r'](length)

ways = {}
ways['r'] = self.rotary_pos_emb
table, scale = ways.get('r')(length)

return (lambda table, scale: table)(*self.rotary_pos_emb(length))

return (lambda table, scale, /: table)(*self.rotary_pos_emb(length))

return (lambda table, /, scale: table)(*self.rotary_pos_emb(length))

return (lambda n, table, scale: table)(length, *self.rotary_pos_emb(length))

use(hidden, key=[table for table, scale in map(self.rotary_pos_emb, hidden)])

return lambda: [table for table, scale in map(self.rotary_pos_emb, hidden)]

del hidden[[table for table, scale in map(self.rotary_pos_emb, hidden)]]

hidden += [table for table, scale in map(self.rotary_pos_emb, hidden)]

assert [table for table, scale in map(self.rotary_pos_emb, hidden)]

if [table for table, scale in map(self.rotary_pos_emb, hidden)]:
    pass

while [table for table, scale in map(self.rotary_pos_emb, hidden)]:
    pass

for one in [table for table, scale in map(self.rotary_pos_emb, hidden)]:
    pass

return [table for table, scale in map(self.rotary_pos_emb, hidden)] if hidden else None

return None if hidden else [table for table, scale in map(self.rotary_pos_emb, hidden)]

return 1 if [table for table, scale in map(self.rotary_pos_emb, hidden)] else 2

return hidden or [table for table, scale in map(self.rotary_pos_emb, hidden)]

return (lambda: [table for table, scale in map(self.rotary_pos_emb, hidden)])()

return (lambda n: n)([table for table, scale in map(self.rotary_pos_emb, hidden)])

return (lambda n: n)(n=[table for table, scale in map(self.rotary_pos_emb, hidden)])

"""
)


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


# What takes a result apart is done for YaRN alone, or with what there is.
DECIDED = blocks(
    """
if self.config.rope_type == "yarn":
    table, scale = self.rotary_pos_emb(length)

if self.config.rope_type != "yarn":
    pass
else:
    table, scale = self.rotary_pos_emb(length)

if self.config.rope_type != "yarn":
    return hidden
table, scale = self.rotary_pos_emb(length)

if self.config.rope_type == "rope":
    raise ValueError
table, scale = self.rotary_pos_emb(length)

yarn = self.config.rope_type == "yarn"
if yarn:
    table, scale = self.rotary_pos_emb(length)

yarn: bool = self.config.rope_type == "yarn"
if yarn:
    table, scale = self.rotary_pos_emb(length)

self.yarn = self.config.rope_type == "yarn"
if self.yarn:
    table, scale = self.rotary_pos_emb(length)

yarn, other = self.config.rope_type == "yarn", hidden
if yarn:
    table, scale = self.rotary_pos_emb(length)

use(yarn := self.config.rope_type == "yarn")
if yarn:
    table, scale = self.rotary_pos_emb(length)

for yarn in [self.config.rope_type == "yarn"]:
    if yarn:
        table, scale = self.rotary_pos_emb(length)

for yarn, one in zip([self.config.rope_type == "yarn"], hidden):
    if yarn:
        table, scale = self.rotary_pos_emb(length)

yarn = self.config.rope_type == "yarn"
use(yarn for yarn in hidden)
if yarn:
    table, scale = self.rotary_pos_emb(length)

yarn = self.config.rope_type == "yarn"
use(lambda yarn: yarn)
if yarn:
    table, scale = self.rotary_pos_emb(length)

yarn = self.config.rope_type == "yarn"
other = hidden
if yarn:
    table, scale = self.rotary_pos_emb(length)

table, scale = self.rotary_pos_emb(0) if self.config.rope_type == "yarn" else (hidden, 1)

out = hidden if self.config.rope_type == "rope" else self.rotary_pos_emb(0)
table, scale = out

match self.config.rope_type:
    case "yarn":
        table, scale = self.rotary_pos_emb(length)

match self.config.rope_type:
    case "rope":
        pass
    case _:
        table, scale = self.rotary_pos_emb(length)

match self.config.rope_type:
    case "rope":
        return
table, scale = self.rotary_pos_emb(length)

match self.config.rope_type:
    case "rope":
        return
    case "yarn":
        pass
table, scale = self.rotary_pos_emb(length)

match self.config.rope_type:
    case "yarn" if hidden:
        table, scale = self.rotary_pos_emb(length)

match hidden:
    case _ if self.config.rope_type == "yarn":
        table, scale = self.rotary_pos_emb(length)

match hidden:
    case _ if self.config.rope_type == "rope":
        return
    case _:
        table, scale = self.rotary_pos_emb(length)

if isinstance(self.rotary_pos_emb, YarnRotaryEmbedding):
    table, scale = self.rotary_pos_emb(length)

rotary = self.rotary_pos_emb
if self.config.rope_type == "yarn" and isinstance(rotary, Base):
    pass
elif self.config.rope_type == "yarn":
    table, scale = rotary(length)

out = self.rotary_pos_emb(length)
if isinstance(out, tuple):
    table, scale = out

for out in map(self.rotary_pos_emb, hidden):
    if isinstance(out, tuple):
        table, scale = out

self.pair = self.rotary_pos_emb(length)
if isinstance(self.pair, tuple):
    table, scale = self.pair

out = self.rotary_pos_emb(length)
use(out for out in hidden)
if not torch.is_tensor(out):
    table, scale = out

return [table for table, scale in map(self.rotary_pos_emb, hidden) if length] \\
    if self.config.rope_type == "yarn" else hidden

return hidden if self.config.rope_type == "rope" else \\
    [table for table, scale in map(self.rotary_pos_emb, hidden)]

return self.config.rope_type == "yarn" and \\
    [table for table, scale in map(self.rotary_pos_emb, hidden)]

return hidden and self.config.rope_type == "yarn" and \\
    [table for table, scale in map(self.rotary_pos_emb, hidden)]

return self.config.rope_type == "rope" or \\
    [table for table, scale in map(self.rotary_pos_emb, hidden)]

return [1 for n in hidden if self.config.rope_type == "yarn" \\
    for table, scale in map(self.rotary_pos_emb, n)]

return [1 for yarn in [self.config.rope_type == "yarn"] if yarn \\
    for table, scale in map(self.rotary_pos_emb, hidden)]

return [1 for out in map(self.rotary_pos_emb, hidden) if isinstance(out, tuple) \\
    for table, scale in [out]]

return (lambda yarn: yarn and [1 for table, scale in map(self.rotary_pos_emb, hidden)])( \\
    self.config.rope_type == "yarn")

return (lambda n, yarn: yarn and [1 for table, scale in map(self.rotary_pos_emb, n)])( \\
    hidden, yarn=self.config.rope_type == "yarn")
"""
)


@pytest.mark.parametrize("statements", DECIDED)
def test_results_are_counted_where_they_are_taken(statements: str) -> None:
    line = judged_line(statements)
    three = re.sub("table, scale", "table, more, scale", statements)

    assert within(statements, "rope") == within(statements, "yarn") == []
    assert within(three, "rope") == []
    assert within(three, "yarn") == [f"{line}: 3 of 2"]


SILENT = blocks(
    """
out = self.rotary_pos_emb(length)
return (lambda out: [one for one, two in [out]])(*hidden)

out = self.cache()
out.put("r", self.rotary_pos_emb(length))
one, two = out["r"]

out = {}
out.setdefault(self.rotary_pos_emb(length))
one, two = out[length]

one, two = self.other(length)

one, two = rotary_pos_emb(length)

one, two = self.rotary_pos_emb.get_cached(length)

one, two = getattr(self, "other")(length)

one, two = getattr(self)(length)

one, two = getattr(self, rotary_pos_emb)(length)

one, two = find(self, "rotary_pos_emb")(length)

one, two = partial()(length)

one, two = wraps(self.rotary_pos_emb)(length)

one, two = forward(length)

one, two = hidden.forward(length)

rotary = self.rotary_pos_emb
rotary = hidden
one, two = rotary(length)

rotary = self.rotary_pos_emb
for rotary in hidden:
    one, two = rotary(length)

out = self.rotary_pos_emb(length)
out = hidden
one, two = out

out = self.rotary_pos_emb(length)
out = hidden, length
one, two = out

out = [self.rotary_pos_emb(length)]
out = hidden
one, two = out[0]

out = [self.rotary_pos_emb(length)]
for out in hidden:
    one, two = out[0]

out = self.rotary_pos_emb(length)
for key, out in hidden:
    one, two = out

out = self.rotary_pos_emb(length)
for key, out in enumerate(hidden):
    one, two = out

out = hidden
use(out for out in map(self.rotary_pos_emb, hidden))
one, two = out

out = self.rotary_pos_emb(length)
use(lambda out: [one for one, two in [out]])

out = self.rotary_pos_emb(length)
one, two, three = (lambda out: out)()

out = self.rotary_pos_emb(length)
use(lambda *out: [one for one, two in [out]])

return
one, two, three = self.rotary_pos_emb(length)

raise ValueError
one, two, three = self.rotary_pos_emb(length)

if hidden:
    return
else:
    raise ValueError
one, two, three = self.rotary_pos_emb(length)

with hidden:
    return
one, two, three = self.rotary_pos_emb(length)

while hidden:
    pass
else:
    return
one, two, three = self.rotary_pos_emb(length)

try:
    return hidden
except KeyError:
    raise
one, two, three = self.rotary_pos_emb(length)

try:
    return hidden
finally:
    use(length)
one, two, three = self.rotary_pos_emb(length)

try:
    use(length)
finally:
    return hidden
one, two, three = self.rotary_pos_emb(length)

try:
    use(length)
except KeyError:
    pass
else:
    use(hidden)
finally:
    return hidden
one, two, three = self.rotary_pos_emb(length)

try:
    use(length)
except ValueError:
    pass
finally:
    return hidden
one, two, three = self.rotary_pos_emb(length)

match hidden:
    case _:
        return
one, two, three = self.rotary_pos_emb(length)

try:
    one, two, three = self.rotary_pos_emb(length)
except ValueError:
    pass

try:
    one, two, three = self.rotary_pos_emb(length)
except TypeError:
    pass

try:
    one, two, three = self.rotary_pos_emb(length)
except Exception:
    pass

try:
    one, two, three = self.rotary_pos_emb(length)
except builtins.BaseException:
    pass

try:
    one, two, three = self.rotary_pos_emb(length)
except:
    pass

try:
    one, two, three = self.rotary_pos_emb(length)
except KeyError:
    pass
except:
    pass

try:
    one, two, three = self.rotary_pos_emb(length)
except KeyError:
    pass
except (OSError, ValueError):
    pass

try:
    one, two, three = self.rotary_pos_emb(length)
except* ValueError:
    pass

out = self.rotary_pos_emb(length)
if len(out) == 3:
    one, two, three = out

out = self.rotary_pos_emb(length)
if len(out) == 2:
    pass
else:
    one, two, three = out

out = self.rotary_pos_emb(length)
if len(out) == 3:
    pass
one, two, three = out

out = more = self.rotary_pos_emb(length)
if len(more) == 3:
    out = hidden
one, two, three = out

more = self.rotary_pos_emb(length)
if len(more) == 3:
    out = self.rotary_pos_emb(length)
one, two, three = out

out = [self.rotary_pos_emb(length)]
if len(out[0]) == 3:
    pass
one, two, three = out[0]

out = [self.rotary_pos_emb(length)]
more = self.rotary_pos_emb(length)
if len(more) == 3:
    out = hidden
one, two, three = out[0]

more = self.rotary_pos_emb(length)
if len(more) == 3:
    out = [self.rotary_pos_emb(length)]
one, two, three = out[0]

out = self.rotary_pos_emb(length)
return [one for one, two, three in [out]] if len(out) == 3 else out

out = self.rotary_pos_emb(length)
return len(out) == 3 and [one for one, two, three in [out]]

out = self.rotary_pos_emb(length)
return isinstance(out, Pair) or [one for one, two, three in [out]]

use(one for out in map(self.rotary_pos_emb, hidden) if len(out) == 3 for one, two, three in [out])

for one, two, three in [out for out in map(self.rotary_pos_emb, hidden) if len(out) == 3]:
    pass

out = {n: pair for n, pair in zip(hidden, map(self.rotary_pos_emb, hidden)) if len(pair) == 3}
one, two, three = out[length]

if self.layer.three:
    one, two, three = self.rotary_pos_emb(length)
else:
    out = self.rotary_pos_emb(length)

if self.layer.one:
    out = self.rotary_pos_emb(length)
else:
    one, two, three = self.rotary_pos_emb(length)

if self.layer.one:
    for out in map(self.rotary_pos_emb, hidden):
        use(out)
else:
    one, two, three = self.rotary_pos_emb(length)

out = self.rotary_pos_emb(length)
return [one for one, two, three in [out]] if self.layer.three else out

out = self.rotary_pos_emb(length)
return out if self.layer.one else [one for one, two, three in [out]]

one, two = zip(*hidden)

one, two = zip(*[])

one, two = zip([self.rotary_pos_emb(0)])

one, two = hidden.zip(*[self.rotary_pos_emb(0)])

one, two = next(hidden)

one, two = next(iter([self.rotary_pos_emb(0)]), None)

for one, two in zip(hidden, hidden):
    pass

for one, two in chain(hidden, hidden):
    pass

for one, two in enumerate([self.rotary_pos_emb(0)]):
    pass

for one in zip(map(self.rotary_pos_emb, hidden)):
    pass

out = {n: self.rotary_pos_emb(n) for n in hidden}
for one, two in out:
    pass
for one, two in out.items():
    pass
for one, two in out.keys():
    pass
for one, two, three in out.items():
    pass

out = {}
out[hidden] = self.rotary_pos_emb(length)
for one, two in out:
    pass

out = dict(**hidden, r=self.rotary_pos_emb(length))
for one, two in sorted(out):
    pass

out = {hidden: self.rotary_pos_emb(length)}
for one, two in out:
    pass

out = dict([("r", self.rotary_pos_emb(length))])
one, two = out["r"]

out = [self.rotary_pos_emb(0), (hidden, 1)]
one, two = out[1]

out = {"r": self.rotary_pos_emb(0), "sizes": hidden}
one, two = out["sizes"]

out = []
out.extend(self.rotary_pos_emb(length))
one, two, three = out[0]

out = []
out.append()
one, two = out[0]

append(self.rotary_pos_emb(length))

(lambda *parts: parts)(*self.rotary_pos_emb(length))

(lambda one, *parts: parts)(*self.rotary_pos_emb(length))

(lambda one, two=2, three=3: one)(*self.rotary_pos_emb(length))

(lambda one, two, three: one)(*self.rotary_pos_emb(length), three=3)

(lambda one, two, three, four: one)(*self.rotary_pos_emb(0), *self.rotary_pos_emb(1))

(lambda one, two, three: one)(*hidden)

one, two, three = (lambda one, out: out)(*hidden, self.rotary_pos_emb(0))

one, *rest = hidden

print(self.rotary_pos_emb(length), self.rotary_pos_emb)

table: Tensor
"""
)


@pytest.mark.parametrize("kind", ["rope", "yarn"])
@pytest.mark.parametrize("statements", SILENT)
def test_what_says_nothing_of_a_result(statements: str, kind: str) -> None:
    # A function that does not mention the embedding is not followed at all.
    assert within(f"use(self.rotary_pos_emb)\n{statements}", kind) == []


NOTES = blocks(
    """
for one, two in zip([self.rotary_pos_emb(0)], hidden, hidden):
    pass

for one, two in zip(*[self.rotary_pos_emb(0)], hidden):
    pass

for one, two in zip_longest([self.rotary_pos_emb(0)], hidden):
    pass

for one, two in itertools.chain([self.rotary_pos_emb(0)], hidden):
    pass

for one, two in starmap(self.rotary_pos_emb, hidden):
    pass

for one, two in map(use, [self.rotary_pos_emb(0)]):
    pass

for one, two in product([self.rotary_pos_emb(0)], hidden):
    pass

for one, two in pairwise([self.rotary_pos_emb(0)]):
    pass

for one, two in batched([self.rotary_pos_emb(0)], 2):
    pass

for [one, two] in chain(getattr(self, "rotary_pos_emb")):
    pass

out = {"r": self.rotary_pos_emb(0)}
for one, two in chain(out.values(), hidden):
    pass

out = self.rotary_pos_emb(0)
for one, two in chain(hidden, out):
    pass

out = [self.rotary_pos_emb(0), hidden]
for one, two in out:
    pass

out = [self.rotary_pos_emb(0), hidden]
for one, two in list(out):
    pass

one, two = zip(*[self.rotary_pos_emb(0), hidden])

one, two = next(chain([self.rotary_pos_emb(0)]))

out = [self.rotary_pos_emb(0), *hidden]
one, two = out[0]

out = [*hidden, self.rotary_pos_emb(0)]
one, two = out[0]

out = {**hidden, "r": self.rotary_pos_emb(0)}
one, two = out["mask"]

out = dict(**hidden, r=self.rotary_pos_emb(0))
one, two = out["mask"]

out = {length: self.rotary_pos_emb(0), hidden: hidden}
one, two = out["mask"]

if self.layer:
    out = {"r": self.rotary_pos_emb(0)}
else:
    out = {"r": hidden}
one, two = out["r"]

out = [self.rotary_pos_emb(0), hidden]
one, two = list(out[length])
"""
)


@pytest.mark.parametrize("kind", ["rope", "yarn"])
@pytest.mark.parametrize("statements", NOTES)
def test_what_may_be_a_result_is_of_an_unknown_number(statements: str, kind: str) -> None:
    lines = statements.splitlines()
    (taking,) = [n for n, line in enumerate(lines, 1) if "one, two" in line]

    assert within(statements, kind) == [f"{taking}: 2 of an unknown number"]


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ("out[0]", "2 of 1"),
        ("out[1]", "2 of 1"),
        ("out[2]", "3 of 1"),
        ("out[-1]", "2 of 1"),
        ("out[-3]", "2 of 1"),
        ("self.rotary_pos_emb(length)[0]", "2 of 1"),
        ("use(hidden, key=out[0])", "2 of 1"),
        ("out[0] if self.layer else length", "2 of 1"),
        ("length if self.layer else out[0]", "2 of 1"),
        ("hidden or out[0]", "2 of 1"),
        ("(lambda: out[0])()", "2 of 1"),
        ("(lambda other: other[0])(out)", "2 of 1"),
        ("[out[0] for one in hidden]", "2 of 1"),
        ("{one: out[0] for one in hidden}", "2 of 1"),
        ("[one for one in hidden if out[0]]", "2 of 1"),
        ("out[True]", None),
        ("out['a']", None),
        ("out[length]", None),
        ("out[-length]", None),
        ("out[~1]", None),
        ("out[0:1]", None),
        ("hidden[0]", None),
        ("out[0] if self.layer else out", None),
        ("out if self.layer else out[0]", None),
        ("out[0] if len(out) == 2 else out", None),
        ("out[0] if isinstance(out, tuple) else out", None),
        ("isinstance(out, tuple) and out[0]", None),
        ("not isinstance(out, tuple) or out[0]", None),
        ("lambda out: out[0]", None),
        ("[out[0] for out in hidden]", None),
        ("{out[0]: 1 for out in hidden}", None),
    ],
)
def test_position_of_one_tensor_is_taken_for_a_result(value: str, numbers: str | None) -> None:
    statements = f"out = self.rotary_pos_emb(length)\nreturn {value}"

    assert within(statements, "rope") == ([f"2: {numbers}"] if numbers else [])
    assert within(statements, "yarn") == []


@pytest.mark.parametrize(
    ("targets", "rope", "yarn"),
    [
        ("one, *rest", "1 of 1", None),
        ("*rest, one", "1 of 1", None),
        ("one, two, *rest", "2 of 1", None),
        ("one, two, three, *rest", "3 of 1", "3 of 2"),
        ("one,", None, "1 of 2"),
        ("*rest,", "0 of 1", None),
    ],
)
def test_rest_of_the_results(targets: str, rope: str | None, yarn: str | None) -> None:
    statement = f"{targets} = self.rotary_pos_emb(length)"

    assert within(statement, "rope") == ([f"1: {rope}"] if rope else [])
    assert within(statement, "yarn") == ([f"1: {yarn}"] if yarn else [])


SEVERAL = [
    # Both branches are wrong, and what came before them is in any case.
    (
        (
            "if self.layer:\n    a, b, c = self.rotary_pos_emb(0)\n"
            "else:\n    a, b, c = self.rotary_pos_emb(1)"
        ),
        ["2: 3 of 2", "4: 3 of 2"],
    ),
    (
        (
            "a, b, c = self.rotary_pos_emb(0)\n"
            "if self.layer:\n    a, b, c = self.rotary_pos_emb(1)\n"
            "else:\n    a, b = self.rotary_pos_emb(1)"
        ),
        ["1: 3 of 2"],
    ),
    (
        "out = self.rotary_pos_emb(0)\na, b, c = out\nif len(out) == 4:\n    a, b, c, d = out",
        ["2: 3 of 2"],
    ),
    (
        (
            "out = self.rotary_pos_emb(0)\na, b, c = out\n"
            "return [1 for a, b, c in [out]] if self.layer else out"
        ),
        ["2: 3 of 2"],
    ),
    # Of two of one line, the one whose number is known.
    ("out = self.rotary_pos_emb(0)\na, b, c = out; a, b, c, d = out", ["2: 3 of 2"]),
    (
        "all = [self.rotary_pos_emb(0), 1]\na, b = all[length]; a, b, c = self.rotary_pos_emb(0)",
        ["2: 3 of 2"],
    ),
    (
        "all = [self.rotary_pos_emb(0), 1]\na, b, c = self.rotary_pos_emb(0); a, b = all[length]",
        ["2: 3 of 2"],
    ),
    (
        "for a, b, c in [self.rotary_pos_emb(0)]:\n    pass\na, b, c = self.rotary_pos_emb(0)",
        ["1: 3 of 2", "3: 3 of 2"],
    ),
]


@pytest.mark.parametrize(("statements", "places"), SEVERAL)
def test_several_places(statements: str, places: list[str]) -> None:
    assert within(statements, "yarn") == places


def test_places_are_told_in_the_order_of_modules_and_lines() -> None:
    text = "def get_spec():\n    a, b = self.rotary_pos_emb(0)\n" * 2
    modules = [Module(name, Path("x.py"), ast.parse(text)) for name in ("b", "a")]
    parts = [Part(module, node) for module in modules for node in reversed(module.tree.body)]

    found = unpacking.find(parts, Facts({}, "RotaryEmbedding", 1))

    assert [(one.module.name, one.line) for one in found] == [
        ("a", 2),
        ("a", 4),
        ("b", 2),
        ("b", 4),
    ]


HANDED = [
    ("def split(out)", "split(OUT)"),
    ("def split(n, out)", "split(length, OUT)"),
    ("def split(n, *, out)", "split(length, out=OUT)"),
    ("def split(out, /, n)", "split(OUT, length)"),
    ("def split(n, /, out)", "split(length, OUT)"),
    ("def split(n, out)", "split(length, **hidden, out=OUT)"),
    ("async def split(n, out)", "split(length, OUT)"),
    ("split = lambda out", "split(OUT)"),
    ("split = lambda n, out", "split(length, out=OUT)"),
    ("def split(self, out)", "self.split(OUT)"),
    ("def split(cls, n, out)", "self.split(length, OUT)"),
    ("def split(self, n, /, out)", "self.layer.split(length, OUT)"),
]


@pytest.mark.parametrize(("head", "call"), HANDED)
def test_result_that_a_function_is_given(head: str, call: str) -> None:
    given = call.replace("OUT", "self.rotary_pos_emb(length)")
    body = " [1 for a, b, c in [out]]" if "lambda" in head else "\n    a, b, c = out"
    text = f"{FORWARD}\n        return {given}\n\n{head}:{body}\n"

    line = 5 if "lambda" in head else 6
    assert taken(text, "rope") == [f"{line}: 3 of 1"]
    assert taken(text, "yarn") == [f"{line}: 3 of 2"]


@pytest.mark.parametrize(("head", "call"), HANDED)
def test_embedding_that_a_function_is_given(head: str, call: str) -> None:
    given = call.replace("OUT", "self.rotary_pos_emb")
    body = " [1 for a, b, c in [out(0)]]" if "lambda" in head else "\n    a, b, c = out(0)"
    text = f"{FORWARD}\n        return {given}\n\n{head}:{body}\n"

    line = 5 if "lambda" in head else 6
    assert taken(text, "rope") == [f"{line}: 3 of 1"]
    assert taken(text, "yarn") == [f"{line}: 3 of 2"]


@pytest.mark.parametrize(
    ("head", "call", "body"),
    [
        ("def split(*out)", "split(self.rotary_pos_emb(0))", "a, b, c = out"),
        ("def split(n, out)", "split(hidden, 1, self.rotary_pos_emb(0))", "a, b, c = out"),
        ("def split(n, out)", "split(self.rotary_pos_emb(0), hidden)", "a, b, c = out"),
        ("def split(self, out)", "split(self.rotary_pos_emb(0), hidden)", "self.a, = hidden"),
        ("def split(out)", "split(hidden)", "a, b, c = out"),
        ("def split(out)", "divide(self.rotary_pos_emb(0))", "a, b, c = out"),
        ("def split(out)", "split(other=self.rotary_pos_emb(0))", "a, b, c = out"),
        # What a function does with a tensor that it is given is its own affair.
        ("def split(out)", "split(self.rotary_pos_emb(0))", "a = out[0]"),
        ("def split(out)", "split(self.rotary_pos_emb(0))", "if out is None: a, b, c = out"),
        ("def split(out)", "split(self.rotary_pos_emb(0))", "if len(out) == 3: a, b, c = out"),
    ],
)
def test_function_that_is_given_something_else(head: str, call: str, body: str) -> None:
    text = f"{FORWARD}\n        return {call}\n\n{head}:\n    {body}\n"

    assert taken(text, "rope") == taken(text, "yarn") == []


def test_what_is_given_is_followed_through_several_functions() -> None:
    """Also where one calls itself, or is called with several things."""
    text = f"""\
{FORWARD}
        first(self.rotary_pos_emb(0))
        last(hidden)
        return first(hidden)
def first(out):
    return last(out, first(out))
def last(out, more):
    a, b, c = out
"""

    assert taken(text, "rope") == ["9: 3 of 1"]


def test_last_function_of_a_name_is_the_one_that_is_called() -> None:
    text = f"""\
{FORWARD}
        split(self.rotary_pos_emb(0))
def split(out):
    a, b, c = out
def split(n):
    a, b, c = n
"""

    assert taken(text, "rope") == ["7: 3 of 1"]


WRAPPERS = [
    ("return self.rotary_pos_emb(n)", "1", "2"),
    ("return (out := self.rotary_pos_emb(n))", "1", "2"),
    ("out = self.rotary_pos_emb(n)\n    return out", "1", "2"),
    ("if n:\n        return\n    return self.rotary_pos_emb(n)", "1", "2"),
    (
        "if n:\n        return self.rotary_pos_emb(n), 1\n    return self.rotary_pos_emb(n)",
        None,
        "2",
    ),
    ("if n:\n        return self.rotary_pos_emb(n)\n    return None", None, None),
    ("if n:\n        return n\n    return self.rotary_pos_emb(n)", None, None),
    ("return self.rotary_pos_emb(n) if n else (n, 1)", None, "2"),
    ("return self.rotary_pos_emb(n) if rope_type == 'yarn' else (n, 1)", None, "2"),
    ("return (n, 1) if rope_type == 'yarn' else self.rotary_pos_emb(n)", "1", None),
    ("return self.rotary_pos_emb(n), 1", None, None),
    ("return use(self.rotary_pos_emb(n))", None, None),
    ("self.rotary_pos_emb(n)", None, None),
    ("self.out = [self.rotary_pos_emb(n)]\n    return self.out[0]", "1", "2"),
]


@pytest.mark.parametrize(("body", "rope", "yarn"), WRAPPERS)
def test_function_that_hands_on_a_result(body: str, rope: str | None, yarn: str | None) -> None:
    text = f"{FORWARD}\n        a, b, c = self.rotate(length)\ndef rotate(self, n):\n    {body}\n"

    assert taken(text, "rope") == ([f"3: 3 of {rope}"] if rope else [])
    assert taken(text, "yarn") == ([f"3: 3 of {yarn}"] if yarn else [])


@pytest.mark.parametrize("step", [1, -1])
def test_functions_that_hand_on_what_others_do(step: int) -> None:
    """In whatever order they are written."""
    chain = [f"def rotate{n}(n):\n    return rotate{n + 1}(n)\n" for n in range(6)]
    chain.append("def rotate6(n):\n    return self.rotary_pos_emb(n)\n")
    text = f"{FORWARD}\n        a, b, c = rotate0(length)\n" + "".join(chain[::step])

    assert taken(text, "rope") == ["3: 3 of 1"]


@pytest.mark.parametrize(
    ("other", "rope", "yarn"),
    [
        ("return self.rotary_pos_emb(n)", ["3: 3 of 1"], ["3: 3 of 2"]),
        ("out = self.rotary_pos_emb(n)\n    return out, 1", [], []),
        ("return n", [], []),
    ],
)
def test_name_of_several_functions(other: str, rope: list[str], yarn: list[str]) -> None:
    one = "def rotate(n):\n    return self.rotary_pos_emb(n)\n"
    two = f"def rotate(n):\n    {other}\n"
    for functions in (one + two, two + one):
        text = f"{FORWARD}\n        a, b, c = rotate(length)\n{functions}"

        assert taken(text, "rope") == rope
        assert taken(text, "yarn") == yarn


def test_method_of_the_embeddings_name_is_no_other_function() -> None:
    text = f"""\
{FORWARD}
        a, b, c = self.rotary_pos_emb(0)
        a, b, c = self.rotate(1)
    def rotary_pos_emb(self, n):
        return self.inner.rotary_pos_emb(n), 1, 2
    def rotate(self, n):
        return self.rotary_pos_emb(n)
"""

    assert taken(text, "rope") == ["3: 3 of 1", "4: 3 of 1"]


CONSTRUCTED = [
    ("self.ROTARY = YarnRotaryEmbedding(64)", "2", "2"),
    ("self.ROTARY = RotaryEmbedding(64)", "1", "1"),
    ("self.ROTARY = megatron.MultimodalRotaryEmbedding(64)", "1", "1"),
    ("self.ROTARY: Base = YarnRotaryEmbedding(64)", "2", "2"),
    ("self.ROTARY = self.other = YarnRotaryEmbedding(64)", "2", "2"),
    ("self.ROTARY = build(64)", "2", "2"),
    ("self.ROTARY = build_chosen(64)", "1", "2"),
    ("self.ROTARY = build_any(64)", "1", "2"),
    ("self.ROTARY = YarnRotaryEmbedding(64) if config.large else None", "2", "2"),
    ("self.ROTARY = None if config.large else build(64)", "2", "2"),
    ("self.ROTARY = YarnRotaryEmbedding(1) if config.large else RotaryEmbedding(1)", "1", "2"),
    ("self.ROTARY = RotaryEmbedding(1)\n        self.ROTARY = build(1)", "1", "2"),
    (
        (
            "self.ROTARY = YarnRotaryEmbedding(1)\n    def reset(self):\n"
            "        self.ROTARY = RotaryEmbedding(1)"
        ),
        "1",
        "2",
    ),
    (
        (
            "self.ROTARY = None if config.large else (YarnRotaryEmbedding(1) "
            "if config.rope_type == 'rope' else RotaryEmbedding(1))"
        ),
        "2",
        "1",
    ),
    (
        (
            "self.ROTARY = (YarnRotaryEmbedding(1) if config.rope_type == 'rope' else "
            "RotaryEmbedding(1)) if config.large else None"
        ),
        "2",
        "1",
    ),
    (
        (
            "self.ROTARY = YarnRotaryEmbedding(1) if config.rope_type == 'rope' else "
            "RotaryEmbedding(1)"
        ),
        "2",
        "1",
    ),
    (
        (
            "if config.rope_type == 'rope':\n            self.ROTARY = YarnRotaryEmbedding(1)\n"
            "        else:\n            self.ROTARY = RotaryEmbedding(1)"
        ),
        "2",
        "1",
    ),
]


@pytest.mark.parametrize("name", ["rotary_pos_emb", "angles"])
@pytest.mark.parametrize(("statement", "rope", "yarn"), CONSTRUCTED)
def test_embedding_that_the_adapter_constructs(
    name: str, statement: str, rope: str, yarn: str
) -> None:
    text = f"""\
{FORWARD}
        a, b, c = self.{name}(length)
    def __init__(self, config):
        {statement.replace("ROTARY", name)}
def build(size):
    return YarnRotaryEmbedding(size)
def build_chosen(size):
    if config.rope_type == "rope":
        return RotaryEmbedding(size)
    return YarnRotaryEmbedding(size) if config.rope_type == "yarn" else RotaryEmbedding(size)
def build_any(size):
    if size:
        return RotaryEmbedding(size)
    return YarnRotaryEmbedding(size)
"""

    assert taken(text, "rope") == [f"3: 3 of {rope}"]
    assert taken(text, "yarn") == [f"3: 3 of {yarn}"]


@pytest.mark.parametrize(
    "statement",
    [
        "self.angles = AngleTable(64)",
        "self.angles = make(64)",
        "self.angles: Base",
        "self.angles = RotaryEmbedding",
        "self.angles = AngleTable(64) if config.large else None",
        "self.angles = AngleTable(RotaryEmbedding(64))",
    ],
)
def test_what_is_no_embedding(statement: str) -> None:
    text = f"""\
{FORWARD}
        a, b, c = self.angles(length)
    def __init__(self, config):
        {statement}
def make(size):
    RotaryEmbedding(size)
    return AngleTable(size)
"""

    assert taken(text, "rope") == taken(text, "yarn") == []


@pytest.mark.parametrize(
    "text",
    [
        "angles = RotaryEmbedding(64)\ndef forward(n):\n    a, b, c = angles(n)",
        "angles: Base = RotaryEmbedding(64)\ndef forward(n):\n    a, b, c = angles(n)",
        (
            "class Attention:\n    angles = RotaryEmbedding(64)\n"
            "    def forward(self, n): a, b, c = self.angles(n)"
        ),
        (
            "class Attention:\n    angles: Base\n    angles = RotaryEmbedding(64)\n"
            "    def forward(self, n): a, b, c = self.angles(n)"
        ),
        (
            "class Attention:\n    angles = RotaryEmbedding(64)\n    table = Table(64)\n"
            "    def forward(self, n): a, b, c = self.angles(n)"
        ),
        (
            "class Attention:\n    angles = RotaryEmbedding(64) if large else None\n"
            "    def forward(self, n): a, b, c = self.angles(n)"
        ),
    ],
)
def test_embedding_of_a_module_or_a_class(text: str) -> None:
    line = 1 + text[: text.index("a, b, c")].count("\n")

    assert taken(text, "rope") == taken(text, "yarn") == [f"{line}: 3 of 1"]


def test_class_that_the_adapter_constructs_is_asked_for() -> None:
    text = f"""\
{FORWARD}
        if isinstance(self.rotary_pos_emb, YarnRotaryEmbedding):
            a, b, c = self.rotary_pos_emb(length)
    def __init__(self, config):
        self.rotary_pos_emb = YarnRotaryEmbedding(64)
"""

    assert taken(text, "rope") == ["4: 3 of 2"]


@pytest.mark.parametrize("large", ["RotaryEmbedding", "MultimodalRotaryEmbedding"])
def test_class_is_open_where_several_return_as_much(large: str) -> None:
    text = f"""\
{FORWARD}
        if isinstance(self.rotary_pos_emb, {large}):
            a, b, c = self.rotary_pos_emb(length)
    def __init__(self, config):
        self.rotary_pos_emb = MultimodalRotaryEmbedding(6)
    def enlarge(self):
        self.rotary_pos_emb = {large}(64)
"""

    assert taken(text, "rope") == ["4: 3 of 1"]


@pytest.mark.parametrize(
    ("constants", "setting", "condition", "decided"),
    [
        ('KIND = "yarn"', "pass", "self.config.rope_type == KIND", True),
        ('KIND: str = "yarn"', "pass", "self.config.rope_type == KIND", True),
        ('OTHER = KIND = "yarn"', "pass", "self.config.rope_type == KIND", True),
        ('KIND: str\nKIND = "yarn"', "pass", "self.config.rope_type == KIND", True),
        ('KIND = "yarn"\nKIND = "other"', "pass", "self.config.rope_type == KIND", False),
        ('if 1:\n    KIND = "yarn"', "pass", "self.config.rope_type == KIND", False),
        ('layer.KIND = "yarn"', "pass", "self.config.rope_type == self.KIND", True),
        ('layer.KIND = "yarn"', "pass", "self.config.rope_type == KIND", False),
        ('KIND = "yarn"', "pass", "self.config.rope_type == self.KIND", False),
        ("KIND = 1", "self.yarn = config.rope_type == 'yarn'", "self.yarn", True),
        ("KIND = 1", "self.yarn: bool = config.rope_type == 'yarn'", "self.yarn", True),
        ("KIND = 1", "self.yarn: bool", "self.yarn", False),
        ("KIND = 1", "yarn = config.rope_type == 'yarn'", "yarn", False),
        (
            "KIND = 1",
            "self.yarn = self.large = config.rope_type == 'yarn'; self.large = True",
            "self.yarn",
            True,
        ),
        (
            "KIND = 1",
            "self.yarn = self.large = config.rope_type == 'yarn'; self.large = True",
            "self.large",
            False,
        ),
    ],
)
def test_condition_by_what_is_bound_once(
    constants: str, setting: str, condition: str, decided: bool
) -> None:
    text = f"""\
class Attention(Base):
    def __init__(self, config):
        {setting}
    def forward(self, length):
        if {condition}:
            a, b, c = self.rotary_pos_emb(length)
{constants}
"""

    assert taken(text, "rope") == ([] if decided else ["6: 3 of 1"])
    assert taken(text, "yarn") == ["6: 3 of 2"]


KEEPING = """\
class Attention(Base):
    def forward(self, length):
        a, b, c = PLACE
    def fill(self, length):
        PLACE = self.rotary_pos_emb(length)
    def set(self, other):
        OTHER
"""


@pytest.mark.parametrize(
    ("place", "other", "known"),
    [
        ("self.pair", "self.pair = None", True),
        ("self.pair", "self.pair = self.other = None", True),
        ("self.pair", "self.pair: Pair = None", True),
        ("self.pair", "self.pair: Pair", True),
        ("self.layer.pair", "self.pair = other", True),
        ("self.pair", "self.pair = other", False),
        ("self.pair", "self.other = self.pair = other", False),
        ("self.pair", "self.pair: Pair = other", False),
        ("self.pair", "self.pair = 0", False),
        ("self.all[length]", "self.all = {}", True),
        ("self.all[length]", "self.all = []", True),
        ("self.all[length]", "self.all = ()", True),
        ("self.all[length]", "self.all = OrderedDict()", True),
        ("self.all[length]", "self.all = {0: other}", False),
        ("self.all[length]", "self.all = [other]", False),
        ("self.all[length]", "self.all = (other,)", False),
        ("self.all[length]", "self.all = dict(other)", False),
        ("self.all[length]", "self.all = dict(a=other)", False),
        ("self.all[length]", "self.all[0] = other", False),
        ("self.all[length]", "self.all[0] = self.rotary_pos_emb(1)", True),
        ("self.all[length]", "other.all = other", True),
        ("self.all[length]", "other[0] = other", True),
    ],
)
def test_what_another_function_keeps(place: str, other: str, known: bool) -> None:
    text = KEEPING.replace("PLACE", place).replace("OTHER", other)

    expected = {"rope": "1", "yarn": "2"} if known else dict.fromkeys(CLASSES, "an unknown number")
    for kind, number in expected.items():
        assert taken(text, kind) == [f"3: 3 of {number}"]


def test_local_of_another_function_is_not_kept() -> None:
    text = KEEPING.replace("PLACE", "pairs[0]").replace("OTHER", "pass")

    assert taken(text, "rope") == []


@pytest.mark.parametrize("place", ["self.pair", "self.layer.pair"])
def test_kept_results_are_known_in_conditions(place: str) -> None:
    text = KEEPING.replace("a, b, c = PLACE", "if isinstance(PLACE, tuple): a, b, c = PLACE")
    text = text.replace("PLACE", place).replace("OTHER", "self.pair = None")

    assert taken(text, "rope") == []
    assert taken(text, "yarn") == ["3: 3 of 2"]


def test_attribute_that_is_given_a_result_only_where_it_is_a_pair() -> None:
    text = f"""\
{FORWARD}
        self.out = self.rotary_pos_emb(length)
        if isinstance(self.out, tuple):
            self.pair = self.out
        a, b, c = self.pair
"""

    assert taken(text, "rope") == []
    assert taken(text, "yarn") == ["6: 3 of 2"]


def test_results_that_several_functions_keep() -> None:
    one = KEEPING.replace("PLACE", "self.pair").replace(
        "OTHER", "self.more = self.rotary_pos_emb(0)"
    )
    text = f"{one}    def use(self):\n        a, b, c = self.more\n"

    assert taken(text, "rope") == ["3: 3 of 1", "9: 3 of 1"]
