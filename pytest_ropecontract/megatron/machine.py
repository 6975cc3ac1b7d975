"""What a machine without GPU and TransformerEngine lacks, made good for the moment.

Megatron's config refuses fusions whose kernels cannot be imported. That says something
about the machine, not about the model, so exactly these checks are satisfied; every
refusal that a training machine would meet stays.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterator

KERNELS = (
    (
        "megatron.core.models.common.embeddings.rope_utils",
        ("fused_apply_rotary_pos_emb", "fused_apply_rotary_pos_emb_thd"),
    ),
    (
        "megatron.core.transformer.moe.moe_utils",
        (
            "fused_permute",
            "fused_permute_with_probs",
            "fused_sort_chunks_by_index",
            "fused_sort_chunks_by_index_with_probs",
            "fused_unpermute",
        ),
    ),
)
TE_VERSION_CHECKS = ("megatron.core.utils", "megatron.core.transformer.transformer_config")
HOPPER = (9, 0)


@contextlib.contextmanager
def with_training_kernels() -> Iterator[None]:
    """Let checks for TransformerEngine kernels pass, as on a training machine."""
    with contextlib.ExitStack() as stack:
        for module_name, names in KERNELS:
            module = importlib.import_module(module_name)
            for name in names:
                if getattr(module, name, None) is None:
                    stack.enter_context(mock.patch.object(module, name, object(), create=True))
        for module_name in TE_VERSION_CHECKS:
            module = importlib.import_module(module_name)
            stack.enter_context(
                mock.patch.object(module, "is_te_min_version", _always, create=True)
            )
        yield


def _always(*_: Any, **__: Any) -> bool:
    return True


@contextlib.contextmanager
def with_cpu_as_gpu() -> Iterator[None]:
    """Let code that asks torch for the current GPU get the CPU."""
    torch = importlib.import_module("torch")
    with (
        mock.patch.object(torch.cuda, "current_device", return_value=torch.device("cpu")),
        mock.patch.object(torch.cuda, "get_device_capability", return_value=HOPPER),
    ):
        yield


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Capture what code prints, warns and logs, and restore all that it changes.

    Restored are the environment, the root logger's level and handlers, the warnings
    filters and ``sys.argv``.
    """
    output = io.StringIO()
    environment = dict(os.environ)
    root = logging.getLogger()
    level, handlers, disabled = root.level, list(root.handlers), logging.root.manager.disable
    argv = list(sys.argv)
    try:
        with (
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
            # Recorded, so that code which sets filters of its own is silent too.
            warnings.catch_warnings(record=True),
        ):
            warnings.simplefilter("ignore")
            logging.disable(logging.CRITICAL)
            yield output
    finally:
        logging.disable(disabled)
        root.setLevel(level)
        root.handlers[:] = handlers
        sys.argv[:] = argv
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
