"""The command itself: its version, its exit status, and what it loads."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from pytest_ropecontract import cli


def run(*argv: str, **options) -> subprocess.CompletedProcess[str]:
    """Run the installed console script."""
    script = Path(sys.executable).with_name("ropecontract")
    return subprocess.run(
        [str(script), *argv], check=False, capture_output=True, text=True, timeout=60, **options
    )


def test_version(capsys):
    """It is the version of the distribution."""
    with pytest.raises(SystemExit) as exited:
        cli.main(["--version"])

    assert exited.value.code == 0
    assert capsys.readouterr().out == f"ropecontract {metadata.version('pytest-ropecontract')}\n"


@pytest.mark.parametrize("argv", [[], ["surface"]], ids=["bare", "surface"])
def test_a_missing_command_is_a_usage_error(argv, capsys):
    """Nothing is guessed."""
    with pytest.raises(SystemExit) as exited:
        cli.main(argv)

    assert exited.value.code == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith("error: the following arguments are required: COMMAND")
    )


def test_an_interruption_has_its_own_exit_status(monkeypatch, capsys):
    """Control-C gives no traceback."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_ropecontract.megatron.surface_files.load_shipped", interrupt)

    assert cli.main(["surface", "list"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_the_script_runs():
    """The console script is installed and ends with the status that main returns."""
    listed = run("surface", "list")
    refused = run("surface", "show", "megatron-core-0.0")

    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.startswith("NAME ")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.splitlines()[0] == "no surface is named 'megatron-core-0.0'"


def test_a_reader_may_stop_early():
    """``ropecontract surface show NAME | head`` gives no traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        process = subprocess.run(
            [
                sys.executable,
                "-c",
                "from pytest_ropecontract.cli import main; raise SystemExit(main())",
                *("surface", "show", "megatron-core-0.19.2"),
            ],
            check=False,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    finally:
        os.close(writing)

    assert (process.returncode, process.stderr) == (141, "")


def test_importing_it_is_light():
    """Neither pytest nor anything heavy is loaded, also when surfaces are listed."""
    code = (
        "import sys; from pytest_ropecontract.cli import main; main(['surface', 'list']); "
        "print(*sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    ).stdout

    roots = {name.split(".")[0] for name in out.splitlines()[-1].split()}
    assert not roots & {
        "pytest",
        "_pytest",
        "hypothesis",
        "syrupy",
        "numpy",
        "torch",
        "huggingface_hub",
    }
    assert "megatron.training" not in out.splitlines()[-1].split()
