"""``test_snapshot``: no file is lost, and none is taken for unused that somebody uses."""

from __future__ import annotations

import difflib
import shutil
from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version
from plugin_project import EXAMPLE, MLA, PLAIN, REPORT, Project, Run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDER = "tests/rope_snapshots"
MODELS = ("plain", "other")
UPDATE = "--snapshot-update"
UNUSED = "Re-run pytest with --snapshot-update to delete unused snapshots."


class Kept(Project):
    """A project with snapshots of its models."""

    def run(self, *args: str) -> Run:
        """Run all items, without draws of omissions."""
        return self.run_without("--rope-contract", "--rope-contract-examples=0", *args)

    def run_on_two(self, *args: str) -> Run:
        """Run all items in two processes."""
        given = ("--rope-contract", "--rope-contract-examples=0", "-p", "no:randomly", "-n2")
        return Run(self, self.pytester.runpytest_subprocess(*given, *args))

    @property
    def folder(self) -> Path:
        return self.root / FOLDER

    @property
    def files(self) -> set[str]:
        """The files in the folder, hidden ones too."""
        return {
            path.relative_to(self.folder).as_posix()
            for path in self.folder.rglob("*")
            if path.is_file()
        }

    @property
    def texts(self) -> dict[str, bytes]:
        return {name: (self.folder / name).read_bytes() for name in self.files}


def item(model: str) -> str:
    return f"scripts/models/{model}.py::test_snapshot[{model}]"


def files_of(*models: str) -> set[str]:
    return {f"{model}.{suffix}" for model in models for suffix in ("ropeargs", "ropeconfig")}


def marked(model: str, mark: str) -> str:
    """Return a ``conftest.py`` that marks the item of a model."""
    return (
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        f"        if item.name == 'test_snapshot[{model}]':\n"
        f"            item.add_marker(pytest.mark.{mark})\n"
    )


@pytest.fixture
def bare(pytester: pytest.Pytester) -> Kept:
    """Give a project without snapshots."""
    project = Kept(pytester)
    project.model("plain")
    project.model("other", PLAIN.replace("10000", "20000"))
    return project


@pytest.fixture(scope="session")
def written() -> dict[str, bytes]:
    """Give a place for the snapshots of the two models, which are made once."""
    return {}


@pytest.fixture
def kept(bare: Kept, written: dict[str, bytes]) -> Kept:
    """Give a project with snapshots of its models."""
    if not written:
        assert bare.run(UPDATE, "-k", "test_snapshot").ret == 0
        written.update(bare.texts)
    for name, data in written.items():
        bare.write(f"{FOLDER}/{name}", data)
    assert bare.files == files_of(*MODELS)
    return bare


def snapshot_outcomes(run: Run) -> dict[str, str]:
    return {name: how for name, how in run.outcomes.items() if "::test_snapshot[" in name}


def verdicts(lines: list[str]) -> dict[str, str]:
    """Return the verdicts of a summary's table, by model."""
    rows = [line.split() for line in lines]
    return {name: " ".join(rest[7:]) for name, *rest in rows if name in MODELS}


def assert_all_used(run: Run, project: Kept, models: Iterable[str] = MODELS) -> None:
    assert "unused" not in run.out
    assert run.ret == 0, run.out
    assert project.files == files_of(*models)


# When there are items.


def test_no_items_where_nobody_keeps_snapshots(bare: Kept) -> None:
    assert snapshot_outcomes(bare.run("-k", "test_snapshot or declared")) == {}
    assert not bare.folder.exists()


@pytest.mark.parametrize("option", [UPDATE, "--snapshot-update-new-only"])
def test_an_update_begins_them(bare: Kept, option: str) -> None:
    run = bare.run(option)

    assert snapshot_outcomes(run) == dict.fromkeys(map(item, MODELS), "passed")
    assert_all_used(run, bare)


def test_an_update_without_the_option_writes_nothing(bare: Kept) -> None:
    bare.test("def test_own(): pass")

    assert bare.run_without(UPDATE).counts == {"passed": 1}
    assert not bare.folder.exists()


def test_a_folder_that_is_named_asks_for_them(bare: Kept) -> None:
    bare.ini(rope_contract_snapshots="golden/rope")

    run = bare.run("-k", "test_snapshot")

    assert run.line(item("plain")) == "snapshot: plain: there is no golden/rope/plain.ropeargs"
    bare.run(UPDATE, "-k", "test_snapshot")
    assert {path.name for path in (bare.root / "golden/rope").iterdir()} == files_of(*MODELS)


def test_nothing_is_written_beside_the_models_or_the_plugin(kept: Kept) -> None:
    """A syrupy extension writes beside the file of a test unless told otherwise."""
    kept.run(UPDATE)

    assert list(kept.root.rglob("__snapshots__")) == []
    assert {path.name for path in (kept.root / "scripts/models").glob("*.*")} == {
        *("plain.py", "other.py")
    }


def test_a_folder_that_is_a_file_is_one_error(bare: Kept) -> None:
    bare.write(FOLDER, "")

    assert bare.run().usage_error == [
        "ERROR: rope_contract_snapshots: 'tests/rope_snapshots' is a file, not a folder",
        "  remedy: name a folder; it need not be there yet",
    ]


# What they hold.


def test_flags_and_values_are_lines(kept: Kept) -> None:
    assert kept.texts["plain.ropeargs"].decode().splitlines() == [
        "--num-layers 2",
        "--hidden-size 64",
        "--num-attention-heads 4",
        "--kv-channels 16",
        "--position-embedding-type rope",
        "--rotary-base 10000",
        "--rotary-percent 1.0",
    ]
    lines = kept.texts["plain.ropeconfig"].decode().splitlines()
    assert "rotary_base: 10000 (declared: --rotary-base 10000)" in lines


def test_the_same_is_written_every_time(kept: Kept) -> None:
    before = kept.texts
    shutil.rmtree(kept.folder)

    kept.run(UPDATE, "-k", "test_snapshot")

    assert kept.texts == before


def test_what_matches_is_not_written_again(kept: Kept) -> None:
    before = {path: path.stat().st_mtime_ns for path in kept.folder.iterdir()}

    assert_all_used(kept.run(UPDATE), kept)
    assert {path: path.stat().st_mtime_ns for path in kept.folder.iterdir()} == before


def test_a_change_is_told_in_the_first_line(kept: Kept) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))

    run = kept.run("-k", "test_snapshot")

    assert run.text(item("plain")).splitlines() == [
        "snapshot: plain: --rotary-base 10000 became --rotary-base 50000",
        "  in tests/rope_snapshots/plain.ropeargs:",
        "    --num-layers 2",
        "    ...",
        "    --position-embedding-type rope",
        "  - --rotary-base 10000",
        "  + --rotary-base 50000",
        "    --rotary-percent 1.0",
        f"  remedy: if that is right: pytest --rope-contract --snapshot-update '{item('plain')}'",
        "",
        (
            "snapshot: plain: rotary_base: 10000 (declared: --rotary-base 10000) became "
            "rotary_base: 50000 (declared: --rotary-base 50000)"
        ),
        "  in tests/rope_snapshots/plain.ropeconfig:",
        "    kind: rope (declared: --position-embedding-type rope)",
        "    attention: gpt",
        "  - rotary_base: 10000 (declared: --rotary-base 10000)",
        "  + rotary_base: 50000 (declared: --rotary-base 50000)",
        "    rotary_dim: 16 (declared: --kv-channels 16)",
        "    ...",
        "    returns: 1",
        f"  remedy: if that is right: pytest --rope-contract --snapshot-update '{item('plain')}'",
    ]
    assert snapshot_outcomes(run)[item("other")] == "passed"
    assert "2 snapshots failed. 2 snapshots passed." in run.out


def test_a_change_fails_the_model_in_the_summary(kept: Kept) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))

    for run in (kept.run(), kept.run_on_two()):
        assert verdicts(run.summary) == {"plain": "FAILED snapshot", "other": "ok, no contract"}


def test_a_change_is_counted_as_a_failure(kept: Kept) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))

    assert kept.run("-qq").summary[0] == "1 failed, 1 ok (1 without a contract); -v shows all"


def test_a_change_is_named_beside_the_rules_that_fail(kept: Kept) -> None:
    kept.model("plain", f"{PLAIN} --rotary-scaling-factor 8")

    assert verdicts(kept.run().summary)["plain"] == "FAILED inert-flag, snapshot"


def test_a_change_fails_the_model_where_nothing_else_is_run(kept: Kept) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))

    assert verdicts(kept.run("-k", "test_snapshot").summary) == {"plain": "FAILED snapshot"}


def test_a_snapshot_that_is_not_there_fails_the_model_in_the_summary(kept: Kept) -> None:
    (kept.folder / "plain.ropeargs").unlink()

    assert verdicts(kept.run().summary)["plain"] == "FAILED snapshot"


@pytest.mark.parametrize(
    "args", [("-k", "not test_snapshot"), (UPDATE,)], ids=["not-run", "update"]
)
def test_the_summary_is_the_same_where_nothing_is_compared(
    kept: Kept, args: tuple[str, ...]
) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))

    found = verdicts(kept.run(*args).summary)

    assert found == {"plain": "ok, no contract", "other": "ok, no contract"}


def test_a_change_that_a_mark_expects_fails_no_model(kept: Kept) -> None:
    kept.conftest(marked("plain", "xfail(reason='known')"))
    kept.model("plain", PLAIN.replace("10000", "50000"))

    run = kept.run(REPORT)

    assert verdicts(run.summary)["plain"] == "ok, no contract"
    assert run.reported("plain")["snapshot"] is None


def test_the_report_has_what_changed(kept: Kept) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))

    run = kept.run(REPORT)

    assert run.reported("plain")["snapshot"] == run.text(item("plain"))
    assert run.reported("other")["snapshot"] is None


def test_the_diff_can_be_left_out(kept: Kept) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))

    run = kept.run("-k", "test_snapshot", "--snapshot-diff-mode=disabled")

    assert run.text(item("plain")).splitlines()[:3] == [
        "snapshot: plain: --rotary-base 10000 became --rotary-base 50000",
        "  in tests/rope_snapshots/plain.ropeargs",
        f"  remedy: if that is right: pytest --rope-contract --snapshot-update '{item('plain')}'",
    ]


def test_the_remedy_is_one(kept: Kept) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))

    assert kept.run(UPDATE, item("plain")).ret == 0
    assert_all_used(kept.run(), kept)


def test_what_is_refused_is_kept_as_refused(kept: Kept) -> None:
    kept.model("plain", f"{PLAIN} --rotary-base x")

    kept.run(UPDATE, "-k", "test_snapshot")

    assert kept.texts["plain.ropeconfig"].startswith(b"refused: by parser (SystemExit)\n")
    assert kept.run("-k", "test_snapshot").ret == 0


def test_a_rope_type_is_one_line_of_the_example(example: Project) -> None:
    """What review sees of the flag that the two flash models lacked."""
    shutil.copytree(EXAMPLE / FOLDER, example.root / FOLDER, dirs_exist_ok=True)
    script = example.root / "scripts/models/glm4.7-flash.py"
    now = (example.root / FOLDER / "glm4.7-flash.ropeargs").read_text().splitlines()
    text = script.read_text()
    assert text.count('*("--rope-type", "rope"),') == 1
    script.write_text(text.replace('*("--rope-type", "rope"),', ""))

    run = example.run_without("--rope-contract", UPDATE, "-k", "test_snapshot and glm4.7")

    assert run.ret == 0
    before = (example.root / FOLDER / "glm4.7-flash.ropeargs").read_text().splitlines()
    changed = [line for line in difflib.ndiff(before, now) if not line.startswith(" ")]
    assert changed == ["+ --rope-type rope"]
    config = (example.root / FOLDER / "glm4.7-flash.ropeconfig").read_text()
    assert config.startswith("kind: yarn (filled: ropeframe.arguments:set_default_megatron_args)\n")


# Items that do not come to their snapshot.


@pytest.mark.parametrize("update", [(), (UPDATE,)], ids=["compare", "update"])
@pytest.mark.parametrize(
    "mark",
    [
        "skip('later')",
        "xfail(run=False)",
    ],
    ids=["skip", "xfail-not-run"],
)
def test_marked_items_lose_no_file(kept: Kept, mark: str, update: tuple[str, ...]) -> None:
    kept.conftest(marked("other", mark))
    before = kept.texts

    assert_all_used(kept.run(*update), kept)
    assert kept.texts == before


def test_an_expected_failure_loses_no_file(kept: Kept) -> None:
    kept.model("other", MLA)
    kept.conftest(marked("other", "xfail(reason='known')"))
    before = kept.texts

    run = kept.run("-k", "test_snapshot")

    assert run.outcomes[item("other")] == "xfailed"
    assert run.ret == 0
    assert "unused" not in run.out
    assert kept.texts == before


@pytest.mark.parametrize(
    "where",
    ["setup", "definition", "hook"],
)
def test_a_failure_before_the_snapshot_loses_no_file(kept: Kept, where: str) -> None:
    if where == "definition":
        kept.script("other", "raise ValueError('broken')")
    elif where == "setup":
        kept.conftest(
            "@pytest.fixture(autouse=True)\n"
            "def broken(request):\n"
            "    assert 'other' not in request.node.name\n"
        )
    else:
        kept.conftest(
            "def pytest_runtest_call(item):\n    assert item.name != 'test_snapshot[other]'\n"
        )
    before = kept.texts

    for args in ((), (UPDATE,), (UPDATE, item("other")), (UPDATE, "-k", "other")):
        run = kept.run(*args)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        assert "unused" not in run.out
        assert kept.texts == before


def test_a_failing_contract_of_the_same_model_loses_no_file(kept: Kept) -> None:
    kept.test('@rope_expect("yarn", models=["plain"])\ndef test_it(): pass\n')
    shutil.rmtree(kept.folder)

    run = kept.run(UPDATE)

    assert run.outcomes["scripts/models/plain.py::test_expected[plain]"] == "failed"
    assert run.outcomes[item("plain")] == "passed"
    assert kept.files == files_of(*MODELS)


def test_a_broken_definition_says_why_once(kept: Kept) -> None:
    kept.script("other", "raise ValueError('broken')")

    together, alone = kept.run("-k", "other"), kept.run(item("other"))

    assert together.reason(item("other")).endswith(
        "test_declared says why nothing is known of other"
    )
    assert alone.line(item("other")).startswith("other: model_args() raised ValueError: broken")


# Models that come and go.


def test_a_removed_model(kept: Kept) -> None:
    (kept.root / "scripts/models/other.py").unlink()
    before = kept.texts

    run = kept.run()
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    assert "2 snapshots unused." in run.out
    assert UNUSED in run.out
    assert kept.texts == before

    assert kept.run(UPDATE, "--snapshot-no-cleanup").ret == 0
    assert kept.texts == before

    run = kept.run(UPDATE)
    assert "2 unused snapshots deleted." in run.out
    assert "Deleted other (tests/rope_snapshots/other.ropeargs)" in run.out
    assert_files_again(run, kept, "plain")


def assert_files_again(run: Run, project: Kept, *models: str) -> None:
    assert run.ret == 0
    assert project.files == files_of(*models)
    assert_all_used(project.run(), project, models)


def test_a_renamed_model(kept: Kept) -> None:
    path = kept.root / "scripts/models/other.py"
    path.rename(path.with_name("another.py"))

    run = kept.run()
    assert run.line(item("another")) == (
        "snapshot: another: there is no tests/rope_snapshots/another.ropeargs"
    )
    assert "2 snapshots unused." in run.out

    assert_files_again(kept.run(UPDATE), kept, "plain", "another")


def test_a_model_that_is_renamed_in_case_only(kept: Kept) -> None:
    path = kept.root / "scripts/models/other.py"
    path.rename(path.with_name("Other.py"))

    assert_files_again(kept.run(UPDATE), kept, "plain", "Other")


def test_a_model_in_a_file_system_that_ignores_case(kept: Kept) -> None:
    """There the renamed model's file is the old one, as a second link is here."""
    path = kept.root / "scripts/models/other.py"
    path.rename(path.with_name("Other.py"))
    for suffix in ("ropeargs", "ropeconfig"):
        (kept.folder / f"Other.{suffix}").hardlink_to(kept.folder / f"other.{suffix}")

    run = kept.run(UPDATE)

    assert run.ret == 0
    assert "unused" not in run.out
    assert files_of("Other") <= kept.files


def test_an_added_model(kept: Kept) -> None:
    kept.model("third", MLA)
    before = kept.texts

    run = kept.run("-k", "test_snapshot")
    assert run.line(item("third")) == (
        "snapshot: third: there is no tests/rope_snapshots/third.ropeargs"
    )
    assert kept.texts == before

    kept.model("plain", PLAIN.replace("10000", "50000"))
    run = kept.run("--snapshot-update-new-only", "-k", "test_snapshot")
    assert snapshot_outcomes(run)[item("third")] == "passed"
    assert snapshot_outcomes(run)[item("plain")] == "failed"
    assert kept.files == files_of("plain", "other", "third")
    assert {name: text for name, text in kept.texts.items() if "third" not in name} == before


def test_models_that_differ_only_in_case_or_by_a_slash_are_one_failure(kept: Kept) -> None:
    """The second of them has no file that could be the first one's."""
    kept.model("OTHER")
    kept.conftest(
        "def pytest_ropecontract_models(registry):\n"
        "    try:\n"
        "        registry.add('ot/her', ['--a'])\n"
        "    except Exception as error:\n"
        "        print(error)\n"
    )

    run = kept.run(UPDATE, "-s")

    assert "'ot/her' cannot name a definition: it contains '/'" in run.out
    assert {name for name, how in run.outcomes.items() if how == "failed"} == {
        "scripts/models/other.py::test_declared[other.py]"
    }
    assert "unused" not in run.out
    assert kept.files == files_of("OTHER", "other", "plain")


def test_models_of_one_file_have_files_of_their_own(bare: Kept) -> None:
    bare.conftest(
        "def pytest_ropecontract_models(registry):\n"
        "    registry.add('tiny.v1', '--num-layers 1 --hidden-size 8 --num-attention-heads 1')\n"
        "    registry.add('tiny.v2', '--num-layers 2 --hidden-size 8 --num-attention-heads 1')\n"
    )
    bare.run(UPDATE, "-k", "test_snapshot")
    assert bare.files == files_of(*MODELS, "tiny.v1", "tiny.v2")
    bare.conftest(
        "def pytest_ropecontract_models(registry):\n"
        "    registry.add('tiny.v2', '--num-layers 2 --hidden-size 8 --num-attention-heads 1')\n"
        + marked("tiny.v2", "skip('later')")
    )

    bare.run(UPDATE)

    assert bare.files == files_of(*MODELS, "tiny.v2")


# Runs of a part.

PARTS = {
    "keyword": ("-k", "plain and snapshot"),
    "not-the-other": ("-k", "not other"),
    "not-snapshots": ("-k", "plain or not snapshot"),
    "not-this-folder": ("-k", "(plain and snapshot) or not scripts"),
    "mark": ("-m", "rope_contract", "-k", "plain and not nothing"),
    "deselect": ("--deselect", item("other")),
    "node-id": (item("plain"),),
    "path": ("scripts/models/plain.py",),
    "folder": ("scripts",),
    "everything": (".",),
    "ignored": ("--ignore=scripts/models/other.py",),
    "other-models": ("-o", "rope_contract_models=scripts/models/plain.py"),
    "one-that-fails": ("-x", "--maxfail=1"),
    "unknown-dirname": ("--snapshot-dirname=rope_snapshots",),
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_part_loses_no_file(kept: Kept, part: tuple[str, ...]) -> None:
    before = kept.texts

    assert_all_used(kept.run(UPDATE, *part), kept)
    assert kept.texts == before


def test_a_part_does_not_update_the_rest(kept: Kept) -> None:
    for model in MODELS:
        kept.model(model, PLAIN.replace("10000", "50000"))
    before = kept.texts

    run = kept.run(UPDATE, "-k", "test_snapshot and plain")

    assert run.ret == 0
    assert {name for name, text in kept.texts.items() if text != before[name]} == files_of("plain")


@pytest.mark.parametrize("option", ["--lf", "--ff", "--nf", "--sw"])
def test_what_failed_last_loses_no_file(kept: Kept, option: str) -> None:
    kept.model("plain", PLAIN.replace("10000", "50000"))
    assert kept.run().ret == pytest.ExitCode.TESTS_FAILED
    before = kept.texts

    run = kept.run(option, UPDATE)

    assert run.ret == 0
    assert "unused" not in run.out
    assert kept.files == files_of(*MODELS)
    assert {name for name, text in kept.texts.items() if text != before[name]} == files_of("plain")


def test_in_two_processes(kept: Kept) -> None:
    """Written, compared, and removed: as in one."""
    kept.model("third", MLA)
    for suffix in ("ropeargs", "ropeconfig"):
        shutil.copy(kept.folder / f"plain.{suffix}", kept.folder / f"gone.{suffix}")
    kept.script("other", "raise ValueError('broken')")
    before = kept.texts

    run = kept.run_on_two("-k", "not omissions")
    assert "2 snapshots unused." in run.out
    assert "snapshot: third: there is no tests/rope_snapshots/third.ropeargs" in run.out
    assert kept.texts == before

    run = kept.run_on_two(UPDATE)
    assert "2 snapshots passed. 2 snapshots generated. 2 unused snapshots deleted." in run.out
    assert kept.files == files_of(*MODELS, "third")
    assert {name: kept.texts[name] for name in files_of(*MODELS)} == {
        name: text for name, text in before.items() if "gone" not in name
    }


# Other files in the same folder, other extensions.


def test_foreign_files_are_left_alone(kept: Kept) -> None:
    foreign = {"README.md": b"why", "plain.json": b"{}", "sub/notes.txt": b"x", ".keep": b""}
    for name, data in foreign.items():
        kept.write(f"{FOLDER}/{name}", data)

    for args in ((), (UPDATE,)):
        run = kept.run(*args)
        assert run.ret == 0
        assert "unused" not in run.out
        assert kept.files == files_of(*MODELS) | foreign.keys()


OTHERS = {
    "amber": ("snapshot", "test_others.ambr"),
    "json": ("snapshot.use_extension(JSONSnapshotExtension)", "test_others/test_others.json"),
    "flat": ("snapshot.use_extension(FlatJson)", "test_others.json"),
    "every-ending": ("snapshot.use_extension(FlatText)", "test_others"),
}
OTHER_EXTENSIONS = """
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

class Flat:
    @classmethod
    def dirname(cls, *, test_location):
        return FOLDER

    @classmethod
    def get_file_basename(cls, *, test_location, index):
        return "test_others"

class FlatJson(Flat, JSONSnapshotExtension):
    pass

class FlatText(Flat, SingleFileSnapshotExtension):
    file_extension = ""
    _write_mode = WriteMode.TEXT

def test_others(snapshot):
    assert "3" == EXTENDED
"""


@pytest.mark.parametrize(("extended", "their"), OTHERS.values(), ids=OTHERS)
def test_other_extensions_in_the_same_folder(kept: Kept, extended: str, their: str) -> None:
    """They look for what is unused in the folder, and so does this one."""
    if "FlatText" in extended and Version(metadata.version("syrupy")) < Version("7.0.2"):
        pytest.skip("this syrupy ends in an error where an extension has an empty ending")
    text = OTHER_EXTENSIONS.replace("EXTENDED", extended)
    kept.test(f"FOLDER = {str(kept.folder)!r}\n{text}", "test_others")
    before = kept.texts
    dirname = "--snapshot-dirname=rope_snapshots"
    runs = (
        (kept.run, UPDATE),
        (kept.run, "--deselect", "scripts/models/other.py"),
        (kept.run, UPDATE, "-k", "not test_snapshot"),
        (kept.run_without, UPDATE),
        (kept.run,),
    )

    for how, *args in runs:
        run = how(dirname, *args)
        assert run.ret == 0, run.out
        assert "unused" not in run.out
        assert kept.files == before.keys() | {their}
        assert {name: kept.texts[name] for name in before} == before


# Files that hold no snapshot.

BAD = {
    "empty": (b"", "is empty"),
    "truncated": (b"--num-layers 2\n--hidden", "ends in the middle of a line"),
    "binary": (bytes(range(256)), "is not UTF-8: byte 0x80 in line 2"),
    "nul": (b"--a\0\n", "holds U+0000 in line 1"),
    "latin-1": (b"--a\n--b \xe9\n", "is not UTF-8: byte 0xe9 in line 2"),
    "crlf": (PLAIN.replace(" --", "\r\n--").encode() + b"\r\n", "has CRLF at the end of its lines"),
    "huge": (None, "is larger than 16 MiB"),
}


@pytest.mark.parametrize(("data", "problem"), BAD.values(), ids=BAD)
def test_a_bad_file_is_one_failure_and_can_be_written_anew(
    kept: Kept, data: bytes | None, problem: str
) -> None:
    before = kept.texts
    path = kept.folder / "plain.ropeargs"
    if data is None:
        with path.open("r+b") as file:
            file.truncate(2**34)
    else:
        path.write_bytes(data)

    run = kept.run("-k", "test_snapshot")

    assert run.text(item("plain")).splitlines() == [
        f"snapshot: plain: tests/rope_snapshots/plain.ropeargs {problem}",
        (
            "  remedy: restore it, or write it anew: "
            f"pytest --rope-contract --snapshot-update '{item('plain')}'"
        ),
    ]
    assert run.counts == {"failed": 1, "passed": 1}
    assert kept.run(UPDATE, "-k", "test_snapshot").ret == 0
    assert kept.texts == before


@pytest.mark.parametrize(
    ("args", "headline"),
    [
        ((), "tests/rope_snapshots/plain.ropeargs is a folder"),
        ((UPDATE,), "tests/rope_snapshots/plain.ropeargs cannot be written: Is a directory"),
    ],
    ids=["compare", "update"],
)
def test_a_folder_in_place_of_a_file(kept: Kept, args: tuple[str, ...], headline: str) -> None:
    (kept.folder / "plain.ropeargs").unlink()
    kept.write(f"{FOLDER}/plain.ropeargs/x", "")

    run = kept.run("-k", "test_snapshot", *args)

    assert run.line(item("plain")) == f"snapshot: plain: {headline}"
    assert run.counts == {"failed": 1, "passed": 1}
    assert not [name for name in kept.files if name.startswith(".")]


def test_a_folder_that_cannot_be_made(bare: Kept) -> None:
    bare.write("blocked", "")
    bare.ini(rope_contract_snapshots="blocked/rope")

    run = bare.run(UPDATE, "-k", "test_snapshot")

    assert run.line(item("plain")) == (
        "snapshot: plain: blocked/rope/plain.ropeargs cannot be written: Not a directory"
    )


# Without syrupy.


def test_without_syrupy_the_items_are_skipped(kept: Kept) -> None:
    before = kept.texts

    run = kept.run("-p", "no:syrupy", "-k", "test_snapshot")

    assert run.outcomes == dict.fromkeys(map(item, MODELS), "skipped")
    assert run.reason(item("plain")).endswith("snapshots need syrupy, which this run does not load")
    assert kept.texts == before


def test_without_syrupy_the_fixture_says_so(bare: Kept) -> None:
    bare.test("def test_it(rope_snapshot): pass")

    run = bare.run_without("-p", "no:syrupy")

    assert run.text("tests/test_contracts.py::test_it") == (
        "rope_snapshot needs syrupy, which this run does not load"
    )
