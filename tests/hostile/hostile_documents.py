"""Files in place of JSON documents and snapshots, and what is said of each.

Nothing is said where the document is of use all the same. Of a surface and of a checkpoint it is
not always the same.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Documents: TypeAlias = dict[str, tuple[bytes, str, str | None]]
ROPE = b'{"rope_theta": 10000, "partial_rotary_factor": 1.0, "head_dim": 16'

# Name, content, what is said of it as a surface, and as a checkpoint.
DOCUMENTS: Documents = {
    "empty": (b"", "is not JSON", "is empty"),
    "blank": (b" \n\t", "is not JSON", "is empty"),
    "nul": (b"\0", "is not JSON", "is not JSON"),
    "nul-behind": (ROPE + b"}\0", "is cut off", "is not JSON"),
    "bom": (b"\xef\xbb\xbf" + ROPE + b"}", "is not JSON", ""),
    "utf-16": ((ROPE + b"}").decode().encode("utf-16"), "is not UTF-8 text", "is not UTF-8 text"),
    "utf-16-le": ((ROPE + b"}").decode().encode("utf-16-le"), "is cut off", "is not JSON"),
    "latin-1": (b'{"a": "\xe4"}', "is not UTF-8 text", "is not UTF-8 text"),
    "surrogate": (b'{"a": "\xed\xa0\x80"}', "is not UTF-8 text", "is not UTF-8 text"),
    "escaped-surrogate": (ROPE + b', "a": "\\ud800"}', "has schema None", ""),
    "gzip": (b"\x1f\x8b\x08\x00", "is not UTF-8 text", "is not UTF-8 text"),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(9), "is not JSON", "is not JSON"),
    "yaml": (b"rope_theta: 10000\n", "is not JSON", "is not JSON"),
    "python": (b"{'rope_theta': 10000}", "is not JSON", "is not JSON"),
    "html": (b"<!DOCTYPE html>", "is not JSON", "is not JSON"),
    "lfs-pointer": (b"version https://git-lfs.github.com/spec/v1\n", "is not JSON", "is not JSON"),
    "merge-conflict": (b"<<<<<<< HEAD\n{}\n", "is not JSON", "is not JSON"),
    "comment": (b"// a\n{}", "is not JSON", "is not JSON"),
    "trailing-comma": (ROPE + b",}", "is not JSON", "is not JSON"),
    "two-documents": (b"{}{}", "is not JSON", "is not JSON"),
    "cut": (ROPE, "is cut off", "is cut off"),
    "cut-in-a-text": (b'{"rope_th', "is cut off", "is cut off"),
    "cut-in-a-number": (b'{"rope_theta": 1', "is cut off", "is cut off"),
    "null": (b"null", "is a NoneType, not an object", "is null, not an object"),
    "true": (b"true", "is a bool, not an object", "is true or false, not an object"),
    "number": (b"1", "is a int, not an object", "is a number, not an object"),
    "text": (b'"a"', "is a str, not an object", "is a text, not an object"),
    "list": (b"[{}]", "is a list, not an object", "is a list, not an object"),
    "no-key": (b"{}", "has schema None", None),
    "nan": (b"NaN", "has an unusable number", "is a number, not an object"),
    "nan-theta": (b'{"rope_theta": NaN}', "has an unusable number", None),
    "infinite-theta": (b'{"rope_theta": Infinity}', "has an unusable number", None),
    "1e999-theta": (b'{"rope_theta": 1e999}', "has an unusable number", None),
    "many-digits": (b'{"a": ' + b"9" * 5_000 + b"}", "too many digits", "too many digits"),
    "many-digits-theta": (b'{"rope_theta": 1' + b"0" * 400 + b"}", "has schema None", None),
    "deep-lists": (b"[" * 100_000, "is nested too deeply", "is nested too deeply"),
    "deep-objects": (b'{"a":' * 100_000, "is nested too deeply", "is nested too deeply"),
    "nested-text-config": (b'{"text_config": ' * 900 + b"{}" + b"}" * 900, "has schema", None),
    "key-twice": (b'{"rope_theta": 1, "rope_theta": 2}', "has schema None", "states 'rope_theta'"),
    "key-of-escapes": (b'{"\\u001b[2J": 1, "\\u001b[2J": 2}', "has schema None", "twice, with"),
    "key-of-lines": (b'{"a\\nb": 1, "a\\nb": 2}', "has schema None", "twice, with different"),
    "long-key": (b'{"' + b"x" * 3_000_000 + b'": 1}', "has schema None", None),
    "many-keys": (
        b"{" + b",".join(b'"k%d": 0' % number for number in range(50_000)) + b"}",
        "has schema None",
        None,
    ),
    "too-large": (b" " * (9 * 1024 * 1024), "is too large", "is too large"),
    "theta-is-a-text": (b'{"rope_theta": "x"}', "has schema None", None),
    "theta-is-a-list": (b'{"rope_theta": [1]}', "has schema None", None),
    "theta-is-negative": (b'{"rope_theta": -1}', "has schema None", None),
    "theta-is-zero": (b'{"rope_theta": 0}', "has schema None", None),
    "theta-is-true": (b'{"rope_theta": true}', "has schema None", None),
    "scaling-is-a-list": (b'{"rope_scaling": [], "rope_theta": 1}', "has schema None", None),
    "scaling-is-a-text": (b'{"rope_scaling": "yarn"}', "has schema None", None),
    "scaling-of-escapes": (b'{"rope_scaling": {"type": "\\u001b[2J"}}', "has schema None", None),
    "scaling-type-is-a-list": (b'{"rope_scaling": {"type": []}}', "has schema None", None),
    "scaling-factor-is-zero": (
        b'{"rope_scaling": {"type": "yarn", "factor": 0}, "rope_theta": 1}',
        "has schema None",
        None,
    ),
    "scaling-factor-is-huge": (
        b'{"rope_scaling": {"type": "yarn", "factor": 1e308}, "rope_theta": 1e308}',
        "has schema None",
        None,
    ),
    "head-dim-is-huge": (b'{"rope_theta": 1, "head_dim": 1000000000000}', "has schema None", None),
    "no-heads": (b'{"num_attention_heads": 0, "hidden_size": 1}', "has schema None", None),
    "schema-is-a-text": (b'{"schema": "1"}', "has schema '1'", None),
    "schema-is-true": (b'{"schema": true}', "has schema True", None),
    "newer-schema": (b'{"schema": 99}', "has schema 99", None),
    "no-options": (b'{"schema": 1}', "is malformed", None),
    "options-are-null": (b'{"schema": 1, "name": "a", "options": null}', "is malformed", None),
    "escape-in-the-name": (b'{"schema": 1, "name": "\\u001b[2J"}', "is malformed", None),
}
SNAPSHOTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b" \n", ""),
    "nul": (b"--a\0\n", "holds U+0000 in line 1"),
    "bom": (b"\xef\xbb\xbf--a\n", "holds U+FEFF in line 1"),
    "utf-16": ("--a\n".encode("utf-16"), "is not UTF-8"),
    "latin-1": (b"--\xe4\n", "is not UTF-8: byte 0xe4 in line 1"),
    "surrogate": (b"\xed\xa0\x80\n", "is not UTF-8"),
    "escape": (b"--\x1b[2J\n", "holds U+001B in line 1"),
    "right-to-left": ("--\u202e\n".encode(), "holds U+202E in line 1"),
    "windows": (b"--a\r\n", "has CRLF at the end of its lines"),
    "old-mac": (b"--a\r--b\n", "holds U+000D in line 1"),
    "no-end": (b"--a", "ends in the middle of a line"),
    "merge-conflict": (b"<<<<<<< HEAD\n--a\n", ""),
    "json": (b'{"a": 1}\n', ""),
    "gzip": (b"\x1f\x8b\x08\x00\n", "is not UTF-8"),
    "many-lines": (b"--a\n" * 100_000, ""),
    "long-line": (b"--" + b"x" * 3_000_000 + b"\n", ""),
    "only-line-ends": (b"\n" * 1_000, ""),
    "too-large": (b"x" * (17 * 1024 * 1024), "is larger than 16 MiB"),
}


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


def bound(path: Path) -> None:
    # The name of a socket may be of 107 bytes.
    with socket.socket(socket.AF_UNIX) as made:
        before = os.open(".", os.O_RDONLY)
        try:
            os.chdir(path.parent)
            made.bind(path.name)
        finally:
            os.fchdir(before)
            os.close(before)


# What may lie where a file is looked for.
PLACES: dict[str, Callable[[Path], object]] = {
    "folder": lambda path: path.mkdir(),
    "pipe": os.mkfifo,
    "socket": bound,
    "link-to-nothing": lambda path: path.symlink_to("nowhere"),
    "link-to-itself": lambda path: path.symlink_to(path),
    "link-to-zeros": lambda path: path.symlink_to("/dev/zero"),
    "link-to-null": lambda path: path.symlink_to("/dev/null"),
    "link-to-a-terminal": lambda path: path.symlink_to("/dev/tty"),
    "link-to-a-folder": lambda path: path.symlink_to(path.parent),
    "link-to-own-memory": lambda path: path.symlink_to("/proc/self/mem"),
    "a-tebibyte": sparse,
}
