"""Files that hold no snapshot, and writing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ropecontract.snapshots import stored
from pytest_ropecontract.snapshots.texts import argv_text


@given(argv=st.lists(st.text(st.characters(exclude_characters="\0"))))
def test_what_is_written_is_read(tmp_path_factory, argv):
    path = tmp_path_factory.getbasetemp() / "deep/er/a.ropeargs"
    text = argv_text(argv)

    stored.write(path, text)

    assert stored.read(path) == text
    assert path.read_bytes() == text.encode()


BAD = {
    "empty": (b"", "is empty"),
    "truncated": (b"--a 1\n--b", "ends in the middle of a line"),
    "binary": (b"--a 1\n\x00\x01\n", "holds U+0000 in line 2"),
    "latin-1": (b"--a\n\xe9\n", "is not UTF-8: byte 0xe9 in line 2"),
    "crlf": (b"--a 1\r\n--b\r\n", "has CRLF at the end of its lines"),
    "byte-order-mark": (b"\xef\xbb\xbf--a\n", "holds U+FEFF in line 1"),
}


@pytest.mark.parametrize(("data", "problem"), BAD.values(), ids=BAD)
def test_bad_bytes(tmp_path, data, problem):
    path = tmp_path / "a.ropeargs"
    path.write_bytes(data)

    with pytest.raises(stored.UnusableSnapshotError) as raised:
        stored.read(path)

    assert str(raised.value) == problem


def test_no_file(tmp_path):
    assert stored.read(tmp_path / "a.ropeargs") is None


def test_a_name_that_no_file_can_have(tmp_path):
    with pytest.raises(stored.UnusableSnapshotError, match=r"^cannot be read: File name too long$"):
        stored.read(tmp_path / ("a" * 300))


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "a.ropeargs"
    with path.open("wb") as file:
        file.truncate(2**40)

    with pytest.raises(stored.UnusableSnapshotError, match=r"^is larger than 16 MiB$"):
        stored.read(path)


def test_a_link_to_nothing(tmp_path):
    path = tmp_path / "a.ropeargs"
    path.symlink_to("nowhere")

    with pytest.raises(stored.UnusableSnapshotError, match=r"^is a link to nothing$"):
        stored.read(path)


def test_a_link_is_kept(tmp_path):
    path, other = tmp_path / "a.ropeargs", tmp_path / "b"
    path.symlink_to(other)
    other.write_text("old\n")

    stored.write(path, "new\n")

    assert path.is_symlink()
    assert other.read_text() == "new\n"


def test_nothing_is_left_of_what_cannot_be_written(tmp_path):
    (tmp_path / "a.ropeargs").mkdir()

    with pytest.raises(OSError, match="Is a directory"):
        stored.write(tmp_path / "a.ropeargs", "--a\n")

    assert [path.name for path in tmp_path.iterdir()] == ["a.ropeargs"]


def test_half_a_text_is_never_seen(tmp_path):
    path = tmp_path / "a.ropeargs"
    path.write_text("old\n")

    with pytest.raises(UnicodeEncodeError):
        stored.write(path, "x" * 100_000 + "\ud800")

    assert path.read_text() == "old\n"
    assert len(list(tmp_path.iterdir())) == 1
