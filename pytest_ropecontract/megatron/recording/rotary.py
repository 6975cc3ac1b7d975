"""Which rotary class is constructed from what, found by building tiny models."""

from __future__ import annotations

import copy
import itertools
import math
from typing import TYPE_CHECKING, Any, Literal

from pytest_ropecontract.megatron.namespaces import namespace_of
from pytest_ropecontract.megatron.recording.conditions import CANDIDATE, cover, same
from pytest_ropecontract.megatron.recording.rules import attempt
from pytest_ropecontract.megatron.surface import (
    Argument,
    Refusal,
    RotaryPath,
    RotaryRule,
    SurfaceError,
    holds,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_ropecontract.megatron.recording.conditions import Probe
    from pytest_ropecontract.megatron.recording.laboratory import Built
    from pytest_ropecontract.megatron.surface import ConfigClass, ExtraAttributes

# Arguments that place tensors and split sequences; they have no part in the numbers.
PLACEMENT = frozenset({"use_cpu_initialization", "cp_group"})
COMMON_LAYERS = "****"
FACTOR = 40.0
# What an integer is changed to, to see what follows it; another one where it is this already.
INTEGER = 32
Cell = dict[str, Any]


def record_rotary(
    probe: Probe, classes: Sequence[ConfigClass], extras: Sequence[ExtraAttributes]
) -> tuple[dict[str, RotaryPath], tuple[RotaryRule, ...], tuple[Refusal, ...]]:
    """Record every way to a rotary embedding, and when it is taken.

    Raises:
        SurfaceError: No tiny model could be built on this machine.
    """
    domains: dict[str, list[Any]] = {
        "multi_latent_attention": [False, True],
        "position_embedding_type": [
            value for value in probe.domains["position_embedding_type"] if value is not None
        ],
        "rope_type": [value for value in probe.domains["rope_type"] if value is not None],
        "rotary_interleaved": [False, True],
    }
    paths: dict[str, RotaryPath] = {}
    rules: list[RotaryRule] = []
    refusals: list[Refusal] = []
    for pattern, when in _patterns(probe):
        cells: dict[str, list[Cell]] = {}
        refused: dict[tuple[str, str], list[Cell]] = {}
        unknown: list[Cell] = []
        for combination in itertools.product(*domains.values()):
            cell = dict(zip(domains, combination, strict=True))
            model = _Model(probe, {**cell, "hybrid_layer_pattern": pattern})
            if model.config is None:
                unknown.append(cell)
                continue
            built, error = attempt(model.build)
            if isinstance(error, ImportError):
                raise SurfaceError(
                    f"no tiny model can be built on this machine: {error}"
                ) from error
            if error is not None:
                refused.setdefault((type(error).__name__, str(error)), []).append(cell)
                continue
            name = _name(pattern, cell, built)
            cells.setdefault(name, []).append(cell)
            if name not in paths:
                paths[name] = _path(name, model, built, classes, extras)
        rules.extend(
            RotaryRule({"hybrid_layer_pattern": when, **condition}, name)
            for name, found in cells.items()
            for condition in cover(found, domains, unknown)
        )
        refusals.extend(
            Refusal("model", {"hybrid_layer_pattern": when, **condition}, error_name, message)
            for (error_name, message), found in refused.items()
            for condition in cover(found, domains, unknown)
        )
    return paths, tuple(rules), tuple(refusals)


def _patterns(probe: Probe) -> list[tuple[str | None, Any]]:
    """Return the kinds of model: a pattern to build, and the condition that it stands for."""
    kinds: list[tuple[str | None, Any]] = [(None, [None])]
    latent = []
    for symbol in probe.symbols:
        namespace = probe.namespace("gpt", {"hybrid_layer_pattern": symbol * 4})
        validated, error = attempt(probe.laboratory.validate, namespace)
        if error is None and validated.multi_latent_attention:
            latent.append(symbol)
    if latent:
        kinds.append((latent[0] * 4, {"contains": sorted(latent)}))
    if probe.symbols:
        kinds.append((COMMON_LAYERS, {"given": True}))
    return kinds


def _name(pattern: str | None, cell: Cell, built: Built) -> str:
    if cell["multi_latent_attention"] and pattern != COMMON_LAYERS:
        attention = "mla"
    else:
        attention = "hybrid" if pattern else "gpt"
    return f"{attention}-{_kind(built.rotary_class)}"


def _kind(rotary_class: str | None) -> str:
    if rotary_class is None:
        return "none"
    if "Yarn" in rotary_class:
        return "yarn"
    return "mrope" if "Multimodal" in rotary_class else "rope"


class _Model:
    """One cell of the table: a namespace, its config, and models built from them."""

    def __init__(self, probe: Probe, cell: Cell) -> None:
        self.probe = probe
        self.context = "mla" if cell["multi_latent_attention"] else "gpt"
        validated = vars(probe.laboratory.validate(probe.contexts[self.context]))
        changes = {
            "apply_rope_fusion": False,
            "mrope_section": [2, 3, 3],
            "transformer_impl": "local",
            **cell,
        }
        self.namespace = probe.namespace(self.context, {**validated, **changes})
        # A pattern of sparse attention asks for values that have no part in rotation.
        pattern = COMMON_LAYERS if cell["hybrid_layer_pattern"] else None
        plain = probe.namespace(
            self.context, {**vars(self.namespace), "hybrid_layer_pattern": pattern}
        )
        self.config, _ = attempt(probe.laboratory.configure, plain)

    def build(
        self, attribute: dict[str, Any] | None = None, argument: dict[str, Any] | None = None
    ) -> Built:
        """Build a model, with config attributes or namespace attributes replaced."""
        namespace = namespace_of({**vars(self.namespace), **(argument or {})})
        return self.probe.laboratory.build(namespace, copy.copy(self.config), attribute or {})


def _path(
    name: str,
    model: _Model,
    built: Built,
    classes: Sequence[ConfigClass],
    extras: Sequence[ExtraAttributes],
) -> RotaryPath:
    values = vars(model.namespace)
    names = list(next(c for c in classes if holds(c.when, values)).attributes)
    for extra in extras:
        if holds(extra.when, values):
            names.extend(extra.attributes)
    attention, kind = name.split("-")
    return RotaryPath(
        name=name,
        attention=attention,
        kind=kind,
        rotary_class=built.rotary_class,
        returns=None if built.embedding is None else _returns(built, model.namespace),
        arguments=_arguments(model, built, names),
        reads=_reads(model, built, names),
    )


def _returns(built: Built, namespace: argparse.Namespace) -> int:
    if "Multimodal" in str(built.rotary_class):
        torch: Any = __import__("torch")
        positions = torch.zeros(3, 1, 4, dtype=torch.long)
        result = built.embedding.forward(positions, namespace.mrope_section)
    else:
        result = built.embedding.forward(4)
    return len(result) if isinstance(result, tuple) else 1


def _arguments(model: _Model, built: Built, names: Sequence[str]) -> dict[str, Argument]:
    found: dict[str, Argument] = {}
    explicit = {k: v for k, v in built.explicit.items() if k not in PLACEMENT}
    tables: tuple[tuple[Literal["config", "args"], Sequence[str]], ...] = (
        ("config", names),
        ("args", _dests(model)),
    )
    for origin, sources in tables:
        for source in sources:
            for value in _alternatives(_current(model, origin, source)):
                changed = {source: value}
                given = (changed, None) if origin == "config" else (None, changed)
                other, error = attempt(model.build, *given)
                if error is not None or other.rotary_class != built.rotary_class:
                    continue
                for argument, before in explicit.items():
                    after = other.explicit.get(argument)
                    if argument not in found and not same(before, after) and same(after, value):
                        found[argument] = Argument(origin, source)
    for argument, value in explicit.items():
        # A constant that only repeats the default of the class is that default.
        default = built.defaults.get(argument)
        fixed: Literal["constructor", "constant"]
        fixed = "constructor" if same(value, default) else "constant"
        found.setdefault(argument, Argument(fixed, value=value))
    for argument, value in built.defaults.items():
        if argument not in PLACEMENT:
            found.setdefault(argument, Argument("constructor", value=value))
    return dict(sorted(found.items()))


def _dests(model: _Model) -> list[str]:
    return [name for name in vars(model.namespace) if CANDIDATE.search(name)]


def _current(model: _Model, origin: str, source: str) -> Any:
    holder = model.config if origin == "config" else model.namespace
    return getattr(holder, source, None)


def _alternatives(current: Any) -> list[Any]:
    if isinstance(current, bool):
        return [not current]
    if isinstance(current, int):
        return [48 if current == INTEGER else INTEGER]
    if isinstance(current, float):
        return [current + 0.5]
    return [INTEGER, 2.5] if current is None else []


def _reads(model: _Model, built: Built, names: Sequence[str]) -> dict[str, Argument]:
    """Find what the attention reads beside the rotary class."""
    reads: dict[str, Argument] = {}
    attention = built.attention
    if attention is None:
        return reads
    if "rotary_scaling_factor" in names and hasattr(attention, "softmax_scale"):
        for name in ("mscale", "mscale_all_dim"):
            scaled = {"rotary_scaling_factor": FACTOR, "mscale": 0.0, "mscale_all_dim": 0.0}
            other = model.build(attribute={**scaled, name: 1.0})
            plain = model.build(attribute=scaled)
            ratio = other.attention.softmax_scale / plain.attention.softmax_scale
            if math.isclose(ratio, (0.1 * math.log(FACTOR) + 1.0) ** 2):
                reads["softmax_factor"] = Argument("config", "rotary_scaling_factor")
                reads["softmax_mscale"] = Argument("config", name)
    if "mrope" in str(model.namespace.position_embedding_type) and built.rotary_class:
        reads["mrope_section"] = Argument("config", "mrope_section")
    if "no_rope_freq" in type(attention).forward.__code__.co_names and built.rotary_class:
        reads["no_rope_freq"] = Argument("config", "no_rope_freq")
    return reads
