"""What is recorded of a parser and of refusals, as far as it needs no Megatron."""

from __future__ import annotations

import argparse
import dataclasses
import enum
import functools
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract.megatron.live import is_importable
from pytest_ropecontract.megatron.namespaces import copy_of
from pytest_ropecontract.megatron.recording.conditions import Probe, box, generalise
from pytest_ropecontract.megatron.recording.laboratory import Built
from pytest_ropecontract.megatron.recording.options import record_options
from pytest_ropecontract.megatron.recording.rotary import record_rotary
from pytest_ropecontract.megatron.recording.rules import Validations, record_config, record_edits
from pytest_ropecontract.megatron.surface import (
    Attribute,
    ConfigClass,
    Edit,
    ExtraAttributes,
    OptionRecord,
    SurfaceError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


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


VALUES = {dest: ["off", "on", "auto"] for dest in ("first", "second", "third")}


def test_refusal_that_two_changes_lift_together_is_no_part_of_another() -> None:
    """Without ``first`` there is one, and with it another unless both others are given."""

    def refused(values: dict[str, Any]) -> str | None:
        if values["first"] == "off":
            return "first is needed"
        return "the others are needed" if "off" in values.values() else None

    off, on = dict.fromkeys(VALUES, "off"), dict.fromkeys(VALUES, "on")

    assert box(off, on, VALUES, refused) == {"first": ["off"]}


@pytest.mark.parametrize("broken", ["ImportError", "ValueError", "RuntimeError"])
def test_megatron_whose_parent_cannot_be_imported_is_not_importable(
    broken: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("torch", "megatron"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise {broken}('broken')\n")
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))

    assert not is_importable()


# --- what a Megatron does, as far as it needs none: one of a few lines


class Small:
    """A Megatron of a few lines: what a probe asks of a laboratory.

    Args:
        flags: What its parser has beside the shapes, as arguments of ``add_argument``.
    """

    def __init__(self, **flags: dict[str, Any]) -> None:
        self.parser = argparse.ArgumentParser(add_help=False)
        for dest in ("num_layers", "hidden_size", "num_attention_heads"):
            self.parser.add_argument(f"--{dest.replace('_', '-')}", type=int)
        self.parser.add_argument("--multi-latent-attention", action="store_true")
        self.parser.add_argument("--position-embedding-type", choices=["rope", "yarn"])
        for dest, keywords in flags.items():
            self.parser.add_argument(f"--{dest.replace('_', '-')}", **keywords)

    def probe(self) -> Probe:
        return Probe(self, record_options(self.parser)[0])

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        # It has few of the options that a recording gives.
        return self.parser.parse_known_args(list(argv))[0]

    def validate(self, namespace: argparse.Namespace) -> argparse.Namespace:
        validated = copy_of(vars(namespace))
        self.edit(validated)
        return validated

    def edit(self, namespace: argparse.Namespace) -> None:
        """Write into a namespace that is being validated."""

    def configure(self, namespace: argparse.Namespace) -> Any:
        return Config(namespace.multi_latent_attention)

    def build(self, *_: Any) -> Built:
        return Built(None, {}, {}, None, None)


@dataclasses.dataclass
class Config:
    multi_latent_attention: bool


ROPE_TYPE = {"choices": ["rope", "yarn"], "default": "rope"}
NO_ATTRIBUTES = (ConfigClass("Config", {}, {}),)


def test_value_that_is_written_whatever_it_was_has_the_condition_of_its_flag() -> None:
    class Halving(Small):
        def edit(self, namespace: argparse.Namespace) -> None:
            if namespace.swiglu:
                namespace.rotary_percent = 0.5

    small = Halving(swiglu={"action": "store_true"}, rotary_percent={"type": float, "default": 1.0})

    edits = record_edits(Validations(small.probe()))

    assert edits == (Edit("rotary_percent", {"swiglu": [True]}, 0.5),)


def test_attribute_that_no_option_changes_is_recorded_with_its_value() -> None:
    class Adding(Small):
        def configure(self, namespace: argparse.Namespace) -> Any:
            config = super().configure(namespace)
            if namespace.position_embedding_type == "yarn":
                config.yarn_rounds = 7
                config.yarn_base = namespace.rotary_base
            return config

    small = Adding(rotary_base={"type": int, "default": 10000})

    _, extras = record_config(small.probe())

    assert extras == (
        ExtraAttributes(
            {"position_embedding_type": ["yarn"]},
            {
                "yarn_base": Attribute(None, "rotary_base", none_is_default=True),
                "yarn_rounds": Attribute(7),
            },
        ),
    )


def test_megatron_without_hybrid_models_has_rules_for_the_others_alone() -> None:
    paths, rules, refusals = record_rotary(Small(rope_type=ROPE_TYPE).probe(), NO_ATTRIBUTES, ())

    assert [rule.when["hybrid_layer_pattern"] for rule in rules] == [[None]] * len(rules)
    assert sorted(paths) == ["gpt-none", "mla-none"]
    assert refusals == ()


def test_model_without_attention_reads_nothing() -> None:
    paths, _, _ = record_rotary(Small(rope_type=ROPE_TYPE).probe(), NO_ATTRIBUTES, ())

    assert paths["gpt-none"].reads == {}


def test_hybrid_layers_that_a_megatron_does_not_have_are_not_tried() -> None:
    class OfMamba(Small):
        def edit(self, namespace: argparse.Namespace) -> None:
            if set(namespace.hybrid_layer_pattern or "") - set("M*"):
                raise ValueError("unknown layer")

    probe = OfMamba(hybrid_layer_pattern={}).probe()

    assert probe.symbols == "M*"
    assert probe.domains["hybrid_layer_pattern"] == [None, "MMMM", "****"]


def test_machine_on_which_no_model_can_be_built_is_told_from_a_refusal() -> None:
    class Bare(Small):
        def build(self, *_: Any) -> Built:
            raise ModuleNotFoundError("No module named 'einops'")

    with pytest.raises(SurfaceError) as caught:
        record_rotary(Bare(rope_type=ROPE_TYPE).probe(), NO_ATTRIBUTES, ())

    assert caught.value.headline == (
        "no tiny model can be built on this machine: No module named 'einops'"
    )
