"""Recorded equals live: on every definition, and on what may become of one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from hypothesis import event, given, settings
from hypothesis import strategies as st
from likeness import (
    configured,
    definitions,
    described,
    difference,
    live_megatron,
    parsed,
    pipelines,
    read,
    recorded_megatron,
    resolved,
)
from strategies import joined, parts, related_parts

from pytest_ropecontract.megatron import command_line
from pytest_ropecontract.rope.resolution import resolve_parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ropecontract.rope.resolution import Refused

EXAMPLES = {name: argv for name, argv in definitions().items() if name.startswith("example/")}
SURFACE = recorded_megatron().surface
frameworks = pytest.mark.parametrize("framework", [False, True], ids=["stock", "framework"])


def test_the_recording_is_of_the_installed_sources():
    assert live_megatron().surface is not None
    assert live_megatron().mode == "live"
    assert SURFACE.fingerprint == live_megatron().fingerprint
    assert SURFACE.version == live_megatron().version


@frameworks
class TestDefinitions:
    def test_namespaces_are_equal(self, definition: list[str], framework: bool):
        recorded, live = pipelines(framework=framework)

        assert difference(parsed(recorded, definition), parsed(live, definition)) == {}

    def test_configs_are_equal(self, definition: list[str], framework: bool):
        recorded, live = pipelines(framework=framework)

        assert difference(configured(recorded, definition), configured(live, definition)) == {}

    def test_embeddings_and_their_origins_are_equal(self, definition: list[str], framework: bool):
        recorded, live = pipelines(framework=framework)

        assert difference(resolved(recorded, definition), resolved(live, definition)) == {}


def units(argv: list[str]) -> list[list[str]]:
    table = pipelines(framework=True)[0].flags
    return [argv[one.start : one.stop] for one in command_line.split(argv, table)]


UNITS = [units(argv) for argv in EXAMPLES.values()]


@st.composite
def omitted(draw: Callable[..., list[list[str]]]) -> list[str]:
    """A definition without some of its flags."""
    whole = draw(st.sampled_from(UNITS))
    gone = draw(st.sets(st.integers(0, len(whole) - 1), max_size=8))
    return joined([unit for index, unit in enumerate(whole) if index not in gone])


@st.composite
def injected(draw: Callable[..., list[list[str]]]) -> list[str]:
    """A definition with flags of the surface anywhere in it, written well or badly."""
    whole = list(draw(st.sampled_from(UNITS)))
    for part in draw(st.lists(parts(SURFACE), min_size=1, max_size=3)):
        whole.insert(draw(st.integers(0, len(whole))), part)
    return joined(whole)


# Every refusal that the recording can give, as a pattern: its placeholders stand for anything.
RECORDED_REFUSALS = [
    re.compile(".*".join(map(re.escape, re.split(r"\{\w+\}", refusal.message))))
    for refusal in SURFACE.refusals
]
PATTERN_REFUSAL = re.compile(r"no_rope_freq=.* should be divisible|Length of no_rope list")


def is_recorded(refused: Refused) -> bool:
    """Return whether a refusal is about something that the recording covers.

    Megatron's config also refuses values that have no part in rotation, such as a number of
    experts without a width; those refusals are live only. A TypeError is Python's: it says
    which operation failed, and not on which value.
    """
    if refused.by != "config":
        return True
    patterns = [PATTERN_REFUSAL, *RECORDED_REFUSALS]
    return refused.error != "TypeError" and any(one.match(refused.message) for one in patterns)


def same(argv: list[str], *, framework: bool) -> None:
    """Compare what the parsers make of an argv, and what is built from it."""
    tokens = tuple(argv)
    recorded, live = pipelines(framework=framework)
    with recorded.active(), live.active():
        predicted, true = recorded.parse(tokens), live.parse(tokens)
        assert difference(read(predicted), read(true)) == {}

        built = resolve_parsed(live, tokens, true)
        if built.refused is not None and not is_recorded(built.refused):
            event("refused for something that has no part in rotation")
            return
        found = described(resolve_parsed(recorded, tokens, predicted))
    assert difference(found, described(built)) == {}


@given(omitted(), st.booleans())
@settings(max_examples=2000, deadline=None)
def test_an_omission_is_parsed_and_built_the_same(argv: list[str], framework: bool):
    same(argv, framework=framework)


# Two tests of half as many each, so that two processes share them.
@frameworks
@given(argv=injected())
@settings(max_examples=2500, deadline=None)
def test_an_injection_is_parsed_and_built_the_same(framework: bool, argv: list[str]):
    same(argv, framework=framework)


SIZES = "--num-layers 4 --hidden-size 64 --num-attention-heads 4"
TINY = [
    SIZES,
    f"{SIZES} --position-embedding-type rope",
    f"{SIZES} --position-embedding-type rope --multi-latent-attention",
    f"{SIZES} --swiglu --position-embedding-type rope --multi-latent-attention --no-rope-fusion",
    (
        f"{SIZES} --swiglu --disable-bias-linear --position-embedding-type rope "
        "--hybrid-layer-pattern M*M*"
    ),
    (
        f"{SIZES} --swiglu --disable-bias-linear --position-embedding-type rope --no-rope-fusion "
        "--multi-latent-attention --experimental-attention-variant dsa --linear-attention-freq 2"
    ),
]


@given(st.sampled_from(TINY), st.lists(related_parts(SURFACE), max_size=4), st.booleans())
@settings(max_examples=500, deadline=None)
def test_options_about_rotation_are_taken_and_refused_the_same(
    base: str, more: list[list[str]], framework: bool
):
    """Here nothing is left out: every refusal is one that the recording has."""
    recorded, live = pipelines(framework=framework)
    argv = [*base.split(), *joined(more)]

    with recorded.active(), live.active():
        assert difference(resolved(recorded, argv), resolved(live, argv)) == {}
