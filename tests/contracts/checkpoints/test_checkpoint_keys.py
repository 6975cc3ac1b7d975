"""Keys and rope types that are like one that there is not."""

from __future__ import annotations

import pytest

from pytest_ropecontract.contracts.checkpoints import keys


@pytest.mark.parametrize(
    ("key", "rope_type", "near"),
    [
        ("freq_factor", "llama3", "low_freq_factor"),
        # Keys that the type reads come before those that are more alike.
        ("freq_factor", "yarn", "factor"),
        ("betas_fast", "linear", "beta_fast"),
        # Six letters of nine are not enough, nor is one word of two.
        ("rope_base", "yarn", None),
        ("fast", "yarn", None),
    ],
)
def test_the_key_that_is_most_like_another(key: str, rope_type: str, near: str | None) -> None:
    assert keys.nearest(key, rope_type) == near


@pytest.mark.parametrize(
    ("name", "near"), [("yarm", "yarn"), ("Llama-3", "llama3"), ("LINEAR", "linear"), ("x", None)]
)
def test_the_rope_type_that_is_most_like_a_name(name: str, near: str | None) -> None:
    assert keys.nearest_type(name) == near


@pytest.mark.parametrize(
    ("key", "types"),
    [
        ("beta_fast", ["yarn"]),
        ("short_factor", ["longrope"]),
        ("factor", ["linear", "dynamic", "yarn", "longrope", "llama3", "proportional"]),
        ("x", []),
    ],
)
def test_the_rope_types_that_read_a_key(key: str, types: list[str]) -> None:
    assert keys.readers(key) == types
