"""A run of pytest against the live Megatron, in one process and in several."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from likeness import live_megatron

from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings

if TYPE_CHECKING:
    from pathlib import Path

SIZES = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --swiglu"
MODELS = {
    "plain": f"{SIZES} --position-embedding-type rope --rotary-base 50000",
    "latent": f"{SIZES} --multi-latent-attention --rope-type yarn --rotary-scaling-factor 40",
    "implicit": f"{SIZES} --multi-latent-attention",
    "refused": f"{SIZES} --multi-latent-attention --rope-type rope --position-embedding-type rope",
}
NOISE = re.compile(r"[Ww]arning|WARN|INFO|apex|[Tt]ransformer.?[Ee]ngine|CUDA|[Tt]riton")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    models = tmp_path / "models"
    models.mkdir()
    for name, text in MODELS.items():
        (models / f"{name}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nrope_contract_models = models/*.txt\nfilterwarnings = error\n", encoding="utf-8"
    )
    return tmp_path


def outcome(project: Path, *argv: str) -> tuple[int, list[str], str]:
    """Return the exit status, the outcomes by node id, and all that was printed."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", _plugin(), "-p", "no:randomly"),
            *("-p", "no:cacheprovider", "--rope-contract", "-rA", "-q", *argv),
        ],
        cwd=project,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.stderr == ""
    lines = re.findall(
        r"^(?:PASSED|FAILED|SKIPPED|XFAIL|ERROR) models\S+", done.stdout, re.MULTILINE
    )
    return done.returncode, sorted(lines), done.stdout


def _plugin() -> str:
    points = {point.name for point in metadata.entry_points(group="pytest11")}
    return "ropecontract" if "ropecontract" in points else "pytest_ropecontract.plugin"


def test_live_gives_what_recorded_gives_and_no_noise(project: Path):
    live = outcome(project, "--rope-contract-surface=live")
    recorded = outcome(project, f"--rope-contract-surface={live_megatron().surface.name}")

    assert live[:2] == recorded[:2]
    assert "FAILED models/implicit.txt::test_declared[implicit]" in live[1]
    assert "PASSED models/plain.txt::test_declared[plain]" in live[1]
    # Beside the words of the contracts nothing is said, of what Megatron says on its import.
    assert not NOISE.search(live[2])


def test_several_processes_give_the_same(project: Path):
    pytest.importorskip("xdist")

    one = outcome(project, "--rope-contract-surface=live", "-n0")
    several = outcome(project, "--rope-contract-surface=live", "-n2")

    assert several[:2] == one[:2]
    assert not NOISE.search(several[2])


def test_a_parser_is_built_once(monkeypatch: pytest.MonkeyPatch):
    live = live_megatron()
    built = []
    original = type(live).new_parser
    monkeypatch.setattr(type(live), "new_parser", lambda self: (built.append(1), original(self))[1])

    pipeline = Pipeline(live, PipelineSettings())
    for text in MODELS.values():
        pipeline.parse(text.split())

    assert built == [1]
