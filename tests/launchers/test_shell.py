from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_ropecontract.launchers import sandbox, shell
from pytest_ropecontract.launchers.recording import Answer, Recording
from pytest_ropecontract.launchers.sandbox import landlock
from pytest_ropecontract.launchers.shell import records, scan

sys.path.insert(0, str(Path(__file__).parent.parent))

from no_trace import no_trace

PROJECT = Path(__file__).parent / "project"
FLASH = (
    *("--num-layers", "47", "--moe-layer-freq", "[0]*1+[1]*46"),
    *("--position-embedding-type", "rope", "--rotary-base", "1000000"),
)
Record = Callable[..., Recording]

only_with_landlock = pytest.mark.skipif(
    landlock.missing() is not None,
    reason="what this launcher does takes Landlock to be let through",
)


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Record a launcher of some lines."""

    def recorded(text: str, **options: object) -> Recording:
        root = tmp_path / "project"
        root.mkdir(exist_ok=True)
        (root / "launch.sh").write_text(text)
        return shell.record(Path("launch.sh"), root=root, **options)

    return recorded


def argvs(recording: Recording) -> list[tuple[str, ...]]:
    assert recording.stop is None
    return [one.argv for one in recording.commands]


@only_with_landlock
def test_ray_on_two_nodes() -> None:
    recording = shell.record(
        PROJECT / "scripts" / "two_nodes.sh",
        root=PROJECT,
        arguments=["--rotary-base", "5"],
        environment={"WORKERS": "127.0.0.1 10.0.0.3"},
        answers={"nvidia-smi topo -m": "GPU0 X NV18\nGPU1 NV18 X\n"},
    )

    by_name = {one.argv[0]: one for one in recording.commands}
    submit = by_name["ray"]
    separator = submit.argv.index("--")
    assert submit.argv[separator + 1 :] == (
        *("python3", "train.py", "--actor-num-nodes", "2", *FLASH),
        *("--hf-checkpoint", "/data/checkpoints/Flash", "--save", "/data/runs/flash"),
        *("--tensor-model-parallel-size", "4", "--sequence-parallel", "--rotary-base", "5"),
    )
    assert '"NCCL_NVLS_ENABLE": "1"' in submit.argv[separator - 1]
    assert submit.environment == {"MASTER_ADDR": "127.0.0.1", "PYTHONUNBUFFERED": "1"}
    assert submit.origin == "scripts/two_nodes.sh:39"
    assert by_name["ssh"].argv[1] == "root@10.0.0.3"
    assert [one.argv[:2] for one in recording.commands] == [
        *[("pkill", "-9"), ("sleep", "3"), ("ray", "stop"), ("pkill", "-9")],
        *[("nvidia-smi", "topo"), ("hostname", "-I"), ("ray", "start")],
        *[("ssh", "root@10.0.0.3"), ("ray", "job"), ("tee", "flash-20250101.log")],
    ]
    assert recording.files == {"flash-20250101.log": ""}
    assert recording.returncode == 0


def test_flags_that_python_prints() -> None:
    recording = shell.record(Path("scripts/printed.sh"), root=PROJECT)

    if recording.stop is not None:  # what a trap runs takes Landlock
        assert recording.stop.origin == "scripts/printed.sh:11"
        return
    (command,) = recording.commands
    assert command.argv == (
        *("nohup", "env", "CUDA_DEVICE_MAX_CONNECTIONS=1", "/opt/conda/bin/python", "-u"),
        *("train.py", "--num-layers", "2", "--moe-layer-freq", "[0]*1+[1]*1"),
        *("--rotary-base", "50000"),
    )
    assert command.folder == "/opt/trainer"


@only_with_landlock
def test_a_command_line_that_is_put_together_as_a_text() -> None:
    recording = shell.record(PROJECT / "scripts" / "torchrun.sh", root=PROJECT)

    command = ("torchrun", "--nproc_per_node", "8", "--nnodes", "1", "pretrain.py", *FLASH)
    data = ("--data", "logs/2025-01-01/data.yaml")
    assert argvs(recording) == [
        ("mkdir", "-p", "logs/2025-01-01"),
        ("tee", "logs/2025-01-01/command.txt"),
        (*command, *data, "--seed", "1"),
        ("python3", "-m", "tools.report", "--status", "0"),
    ]
    assert recording.files == {
        "logs/2025-01-01/data.yaml": "batch: 32\nlayers: 47\n",
        "logs/2025-01-01/command.txt": " ".join((*command, *data)) + "\n",
        "logs/2025-01-01/out.txt": "",
    }


@only_with_landlock
def test_slurm_and_a_script_beside_it() -> None:
    recording = shell.record(PROJECT / "scripts" / "slurm.sh", root=PROJECT)

    assert argvs(recording) == [
        ("module", "load", "cuda/12"),
        ("scontrol", "show", "hostnames", ""),
        (
            *("srun", "--nodes", "2", "bash", "-c"),
            "python3 -m torch.distributed.run --master_addr localhost pretrain.py "
            + " ".join(FLASH),
        ),
        ("python3", "evaluate.py", "--step", "100"),
    ]
    assert recording.commands[-1].origin == "scripts/evaluate.sh:1"


def test_the_same_launcher_gives_the_same_recording() -> None:
    def once() -> Recording:
        return shell.record(PROJECT / "scripts" / "slurm.sh", root=PROJECT)

    assert once() == once()


def test_arguments_are_as_bash_expanded_them(record: Record) -> None:
    recording = record("""X='a  b'; python x.py "$X" $X '' "line
feed" [0]*3 $'\\t' --y={1,2} "é"\n""")

    assert argvs(recording) == [
        (
            *("python", "x.py", "a  b", "a", "b", "", "line\nfeed", "[0]*3", "\t", "--y=1"),
            *("--y=2", "é"),
        )
    ]


def test_the_order_is_the_launcher_s_own(record: Record) -> None:
    """Also of what runs in the background, beside each other, and inside of an argument."""
    text = "".join(f"a{number} $(b{number}) &\n" for number in range(8))

    recording = record(
        f"{text}wait\n(c; d) &\ne\nwait\nf | while read -r x; do g $(h); done\ni\n",
        answers={"f": "1\n2\n"},
    )

    names = [one[0] for one in argvs(recording)]
    assert names == [
        *[name for number in range(8) for name in (f"b{number}", f"a{number}")],
        *("c", "d", "e", "f", "h", "g", "h", "g", "i"),
    ]


def test_variables_are_those_that_the_launcher_set(record: Record) -> None:
    recording = record(
        "export A=1 B=2\nC=3\nunset GIVEN\nD=4 python x.py\n", environment={"GIVEN": "1", "B": "2"}
    )

    assert recording.commands[0].environment == {"A": "1", "D": "4"}


def test_standard_input_is_what_a_command_is_given_itself(record: Record) -> None:
    recording = record(
        "a <<'EOF'\ntext $X\nEOF\nb <<< word\necho piped | c\nd\n"
        "printf '1\\n2\\n' | while read -r line; do e $line; done\n"
    )

    assert [(one.argv, one.stdin) for one in recording.commands] == [
        (("a",), "text $X\n"),
        (("b",), "word\n"),
        (("c",), "piped\n"),
        (("d",), None),
        (("e", "1"), None),
        (("e", "2"), None),
    ]


def test_the_folder_may_be_one_of_the_training_machine(record: Record) -> None:
    recording = record('a\ncd /no/such/folder\nb\n(cd /tmp; c)\nd\ncd "$HOME"\ne\n')

    assert [one.folder for one in recording.commands] == [
        *(".", "/no/such/folder", "/tmp", "/no/such/folder", "."),
    ]


def test_the_project_is_in_sight_of_the_working_directory(record: Record, tmp_path: Path) -> None:
    models = tmp_path / "project" / "models"
    models.mkdir(parents=True)
    (models / "m.sh").write_text("MODEL_ARGS=(--a 1)\n")

    recording = record('source models/m.sh\npython "${MODEL_ARGS[@]}"\n')

    assert argvs(recording) == [("python", "--a", "1")]
    assert recording.files == {}


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("dirname /a/b; basename /a/b.sh .sh", "/a\nb\n"),
        ("echo a,b | cut -d, -f2 | tr b c", "c\n"),
        ("printf '3\\n1\\n2\\n' | sort -n | head -2 | tail -1", "2\n"),
        ("echo x1y | sed -E 's/[0-9]/-/' | awk '{ print toupper($1) }'", "X-Y\n"),
        ("seq 3 | grep -c . | wc -l", "1\n"),
        ("seq 3 | xargs", "1 2 3\n"),
        ("/usr/bin/basename /a/b", "b\n"),
        (
            "command -v python3; type -t cd >/dev/null; which nothing || echo none",
            "/usr/bin/python3\nnone\n",
        ),
        ("date -d 2001-02-03 +%Y/%m; date -u +%F", "2001/02\n2025-01-01\n"),
    ],
)
def test_text_tools_answer(record: Record, text: str, printed: str) -> None:
    recording = record(f"{text}\n")

    assert recording.stop is None
    assert recording.stdout == printed
    assert recording.commands == ()


def test_what_xargs_puts_together_is_run(record: Record) -> None:
    text = """\
seq 2 | xargs -n 1 python train.py --lr
{ echo a | xargs -P 8 -I{} torchrun {}.py; } 2>&1
for i in 1 2; do echo $i; done | xargs -L1 scripts/inner.sh
true | xargs -r touch
"""
    recording = record(
        text.replace("scripts/inner.sh", "./inner.sh"),
    )

    assert argvs(recording) == [
        *(("python", "train.py", "--lr", one) for one in "12"),
        ("torchrun", "a.py"),
        *(("./inner.sh", one) for one in "12"),
    ]


def test_xargs_cannot_take_away_what_records(record: Record) -> None:
    recording = record("echo a | xargs --process-slot-var=BASH_ENV touch\n")

    assert argvs(recording) == [("xargs", "--process-slot-var=BASH_ENV", "touch")]


def test_process_ids_are_the_same_in_every_run(record: Record) -> None:
    text = """\
set -euo pipefail
python a.py & P=$!
tail --pid=$P -f log.$$ 2>/dev/null || true
JOBS=()
python b.py & JOBS+=("$!")
for job in "${JOBS[@]}"; do stop --tp $((job)) --job "$job" --tp 2; done
end() { kill -s 9 $1; }
end $P
X=(a b c); watch "${X[@]}" 1 2 3 4 5 6 7 8 9 $P
"""
    recording = record(text, answers={"tail": ""})

    by_name = {one[0]: one for one in argvs(recording)}
    assert by_name["tail"] == ("tail", "--pid=<pid>", "-f", "log.<pid>")
    assert by_name["stop"][3:] == ("--job", "<pid>", "--tp", "2")
    assert by_name["kill"] == ("kill", "-s", "9", "<pid>")
    assert by_name["watch"] == ("watch", *"abc123456789", "<pid>")


def test_numbers_that_a_launcher_draws_are_the_same_in_every_run(record: Record) -> None:
    text = "a $((20000 + RANDOM % 10000)) $RANDOM; (b $RANDOM); c $EPOCHSECONDS $(date +%s)\n"

    first, again = argvs(record(text)), argvs(record(text))

    assert first == again
    assert first[0][2] != first[1][1]
    assert first[2][1] == first[2][2]


@pytest.mark.parametrize(
    "complaint",
    [
        "Permission denied (publickey).",
        "ssh: Permission denied",
        "/usr/bin/cat: x: Permission denied",
    ],
)
def test_a_complaint_about_something_else_stops_nothing(record: Record, complaint: str) -> None:
    recording = record(f"echo {shlex.quote(complaint)} >&2\npython a.py\n")

    assert argvs(recording) == [("python", "a.py")]


def test_a_file_that_nobody_here_could_read_stops_nothing(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root can read everything, so that it is told to be another user."""
    text = "mkdir closed; echo 'a.sh: line 1: closed: Permission denied' >&2; python a.py\n"
    access = os.access

    def without_it(path: str, *more: int) -> bool:
        return Path(path).name != "closed" and access(path, *more)

    assert record(text).stop is not None
    monkeypatch.setattr(os, "access", without_it)

    assert argvs(record(text))[-1] == ("python", "a.py")


@only_with_landlock
@pytest.mark.parametrize("text", ["done > ELSEWHERE", "done > ELSEWHERE 2>&1", "done >ELSEWHERE"])
def test_what_the_kernel_stops_is_told_wherever_it_is_complained_of(
    record: Record, tmp_path: Path, text: str
) -> None:
    text = text.replace("ELSEWHERE", str(tmp_path / "elsewhere"))

    recording = record(f"exec 2>&1\nfor i in 1; do echo\n{text}\npython a.py\n")

    assert recording.stop is not None
    assert "Permission denied" in recording.stop.reason


def test_answers_can_be_scripted(record: Record) -> None:
    recording = record(
        "nvidia-smi -L; /usr/bin/nvidia-smi; ps aux | grep -c ray; test-it || echo no\n",
        answers={
            "nvidia-smi": "any\n",
            "nvidia-smi -L": "GPU 0\n",
            "ps aux": "ray\nray\n",
            "test-it": Answer(returncode=3),
        },
    )

    assert recording.stdout == "GPU 0\nany\n2\nno\n"
    assert len(recording.commands) == 4


def test_a_program_can_be_said_to_be_missing(record: Record) -> None:
    text = "if command -v ray >/dev/null; then echo there; else echo missing; fi\n"

    assert record(text).stdout == "there\n"
    assert record(text, answers={"ray": Answer(returncode=127)}).stdout == "missing\n"


def test_sleeping_takes_no_time_and_a_wait_for_an_end_ends(record: Record) -> None:
    recording = record(
        "python x.py &\nwhile kill -0 $! 2>/dev/null; do sleep 1000; done\nsleep 1000\n",
        time_limit=20.0,
    )

    assert recording.stop is None
    assert recording.commands[-1].argv == ("sleep", "1000")


def test_it_fails_as_the_launcher_fails(record: Record) -> None:
    recording = record("set -e\nfalse\npython x.py\n")

    assert recording.returncode == 1
    assert recording.commands == ()


def test_a_launcher_that_does_not_end_says_where(record: Record) -> None:
    recording = record(
        "ray start\nuntil grep -q never /dev/null; do ray status; done\n", time_limit=1.5
    )

    assert recording.stop is not None
    assert recording.stop.reason == "the launcher was ended: it did not end within 1.5 s"
    assert recording.stop.origin == "launch.sh:2"
    assert recording.returncode is None


def test_a_stop_says_where(record: Record) -> None:
    recording = record("python a.py\n\nenable -n echo\npython b.py\n")

    assert recording.stop is not None
    assert recording.stop.origin == "launch.sh:3"
    assert recording.stop.reason.startswith(("enable ", "the launcher uses enable"))


def test_what_is_refused_without_the_guard_says_where_and_what_to_do(record: Record) -> None:
    recording = record("python a.py\necho x > log\n", layers=())

    assert recording.stop is not None
    assert recording.stop.reason == (
        "the launcher writes to a file: > log,"
        " and the kernel does not guard programs and files here"
    )
    assert recording.stop.origin == "launch.sh:2"
    assert recording.commands == ()
    assert "pytest-ropecontract[launchers]" in str(recording.stop.remedy)


def test_without_the_guard_and_the_parser_nothing_is_run(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)

    recording = record("python a.py\n", layers=())

    assert recording.stop is not None
    assert "pytest-ropecontract[launchers]" in recording.stop.reason


@pytest.mark.parametrize(
    "text",
    [
        "python a.py &>/dev/null 2>&1 >&2\n",
        "set -euxo pipefail; shopt -s nullglob; X=$(hostname); python $X\n",
        "f() { local x=1; python $x; }; f\n",
        'command -v ray; cd "$(dirname "$0")" && python x.py\n',
        "while read -r h; do ssh $h; done < <(printf 'a\\nb\\n')\n",
    ],
)
def test_a_plain_launcher_needs_no_guard(record: Record, text: str) -> None:
    recording = record(text, layers=())

    assert recording.stop is None
    assert recording.commands != ()


@pytest.mark.parametrize("name", ["BASH_ENV", "POSIXLY_CORRECT", "LD_PRELOAD", "BASH_FUNC_a%%"])
def test_variables_that_change_bash_are_refused(record: Record, name: str) -> None:
    with pytest.raises(sandbox.SandboxError, match=r"\Aa launcher cannot be recorded with "):
        record("python a.py\n", environment={name: "1"})


def test_no_bash_is_an_error(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)

    with pytest.raises(sandbox.SandboxError, match=r"\Athere is no bash"):
        record("python a.py\n")


def test_tools_that_are_missing_are_an_error(
    record: Record, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("pytest_ropecontract.launchers.shell.tables._FOLDERS", str(tmp_path))

    with pytest.raises(
        sandbox.SandboxError, match=r"\Alaunchers cannot be recorded without realpath"
    ):
        record("python a.py\n")


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda path: path.write_bytes(b"#" * (1024 * 1024 + 1)), "is too large to be looked at"),
        (lambda path: path.symlink_to("nothing"), "cannot be read: "),
        (os.mkfifo, "is a device or a pipe, not a script"),
    ],
    ids=["large", "a link to nothing", "a pipe"],
)
def test_script_that_cannot_be_looked_at_is_not_approved(
    tmp_path: Path, make: Callable[[Path], object], what: str
) -> None:
    script = tmp_path / "script.sh"
    make(script)

    found = scan.scan(script, tmp_path)

    assert found is not None
    assert found.reason.startswith(f"the launcher {what}")
    assert scan.approved(tmp_path) == []


def test_record_that_was_not_finished_is_none(tmp_path: Path) -> None:
    (tmp_path / "record").mkdir()
    (tmp_path / "record/1").write_text("begun\0")
    reader = records.Reader(tmp_path, tmp_path, tmp_path, {})

    assert reader.commands() == ()
    assert reader.origin("") is None


def test_the_scratch_folder_has_one_name_in_every_run(record: Record) -> None:
    recording = record('echo "$PWD"; echo "$HOME/x" >&2; python "$PWD/a"; mktemp -d\n')

    assert recording.stdout.splitlines()[0] == "<scratch>"
    assert recording.stdout.splitlines()[1].startswith("<temporary>/")
    assert recording.stderr == "<scratch>/x\n"
    assert argvs(recording) == [("python", "<scratch>/a")]


def test_nothing_is_left(record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    record("python a.py\n")  # what is imported at first

    with no_trace(temporary):
        record("python a.py & mkdir x; mktemp\n")
