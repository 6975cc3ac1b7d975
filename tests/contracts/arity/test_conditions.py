"""Conditions of adapters, decided for the embedding that is built."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from pytest_ropecontract.contracts.arity.guards import Facts, asks_about, holds, matches

BOUND = {
    "is_yarn": 'kind == "yarn"',
    ".is_yarn": "is_yarn",
    "kind": "config.rope_type",
    "YARN": '"yarn"',
    "KINDS": '(YARN, "other")',
    "PREFIX": '"ya"',
    "mask": "not mask",
    "either": "either or hidden",
    "lowered": "lowered.lower()",
    "one": "two",
    "two": "one",
    "loop": "(loop,)",
}
EMBEDDINGS = {"rope": ("RotaryEmbedding", 1), "yarn": ("YarnRotaryEmbedding", 2)}


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def facts(kind: str | None, rotary_class: str = "", returns: int = 1, **bound: str) -> Facts:
    return Facts(
        {"rope_type": kind},
        rotary_class,
        returns,
        rotary=frozenset({"rotary_pos_emb"}),
        results=frozenset({"out", "cache"}),
        bound={name: expression(text) for name, text in {**BOUND, **bound}.items()},
    )


def of(kind: str) -> Facts:
    return facts(kind, *EMBEDDINGS[kind])


CONDITIONS: list[tuple[str, bool | None, bool | None]] = [
    # The kind that the config selects.
    ('config.rope_type == "yarn"', False, True),
    ('config.rope_type is "yarn"', False, True),
    ('config.rope_type != "yarn"', True, False),
    ('config.rope_type is not "yarn"', True, False),
    ('"yarn" == self.config.rope_type', False, True),
    ('"yarn" != rope_type', True, False),
    ("config.rope_type == None", False, False),
    ('config.rope_type in ("yarn", "other")', False, True),
    ('config.rope_type in ["yarn"]', False, True),
    ('config.rope_type in {"yarn"}', False, True),
    ('config.rope_type not in ("yarn", "other")', True, False),
    ('config.rope_type in ("yarn", hidden)', None, None),
    ('config.rope_type in "yarn, other"', None, None),
    ("config.rope_type == hidden", None, None),
    ('config.rope_type > "a"', None, None),
    ('"a" < config.rope_type == "yarn"', None, None),
    ('hidden == "yarn"', None, None),
    ('"yarn" == "yarn"', None, None),
    # The facts say nothing about this one.
    ('config.position_embedding_type == "rope"', None, None),
    ('config.other_type == "yarn"', None, None),
    ('getattr(config, "rope_type", None) == "yarn"', False, True),
    ('getattr(config, "rope_type") == "yarn"', False, True),
    ('getattr(config, "other", None) == "yarn"', None, None),
    ('getattr(config, rope_type) == "yarn"', None, None),
    ('getattr(rope_type) == "yarn"', None, None),
    ('find(config, "rope_type") == "yarn"', None, None),
    # In other letters.
    ('config.rope_type.lower() == "yarn"', False, True),
    ('config.rope_type.upper() == "YARN"', False, True),
    ('config.rope_type.casefold().strip() == "yarn"', False, True),
    ('config.rope_type.title() == "Yarn"', None, None),
    ('hidden.lower() == "yarn"', None, None),
    ('config.rope_type.startswith("ya")', False, True),
    ("config.rope_type.startswith(PREFIX)", False, True),
    ('config.rope_type.upper().endswith("RN")', False, True),
    ('config.rope_type.endswith("pe")', True, False),
    ("config.rope_type.startswith(hidden)", None, None),
    ("config.rope_type.startswith(4)", None, None),
    ("config.rope_type.startswith()", None, None),
    ('config.rope_type.count("y")', None, None),
    ('hidden.startswith("ya")', None, None),
    ('startswith("ya")', None, None),
    # Several conditions.
    ('not config.rope_type == "yarn"', True, False),
    ("not hidden", None, None),
    ("-hidden", None, None),
    ('config.rope_type == "yarn" and hidden', False, None),
    ('hidden and config.rope_type == "yarn"', False, None),
    ('config.rope_type == "yarn" or hidden', None, True),
    ('config.rope_type == "yarn" or config.rope_type == "rope"', True, True),
    ('config.rope_type == "yarn" and config.rope_type == "rope"', False, False),
    ('config.rope_type == "yarn" or config.rope_type == "other"', False, True),
    ('config.rope_type == "yarn" and config.rope_type != "other"', False, True),
    # Names that stand for something.
    ("is_yarn", False, True),
    ("self.is_yarn", False, True),
    ("not self.layer.is_yarn", True, False),
    ("kind == YARN", False, True),
    ("YARN == kind", False, True),
    ("kind in KINDS", False, True),
    ("self.kind == YARN", None, None),
    ("mask", None, None),
    ("either", None, None),
    ("one", None, None),
    ('one == "yarn"', None, None),
    ("config.rope_type == one", None, None),
    ("config.rope_type in (one,)", None, None),
    ("config.rope_type in loop", None, None),
    ('lowered == "yarn"', None, None),
    # The result.
    ("out is None", False, False),
    ("out is not None", True, True),
    ("self.out is None", False, False),
    ("out == None", None, None),
    ("out is hidden", None, None),
    ("hidden is None", None, None),
    ("isinstance(out, tuple)", False, True),
    ("isinstance(out, (tuple, list))", False, True),
    ("isinstance(out, torch.Tensor)", True, False),
    ("isinstance(out, Pair)", None, None),
    ("isinstance(out, (tuple, Pair))", None, None),
    ("isinstance(out)", None, None),
    ("isinstance(hidden, tuple)", None, None),
    ("is_a(out, tuple)", None, None),
    ("torch.is_tensor(out)", True, False),
    ("torch.is_tensor(hidden)", None, None),
    ("torch.is_tensor()", None, None),
    ("len(out)", None, None),
    # The embedding.
    ("isinstance(self.rotary_pos_emb, YarnRotaryEmbedding)", False, True),
    ("isinstance(self.rotary_pos_emb, (Other, rope.YarnRotaryEmbedding))", None, True),
    ("isinstance(self.rotary_pos_emb, MultimodalRotaryEmbedding)", False, False),
    ("isinstance(hidden, YarnRotaryEmbedding)", None, None),
    ("is_tensor(self.rotary_pos_emb)", None, None),
]


@pytest.mark.parametrize(("condition", "rope", "yarn"), CONDITIONS)
def test_condition(condition: str, rope: bool | None, yarn: bool | None) -> None:
    test = expression(condition)

    assert [holds(test, of("rope")), holds(test, of("yarn"))] == [rope, yarn]


def test_pair_may_be_held_as_a_list() -> None:
    """``list(rotary(n))`` is one, and ``rotary(n)`` is not."""
    test = expression("isinstance(out, list)")

    assert [holds(test, of("rope")), holds(test, of("yarn"))] == [False, None]


@pytest.mark.parametrize(
    ("rotary_class", "classes", "held"),
    [
        ("YarnRotaryEmbedding", "RotaryEmbedding", True),
        ("YarnRotaryEmbedding", "(MultimodalRotaryEmbedding, RotaryEmbedding)", True),
        ("MultimodalRotaryEmbedding", "RotaryEmbedding", False),
        ("MultimodalRotaryEmbedding", "MultimodalRotaryEmbedding", True),
        ("RotaryEmbedding", "(YarnRotaryEmbedding, MultimodalRotaryEmbedding)", False),
        # What another class is the base of, or another name of, is not known.
        ("RotaryEmbedding", "nn.Module", None),
        ("RotaryEmbedding", "(YarnRotaryEmbedding, Yarn)", None),
    ],
)
def test_class_of_the_embedding(rotary_class: str, classes: str, held: bool | None) -> None:
    test = expression(f"isinstance(self.rotary_pos_emb, {classes})")

    assert holds(test, facts(None, rotary_class)) is held


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        ("config.rope_type is None", True),
        ("config.rope_type is not None", False),
        ('config.rope_type.startswith("None")', None),
        ('config.rope_type.lower() == "none"', None),
    ],
)
def test_kind_that_is_left_out(condition: str, held: bool | None) -> None:
    assert holds(expression(condition), facts(None)) is held


CHAINS = {
    "condition": ("name{}", 'config.rope_type == "yarn"', "name0"),
    "negated": ("name{}", 'config.rope_type == "yarn"', "not not name2"),
    "kind": ("name{}", "config.rope_type", 'name0 == "yarn"'),
    "kind in other letters": ("name{}", "config.rope_type", 'name0.lower() == "yarn"'),
    "constant": ("name{}", '"yarn"', "config.rope_type == name0"),
    "constants": ("name{}", '"yarn"', "config.rope_type in [name0]"),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_names_are_followed_twenty_deep(chain: str) -> None:
    name, last, test = CHAINS[chain]

    def outcome(length: int) -> bool | None:
        bound: dict[str, Any] = {name.format(n): name.format(n + 1) for n in range(length - 1)}
        bound[name.format(length - 1)] = last
        return holds(expression(test), facts("yarn", **bound))

    assert [outcome(20), outcome(21)] == [True, None]


@pytest.mark.parametrize("around", ["not not ({})", "({}) or hidden", "hidden or ({})"])
def test_conditions_are_followed_twenty_deep(around: str) -> None:
    def outcome(times: int) -> bool | None:
        text = 'config.rope_type == "yarn"'
        for _ in range(times):
            text = around.format(text)
        return holds(expression(text), facts("yarn"))

    each = around.count("not") or 1
    assert [outcome(20 // each), outcome(20 // each + 1)] == [True, None]


@pytest.mark.parametrize(
    ("subject", "pattern", "rope", "yarn"),
    [
        ("config.rope_type", '"yarn"', False, True),
        ("config.rope_type", "_", True, True),
        ("config.rope_type", "kind", True, True),
        ("config.rope_type", '"yarn" as kind', None, None),
        ("config.rope_type", "str()", None, None),
        ("config.rope_type", "None", None, None),
        ("config.rope_type", "kinds.YARN", None, None),
        ("config.rope_type", '"yarn" | "other"', False, True),
        ("config.rope_type", '"other" | "none"', False, False),
        ("config.rope_type", '"yarn" | str()', None, True),
        ("kind", '"yarn"', False, True),
        ("hidden", '"yarn"', None, None),
        ("hidden", '"yarn" | "other"', None, None),
        ("hidden", "_", True, True),
    ],
)
def test_case_of_a_match(subject: str, pattern: str, rope: bool | None, yarn: bool | None) -> None:
    node = ast.parse(f"match {subject}:\n    case {pattern}:\n        pass").body[0]
    assert isinstance(node, ast.Match)
    case = node.cases[0].pattern

    assert [matches(node.subject, case, of(kind)) for kind in ("rope", "yarn")] == [rope, yarn]


@pytest.mark.parametrize(
    ("condition", "asks"),
    [
        ("len(out) == 2", True),
        ("hidden and type(out) is tuple", True),
        ("hasattr(out, 'shape')", True),
        ("torch.is_tensor(self.out)", True),
        ("isinstance(out, Pair)", True),
        ("isinstance(self.rotary_pos_emb, Pair)", True),
        ("isinstance(cache['a'][0], tuple)", True),
        ("isinstance(self.cache.get(length), tuple)", True),
        ("isinstance(cache.get(length)[0], tuple)", True),
        ("isinstance(hidden, out)", True),
        ("len(hidden) == 2", False),
        ("isinstance(hidden['out'], tuple)", False),
        ("isinstance(get(length), tuple)", False),
        ("isinstance(out.copy(), tuple)", False),
        ("use(out)", False),
        ("out", False),
        ("rotary_pos_emb", False),
    ],
)
def test_condition_that_asks_about_the_result(condition: str, asks: bool) -> None:
    assert asks_about(expression(condition), of("yarn")) is asks
