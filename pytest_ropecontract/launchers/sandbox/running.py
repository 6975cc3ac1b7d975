"""Starts a command under the supervisor, and tells what became of it."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from pytest_ropecontract.answers import read_answer
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.launchers.sandbox import landlock
from pytest_ropecontract.launchers.sandbox.supervisor import NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_PATIENCE = 30.0
"""How long the supervisor may take beyond the command's own limit, in seconds."""

_LAST_PATIENCE = 10.0

# The supervisor loads this very package, whatever else its sys.path offers under the name, and of
# it only what it needs. It starts without site-packages, which takes most of a Python's start.
_START = """
import sys, types
where = sys.argv[1]
name = "pytest_ropecontract"
for inner in ("", ".launchers", ".launchers.sandbox"):
    package = sys.modules[name + inner] = types.ModuleType(name + inner)
    package.__path__ = [where + inner.replace(".", "/")]
from pytest_ropecontract.launchers.sandbox.supervisor import serve
serve()
"""


class Layer(enum.StrEnum):
    """A protection that the kernel gives, where it has it."""

    LANDLOCK = "landlock"
    """Executes nothing but what is allowed, and writes nowhere but where it is allowed."""

    NAMESPACES = "namespaces"
    """Sees no other process and no network, and leaves no process."""


EVERY_LAYER = frozenset(Layer)

UNGUARDED = "the kernel does not guard programs and files"
"""How the sentence begins about a machine where some launchers are refused as they are written."""

_WITHOUT = {
    Layer.LANDLOCK: UNGUARDED + " ({}): launchers that use what only it would stop are refused",
    Layer.NAMESPACES: "the kernel does not set processes and network apart ({}): other processes"
    " are in sight, and of the network only what Landlock knows of is closed",
}


class SandboxError(RopeContractError):
    """A command could not be started in the sandbox."""


@dataclass(frozen=True)
class Finished:
    """What became of a command.

    Attributes:
        returncode: Its exit status, negative for a signal, or None where it was ended.
        stdout: What it printed.
        stderr: What it complained of.
        ended: Why it was ended, in one sentence, or None where it ended by itself.
        missing: The protections that were not in force.
        missing_layers: The same, a sentence each, with what is not protected without it.
    """

    returncode: int | None
    stdout: str
    stderr: str
    ended: str | None = None
    missing: frozenset[Layer] = frozenset()
    missing_layers: tuple[str, ...] = ()


def run(  # noqa: PLR0913 - what surrounds a command is that much
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    time_limit: float = 20.0,
    programs: Collection[str | Path] = (),
    writable: Collection[Path] = (),
    stdin: str = "",
    layers: Collection[Layer] = EVERY_LAYER,
    most_processes: int = 200,
) -> Finished:
    """Run a command until it and all that came from it have ended.

    What holds on every Linux, also for root: the environment and nothing else, the time limit, the
    bound on the number of processes, that no process is left however it went into the background,
    and that nothing gains privileges. What only the kernel's layers give is said where it is
    missing.

    Args:
        argv: The command; the program by its absolute path.
        folder: The working directory.
        environment: The whole environment.
        time_limit: Seconds after which it is ended.
        programs: Files, or folders of files, that may be executed, beside the command's own.
        writable: Folders that may be written to; nothing else may, but the null device.
        stdin: What it reads on standard input.
        layers: The protections of the kernel to use, where the machine has them.
        most_processes: It is ended when there are more at one time.

    Raises:
        SandboxError: It could not be started.
    """
    if sys.platform != "linux":
        raise SandboxError(
            f"launchers are recorded on Linux alone, this is {sys.platform}",
            remedy="run these tests on Linux, or in a container",
        )
    allowed = {Path(argv[0]), *map(Path, programs)}
    request = {
        "argv": [os.fspath(one) for one in argv],
        "folder": str(folder),
        "environment": dict(environment),
        "time_limit": time_limit,
        "stdin": stdin,
        "namespaces": Layer.NAMESPACES in layers,
        "most_processes": most_processes,
        "ruleset": None,
    }
    missing = {}
    unguarded = _without_landlock(layers)
    with ExitStack() as stack:
        if unguarded is None:
            try:
                rules = stack.enter_context(landlock.ruleset(sorted(allowed), writable))
            except OSError as error:
                raise _not_started(argv[0], str(error)) from None
            request["ruleset"] = rules.fileno()
        else:
            missing[Layer.LANDLOCK] = unguarded
        answer = _ask(request, time_limit + _PATIENCE)
    if "failure" in answer:
        raise _not_started(argv[0], answer["failure"])
    if answer["together"] is not None:
        missing[Layer.NAMESPACES] = answer["together"]
    return Finished(
        returncode=answer["returncode"],
        stdout=answer["stdout"],
        stderr=answer["stderr"],
        ended=answer["ended"],
        missing=frozenset(missing),
        missing_layers=tuple(_WITHOUT[one].format(why) for one, why in missing.items()),
    )


def without_landlock(layers: Collection[Layer] = EVERY_LAYER) -> str | None:
    """Return a sentence that says why the kernel does not guard programs and files, or None."""
    reason = _without_landlock(layers)
    return None if reason is None else _WITHOUT[Layer.LANDLOCK].format(reason)


def _without_landlock(layers: Collection[Layer]) -> str | None:
    return landlock.missing() if Layer.LANDLOCK in layers else NOT_ASKED


def _not_started(program: str, reason: str) -> SandboxError:
    return SandboxError(
        f"{Path(program).name} could not be started in the sandbox: {reason}",
        remedy="check that the program is there, and the limit on processes",
    )


def _ask(request: dict[str, Any], patience: float) -> dict[str, Any]:
    if not sys.executable:
        raise SandboxError(
            "there is no Python to supervise launchers with: sys.executable is empty",
            remedy="run pytest with a Python executable",
        )
    package = Path(__file__).parents[2]
    ruleset = request["ruleset"]
    with subprocess.Popen(  # noqa: S603 - this Python, with code from here
        [sys.executable, "-I", "-S", "-c", _START, str(package)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pass_fds=() if ruleset is None else (ruleset,),
        # An interrupt from the keyboard is for this process alone.
        start_new_session=True,
    ) as process:
        requests, answers, complaints = (
            cast("IO[bytes]", pipe) for pipe in (process.stdin, process.stdout, process.stderr)
        )
        try:
            with suppress(BrokenPipeError):
                requests.write(json.dumps(request).encode() + b"\n")
            # Standard input stays open: its end makes the supervisor end what it runs.
            answer = read_answer(answers.fileno(), patience)
        finally:
            with suppress(BrokenPipeError):
                requests.close()
            _end(process)
        said = complaints.read()
    if not answer.endswith(b"\n"):
        lines = said.decode("utf-8", "replace").strip().splitlines()
        raise SandboxError(
            f"the process that supervises launchers ended with status {process.returncode}",
            details=lines[-5:],
        )
    found: dict[str, Any] = json.loads(answer)
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_LAST_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
