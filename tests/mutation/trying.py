"""Have mutmut change the code of a part and run that part's own tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
TREE = "tree.txt"
CONFTEST = Path(__file__).with_name("copied_conftest.py")
COPIED = ("pytest_ropecontract", "tests", "example_project")


class Part(NamedTuple):
    """What is changed, and which tests are to notice it."""

    code: str
    """A folder of the package."""
    tests: tuple[str, ...]
    """Folders and files of the tests."""
    skipped: tuple[str, ...] = ()
    """Tests that cost seconds where those beside them cost milliseconds, or that see mutmut."""
    untouched: tuple[str, ...] = ()
    """Files that are a part of their own, or run only with a live Megatron."""


SLOW_CONTRACTS = (
    "contracts/checkpoints/test_checkpoint_excerpt.py::test_what_is_written_is_what_was_kept",
    "contracts/checkpoints/test_checkpoint_excerpt.py::test_no_document_is_read_otherwise_as_an_excerpt",
    "contracts/checkpoints/test_checkpoint_excerpt.py::test_excerpt_of_an_excerpt_is_the_same",
    "contracts/checkpoints/test_checkpoint_comparison.py::test_any_document_against_anything_that_is_built",
    "contracts/checkpoints/test_checkpoint_comparison.py::test_every_difference_has_a_size_of_its_own",
    "contracts/checkpoints/test_checkpoint_reader.py::test_no_document_breaks_the_reader",
)
PARTS = {
    "rope": Part(
        "rope",
        ("rope",),
        (
            "rope/test_resolution.py::test_any_command_line_is_built_or_refused",
            "rope/test_resolution.py::TestBeforeTheCorrection",
            "rope/test_frequencies.py::TestImpossible::test_the_widest_head_is_computed",
        ),
    ),
    "omission": Part(
        "omission",
        ("omissions",),
        (
            "omissions/test_soundness.py",
            "omissions/test_planted.py",
            "omissions/test_public.py",
            "omissions/test_engine.py::test_any_subset_is_resolved_as_from_scratch",
            "omissions/test_engine.py::test_what_the_parser_demands_is_refused_where_it_is_lost",
            "omissions/test_strategy.py::test_something_is_left_out_and_draws_differ",
            # Hypothesis shrinks nothing here.
            "omissions/test_strategy.py::test_shrinks_to_what_matters",
            "omissions/test_strategy.py::test_counterexample_is_shown_in_words",
        ),
    ),
    "contracts": Part(
        "contracts",
        ("contracts",),
        SLOW_CONTRACTS,
        ("arity/*", "checkpoints/*"),
    ),
    "arity": Part("contracts/arity", ("contracts",), SLOW_CONTRACTS),
    "checkpoints": Part("contracts/checkpoints", ("contracts",), SLOW_CONTRACTS),
    "megatron": Part(
        "megatron",
        ("megatron",),
        (
            "megatron/test_comparison.py::test_no_change_is_overlooked",
            "megatron/test_comparison.py::test_no_missing_record_is_overlooked",
            "megatron/test_hostile_surfaces.py",
        ),
        ("recording/*", "live.py", "machine.py"),
    ),
    "definitions": Part(
        "definitions",
        ("definitions",),
        (
            "definitions/test_import.py::test_import_is_light",
            "definitions/test_import.py::test_everything_needs_only_the_standard_library",
            "definitions/test_import.py::test_importing_everything_starts_no_process",
            "definitions/test_callable_source.py::test_environment_that_was_asked_for_is_recorded",
            "definitions/test_python_script.py::test_environment_that_was_asked_for_is_recorded",
            "definitions/test_python_script.py::test_environment_that_the_script_set_itself_is_not_recorded",
        ),
    ),
}


def run(name: str, folder: Path, names: list[str]) -> None:
    """Run mutmut in a copy of the project; what an earlier run found in the folder is kept."""
    for copied in COPIED:
        shutil.rmtree(folder / copied, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
        shutil.copytree(PROJECT / copied, folder / copied, ignore=ignored)
    shutil.copy(CONFTEST, folder / "conftest.py")
    (folder / TREE).write_text(tree(name), encoding="utf-8")
    (folder / "pyproject.toml").write_text("[tool.pytest]\nstrict = true\n", encoding="utf-8")
    (folder / "setup.cfg").write_text(settings(name, folder / "temporary"), encoding="utf-8")
    mutmut = str(Path(sys.executable).with_name("mutmut"))
    subprocess.run([mutmut, "run", "--max-children", "1", *names], cwd=folder, check=True)


def tree(name: str) -> str:
    """Return what git calls the code of a part, with ``-dirty`` where files differ from it."""
    code = f"pytest_ropecontract/{PARTS[name].code}"
    found = _git("rev-parse", "--short=12", f"HEAD:{code}") or "without history"
    return f"{found}-dirty" if _git("status", "--porcelain", code) else found


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def settings(name: str, temporary: Path) -> str:
    """Return the settings of mutmut for one part, whose tests write to a temporary folder."""
    part = PARTS[name]
    code = f"pytest_ropecontract/{part.code}"
    several = {
        "only_mutate": [f"{code}/*"],
        "do_not_mutate": [f"{code}/{file}" for file in part.untouched],
        "also_copy": ["example_project", "conftest.py"],
        "pytest_add_cli_args": [
            "--hypothesis-seed=0",
            "--hypothesis-profile=mutants",
            # pytest is run for each mutant: to look for what earlier runs have left, and to collect
            # garbage until a destructor complains, would take half of the time.
            f"--basetemp={temporary}",
            "-pno:unraisableexception",
            "-pno:threadexception",
        ],
        "pytest_add_cli_args_test_selection": [
            *(f"tests/{test}" for test in part.tests),
            *(f"--deselect=tests/{test}" for test in part.skipped),
        ],
    }
    lines = ["[mutmut]", "source_paths = pytest_ropecontract"]
    # Hypothesis refuses to run a test twice in one process.
    lines += ["process_isolation = forkserver"]
    # The copy has no history of its own.
    lines += ["use_git_change_detection = false"]
    lines += ["timeout_constant = 3.0", "timeout_multiplier = 4.0"]
    for key, values in several.items():
        if values:
            lines += [f"{key} =", *(f"    {value}" for value in values)]
    return "\n".join(lines) + "\n"
