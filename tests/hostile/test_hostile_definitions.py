"""All hostile definitions in one run: each is an item of its own, and no other one is harmed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hostile_argv
import hostile_python
import hostile_shell
import pytest
from one_line import first_line
from plugin_project import PLAIN

if TYPE_CHECKING:
    from hostile_python import Catalogue
    from plugin_project import Project, Run

ALL = {
    ".py": hostile_python.SCRIPTS,
    ".sh": hostile_shell.ARRAYS,
    ".txt": hostile_argv.FILES,
}
HANGING = {".py": hostile_python.HANGING, ".sh": hostile_shell.HANGING}


def run(project: Project, catalogues: dict[str, Catalogue]) -> Run:
    """Run the items of hostile definitions beside good ones."""
    for suffix, catalogue in catalogues.items():
        for name, (content, _) in catalogue.items():
            data = content if isinstance(content, bytes) else content.encode()
            project.write(f"scripts/models/{suffix[1:]}-{name}{suffix}", data)
    project.model("a-good")
    project.write("scripts/models/k-good.sh", f"MODEL_ARGS=({PLAIN})\n")
    project.model("z-good")
    project.ini(rope_contract_models=["scripts/models/*"])
    return project.run("-k", "test_declared", "-q", "--tb=no", "scripts/models")


def check(done: Run, catalogues: dict[str, Catalogue]) -> None:
    assert done.ret == pytest.ExitCode.TESTS_FAILED, done.err
    assert "INTERNALERROR" not in done.out + done.err
    outcomes = {node.partition("[")[2][:-1]: outcome for node, outcome in done.outcomes.items()}
    nodes = {node.partition("[")[2][:-1]: node for node in done.outcomes}
    assert [outcomes.pop(name) for name in ("a-good", "k-good", "z-good")] == ["passed"] * 3
    names = {
        f"{suffix[1:]}-{name}": said
        for suffix, catalogue in catalogues.items()
        for name, (_, said) in catalogue.items()
    }
    assert outcomes.keys() == names.keys()
    wrong = {}
    for name, said in names.items():
        if said == "":
            if outcomes[name] != "passed":
                wrong[name] = done.line(nodes[name])
        elif outcomes[name] == "failed":
            line = first_line(done.text(nodes[name]))
            if name not in line or (said or "") not in line:
                wrong[name] = line
        elif said is not None:
            wrong[name] = outcomes[name]
    assert wrong == {}


@pytest.mark.parametrize("suffix", ALL)
def test_every_definition_fails_with_one_line_or_is_good_all_the_same(
    project: Project, suffix: str
) -> None:
    check(run(project, {suffix: ALL[suffix]}), {suffix: ALL[suffix]})


def test_every_definition_that_hangs_is_ended(project: Project) -> None:
    project.ini(rope_contract_time_limit="0.5")

    check(run(project, HANGING), HANGING)
