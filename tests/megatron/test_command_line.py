"""Which tokens of an argv belong to which flag, as argparse sees it."""

from __future__ import annotations

import argparse
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MEGATRON, ODD_VALUES, argvs

from pytest_ropecontract.megatron import command_line
from pytest_ropecontract.megatron.backend import ArgumentRefusedError
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface_files import load_shipped

PARSER = MEGATRON.new_parser()
TABLE = command_line.arities(PARSER)


def parse(argv: list[str]) -> tuple[dict[str, Any], list[str]] | str:
    try:
        namespace, unknown = PARSER.parse_known_args(argv)
    except (ArgumentRefusedError, KeyError, SyntaxError, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    return vars(namespace), unknown


def split(*argv: str) -> list[tuple[str, str | None, tuple[str, ...]]]:
    return [(one.flag, one.dest, one.values) for one in command_line.split(argv, TABLE)]


@given(argvs() | st.lists(st.sampled_from([*ODD_VALUES, "--", "--swiglu", "-h", "--x=1"])))
def test_every_token_is_covered_once_and_in_order(argv: list[str]):
    found = command_line.split(argv, TABLE)

    assert [token for one in found for token in argv[one.start : one.stop]] == argv
    assert all(before.stop == after.start for before, after in pairwise(found))


@given(argvs())
def test_a_known_occurrence_gives_what_the_whole_argv_gives(argv: list[str]):
    """Alone on a command line, the last occurrence of a dest sets the value it sets in argv."""
    whole = parse(argv)
    if isinstance(whole, str):
        return
    namespace, _ = whole
    last = {one.dest: one for one in command_line.split(argv, TABLE) if one.dest is not None}
    for dest, one in last.items():
        alone = parse(argv[one.start : one.stop])

        assert not isinstance(alone, str)
        assert repr(alone[0][dest]) == repr(namespace[dest])


@given(argvs())
def test_no_dest_is_set_that_no_occurrence_names(argv: list[str]):
    whole = parse(argv)
    if isinstance(whole, str):
        return
    named = {one.dest for one in command_line.split(argv, TABLE)}
    default = vars(PARSER.parse_args([]))

    assert {k for k, v in whole[0].items() if repr(v) != repr(default[k])} <= named


@given(argvs())
def test_occurrences_without_a_dest_are_what_argparse_does_not_know(argv: list[str]):
    whole = parse(argv)
    if isinstance(whole, str):
        return
    strange = [one for one in command_line.split(argv, TABLE) if one.dest is None]

    assert sorted(t for one in strange for t in argv[one.start : one.stop]) == sorted(whole[1])


@given(argvs())
def test_occurrences_put_together_again_parse_to_the_same(argv: list[str]):
    again: list[str] = []
    for one in command_line.split(argv, TABLE):
        attached = "=" in argv[one.start] and one.dest is not None
        again += [f"{one.flag}={one.values[0]}"] if attached else argv[one.start : one.stop]

    assert repr(parse(again)) == repr(parse(argv))


def test_a_flag_takes_one_value():
    assert split("--num-layers", "4", "5") == [
        ("--num-layers", "num_layers", ("4",)),
        ("5", None, ("5",)),
    ]


def test_a_switch_takes_none():
    assert split("--swiglu", "4") == [("--swiglu", "swiglu", ()), ("4", None, ("4",))]


def test_a_list_takes_all_up_to_the_next_flag():
    assert split("--mrope-section", "16", "24", "24", "--swiglu") == [
        ("--mrope-section", "mrope_section", ("16", "24", "24")),
        ("--swiglu", "swiglu", ()),
    ]


def test_a_value_after_an_equals_sign_is_the_only_one():
    assert split("--mrope-section=16", "24") == [
        ("--mrope-section", "mrope_section", ("16",)),
        ("24", None, ("24",)),
    ]


def test_only_the_first_equals_sign_separates():
    assert split("--spec=a=b") == [("--spec", "spec", ("a=b",))]


def test_nothing_after_an_equals_sign_is_an_empty_value():
    assert split("--spec=") == [("--spec", "spec", ("",))]


@pytest.mark.parametrize("number", ["-1", "-0.5", "-.5"])
def test_a_negative_number_is_a_value(number: str):
    assert split("--mscale", number) == [("--mscale", "mscale", (number,))]


@pytest.mark.parametrize("token", ["-1e5", "-x", "--1", "-inf"])
def test_what_else_starts_with_a_dash_is_a_flag(token: str):
    assert split("--mscale", token) == [
        ("--mscale", "mscale", ()),
        (token, None, ()),
    ]


def test_a_dash_and_a_token_with_a_space_are_values():
    assert split("--spec", "-", "-a b") == [("--spec", "spec", ("-", "-a b"))]


@pytest.mark.parametrize("value", ["a b", "a=b c", "=a b"])
def test_a_known_flag_may_have_a_value_with_a_space_attached(value: str):
    assert split("--mrope-section", "1", f"--spec={value}", f"--gone={value}") == [
        ("--mrope-section", "mrope_section", ("1",)),
        ("--spec", "spec", (value,)),
        (f"--gone={value}", None, (f"--gone={value}",)),
    ]


def test_a_flag_may_have_an_equals_sign_in_its_name():
    parser = argparse.ArgumentParser()
    parser.add_argument("--a=b", nargs="+")
    parser.add_argument("--a")

    found = command_line.split(["--a=b", "1", "2", "--a=c"], command_line.arities(parser))

    assert [(one.flag, one.values) for one in found] == [("--a=b", ("1", "2")), ("--a", ("c",))]


def test_an_unknown_flag_takes_what_follows():
    assert split("--beta-fast", "1", "2", "--swiglu") == [
        ("--beta-fast", None, ("1", "2")),
        ("--swiglu", "swiglu", ()),
    ]


def test_an_unknown_flag_is_named_without_its_attached_value():
    assert split("--beta-fast=1", "2") == [("--beta-fast", None, ("1", "2"))]


def test_an_abbreviation_is_unknown():
    assert split("--rotary-bas", "1") == [("--rotary-bas", None, ("1",))]


def test_an_occurrence_reads_as_one_would_type_it():
    texts = [one.text for one in command_line.split(["--mrope-section=1", "x", "--swiglu"], TABLE)]

    assert texts == ["--mrope-section 1", "x", "--swiglu"]


def test_both_flags_of_a_boolean_option_set_one_dest():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", action=argparse.BooleanOptionalAction)

    table = command_line.arities(parser)

    assert table["--cache"] == table["--no-cache"] == command_line.Arity("cache", 0)


def test_an_optional_value_is_at_most_one():
    parser = argparse.ArgumentParser()
    parser.add_argument("--level", nargs="?")

    found = command_line.split(["--level", "1", "2"], command_line.arities(parser))

    assert [one.values for one in found] == [("1",), ("2",)]


def test_a_fixed_number_of_values_is_taken():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pair", nargs=2)

    found = command_line.split(["--pair", "1", "2", "3"], command_line.arities(parser))

    assert [one.values for one in found] == [("1", "2"), ("3",)]


def known_flags(version: str) -> list[str]:
    surface = load_shipped(f"megatron-core-{version}")
    return [*command_line.arities(RecordedMegatron(surface).new_parser())]


class TestNearestFlag:
    @pytest.mark.parametrize(
        ("flag", "nearest"),
        [
            ("--beta-fast", "--yarn-beta-fast"),
            ("--original-max-position-embeddings", "--yarn-original-max-position-embeddings"),
            ("--rotary-bas", "--rotary-base"),
            ("--rotary_base", "--rotary-base"),
            ("--rotarybase", "--rotary-base"),
            ("--Rotary-Base", "--rotary-base"),
            ("--hidden-szie", "--hidden-size"),
            ("--use-rope", "--use-rope-scaling"),
            ("--position-embedding", "--position-embedding-type"),
            ("--kv-channel", "--kv-channels"),
        ],
    )
    def test_misspelt_or_with_words_left_out(self, flag: str, nearest: str):
        assert command_line.nearest_flag(flag, known_flags("0.19.2")) == nearest

    @pytest.mark.parametrize(
        "flag",
        [
            "--rope-theta",
            "--dsv4-o-lora-rank",  # not --kv-lora-rank
            "--dsv4-window-size",  # not --window-size
            "--rope-fusion",  # --no-rope-fusion is the opposite
            "--num-layers2",
            "--rope",
            "-x",
            "--",
            "",
        ],
    )
    def test_what_is_another_option_is_not_near(self, flag: str):
        assert command_line.nearest_flag(flag, known_flags("0.19.2")) is None

    @pytest.mark.parametrize("version", ["0.17.1", "0.18.2"])
    @pytest.mark.parametrize(
        "flag", ["--beta-fast", "--yarn-beta-fast", "--original-max-position-embeddings"]
    )
    def test_a_version_may_have_none(self, version: str, flag: str):
        """--max-position-embeddings is there, and is not YaRN's original length."""
        assert command_line.nearest_flag(flag, known_flags(version)) is None

    def test_the_nearest_of_several(self):
        known = ["--a-b-c", "--a-b-c-d", "--x-a-b"]

        assert command_line.nearest_flag("--a-b", known) == "--a-b-c"
        assert command_line.nearest_flag("--a-b-c", known[1:]) == "--a-b-c-d"

    @pytest.mark.parametrize(
        ("flag", "known", "nearest"),
        [
            # One word or two more, in a row, and no other words.
            ("--a-b", ["--a-b-c-d"], "--a-b-c-d"),
            ("--a-b", ["--c-a-b-d"], "--c-a-b-d"),
            ("--a-b", ["--c-d-a-b"], "--c-d-a-b"),
            ("--a-b", ["--a-b-c-d-e"], None),
            ("--a-b", ["--a-c-b"], None),
            ("--a-b-c", ["--a-b"], None),
            ("--a", ["--a-b"], None),
            # A word is misspelt where seven tenths of it are the same.
            ("--abcdefgxyz", ["--abcdefguvw"], "--abcdefguvw"),
            ("--abcdefwxyz", ["--abcdefstuv"], None),
            # Two misspelt words are less likely than one, and the same words likelier than all.
            ("--abcd-efgh", ["--abcx-efgx", "--abcd-efghxyz"], "--abcd-efghxyz"),
            ("--Abcd-Efgh", ["--abcd-efgx", "--abcd-efgh"], "--abcd-efgh"),
            ("--Abcd-Efgh", ["--abcdefgh", "--abcd-efgh"], "--abcd-efgh"),
            ("--abcdefgh", ["--abcd.efgx", "--abcd_efgh"], "--abcd_efgh"),
            ("--Abcd-Efgh", ["--abcd-efgx", "--abcdefgh"], "--abcdefgh"),
            ("--ab-cdefgh", ["--abcdef-gh"], "--abcdef-gh"),
            # Numbers and negations are never misspelt.
            ("--layer1", ["--layer2", "--layer"], None),
            ("--use-fusion", ["--no-use-fusion", "--disable-use-fusion"], None),
            ("--no-fused-rope", ["--no-fused-ropes"], "--no-fused-ropes"),
            ("--anything", [], None),
        ],
    )
    def test_how_words_are_compared(self, flag: str, known: list[str], nearest: str | None):
        assert command_line.nearest_flag(flag, known) == nearest
