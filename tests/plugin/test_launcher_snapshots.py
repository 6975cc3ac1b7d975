"""A flag that a definition gains shows as one line in everything that carries it."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from plugin_project import EXAMPLE

if TYPE_CHECKING:
    from plugin_project import Project

MODEL = "glm4.7-flash"
CARRIERS = [
    f"scripts/models/{MODEL}.py::test_snapshot[{MODEL}]",
    "tests/test_what_launchers_run.py::test_what_is_run[scripts/run-glm4.7-flash-2nodes.sh-None]",
    "tests/test_what_launchers_run.py::test_what_is_run[scripts/run_glm47_flash.py-prepare]",
    "tests/test_what_launchers_run.py::test_what_is_run[scripts/run_glm47_flash.py-execute]",
]


def test_a_new_flag_is_one_line_in_each_snapshot_that_carries_it(example: Project) -> None:
    """Args, shell launcher, ``prepare`` and ``execute``: the flag, and nothing else."""
    # Under a name that no module of this very run has.
    shutil.copy(EXAMPLE / "tests/test_launchers.py", example.root / CARRIERS[-1].partition("::")[0])
    definition = example.root / f"scripts/models/{MODEL}.py"
    text = definition.read_text()
    flag = '        *("--rope-type", "rope"),\n'
    assert flag in text
    definition.write_text(text.replace(flag, ""))
    before = example.run_without("--rope-contract", "--snapshot-update", *CARRIERS)
    definition.write_text(text)
    after = example.run_without("--rope-contract", *CARRIERS)

    assert set(before.outcomes.values()) == {"passed"}
    assert sorted(after.outcomes) == sorted(CARRIERS)
    for item in CARRIERS:
        changed = re.findall(r"^(?:E +| +)([+-]) +(--\S.*)$", after.text(item), re.MULTILINE)
        assert changed == [("+", "--rope-type rope")]
