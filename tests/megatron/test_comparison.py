"""What differs between two surfaces is named, and nothing else is."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_ropecontract.megatron.comparison import (
    PARTS,
    Difference,
    compare,
    compatible,
    condition,
)
from pytest_ropecontract.megatron.surface import Surface, SurfaceError
from pytest_ropecontract.megatron.surface_files import NEWEST, load_shipped, parse, shipped

FOLDER = Path(__import__("pytest_ropecontract.megatron").megatron.__path__[0]) / "surfaces"
DOCUMENT: dict[str, Any] = json.loads((FOLDER / f"{NEWEST}.json").read_text(encoding="utf-8"))
SURFACE = load_shipped(NEWEST)


def place(part: str, **known: Any) -> int:
    """Return where the record with some values stands."""
    return next(
        index
        for index, record in enumerate(DOCUMENT[part])
        if all(record.get(key) == value for key, value in known.items())
    )


def changed(*path: str | int, to: Any) -> Surface:
    document = copy.deepcopy(DOCUMENT)
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = to
    return parse(json.dumps(document), "changed.json")


def edited(edit: Any) -> Surface:
    document = copy.deepcopy(DOCUMENT)
    edit(document)
    return parse(json.dumps(document), "edited.json")


@pytest.mark.parametrize("name", shipped())
def test_a_surface_does_not_differ_from_itself(name: str):
    assert compare(load_shipped(name), load_shipped(name)) == ()


def test_name_version_source_and_fingerprint_do_not_count():
    other = edited(
        lambda d: d.update(
            name="fork", version="9", fingerprint="x", source={"revision": "2e64d78"}
        )
    )

    assert compare(SURFACE, other) == ()


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 2), (0, 2)])
def test_both_directions_name_the_same(first: int, second: int):
    one, other = load_shipped(shipped()[first]), load_shipped(shipped()[second])
    turned = {"added": "removed", "removed": "added", "changed": "changed"}

    there, back = compare(one, other), compare(other, one)

    assert sorted((d.part, d.subject, turned[d.change]) for d in there if d.change != "moved") == (
        sorted((d.part, d.subject, d.change) for d in back if d.change != "moved")
    )
    assert {d.part for d in there} <= set(PARTS)


class TestOptions:
    BASE = place("options", dest="rotary_base")

    def test_a_default(self):
        other = changed("options", self.BASE, "default", to=20000)

        assert compare(SURFACE, other) == (
            Difference("options", "--rotary-base", "changed", "default", 10000, 20000),
        )

    def test_a_value_of_another_type_is_another_default(self):
        other = changed("options", self.BASE, "default", to=10000.0)

        (found,) = compare(SURFACE, other)

        assert (found.aspect, found.before, found.after) == ("default", 10000, 10000.0)

    def test_an_option_that_is_gone_and_one_that_is_new(self):
        def rename(document: dict[str, Any]) -> None:
            document["options"][self.BASE] |= {"flags": ["--rope-theta"]}

        record = {"dest": "rotary_base", "action": "store", "value_type": "int", "default": 10000}

        assert compare(SURFACE, edited(rename)) == (
            Difference(
                "options",
                "--rotary-base",
                "removed",
                before={"flags": ["--rotary-base"], **record},
            ),
            Difference(
                "options", "--rope-theta", "added", after={"flags": ["--rope-theta"], **record}
            ),
        )

    def test_an_alias(self):
        other = changed("options", self.BASE, "flags", to=["--rope-theta", "--rotary-base"])

        assert compare(SURFACE, other) == (
            Difference(
                "options",
                "--rotary-base",
                "changed",
                "flags",
                ["--rotary-base"],
                ["--rope-theta", "--rotary-base"],
            ),
        )

    def test_choices(self):
        index = place("options", dest="rope_type")
        other = changed("options", index, "choices", to=["rope", "yarn", "mrope"])

        assert compare(SURFACE, other) == (
            Difference(
                "options",
                "--rope-type",
                "changed",
                "choices",
                ["rope", "yarn"],
                ["rope", "yarn", "mrope"],
            ),
        )

    def test_the_order_of_two_options_with_one_dest(self):
        """The first one gives the default."""
        dest = "yarn_correction_range_round_to_int"
        one, two = (i for i, o in enumerate(DOCUMENT["options"]) if o["dest"] == dest)

        def swap(document: dict[str, Any]) -> None:
            options = document["options"]
            options[one], options[two] = options[two], options[one]

        flags = ["--yarn-correction-range-round-to-int", "--no-yarn-correction-range-round-to-int"]
        assert compare(SURFACE, edited(swap)) == (
            Difference("options", dest, "moved", "order", flags, flags[::-1]),
        )

    def test_the_order_of_other_options_does_not_count(self):
        assert compare(SURFACE, edited(lambda d: d["options"].insert(0, d["options"].pop()))) == ()


class TestRecordsWithoutNames:
    YARN = place("rules", path="gpt-yarn")

    def test_a_rule_that_holds_elsewhere(self):
        other = changed("rules", self.YARN, "when", "position_embedding_type", to=["yarn", "none"])

        (found,) = compare(SURFACE, other)

        assert (found.part, found.subject, found.change, found.aspect) == (
            *("rules", "gpt-yarn", "changed", "when"),
        )

    def test_a_rule_that_leads_elsewhere(self):
        other = changed("rules", self.YARN, "path", to="gpt-rope")

        (found,) = compare(SURFACE, other)

        assert (found.subject, found.aspect, found.before, found.after) == (
            *("gpt-yarn", "path", "gpt-yarn", "gpt-rope"),
        )

    def test_a_rule_that_is_gone(self):
        (found,) = compare(SURFACE, edited(lambda d: d["rules"].pop(self.YARN)))

        assert (found.part, found.subject, found.change) == ("rules", "gpt-yarn", "removed")

    def test_a_rule_that_comes_too_late(self):
        """Rules for one kind of hybrid model stand before those for any."""

        def move(document: dict[str, Any]) -> None:
            index = next(
                i
                for i, rule in enumerate(document["rules"])
                if isinstance(rule["when"]["hybrid_layer_pattern"], dict)
            )
            document["rules"].append(document["rules"].pop(index))

        found = compare(SURFACE, edited(move))

        assert {(d.part, d.change, d.aspect) for d in found} == {("rules", "moved", "order")}

    def test_rules_that_exclude_each_other_may_change_places(self):
        def swap(document: dict[str, Any]) -> None:
            rules = document["rules"]
            rules[0], rules[1] = rules[1], rules[0]

        assert compare(SURFACE, edited(swap)) == ()

    def test_another_text_of_a_refusal(self):
        other = changed("refusals", 0, "message", to="no")

        (found,) = compare(SURFACE, other)

        assert (found.part, found.aspect, found.after) == ("refusals", "message", "no")

    def test_another_value_of_an_edit(self):
        index = place("edits", dest="apply_rope_fusion")

        (found,) = compare(SURFACE, changed("edits", index, "value", to=True))

        assert found == Difference("edits", "apply_rope_fusion", "changed", "value", False, True)

    def test_an_attribute_that_is_set_afterwards(self):
        other = changed("extras", 0, "attributes", "yarn_beta_fast", "default", to=1.0)

        (found,) = compare(SURFACE, other)

        assert (found.part, found.aspect, found.before, found.after) == (
            *("extras", "default", 32.0, 1.0),
        )
        assert found.subject.endswith(".yarn_beta_fast")


class TestNamedRecords:
    def test_a_class_default(self):
        path = ("classes", 0, "attributes", "mscale", "default")

        assert compare(SURFACE, changed(*path, to=0.707)) == (
            Difference("classes", "MLATransformerConfig.mscale", "changed", "default", 1.0, 0.707),
        )

    def test_the_order_of_classes(self):
        """The first whose condition holds is taken, and the last one holds always."""
        (found,) = compare(SURFACE, edited(lambda d: d["classes"].reverse()))

        assert (found.part, found.change) == ("classes", "moved")

    def test_an_argument_of_a_rotary_class(self):
        index = place("paths", name="gpt-rope")
        path = ("paths", index, "arguments", "rope_scaling_factor")
        other = changed(*path, to={"origin": "args", "name": "rope_scaling_factor"})

        assert compare(SURFACE, other) == (
            Difference(
                "paths",
                "gpt-rope",
                "changed",
                "arguments.rope_scaling_factor",
                {"origin": "constructor", "value": 8.0},
                {"origin": "args", "name": "rope_scaling_factor"},
            ),
        )

    def test_a_number_of_results(self):
        index = place("paths", name="mla-yarn")

        assert compare(SURFACE, changed("paths", index, "returns", to=1)) == (
            Difference("paths", "mla-yarn", "changed", "returns", 2, 1),
        )

    def test_a_member_of_an_enum(self):
        assert compare(SURFACE, changed("enums", "AttnBackend", "flash", to=9)) == (
            Difference("enums", "AttnBackend", "changed", "flash", 1, 9),
        )


PLACES = [
    (part, index, key)
    for part in ("options", "edits", "refusals", "classes", "extras", "paths", "rules")
    for index, record in enumerate(DOCUMENT[part])
    for key in record
]


@given(st.sampled_from(PLACES), st.data())
@settings(deadline=None)
def test_no_change_is_overlooked(where: tuple[str, int, str], data: st.DataObject):
    """Whatever else a field says, the surfaces differ."""
    part, index, key = where
    values = [record[key] for record in DOCUMENT[part] if key in record]
    value = data.draw(st.sampled_from([*values, True, None, 7, "text", ["text"]]))
    assume(repr(value) != repr(DOCUMENT[part][index][key]))
    try:
        other = changed(part, index, key, to=value)
    except SurfaceError:
        return
    assume(other != SURFACE)

    assert compare(SURFACE, other)


@given(st.sampled_from([where[:2] for where in PLACES]))
@settings(deadline=None)
def test_no_missing_record_is_overlooked(where: tuple[str, int]):
    part, index = where
    try:
        other = edited(lambda document: document[part].pop(index))
    except SurfaceError:
        return  # a path that a rule names

    assert compare(SURFACE, other)


def test_attribute_of_a_class_that_only_one_has():
    def drop(document: Any) -> None:
        del document["classes"][0]["attributes"]["mscale"]

    holder = f"{SURFACE.classes[0].name}.mscale"
    (removed,) = compare(SURFACE, edited(drop))
    (added,) = compare(edited(drop), SURFACE)

    assert (removed.subject, removed.change, removed.after) == (holder, "removed", None)
    assert (added.subject, added.change, added.before) == (holder, "added", None)


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ({}, {"a": [1]}, True),
        ({"a": [1, 2]}, {"a": [2, 3]}, True),
        ({"a": [1]}, {"a": [True]}, False),
        ({"a": [None]}, {"a": {"given": True}}, False),
        ({"a": {"contains": ["D"]}}, {"a": [None]}, False),
        ({"a": {"lacks": ["D"]}}, {"a": [None]}, True),
        ({"a": {"given": True}}, {"a": {"contains": ["D"]}}, True),
        ({"a": [1]}, {"a": [1], "b": [2]}, True),
    ],
)
def test_conditions_that_can_hold_together(one: Any, other: Any, together: bool):
    assert compatible(one, other) is together
    assert compatible(other, one) is together


def test_a_condition_in_words():
    when = {
        "a": [None, 1],
        "b": {"given": True},
        "c": {"contains": ["+", "D"]},
        "d": {"lacks": "x"},
    }

    assert condition(when) == "a is None or 1 and b is given and c contains + or D and d lacks x"
    assert condition({}) == "always"


class TestReleases:
    """What the releases are known to change about RoPE."""

    def test_0_18_accepts_yarn_and_cannot_build_it(self):
        found = compare(load_shipped("megatron-core-0.17.1"), load_shipped("megatron-core-0.18.2"))

        choices = next(d for d in found if d.subject == "--position-embedding-type")
        assert set(choices.after) - set(choices.before) == {"yarn"}
        assert not [d for d in found if d.part == "paths" and d.change == "added"]
        assert any(
            d.change == "added" and "no attribute 'yarn_rotary_scaling_factor'" in d.subject
            for d in found
        )

    def test_0_19_builds_it(self):
        found = compare(load_shipped("megatron-core-0.18.2"), load_shipped("megatron-core-0.19.2"))

        new = {d.subject for d in found if d.part == "options" and d.change == "added"}
        assert {
            *("--yarn-original-max-position-embeddings", "--yarn-beta-fast", "--yarn-beta-slow"),
            *("--yarn-correction-range-round-to-int", "--no-yarn-correction-range-round-to-int"),
        } <= new
        paths = {(d.subject, d.change, d.aspect) for d in found if d.part == "paths"}
        assert {
            ("gpt-yarn", "added", None),
            ("gpt-rope", "changed", "arguments.seq_len_interpolation_factor"),
        } <= paths

    def test_no_release_changes_a_class_default_of_rope(self):
        for one, other in zip(shipped(), shipped()[1:], strict=False):
            found = compare(load_shipped(one), load_shipped(other))
            assert not [d for d in found if d.part == "classes" and d.aspect == "default"]
