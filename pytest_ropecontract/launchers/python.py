"""Records what a Python launcher would run."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.launchers import sandbox
from pytest_ropecontract.launchers.recording import NOTHING, Recording, Stop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_TIME_LIMIT = 60.0
_CHUNK = 64 * 1024
_TICK = 20

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


class Shell(Protocol):
    """Records a text that a launcher gives to a shell."""

    def __call__(
        self, text: str, *, environment: Mapping[str, str], folder: str, stdin: str | None
    ) -> Recording:
        """Return what bash would run of it.

        Args:
            text: The text.
            environment: Variables beside the frozen ones.
            folder: The working directory.
            stdin: What it reads on standard input, or None.
        """


def record(  # noqa: PLR0913  # what surrounds a launcher is that much
    path: Path,
    function: str | None = None,
    *,
    root: Path,
    shell: Shell,
    keywords: Mapping[str, Any] = NOTHING,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] = NOTHING,
    pythonpath: Sequence[str] = (),
    time_limit: float = DEFAULT_TIME_LIMIT,
) -> Recording:
    """Run a script, or call one of its functions, where every command is recorded.

    Args:
        path: The script.
        function: The function that is called, or None where the script runs as such.
        root: The folder that origins are relative to.
        shell: Records each command, and gives what it prints.
        keywords: Of the function: what JSON can write.
        arguments: Of the script.
        environment: Variables beside the frozen ones.
        pythonpath: Folders in which modules are found, before those of this process.
        time_limit: Seconds after which it is ended.

    Raises:
        LauncherError: There is no such script or function, or it does not take the arguments.
        SandboxError: No interpreter could be started.
    """
    path = (root / path).absolute()
    name = _shown(str(path), root)
    if not path.is_file():
        raise LauncherError(f"there is no launcher {name}", remedy="name a file of the project")
    try:
        task = json.dumps({"keywords": dict(keywords)})
    except (TypeError, ValueError) as error:
        raise LauncherError(
            f"{name}: an argument of {function}() cannot be passed on: {error}",
            remedy="pass texts, numbers, lists and mappings",
        ) from None
    with sandbox.scratch() as folder, sandbox.scratch() as pipes:
        frozen = sandbox.frozen_environment(folder)
        server = _Server(pipes, frozen, root, shell)
        whole = {
            **json.loads(task),
            "path": str(path),
            "root": str(root.absolute()),
            "function": function,
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
                environment={**frozen, **environment, "PYTHONHASHSEED": "0"},
                time_limit=time_limit,
                writable=[folder, pipes],
                stdin=json.dumps(whole),
            )
        return server.recording(name, finished, sandbox.written(folder))


class _Server:
    """Answers what a launcher's interpreter asks, in a thread of its own.

    Args:
        folder: Where its pipes are made.
        frozen: The environment that every launcher begins with.
        root: The folder that origins are relative to.
        shell: Records each command.
    """

    def __init__(self, folder: Path, frozen: Mapping[str, str], root: Path, shell: Shell) -> None:
        self.requests, self.answers = folder / "requests", folder / "answers"
        self._frozen, self._root, self._shell = frozen, root, shell
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
            if select.select([self._pipes[0]], [], [], 0 if last else _TICK / 1000)[0]:
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
        different = {
            name: value
            for name, value in begun["environment"].items()
            if self._frozen.get(name) != value
        }
        found = self._shell(
            begun["text"], environment=different, folder=begun["folder"], stdin=stdin
        )
        origin = begun["origin"] and _shown(begun["origin"], self._root)
        commands = tuple(
            dataclasses.replace(
                one,
                environment={**different, **one.environment},
                origin=origin,
                stdin=one.stdin if stdin is None else stdin,
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
            if select.select([], [self._pipes[1]], [], _TICK / 1000)[1]:
                data = data[os.write(self._pipes[1], data[:4096]) :]

    def recording(
        self, name: str, finished: sandbox.Finished, files: Mapping[str, str]
    ) -> Recording:
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
        inner = {path: text for one in recorded for path, text in one.files.items()}
        inner_missing = (text for one in recorded for text in one.missing_layers)
        missing = dict.fromkeys((*finished.missing_layers, *inner_missing))
        stop = self._stop(finished, [one.stop for one in recorded if one.stop is not None])
        return Recording(
            commands=tuple(command for one in recorded for command in one.commands),
            files=dict(sorted({**inner, **files}.items())),
            stdout=finished.stdout,
            stderr=finished.stderr,
            returncode=None if stop else self._last.get("ended", finished.returncode),
            stop=stop,
            missing_layers=tuple(missing),
        )

    def _stop(self, finished: sandbox.Finished, inner: Sequence[Stop]) -> Stop | None:
        if "stop" in self._last:
            origin = self._last["origin"]
            return Stop(
                self._last["stop"], origin and _shown(origin, self._root), self._last["remedy"]
            )
        if inner:
            return inner[0]
        return None if finished.ended is None else Stop(finished.ended)


def _shown(place: str, root: Path) -> str:
    """Return a place as it is written in the project."""
    return place.removeprefix(f"{root.absolute()}{os.sep}")
