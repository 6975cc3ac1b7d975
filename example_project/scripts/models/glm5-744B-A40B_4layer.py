"""GLM-5 cut to four layers, three dense and one with experts, for quick runs."""

from __future__ import annotations

from ropeframe.definitions import load_sibling_model_args


def model_args(nlayers: int = 4) -> list[str]:
    return load_sibling_model_args(__file__, "glm5-744B-A40B", nlayers=nlayers)
