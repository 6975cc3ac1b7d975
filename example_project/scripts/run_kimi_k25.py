"""Train Kimi-K2.5: convert its checkpoint once with ``prepare``, then ``execute``."""

from __future__ import annotations

import argparse

from ropeframe.launch import convert_checkpoint, run, train

MODEL = "kimi-k25"
CHECKPOINT = "/data/Kimi-K2.5"


def prepare(gpus: int = 8) -> None:
    run("mkdir -p /data && hf download --repo-type dataset org/prompts --local-dir /data/prompts")
    convert_checkpoint(MODEL, CHECKPOINT, gpus)


def execute(gpus: int = 8) -> None:
    train(
        MODEL,
        CHECKPOINT,
        gpus,
        "--tensor-model-parallel-size 8 --sequence-parallel --expert-model-parallel-size 8 "
        "--micro-batch-size 1 --global-batch-size 64 --lr 1e-6",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["prepare", "execute"])
    {"prepare": prepare, "execute": execute}[parser.parse_args().step]()
