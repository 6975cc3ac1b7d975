"""Bad definitions in a whole run: each is one failing test, and the others go on."""

from __future__ import annotations

import pytest
from plugin_project import PLAIN, Project

GOOD = {
    "scripts/models/good.py::test_declared[good]": "passed",
    "scripts/models/good.py::test_expected[good]": "skipped",
}


@pytest.fixture
def beside(project: Project) -> Project:
    """Give a project with one good definition."""
    project.model("good")
    return project


def failure(project: Project, file: str = "bad.py", name: str = "bad", *args: str) -> list[str]:
    """Return how the one bad definition of a project fails, as its only failing item."""
    run = project.run(*args)
    declared = f"scripts/models/{file}::test_declared[{name}]"
    expected = f"scripts/models/{file}::test_expected[{name}]"
    assert run.outcomes == {**GOOD, declared: "failed", expected: "skipped"}, run.out
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert "INTERNALERROR" not in run.out
    lines = run.text(declared).splitlines()
    assert not any(str(project.root) in line for line in lines)
    return lines


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "raise ValueError('no flags today')",
            [
                "bad: model_args() raised ValueError: no flags today",
                "  at: scripts/models/bad.py:2",
            ],
        ),
        (
            "return None",
            [
                "bad: model_args() returned None, expected a string or a list of strings",
                "  at: scripts/models/bad.py:1",
            ],
        ),
        (
            "return 5",
            [
                "bad: model_args() returned 5 (int), expected a string or a list of strings",
                "  at: scripts/models/bad.py:1",
            ],
        ),
        (
            "return ''",
            ["bad: model_args() returned an empty string", "  at: scripts/models/bad.py:1"],
        ),
        (
            "return []",
            ["bad: model_args() returned an empty list", "  at: scripts/models/bad.py:1"],
        ),
        (
            "raise SystemExit(3)",
            ["bad: model_args() called sys.exit(3)", "  at: scripts/models/bad.py:2"],
        ),
        (
            "import os; os._exit(3)",
            [
                "bad: ended its process with status 3 before model_args() returned",
                "  at: scripts/models/bad.py",
            ],
        ),
        (
            "import nowhere",
            [
                "bad: model_args() raised ModuleNotFoundError: No module named 'nowhere'",
                "  at: scripts/models/bad.py:2",
            ],
        ),
    ],
)
def test_script_that_gives_no_argv(beside: Project, body: str, expected: list[str]) -> None:
    beside.script("bad", body)

    assert failure(beside)[:2] == expected


def test_script_that_loops_forever(beside: Project) -> None:
    beside.ini(rope_contract_time_limit="0.5")
    beside.script("bad", "while True: pass")

    assert failure(beside)[:2] == [
        "bad: did not end within 0.5 s",
        "  at: scripts/models/bad.py:2",
    ]


def test_script_that_prints_before_it_fails(beside: Project) -> None:
    beside.script("bad", "print('so far')", "raise ValueError('no')")

    assert "  printed: so far" in failure(beside)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"x = '\xff'\n", "bad: the script is not UTF-8"),
        (b"", "bad: the script is empty"),
        (b"def model_args(:\n", "bad: the script has a syntax error: invalid syntax"),
        (b"def model_arg(): pass\n", "bad: the script defines no model_args()"),
        (b"model_args = 3\n", "bad: model_args is an int, not a function"),
        (b"raise ValueError('early')", "bad: loading the script raised ValueError: early"),
    ],
)
def test_script_that_cannot_be_loaded(beside: Project, content: bytes, expected: str) -> None:
    beside.write("scripts/models/bad.py", content)

    lines = failure(beside)

    assert lines[0].startswith(expected)
    assert lines[1].startswith("  at: scripts/models/bad.py")


def test_script_that_changes_its_process_leaves_no_trace(beside: Project) -> None:
    beside.script(
        "bad",
        "import os, sys",
        "os.environ['LEFT_BEHIND'] = '1'",
        "sys.path.insert(0, '/left-behind')",
        "sys.argv.append('left-behind')",
        "sys.modules['left_behind'] = sys",
        "os.chdir('/')",
        f"return {PLAIN!r}",
    )
    beside.test(
        "import os, sys\n"
        '@rope_expect("rope", models=["*"])\n'
        "def test_trace():\n"
        "    assert 'LEFT_BEHIND' not in os.environ\n"
        "    assert '/left-behind' not in sys.path\n"
        "    assert 'left-behind' not in sys.argv\n"
        "    assert 'left_behind' not in sys.modules\n"
        f"    assert os.getcwd() == {str(beside.root)!r}\n"
    )

    assert set(beside.run().outcomes.values()) == {"passed"}


def test_function_that_changes_its_process_leaves_no_trace(beside: Project) -> None:
    beside.conftest(
        "import os, sys\n"
        "def changing():\n"
        "    os.environ['LEFT_BEHIND'] = '1'\n"
        "    sys.path.insert(0, '/left-behind')\n"
        "    os.chdir('/')\n"
        f"    return {PLAIN!r}\n"
        "def pytest_ropecontract_models(registry): registry.add('changing', changing)\n"
    )
    beside.test(
        "import os, sys\n"
        '@rope_expect("rope", models=["*"])\n'
        "def test_trace():\n"
        "    assert 'LEFT_BEHIND' not in os.environ\n"
        "    assert '/left-behind' not in sys.path\n"
        f"    assert os.getcwd() == {str(beside.root)!r}\n"
    )

    assert set(beside.run().outcomes.values()) == {"passed"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("OTHER=(--a)", "bad: the script does not set MODEL_ARGS"),
        ("MODEL_ARGS='--a --b'", "bad: MODEL_ARGS is a string, not an array"),
        ("MODEL_ARGS=()", "bad: MODEL_ARGS is empty"),
        ("", "bad: the script does not set MODEL_ARGS"),
        ("exit 7", "bad: exited with status 7 before MODEL_ARGS could be read"),
        ("set -e\nfalse\nMODEL_ARGS=(--a)", "bad: exited with status 1 before MODEL_ARGS could be"),
        ("MODEL_ARGS=(--a", "bad: the script has a syntax error: "),
        ("MODEL_ARGS=(--a)\n--b 3", "bad: the flag --b stands outside of the array, bash ran it"),
        ("source nowhere.sh\nMODEL_ARGS=(--a)", "bad: the script reads nowhere.sh, which does not"),
    ],
)
def test_shell_array_that_gives_no_argv(beside: Project, content: str, expected: str) -> None:
    beside.write("scripts/models/bad.sh", content)

    lines = failure(beside, "bad.sh")

    assert lines[0].startswith(expected)
    assert any(line.startswith("  at: scripts/models/bad.sh") for line in lines)


def test_shell_array_that_makes_noise(beside: Project) -> None:
    beside.write("scripts/models/noisy.sh", f"echo noise\necho error >&2\nMODEL_ARGS=({PLAIN})")

    assert beside.run().outcomes == {
        **GOOD,
        "scripts/models/noisy.sh::test_declared[noisy]": "passed",
        "scripts/models/noisy.sh::test_expected[noisy]": "skipped",
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "bad: the argv file holds no tokens"),
        (b"--a '", "bad: the argv file is wrongly quoted in line 1: "),
        (b"--a \xff", "bad: the argv file is not UTF-8"),
        (b'"--a"\n--b', "bad: line 2 of the argv file is no JSON string, as line 1 is"),
    ],
)
def test_argv_file_that_gives_no_argv(beside: Project, content: bytes, expected: str) -> None:
    beside.ini(rope_contract_models=["scripts/models/*"])
    beside.write("scripts/models/bad.txt", content)

    lines = failure(beside, "bad.txt")

    assert lines[0].startswith(expected)
    assert lines[1].startswith("  at: scripts/models/bad.txt")


def test_two_definitions_with_one_name(beside: Project) -> None:
    beside.write("scripts/models/good.sh", f"MODEL_ARGS=({PLAIN})")

    lines = failure(beside, "good.sh", "good.sh")

    assert lines == [
        (
            "good.sh: two definitions are named 'good': "
            "scripts/models/good.py and scripts/models/good.sh"
        ),
        "  remedy: rename or remove one of them",
    ]


def test_many_definitions_with_one_name(project: Project) -> None:
    project.ini(rope_contract_models=["*/*.py"])
    for folder in "abcd":
        project.write(f"{folder}/one.py", f"def model_args(): return {PLAIN!r}")

    assert project.run("-k", "declared").outcomes == {
        "a/one.py::test_declared[one]": "passed",
        "b/one.py::test_declared[one.py]": "failed",
        "c/one.py::test_declared[one.py-2]": "failed",
        "d/one.py::test_declared[one.py-3]": "failed",
    }


def test_names_that_differ_only_in_case(beside: Project) -> None:
    beside.write("scripts/models/Good.sh", f"MODEL_ARGS=({PLAIN})")

    run = beside.run("-k", "declared")

    assert sorted(run.outcomes.values()) == ["failed", "passed"]
    (failed,) = [item for item, outcome in run.outcomes.items() if outcome == "failed"]
    assert "two definitions differ only in case: " in run.line(failed)


@pytest.mark.parametrize(
    ("file", "name"),
    [("my model.py", "my-model.py"), ("modèle.py", "mod-le.py"), ("+a.py", "x+a.py")],
)
def test_file_whose_name_cannot_name_a_definition(beside: Project, file: str, name: str) -> None:
    beside.write(f"scripts/models/{file}", f"def model_args(): return {PLAIN!r}")

    lines = failure(beside, file, name)

    assert lines[0].startswith(f"{name}: {file.removesuffix('.py')!r} cannot name a definition: ")


def test_token_with_a_space(beside: Project) -> None:
    beside.script("bad", f"return [*{PLAIN.split()!r}, '--rope-type rope']")

    run = beside.run("-k", "declared")

    text = run.text("scripts/models/bad.py::test_declared[bad]")
    assert (
        "spaced-token: bad: token 15, '--rope-type rope', has white space inside: "
        "on a command line it becomes 2 tokens" in text.splitlines()
    )


def test_base_that_is_no_whole_number(beside: Project) -> None:
    beside.model("bad", PLAIN.replace("10000", "1e6"))

    run = beside.run("-k", "declared")

    assert run.line("scripts/models/bad.py::test_declared[bad]") == (
        "rejected-flag: bad: megatron-core-0.19.2 refuses the command line: "
        "argument --rotary-base: invalid int value: '1e6'"
    )
    assert run.outcomes["scripts/models/good.py::test_declared[good]"] == "passed"


def test_flag_without_its_value(beside: Project) -> None:
    beside.model("bad", f"{PLAIN} --rotary-scaling-factor")

    assert beside.run("-k", "declared").line("scripts/models/bad.py::test_declared[bad]") == (
        "rejected-flag: bad: megatron-core-0.19.2 refuses the command line: "
        "argument --rotary-scaling-factor: expected one argument"
    )


def test_refused_model_is_a_broken_contract(beside: Project) -> None:
    beside.model("bad", PLAIN.replace("10000", "1e6"))
    beside.test('@rope_expect("rope", models=["bad"])\ndef test_it(): pass')

    run = beside.run()

    assert run.line("scripts/models/bad.py::test_expected[bad]") == (
        'expectation: bad: expected rope_expect("rope"), but nothing is built: '
        "argument --rotary-base: invalid int value: '1e6'"
    )


def test_text_that_is_no_unicode_does_not_end_the_run(beside: Project) -> None:
    beside.script("bad", f"return [*{PLAIN.split()!r}, '--x\\udc80']")

    for args in ((), ("-n2",)):
        run = beside.run("-k", "declared", "--rope-contract-report=report.json", *args)
        assert sorted(run.outcomes.values()) == ["failed", "passed"], run.out
        assert run.reported("bad")["argv"][-1] == "--x\\udc80"


def test_hook_registered_source_that_raises_is_one_failing_test(beside: Project) -> None:
    beside.conftest(
        "class Source:\n"
        "    def expand(self, overrides): raise ValueError('from a source')\n"
        "def pytest_ropecontract_models(registry): registry.add('bad', Source())"
    )

    run = beside.run()

    assert run.outcomes["pyproject.toml::test_declared[bad]"] == "failed"
    assert run.outcomes["scripts/models/good.py::test_declared[good]"] == "passed"


def test_summary_marks_the_broken_definition(beside: Project) -> None:
    beside.script("bad", "return None")

    (line,) = [line for line in beside.run().summary if line.startswith("bad ")]

    assert line.split() == ["bad", "-", "-", "-", "-", "-", "-", "-", "ERROR"]


@pytest.mark.parametrize(
    "body",
    ["raise ValueError('\\x1b[31m')", f"return {PLAIN.split()!r} + ['--\\x1b[31m']"],
    ids=["error", "flag"],
)
def test_control_characters_are_written_out(project: Project, body: str) -> None:
    project.script("hostile", body)

    text = project.run().text("scripts/models/hostile.py::test_declared[hostile]")

    assert "\\x1b[31m" in text
    assert "\x1b" not in text
