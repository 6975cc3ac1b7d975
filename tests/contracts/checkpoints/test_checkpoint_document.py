"""A checkpoint's file as a document, or one clear reason why it is none."""

from __future__ import annotations

import glob
import itertools
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordinary_user import ordinary_user

from pytest_ropecontract.contracts.checkpoints.document import CheckpointError, load
from pytest_ropecontract.contracts.checkpoints.files import (
    DEFAULT_PATTERNS,
    check_pattern,
    find,
    strays,
)
from pytest_ropecontract.contracts.checkpoints.reader import load as load_checkpoint
from pytest_ropecontract.errors import RopeContractError

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def test_key_that_is_stated_twice_has_a_remedy_of_its_own(file: Path) -> None:
    file.write_bytes(b'{"a": 1, "a": 2}')

    with pytest.raises(CheckpointError) as caught:
        load(file, NAME)
    assert caught.value.remedy == "keep the one that the checkpoint was trained with"


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


WORDS = st.text("a.@", min_size=1, max_size=3).filter(lambda word: word.strip("."))

PIECES = st.lists(st.sampled_from(("{model}", "*", "?", "a", ".", "**", "[a.]")), max_size=4)


@given(
    st.lists(WORDS, max_size=6),
    st.lists(WORDS.filter(lambda word: word[0] != "."), min_size=1, max_size=4, unique=True),
    PIECES,
    PIECES,
    st.sampled_from(("", "{model}/", "*/", "**/", "a/")),
)
def test_files_are_found_as_globs_of_every_name_find_them(
    files: list[str], models: list[str], before: list[str], after: list[str], folder: str
) -> None:
    pattern = f"{folder}{''.join(before)}{{model}}{''.join(after)}"
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for parent in (root, root / "a", root / "a./b"):
            parent.mkdir(parents=True, exist_ok=True)
        for parent, name in itertools.product((root, root / "a", root / "a./b"), files):
            if not (parent / name).exists():
                (parent / name).touch()
        owners: dict[str, str] = {}
        first = {model: -index for index, model in enumerate(models)}
        for model in sorted(models, key=lambda model: (len(model), first[model])):
            named = pattern.replace("{model}", model)
            matching = glob.glob(named, root_dir=root, recursive=True)  # noqa: PTH207  # as find()
            owners.update(dict.fromkeys((str(root / path) for path in matching), model))

        found = find(root, [pattern], models)

        assert {str(path): model for model, paths in found.items() for path in paths} == owners


PLACES = {
    "behind-a-folder": ("c/{model}*.json", "c/kimi-k2-a.json"),
    "behind-something-else": ("of-{model}*.json", "of-kimi-k2-a.json"),
    "behind-anything": ("*-{model}.json", "a-kimi-k2.json"),
    "in-any-folder": ("**/{model}*.json", "c/d/kimi-k2-a.json"),
    "in-a-folder-of-its-own": ("{model}/{model}*.json", "kimi-k2/kimi-k2-a.json"),
    "twice": ("{model}-{model}*.json", "kimi-k2-kimi-k2-a.json"),
    "in-a-class-of-characters": ("[{model}]*.json", "m.json"),
}


@pytest.mark.parametrize(("pattern", "file"), PLACES.values(), ids=PLACES)
def test_places_of_a_name_among_wild_characters(tmp_path: Path, pattern: str, file: str) -> None:
    for name in ("other/kimi-k3-a.json", "kimi-k3/kimi-k3-a.json", "x-kimi-k3-a.json"):
        touch(tmp_path, name)
    touch(tmp_path, file)

    assert find(tmp_path, [pattern], ["kimi-k2"]) == {"kimi-k2": (tmp_path / file,)}


def test_two_asterisks_beside_a_name_reach_no_folder_below(tmp_path: Path) -> None:
    touch(tmp_path, "c/kimi-k2-a.json", "c/d/kimi-k2-b.json")

    found = find(tmp_path, ["c/{model}*"], ["kimi-k2"])

    assert names(found) == {"kimi-k2": ["kimi-k2-a.json"]}


def test_of_two_names_that_are_equally_long_the_first_has_the_file(tmp_path: Path) -> None:
    touch(tmp_path, "one-two.json")
    patterns = ["{model}*.json", "*{model}.json"]

    assert list(find(tmp_path, patterns, ["one", "two"])) == ["one"]
    assert list(find(tmp_path, patterns, ["two", "one"])) == ["two"]


def test_file_in_any_folder(tmp_path: Path) -> None:
    touch(tmp_path, "c/a.json", "c/x/y/a.json")

    found = find(tmp_path, ["c/**/{model}.json"], ["a"])

    assert found == {"a": (tmp_path / "c/a.json", tmp_path / "c/x/y/a.json")}


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


# Files in a model's place that are of none


def stray_names(
    root: Path, patterns: Sequence[str], models: Sequence[str]
) -> dict[str, str | None]:
    owned = find(root, patterns, models)
    told, _ = strays(root, patterns, {one: owned.get(one, ()) for one in models}, ())
    return {one.path.relative_to(root).as_posix(): one.near for one in told}


def touch(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()


@pytest.mark.parametrize(
    ("file", "near"),
    [
        ("Kimi-K2.json", "kimi-k2"),
        ("Kimi-K2@0905.json", "kimi-k2"),
        ("kimik2.json", "kimi-k2"),
        ("deepseek.json", None),
        # That one has its own.
        ("glm45.json", None),
        ("GLM4.json", "glm4"),
    ],
)
def test_the_model_that_a_stray_may_be_meant_for(
    tmp_path: Path, file: str, near: str | None
) -> None:
    touch(tmp_path, f"tests/checkpoints/{file}", "tests/checkpoints/glm4.json")

    assert stray_names(tmp_path, DEFAULT_PATTERNS, ["kimi-k2", "glm4"]) == {
        f"tests/checkpoints/{file}": near
    }


def test_a_folder_in_a_models_place_is_a_stray_where_it_could_be_read(tmp_path: Path) -> None:
    touch(tmp_path, *(f"hub/{name}" for name in ("a/config.json", "b/config.json", "c/notes.txt")))
    (tmp_path / "hub/d/snapshots").mkdir(parents=True)

    assert list(stray_names(tmp_path, ["hub/{model}"], ["a"])) == ["hub/b", "hub/d"]


def test_what_is_inside_of_a_models_folder_or_around_its_file_is_no_stray(tmp_path: Path) -> None:
    touch(tmp_path, "hub/a/config.json", "hub/org/b.json", "hub/org/config.json")
    patterns = ["hub/{model}", "hub/**/{model}.json", "hub/org/{model}.json"]

    assert list(stray_names(tmp_path, patterns, ["a", "b"])) == ["hub/org/config.json"]


def test_a_name_that_a_pattern_has_twice_is_the_same_in_both_places(tmp_path: Path) -> None:
    touch(tmp_path, "c/a/a.json", "c/b/other.json", "c/b/b.json")

    assert list(stray_names(tmp_path, ["c/{model}/{model}.json"], ["a"])) == ["c/b/b.json"]


@pytest.mark.parametrize("pattern", ["{model}.json", "**/{model}.json", "*/{model}.json"])
def test_without_a_folder_of_its_own_a_pattern_has_no_strays(tmp_path: Path, pattern: str) -> None:
    touch(tmp_path, "package.json", "tests/package.json")

    assert stray_names(tmp_path, [pattern], ["a"]) == {}


def test_files_outside_of_the_project_are_no_strays(tmp_path: Path) -> None:
    touch(tmp_path, "shared/b.json", "project/c/d.json")
    root = tmp_path / "project"
    patterns = [f"{tmp_path}/shared/{{model}}.json", "../shared/{model}.json"]

    assert stray_names(root, patterns, ["a"]) == {}
    assert list(stray_names(root, [f"{root}/c/{{model}}.json"], ["a"])) == ["c/d.json"]


def test_a_pattern_without_strays_does_not_end_the_search(tmp_path: Path) -> None:
    touch(tmp_path, "b.json", "c/b.json")

    assert list(stray_names(tmp_path, ["{model}.json", "c/{model}.json"], ["a"])) == ["c/b.json"]


@pytest.mark.parametrize(
    ("pattern", "file"),
    [
        ("c/**/{model}.json", "c/kimik2.json"),
        ("c/**/{model}.json", "c/x/y/kimik2.json"),
        ("c/*/{model}.json", "c/folder/kimik2.json"),
        ("c/?{model}.json", "c/_kimik2.json"),
        ("c/[xyz]{model}.json", "c/xkimik2.json"),
    ],
)
def test_the_name_of_a_stray_is_what_stands_in_the_models_place(
    tmp_path: Path, pattern: str, file: str
) -> None:
    touch(tmp_path, file)

    assert stray_names(tmp_path, [pattern], ["kimi-k2"]) == {file: "kimi-k2"}


def test_a_link_to_nothing_by_another_spelling_is_a_stray(tmp_path: Path) -> None:
    touch(tmp_path, "c/a.json")
    (tmp_path / "c/A.json").symlink_to("elsewhere.json")

    assert list(stray_names(tmp_path, ["c/{model}.json"], ["a"])) == ["c/A.json"]


def test_the_same_file_by_another_name_is_no_stray(tmp_path: Path) -> None:
    """As on a file system that ignores case, where a link stands for it here."""
    touch(tmp_path, "c/a.json")
    (tmp_path / "c/A.json").symlink_to("a.json")

    assert stray_names(tmp_path, ["c/{model}.json"], ["a"]) == {}


def test_of_many_strays_some_are_named_and_all_are_counted(tmp_path: Path) -> None:
    touch(tmp_path, *(f"c/{number}.json" for number in range(100)))

    told, more = strays(tmp_path, ["c/{model}.json"], {"a": ()}, ())

    assert len(told) < 50
    assert len(told) + more == 100
