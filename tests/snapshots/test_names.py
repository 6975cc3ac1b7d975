"""The names of a test's files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ropecontract.snapshots.names import encoded, is_of, module_folder, module_of

NAMES = st.one_of(
    st.text(st.sampled_from("ab/\\:.~%[]é \0"), min_size=1),
    st.text(min_size=1),
    st.text(st.sampled_from("a/"), min_size=170, max_size=400),
)


@given(name=NAMES, other=NAMES)
def test_other_names_have_other_files(name, other):
    assert (encoded(name) == encoded(other)) == (name == other)


@given(name=NAMES)
def test_every_file_system_takes_a_name(name):
    file = encoded(name)

    assert not set(file) & set('\\/?*:|"<>\0 ')
    assert file.isascii()
    assert not file.startswith(".")
    assert len(file) <= 200


@given(name=NAMES, suffix=st.sampled_from(["", ".1", ".12", "[two_nodes]"]))
@example(name="~" * 100, suffix=".1")
@example(name="." + "a" * 200, suffix=".1")
def test_the_files_of_a_test_are_known(name, suffix):
    assert is_of(encoded(f"{name}{suffix}"), name)


@pytest.mark.parametrize("other", ["test_ab", "test_", "test_b", "test_A"])
def test_a_file_of_another_test(other):
    assert not is_of(encoded(other), "test_a")


@pytest.mark.parametrize(
    ("module", "folder"),
    [
        ("tests/test_a.py", "test_a"),
        ("tests/deep/test_a.py", "deep/test_a"),
        ("test_a.py", "_up/test_a"),
        ("scripts/run.sh", "_up/scripts/run.sh"),
    ],
)
def test_every_module_has_a_folder(module, folder):
    snapshots = Path("/project/tests/rope_snapshots")
    path = Path("/project", module)

    assert module_folder(path, snapshots) == Path(folder)
    assert path in module_of(Path(folder), snapshots)
