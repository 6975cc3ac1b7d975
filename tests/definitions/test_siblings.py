from __future__ import annotations

import sys

import pytest
from no_trace import no_trace

from pytest_ropecontract.definitions import DefinitionError, load_sibling_model_args

LOAD = "from pytest_ropecontract.definitions import load_sibling_model_args\n"
BASE = "def model_args(nlayers=61):\n    return f'--num-layers {nlayers}'\n"


def wrapping(name: str, arguments: str = "") -> str:
    call = f"load_sibling_model_args(__file__, {name!r}{arguments})"
    return f"{LOAD}def model_args():\n    return {call} + ['--b']\n"


def test_tokens_of_the_sibling(project):
    project.write("base.py", BASE)
    expected = ("--num-layers", "61", "--b")
    assert project.expand("kimi-k2.py", wrapping("base")).argv == expected


def test_overrides_reach_the_sibling(project):
    project.write("base.py", BASE)
    expected = ("--num-layers", "2", "--b")
    assert project.expand("kimi-k2.py", wrapping("base", ", nlayers=2")).argv == expected


def test_name_with_a_dot(project):
    project.write("glm4.7-flash.py", BASE)
    assert project.expand("kimi-k2.py", wrapping("glm4.7-flash")).argv[-1] == "--b"


def test_sibling_of_a_sibling(project):
    project.write("base.py", BASE)
    project.write("middle.py", wrapping("base"))
    expected = ("--num-layers", "61", "--b", "--b")
    assert project.expand("kimi-k2.py", wrapping("middle")).argv == expected


def test_two_siblings_of_one_definition(project):
    project.write("base.py", BASE)
    script = (
        f"{LOAD}def model_args():\n"
        "    load = lambda n: load_sibling_model_args(__file__, 'base', nlayers=n)\n"
        "    return load(1) + load(2)\n"
    )
    assert project.expand("kimi-k2.py", script).argv[1::2] == ("1", "2")


def test_in_this_process_it_leaves_no_module(project, temporary):
    project.write("base.py", BASE)
    file = str(project.models / "kimi-k2.py")
    load_sibling_model_args(file, "base")
    with no_trace(temporary), no_trace(project.root):
        assert load_sibling_model_args(file, "base") == ["--num-layers", "61"]


def test_module_that_was_there_under_the_name_is_put_back(project, monkeypatch):
    project.write("base.py", BASE)
    monkeypatch.setitem(sys.modules, "rope_definition_base", sys)
    load_sibling_model_args(str(project.models / "x.py"), "base")
    assert sys.modules["rope_definition_base"] is sys


def test_interrupt_passes_in_this_process(project):
    project.write("base.py", "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load_sibling_model_args(str(project.models / "x.py"), "base")


def test_missing_sibling(project):
    project.write("base.py", BASE)
    error = project.error("kimi-k2.py", wrapping("bas"))
    assert str(error) == (
        "kimi-k2: there is no sibling 'bas' beside kimi-k2.py\n"
        "  at: models/kimi-k2.py:3\n"
        "  remedy: did you mean 'base'?"
    )


def test_only_sibling(project):
    error = project.error("kimi-k2.py", wrapping("base"))
    assert error.remedy == "there are no siblings"


@pytest.mark.parametrize("name", ["../models/base", "", ".."])
def test_name_that_leads_elsewhere(project, name):
    project.write("base.py", BASE)
    error = project.error("kimi-k2.py", wrapping(name))
    assert error.headline == f"kimi-k2: there is no sibling {name!r} beside kimi-k2.py"


def test_cycle(project):
    project.write("middle.py", wrapping("kimi-k2"))
    error = project.error("kimi-k2.py", wrapping("middle"))
    assert error.headline == "kimi-k2: sibling cycle: kimi-k2 -> middle -> kimi-k2"
    assert error.origin == "models/middle.py:3"


def test_cycle_of_one(project):
    error = project.error("kimi-k2.py", wrapping("kimi-k2"))
    assert error.headline == "kimi-k2: sibling cycle: kimi-k2 -> kimi-k2"


def test_error_in_the_sibling_has_the_siblings_line(project):
    project.write("base.py", "\ndef model_args(n):\n    return {}[n]\n")
    error = project.error("kimi-k2.py", wrapping("base", ", n=3"))
    assert error.headline == "kimi-k2: sibling base: model_args(n=3) raised KeyError: 3"
    assert error.origin == "models/base.py:3"


def test_error_in_the_sibling_keeps_its_parts_in_this_process(project):
    path = project.write("base.py", "def model_args():\n    return {}['n']\n")
    with pytest.raises(DefinitionError) as caught:
        load_sibling_model_args(str(project.models / "kimi-k2.py"), "base")
    error = caught.value
    assert error.headline == "sibling base: model_args() raised KeyError: 'n'"
    assert error.origin == f"{path}:2"
    assert error.details == (f"{path}:2 in model_args: return {{}}['n']",)
    assert error.remedy.startswith("mend the line above")


def test_error_at_the_siblings_import(project):
    project.write("base.py", "\n1 / 0\n")
    error = project.error("kimi-k2.py", wrapping("base"))
    assert error.headline == (
        "kimi-k2: sibling base: loading the script raised ZeroDivisionError: division by zero"
    )
    assert error.origin == "models/base.py:2"


def test_error_in_the_sibling_of_a_sibling_names_it_once(project):
    project.write("base.py", "def model_args():\n    return None\n")
    project.write("middle.py", wrapping("base"))
    error = project.error("kimi-k2.py", wrapping("middle"))
    assert error.headline == (
        "kimi-k2: sibling base: model_args() returned None, expected a string or a list of strings"
    )


def test_definition_may_catch_the_error(project):
    script = (
        f"{LOAD}from pytest_ropecontract.definitions import DefinitionError\n"
        "def model_args():\n"
        "    try:\n        return load_sibling_model_args(__file__, 'base')\n"
        "    except DefinitionError:\n        return '--a'\n"
    )
    assert project.expand("kimi-k2.py", script).argv == ("--a",)


def test_outside_of_a_definition_the_error_is_the_same(project):
    with pytest.raises(DefinitionError, match=r"^there is no sibling 'base' beside x\.py\n"):
        load_sibling_model_args(str(project.models / "x.py"), "base")
