"""GLM-5 with low-rank adapters in place of full training."""

from __future__ import annotations

from ropeframe.definitions import load_sibling_model_args


def model_args(nlayers: int = 78, lora_rank: int = 32) -> list[str]:
    base = load_sibling_model_args(__file__, "glm5-744B-A40B", nlayers=nlayers)
    return [*base, "--lora-rank", str(lora_rank)]
