"""A checkpoint's file as a JSON document, or why it is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_ropecontract import reading
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from pathlib import Path

SIZE_LIMIT = 8 * 1024 * 1024
"""Bytes of a file that are read. A config.json has some kilobytes, with the lists of a
quantization some hundreds."""
REMEDY = "copy the checkpoint's config.json, or its RoPE part, here"


class CheckpointError(RopeContractError):
    """A checkpoint's file that cannot be read."""


def load(path: Path, name: str) -> dict[str, Any]:
    """Read a checkpoint's ``config.json``.

    Args:
        path: The file.
        name: What to call it in errors.

    Raises:
        CheckpointError: There is no such file, it cannot be read, is too large, is not
            JSON, or is no object; the headline says which.
    """
    try:
        content = reading.read(path, SIZE_LIMIT)
    except OSError as error:
        raise CheckpointError(f"{name} cannot be read: {error.strerror}", remedy=REMEDY) from None
    except reading.NotAFileError:
        raise CheckpointError(f"{name} is no file", remedy=REMEDY) from None
    except reading.TooLargeError:
        raise CheckpointError(
            f"{name} is too large: more than {SIZE_LIMIT // 1024**2} MB", remedy=REMEDY
        ) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CheckpointError(f"{name} is not UTF-8 text", remedy=REMEDY) from None
    return parse(text, name)


def parse(text: str, name: str) -> dict[str, Any]:
    """Read a document from JSON text.

    Raises:
        CheckpointError: Not JSON, cut off, nested too deeply, with a number that is none, a
            key that is given twice with two values, or no object.
    """
    try:
        # NaN and Infinity are no JSON, but Python writes them, and configs have them in
        # places that are not RoPE. Where they are, the value is refused.
        document = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or "Unterminated string" in error.msg
        state = "is empty" if not text.strip() else "is cut off" if cut else "is not JSON"
        where = "" if not text.strip() else f" at line {error.lineno}: {error.msg}"
        raise CheckpointError(f"{name} {state}{where}", remedy=REMEDY) from None
    except RecursionError:
        raise CheckpointError(f"{name} is nested too deeply", remedy=REMEDY) from None
    except _RepeatedKeyError as error:
        raise CheckpointError(
            f"{name} states {error} twice, with different values",
            remedy="keep the one that the checkpoint was trained with",
        ) from None
    except ValueError:
        # Python reads whole numbers of up to 4300 digits.
        raise CheckpointError(f"{name} has a number of too many digits", remedy=REMEDY) from None
    if not isinstance(document, dict):
        what = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
        raise CheckpointError(
            f"{name} is {what.get(type(document), 'a number')}, not an object", remedy=REMEDY
        )
    return document


class _RepeatedKeyError(Exception):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members; JSON readers do not agree on which of two is read."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise _RepeatedKeyError(repr(key))
        found[key] = value
    return found
