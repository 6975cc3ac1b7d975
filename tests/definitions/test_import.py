from __future__ import annotations

import subprocess
import sys

import pytest

import pytest_ropecontract
from pytest_ropecontract import definitions

HEAVY = {"pytest", "_pytest", "hypothesis", "syrupy", "torch", "numpy", "asyncio"}
UNUSED = {"subprocess", "tempfile", "shutil", "difflib", "dataclasses", "ctypes"}


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path[:] = {sys.path}; {code}; print(*sys.modules)",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stdout.split())


def test_import_is_light():
    loaded = modules_after("import pytest_ropecontract.definitions")
    assert not loaded & (HEAVY | UNUSED)


def test_everything_needs_only_the_standard_library():
    code = "from pytest_ropecontract.definitions import *"
    loaded = {name.partition(".")[0] for name in modules_after(code)}
    assert not loaded & HEAVY
    assert loaded <= set(sys.stdlib_module_names) | {"pytest_ropecontract", "__main__"}


def test_importing_everything_starts_no_process():
    code = (
        "from pytest_ropecontract.definitions import *\n"
        "from pytest_ropecontract.definitions.worker import shared_worker\n"
        "assert shared_worker().pid is None"
    )
    subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}\n{code}"], check=True
    )


def test_all_public_names_exist():
    assert [name for name in definitions.__all__ if not hasattr(definitions, name)] == []
    assert dir(definitions) == sorted(definitions.__all__)
    assert dir(pytest_ropecontract) == sorted(pytest_ropecontract.__all__)


def test_unknown_name():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = definitions.nothing


@pytest.mark.parametrize("name", definitions.__all__)
def test_public_name_is_loaded_with_its_first_use(monkeypatch, name):
    there = vars(definitions).get(name)
    monkeypatch.delitem(vars(definitions), name, raising=False)
    assert getattr(definitions, name).__name__ == name
    assert name in vars(definitions)
    if there is not None:
        assert getattr(definitions, name) is there
