"""What a lost flag is called, for every way in which it can matter."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_ropecontract.megatron.pipeline import Parsed
from pytest_ropecontract.omission.outcomes import (
    Outcome,
    changes,
    has_lost_flag,
    is_implicit_yarn,
    outcome,
)
from pytest_ropecontract.rope.config import RopeConfig
from pytest_ropecontract.rope.resolution import Origin, Resolution, Source

PARSED = Parsed((), 0, ())


def built(origins: dict[str, Origin], kind: str = "rope", **fields: Any) -> Resolution:
    """Return a resolution with the origins of its fields: of the kind, it is a flag's."""
    rope = RopeConfig(kind=kind, attention="mla", rotary_base=10000, **fields)  # type: ignore[arg-type]
    given: dict[str, Origin] = {"kind": "declared", "rotary_base": "declared", **origins}
    sources = {name: Source(origin, f"of {name}") for name, origin in given.items()}
    return Resolution((), PARSED, rope, sources)


@pytest.mark.parametrize(
    ("kind", "origin", "implicit"),
    [
        ("yarn", "declared", False),
        ("yarn", "filled", True),
        ("yarn", "parser-default", True),
        ("rope", "filled", False),
    ],
)
def test_yarn_is_implicit_where_no_flag_says_so(kind: str, origin: Origin, implicit: bool) -> None:
    assert is_implicit_yarn(built({"kind": origin}, kind)) is implicit


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("yarn", "declared"), ("yarn", "filled"), "implicit-yarn"),
        (("rope", "declared"), ("yarn", "filled"), "implicit-yarn"),
        (("yarn", "filled"), ("yarn", "filled"), "same"),
        (("yarn", "filled"), ("yarn", "declared"), "same"),
        (("yarn", "declared"), ("rope", "filled"), "changed"),
        (("rope", "declared"), ("rope", "filled"), "implicit"),
    ],
)
def test_outcome_of_a_lost_type(
    before: tuple[str, Origin], after: tuple[str, Origin], expected: Outcome
) -> None:
    one, other = (built({"kind": origin}, kind) for kind, origin in (before, after))

    assert outcome(one, other) == expected


@pytest.mark.parametrize(
    ("value", "lost"), [(1.0, True), (0, True), (True, True), (False, False), (None, False)]
)
def test_what_is_off_or_absent_has_lost_no_flag(value: Any, lost: bool) -> None:
    before = built({"rope_scaling_factor": "declared"}, rope_scaling_factor=value)
    after = built({"rope_scaling_factor": "parser-default"}, rope_scaling_factor=value)

    assert has_lost_flag(before, after, "rope_scaling_factor") is lost
    assert outcome(before, after) == ("implicit" if lost else "same")
    assert [one.field for one in changes(before, after)] == ["rope_scaling_factor"][: int(lost)]
