"""Records what a Python launcher would run."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import shlex
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.launchers import sandbox, shell
from pytest_ropecontract.launchers.recording import NOTHING, Recording, Stop
from pytest_ropecontract.launchers.sandbox import EVERY_LAYER

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_ropecontract.launchers.recording import Answer
    from pytest_ropecontract.launchers.sandbox import Finished, Layer

DEFAULT_TIME_LIMIT = 60.0
_CHUNK = 64 * 1024
_PIPE_HOLDS = 4096
_TICK = 0.02

# The interpreter loads this very package, whatever else its sys.path offers under the name, and
# of it only what it needs.
_START = """
import sys, types
where = sys.argv.pop()
name = "pytest_ropecontract"
for inner in ("", ".launchers", ".launchers.interpreter"):
    package = sys.modules[name + inner] = types.ModuleType(name + inner)
    package.__path__ = [where + inner.replace(".", "/")]
from pytest_ropecontract.launchers.interpreter.main import main
main()
"""


class LauncherError(RopeContractError):
    """A launcher that cannot be run as was asked."""


def record(  # noqa: PLR0913  # what surrounds a launcher is that much
    path: Path,
    function: str | None = None,
    *,
    root: Path,
    keywords: Mapping[str, Any] = NOTHING,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] = NOTHING,
    answers: Mapping[str, str | Answer] = NOTHING,
    pythonpath: Sequence[Path] = (),
    time_limit: float = DEFAULT_TIME_LIMIT,
    layers: Collection[Layer] = EVERY_LAYER,
) -> Recording:
    """Run a script, or call one of its functions, where every command is recorded.

    It runs in a fresh interpreter, in a scratch folder that shows the project's own files and
    folders as links. What it gives to a shell, bash takes apart as it does a shell launcher.

    Args:
        path: The script, absolute or from the root.
        function: The function that is called, or None where the script runs as such.
        root: The project's folder.
        keywords: Of the function: what JSON can write.
        arguments: Of the script.
        environment: Variables in addition to the frozen ones.
        answers: What commands answer: by the program's name, or by its name and first arguments.
        pythonpath: Folders in which modules are found, before those of this process.
        time_limit: Seconds after which it is ended.
        layers: The protections of the kernel to use, where the machine has them.

    Raises:
        LauncherError: There is no such script or function, or it does not take the arguments.
        SandboxError: No interpreter could be started.
    """
    root = root.resolve()
    path = root / path
    name = _shown(str(path), root)
    if not path.is_file():
        raise LauncherError(f"there is no launcher {name}", remedy="name a file of the project")
    try:
        given = json.loads(json.dumps(dict(keywords)))
    except (TypeError, ValueError) as error:
        raise LauncherError(
            f"{name}: an argument of {function}() cannot be passed on: {error}",
            remedy="pass texts, numbers, lists and mappings",
        ) from None
    with sandbox.scratch() as folder, sandbox.scratch() as pipes:
        sandbox.show(root, folder)
        begun = {**sandbox.frozen_environment(folder), "PATH": shell.NO_PATH, **environment}
        bash = _Bash(root, folder, answers, time_limit, pythonpath, layers)
        server = _Server(pipes, begun, bash)
        task = {
            "path": str(path),
            "root": str(root),
            "function": function,
            "keywords": given,
            "arguments": list(arguments),
            "first": [str(path.parent), *(str(root / one) for one in pythonpath)],
            "last": [os.path.abspath(one) for one in sys.path],  # noqa: PTH100  # "" is the cwd
            "scratch": str(folder),
            "requests": str(server.requests),
            "answers": str(server.answers),
        }
        with server:
            finished = sandbox.run(
                [sys.executable, "-s", "-P", "-B", "-c", _START, str(Path(__file__).parents[1])],
                folder=folder,
                environment={**begun, "PYTHONHASHSEED": "0"},
                time_limit=time_limit,
                writable=[folder, pipes],
                stdin=json.dumps(task),
                layers=layers,
            )
        return server.recording(name, finished)


@dataclass(frozen=True)
class _Bash:
    """Records what a launcher gives to a shell.

    Attributes:
        root: The project's folder.
        scratch: The launcher's scratch folder.
        answers: What commands answer.
        time_limit: Seconds after which one text is ended.
        pythonpath: Folders that Python finds helpers of model definitions in.
        layers: The protections of the kernel to use.
    """

    root: Path
    scratch: Path
    answers: Mapping[str, str | Answer]
    time_limit: float
    pythonpath: Sequence[Path]
    layers: Collection[Layer]

    def record(
        self, text: str, environment: Mapping[str, str], folder: str, stdin: str | None
    ) -> Recording:
        """Return what bash would run of a text.

        Args:
            text: The text.
            environment: Variables beside the frozen ones.
            folder: The working directory.
            stdin: What it reads on standard input, or None.
        """
        if stdin is not None and PurePosixPath(text).name in ("bash", "sh"):
            text, stdin = stdin, None
        with sandbox.scratch() as place:
            file, given = place / "command.sh", place / "stdin"
            if stdin is not None:
                given.write_text(stdin, encoding="utf-8", errors="surrogateescape")
                text = f"{{\n{text}\n}} < {shlex.quote(str(given))}"
            if folder != str(self.scratch):
                text = f"cd -- {shlex.quote(folder)} || exit 1\n{text}"
            file.write_text(f"{text}\n", encoding="utf-8", errors="surrogateescape")
            return shell.record(
                file,
                root=self.root,
                environment={
                    name: value for name, value in environment.items() if shell.takes(name)
                },
                answers=self.answers,
                time_limit=self.time_limit,
                pythonpath=self.pythonpath,
                layers=self.layers,
                scratch=self.scratch,
            )

    def shown(self, text: str) -> str:
        """Return a text with the scratch folder's path replaced, which differs in every run."""
        return text.replace(str(self.scratch), shell.SCRATCH)


class _Server:
    """Answers what a launcher's interpreter asks, in a thread of its own.

    Args:
        folder: Where its pipes are made.
        begun: The environment that the launcher begins with.
        bash: Records each command.
    """

    def __init__(self, folder: Path, begun: Mapping[str, str], bash: _Bash) -> None:
        self.requests, self.answers = folder / "requests", folder / "answers"
        self._begun, self._bash = begun, bash
        self._slots: dict[int, dict[str, Any]] = {}
        self._recorded: dict[int, Recording] = {}
        self._last: dict[str, Any] = {}
        self._failure: BaseException | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._pipes: tuple[int, int] = (-1, -1)

    def __enter__(self) -> None:
        for path in (self.requests, self.answers):
            os.mkfifo(path)
        # Both ends are open here, so that neither side waits for the other to open one.
        self._pipes = (
            os.open(self.requests, os.O_RDWR | os.O_NONBLOCK),
            os.open(self.answers, os.O_RDWR),
        )
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        for pipe in self._pipes:
            os.close(pipe)

    def _serve(self) -> None:
        rest = b""
        while True:
            last = self._done.is_set()
            chunk = b""
            if select.select([self._pipes[0]], [], [], 0 if last else _TICK)[0]:
                with suppress(BlockingIOError):
                    chunk = os.read(self._pipes[0], _CHUNK)
            if last and not chunk:
                return
            rest += chunk
            *lines, rest = rest.split(b"\n")
            for line in lines:
                self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        if "begins" in message:
            self._slots[message["slot"]] = message["begins"]
        elif "run" in message:
            self._answer(self._run(message["run"], message["stdin"]))
        else:
            self._last = message

    def _run(self, slot: int, stdin: str | None) -> dict[str, Any]:
        try:
            recording = self._record(slot, stdin)
        except BaseException as error:  # noqa: BLE001  # it is raised where it can be caught
            self._failure = error
            return {"stop": True}
        return {
            "stop": recording.stop is not None,
            "stdout": recording.stdout,
            "stderr": recording.stderr,
            "returncode": recording.returncode or 0,
        }

    def _record(self, slot: int, stdin: str | None) -> Recording:
        begun = self._slots[slot]
        changed = {
            name: value
            for name, value in begun["environment"].items()
            if self._begun.get(name) != value
        }
        # What the launcher began with is given on, too: it is nothing that bash has by itself.
        given = {**self._begun, **changed}
        found = self._bash.record(begun["text"], given, begun["folder"], stdin)
        # Which of several reads it cannot be told from here.
        reads = stdin if len(found.commands) == 1 else None
        origin = begun["origin"] and _shown(begun["origin"], self._bash.root)
        commands = tuple(
            dataclasses.replace(
                one,
                environment={
                    name: self._bash.shown(value)
                    for name, value in sorted({**changed, **one.environment}.items())
                },
                origin=origin,
                stdin=reads if one.stdin is None else one.stdin,
            )
            for one in found.commands
        )
        stop = found.stop and dataclasses.replace(found.stop, origin=origin)
        self._recorded[slot] = dataclasses.replace(found, commands=commands, stop=stop)
        return self._recorded[slot]

    def _answer(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode() + b"\n"
        # Whoever reads it may be gone, and a pipe holds less than an answer can be.
        while data and not self._done.is_set():
            if select.select([], [self._pipes[1]], [], _TICK)[1]:
                data = data[os.write(self._pipes[1], data[:_PIPE_HOLDS]) :]

    def recording(self, name: str, finished: Finished) -> Recording:
        """Return what became of the launcher.

        Raises:
            LauncherError: The function cannot be called.
        """
        if self._failure is not None:
            raise self._failure
        if "unusable" in self._last:
            raise LauncherError(f"{name}: {self._last['unusable']}", remedy=self._last["remedy"])
        for slot in self._slots.keys() - self._recorded.keys():
            self._record(slot, None)  # started, and never waited for
        recorded = [self._recorded[slot] for slot in sorted(self._recorded)]
        inner_missing = (text for one in recorded for text in one.missing_layers)
        stop = self._stop(finished, [one.stop for one in recorded if one.stop is not None])
        bash = self._bash
        return Recording(
            commands=tuple(command for one in recorded for command in one.commands),
            files={
                path: bash.shown(text)
                for path, text in sandbox.written(bash.scratch, bash.root).items()
            },
            stdout=bash.shown(finished.stdout),
            stderr=bash.shown(finished.stderr),
            returncode=None if stop else self._last.get("ended", finished.returncode),
            stop=stop and dataclasses.replace(stop, reason=bash.shown(stop.reason)),
            missing_layers=tuple(dict.fromkeys((*finished.missing_layers, *inner_missing))),
        )

    def _stop(self, finished: Finished, inner: Sequence[Stop]) -> Stop | None:
        if "stop" in self._last:
            origin = self._last["origin"]
            return Stop(
                self._last["stop"],
                origin and _shown(origin, self._bash.root),
                self._last["remedy"],
            )
        if inner:
            return inner[0]
        return None if finished.ended is None else Stop(f"the launcher was ended: {finished.ended}")


def _shown(place: str, root: Path) -> str:
    """Return a place as it is written in the project."""
    return place.removeprefix(f"{root}{os.sep}")
