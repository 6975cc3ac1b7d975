"""Hostile checkpoints, snapshots and surfaces, and other things in place of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hostile_documents import DOCUMENTS, PLACES, SNAPSHOTS
from one_line import first_line
from plugin_project import PLAIN

from pytest_ropecontract.definitions import DefinitionError, Registry
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.surface_files import load_file

if TYPE_CHECKING:
    from pathlib import Path

    from plugin_project import Project, Run

CHECKPOINTS = "tests/checkpoints"
SNAPSHOT_FOLDER = "tests/rope_snapshots"


def models(project: Project, *names: str) -> None:
    for name in ("a-good", *names, "z-good"):
        project.write(f"scripts/models/{name}.txt", PLAIN)
    project.ini(rope_contract_models=["scripts/models/*"])


def told(done: Run, function: str, expected: dict[str, str | None]) -> dict[str, str]:
    """Return of which models something else is said than expected."""
    assert "INTERNALERROR" not in done.out + done.err
    nodes = {node.partition("[")[2][:-1]: node for node in done.outcomes if function in node}
    assert {"a-good", "z-good", *expected} == nodes.keys()
    assert {done.outcomes[nodes[one]] for one in ("a-good", "z-good")} == {"passed"}
    wrong = {}
    for name, said in expected.items():
        outcome = done.outcomes[nodes[name]]
        if outcome == "failed":
            line = first_line(done.text(nodes[name]))
            if name not in line or (said or "") not in line:
                wrong[name] = line
        elif said:
            wrong[name] = outcome
    return wrong


def test_checkpoints(project: Project) -> None:
    said = {name: text for name, (_, _, text) in DOCUMENTS.items()}
    places = {f"at-{name}": "" if name == "link-to-nothing" else name for name in PLACES}
    models(project, *said, *places)
    for good in ("a-good", "z-good"):
        project.write(
            f"{CHECKPOINTS}/{good}.json",
            '{"rope_theta": 10000, "partial_rotary_factor": 1.0, "head_dim": 16, '
            '"hidden_size": 64, "num_attention_heads": 4, "model_type": "llama"}',
        )
    for name, (content, _, _) in DOCUMENTS.items():
        project.write(f"{CHECKPOINTS}/{name}.json", content)
    for name, make in PLACES.items():
        make(project.root / CHECKPOINTS / f"at-{name}.json")

    done = project.run_with_all("-k", "test_checkpoint or test_declared", "-q", "scripts/models")

    expected = {**said, **dict.fromkeys(places)}
    assert told(done, "test_checkpoint", expected) == {}
    assert told(done, "test_declared", dict.fromkeys(expected, "")) == {}
    failed = {node for node, outcome in done.outcomes.items() if outcome == "failed"}
    assert {node.partition("[")[2][:-1] for node in failed} >= places.keys()


def test_snapshots(project: Project) -> None:
    names = [*SNAPSHOTS, *(f"at-{name}" for name in PLACES)]
    models(project, *names)
    update = project.run_with_all(
        "-k", "test_snapshot", "--snapshot-update", "-q", "scripts/models"
    )
    assert update.ret == 0, update.out
    for name, (content, _) in SNAPSHOTS.items():
        project.write(f"{SNAPSHOT_FOLDER}/{name}.ropeargs", content)
    for name, make in PLACES.items():
        path = project.root / SNAPSHOT_FOLDER / f"at-{name}.ropeargs"
        path.unlink()
        make(path)

    done = project.run_with_all("-k", "test_snapshot", "-q", "scripts/models")

    said = {name: text for name, (_, text) in SNAPSHOTS.items()}
    assert told(done, "test_snapshot", {**said, **{f"at-{name}": None for name in PLACES}}) == {}
    assert done.counts == {"passed": 2, "failed": len(names)}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_surface(name: str, tmp_path: Path) -> None:
    content, said, _ = DOCUMENTS[name]
    path = tmp_path / "hostile.json"
    path.write_bytes(content)

    with pytest.raises(RopeContractError) as raised:
        load_file(path)

    line = first_line(str(raised.value))
    assert line.startswith("surface hostile.json ")
    assert said in line


@pytest.mark.parametrize("name", PLACES)
def test_no_surface(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    PLACES[name](path)

    with pytest.raises(RopeContractError) as raised:
        load_file(path)

    assert first_line(str(raised.value)).startswith("surface hostile.json ")


@pytest.mark.parametrize("suffix", [".py", ".sh", ".txt"])
@pytest.mark.parametrize("name", PLACES)
def test_no_definition(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"hostile{suffix}"
    PLACES[name](path)

    with pytest.raises(DefinitionError) as raised:
        Registry(tmp_path).add_file(path).expand()

    assert first_line(str(raised.value)).startswith("hostile: the ")


def test_what_is_no_file_is_shown_under_the_project(project: Project) -> None:
    names = [name for name in PLACES if not name.endswith("folder")]
    models(project)
    for name in names:
        PLACES[name](project.root / f"scripts/models/{name}.txt")

    done = project.run("-k", "test_declared", "-q")

    assert told(done, "test_declared", dict.fromkeys(names)) == {}
    assert done.counts == {"passed": 2, "failed": len(names)}


@pytest.mark.parametrize("name", ["pipe", "link-to-nothing", "folder"])
def test_a_run_without_a_surface_ends_with_one_line(project: Project, name: str) -> None:
    models(project)
    PLACES[name](project.root / "hostile.json")

    lines = project.run("--rope-contract-surface=hostile.json").usage_error

    assert first_line("\n".join(lines)).startswith(
        "ERROR: --rope-contract-surface: surface hostile.json "
    )
