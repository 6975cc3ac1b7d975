"""Importing Megatron: seen by nobody."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("megatron.training", exc_type=ImportError)

from likeness import live_megatron

from pytest_ropecontract.megatron.selection import choose

SCRIPT = """
import json, logging, os, sys, warnings

def state():
    root = logging.getLogger()
    return {
        "environment": dict(os.environ),
        "level": root.level,
        "handlers": [repr(handler) for handler in root.handlers],
        "disabled": logging.root.manager.disable,
        "filters": [repr(one) for one in warnings.filters],
        "argv": list(sys.argv),
        "hooks": [repr(sys.excepthook), repr(warnings.showwarning)],
    }

from pathlib import Path
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.rope.resolution import resolve

before = state()
imported = "torch" in sys.modules
megatron = choose("live", Path())
after_import = state()
argv = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --multi-latent-attention"
rope = resolve(Pipeline(megatron, PipelineSettings()), argv.split()).rope
after = state()
Path(sys.argv[1]).write_text(json.dumps([before, after_import, after, imported, rope.kind]))
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[object], str, str]:
    """What a fresh process had before the import, after it, and after a resolution."""
    target = tmp_path_factory.mktemp("import") / "state.json"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(target)], capture_output=True, text=True, check=True
    )
    found: list[object] = json.loads(target.read_text())
    return found, done.stdout, done.stderr


def test_the_import_leaves_everything_as_it_was(outcome: tuple[list[object], str, str]):
    before, after_import, *_ = outcome[0]

    assert after_import == before


def test_a_resolution_leaves_everything_as_it_was(outcome: tuple[list[object], str, str]):
    before, _, after, *_ = outcome[0]

    assert after == before


def test_nothing_is_printed(outcome: tuple[list[object], str, str]):
    assert outcome[1:] == ("", "")


def test_choosing_imports_and_nothing_before_it(outcome: tuple[list[object], str, str]):
    *_, imported, kind = outcome[0]

    assert (imported, kind) == (False, "yarn")


def test_one_process_has_one_live_megatron(tmp_path):
    assert choose("live", tmp_path) is live_megatron()


def test_auto_is_live_where_megatron_is_importable(tmp_path):
    assert choose("auto", tmp_path) is live_megatron()
