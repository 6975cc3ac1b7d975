"""What a finding says, and how it writes values."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_ropecontract.contracts.findings import Finding, plain


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("--rope-type rope", "  origin:   declared (--rope-type rope)"),
        (None, "  origin:   declared"),
    ],
)
def test_an_origin_is_told_with_its_source_where_it_has_one(source: str | None, line: str):
    finding = Finding("checkpoint", "m", "x", origin="declared", source=source)

    assert finding.text().splitlines() == ["checkpoint: m: x", line]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (32.0, "32"),
        (0.707, "0.707"),
        (1.8738542, "1.87385"),
        (1e6, "1000000"),
        (2.0**53 - 1, "9007199254740991"),
        (-(2.0**53) + 1, "-9007199254740991"),
        # From here on a float does not hold every whole number.
        (2.0**53, "9.0072e+15"),
        (1e300, "1e+300"),
        (float("nan"), "nan"),
        (True, "True"),
        ([16, 24.0], "16 24"),
        ("yarn", "yarn"),
        (None, "None"),
    ],
)
def test_values_are_written_as_a_flag_would(value: Any, text: str):
    assert plain(value) == text
