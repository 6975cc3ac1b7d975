"""A checkpoint's file as a document, or one clear reason why it is none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ordinary_user import ordinary_user

from pytest_ropecontract.contracts.checkpoints.document import CheckpointError, load
from pytest_ropecontract.contracts.checkpoints.files import check_pattern, find
from pytest_ropecontract.contracts.checkpoints.reader import load as load_checkpoint
from pytest_ropecontract.errors import RopeContractError

NAME = "tests/checkpoints/m.json"


def headline(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load(path, NAME)
    assert caught.value.remedy
    return caught.value.headline


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "m.json"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"rope_theta": 1', "is cut off at line 1: Expecting ',' delimiter"),
        (b'{\n "rope_theta', "is cut off at line 2: Unterminated string starting at"),
        (b'{"rope_theta": 1}}', "is not JSON at line 1: Extra data"),
        (b"rope_theta: 1", "is not JSON at line 1: Expecting value"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"[1, 2]", "is a list, not an object"),
        (b'"text"', "is a text, not an object"),
        (b"null", "is null, not an object"),
        (b"true", "is true or false, not an object"),
        (b"NaN", "is a number, not an object"),
        (b"\xff\xfe{}", "is not UTF-8 text"),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"a": ' * 100_000, "is nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "has a number of too many digits"),
        (b'{"a": 1, "a": 2}', "states 'a' twice, with different values"),
    ],
)
def test_content_that_is_no_document(file: Path, content: bytes, said: str) -> None:
    file.write_bytes(content)

    assert headline(file) == f"{NAME} {said}"


def test_100_megabytes(file: Path) -> None:
    with file.open("wb") as handle:
        handle.truncate(100 * 1024**2)

    assert headline(file) == f"{NAME} is too large: more than 8 MB"


def test_missing_file(file: Path) -> None:
    assert headline(file) == f"{NAME} cannot be read: No such file or directory"


def test_links_in_a_circle(file: Path) -> None:
    file.symlink_to(file.with_name("n.json"))
    file.with_name("n.json").symlink_to(file)

    assert headline(file) == f"{NAME} cannot be read: Too many levels of symbolic links"


def test_link_to_nothing(file: Path) -> None:
    file.symlink_to("elsewhere.json")

    assert headline(file) == f"{NAME} cannot be read: No such file or directory"


def test_no_permission(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("open")
    file = folder / "m.json"
    file.write_text("{}")
    file.chmod(0)

    with ordinary_user(folder):
        assert headline(file) == f"{NAME} cannot be read: Permission denied"


def test_pipe_is_not_waited_for(file: Path) -> None:
    os.mkfifo(file)

    assert headline(file) == f"{NAME} is no file"


def test_endless_device() -> None:
    assert headline(Path("/dev/zero")) == f"{NAME} is no file"


def test_name_that_no_file_has() -> None:
    assert headline(Path("a\0b")) == f"{NAME} cannot be read: its path has a null character"


def test_byte_order_mark(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbf{"rope_theta": 5}')

    assert load(file, NAME) == {"rope_theta": 5}


def test_infinity_outside_of_rope_is_no_fault(file: Path) -> None:
    file.write_text('{"rope_theta": 5, "time_step_limit": [0.0, Infinity]}')

    checkpoint = load_checkpoint(file, NAME)

    assert checkpoint.problems == ()
    assert checkpoint.ropes[0].values["rotary_base"] == 5


def test_key_that_is_stated_twice_alike(file: Path) -> None:
    file.write_text('{"rope_theta": 5, "rope_theta": 5.0}')

    assert load(file, NAME) == {"rope_theta": 5}


# Which files belong to which model


def names(found: dict[str, tuple[Path, ...]]) -> dict[str, list[str]]:
    return {model: [path.name for path in paths] for model, paths in found.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("kimi-k2", "kimi-k2@0905", "kimi-k25", "kimi-k2-thinking", "other"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"rope_theta": 5}))
    return tmp_path


MODELS = ["kimi-k2", "kimi-k25", "kimi-k25_2layer"]


def test_several_files_of_one_model(folder: Path) -> None:
    assert names(find(folder, ["{model}.json", "{model}@*.json"], MODELS)) == {
        "kimi-k2": ["kimi-k2.json", "kimi-k2@0905.json"],
        "kimi-k25": ["kimi-k25.json"],
    }


def test_file_belongs_to_the_longest_name(folder: Path) -> None:
    models = [*MODELS, "kimi-k2-thinking"]
    for order in (models, models[::-1]):
        assert names(find(folder, ["{model}*.json"], order)) == {
            "kimi-k2": ["kimi-k2.json", "kimi-k2@0905.json"],
            "kimi-k2-thinking": ["kimi-k2-thinking.json"],
            "kimi-k25": ["kimi-k25.json"],
        }


def test_absolute_pattern(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("root")

    assert names(find(root, [f"{folder}/{{model}}.json"], ["other"])) == {"other": ["other.json"]}


def test_folder_for_every_model(tmp_path: Path) -> None:
    (tmp_path / "kimi-k2").mkdir()

    assert names(find(tmp_path, ["{model}"], MODELS)) == {"kimi-k2": ["kimi-k2"]}


def test_characters_of_globs_in_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()

    assert find(tmp_path, ["{model}.json"], ["[a]"]) == {}


def test_pattern_without_a_model() -> None:
    with pytest.raises(RopeContractError) as caught:
        check_pattern("config.json")

    assert str(caught.value).splitlines() == [
        "rope_contract_checkpoints: 'config.json' does not contain {model}",
        "  remedy: for example tests/checkpoints/{model}.json",
    ]
