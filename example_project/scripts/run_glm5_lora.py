"""Train low-rank adapters for GLM-5: the run of the base, with the flags of its LoRA variant."""

from __future__ import annotations

from dataclasses import dataclass

from ropeframe.launch import train


@dataclass
class Base:
    """What a run of GLM-5 consists of."""

    model: str = "glm5-744B-A40B"
    checkpoint: str = "/data/GLM-5-744B-A40B"
    gpus: int = 8


@dataclass
class Lora(Base):
    """What differs with adapters."""

    model: str = "glm5-744B-A40B_lora"
    lora_rank: int = 32


def execute_base(run: Base, flags: str = "", **overrides: int) -> None:
    train(
        run.model,
        run.checkpoint,
        run.gpus,
        f"--tensor-model-parallel-size 8 --sequence-parallel --micro-batch-size 1 {flags}",
        **overrides,
    )


def execute(run: Lora) -> None:
    execute_base(run, "--lr 1e-4", lora_rank=run.lora_rank)


if __name__ == "__main__":
    execute(Lora())
