"""Which definition a launched command line names."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

# What is trained comes first; the others are copies of it.
CHECKPOINT_FLAGS = (
    "--hf-checkpoint",
    "--load",
    "--ref-load",
    "--pretrained-checkpoint",
    "--tokenizer-model",
)


def checkpoints(argv: Sequence[str]) -> dict[str, str]:
    """Return the flags of a command line that say what is trained, with their last values."""
    found: dict[str, str] = {}
    for at, token in enumerate(argv):
        flag, equals, value = token.partition("=")
        if flag in CHECKPOINT_FLAGS:
            if equals:
                found[flag] = value
            elif at + 1 < len(argv):
                found[flag] = argv[at + 1]
    return {flag: found[flag] for flag in CHECKPOINT_FLAGS if flag in found}


def named_by_path(path: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the definitions that a checkpoint's path names, sorted.

    The last part of the path counts that begins with the words of a definition's name, of
    which the longest: ``Kimi-K2-Thinking_torch_dist`` names ``kimi-k2-thinking``, not
    ``kimi-k2``. Case and punctuation do not count, but no word is divided: ``Kimi-K2.5``
    names ``kimi-k25`` and never ``kimi-k2``.
    """
    by_letters: dict[str, list[str]] = {}
    for name in names:
        by_letters.setdefault(_letters(name), []).append(name)
    for part in reversed(PurePosixPath(path).parts):
        words = re.split(r"[-_\s]+", part.rpartition("--")[2])
        for count in range(len(words), 0, -1):
            found = by_letters.get(_letters("".join(words[:count])))
            if found:
                return tuple(sorted(found))
    return ()


def expanded_in(argv: Sequence[str], expansions: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the definitions whose flags stand in a command line as a whole, sorted.

    Of several the longest counts: a variant contains what it is built on.
    """
    found = {
        name: len(tokens) for name, tokens in expansions.items() if tokens and _holds(argv, tokens)
    }
    longest = max(found.values(), default=0)
    return tuple(sorted(name for name, length in found.items() if length == longest))


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())


def _holds(argv: Sequence[str], tokens: Sequence[str]) -> bool:
    wanted = tuple(tokens)
    return any(
        tuple(argv[at : at + len(wanted)]) == wanted
        for at in range(len(argv) - len(wanted) + 1)
        if argv[at] == wanted[0]
    )
