"""Where results are taken apart, statement by statement."""

from __future__ import annotations

import ast
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
