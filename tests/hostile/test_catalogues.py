"""How much harm the catalogues hold, and random harm beside it."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import hostile_argv
import hostile_documents
import hostile_functions
import hostile_launchers
import hostile_python
import hostile_settings
import hostile_shell
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from one_line import first_line

from pytest_ropecontract.contracts import allowances
from pytest_ropecontract.contracts.checkpoints import document
from pytest_ropecontract.contracts.checkpoints import reader as checkpoints
from pytest_ropecontract.definitions import ArgvFile
from pytest_ropecontract.definitions.script import compiled
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.launchers import launcher
from pytest_ropecontract.megatron import surface_files
from pytest_ropecontract.snapshots import stored

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DOCUMENTS = [content for content, _, _ in hostile_documents.DOCUMENTS.values()]
PLACES = [*hostile_documents.PLACES]
INI = {name: repr(given) for name, (given, _) in hostile_settings.INI.items()}
# What each reader is given, and how much of it there has to be at least.
READERS: dict[str, tuple[list[Any], int]] = {
    "Python": ([one for one, _ in (hostile_python.SCRIPTS | hostile_python.HANGING).values()], 150),
    "bash": ([one for one, _ in (hostile_shell.ARRAYS | hostile_shell.HANGING).values()], 60),
    "argv files": ([one for one, _ in hostile_argv.FILES.values()], 40),
    "functions": ([*hostile_functions.FUNCTIONS], 30),
    "surfaces": (DOCUMENTS + PLACES, 50),
    "checkpoints": (DOCUMENTS + PLACES, 50),
    "snapshots": ([one for one, _ in hostile_documents.SNAPSHOTS.values()] + PLACES, 25),
    "ini": ([given for name, given in INI.items() if not name.startswith("allow")], 40),
    "allowances": ([given for name, given in INI.items() if name.startswith("allow")], 8),
    "options": ([" ".join(given) for given, _ in hostile_settings.OPTIONS.values()], 12),
    "hooks": ([code for code, _ in hostile_settings.HOOKS.values()], 30),
    "launchers in bash": ([one for one, _ in hostile_launchers.SHELL.values()], 30),
    "launchers in Python": ([one for one, _ in hostile_launchers.PYTHON.values()], 25),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_is_given_enough_that_differs(reader: str) -> None:
    inputs, floor = READERS[reader]

    twice = [one for one, count in Counter(inputs).items() if count > 1]

    assert twice == []
    assert len(inputs) >= floor


VALID = [
    b'{"rope_theta": 1e4, "rope_scaling": {"type": "yarn", "factor": 4.0}, "head_dim": 64}',
    b"--num-layers 2 --name 'a b' \\\n\"c\" # d\n",
    b"def model_args(**overrides):\n    return ['--a', 1.0, (2,)]\n",
    b"kimi-* checkpoint the one of May",
    b"launch/*.py::train = kimi-k2",
    b'{"schema": 1, "name": "a", "version": "1", "options": []}',
]


@st.composite
def edited(draw: st.DrawFn) -> bytes:
    """Give bytes, or something of use with a few bytes cut, repeated or put in."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=60))
    data = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 20)))
        middle = draw(st.sampled_from([b"", data[start:stop] * 2]) | st.binary(max_size=4))
        data = data[:start] + middle + data[stop:]
    return data


def read_surface(path: Path) -> object:
    return surface_files.load_file(path)


def read_checkpoint(path: Path) -> object:
    return checkpoints.load(path, "hostile"), document.load(path, "hostile")


def read_snapshot(path: Path) -> object:
    try:
        return stored.read(path)
    except stored.UnusableSnapshotError as error:
        raise RopeContractError(str(error)) from None


def read_allowances(path: Path) -> object:
    return allowances.read(path.read_text("utf-8", "surrogateescape").splitlines())


def read_launchers(path: Path) -> object:
    lines = path.read_text("utf-8", "surrogateescape").splitlines()
    return launcher.discover(path.parent, [line for line in lines if line.strip()])


def read_argv(path: Path) -> object:
    return ArgvFile(path, path.parent).expand({})


FILE_READERS: dict[str, Callable[[Path], object]] = {
    "surface": read_surface,
    "checkpoint": read_checkpoint,
    "snapshot": read_snapshot,
    "allowances": read_allowances,
    "launchers": read_launchers,
    "argv": read_argv,
    "script": compiled,
}


@pytest.mark.parametrize("reader", FILE_READERS)
@given(data=edited())
@example(data=json.dumps({"rope_theta": 10**400}).encode())
@example(data=b"**/../*\xff")
@example(data=b"a" * 300)
@example(data=b".")
def test_whatever_a_file_holds_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, reader: str, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile.txt"
    path.write_bytes(data)

    try:
        FILE_READERS[reader](path)
    except RopeContractError as error:
        line = str(error).split("\n", 1)[0]
        assert "Traceback" not in line
        assert first_line(line.encode("utf-8", "backslashreplace").decode()) == line or any(
            0xDC80 <= ord(one) < 0xDD00 for one in line
        )
