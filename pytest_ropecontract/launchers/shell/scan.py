"""Looks at the text of a launcher where the kernel does not guard programs and files.

There, what bash itself does cannot be held back any more once it runs: files that it opens for
writing, sockets, and the builtins that replace what records commands. A launcher with any of these
is refused, and so is one that cannot be parsed. Programs need no looking at: they are recorded
whatever their names.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pytest_ropecontract import reading
from pytest_ropecontract.launchers.recording import Stop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tree_sitter import Node, Parser

BUILTINS = (
    *("eval", "exec", "builtin", "enable", "hash", "alias", "unalias", "trap", "coproc", "bind"),
    *("complete", "compopt", "compgen", "fc", "history", "jobs", "suspend", "logout"),
)
"""Builtins of bash that run a text, open files or change what the next command means."""

_OWN_FUNCTIONS = frozenset(
    {"kill", "trap", "command", "exec", "source", ".", "cd", "command_not_found_handle"}
)
_OPTIONS = frozenset(
    {"nullglob", "globstar", "failglob", "dotglob", "extglob", "nocasematch", "nocaseglob"}
    | {"lastpipe", "inherit_errexit", "pipefail"}
)
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_NETWORK = re.compile(rb"/dev/(tcp|udp)|/inet")
_OURS = re.compile(rb"__rc_|ROPECONTRACT_")
_LARGEST = 1024 * 1024
_REMEDY = (
    "run it on Linux 5.13 or later with pytest-ropecontract[launchers], where the kernel guards it"
)


def _unread(error: Exception) -> str:
    """Say why a script is not read."""
    if isinstance(error, reading.TooLargeError):
        return "is too large to be looked at"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    return f"is {error}, not a script"


def scan(path: Path, root: Path) -> Stop | None:
    """Return why a script is not run without the kernel's guard, or None."""
    try:
        text = reading.read(path, _LARGEST)
    except (OSError, reading.UnusableFileError) as error:
        return _refusal(_unread(error), path, root)
    parser = _parser()
    if parser is None:
        return _refusal("cannot be looked at without pytest-ropecontract[launchers]", path, root)
    for pattern, what in ((_NETWORK, "names a network device"), (_OURS, "names the recorder")):
        found = pattern.search(text)
        if found:
            return _refusal(what, path, root, text.count(b"\n", 0, found.start()) + 1)
    for node, what in _findings(parser.parse(text).root_node):
        return _refusal(what, path, root, node.start_point.row + 1)
    return None


def approved(root: Path) -> list[Path]:
    """Return the real paths of a project's shell scripts that need no guard."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith((".sh", ".bash")):
                path = (root / folder / name).resolve()
                if scan(path, root) is None:
                    found.append(path)
    return found


def _refusal(what: str, path: Path, root: Path, line: int | None = None) -> Stop:
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    return Stop(
        f"the launcher {what}, and the kernel does not guard programs and files here",
        origin=shown if line is None else f"{shown}:{line}",
        remedy=_REMEDY,
    )


def _parser() -> Parser | None:
    try:
        import tree_sitter  # noqa: PLC0415 - it may be missing
        import tree_sitter_bash  # noqa: PLC0415 - the same
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _findings(root: Node) -> Iterator[tuple[Node, str]]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        what = _finding(node)
        if what is not None:
            yield node, what
        waiting.extend(reversed(node.children))


def _finding(node: Node) -> str | None:
    """Say what is wrong with one node of the syntax tree, or nothing."""
    if node.is_error or node.is_missing:
        return "cannot be parsed"
    look = {
        "command": _command,
        "file_redirect": _redirection,
        "function_definition": _function,
        "unset_command": _unset,
    }.get(node.type)
    return None if look is None else look(node)


def _command(node: Node) -> str | None:
    name = node.child_by_field_name("name")
    word = "" if name is None else _plain(name)
    arguments = [_plain(one) for one in node.children_by_field_name("argument")]
    refused = (
        word in BUILTINS
        or (word == "command" and arguments[:1] not in (["-v"], ["-V"]))
        or (word == "set" and any(re.search("posix|trace|T", one) for one in arguments))
        or (word == "shopt" and not {one for one in arguments if one[:1] != "-"} <= _OPTIONS)
        or (word in ("mapfile", "readarray") and any(one[:2] == "-C" for one in arguments))
    )
    return f"uses {' '.join([word, *arguments[:2]])}" if refused else None


def _redirection(node: Node) -> str | None:
    operator = next((one.type for one in node.children if not one.is_named), "")
    target = node.child_by_field_name("destination")
    if operator not in _WRITING or target is None or target.type == "number":
        return None
    if _plain(target) in {*_DEVICES, "-"}:
        return None
    return f"writes to a file: {_text(node)}"


def _function(node: Node) -> str | None:
    name = node.child_by_field_name("name")
    word = "" if name is None else _plain(name)
    return f"has a function of the name {word}" if word in _OWN_FUNCTIONS else None


def _unset(node: Node) -> str | None:
    return "uses unset -f" if "-f" in map(_plain, node.children) else None


def _plain(node: Node) -> str:
    """Return a word without its quotes and backslashes, and what it expands as it stands."""
    return re.sub(r"[\\'\"]", "", _text(node))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
