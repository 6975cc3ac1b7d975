"""Options and ini keys: that each works, and what a value that cannot be used gives."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest
from plugin_project import MLA, PLAIN, REPORT, YARN, Project

from pytest_ropecontract import ini, options, settings
from pytest_ropecontract.megatron.surface_files import shipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ropecontract.settings import Options

DECLARED = "scripts/models/plain.py::test_declared[plain]"
FRAMEWORK = """
def options(parser):
    parser.add_argument("--beta-fast", type=float, default=16)
    return parser

def defaults(args):
    if args.rope_type is None:
        args.rope_type = "yarn"

def explode(args):
    raise RuntimeError("no GPU")

def rotary(args, config):
    return {"rotary_base": 77}

def check(args):
    raise RuntimeError("stub me")

def checked(args):
    return check(args)

number = 3
"""
SHIPPED = (
    resources.files("pytest_ropecontract.megatron") / "surfaces" / "megatron-core-0.19.2.json"
).read_text()


@pytest.fixture
def plain(project: Project) -> Project:
    """Give a project with one model and a framework to name functions of."""
    project.ini(rope_contract_pythonpath=["src"])
    project.write("src/framework.py", FRAMEWORK)
    project.model("plain")
    return project


def resolved(project: Project, argv: str = PLAIN) -> dict[str, Any]:
    """Return what the report says of a model."""
    project.model("plain", argv)
    run = project.run("--rope-contract-report=report.json", "-k", "declared")
    assert run.outcomes == {DECLARED: "passed"}, run.out
    return run.reported("plain")


# What the keys do.


def test_models_are_globs_from_the_root(plain: Project) -> None:
    plain.ini(rope_contract_models=["defs/**/*.py", "one.sh"])
    plain.write("defs/a/b/deep.py", f"def model_args(): return {PLAIN!r}")
    plain.write("defs/_hidden.py", "raise ValueError")
    plain.write("one.sh", f"MODEL_ARGS=({PLAIN})")

    assert set(plain.run("-k", "declared").outcomes) == {
        "defs/a/b/deep.py::test_declared[deep]",
        "one.sh::test_declared[one]",
    }


def test_pythonpath_serves_definitions_and_functions(plain: Project) -> None:
    plain.ini(rope_contract_defaults=["framework:defaults"])
    plain.write(
        "scripts/models/plain.py",
        "import framework\n"
        f"def model_args(): return {MLA!r} + ' --rope-type rope' * framework.number",
    )

    assert plain.run("-k", "declared").outcomes == {DECLARED: "passed"}


def test_pythonpath_of_pytest_serves_definitions_too(plain: Project) -> None:
    plain.ini(pythonpath=["src"], rope_contract_pythonpath=None)
    plain.write("scripts/models/plain.py", f"import framework\ndef model_args(): return {PLAIN!r}")

    assert plain.run("-k", "declared").outcomes == {DECLARED: "passed"}


def test_pythonpath_leaves_no_trace(plain: Project) -> None:
    plain.ini(rope_contract_defaults=["framework:defaults"])
    plain.test("import sys\ndef test_path(): assert not any(p.endswith('src') for p in sys.path)")

    assert plain.run("-k", "path").outcomes == {"tests/test_contracts.py::test_path": "passed"}


def test_arguments_add_options(plain: Project) -> None:
    plain.ini(rope_contract_arguments=["framework:options"])

    model = resolved(plain, f"{YARN} --beta-fast 8")

    assert (model["rope"]["beta_fast"], model["origins"]["beta_fast"]) == (8.0, "declared")


def test_arguments_change_defaults(plain: Project) -> None:
    plain.ini(rope_contract_arguments=["framework:options"])

    model = resolved(plain, YARN)

    assert (model["rope"]["beta_fast"], model["origins"]["beta_fast"]) == (16, "parser-default")


def test_defaults_fill_the_namespace(plain: Project) -> None:
    plain.ini(rope_contract_defaults=["framework:defaults"])
    plain.model("plain", MLA)

    run = plain.run("-k", "declared")

    assert run.line(DECLARED) == (
        "implicit-yarn: plain: becomes yarn (factor 1.0, beta_fast 32, beta_slow 1) "
        "and no flag says so (filled: framework:defaults)"
    )


def test_stubs_replace_validators(plain: Project) -> None:
    plain.ini(rope_contract_defaults=["framework:checked"], rope_contract_stubs=["framework:check"])

    assert plain.run("-k", "declared").outcomes == {DECLARED: "passed"}


def test_stubs_are_undone(plain: Project) -> None:
    plain.ini(
        pythonpath=["src"],
        rope_contract_defaults=["framework:checked"],
        rope_contract_stubs=["framework:check"],
    )
    plain.test(
        "import framework\n"
        '@rope_expect("rope", models=["plain"])\n'
        "def test_it():\n    with pytest.raises(RuntimeError): framework.check(None)"
    )

    assert set(plain.run().outcomes.values()) == {"passed"}


def test_base_args_come_first(plain: Project) -> None:
    plain.ini(rope_contract_base_args=["--rotary-base", "7", "--num-layers", "2"])

    model = resolved(plain, PLAIN.replace("--rotary-base 10000", ""))

    assert (model["rope"]["rotary_base"], model["origins"]["rotary_base"]) == (7, "declared")
    assert "--rotary-base" not in model["argv"]


def test_pins_set_values(plain: Project) -> None:
    plain.ini(rope_contract_pins=["rotary_base = 77", "init_method = some text"])

    model = resolved(plain)

    assert (model["rope"]["rotary_base"], model["origins"]["rotary_base"]) == (77, "pinned")


def test_rotary_overrides_the_rules(plain: Project) -> None:
    plain.ini(rope_contract_rotary="framework:rotary")

    model = resolved(plain)

    assert (model["rope"]["rotary_base"], model["origins"]["rotary_base"]) == (77, "filled")


def test_unknown_flags_are_rejected(plain: Project) -> None:
    plain.model("plain", f"{PLAIN} --beta-fast 1")

    assert plain.run("-k", "declared").line(DECLARED) == (
        "rejected-flag: plain: megatron-core-0.19.2 has no flag --beta-fast, "
        "did you mean --yarn-beta-fast?"
    )


def test_unknown_flags_are_dropped(plain: Project) -> None:
    plain.ini(rope_contract_unknown="drop")
    plain.model("plain", f"{PLAIN} --beta-fast 1")

    run = plain.run("-k", "declared", "--rope-contract-report=report.json")

    assert run.line(DECLARED) == (
        "dropped-flag: plain: --beta-fast 1 is dropped: megatron-core-0.19.2 has no flag "
        "--beta-fast, did you mean --yarn-beta-fast?"
    )
    assert run.reported("plain")["rope"]["kind"] == "rope"


def test_strict_lets_notes_fail(plain: Project) -> None:
    note = "implicit-field: plain: rotary_percent is 1 and not declared (parser-default: "
    plain.model("plain", PLAIN.replace(" --rotary-percent 1.0", ""))

    assert plain.run("-k", "declared").outcomes == {DECLARED: "passed"}
    assert plain.run("-k", "declared", "--rope-contract-strict").line(DECLARED).startswith(note)
    plain.ini(rope_contract_strict=True)
    assert plain.run("-k", "declared").line(DECLARED).startswith(note)


def test_time_limit_ends_an_expansion(plain: Project) -> None:
    plain.ini(rope_contract_time_limit="0.5")
    plain.script("slow", "while True: pass")

    run = plain.run("-k", "declared")

    assert run.text("scripts/models/slow.py::test_declared[slow]").splitlines()[:2] == [
        "slow: did not end within 0.5 s",
        "  at: scripts/models/slow.py:2",
    ]
    assert run.outcomes[DECLARED] == "passed"


def test_time_limit_ends_a_registered_function(plain: Project) -> None:
    plain.ini(rope_contract_time_limit="0.5")
    plain.conftest(
        "def slow():\n    while True: pass\n"
        "def pytest_ropecontract_models(registry): registry.add('slow', slow)"
    )

    run = plain.run("-k", "declared")

    assert run.line("conftest.py::test_declared[slow]") == "slow: did not end within 0.5 s"
    assert run.outcomes[DECLARED] == "passed"


def test_keys_of_an_ini_file_are_read(plain: Project) -> None:
    (plain.root / "pyproject.toml").unlink()
    plain.write(
        "pytest.ini",
        "[pytest]\n"
        "rope_contract_pythonpath = src\n"
        "rope_contract_base_args = --rotary-interleaved --rotary-base 7\n"
        "rope_contract_pins =\n    rotary_base=77\n    kv_channels=8\n"
        "rope_contract_arguments =\n    framework:options\n"
        "rope_contract_strict = false\n"
        "rope_contract_time_limit = 5\n",
    )

    rope = resolved(plain)["rope"]

    assert (rope["rotary_base"], rope["rotary_dim"], rope["rotary_interleaved"]) == (77, 8, True)


# Surfaces.


def surface(**changes: Any) -> str:
    return json.dumps({**json.loads(SHIPPED), **changes})


def header(project: Project, *args: str) -> str:
    run = project.run("--collect-only", *args)
    return next(line for line in run.outlines if line.startswith("rope-contract: "))


def test_header_names_surface_and_number_of_definitions(plain: Project) -> None:
    plain.model("other")

    assert header(plain) == "rope-contract: megatron-core-0.19.2 (recorded), 2 definitions"


def test_header_names_the_surface_of_a_file_with_its_version(plain: Project) -> None:
    plain.write("fork.json", surface(name="fork"))

    assert header(plain, "--rope-contract-surface=fork.json") == (
        "rope-contract: fork 0.19.2 (recorded), 1 definition"
    )


def test_option_comes_before_variable_and_variable_before_ini(
    plain: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("by-ini", "by-variable", "by-option"):
        plain.write(f"{name}.json", surface(name=name))
    plain.ini(rope_contract_surface="by-ini.json")
    assert "by-ini" in header(plain)

    monkeypatch.setenv("ROPE_CONTRACT_SURFACE", "by-variable.json")
    assert "by-variable" in header(plain)

    assert "by-option" in header(plain, "--rope-contract-surface=by-option.json")


def test_empty_variable_is_none(plain: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROPE_CONTRACT_SURFACE", "")

    assert "megatron-core-0.19.2" in header(plain)


def test_version_names_a_shipped_surface(plain: Project) -> None:
    assert "megatron-core-0.19.2" in header(plain, "--rope-contract-surface=0.19.2")


def test_path_on_the_command_line_starts_from_the_working_directory(
    plain: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.write("tests/fork.json", surface(name="fork"))
    monkeypatch.chdir(plain.root / "tests")

    assert "fork" in header(plain, "--rope-contract-surface=./fork.json")


def test_path_in_the_ini_file_starts_from_the_root(
    plain: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.write("surfaces/fork.json", surface(name="fork"))
    plain.ini(rope_contract_surface="surfaces/fork.json")
    monkeypatch.chdir(plain.root / "tests")

    assert "fork" in header(plain)


# Values that cannot be used.


def test_surface_that_is_not_known(plain: Project) -> None:
    assert plain.run("--rope-contract-surface=megatron-0.1").usage_error == [
        "ERROR: --rope-contract-surface: no surface is named 'megatron-0.1'",
        "  shipped: " + ", ".join(sorted(_shipped())),
        "  remedy: name a shipped surface, a JSON file, 'live' or 'auto'",
    ]


def _shipped() -> list[str]:
    return list(shipped())


def test_error_of_a_surface_names_what_chose_it(
    plain: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.ini(rope_contract_surface="nine")
    assert plain.run().usage_error[0] == (
        "ERROR: rope_contract_surface: no surface is named 'nine'"
    )

    monkeypatch.setenv("ROPE_CONTRACT_SURFACE", "ten")
    assert plain.run().usage_error[0] == "ERROR: ROPE_CONTRACT_SURFACE: no surface is named 'ten'"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "surface s.json cannot be read: No such file or directory"),
        (SHIPPED[: len(SHIPPED) // 2], "surface s.json is cut off"),
        (surface(schema=99), "surface s.json has schema 99, this version reads "),
        ("{'a': 1}", "surface s.json is not JSON"),
        ("", "surface s.json is not JSON"),
        ("[]", "surface s.json is a list, not an object"),
        (surface(options=3), "surface s.json is malformed: options is no list"),
    ],
)
def test_surface_file_that_cannot_be_used(
    plain: Project, content: str | None, expected: str
) -> None:
    if content is not None:
        plain.write("s.json", content)
    plain.ini(rope_contract_surface="s.json")

    assert plain.run().usage_error[0].startswith(f"ERROR: rope_contract_surface: {expected}")


def test_live_surface_without_megatron(plain: Project) -> None:
    from pytest_ropecontract.megatron.live import is_importable  # noqa: PLC0415

    if is_importable():
        pytest.skip("Megatron is installed here")

    assert (
        plain.run("--rope-contract-surface=live")
        .usage_error[0]
        .startswith(
            "ERROR: --rope-contract-surface: megatron.training cannot be imported: "
            "ModuleNotFoundError: No module named 'megatron"
        )
    )


def test_live_surface_without_megatron_is_one_error_of_every_item_in_several_processes(
    plain: Project,
) -> None:
    """What runs no items does not import Megatron."""
    from pytest_ropecontract.megatron.live import is_importable  # noqa: PLC0415

    if is_importable():
        pytest.skip("Megatron is installed here")

    plain.write("scripts/run.sh", f"python3 train.py {PLAIN}\n")
    plain.ini(
        rope_contract_launchers=["scripts/run.sh = plain"],
        rope_contract_allow=["plain inert-flag it is read elsewhere"],
    )
    plain.test('@rope_expect("rope", models=["plain"])\ndef test_it(): pass\n')
    run = plain.run_with_all("--rope-contract-surface=live", "-n2", REPORT)

    failed = [report for report in run._reports("pytest_runtest_logreport") if report.failed]
    (said,) = {report.longreprtext.splitlines()[1] for report in failed}  # below its process
    assert said.startswith(
        "megatron.training cannot be imported: ModuleNotFoundError: No module named 'megatron"
    )
    names = {report.nodeid.rpartition("::")[2].partition("[")[0] for report in failed}
    assert names == {
        *("test_declared", "test_expected", "test_omissions", "test_launch", "test_allowances"),
        "test_it",
    }
    assert run.report["surface"] == {"name": None, "version": None, "mode": None}
    assert any(line.strip("= ") == "rope contract" for line in run.outlines)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("rope_contract_models", ["/abs/*.py"], "rope_contract_models: '/abs/*.py' is no glob "),
        ("rope_contract_unknown", "perhaps", "rope_contract_unknown: 'perhaps' is neither reject "),
        ("rope_contract_pins", ["rotary_base"], "rope_contract_pins: 'rotary_base' is not of "),
        ("rope_contract_pins", ["a b=1"], "rope_contract_pins: 'a b=1' is not of the form dest="),
        (
            "rope_contract_time_limit",
            "soon",
            "rope_contract_time_limit: 'soon' is not a number of seconds above 0",
        ),
        # More than a float holds.
        ("rope_contract_time_limit", 10**400, "rope_contract_time_limit: '1000000"),
        (
            "rope_contract_time_limit",
            "0",
            "rope_contract_time_limit: '0' is not a number of seconds above 0",
        ),
        (
            "rope_contract_time_limit",
            "inf",
            "rope_contract_time_limit: 'inf' is not a number of seconds above 0",
        ),
        ("rope_contract_allow", ["plain"], "rope_contract_allow: 'plain' names no rule"),
        (
            "rope_contract_allow",
            ["plain implicit-yarm why"],
            "rope_contract_allow: there is no rule 'implicit-yarm'",
        ),
        (
            "rope_contract_allow",
            ["plain implicit-yarn"],
            "rope_contract_allow: 'plain implicit-yarn' gives no reason",
        ),
        (
            "rope_contract_arguments",
            ["framework"],
            "rope_contract_arguments: 'framework' is not of the form module:attribute",
        ),
        (
            "rope_contract_arguments",
            ["framework:optoins"],
            "rope_contract_arguments: module 'framework' has no attribute 'optoins'",
        ),
        (
            "rope_contract_arguments",
            ["framework:explode"],
            "rope_contract_arguments: framework:explode raised RuntimeError: no GPU",
        ),
        (
            "rope_contract_defaults",
            ["nowhere:defaults"],
            "rope_contract_defaults: there is no module 'nowhere'",
        ),
        (
            "rope_contract_defaults",
            ["broken:defaults"],
            "rope_contract_defaults: importing 'broken' raised ZeroDivisionError: division by zero",
        ),
        (
            "rope_contract_defaults",
            ["framework:number"],
            "rope_contract_defaults: framework:number is of type int, not a function",
        ),
        (
            "rope_contract_stubs",
            ["framework:chekc"],
            "rope_contract_stubs: module 'framework' has no attribute 'chekc'",
        ),
        (
            "rope_contract_rotary",
            "framework:rotaries",
            "rope_contract_rotary: module 'framework' has no attribute 'rotaries'",
        ),
        (
            "rope_contract_parser",
            "framework:options",
            (
                "rope_contract_parser needs a live Megatron, and the surface is the recorded "
                "megatron-core-0.19.2"
            ),
        ),
    ],
)
def test_value_that_cannot_be_used_is_a_usage_error(
    plain: Project, key: str, value: Any, expected: str
) -> None:
    plain.write("src/broken.py", "1 / 0")
    plain.ini(rope_contract_surface="0.19.2", **{key: value})

    assert plain.run().usage_error[0].startswith(f"ERROR: {expected}")


LISTED = sorted({*options.LISTS} - {"rope_contract_base_args"})
NUMBERS = ("rope_contract_time_limit", "rope_contract_examples")
ONE_TEXT = sorted({*options.TEXTS} - {*NUMBERS})


def read(project: Project, toml: str, *args: str) -> Options:
    """Return what is read of an ini file in TOML."""
    project.write("pyproject.toml", toml)
    return settings.read(project.pytester.parseconfig(*args))


def typed(name: str, value: str, table: str = "tool.pytest") -> str:
    return f"[{table}]\n{name} = {value}\n"


@pytest.mark.parametrize("table", ["tool.pytest", "tool.pytest.ini_options"])
@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("rope_contract_time_limit", ["2", "2.0", '"2"', '["2"]']),
        ("rope_contract_examples", ["7", "7.0", '"7"', "[7]"]),
        ("rope_contract_strict", ["true", "1", '"yes"', '"True"']),
        ("rope_contract_strict", ["false", "0", '"off"']),
        ("rope_contract_models", ['["a/*.py"]', '"a/*.py"', '"\\n  a/*.py\\n"']),
        (
            "rope_contract_base_args",
            ['["--beta-fast", "2"]', '["--beta-fast", 2]', '"--beta-fast 2"'],
        ),
        ("rope_contract_pins", ['["a=1", "b=2"]', '"a=1\\nb=2"']),
        ("rope_contract_surface", ['"0.19.2"', '["0.19.2"]', '" 0.19.2 "']),
        ("rope_contract_unknown", ['"drop"', '["drop"]']),
    ],
)
def test_spellings_of_one_meaning_are_the_same(
    plain: Project, table: str, key: str, values: list[str]
) -> None:
    first, *others = [read(plain, typed(key, value, table)) for value in values]

    assert others == [first] * len(others)
    assert first != read(plain, "[tool.pytest]\n") or "false" in values


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in LISTED for value in ("{a = 1}", '["a", 3]')),
        *((key, value) for key in ONE_TEXT for value in ("3", "true", '["a", "b"]', "0.5")),
        *((key, value) for key in NUMBERS for value in ("true", '["1", "2"]', "[[1]]", '"two"')),
        *(("rope_contract_base_args", value) for value in ("3", '["--a", true]', '"\'"')),
        *(("rope_contract_strict", value) for value in ('"perhaps"', "2", "[true, true]", "1.0")),
    ],
)
def test_value_of_another_type_names_the_key_and_shows_a_right_one(
    plain: Project, key: str, value: str
) -> None:
    plain.write("scripts/run-it.sh", "")
    with pytest.raises(pytest.UsageError) as caught:
        read(plain, typed(key, value))

    headline, remedy = str(caught.value).splitlines()
    assert headline.startswith(f"{key}: ")
    shown = re.search(rf"{key} = (.*)", remedy)
    if key not in NUMBERS or shown:
        assert shown is not None
        read(plain, typed(key, shown[1]))


def test_every_key_has_an_example() -> None:
    assert {*ini.EXAMPLES} == {*options.LISTS, *options.TEXTS, "rope_contract_strict"}


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ("rope_contract_strict = perhaps", "rope_contract_strict: "),
        ("rope_contract_base_args = --a 'b", "rope_contract_base_args: No closing quotation"),
    ],
)
def test_text_of_an_ini_file_that_cannot_be_read_names_the_key(
    plain: Project, text: str, headline: str
) -> None:
    key, _, value = text.partition(" = ")
    for name, content in (
        ("pyproject.toml", typed(key, json.dumps(value), "tool.pytest.ini_options")),
        ("pytest.ini", f"[pytest]\n{text}\n"),
    ):
        plain.write(name, content)

        assert plain.run().usage_error[0].startswith(f"ERROR: {headline}")


def test_value_of_the_command_line_comes_before_the_typed_one(plain: Project) -> None:
    toml = typed("rope_contract_strict", '"yes"')

    assert read(plain, toml).settings.strict
    assert not read(plain, toml, "-o", "rope_contract_strict=no").settings.strict
    with pytest.raises(pytest.UsageError, match="rope_contract_strict: "):
        read(plain, toml, "-o", "rope_contract_strict=perhaps")


def test_typed_value_of_a_pytest_toml_is_read(plain: Project) -> None:
    (plain.root / "pyproject.toml").unlink()
    plain.write("pytest.toml", typed("rope_contract_time_limit", "2", "pytest"))

    assert settings.read(plain.pytester.parseconfig()).time_limit == 2


def test_usage_error_says_where_and_what_to_do(plain: Project) -> None:
    plain.ini(rope_contract_stubs=["framework:chekc"])

    assert plain.run().usage_error[1:] == [
        "  at: rope_contract_stubs = framework:chekc",
        "  remedy: did you mean check, checked?",
    ]


def test_usage_error_shows_no_absolute_path_for_code_of_the_project(plain: Project) -> None:
    plain.write("src/broken.py", "1 / 0")
    plain.ini(rope_contract_defaults=["broken:x"])

    assert plain.run().usage_error[1] == "  at: src/broken.py:1"


def test_no_definitions(project: Project) -> None:
    assert project.run().usage_error == [
        "ERROR: rope-contract: no model definitions found",
        "  rope_contract_models: scripts/models/*.py scripts/models/*.sh",
        (
            "  remedy: set rope_contract_models, or register models with the hook "
            "pytest_ropecontract_models"
        ),
    ]


def test_no_definitions_is_an_error_also_where_a_path_is_given(project: Project) -> None:
    project.test("def test_own(): pass")

    assert "no model definitions found" in project.run("tests").usage_error[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("report.txt", "'report.txt' does not end in .json or .html"),
        ("report", "'report' does not end in .json or .html"),
        ("nowhere/report.json", "there is no folder 'nowhere'"),
        ("folder.json", "'folder.json' is a folder"),
    ],
)
def test_report_that_cannot_be_written(plain: Project, name: str, expected: str) -> None:
    (plain.root / "folder.json").mkdir()

    run = plain.run(f"--rope-contract-report={name}")

    assert run.usage_error[0].startswith(f"ERROR: --rope-contract-report: {expected}")


# Functions that fail while a model is resolved.


def test_defaults_function_that_raises_fails_the_model(plain: Project) -> None:
    plain.ini(rope_contract_defaults=["framework:explode"])
    plain.model("other")

    run = plain.run()

    assert run.counts == {"failed": 2, "skipped": 2}
    assert run.text(DECLARED).splitlines() == [
        "rope_contract_defaults: framework:explode raised RuntimeError: no GPU",
        "  at: src/framework.py:11",
        "  remedy: list what needs a GPU in rope_contract_stubs, or correct the function",
    ]


def test_defaults_function_that_exits_fails_the_model(plain: Project) -> None:
    plain.ini(rope_contract_defaults=["framework:leave"])
    plain.write("src/framework.py", "import sys\ndef leave(args): sys.exit(3)")

    assert plain.run().line(DECLARED) == (
        "rope_contract_defaults: framework:leave raised SystemExit: 3"
    )


def test_rotary_function_that_returns_rubbish_fails_the_model(plain: Project) -> None:
    plain.ini(rope_contract_rotary="framework:rotary")
    plain.write("src/framework.py", "def rotary(args, config): return {'theta': 1}")

    assert plain.run().line(DECLARED) == (
        "rope_contract_rotary: framework:rotary returned 'theta', which RotaryEmbedding does "
        "not take"
    )


# Hooks.


def hook(project: Project, text: str) -> Callable[..., Any]:
    project.conftest(f"def pytest_ropecontract_pipeline(settings, config):\n    {text}")
    return project.run


def test_hook_changes_settings(plain: Project) -> None:
    plain.ini(rope_contract_pins=["kv_channels=8"])
    hook(plain, "return {'pins': {**settings.pins, 'rotary_base': 5}, 'base_args': ['--swiglu']}")

    rope = resolved(plain)["rope"]

    assert (rope["rotary_base"], rope["rotary_dim"]) == (5, 8)


def test_hook_that_returns_nothing_changes_nothing(plain: Project) -> None:
    assert hook(plain, "return None")("-k", "declared").outcomes == {DECLARED: "passed"}


def test_hook_of_the_inner_folder_wins(plain: Project) -> None:
    hook(plain, "return {'pins': {'rotary_base': 5}}")
    plain.write(
        "tests/conftest.py",
        "def pytest_ropecontract_pipeline(): return {'pins': {'rotary_base': 6}}",
    )

    assert resolved(plain)["rope"]["rotary_base"] == 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("return 3", "returned int, not a mapping"),
        ("return {'deafults': []}", ": there is no setting 'deafults'"),
        ("return {3: []}", ": there is no setting 3"),
        ("return {'defaults': 'a:b'}", ": defaults is 'a:b', expected a list of strings"),
        ("return {'stubs': [3]}", ": stubs is [3], expected a list of strings"),
        ("return {'parser': 3}", ": parser is 3, expected a string or None"),
        ("return {'unknown': 'x'}", ": unknown is 'x', expected 'reject' or 'drop'"),
        ("return {'pins': []}", ": pins is [], expected a mapping from names to values"),
        ("raise KeyError('what')", "raised KeyError: 'what'"),
        ("raise SystemExit(3)", "raised SystemExit: 3"),
        ("return {'defaults': ['a:b']}", None),
    ],
)
def test_hook_that_gives_rubbish_is_a_usage_error(
    plain: Project, text: str, expected: str | None
) -> None:
    error = hook(plain, text)().usage_error

    if expected is None:
        assert error[0] == "ERROR: rope_contract_defaults: there is no module 'a'"
    else:
        assert error[0].removeprefix("ERROR: pytest_ropecontract_pipeline").strip() == expected


def test_hook_that_ends_the_run_ends_it(plain: Project) -> None:
    """That is no error of the settings."""
    run = hook(plain, "pytest.exit('enough', returncode=9)")()

    assert run.ret == 9
    assert "Exit: enough" in run.err
    assert "pytest_ropecontract_pipeline" not in run.out + run.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "registry.add('tiny', 3)",
            [
                "ERROR: pytest_ropecontract_models: 'tiny' cannot be expanded from an int",
                "  at: conftest.py:4",
            ],
        ),
        (
            "registry.add('plain', ['--a'])",
            [
                (
                    "ERROR: pytest_ropecontract_models: two definitions are named 'plain': "
                    "scripts/models/plain.py and a registration without a file"
                ),
                "  at: conftest.py:4",
            ],
        ),
        (
            "registry.add('a/b', ['--a'])",
            [
                (
                    "ERROR: pytest_ropecontract_models: 'a/b' cannot name a definition: "
                    "it contains '/'"
                ),
                "  at: conftest.py:4",
            ],
        ),
        (
            "registry.variant('b', 'a')",
            [
                (
                    "ERROR: pytest_ropecontract_models: 'b' is a variant of 'a', "
                    "which is no definition"
                ),
                "  at: conftest.py:4",
            ],
        ),
        (
            "1 / 0",
            [
                "ERROR: pytest_ropecontract_models raised ZeroDivisionError: division by zero",
                "  at: conftest.py:4",
            ],
        ),
        (
            "return ['tiny']",
            [
                "ERROR: pytest_ropecontract_models returned list, expected nothing",
                "  remedy: register models with registry.add(name, source)",
            ],
        ),
    ],
)
def test_hook_that_registers_rubbish_is_a_usage_error(
    plain: Project, text: str, expected: list[str]
) -> None:
    plain.conftest(f"def pytest_ropecontract_models(registry):\n    {text}")

    assert plain.run().usage_error[:2] == expected


def test_registered_function_that_raises_fails_its_own_test(plain: Project) -> None:
    plain.conftest(
        "def tiny(): raise ValueError('no')\n"
        "def pytest_ropecontract_models(registry): registry.add('tiny', tiny)"
    )

    run = plain.run("-k", "declared")

    assert run.text("conftest.py::test_declared[tiny]").splitlines()[:2] == [
        "tiny: tiny() raised ValueError: no",
        "  at: conftest.py:3",
    ]
    assert run.outcomes[DECLARED] == "passed"


# Usage errors also end runs in several processes and outside of pytest's own process.


def test_usage_error_in_several_processes(plain: Project) -> None:
    plain.ini(rope_contract_stubs=["framework:chekc"])

    assert plain.run("-n2").usage_error[0].startswith("ERROR: rope_contract_stubs: module ")
