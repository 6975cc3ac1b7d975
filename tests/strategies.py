"""Command lines over the options of a recorded surface."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface_files import NEWEST, load_shipped

if TYPE_CHECKING:
    from pytest_ropecontract.megatron.surface import OptionRecord, Surface

SURFACE = load_shipped(NEWEST)
MEGATRON = RecordedMegatron(SURFACE)

# Values that look like something else: negative numbers, other types' values, near flags.
ODD_VALUES = (
    *("-1", "-0.5", "-1e5", "1e6", "10000.0", "007", "1_000", "nan", "inf", "0", "", "None"),
    *("rope", "yarn", "[0]*3+[1]*58", "[x]", "[0]+1", "128,0", "(128,0)", "a b", "-a b", "-"),
)


# Options that have to do with rotation, or decide which attention is built.
RELATED = re.compile(
    r"rope|rotary|yarn|mscale|pos_emb|position_embedding|kv_channels|qk_head_dim|latent"
    r"|^experimental_attention_variant$|group_query|hybrid_layer_pattern|mtp_num_layers"
    r"|add_bias_linear|no_rope_freq|flash_decode|cache_mla"
)
PATTERNS = ("M*M*", "M*-M", "****", "M-M-", "M+M+", "++++", "M*-D", "G*G*", "MM/M*", "x", "")


def option_values(option: OptionRecord, surface: Surface = SURFACE) -> st.SearchStrategy[str]:
    """Return texts that fit an option."""
    if option.choices is not None:
        return st.sampled_from([_text(choice) for choice in option.choices])
    if option.enum is not None:
        return st.sampled_from(sorted(surface.enums[option.enum]))
    if option.dest == "hybrid_layer_pattern":
        return st.sampled_from(PATTERNS)
    return {
        "int": st.sampled_from(["1", "2", "4", "8", "16", "64", "128", "50000", "0", "-2"]),
        "float": st.sampled_from(["0.5", "1", "32.0", "40", "1e-5", "-1.5", "0", "0.707"]),
        "list_pattern": st.sampled_from(["2", "1", "3", "[0]*2+[1]*2", "([0]+[1])*2", "[1]"]),
        "int_tuple": st.sampled_from(["128,0", "(1,2)", "4"]),
    }.get(option.value_type or "str", st.sampled_from(["x", "path/to", "1", "a=b"]))


def _text(choice: object) -> str:
    return str(choice["member"]) if isinstance(choice, dict) else str(choice)


def occurrences(option: OptionRecord, surface: Surface = SURFACE) -> st.SearchStrategy[list[str]]:
    """Return ways to write an option: with fitting and odd values, too many, too few, ``=``."""
    flags = list(option.flags)
    if option.action == "boolean":
        flags += [flag.replace("--", "--no-", 1) for flag in flags]
    flag = st.sampled_from(flags)
    fitting = option_values(option, surface)
    values = st.one_of(fitting, fitting, fitting, fitting, st.sampled_from(ODD_VALUES))
    if option.action in ("store_true", "store_false", "boolean"):
        many = st.sampled_from([0] * 15 + [1])
    elif option.nargs is None:
        many = st.sampled_from([1] * 14 + [0, 2])
    else:
        many = st.integers(0, 4)
    apart = st.tuples(flag, many.flatmap(lambda n: st.lists(values, min_size=n, max_size=n))).map(
        lambda pair: [pair[0], *pair[1]]
    )
    attached = st.tuples(flag, values).map(lambda pair: [f"{pair[0]}={pair[1]}"])
    if option.action in ("store_true", "store_false", "boolean"):
        return apart
    return st.one_of(apart, apart, apart, attached)


def related_parts(surface: Surface = SURFACE) -> st.SearchStrategy[list[str]]:
    """Return one option of a surface that has to do with rotation, written somehow."""
    related = [option for option in surface.options if RELATED.search(option.dest)]
    return st.sampled_from(related).flatmap(lambda option: occurrences(option, surface))


def parts(surface: Surface = SURFACE) -> st.SearchStrategy[list[str]]:
    """Return one option of a surface, written somehow, or something that it does not know."""
    known = st.sampled_from(surface.options).flatmap(lambda option: occurrences(option, surface))
    near = related_parts(surface)
    unknown = st.sampled_from(
        [["--beta-fast", "1"], ["--unknown=5"], ["--rotary-bas", "1"], ["stray"], ["-x"], ["-5"]]
    )
    return st.one_of(near, near, known, known, unknown)


def argvs(surface: Surface = SURFACE, most: int = 6) -> st.SearchStrategy[list[str]]:
    """Return command lines over all options, with unknown flags and stray values among them."""
    return st.lists(parts(surface), max_size=most).map(joined)


def joined(found: list[list[str]]) -> list[str]:
    """Return parts as one command line."""
    return [token for part in found for token in part]
