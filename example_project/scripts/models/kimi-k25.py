"""Kimi-K2.5: the shape of K2-Thinking, but YaRN's fast beta is 32."""

from __future__ import annotations

from ropeframe.definitions import load_sibling_model_args


def model_args(nlayers: int = 61) -> list[str]:
    return load_sibling_model_args(__file__, "kimi-k2-thinking", nlayers=nlayers, beta_fast=32)
