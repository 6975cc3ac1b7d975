from __future__ import annotations

import pytest

from pytest_ropecontract.definitions import DefinitionError
from pytest_ropecontract.definitions.reading import decoded, read_file


@pytest.fixture
def place(tmp_path):
    """Give a folder with what is no file to be read."""
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    return tmp_path


UNREADABLE = {
    "missing": ("missing", "the file does not exist", "check its name"),
    "link": ("link", "the file is a link to nothing", "check what it links to"),
    "below-a-file": (
        "file/below",
        "the file cannot be read: Not a directory",
        "check its permissions",
    ),
    "folder": ("folder", "the path is a folder, not an argv file", "name a file"),
}


@pytest.mark.parametrize(("file", "headline", "remedy"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_told_with_its_path(place, file, headline, remedy):
    with pytest.raises(DefinitionError) as caught:
        read_file(place / file, "an argv file")
    assert caught.value.headline == headline
    assert caught.value.origin == str(place / file)
    assert caught.value.remedy == remedy


def test_file_may_be_as_large_as_is_allowed(place, monkeypatch):
    monkeypatch.setattr("pytest_ropecontract.definitions.reading.LARGEST", 7)
    assert read_file(place / "file", "a script") == b"content"


def test_file_may_not_be_larger(place, monkeypatch):
    monkeypatch.setattr("pytest_ropecontract.definitions.reading.LARGEST", 2 * 1024**2)
    (place / "file").write_bytes(b" " * (2 * 1024**2 + 1))
    with pytest.raises(DefinitionError) as caught:
        read_file(place / "file", "an argv file")
    assert caught.value.headline == "the argv file is larger than 2 MiB"
    assert caught.value.origin == str(place / "file")
    assert caught.value.remedy == "check its name"


def test_byte_order_mark_is_no_text(place):
    assert decoded(b"\xef\xbb\xbfa", place, "the script") == "a"
    assert decoded("é".encode(), place, "the script") == "é"


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"\xe9", 1), (b"\n\xe9", 2), (b"\xef\xbb\xbf\n\n\xe9\n\xe8", 3)],
    ids=["first", "second", "marked"],
)
def test_line_with_the_first_byte_that_is_no_utf_8_is_told(place, data, line):
    with pytest.raises(DefinitionError) as caught:
        decoded(data, place / "file", "the script")
    assert caught.value.headline == f"the script is not UTF-8: byte 0xe9 in line {line}"
    assert caught.value.origin == f"{place / 'file'}:{line}"
