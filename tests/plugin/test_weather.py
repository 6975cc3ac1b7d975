"""Runs on machines that are short of something: space, rights, an encoding, a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from plugin_project import PLAIN, REPORT, YARN, Project

if TYPE_CHECKING:
    from pathlib import Path

RUN = ("-m", "pytest", "-p", "no:randomly", "--rope-contract", "--rope-contract-examples=5", REPORT)
OWN_MOUNTS = ("unshare", "--mount", "sh", "-ec")
READ_ONLY = 'mount --bind "$0" "$0"; mount -o remount,ro,bind "$0"; exec "$@"'
FULL = 'mount -t tmpfs -o size=4k none "$0"; head -c 4096 /dev/zero > "$0/rest"; exec "$@"'


def can_mount(tmp_path: Path) -> bool:
    """Return whether this process may mount for its children: as root, outside of containers."""
    try:
        tried = subprocess.run(
            [*OWN_MOUNTS, READ_ONLY, tmp_path, "true"], capture_output=True, check=False
        )
    except FileNotFoundError:
        return False
    return tried.returncode == 0


@pytest.fixture
def mounting(tmp_path: Path) -> None:
    if not can_mount(tmp_path):
        pytest.skip("this machine lets the tests mount nothing")


@pytest.fixture
def models(project: Project) -> Project:
    """Give a project whose models pass, with a contract."""
    project.model("plain")
    project.write("scripts/models/shell.sh", f"MODEL_ARGS=({PLAIN})\n")
    project.ini(rope_contract_models=["scripts/models/*"])
    project.write("scripts/models/tokens.txt", PLAIN.replace(" ", "\n") + "\n")
    project.test('@rope_expect("rope", models=["*"])\ndef test_it(): pass\n')
    return project


def started(
    project: Project, *arguments: str, before: tuple[str | Path, ...] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a process of its own."""
    done = subprocess.run(
        [*before, sys.executable, *RUN, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=project.root,
        env={**os.environ, **variables},
        encoding="utf-8",
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


def names(project: Project) -> list[str]:
    """Return the models that the report knows, all without an error."""
    models = json.loads((project.root / "report.json").read_text(encoding="utf-8"))["models"]
    assert [model["name"] for model in models if model["error"]] == []
    return [model["name"] for model in models]


ALL = ["plain", "shell", "tokens"]


@pytest.mark.usefixtures("mounting")
def test_read_only_checkout(models: Project, tmp_path: Path):
    report = tmp_path / "report.json"

    done = started(
        models,
        *("-W", "ignore::pytest.PytestCacheWarning", f"--rope-contract-report={report}"),
        before=(*OWN_MOUNTS, READ_ONLY, models.root),
    )

    assert "--rope-contract-report: report.json cannot be written: Read-only file system" in (
        done.stdout
    )
    assert [model["name"] for model in json.loads(report.read_text())["models"]] == ALL


@pytest.mark.usefixtures("mounting")
def test_read_only_home(models: Project, tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()

    done = started(models, before=(*OWN_MOUNTS, READ_ONLY, home), HOME=str(home))

    assert (done.returncode, names(models)) == (0, ALL), done.stdout


@pytest.mark.usefixtures("mounting")
def test_full_temporary_folder(models: Project, tmp_path: Path):
    full = tmp_path / "full"
    full.mkdir()

    done = started(models, before=(*OWN_MOUNTS, FULL, full), TMPDIR=str(full))

    assert (done.returncode, names(models)) == (0, ALL), done.stdout


def test_temporary_folder_with_an_unusual_name(models: Project, tmp_path: Path):
    folder = tmp_path / "für alle, 全部"
    folder.mkdir()

    done = started(models, TMPDIR=str(folder))

    assert (done.returncode, names(models)) == (0, ALL), done.stdout
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("coercion", ["0", "1"])
def test_locale_of_c(models: Project, coercion: str):
    models.script("plain", f"return {PLAIN!r}  # größer")

    done = started(models, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE=coercion)

    assert (done.returncode, names(models)) == (0, ALL), done.stdout


def test_project_folder_with_an_unusual_name(models: Project):
    moved = models.root / "ein Projekt, 全部"
    moved.mkdir()
    for name in ("pyproject.toml", "scripts", "tests"):
        (models.root / name).rename(moved / name)
    models.root = moved

    done = started(models)

    assert (done.returncode, names(models)) == (0, ALL), done.stdout


def test_project_behind_a_symbolic_link(models: Project, tmp_path: Path):
    plain = started(models)
    direct = (models.root / "report.json").read_bytes()
    (models.root / "report.json").unlink()
    link = tmp_path / "link"
    link.symlink_to(models.root, target_is_directory=True)

    done = started(models, f"--rootdir={link}", str(link))

    assert (plain.returncode, done.returncode) == (0, 0), done.stdout
    assert (models.root / "report.json").read_bytes() == direct


def test_definition_behind_a_symbolic_link(models: Project):
    target = models.root / "elsewhere.py"
    (models.root / "scripts/models/plain.py").rename(target)
    (models.root / "scripts/models/plain.py").symlink_to(target)

    done = started(models)

    assert (done.returncode, names(models)) == (0, ALL), done.stdout


@pytest.mark.parametrize("name", ["plain.py", "tokens.txt"])
def test_line_ends_of_windows(models: Project, name: str):
    path = models.root / "scripts/models" / name
    before = started(models)
    whole = (models.root / "report.json").read_bytes()
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    done = started(models)

    assert (before.returncode, done.returncode) == (0, 0), done.stdout
    assert (models.root / "report.json").read_bytes() == whole


def test_line_ends_of_windows_in_a_shell_array_are_said(models: Project):
    models.write("scripts/models/shell.sh", f"MODEL_ARGS=({PLAIN})\r\n")

    done = started(models, "-k", "test_declared")

    assert (
        "shell: the script has Windows line ends, which bash takes for part of the flags"
        in done.stdout.splitlines()
    )


def test_file_name_of_255_bytes(models: Project):
    models.write(f"scripts/models/{'m' * 251}.txt", PLAIN)

    done = started(models)

    assert (done.returncode, names(models)) == (0, ["m" * 251, *ALL]), done.stdout


def test_no_bytecode(models: Project):
    done = started(models, PYTHONDONTWRITEBYTECODE="1")

    assert (done.returncode, names(models)) == (0, ALL), done.stdout
    assert list(models.root.rglob("*.pyc")) == []


def test_worker_that_is_killed_does_not_take_the_others_along(models: Project):
    models.model("deadly", PLAIN)
    models.conftest(
        "import os, signal\n"
        # Whoever runs the tests in the background may have it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def pytest_runtest_call(item):\n"
        "    if item.name == 'test_declared[deadly]':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )

    done = started(models, "-n2", "--max-worker-restart=4")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "worker 'gw" in done.stdout
    assert set(ALL) <= set(names(models))


def test_interrupted_run_leaves_the_report_of_the_run_before(models: Project):
    assert started(models).returncode == 0
    before = (models.root / "report.json").read_bytes()
    models.conftest(
        "import time\n"
        "def pytest_runtest_call(item):\n"
        "    if 'test_expected' in item.name:\n"
        "        open('reached', 'w').close()\n"
        "        time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, *RUN],
        cwd=models.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        while running.poll() is None and not (models.root / "reached").exists():
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)

    assert (models.root / "report.json").read_bytes() == before
    assert [path.name for path in models.root.glob("*report*")] == ["report.json"]


def test_interrupted_update_leaves_whole_snapshots_and_a_whole_report(models: Project):
    models.conftest(
        "import os, signal\n"
        # Whoever runs the tests in the background may have it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def pytest_runtest_call(item):\n"
        "    if item.name == 'test_snapshot[tokens]':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
    )
    folder = models.root / "tests/rope_snapshots"

    done = started(models, "--snapshot-update", "-k", "test_declared or test_snapshot")
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}

    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout
    assert {"plain.ropeargs", "plain.ropeconfig", "shell.ropeargs"} <= kept.keys()
    assert set(names(models)) <= set(ALL)
    (models.root / "conftest.py").unlink()
    assert started(models, "--snapshot-update", "-k", "test_snapshot").returncode == 0
    assert {name: (folder / name).read_bytes() for name in kept} == kept


def test_what_failed_is_run_first_across_changes(models: Project):
    models.model("plain", YARN)
    failing = "scripts/models/plain.py::test_expected[plain]"
    assert started(models, "-q").returncode == pytest.ExitCode.TESTS_FAILED

    again = started(models, "-q", "--lf", "-rA")
    stepped = started(models, "-q", "--sw", "-rA")
    models.model("plain")
    healed = started(models, "-q", "--lf")

    assert f"FAILED {failing}" in again.stdout
    assert "Test failed, continuing from this test next run" in stepped.stdout
    assert "1 failed in " in stepped.stdout
    assert "scripts/models/shell.sh" not in again.stdout.partition("short test summary")[2]
    assert healed.returncode == pytest.ExitCode.OK, healed.stdout
