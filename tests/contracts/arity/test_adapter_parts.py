"""What an adapter consists of: the statements of its module, and of those that it imports."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract.contracts.arity import adapter
from pytest_ropecontract.contracts.arity.adapter import Module, Sources

if TYPE_CHECKING:
    from collections.abc import Mapping


def module(text: str, name: str = "frame.adapter", *, package: bool = False) -> Module:
    return Module(name, Path("adapter.py"), ast.parse(dedent(text)), package)


def sources(folder: Path, texts: Mapping[str, str]) -> Sources:
    """Write modules, by their names."""
    for name, text in texts.items():
        path = folder.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return Sources([folder])


def parts(found: Sources, spec: str, function: str) -> list[tuple[str, int]]:
    """Return the modules and lines of what an adapter consists of."""
    owner = found.module(spec)
    assert owner is not None
    return sorted(
        (one.module.name, one.node.lineno) for one in adapter.parts(found, owner, function)
    )


def test_statements_that_bind_a_name() -> None:
    bindings = module(
        """\
        one = two = 1
        three: int = 3
        def four(): five = 5
        async def six(): pass
        class Seven: eight = 8
        if one:
            nine = 1
        elif two:
            nine = 2
        else:
            nine = 3
        try:
            ten = 1
        except OSError:
            ten = 2
        except ValueError:
            ten = 3
        else:
            ten = 4
        finally:
            ten = 5
        for eleven in two:
            eleven = 1
        twelve[0], other.thirteen = 1, 2
        """
    ).bindings

    assert {name: [node.lineno for node in nodes] for name, nodes in bindings.items()} == {
        "one": [1],
        "two": [1],
        "three": [2],
        "four": [3],
        "six": [4],
        "Seven": [5],
        "nine": [7, 9, 11],
        "ten": [13, 15, 17, 19, 21],
    }


@pytest.mark.parametrize(
    ("statement", "imports"),
    [
        ("from frame import other", {"other": ("frame", "other")}),
        (
            "from frame.other import a as b, c",
            {"b": ("frame.other", "a"), "c": ("frame.other", "c")},
        ),
        ("from . import other", {"other": ("frame.inner", "other")}),
        ("from .other import a", {"a": ("frame.inner.other", "a")}),
        ("from ..other import a", {"a": ("frame.other", "a")}),
        ("from .. import other", {"other": ("frame", "other")}),
        ("from ... import other", {"other": ("", "other")}),
        ("def build():\n    from .other import a", {"a": ("frame.inner.other", "a")}),
        ("from frame.other import *", {}),
        ("import frame.other", {}),
    ],
)
def test_names_that_are_imported(statement: str, imports: dict[str, tuple[str, str]]) -> None:
    assert module(statement, "frame.inner.adapter").imports == imports


@pytest.mark.parametrize(
    ("statement", "origin"),
    [
        ("from . import a", "frame.inner"),
        ("from .other import a", "frame.inner.other"),
        ("from .. import a", "frame"),
        ("from ..other import a", "frame.other"),
    ],
)
def test_package_imports_from_itself(statement: str, origin: str) -> None:
    package = module(statement, "frame.inner", package=True)

    assert package.imports == {"a": (origin, "a")}


def test_modules_that_are_imported() -> None:
    text = "import frame.other\nimport frame.more as more, sys\nfrom frame import last"

    assert module(text).imported_modules == {
        "frame.other": "frame.other",
        "more": "frame.more",
        "sys": "sys",
    }


def test_modules_all_of_whose_names_are_imported() -> None:
    text = "from frame.one import *\nfrom .two import *\nfrom .three import four\nimport five"

    assert module(text).star_imports == ["frame.one", "frame.two"]


def test_names_that_a_module_may_bind() -> None:
    text = """\
    import one.two, three as four
    from five import six, seven as eight
    def nine(ten): return eleven.twelve
    class Thirteen: pass
    globals()["fourteen"] = 15
    """

    assert module(text).may_bind == {
        *("one.two", "four", "six", "eight", "nine", "eleven", "Thirteen"),
        *("globals", "fourteen"),
    }


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        (["frame.adapter", "get_spec"], ("frame.adapter", "get_spec")),
        (("frame.adapter", "get_spec"), ("frame.adapter", "get_spec")),
        (["frame.adapter"], None),
        (["frame.adapter", "get_spec", "more"], None),
        ([1, "get_spec"], None),
        (["frame.adapter", 1], None),
        ("ab", None),
        (None, None),
    ],
)
def test_value_of_spec(spec: object, names: tuple[str, str] | None) -> None:
    assert adapter.named(spec) == names


def test_module_is_looked_for_folder_by_folder(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    sources(folders[0], {"frame.a": "", "frame.b.__init__": ""})
    sources(folders[1], {"frame.a": "", "frame.b": "", "frame.c": "", "frame.d.__init__": ""})
    found = Sources(folders)

    places = {name: found.module(f"frame.{name}") for name in "abcde"}

    assert {
        name: (one.name, one.path.relative_to(tmp_path).as_posix(), one.package)
        for name, one in places.items()
        if one is not None
    } == {
        "a": ("frame.a", "one/frame/a.py", False),
        "b": ("frame.b", "one/frame/b/__init__.py", True),
        "c": ("frame.c", "two/frame/c.py", False),
        "d": ("frame.d", "two/frame/d/__init__.py", True),
    }


def test_package_comes_before_a_file_of_its_name(tmp_path: Path) -> None:
    """As it does for Python itself."""
    one = sources(tmp_path, {"frame": "", "frame.__init__": ""}).module("frame")

    assert one is not None
    assert one.path == tmp_path / "frame/__init__.py"


def test_module_is_parsed_once(tmp_path: Path) -> None:
    found = sources(tmp_path, {"frame": ""})

    assert found.module("frame") is found.module("frame")
    assert found.module("other") is None
    (tmp_path / "other.py").touch()
    assert found.module("other") is None


@pytest.mark.parametrize("name", ["", "..frame", "frame.", "frame-work", "frame/adapter"])
def test_name_that_no_module_has(tmp_path: Path, name: str) -> None:
    assert sources(tmp_path, {"frame": "", "frame-work": ""}).module(name) is None


def test_syntax_error_names_the_module_and_its_file(tmp_path: Path) -> None:
    found = sources(tmp_path, {"frame": "one = 1\ntwo = (\n"})

    with pytest.raises(adapter.UnreadableAdapterError) as caught:
        found.module("frame")

    assert str(caught.value) == "frame.py:2 is not Python: '(' was never closed"


def test_what_python_warns_of_is_no_error_of_the_syntax(tmp_path: Path) -> None:
    found = sources(tmp_path, {"frame": r"pattern = '\d'"})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.module("frame") is not None


def test_module_of_the_largest_size_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "SIZE_LIMIT", 8)
    found = sources(tmp_path, {"eight": "one = 10", "nine": "one = 100"})

    assert found.module("eight") is not None
    with pytest.raises(adapter.UnreadableAdapterError, match=r"^nine\.py is too large$"):
        found.module("nine")


def test_parts_are_what_a_function_refers_to(tmp_path: Path) -> None:
    found = sources(
        tmp_path,
        {
            "adapter": """\
        WIDTH = 1
        HEIGHT = WIDTH
        class Attention: height = HEIGHT
        class Other: pass
        def build(): return Attention
        def get_spec(): return build()
        """
        },
    )

    assert parts(found, "adapter", "get_spec") == [("adapter", line) for line in (1, 2, 3, 5, 6)]
    assert parts(found, "adapter", "build") == [("adapter", line) for line in (1, 2, 3, 5)]
    assert parts(found, "adapter", "Other") == [("adapter", 4)]


def test_every_statement_that_binds_a_name_is_a_part_once(tmp_path: Path) -> None:
    found = sources(
        tmp_path,
        {
            "adapter": """\
        def get_spec(): return Attention, Attention, one
        if True:
            class Attention: pass
        else:
            class Attention: pass
        one = two = 3
        def more(): return one, two
        """
        },
    )

    assert parts(found, "adapter", "get_spec") == [("adapter", line) for line in (1, 3, 5, 6)]
    assert parts(found, "adapter", "more") == [("adapter", 6), ("adapter", 7)]


@pytest.mark.parametrize(
    "text",
    [
        "from frame.other import Attention\ndef get_spec(): return Attention",
        "from frame.other import Attention as Mine\ndef get_spec(): return Mine",
        "from .other import Attention\ndef get_spec(): return Attention",
        "from . import other\ndef get_spec(): return other.Attention",
        "from frame import other as mine\ndef get_spec(): return mine.Attention",
        "import frame.other\ndef get_spec(): return frame.other.Attention",
        "import frame.other as mine\ndef get_spec(): return mine.Attention.build()",
        "from .other import *\ndef get_spec(): return Attention",
        "from .nothing import *; from .other import *\ndef get_spec(): return Attention",
        "from megatron import *; from .other import *\ndef get_spec(): return Attention",
    ],
)
def test_imported_names_are_followed(tmp_path: Path, text: str) -> None:
    other = "def more(): pass\nclass Base: pass\nclass Attention(Base): pass\n"
    found = sources(tmp_path, {"frame.adapter": text, "frame.other": other})

    assert parts(found, "frame.adapter", "get_spec") == [
        ("frame.adapter", 2),
        ("frame.other", 2),
        ("frame.other", 3),
    ]


def test_module_beside_the_adapter_is_imported_by_its_own_name(tmp_path: Path) -> None:
    text = "from . import other\ndef get_spec(): return other.Attention"
    found = sources(tmp_path, {"adapter": text, "other": "class Attention: pass"})

    assert parts(found, "adapter", "get_spec") == [("adapter", 2), ("other", 1)]


def test_name_that_the_module_binds_itself_is_not_its_import(tmp_path: Path) -> None:
    text = "from other import Attention\nclass Attention: pass\ndef get_spec(): return Attention"
    found = sources(tmp_path, {"adapter": text, "other": "class Attention: pass"})

    assert parts(found, "adapter", "get_spec") == [("adapter", 2), ("adapter", 3)]


def test_name_of_a_module_leads_no_further_than_itself(tmp_path: Path) -> None:
    text = "from frame import other\nimport frame.more\ndef get_spec(): return other, frame.more"
    one = "class Attention: pass"
    found = sources(tmp_path, {"frame.adapter": text, "frame.other": one, "frame.more": one})

    assert parts(found, "frame.adapter", "get_spec") == [("frame.adapter", 3)]


@pytest.mark.parametrize(
    ("statement", "function"),
    [
        ("from other import *", "get_spec"),
        ("from other import get_spec", "get_spec"),
        ("from other import build as get_spec", "get_spec"),
    ],
)
def test_function_that_is_imported(tmp_path: Path, statement: str, function: str) -> None:
    text = f"{statement}\nclass Attention: pass"
    other = "def get_spec(): pass\nbuild = get_spec\n"
    found = sources(tmp_path, {"adapter": text, "other": other})

    named = {("other", 1), *([("other", 2)] if "build" in statement else [])}
    assert set(parts(found, "adapter", function)) == named


def test_all_belongs_to_a_function_without_a_statement(tmp_path: Path) -> None:
    text = "one = 1\ndef two(): pass\nfrom other import three\nglobals()['get_spec'] = two\n"
    found = sources(tmp_path, {"adapter": text, "other": "three = 3"})

    assert parts(found, "adapter", "get_spec") == [("adapter", 1), ("adapter", 2)]


@pytest.mark.parametrize(
    ("spec", "imported", "followed"),
    [
        ("frame.adapter", "frame.other", True),
        ("frame.adapter", "megatron.other", False),
        ("frame.adapter", "megatron", False),
        ("frame.adapter", "megatron_engine.other", True),
        ("frame.megatron.adapter", "megatron.other", False),
        ("frame.adapter", "frame.megatron.other", True),
        ("megatron.adapter", "megatron.inner.other", True),
        ("megatron.inner.adapter", "megatron.other", True),
        ("megatron.adapter", "frame.other", True),
    ],
)
def test_megatrons_own_modules_are_followed_from_its_own(
    tmp_path: Path, spec: str, imported: str, followed: bool
) -> None:
    texts = {
        spec: f"from {imported} import Attention\ndef get_spec(): return Attention",
        imported: "class Attention: pass",
    }
    found = sources(tmp_path, texts)

    owners = {name for name, _ in parts(found, spec, "get_spec")}
    assert owners == ({spec, imported} if followed else {spec})


def test_nearest_modules_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "MODULE_LIMIT", 3)
    found = sources(
        tmp_path,
        {
            "adapter": "from one import a\ndef get_spec(): return a",
            "one": "from two import b\na = b",
            "two": "from three import c\nfrom one import again\nb = c, again",
            "three": "c = 1",
        },
    )
    (tmp_path / "one.py").write_text("from two import b\na = b\nagain = 2")

    # What leads back into a module that is followed already is no further one.
    assert parts(found, "adapter", "get_spec") == [
        ("adapter", 2),
        ("one", 2),
        ("one", 3),
        ("two", 3),
    ]


def test_modules_that_refer_to_one_another(tmp_path: Path) -> None:
    found = sources(
        tmp_path,
        {
            "adapter": "from other import a\ndef get_spec(): return a",
            "other": "from adapter import get_spec\na = get_spec",
        },
    )

    assert parts(found, "adapter", "get_spec") == [("adapter", 2), ("other", 2)]


LACKING = [
    ("def get_spec(): pass", None),
    ("def other(): pass", "frame.adapter"),
    ("def inner(): get_spec = 1", None),
    ("globals()['get_spec'] = 1", None),
    ("from elsewhere import *", None),
    ("from elsewhere import get_spec", None),
    *((f"{name}", None) for name in sorted(adapter.EVALUATES)),
    ("def __getattr__(name): pass", None),
    ("from frame.full import get_spec", None),
    ("from frame.empty import get_spec", "frame.empty"),
    ("from frame.empty import build as get_spec", "frame.empty"),
    ("from frame.full import build as get_spec", "frame.full"),
    ("from frame.full import get_spec as build", "frame.adapter"),
    ("from frame.between import get_spec", "frame.empty"),
    ("from frame import empty as get_spec", None),
    ("from frame.empty import get_spec\ndef get_spec(): pass", None),
    ("from frame.adapter import get_spec", None),
]


@pytest.mark.parametrize(("text", "module"), LACKING)
def test_module_that_lacks_the_function(tmp_path: Path, text: str, module: str | None) -> None:
    found = sources(
        tmp_path,
        {
            "frame.__init__": "",
            "frame.adapter": text,
            "frame.empty": "",
            "frame.full": "def get_spec(): pass",
            "frame.between": "from frame.empty import get_spec",
        },
    )
    owner = found.module("frame.adapter")
    assert owner is not None

    lacking = adapter.lacking(found, owner, "get_spec")

    assert (lacking and lacking.name) == module
