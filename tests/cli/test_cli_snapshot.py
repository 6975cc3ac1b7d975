"""``ropecontract snapshot import``: golden files become snapshots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract import cli

if TYPE_CHECKING:
    from pathlib import Path

ARGV = ["--num-layers", "2", "--moe-layer-freq", "[0]*1+[1]*1", "--qk-layernorm"]
TEXT = "--num-layers 2\n--moe-layer-freq '[0]*1+[1]*1'\n--qk-layernorm\n"
NEXT = "to write what the flags build: pytest --rope-contract --snapshot-update-new-only"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project with two models, and its golden files' folder."""
    # In a worker of pytest-xdist, syrupy takes a run of this process for that of a worker, too.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest]\n")
    (tmp_path / "scripts/models").mkdir(parents=True)
    (tmp_path / "golden").mkdir()
    for name in ("kimi-k2", "glm4.7-flash"):
        script = tmp_path / f"scripts/models/{name}.py"
        script.write_text(f"def model_args(): return {ARGV!r}\n")
    return tmp_path


def golden(root: Path, name: str, argv: list[str] = ARGV) -> None:
    lines = [json.dumps(token) for token in argv]
    (root / "golden" / name).write_text("\n".join(lines) + "\n")


def snapshot(root: Path, model: str) -> Path:
    return root / f"tests/rope_snapshots/{model}.ropeargs"


def test_every_golden_file_becomes_a_snapshot(root, capsys):
    golden(root, "kimi-k2")
    golden(root, "glm4.7-flash.txt")

    assert cli.main(["snapshot", "import", "golden"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "imported  glm4.7-flash.txt: tests/rope_snapshots/glm4.7-flash.ropeargs",
        "imported  kimi-k2: tests/rope_snapshots/kimi-k2.ropeargs",
        "",
        "2 imported, 0 left out",
        NEXT,
    ]
    assert snapshot(root, "kimi-k2").read_text() == TEXT
    assert snapshot(root, "glm4.7-flash").read_text() == TEXT


def test_what_is_left_out_is_named_with_the_reason(root, capsys):
    golden(root, "kimi-k2.json")
    golden(root, "kimi-k2.txt")
    golden(root, "kimi-k3.txt")
    (root / "golden/glm4.7-flash.txt").write_text('"--a"\nb\n')
    (root / "golden/.hidden").write_text("")

    assert cli.main(["snapshot", "import", "golden"]) == 1

    assert capsys.readouterr().out.splitlines() == [
        "left out  glm4.7-flash.txt: line 2 of the argv file is no JSON string, as line 1 is",
        "          write one JSON string a line, or plain tokens throughout",
        "imported  kimi-k2.json: tests/rope_snapshots/kimi-k2.ropeargs",
        "left out  kimi-k2.txt: kimi-k2.json is named after kimi-k2, too",
        "left out  kimi-k3.txt: no model is named 'kimi-k3'",
        "",
        "1 imported, 3 left out",
        NEXT,
    ]


BAD = {
    "empty": (b"", "the argv file holds no tokens"),
    "binary": (bytes(range(256)), "the argv file is not UTF-8: byte 0x80 in line 2"),
    "truncated": (b'"--a"\n"--', "line 2 of the argv file is no JSON string, as line 1 is"),
}


@pytest.mark.parametrize(("data", "problem"), BAD.values(), ids=BAD)
def test_a_bad_golden_file(root, capsys, data, problem):
    (root / "golden/kimi-k2.txt").write_bytes(data)

    assert cli.main(["snapshot", "import", "golden"]) == 1

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"left out  kimi-k2.txt: {problem}"
    assert lines[-2:] == ["0 imported, 1 left out", "models without a golden file: glm4.7-flash"]
    assert not snapshot(root, "kimi-k2").exists()


def test_a_folder_among_the_golden_files(root, capsys):
    (root / "golden/kimi-k2").mkdir()

    assert cli.main(["snapshot", "import", "golden"]) == 1
    assert capsys.readouterr().out.startswith(
        "left out  kimi-k2: the path is a folder, not an argv file\n"
    )


def test_a_snapshot_that_is_there_is_overwritten_only_by_force(root, capsys):
    golden(root, "kimi-k2", [*ARGV, "--swiglu"])
    path = snapshot(root, "kimi-k2")
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)

    assert cli.main(["snapshot", "import", "golden"]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        (
            "left out  kimi-k2: tests/rope_snapshots/kimi-k2.ropeargs is there and differs: "
            "--swiglu was added"
        ),
        "          overwrite it with --force, or remove one of them",
    ]
    assert path.read_text() == TEXT

    assert cli.main(["snapshot", "import", "golden", "--force"]) == 0
    assert capsys.readouterr().out.startswith("replaced  kimi-k2: ")
    assert path.read_text() == f"{TEXT}--swiglu\n"

    assert cli.main(["snapshot", "import", "golden"]) == 0
    assert capsys.readouterr().out.startswith("the same  kimi-k2: ")


def test_a_bad_snapshot_is_overwritten_only_by_force(root, capsys):
    golden(root, "kimi-k2")
    path = snapshot(root, "kimi-k2")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff")

    assert cli.main(["snapshot", "import", "golden"]) == 1
    assert "is there and differs: it is not UTF-8: byte 0xff in line 1" in capsys.readouterr().out
    assert cli.main(["snapshot", "import", "golden", "--force"]) == 0
    assert path.read_text() == TEXT


def test_a_folder_in_the_way(root, capsys):
    golden(root, "kimi-k2")
    snapshot(root, "kimi-k2").mkdir(parents=True)

    assert cli.main(["snapshot", "import", "golden", "--force"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == (
        "left out  kimi-k2: tests/rope_snapshots/kimi-k2.ropeargs cannot be written: Is a directory"
    )


def test_the_ini_file_names_the_folder(root, capsys):
    (root / "other.toml").write_text('[tool.pytest]\nrope_contract_snapshots = "kept"\n')
    golden(root, "kimi-k2")

    assert cli.main(["snapshot", "import", "golden", "-c", "other.toml"]) == 0
    assert (root / "kept/kimi-k2.ropeargs").read_text() == TEXT
    assert "imported  kimi-k2: kept/kimi-k2.ropeargs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("folder", "problem"),
    [("nowhere", "there is no folder 'nowhere'"), ("golden", "'golden' holds no files")],
)
def test_a_folder_without_files(root, capsys, folder, problem):
    del root

    assert cli.main(["snapshot", "import", folder]) == 2
    assert capsys.readouterr().err == f"{problem}\n"


def test_a_project_that_moves_over_sees_no_difference(pytester, root):
    """The flags are those of the golden files; only what they build is new."""
    golden(root, "kimi-k2")
    golden(root, "glm4.7-flash")
    cli.main(["snapshot", "import", "golden"])

    args = ("--rope-contract", "--snapshot-update-new-only", "-k", "test_snapshot")
    run = pytester.runpytest_inprocess("-p", "no:randomly", *args)

    run.assert_outcomes(passed=2, deselected=6)
    run.stdout.fnmatch_lines(["2 snapshots passed. 2 snapshots generated."])
