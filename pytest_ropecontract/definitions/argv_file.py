"""A definition as text: the tokens themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions.argv import LONGEST, argv_of, too_long
from pytest_ropecontract.definitions.definition import DefinitionError, Expansion
from pytest_ropecontract.definitions.outcome import placed
from pytest_ropecontract.definitions.overrides import refuse_overrides
from pytest_ropecontract.definitions.reading import decoded, read_file
from pytest_ropecontract.definitions.shell_words import QuotingError, shell_words
from pytest_ropecontract.definitions.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class ArgvFile:
    """A text file that holds argv.

    Either one JSON string a line, or tokens with a shell's quoting and comments, as many
    a line as one likes. The first line that holds something decides which.

    Attributes:
        path: The file, in UTF-8.
        root: The directory that paths are shown relative to.
    """

    path: Path
    root: Path = field(default_factory=Path.cwd)

    def expand(self, overrides: Mapping[str, Any]) -> Expansion:
        """Read the tokens.

        Raises:
            DefinitionError: Overrides were given; the file cannot be read, is too large,
                not UTF-8, wrongly quoted, or holds no token.
        """
        path = self.root / self.path
        try:
            refuse_overrides(overrides, "an argv file")
            tokens = _tokens(_text(path), path)
            if tokens:
                return Expansion(argv_of(tokens, "the argv file holds"))
            problem = DefinitionError(
                "the argv file holds no tokens", remedy="write the flags into it"
            )
        except DefinitionError as error:
            problem = error
        raise placed(problem, path, self.root) from None


def _text(path: Path) -> str:
    return decoded(read_file(path, "an argv file"), path, "the argv file")


def _tokens(text: str, path: Path) -> list[str]:
    # Only a line feed ends a line: JSON may hold other separators as they are.
    lines = [
        (number, line.strip(" \t\r"))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip(" \t\r") and not line.lstrip(" \t").startswith("#")
    ]
    if lines and _json_string(lines[0][1]) is not None:
        return _json_tokens(lines, path)
    tokens: list[str] = []
    size = 0
    try:
        for word in shell_words(text):
            tokens.append(word)
            size += len(word) + 1
            if size > LONGEST:
                raise too_long("the argv file holds")
    except QuotingError as error:
        raise DefinitionError(
            f"the argv file is wrongly quoted in line {error.line}: {error}",
            origin=f"{path}:{error.line}",
            remedy="close the quote, or put a backslash in front of it",
        ) from None
    return tokens


def _json_tokens(lines: list[tuple[int, str]], path: Path) -> list[str]:
    tokens = []
    for number, line in lines:
        token = _json_string(line)
        if token is None:
            raise DefinitionError(
                f"line {number} of the argv file is no JSON string, as line {lines[0][0]} is",
                origin=f"{path}:{number}",
                details=[one_line(line)],
                remedy="write one JSON string a line, or plain tokens throughout",
            )
        tokens.append(token)
    return tokens


def _json_string(line: str) -> str | None:
    if not line.startswith('"'):
        return None
    try:
        token: str = json.loads(line)  # behind a quote there is nothing else
    except ValueError:
        return None
    return token
