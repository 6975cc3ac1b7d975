"""Adapters that unpack what the built class does or does not return."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from ordinary_user import ordinary_user

from pytest_ropecontract.contracts.arity import adapter, rule
from pytest_ropecontract.contracts.arity.rule import (
    NotCheckedError,
    check,
    check_stated,
    mentioning,
)
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.rope.resolution import Resolution, resolve

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.findings import Finding

MLA = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --multi-latent-attention "
    "--q-lora-rank 8 --kv-lora-rank 8 --qk-head-dim 128 --qk-pos-emb-head-dim 64 "
    "--v-head-dim 128 --position-embedding-type rope --rotary-base 10000 --no-rope-fusion"
)
ADAPTER = "--spec frame.adapter get_spec"


@cache
def pipeline() -> Pipeline:
    return Pipeline(choose("0.19.2", Path.cwd()), PipelineSettings())


def built(kind: str, spec: str = ADAPTER) -> Resolution:
    return resolve(pipeline(), f"{MLA} --rope-type {kind} {spec}".split())


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    (tmp_path / "frame").mkdir()
    (tmp_path / "frame/__init__.py").touch()
    return tmp_path


def write(frame: Path, body: str, name: str = "adapter") -> None:
    """Write an adapter; ``FORWARD`` stands for the head of its attention."""
    text = dedent(body).replace(
        "FORWARD",
        "def get_spec(args, config):\n    return Attention\n\n\nclass Attention(Base):\n"
        "    def forward(self, length, hidden):",
    )
    (frame / f"frame/{name}.py").write_text(text)


def found(frame: Path, kind: str) -> list[Finding]:
    return list(check("m", built(kind), frame, []))


def lines(frame: Path, kind: str) -> list[str]:
    return [one.message.split(" takes ")[0].rpartition(":")[2] for one in found(frame, kind)]


UNGUARDED = """\
    FORWARD
            rotary_pos_emb, mscale = self.rotary_pos_emb(length)
            return rotary_pos_emb, mscale
"""


def test_two_results_of_one(frame: Path) -> None:
    write(frame, UNGUARDED)

    (finding,) = found(frame, "rope")

    assert finding.text().splitlines() == [
        (
            "return-arity: m: frame/adapter.py:7 takes two results from the rotary embedding, and "
            "RotaryEmbedding returns one result (kind rope: --rope-type rope)"
        ),
        "  expected: 2",
        "  actual:   1",
        "  origin:   declared (--rope-type rope)",
        (
            '  remedy:   take the results by the rope type: if config.rope_type == "rope", one; '
            "else two"
        ),
    ]
    assert found(frame, "yarn") == []


def test_three_results_of_two(frame: Path) -> None:
    write(frame, "    FORWARD\n            a, b, c = self.rotary_pos_emb(length)\n")

    (finding,) = found(frame, "yarn")

    assert "takes 3 results from the rotary embedding, and YarnRotaryEmbedding returns two" in (
        finding.message
    )


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
def test_guarded(frame: Path, body: str, kind: str) -> None:
    write(frame, body)

    assert found(frame, kind) == []


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
def test_unguarded(frame: Path, statements: tuple[str, ...]) -> None:
    write(frame, "    FORWARD\n" + "".join(f"            {one}\n" for one in statements))

    assert len(found(frame, "rope")) == 1
    assert found(frame, "yarn") == []


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
def test_what_cannot_be_read_is_a_note(frame: Path, statements: tuple[str, ...], kind: str) -> None:
    write(frame, "    FORWARD\n" + "".join(f"            {one}\n" for one in statements))

    (note,) = found(frame, kind)

    assert note.status == "note"
    assert note.message.endswith(
        " takes two results from where a result of the rotary embedding may be kept, which could "
        "not be read"
    )


KEPT = """\
    FORWARD
            table, scale = self.cache[length]

        def fill(self, length):
            self.cache[length] = self.rotary_pos_emb(length)

        def __init__(self):
            self.cache = {}
"""


def test_what_another_function_keeps_is_judged(frame: Path) -> None:
    write(frame, KEPT)

    assert lines(frame, "rope") == ["7"]
    assert found(frame, "yarn") == []


@pytest.mark.parametrize(
    "other", ["self.cache = hidden", "self.cache[0] = hidden, 1.0", "self.cache = Cache(self)"]
)
def test_what_another_function_keeps_beside_something_else_is_a_note(
    frame: Path, other: str
) -> None:
    write(frame, f"{KEPT}\n        def other(self, hidden):\n            {other}\n")

    assert [one.status for kind in ("rope", "yarn") for one in found(frame, kind)] == ["note"] * 2


def test_what_never_holds_a_result_is_not_asked_about(frame: Path) -> None:
    """Whatever else is put into it, or takes its place."""
    write(
        frame,
        """\
        FORWARD
                table = self.rotary_pos_emb(length)
                self.options["window"] = 3, 4
                left, right = self.options["window"]
                up, down = self.options[hidden]

            def __init__(self, options):
                self.options = options
        """,
    )

    assert found(frame, "rope") == found(frame, "yarn") == []


def test_what_is_kept_in_a_place_without_a_name_is_followed_no_further(frame: Path) -> None:
    """The next expression that is written like it may be another place."""
    write(
        frame,
        """\
        FORWARD
                self.layers[0].table = self.rotary_pos_emb(length)
                self.layers[0].tables["a"] = self.rotary_pos_emb(length)
                self.find(length).tables.append(self.rotary_pos_emb(length))
                table, scale = self.layers[0].table
                table, scale = self.layers[0].tables["a"]
                table, scale = self.find(length).tables[-1]
                hidden = hidden.copy()
        """,
    )

    assert found(frame, "rope") == found(frame, "yarn") == []


def test_what_another_function_keeps_in_an_attribute_is_judged(frame: Path) -> None:
    write(frame, KEPT.replace("cache[length]", "pair").replace("= {}", "= None"))

    assert lines(frame, "rope") == ["7"]
    assert found(frame, "yarn") == []


def test_wrapper_that_hands_on_the_result(frame: Path) -> None:
    write(
        frame,
        """\
        FORWARD
                table, mscale = self.rotate(length)

            def rotate(self, length):
                return self.rotary_pos_emb(length)
        """,
    )

    assert lines(frame, "rope") == ["7"]
    assert found(frame, "yarn") == []


def test_wrapper_of_a_wrapper_of_a_wrapper(frame: Path) -> None:
    write(
        frame,
        """\
        FORWARD
                table, mscale = self.third(length)

            def third(self, length):
                return self.second(length)

            def second(self, length):
                return self.first(length)

            def first(self, length):
                return self.rotary_pos_emb(length)
        """,
    )

    assert lines(frame, "rope") == ["7"]
    assert found(frame, "yarn") == []


def test_method_that_is_named_like_the_embedding(frame: Path) -> None:
    write(
        frame,
        """\
        FORWARD
                table, mscale = self.rotary_pos_emb(length)

            def rotary_pos_emb(self, length):
                return super().rotary_pos_emb(length)
        """,
    )

    assert lines(frame, "rope") == ["7"]


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("def split(out, length)", "split(self.rotary_pos_emb(length), length)"),
        ("def split(length, *, out)", "split(length, out=self.rotary_pos_emb(length))"),
        ("def split(rotary, length)", "split(self.rotary_pos_emb, length)"),
    ],
)
def test_function_that_is_given_the_result_or_the_embedding(
    frame: Path, head: str, call: str
) -> None:
    taken = "out" if "out" in head else "rotary(length)"
    body = f"FORWARD\n        return {call}\n\n\n{head}:\n    table, mscale = {taken}\n"
    write(frame, body)

    assert lines(frame, "rope") == ["11"]
    assert found(frame, "yarn") == []


def test_asynchronous_attention(frame: Path) -> None:
    write(
        frame,
        """\
        @register
        def get_spec(args, config):
            return Attention

        class Attention(Base):
            @compiled
            async def forward(self, length):
                table, mscale = await self.rotary_pos_emb(length)
        """,
    )

    assert lines(frame, "rope") == ["8"]
    assert found(frame, "yarn") == []


def test_class_that_is_defined_in_two_ways(frame: Path) -> None:
    write(
        frame,
        """\
        try:
            import engine
        except ImportError:
            engine = None

        if engine:
            class Attention(Base):
                def forward(self, length):
                    table, mscale = self.rotary_pos_emb(length)
        else:
            class Attention(Base):
                def forward(self, length):
                    table = self.rotary_pos_emb(length)

        def get_spec(args, config):
            return Attention
        """,
    )

    assert lines(frame, "rope") == ["9"]


SPEC_OF = "def get_spec(args, config):\n    "


@pytest.mark.parametrize(
    "text",
    [
        f"from frame.other import Attention\n{SPEC_OF}return Attention",
        f"from .other import Attention as Mine\n{SPEC_OF}return Mine",
        f"from frame import other\n{SPEC_OF}return other.Attention",
        f"from . import other\n{SPEC_OF}return other.Attention",
        f"import frame.other\n{SPEC_OF}return frame.other.Attention",
        f"import frame.other as engine\n{SPEC_OF}return engine.Attention",
        f"from frame.other import *\n{SPEC_OF}return Attention",
        f"{SPEC_OF}from frame import other\n    return other.Attention",
        f"from frame.other import Attention as Base\nMine: type = Base\n{SPEC_OF}return Mine",
        f"from frame.other import Attention as Base\nclass Mine(Base): pass\n{SPEC_OF}return Mine",
        "from frame.other import get_spec",
        "from frame.other import *",
    ],
)
def test_ways_to_import_the_attention(frame: Path, text: str) -> None:
    write(frame, f"{text}\n")
    write(frame, UNGUARDED, name="other")

    (finding,) = found(frame, "rope")

    assert "frame/other.py:7 takes two results" in finding.message


def test_embedding_under_another_name(frame: Path) -> None:
    write(
        frame,
        """\
        def get_spec(args, config):
            return Attention

        def build(config):
            if config.rope_type == "rope":
                return RotaryEmbedding(64)
            return YarnRotaryEmbedding(64)

        class Attention(Base):
            def __init__(self, config):
                self.angles = build(config)

            def forward(self, length):
                table, mscale = self.angles(length)
        """,
    )

    assert lines(frame, "rope") == ["14"]
    assert found(frame, "yarn") == []


def test_adapter_that_constructs_one_class_always(frame: Path) -> None:
    write(
        frame,
        """\
        def get_spec(args, config):
            return Attention

        class Attention(Base):
            def __init__(self, config):
                self.rotary_pos_emb = YarnRotaryEmbedding(64)

            def forward(self, length):
                table, mscale = self.rotary_pos_emb(length)
        """,
    )

    assert found(frame, "rope") == []


@pytest.mark.parametrize(
    ("builder", "embedding"),
    [
        ("", "None if config.off else YarnRotaryEmbedding(64)"),
        (
            "def build(config):\n    return None if config.off else YarnRotaryEmbedding(64)\n",
            "build()",
        ),
    ],
    ids=["in the constructor", "in a function"],
)
def test_adapter_that_constructs_one_class_or_nothing(
    frame: Path, builder: str, embedding: str
) -> None:
    write(
        frame,
        f"{builder}def get_spec(args, config):\n    return Attention\n\n"
        "class Attention(Base):\n    def __init__(self, config):\n        self.width = 64\n"
        f"        self.rotary_pos_emb = {embedding}\n\n"
        "    def forward(self, length):\n        table, mscale = self.rotary_pos_emb(length)\n",
    )

    assert found(frame, "rope") == []


def test_attention_that_is_not_latent(frame: Path) -> None:
    write(frame, UNGUARDED)
    common = (
        "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --position-embedding-type rope "
        f"{ADAPTER}"
    )

    (finding,) = check("m", resolve(pipeline(), common.split()), frame, [])

    assert finding.message.startswith("frame/adapter.py:7 takes two results")


def test_attention_in_another_module(frame: Path) -> None:
    write(
        frame,
        """\
        from .attention import Attention

        def get_spec(args, config):
            return Attention
        """,
    )
    write(frame, UNGUARDED, "attention")

    (finding,) = found(frame, "rope")

    assert finding.message.startswith("frame/attention.py:7 takes two results")


def test_megatrons_own_modules_are_not_followed(frame: Path) -> None:
    (frame / "megatron").mkdir()
    (frame / "megatron/attention.py").write_text(
        "class Attention:\n    def forward(self, n):\n        a, b = self.rotary_pos_emb(n)\n"
    )
    write(
        frame,
        """\
        from megatron.attention import Attention

        def get_spec(args, config):
            return Attention
        """,
    )

    assert found(frame, "rope") == []
    (finding,) = check("m", built("rope", "--spec megatron.attention Attention"), frame, [])
    assert finding.message.startswith("megatron/attention.py:3 takes two results")


def test_modules_that_import_one_another(frame: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "MODULE_LIMIT", 5)
    for number in range(20):
        write(
            frame,
            f"""\
            from .part{number + 1} import Attention{number + 1}

            class Attention{number}(Attention{number + 1}):
                def forward(self, length):
                    table, mscale = self.rotary_pos_emb(length)
            """,
            f"part{number}",
        )
    write(
        frame,
        """\
        from .part0 import Attention0
        from .adapter import get_spec as again

        def get_spec(args, config):
            return again(Attention0)
        """,
    )

    assert len(found(frame, "rope")) == 4


def test_only_what_the_function_refers_to(frame: Path) -> None:
    write(
        frame,
        """\
        def get_spec(args, config):
            return Guarded

        class Guarded(Base):
            pass

        class Other(Base):
            def forward(self, length):
                table, mscale = self.rotary_pos_emb(length)
        """,
    )

    assert found(frame, "rope") == []


def test_function_that_is_not_a_statement_of_its_own(frame: Path) -> None:
    write(
        frame,
        """\
        class Attention(Base):
            def forward(self, length):
                table, mscale = self.rotary_pos_emb(length)

        globals()["get_spec"] = lambda args, config: Attention
        """,
    )

    assert lines(frame, "rope") == ["3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (UNGUARDED, "the module frame.adapter has no get_spce, did you mean get_spec?"),
        ("", "the module frame.adapter has no get_spce"),
        (
            "    from .other import get_spce\n",
            (
                "the module frame.other has no get_spce, from which frame.adapter imports it, did "
                "you mean get_spec?"
            ),
        ),
    ],
)
def test_function_that_the_module_lacks(frame: Path, text: str, message: str) -> None:
    write(frame, text)
    write(frame, UNGUARDED, "other")

    (finding,) = check("m", built("rope", "--spec frame.adapter get_spce"), frame, [])

    assert (finding.message, finding.status) == (message, "fail")
    assert finding.remedy == "correct --spec in the definition, training does not find it either"


@pytest.mark.parametrize(
    "text",
    [
        "from elsewhere import get_spec",
        "from elsewhere import *",
        "from megatron.core.models import get_spec",
        "import elsewhere\nexec(elsewhere.TEXT)",
    ],
)
def test_function_that_is_not_in_the_project(frame: Path, text: str) -> None:
    write(frame, f"{text}\n")

    with pytest.raises(NotCheckedError) as caught:
        found(frame, "rope")

    assert str(caught.value) == "the function get_spec of --spec is not in the project"


def test_function_that_two_modules_import_from_each_other(frame: Path) -> None:
    write(frame, "from frame.other import get_spec\n")
    write(frame, "from frame.adapter import get_spec\n", "other")

    with pytest.raises(NotCheckedError) as caught:
        found(frame, "rope")

    assert str(caught.value) == "the function get_spec of --spec is not in the project"


def test_value_of_another_type_names_no_adapter() -> None:
    assert adapter.named([1, 2]) is None


def test_module_in_another_folder(frame: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    write(frame, UNGUARDED)
    root = tmp_path_factory.mktemp("root")

    (finding,) = check("m", built("rope"), root, [str(frame)])

    assert finding.message.startswith("adapter.py:7 takes two results")


def test_package_as_an_adapter(frame: Path) -> None:
    write(frame, UNGUARDED, "__init__")

    (finding,) = check("m", built("rope", "--spec frame get_spec"), frame, [])

    assert finding.message.startswith("frame/__init__.py:7 ")


def test_adapter_is_not_imported(frame: Path) -> None:
    write(frame, "raise SystemExit\n" + dedent(UNGUARDED))

    assert len(found(frame, "rope")) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"def get_spec(:", "adapter.py:1 is not Python: "),
        (b"# coding: nonsense\n", "adapter.py:0 is not Python: "),
        (b"a = '\0'", "adapter.py"),
        (b"#" * (adapter.SIZE_LIMIT + 1), "adapter.py is too large"),
        (b"a = " + b"-" * 100_000 + b"1", "adapter.py cannot be read: "),
    ],
)
def test_adapter_that_cannot_be_read(frame: Path, content: bytes, said: str) -> None:
    (frame / "frame/adapter.py").write_bytes(content)

    (finding,) = found(frame, "rope")

    assert finding.message.startswith(f"the adapter frame.adapter cannot be read: {said}")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("", "m names no adapter with --spec"),
        (
            "--spec nowhere.adapter get_spec",
            "the module nowhere.adapter of --spec is not in the project",
        ),
        ("--spec ../adapter get_spec", "the module ../adapter of --spec is not in the project"),
        ("--spec local", "m names no adapter with --spec"),
    ],
)
def test_nothing_to_check(frame: Path, spec: str, reason: str) -> None:
    with pytest.raises(NotCheckedError) as caught:
        check("m", built("rope", spec), frame, [])

    assert str(caught.value) == reason


def test_no_embedding_is_built(frame: Path) -> None:
    argv = "--num-layers 1 --hidden-size 64 --num-attention-heads 4 --position-embedding-type none"
    nothing = resolve(pipeline(), [*argv.split(), *ADAPTER.split()])

    with pytest.raises(NotCheckedError, match="no rotary embedding is built for m"):
        check("m", nothing, frame, [])
    with pytest.raises(NotCheckedError, match="no rotary embedding is built for m"):
        check_stated("m", nothing, 2)


def test_number_that_is_stated() -> None:
    assert check_stated("m", built("yarn"), 2) == ()
    (finding,) = check_stated("m", built("rope"), 2)

    assert finding.message == (
        "its registration takes two results from the rotary embedding, and RotaryEmbedding "
        "returns one result (kind rope: --rope-type rope)"
    )


def test_files_that_mention_an_adapter(tmp_path: Path) -> None:
    texts = {
        "base.py": '"--spec", "a", "b"',
        "variant.py": 'load(__file__, "base")',
        "variant_of_variant.sh": "source variant.py",
        "other.py": "return basement",
        "notes.md": "--spec",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)

    assert {path.name for path in mentioning([tmp_path])} == {
        "base.py",
        "variant.py",
        "variant_of_variant.sh",
    }
    assert rule.mentions_spec("--spec a b")


def test_file_that_cannot_be_read_mentions_nothing(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/closed.py").write_text("--spec")
    (tmp_path / "models/closed.py").chmod(0)

    with ordinary_user(tmp_path / "models"):
        assert mentioning([tmp_path / "models"]) == set()
