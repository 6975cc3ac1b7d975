"""Which definition a command line names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ropecontract.launchers.naming import checkpoints, expanded_in, named_by_path

NAMES = ("kimi-k2", "kimi-k2-thinking", "kimi-k25", "kimi-k25_2layer", "glm4.7-flash", "qwen3-4B")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/ckpt/Kimi-K2.5", "kimi-k25"),
        ("/ckpt/Kimi-K2.5/", "kimi-k25"),
        ("/ckpt/Kimi-K2.5_torch_dist", "kimi-k25"),
        ("/ckpt/Kimi-K2.5-2layer", "kimi-k25_2layer"),
        ("/ckpt/Kimi-K2-Thinking", "kimi-k2-thinking"),
        ("/ckpt/Kimi-K2-Instruct-0905", "kimi-k2"),
        ("moonshotai/Kimi-K2.5", "kimi-k25"),
        ("/cache/models--zai-org--GLM-4.7-Flash/snapshots/0f3c", "glm4.7-flash"),
        ("/data/qwen3-4b/iter_0000100", "qwen3-4B"),
        ("/data/GLM_4.7_Flash", "glm4.7-flash"),
    ],
)
def test_a_checkpoint_names_its_definition(path: str, name: str) -> None:
    assert named_by_path(path, NAMES) == (name,)


@pytest.mark.parametrize(
    "path", ["/ckpt/Kimi-K2.6", "/ckpt/Kimi", "/ckpt/GLM-4.7", "", "/", "/data"]
)
def test_what_is_close_names_nothing(path: str) -> None:
    assert named_by_path(path, NAMES) == ()


def test_a_newer_model_is_not_taken_for_the_older_one() -> None:
    """Without its own definition, K2.5 has none: K2's differs."""
    assert named_by_path("/ckpt/Kimi-K2.5", ["kimi-k2", "kimi-k2-thinking"]) == ()


def test_definitions_that_differ_in_punctuation_are_both_named() -> None:
    assert named_by_path("/ckpt/Kimi-K2.5", ["kimi-k25", "kimi-k2.5"]) == (
        "kimi-k2.5",
        "kimi-k25",
    )


@given(st.sampled_from(NAMES), st.sampled_from(["", "_torch_dist", "-bf16", "/hf", "-hf/x"]))
def test_every_definition_names_itself(name: str, more: str) -> None:
    assert named_by_path(f"/data/{name}{more}", NAMES) == (name,)


def test_the_last_value_of_a_flag_counts_and_the_most_telling_flag_comes_first() -> None:
    argv = ["--load", "a", "--x", "--hf-checkpoint=b", "--load", "c", "--save", "d", "--ref-load"]

    assert list(checkpoints(argv).items()) == [("--hf-checkpoint", "b"), ("--load", "c")]


def test_the_longest_definition_that_is_launched_as_a_whole_counts() -> None:
    base = ["--a", "1", "--b"]
    expansions = {
        "base": base,
        "lora": [*base, "--r", "8"],
        "same": base,
        "other": ["--b", "2"],
        "none": [],
    }

    assert expanded_in(["--x", *base, "--r", "8", "--y"], expansions) == ("lora",)
    assert expanded_in(["--a", "--a", "1", "--b"], expansions) == ("base", "same")
    assert expanded_in(["--a", "1", "--c", "--b"], expansions) == ()
