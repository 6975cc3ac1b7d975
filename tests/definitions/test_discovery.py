from __future__ import annotations

import pytest

from pytest_ropecontract.definitions import discover
from pytest_ropecontract.errors import RopeContractError


@pytest.fixture
def root(tmp_path):
    for file in (
        "models/kimi-k2.py",
        "models/glm4.7-flash.sh",
        "models/__init__.py",
        "models/_helpers.py",
        "models/.hidden.py",
        "models/deep/er/kimi-k3.py",
        "models/directory.py/x",
    ):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("patterns", "files"),
    [
        (["models/*.sh", "models/*.py"], ["models/glm4.7-flash.sh", "models/kimi-k2.py"]),
        (["models/*.py", "models/kimi*", "models/../models/*.sh"], None),
        (["**/kimi*.py"], ["models/deep/er/kimi-k3.py", "models/kimi-k2.py"]),
        (["models/kimi-k2.py"], ["models/kimi-k2.py"]),
        (["models/", "nowhere/*.py"], []),
    ],
    ids=["sorted", "dots", "deep", "file", "nothing"],
)
def test_files(root, patterns, files):
    found = discover(root, patterns)
    if files is not None:
        assert found == [root / file for file in files]
    assert len(found) == len({path.resolve() for path in found})


@pytest.mark.parametrize("pattern", ["/models/*.py", ""], ids=["absolute", "empty"])
def test_pattern_that_is_no_relative_glob(root, pattern):
    with pytest.raises((NotImplementedError, ValueError)) as told:
        list(root.glob(pattern))
    with pytest.raises(RopeContractError) as caught:
        discover(root, [pattern])
    assert caught.value.headline == f"{pattern!r} is no glob for definitions: {told.value}"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (OSError(36, "File name too long"), "File name too long"),
        (IndexError(0), "it names no file"),
    ],
    ids=["system", "index"],
)
def test_pattern_that_only_some_versions_of_python_refuse(root, monkeypatch, told, said):
    def refuse(*_: object) -> None:
        raise told

    monkeypatch.setattr(type(root), "glob", refuse)
    with pytest.raises(RopeContractError) as caught:
        discover(root, ["."])
    assert caught.value.headline == f"'.' is no glob for definitions: {said}"
