"""All hostile launchers in one run: each is an item of its own, and the good ones pass."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hostile_launchers import FILES, PYTHON, SHELL
from one_line import first_line
from plugin_project import PLAIN

if TYPE_CHECKING:
    from plugin_project import Project

FUNCTION = {".sh": "", ".py": "::train"}
CATALOGUES = {".sh": SHELL, ".py": PYTHON}


@pytest.mark.parametrize("suffix", CATALOGUES)
def test_every_launcher_fails_with_one_line_or_is_good_all_the_same(
    project: Project, suffix: str
) -> None:
    project.write("scripts/models/good.txt", PLAIN)
    for name, text in FILES.items():
        project.write(name, text)
    os.mkfifo(project.root / "pipe.env")
    for name, (content, _) in CATALOGUES[suffix].items():
        data = content if isinstance(content, bytes) else content.encode()
        project.write(f"launch/{name}{suffix}", data)
    project.ini(
        rope_contract_models=["scripts/models/*.txt"],
        rope_contract_launchers=[f"launch/*{suffix}{FUNCTION[suffix]} = good"],
        rope_contract_time_limit="1",
    )
    before = {path: path.read_bytes() for path in project.root.rglob("*.*") if path.is_file()}

    done = project.run_without("--rope-contract", "-k", "test_launch", "-q", "--tb=no", "launch")

    assert "INTERNALERROR" not in done.out + done.err
    assert len(done.outcomes) == len(CATALOGUES[suffix])
    wrong = {}
    for name, (_, said) in CATALOGUES[suffix].items():
        node = next(one for one in done.outcomes if one.startswith(f"launch/{name}{suffix}::"))
        if done.outcomes[node] == "failed":
            line = first_line(done.text(node))
            if said == "" or f"launch/{name}{suffix}" not in line or (said or "") not in line:
                wrong[name] = line
        elif said:
            wrong[name] = done.outcomes[node]
    assert wrong == {}
    assert {path: path.read_bytes() for path in before} == before
