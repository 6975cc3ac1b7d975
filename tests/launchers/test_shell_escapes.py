"""Launchers that try to run, write, send or leave something for real: none of them does.

Each is run with every protection of the kernel that this machine has, and with none. It must leave
nothing outside of its scratch folder and no process, and must end recorded or refused: what it
tried stands in the recording, or the recording says why it was stopped.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ropecontract.launchers import sandbox, shell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ropecontract.launchers.recording import Command

# VICTIM is a file that must not come to be; CANARY a program that makes it; OTHER the process id of
# a process that must not be ended; PYTHON and TOUCH are programs of this machine.
ESCAPES = {
    # By name and by path.
    "a name": "touch VICTIM",
    "an absolute path": "/usr/bin/touch VICTIM",
    "a program of its own": "CANARY",
    "an escaped path": r"/usr/bin/to\uch VICTIM",
    "a path in a variable": "T=/usr/bin/touch; $T VICTIM",
    "a path in an array": 'C=(/usr/bin/touch VICTIM); "${C[@]}"',
    "a path behind an empty word": "$NOTHING /usr/bin/touch VICTIM",
    "a path by a pattern": "/usr/bin/touc[h] VICTIM",
    "a path by braces": "/usr/bin/{touch,VICTIM}",
    "a path in ansi quotes": "$'/usr/bin/\\x74ouch' VICTIM",
    "a path that a command prints": "$(printf /usr/bin/touch) VICTIM",
    "a path that a path's command prints": "$(/usr/bin/printf /usr/bin/touch) VICTIM",
    "a path that backquotes print": "`printf /usr/bin/touch` VICTIM",
    "a path that which prints": "$(which touch) VICTIM",
    "a path relative to the folder": "cd /usr/bin; ./touch VICTIM",
    "a path through proc": "/proc/self/root/usr/bin/touch VICTIM",
    "the positional parameters": 'set -- /usr/bin/touch VICTIM; "$@"',
    "a path behind an assignment": "X=1 Y='a b' /usr/bin/touch VICTIM",
    # Where it stands.
    "the background": "/usr/bin/touch VICTIM & wait",
    "a pipe": "echo x | /usr/bin/touch VICTIM | cat",
    "a command substitution": 'X="$(/usr/bin/touch VICTIM)"',
    "a process substitution": "cat <(/usr/bin/touch VICTIM)",
    "a process substitution for writing": "echo x > >(/usr/bin/touch VICTIM); wait",
    "a condition": "if /usr/bin/touch VICTIM; then :; fi",
    "a function": "f() { /usr/bin/touch VICTIM; }; f",
    "a function named like a tool": "dirname() { /usr/bin/touch VICTIM; }; dirname x",
    "a function named like a builtin": "echo() { /usr/bin/touch VICTIM; }; echo x",
    "a function named like the handler": (
        "command_not_found_handle() { /usr/bin/touch VICTIM; }; nothing VICTIM"
    ),
    "a trap at the exit": "trap '/usr/bin/touch VICTIM' EXIT",
    "a trap of a signal": "trap '/usr/bin/touch VICTIM' USR1; kill -USR1 $$; ray VICTIM",
    "a trap of errors": "trap '/usr/bin/touch VICTIM' ERR; false",
    "a trap instead of the recorder's": "trap - DEBUG; /usr/bin/touch VICTIM",
    "a trap instead of the recorder's, by builtin": "builtin trap - DEBUG; /usr/bin/touch VICTIM",
    "a trap instead of the recorder's, by a variable": (
        'T=trap; $T "" DEBUG; /usr/bin/touch VICTIM'
    ),
    "an arithmetic subscript": "X='a[$(/usr/bin/touch VICTIM)]'; : $((X))",
    "a prompt": "PS4='$(/usr/bin/touch VICTIM)'; set -x; : VICTIM",
    "a prompt operator": "X='$(/usr/bin/touch VICTIM)'; : \"${X@P}\"",
    "a here-document": "cat <<EOF\n$(/usr/bin/touch VICTIM)\nEOF",
    "a callback": "mapfile -C '/usr/bin/touch VICTIM' -c 1 X <<<x",
    "a coprocess": "coproc /usr/bin/touch VICTIM; wait",
    # Through builtins.
    "eval": 'eval "/usr/bin/touch VICTIM"',
    "exec": "exec /usr/bin/touch VICTIM",
    "exec by a variable": "E=exec; $E /usr/bin/touch VICTIM",
    "exec in a subshell": "(exec /usr/bin/touch VICTIM)",
    "command": "command /usr/bin/touch VICTIM",
    "command -p": "command -p touch VICTIM",
    "builtin exec": "builtin exec /usr/bin/touch VICTIM",
    "builtin by a variable": "B=builtin; $B exec /usr/bin/touch VICTIM",
    "hash": "hash -p /usr/bin/touch harmless; harmless VICTIM",
    "enable": "enable -n echo; enable -f /usr/lib/bash/nothing nothing",
    "an alias": "shopt -s expand_aliases\nalias harmless=/usr/bin/touch\nharmless VICTIM",
    "the path": "PATH=/usr/bin:/bin; touch VICTIM",
    "the path of one command": "PATH=/usr/bin touch VICTIM",
    "no functions in posix mode": "set -o posix; /usr/bin/touch VICTIM",
    "no functions by a variable": "POSIXLY_CORRECT=1; /usr/bin/touch VICTIM",
    "without the recorder's functions": (
        "unset -f command_not_found_handle; PATH=/usr/bin; touch VICTIM"
    ),
    "without tracing": "set +T; f() { /usr/bin/touch VICTIM; }; f",
    "jobs -x": "jobs -x /usr/bin/touch VICTIM",
    # Through other programs.
    "env": "env X=1 touch VICTIM",
    "env that splits": "env -S 'touch VICTIM'",
    "nohup": "nohup touch VICTIM &\nwait",
    "timeout": "timeout 5 /usr/bin/touch VICTIM",
    "sudo": "sudo -E touch VICTIM",
    "xargs": "echo VICTIM | xargs touch",
    "xargs with a shell": "echo VICTIM | xargs -I{} bash -c 'touch {}'",
    "find": "find . -maxdepth 0 -exec touch VICTIM ';'",
    "find that writes": "find . -maxdepth 0 -fprint VICTIM",
    "awk that runs": "awk 'BEGIN { system(\"/usr/bin/touch VICTIM\") }'",
    "awk that pipes": 'awk \'BEGIN { print "x" | "/usr/bin/touch VICTIM" }\'',
    "awk that writes": 'awk \'BEGIN { print "x" > "VICTIM" }\'',
    "sed that runs": "echo x | sed '1e /usr/bin/touch VICTIM'",
    "sed that writes": "echo x | sed 'w VICTIM'",
    "sed in place": "sed -i s/a/b/ SCRIPT VICTIM",
    "sort that writes": "echo x | sort -o VICTIM",
    "sort that runs": "echo x | sort --compress-program=CANARY -S 1 SCRIPT",
    "uniq that writes": "echo x | uniq - VICTIM",
    "tee": "echo x | tee VICTIM",
    "mktemp": "mktemp VICTIM.XXXXXX",
    "mkdir": "mkdir -p VICTIM",
    "date": "date -s 2000-01-01 VICTIM",
    "the loader": "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch VICTIM",
    # Through other shells.
    "bash -c with a path": "bash -c '/usr/bin/touch VICTIM'",
    "sh by its path": "/bin/sh -c '/usr/bin/touch VICTIM'",
    "bash as a privileged shell": "bash -p -c '/usr/bin/touch VICTIM'",
    "bash as an interactive shell": "bash -i -c '/usr/bin/touch VICTIM'",
    "bash as a login shell": "bash -lc '/usr/bin/touch VICTIM'",
    "bash in posix mode": "bash --posix -c '/usr/bin/touch VICTIM'",
    "bash through env": "env -i bash -c '/usr/bin/touch VICTIM'",
    "bash without BASH_ENV": "BASH_ENV= bash -c '/usr/bin/touch VICTIM'",
    "bash through exec": "exec bash -c '/usr/bin/touch VICTIM'",
    "bash on a here-document": "bash <<'EOF'\n/usr/bin/touch VICTIM\nEOF",
    "bash on a pipe": "echo '/usr/bin/touch VICTIM' | bash",
    "bash on a process substitution": "bash <(echo '/usr/bin/touch VICTIM')",
    "sourced text": "source <(echo '/usr/bin/touch VICTIM')",
    "a script that it writes": "echo '/usr/bin/touch VICTIM' > s.sh; bash s.sh",
    "a program that it writes": "printf '#!/bin/bash\\n/usr/bin/touch VICTIM' > s; ./s VICTIM",
    "itself": '[[ $1 ]] && /usr/bin/touch VICTIM || bash "$0" again',
    "a script of the project": 'bash "$(dirname "$0")/inner.sh" VICTIM',
    "a sourced script of the project": 'source "$(dirname "$0")/inner.sh" VICTIM',
    "an exported function": "f() { /usr/bin/touch VICTIM; }; export -f f; bash -c f",
    # Through Python.
    "python -c": 'python -c \'open("VICTIM", "w")\'',
    "python by its path": 'PYTHON -c \'open("VICTIM", "w")\'',
    "python on a here-document": "python3 - <<'EOF'\nopen('VICTIM', 'w')\nEOF",
    "an expansion that writes": 'python -c \'load_model_args=1; open("VICTIM", "w")\'',
    "an expansion that runs": (
        'python -c \'import subprocess; load_model_args=1; subprocess.run(["touch", "VICTIM"])\''
    ),
    "an expansion that calls a shell": (
        "python -c 'import os; load_model_args=1; os.system(\"touch VICTIM\")'"
    ),
    "an expansion that spawns": (
        "python -c 'import os; load_model_args=1;"
        ' os.posix_spawn("/usr/bin/touch", ["touch", "VICTIM"], {})\''
    ),
    "an expansion that calls C": (
        "python -c 'import ctypes; load_model_args=1;"
        ' ctypes.CDLL(None).system(b"/usr/bin/touch VICTIM")\''
    ),
    "an expansion that forks": (
        "python -c 'import multiprocessing as m, os; load_model_args=1;"
        ' m.get_context("fork").Process(target=os.mkdir, args=("VICTIM",)).start()\''
    ),
    "an expansion that forks by itself": (
        "python -c 'import _posixsubprocess as p; load_model_args=1; p.fork_exec()'"
    ),
    # What bash opens itself.
    "a redirection": "echo x > VICTIM",
    "a redirection that is quiet": "{ echo x > VICTIM; } 2>/dev/null",
    "a redirection for reading and writing": "echo x <> VICTIM >&0",
    "a redirection of a block": "{ echo x; } > VICTIM",
    "a redirection of a loop": "for i in 1; do echo x; done > VICTIM",
    "a redirection for good": "exec > VICTIM; echo x",
    "a redirection with a descriptor of its own": "exec {f}> VICTIM; echo x >&$f",
    "a redirection to a computed file": 'V=VICTIM; echo x > "$V"',
    "a redirection beside the launcher": 'echo x > "$(dirname "$0")/leak"',
    "a redirection into the project's folder": "echo x > scripts/leak",
    "a redirection after cd": 'cd "$(dirname "$0")"; echo x > leak',
    "the network": "echo x > /dev/tcp/127.0.0.1/PORT",
    "the network for good": "exec 3<>/dev/tcp/127.0.0.1/PORT; echo x >&3",
    "the network by datagrams": "echo x > /dev/udp/127.0.0.1/PORT",
    # Other processes.
    "kill": "kill -9 OTHER",
    "kill by builtin": "builtin kill -9 OTHER",
    "kill by command": "command kill -9 OTHER",
    "kill by a variable": "B=builtin; $B kill -9 OTHER",
    "kill without its function": "unset -f kill; kill -9 OTHER",
    "kill of the parent": "builtin kill -9 $PPID",
    "pkill": "pkill -f OTHER",
    # Not ending.
    "a loop without an end": "while :; do :; done",
    "a wait without an end": "read -t 600 < <(while :; do :; done)",
    "a background loop without an end": "( while :; do :; done ) & ray VICTIM",
    "a fork bomb": "b() { b | b & }; b; wait; while :; do :; done",
    "a recursion without an end": 'bash "$0"',
    "output without an end": "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
    "a deaf launcher": "trap '' TERM INT HUP; while :; do :; done",
    "a stopped launcher": "suspend -f",
}
ENDLESS = (
    *("a loop without an end", "a wait without an end", "a fork bomb", "a deaf launcher"),
    *("a recursion without an end", "output without an end"),
)
# What ends its launcher, so that nothing could be tried after it.
ENDING = (
    *("builtin exec", "builtin by a variable", "enable", "find", "mktemp", "a stopped launcher"),
    *("no functions in posix mode", "no functions by a variable", "without tracing"),
    *("bash as a privileged shell", "bash as an interactive shell", "bash in posix mode"),
    *("kill by builtin", "kill by a variable", "kill of the parent"),
    *("a background loop without an end", *ENDLESS),
    *(
        one
        for one in ESCAPES
        if one.startswith(("a trap instead", "an expansion", "a redirection", "the network"))
        or one.endswith((" that runs", " that writes", " that pipes"))
    ),
)
TOGETHER = [one for one in ESCAPES if one not in ENDING]
WITH_OTHER_PROCESS = frozenset(one for one, text in ESCAPES.items() if "OTHER" in text)


class Place:
    """A project with a launcher, and beside it all that must stay as it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.victim = folder / "victim"
        self.canary = folder / "victim-canary"
        scripts = self.root / "scripts"
        scripts.mkdir(parents=True)
        self.launcher = scripts / "launch.sh"
        (scripts / "inner.sh").write_text('/usr/bin/touch "$1"\n')
        self.canary.write_text(f"#!/bin/sh\nexec /usr/bin/touch {self.victim}\n")
        self.canary.chmod(0o755)

    def write(self, text: str, path: Path | None = None, **names: object) -> None:
        names |= {"VICTIM": self.victim, "CANARY": self.canary, "PYTHON": sys.executable}
        names |= {"SCRIPT": self.launcher}
        for name, value in names.items():
            text = text.replace(name, str(value))
        (path or self.launcher).write_text(f"{text}\n")

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes() if path.is_file() else b""
            for path in self.folder.rglob("*")
        }

    def processes(self) -> list[int]:
        """Return the processes that began in the launcher's environment."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if str(self.folder).encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that ends when its input does."""
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        yield process


@pytest.fixture
def listener() -> Iterator[int]:
    """Give the port of a socket that takes connections, and fail where one came."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server.getsockname()[1]
        with pytest.raises(BlockingIOError):
            server.accept()


def tries(name: str, command: Command, place: Place, other: int) -> bool:
    """Return whether a command is what was tried."""
    tried = str(other) if name in WITH_OTHER_PROCESS else str(place.victim)
    return any(tried in one for one in (*command.argv, command.stdin or ""))


@pytest.mark.skipif(
    sandbox.without_landlock(sandbox.EVERY_LAYER) is not None,
    reason="without Landlock a launcher that runs others is refused where one of them is",
)
def test_nothing_happens_of_all_that_is_recorded(
    place: Place, other: subprocess.Popen[bytes], listener: int
) -> None:
    """One launcher runs each as a script of its own."""
    paths = {name: place.launcher.with_name(f"{at}.sh") for at, name in enumerate(TOGETHER)}
    for name, path in paths.items():
        text = ESCAPES[name].replace("VICTIM", f"VICTIM-of-{path.name}")
        place.write(text, path, OTHER=other.pid, PORT=listener)
    place.launcher.write_text("".join(f"bash {path}\n" for path in paths.values()))
    before = place.files()

    recording = shell.record(
        place.launcher, root=place.root, environment={"MARK": str(place.folder)}, time_limit=60.0
    )

    assert place.files() == before
    assert place.processes() == []
    assert other.poll() is None
    assert recording.stop is None

    def recorded(name: str, path: Path) -> bool:
        victim = f"{place.victim}-of-{path.name}"
        return any(
            str(command.origin).startswith(f"scripts/{path.name}:")
            or any(victim in one for one in command.argv)
            for command in recording.commands
            if tries(name, command, place, other.pid)
        )

    assert [name for name, path in paths.items() if not recorded(name, path)] == []


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        *(pytest.param(name, sandbox.EVERY_LAYER, id=f"guarded-{name}") for name in ENDING),
        *(pytest.param(name, (), id=f"unguarded-{name}") for name in ESCAPES),
    ],
)
def test_nothing_happens(
    name: str,
    layers: tuple[sandbox.Layer, ...],
    place: Place,
    other: subprocess.Popen[bytes],
    listener: int,
) -> None:
    place.write(ESCAPES[name], OTHER=other.pid, PORT=listener)
    before = place.files()

    recording = shell.record(
        place.launcher,
        root=place.root,
        environment={"MARK": str(place.folder)},
        time_limit=0.5 if name in ENDLESS else 20.0,
        layers=layers,
    )

    assert place.files() == before
    assert place.processes() == []
    assert other.poll() is None
    if recording.stop is None:
        assert any(tries(name, one, place, other.pid) for one in recording.commands)
    else:
        assert ("the launcher was ended" in recording.stop.reason) == (
            name in ENDLESS and "kernel" not in recording.stop.reason
        )
        assert recording.returncode is None
