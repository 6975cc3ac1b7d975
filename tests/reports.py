"""Reports, as the JSON report has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

FIELDS = (
    *("kind", "attention", "rotary_base", "rotary_dim", "rotary_percent", "rotary_interleaved"),
    *("rotary_scaling_factor", "original_max_position_embeddings", "beta_fast", "beta_slow"),
    *("mscale", "mscale_all_dim", "round_to_int", "rope_scaling", "rope_scaling_factor"),
    *("seq_len_interpolation_factor", "mrope_section", "no_rope_layers", "magnitude"),
    *("softmax_multiplier", "rotary_class", "returns"),
)


def finding(**changes: Any) -> dict[str, Any]:
    return {
        "rule": "expectation",
        "field": "rotary_base",
        "expected": 5,
        "actual": 10000,
        "origin": "declared",
        "message": "rotary_base is 10000, expected 5",
        "status": "fail",
        "effect": None,
        "source": "--rotary-base 10000",
        "details": [],
        "reason": None,
        "remedy": "declare --rotary-base 5",
        **changes,
    }


def curve(of: str, base: float = 10000.0, **changes: Any) -> dict[str, Any]:
    found = {
        "of": of,
        "name": "RotaryEmbedding" if of == "resolved" else f"the {of} one",
        "wavelengths": [2 * math.pi * base ** (index / 4) for index in range(4)],
        "differing": [],
        "phase_errors": None if of == "resolved" else [[2**power, 0.0] for power in range(3)],
        "effect": None if of == "resolved" else "numerically identical",
    }
    return {**found, **changes}


def model(name: str = "plain", **changes: Any) -> dict[str, Any]:
    rope: dict[str, Any] = dict.fromkeys(FIELDS)
    rope.update(
        kind="rope", attention="gpt", rotary_base=10000, rotary_dim=8, rotary_class="Rotary"
    )
    source = {"flag": "--rotary-base", "dest": "rotary_base", "text": "--rotary-base 10000"}
    return {
        "name": name,
        "path": f"scripts/models/{name}.py",
        "argv": ["--num-layers", "2", "--rotary-base", "10000"],
        "rope": rope,
        "origins": {"rotary_base": "declared"},
        "sources": {"rotary_base": {**source, "attribute": None, "argument": "rotary_base"}},
        "curves": [curve("resolved")],
        "findings": [],
        "omissions": {"--num-layers 2": "refused", "--rotary-base 10000": "unguarded"},
        "snapshot": None,
        "error": None,
        "contracts": 1,
        "contracts_not_run": 0,
        **changes,
    }


def launcher(name: str = "scripts/run.sh", **changes: Any) -> dict[str, Any]:
    rope = {**model()["rope"], "rotary_base": 20000}
    training = {
        "model": "plain",
        "script": "train.py",
        "argv": ["--num-layers", "2", "--rotary-base", "20000"],
        "through": ["torchrun"],
        "environment": {},
        "origin": "line 3",
        "rope": rope,
        "origins": {"rotary_base": "declared"},
    }
    return {
        "name": name,
        "commands": [["nvidia-smi", "topo"], ["torchrun", "train.py", "--lr", "1"]],
        "training": [training],
        "findings": [],
        "missing_layers": [],
        "error": None,
        **changes,
    }


def report(*models: dict[str, Any], launchers: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    return {
        "schema": 1,
        "plugin": "0.1.0",
        "surface": {"name": "megatron-core-0.19.2", "version": "0.19.2", "mode": "recorded"},
        "models": list(models),
        "launchers": list(launchers),
    }


def replaced(value: Any, text: str) -> Any:
    """Return a value in which every text, but what the page itself decides by, is another."""
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [replaced(one, text) for one in value]
    if isinstance(value, dict):
        fixed = ("status", "of", "origins", "omissions", "phase_errors")
        return {name: one if name in fixed else replaced(one, text) for name, one in value.items()}
    return value


def hostile(text: str) -> dict[str, Any]:
    """Return a report of which everything that comes from a project is a text."""
    found = model(
        curves=[curve("resolved"), curve("expected"), curve("checkpoint")],
        snapshot="",
        findings=[finding(details=[""], reason="", effect="")],
    )
    names = found["rope"].keys(), found["sources"].keys()
    found = replaced(found, text)
    found["rope"].update(rotary_base=text, kind=text)
    assert (found["rope"].keys(), found["sources"].keys()) == names
    found["omissions"] = {text: "unguarded", f"{text}2": "harmless"}
    found["origins"] = {"rotary_base": "filled"}
    failed = model(text, error=text, rope=None, curves=[], origins={}, sources={}, argv=[])
    launched = launcher(
        error="", findings=[finding(details=[""], reason="", effect="")], missing_layers=[""]
    )
    launched = replaced(launched, text)
    (training,) = launched["training"]
    training["rope"].update(rotary_base=text, kind=text)
    return {
        **report(found, failed, launchers=[launched]),
        "plugin": text,
        "surface": {"name": text, "version": text, "mode": text},
    }
