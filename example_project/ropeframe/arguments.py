"""The command line: Megatron's options, the framework's own, and what is filled in after parsing.

Megatron and torch are imported by the functions that need them, so that the rest of this module
works without either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

DEFAULT_SEQ_LENGTH = 4096
BF16_CAPABILITY = (8, 0)


def add_rope_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the options that Megatron's own parser lacks; its ``extra_args_provider``."""
    rope = parser.add_argument_group("rope", "fields of MLATransformerConfig that have no flag")
    rope.add_argument(
        "--original-max-position-embeddings",
        type=int,
        default=4096,
        help="length in tokens that YaRN stretches from",
    )
    rope.add_argument(
        "--beta-fast",
        type=float,
        default=32,
        help="YaRN keeps frequencies that rotate at least this often over the original length",
    )
    rope.add_argument(
        "--beta-slow",
        type=float,
        default=1,
        help="YaRN interpolates frequencies that rotate at most this often over that length",
    )

    framework = parser.add_argument_group("ropeframe")
    framework.add_argument(
        "--rollout-batch-size", type=int, default=32, help="prompts sampled in one rollout"
    )
    framework.add_argument(
        "--lora-rank", type=int, default=0, help="rank of the adapters; 0 trains all weights"
    )
    framework.add_argument(
        "--hf-checkpoint", default=None, help="the published checkpoint that is trained"
    )
    return parser


def set_default_megatron_args(args: argparse.Namespace) -> argparse.Namespace:
    """Fill what the command line left open.

    An open rope type becomes YaRN for every model with multi-latent attention. A definition whose
    checkpoint uses plain RoPE must therefore say ``--rope-type rope``.
    """
    if args.rope_type is None:
        args.rope_type = "yarn" if args.multi_latent_attention else "rope"
    if args.seq_length is None:
        args.seq_length = DEFAULT_SEQ_LENGTH
    if args.max_position_embeddings is None:
        args.max_position_embeddings = args.seq_length
    return args


def validate_gpus(args: argparse.Namespace) -> argparse.Namespace:
    """Check that this machine can train the model.

    Raises:
        RuntimeError: It has no GPU, too few of them, or some without bfloat16.
    """
    import torch  # noqa: PLC0415

    if not torch.cuda.is_available():
        raise RuntimeError("training needs a GPU, and torch finds none")
    devices = torch.cuda.device_count()
    if args.tensor_model_parallel_size > devices:
        raise RuntimeError(
            f"--tensor-model-parallel-size {args.tensor_model_parallel_size} needs as many GPUs, "
            f"and torch finds {devices}"
        )
    for device in range(devices):
        capability = torch.cuda.get_device_capability(device)
        if capability < BF16_CAPABILITY:
            raise RuntimeError(
                f"GPU {device} has compute capability {capability}, and bfloat16 needs "
                f"{BF16_CAPABILITY}"
            )
    return args


def parse_args() -> argparse.Namespace:
    """Parse ``sys.argv`` as a training run does: parse, fill, validate."""
    from megatron.training import arguments as megatron_arguments  # noqa: PLC0415

    args = megatron_arguments.parse_args(
        extra_args_provider=add_rope_arguments, ignore_unknown_args=False
    )
    args = set_default_megatron_args(args)
    args = megatron_arguments.validate_args(args)
    return validate_gpus(args)
