"""A surface that a stranger wrote is rejected, or does no more than predict something odd."""

from __future__ import annotations

import copy
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_ropecontract import upgrade
from pytest_ropecontract.cli import main
from pytest_ropecontract.cli.description import describe
from pytest_ropecontract.cli.differences import difference_lines
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.comparison import compare
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface import SurfaceError
from pytest_ropecontract.megatron.surface_files import (
    NEWEST,
    SIZE_LIMIT,
    dump,
    load_file,
    load_shipped,
    parse,
)
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = load_shipped(NEWEST)
WHOLE: dict[str, Any] = json.loads(dump(SHIPPED))
YARN = (
    *("--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4", "--swiglu"),
    *("--multi-latent-attention", "--rotary-scaling-factor", "40"),
)
COMMON = (*YARN[:6], "--position-embedding-type", "rope", "--no-rope-freq", "2")


def keep(part: str, *wanted: str) -> list[Any]:
    return [one for one in WHOLE[part] if {one.get("dest"), one.get("name")} & {*wanted}]


# The shipped surface with the options that the two command lines give, so that a mutation is
# seldom about something that nothing reads.
SMALL: dict[str, Any] = {
    **WHOLE,
    "options": keep(
        "options",
        *("num_layers", "hidden_size", "num_attention_heads", "swiglu", "kv_channels"),
        *("multi_latent_attention", "rotary_scaling_factor", "position_embedding_type"),
        *("no_rope_freq", "rope_type", "rotary_base", "rotary_percent", "attention_backend"),
        *("mrope_section", "use_rope_scaling", "mscale", "mscale_all_dim", "apply_rope_fusion"),
    ),
    "enums": {"AttnBackend": WHOLE["enums"]["AttnBackend"]},
}
SMALL_SURFACE = parse(json.dumps(SMALL), "small.json")
ARGVS = ((), YARN, COMMON, (*COMMON, "--use-rope-scaling"), ("--attention-backend", "flash"))


def outcomes(megatron: RecordedMegatron) -> list[upgrade.Outcome]:
    pipeline = Pipeline(megatron, PipelineSettings())
    return [upgrade.outcome(pipeline, "model", argv) for argv in ARGVS]


SMALL_OUTCOMES = outcomes(RecordedMegatron(SMALL_SURFACE))


def use(text: str) -> None:
    """Do with a surface all that can be done with one; only the project's own errors may come."""
    try:
        megatron = RecordedMegatron(parse(text, "hostile.json"))
        found = outcomes(megatron)
    except RopeContractError:
        return
    assert parse(dump(megatron.surface), "hostile.json") == megatron.surface
    describe(megatron.surface)
    difference_lines(compare(SMALL_SURFACE, megatron.surface))
    for before, after in zip(SMALL_OUTCOMES, found, strict=True):
        upgrade.changed("model", before, after)


def changed(*path: str | int, to: Any) -> str:
    document = copy.deepcopy(SMALL)
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = to
    return json.dumps(document)


def refused(text: str) -> str:
    with pytest.raises(SurfaceError) as caught:
        RecordedMegatron(parse(text, "hostile.json")).new_parser()
    return caught.value.headline


def option(**fields: Any) -> dict[str, Any]:
    return {"flags": ["--x"], "dest": "x", "action": "store", **fields}


def with_option(**fields: Any) -> str:
    return changed("options", to=[*SMALL["options"], option(**fields)])


def test_the_small_one_is_of_use():
    pipeline = Pipeline(RecordedMegatron(parse(json.dumps(SMALL), "s")), PipelineSettings())

    one, other = resolve(pipeline, YARN).rope, resolve(pipeline, COMMON).rope

    assert one is not None
    assert other is not None
    assert (one.kind, other.kind) == ("yarn", "rope")


class TestNesting:
    @pytest.mark.parametrize("depth", [2, 50, 900])
    def test_a_nested_default(self, depth: int):
        assert refused(with_option(default=json.loads("[" * depth + "]" * depth))) == (
            f"surface hostile.json is malformed: options[{len(SMALL['options'])}].default "
            "is no value of an option"
        )

    @pytest.mark.parametrize("key", ["options", "enums", "paths", "source", "schema", "name"])
    def test_nesting_in_place_of_a_part(self, key: str):
        use(json.dumps({**SMALL, key: 0}).replace(": 0", ": " + "[" * 500 + "]" * 500, 1))

    def test_nesting_without_end(self):
        text = json.dumps(SMALL)[:-1] + ', "more": ' + "[" * 300_000

        assert refused(text) == "surface hostile.json is nested too deeply"


class TestNumbers:
    @pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
    def test_what_is_no_number(self, text: str):
        document = with_option(default=12345)

        assert refused(document.replace("12345", text)).startswith(
            "surface hostile.json has an unusable number: "
        )

    @pytest.mark.parametrize("digits", [4000, 5000])
    def test_a_number_of_many_digits(self, digits: int):
        use(with_option(default=12345).replace("12345", "9" * digits))
        use(with_option(value_type="int", nargs=12345).replace("12345", "9" * digits))
        use(json.dumps({**SMALL, "schema": 12345}).replace("12345", "9" * digits))

    @pytest.mark.parametrize("nargs", [-1, 0, 65, 10**9, True, 1.0, "...", "A...", [1], {}])
    def test_another_number_of_values(self, nargs: Any):
        assert refused(with_option(nargs=nargs)).endswith(f".nargs is {nargs!r}")

    @pytest.mark.parametrize(
        "value",
        [10**400, 1e308, -1.0, 0, "x", []],
        ids=["long", "large", "-1", "0", "text", "list"],
    )
    def test_a_value_that_no_embedding_has(self, value: Any):
        """Nothing is built from it; that is a refusal, not an accident."""
        for name in ("rope_type", "rotary_scaling_factor", "qk_pos_emb_head_dim", "rotary_base"):
            use(changed("classes", 0, "attributes", name, to={"default": value}))
        for index, path in enumerate(SMALL["paths"]):
            if path["name"] not in ("gpt-rope", "mla-yarn"):
                continue
            for name in path["arguments"]:
                source = {"origin": "constant", "value": value}
                use(changed("paths", index, "arguments", name, to=source))


class TestNames:
    @pytest.mark.parametrize(
        "member",
        [
            *("__class__", "__init__", "_ignore_", "_missing_", "_generate_next_value_", "mro"),
            *("name", "value", "a b", "", "1", "a.b", "\0", "lambda", "None", "import"),
        ],
    )
    def test_a_member_of_an_enum(self, member: str):
        text = changed("enums", "AttnBackend", to={"flash": 1, "auto": 5, member: 2})
        use(text)
        try:
            made = RecordedMegatron(parse(text, "hostile.json")).enums["AttnBackend"]
        except SurfaceError:
            return
        assert {one.name for one in made} == {"flash", "auto", member}

    @pytest.mark.parametrize("name", ["", "__class__", "os.system", "a b", "object", "\0"])
    def test_a_name_of_an_enum(self, name: str):
        use(changed("enums", to={**SMALL["enums"], name: {"a": 1}}))

    @pytest.mark.parametrize("dest", ["__class__", "__dict__", "__setattr__", "__reduce__"])
    def test_an_attribute_that_every_object_has(self, dest: str):
        assert refused(with_option(dest=dest)).endswith(f".dest is {dest!r}")

    @pytest.mark.parametrize("dest", ["_get_kwargs", "rank", "a-b", "a b", "params_dtype"])
    def test_an_odd_attribute(self, dest: str):
        use(with_option(dest=dest))

    @pytest.mark.parametrize(
        "flag", ["-", "--", "-h", "--help", "-1", "--a b", "--a=b", "-x", "--%s", "--{x}", "--no-x"]
    )
    def test_an_odd_flag(self, flag: str):
        for action in ("store", "boolean", "count"):
            use(with_option(flags=[flag], action=action))

    def test_a_flag_that_two_options_have(self):
        text = with_option(flags=["--num-layers"])

        assert refused(text) == (
            "surface hostile.json is malformed: two options have the flag --num-layers"
        )

    def test_a_flag_twice_in_one_option(self):
        assert refused(with_option(flags=["--x", "--x"])).endswith("two options have the flag --x")

    def test_the_negation_of_another_option(self):
        options = [*SMALL["options"], option(flags=["--no-x"]), option(action="boolean", dest="y")]

        assert "conflicting option string: --no-x" in refused(changed("options", to=options))

    def test_a_key_twice_is_the_last_one(self):
        text = json.dumps(SMALL)[:-1] + ', "name": "second"}'

        assert parse(text, "hostile.json").name == "second"

    @pytest.mark.parametrize("text", ["\x1b[2J", "\ud800", "\u202e", "\x9b31m", "a\rb", "\b", "\0"])
    @pytest.mark.parametrize("ascii_only", [True, False])
    def test_a_character_that_a_terminal_obeys(self, text: str, ascii_only: bool):
        document = {**SMALL, "name": f"x{text}"}

        headline = refused(json.dumps(document, ensure_ascii=ascii_only))

        assert headline.startswith("surface hostile.json is ")
        assert headline.isascii()
        assert headline.isprintable()

    @pytest.mark.parametrize("text", ["médiane", "中文", "a\\u001b", "a\\\\b", "\n", "a\tb"])
    def test_other_characters_may_be_in_a_text(self, text: str):
        surface = parse(with_option(default=text), "hostile.json")

        assert surface.options[-1].default == text
        assert parse(dump(surface), "hostile.json") == surface


class TestNothingIsEvaluated:
    CODE = "__import__('os').environ.__setitem__('HOSTILE', '1')"

    @pytest.fixture(autouse=True)
    def _nothing_happened(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.delenv("HOSTILE", raising=False)
        modules = set(sys.modules)
        yield
        assert "HOSTILE" not in os.environ
        assert not {"torch", "megatron.training", "this", "antigravity"} & {*sys.modules} - modules

    def test_code_in_every_text(self):
        """Of a record of every kind, every text in turn."""
        for part in ("options", "edits", "refusals", "classes", "extras", "paths", "rules"):
            record = SMALL[part][-1]
            for key, value in record.items():
                if isinstance(value, str):
                    use(changed(part, len(SMALL[part]) - 1, key, to=self.CODE))
        for key in ("name", "version", "fingerprint"):
            use(changed(key, to=self.CODE))
        use(changed("source", to={"distribution": self.CODE, "arguments": ["this:s"]}))

    @pytest.mark.parametrize("kind", ["eval", "os.system", "pickle.loads", "type", "list_pattern"])
    def test_a_type_is_one_of_a_few(self, kind: str):
        text = with_option(value_type=kind, default=self.CODE, reader="eval")
        use(text)
        if kind != "list_pattern":
            assert "value_type is" in refused(text)

    def test_code_in_a_flags_value(self):
        pipeline = Pipeline(RecordedMegatron(SHIPPED), PipelineSettings())

        for value in (f"[{self.CODE}]", f"[0]*3+[{self.CODE}]", "[0]*10**9", "[" * 10_000):
            parsed = pipeline.parse(["--moe-layer-freq", value])
            assert parsed.refusal is not None

    def test_a_message_is_no_template(self):
        """``{dest}`` stands for a value; anything else in braces stays as it is."""
        refusals = [
            {
                "by": "config",
                "when": {"num_layers": {"given": True}},
                "error": "ValueError",
                "message": "{num_layers} {num_layers.__class__} {0} {swiglu!r} {}",
            }
        ]
        pipeline = Pipeline(
            RecordedMegatron(parse(changed("refusals", to=refusals), "hostile.json")),
            PipelineSettings(),
        )

        outcome = resolve(pipeline, YARN).refused

        assert outcome is not None
        assert outcome.message == "4 {num_layers.__class__} {0} {swiglu!r} {}"

    def test_the_functions_that_it_names_are_not_imported(self, tmp_path: Path, capsys: Any):
        path = tmp_path / "hostile.json"
        path.write_text(changed("source", to={"arguments": ["this:s"]}), encoding="utf-8")

        assert main(["surface", "show", str(path)]) == 0
        assert main(["surface", "diff", str(path), NEWEST]) == 0
        capsys.readouterr()
        assert main(["surface", "verify", str(path)]) == 2
        assert "was recorded with other --arguments" in capsys.readouterr().err


class TestSize:
    @pytest.mark.parametrize("key", ["schema", "name", "version", "rules"])
    def test_what_is_quoted_is_cut_off(self, key: str):
        """A line is the whole story, however much there is to quote."""
        long = "x" * 10_000
        rules = [{"when": {}, "path": long}]

        for value in ([long], {long: 1}) if key != "rules" else (rules, [{long: 1}]):
            headline = refused(json.dumps({**SMALL, key: value}))

            assert headline.startswith("surface hostile.json ")
            assert len(headline) <= 303

    def test_a_file_of_the_largest_size(self, tmp_path: Path):
        """It is read in the end, or refused; what it says stays data."""
        path = tmp_path / "large.json"
        text = json.dumps({**SMALL, "more": ""})
        path.write_text(text[:-2] + "x" * (SIZE_LIMIT - len(text)) + '"}', encoding="utf-8")
        assert path.stat().st_size == SIZE_LIMIT
        assert load_file(path).name == NEWEST

        with path.open("a", encoding="utf-8") as file:
            file.write(" ")
        with pytest.raises(SurfaceError, match="too large"):
            load_file(path)

    def test_many_options(self):
        options = [option(flags=[f"--x{n}"], dest=f"x{n}") for n in range(5_000)]

        use(changed("options", to=[*SMALL["options"], *options]))

    def test_many_layers(self):
        """A number of layers is a number, until a pattern is made of it."""
        pipeline = Pipeline(RecordedMegatron(SHIPPED), PipelineSettings())
        argv = ["--num-layers", str(10**9), *COMMON[2:]]

        refusal = resolve(pipeline, argv).refused

        assert refusal is not None
        assert refusal.message == f"{10**9} layers are too many"


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["", "rope", "yarn", "mla-yarn", "config", "args", "__class__", "kv_channels"]
    )
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["given", "contains", "lacks", "origin", "name", "value", "default"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


def places(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [at] if at else []
    items: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        found += places(inner, (*at, key))
    return found


PLACES = places(SMALL)


@given(st.sampled_from(PLACES), junk)
@settings(max_examples=200, deadline=None)
@example(("paths", 5, "arguments", "mscale"), {"origin": "constant", "value": "x"})
@example(("classes", 0, "attributes", "rotary_base", "default"), [])
@example(("edits", 0, "when"), {"position_embedding_type": {"contains": [""]}})
@example(("refusals", 0, "message"), "{num_layers}" * 50)
@example(("extras", 0, "attributes", "yarn_mscale", "dest"), "")
@example(("edits", 2, "quotient"), ["num_layers", "swiglu"])
@example(("options", 0, "value_type"), None)
@example(("options", 0, "action"), "append")
@example(("classes",), [])
@example(("classes", 0, "attributes", "beta_slow", "default"), [1, 2])
@example(("classes", 1, "attributes", "kv_channels", "dest"), "position_embedding_type")
@example(("enums", "AttnBackend", "when"), 2)
def test_whatever_stands_anywhere(place: tuple[str | int, ...], value: Any):
    use(changed(*place, to=value))


@given(st.lists(st.tuples(st.sampled_from(PLACES), junk), min_size=2, max_size=5))
@settings(max_examples=100, deadline=None)
def test_whatever_stands_in_several_places(edits: list[tuple[tuple[str | int, ...], Any]]):
    document = copy.deepcopy(SMALL)
    for path, value in edits:
        holder: Any = document
        try:
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier one has taken its place away
    use(json.dumps(document))
