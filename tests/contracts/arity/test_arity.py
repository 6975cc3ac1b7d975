"""Adapters that unpack what the built class does or does not return."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from ordinary_user import ordinary_user

from pytest_ropecontract.contracts.arity import adapter, rule
from pytest_ropecontract.contracts.arity.rule import (
    NotCheckedError,
    check,
    check_stated,
    mentioning,
)
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.rope.resolution import Resolution, resolve

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.findings import Finding

MLA = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --multi-latent-attention "
    "--q-lora-rank 8 --kv-lora-rank 8 --qk-head-dim 128 --qk-pos-emb-head-dim 64 "
    "--v-head-dim 128 --position-embedding-type rope --rotary-base 10000 --no-rope-fusion"
)
ADAPTER = "--spec frame.adapter get_spec"


@cache
def pipeline() -> Pipeline:
    return Pipeline(choose("0.19.2", Path.cwd()), PipelineSettings())


@cache
def built(kind: str, spec: str = ADAPTER) -> Resolution:
    return resolve(pipeline(), f"{MLA} --rope-type {kind} {spec}".split())


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    (tmp_path / "frame").mkdir()
    (tmp_path / "frame/__init__.py").touch()
    return tmp_path


def write(frame: Path, body: str, name: str = "adapter") -> None:
    """Write an adapter; ``FORWARD`` stands for the head of its attention."""
    text = dedent(body).replace(
        "FORWARD",
        "def get_spec(args, config):\n    return Attention\n\n\nclass Attention(Base):\n"
        "    def forward(self, length, hidden):",
    )
    (frame / f"frame/{name}.py").write_text(text)


def found(frame: Path, kind: str) -> list[Finding]:
    return list(check("m", built(kind), frame, []))


def lines(frame: Path, kind: str) -> list[str]:
    return [one.message.split(" takes ")[0].rpartition(":")[2] for one in found(frame, kind)]


UNGUARDED = """\
    FORWARD
            rotary_pos_emb, mscale = self.rotary_pos_emb(length)
            return rotary_pos_emb, mscale
"""


def test_two_results_of_one(frame: Path) -> None:
    write(frame, UNGUARDED)

    (finding,) = found(frame, "rope")

    assert finding.text().splitlines() == [
        (
            "return-arity: m: frame/adapter.py:7 takes two results from the rotary embedding, and "
            "RotaryEmbedding returns one result (kind rope: --rope-type rope)"
        ),
        "  expected: 2",
        "  actual:   1",
        "  origin:   declared (--rope-type rope)",
        (
            '  remedy:   take the results by the rope type: if config.rope_type == "rope", one; '
            "else two"
        ),
    ]
    assert finding.field == "returns"
    assert found(frame, "yarn") == []


def test_three_results_of_two(frame: Path) -> None:
    write(frame, "    FORWARD\n            a, b, c = self.rotary_pos_emb(length)\n")

    (finding,) = found(frame, "yarn")

    assert "takes 3 results from the rotary embedding, and YarnRotaryEmbedding returns two" in (
        finding.message
    )


def test_what_could_not_be_read_is_a_note(frame: Path) -> None:
    write(
        frame,
        """\
        FORWARD
                out = {"r": self.rotary_pos_emb(length), "mask": hidden}
                table, scale = out[hidden]
        """,
    )

    (finding,) = found(frame, "rope")

    assert (finding.status, finding.field) == ("note", "returns")
    assert finding.text().splitlines() == [
        (
            "return-arity: m: frame/adapter.py:8 takes two results from where a result of the "
            "rotary embedding may be kept, which could not be read"
        ),
        "  expected: 2",
        "  remedy:   take the result apart where the embedding is called, then it is checked",
    ]


KEPT = """\
    FORWARD
            table, scale = self.cache[length]

        def fill(self, length):
            self.cache[length] = self.rotary_pos_emb(length)

        def __init__(self):
            self.cache = {}
"""


def test_what_another_function_keeps_is_judged(frame: Path) -> None:
    write(frame, KEPT)

    assert lines(frame, "rope") == ["7"]
    assert found(frame, "yarn") == []


@pytest.mark.parametrize(
    "other", ["self.cache = hidden", "self.cache[0] = hidden, 1.0", "self.cache = Cache(self)"]
)
def test_what_another_function_keeps_beside_something_else_is_a_note(
    frame: Path, other: str
) -> None:
    write(frame, f"{KEPT}\n        def other(self, hidden):\n            {other}\n")

    assert [one.status for kind in ("rope", "yarn") for one in found(frame, kind)] == ["note"] * 2


def test_what_never_holds_a_result_is_not_asked_about(frame: Path) -> None:
    """Whatever else is put into it, or takes its place."""
    write(
        frame,
        """\
        FORWARD
                table = self.rotary_pos_emb(length)
                self.options["window"] = 3, 4
                left, right = self.options["window"]
                up, down = self.options[hidden]

            def __init__(self, options):
                self.options = options
        """,
    )

    assert found(frame, "rope") == found(frame, "yarn") == []


def test_what_is_kept_in_a_place_without_a_name_is_followed_no_further(frame: Path) -> None:
    """The next expression that is written like it may be another place."""
    write(
        frame,
        """\
        FORWARD
                self.layers[0].table = self.rotary_pos_emb(length)
                self.layers[0].tables["a"] = self.rotary_pos_emb(length)
                self.find(length).tables.append(self.rotary_pos_emb(length))
                table, scale = self.layers[0].table
                table, scale = self.layers[0].tables["a"]
                table, scale = self.find(length).tables[-1]
                hidden = hidden.copy()
        """,
    )

    assert found(frame, "rope") == found(frame, "yarn") == []


def test_what_another_function_keeps_in_an_attribute_is_judged(frame: Path) -> None:
    write(frame, KEPT.replace("cache[length]", "pair").replace("= {}", "= None"))

    assert lines(frame, "rope") == ["7"]
    assert found(frame, "yarn") == []


def test_wrapper_that_hands_on_the_result(frame: Path) -> None:
    write(
        frame,
        """\
        FORWARD
                table, mscale = self.rotate(length)

            def rotate(self, length):
                return self.rotary_pos_emb(length)
        """,
    )

    assert lines(frame, "rope") == ["7"]
    assert found(frame, "yarn") == []


def test_wrapper_of_a_wrapper_of_a_wrapper(frame: Path) -> None:
    write(
        frame,
        """\
        FORWARD
                table, mscale = self.third(length)

            def third(self, length):
                return self.second(length)

            def second(self, length):
                return self.first(length)

            def first(self, length):
                return self.rotary_pos_emb(length)
        """,
    )

    assert lines(frame, "rope") == ["7"]
    assert found(frame, "yarn") == []


def test_method_that_is_named_like_the_embedding(frame: Path) -> None:
    write(
        frame,
        """\
        FORWARD
                table, mscale = self.rotary_pos_emb(length)

            def rotary_pos_emb(self, length):
                return super().rotary_pos_emb(length)
        """,
    )

    assert lines(frame, "rope") == ["7"]


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("def split(out, length)", "split(self.rotary_pos_emb(length), length)"),
        ("def split(length, *, out)", "split(length, out=self.rotary_pos_emb(length))"),
        ("def split(rotary, length)", "split(self.rotary_pos_emb, length)"),
    ],
)
def test_function_that_is_given_the_result_or_the_embedding(
    frame: Path, head: str, call: str
) -> None:
    taken = "out" if "out" in head else "rotary(length)"
    body = f"FORWARD\n        return {call}\n\n\n{head}:\n    table, mscale = {taken}\n"
    write(frame, body)

    assert lines(frame, "rope") == ["11"]
    assert found(frame, "yarn") == []


def test_asynchronous_attention(frame: Path) -> None:
    write(
        frame,
        """\
        @register
        def get_spec(args, config):
            return Attention

        class Attention(Base):
            @compiled
            async def forward(self, length):
                table, mscale = await self.rotary_pos_emb(length)
        """,
    )

    assert lines(frame, "rope") == ["8"]
    assert found(frame, "yarn") == []


def test_class_that_is_defined_in_two_ways(frame: Path) -> None:
    write(
        frame,
        """\
        try:
            import engine
        except ImportError:
            engine = None

        if engine:
            class Attention(Base):
                def forward(self, length):
                    table, mscale = self.rotary_pos_emb(length)
        else:
            class Attention(Base):
                def forward(self, length):
                    table = self.rotary_pos_emb(length)

        def get_spec(args, config):
            return Attention
        """,
    )

    assert lines(frame, "rope") == ["9"]


SPEC_OF = "def get_spec(args, config):\n    "


@pytest.mark.parametrize(
    "text",
    [
        f"from frame.other import Attention\n{SPEC_OF}return Attention",
        f"from .other import Attention as Mine\n{SPEC_OF}return Mine",
        f"from frame import other\n{SPEC_OF}return other.Attention",
        f"from . import other\n{SPEC_OF}return other.Attention",
        f"import frame.other\n{SPEC_OF}return frame.other.Attention",
        f"import frame.other as engine\n{SPEC_OF}return engine.Attention",
        f"from frame.other import *\n{SPEC_OF}return Attention",
        f"{SPEC_OF}from frame import other\n    return other.Attention",
        f"from frame.other import Attention as Base\nMine: type = Base\n{SPEC_OF}return Mine",
        f"from frame.other import Attention as Base\nclass Mine(Base): pass\n{SPEC_OF}return Mine",
        "from frame.other import get_spec",
        "from frame.other import *",
    ],
)
def test_ways_to_import_the_attention(frame: Path, text: str) -> None:
    write(frame, f"{text}\n")
    write(frame, UNGUARDED, name="other")

    (finding,) = found(frame, "rope")

    assert "frame/other.py:7 takes two results" in finding.message


def test_embedding_under_another_name(frame: Path) -> None:
    write(
        frame,
        """\
        def get_spec(args, config):
            return Attention

        def build(config):
            if config.rope_type == "rope":
                return RotaryEmbedding(64)
            return YarnRotaryEmbedding(64)

        class Attention(Base):
            def __init__(self, config):
                self.angles = build(config)

            def forward(self, length):
                table, mscale = self.angles(length)
        """,
    )

    assert lines(frame, "rope") == ["14"]
    assert found(frame, "yarn") == []


def test_adapter_that_constructs_one_class_always(frame: Path) -> None:
    write(
        frame,
        """\
        def get_spec(args, config):
            return Attention

        class Attention(Base):
            def __init__(self, config):
                self.rotary_pos_emb = YarnRotaryEmbedding(64)

            def forward(self, length):
                table, mscale = self.rotary_pos_emb(length)
        """,
    )

    assert found(frame, "rope") == []


@pytest.mark.parametrize(
    ("builder", "embedding"),
    [
        ("", "None if config.off else YarnRotaryEmbedding(64)"),
        (
            "def build(config):\n    return None if config.off else YarnRotaryEmbedding(64)\n",
            "build()",
        ),
    ],
    ids=["in the constructor", "in a function"],
)
def test_adapter_that_constructs_one_class_or_nothing(
    frame: Path, builder: str, embedding: str
) -> None:
    write(
        frame,
        f"{builder}def get_spec(args, config):\n    return Attention\n\n"
        "class Attention(Base):\n    def __init__(self, config):\n        self.width = 64\n"
        f"        self.rotary_pos_emb = {embedding}\n\n"
        "    def forward(self, length):\n        table, mscale = self.rotary_pos_emb(length)\n",
    )

    assert found(frame, "rope") == []


def test_attention_that_is_not_latent(frame: Path) -> None:
    write(frame, UNGUARDED)
    common = (
        "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --position-embedding-type rope "
        f"{ADAPTER}"
    )

    (finding,) = check("m", resolve(pipeline(), common.split()), frame, [])

    assert finding.message.startswith("frame/adapter.py:7 takes two results")


def test_attention_in_another_module(frame: Path) -> None:
    write(
        frame,
        """\
        from .attention import Attention

        def get_spec(args, config):
            return Attention
        """,
    )
    write(frame, UNGUARDED, "attention")

    (finding,) = found(frame, "rope")

    assert finding.message.startswith("frame/attention.py:7 takes two results")


def test_megatrons_own_modules_are_not_followed(frame: Path) -> None:
    (frame / "megatron").mkdir()
    (frame / "megatron/attention.py").write_text(
        "class Attention:\n    def forward(self, n):\n        a, b = self.rotary_pos_emb(n)\n"
    )
    write(
        frame,
        """\
        from megatron.attention import Attention

        def get_spec(args, config):
            return Attention
        """,
    )

    assert found(frame, "rope") == []
    (finding,) = check("m", built("rope", "--spec megatron.attention Attention"), frame, [])
    assert finding.message.startswith("megatron/attention.py:3 takes two results")


def test_modules_that_import_one_another(frame: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "MODULE_LIMIT", 5)
    for number in range(20):
        write(
            frame,
            f"""\
            from .part{number + 1} import Attention{number + 1}

            class Attention{number}(Attention{number + 1}):
                def forward(self, length):
                    table, mscale = self.rotary_pos_emb(length)
            """,
            f"part{number}",
        )
    write(
        frame,
        """\
        from .part0 import Attention0
        from .adapter import get_spec as again

        def get_spec(args, config):
            return again(Attention0)
        """,
    )

    assert len(found(frame, "rope")) == 4


def test_only_what_the_function_refers_to(frame: Path) -> None:
    write(
        frame,
        """\
        def get_spec(args, config):
            return Guarded

        class Guarded(Base):
            pass

        class Other(Base):
            def forward(self, length):
                table, mscale = self.rotary_pos_emb(length)
        """,
    )

    assert found(frame, "rope") == []


def test_function_that_is_not_a_statement_of_its_own(frame: Path) -> None:
    write(
        frame,
        """\
        class Attention(Base):
            def forward(self, length):
                table, mscale = self.rotary_pos_emb(length)

        globals()["get_spec"] = lambda args, config: Attention
        """,
    )

    assert lines(frame, "rope") == ["3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (UNGUARDED, "the module frame.adapter has no get_spce, did you mean get_spec?"),
        ("", "the module frame.adapter has no get_spce"),
        (
            "    from .other import get_spce\n",
            (
                "the module frame.other has no get_spce, from which frame.adapter imports it, did "
                "you mean get_spec?"
            ),
        ),
    ],
)
def test_function_that_the_module_lacks(frame: Path, text: str, message: str) -> None:
    write(frame, text)
    write(frame, UNGUARDED, "other")

    (finding,) = check("m", built("rope", "--spec frame.adapter get_spce"), frame, [])

    assert (finding.headline, finding.status) == (f"return-arity: m: {message}", "fail")
    assert finding.flag == "--spec frame.adapter get_spce"
    assert finding.remedy == "correct --spec in the definition, training does not find it either"


@pytest.mark.parametrize(
    "text",
    [
        "from elsewhere import get_spec",
        "from elsewhere import *",
        "from megatron.core.models import get_spec",
        "import elsewhere\nexec(elsewhere.TEXT)",
    ],
)
def test_function_that_is_not_in_the_project(frame: Path, text: str) -> None:
    write(frame, f"{text}\n")

    with pytest.raises(NotCheckedError) as caught:
        found(frame, "rope")

    assert str(caught.value) == "the function get_spec of --spec is not in the project"


def test_function_that_two_modules_import_from_each_other(frame: Path) -> None:
    write(frame, "from frame.other import get_spec\n")
    write(frame, "from frame.adapter import get_spec\n", "other")

    with pytest.raises(NotCheckedError) as caught:
        found(frame, "rope")

    assert str(caught.value) == "the function get_spec of --spec is not in the project"


def test_value_of_another_type_names_no_adapter() -> None:
    assert adapter.named([1, 2]) is None


def test_module_in_another_folder(frame: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    write(frame, UNGUARDED)
    root = tmp_path_factory.mktemp("root")

    (finding,) = check("m", built("rope"), root, [str(frame)])

    assert finding.message.startswith("adapter.py:7 takes two results")


def test_package_as_an_adapter(frame: Path) -> None:
    write(frame, UNGUARDED, "__init__")

    (finding,) = check("m", built("rope", "--spec frame get_spec"), frame, [])

    assert finding.message.startswith("frame/__init__.py:7 ")


def test_adapter_is_not_imported(frame: Path) -> None:
    write(frame, "raise SystemExit\n" + dedent(UNGUARDED))

    assert len(found(frame, "rope")) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"def get_spec(:", "adapter.py:1 is not Python: "),
        (b"# coding: nonsense\n", "adapter.py:0 is not Python: "),
        (b"a = '\0'", "adapter.py"),
        (b"#" * (adapter.SIZE_LIMIT + 1), "adapter.py is too large"),
        (b"a = " + b"-" * 100_000 + b"1", "adapter.py cannot be read: "),
    ],
)
def test_adapter_that_cannot_be_read(frame: Path, content: bytes, said: str) -> None:
    (frame / "frame/adapter.py").write_bytes(content)

    (finding,) = found(frame, "rope")

    heading = "return-arity: m: the adapter frame.adapter cannot be read: "
    assert finding.headline.startswith(f"{heading}{said}")
    assert finding.flag == ADAPTER
    assert finding.remedy == "correct the module, training imports it too"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("", "m names no adapter with --spec"),
        (
            "--spec nowhere.adapter get_spec",
            "the module nowhere.adapter of --spec is not in the project",
        ),
        ("--spec ../adapter get_spec", "the module ../adapter of --spec is not in the project"),
        ("--spec local", "m names no adapter with --spec"),
    ],
)
def test_nothing_to_check(frame: Path, spec: str, reason: str) -> None:
    with pytest.raises(NotCheckedError) as caught:
        check("m", built("rope", spec), frame, [])

    assert str(caught.value) == reason


def test_no_embedding_is_built(frame: Path) -> None:
    argv = "--num-layers 1 --hidden-size 64 --num-attention-heads 4 --position-embedding-type none"
    nothing = resolve(pipeline(), [*argv.split(), *ADAPTER.split()])

    refused = resolve(pipeline(), [*argv.split()[2:], *ADAPTER.split()])

    for one in (nothing, refused):
        with pytest.raises(NotCheckedError, match=r"^no rotary embedding is built for m$"):
            check_stated("m", one, 2)
    with pytest.raises(NotCheckedError, match=r"^no rotary embedding is built for m$"):
        check("m", nothing, frame, [])


def test_number_that_is_stated() -> None:
    assert check_stated("m", built("yarn"), 2) == ()
    (finding,) = check_stated("m", built("rope"), 2)

    assert finding.headline == (
        "return-arity: m: its registration takes two results from the rotary embedding, and "
        "RotaryEmbedding returns one result (kind rope: --rope-type rope)"
    )


@pytest.mark.parametrize(
    ("attention", "rope_type", "condition", "line"),
    [
        # Of multi-latent attention the kind is that of what is built, also where no flag says it.
        ("mla", "", 'config.rope_type == "yarn"', ["8"]),
        ("mla", "", 'config.rope_type == "rope"', []),
        ("mla", "", "isinstance(self.rotary_pos_emb, YarnRotaryEmbedding)", ["8"]),
        ("mla", "--rope-type rope", 'config.rope_type == "rope"', ["8"]),
        ("gpt", "", 'config.position_embedding_type == "rope"', ["8"]),
        ("gpt", "", 'config.position_embedding_type == "mrope"', []),
        ("gpt", "", 'config.rope_type == "rope"', []),
    ],
)
def test_config_attributes_that_conditions_ask_for(
    frame: Path, attention: str, rope_type: str, condition: str, line: list[str]
) -> None:
    write(
        frame, f"FORWARD\n        if {condition}:\n            a, b, c = self.rotary_pos_emb(0)\n"
    )
    common = (
        "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --position-embedding-type rope"
    )
    argv = [*(MLA if attention == "mla" else common).split(), *rope_type.split(), *ADAPTER.split()]
    made = resolve(pipeline(), argv)

    places = [one.message.partition(" ")[0] for one in check("m", made, frame, [])]
    assert places == [f"frame/adapter.py:{one}" for one in line]


def test_files_that_mention_an_adapter(tmp_path: Path) -> None:
    texts = {
        "base.py": '"--spec", "a", "b"',
        "base_of_another.txt": "--spec a b",
        "of_that.args": "base_of_another",
        "variant.py": 'load(__file__, "base")',
        "variant_of_variant.sh": "source variant.py",
        "other.py": "return basement",
        "notes.md": "--spec",
        "of_base-line.py": "base-line or a-base",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)

    (tmp_path / "folder.py").mkdir()

    assert {path.name for path in mentioning([tmp_path])} == {
        "base.py",
        "base_of_another.txt",
        "of_that.args",
        "variant.py",
        "variant_of_variant.sh",
    }
    assert rule.mentions_spec("--spec a b")


def test_file_that_cannot_be_read_mentions_nothing(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/closed.py").write_text("--spec")
    (tmp_path / "models/closed.py").chmod(0)

    with ordinary_user(tmp_path / "models"):
        assert mentioning([tmp_path / "models"]) == set()


def test_beginning_of_a_file_says_whether_it_mentions_an_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule, "TEXT_LIMIT", 8)
    (tmp_path / "soon.sh").write_text("  --spec a")
    (tmp_path / "late.sh").write_text("   --spec a")

    assert mentioning([tmp_path]) == {tmp_path / "soon.sh"}


def test_file_in_another_encoding_mentions_an_adapter(tmp_path: Path) -> None:
    (tmp_path / "other.sh").write_bytes(b"# gr\xf6\xdfer\n--spec a b")
    (tmp_path / "gr\u00f6\u00dfer.sh").write_text("--spec a b")
    (tmp_path / "of.sh").write_text("gr\u00f6\u00dfer", encoding="utf-8")

    assert {path.name for path in mentioning([tmp_path])} == {
        "other.sh",
        "gr\u00f6\u00dfer.sh",
        "of.sh",
    }
