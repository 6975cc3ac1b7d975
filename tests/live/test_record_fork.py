"""Recording a source checkout of a fork, with the options that a framework adds."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from likeness import live_megatron

from pytest_ropecontract.megatron.comparison import compare
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface_files import load_file
from pytest_ropecontract.rope.resolution import resolve

if TYPE_CHECKING:
    from pytest_ropecontract.megatron.surface import Surface
    from pytest_ropecontract.rope.resolution import Resolution

FRAME = """
def add(parser):
    parser.add_argument("--beta-slow", type=float, default=1)
"""
SCRIPT = "import sys; from pytest_ropecontract.cli import main; sys.exit(main())"
MLA = (
    *("--num-layers", "4", "--hidden-size", "64", "--num-attention-heads", "4", "--swiglu"),
    *("--multi-latent-attention", "--rotary-scaling-factor", "40"),
)
git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of Megatron's sources with a flag of its own, and another default of its class."""
    folder = tmp_path_factory.mktemp("fork")
    spec = importlib.util.find_spec("megatron.core")
    assert spec is not None
    package = Path(str(spec.origin)).parent.parent
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "tests")
    shutil.copytree(package, folder / "megatron", ignore=ignored)
    arguments = folder / "megatron" / "training" / "arguments.py"
    text = arguments.read_text(encoding="utf-8")
    marker = "def _add_mla_args(parser):\n"
    assert marker in text
    arguments.write_text(
        text.replace(
            marker, f"{marker}    parser.add_argument('--beta-fast', type=float, default=32)\n"
        ),
        encoding="utf-8",
    )
    config = folder / "megatron" / "core" / "transformer" / "transformer_config.py"
    text = config.read_text(encoding="utf-8")
    assert "original_max_position_embeddings: int = 4096" in text
    config.write_text(
        text.replace(
            "original_max_position_embeddings: int = 4096",
            "original_max_position_embeddings: int = 8192",
        ),
        encoding="utf-8",
    )
    (folder / "fork_frame.py").write_text(FRAME, encoding="utf-8")
    run = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "fork"]):
        subprocess.run([*run, *command], cwd=folder, check=True)
    return folder


def command(checkout: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    extra = ("--pythonpath", str(checkout), "--arguments", "fork_frame:add")
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, "surface", *argv, *extra],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )


@pytest.fixture(scope="module")
def path(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("recorded") / "fork.json"
    done = command(checkout, "record", "-o", str(target))
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def surface(path: Path) -> Surface:
    return load_file(path)


@git
def test_it_says_where_it_comes_from(surface: Surface, checkout: Path):
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=checkout, check=True, capture_output=True, text=True
    ).stdout.strip()

    assert surface.source.distribution is None
    assert surface.source.revision == commit
    assert surface.source.arguments == ("fork_frame:add",)
    release = live_megatron().surface.version
    assert surface.version in (release, f"{release}+{commit[:7]}")
    assert surface.name == f"megatron-core-{release}+{commit[:8]}+fork_frame"


@git
def test_no_path_of_the_machine_is_in_it(path: Path, checkout: Path):
    assert str(checkout) not in path.read_text(encoding="utf-8")


@git
def test_it_differs_from_the_release_in_what_the_fork_changed(surface: Surface):
    found = compare(live_megatron().surface, surface)

    assert {(one.part, one.subject, one.change, one.aspect) for one in found} == {
        ("options", "--beta-fast", "added", None),
        ("options", "--beta-slow", "added", None),
        (
            "classes",
            "MLATransformerConfig.original_max_position_embeddings",
            *("changed", "default"),
        ),
    }


@git
def test_its_flags_reach_the_embedding(surface: Surface):
    def outcome(*more: str) -> Resolution:
        # The framework's function is in the recording, and is not called again.
        settings = PipelineSettings(arguments=("fork_frame:add",))
        return resolve(Pipeline(RecordedMegatron(surface), settings), [*MLA, *more])

    rope = outcome("--beta-fast", "4", "--beta-slow", "2").rope

    assert rope is not None
    assert (rope.beta_fast, rope.beta_slow) == (4.0, 2.0)
    assert rope.original_max_position_embeddings == 8192
    assert outcome("--beta-fast", "4").origins["beta_fast"] == "declared"


@git
def test_verify_holds_it_against_the_fork(path: Path, checkout: Path):
    done = command(checkout, "verify", str(path))

    assert (done.returncode, done.stdout.count("\n")) == (0, 1), done.stderr
