"""Functions and sources that a hook registers, and what is said of each; they run in this process.

Where nothing is said, the function gives good flags all the same.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

from hostile_python import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable


class Harm(Exception):  # noqa: N818 - its name is read in texts
    """Nothing of it can be shown, compared or counted."""

    def __str__(self) -> str:
        raise OSError

    def __repr__(self) -> str:
        raise OSError

    def __eq__(self, other: object) -> bool:
        raise OSError

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        raise OSError

    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise OSError


class Flags(str):
    __slots__ = ()

    def split(self, *_: Any) -> list[str]:
        raise OSError


class Tokens(list[str]):
    def __iter__(self) -> Any:
        return itertools.repeat("--a")

    def __len__(self) -> int:
        raise OSError


class Source:
    """A source of a project's own."""

    def __init__(self, expand: Callable[..., Any]) -> None:
        self.expand = expand


def raising(error: BaseException | type[BaseException]) -> Callable[..., str]:
    def model_args(*_: object) -> str:
        raise error

    return model_args


def doing(change: Callable[[], object]) -> Callable[[], str]:
    def model_args() -> str:
        change()
        return PLAIN

    return model_args


def endless() -> str:
    while True:
        with contextlib.suppress(Exception):
            time.sleep(1)


def generator() -> Any:
    yield from itertools.repeat("--a")


async def coroutine() -> str:
    return PLAIN


def recursive() -> str:
    return recursive()


FUNCTIONS: dict[str, tuple[Any, str]] = {
    "none": (lambda: None, "returned None"),
    "number": (lambda: 3, "returned 3 (int)"),
    "digits": (lambda: 10**5000, "returned an int"),
    "bytes": (lambda: b"--a", "returned b'--a' (bytes)"),
    "harm": (Harm, "returned a Harm"),
    "harm-in-a-list": (lambda: [Harm()], "a list with a Harm at index 0"),
    "generator": (generator, "returned a generator"),
    "nul": (lambda: "a\0b", "returned a NUL character"),
    "too-much": (lambda: ["--a"] * (22 * 10**5), "more than 2 MiB of argv"),
    "flags-of-a-class": (lambda: Flags(PLAIN), ""),
    "tokens-of-a-class": (lambda: Tokens(PLAIN.split()), ""),
    "text-of-harm": (raising(Harm), "raised"),
    "value-error": (raising(ValueError("one\ntwo")), "raised ValueError: one ..."),
    "exit": (raising(SystemExit(3)), "called sys.exit(3)"),
    "exit-with-harm": (raising(SystemExit(Harm())), "called sys.exit("),
    "stop-iteration": (raising(StopIteration), "raised StopIteration"),
    "recursion": (recursive, "raised RecursionError"),
    "endless": (endless, "did not end within"),
    "needs-a-value": (lambda layers: layers, "needs 'layers', which has no default"),
    "builtin": (len, "needs 'obj', which has no default"),
    "class": (dict, "returned a dict"),
    "print": (print, "returned None"),
    "environment": (doing(os.environ.clear), ""),
    "environment-object": (doing(lambda: setattr(os, "environ", {})), ""),
    "import-path": (doing(sys.path.clear), ""),
    "import-path-object": (doing(lambda: setattr(sys, "path", [])), ""),
    "arguments": (doing(lambda: setattr(sys, "argv", None)), ""),
    "directory": (doing(lambda: os.chdir("/")), ""),
    "warnings": (doing(lambda: warnings.simplefilter("ignore")), ""),
    "streams": (doing(lambda: setattr(sys, "stdout", None)), ""),
    "module": (doing(lambda: sys.modules.update(left_behind_here=sys)), ""),
    "noise": (doing(lambda: sys.stdout.write("x" * 10**6)), ""),
    "source-that-raises": (Source(raising(ValueError("no"))), "raised ValueError: no"),
    "source-that-harms": (Source(raising(Harm)), "raised Harm"),
    "source-that-exits": (Source(raising(SystemExit)), "raised SystemExit"),
    "source-of-nothing": (Source(lambda _: None), "gave None, expected an Expansion"),
    "source-of-a-text": (Source(lambda _: "--a"), "gave '--a', expected an Expansion"),
    "literal-nul": ("a\0b", "gave a NUL character"),
    "literal-number": (["--a", 3], "gave a list with 3 (int) at index 1"),
    "literal-harm": ([Harm()], "gave a list with a Harm at index 0"),
    "literal-empty": ("", "gave an empty string"),
}
