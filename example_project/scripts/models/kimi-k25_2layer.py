"""Kimi-K2.5 cut to two layers, one dense and one with experts, for quick runs."""

from __future__ import annotations

from ropeframe.definitions import load_sibling_model_args


def model_args(nlayers: int = 2) -> list[str]:
    return load_sibling_model_args(__file__, "kimi-k25", nlayers=nlayers)
