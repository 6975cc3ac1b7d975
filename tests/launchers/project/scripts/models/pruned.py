"""A model whose flags are printed."""

import os
import sys


def model_args() -> str:
    base = os.environ.get("ROTARY_BASE", "10000")
    return f"--num-layers 2 --moe-layer-freq [0]*1+[1]*1 --rotary-base {base}"


if __name__ == "__main__":
    sys.stdout.write(model_args() + "\n")
