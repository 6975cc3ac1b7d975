"""No mistake in a surface is overlooked: neither by its behaviour, nor by ``surface verify``."""

from __future__ import annotations

import copy
import functools
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from battery import distinct, parses, resolutions
from likeness import STOCK, live_megatron, plain, recorded_megatron, resolved
from mutations import BEHAVIOUR, PARSER, UNREACHED, AbsentError

from pytest_ropecontract.cli import importing, main
from pytest_ropecontract.megatron import recording
from pytest_ropecontract.megatron.pipeline import Pipeline
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import Surface, SurfaceError
from pytest_ropecontract.megatron.surface_files import dump, parse
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

DOCUMENT: dict[str, Any] = json.loads(dump(recorded_megatron().surface))
# The config refuses these too, where validate_args has not refused or edited the values before.
MASKED = re.compile(
    r"unsupported operand type\(s\)|When bias_activation_fusion is True"
    r"|'TransformerConfig' object has no attribute 'v_head_dim'"
)
ALL = {**PARSER, **BEHAVIOUR, **UNREACHED}


def mutant(name: str) -> str:
    """Return the text of the surface with one mistake."""
    document = copy.deepcopy(DOCUMENT)
    try:
        ALL[name](document)
    except AbsentError:
        pytest.skip(f"{DOCUMENT['name']} has nothing to change there")
    text = json.dumps(document)
    assert text != json.dumps(DOCUMENT)
    return text


@functools.cache
def live_surface() -> Surface:
    """Record the installed Megatron, once."""
    return recording.record()


def test_there_are_enough():
    assert len(ALL) >= 30
    assert len({repr(one) for one in ALL}) == len(ALL)


# --- verify


@pytest.mark.parametrize("name", ALL)
def test_verify_finds_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(importing, "record", lambda *_, **__: live_surface())
    path = tmp_path / "mutant.json"
    path.write_text(mutant(name), encoding="utf-8")

    assert main(["surface", "verify", str(path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["drift"]
    # One mistake is one line or two, unless all of an order or an option is another.
    assert 1 <= len(document["differences"]) <= 8


def test_verify_finds_nothing_where_nothing_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(importing, "record", lambda *_, **__: live_surface())

    assert main(["surface", "verify"]) == 0
    name = live_surface().name
    assert capsys.readouterr().out == f"{name} does what the importable {name} does\n"


# --- behaviour


def parsed(parser: argparse.ArgumentParser, argv: tuple[str, ...]) -> Any:
    """Return what the parser alone makes of a command line."""
    try:
        namespace, unknown = parser.parse_known_args(list(argv))
    except Exception as error:  # noqa: BLE001  # a reader of values may raise anything
        return type(error).__name__, str(error)
    return {dest: plain(value) for dest, value in vars(namespace).items()}, unknown


@functools.cache
def parse_outcomes() -> dict[tuple[str, ...], Any]:
    live = live_megatron().new_parser()
    return {argv: parsed(live, argv) for argv in distinct(parses(recorded_megatron().surface))}


@functools.cache
def rope_outcomes() -> dict[tuple[str, ...], Any]:
    live, recorded = Pipeline(live_megatron(), STOCK), Pipeline(recorded_megatron(), STOCK)
    argvs = distinct(resolutions(recorded_megatron().surface))
    with live.active(), recorded.active():
        found = {argv: resolved(live, argv) for argv in argvs}
        # Values that are refused for what has no part in rotation are refused live only.
        return {
            argv: outcome
            for argv, outcome in found.items()
            if outcome["refused"] is None
            or outcome["refused"].by != "config"
            or resolved(recorded, argv)["refused"] is not None
        }


def is_told_apart(
    outcomes: dict[tuple[str, ...], Any], behave: Callable[[tuple[str, ...]], Any]
) -> bool:
    """Return whether any command line shows a mistake."""
    for argv, outcome in outcomes.items():
        try:
            if behave(argv) != outcome:
                return True
        except Exception:  # noqa: BLE001  # a mistake may also show as an error
            return True
    return False


def parser_tells(text: str) -> bool:
    try:
        parser = RecordedMegatron(parse(text, "mutant.json")).new_parser()
    except SurfaceError:
        return True
    return is_told_apart(parse_outcomes(), functools.partial(parsed, parser))


def embedding_tells(text: str) -> bool:
    try:
        pipeline = Pipeline(RecordedMegatron(parse(text, "mutant.json")), STOCK)
    except SurfaceError:
        return True
    outcomes = rope_outcomes()
    with pipeline.active():
        return is_told_apart(outcomes, functools.partial(resolved, pipeline))


@pytest.mark.parametrize("name", PARSER)
def test_the_parser_tells_it(name: str):
    assert parser_tells(mutant(name))


@pytest.mark.parametrize("name", BEHAVIOUR)
def test_what_is_built_tells_it(name: str):
    assert embedding_tells(mutant(name))


def test_without_a_mistake_there_is_nothing_to_tell():
    text = json.dumps(DOCUMENT)

    assert not parser_tells(text)
    assert not embedding_tells(text)


def test_the_command_lines_show_every_way_and_every_refusal():
    """In what none of them shows, a mistake could hide."""
    surface = recorded_megatron().surface
    recorded = Pipeline(recorded_megatron(), STOCK)
    argvs = list(rope_outcomes())
    with recorded.active():
        results = [resolve(recorded, argv) for argv in argvs]
    built = {(one.rope.attention, one.rope.kind) for one in results if one.rope is not None}
    said = {one.refused.message for one in results if one.refused is not None}

    assert built == {(path.attention, path.kind) for path in surface.paths.values()}
    patterns = [
        re.compile(".*".join(map(re.escape, re.split(r"\{\w+\}", one.message))))
        for one in surface.refusals
    ]
    silent = [one.pattern for one in patterns if not any(map(one.fullmatch, said))]
    assert [one for one in silent if not MASKED.match(one.replace("\\", ""))] == []
