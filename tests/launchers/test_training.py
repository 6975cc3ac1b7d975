"""Which commands of a recording train, and what they are given."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ropecontract.launchers import wrappers
from pytest_ropecontract.launchers.recording import Command, Recording, Stop
from pytest_ropecontract.launchers.training import Found, ShellScript, find

ARGV = (
    "--num-layers",
    "2",
    "--rotary-base",
    "10000",
    "-x",
    "a b",
    "--moe-layer-freq",
    "[0]*1+[1]*3",
)


def look(*words: str, scripts: tuple[str, ...] = ("*train*",), **environment: str) -> Found:
    return find(Recording((Command(words, environment),)), scripts)


WRAPPED = {
    "python": ["python3", "train.py"],
    "python with options": ["/usr/bin/python3.12", "-u", "-X", "dev", "-Wignore", "train.py"],
    "python module": ["python", "-um", "slime.train"],
    "itself": ["./tools/train.py"],
    "ray": ["ray", "job", "submit", "--address=http://127.0.0.1:8265", "--", "python3", "train.py"],
    "ray with separate values": [
        *("ray", "job", "submit", "--address", "http://h:1", "--no-wait", "--runtime-env-json"),
        *('{"env_vars": {}}', "--working-dir", "python", "--", "python3", "train.py"),
    ],
    "ray without --": ["ray", "job", "submit", "--no-wait", "python3", "train.py"],
    "torchrun": ["torchrun", "--nproc-per-node", "8", "--nnodes=2", "train.py"],
    "torchrun, underscores": ["torchrun", "--nproc_per_node", "8", "--node_rank", "0", "train.py"],
    "torchrun, shortened": ["torchrun", "--nproc", "8", "--master-a", "host", "train.py"],
    "torchrun module": ["torchrun", "--standalone", "-m", "slime.train"],
    "torchrun of this Python": ["python", "-m", "torch.distributed.run", "-r", "3", "train.py"],
    "launch": ["python", "-m", "torch.distributed.launch", "--use_env", "train.py"],
    "an unknown torchrun option": ["torchrun", "--of-tomorrow", "3", "train.py"],
    "srun": [
        "srun",
        "-N",
        "2",
        "-n8",
        "--container-image",
        "a+b",
        "--exclusive",
        "python",
        "train.py",
    ],
    "srun with export": ["srun", "--export=ALL,A=1", "--mpi=pmix", "python", "train.py"],
    "srun with an unknown option": ["srun", "--of-tomorrow", "3", "torchrun", "train.py"],
    "env": ["env", "-u", "HOME", "A=1", "python", "train.py"],
    "env -S": ["env", "-S", "python -u", "train.py"],
    "nohup": ["nohup", "python", "train.py"],
    "timeout": ["timeout", "-k", "5", "--signal=KILL", "10h", "python", "train.py"],
    "nice": ["nice", "-n", "5", "python", "train.py"],
    "taskset": ["taskset", "-c", "0-3", "python", "train.py"],
    "numactl": ["numactl", "--cpunodebind=0", "-m", "0", "python", "train.py"],
    "stdbuf": ["stdbuf", "-oL", "python", "train.py"],
    "setsid": ["setsid", "-f", "python", "train.py"],
    "sudo": ["sudo", "-E", "-u", "root", "A=1", "python", "train.py"],
    "nsys": ["nsys", "profile", "-o", "python", "-w", "true", "--stats=true", "python", "train.py"],
    "uv": ["uv", "run", "--with", "torch", "--frozen", "train.py"],
    "uv with torchrun": ["uv", "run", "-p", "3.12", "torchrun", "--standalone", "train.py"],
    "accelerate": ["accelerate", "launch", "--config_file", "x.yaml", "train.py"],
    "deepspeed": ["deepspeed", "--hostfile", "hosts", "--num_gpus", "8", "train.py"],
    "what is not known": ["mpirun", "-np", "8", "-x", "A", "python", "train.py"],
    "exec": ["exec", "python", "train.py"],
    "accelerate module": ["python", "-m", "accelerate.commands.launch", "train.py"],
    "deepspeed module": ["deepspeed", "-m", "slime.train"],
    "srun with short flags": ["srun", "-ul", "python", "train.py"],
    "ray with an unknown option": [
        *("ray", "job", "submit", "--of-tomorrow", "3", "--", "python", "train.py"),
    ],
    "env with an unknown option": ["env", "--of-tomorrow", "3", "python", "train.py"],
    "srun with unknown short flags": ["srun", "-uß", "python", "train.py"],
    "python with an unknown option": ["python", "--of-tomorrow", "train.py"],
}


@pytest.mark.parametrize("words", WRAPPED.values(), ids=WRAPPED)
def test_training_is_found_behind(words: list[str]) -> None:
    found = look(*words, *ARGV)

    assert [one.argv for one in found.training] == [ARGV]
    assert found.training[0].script in ("train.py", "./tools/train.py", "slime.train")
    assert found.unclear == ()


@pytest.mark.parametrize("words", WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize("around", ["bash -c", "bash -lc", "bash -o pipefail -ec", "/bin/sh -c"])
def test_training_is_found_in_a_text_that_a_shell_is_given(words: list[str], around: str) -> None:
    text = f"cd /x && {shlex.join([*words, *ARGV])} 2>&1 | tee log"
    found = look("ray", "job", "submit", "--", *around.split(), text)

    assert [one.argv for one in found.training] == [ARGV]


PREFIXES = [
    WRAPPED[one][:-2]
    for one in ("ray", "env", "timeout", "srun", "nohup", "numactl", "what is not known")
]


@given(st.lists(st.sampled_from(PREFIXES), max_size=4), st.sampled_from(list(WRAPPED.values())))
def test_wrappers_can_be_put_around_each_other(around: list[list[str]], words: list[str]) -> None:
    found = look(*(word for one in around for word in one), *words, *ARGV)

    assert [one.argv for one in found.training] == [ARGV]


@given(
    wrapper=st.sampled_from(
        [
            (["torchrun"], wrappers.TORCHRUN),
            (["ray", "job", "submit"], wrappers.RAY_JOB_SUBMIT),
            (["srun"], wrappers.SRUN),
            (["uv", "run"], wrappers.UV_RUN),
        ]
    ),
    data=st.data(),
)
def test_a_value_of_an_option_is_no_program(
    wrapper: tuple[list[str], wrappers.Wrapper], data: st.DataObject
) -> None:
    words, known = wrapper
    flags = known.flags - wrappers.MODULE
    options = data.draw(
        st.lists(
            st.one_of(
                st.sampled_from(sorted(known.values - {"--runtime-env-json"})).map(
                    lambda one: [one, "python"]
                ),
                st.sampled_from(sorted(flags)).map(lambda one: [one]),
            ),
            max_size=4,
        )
    )
    program = ["train.py"] if words == ["torchrun"] else ["python", "train.py"]
    found = look(*words, *(word for one in options for word in one), *program, *ARGV)

    assert [one.argv for one in found.training] == [ARGV]


@pytest.mark.parametrize(
    "words",
    [
        ["pkill", "-9", "python", "train.py"],
        ["pkill", "-f", "python train.py"],
        ["ray", "start", "--head", "python", "train.py"],
        ["ray", "stop", "--force"],
        ["python", "tools/convert_hf_to_torch_dist.py", "train.py"],
        ["python", "-c", "import train", "train.py"],
        ["grep", "-r", "python", "train.py"],
        ["python"],
        ["bash", "setup.sh"],
        ["bash", "--", "setup.sh"],
        ["bash", "-l"],
        ["nsys", "stats", "train.py"],
        ["uv", "pip", "install", "train.py"],
        ["torchrun", "--nproc-per-node"],
        ["env"],
    ],
    ids=shlex.join,
)
def test_what_does_not_train(words: list[str]) -> None:
    assert look(*words) == Found()


UNSEEN = {
    "ssh": (["ssh", "node-2", "cd /x && python train.py"], "what ssh runs on another machine"),
    "docker": (["docker", "exec", "box", "/x/train.sh"], "what docker runs in a container"),
    "sbatch": (["sbatch", "-N", "2", "train.sbatch"], "what sbatch runs as a job"),
    "behind sudo": (["sudo", "docker", "run", "image"], "what docker runs in a container"),
    "in a text": (["bash", "-c", "cd /x; ssh node-2 ./run"], "what ssh runs on another machine"),
}


@pytest.mark.parametrize("case", UNSEEN)
def test_what_runs_elsewhere_and_is_not_looked_into_is_told(case: str) -> None:
    words, what = UNSEEN[case]

    assert [one.reason for one in look(*words).unseen] == [f"{what} is not looked into"]


def test_what_of_a_program_that_runs_elsewhere_is_looked_into_is_not_told() -> None:
    assert look("ssh", "node-2", "python", "train.py").unseen == ()
    assert look("docker", "pull", "image").unseen == ()


def test_what_a_script_that_is_followed_runs_elsewhere_is_told() -> None:
    inner = Command(("ssh", "node-2", "./run"), origin="inner.sh:2")

    found = find(
        Recording((Command(("srun", "bash", "inner.sh")),)), follow=lambda _: Recording((inner,))
    )

    assert [one.command for one in found.unseen] == [inner]


@pytest.mark.parametrize("words", [("sbatch",), ("ssh", "node-2", "bash", "-s")])
def test_a_script_on_standard_input_is_told(words: tuple[str, ...]) -> None:
    (unseen,) = find(Recording((Command(words, stdin="python train.py\n"),))).unseen

    assert (
        unseen.reason
        == f"{words[0]} reads its script from standard input, which is not looked into"
    )


TRAINED = "python train.py --lr 1"
STRAY = {
    "a command": ("--rotary-base", "1"),
    "a line of a text": ("bash", "-c", f"{TRAINED}\n  --rotary-base 1\n"),
    "a line of a job's text": (
        "ray",
        "job",
        "submit",
        "--",
        "sh",
        "-c",
        f"{TRAINED}\n--rotary-base 1",
    ),
    "behind a pipe": ("bash", "-c", f"{TRAINED} | tee log\n--rotary-base 1"),
}


@pytest.mark.parametrize("words", STRAY.values(), ids=STRAY)
def test_a_command_that_is_named_like_a_flag_is_told(words: tuple[str, ...]) -> None:
    (stray,) = look(*words).stray

    assert stray.words == ("--rotary-base", "1")
    assert stray.command.argv == words


@pytest.mark.parametrize(
    "text",
    [
        f"{TRAINED} \\\n  --rotary-base 1",
        f"{TRAINED} '\n--rotary-base'",
        f"ARGS=(\n--rotary-base 1\n)\n{TRAINED}",
        f"case $1 in\n--rotary-base) {TRAINED} ;;\nesac",
        f"cat > hosts <<END\n- a\n- b\nEND\n{TRAINED}",
        f"{TRAINED} $(cat flags) --rotary-base 1",
    ],
    ids=["backslash", "quote", "array", "case", "here-document", "substitution"],
)
def test_a_line_of_a_text_that_is_no_command_is_no_stray_flag(text: str) -> None:
    assert look("bash", "-c", text).stray == ()


def test_a_stray_flag_of_a_script_that_is_followed_is_told() -> None:
    inner = Command(("--rotary-base", "1"), origin="inner.sh:2")

    found = find(
        Recording((Command(("srun", "bash", "inner.sh")),)), follow=lambda _: Recording((inner,))
    )

    assert [one.command for one in found.stray] == [inner]


def test_scripts_that_train_have_the_names_that_are_given() -> None:
    words = ["python", "tools/convert_hf.py", *ARGV]

    assert look(*words, scripts=("convert_*",)).training[0].script == "tools/convert_hf.py"
    assert look("python", "train.py", scripts=("convert_*",)) == Found()


def test_a_job_gets_the_variables_of_its_runtime_environment_alone() -> None:
    runtime = json.dumps({"env_vars": {"A": "1", "B": 2}})
    words = (
        "ray",
        "job",
        "submit",
        f"--runtime-env-json={runtime}",
        "--",
        "env",
        "C=3",
        "python",
        "train.py",
    )

    (training,) = look(*words, D="4").training

    assert training.environment == {"A": "1", "B": "2", "C": "3"}
    assert training.through == ("ray job submit", "env")


def test_without_ray_the_environment_of_the_launcher_reaches_the_script() -> None:
    (training,) = look("env", "-u", "B", "C=3", "torchrun", "train.py", A="1", B="2").training

    assert training.environment == {"A": "1", "C": "3"}


def test_env_can_empty_the_environment() -> None:
    (training,) = look("env", "-i", "C=3", "python", "train.py", A="1").training

    assert training.environment == {"C": "3"}


def test_srun_exports() -> None:
    (training,) = look("srun", "--export=ALL,B=2", "python", "train.py", A="1").training

    assert training.environment == {"A": "1", "B": "2"}


def test_assignments_and_exports_of_a_text_reach_the_script() -> None:
    text = "export A=1; B=2 C='3 4' python train.py; python train.py"
    first, second = look("bash", "-c", text).training

    assert first.environment == {"A": "1", "B": "2", "C": "3 4"}
    assert second.environment == {"A": "1"}


def test_several_commands_train() -> None:
    commands = (Command(("python", "train.py", "1")), Command(("torchrun", "pretrain_gpt.py", "2")))
    found = find(Recording(commands))

    assert [one.argv for one in found.training] == [("1",), ("2",)]
    assert [one.command for one in found.training] == list(commands)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ["ray", "job", "submit", "--", "bash", "-c", "python train.py ${MODEL_ARGS[@]}"],
            "train.py is run in a text that only a shell can expand, by ray job submit bash -c",
        ),
        (
            ["srun", "bash", "scripts/train.sh"],
            "train.sh is run by srun bash, and what it runs is not seen",
        ),
    ],
)
def test_what_cannot_be_told_is_said(words: list[str], reason: str) -> None:
    found = look(*words)

    assert [one.reason for one in found.unclear] == [reason]
    assert found.training == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "--runtime-env-json of ray job submit is no JSON: "),
        ("[]", '--runtime-env-json of ray job submit has no mapping "env_vars"'),
        ('{"env_vars": 3}', '--runtime-env-json of ray job submit has no mapping "env_vars"'),
    ],
)
def test_a_runtime_environment_that_cannot_be_read_is_said(text: str, reason: str) -> None:
    found = look("ray", "job", "submit", "--runtime-env-json", text, "--", "python", "train.py")

    assert len(found.training) == 1
    assert found.unclear[0].reason.startswith(reason)


@pytest.mark.parametrize(
    ("words", "through"),
    [
        (["srun", "-N2", "bash", "inner.sh", "7"], ("srun", "bash")),
        (["srun", "./inner.sh", "7"], ("srun",)),
        (
            ["ray", "job", "submit", "--", "bash", "-x", "inner.sh", "7"],
            ("ray job submit", "bash"),
        ),
    ],
    ids=["srun bash", "srun", "ray"],
)
def test_a_shell_script_that_runs_elsewhere_is_followed(
    words: list[str], through: tuple[str, ...]
) -> None:
    given = []

    def follow(script: ShellScript) -> Recording:
        given.append(script)
        argv = ("torchrun", "train.py", "--lr", *script.arguments)
        return Recording((Command(argv, {"B": "2"}),))

    (training,) = find(Recording((Command(tuple(words), {"A": "1"}),)), follow=follow).training

    assert [one.path.removeprefix("./") for one in given] == ["inner.sh"]
    assert training.argv == ("--lr", "7")
    assert training.through == (*through, "torchrun")
    # A job on the cluster has nothing of the launcher's environment.
    assert training.environment == ({"B": "2"} if "ray" in words else {"A": "1", "B": "2"})


def test_a_shell_script_that_begins_itself_is_followed_so_far() -> None:
    recording = Recording((Command(("srun", "bash", "train.sh")),))

    found = find(recording, follow=lambda _: recording)

    assert [one.reason for one in found.unclear] == [
        "train.sh is run by srun bash, and what it runs is not seen"
    ]


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        (Recording(stop=Stop("it forks"), returncode=None), "it is stopped: it forks"),
        (Recording(returncode=3), "it exits with status 3"),
    ],
    ids=["stopped", "failed"],
)
def test_a_shell_script_that_does_not_end_well_is_told(inner: Recording, why: str) -> None:
    recording = Recording((Command(("srun", "bash", "any.sh")),))

    (unclear,) = find(recording, follow=lambda _: inner).unclear

    assert unclear.reason == f"any.sh is run by srun bash, and {why}"
