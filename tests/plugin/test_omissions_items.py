"""The items ``test_omissions``, in runs of pytest."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import hypothesis
import pytest
from plugin_project import MLA, PLAIN, REPORT, YARN, Project, Run

import pytest_ropecontract.omission.drawing  # kept for the runs in this process
import pytest_ropecontract.omission.search  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Iterator

FILL = """
def fill(args):
    if args.rope_type is None:
        args.rope_type = "yarn" if args.multi_latent_attention else "rope"
"""
FLASH = f"{MLA} --rope-type rope --rotary-percent 1.0"
ITEM = "scripts/models/flash.py::test_omissions[flash]"
HEADLINE = (
    "unguarded-omission: flash without --rope-type rope becomes yarn (factor 1.0, beta_fast 32, "
    "beta_slow 1) and no contract notices"
)
GUARD = '@rope_expect("rope", models=["flash"])\ndef test_flash(): pass\n'
NOISE = re.compile(
    r"falsifying|failing test case|reproduce_failure|explanation|@seed", re.IGNORECASE
)


@pytest.fixture(autouse=True)
def _profile() -> Iterator[None]:
    """Let the runs in this process not keep a profile that one of them loads."""
    before = hypothesis.settings.get_current_profile_name()
    yield
    hypothesis.settings.load_profile(before)
    hypothesis.core.global_force_seed = None


class Everything(Project):
    """A project whose runs leave nothing out."""

    def run(self, *args: str) -> Run:
        return self.run_without("--rope-contract", *args)

    def run_apart(self, *args: str) -> Run:
        return Run(self, self.pytester.runpytest_subprocess("--rope-contract", *args))


@pytest.fixture
def flash(pytester: pytest.Pytester) -> Everything:
    """Give a project with one model that is a lost flag away from YaRN."""
    project = Everything(pytester)
    project.ini(rope_contract_pythonpath=["."], rope_contract_defaults=["fill:fill"])
    project.write("fill.py", FILL)
    project.model("flash", FLASH)
    return project


def guards(text: str) -> list[str]:
    """Return the decorators that a failure prints."""
    return list(dict.fromkeys(re.findall(r"@rope_expect\(.*\)", text)))


def apply(project: Project, lines: list[str], name: str = "test_applied") -> None:
    tests = [f"{line}\ndef test_guard_{index}(): pass\n" for index, line in enumerate(lines)]
    project.test("\n".join(tests), name)


# What is said, and what is done about it


def test_model_that_is_one_flag_away_from_yarn_fails(flash: Project) -> None:
    run = flash.run()

    assert run.outcomes[ITEM] == "failed"
    lines = run.text(ITEM).splitlines()
    assert lines[0] == HEADLINE
    assert lines[1] == "  kind: rope (declared) -> yarn (filled: fill:fill)"
    assert lines[-4] == "  size:     numerically identical"
    assert lines[-3:] == [
        '  remedy:   mark a test with @rope_expect("rope", models=["flash"]),',
        "            or add the checkpoint's config.json as tests/checkpoints/flash.json",
        "  more:     ropecontract rule unguarded-omission",
    ]


def test_printed_line_makes_it_pass(flash: Project) -> None:
    (line,) = guards(flash.run().text(ITEM))
    apply(flash, [line])

    assert set(flash.run().outcomes.values()) == {"passed"}


def test_printed_checkpoint_makes_it_pass(flash: Project) -> None:
    config = '{"model_type": "x", "rope_theta": 10000, "qk_rope_head_dim": 8}'
    (name,) = re.findall(r"config.json as (\S+)", flash.run().text(ITEM))
    flash.write(name, config)

    assert flash.run().outcomes[ITEM] == "passed"


@pytest.mark.parametrize(
    "argv",
    [
        FLASH,
        YARN,
        PLAIN,
        f"{PLAIN} --use-rope-scaling",
        PLAIN.replace("rope --rotary-base 10000", "mrope --mrope-section 2 3 3 --rotary-base 5000"),
        f"{PLAIN} --rotary-interleaved --no-rope-fusion --no-rope-freq [0]+[1]",
        PLAIN.replace("--position-embedding-type rope", "--use-rotary-position-embeddings"),
    ],
)
def test_printed_lines_make_a_strict_search_pass(flash: Project, argv: str) -> None:
    flash.model("flash", argv)
    strict = ("--rope-contract-strict", "-k", "test_omissions or test_guard")
    lines = guards(flash.run(*strict).text(ITEM))
    apply(flash, lines)

    assert set(flash.run(*strict).outcomes.values()) == {"passed"}


@pytest.mark.parametrize(
    ("patterns", "named"),
    [
        (["kept/{model}-*.json"], []),
        (["kept/{model}-*.json", "kept/{model}.json"], ["kept/flash.json"]),
    ],
)
def test_checkpoint_is_proposed_where_its_file_has_a_name(
    flash: Project, patterns: list[str], named: list[str]
) -> None:
    flash.ini(rope_contract_checkpoints=patterns)
    flash.model(
        "flash", FLASH.replace("--rope-type rope", "--rope-type rope --rotary-scaling-factor 4")
    )

    assert re.findall(r"config.json as (\S+)", flash.run().text(ITEM)) == named


def test_model_that_cannot_be_expanded_loses_nothing(flash: Project) -> None:
    flash.script("flash", "raise ValueError('no')")

    assert flash.run().reason(ITEM).endswith("test_declared says why nothing is known of flash")
    alone = flash.run(ITEM, REPORT)
    assert alone.line(ITEM) == "flash: model_args() raised ValueError: no"
    assert alone.reported("flash")["error"].startswith(alone.line(ITEM))


def test_guard_that_is_removed_is_missed(flash: Project) -> None:
    flash.test(GUARD)
    assert flash.run().outcomes[ITEM] == "passed"

    flash.test("def test_nothing(): pass\n")

    assert flash.run().line(ITEM) == HEADLINE


def test_counterexample_is_data_on_the_exception(flash: Project) -> None:
    flash.conftest(
        "import json, pathlib\n"
        "@pytest.hookimpl(wrapper=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    found = getattr(call.excinfo and call.excinfo.value, 'findings', ())\n"
        "    for one in found:\n"
        "        data = [one.rule, one.model, one.omitted, one.argv]\n"
        "        pathlib.Path('found.json').write_text(json.dumps(data))\n"
        "    return (yield)\n"
    )
    flash.run()

    import json  # noqa: PLC0415

    rule, model, omitted, argv = json.loads((flash.root / "found.json").read_text())
    assert (rule, model, omitted) == ("unguarded-omission", "flash", ["--rope-type rope"])
    assert argv == FLASH.replace("--rope-type rope ", "").split()


def test_hypothesis_is_not_seen_and_leaves_nothing(flash: Project) -> None:
    run = flash.run_apart("-p", "no:randomly", "-p", "no:cacheprovider")

    assert not NOISE.search(run.out + run.err)
    assert not (flash.root / ".hypothesis").exists()


def test_model_that_is_refused_is_skipped(flash: Project) -> None:
    flash.model("flash", FLASH.replace(" --no-rope-fusion", ""))
    run = flash.run()

    assert run.outcomes["scripts/models/flash.py::test_declared[flash]"] == "failed"
    assert run.reason(ITEM) == "Skipped: nothing is built from the flags of flash"


def test_framework_that_raises_for_a_lost_flag_refuses_it(flash: Project) -> None:
    flash.write("fill.py", FILL + "    assert args.rope_type == 'rope', 'say --rope-type'\n")

    assert flash.run(REPORT).outcomes[ITEM] == "passed"
    flash.write("fill.py", FILL + "    if args.rope_type == 'yarn': raise SystemExit(3)\n")
    run = flash.run(REPORT)
    assert run.outcomes[ITEM] == "passed"
    assert run.reported("flash")["omissions"]["--rope-type rope"] == "refused"


def test_flag_that_the_parser_demands_is_refused_where_it_is_lost(flash: Project) -> None:
    flash.write(
        "fill.py",
        FILL + "def add(parser):\n    parser.add_argument('--framework-save', required=True)\n",
    )
    flash.ini(rope_contract_arguments=["fill:add"])
    flash.model("flash", f"{FLASH} --framework-save here")
    flash.test(GUARD)
    run = flash.run(REPORT)

    assert run.outcomes[ITEM] == "passed"
    assert run.reported("flash")["omissions"]["--framework-save here"] == "refused"


def test_framework_that_is_random_is_told(flash: Project) -> None:
    flash.write("fill.py", f"import random\n{FILL}    args.rotary_percent = random.random()\n")

    run = flash.run("-k", "test_omissions")

    assert run.line(ITEM) == (
        "flash: the framework makes something else of the same flags every time"
    )


def test_value_of_a_sibling_goes_unnoticed(flash: Project) -> None:
    """K2.5 took the flags of K2-Thinking, among them the values of its betas."""
    flash.model("kimi-k25", FLASH.replace("10000", "5000"))
    flash.model("kimi-k2", FLASH.replace("10000", "7000"))
    flash.test(
        '@rope_expect("rope", rotary_percent=1.0, declared=False, models=["*"])\n'
        "def test_kind(): pass\n"
        '@rope_expect(rotary_base=7000, models=["kimi-k2"])\n'
        "def test_base(): pass\n"
    )
    run = flash.run("--rope-contract-strict", REPORT, "-k", "test_omissions")

    def messages(model: str) -> list[str]:
        return [one["message"] for one in run.reported(model)["findings"]]

    assert not [text for text in messages("kimi-k2") if "as in" in text]
    # That its own base can be lost says it already for the other one.
    assert [text for text in messages("kimi-k25") if "--rotary-base 5000 has" in text]


# Strictness, examples, seeds and profiles


def test_notes_fail_where_it_is_strict(flash: Project) -> None:
    flash.test(GUARD)
    assert flash.run().outcomes[ITEM] == "passed"

    option = flash.run("--rope-contract-strict")
    flash.ini(rope_contract_strict=True)

    assert "has rotary_base" not in option.line(ITEM)
    assert "without --rotary-base 10000 leaves rotary_base to a default" in option.text(ITEM)
    assert flash.run().text(ITEM) == option.text(ITEM)


LOG = """
def log(args):
    with open("log.txt", "a") as file:
        file.write(f"{args.rotary_base} {args.rope_type} {args.kv_lora_rank} {args.v_head_dim} "
                   f"{args.rotary_percent} {args.position_embedding_type} {args.qk_head_dim}\\n")
"""


@pytest.fixture
def logged(flash: Project) -> Project:
    """Let a function of the framework write down what it is called with."""
    flash.write("fill.py", FILL + LOG)
    flash.ini(rope_contract_defaults=["fill:fill", "fill:log"])
    flash.test(GUARD)
    return flash


def log(project: Project, *args: str) -> str:
    path = project.root / "log.txt"
    path.unlink(missing_ok=True)
    project.run("-k", "test_omissions", *args)
    return path.read_text()


def test_examples_by_option_and_ini(logged: Project) -> None:
    none = log(logged, "--rope-contract-examples=0").count("\n")
    few = log(logged, "--rope-contract-examples=10").count("\n")
    many = log(logged, "--rope-contract-examples=200").count("\n")
    logged.ini(rope_contract_examples="200")

    assert none < few <= none + 10 < many
    assert log(logged).count("\n") == many
    assert log(logged, "--rope-contract-examples=10").count("\n") == few


@pytest.mark.parametrize("text", ["-1", "many", "1.5", "", "1000001"])
def test_examples_that_are_no_number(flash: Project, text: str) -> None:
    line, remedy = flash.run(f"--rope-contract-examples={text}").usage_error

    assert remedy.startswith("  remedy: write a number")
    assert line == (
        f"ERROR: --rope-contract-examples: {text!r} is not a whole number from 0 to 1000000"
    )


def test_seed_changes_the_draws(logged: Project) -> None:
    first = log(logged)

    assert log(logged) == first
    assert log(logged, "--hypothesis-seed=1") == log(logged, "--hypothesis-seed=1") != first
    assert log(logged, "--hypothesis-seed=2") != log(logged, "--hypothesis-seed=1")
    assert log(logged, "--hypothesis-seed=words") != first


def test_profile_says_how_many(logged: Project) -> None:
    logged.conftest(
        "from hypothesis import settings\n"
        "default = settings.get_profile('default')\n"
        "settings.register_profile('many', default, max_examples=300)\n"
        "settings.register_profile('none', default, phases=[])\n"
    )
    default = log(logged)

    assert log(logged, "--hypothesis-profile=many").count("\n") > default.count("\n")
    assert log(logged, "--hypothesis-profile=none") == log(logged, "--rope-contract-examples=0")
    assert log(logged, "--hypothesis-profile=many", "--rope-contract-examples=100") == default


def test_health_checks_and_settings_of_users_stay(flash: Project) -> None:
    flash.test(
        "from hypothesis import given, settings, strategies as st\n"
        "@given(st.integers().filter(lambda n: n % 100 == 7))\n"
        "def test_filters(n): pass\n"
        "def test_settings():\n"
        "    name = settings.get_current_profile_name()\n"
        "    chosen = settings.get_profile(name)\n"
        "    assert name in ('default', 'ci')  # the one that Hypothesis chooses itself\n"
        "    assert settings().suppress_health_check == chosen.suppress_health_check\n"
        "    assert settings().deadline == chosen.deadline\n"
        "    assert settings().derandomize == chosen.derandomize\n"
    )
    run = flash.run_apart("-p", "no:randomly", "scripts/models/flash.py", "tests", "-rA")

    assert "filtering out a lot of inputs" in run.out
    assert "PASSED tests/test_contracts.py::test_settings" in run.outlines


# The same in every run

MODES = {
    "plain": ["-p", "no:randomly"],
    "two workers": ["-n2"],
    "no worker": ["-n0", "-p", "randomly", "-p", "no:cacheprovider"],
    "shuffled": ["-p", "randomly", "-p", "no:cacheprovider"],
}


@pytest.fixture
def several(flash: Project) -> Project:
    flash.model("loose", f"{MLA} --rope-type rope --rotary-base 5000 --rotary-percent 0.5")
    flash.model("stretched", YARN)
    flash.model("plain", PLAIN)
    flash.test(
        '@rope_expect("yarn", 4096, declared=False, models=["stretched"])\ndef test_it(): pass'
    )
    return flash


def outcome(run: Run) -> tuple[str, list[str]]:
    failures = [line for line in run.outlines if line.startswith("unguarded-omission")]
    return run.report_text, sorted(failures)


def test_same_with_any_worker_count_and_order(several: Project) -> None:
    found = {name: outcome(several.run_apart(REPORT, *args)) for name, args in MODES.items()}

    assert len(found["plain"][1]) == 3
    for name, one in found.items():
        assert one == found["plain"], name


def test_same_with_an_example_database_and_in_ci(
    several: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = outcome(several.run_apart(REPORT))
    several.test(
        "from hypothesis import given, strategies as st\n"
        "from pytest_ropecontract import omissions\n"
        "@given(omissions('flash'))\n"
        "def test_own(omission): assert '--rope-type rope' not in omission.omitted\n",
        "test_own",
    )
    for _ in range(2):
        again = several.run_apart(REPORT)
        assert outcome(again) == first
        assert "omission=without --rope-type rope" in again.out
    assert list((several.root / ".hypothesis").rglob("*"))

    monkeypatch.setenv("CI", "true")
    assert outcome(several.run_apart(REPORT)) == first


def test_what_is_imported_beside_it_does_not_change_the_draws(logged: Project) -> None:
    """Hypothesis draws constants of local modules, of those that happen to be imported."""
    first = log(logged)
    logged.write("constants.py", "VALUES = [3, 5, 6, 7, 9, 11, 12, 13, 17]\n")
    logged.conftest("import constants\n")

    assert log(logged) == first


# What a run leaves out


def test_contracts_of_files_that_are_not_selected(flash: Project) -> None:
    flash.test(GUARD)
    for args in (
        ["scripts/models/flash.py"],
        [ITEM],
        ["scripts"],
        ["-k", "test_omissions"],
        ["-m", "rope_contract"],
        ["--deselect", "tests/test_contracts.py"],
        ["-n2", ITEM],
    ):
        run = flash.run_apart(*args) if "-n2" in args else flash.run(*args)
        assert run.ret == 0, (args, run.out)
        assert "failed" not in run.outlines[-1]


def test_contracts_beside_the_one_test_that_is_selected(flash: Project) -> None:
    flash.test(GUARD + "def test_other(): pass\n")

    run = flash.run("tests/test_contracts.py::test_other", ITEM)

    assert run.outcomes == {"tests/test_contracts.py::test_other": "passed", ITEM: "passed"}


def test_contracts_of_what_did_not_fail_before(flash: Project) -> None:
    flash.test(GUARD + "def test_other(): pass\n")
    flash.test("def test_fails(): assert False\n", "test_failing")
    flash.model("second", FLASH.replace("10000", "5000"))
    assert flash.run().outcomes["scripts/models/second.py::test_omissions[second]"] == "failed"
    flash.test(GUARD.replace("flash", "second"), "test_second")

    run = flash.run("--lf")

    second = "scripts/models/second.py::test_omissions[second]"
    assert run.outcomes == {"tests/test_failing.py::test_fails": "failed", second: "passed"}


def test_contracts_of_a_file_of_which_one_test_failed_before(flash: Project) -> None:
    flash.test(GUARD + "def test_fails(): assert False\n")
    flash.run()
    flash.model("second", FLASH.replace("10000", "5000"))
    flash.run("--lf")  # what is new is not among what failed
    assert flash.run(ITEM, "--lf").outcomes[ITEM] == "passed"


def test_run_in_a_folder_below(flash: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    flash.test(GUARD)
    monkeypatch.chdir(flash.root / "scripts")

    run = flash.run()

    assert run.ret == 0, run.out
    assert run.outcomes[ITEM] == "passed"


def test_file_that_cannot_be_imported(flash: Project) -> None:
    flash.test(GUARD)
    broken = {
        "test_raises": "rope_expect = 1 / 0\n",
        "test_exits": "import sys\nsys.exit('rope_expect')\n",
        "test_skips": "pytest.skip('rope_expect', allow_module_level=True)\n",
        "test_mark": "@rope_expect('no such kind', models=['flash'])\ndef test_it(): pass\n",
        "test_prints": "print('printed', rope_expect)\nimport warnings\nwarnings.warn('warned')\n",
        "deep/conftest": "raise RuntimeError\n",
        "deep/test_deep": "rope_expect\n",
    }
    for name, text in broken.items():
        flash.test(text, name)
    flash.write("tests/test_bytes.py", b"\xff rope_expect")

    run = flash.run(ITEM)

    assert run.outcomes == {ITEM: "passed"}
    assert run.ret == 0
    assert "printed" not in run.out
    assert "warned" not in run.out


def test_file_is_imported_once_and_its_tests_do_not_run(flash: Project) -> None:
    flash.test(
        GUARD.replace("pass", "note('ran')")
        + "def note(text):\n    with open('notes.txt', 'a') as file: file.write(text + ' ')\n"
        "note('imported')\n"
    )
    notes = flash.root / "notes.txt"

    for args, expected in (
        ([ITEM], "imported "),
        (["scripts"], "imported "),
        (["tests", "scripts"], "imported ran "),
        (["tests/test_contracts.py::test_flash", ITEM], "imported ran "),
        ([], "imported ran "),
    ):
        notes.unlink(missing_ok=True)
        flash.run(*args)
        assert notes.read_text() == expected, args


def test_file_without_the_mark_is_not_imported(flash: Project) -> None:
    flash.test(GUARD)
    flash.write("tests/test_heavy.py", "raise SystemExit('imported')\n")
    flash.write("tests/build/test_avoided.py", "# rope_expect\nraise SystemExit('imported')\n")

    assert flash.run(ITEM).outcomes == {ITEM: "passed"}


def test_mark_that_a_helper_states(flash: Project) -> None:
    flash.write(
        "tests/contracts.py",
        "from pytest_ropecontract import rope_expect\n"
        'plain = rope_expect("rope", models=["flash"])\n',
    )
    flash.write("tests/test_uses.py", "from contracts import plain\n@plain\ndef test_it(): pass\n")

    assert flash.run(ITEM).outcomes == {ITEM: "passed"}


def test_marks_below_a_conftest_of_their_own(flash: Project) -> None:
    flash.write(
        "tests/below/conftest.py",
        "def pytest_generate_tests(metafunc):\n"
        "    if 'rope_model' in metafunc.fixturenames:\n"
        "        metafunc.parametrize('rope_model', ['flash'], indirect=True)\n",
    )
    flash.test("@rope_expect('rope')\ndef test_it(rope_model): pass\n", "below/test_below")

    assert flash.run().outcomes[ITEM] == "passed"
    assert flash.run(ITEM).outcomes == {ITEM: "passed"}


def test_marks_of_classes(flash: Project) -> None:
    method = GUARD.replace("test_flash()", "test_flash(self)").replace("\n", "\n        ")
    flash.test(f"class TestOuter:\n    class TestInner:\n        {method}pass\n")

    assert flash.run("tests").counts == {"passed": 1}
    assert flash.run(ITEM).outcomes == {ITEM: "passed"}


def test_link_to_nothing_beside_the_tests(flash: Project) -> None:
    flash.test(GUARD)
    (flash.root / "tests/helper.py").symlink_to("nowhere.py")

    assert flash.run(ITEM).outcomes == {ITEM: "passed"}


def test_tests_that_are_named_twice_are_collected_once(flash: Project) -> None:
    flash.ini(testpaths=["tests", "tests/below", "tests/below/test_below.py", "tests"])
    flash.test(GUARD, "below/test_below")
    flash.conftest(
        "def note(text):\n"
        "    with open('notes.txt', 'a') as file: file.write(text + ' ')\n"
        "def pytest_generate_tests(metafunc): note(metafunc.definition.name)\n"
    )

    assert flash.run(ITEM).outcomes == {ITEM: "passed"}
    assert (flash.root / "notes.txt").read_text().split().count("test_flash") == 1


def test_tests_beside_a_file_that_is_named_are_no_contracts(flash: Project) -> None:
    flash.test(GUARD)
    flash.test("def test_other(): pass\n", "test_other")
    flash.ini(testpaths=["tests/test_other.py"])

    assert flash.run(ITEM).line(ITEM) == HEADLINE


def test_tests_of_several_folders(flash: Project) -> None:
    flash.ini(testpaths=["pack*/checks", "more"])
    flash.write(
        "packages/checks/test_it.py", f"from pytest_ropecontract import rope_expect\n{GUARD}"
    )

    assert flash.run(ITEM).outcomes == {ITEM: "passed"}


# Allowances


def test_allowed_gap_is_expected(flash: Project) -> None:
    flash.ini(rope_contract_allow=["flash unguarded-omission its wrapper says it"])
    run = flash.run()

    assert run.outcomes[ITEM] == "xfailed"
    assert run.reason(ITEM) == "unguarded-omission allowed: its wrapper says it"
    assert run.outcomes["pyproject.toml::test_allowances"] == "passed"
    assert run.ret == 0


def test_allowance_is_known_to_be_used_where_its_item_did_not_run(flash: Project) -> None:
    flash.ini(rope_contract_allow=["flash unguarded-omission its wrapper says it"])

    assert flash.run("-k", "test_allowances").outcomes == {
        "pyproject.toml::test_allowances": "passed"
    }
    assert flash.run_apart("-n2").ret == 0


def test_allowance_does_not_repeat_the_search_of_its_item(logged: Project) -> None:
    logged.ini(rope_contract_allow=["flash unguarded-omission its wrapper says it"])
    logged.test("def test_nothing(): pass\n")
    alone = log(logged)
    (logged.root / "log.txt").unlink()

    run = logged.run("-k", "test_omissions or test_allowances")

    assert run.outcomes["pyproject.toml::test_allowances"] == "passed"
    assert (logged.root / "log.txt").read_text() == alone


def test_allowance_that_is_not_needed_fails(flash: Project) -> None:
    flash.ini(rope_contract_allow=["fl* unguarded-omission its wrapper says it"])
    flash.test(
        '@rope_expect("rope", rotary_base=10000, rotary_percent=1, rotary_dim=8, attention="mla", '
        'models=["flash"])\ndef test_flash(): pass\n'
    )
    run = flash.run()

    assert run.outcomes[ITEM] == "passed"
    assert run.line("pyproject.toml::test_allowances") == (
        "rope_contract_allow: 'fl* unguarded-omission its wrapper says it' allows nothing any more"
    )


def test_contract_that_is_allowed_to_fail_guards_nothing(flash: Project) -> None:
    flash.test(GUARD)
    flash.ini(rope_contract_allow=["flash expectation it is being changed"])

    run = flash.run()

    assert run.line(ITEM) == HEADLINE
    assert "config.json" not in run.text(ITEM)
    assert (
        "  remedy:   rope_contract_allow allows what a contract would find; take its line away"
        in run.text(ITEM).splitlines()
    )


# The summary


def test_losses_in_the_report(flash: Project) -> None:
    flash.test(GUARD)

    losses = flash.run(REPORT).reported("flash")["omissions"]

    assert losses["--rope-type rope"] == "guarded"
    assert losses["--num-layers 2"] == "refused"
    assert losses["--rotary-base 10000"] == "unguarded"
    assert losses["--q-lora-rank 8"] == "harmless"


def test_losses_in_the_summary_with_v(flash: Project) -> None:
    flash.test(GUARD)

    assert flash.run("-v").summary[2:] == [
        "flags if lost refused harmless guarded unguarded",
        "flash               4        5       1         4",
        "  unguarded: --multi-latent-attention, --qk-pos-emb-head-dim 8,",
        "    --rotary-base 10000, --rotary-percent 1.0",
    ]
    assert not [line for line in flash.run().summary if "refused" in line]


def test_every_flag_in_the_summary_with_vv(flash: Project) -> None:
    flash.model("another-model-with-a-long-name-that-has-no-room-in-the-table", PLAIN)
    flash.test('@rope_expect("rope", models=["*"])\ndef test_it(): pass\n')
    lines = flash.run("-vv").summary
    text = "\n".join(lines)

    assert max(map(len, lines)) <= 80
    for token in ("  refused: ", "  harmless: ", "  unguarded: ", "--v-head-dim 16"):
        assert token in text
    rows = [line.split() for line in lines if line.startswith("flash ")]
    assert sum(map(int, rows[1][1:])) == len(re.findall("--", FLASH))


def test_flag_that_is_too_long_for_a_line(flash: Project) -> None:
    flash.model("flash", f"{FLASH} --data-path {'x' * 200} y")
    flash.test(GUARD)

    assert max(map(len, flash.run("-vv").summary)) <= 80


def test_flag_that_is_no_unicode_or_has_a_path(flash: Project) -> None:
    tokens = [*FLASH.split(), "--load", "a\udcff"]
    flash.script("flash", f"import os; return [*{tokens!r}, '--save', os.getcwd() + '/out']")
    flash.test(GUARD)
    own = OWN.format("omissions('flash', only='--load')", " == ('nothing',)")
    flash.test(own.replace("is None or", "is None and"), "test_own")

    for args in ((), ("-n2",)):
        run = flash.run(REPORT, "--rope-contract-examples=0", *args)

        assert run.outcomes[ITEM] == "passed", run.out
        losses = run.reported("flash")["omissions"]
        assert losses["--load a\\udcff"] == losses["--save out"] == "harmless"
        assert "omission=without --load a\\udcff," in run.out


def test_no_summary_of_losses_where_none_were_looked_at(flash: Project) -> None:
    assert not [line for line in flash.run("-v", "-k", "declared").summary if "refused" in line]


# The strategy


OWN = (
    "from hypothesis import given, settings\n"
    "from pytest_ropecontract import omissions\n"
    "@settings(deadline=None, database=None, derandomize=True)\n"
    "@given(omission={})\n"
    "def test_own(omission, rope_resolve):\n"
    "    assert rope_resolve(omission.argv).rope is None or omission.omitted{}\n"
)
OWN_ITEM = "tests/test_own.py::test_own"


@pytest.mark.parametrize(
    "strategy",
    [
        "omissions('flash')",
        "omissions('flash', at_most=2)",
        "omissions('flash', only=['--rope-type', 'rotary_base'])",
        "omissions('flash', only='--rope-type')",
        "omissions(['--num-layers', '2', '--rotary-base', '1'])",
    ],
)
def test_strategy_for_own_tests(flash: Project, strategy: str) -> None:
    flash.test(OWN.format(strategy, ""), "test_own")

    assert flash.run_without("tests").outcomes == {OWN_ITEM: "passed"}
    assert flash.run("tests").outcomes == {OWN_ITEM: "passed"}


def test_own_counterexample_is_short(flash: Project) -> None:
    flash.test(OWN.format("omissions('flash')", " == ('--rope-type rope',)"), "test_own")

    text = flash.run_without("tests").text(OWN_ITEM)

    assert re.search(r"omission=without --\S+( \S+)?,", text)
    assert "--hidden-size" not in text.partition("omission=without")[2].partition("rope_resolve")[0]


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ("omissions('flahs')", "there is no definition 'flahs'"),
        ("omissions('flash', only=['--rope'])", "'--rope' is not on the command line"),
        ("omissions('broken')", "broken"),
        ("omissions('flash', at_most=-1)", "at_most is -1, not a whole number from 0"),
        ("omissions(['--num-layers', 2])", "token 2 of the argv is 2, not a string"),
        ("omissions(7)", "7 is neither the name of a model nor an argv"),
        ("omissions(None)", "None is neither the name of a model nor an argv"),
    ],
)
def test_strategy_that_cannot_be_made(flash: Project, strategy: str, message: str) -> None:
    flash.script("broken", "raise ValueError('gone')")
    flash.test(OWN.format(strategy, ""), "test_own")

    assert message in flash.run_without("tests").text(OWN_ITEM)


@pytest.mark.parametrize("mode", ["prepend", "append", "importlib"])
def test_every_way_of_importing(flash: Project, mode: str) -> None:
    flash.write("tests/first/__init__.py", "")
    flash.test(GUARD, "first/test_same")
    flash.write("tests/second/__init__.py", "")
    flash.test("rope_expect\ndef test_it(): pass\n", "second/test_same")

    for args in ((ITEM,), ("tests/second", ITEM), ("tests/second/test_same.py::test_it", ITEM)):
        assert flash.run(f"--import-mode={mode}", *args).outcomes[ITEM] == "passed"


# A model that is at fault itself


def remedy(run: Run) -> list[str]:
    lines = run.text(ITEM).splitlines()
    return lines[next(i for i, one in enumerate(lines) if one.startswith("  remedy: ")) : -1]


def test_wrong_values_are_not_suggested_as_a_contract(flash: Project) -> None:
    """Without ``--rope-type rope`` the checkpoint's YaRN would be built, by default."""
    published = {
        "model_type": "x",
        "rope_theta": 10000,
        "qk_rope_head_dim": 8,
        "rope_scaling": {
            "type": "yarn",
            "factor": 1.0,
            "original_max_position_embeddings": 4096,
            "beta_fast": 32,
            "beta_slow": 1,
            "mscale": 1.0,
            "mscale_all_dim": 0,
        },
    }
    flash.write("tests/checkpoints/flash.json", json.dumps(published))

    run = flash.run()

    assert run.outcomes[ITEM] == "failed"
    assert not guards(run.text(ITEM))
    checkpoint = run.line("scripts/models/flash.py::test_checkpoint[flash]")
    assert remedy(run)[0] == (
        "  remedy:   correct flash itself first, a contract of what is built now would demand the "
        "fault:"
    )
    assert remedy(run)[1].strip() == checkpoint.replace(": flash:", ":", 1)
    assert remedy(run)[2].strip().startswith("declare --rope-type yarn")


def test_wrong_values_of_a_mark_are_not_suggested_as_another(flash: Project) -> None:
    """A mark that wants YaRN notices nothing where YaRN is built by default."""
    flash.test('@rope_expect("yarn", declared=False, models=["flash"])\ndef test_it(): pass\n')

    run = flash.run("-k", "test_omissions")

    assert not guards(run.text(ITEM))
    assert remedy(run)[1].strip().startswith("expectation: kind is rope (declared: --rope-type ")
    assert remedy(run)[2].strip().startswith("declare --rope-type yarn in the definition, or ")


def test_unreadable_checkpoint_is_corrected_first(flash: Project) -> None:
    """It says where the checkpoint is: to add it there is no advice."""
    flash.write("tests/checkpoints/flash.json", "{")

    run = flash.run("-k", "test_omissions")

    assert not guards(run.text(ITEM))
    assert remedy(run)[1].strip().startswith("checkpoint: ")


def test_value_that_a_rule_calls_wrong_is_not_suggested(flash: Project) -> None:
    """A flag that a framework overwrites is no value to demand, nor is what it is made."""
    flash.write("fill.py", f"{FILL}    args.rotary_base = 777\n")

    run = flash.run("-k", "test_omissions")

    assert not guards(run.text(ITEM))
    assert remedy(run)[1].strip().startswith("overwritten-flag: --rotary-base 10000 is declared")


def test_allowed_deviation_can_have_a_contract(flash: Project) -> None:
    flash.test('@rope_expect("yarn", declared=False, models=["flash"])\ndef test_it(): pass\n')
    flash.ini(rope_contract_allow=["flash expectation the fork is trained without it"])

    run = flash.run("-k", "test_omissions")

    assert "correct flash itself" not in run.text(ITEM)


def test_strictness_alone_is_no_fault_of_a_value(flash: Project) -> None:
    """A field that no flag declares is what it should be: a mark may say so."""
    flash.model("flash", FLASH.replace("--rotary-percent 1.0", ""))

    assert guards(flash.run("-k", "test_omissions", "--rope-contract-strict").text(ITEM))
