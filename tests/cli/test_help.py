"""Help that reads well on its own, and a README that leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_ropecontract import options
from pytest_ropecontract.cli import main

README = Path(__file__).parents[2] / "README.md"
UNDER = {
    (): ("explain", "rule", "checkpoint", "surface", "snapshot"),
    ("checkpoint",): ("pull",),
    ("snapshot",): ("import",),
    ("surface",): ("list", "show", "record", "verify", "diff"),
}
COMMANDS = [(), *((*above, name) for above, names in UNDER.items() for name in names)]


@pytest.fixture
def shown(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def show(*command: str) -> str:
        with pytest.raises(SystemExit) as exited:
            main([*command, "--help"])
        assert exited.value.code == 0
        return capsys.readouterr().out

    return show


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_fits_a_terminal_and_says_what_it_is_for(shown, command):
    out = shown(*command)

    described = out.split("\n\n")[1]
    assert described[0].isupper()
    assert described.rstrip().endswith(".")
    # A synopsis is never broken inside of one argument.
    assert [line for line in out.split("\n\n", 1)[1].splitlines() if len(line) > 82] == []


@pytest.mark.parametrize("command", UNDER, ids=" ".join)
def test_help_lists_every_command_under_it(shown, command):
    listed = re.findall(r"^    (\w+)(?: |$)", shown(*command), re.MULTILINE)

    assert tuple(listed) == UNDER[command]


def test_readme_names_every_command_option_and_key():
    text = README.read_text(encoding="utf-8")

    for name in (*options.LISTS, *options.TEXTS, "rope_contract_strict"):
        assert f"`{name}`" in text, name
    added = re.findall(r'"(--rope-contract[\w-]*)"', Path(options.__file__).read_text())
    assert len(set(added)) >= 6
    for name in added:
        assert f"`{name}" in text, name
    for name in UNDER[()]:
        assert f"`ropecontract {name}" in text, name
