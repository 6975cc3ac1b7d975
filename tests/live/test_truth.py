"""The prediction against the truth: tiny models, really built, with what arrives in them."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from likeness import pipelines, recorded_megatron

from pytest_ropecontract.megatron import machine
from pytest_ropecontract.megatron.backend import ArgumentRefusedError
from pytest_ropecontract.megatron.recording.laboratory import BASE, MLA, Built, Laboratory
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

SIZES = (*BASE[: BASE.index("--position-embedding-type")], "--no-rope-fusion")
COMMON = {
    "rotary_base": "rotary_base",
    "rotary_percent": "rotary_percent",
    "rotary_interleaved": "rotary_interleaved",
    "seq_len_interpolation_factor": "seq_len_interpolation_factor",
    "rope_scaling": "rope_scaling",
}
YARN = {
    "rotary_base": "rotary_base",
    "rotary_interleaved": "rotary_interleaved",
    "scaling_factor": "rotary_scaling_factor",
    "original_max_position_embeddings": "original_max_position_embeddings",
    "beta_fast": "beta_fast",
    "beta_slow": "beta_slow",
    "mscale": "mscale",
    "mscale_all_dim": "mscale_all_dim",
    "correction_range_round_to_int": "round_to_int",
}


@pytest.fixture(scope="module")
def laboratory() -> Iterator[Laboratory]:
    with Laboratory() as laboratory:
        yield laboratory


def positions() -> tuple[str, ...]:
    options = recorded_megatron().surface.options
    (option,) = [one for one in options if one.dest == "position_embedding_type"]
    return tuple(option.choices or ())


def flags(name: str, *values: Any) -> list[tuple[str, ...]]:
    """Return a flag with each of the values; no value leaves it out, an empty one is none."""
    return [
        () if value is None else (name, *str(value).split()) if value != "" else (name,)
        for value in values
    ]


POSITIONS = flags("--position-embedding-type", None, *positions())
SECTIONS = ("--mrope-section", "2", "3", "3")
SCALING = flags("--use-rope-scaling", None, "")
FACTORS = flags("--rotary-scaling-factor", None, 40)
MSCALES = [
    (),
    ("--mscale", "1", "--mscale-all-dim", "1"),
    ("--mscale", "0.707", "--mscale-all-dim", "0.707"),
    ("--mscale", "0.5"),
    ("--mscale-all-dim", "1"),
    ("--mscale", "0", "--mscale-all-dim", "0.5"),
]
FRACTIONS = flags("--rotary-percent", None, 0.5)
TYPES = flags("--rope-type", None, "rope", "yarn")
GRIDS = {
    "mla": ([MLA], TYPES, POSITIONS, SCALING, FACTORS, MSCALES),
    "mla-factors": (
        [(*MLA, "--position-embedding-type", "rope")],
        TYPES,
        flags("--rotary-scaling-factor", 0.5, 1, 1.5, 4, 32, 64, 1000000),
        MSCALES,
    ),
    "mla-fields": (
        [(*MLA, "--position-embedding-type", "rope")],
        TYPES,
        FRACTIONS,
        flags("--rotary-base", None, 50000),
        flags("--rotary-seq-len-interpolation-factor", None, 3),
        flags("--no-rope-freq", None, 2),
    ),
    "gpt": ([()], TYPES, POSITIONS, SCALING, FACTORS, MSCALES),
    "gpt-fields": (
        [()],
        POSITIONS,
        FRACTIONS,
        flags("--rotary-base", None, 50000),
        flags("--kv-channels", None, 32),
        flags("--rotary-seq-len-interpolation-factor", None, 3),
        flags("--rope-scaling-factor", None, 32),
        flags("--rotary-interleaved", None, ""),
    ),
    "gpt-old-flag": (
        [("--use-rotary-position-embeddings",)],
        POSITIONS,
        SCALING,
        flags("--no-position-embedding", None, ""),
    ),
    "hybrid": (
        [("--hybrid-layer-pattern", "****")],
        TYPES,
        POSITIONS,
        SCALING,
        FACTORS,
        FRACTIONS,
    ),
}
# Layers of latent attention in a hybrid model, and YaRN without it, came with 0.19.
if "'+'" in str(recorded_megatron().surface.rules):
    GRIDS["hybrid-mla"] = (
        [(*MLA[1:], "--hybrid-layer-pattern", "++++")],
        TYPES,
        POSITIONS,
        FACTORS,
        MSCALES[:2],
    )
if "--yarn-beta-fast" in pipelines()[0].flags:
    GRIDS["gpt-yarn"] = (
        [("--position-embedding-type", "yarn"), ()],
        flags("--rotary-scaling-factor", None, 32),
        flags("--yarn-original-max-position-embeddings", None, 8192),
        flags("--yarn-beta-fast", None, 16),
        flags("--yarn-beta-slow", None, 2),
        [
            (),
            ("--yarn-correction-range-round-to-int",),
            ("--no-yarn-correction-range-round-to-int",),
        ],
    )


def built(laboratory: Laboratory, argv: list[str]) -> tuple[str, Any]:
    """Return what is really built, or the stage that refuses."""
    stage = "parser"
    try:
        namespace = laboratory.parse(argv)
        stage = "validate_args"
        namespace = laboratory.validate(namespace)
        namespace.transformer_impl = "local"
        stage = "config"
        config = laboratory.configure(namespace)
        stage = "model"
        model = laboratory.build(namespace, config, {})
    except ArgumentRefusedError as error:
        return stage, str(error)
    except Exception as error:  # noqa: BLE001  # a refusal may be any of them
        return stage, f"{type(error).__name__}: {error}"
    return "built", fields(model, namespace)


def fields(model: Built, namespace: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a model's RoPE, read from its objects."""
    found: dict[str, Any] = {"rotary_class": model.rotary_class}
    if model.rotary_class is None:
        return found
    arguments = {**model.defaults, **model.explicit}
    yarn = "Yarn" in model.rotary_class
    for argument, name in (YARN if yarn else COMMON).items():
        if argument in arguments:
            found[name] = arguments[argument]
    if not yarn and arguments.get("rope_scaling"):
        found["rope_scaling_factor"] = arguments["rope_scaling_factor"]
    if model.rotary_class == "MultimodalRotaryEmbedding":
        found["mrope_section"] = tuple(namespace.mrope_section)
    if not (model.rotary_class == "MultimodalRotaryEmbedding" and found["rotary_interleaved"]):
        # Its forward cannot do that.
        result = forward(model)
        several = isinstance(result, tuple)
        found["returns"] = len(result) if several else 1
        found["magnitude"] = result[1] if several else 1.0
        found["rotary_dim"] = (result[0] if several else result).shape[-1]
    if namespace.multi_latent_attention:
        width = model.attention.q_head_dim
        found["softmax_multiplier"] = model.attention.softmax_scale * math.sqrt(width)
    return found


def forward(model: Built) -> Any:
    if model.rotary_class != "MultimodalRotaryEmbedding":
        return model.embedding.forward(4)
    torch = pytest.importorskip("torch")
    # One section of all frequencies: the sections of the namespace may not fill this width.
    sections = [model.embedding.inv_freq.numel()]
    return model.embedding.forward(torch.zeros(3, 1, 4, dtype=torch.long), sections)


def predicted(argv: list[str]) -> tuple[str, Any]:
    resolution = resolve(pipelines()[0], argv)
    if resolution.refused is not None:
        refused = resolution.refused
        text = refused.message if refused.by == "parser" else f"{refused.error}: {refused.message}"
        return refused.by, text
    return "built", resolution.rope


def mismatch(truth: tuple[str, Any], prediction: tuple[str, Any]) -> Any:
    """Return what a prediction says wrongly."""
    if truth[0] != "built" or prediction[0] != "built":
        return None if truth == prediction else (truth, prediction)
    wrong = {}
    for name, value in truth[1].items():
        said = getattr(prediction[1], name)
        if isinstance(value, float) and isinstance(said, float):
            same = math.isclose(value, said, rel_tol=1e-12)
        else:
            same = value == said and type(value) is type(said)
        if not same:
            wrong[name] = {"built": value, "predicted": said}
    return wrong or None


@pytest.mark.parametrize("family", GRIDS)
def test_what_is_built_is_what_was_predicted(laboratory: Laboratory, family: str):
    wrong: dict[str, Any] = {}
    stages: set[str] = set()
    # Both for the whole of the grid; to begin and to end them takes longer than a model.
    with machine.quiet(), pipelines()[0].active():
        for parts in itertools.product(*GRIDS[family]):
            own = [token for part in parts for token in part]
            more = SECTIONS if "mrope" in own else ()
            argv = [*SIZES, *own, *more]
            truth = built(laboratory, argv)
            stages.add(truth[0])
            found = mismatch(truth, predicted(argv))
            if found is not None:
                wrong[" ".join((*own, *more))] = found

    assert wrong == {}
    assert "built" in stages
