"""The commands of a recording that train."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_ropecontract.launchers import wrappers
from pytest_ropecontract.launchers.command_text import commands_in
from pytest_ropecontract.launchers.recording import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ropecontract.launchers.recording import Command, Recording

DEFAULT_SCRIPTS = ("*train*",)
_PYTHON = re.compile(r"(python|pypy)[\d.]*")
_SHELL = re.compile(r"(ba|da|z|k)?sh")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_TORCH_MODULES = ("torch.distributed.run", "torch.distributed.launch")
# Of the tools that run another program, those whose names nothing else has.
_BEGIN = ("nohup", "timeout", "numactl", "taskset", "stdbuf", "setsid", "srun", "sudo")
_DEEPEST = 20
# Lines of an array, of a here-document and the patterns of a case may begin like options.
_NO_COMMANDS = re.compile(r"<<|=\(|\bcase\b")
RAY = "ray job submit"
"""What a training command is run through where nothing of the launcher's environment reaches it."""


@dataclass(frozen=True)
class Training:
    """A command that trains.

    Attributes:
        script: The Python file, or the dotted name of the module, as it is written.
        argv: What the script is given.
        command: The command of the recording that it is part of.
        environment: The variables that reach the script and differ from those that the
            launcher began with; under ``ray job submit`` those of the runtime environment.
        through: The programs that it is run through, from the outside in.
    """

    script: str
    argv: tuple[str, ...]
    command: Command
    environment: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    through: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unclear:
    """A command that trains, or may, in a way that cannot be told.

    Attributes:
        command: The command of the recording.
        reason: What cannot be told, in one sentence.
    """

    command: Command
    reason: str


@dataclass(frozen=True)
class Stray:
    """A command that is named like an option: it belongs to the one before it.

    Attributes:
        command: The command of the recording that it is, or is part of.
        words: Its words.
    """

    command: Command
    words: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """What of a recording trains.

    Attributes:
        training: The commands that train, in order.
        unclear: Those of which that cannot be told.
        stray: Those that are none, but flags of the command before them.
        unseen: Those that run elsewhere what is not looked into, with the reason.
    """

    training: tuple[Training, ...] = ()
    unclear: tuple[Unclear, ...] = ()
    stray: tuple[Stray, ...] = ()
    unseen: tuple[Unclear, ...] = ()


@dataclass(frozen=True)
class ShellScript:
    """A shell script that a command runs elsewhere: on other nodes, or as a job.

    Attributes:
        path: The file, as it is written.
        arguments: What it is given.
        command: The command of the recording that runs it.
        environment: The variables that reach it.
    """

    path: str
    arguments: tuple[str, ...]
    command: Command
    environment: Mapping[str, str]


Follow = Callable[[ShellScript], "Recording | None"]
"""Gives what a shell script would run, or None where that cannot be known."""


def find(
    recording: Recording,
    scripts: Sequence[str] = DEFAULT_SCRIPTS,
    follow: Follow = lambda _: None,
) -> Found:
    """Return the commands of a recording that train.

    They are found behind ``ray job submit``, ``torchrun``, ``python -m
    torch.distributed.run``, ``srun``, ``uv run``, ``bash -c``, ``env`` and the like. Of a
    program that is not known, its arguments from the first that begins a command are what it
    runs.

    Args:
        recording: What a launcher would have run.
        scripts: Globs of the names of scripts that train; of a path or of a module's dotted
            name the last part counts.
        follow: Gives what the shell scripts would run that commands run elsewhere.
    """
    return _find(recording, tuple(scripts), follow, 0)


def _find(recording: Recording, scripts: tuple[str, ...], follow: Follow, depth: int) -> Found:
    training: list[Training] = []
    unclear: list[Unclear] = []
    stray: list[Stray] = []
    unseen: list[Unclear] = []
    for command in recording.commands:
        search = _Search(command, scripts, follow, depth)
        if command.argv and command.argv[0].startswith("-"):
            search.stray.append(Stray(command, command.argv))
        search.look(_State(command.argv, dict(command.environment)))
        training.extend(search.training)
        unclear.extend(Unclear(command, reason) for reason in search.unclear)
        stray.extend(search.stray)
        unseen.extend(search.not_seen())
    return Found(tuple(training), tuple(unclear), tuple(stray), tuple(unseen))


@dataclass(frozen=True)
class _State:
    """What is looked at: words, the variables that reach them, and what runs them."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    through: tuple[str, ...] = ()
    expands: bool = False

    def rest(self, start: int, *through: str, **changes: str) -> _State:
        return dataclasses.replace(
            self,
            words=self.words[start:],
            environment={**self.environment, **changes},
            through=(*self.through, *through),
        )


class _Search:
    """Goes through the programs that one command consists of."""

    def __init__(
        self, command: Command, scripts: tuple[str, ...], follow: Follow, depth: int
    ) -> None:
        self.command = command
        self.scripts = scripts
        self.follow = follow
        self.depth = depth
        self.training: list[Training] = []
        self.unclear: list[str] = []
        self.stray: list[Stray] = []
        self.unseen: list[Unclear] = []
        self.elsewhere: list[_State] = []

    def not_seen(self) -> list[Unclear]:
        """Return what runs elsewhere without being looked into, where nothing is seen to train."""
        own = [] if self.training or self.unclear else [*map(self._not_seen, self.elsewhere)]
        return [*self.unseen, *(Unclear(self.command, one) for one in own if one is not None)]

    def _not_seen(self, state: _State) -> str | None:
        name = PurePosixPath(state.words[0]).name
        if (self.command.stdin or "").strip():
            return f"{name} reads its script from standard input, which is not looked into"
        where = wrappers.ELSEWHERE[name]
        if where == wrappers.CONTAINER and not {"run", "exec", "start"} & {*state.words}:
            return None  # it builds one, or lists them
        return f"what {name} runs {where} is not looked into"

    def look(self, state: _State) -> None:
        """Look for what trains in the words of a command."""
        if not state.words or len(state.through) > _DEEPEST:
            return
        name = PurePosixPath(state.words[0]).name
        if name in wrappers.ELSEWHERE:
            self.elsewhere.append(state)
        handler = self._handlers.get(name)
        if handler is not None:
            handler(state)
        elif _PYTHON.fullmatch(name):
            self._python(state)
        elif _SHELL.fullmatch(name):
            self._shell(state, name)
        elif name in wrappers.TOOLS:
            self._wrapped(state, 1, name, wrappers.TOOLS[name])
        elif name.endswith(".py"):
            self._script(state, name)
        elif name.endswith(".sh") and state.through:
            self._shell_script(state)
        elif name not in wrappers.MENTION:
            self._unknown(state, 1, name)

    @property
    def _handlers(self) -> dict[str, Callable[[_State], None]]:
        return {
            "torchrun": lambda one: self._wrapped_script(one, 1, "torchrun", wrappers.TORCHRUN),
            "accelerate": lambda one: self._first_script(one, 1, "accelerate"),
            "deepspeed": lambda one: self._first_script(one, 1, "deepspeed"),
            "ray": self._ray,
            "uv": self._uv,
            "nsys": self._nsys,
            "env": self._env,
            "exec": lambda one: self.look(one.rest(1)),
        }

    def _uv(self, state: _State) -> None:
        if state.words[1:2] == ("run",):
            self._wrapped_script(state, 2, "uv run", wrappers.UV_RUN)

    def _nsys(self, state: _State) -> None:
        if state.words[1:2] == ("profile",):
            self._wrapped(state, 2, "nsys profile", wrappers.NSYS_PROFILE)

    def _script(self, state: _State, name: str) -> None:
        if not self._trains(name):
            return
        if state.expands:
            self.unclear.append(
                f"{name} is run in a text that only a shell can expand, by {_said(state)}"
            )
            return
        self.training.append(
            Training(
                state.words[0],
                state.words[1:],
                self.command,
                dict(state.environment),
                state.through,
            )
        )

    def _trains(self, name: str) -> bool:
        stem = name.removesuffix(".py")
        return any(fnmatchcase(one, glob) for glob in self.scripts for one in (name, stem))

    def _module(self, state: _State) -> None:
        """Look at a module's dotted name with its arguments."""
        name = state.words[0] if state.words else ""
        if name in _TORCH_MODULES:
            self._wrapped_script(state, 1, name, wrappers.TORCHRUN)
        elif name == "accelerate.commands.launch":
            self._first_script(state, 1, name)
        else:
            self._script(state, name.rpartition(".")[2])

    def _python(self, state: _State) -> None:
        own = wrappers.PYTHON.own(state.words[1:])
        if own is None:
            self._unknown(state, 1, state.words[0])
        elif own.values_of("-m"):
            module = dataclasses.replace(
                state, words=(own.values_of("-m")[0], *state.words[1 + own.end :])
            )
            self._module(module)
        elif not own.values_of("-c"):
            self._file(state.rest(1 + own.end))

    def _file(self, state: _State) -> None:
        if state.words:
            self._script(state, PurePosixPath(state.words[0]).name)

    def _wrapped_script(
        self, state: _State, start: int, name: str, wrapper: wrappers.Wrapper
    ) -> None:
        """Look at a wrapper that takes a script, a module, or a whole command."""
        own = wrapper.own(state.words[start:])
        if own is None:
            self._first_script(state, start, name)
            return
        inner = state.rest(start + own.end, name)
        if own.has(wrappers.MODULE):
            self._module(inner)
        elif wrapper is wrappers.TORCHRUN:
            self._file(inner)
        else:
            self.look(inner)

    def _first_script(self, state: _State, start: int, name: str) -> None:
        """Look at a runner of scripts by its first argument that is one."""
        inner = state.rest(start, name)
        for at, word in enumerate(inner.words):
            if word in wrappers.MODULE and at + 1 < len(inner.words):
                self._module(inner.rest(at + 1))
                return
            if word.endswith(".py"):
                self._file(inner.rest(at))
                return

    def _wrapped(self, state: _State, start: int, name: str, wrapper: wrappers.Wrapper) -> None:
        """Look at a wrapper that takes a whole command."""
        own = wrapper.own(state.words[start:])
        if own is None:
            self._unknown(state, start, name)
            return
        inner = state.rest(start + own.end, name, **_exports(own))
        # sudo and env alike take assignments before the program.
        self._assigned(inner) if name == "sudo" else self.look(inner)

    def _unknown(self, state: _State, start: int, name: str) -> None:
        """Look at what a program runs whose arguments are not known."""
        for at in range(start, len(state.words)):
            if self._begins(state.words[at]):
                self.look(state.rest(at, PurePosixPath(name).name))
                return

    def _begins(self, word: str) -> bool:
        """Return whether a word begins a command, or is a script that trains."""
        name = PurePosixPath(word).name
        return (
            name in self._handlers
            or name in _BEGIN
            or _PYTHON.fullmatch(name) is not None
            or _SHELL.fullmatch(name) is not None
            or (name.endswith(".py") and self._trains(name) and len(word.split()) == 1)
        )

    def _env(self, state: _State) -> None:
        own = wrappers.ENV.own(state.words[1:])
        if own is None:
            self._unknown(state, 1, "env")
            return
        inner = state.rest(1 + own.end, "env")
        split = [word for text in own.values_of("-S") for word in text.split()]
        split += [word for text in own.values_of("--split-string") for word in text.split()]
        emptied = own.has(frozenset({"-i", "--ignore-environment"}))
        removed = {*own.values_of("-u"), *own.values_of("--unset")}
        kept = {
            name: value
            for name, value in inner.environment.items()
            if not emptied and name not in removed
        }
        self._assigned(dataclasses.replace(inner, words=(*split, *inner.words), environment=kept))

    def _assigned(self, state: _State) -> None:
        """Look at a program behind assignments."""
        count = 0
        while count < len(state.words) and _ASSIGNMENT.match(state.words[count]):
            count += 1
        pairs = (word.partition("=") for word in state.words[:count])
        self.look(state.rest(count, **{name: value for name, _, value in pairs}))

    def _ray(self, state: _State) -> None:
        if state.words[1:3] != ("job", "submit"):
            return
        own = wrappers.RAY_JOB_SUBMIT.own(state.words[3:])
        # A job runs on the cluster: of this environment nothing reaches it.
        start = 3 if own is None else 3 + own.end
        inner = dataclasses.replace(state.rest(start, RAY), environment=NOTHING)
        if own is None:
            self._unknown(inner, 0, RAY)
            return
        for text in own.values_of("--runtime-env-json"):
            try:
                inner = dataclasses.replace(inner, environment=_runtime_environment(text))
            except ValueError as error:
                self.unclear.append(f"--runtime-env-json of ray job submit {error}")
        self.look(inner)

    def _shell(self, state: _State, name: str) -> None:
        """Look at what a shell is given as a text; a file of its own is not read."""
        at, text = 1, None
        while at < len(state.words) and state.words[at][:1] in "-+":
            option = state.words[at]
            at += 1
            if option in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
                at += 1
            elif "c" in option[1:] and not option.startswith("--"):
                text = ""
            if option == "--":
                break
        if at >= len(state.words):
            return
        if text is None:
            self._shell_script(state.rest(at, name))
            return
        text = state.words[at]
        for one in commands_in(text):
            if one.begins_line and one.words[0].startswith("-") and not _NO_COMMANDS.search(text):
                self.stray.append(Stray(self.command, tuple(one.words)))
            self.look(
                _State(
                    tuple(one.words),
                    {**state.environment, **one.environment},
                    (*state.through, f"{name} -c"),
                    one.expands,
                )
            )

    def _shell_script(self, state: _State) -> None:
        """Look at what a shell script runs, where that can be known."""
        path, *arguments = state.words
        name = PurePosixPath(path).name
        script = ShellScript(path, tuple(arguments), self.command, dict(state.environment))
        inner = None if self.depth > _DEEPEST else self.follow(script)
        if inner is None or inner.stop is not None or inner.returncode:
            if inner is not None or self._trains(name.removesuffix(".sh")):
                self.unclear.append(f"{name} is run by {_said(state)}, and {_unseen(inner)}")
            return
        found = _find(inner, self.scripts, self.follow, self.depth + 1)
        self.unclear.extend(one.reason for one in found.unclear)
        self.stray.extend(found.stray)
        self.unseen.extend(found.unseen)
        for one in found.training:
            reaches = NOTHING if RAY in one.through else state.environment
            self.training.append(
                dataclasses.replace(
                    one,
                    environment={**reaches, **one.environment},
                    through=(*state.through, *one.through),
                )
            )


def _unseen(inner: Recording | None) -> str:
    """Return why it is not known what a shell script would run."""
    if inner is None:
        return "what it runs is not seen"
    if inner.stop is not None:
        return f"it is stopped: {inner.stop.reason}"
    return f"it exits with status {inner.returncode}"


def _said(state: _State) -> str:
    return " ".join(state.through) or state.words[0]


def _exports(own: wrappers.Own) -> dict[str, str]:
    """Return the variables that ``srun --export=ALL,NAME=VALUE`` sets."""
    pairs = (
        one.partition("=")
        for text in own.values_of("--export")
        for one in text.split(",")
        if "=" in one
    )
    return {name: value for name, _, value in pairs}


def _runtime_environment(text: str) -> dict[str, str]:
    """Return the variables of a runtime environment in JSON.

    Raises:
        ValueError: It is no JSON object, or its variables are none.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"is no JSON: {error}") from None
    variables = document.get("env_vars", {}) if isinstance(document, Mapping) else None
    if not isinstance(variables, Mapping):
        raise ValueError('has no mapping "env_vars"')  # noqa: TRY004  # a text is at fault
    return {str(name): str(value) for name, value in variables.items()}
