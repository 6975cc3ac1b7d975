"""The terminal summary: one line a model."""

from __future__ import annotations

from typing import Any

import pytest
from plugin_project import MLA, PLAIN, REPORT, YARN, Project

from pytest_ropecontract.contracts.findings import RULES
from pytest_ropecontract.report import document
from pytest_ropecontract.report.terminal import FOLDED_ABOVE, launcher_lines, summary_lines
from pytest_ropecontract.report.verdict import NO_CONTRACT, NOT_RUN
from pytest_ropecontract.rope.config import RopeConfig

FILL = (
    "def fill(args):\n"
    "    if args.multi_latent_attention and not args.rope_type: args.rope_type = 'yarn'\n"
)
TABLE = """\
model     kind  base  dim factor length betas  mscales verdict
broken    -     -     -   -      -      -      -       ERROR
silent    yarn* 10000 8   1*     4096*  32*/1* 1*/0*   FAILED implicit-yarn
allowed   yarn* 10000 8   1*     4096*  32*/1* 1*/0*   allowed implicit-yarn
llama     rope  10000 16  8*     8192*  -      -       ok, no contract
none      none  -     -   -      -      -      -       ok, no contract
plain     rope  10000 16  -      -      -      -       ok
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

    head, *rows = mixed.run().summary

    assert len(head) <= 80
    (name,) = (row for row in rows if row.startswith("a-model-"))
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

    _, row, rules, *_ = project.run().summary

    assert row.startswith("bad ")
    assert row.endswith(" FAILED")
    assert {"rejected-flag", "spaced-token", "expectation"} <= set(rules.strip().split(", "))


def test_same_summary_in_several_processes(mixed: Project) -> None:
    assert mixed.run("-n2").summary == mixed.run().summary


def test_same_summary_in_any_order(mixed: Project) -> None:
    assert mixed.run_shuffled("3").summary == mixed.run().summary


def test_no_summary_where_no_item_ran(mixed: Project) -> None:
    for args in (("tests",), ("-k", "test_it"), ("--collect-only",)):
        assert " rope contract: " not in mixed.run(*args).out


def test_quiet_run_counts_what_has_no_finding(mixed: Project) -> None:
    lines = mixed.run("-q").summary

    assert [line.split()[0] for line in lines[:4]] == ["model", "broken", "silent", "allowed"]
    assert lines[-1] == "and 4 ok (3 without a contract); -v shows all"


def test_very_quiet_run_counts_everything(mixed: Project) -> None:
    assert mixed.run("-qq").summary[0] == (
        "2 failed, 1 allowed, 4 ok (3 without a contract); -v shows all"
    )


def test_no_summary_where_none_is_wanted(mixed: Project) -> None:
    assert " rope contract: " not in mixed.run("--no-summary").out


def test_no_colours_where_none_are_wanted(mixed: Project) -> None:
    assert "\x1b[" in mixed.run("--color=yes").out
    assert "\x1b[" not in mixed.run("--color=no").out


def test_reports_are_merged_once(mixed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of models take a while, and the JSON report and the summary both need them."""
    calls = []
    merge = document.merge
    monkeypatch.setattr(document, "merge", lambda *found: calls.append(1) or merge(*found))

    mixed.run("--rope-contract-report=report.json")

    assert calls == [1]


def test_title_begins_a_line(mixed: Project) -> None:
    lines = mixed.run("-k", "plain").outlines
    (index,) = [i for i, line in enumerate(lines) if " rope contract: " in line]

    assert lines[index + 1].startswith("model ")


def facts(
    name: str, status: str | None = None, *, contracts: int = 1, not_run: int = 0, rules: int = 1
):
    """Return what is known of a model whose values have the longest texts that occur."""
    rope = dict.fromkeys(RopeConfig.__dataclass_fields__)
    rope |= {"kind": "yarn", "rotary_base": 32000000.0, "rotary_dim": 64}
    rope |= {"rotary_scaling_factor": 40.0, "original_max_position_embeddings": 131072}
    rope |= {"beta_fast": 32.0, "beta_slow": 1.0, "mscale": 0.707, "mscale_all_dim": 0.707}
    found = [{"rule": rule, "status": status} for rule in RULES[:rules]] if status else []
    origins = {"beta_fast": "parser-default"}
    return {
        "name": name,
        "rope": rope,
        "origins": origins,
        "findings": found,
        "contracts": contracts,
        "contracts_not_run": not_run,
        "snapshot": None,
        "error": None,
    }


def many() -> list[dict]:
    """Return 300 models, of which 6 fail by several rules and 3 are allowed."""
    states = {**dict.fromkeys(range(0, 300, 50), "fail"), **dict.fromkeys((7, 77, 177), "allowed")}
    return [
        facts(f"deepseek-v3-{index:03}-base_{index}layer", states.get(index), rules=2)
        for index in range(300)
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("verbosity", [-2, -1, 0, 1])
def test_no_line_is_wider_than_the_terminal(width: int, verbosity: int) -> None:
    lines = [line for line, _ in summary_lines(many(), width, verbosity)]

    # Nothing divides the name of a rule.
    longest = max(map(len, RULES)) + len("    ,")
    assert max(map(len, lines)) <= max(width, longest)


def test_many_models_are_folded_to_those_with_findings() -> None:
    lines = summary_lines(many(), 200)

    assert [state for _, state in lines] == [
        "head",
        *["fail"] * 6,
        *["allowed"] * 3,
        "head",
        "head",
    ]
    assert lines[-1][0] == "and 291 ok; -v shows all"


def test_verbose_run_shows_many_models() -> None:
    names = {line.split()[0] for line, state in summary_lines(many(), 200, 1) if state != "head"}

    assert names == {model["name"] for model in many()}


def test_few_models_are_not_folded() -> None:
    models = [facts(f"model-{index}") for index in range(FOLDED_ABOVE)]

    assert len([1 for _, state in summary_lines(models, 80) if state == "ok"]) == FOLDED_ABOVE


def test_narrow_terminal_keeps_name_and_verdict() -> None:
    lines = [line for line, _ in summary_lines([facts("kimi-k2", "fail")], 30)]

    assert lines[0].split()[0] == "model"
    assert lines[0].split()[-1] == "verdict"
    assert "mscales" not in lines[0]
    assert lines[1].split()[0] == "kimi-k2"
    assert "FAILED" in lines[1]


@pytest.mark.parametrize(("not_run", "said"), [(0, "no contract"), (1, "not run")])
def test_model_whose_contract_is_not_run_says_so_in_every_width(not_run: int, said: str) -> None:
    for width in (60, 80, 200):
        lines = summary_lines([facts("kimi-k2", contracts=0, not_run=not_run)], width)
        assert said in "\n".join(line for line, _ in lines)


def launcher(name: str, model: str, status: str | None = None) -> dict[str, Any]:
    findings = [] if status is None else [{"rule": rule, "status": status} for rule in LONGEST]
    training = [{"model": model}, {"model": model}]
    return {"name": name, "training": training, "findings": findings, "error": None}


LONGEST = sorted(RULES, key=len)[-3:]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_launchers_fit_every_width_and_failures_come_first(width: int) -> None:
    long = "a-model-with-a-very-long-name-that-no-terminal-has-room-for_4layer"
    launchers = [
        launcher("scripts/a.sh", "fine"),
        launcher(f"scripts/run-{long}.py::execute", long, "fail"),
        launcher("scripts/c.sh", "fine", "allowed"),
    ]

    lines = launcher_lines(launchers, width)

    assert max(len(text) for text, _ in lines) <= width
    begins = [text.split()[0][:12] for text, _ in lines if not text.startswith(" ")]
    assert begins == ["launcher", "scripts/run-", "scripts/c.sh", "scripts/a.sh"]
    words = " ".join(text for text, _ in lines).replace(",", "").split()
    assert words.count("fine") == 2
    assert {rule: words.count(rule) for rule in LONGEST} == dict.fromkeys(LONGEST, 2)


@pytest.mark.parametrize(
    ("verbosity", "shown", "counted"),
    [
        (1, 45, None),
        (0, 1, "launchers: 44 ok; -v shows all"),
        (-1, 1, "launchers: 44 ok; -v shows all"),
        (-2, 0, "launchers: 1 failed, 44 ok; -v shows all"),
    ],
)
def test_launchers_are_folded_as_models_are(
    verbosity: int, shown: int, counted: str | None
) -> None:
    fine = [launcher(f"scripts/{index}.sh", "fine") for index in range(44)]
    launchers = [*fine, launcher("scripts/x.sh", "fine", "fail")]

    lines = [text for text, _ in launcher_lines(launchers, 80, verbosity)]

    rows = [line for line in lines if line.startswith("scripts/")]
    assert len(rows) == shown
    assert [line for line in lines if "-v shows all" in line] == ([counted] if counted else [])


@pytest.fixture
def contracted(project: Project) -> Project:
    """Give a project whose models have a mark, a checkpoint and no contract."""
    for name in ("marked", "published", "plain"):
        project.model(name)
    project.test('@rope_expect("rope", models=["marked"])\ndef test_it(): pass')
    project.write("tests/checkpoints/published.json", '{"rope_theta": 10000, "head_dim": 16}')
    return project


def verdicts(project: Project, *args: str) -> dict[str, str]:
    run = project.run_without("--rope-contract", REPORT, *args)
    rows = [line.split() for line in run.summary[1:]]
    found = {name: " ".join(rest[rest.index("rope") + 7 :]) for name, *rest in rows}
    for name, verdict in found.items():
        assert bool(run.reported(name)["contracts_not_run"]) == (verdict == NOT_RUN)
    return found


@pytest.mark.parametrize(
    "args",
    [
        ("-k", "test_declared"),
        ("-k", "test_declared", "-n1"),
        ("scripts/models", "-k", "test_declared"),
        (
            "scripts/models",
            "--deselect",
            "scripts/models/marked.py::test_expected[marked]",
            "--deselect",
            "scripts/models/published.py::test_checkpoint[published]",
        ),
    ],
)
def test_contract_that_is_not_run_is_no_missing_one(
    contracted: Project, args: tuple[str, ...]
) -> None:
    assert verdicts(contracted, *args) == {
        "marked": NOT_RUN,
        "published": NOT_RUN,
        "plain": NO_CONTRACT,
    }


def test_contract_that_is_run_is_ok(contracted: Project) -> None:
    assert verdicts(contracted) == {"marked": "ok", "published": "ok", "plain": NO_CONTRACT}


def test_mark_is_run_by_its_own_test(contracted: Project) -> None:
    found = verdicts(contracted, "-k", "test_declared or test_it")

    assert found["marked"] == "ok"


def test_mark_that_fails_in_its_own_test_fails_the_model(contracted: Project) -> None:
    contracted.test('@rope_expect("yarn", models=["marked"])\ndef test_it(): pass')

    found = verdicts(contracted, "-k", "test_declared or test_it")

    assert found["marked"] == "FAILED expectation"


def test_contract_is_counted_once(contracted: Project) -> None:
    contracted.test(
        '@rope_expect("rope", models=["marked"])\ndef test_it(): pass\n'
        '@rope_expect("rope", models=["marked"])\ndef test_again(): pass'
    )
    run = contracted.run(REPORT)
    assert run.reported("marked")["contracts"] == 1
    run = contracted.run(REPORT, "-k", "test_declared or test_it or test_again")
    assert run.reported("marked")["contracts"] == 1


def test_contracts_that_were_not_run_are_counted_where_models_are_folded() -> None:
    models = [facts("a", contracts=0), *(facts(n, contracts=0, not_run=2) for n in "bc")]

    assert summary_lines(models, 100, -1)[-1][0] == (
        "3 ok (1 without a contract, 2 with contracts that were not run); -v shows all"
    )
