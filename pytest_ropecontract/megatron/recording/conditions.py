"""Finding out for which namespace values something happens."""

from __future__ import annotations

import contextlib
import copy
import itertools
import random
import re
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.megatron.namespaces import namespace_of
from pytest_ropecontract.megatron.recording.laboratory import BASE, MLA

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_ropecontract.megatron.recording.laboratory import Laboratory
    from pytest_ropecontract.megatron.surface import Condition, OptionRecord

# Names of options and config fields that can have to do with rotation.
CANDIDATE = re.compile(
    r"rope|rotary|yarn|mscale|^beta_(fast|slow)$|pos_emb|position_embedding|^kv_channels$"
    r"|^qk_head_dim$|^multi_latent_attention$|experimental_attention_variant|^softmax_scale$"
    r"|^original_max_position_embeddings$"
)
# Options of other families that decide with which class, or whether at all, RoPE is built.
NEIGHBOURS = (
    *("group_query_attention", "add_bias_linear", "mtp_num_layers", "hybrid_layer_pattern"),
    *("num_layers", "hidden_size", "num_attention_heads", "flash_decode", "cache_mla_latents"),
    *("bias_gelu_fusion", "swiglu", "linear_attention_freq"),
)
# What these hold is a number of its own for every model; only whether it is given matters.
LENGTHS = frozenset({"max_position_embeddings"})
# Layers of a hybrid model: Mamba, gated delta net, attention, sparse attention, multi-latent
# attention, MLP, experts.
HYBRID_SYMBOLS = "MG*D+-E"
# Values to try for options whose kind does not say them: shapes are left out, and what is
# not given otherwise is given once.
PARTICULAR: dict[str, list[Any]] = {
    "hybrid_layer_pattern": [None, *(symbol * 4 for symbol in HYBRID_SYMBOLS)],
    "num_layers": [None],
    "hidden_size": [None],
    "num_attention_heads": [None],
    "mtp_num_layers": [1],
    "kv_channels": [48],
    "mrope_section": [[2, 3, 3]],
}
# Sparse attention is refused unless several values fit at once.
SPARSE_NEEDS = ("--disable-bias-linear", "--no-rope-fusion")
SPARSE = {
    "sparse-layers": ("--hybrid-layer-pattern", "DDDD"),
    "sparse": ("--experimental-attention-variant", "dsa", "--linear-attention-freq", "2"),
}
SAMPLES = 64
# The share of the values of a sample that are not those of the point it is drawn around.
CHANGED = 0.5
Values = dict[str, Any]
Point = tuple[str, Values]


class Probe:
    """Domains of the options to vary, and namespaces with some of them changed.

    Attributes:
        contexts: Starting points: a common and a multi-latent attention model, and where
            this version has it, one with sparse attention by each of the ways to ask for it.
        domains: Per option the values to try, the starting point's first.
        symbols: The hybrid layers that this version has; none where it has no such models.
    """

    def __init__(self, laboratory: Laboratory, options: Sequence[OptionRecord]) -> None:
        self.laboratory = laboratory
        self.options = options
        self.contexts = {
            "gpt": laboratory.parse(BASE),
            "mla": laboratory.parse((*BASE, *MLA)),
        }
        self.domains: dict[str, list[Any]] = {}
        for option in options:
            known = CANDIDATE.search(option.dest) or option.dest in NEIGHBOURS
            if not known or option.dest in LENGTHS:
                continue
            domain = self.domains.setdefault(option.dest, [])
            for value in (self._current(option.dest), *_domain(option)):
                if not any(same(value, one) for one in domain):
                    domain.append(value)
        self.domains = {dest: domain for dest, domain in self.domains.items() if len(domain) > 1}
        self.symbols = self._keep_known_symbols()
        for context, flags in SPARSE.items():
            with contextlib.suppress(Exception):
                namespace = laboratory.parse((*BASE, *MLA, *SPARSE_NEEDS, *flags))
                laboratory.configure(laboratory.validate(namespace))
                self.contexts[context] = namespace

    def _keep_known_symbols(self) -> str:
        """Leave out of the patterns what this version does not have; return the symbols left."""
        patterns = self.domains.get("hybrid_layer_pattern", [])
        kept = []
        for pattern in patterns:
            namespace = self.namespace("gpt", {"hybrid_layer_pattern": pattern})
            with contextlib.suppress(Exception):
                self.laboratory.validate(namespace)
                kept.append(pattern)
        patterns[:] = kept
        return "".join(pattern[0] for pattern in kept if pattern)

    def _current(self, dest: str) -> Any:
        return copy.copy(getattr(self.contexts["gpt"], dest, None))

    def namespace(self, context: str, changes: Mapping[str, Any]) -> argparse.Namespace:
        """Return a new namespace of a context, with some values changed."""
        values = {**vars(self.contexts[context]), **changes}
        return namespace_of({name: copy.copy(value) for name, value in values.items()})

    def changes(self) -> Iterator[Values]:
        """Yield no change, every single change, and every pair of changes."""
        yield {}
        singles = [(dest, value) for dest, domain in self.domains.items() for value in domain]
        for dest, value in singles:
            yield {dest: value}
        for (first, one), (second, two) in itertools.combinations(singles, 2):
            if first != second:
                yield {first: one, second: two}


def _domain(option: OptionRecord) -> list[Any]:
    """Return values to try for an option; none for plain numbers, which are not conditions."""
    if option.dest in PARTICULAR:
        return PARTICULAR[option.dest]
    if option.value_type == "list_pattern":
        return [2]
    if option.action in ("store_true", "store_false", "boolean"):
        return [False, True]
    if option.choices is not None and option.nargs is None:
        return list(option.choices)
    return []


def others(option: OptionRecord, current: Any) -> list[Any]:
    """Return one or two values of an option beside its current one."""
    if option.action in ("store_true", "store_false", "boolean"):
        return [not current]
    if option.choices is not None:
        return [choice for choice in option.choices if choice != current][:2]
    if option.value_type in ("int", "float", "list_pattern"):
        return [value for value in (1, 2) if value != current]
    return ["x"] if current is None and option.nargs is None else []


def same(left: Any, right: Any) -> bool:
    """Return whether two values are equal and of one type."""
    return type(left) is type(right) and bool(left == right)


def box(
    point: Values,
    accepted: Values,
    domains: Mapping[str, Sequence[Any]],
    refused: Callable[[Values], Any],
) -> Condition:
    """Return the condition under which what is refused at a point goes on being refused.

    Each value is varied while the others stay. Where every value of its domain gives the
    same, it is no part of the condition. A value at which something else is refused counts
    as the same only where nothing lifts that other refusal.

    Args:
        point: A value for every option, where something is refused.
        accepted: A value for every option, where nothing is.
        domains: Per option the values to try.
        refused: Returns what is refused at a point, or None.
    """
    reason = refused(point)
    harmless = [
        (dest, value)
        for dest, domain in domains.items()
        for value in domain
        if refused({**accepted, dest: value}) is None
    ]
    loose, strict = {}, {}
    for dest, domain in domains.items():
        outcomes = [(value, refused({**point, dest: value})) for value in domain]
        strict[dest] = [value for value, outcome in outcomes if outcome == reason]
        loose[dest] = [
            value
            for value, outcome in outcomes
            if outcome == reason
            or (
                outcome is not None
                and _masked({**point, dest: value}, dest, harmless, refused, (reason, outcome))
            )
        ]
    chosen = loose if _always(point, loose, refused) else strict
    return {
        dest: generalise(dest, allowed, domains[dest])
        for dest, allowed in chosen.items()
        if len(allowed) < len(domains[dest])
    }


def _masked(
    point: Values,
    changed: str,
    harmless: Sequence[tuple[str, Any]],
    refused: Callable[[Values], Any],
    reasons: tuple[Any, Any],
) -> bool:
    """Return whether another refusal merely comes before the one that is looked at."""
    wanted, other = reasons
    lifted = False
    for dest, value in harmless:
        if dest == changed:
            continue
        outcome = refused({**point, dest: value})
        if outcome == wanted:
            return True
        lifted = lifted or outcome != other
    return not lifted


def _always(
    point: Values, allowed: Mapping[str, Sequence[Any]], refused: Callable[[Values], Any]
) -> bool:
    draw = random.Random(0)  # noqa: S311  # a fixed sample, so that a recording repeats
    for _ in range(SAMPLES):
        sample = {
            dest: draw.choice(values) if draw.random() < CHANGED else point[dest]
            for dest, values in allowed.items()
        }
        if refused(sample) is None:
            return False
    return True


def generalise(dest: str, allowed: Sequence[Any], domain: Sequence[Any]) -> Any:
    """Write the allowed values of a domain as a condition that holds beyond the domain."""
    if dest == "hybrid_layer_pattern":
        within = [str(value)[0] for value in allowed if value is not None]
        if None not in allowed:
            return {"contains": sorted(within)}
        if within:
            known = {str(value)[0] for value in domain if value is not None}
            return {"lacks": sorted(known - set(within))}
    texts = all(value is None or isinstance(value, bool | str) for value in domain)
    if not texts and None in domain and None not in allowed:
        return {"given": True}
    return list(allowed)


def cover(
    cells: Sequence[Values], domains: Mapping[str, Sequence[Any]], free: Sequence[Values] = ()
) -> list[Condition]:
    """Return conditions that hold for all the given cells of a table and for no others.

    Args:
        cells: Where it happens.
        domains: Per option its values; their product is the table.
        free: Cells about which nothing is known; conditions may hold for them.
    """
    known, open_cells = list(cells), list(free)
    conditions: list[Condition] = []
    while known:
        grown = {dest: [value] for dest, value in known[0].items()}
        for dest, domain in domains.items():
            for value in domain:
                if any(same(value, one) for one in grown[dest]):
                    continue
                slab = _product({**grown, dest: [value]})
                if all(_among(cell, cells) or _among(cell, open_cells) for cell in slab):
                    grown[dest].append(value)
        covered = list(_product(grown))
        known = [cell for cell in known if not _among(cell, covered)]
        conditions.append(
            {
                dest: generalise(dest, _ordered(values, domains[dest]), domains[dest])
                for dest, values in grown.items()
                if len(values) < len(domains[dest])
            }
        )
    return conditions


def _product(values: Mapping[str, Sequence[Any]]) -> Iterator[Values]:
    for combination in itertools.product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _among(cell: Values, cells: Sequence[Values]) -> bool:
    return any(all(same(cell[dest], other[dest]) for dest in cell) for other in cells)


def _ordered(values: Sequence[Any], domain: Sequence[Any]) -> list[Any]:
    return [value for value in domain if any(same(value, one) for one in values)]
