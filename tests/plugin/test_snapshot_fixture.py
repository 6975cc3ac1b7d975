"""The fixture ``rope_snapshot`` in hand-written tests."""

from __future__ import annotations

import pytest
from plugin_project import PLAIN, Project, Run

FOLDER = "tests/rope_snapshots"
INNER = f"{FOLDER}/test_own"
UPDATE = "--snapshot-update"
TWO = (
    "def test_one(rope_snapshot): assert ['--a', '1'] == rope_snapshot\n"
    "def test_two(rope_snapshot): assert ['--b', '2'] == rope_snapshot\n"
)
FILES = {"test_own/test_one.ropeargs", "test_own/test_two.ropeargs"}


class Own(Project):
    """A project with a test module of its own."""

    def own(self, text: str) -> None:
        self.test(text, "test_own")

    def run(self, *args: str) -> Run:
        return self.run_without(*args)

    @property
    def files(self) -> set[str]:
        folder = self.root / FOLDER
        return {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Own:
    project = Own(pytester)
    project.model("plain")
    return project


@pytest.fixture
def two(project: Own) -> Own:
    """Give a project with the snapshots of two tests."""
    project.own(TWO)
    assert project.run(UPDATE).ret == 0
    assert project.files == FILES
    return project


def test_the_data_decides_about_the_file(project: Own) -> None:
    project.own(
        "from pytest_ropecontract.launchers.recording import Command, Recording\n"
        "def test_it(rope_snapshot, rope_expand, rope_resolve):\n"
        "    assert rope_expand('plain') == rope_snapshot\n"
        "    assert rope_resolve('plain') == rope_snapshot\n"
        "    assert rope_resolve('plain').rope == rope_snapshot(name='bare')\n"
        "    assert Recording((Command(('ls', '-l')),)) == rope_snapshot(name='ls')\n"
    )

    assert project.run(UPDATE).ret == 0
    assert project.files == {
        "test_own/test_it.ropeargs",
        "test_own/test_it.1.ropeconfig",
        "test_own/test_it[bare].ropeconfig",
        "test_own/test_it[ls].ropelaunch",
    }
    assert project.run().ret == 0
    assert (project.root / INNER / "test_it[ls].ropelaunch").read_text() == "$ ls\n    -l\nexit 0\n"


def test_a_difference_is_told_in_the_first_line(two: Own) -> None:
    two.own(TWO.replace("'1'", "'3'"))

    run = two.run()

    update = "pytest --snapshot-update tests/test_own.py::test_one"
    assert [line[1:].strip() for line in run.outlines if line.startswith("E ")] == [
        "assert snapshot: test_one: --a 1 became --a 3",
        "in tests/rope_snapshots/test_own/test_one.ropeargs:",
        "- --a 1",
        "+ --a 3",
        f"remedy: if that is right: {update}",
    ]
    assert run.counts == {"failed": 1, "passed": 1}


def test_other_comparisons_are_explained_as_ever(project: Own) -> None:
    project.own("def test_own(): assert [1, 2] == [1, 3]\n")

    lines = [line.removeprefix("E").strip() for line in project.run().outlines]
    assert lines[lines.index("assert [1, 2] == [1, 3]") + 2] == "At index 1 diff: 2 != 3"


def test_other_data_is_one_clear_error(project: Own) -> None:
    project.own("def test_it(rope_snapshot): assert {'a': 1} == rope_snapshot\n")

    lines = [line.removeprefix("E").strip() for line in project.run(UPDATE).outlines]
    assert (
        "TypeError: a RoPE snapshot holds a command line (a list of strings), a Resolution, "
        "a RopeConfig or a Recording, not dict"
    ) in lines
    assert project.files == set()


def test_names_that_differ_by_a_slash_have_files_of_their_own(project: Own) -> None:
    project.own(
        "@pytest.mark.parametrize('model', ['zai/GLM', 'zaiGLM', 'zai:GLM'])\n"
        "def test_it(model, rope_snapshot): assert ['--model', model] == rope_snapshot\n"
    )

    assert project.run(UPDATE).ret == 0
    assert project.files == {
        f"test_own/test_it[{name}].ropeargs" for name in ("zai%2FGLM", "zaiGLM", "zai%3AGLM")
    }
    for args in ((), (UPDATE,)):
        run = project.run(*args)
        assert run.ret == 0
        assert "unused" not in run.out


def test_names_that_differ_only_in_case_are_refused(project: Own) -> None:
    project.own(
        "@pytest.mark.parametrize('model', ['GLM', 'glm'])\n"
        "def test_it(model, rope_snapshot): assert ['--model', model] == rope_snapshot\n"
        "@pytest.mark.parametrize('model', ['GLM', 'glm'])\n"
        "def test_other(model): pass\n"
    )

    run = project.run(UPDATE)

    assert run.text("tests/test_own.py::test_it[GLM]").splitlines() == [
        "rope_snapshot: test_it[GLM] and test_it[glm] differ only in case",
        "  at: tests/test_own.py::test_it[GLM]",
        "  remedy: rename one of them: their snapshots are one file on some systems",
    ]
    assert run.counts == {"setup failed": 2, "passed": 2}
    assert project.files == set()


def test_two_modules_of_one_name_have_folders_of_their_own(project: Own) -> None:
    text = "def test_it(rope_snapshot, request): assert [request.node.nodeid] == rope_snapshot\n"
    project.ini(testpaths=["tests", "other"], addopts=["--import-mode=importlib"])
    for folder in ("tests/a", "tests/b", "other/a"):
        project.write(f"{folder}/test_own.py", text)

    assert project.run(UPDATE).ret == 0
    assert project.files == {
        f"{folder}/test_own/test_it.ropeargs" for folder in ("a", "b", "_up/other/a")
    }
    run = project.run()
    assert run.ret == 0
    assert "unused" not in run.out


def test_long_names(project: Own) -> None:
    project.own(
        "@pytest.mark.parametrize('model', ['x' * 300, 'x' * 301])\n"
        "def test_it(model, rope_snapshot):\n"
        "    assert ['--model', model] == rope_snapshot\n"
        "    assert ['--again', model] == rope_snapshot\n"
    )

    assert project.run(UPDATE).ret == 0
    assert len(project.files) == 4
    run = project.run()
    assert run.ret == 0
    assert "unused" not in run.out


# What is unused.

KEPT = {
    "skipped": (TWO.replace("def test_two", "@pytest.mark.skip\ndef test_two"), ()),
    "skipped-inside": (TWO.replace("assert ['--b'", "pytest.skip(); assert ['--b'"), ()),
    "expected-failure": (
        TWO.replace("def test_two", "@pytest.mark.xfail(reason='x')\ndef test_two").replace(
            "assert ['--b'", "assert 0; assert ['--b'"
        ),
        (),
    ),
    "failed-before": (TWO.replace("assert ['--b'", "assert 0; assert ['--b'"), ()),
    "keyword": (TWO, ("-k", "test_one")),
    "keyword-not": (TWO, ("-k", "test_one or not tests")),
    "node-id": (TWO, ("tests/test_own.py::test_one",)),
    "longer-node-id": (
        f"{TWO}def test_two_more(rope_snapshot): pass\n",
        ("tests/test_own.py::test_two_more", "-k", "two"),
    ),
    "deselected": (TWO, ("--deselect", "tests/test_own.py::test_two")),
    "mark": (
        TWO.replace("def test_one", "@pytest.mark.rope_contract\ndef test_one"),
        ("-m", "rope_contract"),
    ),
    "ignored": (TWO, ("--ignore=tests/test_own.py",)),
    "not-imported": ("import nothing_of_that_name\n" + TWO, ("--continue-on-collection-errors",)),
}


@pytest.mark.parametrize(("text", "args"), KEPT.values(), ids=KEPT)
def test_a_test_that_is_left_out_loses_no_file(two: Own, text: str, args: tuple[str, ...]) -> None:
    two.test("def test_it(rope_snapshot): assert ['--c'] == rope_snapshot\n", "test_more")
    two.run(UPDATE)
    two.own(text)

    for given in (args, (UPDATE, *args)):
        assert "unused" not in two.run(*given).out
        assert two.files == {*FILES, "test_more/test_it.ropeargs"}


def test_what_failed_last_loses_no_file(two: Own) -> None:
    two.own(TWO.replace("'1'", "'3'"))
    two.run()

    run = two.run("--lf", UPDATE, "-k", "test")

    assert run.counts == {"passed": 1}
    assert two.files == FILES


GONE = {
    "removed-test": (TWO.splitlines()[0], {"test_own/test_one.ropeargs"}),
    "renamed-test": (
        TWO.replace("test_two", "test_three"),
        {"test_own/test_one.ropeargs", "test_own/test_three.ropeargs"},
    ),
    "without-the-fixture": (
        TWO.splitlines()[0] + "\ndef test_two(): pass\n",
        {"test_own/test_one.ropeargs"},
    ),
}


@pytest.mark.parametrize("paths", [(), ("tests/test_own.py",)], ids=["whole", "file"])
@pytest.mark.parametrize(("text", "files"), GONE.values(), ids=GONE)
def test_what_nobody_uses_is_unused(
    two: Own, text: str, files: set[str], paths: tuple[str, ...]
) -> None:
    two.own(text)

    run = two.run(*paths)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert "1 snapshot unused." in run.out
    assert two.files == FILES

    run = two.run(UPDATE, *paths)
    assert run.ret == 0
    assert "1 unused snapshot deleted." in run.out
    assert two.files == files
    assert two.run().ret == 0


def test_another_kind_takes_the_place_of_a_file(two: Own) -> None:
    two.own(
        "from pytest_ropecontract.rope.config import RopeConfig\n"
        + TWO.replace("['--b', '2']", "RopeConfig('rope', 'gpt')")
    )

    assert "1 unused snapshot deleted." in two.run(UPDATE).out
    assert two.files == {"test_own/test_one.ropeargs", "test_own/test_two.ropeconfig"}


def test_syrupys_own_fixture_takes_a_kind(project: Own) -> None:
    """It keeps the files where it keeps all of its own."""
    project.own(
        "from pytest_ropecontract.snapshots.extension import ArgsExtension\n"
        "def test_it(snapshot): assert ['--a', '1'] == snapshot.use_extension(ArgsExtension)\n"
    )

    assert project.run(UPDATE).ret == 0
    kept = project.root / "tests/__snapshots__/test_own/test_it.ropeargs"
    assert kept.read_text() == "--a 1\n"
    assert project.run().ret == 0


def test_a_removed_module(two: Own) -> None:
    two.test("def test_it(rope_snapshot): assert ['--c'] == rope_snapshot\n", "test_more")
    (two.root / "tests/test_own.py").unlink()

    assert "2 unused snapshots deleted." in two.run(UPDATE).out
    assert two.files == {"test_more/test_it.ropeargs"}


def test_a_run_without_the_option_knows_nothing_of_models(two: Own) -> None:
    """Their files are neither used nor unused, also those of a model that is gone."""
    for name in ("plain", "gone"):
        two.write(f"{FOLDER}/{name}.ropeargs", PLAIN + "\n")

    for args in ((), (UPDATE,)):
        run = two.run(*args)
        assert run.ret == 0
        assert "unused" not in run.out
        assert two.files == {*FILES, "plain.ropeargs", "gone.ropeargs"}


def test_beside_the_models(two: Own) -> None:
    run = two.run("--rope-contract", UPDATE, "-k", "snapshot or own")

    assert run.ret == 0
    assert two.files == {*FILES, "plain.ropeargs", "plain.ropeconfig"}
    run = two.run("--rope-contract", "-k", "snapshot or own")
    assert "4 snapshots passed." in run.out
    assert "unused" not in run.out
