"""What launchers have in common: turning a definition into the commands that train it."""

from __future__ import annotations

import json
import runpy
import shlex
import subprocess
from pathlib import Path
from typing import Any

FRAMEWORK = Path(__file__).resolve().parents[1]


def run(command: str) -> None:
    """Run a command in a shell, and end where it fails."""
    subprocess.run(["/bin/bash", "-c", command], check=True)  # noqa: S603  # the launcher's own


def has_nvlink() -> bool:
    """Return whether the GPUs of this node are joined by NVLink."""
    found = subprocess.run(  # noqa: S602  # a fixed text
        "nvidia-smi topo -m 2>/dev/null | grep -c 'NV[0-9]' || true",  # noqa: S607  # the same
        shell=True,
        check=True,
        capture_output=True,
        text=True,
    )
    return int(found.stdout or 0) > 0


def model_args(model: str, **overrides: Any) -> str:
    """Return the flags of a definition, quoted for a command line."""
    path = FRAMEWORK / "scripts/models" / f"{model}.py"
    expanded = runpy.run_path(str(path))["model_args"](**overrides)
    return shlex.join(expanded.split() if isinstance(expanded, str) else expanded)


def convert_checkpoint(model: str, checkpoint: str, gpus: int, **overrides: Any) -> None:
    """Convert a published checkpoint into Megatron's format."""
    run(
        f"torchrun --nproc-per-node {gpus} {FRAMEWORK}/tools/convert_checkpoint.py "
        f"{model_args(model, **overrides)} --hf-checkpoint {checkpoint} "
        f"--save {checkpoint}_torch_dist"
    )


def train(  # what a run consists of
    model: str,
    checkpoint: str,
    gpus: int,
    flags: str = "",
    environment: dict[str, str] | None = None,
    **overrides: Any,
) -> None:
    """Start ray on this node, and submit a training run of a definition.

    Args:
        model: The definition's name.
        checkpoint: The published checkpoint; its converted form lies beside it.
        gpus: How many GPUs this node has.
        flags: What else the run is given.
        environment: Variables of the run; they reach no flag.
        overrides: Of the definition's ``model_args``.
    """
    run(f"ray stop --force; ray start --head --num-gpus {gpus} --disable-usage-stats")
    variables = {
        "CUDA_DEVICE_MAX_CONNECTIONS": "1",
        "NCCL_NVLS_ENABLE": str(int(has_nvlink())),
        **(environment or {}),
    }
    run(
        "ray job submit --address=http://127.0.0.1:8265 "
        f"--runtime-env-json={shlex.quote(json.dumps({'env_vars': variables}))} "
        f"-- python3 {FRAMEWORK}/train.py {model_args(model, **overrides)} "
        f"--hf-checkpoint {checkpoint} --load {checkpoint}_torch_dist {flags}"
    )
