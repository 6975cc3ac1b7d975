from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from no_trace import no_trace

from pytest_ropecontract.definitions import Registry, ShellArray


def test_tokens_with_spaces_and_globs_survive(project):
    script = "N=3\nMODEL_ARGS=(--a 'b c' [0]*$N+[1]*58 '' $'x\\ny')\n"
    expected = ("--a", "b c", "[0]*3+[1]*58", "", "x\ny")
    assert project.expand("kimi-k2.sh", script).argv == expected


# A script with a line end of Windows anywhere is refused, also in quotes.
TOKENS = st.text(st.characters(codec="utf-8", exclude_characters="\0")).filter(
    lambda token: "\r\n" not in token
)


@given(tokens=st.lists(TOKENS, min_size=1))
@settings(max_examples=60, deadline=None)
def test_any_tokens_survive(tmp_path_factory, tokens):
    path = tmp_path_factory.getbasetemp() / "any.sh"
    path.write_bytes(f"# flags\nMODEL_ARGS=({shlex.join(tokens)})\n".encode())
    assert ShellArray(path).expand({}).argv == tuple(tokens)


def test_output_does_not_matter_and_is_captured(project):
    script = "echo one\nMODEL_ARGS=(--a)\necho two >&2\nexec >/dev/null\n"
    expansion = project.expand("kimi-k2.sh", script)
    assert (expansion.argv, expansion.output) == (("--a",), "one\ntwo\n")


def test_sibling_beside_the_script_is_sourced(project):
    project.write("base.sh", "MODEL_ARGS=(--a)\n")
    script = 'source "$(dirname "${BASH_SOURCE[0]}")/base.sh"\nMODEL_ARGS+=(--b)\n'
    assert project.expand("kimi-k2.sh", script).argv == ("--a", "--b")


def test_script_sees_its_path_and_no_arguments(project):
    script = 'MODEL_ARGS=("$0" "${BASH_SOURCE[0]}" "$#")\n'
    path = str(project.models / "kimi-k2.sh")
    assert project.expand("kimi-k2.sh", script).argv == (path, path, "0")


def test_environment_is_minimal(project, monkeypatch):
    monkeypatch.setenv("ROPE_TEST_N", "1")
    monkeypatch.setenv("BASH_ENV", "/nowhere")
    script = "mapfile -t MODEL_ARGS < <(env | cut -d= -f1 | sort)\n"
    argv = project.expand("kimi-k2.sh", script).argv
    assert argv == ("HOME", "LC_ALL", "PATH", "PWD", "SHLVL", "_")


def test_home_and_working_directory_are_an_empty_scratch_directory(project, temporary):
    script = 'MODEL_ARGS=("$PWD" "$HOME" "$(ls -A | wc -l)")\n'
    directory, home, entries = project.expand("kimi-k2.sh", script).argv
    assert directory == home
    assert Path(directory).parent == temporary
    assert Path(directory).name.startswith("ropecontract-")
    assert entries == "0"


@pytest.mark.parametrize(
    "habit",
    [
        "set -euo pipefail",
        "set -u; IFS=-a",
        "printf() { :; }; declare() { :; }; set() { :; }; source() { :; }",
        "exec 3>/dev/null 10>/dev/null",
        "readonly MODEL_ARGS; export MODEL_ARGS",
        "[[ -n '' ]] && MODEL_ARGS+=(--b)",
        "shopt -s nullglob failglob extglob",
        "set -x",
    ],
)
def test_habits_of_scripts_do_not_disturb_the_reading(project, habit):
    script = f"MODEL_ARGS=(--a 'b -a c')\n{habit}\n"
    assert project.expand("kimi-k2.sh", script).argv == ("--a", "b -a c")


@pytest.mark.usefixtures("running_worker")
def test_expansion_leaves_no_trace(project, temporary):
    script = (
        "touch file; mkdir -p a/b; chmod 0 a\nsleep 600 &\n(setsid sleep 600 &)\nMODEL_ARGS=(--a)\n"
    )
    name = project.add("kimi-k2.sh", script)
    with no_trace(temporary), no_trace(project.root):
        project.registry[name].expand()


@pytest.mark.usefixtures("running_worker")
def test_failing_expansion_leaves_no_trace(project, temporary):
    project.registry = Registry(project.root, time_limit=0.3)
    project.add("hangs.sh", "touch file\nsleep 600\n")
    project.add("exits.sh", "touch file\nexit 1\n")
    for name in project.registry:
        with no_trace(temporary):
            project.failure(name)


CASES = {
    "empty": ("MODEL_ARGS=()\n", "MODEL_ARGS is empty", None),
    "declared-only": ("declare -a MODEL_ARGS\n", "MODEL_ARGS is empty", None),
    "missing": ("ARGS=(--a)\n", "the script does not set MODEL_ARGS", None),
    "empty-file": ("", "the script does not set MODEL_ARGS", None),
    "scalar": ("MODEL_ARGS='--a b'\n", "MODEL_ARGS is a string, not an array", None),
    "associative": (
        "declare -A MODEL_ARGS=([--a]=b)\n",
        "MODEL_ARGS is an associative array, expected an indexed one",
        None,
    ),
    "exit": ("\nexit 1\n", "exited with status 1 before MODEL_ARGS could be read", 2),
    "exit-with-0": (
        "MODEL_ARGS=(--a)\nexit\n",
        "exited with status 0 before MODEL_ARGS could be read",
        2,
    ),
    "errexit": (
        "set -e\nMODEL_ARGS=(--a)\nfalse\necho\n",
        "exited with status 1 before MODEL_ARGS could be read",
        3,
    ),
    "nounset": (
        "set -u\nMODEL_ARGS=(--a $NOT_SET)\n",
        "exited with status 127 before MODEL_ARGS could be read",
        2,
    ),
    "exec": ("exec true\n", "exited with status 0 before MODEL_ARGS could be read", 1),
    "killed": ("kill -9 $$\n", "was killed by SIGKILL before MODEL_ARGS could be read", None),
    "syntax": (
        "MODEL_ARGS=(--a)\nif true; then\n",
        "the script has a syntax error: unexpected end of file",
        3,
    ),
    "syntax-near": (
        "MODEL_ARGS=(--a)\nMODEL_ARGS+=(--b))\n",
        "the script has a syntax error: near unexpected token `)'",
        2,
    ),
    "quote": (
        "MODEL_ARGS=(--a\n'--b)\n",
        "the script has a syntax error: unexpected EOF while looking for matching `''",
        2,
    ),
    "flag-outside": (
        "MODEL_ARGS=(\n  --a 1\n)\n  --b 2\n",
        "the flag --b stands outside of the array, bash ran it as a command",
        4,
    ),
    "sources-nothing": (
        "source base.sh\nMODEL_ARGS+=(--a)\n",
        "the script reads base.sh, which does not exist",
        1,
    ),
    "windows": (
        "MODEL_ARGS=(--a)\r\n",
        "the script has Windows line ends, which bash takes for part of the flags",
        1,
    ),
    "windows-from-the-second-line": (
        "A=1\nMODEL_ARGS=(--a)\r\nB=2\r\n",
        "the script has Windows line ends, which bash takes for part of the flags",
        2,
    ),
    "mark": (
        b"\xef\xbb\xbfMODEL_ARGS=(--a)\n",
        "the script begins with a byte order mark, which bash takes for part of its first word",
        1,
    ),
    "not-utf-8": (b"MODEL_ARGS=(--a \xe9)\n", "MODEL_ARGS is not UTF-8 at index 1", None),
    "first-byte-of-none": (b"MODEL_ARGS=(\x80)\n", "MODEL_ARGS is not UTF-8 at index 0", None),
    "last-byte-of-none": (b"MODEL_ARGS=(\xff)\n", "MODEL_ARGS is not UTF-8 at index 0", None),
    "huge": (
        "printf -v x %09000d 0\nfor i in {1..300}; do MODEL_ARGS+=($x); done\n",
        "MODEL_ARGS holds more than 2 MiB of argv, longer than any command line",
        None,
    ),
    "endless": (
        "cat /dev/zero >&99\n",
        "MODEL_ARGS holds more than 2 MiB of argv, longer than any command line",
        None,
    ),
}


@pytest.mark.parametrize(("script", "headline", "line"), CASES.values(), ids=CASES)
def test_first_line_and_origin(project, script, headline, line):
    error = project.error("kimi-k2.sh", script)
    assert str(error).splitlines()[0] == f"kimi-k2: {headline}"
    assert error.origin == "models/kimi-k2.sh" + ("" if line is None else f":{line}")
    assert error.remedy


def test_syntax_error_of_a_sibling_is_reported_there(project):
    project.write("base.sh", "if (\n")
    error = project.error("kimi-k2.sh", 'source "${0%/*}/base.sh"\nMODEL_ARGS+=(--a)\n')
    assert error.origin == "models/base.sh:2"


def test_script_that_hangs_is_ended(project):
    project.registry = Registry(project.root, time_limit=1)
    error = project.error("kimi-k2.sh", "echo waiting\nsleep 600\n")
    assert str(error).splitlines()[:3] == [
        "kimi-k2: did not end within 1 s",
        "  at: models/kimi-k2.sh",
        "  printed: waiting",
    ]


def test_script_that_hangs_is_not_asked_where(project):
    project.registry = Registry(project.root, time_limit=0.3)
    error = project.error("kimi-k2.sh", "trap 'echo woken' USR1\nwhile :; do :; done\n")
    assert error.headline == "kimi-k2: did not end within 0.3 s"
    assert error.details == ()


def test_scratch_directory_that_the_script_replaces_does_not_lose_the_array(project, temporary):
    script = 'rmdir "$PWD"; ln -s / "$PWD"\nMODEL_ARGS=(--a)\n'
    assert project.expand("kimi-k2.sh", script).argv == ("--a",)
    for left in temporary.iterdir():
        left.unlink()


def test_overrides_are_refused(project):
    error = project.error("kimi-k2.sh", "MODEL_ARGS=(--a)\n", nlayers=2, base=1)
    expected = "kimi-k2: a shell array takes no overrides, but got nlayers, base"
    assert error.headline == expected
    assert error.origin == "models/kimi-k2.sh"


def test_without_bash(project, monkeypatch):
    monkeypatch.setenv("PATH", str(project.root))
    error = project.error("kimi-k2.sh", "MODEL_ARGS=(--a)\n")
    assert error.headline == "kimi-k2: there is no bash on PATH to run it"
    assert error.remedy == "install bash, or write the definition in Python"


def test_directory(project):
    project.write("kimi-k2.sh/x")
    project.registry.add_file(project.models / "kimi-k2.sh")
    assert project.failure("kimi-k2").headline == "kimi-k2: the path is a folder, not a script"


def test_variables_beside_those_that_it_always_has(project):
    project.add("kimi-k2.sh", 'MODEL_ARGS=("$A" "$B" "$LC_ALL")\n')
    under = project.registry["kimi-k2"].under({"A": "1", "B": "1"})
    assert under.under({"B": "2", "LC_ALL": "C"}).expand().argv == ("1", "2", "C")


def test_bash_that_does_not_start(project, monkeypatch):
    bash = project.root / "bash"
    bash.write_text("#!/nowhere\n")
    bash.chmod(0o755)
    monkeypatch.setenv("PATH", str(project.root))
    error = project.error("kimi-k2.sh", "MODEL_ARGS=(--a)\n")
    expected = "kimi-k2: bash cannot be started: FileNotFoundError: [Errno 2] No such file or dir"
    assert error.headline.startswith(expected)
    assert error.origin == "models/kimi-k2.sh"
    assert error.details == ()
    assert error.remedy == "check the bash that comes first on PATH"


@pytest.mark.parametrize(
    "script",
    ["exit 70", "trap 'exit 70' EXIT", "MODEL_ARGS=(--a); trap 'exit 70' EXIT"],
    ids=["at-once", "at-the-end", "at-the-end-with-flags"],
)
def test_script_may_exit_with_the_status_of_a_bash_that_does_not_start(project, script):
    error = project.error("kimi-k2.sh", f"{script}\n")
    expected = "kimi-k2: exited with status 70 before MODEL_ARGS could be read"
    assert error.headline == expected


def test_folder_of_bash_is_the_last_on_its_path(project, monkeypatch):
    bash = project.root / "tools" / "bash"
    bash.parent.mkdir()
    bash.symlink_to(shutil.which("bash"))
    monkeypatch.setenv("PATH", str(bash.parent))
    argv = project.expand("kimi-k2.sh", 'MODEL_ARGS=("$PATH")\n').argv
    assert argv == (f"/usr/local/bin:/usr/bin:/bin:{bash.parent}",)


def test_it_reads_no_variables_of_this_process(project):
    assert project.expand("kimi-k2.sh", 'MODEL_ARGS=("$HOME")\n').environment == ()


@pytest.mark.parametrize("end", ["MODEL_ARGS=()", "exit 1"])
def test_what_a_failing_script_printed_is_shown(project, end):
    assert project.error("kimi-k2.sh", f"echo one\n{end}\n").details == ("printed: one",)


RUNS = {
    "bash-tells": ("set -u\n: $NOT_SET", 1, 3),
    "bash-tells-behind-blank-lines": ("echo; set -u\n: $NOT_SET", 1, 3),
    "bash-tells-last-of-several": ("nothing_like_it\nset -u\n: $NOT_SET", 1, 4),
    "bash-tells-nothing": ("\nexit 1", 2, 3),
    "something-else-is-said-last": ("nothing_like_it\necho done\nexit 1", 2, 4),
    "bash-tells-of-another-file": ('\nsource "${0%/*}/base.sh"', 2, 3),
}


@pytest.mark.parametrize(("script", "runs", "line"), RUNS.values(), ids=RUNS)
def test_script_runs_again_only_where_bash_does_not_tell_its_line(project, script, runs, line):
    project.write("base.sh", "set -u\n\n\n\n: $NOT_SET\n")
    log = project.root / "runs"
    error = project.error("kimi-k2.sh", f"echo run >> {log}\n{script}\n")
    assert error.origin == f"models/kimi-k2.sh:{line}"
    assert log.read_text().count("run") == runs


def test_script_that_cannot_run_again_is_told_without_its_line(project, temporary):
    error = project.error("kimi-k2.sh", f"rm -r {temporary}\nexit 1\n")
    assert error.headline == "kimi-k2: exited with status 1 before MODEL_ARGS could be read"
    assert error.origin == "models/kimi-k2.sh"
