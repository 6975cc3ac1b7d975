from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ropecontract.definitions import DefinitionError
from pytest_ropecontract.definitions.outcome import ended_early, placed

ROOT = Path("/project")
FILE = ROOT / "models" / "kimi-k2.py"
PRINTED = ("printed: loading",)

ANSWERS = {
    "time": (
        {"ended": "time", "status": -9},
        "did not end within 0.5 s",
        PRINTED,
        "remove what it waits for; a definition only has to name flags",
    ),
    "unable": (
        {"ended": "unable", "reason": "[Errno 11] no more"},
        "no process can be started for it: [Errno 11] no more",
        (),
        "check the limits on processes, open files and temporary space",
    ),
    "signal": (
        {"ended": "itself", "status": -11},
        "was killed by SIGSEGV before it returned",
        PRINTED,
        "check which library it loads, and how much memory it takes",
    ),
    "hang-up": (
        {"ended": "itself", "status": -1},
        "was killed by SIGHUP before it returned",
        PRINTED,
        "check which library it loads, and how much memory it takes",
    ),
    "status": (
        {"ended": "itself", "status": 3},
        "ended its process with status 3 before it returned",
        PRINTED,
        "let it return, or raise an exception that says what is wrong",
    ),
    "success": (
        {"ended": "itself", "status": 0},
        "ended its process with status 0 before it returned",
        PRINTED,
        "let it return, or raise an exception that says what is wrong",
    ),
}


@pytest.mark.parametrize(("answer", "headline", "details", "remedy"), ANSWERS.values(), ids=ANSWERS)
def test_how_a_process_ended_is_told(answer, headline, details, remedy):
    error = ended_early(
        {**answer, "output": "loading\n"},
        origin=f"{FILE}:3",
        limit=0.5,
        expected="before it returned",
    )
    assert error.headline == headline
    assert error.origin == f"{FILE}:3"
    assert error.details == details
    assert error.remedy == remedy


def test_paths_below_the_root_are_written_from_there_everywhere():
    error = DefinitionError(
        f"{FILE} differs from {ROOT}/base.py",
        origin=f"{FILE}:3",
        details=[f"{FILE}:3 in model_args", "/elsewhere/models"],
        remedy=f"mend {FILE}",
    )
    found = placed(error, FILE, ROOT)
    assert found.headline == "models/kimi-k2.py differs from base.py"
    assert found.origin == "models/kimi-k2.py:3"
    assert found.details == ("models/kimi-k2.py:3 in model_args", "/elsewhere/models")
    assert found.remedy == error.remedy


def test_error_without_an_origin_is_placed_at_its_file():
    assert placed(DefinitionError("failed"), FILE, ROOT).origin == "models/kimi-k2.py"


def test_folder_whose_name_only_begins_like_the_root_stays_whole():
    error = DefinitionError("failed", origin="/project-old/kimi-k2.py")
    assert placed(error, FILE, ROOT).origin == "/project-old/kimi-k2.py"


def test_paths_stay_whole_where_the_root_is_that_of_the_file_system():
    error = DefinitionError("failed in /a//b", origin="/a//b/kimi-k2.py:1")
    found = placed(error, Path("/a/b/kimi-k2.py"), Path("/"))
    assert (found.headline, found.origin) == ("failed in /a//b", "/a//b/kimi-k2.py:1")
