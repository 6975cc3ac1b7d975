"""What is recorded of a parser and of refusals, as far as it needs no Megatron."""

from __future__ import annotations

import argparse
import enum
import functools
from typing import Any

import pytest

from pytest_ropecontract.megatron.live import is_importable
from pytest_ropecontract.megatron.recording.conditions import generalise
from pytest_ropecontract.megatron.recording.options import record_options
from pytest_ropecontract.megatron.surface import OptionRecord, SurfaceError


class Color(enum.Enum):
    RED = 1
    BLUE = (2, 3)


class Other(enum.Enum):
    RED = 1


def color(text: str) -> Any:
    return text if text in ("auto", "none") else Color[text]


def other_color(text: str) -> Any:
    """Name an enumeration whose members it does not read."""
    return Color[text] if Other else None


def recorded(*flags: str, **keywords: Any) -> OptionRecord:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(*flags, **keywords)
    (record,) = record_options(parser)[0]
    return record


def enums_of(**keywords: Any) -> dict[str, dict[str, int | str]]:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--color", **keywords)
    return record_options(parser)[1]


def refusal(**keywords: Any) -> str:
    parser = argparse.ArgumentParser()
    parser.add_argument("--odd", **keywords)
    with pytest.raises(SurfaceError) as caught:
        record_options(parser)
    return caught.value.headline


def test_help_is_no_option_of_megatrons() -> None:
    assert record_options(argparse.ArgumentParser()) == ((), {})


@pytest.mark.parametrize(
    ("default", "recorded_as"),
    [
        (None, None),
        (True, True),
        (1.5, 1.5),
        ("text", "text"),
        ([1, [2]], [1, [2]]),
        ((1, "a"), {"tuple": [1, "a"]}),
        ([(0.9, 0.95)], [{"tuple": [0.9, 0.95]}]),
        (Color.RED, {"of": "Color", "member": "RED"}),
    ],
)
def test_default_is_a_value_of_json(default: Any, recorded_as: Any) -> None:
    assert recorded("--a", default=default).default == recorded_as


def test_member_with_a_value_that_json_does_not_have_stands_for_itself() -> None:
    assert enums_of(type=color, default=Color.RED) == {"Color": {"RED": 1, "BLUE": "BLUE"}}


def test_reader_of_members_keeps_the_texts_that_it_lets_through() -> None:
    record = recorded("--color", type=color)

    assert (record.value_type, record.enum, record.reader) == ("enum", "Color", "color")
    assert record.const == ["auto", "none"]


def test_reader_is_of_the_enumeration_that_it_reads() -> None:
    assert recorded("--color", type=other_color).enum == "Color"


@pytest.mark.parametrize("reader", [int, float, str])
def test_reader_behind_a_function_is_what_it_does(reader: type) -> None:
    def read(text: str) -> Any:
        return reader(text)

    record = recorded("--a", type=read)

    assert (record.value_type, record.reader) == (reader.__name__, "read")


@pytest.mark.parametrize(
    ("reader", "name"),
    [
        (lambda text: text[::-1], "<lambda>"),
        (functools.partial(int, base=7), "functools.partial(<class 'int'>, base=7)"),
        (bytes.fromhex, "bytes.fromhex"),
    ],
    ids=["function", "partial", "builtin"],
)
def test_reader_that_is_like_no_other_cannot_be_recorded(reader: Any, name: str) -> None:
    headline = refusal(type=reader)

    assert headline.startswith("option --odd reads its values with ")
    assert headline.endswith(f"{name}, which behaves like no reader that can be recorded")


def test_action_that_is_like_no_other_cannot_be_recorded() -> None:
    class Odd(argparse.Action):
        pass

    assert refusal(action=Odd) == "option --odd is a Odd, which cannot be recorded"


def test_argument_without_a_flag_cannot_be_recorded() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stray")

    with pytest.raises(SurfaceError, match=r"^option stray is a _StoreAction, which"):
        record_options(parser)


def test_default_that_is_like_no_other_cannot_be_recorded() -> None:
    assert refusal(default={1}) == "a default of type set cannot be recorded"


PATTERNS = [None, "MMMM", "****", "DDDD"]


@pytest.mark.parametrize(
    ("dest", "allowed", "domain", "condition"),
    [
        ("hybrid_layer_pattern", ["DDDD", "****"], PATTERNS, {"contains": ["*", "D"]}),
        ("hybrid_layer_pattern", [None, "MMMM"], PATTERNS, {"lacks": ["*", "D"]}),
        ("hybrid_layer_pattern", [None], PATTERNS, [None]),
        ("mtp_num_layers", [1, 48], [None, 1, 48], {"given": True}),
        ("mtp_num_layers", [None, 1], [None, 1, 48], [None, 1]),
        ("num_layers", [1, 2], [1, 2, 3], [1, 2]),
        ("rope_type", ["rope"], [None, "rope", "yarn"], ["rope"]),
        ("swiglu", [True], [True, False], [True]),
    ],
)
def test_allowed_values_are_generalised_beyond_those_that_were_tried(
    dest: str, allowed: list[Any], domain: list[Any], condition: Any
) -> None:
    assert generalise(dest, allowed, domain) == condition


@pytest.mark.parametrize("broken", ["ImportError", "ValueError"])
def test_megatron_whose_parent_cannot_be_imported_is_not_importable(
    broken: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("torch", "megatron"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise {broken}('broken')\n")
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))

    assert not is_importable()
