"""Properties over command lines from which flags were lost.

``test_omissions`` under every definition looks for a loss that no contract notices. What else must
hold of a command line with flags missing, a project says itself: ``omissions`` draws what can be
left out of a model's flags, and shrinks a counterexample to few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_ropecontract import omissions

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ropecontract.omission.units import Omission

FLASH = ["glm4.7-flash", "joyai-llm-flash"]
# How long it takes to resolve a command line is not what is tested.
patient = settings(deadline=None)


@patient
@given(omission=omissions("kimi-k2", only=["--beta-fast", "--beta-slow", "--mscale"]))
def test_k2_stays_yarn_without_its_details(
    omission: Omission, rope_resolve: Callable[..., Any]
) -> None:
    """Whatever of these is lost, YaRN is built, only not the one that was trained."""
    rope = rope_resolve(omission.argv).rope

    assert rope.kind == "yarn"
    assert rope.rotary_scaling_factor == 32


@patient
@given(omission=st.one_of(omissions(model, at_most=3) for model in FLASH))
def test_flash_models_say_their_rope_type(
    omission: Omission, rope_resolve: Callable[..., Any]
) -> None:
    """YaRN comes of one lost flag, and of nothing else."""
    rope = rope_resolve(omission.argv).rope
    says_it = "--rope-type rope" not in omission.omitted

    assert not (says_it and rope is not None and rope.kind == "yarn")


@pytest.mark.parametrize("model", ["deepseek-v3", "gpt-oss-20b"])
def test_size_does_not_decide_over_the_rope(
    model: str, rope_omissions: Callable[..., Any], rope_resolve: Callable[..., Any]
) -> None:
    """With the fixture, a strategy can be made for a model that is known only here."""
    only = ["--ffn-hidden-size", "--vocab-size", "--num-experts", "--moe-router-topk"]

    @patient
    @given(omission=rope_omissions(model, only=only))
    def check(omission: Omission) -> None:
        # None: Megatron refuses the rest, which nobody overlooks.
        assert rope_resolve(omission.argv).rope in (None, rope_resolve(model).rope)

    check()
