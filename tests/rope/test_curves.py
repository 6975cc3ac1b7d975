"""Wavelengths, and how far phases are apart."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.rope.curves import POSITIONS, differing, phase_errors, wavelengths
from pytest_ropecontract.rope.effect import Rotation, compare_rotations, rotation

PLAIN = RopeConfig("rope", "gpt", rotary_base=10000, rotary_dim=64, magnitude=1.0)
FREQUENCIES = st.lists(st.floats(1e-6, 1.0), min_size=4, max_size=4).map(tuple)


def test_a_pair_of_frequency_one_turns_once_in_two_pi_positions() -> None:
    assert wavelengths(Rotation((1.0, 0.5))) == (2 * math.pi, 4 * math.pi)


def test_positions_that_are_divided_turn_slower() -> None:
    divided = replace(PLAIN, seq_len_interpolation_factor=4.0)

    for slow, fast in zip(
        wavelengths(rotation(divided)), wavelengths(rotation(PLAIN)), strict=True
    ):
        assert slow == pytest.approx(4 * fast)


def test_a_pair_that_never_turns() -> None:
    assert wavelengths(Rotation((1.0, 0.0)))[1] == math.inf


def test_every_pair_of_another_width_differs() -> None:
    narrow, wide = Rotation((1.0, 0.5)), Rotation((1.0, 0.5, 0.25))

    assert differing(narrow, wide) == (0, 1, 2)
    assert phase_errors(narrow, wide) is None


@given(first=FREQUENCIES, second=FREQUENCIES)
def test_as_many_differ_as_the_effect_says(
    first: tuple[float, ...], second: tuple[float, ...]
) -> None:
    one, other = Rotation(first), Rotation(second)

    assert len(differing(one, other)) == compare_rotations(one, other).differing


@given(first=FREQUENCIES, second=FREQUENCIES)
def test_a_radian_is_passed_where_the_effect_says(
    first: tuple[float, ...], second: tuple[float, ...]
) -> None:
    one, other = Rotation(first), Rotation(second)
    errors = phase_errors(one, other)
    position = compare_rotations(one, other).first_position

    assert errors is not None
    assert [at for at, _ in errors] == list(POSITIONS)
    for at, error in errors:
        # At the position itself, rounding decides.
        assert at == position or (error > 1) == (position is not None and at > position)
