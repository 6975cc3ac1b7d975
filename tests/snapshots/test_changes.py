"""The first line of a snapshot's failure."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ropecontract.snapshots.changes import MOST_LINES, story

BEFORE = "--a 1\n--b\n--beta-fast 1\n"
LINES = st.lists(st.sampled_from(["--a 1", "--a 2", "--b", "--c x", "--d", "kind: yarn"]))


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (BEFORE, "--a 1\n--b\n--beta-fast 32\n", "--beta-fast 1 became --beta-fast 32"),
        (BEFORE, BEFORE + "--rope-type rope\n", "--rope-type rope was added"),
        (BEFORE, "--b\n--beta-fast 1\n", "--a 1 was removed"),
        (BEFORE, "--b\n--beta-fast 1\n--a 1\n", "--a 1 was moved"),
        (BEFORE, "--a 2\n--c\n", "--a 1 became --a 2 (and 3 more changes)"),
        (BEFORE, "--a 1\n--b\n--beta-fast 1\n--beta-fast 1\n", "--beta-fast 1 was added"),
        (
            "beta_fast: 1 (declared: --beta-fast 1)\n",
            "beta_fast: 32 (parser-default: default of --beta-fast)\n",
            (
                "beta_fast: 1 (declared: --beta-fast 1) became "
                "beta_fast: 32 (parser-default: default of --beta-fast)"
            ),
        ),
        ("a: 1\n", "refused: by parser (SystemExit)\n", "a: 1 was removed (and 1 more change)"),
        ("    --a 1\n", "    --a 2\n", "--a 1 became --a 2"),
        ("  env A=1\n", "  env A=2\n", "env A=1 became env A=2"),
        (
            "--x " + "y" * 200 + "\n",
            "--z\n",
            f"--x {'y' * 116} ... was removed (and 1 more change)",
        ),
    ],
)
def test_story(before, now, told):
    assert story(before, now) == told


@given(before=LINES, now=LINES)
@example(before=["--b"], now=["--b", "--b"])
def test_every_difference_has_a_story(before, now):
    told = story("".join(f"{one}\n" for one in before), "".join(f"{one}\n" for one in now))

    assert (told == "changed") == (before == now)


def test_texts_of_any_size_are_compared():
    many = "".join(f"--flag-{number} 1\n" for number in range(MOST_LINES + 1))

    assert story(many, many.replace("--flag-7 1", "--flag-7 2")) == "--flag-7 1 became --flag-7 2"
