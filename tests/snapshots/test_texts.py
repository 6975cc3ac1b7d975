"""What the kinds of snapshots say."""

from __future__ import annotations

import dataclasses
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from pytest_ropecontract.launchers.recording import Command, Recording, Stop
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.recorded import RecordedMegatron
from pytest_ropecontract.megatron.surface_files import load_shipped
from pytest_ropecontract.rope.config import FIELDS, RopeConfig
from pytest_ropecontract.rope.resolution import Refused, Source, resolve
from pytest_ropecontract.snapshots.texts import config_text, recording_text, resolution_text

ROOT = Path("/repo/project")
MLA = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --multi-latent-attention "
    "--q-lora-rank 8 --kv-lora-rank 8 --qk-head-dim 16 --qk-pos-emb-head-dim 8 --v-head-dim 16 "
    "--position-embedding-type rope --rotary-base 10000 --no-rope-fusion"
)


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    surface = load_shipped("megatron-core-0.19.2")
    return Pipeline(RecordedMegatron(surface), PipelineSettings())


def of(pipeline: Pipeline, argv: str) -> str:
    return resolution_text(resolve(pipeline, shlex.split(argv)), ROOT)


def test_every_value_has_its_origin(pipeline):
    lines = of(pipeline, f"{MLA} --rope-type yarn --mscale 0.5").splitlines()

    assert "kind: yarn (declared: --rope-type yarn)" in lines
    assert "mscale: 0.5 (declared: --mscale 0.5)" in lines
    assert "rotary_scaling_factor: 1 (parser-default: default of --rotary-scaling-factor)" in lines


def test_a_flag_that_is_lost_is_one_line(pipeline):
    """A default that happens to be the same is another origin."""
    declared = of(pipeline, f"{MLA} --rope-type yarn --mscale 1").splitlines()
    lost = of(pipeline, f"{MLA} --rope-type yarn").splitlines()

    assert [(a, b) for a, b in zip(declared, lost, strict=True) if a != b] == [
        (
            "mscale: 1 (declared: --mscale 1)",
            "mscale: 1 (parser-default: default of --mscale)",
        )
    ]


def test_what_is_refused_says_why(pipeline):
    text = of(pipeline, f"{MLA} --rotary-base x")

    assert text.splitlines()[0] == "refused: by parser (SystemExit)"
    assert "--rotary-base" in text


def test_a_refusal_names_no_folder_of_this_machine(pipeline):
    resolution = resolve(pipeline, shlex.split(MLA))
    refused = Refused("framework", "OSError", f"no {ROOT}/a.yaml\nat\x1b[0m")

    assert resolution_text(dataclasses.replace(resolution, rope=None, refused=refused), ROOT) == (
        "refused: by framework (OSError)\n  no a.yaml\n  at\\x1b[0m\n"
    )


def test_no_field_is_lost():
    """Also one that a later version adds: every value can be seen."""
    values = dict.fromkeys(FIELDS, 7)
    rope = RopeConfig(**{**values, "kind": "rope", "attention": "gpt"})

    assert [line.partition(":")[0] for line in config_text(rope).splitlines()] == list(FIELDS)


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("rotary_base", 1e6, "1000000"),
        ("rotary_base", 1000000.5, "1000000.5"),
        ("rotary_percent", 0.1 + 0.2, "0.30000000000000004"),
        ("magnitude", 1.3465735902799727, "1.34657"),
        ("rotary_base", float("inf"), "inf"),
        ("mrope_section", (16, 24, 24), "16 24 24"),
        ("no_rope_layers", (), "empty"),
        ("rotary_interleaved", False, "False"),
    ],
)
def test_values(field, value, shown):
    rope = RopeConfig("rope", "gpt", **{field: value})

    assert f"{field}: {shown}" in config_text(rope).splitlines()


def test_an_origin_is_one_line():
    text = config_text(RopeConfig("rope", "gpt"), {"kind": Source("declared", "--a x\ny")})

    assert text == "kind: rope (declared: --a x\\ny)\nattention: gpt\n"


TRAIN = ("python3", "/repo/project/train.py", "--rope-type", "rope", "--moe-layer-freq", "[0]*2")


def test_a_recording():
    scratch = f"{tempfile.gettempdir()}/launch-x1"
    recording = Recording(
        commands=(
            Command(("mkdir", "-p", f"{scratch}/logs"), origin="run.sh:3"),
            Command(
                ("ray", "job", "submit", "--address", "http://127.0.0.1:8265", "--", *TRAIN),
                environment={"PYTHONPATH": "/repo/project:/other", "A": "b c"},
                folder="sub",
                stdin="yes\nno",
            ),
        ),
        files={"out/env.sh": "export X=1\n\n", "a": f"see {scratch}/logs and {scratch}-2/logs\n"},
        stdout="done\n",
        stderr="bash: warning",
        missing_layers=("no Landlock",),
    )

    assert recording_text(recording, ROOT) == (
        "$ mkdir\n"
        "    -p <scratch>/logs\n"
        "$ ray job submit\n"
        "    --address http://127.0.0.1:8265\n"
        "    -- python3 <project>/train.py\n"
        "    --rope-type rope\n"
        "    --moe-layer-freq '[0]*2'\n"
        "  env A='b c'\n"
        "  env PYTHONPATH=<project>:/other\n"
        "  folder sub\n"
        "  stdin\n"
        "    | yes\n"
        "    \\ no\n"
        "file a\n"
        "  | see <scratch>/logs and <scratch-2>/logs\n"
        "file out/env.sh\n"
        "  | export X=1\n"
        "  |\n"
        "stdout\n"
        "  | done\n"
        "exit 0\n"
    )


def test_a_recording_on_another_machine_is_the_same():
    def recorded(root: str, scratch: str) -> str:
        argv = (sys.executable, f"{root}/train.py", "--save", f"{scratch}/ckpt", "~/x")
        command = Command(argv, folder=scratch, environment={"HF_HOME": f"{Path.home()}/hf"})
        return recording_text(Recording((command,)), Path(root))

    one = recorded("/a/b", f"{tempfile.gettempdir()}/one")

    assert one == recorded("/c", f"{tempfile.gettempdir()}/two.3")
    assert one.splitlines()[0] == "$ <python> <project>/train.py"


def test_the_folder_of_a_python_that_everybody_has_is_shown(monkeypatch):
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    recording = Recording((Command(("x", f"{sys.prefix}/share")),))

    assert recording_text(recording, ROOT).splitlines()[0].endswith("/share")
    assert "<environment>" not in recording_text(recording, ROOT)


def test_a_folder_that_only_begins_alike_is_no_placeholder():
    text = recording_text(
        Recording((Command(("x", "/repo/project2/a", "/my/repo/project")),)), ROOT
    )

    assert text.splitlines()[0] == "$ x /repo/project2/a /my/repo/project"


def test_a_token_that_looks_like_a_placeholder_is_told_apart():
    text = recording_text(Recording((Command(("x", "<project>")),)), ROOT)

    assert text.splitlines()[0] == "$ x '<project>'"


def test_a_launcher_that_was_stopped_says_why():
    recording = Recording(stop=Stop("it writes outside", "run.sh:3"), returncode=None)

    assert recording_text(recording) == "stopped: it writes outside\n"


def test_a_flag_more_is_a_line_more():
    before = recording_text(Recording((Command(TRAIN),)), ROOT).splitlines()
    after = recording_text(
        Recording((Command((*TRAIN[:4], "--beta-fast", "1", *TRAIN[4:])),)), ROOT
    ).splitlines()

    assert [line for line in after if line not in before] == ["    --beta-fast 1"]
    assert [line for line in before if line not in after] == []
