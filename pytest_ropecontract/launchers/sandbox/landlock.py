"""What Landlock is to let through: the programs, and the folders that may be written to."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from landlockpy import Ruleset

_DEVICES = (Path("/dev/null"), Path("/dev/full"), Path("/dev/zero"))
_PT_INTERP = 3


def missing() -> str | None:
    """Return why Landlock is not to be had, or None."""
    try:
        import landlockpy  # noqa: PLC0415 - it may be missing
    except ImportError:
        return "pytest-ropecontract[launchers] is not installed"
    return None if landlockpy.supported() else "it has no Landlock"


def ruleset(programs: Iterable[Path], writable: Iterable[Path]) -> Ruleset:
    """Return what lets only these programs be executed, and only these folders be written to.

    Every file stays readable. TCP (from Linux 6.7 on) and signals to processes outside (from 6.12
    on) are closed. It is made here and put in force in the command's own process.

    Raises:
        OSError: A program or a folder is not there.
    """
    from landlockpy import AccessFS, Ruleset, Scope  # noqa: PLC0415 - it may be missing

    changing = (
        AccessFS.WRITE_FILE
        | AccessFS.TRUNCATE
        | AccessFS.REMOVE_DIR
        | AccessFS.REMOVE_FILE
        | AccessFS.MAKE_DIR
        | AccessFS.MAKE_REG
        | AccessFS.MAKE_FIFO
        | AccessFS.MAKE_SOCK
        | AccessFS.MAKE_SYM
        | AccessFS.REFER
    )
    rules = Ruleset(scoped=Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL)
    try:
        rules.allow_path("/", AccessFS.READ_FILE | AccessFS.READ_DIR)
        for program in programs:
            rules.allow_path(program, AccessFS.EXECUTE)
            interpreter = _interpreter(program)
            if interpreter is not None:
                rules.allow_path(interpreter, AccessFS.EXECUTE)
        for folder in writable:
            rules.allow_path(folder, changing)
        for device in filter(Path.exists, _DEVICES):
            rules.allow_path(device, AccessFS.WRITE_FILE | AccessFS.TRUNCATE)
    except BaseException:
        rules.close()
        raise
    return rules


def _interpreter(program: Path) -> str | None:
    """Return the dynamic loader that a 64-bit ELF program names, without which none starts."""
    try:
        with program.open("rb") as file:
            head = file.read(64)
            if head[:5] != b"\x7fELF\x02":
                return None
            order = "<" if head[5:6] == b"\x01" else ">"
            (offset,) = struct.unpack_from(f"{order}Q", head, 32)
            size, count = struct.unpack_from(f"{order}HH", head, 54)
            for index in range(count):
                file.seek(offset + index * size)
                kind, _, begin, _, _, length = struct.unpack(f"{order}IIQQQQ", file.read(40))
                if kind == _PT_INTERP:
                    file.seek(begin)
                    return file.read(length).rstrip(b"\0").decode()
    except (OSError, struct.error, UnicodeDecodeError):
        pass  # what cannot be read cannot be executed either
    return None
