"""Runs in surroundings that take something away, or that forgive nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from plugin_project import PLAIN, REPORT, YARN, Project

OUTCOMES = {
    "tests/test_contracts.py::test_it": "passed",
    "tests/test_contracts.py::test_config[plain]": "passed",
    "tests/test_contracts.py::test_config[stretched]": "passed",
    "tests/test_contracts.py::test_wrong": "failed",
    "scripts/models/plain.py::test_declared[plain]": "passed",
    "scripts/models/plain.py::test_expected[plain]": "passed",
    "scripts/models/stretched.py::test_declared[stretched]": "passed",
    "scripts/models/stretched.py::test_expected[stretched]": "failed",
    "scripts/models/broken.py::test_declared[broken]": "failed",
    "scripts/models/broken.py::test_expected[broken]": "skipped",
    "scripts/models/shell.sh::test_declared[shell]": "passed",
    "scripts/models/shell.sh::test_expected[shell]": "skipped",
}


@pytest.fixture
def surrounded(project: Project) -> Project:
    """Give a project with something of everything."""
    project.model("plain")
    project.model("stretched", YARN)
    project.script("broken", "return None")
    project.write("scripts/models/shell.sh", f"MODEL_ARGS=({PLAIN})")
    project.test(
        '@rope_expect("rope", models=["plain"])\ndef test_it(): pass\n'
        '@rope_expect("rope", models=["stretched"])\ndef test_wrong(): pass\n'
        '@pytest.mark.parametrize("rope_model", ["plain", "stretched"])\n'
        "def test_config(rope_config): pass\n"
    )
    return project


@pytest.mark.parametrize(
    "args",
    [
        ("-W", "error"),
        ("-p", "no:cacheprovider"),
        ("-p", "no:syrupy"),
        ("-p", "no:hypothesispytest"),
        ("-p", "no:xdist"),
        ("-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:syrupy"),
        ("-p", "no:junitxml", "-p", "no:doctest", "-p", "no:unittest"),
        ("-p", "no:pythonpath"),
        ("-p", "no:capture", "-p", "no:logging"),
        ("--assert=plain",),
        ("--strict-markers",),
        ("--import-mode=importlib",),
        ("--import-mode=append",),
        ("-p", "no:stepwise", "-p", "no:skipping"),
        ("-p", "no:tmpdir", "-p", "no:monkeypatch", "-p", "no:recwarn", "-p", "no:legacypath"),
        ("-p", "no:warnings", "-p", "no:unraisableexception", "-p", "no:threadexception"),
        ("-p", "no:debugging", "-p", "no:pastebin", "-p", "no:faulthandler"),
        ("-p", "no:setuponly", "-p", "no:setupplan", "-p", "no:subtests", "-p", "no:reports"),
        ("--tb=no",),
        ("--tb=native",),
        ("--full-trace",),
        ("--setup-show",),
    ],
    ids=" ".join,
)
def test_same_outcomes(surrounded: Project, args: tuple[str, ...]) -> None:
    run = surrounded.run(*args)

    assert run.outcomes == OUTCOMES
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert "INTERNALERROR" not in run.out + run.err


def test_without_terminal(surrounded: Project) -> None:
    surrounded.ini(addopts=None)

    run = surrounded.run(REPORT, "-p", "no:terminal")

    assert run.outcomes == OUTCOMES
    assert len(run.report["models"]) == 4


def test_without_terminal_a_report_that_cannot_be_written_is_said(surrounded: Project) -> None:
    surrounded.conftest(
        "import pathlib\ndef pytest_sessionstart(): pathlib.Path('report.json').mkdir()"
    )

    run = surrounded.run(REPORT, "-p", "no:terminal")

    assert (
        "ERROR: --rope-contract-report: report.json cannot be written: Is a directory"
        in run.err.splitlines()
    )


def test_warnings_of_a_definition_do_not_fail_the_run(surrounded: Project) -> None:
    surrounded.script("plain", "import warnings; warnings.warn('old')", f"return {PLAIN!r}")

    assert surrounded.run("-W", "error").outcomes == OUTCOMES


def apart(project: Project, *options: str, **environment: str) -> str:
    """Run pytest in a fresh process with options of Python, and return what it prints."""
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, *options],
        check=False,
        capture_output=True,
        text=True,
        cwd=project.root,
        env=env,
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    return done.stdout + done.stderr


ITEMS = ("--rope-contract", "-k", "test_declared or test_expected or test_contracts")


@pytest.mark.parametrize(
    "options",
    [
        ("-O", "-m", "pytest"),
        ("-W", "error", "-X", "dev", "-m", "pytest"),
        ("-I", "-m", "pytest", "-p", "no:cacheprovider"),
    ],
    ids=" ".join,
)
def test_interpreter_with_options(surrounded: Project, options: tuple[str, ...]) -> None:
    out = apart(surrounded, *options, *ITEMS)

    assert "3 failed, 7 passed, 2 skipped" in out


def test_without_autoload(surrounded: Project) -> None:
    out = apart(
        surrounded,
        *("-m", "pytest", "-p", "pytest_ropecontract.plugin", "-W", "error", *ITEMS),
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )

    assert "3 failed, 7 passed, 2 skipped" in out


def test_loaded_by_name_without_autoload(surrounded: Project) -> None:
    out = apart(
        surrounded,
        *("-m", "pytest", *ITEMS),
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        PYTEST_PLUGINS="pytest_ropecontract.plugin",
    )

    assert "3 failed, 7 passed, 2 skipped" in out


def test_two_runs_in_one_process_do_not_share_state(surrounded: Project) -> None:
    assert surrounded.run("-k", "plain").counts == {"passed": 3}
    surrounded.model("plain", YARN)

    outcomes = surrounded.run("-k", "plain").outcomes

    assert outcomes["scripts/models/plain.py::test_expected[plain]"] == "failed"


def test_blocked_plugin_leaves_the_projects_own_tests(project: Project) -> None:
    project.model("plain")
    project.test("def test_own(): pass")

    assert project.run_without("-p", "no:ropecontract").counts == {"passed": 1}
