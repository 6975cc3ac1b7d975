"""A project's launchers: recorded once, and held to the definitions that they name."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts import launched, rules
from pytest_ropecontract.contracts.launched import Named
from pytest_ropecontract.definitions.wording import one_line
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.launchers import naming, python, sandbox, shell, training
from pytest_ropecontract.launchers.recording import NOTHING, Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.launchers.launcher import Launcher
    from pytest_ropecontract.launchers.recording import Command
    from pytest_ropecontract.launchers.training import ShellScript, Stray, Training
    from pytest_ropecontract.project import Project
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.resolution import Resolution

# No knob, and of a shell that expands a definition the ground it stands on.
_GROUND = re.compile(
    r"PATH|HOME|PWD|OLDPWD|SHLVL|_|IFS|ENV|TMPDIR|SHELL|USER|LOGNAME|TERM|LANG|LC_\w+|TZ"
    r"|BASH\w*|PS\d|LD_\w+|PYTHON\w*"
)
# What is found where a launcher did not read the flags that it should have.
_OF_LOST_FLAGS = ("config-refused", "launcher-override")
_TRACED = re.compile(r"\++ ")
# How much of a command a line shows.
_SHOWN = 100
_LISTED = 5


@dataclass(frozen=True)
class LaunchSettings:
    """What a project states about its launchers.

    Attributes:
        launchers: The launchers.
        scripts: Globs of the names of scripts that train.
        answers: What commands print to a launcher, by the command.
        environment: Variables that every launcher begins with.
    """

    launchers: tuple[Launcher, ...] = ()
    scripts: tuple[str, ...] = training.DEFAULT_SCRIPTS
    answers: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    environment: Mapping[str, str] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True)
class Launched:
    """One training command of a launcher, and what is built from it.

    Attributes:
        training: The command.
        model: The definition that it names.
        resolution: What is built from it.
    """

    training: Training
    model: str
    resolution: Resolution


@dataclass(frozen=True)
class Inspection:
    """What is known of one launcher.

    Attributes:
        launcher: The launcher, as it is shown.
        recording: What it would have run, or None where that is not known.
        launched: The training commands.
        findings: What the rules and contracts find on them.
        error: Why it could not be recorded or resolved, or None.
    """

    launcher: str
    recording: Recording | None = None
    launched: tuple[Launched, ...] = ()
    findings: tuple[Finding, ...] = ()
    error: RopeContractError | None = None


class ProjectLaunchers:
    """Records the launchers of a project, and checks what they launch.

    Args:
        project: Whose definitions they launch.
        settings: What the project states about them.
        time_limit: Seconds after which one of them is ended.
    """

    def __init__(self, project: Project, settings: LaunchSettings, time_limit: float) -> None:
        self.project = project
        self.settings = settings
        self._time_limit = time_limit
        self._recorded: dict[str, Recording] = {}

    def record(self, launcher: Launcher) -> Recording:
        """Return what a launcher would run.

        Raises:
            RopeContractError: It cannot be run.
        """
        if launcher.path.suffix == ".py":
            return self.python(launcher.path, launcher.function)
        return self.shell(launcher.path)

    def _once(
        self,
        record: Callable[..., Recording],
        path: Path,
        environment: Mapping[str, str],
        answers: Mapping[str, str],
        **more: Any,
    ) -> Recording:
        """Return a recording, with what surrounds every launcher; the same is recorded once."""
        root = self.project.settings.root
        given = (record.__module__, str(root / path), dict(environment), dict(answers), more)
        key = repr(given)
        if key not in self._recorded:
            self._recorded[key] = record(
                path,
                root=root,
                environment={**self.settings.environment, **environment},
                answers={**self.settings.answers, **answers},
                pythonpath=tuple(Path(one) for one in self.project.registry.pythonpath),
                time_limit=self._time_limit,
                **more,
            )
        return self._recorded[key]

    def shell(
        self,
        path: Path,
        *,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] = NOTHING,
        answers: Mapping[str, str] = NOTHING,
    ) -> Recording:
        """Return what a shell launcher would run.

        Raises:
            RopeContractError: It cannot be run.
        """
        return self._once(shell.record, path, environment, answers, arguments=list(arguments))

    def python(  # noqa: PLR0913  # what surrounds a launcher is that much
        self,
        path: Path,
        function: str | None = None,
        *,
        keywords: Mapping[str, Any] = NOTHING,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] = NOTHING,
        answers: Mapping[str, str] = NOTHING,
    ) -> Recording:
        """Return what a Python launcher, or a function of it, would run.

        Raises:
            RopeContractError: It cannot be run.
        """
        return self._once(
            python.record,
            path,
            environment,
            answers,
            function=function,
            keywords=dict(keywords),
            arguments=list(arguments),
        )

    def training(self, recording: Recording) -> training.Found:
        """Return what of a recording trains."""
        return training.find(recording, self.settings.scripts, self._follow)

    def _follow(self, script: ShellScript) -> Recording | None:
        """Return what a shell script of the project would run where a command takes it."""
        root = self.project.settings.root
        inside = script.path.removeprefix(f"{shell.SCRATCH}/")
        folder = "." if inside != script.path else script.command.folder
        # The launcher's working directory shows the project.
        path = Path(os.path.normpath(root / folder / inside))
        if not path.is_relative_to(root) or not path.is_file():
            return None
        return self.shell(
            path,
            arguments=script.arguments,
            environment={
                name: value
                for name, value in script.environment.items()
                if shell.takes(name) and shell.SCRATCH not in value
            },
        )

    def inspect(
        self, launcher: Launcher, expectations: Mapping[str, Sequence[Expectation]]
    ) -> Inspection:
        """Return everything that is known of a launcher; its errors are part of it.

        Args:
            launcher: The launcher.
            expectations: What marks demand, by model.
        """
        name = launcher.shown(self.project.settings.root)
        recording = None
        try:
            recording = self.record(launcher)
            check_end(name, recording, _with_arguments(name))
            inspection = self._inspect(launcher, name, recording, expectations)
        except RopeContractError as error:
            inspection = Inspection(name, recording, error=error)
        return self._with_complaints(inspection)

    def _with_complaints(self, inspection: Inspection) -> Inspection:
        """Return an inspection that says what the launcher complained of, where that may be why."""
        recording, error = inspection.recording, inspection.error
        if recording is None or recording.returncode != 0:
            return inspection  # check_end says it
        root = f"{self.project.settings.root}{os.sep}"
        complaints = _untraced(recording.stderr).replace(root, "")
        said = [f"stderr: {line}" for line in _tail(complaints)]
        return dataclasses.replace(
            inspection,
            findings=tuple(
                dataclasses.replace(one, details=(*one.details, *said))
                if one.rule in _OF_LOST_FLAGS
                else one
                for one in inspection.findings
            ),
            error=error
            and RopeContractError(
                error.headline,
                origin=error.origin,
                details=[*error.details, *said],
                remedy=error.remedy,
            ),
        )

    def _inspect(
        self,
        launcher: Launcher,
        name: str,
        recording: Recording,
        expectations: Mapping[str, Sequence[Expectation]],
    ) -> Inspection:
        found = self.training(recording)
        if not found.training and not found.unclear and not found.stray:
            raise _untrained(name, recording, found)
        results: list[Launched] = []
        findings: list[Finding] = []
        # What cannot be told of one command hides nothing of the others.
        errors = [
            *lost(name, found),
            *(
                RopeContractError(
                    f"{name}: cannot be told what is launched: {one.reason}",
                    origin=one.command.origin,
                    remedy="write the program and its flags where the launcher expands them",
                )
                for one in found.unclear
            ),
        ]
        for one in found.training:
            try:
                resolution = self.project.resolve(one.argv)
                named = self._name(launcher, name, one)
                results.append(Launched(one, named.model, resolution))
                checked = self._check(named, one, resolution, expectations)
            except RopeContractError as error:
                errors.append(error)
            else:
                findings.extend(finding for finding in checked if finding not in findings)
        return Inspection(
            name, recording, tuple(results), tuple(findings), errors[0] if errors else None
        )

    def _check(
        self,
        named: Named,
        one: Training,
        resolution: Resolution,
        expectations: Mapping[str, Sequence[Expectation]],
    ) -> tuple[Finding, ...]:
        defined = self.project.resolve(named.model)
        known = self._known(resolution)
        expanded = [name for name in self._expanded(one) if name != named.model]
        own = (
            *launched.check(named, known, defined, expanded),
            *self._unreached(named, one, known, defined),
        )
        stated = expectations.get(named.model, ())
        return (
            *self.project.settle(own),
            *self.project.check_launched(named.model, named.launcher, resolution, known, stated),
        )

    def _known(self, resolution: Resolution) -> Resolution:
        """Return what is built without the flags that are refused because nobody knows them."""
        parsed = resolution.parsed
        own = [one for one in parsed.occurrences if one.start >= parsed.base_length]
        if resolution.refused is None or all(one.dest is not None for one in own):
            return resolution
        start = parsed.base_length
        tokens = [
            resolution.argv[one.start - start : one.stop - start]
            for one in own
            if one.dest is not None
        ]
        return self.project.resolve([token for one in tokens for token in one])

    def _name(self, launcher: Launcher, name: str, one: Training) -> Named:
        """Return the definition that a training command names.

        The settings say it; else the checkpoint that is trained does; else the flags do, which
        are those of a definition. Several that build the same are one.

        Raises:
            RopeContractError: None is named, or several are that build different ones.
        """
        registry = self.project.registry
        if launcher.model is not None:
            known = registry[launcher.model].name
            return Named(name, known, "which rope_contract_launchers names")
        expanded = self._expanded(one)
        flags = naming.checkpoints(one.argv)
        by_flag = {
            f"{flag} {path}": models
            for flag, path in flags.items()
            if (models := naming.named_by_path(path, registry))
        }
        if by_flag:
            because = f"which {next(iter(by_flag))} names"
            candidates = [model for models in by_flag.values() for model in models]
            self._same(name, candidates, " and ".join(by_flag))
            # Of those that build the same, the one whose flags are launched is meant.
            meant = [*(model for model in expanded if model in candidates), *expanded]
            for model in meant:
                if self._rope(model) == self._rope(candidates[0]):
                    return Named(name, model, because)
            return Named(name, candidates[0], because)
        if expanded:
            self._same(name, expanded, "the flags")
            return Named(name, expanded[0], "whose flags it expands")
        said = ", ".join(f"{flag} {path}" for flag, path in flags.items())
        raise RopeContractError(
            f"{name}: cannot be told which definition it launches",
            origin=one.command.origin,
            details=[f"checkpoint: {said}" if said else "it names no checkpoint"],
            remedy=f"say it in rope_contract_launchers: {name} = MODEL",
        )

    def _same(self, name: str, models: Sequence[str], because: str) -> None:
        first = models[0]
        for other in models[1:]:
            if self._rope(other) != self._rope(first):
                raise RopeContractError(
                    f"{name}: cannot be told whether it launches {first} or {other}, which build "
                    f"different embeddings: named by {because}",
                    remedy=f"say it in rope_contract_launchers: {name} = MODEL",
                )

    def _rope(self, model: str) -> RopeConfig | None:
        return self.project.resolve(model).rope

    @functools.cached_property
    def _expansions(self) -> dict[str, list[str]]:
        """The command line of every definition that can be expanded."""
        found = {}
        for model in self.project.registry:
            with contextlib.suppress(RopeContractError):  # its own items say why
                found[model] = self.project.expand(model)
        return found

    def _expanded(self, one: Training) -> tuple[str, ...]:
        return naming.expanded_in(one.argv, self._expansions)

    def _unreached(
        self, named: Named, one: Training, resolution: Resolution, defined: Resolution
    ) -> tuple[Finding, ...]:
        """Return where a variable that would change the RoPE reaches no flag."""
        knobs = {
            name: value for name, value in one.environment.items() if not _GROUND.fullmatch(name)
        }
        if not knobs or resolution.rope is None or defined.rope is None:
            return ()
        where = "the runtime environment" if training.RAY in one.through else "the environment"
        read = {
            name: meant
            for name, meant in self._meant_by_definition(named.model, knobs).items()
            if meant.rope is not None and _ignores(resolution.rope, meant.rope, defined.rope)
        }
        for name in knobs.keys() - read.keys():
            flagged = self._meant_by_name(name, knobs[name], resolution)
            if flagged is not None:
                read[name] = flagged
        found = (
            launched.unreached(named, {name: knobs[name]}, where, resolution, read[name])
            for name in sorted(read)
        )
        return tuple(finding for finding in found if finding is not None)

    def _meant_by_definition(self, model: str, knobs: Mapping[str, str]) -> dict[str, Resolution]:
        """Return what a definition would build with each variable, where that is another RoPE."""
        definition = self.project.registry[model]
        plain = self._rope(model)

        def under(variables: Mapping[str, str]) -> Resolution | None:
            with contextlib.suppress(RopeContractError):
                resolution = self.project.resolve(definition.under(variables).expand().argv)
                if resolution.rope not in (None, plain):
                    return resolution
            return None

        if under(knobs) is None:
            return {}
        found = {name: under({name: value}) for name, value in knobs.items()}
        return {name: meant for name, meant in found.items() if meant is not None}

    def _meant_by_name(self, name: str, value: str, resolution: Resolution) -> Resolution | None:
        """Return what the flag would build that a variable is named after, if it is another."""
        for dest in sorted(rules.ROPE_DESTS, key=len, reverse=True):
            flag = self.project.pipeline.flag_of(dest)
            if flag is None or not re.fullmatch(rf"(\w*_)?{dest}", name.lower()):
                continue
            with contextlib.suppress(RopeContractError):
                meant = self.project.resolve((*resolution.argv, flag, *value.split()))
                if meant.rope not in (None, resolution.rope):
                    return meant
        return None


def _ignores(rope: RopeConfig, meant: RopeConfig, plain: RopeConfig) -> bool:
    """Return whether what would become of a variable did not come of it."""
    changed = launched.differing(meant, plain)
    return any(getattr(rope, name) != getattr(meant, name) for name in changed)


def _untrained(name: str, recording: Recording, found: training.Found) -> RopeContractError:
    """Return what to say where nothing trains, as far as can be seen."""
    if found.unseen:
        reasons = ", and ".join(dict.fromkeys(one.reason for one in found.unseen))
        return RopeContractError(
            f"{name}: nothing that can be seen trains: {reasons}",
            origin=found.unseen[0].command.origin,
            details=_listed([one.command for one in found.unseen]),
            remedy="put what it runs into a script of the project, and name that in "
            "rope_contract_launchers",
        )
    commands = recording.commands
    if not commands:
        said = "it runs no command"
    elif len(commands) == 1:
        said = f"the one command that it runs does not train: {_shortened(commands[0].argv)}"
    else:
        said = f"none of its {len(commands)} commands trains"
    return RopeContractError(
        f"{name}: {said}",
        origin=commands[0].origin if len(commands) == 1 else None,
        details=_listed(commands) if len(commands) > 1 else (),
        remedy="name the scripts that train in rope_contract_training, default: "
        + " ".join(training.DEFAULT_SCRIPTS),
    )


def _listed(commands: Sequence[Command]) -> list[str]:
    """Return commands as details, those that are many in part."""
    lines = [f"command: {_shortened(one.argv)}" for one in commands[:_LISTED]]
    more = len(commands) - _LISTED
    return [*lines, f"and {more} more"] if more > 0 else lines


def lost(name: str, found: training.Found) -> list[RopeContractError]:
    """Return an error for each command that consists of another one's flags."""
    return [_lost(name, one) for one in found.stray]


def _lost(name: str, stray: Stray) -> RopeContractError:
    headline = f"{name}: {stray.words[0]} is run as a command, not passed as a flag: "
    if (stray.command.origin or "").rpartition(":")[0].endswith(".py"):
        headline += "in the text of the command a line ends before it"
        remedy = "strip what the text is made of, or end the line with a backslash"
    else:
        headline += "the line before it lacks its backslash at the end, or a quote"
        remedy = "end that line with a backslash, behind which nothing stands, or close the quote"
    return RopeContractError(
        headline,
        origin=stray.command.origin,
        details=[f"command: {_shortened(stray.words)}"],
        remedy=remedy,
    )


def _shortened(words: Sequence[str]) -> str:
    return one_line(" ".join(shlex.join(words).split()), _SHOWN)


def _tail(output: str) -> list[str]:
    """Return the last lines of an output."""
    return output.strip().splitlines()[-_LISTED:]


def _untraced(output: str) -> str:
    """Return an output without what ``set -x`` traces."""
    return "\n".join(line for line in output.splitlines() if not _TRACED.match(line))


def _with_arguments(name: str) -> str:
    """Return how a test records a launcher with arguments."""
    path, _, function = name.partition("::")
    if function:
        return f"rope_launch.python({path!r}, {function!r}, NAME=VALUE)"
    kind = "script" if path.endswith(".py") else "shell"
    return f"rope_launch.{kind}({path!r}, args=[...])"


def _remedy_of(recording: Recording, call: str | None) -> str:
    """Return what to do about a launcher that failed: answers help where something was asked."""
    remedy = (
        "correct what it complains of, or set the variables that it needs: "
        "rope_contract_launch_environment"
    )
    if call is not None:
        remedy += f"; where it needs arguments, record it in a test: {call}"
    if not recording.commands:
        return remedy
    programs = list(dict.fromkeys(Path(one.argv[0]).name for one in recording.commands))
    asked = programs[0] if len(programs) == 1 else f"one of {', '.join(programs)}"
    return f"{remedy}; where it needs what {asked} prints, script it: rope_contract_launch_answers"


def check_end(name: str, recording: Recording, call: str | None = None) -> None:
    """Refuse what did not run to its end.

    Args:
        name: The launcher, as it is shown.
        recording: What became of it.
        call: How a test gives it arguments, where this is none that does.

    Raises:
        RopeContractError: The launcher was stopped, or failed.
    """
    stop = recording.stop
    if stop is not None:
        # Of the protections only this one decides over what is let through.
        missing = [one for one in recording.missing_layers if one.startswith(sandbox.UNGUARDED)]
        raise RopeContractError(
            f"{name}: stopped: {stop.reason}",
            origin=stop.origin,
            details=[f"this machine: {text}" for text in missing],
            remedy=stop.remedy
            or "change that line, or take the launcher out of rope_contract_launchers",
        )
    if recording.returncode:
        raise RopeContractError(
            f"{name}: exited with status {recording.returncode}",
            details=_tail(recording.stderr) or _tail(recording.stdout),
            remedy=_remedy_of(recording, call),
        )
