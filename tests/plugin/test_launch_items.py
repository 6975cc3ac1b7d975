"""Items of launchers: what is launched is what the definition that they name builds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from plugin_project import MLA, YARN

if TYPE_CHECKING:
    from plugin_project import Project, Run

HEAD = "#!/usr/bin/env bash\nset -euo pipefail\n"
EXPAND = "MODEL_ARGS=($(python3 scripts/model_args.py {}))\n"
SHELL_MODEL = """\
MODEL_ARGS=(
    --num-layers 2 --hidden-size 64 --num-attention-heads 4 --kv-channels 16
    --position-embedding-type rope --rotary-percent 1.0
    --rotary-base "${MODEL_ARGS_ROTARY_BASE:-10000}"
)
"""


def only(project: Project, launcher: str, *args: str) -> Run:
    """Run the item of one launcher."""
    project.ini(rope_contract_launchers=[launcher])
    return project.run_without("--rope-contract", "-k", "test_launch", *args)


def shell(project: Project, body: str, launcher: str = "scripts/run.sh") -> str:
    project.write(launcher, HEAD + body)
    return launcher


def lines(run: Run, nodeid: str) -> list[str]:
    return [line.strip() for line in run.text(nodeid).splitlines()]


def test_a_launcher_that_launches_its_definition_passes(example: Project) -> None:
    launcher = shell(
        example,
        EXPAND.format("glm4.7-flash")
        + 'ray job submit -- python3 train.py "${MODEL_ARGS[@]}" --lr 1\n',
    )

    assert only(example, launcher).outcomes == {"scripts/run.sh::test_launch[run]": "passed"}


def test_a_repeated_flag_with_another_value_fails(example: Project) -> None:
    launcher = shell(
        example,
        EXPAND.format("glm4.7-flash")
        + "ARGS='--hf-checkpoint /data/GLM-4.7-Flash --rotary-base 10000'\n"
        + "ray job submit -- python3 train.py ${MODEL_ARGS[@]} $ARGS\n",
    )
    run = only(example, launcher)
    text = lines(run, "scripts/run.sh::test_launch[run]")

    assert text[0] == (
        "launcher-override: scripts/run.sh: glm4.7-flash: rotary_base is 10000, and glm4.7-flash, "
        "which --hf-checkpoint /data/GLM-4.7-Flash names, builds 1000000"
    )
    assert "flags: --rotary-base 1000000 -> --rotary-base 1000000 --rotary-base 10000" in text
    assert "rotary_base: 1000000 (declared) -> 10000 (declared)" in text
    assert "and 1 flag that rotates nothing" in text
    assert any(line.startswith("size:     31 of 32 frequencies differ") for line in text)
    assert any(line.startswith("repeated-flag: scripts/run.sh: ") for line in text)


def test_the_flags_of_another_model_than_the_checkpoint_fail(example: Project) -> None:
    launcher = shell(
        example,
        EXPAND.format("kimi-k2-thinking")
        + "torchrun --nproc-per-node 8 train.py ${MODEL_ARGS[@]} --hf-checkpoint /ckpt/Kimi-K2.5\n",
    )
    text = lines(only(example, launcher), "scripts/run.sh::test_launch[run]")

    assert text[0] == (
        "launcher-override: scripts/run.sh: kimi-k25: beta_fast is 1, and kimi-k25, which "
        "--hf-checkpoint /ckpt/Kimi-K2.5 names, builds 32; the flags are those of kimi-k2-thinking"
    )
    assert "flags: --beta-fast 32 -> --beta-fast 1" in text
    assert any(line.startswith("size:") and "frequencies differ" in line for line in text)
    # The contracts of K2.5 count for it, too.
    assert any(
        line.startswith("expectation: scripts/run.sh: kimi-k25: beta_fast is 1") for line in text
    )
    assert any(line.startswith("checkpoint: scripts/run.sh: kimi-k25: ") for line in text)


KNOB = json.dumps({"env_vars": {"MODEL_ARGS_ROTARY_BASE": "5000000"}})


@pytest.mark.parametrize(
    "submit",
    [
        f"ray job submit --runtime-env-json='{KNOB}' -- python3",
        "env MODEL_ARGS_ROTARY_BASE=5000000 python3",
    ],
    ids=["ray", "env"],
)
def test_a_knob_that_reaches_the_environment_alone_fails(project: Project, submit: str) -> None:
    project.write("scripts/models/knob.sh", SHELL_MODEL)
    launcher = shell(
        project, f"source scripts/models/knob.sh\n{submit} train.py ${{MODEL_ARGS[@]}}\n"
    )
    text = lines(only(project, launcher), "scripts/run.sh::test_launch[run]")
    where = "the runtime environment" if "ray" in submit else "the environment"

    assert text[0] == (
        f"launcher-override: scripts/run.sh: knob: MODEL_ARGS_ROTARY_BASE=5000000 reaches {where} "
        "alone and no flag: rotary_base is 10000, not 5000000"
    )
    assert "flags: --rotary-base 5000000 -> --rotary-base 10000" in text
    assert any(line.startswith("size:     7 of 8 frequencies differ") for line in text)


def test_a_knob_that_no_definition_reads_fails_by_its_name(project: Project) -> None:
    project.model("yarn", YARN)
    runtime = json.dumps({"env_vars": {"OUR_ROTARY_SCALING_FACTOR": "8", "NCCL_DEBUG": "INFO"}})
    launcher = shell(
        project, f"ray job submit --runtime-env-json='{runtime}' -- python3 train.py {YARN}\n"
    )
    text = lines(only(project, launcher), "scripts/run.sh::test_launch[run]")

    assert text[0].endswith(
        "OUR_ROTARY_SCALING_FACTOR=8 reaches the runtime environment alone and no flag: "
        "rotary_scaling_factor is 4, not 8"
    )


def test_numbers_are_the_same_however_they_are_written(project: Project) -> None:
    """Of a flag that is repeated, and of a knob: as a rounded division writes them."""
    project.model("yarn", YARN)
    factor = "--rotary-scaling-factor 4.0000000000000009"
    knob = "OUR_ROTARY_SCALING_FACTOR=4.00000000000001"
    launcher = shell(project, f"env {knob} python3 train.py {YARN} {factor}\n")

    assert only(project, launcher).counts == {"passed": 1}


def test_flags_of_every_run_are_not_those_that_differ(project: Project) -> None:
    """The base arguments come before a definition's flags, and before those that are launched."""
    project.ini(rope_contract_base_args=["--rotary-base", "5"])
    project.model("mla", f"{MLA} --rope-type rope")
    launcher = shell(project, f"python3 train.py {MLA} --rope-type rope --rotary-base 7\n")

    text = lines(only(project, launcher), "scripts/run.sh::test_launch[run]")

    assert "flags: --rotary-base 10000 -> --rotary-base 10000 --rotary-base 7" in text


def test_a_knob_that_reached_the_flags_passes(project: Project) -> None:
    project.write("scripts/models/knob.sh", SHELL_MODEL)
    launcher = shell(
        project,
        "export MODEL_ARGS_ROTARY_BASE=10000\nsource scripts/models/knob.sh\n"
        "python3 train.py ${MODEL_ARGS[@]}\n",
    )

    assert only(project, launcher).counts == {"passed": 1}


OVERRIDES = {
    "pruned": ("kimi-k25_2layer", "load_sibling_model_args(__file__, 'kimi-k25', nlayers=2)"),
    "lora": ("glm5-744B-A40B_lora", "load_sibling_model_args(__file__, 'glm5-744B-A40B')"),
}


@pytest.mark.parametrize("kind", OVERRIDES)
def test_a_flag_that_a_variant_overrides_itself_is_caught(example: Project, kind: str) -> None:
    """Pruned and LoRA variants share the RoPE of what they are built on."""
    model, base = OVERRIDES[kind]
    checkpoint = "Kimi-K2.5" if kind == "pruned" else "GLM-5-744B-A40B"
    example.write(
        f"scripts/models/{model}.py",
        "from ropeframe.definitions import load_sibling_model_args\n\n"
        f"def model_args():\n    return [*{base}, '--rotary-base', '10000']\n",
    )
    launcher = example.write(
        "scripts/run.py",
        "from ropeframe.launch import train\n\ndef execute():\n"
        f"    train({model!r}, '/data/{checkpoint}', 8)\n",
    )
    base_name = model.rpartition("_")[0]
    run = only(example, f"scripts/{launcher.name}::execute = {base_name}")
    first = run.line("scripts/run.py::test_launch[execute]")

    assert first.startswith(
        f"launcher-override: scripts/run.py::execute: {base_name}: rotary_base is 10000, and "
    )
    assert first.endswith(f"; the flags are those of {model}")


def test_a_script_that_runs_on_other_nodes_is_followed(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    shell(project, f"python3 train.py {MLA} --rope-type rope --rotary-base $1\n", "scripts/in.sh")
    launcher = shell(project, 'srun -N 2 bash "$(dirname "$0")/in.sh" 7\n')
    text = only(project, launcher).text("scripts/run.sh::test_launch[run]")

    assert text.startswith("launcher-override: scripts/run.sh: mla: rotary_base is 7")


def test_flags_that_a_lost_backslash_cuts_off_fail(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    launcher = shell(project, f"python3 train.py {MLA} --rope-type rope\n  --rotary-base 7\n")
    text = lines(only(project, launcher), "scripts/run.sh::test_launch[run]")

    assert text[:3] == [
        (
            "scripts/run.sh: --rotary-base is run as a command, not passed as a flag: the line "
            "before it lacks its backslash at the end, or a quote"
        ),
        "at: scripts/run.sh:4",
        "command: --rotary-base 7",
    ]


def test_flags_that_a_line_break_in_a_text_of_python_cuts_off_fail(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    project.write("flags.txt", f"{MLA} --rope-type rope\n")
    project.write(
        "scripts/run.py",
        "import pathlib, subprocess\n\ndef execute():\n"
        "    flags = pathlib.Path('flags.txt').read_text()\n"
        "    subprocess.run(f'python3 train.py {flags} --rotary-base 7', shell=True)\n",
    )
    run = only(project, "scripts/run.py::execute")

    assert lines(run, "scripts/run.py::test_launch[execute]")[:2] == [
        (
            "scripts/run.py::execute: --rotary-base is run as a command, not passed as a flag: in "
            "the text of the command a line ends before it"
        ),
        "at: scripts/run.py:5",
    ]


def test_a_launcher_that_trains_nothing_but_stray_flags_fails_for_those(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    launcher = shell(project, "ray start --head\n--rotary-base 7\n")

    assert "--rotary-base is run as a command" in only(project, launcher).line(
        "scripts/run.sh::test_launch[run]"
    )


def test_every_training_command_is_checked(example: Project) -> None:
    launcher = shell(
        example,
        EXPAND.format("glm4.7-flash")
        + "python3 train.py ${MODEL_ARGS[@]}\npython3 train.py ${MODEL_ARGS[@]} --rotary-base 1\n"
        "python3 train.py ${MODEL_ARGS[@]} --rotary-base 2\n",
    )
    text = "\n".join(lines(only(example, launcher), "scripts/run.sh::test_launch[run]"))

    assert "rotary_base is 1, and glm4.7-flash, whose flags it expands, builds 1000000" in text
    assert "rotary_base is 2, and" in text


def test_what_cannot_be_told_of_one_command_hides_nothing_of_another(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    launcher = shell(
        project,
        "python3 train.py --num-layers 3\n"
        f"python3 train.py {MLA} --rope-type rope --rotary-base 7\n",
    )
    text = only(project, launcher).text("scripts/run.sh::test_launch[run]")

    assert text.startswith("scripts/run.sh: cannot be told which definition it launches\n")
    assert "launcher-override: scripts/run.sh: mla: rotary_base is 7" in text


def test_a_flag_that_rotates_nothing_may_be_repeated(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    launcher = shell(project, f"python3 train.py {MLA} --rope-type rope --num-layers 4\n")

    assert only(project, launcher).counts == {"passed": 1}


def test_rules_hold_for_what_is_launched(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    launcher = shell(project, f"python3 train.py {MLA} --rope-type rope --of-nobody 3\n")

    assert (
        only(project, launcher)
        .line("scripts/run.sh::test_launch[run]")
        .startswith("rejected-flag: scripts/run.sh: mla: ")
    )


def test_a_flag_that_nobody_knows_hides_no_override(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    launcher = shell(
        project, f"python3 train.py {MLA} --rope-type rope --of-nobody 3 --rotary-base 7\n"
    )
    text = only(project, launcher).text("scripts/run.sh::test_launch[run]")

    assert "launcher-override: scripts/run.sh: mla: rotary_base is 7" in text
    assert "rejected-flag: scripts/run.sh: mla: " in text


def test_a_deviation_can_be_allowed_by_the_launcher(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    launcher = shell(project, f"python3 train.py {MLA} --rope-type rope --rotary-base 3\n")
    project.ini(
        rope_contract_allow=[
            "scripts/run.sh launcher-override an experiment",
            "scripts/run.sh repeated-flag an experiment",
        ]
    )
    run = only(project, launcher)

    assert run.reason("scripts/run.sh::test_launch[run]") == (
        "launcher-override allowed: an experiment; repeated-flag allowed: an experiment"
    )
    allowances = project.run("-k", "test_allowances")
    assert allowances.counts == {"passed": 1}


def test_an_allowance_that_no_launcher_needs_any_more_fails(project: Project) -> None:
    project.model("mla", f"{MLA} --rope-type rope")
    project.ini(
        rope_contract_launchers=[shell(project, f"python3 train.py {MLA} --rope-type rope\n")],
        rope_contract_allow=["scripts/run.sh launcher-override an experiment"],
    )

    assert project.run("-k", "test_allowances").counts == {"failed": 1}


UNTOLD = {
    "nothing runs": ("echo hi\n", "scripts/run.sh: it runs no command"),
    "nothing trains": (
        "ray stop\nray start --head\n",
        "scripts/run.sh: none of its 2 commands trains",
    ),
    "no name": (
        f"python3 train.py {MLA} --hf-checkpoint /data/other\n",
        "scripts/run.sh: cannot be told which definition it launches",
    ),
    "two names": (
        f"python3 train.py {MLA} --hf-checkpoint /data/one --load /data/other-two/two\n",
        (
            "scripts/run.sh: cannot be told whether it launches one or two, which build different "
            "embeddings: named by --hf-checkpoint /data/one and --load /data/other-two/two"
        ),
    ),
    "a text for another shell": (
        "ray job submit -- bash -c 'python3 train.py ${MODEL_ARGS[@]}'\n",
        (
            "scripts/run.sh: cannot be told what is launched: train.py is run in a text that only "
            "a shell can expand, by ray job submit bash -c"
        ),
    ),
    "a failure": ("echo hi >&2\nexit 3\n", "scripts/run.sh: exited with status 3"),
}


@pytest.mark.parametrize("case", UNTOLD)
def test_what_cannot_be_told_fails_with_a_reason(project: Project, case: str) -> None:
    body, line = UNTOLD[case]
    project.model("one", YARN)
    project.model("two", f"{MLA} --rope-type rope")
    launcher = shell(project, body)

    text = lines(only(project, launcher), "scripts/run.sh::test_launch[run]")

    assert text[0] == line
    assert text[-2].startswith("remedy: ")
    assert text[-1] == "more: ropecontract rule launcher-override"


ASKING = "subprocess.run(['nvidia-smi', 'topo'], capture_output=True, text=True).stdout"
OWN = "remedy: correct what it complains of, or set the variables that it needs: "
FAILING = {
    "raises by itself": ("raise KeyError('NODES')", None),
    "exits by itself": ("raise SystemExit('set NODES')", None),
    "asked before": (f"int({ASKING})", "nvidia-smi"),
    "asked two before": (f"int({ASKING} + {ASKING.replace('nvidia-smi', 'ray')})", "ray"),
}


@pytest.mark.parametrize("case", FAILING)
def test_remedy_of_a_failure_is_about_answers_only_where_something_was_asked(
    project: Project, case: str
) -> None:
    body, asked = FAILING[case]
    project.model("one", YARN)
    project.write("scripts/run.py", f"import subprocess\n\ndef execute():\n    {body}\n")

    text = lines(only(project, "scripts/run.py::execute"), "scripts/run.py::test_launch[execute]")

    assert text[0] == "scripts/run.py::execute: exited with status 1"
    remedy = text[-2]
    assert remedy.startswith(f"{OWN}rope_contract_launch_environment")
    assert ("rope_contract_launch_answers" in remedy) == (asked is not None)
    assert asked is None or asked in remedy


def test_remedy_of_a_shell_launcher_that_asked_nothing_is_not_about_answers(
    project: Project,
) -> None:
    project.model("one", YARN)
    launcher = shell(project, ": ${NODES:?is not set}\n")

    text = lines(only(project, launcher), "scripts/run.sh::test_launch[run]")

    assert "rope_contract_launch_answers" not in text[-2]


CALLS = {
    "run.sh": ("run", "exit 1\n", "rope_launch.shell('scripts/run.sh', args=[...])"),
    "run.py": ("run", "raise SystemExit(1)\n", "rope_launch.script('scripts/run.py', args=[...])"),
    "run.py::execute": (
        "execute",
        "def execute():\n    raise SystemExit(1)\n",
        "rope_launch.python('scripts/run.py', 'execute', NAME=VALUE)",
    ),
}


@pytest.mark.parametrize("launcher", CALLS)
def test_remedy_of_a_failure_says_how_arguments_are_given(project: Project, launcher: str) -> None:
    name, body, call = CALLS[launcher]
    project.model("one", YARN)
    file = project.write(f"scripts/{launcher.partition('::')[0]}", body)

    run = only(project, f"scripts/{launcher}")
    text = lines(run, f"scripts/{file.name}::test_launch[{name}]")

    assert text[-2] == (
        f"{OWN}rope_contract_launch_environment; where it needs arguments, record it in a test: "
        f"{call}"
    )


@pytest.mark.parametrize(
    ("complaint", "shown"), [("", "usage: run.sh NODES"), ("echo no NODES >&2", "no NODES")]
)
def test_what_a_failed_launcher_printed_is_shown_where_it_complained_of_nothing(
    project: Project, complaint: str, shown: str
) -> None:
    project.model("one", YARN)
    launcher = shell(project, f"echo usage: run.sh NODES\n{complaint}\nexit 2\n")

    text = lines(only(project, launcher), "scripts/run.sh::test_launch[run]")

    assert text[:2] == ["scripts/run.sh: exited with status 2", shown]
    assert text[2].startswith("remedy: ")


MISSING = "stderr: scripts/run.sh: line 3: models/no.sh: No such file or directory"
UNREAD = "#!/usr/bin/env bash\nset -x\nsource models/no.sh\npython3 train.py ${MODEL_ARGS[@]}"


def unread(project: Project, more: str = "") -> str:
    """Write a launcher that does not find the file of its flags."""
    project.model("one", YARN)
    project.write("scripts/run.sh", f"{UNREAD} {more}\n")
    return "scripts/run.sh"


def test_what_a_launcher_complained_of_is_shown_where_its_model_cannot_be_told(
    project: Project,
) -> None:
    text = lines(only(project, unread(project)), "scripts/run.sh::test_launch[run]")

    assert text[0] == "scripts/run.sh: cannot be told which definition it launches"
    assert [line for line in text if line.startswith("stderr: ")] == [MISSING]


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ("", "config-refused"),
        (YARN.replace("--rotary-scaling-factor 4", ""), "launcher-override"),
    ],
)
def test_what_a_launcher_complained_of_is_shown_where_its_flags_are_not_the_models(
    project: Project, more: str, rule: str
) -> None:
    run = only(project, f"{unread(project, more)} = one")
    text = lines(run, "scripts/run.sh::test_launch[run]")
    found = [line for line in text if line.startswith((rule, "stderr: "))]

    assert found[0].startswith(f"{rule}: scripts/run.sh: one: ")
    assert found[1] == MISSING


def test_the_trace_of_a_launcher_that_failed_without_a_word_is_shown(project: Project) -> None:
    project.model("one", YARN)
    launcher = shell(project, "echo hi\nset -x\n[[ 1 == 2 ]]\n")

    text = lines(only(project, launcher), "scripts/run.sh::test_launch[run]")

    assert text[:2] == ["scripts/run.sh: exited with status 1", "+ [[ 1 == 2 ]]"]


def test_what_is_not_let_through_fails_with_a_reason(project: Project) -> None:
    project.model("one", YARN)
    project.write("scripts/run.py", "import os\n\ndef execute():\n    os.fork()\n")
    text = lines(only(project, "scripts/run.py::execute"), "scripts/run.py::test_launch[execute]")

    assert text[:2] == ["scripts/run.py::execute: stopped: it forks", "at: scripts/run.py:4"]
    assert text[-2].startswith("remedy: ")
    assert text[-1] == "more: ropecontract rule launcher-override"


def test_settings_name_the_model_where_nothing_else_does(project: Project) -> None:
    project.model("one", YARN)
    launcher = shell(project, f"python3 train.py {YARN} --load /data/other --lr 1\n")

    assert only(project, f"{launcher} = one").counts == {"passed": 1}


def test_definitions_that_build_the_same_are_one_name(project: Project) -> None:
    project.model("one", YARN)
    project.model("one_lora", f"{YARN} --lr 3")
    launcher = shell(project, f"python3 train.py {YARN} --lr 3 --load /data/one\n")
    run = only(project, launcher, "--rope-contract-report=report.json")
    document = json.loads((project.root / "report.json").read_text())

    assert run.counts == {"passed": 1}
    assert document["launchers"][0]["training"][0]["model"] == "one_lora"


def test_the_report_says_what_is_launched(project: Project) -> None:
    project.model("one", YARN)
    project.ini(rope_contract_launch_environment=["LR=3"])
    launcher = shell(
        project, f"ray start\nray job submit -- env A=1 python3 train.py {YARN} --lr $LR\n"
    )
    run = only(project, launcher, "--rope-contract-report=report.json")
    (found,) = json.loads((project.root / "report.json").read_text())["launchers"]
    (training,) = found["training"]

    assert found["name"] == "scripts/run.sh"
    assert found["commands"][0] == ["ray", "start"]
    assert (found["error"], found["findings"]) == (None, [])
    assert training["argv"] == [*YARN.split(), "--lr", "3"]
    assert training["environment"] == {"A": "1"}
    assert (training["script"], training["model"]) == ("train.py", "one")
    assert training["rope"]["kind"] == "yarn"
    assert training["origins"]["kind"] == "declared"
    assert ["scripts/run.sh", "one", "ok"] in [line.split() for line in run.outlines]


def test_launchers_are_part_of_a_run_without_paths(project: Project) -> None:
    project.model("one", YARN)
    project.ini(rope_contract_launchers=[shell(project, f"python3 train.py {YARN}\n")])
    run = project.run_without("--rope-contract", "-n0")

    assert run.outcomes["scripts/run.sh::test_launch[run]"] == "passed"


def test_a_python_launcher_is_no_test_module(project: Project) -> None:
    project.model("one", YARN)
    project.write(
        "scripts/run_test.py",
        "import subprocess\n\n"
        "def test_me():\n    raise SystemExit(3)\n\n"
        f"def execute():\n    subprocess.run(['python', 'train.py', *{YARN.split()!r}])\n",
    )
    project.ini(rope_contract_launchers=["scripts/run_*.py::execute"])
    run = project.run_without("--rope-contract", "scripts/run_test.py")

    assert run.outcomes == {"scripts/run_test.py::test_launch[execute]": "passed"}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("scripts/no-*.sh", "'scripts/no-*.sh' matches no file"),
        ("scripts/run.sh::execute", "scripts/run.sh::execute: only a Python script has functions"),
        ("/abs/*.sh", "'/abs/*.sh' is no glob: Non-relative patterns are unsupported"),
    ],
)
def test_a_line_that_names_no_launcher_ends_the_run(project: Project, line: str, text: str) -> None:
    project.model("one", YARN)
    shell(project, "true\n")
    run = only(project, line)

    assert run.usage_error[0] == f"ERROR: rope_contract_launchers: {text}"


def test_a_model_that_is_not_defined_is_an_error_of_the_launcher(project: Project) -> None:
    project.model("one", YARN)
    launcher = shell(project, f"python3 train.py {YARN}\n")

    assert only(project, f"{launcher} = oen").line("scripts/run.sh::test_launch[run]") == (
        "there is no definition 'oen'"
    )


def test_the_fixture_records_a_shell_launcher(project: Project) -> None:
    project.model("one", YARN)
    shell(
        project,
        "echo hello $1 $B\nray start\necho hosts | tee hostfile >/dev/null\n"
        "python3 train.py --lr $1\n",
    )
    project.test(
        "def test_it(rope_launch):\n"
        "    launch = rope_launch.shell('scripts/run.sh', args=['3'], env={'B': 'b'})\n"
        "    assert launch.stdout == 'hello 3 b\\n'\n"
        "    assert launch.files == {'hostfile': 'hosts\\n'}\n"
        "    assert launch.commands[0].argv == ('ray', 'start')\n"
        "    assert [one.argv for one in launch.training] == [('--lr', '3')]\n"
    )

    assert project.run_without("tests").counts == {"passed": 1}


def test_the_fixture_records_the_same_once(project: Project) -> None:
    project.model("one", YARN)
    shell(project, "python3 train.py --lr $1\n")
    project.test(
        "def test_it(rope_launch):\n"
        "    first, again, other = (\n"
        "        rope_launch.shell('scripts/run.sh', args=[lr]).recording for lr in '334'\n"
        "    )\n"
        "    assert first is again\n"
        "    assert other.commands[0].argv[-1] == '4'\n"
    )

    assert project.run_without("tests").counts == {"passed": 1}


def test_the_fixture_records_functions_and_scripts(project: Project) -> None:
    project.model("one", YARN)
    project.write(
        "scripts/run.py",
        "import dataclasses, subprocess, sys\n"
        "@dataclasses.dataclass\n"
        "class Run:\n    nodes: int = 1\n    name: str = 'x'\n"
        "def execute(run: Run, lr=1):\n"
        "    count = subprocess.check_output(['nvidia-smi', '-L'], text=True).count('GPU')\n"
        "    print(run, lr, count)\n"
        "    subprocess.run(f'python train.py --nodes {run.nodes} | tee log', shell=True)\n"
        "if __name__ == '__main__':\n    execute(Run(int(sys.argv[1])))\n",
    )
    project.test(
        "def test_it(rope_launch):\n"
        "    given = rope_launch.given(answers={'nvidia-smi': 'GPU 0\\nGPU 1\\n'})\n"
        "    launch = given.python('scripts/run.py', 'execute', nodes=2, lr=3)\n"
        "    assert launch.stdout == \"Run(nodes=2, name='x') 3 2\\n\"\n"
        "    assert [one.argv for one in launch.training] == [('--nodes', '2')]\n"
        "    assert launch.commands[0].origin == 'scripts/run.py:7'\n"
        "    launch = rope_launch.script('scripts/run.py', args=['4'])\n"
        "    assert launch.stdout == \"Run(nodes=4, name='x') 1 0\\n\"\n"
    )

    assert project.run_without("tests").counts == {"passed": 1}


def test_the_fixture_fails_with_why_a_launcher_was_stopped(project: Project) -> None:
    project.model("one", YARN)
    project.write("scripts/run.py", "import os\n\ndef execute():\n    os.fork()\n")
    project.test("def test_it(rope_launch):\n    rope_launch.python('scripts/run.py', 'execute')\n")
    run = project.run_without("tests")

    assert "scripts/run.py: stopped: it forks" in run.out
    assert "at: scripts/run.py:4" in run.out


def recorded_in_a_test(project: Project, body: str) -> Run:
    """Run a test that records a shell launcher."""
    project.model("one", YARN)
    shell(project, body)
    project.test("def test_it(rope_launch):\n    rope_launch.shell('scripts/run.sh')\n")
    return project.run_without("tests")


def test_the_fixture_fails_with_the_flags_that_a_launcher_lost(project: Project) -> None:
    run = recorded_in_a_test(project, "python3 train.py\n--rotary-base 7\n")

    assert "scripts/run.sh: --rotary-base is run as a command" in run.out


def test_the_fixture_does_not_send_a_failed_launcher_to_the_fixture(project: Project) -> None:
    run = recorded_in_a_test(project, "exit 3\n")

    assert "scripts/run.sh: exited with status 3" in run.out
    assert "record it in a test" not in run.out
