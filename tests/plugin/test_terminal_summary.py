"""The terminal summary: one line a model."""

from __future__ import annotations

import pytest
from plugin_project import MLA, PLAIN, YARN, Project

FILL = (
    "def fill(args):\n"
    "    if args.multi_latent_attention and not args.rope_type: args.rope_type = 'yarn'\n"
)
TABLE = """\
model     kind  base  dim factor length betas  mscales verdict
allowed   yarn* 10000 8   1*     4096*  32*/1* 1*/0*   allowed implicit-yarn
broken    -     -     -   -      -      -      -       ERROR
llama     rope  10000 16  8*     8192*  -      -       ok, no contract
none      none  -     -   -      -      -      -       ok, no contract
plain     rope  10000 16  -      -      -      -       ok
silent    yarn* 10000 8   1*     4096*  32*/1* 1*/0*   FAILED implicit-yarn
stretched yarn  10000 8   4      4096*  32*/1* 1/1     ok, no contract
* not declared in the definition's flags
"""


@pytest.fixture
def mixed(project: Project) -> Project:
    project.ini(
        rope_contract_pythonpath=["."],
        rope_contract_defaults=["fill:fill"],
        rope_contract_allow=["allowed implicit-yarn because"],
    )
    project.write("fill.py", FILL)
    project.model("plain")
    project.model("allowed", MLA)
    project.model("silent", MLA)
    project.model("stretched", YARN)
    project.model("llama", f"{PLAIN} --use-rope-scaling")
    project.model("none", PLAIN.replace("rope --rotary-base 10000 --rotary-percent 1.0", "none"))
    project.script("broken", "return None")
    project.test('@rope_expect("rope", models=["plain"])\ndef test_it(): pass')
    return project


def test_one_line_for_every_model(mixed: Project) -> None:
    rows = [line.split() for line in mixed.run().summary]

    assert rows == [line.split() for line in TABLE.splitlines()]


def test_no_legend_where_everything_is_declared(project: Project) -> None:
    project.model("plain")

    assert [line.split()[0] for line in project.run().summary] == ["model", "plain"]


def test_title_names_the_surface(mixed: Project) -> None:
    assert " rope contract: megatron-core-0.19.2 (recorded) " in mixed.run().out


@pytest.mark.parametrize("columns", ["100", "120", "200"])
def test_lines_fit_a_wide_terminal(
    mixed: Project, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    mixed.model("a-model-with-a-very-long-name-that-no-terminal-has-room-for_4layer")

    lines = mixed.run().summary

    assert max(map(len, lines)) <= int(columns)
    assert len(lines) == 10


def test_columns_fit_a_narrow_terminal_and_names_stay_readable(mixed: Project) -> None:
    mixed.model("a-model-with-a-very-long-name-that-no-terminal-has-room-for_4layer")

    head, name, *_ = mixed.run().summary

    assert len(head) <= 80
    assert name.startswith("a-model-with")
    assert "_4layer " in name


def test_long_name_is_cut_in_the_middle(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.model("a-model-with-a-very-long-name_20layer")
    project.model("a-model-with-a-very-long-name_4layer")
    names = [line.split()[0] for line in project.run().summary[1:]]
    assert len(set(names)) == 2
    assert all("~" in name and name.endswith("layer") for name in names)

    monkeypatch.setenv("COLUMNS", "200")
    assert project.run().summary[1].startswith("a-model-with-a-very-long-name_20layer ")


def test_columns_are_aligned(mixed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in ("80", "160"):
        monkeypatch.setenv("COLUMNS", columns)
        head, *rows = mixed.run().summary[:-1]
        for title in ("kind", "base", "verdict"):
            assert all(row[head.index(title) - 1] == " " for row in rows)
            assert all(row[head.index(title)] != " " for row in rows)


def test_several_failing_rules_are_named(project: Project) -> None:
    project.script("bad", f"return [*{PLAIN.split()!r}, '--rope-scaling-factor', '3', '--no such']")
    project.test('@rope_expect("yarn", models=["bad"])\ndef test_it(): pass')

    (line,) = [line for line in project.run().summary if line.startswith("bad ")]

    assert "FAILED " in line
    assert "spaced-token" in line
    assert "expectation" in line


def test_same_summary_in_several_processes(mixed: Project) -> None:
    assert mixed.run("-n2").summary == mixed.run().summary


def test_same_summary_in_any_order(mixed: Project) -> None:
    assert mixed.run_shuffled("3").summary == mixed.run().summary


def test_no_summary_where_no_item_ran(mixed: Project) -> None:
    for args in (("tests",), ("-k", "test_it"), ("--collect-only",)):
        assert " rope contract: " not in mixed.run(*args).out


def test_quiet_run_keeps_the_summary(mixed: Project) -> None:
    assert mixed.run("-q").summary == mixed.run().summary


def test_title_begins_a_line(mixed: Project) -> None:
    lines = mixed.run("-k", "plain").outlines
    (index,) = [i for i, line in enumerate(lines) if " rope contract: " in line]

    assert lines[index + 1].startswith("model ")
