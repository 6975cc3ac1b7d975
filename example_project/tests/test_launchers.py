"""What launchers run beside training, and what their arguments change in it.

That they train what their definitions build is checked by ``test_launch`` under each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ropecontract.launch import RopeLaunch
    from pytest_ropecontract.snapshots.extension import RopeSnapshot

TWO_NODES = "scripts/run-glm4.7-flash-2nodes.sh"


@pytest.mark.parametrize(
    ("path", "function"),
    [
        (TWO_NODES, None),
        ("scripts/run_glm47_flash.py", "prepare"),
        ("scripts/run_glm47_flash.py", "execute"),
        ("scripts/run_joyai_llm_flash.py", "prepare"),
        ("scripts/run_joyai_llm_flash.py", "execute"),
        ("scripts/run_kimi_k25.py", "prepare"),
        ("scripts/run_kimi_k25.py", "execute"),
        ("scripts/run_glm5_lora.py", "execute"),
    ],
)
def test_what_is_run(
    path: str, function: str | None, rope_launch: RopeLaunch, rope_snapshot: RopeSnapshot
):
    """Every command with its flags, as it was written down."""
    launch = rope_launch.shell(path) if function is None else rope_launch.python(path, function)

    assert launch.recording == rope_snapshot


def test_two_nodes(rope_launch: RopeLaunch):
    """The other node joins over ssh before the run is submitted."""
    launch = rope_launch.shell(TWO_NODES, env={"WORKERS": "node-2"})
    (training,) = launch.training
    programs = [command.argv[0] for command in launch.commands]

    assert "--pipeline-model-parallel-size" in training.argv
    assert programs.index("ssh") < len(programs) - 1
    assert training.environment["NCCL_NVLS_ENABLE"] == "1"


def test_a_node_without_nvlink(rope_launch: RopeLaunch):
    """What the node's GPUs say decides over NVLS."""
    launch = rope_launch.given(answers={"nvidia-smi topo -m": "GPU0 X PHB"}).python(
        "scripts/run_kimi_k25.py", "execute", gpus=4
    )
    (training,) = launch.training

    assert training.environment["NCCL_NVLS_ENABLE"] == "0"


def test_adapters_share_the_flags_of_their_base(
    rope_launch: RopeLaunch, rope_expand: Callable[..., list[str]]
):
    """The LoRA launcher wraps the base's, and only adds to its flags."""
    (training,) = rope_launch.python("scripts/run_glm5_lora.py", "execute", lora_rank=8).training
    base = rope_expand("glm5-744B-A40B")

    assert list(training.argv[: len(base)]) == base
    assert training.argv[len(base) :][:2] == ("--lora-rank", "8")
