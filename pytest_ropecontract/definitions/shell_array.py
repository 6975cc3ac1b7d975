"""A definition in bash: a script that fills the array ``MODEL_ARGS``."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pytest_ropecontract.definitions.argv import argv_of, too_long
from pytest_ropecontract.definitions.definition import DefinitionError, Expansion
from pytest_ropecontract.definitions.outcome import ended_early, placed
from pytest_ropecontract.definitions.overrides import refuse_overrides
from pytest_ropecontract.definitions.reading import read_file
from pytest_ropecontract.definitions.wording import one_line, output_lines
from pytest_ropecontract.definitions.worker import shared_worker
from pytest_ropecontract.definitions.worker_task import BROKEN, FAILED, RESULT_FD

if TYPE_CHECKING:
    from collections.abc import Mapping

ARRAY = "MODEL_ARGS"

# The script is $0, so that it has no positional parameters, as under a launcher. What it
# does to IFS, to options or to functions must not change the way the array is read back.
_READ = f"""
builtin source "$0"
builtin set +eux
{{
    builtin declare -p {ARRAY} 2>/dev/null
    builtin printf '\\0'
    (( ${{#{ARRAY}[@]}} == 0 )) || builtin printf '%s\\0' "${{{ARRAY}[@]}}"
}} >&{RESULT_FD}
builtin exit 0
"""

# Tells the line at which the script ended bash, where bash itself does not.
_TRACE = f"""
BASH_XTRACEFD={RESULT_FD}
PS4='+${{BASH_SOURCE[0]}}:${{LINENO}}: '
builtin set -x
builtin source "$0"
"""

_BASIC_TOOLS = ("/usr/local/bin", "/usr/bin", "/bin")
_MESSAGE = re.compile(r"^(?P<file>/.*): line (?P<line>\d+): (?P<text>.*)$", re.MULTILINE)
_SYNTAX = re.compile(r"syntax error:? (.*)|(unexpected EOF.*)")
_OUTSIDE = re.compile(r"(-\S*): command not found")
_MISSING = re.compile(r"(.+): No such file or directory")


@dataclass(frozen=True)
class ShellArray:
    """A bash script that fills the array ``MODEL_ARGS``.

    It is sourced by bash in an empty scratch directory, with a minimal environment, in a
    process of its own; its standard output is not the way the array comes back.

    Attributes:
        path: The script.
        root: The directory that paths are shown relative to.
        time_limit: Seconds after which it is ended.
        environment: Variables beside those that it always has.
    """

    path: Path
    root: Path = field(default_factory=Path.cwd)
    time_limit: float = 20.0
    # Python 3.11 takes a mapping proxy, which is not hashable, for a mutable default.
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)

    def under(self, environment: Mapping[str, str]) -> Self:
        """Return this script with further environment variables."""
        return replace(self, environment={**self.environment, **environment})

    def expand(self, overrides: Mapping[str, Any]) -> Expansion:
        """Source the script and read the array.

        Raises:
            DefinitionError: Overrides were given; there is no bash that starts; the script failed,
                exited or did not end; or ``MODEL_ARGS`` is no array with elements.
        """
        path = self.root / self.path
        try:
            return self._expand(path, overrides)
        except DefinitionError as error:
            raise placed(error, path, self.root) from None

    def _expand(self, path: Path, overrides: Mapping[str, Any]) -> Expansion:
        refuse_overrides(overrides, "a shell array")
        _check_text(read_file(path, "a script"), path)
        answer = self._run(path, _READ)
        output = answer["output"]
        if answer["ended"] == "large":
            raise too_long(f"{ARRAY} holds")
        before, _, reason = answer["result"].partition(BROKEN)
        # A script that exits with this status has its array in front of it, or nothing behind it.
        if answer["ended"] == "itself" and answer["status"] == FAILED and reason and not before:
            raise DefinitionError(
                f"bash cannot be started: {one_line(reason)}",
                remedy="check the bash that comes first on PATH",
            )
        silent_failure = _reported_failure(output, path)
        if silent_failure is not None:
            raise silent_failure
        declared, _, rest = answer["result"].partition("\0")
        if answer["ended"] != "itself" or answer["status"] != 0 or not answer["result"]:
            raise self._ended(answer, path)
        problem = _array_problem(declared)
        if problem is not None:
            raise DefinitionError(
                problem,
                details=output_lines(output),
                remedy=f"write {ARRAY}=(...) with the flags between the parentheses",
            )
        tokens = rest.split("\0")[:-1]
        for index, token in enumerate(tokens):
            if any("\udc80" <= char <= "\udcff" for char in token):
                raise DefinitionError(
                    f"{ARRAY} is not UTF-8 at index {index}",
                    remedy="save the script as UTF-8",
                )
        return Expansion(argv_of(tokens, f"{ARRAY} holds"), (), output)

    def _run(self, path: Path, program: str) -> dict[str, Any]:
        from shutil import which  # noqa: PLC0415 - only a shell array needs it
        from tempfile import gettempdir  # noqa: PLC0415 - the same

        bash = which("bash")
        if bash is None:
            raise DefinitionError(
                "there is no bash on PATH to run it",
                remedy="install bash, or write the definition in Python",
            )
        return shared_worker().ask(
            {
                "program": program,
                "bash": bash,
                "path": str(path),
                "environ": {
                    "PATH": os.pathsep.join(dict.fromkeys([*_BASIC_TOOLS, str(Path(bash).parent)])),
                    "LC_ALL": "C.UTF-8",
                    **self.environment,
                },
                "scratch_in": gettempdir(),
                "time_limit": self.time_limit,
            }
        )

    def _ended(self, answer: dict[str, Any], path: Path) -> DefinitionError:
        if answer["ended"] == "itself" and answer["status"] >= 0:
            return DefinitionError(
                f"exited with status {answer['status']} before {ARRAY} could be read",
                origin=self._last_line(answer["output"], path),
                details=output_lines(answer["output"]),
                remedy="mend the command above; under set -e the first that fails ends the script",
            )
        return ended_early(
            answer,
            origin=None,
            limit=self.time_limit,
            expected=f"before {ARRAY} could be read",
        )

    def _last_line(self, output: str, path: Path) -> str | None:
        """Return the line at which the script ended: bash tells it, or a second run does."""
        said = list(_MESSAGE.finditer(output.rstrip()))[-1:]
        if said and not output.rstrip()[said[0].end() :] and said[0]["file"] == str(path):
            return f"{path}:{said[0]['line']}"
        trace = self._run(path, _TRACE)["result"]
        lines = re.findall(rf"^\++{re.escape(str(path))}:(\d+): ", trace, re.MULTILINE)
        return f"{path}:{lines[-1]}" if lines else None


def _check_text(text: bytes, path: Path) -> None:
    if text.startswith(BOM_UTF8):
        raise DefinitionError(
            "the script begins with a byte order mark, which bash takes for part of its first word",
            origin=f"{path}:1",
            remedy="save it as UTF-8 without a mark",
        )
    before, windows, _ = text.partition(b"\r\n")
    if windows:
        line = before.count(b"\n") + 1
        raise DefinitionError(
            "the script has Windows line ends, which bash takes for part of the flags",
            origin=f"{path}:{line}",
            remedy="save it with Unix line ends",
        )


def _array_problem(declared: str) -> str | None:
    """Say what is wrong with the text of ``declare -p``, or nothing."""
    kind = re.match(r"declare -(\S+)", declared)
    if kind is None:
        return f"the script does not set {ARRAY}"
    if "A" in kind[1]:
        return f"{ARRAY} is an associative array, expected an indexed one"
    if "a" not in kind[1]:
        return f"{ARRAY} is a string, not an array"
    if "[" not in declared:
        return f"{ARRAY} is empty"
    return None


def _reported_failure(output: str, path: Path) -> DefinitionError | None:
    """Find what bash reports and goes on after, so that flags would be missing silently."""
    for message in _MESSAGE.finditer(output):
        origin = f"{message['file']}:{message['line']}"
        text = message["text"]
        if found := _SYNTAX.fullmatch(text):
            return DefinitionError(
                f"the script has a syntax error: {one_line(found[1] or found[2])}",
                origin=origin,
                remedy="mend the line above",
            )
        if found := _OUTSIDE.fullmatch(text):
            return DefinitionError(
                f"the flag {found[1]} stands outside of the array, bash ran it as a command",
                origin=origin,
                remedy=f"move it between the parentheses of {ARRAY}=(...)",
            )
        if message["file"] == str(path) and (found := _MISSING.fullmatch(text)):
            return DefinitionError(
                f"the script reads {found[1]}, which does not exist",
                origin=origin,
                remedy='name a file beside the script: "$(dirname "${BASH_SOURCE[0]}")/NAME.sh"',
            )
    return None
