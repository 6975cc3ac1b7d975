"""Every block of the README is true: what it says is done, and what it shows is what comes."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
import readme_walk
from readme_blocks import blocks, by_heading, difference
from readme_walk import EXAMPLE, Walk, check_installing, with_definitions

from pytest_ropecontract.megatron import surface_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TITLE = "pytest-ropecontract"
K25 = """\
source /dev/null
MODEL_ARGS=($(python3 scripts/model_args.py kimi-k2-thinking))
ray job submit -- python3 train.py "${MODEL_ARGS[@]}" --hf-checkpoint /ckpt/Kimi-K2.5
"""
GUARD = """\
from pytest_ropecontract import rope_expect

@rope_expect("yarn", 4096, 1, 1, models=["kimi-k2*"])
def test_kimi_k2():
    pass
"""
EXPERIMENT = """\
MODEL_ARGS=($(python3 scripts/model_args.py kimi-k2))
python3 train.py "${MODEL_ARGS[@]}"
"""


def first_screen(walk: Walk) -> None:
    with_definitions(walk, "glm4.7-flash", "kimi-k2")
    walk.replace("scripts/models/glm4.7-flash.py", '*("--rope-type", "rope"),', "")
    walk.replace("scripts/models/kimi-k2.py", '*("--beta-fast", f"{beta_fast:g}"),', "")
    test = next(one for one in by_heading()[TITLE] if one.language == "python")
    walk.write(str(test.path), test.text)


def framework(walk: Walk) -> None:
    walk.copy("ropeframe")


def bare(walk: Walk) -> None:
    pass


def allowing(walk: Walk) -> None:
    """With a definition that gives --spec, a launcher, a checkpoint and snapshots."""
    with_definitions(walk, "kimi-k2", "glm5-744B-A40B", "kimi-k25", "kimi-k2-thinking")
    walk.copy("tests/rope_snapshots/kimi-k2.ropeargs", "tests/checkpoints/kimi-k2.json")
    walk.copy("scripts/run_kimi_k25.py", "ropeframe/launch.py")
    walk.configure(rope_contract_launchers=["scripts/run_kimi_k25.py::execute"])


def inside(walk: Walk) -> None:
    """The example as a folder of a checkout."""
    shutil.copytree(EXAMPLE, walk.root / EXAMPLE.name, ignore=shutil.ignore_patterns(".*"))


def kimi(walk: Walk) -> None:
    with_definitions(walk, "kimi-k2")


def golden(walk: Walk) -> None:
    """With a golden file of what the definition expands to."""
    kimi(walk)
    flags = (EXAMPLE / "tests/rope_snapshots/kimi-k2.ropeargs").read_text(encoding="utf-8")
    walk.write("tests/golden/kimi-k2", flags)


def published(walk: Walk) -> None:
    kimi(walk)
    walk.copy("tests/checkpoints/kimi-k2.json")
    walk.write("tests/test_rope.py", GUARD)


def launched(walk: Walk) -> None:
    with_definitions(walk, "kimi-k2", "kimi-k2-thinking", "kimi-k25", "glm4.7-flash")
    walk.copy("scripts/model_args.py", "scripts/run-glm4.7-flash-2nodes.sh")
    walk.copy("scripts/run_kimi_k25.py")
    walk.write("scripts/run-kimi-k25.sh", K25)
    walk.write("scripts/run-experiment.sh", EXPERIMENT)


def upgrading(walk: Walk) -> None:
    inside(walk)
    with_definitions(walk, "kimi-k2")
    (walk.root / "surfaces").mkdir()
    newest = surface_files.load_shipped(surface_files.NEWEST)
    walk.write("surfaces/our-fork.json", surface_files.dump(newest))


PROJECTS: dict[str, Callable[[Walk], None]] = {
    TITLE: first_screen,
    "Try it here": bare,
    "Ten minutes in your repository": bare,
    "Python scripts": framework,
    "Shell arrays": framework,
    "Megatron-LM's example scripts": bare,
    "From there on": allowing,
    "In CI, over Megatron versions": kimi,
    "Why is it so?": inside,
    "What a lost flag would do": kimi,
    "Snapshots": golden,
    "What is launched": launched,
    "A report for people": kimi,
    "Upgrading Megatron": upgrading,
    "Fixtures": kimi,
    "Hooks": published,
}


@pytest.fixture
def walk(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Walk:
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("ROPE_CONTRACT_SURFACE", "0.19.2")
    return Walk(pytester, capsys)


def test_every_section_with_blocks_has_a_project() -> None:
    assert list(by_heading()) == list(PROJECTS)


@pytest.mark.parametrize("heading", PROJECTS)
def test_blocks_are_true(walk: Walk, heading: str) -> None:
    PROJECTS[heading](walk)

    walk.do(by_heading()[heading])


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        (["a", "b", "c"], None),
        (["a", "..."], None),
        (["...", "b", "..."], None),
        (["...", "a", "b", "...", "c"], None),
        (["b", "c"], "b\nc"),
        (["a", "b"], "the end, before: c"),
        (["...", "a", "c"], "a\nc"),
        (["...", "c", "...", "a", "..."], "a"),
        (["...", "b "], "b "),
    ],
)
def test_what_is_shown_is_found_in_what_is_printed(shown: list[str], missing: str | None) -> None:
    assert difference(shown, ["a", "b", "c"]) == missing


def test_blocks_are_read_with_their_headings_and_commands() -> None:
    text = (
        "# One\n```console\n$ a \\\n    b\nout\n$ c\n```\n## Two\n```python\n# x/y.py\n# Two\n```\n"
    )

    first, second = blocks(text)

    assert (first.heading, first.path, first.commands) == (
        "One",
        None,
        [("a b", ["out"]), ("c", [])],
    )
    assert (second.heading, second.line, second.path) == ("Two", 9, "x/y.py")


def test_what_a_checkout_runs_is_not_looked_for_in_an_sdist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has only an sdist can run its tests."""
    command = "pip install tox tox-uv && tox"
    monkeypatch.setattr(readme_walk, "CHECKOUT", tmp_path)
    monkeypatch.setattr(readme_walk, "check_requirements", lambda _: None)
    (tmp_path / "tox.ini").touch()
    with pytest.raises(FileNotFoundError):
        check_installing(command)

    (tmp_path / "PKG-INFO").touch()

    check_installing(command)
