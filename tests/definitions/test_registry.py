from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ropecontract.definitions import (
    ArgvFile,
    CallableSource,
    Definition,
    DefinitionError,
    Expansion,
    LiteralArgv,
    PythonScript,
    Registry,
    ShellArray,
)
from pytest_ropecontract.errors import RopeContractError

FILES = ("a.py", "b.sh", "c.txt")


def kimi(nlayers=61, base=1):
    return f"--num-layers {nlayers} --rotary-base {base}"


@pytest.fixture
def registry(tmp_path):
    return Registry(tmp_path)


@pytest.fixture
def full(registry):
    for name in ("kimi-k2", "kimi-k25", "glm4.7-flash"):
        registry.add(name, "--a")
    return registry


def headline(caught) -> str:
    return str(caught.value).splitlines()[0]


def test_mapping_is_sorted_by_name(full):
    names = ["glm4.7-flash", "kimi-k2", "kimi-k25"]
    assert list(full) == names
    assert len(full) == 3
    assert "kimi-k2" in full
    assert "kimi" not in full
    assert full["kimi-k2"].name == "kimi-k2"


def test_callable_is_shown_under_its_file(registry):
    definition = registry.add("kimi-k2", kimi)
    assert isinstance(definition.source, CallableSource)
    assert definition.path == Path(__file__)
    assert definition.expand(nlayers=2).argv == ("--num-layers", "2", "--rotary-base", "1")


def test_callable_without_a_file_has_no_path(registry):
    assert registry.add("kimi-k2", dict).path is None


def test_given_path_wins(registry):
    assert registry.add("kimi-k2", kimi, path=Path("a.py")).path == Path("a.py")


def test_root_and_time_limit_reach_the_callable(tmp_path):
    source = Registry(tmp_path, time_limit=3).add("kimi-k2", kimi).source
    assert (source.root, source.time_limit) == (tmp_path, 3)


@pytest.mark.parametrize("value", [["--a", "b c"], ("--a", "b c")], ids=["list", "tuple"])
def test_tokens(registry, value):
    definition = registry.add("kimi-k2", value)
    assert isinstance(definition.source, LiteralArgv)
    assert definition.expand().argv == ("--a", "b c")


def test_string(registry):
    assert registry.add("kimi-k2", "--a  1\n").expand().argv == ("--a", "1")


def test_source(registry):
    class Source:
        def expand(self, overrides):
            return Expansion(tuple(overrides))

    assert registry.add("kimi-k2", Source()).expand(a=1).argv == ("a",)


def test_class_is_a_callable_even_where_its_instances_are_sources(registry):
    assert isinstance(registry.add("kimi-k2", PythonScript).source, CallableSource)


def test_tokens_that_are_no_argv_fail_when_expanded(registry):
    definition = registry.add("kimi-k2", ["--n", 61])
    with pytest.raises(DefinitionError) as caught:
        definition.expand()
    expected = (
        "kimi-k2: its registration gave a list with 61 (int) at index 1, expected strings only"
    )
    assert headline(caught) == expected


def test_tokens_take_no_overrides(registry):
    with pytest.raises(DefinitionError) as caught:
        registry.add("kimi-k2", ["--a"]).expand(n=2)
    expected = "kimi-k2: argv that is given as it is takes no overrides, but got n"
    assert headline(caught) == expected


def test_anything_else_is_no_source(registry):
    with pytest.raises(RopeContractError) as caught:
        registry.add("kimi-k2", 61)
    assert headline(caught) == "'kimi-k2' cannot be expanded from an int"


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("kimi-k2.py", PythonScript),
        ("glm4.7-flash.sh", ShellArray),
        ("kimi.txt", ArgvFile),
        ("kimi", ArgvFile),
    ],
)
def test_suffix_of_a_file_decides_the_loader(registry, tmp_path, file, kind):
    definition = registry.add_file(Path(file))
    assert isinstance(definition.source, kind)
    assert definition.path == tmp_path / file
    assert definition.name == Path(file).stem


def test_variant_merges_overrides_over_those_of_its_parent(registry):
    registry.add("kimi-k2", kimi)
    registry.variant("kimi-2layer", "kimi-k2", nlayers=2, base=7)
    variant = registry.variant("kimi-3layer", "kimi-2layer", nlayers=3)
    assert variant.expand().argv == ("--num-layers", "3", "--rotary-base", "7")
    assert variant.expand(base=8).argv == ("--num-layers", "3", "--rotary-base", "8")
    assert variant.path == registry["kimi-k2"].path


def test_overrides_may_be_called_like_the_parameters(registry):
    registry.add("kimi-k2", lambda **overrides: list(overrides))
    registry.variant("other", "kimi-k2", name=1, of=2, self=3)
    assert registry["other"].expand().argv == ("name", "of", "self")


def test_variant_of_nothing(full):
    with pytest.raises(RopeContractError) as caught:
        full.variant("kimi-2layer", "kimi-k3", nlayers=2)
    assert headline(caught) == "'kimi-2layer' is a variant of 'kimi-k3', which is no definition"
    assert caught.value.remedy == "did you mean 'kimi-k2' or 'kimi-k25'?"


def test_unknown_name_names_the_nearest(full):
    with pytest.raises(RopeContractError) as caught:
        full["kimi-k24"]
    assert headline(caught) == "there is no definition 'kimi-k24'"
    assert caught.value.remedy == "did you mean 'kimi-k2' or 'kimi-k25'?"


def test_unknown_name_without_a_near_one_lists_all(full):
    with pytest.raises(RopeContractError) as caught:
        full["llama"]
    assert caught.value.remedy == "the definitions are: glm4.7-flash, kimi-k2, kimi-k25"


def test_long_lists_are_cut(registry):
    for number in range(23):
        registry.add(f"model-{number:02}", "--a")
    with pytest.raises(RopeContractError) as caught:
        registry["xyz"]
    assert caught.value.remedy.endswith("model-18, model-19 and 3 more")


def test_unknown_name_in_an_empty_registry(registry):
    with pytest.raises(RopeContractError) as caught:
        registry["kimi-k2"]
    assert caught.value.remedy == "there are no definitions"


def test_get_of_an_unknown_name_raises_too(full):
    with pytest.raises(RopeContractError):
        full.get("llama")


def test_two_files_with_one_stem(registry):
    registry.add_file(Path("a/kimi-k2.py"))
    with pytest.raises(RopeContractError) as caught:
        registry.add_file(Path("b/kimi-k2.sh"))
    expected = "two definitions are named 'kimi-k2': a/kimi-k2.py and b/kimi-k2.sh"
    assert headline(caught) == expected


def test_file_and_registration_with_one_name(registry):
    registry.add_file(Path("a/kimi-k2.py"))
    with pytest.raises(RopeContractError) as caught:
        registry.add("kimi-k2", "--a")
    assert headline(caught) == (
        "two definitions are named 'kimi-k2': a/kimi-k2.py and a registration without a file"
    )


def test_names_that_differ_only_in_case(registry):
    registry.add_file(Path("a/Kimi-K2.py"))
    with pytest.raises(RopeContractError) as caught:
        registry.add_file(Path("a/kimi-k2.py"))
    assert headline(caught) == (
        "two definitions differ only in case: 'Kimi-K2' (a/Kimi-K2.py) and 'kimi-k2' (a/kimi-k2.py)"
    )


@pytest.mark.parametrize("name", ["kimi-k2", "glm4.7-flash", "Qwen3_30B+A3B", "7b"])
def test_names_that_can_be_in_a_node_id(registry, name):
    assert registry.add(name, "--a").name == name


NAMES = {
    "space": ("kimi k2", "'kimi k2' cannot name a definition: it contains ' '"),
    "slash": ("zai/glm", "'zai/glm' cannot name a definition: it contains '/'"),
    "bracket": ("a[1]", "'a[1]' cannot name a definition: it contains '['"),
    "colon": ("a::b", "'a::b' cannot name a definition: it contains ':'"),
    "letter": ("modèle", "'modèle' cannot name a definition: it contains 'è'"),
    "newline": ("kimi\n", "'kimi\\n' cannot name a definition: it contains '\\n'"),
    "dash": ("-k", "'-k' cannot name a definition: it begins with '-'"),
    "dot": (".kimi", "'.kimi' cannot name a definition: it begins with '.'"),
    "empty": ("", "'' cannot name a definition: it is empty"),
    "none": (None, "None cannot name a definition: it is a NoneType"),
    "number": (61, "61 cannot name a definition: it is an int"),
}


@pytest.mark.parametrize(("name", "expected"), NAMES.values(), ids=NAMES)
def test_names_that_cannot(registry, name, expected):
    with pytest.raises(RopeContractError) as caught:
        registry.add(name, "--a")
    assert headline(caught) == expected


def test_file_with_a_name_that_cannot_be_one_is_told(registry):
    with pytest.raises(RopeContractError) as caught:
        registry.add_file(Path("models/kimi k2.py"))
    assert caught.value.origin == "models/kimi k2.py"


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["kimi-k2"], ["kimi-k2"]),
        (["kimi-*", "kimi-k2"], ["kimi-k2", "kimi-k25"]),
        (["*"], ["glm4.7-flash", "kimi-k2", "kimi-k25"]),
        (["kimi-k2?", "glm[45]*"], ["glm4.7-flash", "kimi-k25"]),
        ("kimi-k2", ["kimi-k2"]),
        ([], []),
    ],
    ids=["name", "overlap", "all", "globs", "one-string", "none"],
)
def test_select(full, patterns, names):
    assert full.select(patterns) == names
    in_a_list = [patterns] if isinstance(patterns, str) else patterns
    assert [name for name in full if full.selects(in_a_list, name)] == names


def test_select_looks_anew_after_a_registration(full):
    known = full.select(["kimi-*"])

    full.add("kimi-k9", "--num-layers 2")

    assert full.select(["kimi-*"]) == sorted([*known, "kimi-k9"])


def test_selects_refuses_a_pattern_that_matches_nothing(full):
    with pytest.raises(RopeContractError, match="no definition matches 'kimi-k4'"):
        full.selects(["kimi-k2", "kimi-k4"], "kimi-k2")


@pytest.mark.parametrize("pattern", ["kimi-k3", "KIMI*", "llama-*"])
def test_select_refuses_a_pattern_that_matches_nothing(full, pattern):
    with pytest.raises(RopeContractError) as caught:
        full.select(["kimi-k2", pattern])
    assert headline(caught) == f"no definition matches {pattern!r}"
    assert caught.value.remedy


def test_root_is_the_working_directory_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Registry().root == tmp_path


def test_definitions_can_be_in_a_set():
    assert len({Definition("a", kimi), Definition("a", kimi)}) == 1


def test_error_keeps_the_parts_of_the_source_error():
    class Source:
        def expand(self, overrides):  # noqa: ARG002
            raise DefinitionError("failed", origin="a:1", details=["why"], remedy="mend it")

    with pytest.raises(DefinitionError) as caught:
        Definition("kimi-k2", Source()).expand()
    assert str(caught.value) == "kimi-k2: failed\n  at: a:1\n  why\n  remedy: mend it"


def test_time_limit_is_20_seconds_by_default(tmp_path):
    sources = [Registry(tmp_path).add_file(Path(file)).source for file in ("a.py", "b.sh")]
    sources.append(Registry(tmp_path).add("c", kimi).source)
    assert [source.time_limit for source in sources] == [20, 20, 20]


def test_root_and_time_limit_reach_the_files(tmp_path):
    registry = Registry(tmp_path, pythonpath=["lib"], time_limit=3)
    python, shell, text = (registry.add_file(Path(f"{file}")).source for file in FILES)
    assert (python.path, shell.path, text.path) == tuple(tmp_path / file for file in FILES)
    assert (python.root, shell.root, text.root) == (tmp_path, tmp_path, tmp_path)
    assert (python.time_limit, shell.time_limit) == (3, 3)
    assert python.pythonpath == ("lib",)


def test_root_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Registry(Path("models")).root == tmp_path / "models"


def test_pythonpath_may_be_given_by_an_iterator(tmp_path):
    registry = Registry(tmp_path, pythonpath=iter(["a", "b"]))
    assert registry.add_file(Path("a.py")).source.pythonpath == ("a", "b")


def test_path_that_is_none(registry):
    with pytest.raises(RopeContractError) as caught:
        registry.add("kimi-k2", "--a", path="a.py")
    assert headline(caught) == "'kimi-k2' cannot be shown under 'a.py', which is no Path"
    assert "kimi-k2" not in registry


@pytest.mark.parametrize("unpacks", [0, -1, True, 1.0, "2"])
def test_number_of_results_that_is_no_number_above_0(registry, unpacks):
    with pytest.raises(RopeContractError) as caught:
        registry.add("kimi-k2", "--a", unpacks=unpacks)
    assert headline(caught) == f"'kimi-k2' cannot unpack {unpacks!r} results"
    assert "kimi-k2" not in registry


@pytest.mark.parametrize("unpacks", [1, 2, None])
def test_number_of_results_is_kept_and_a_variant_has_that_of_its_parent(registry, unpacks):
    assert registry.add("kimi-k2", "--a", unpacks=unpacks).unpacks == unpacks
    assert registry.variant("kimi-2layer", "kimi-k2").unpacks == unpacks


def test_variant_of_what_is_no_name(full):
    with pytest.raises(RopeContractError) as caught:
        full.variant("kimi-2layer", 61)
    assert headline(caught) == "'kimi-2layer' is a variant of 61, which is no definition"
    assert caught.value.remedy == "the definitions are: glm4.7-flash, kimi-k2, kimi-k25"


def test_variant_leaves_the_overrides_of_its_parent_alone(registry):
    registry.add("kimi-k2", kimi)
    parent = registry.variant("kimi-2layer", "kimi-k2", nlayers=2)
    registry.variant("kimi-3layer", "kimi-2layer", nlayers=3)
    assert parent.overrides == {"nlayers": 2}


def test_pattern_that_matches_nothing_is_told_with_the_nearest(full):
    with pytest.raises(RopeContractError) as caught:
        full.select(["kimi-k24"])
    assert caught.value.remedy == "did you mean 'kimi-k2' or 'kimi-k25'?"


def test_name_that_is_taken_in_another_case_by_a_registration(full):
    with pytest.raises(RopeContractError) as caught:
        full.add("KIMI-K2", "--a")
    assert headline(caught) == (
        "two definitions differ only in case: 'kimi-k2' (a registration without a file) "
        "and 'KIMI-K2' (a registration without a file)"
    )
    assert list(full) == ["glm4.7-flash", "kimi-k2", "kimi-k25"]


def test_registration_that_cannot_be_named_has_no_origin(registry):
    with pytest.raises(RopeContractError) as caught:
        registry.add("kimi k2", "--a")
    assert caught.value.origin is None


class Reading:
    """A source that reads the environment."""

    def __init__(self, found=()):
        self.found = found

    def under(self, environment):
        return Reading((*self.found, *environment))

    def expand(self, overrides):  # noqa: ARG002
        return Expansion(self.found)


def test_only_a_source_that_reads_the_environment_expands_otherwise_under_one(registry):
    reading = registry.add("reading", Reading(), unpacks=2)
    under = reading.under({"A": "1"}).under({"B": "2"})
    assert under.expand().argv == ("A", "B")
    assert (under.name, under.unpacks) == ("reading", 2)
    plain = registry.add("plain", "--a")
    assert plain.under({"A": "1"}) is plain


@pytest.mark.parametrize("kind", [ValueError, SystemExit])
def test_what_a_source_raises_is_told_with_its_line(kind):
    class Source:
        def expand(self, overrides):  # noqa: ARG002
            raise kind("one\ntwo")

    with pytest.raises(DefinitionError) as caught:
        Definition("kimi-k2", Source()).expand()
    assert caught.value.headline == f"kimi-k2: its source raised {kind.__name__}: one ..."
    assert caught.value.origin.startswith(__file__ + ":")
    assert caught.value.details == ("two",)
    assert caught.value.__cause__ is None


def test_cause_of_the_source_error_is_kept():
    class Source:
        def expand(self, overrides):  # noqa: ARG002
            raise DefinitionError("failed") from KeyError("n")

    with pytest.raises(DefinitionError) as caught:
        Definition("kimi-k2", Source()).expand()
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("found", "shown"), [(None, "None"), (["--a"], "['--a']"), ("x" * 80, f"'{'x' * 59} ...")]
)
def test_what_a_source_gives_is_an_expansion(found, shown):
    class Source:
        def expand(self, overrides):  # noqa: ARG002
            return found

    with pytest.raises(DefinitionError) as caught:
        Definition("kimi-k2", Source()).expand()
    expected = f"kimi-k2: its source gave {shown}, expected an Expansion"
    assert caught.value.headline == expected
