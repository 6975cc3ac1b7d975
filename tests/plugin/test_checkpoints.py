"""Checkpoints, adapters and built configs as items and fixtures."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from plugin_project import MLA, PLAIN, REPORT, YARN, Project, Run

if TYPE_CHECKING:
    from pathlib import Path

CHECKPOINT = "scripts/models/plain.py::test_checkpoint[plain]"
DECLARED = "scripts/models/plain.py::test_declared[plain]"
EXPECTED = "scripts/models/plain.py::test_expected[plain]"
ARITY = "scripts/models/glm.py::test_arity[glm]"
SPEC = "--spec frame.adapter get_spec"
ADAPTER = (
    "def get_spec(args, config): return Attention\n"
    "class Attention(Base):\n"
    "    def forward(self, length):\n"
    "        table, mscale = self.rotary_pos_emb(length)\n"
)
GOOD = {"rope_theta": 10000, "head_dim": 16, "rope_scaling": None}


def run(project: Project, *args: str) -> Run:
    """Run with all items but those that take long, unless some are asked for."""
    if not any(one == "-k" or "::" in one for one in args):
        args = (*args, "-k", "not (omissions or snapshot or launch)")
    return project.run_without("--rope-contract", *args)


@pytest.fixture
def plain(project: Project) -> Project:
    project.model("plain")
    return project


def publish(project: Project, name: str = "plain", /, **config: Any) -> Path:
    text = json.dumps(config or GOOD)
    return project.write(f"tests/checkpoints/{name}.json", text)


def test_checkpoint_that_agrees(plain: Project) -> None:
    publish(plain)

    done = run(plain, "-k", "checkpoint")

    assert done.outcomes == {CHECKPOINT: "passed"}
    assert done.summary[1].endswith(" ok")


def test_models_without_a_checkpoint_have_no_such_item(plain: Project) -> None:
    plain.model("other")
    publish(plain, "other")
    publish(plain, "plainer")

    outcomes = run(plain).outcomes

    assert CHECKPOINT not in outcomes
    assert outcomes["scripts/models/other.py::test_checkpoint[other]"] == "passed"


def test_checkpoint_that_differs(plain: Project) -> None:
    publish(plain, rope_theta=1000000.0)

    done = run(plain, "--rope-contract-report=report.json")

    assert done.text(CHECKPOINT).splitlines() == [
        (
            "checkpoint: plain: rotary_base is 10000 (declared: --rotary-base 10000), the "
            "checkpoint's is 1000000 (tests/checkpoints/plain.json: rope_theta)"
        ),
        "  expected: 1000000",
        "  actual:   10000",
        "  origin:   declared (--rotary-base 10000)",
        (
            "  size:     7 of 8 frequencies differ, largest ratio 56.2; first phase off by 1 rad "
            "at position 8"
        ),
        "  remedy:   declare --rotary-base 1000000 in the definition",
        "  more:     ropecontract rule checkpoint",
    ]
    (finding,) = [one for one in done.reported("plain")["findings"] if one["status"] == "fail"]
    assert finding["rule"] == "checkpoint"
    assert finding["effect"] == (
        "7 of 8 frequencies differ, largest ratio 56.2; first phase off by 1 rad at position 8"
    )
    assert done.summary[1].endswith("FAILED checkpoint")


def test_checkpoint_of_a_refused_model_cannot_be_compared(project: Project) -> None:
    project.model("plain", f"{PLAIN} --rotary-base 1e6")
    publish(project)

    done = run(project, REPORT)

    assert done.line(CHECKPOINT) == (
        "checkpoint: plain: tests/checkpoints/plain.json cannot be compared, because nothing is "
        "built: argument --rotary-base: invalid int value: '1e6'"
    )
    assert done.reported("plain")["curves"] == []


def test_several_checkpoints_of_one_model(plain: Project) -> None:
    publish(plain)
    publish(plain, "plain@0905", rope_theta=5000)

    assert "(tests/checkpoints/plain@0905.json: rope_theta)" in run(plain).line(CHECKPOINT)


def test_variant_has_its_own_checkpoint(plain: Project) -> None:
    plain.conftest(
        "def pytest_ropecontract_models(registry): registry.variant('plain_2layer', 'plain', n=2)"
    )
    publish(plain, "plain_2layer", rope_theta=5)

    outcomes = run(plain, "-k", "checkpoint").outcomes

    assert outcomes == {"scripts/models/plain.py::test_checkpoint[plain_2layer]": "failed"}


def test_patterns(plain: Project) -> None:
    plain.ini(rope_contract_checkpoints=["models/{model}/config.json", "models/{model}*.json"])
    plain.write("models/plain/config.json", json.dumps(GOOD))
    plain.write("models/plain-2.json", '{"rope_theta": 5}')

    assert "(models/plain-2.json: rope_theta)" in run(plain).line(CHECKPOINT)


def test_pattern_without_a_model(plain: Project) -> None:
    plain.ini(rope_contract_checkpoints=["tests/checkpoints/*.json"])

    assert run(plain).usage_error == [
        "ERROR: rope_contract_checkpoints: 'tests/checkpoints/*.json' does not contain {model}",
        "  remedy: for example tests/checkpoints/{model}.json",
    ]


@pytest.mark.parametrize("returned", ["'c.json'", "['c.json']", "(pathlib.Path('c.json'),)"])
def test_hook(plain: Project, returned: str) -> None:
    plain.conftest(
        "import pathlib\n"
        "@pytest.hookimpl(optionalhook=True)\n"
        f"def pytest_ropecontract_checkpoints(model): return {returned}"
    )
    plain.write("c.json", '{"rope_theta": 5}')

    assert "(c.json: rope_theta)" in run(plain).line(CHECKPOINT)


def test_hook_comes_in_addition_and_names_nothing_twice(plain: Project) -> None:
    publish(plain, rope_theta=5)
    plain.conftest(
        "def pytest_ropecontract_checkpoints(model): return ['tests/checkpoints/plain.json']"
    )

    assert run(plain).text(CHECKPOINT).count("checkpoint: plain:") == 1


def test_hook_that_names_none(plain: Project) -> None:
    plain.conftest("def pytest_ropecontract_checkpoints(model): return None")

    assert CHECKPOINT not in run(plain).outcomes


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            "return 5",
            "pytest_ropecontract_checkpoints returned 5 for 'plain', which is no path",
        ),
        (
            "return [b'x']",
            "pytest_ropecontract_checkpoints returned b'x' for 'plain', which is no path",
        ),
        ("raise KeyError(model)", "pytest_ropecontract_checkpoints raised KeyError: 'plain'"),
        (
            "return 'no.json'",
            "checkpoint: plain: no.json cannot be read: No such file or directory",
        ),
    ],
)
def test_hook_that_gives_something_else(plain: Project, body: str, line: str) -> None:
    plain.conftest(f"def pytest_ropecontract_checkpoints(model): {body}")

    done = run(plain)

    assert done.line(CHECKPOINT) == line
    assert done.outcomes[DECLARED] == "passed"


@pytest.mark.parametrize("item", ["checkpoint", "omissions"])
def test_hook_that_gives_something_else_is_told_once_by_every_item(
    plain: Project, item: str
) -> None:
    plain.conftest("def pytest_ropecontract_checkpoints(model): return 5")

    told = run(plain, "-k", item).text(f"scripts/models/plain.py::test_{item}[plain]")

    assert told.count("which is no path") == 1


STRAY = "checkpoint of no model: "


def strays(done: Run) -> list[str]:
    return [line.removeprefix(STRAY) for line in done.outlines if line.startswith(STRAY)]


def test_a_checkpoint_of_no_model_is_told_with_the_model_that_it_may_be_meant_for(
    plain: Project,
) -> None:
    publish(plain, "Plain")
    publish(plain, "removed")

    for args in ((), ("-n2",), ("-q",)):
        assert strays(run(plain, *args)) == [
            "tests/checkpoints/Plain.json, did you mean plain?",
            "tests/checkpoints/removed.json",
        ]


def test_of_many_checkpoints_of_no_model_twenty_are_told_and_the_rest_is_counted(
    plain: Project,
) -> None:
    for number in range(23):
        publish(plain, f"removed-{number}")

    done = run(plain)

    assert len(strays(done)) == 20
    assert "and 3 more checkpoints of no model" in done.outlines


def test_a_checkpoint_of_no_model_fails_nothing(plain: Project) -> None:
    publish(plain, "Plain")

    assert run(plain).ret == 0


def test_checkpoints_of_models_are_not_told(plain: Project) -> None:
    plain.model("other")
    for name in ("plain", "plain@0905", "other", "named"):
        publish(plain, name)
    plain.conftest(
        "def pytest_ropecontract_checkpoints(model): return 'tests/checkpoints/./named.json'"
    )

    assert strays(run(plain)) == []
    assert strays(run(plain, "-k", "declared and other")) == []


def test_the_checkpoint_of_a_definition_that_cannot_be_used_is_not_told(plain: Project) -> None:
    plain.write("scripts/models/a b.py", "")
    publish(plain, "a b")

    assert strays(run(plain)) == []


@pytest.mark.parametrize(
    "args",
    [
        ("--no-summary",),
        ("-q", "--no-summary"),
        ("-qq",),
        ("--collect-only",),
        ("-o", "rope_contract_models=scripts/models/p*.py"),
    ],
)
def test_runs_that_do_not_tell_of_checkpoints_of_no_model(
    plain: Project, args: tuple[str, ...]
) -> None:
    plain.model("other")
    publish(plain, "othr")

    assert strays(run(plain, *args)) == []


def test_checkpoints_of_no_model_are_not_told_where_a_hook_fails(plain: Project) -> None:
    plain.conftest("def pytest_ropecontract_checkpoints(model): return 5")
    publish(plain, "other")

    assert STRAY not in run(plain).out


def test_a_checkpoint_of_no_model_is_one_line_whatever_its_name(plain: Project) -> None:
    publish(plain, "a\nb\x1b[0m")

    assert strays(run(plain)) == ["tests/checkpoints/a\\nb\\x1b[0m.json"]


def link_in_a_circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100 * 1024**2)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"rope_theta": 5', " is cut off at line 1: Expecting ',' delimiter"),
        (b"[]", " is a list, not an object"),
        (
            b"{}",
            (
                ": nothing is stated about RoPE: there is none of rope_parameters, "
                "rope_scaling, rope_theta"
            ),
        ),
        (b'{"rope_theta": NaN}', ": rope_theta is nan, not a finite number"),
        (b'{"rope_theta": -4}', ": rope_theta is -4, not a number above 0"),
        (
            b'{"rope_theta": 1' + b"0" * 400 + b"}",
            ": rope_theta is a number of more than 40 digits, not a finite number",
        ),
        (b'{"rope_theta": ' + b"9" * 5000 + b"}", " has a number of too many digits"),
        (b"[" * 200_000, " is nested too deeply"),
        ('{"rope_theta": 10000}'.encode("utf-16"), " is not UTF-8 text"),
        (
            b'{"rope_theta": 1, "rope_theta": 2}',
            " states 'rope_theta' twice, with different values",
        ),
        (device, " is no file"),
        (large, " is too large: more than 8 MB"),
        (folder, " is a folder without config.json"),
        (link_in_a_circle, " cannot be read: Too many levels of symbolic links"),
        (pipe, " is no file"),
    ],
)
def test_bad_file_is_one_finding(plain: Project, content: Any, said: str) -> None:
    path = publish(plain)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content(path)

    done = run(plain)

    text = done.text(CHECKPOINT)
    assert text.splitlines()[0] == f"checkpoint: plain: tests/checkpoints/plain.json{said}"
    assert text.count("checkpoint: plain:") == 1
    assert done.outcomes[DECLARED] == "passed"


def test_negative_factor_is_one_finding(project: Project) -> None:
    project.model("plain", YARN)
    block = {
        "type": "yarn",
        "factor": -4,
        "original_max_position_embeddings": 4096,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
    }
    publish(project, rope_theta=10000, rope_scaling=block)

    assert run(project).text(CHECKPOINT).splitlines() == [
        (
            "checkpoint: plain: tests/checkpoints/plain.json: rope_scaling.factor is -4, not a "
            "number above 0"
        ),
        "  remedy:   put there what the checkpoint's own config.json states",
        "  more:     ropecontract rule checkpoint",
    ]


def test_allowed_deviation(plain: Project) -> None:
    publish(plain, rope_theta=5)
    plain.ini(rope_contract_allow=["plain checkpoint an experiment"])

    done = run(plain)

    assert done.outcomes[CHECKPOINT] == "xfailed"
    assert done.reason(CHECKPOINT) == "checkpoint allowed: an experiment"
    assert done.outcomes["pyproject.toml::test_allowances"] == "passed"


def test_allowance_that_allows_nothing(plain: Project) -> None:
    publish(plain)
    plain.ini(rope_contract_allow=["plain unreachable-field an experiment"])

    assert run(plain).line("pyproject.toml::test_allowances") == (
        "rope_contract_allow: 'plain unreachable-field an experiment' allows nothing any more"
    )


def test_definition_that_cannot_be_expanded(project: Project) -> None:
    project.script("plain", "raise ValueError('no')")
    publish(project)

    done = run(project)

    assert (done.outcomes[DECLARED], done.outcomes[CHECKPOINT]) == ("failed", "skipped")
    assert run(project, CHECKPOINT).outcomes == {CHECKPOINT: "failed"}


def test_the_same_in_two_processes(plain: Project) -> None:
    publish(plain, rope_theta=5)

    assert run(plain, "-n2").outcomes[CHECKPOINT] == "failed"


def test_checkpoint_guards_against_lost_flags(project: Project) -> None:
    """A lost --rope-type is noticed by the checkpoint alone."""
    project.write("fill.py", "def fill(args):\n    args.rope_type = args.rope_type or 'yarn'\n")
    project.ini(rope_contract_pythonpath=["."], rope_contract_defaults=["fill:fill"])
    project.model("plain", f"{MLA} --rope-type rope")
    omissions = "scripts/models/plain.py::test_omissions[plain]"

    assert run(project, "-k", "omissions").outcomes[omissions] == "failed"
    publish(project, rope_theta=10000, qk_rope_head_dim=8)
    assert run(project, "-k", "omissions").outcomes[omissions] == "passed"


# Adapters


@pytest.fixture
def glm(project: Project) -> Project:
    project.model("glm", f"{MLA} --rope-type rope {SPEC}")
    project.write("frame/adapter.py", ADAPTER)
    return project


def test_adapter_that_unpacks_too_much(glm: Project) -> None:
    done = run(glm, "-k", "arity")

    assert done.outcomes == {ARITY: "failed"}
    assert done.line(ARITY) == (
        "return-arity: glm: frame/adapter.py:4 takes two results from the rotary embedding, and "
        "RotaryEmbedding returns one result (kind rope: --rope-type rope)"
    )


def test_adapter_that_asks_first(glm: Project) -> None:
    glm.write(
        "frame/adapter.py",
        ADAPTER.replace(
            "        table, mscale =",
            "        if self.config.rope_type != 'rope':\n            table, mscale =",
        ),
    )

    assert run(glm, "-k", "arity").outcomes == {ARITY: "passed"}


def test_adapter_that_is_not_in_the_project(glm: Project) -> None:
    (glm.root / "frame/adapter.py").unlink()

    assert (
        run(glm, "-k", "arity")
        .reason(ARITY)
        .endswith("the module frame.adapter of --spec is not in the project")
    )


def test_adapter_of_a_definition_that_cannot_be_expanded(glm: Project) -> None:
    glm.script("glm", f"raise ValueError({SPEC!r})")

    assert (
        run(glm, "-k", "glm and not omissions")
        .reason(ARITY)
        .endswith("test_declared says why nothing is known of glm")
    )
    assert run(glm, ARITY).line(ARITY) == f"glm: model_args() raised ValueError: {SPEC}"


def test_adapter_in_a_folder_of_the_pythonpath(glm: Project) -> None:
    glm.ini(rope_contract_pythonpath=["lib"])
    (glm.root / "frame").rename(glm.root / "lib-frame")
    glm.write("lib/frame/adapter.py", ADAPTER)

    assert "lib/frame/adapter.py:4 takes two results" in run(glm).line(ARITY)


def test_models_without_an_adapter_have_no_such_item(glm: Project) -> None:
    glm.model("plain")

    assert [item for item in run(glm).outcomes if "arity" in item] == [ARITY]


def test_number_that_a_registration_states(project: Project) -> None:
    project.conftest(
        f"def tiny(): return {MLA!r} + ' --rope-type rope'\n"
        "def pytest_ropecontract_models(registry): registry.add('tiny', tiny, unpacks=2)"
    )

    assert run(project).line("conftest.py::test_arity[tiny]") == (
        "return-arity: tiny: its registration takes two results from the rotary embedding, and "
        "RotaryEmbedding returns one result (kind rope: --rope-type rope)"
    )


@pytest.mark.parametrize("number", ["0", "True", "'2'"])
def test_number_that_a_registration_cannot_state(project: Project, number: str) -> None:
    project.conftest(
        f"def pytest_ropecontract_models(registry): registry.add('a', {PLAIN!r}, unpacks={number})"
    )

    assert f"'a' cannot unpack {number} results" in run(project).usage_error[0]


def test_example_adapter_with_plain_rope(example: Project) -> None:
    path = example.root / "scripts/models/glm5-744B-A40B.py"
    path.write_text(
        path.read_text().replace(
            '        "--no-rope-fusion",\n        # experts',
            '        "--no-rope-fusion",\n        *("--rope-type", "rope"),\n        # experts',
        )
    )
    item = "scripts/models/glm5-744B-A40B.py::test_arity[glm5-744B-A40B]"
    adapter = (example.root / "ropeframe/models/glm5.py").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(adapter) if "rotary_pos_emb, mscale =" in text)

    done = run(example, "-k", "arity and glm5")

    assert done.line(item) == (
        f"return-arity: glm5-744B-A40B: ropeframe/models/glm5.py:{line} takes two results from "
        f"the rotary embedding, and RotaryEmbedding returns one result "
        f"(kind rope: --rope-type rope)"
    )


def checkpoint_item(name: str) -> str:
    suffix = "sh" if name == "moonlight" else "py"
    return f"scripts/models/{name}.{suffix}::test_checkpoint[{name}]"


def test_example_agrees_with_what_is_published(example: Project) -> None:
    """What cannot agree is allowed, with its size."""
    deviating = {
        "glm5-744B-A40B": "numerically identical",
        "llama3.2-3B-Instruct": "35 of 64 frequencies differ, largest ratio 4",
        "qwen3.5-27B": "the same where all axes of a position are equal",
    }
    done = run(example, "-k", "checkpoint", "--rope-contract-report=report.json")

    published = {path.stem for path in (example.root / "tests/checkpoints").iterdir()}
    assert {checkpoint_item(name) for name in published} <= done.outcomes.keys()
    allowed = {checkpoint_item(name) for name in deviating}
    assert {name for name, outcome in done.outcomes.items() if outcome == "xfailed"} == allowed
    assert {done.outcomes[name] for name in done.outcomes.keys() - allowed} == {"passed"}
    for name, size in deviating.items():
        (finding,) = [one for one in done.reported(name)["findings"] if one["effect"]]
        assert size in finding["effect"]


def test_example_against_another_release(example: Project) -> None:
    """K2-Instruct and K2-Instruct-0905 are one definition with two checkpoints."""
    published = json.loads((example.root / "tests/checkpoints/kimi-k2.json").read_text())
    published["rope_scaling"]["factor"] = 64.0
    published["max_position_embeddings"] = 262144
    (example.root / "tests/checkpoints/kimi-k2@0905.json").write_text(json.dumps(published))

    text = run(example, "-k", "checkpoint and kimi").text(checkpoint_item("kimi-k2"))

    assert text.count("checkpoint: kimi-k2:") == 1
    assert text.startswith(
        "checkpoint: kimi-k2: rotary_scaling_factor is 32 (declared: --rotary-scaling-factor 32), "
        "the checkpoint's is 64 (tests/checkpoints/kimi-k2@0905.json: rope_scaling.factor)"
    )


@pytest.mark.parametrize("name", ["glm4.7-flash", "joyai-llm-flash"])
def test_example_without_a_rope_type_differs_in_kind_only(example: Project, name: str) -> None:
    path = example.root / f"scripts/models/{name}.py"
    text = path.read_text()
    for spelled in ('*("--rope-type", "rope"),', "--rope-type rope"):
        text = text.replace(spelled, "")
    path.write_text(text)

    said = run(example, "-k", f"checkpoint and {name.partition('.')[0]}").text(
        checkpoint_item(name)
    )

    assert said.count(f"checkpoint: {name}:") == 1
    assert said.startswith(f"checkpoint: {name}: kind is yarn (filled: ")
    assert "\n  size:     numerically identical" in said


# Configs that were built in code

CONFIG = (
    "class Config:\n"
    "    multi_latent_attention = False\n"
    "    kv_channels, rotary_interleaved = 16, False\n"
    "    position_embedding_type, rotary_base, rotary_percent = 'rope', 10000, 1.0\n"
)
BUILT = "tests/test_contracts.py::test_built"


def test_config_that_agrees_with_the_checkpoint(plain: Project) -> None:
    publish(plain)
    plain.test(
        f"{CONFIG}"
        "def test_built(rope_contract_of):\n"
        "    assert rope_contract_of(Config(), 'plain').rotary_base == 10000\n"
    )

    assert plain.run_without().outcomes == {BUILT: "passed"}


def test_config_that_differs_from_the_checkpoint(plain: Project) -> None:
    publish(plain)
    plain.test(
        f"{CONFIG}"
        "def test_built(rope_contract_of): rope_contract_of(Config(), 'plain', rotary_base=5)\n"
    )

    assert plain.run_without().text(BUILT).splitlines()[0] == (
        "checkpoint: plain: rotary_base is 5 (declared: the argument rotary_base), the "
        "checkpoint's is 10000 (tests/checkpoints/plain.json: rope_theta)"
    )


def test_config_and_marks_of_the_model(plain: Project) -> None:
    plain.test(
        f"{CONFIG}"
        "@rope_expect('rope', rotary_base=10000, models=['plain'])\n"
        "def test_plain(): pass\n"
        "@pytest.mark.parametrize('base', [10000, 5])\n"
        "def test_built(rope_contract_of, base):\n"
        "    Config.rotary_base = base\n"
        "    rope_contract_of(Config(), 'plain')\n"
    )

    for done in (plain.run_without(), run(plain)):
        assert done.outcomes[f"{BUILT}[10000]"] == "passed"
        assert done.line(f"{BUILT}[5]") == (
            "expectation: plain: rotary_base is 5 (config-default: Config.rotary_base), "
            'expected 10000 by rope_expect("rope", rotary_base=10000)'
        )


def test_config_for_the_model_of_the_test(plain: Project) -> None:
    publish(plain)
    plain.test(f"{CONFIG}def test_built(rope_contract_of, rope_model): rope_contract_of(Config())")

    assert plain.run_without().outcomes == {f"{BUILT}[plain]": "passed"}


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("(Config(), 'plain')", "rope_contract_of: plain has no contract"),
        ("(Config(), 'plane')", "there is no definition 'plane'"),
        ("(Config())", "rope_contract_of: no model is named, and the test has no rope_model"),
        (
            "(object(), 'plain')",
            "object has no position_embedding_type: the model is given it beside the config",
        ),
        ("(Config(), 'plain', beta_fast=1)", "from_config takes no argument 'beta_fast'"),
    ],
)
def test_config_that_cannot_be_checked(plain: Project, call: str, line: str) -> None:
    plain.test(f"{CONFIG}def test_built(rope_contract_of): rope_contract_of{call}")

    assert plain.run_without().line(BUILT) == line
