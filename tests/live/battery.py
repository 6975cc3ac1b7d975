"""Command lines, always the same ones, that between them show all that a surface says."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

from strategies import PATTERNS, RELATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ropecontract.megatron.surface import OptionRecord, Surface

SIZES = ("--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4")
BASES = (
    SIZES,
    (*SIZES, "--position-embedding-type", "rope"),
    (*SIZES, "--swiglu", "--position-embedding-type", "rope", "--multi-latent-attention"),
    (*SIZES, "--swiglu", "--multi-latent-attention", "--no-rope-fusion"),
    (
        *(*SIZES, "--swiglu", "--disable-bias-linear", "--position-embedding-type", "rope"),
        *("--hybrid-layer-pattern", "M*M*"),
    ),
    (*SIZES, "--swiglu", "--position-embedding-type", "yarn", "--rotary-scaling-factor", "32"),
)
MROPE = (*SIZES, "--position-embedding-type", "mrope", "--mrope-section", "2", "3", "3")
SPARSE = (
    *(*SIZES, "--swiglu", "--multi-latent-attention", "--position-embedding-type", "rope"),
    *("--experimental-attention-variant", "dsa"),
)
# Reasons to refuse that one or two options more do not come upon.
REFUSED = (
    *(SIZES[:at] + SIZES[at + 2 :] for at in (0, 2, 4)),
    (*SIZES, "--position-embedding-type", "rope", "--disable-bias-linear"),
    MROPE,
    (*MROPE, "--rotary-percent", "0.5"),
    (*SIZES, "--swiglu", "--multi-latent-attention", "--rope-type", "rope"),
    SPARSE,
    (*SPARSE, "--linear-attention-freq", "2"),
    (*SPARSE, "--linear-attention-freq", "2", "--disable-bias-linear"),
    (*SPARSE, "--linear-attention-freq", "2", "--disable-bias-linear", "--no-rope-fusion"),
    (*SIZES, "--experimental-attention-variant", "gated_delta_net"),
    (*BASES[4][:-2], "--hybrid-layer-pattern", "DDDD", "--no-rope-fusion"),
    (*BASES[4][:-2], "--hybrid-layer-pattern", "++++"),
    (*BASES[4][:-2], "--hybrid-layer-pattern", "M*+D", "--rope-type", "rope"),
    (*BASES[1], "--flash-decode", "--no-rope-freq", "2"),
    (*BASES[2], "--cache-mla-latents"),
    (*BASES[2], "--rope-type", "yarn", "--cache-mla-latents"),
)
VALUES = {
    "int": ("2", "48", "1"),
    "float": ("0.5", "40", "1"),
    "list_pattern": ("2", "[0]*2+[1]*2", "[1]"),
    "int_tuple": ("128,0", "(1,2)", "4"),
    "bool": ("1", "", "x"),
}
BAD = "?!"
DRAWS = 300


def values(option: OptionRecord, surface: Surface) -> tuple[str, ...]:
    """Return texts that an option takes."""
    if option.choices is not None:
        return tuple(
            str(one["member"]) if isinstance(one, dict) else str(one) for one in option.choices
        )
    if option.enum is not None:
        literals = option.const if isinstance(option.const, list) else ()
        return (*surface.enums[option.enum], *map(str, literals))
    if option.dest == "hybrid_layer_pattern":
        return PATTERNS
    return VALUES.get(option.value_type or "str", ("x", "y", "z"))


def written(option: OptionRecord, surface: Surface, turn: int) -> list[str]:
    """Write an option with values that fit; every turn with the next ones."""
    flags = list(option.flags)
    if option.action == "boolean":
        flags += [flag.replace("--", "--no-", 1) for flag in flags]
    flag = flags[turn % len(flags)]
    if option.action not in ("store", "append", "extend"):
        return [flag]
    many = {None: 1, "?": turn % 2, "*": turn % 3, "+": 1 + turn % 3}.get(
        option.nargs, option.nargs
    )
    fitting = values(option, surface)
    return [flag, *(fitting[(turn + n) % len(fitting)] for n in range(int(str(many))))]


def parses(surface: Surface) -> Iterator[list[str]]:
    """Yield nothing, all options at once with each of their values, and each with a bad one."""
    yield []
    turns = max(len(values(option, surface)) for option in surface.options)
    for turn in range(min(turns, 36)):
        yield [token for one in surface.options for token in written(one, surface, turn)]
    names = {name for members in surface.enums.values() for name in members}
    for option in surface.options:
        if option.action != "store":
            continue
        yield [option.flags[0], BAD]
        yield [option.flags[0]]
        if option.enum is not None:
            yield from ([option.flags[0], name] for name in sorted(names))
    yield ["--rope-theta", "5"]
    yield ["--no-rope-theta"]


def resolutions(surface: Surface) -> Iterator[list[str]]:
    """Yield models with one option about rotation, and a fixed sample of those with more."""
    related = [option for option in surface.options if RELATED.search(option.dest)]
    singles = [
        written(option, surface, turn)
        for option in related
        for turn in range(min(6, len(values(option, surface))))
        if option.action == "store" or turn < 2
    ]
    singles = [list(one) for one in dict.fromkeys(map(tuple, singles))]
    for base in (*BASES, *REFUSED):
        yield list(base)
    for base, one in itertools.product(BASES, singles):
        yield [*base, *one]
    draw = random.Random(0)
    for _ in range(DRAWS):
        more = draw.sample(singles, draw.choice((2, 2, 3)))
        yield [*draw.choice(BASES), *itertools.chain.from_iterable(more)]


def distinct(argvs: Iterator[list[str]]) -> list[Any]:
    return list(dict.fromkeys(map(tuple, argvs)))
