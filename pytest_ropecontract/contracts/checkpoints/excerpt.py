"""The part of a ``config.json`` that is about RoPE, with where it was published.

A file of this kind is a checkpoint like any other: it is read to the same outcome as the
whole, and says under ``ropecontract`` what it was taken from.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTE = "ropecontract"
"""The key under which a file says what it was taken from. transformers has none of this name."""
NOTE_KEYS = ("repo_id", "revision", "part", "note")
PART = "the RoPE part of the published config.json"
# Where multimodal models keep the config of their text model.
NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
# What identifies a model, and what the reader reads beside the RoPE itself.
_KEPT = frozenset(
    {
        "architectures",
        "model_type",
        "transformers_version",
        "compress_ratios",
        "global_head_dim",
        "head_dim",
        "hidden_size",
        "layer_types",
        "max_position_embeddings",
        "num_attention_heads",
        "num_hidden_layers",
        "original_max_position_embeddings",
        "partial_rotary_factor",
    }
)
_ABOUT_ROPE = re.compile(r"(^|_)(m?rope|rotary|yarn)(_|$)")


def excerpt(config: Mapping[str, Any], repo_id: str | None, revision: str | None) -> dict[str, Any]:
    """Return the part of a document that is about RoPE, and what identifies its model.

    Args:
        config: The content of a whole ``config.json``, or of one that is an excerpt already.
        repo_id: The repository that it is of, or None where that is not known.
        revision: The commit of the repository, or None.
    """
    note = {"repo_id": repo_id, "revision": revision, "part": PART}
    known = config.get(NOTE)
    if repo_id is None and isinstance(known, dict):
        note = {key: known.get(key) for key in NOTE_KEYS}
    return {NOTE: {key: value for key, value in note.items() if value is not None}, **_kept(config)}


def _kept(config: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in config.items():
        if key in NESTED:
            kept[key] = _kept(value) if isinstance(value, dict) else value
        elif key in _KEPT or _ABOUT_ROPE.search(key):
            kept[key] = value
    return kept


def dump(content: Mapping[str, Any]) -> str:
    """Write an excerpt as the text of a file; lists of plain values take one line."""
    return f"{_dumped(content, '')}\n"


def _dumped(value: Any, indent: str) -> str:
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent}  "
    members = (
        f"{inner}{json.dumps(key, ensure_ascii=False)}: {_dumped(one, inner)}"
        for key, one in value.items()
    )
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"
