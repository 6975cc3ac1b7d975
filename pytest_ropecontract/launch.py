"""Launchers in hand-written tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.launchers.recording import NOTHING, Command, Recording
from pytest_ropecontract.project_launchers import check_end, lost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_ropecontract.launchers.training import Training
    from pytest_ropecontract.project_launchers import ProjectLaunchers


@dataclass(frozen=True)
class Launch:
    """What a launcher would have run.

    Attributes:
        recording: All that is known of it.
        training: The commands that train, in order.
    """

    recording: Recording
    training: tuple[Training, ...]

    @property
    def commands(self) -> tuple[Command, ...]:
        """Every external command, in order."""
        return self.recording.commands

    @property
    def files(self) -> Mapping[str, str]:
        """The texts of the files that it wrote, by path."""
        return self.recording.files

    @property
    def stdout(self) -> str:
        """What it printed."""
        return self.recording.stdout


class RopeLaunch:
    """Records launchers: what the fixture ``rope_launch`` gives.

    Args:
        launching: The launchers of the project.
        environment: Variables in addition to those of the settings.
        answers: What commands print, in addition to those of the settings.
    """

    def __init__(
        self,
        launching: ProjectLaunchers,
        environment: Mapping[str, str] = NOTHING,
        answers: Mapping[str, str] = NOTHING,
    ) -> None:
        self._launching = launching
        self._environment = environment
        self._answers = answers

    def given(
        self, environment: Mapping[str, str] = NOTHING, answers: Mapping[str, str] = NOTHING
    ) -> RopeLaunch:
        """Return the same with further variables and scripted answers.

        Args:
            environment: Variables by name.
            answers: What commands print: by the program's name, or by its name and first
                arguments, ``{"nvidia-smi topo -m": "NV18"}``.
        """
        return RopeLaunch(
            self._launching,
            {**self._environment, **environment},
            {**self._answers, **answers},
        )

    def shell(
        self,
        path: str | Path,
        args: Sequence[str] = (),
        env: Mapping[str, str] = NOTHING,
    ) -> Launch:
        """Run a shell script, and record what it would run.

        Args:
            path: The script, from the root.
            args: Its arguments.
            env: Variables that it begins with.

        Raises:
            RopeContractError: It cannot be run, was stopped, failed, or lost flags.
        """
        return self._run(self._launching.shell, path, args, env)

    def python(self, path: str | Path, function: str, /, **kwargs: Any) -> Launch:
        """Call a function of a Python script, and record what it would run.

        A dataclass that the function requires is made of its defaults; keyword arguments that
        are its fields become those.

        Args:
            path: The script, from the root.
            function: The function's name.
            kwargs: What it is called with, as far as JSON can write it.

        Raises:
            RopeContractError: It cannot be called, was stopped, failed, or lost flags.
        """
        recording = self._launching.python(
            Path(path),
            function,
            keywords=kwargs,
            environment=self._environment,
            answers=self._answers,
        )
        return self._launch(path, recording)

    def script(
        self,
        path: str | Path,
        args: Sequence[str] = (),
        env: Mapping[str, str] = NOTHING,
    ) -> Launch:
        """Run a Python script, and record what it would run.

        Args:
            path: The script, from the root.
            args: Its arguments.
            env: Variables that it begins with.

        Raises:
            RopeContractError: It cannot be run, was stopped, failed, or lost flags.
        """
        return self._run(self._launching.python, path, args, env)

    def _run(
        self,
        record: Callable[..., Recording],
        path: str | Path,
        args: Sequence[str],
        env: Mapping[str, str],
    ) -> Launch:
        """Run a script by one of the two ways to record one."""
        recording = record(
            Path(path),
            arguments=args,
            environment={**self._environment, **env},
            answers=self._answers,
        )
        return self._launch(path, recording)

    def _launch(self, path: str | Path, recording: Recording) -> Launch:
        check_end(str(path), recording)
        found = self._launching.training(recording)
        for error in lost(str(path), found):
            raise error
        return Launch(recording, found.training)
