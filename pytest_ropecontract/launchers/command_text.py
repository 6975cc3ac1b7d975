"""A text that a shell would run, split into commands without running it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_OPERATORS = ("&&", "||", ";;", "|&", "&", "|", ";", "\n", "(", ")")
_REDIRECTION = re.compile(r"(\d*|&)(>>|>\||>&|<&|<<<|<>|>|<)")


@dataclass
class SimpleCommand:
    """One command of a text.

    Attributes:
        words: Its words, without quotes.
        environment: What is assigned in front of it, or was exported before.
        expands: Whether a word holds something that only a shell can expand.
        begins_line: Whether a line that is not the first begins with it.
    """

    words: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    expands: bool = False
    begins_line: bool = False


def commands_in(text: str) -> list[SimpleCommand]:
    """Return the commands of a text, those of lists, pipes and groups alike.

    Assignments in front of a command and ``export`` before it count; redirections are left
    out. A quote that does not end lasts until the end of the text.
    """
    found: list[SimpleCommand] = []
    exported: dict[str, str] = {}
    current = SimpleCommand()
    for word, told in (*_words(text), (None, False)):
        if word is not None:
            if not current.words and _ASSIGNMENT.match(word):
                name, _, value = word.partition("=")
                current.environment[name.removesuffix("+")] = value
            else:
                current.words.append(word)
            current.expands = current.expands or told
            continue
        if current.words[:1] == ["export"]:
            pairs = (one.partition("=") for one in current.words[1:] if "=" in one)
            exported.update((name, value) for name, _, value in pairs)
        elif current.words:
            current.environment = {**exported, **current.environment}
            found.append(current)
        else:
            exported.update(current.environment)
        current = SimpleCommand(begins_line=told)
    return found


def _words(text: str) -> list[tuple[str | None, bool]]:
    """Return the words, each with whether it expands.

    None stands between two commands, with whether a line ends there.
    """
    words: list[tuple[str | None, bool]] = []
    at = 0
    while at < len(text):
        if text[at] in " \t\r" or text.startswith("\\\n", at):
            at += 2 if text[at] == "\\" else 1
        elif text[at] == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif redirection := _REDIRECTION.match(text, at):
            at = redirection.end()
            while at < len(text) and text[at] in " \t":
                at += 1
            _, _, at = _word(text, at)
        elif operator := next((one for one in _OPERATORS if text.startswith(one, at)), None):
            words.append((None, operator == "\n"))
            at += len(operator)
        else:
            word, expands, at = _word(text, at)
            words.append((word, expands))
    return words


def _word(text: str, at: int) -> tuple[str, bool, int]:
    """Return the word at a position, whether it expands, and where it ends."""
    word, quote, expands = "", "", False
    while at < len(text):
        char = text[at]
        if quote == "'":
            if char == "'":
                quote = ""
            else:
                word += char
        elif char == "\\" and at + 1 < len(text) and (not quote or text[at + 1] in '"\\$`\n'):
            at += 1
            word += "" if text[at] == "\n" else text[at]
        elif char == '"':
            quote = "" if quote else char
        elif char == "'" and not quote:
            quote = char
        elif not quote and char in " \t\r\n;|&()<>":
            break
        else:
            expands = expands or char in "$`"
            word += char
        at += 1
    return word, expands, at
