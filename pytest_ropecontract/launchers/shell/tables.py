"""What bash is told before a launcher: tools that answer for real, and scripted answers."""

from __future__ import annotations

import shlex
import shutil
import sys
from typing import TYPE_CHECKING

from pytest_ropecontract.launchers.recording import Answer
from pytest_ropecontract.launchers.shell import scan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_FOLDERS = "/usr/bin:/bin:/usr/local/bin"

# They read files and their input and print; where an option of theirs does more, the prelude
# refuses it.
TEXT_TOOLS = (
    *("awk", "gawk", "mawk", "base64", "basename", "bc", "cat", "column", "comm", "cut"),
    *(
        "dirname",
        "egrep",
        "envsubst",
        "expr",
        "fgrep",
        "find",
        "fold",
        "grep",
        "head",
        "join",
        "jq",
    ),
    *("ls", "md5sum", "mktemp", "nl", "numfmt", "paste", "printenv", "printf", "readlink"),
    *("realpath", "rev", "sed", "seq", "sha256sum", "sort", "tac", "tail", "tr", "uniq", "wc"),
    *("echo", "false", "pwd", "test", "true", "date", "mkdir", "tee", "xargs"),
)
# Without these the prelude cannot work.
_NEEDED = ("realpath", "mkdir", "tee", "date", "xargs", "printenv", "sed")

DEFAULT_ANSWERS: Mapping[str, Answer] = {
    "hostname": Answer("localhost\n"),
    "hostname -I": Answer("127.0.0.1\n"),
    "hostname -i": Answer("127.0.0.1\n"),
    "whoami": Answer("user\n"),
    "uname": Answer("Linux\n"),
    "nproc": Answer("8\n"),
}


def tools() -> dict[str, str]:
    """Return where the tools are that answer for real, by their names."""
    found = {name: shutil.which(name, path=_FOLDERS) for name in TEXT_TOOLS}
    return {name: where for name, where in found.items() if where is not None}


def missing_tools(found: Mapping[str, str]) -> list[str]:
    """Return which of the tools that a launcher cannot be recorded without are not there."""
    return [name for name in _NEEDED if name not in found]


def text(
    found: Mapping[str, str],
    answers: Mapping[str, str | Answer],
    approved: Iterable[Path],
    expanders: Iterable[str],
    python: Iterable[str],
) -> str:
    """Return the tables as bash reads them.

    Args:
        found: The tools.
        answers: What commands print, by the program's name with its first arguments.
        approved: The files that may be sourced or run where the kernel guards nothing.
        expanders: Patterns of the paths of Python scripts that print a model's flags.
        python: The command that runs them.
    """
    scripted = {name: _answer(one) for name, one in {**DEFAULT_ANSWERS, **answers}.items()}
    return "".join(
        (
            _table("__rc_tools", found),
            _table(
                "__rc_answers",
                {name: f"{one.returncode}:{one.stdout}" for name, one in scripted.items()},
            ),
            _table("__rc_approved", {str(path): "1" for path in approved}),
            _list("__rc_unguarded", scan.BUILTINS),
            _list("__rc_expanders", expanders),
            _list("__rc_python", python),
        )
    )


def _answer(given: str | Answer) -> Answer:
    return Answer(given) if isinstance(given, str) else given


def _table(name: str, values: Mapping[str, str]) -> str:
    inner = " ".join(f"[{shlex.quote(key)}]={shlex.quote(one)}" for key, one in values.items())
    return f"declare -A {name}=({inner})\n"


def _list(name: str, values: Iterable[str]) -> str:
    return f"{name}=({' '.join(map(shlex.quote, values))})\n"


def python_programs() -> list[str]:
    """Return the files that must be executable for this Python to start."""
    return [sys.executable]
