"""Functions of a framework: how they are found, and what is said where they are not."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract.megatron.framework import (
    PipelineError,
    add_options,
    import_attribute,
    importing_from,
    load_function,
    missing_attribute,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Framework

SOURCE = """
    class Outer:
        class Inner:
            @staticmethod
            def function():
                return "deep"

    def function():
        return "flat"

    value = 5
"""


def load(framework: Framework, name: str, **more: str) -> Callable[..., object]:
    framework.module(SOURCE)
    with importing_from([str(framework.folder)]):
        return load_function("key", name, **more)


def lines(framework: Framework, name: str, **more: str) -> list[str]:
    with pytest.raises(PipelineError) as caught:
        load(framework, name, **more)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("name", "found"), [("frame:function", "flat"), ("frame:Outer.Inner.function", "deep")]
)
def test_function_is_found_by_its_name(framework: Framework, name: str, found: str):
    assert load(framework, name)() == found


def test_folders_stand_first_once_and_in_order():
    before = list(sys.path)
    folders = ["/first", before[-1], "/second"]

    with importing_from(folders):
        assert sys.path == ["/first", "/second", *before]

    assert sys.path == before


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("not_there:f", "not_there"),
        ("not_there.deep:f", "not_there"),
    ],
)
@pytest.mark.parametrize(
    ("more", "setting"),
    [({}, "rope_contract_pythonpath"), ({"folders_key": "--folder"}, "--folder")],
)
def test_module_that_is_not_there(
    framework: Framework, name: str, missing: str, more: dict[str, str], setting: str
):
    assert lines(framework, name, **more) == [
        f"key: there is no module {missing!r}",
        f"  at: key = {name}",
        f"  remedy: add its folder to {setting}",
    ]


@pytest.mark.parametrize("missing", ["brok", "broken_too", "brokens", "other"])
def test_module_that_imports_what_is_not_there(framework: Framework, missing: str):
    framework.module(f"import {missing}\n", "broken")

    assert lines(framework, "broken:f") == [
        (f"key: importing 'broken' raised ModuleNotFoundError: No module named {missing!r}"),
        f"  at: {framework.folder / 'broken.py'}:1",
        "  remedy: mend the line above; it runs here without a launcher around it",
    ]


@pytest.mark.parametrize("text", ["None", "'no name'", "'no name', name=''"])
def test_module_that_does_not_say_what_is_not_there(framework: Framework, text: str):
    framework.module(f"raise ModuleNotFoundError({text})\n", "broken")

    assert lines(framework, "broken:f")[0].startswith("key: importing 'broken' raised ")


def test_of_several_colons_the_first_ends_the_module(framework: Framework):
    framework.module("raise ValueError\n", "broken")

    assert lines(framework, "broken:f:g")[0] == "key: importing 'broken' raised ValueError"


def test_module_that_raises_in_several_lines(framework: Framework):
    framework.module("raise ValueError('one\\ntwo')\n", "broken")

    assert lines(framework, "broken:f") == [
        "key: importing 'broken' raised ValueError: one ...",
        f"  at: {framework.folder / 'broken.py'}:1",
        "  two",
        "  remedy: mend the line above; it runs here without a launcher around it",
    ]


@pytest.mark.parametrize(
    ("name", "remedies"),
    [
        ("frame:functio", ["  remedy: did you mean function?"]),
        ("frame:zzz", []),
        ("frame:Outer.Inner.gone", []),
        ("frame:gone.zzz", []),
        ("frame:zzz:yyy", []),
    ],
)
def test_attribute_that_is_not_there(framework: Framework, name: str, remedies: list[str]):
    attribute = name.partition(":")[2]

    assert lines(framework, name) == [
        f"key: module 'frame' has no attribute {attribute!r}",
        f"  at: key = {name}",
        *remedies,
    ]


def test_attribute_that_is_no_function(framework: Framework):
    assert lines(framework, "frame:value") == [
        "key: frame:value is of type int, not a function",
        "  remedy: name a function of the module",
    ]


def test_three_of_the_nearest_attributes_are_told():
    module = argparse.Namespace(__name__="m", value1=1, value2=2, value3=3, value4=4, other=5)

    error = missing_attribute("key", "m:value0", module)

    assert error.headline == "key: module 'm' has no attribute 'value0'"
    assert error.remedy == "did you mean value4, value3, value2?"


def test_module_is_imported_with_the_attribute_unread(framework: Framework):
    framework.module(SOURCE)

    with importing_from([str(framework.folder)]):
        module, attribute = import_attribute("frame:Outer.gone:x", "key")

    assert (module.__name__, attribute) == ("frame", "Outer.gone:x")


def raise_lines(_: argparse.ArgumentParser) -> None:
    raise ValueError("one\ntwo")


def test_options_of_a_function_that_raises():
    with pytest.raises(PipelineError) as caught:
        add_options("key", "m:f", raise_lines, argparse.ArgumentParser())

    assert str(caught.value).splitlines() == [
        "key: m:f raised ValueError: one ...",
        "  two",
        "  remedy: the function gets an argparse parser and adds options to it",
    ]


def test_options_of_a_function_that_returns_something_else():
    with pytest.raises(PipelineError) as caught:
        add_options("key", "m:f", lambda _: "parser", argparse.ArgumentParser())

    assert str(caught.value).splitlines() == [
        "key: m:f returned str, not a parser",
        "  remedy: return the parser, or nothing",
    ]


def test_parser_that_is_returned_is_taken_in_place_of_the_one_given():
    given, other = argparse.ArgumentParser(), argparse.ArgumentParser()

    assert add_options("key", "m:f", lambda _: other, given) is other
    assert add_options("key", "m:f", lambda _: None, given) is given


def test_what_a_function_prints_while_it_adds_is_kept_quiet(capfd: pytest.CaptureFixture[str]):
    add_options("key", "m:f", print, argparse.ArgumentParser())

    assert capfd.readouterr() == ("", "")
