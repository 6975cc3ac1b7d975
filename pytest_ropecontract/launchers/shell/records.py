"""Reads the files in which bash recorded a launcher's commands, and puts them in order."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract.launchers.recording import Command, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_OWN_TO_BASH = frozenset({"PWD", "OLDPWD", "SHLVL", "_"})
_FIELDS = 7


@dataclass(frozen=True)
class _Record:
    """One recorded command: where in the launcher's course it stands, and what it is.

    Attributes:
        key: The number of the simple command in its shell, after those of the shells around it.
        shell: The process that recorded it.
        time: When, in seconds.
        command: The command.
    """

    key: tuple[int, ...]
    time: float
    command: Command


class Reader:
    """What bash left in the recorder's folder.

    Args:
        place: The recorder's folder.
        scratch: The launcher's working directory.
        root: The project's folder.
        given: The environment that the launcher began with.
    """

    def __init__(self, place: Path, scratch: Path, root: Path, given: Mapping[str, str]) -> None:
        self._place = place
        self._scratch = scratch
        self._root = root
        self._given = given
        self._read = list(self._records())

    @property
    def begun(self) -> bool:
        """Whether the launcher's bash read the recorder's functions."""
        return (self._place / "record" / "begun").is_file()

    def commands(self) -> tuple[Command, ...]:
        """Return the commands in the order of the launcher, also those of the background."""
        return tuple(one.command for one in _in_order(self._read, 0))

    def stop(self) -> Stop | None:
        """Return why bash stopped the launcher, or None."""
        file = self._place / "record" / "stop"
        if not file.is_file():
            return None
        reason, origin, *_ = (*file.read_text("utf-8", "replace").split("\0"), "", "")
        return Stop(self.shown(reason), self.origin(origin))

    def last_line(self) -> str | None:
        """Return the line of the command that was recorded last."""
        latest = max(self._read, key=lambda one: one.time, default=None)
        return None if latest is None else latest.command.origin

    def is_closed(self, path: str) -> bool:
        """Tell whether this user could do nothing at all with a file, whoever guards it."""
        file = self._scratch / path
        return os.path.lexists(file) and not any(
            os.access(file, right) for right in (os.R_OK, os.W_OK, os.X_OK)
        )

    def shown(self, text: str) -> str:
        """Return a text with the scratch folder's path replaced, which differs in every run."""
        return text.replace(str(self._scratch), "<scratch>").replace(
            str(self._place / "temporary"), "<temporary>"
        )

    def origin(self, text: str) -> str | None:
        """Return a file and line relative to the project, or None for an empty one."""
        if not text:
            return None
        file, colon, line = text.rpartition(":")
        if not colon or not line.isdigit():
            file, colon, line = text, "", ""
        for folder in (self._root, self._scratch):
            if Path(file).is_relative_to(folder):
                file = Path(file).relative_to(folder).as_posix()
        return self.shown(f"{file}{colon}{line}")

    def _records(self) -> Iterator[_Record]:
        for file in sorted((self._place / "record").glob("[0-9]*")):
            fields = file.read_text("utf-8", "backslashreplace").split("\0")
            if len(fields) > _FIELDS and fields[-2:] == ["end", ""]:  # else it was ended meanwhile
                yield self._record(fields[:-2])

    def _record(self, fields: Sequence[str]) -> _Record:
        time, key, at, folder, known, stdin, count = fields[:_FIELDS]
        end = _FIELDS + int(count)
        named = dict(one.partition("=")[::2] for one in fields[end:])
        return _Record(
            key=tuple(int(one) for one in key.split(".")),
            time=float(time),
            command=Command(
                argv=tuple(self.shown(one) for one in fields[_FIELDS:end]),
                environment={
                    name: self.shown(value)
                    for name, value in sorted(named.items())
                    if name not in _OWN_TO_BASH and self._given.get(name) != value
                },
                folder=self._folder(folder),
                stdin=self.shown(stdin) if known == "1" else None,
                origin=self.origin(at),
            ),
        )

    def _folder(self, text: str) -> str:
        path = Path(text)
        if path.is_relative_to(self._scratch):
            return path.relative_to(self._scratch).as_posix()
        return text


def _in_order(read: Sequence[_Record], depth: int) -> Iterator[_Record]:
    """Give the records by the place of their commands in each shell.

    What comes from shells that ran at one place is put in the order of its first moment there: a
    command substitution comes before the command it is an argument of.
    """
    places: dict[int, list[_Record]] = {}
    for one in read:
        places.setdefault(one.key[depth], []).append(one)
    for _, there in sorted(places.items()):
        own = [one for one in there if len(one.key) == depth + 1]
        inner = [one for one in there if len(one.key) > depth + 1]
        first_inner = min((one.time for one in inner), default=0.0)
        yield from sorted((one for one in own if one.time < first_inner), key=_time)
        yield from _in_order(inner, depth + 1)
        yield from sorted((one for one in own if one.time >= first_inner), key=_time)


def _time(record: _Record) -> float:
    return record.time
