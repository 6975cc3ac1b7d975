"""What ``ropecontract explain --against`` compares with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ropecontract import reading
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.surface_files import SIZE_LIMIT

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.megatron.backend import Megatron
    from pytest_ropecontract.project import Examination, Project
    from pytest_ropecontract.upgrade import ModelChange


@dataclass(frozen=True)
class Against:
    """What a model is compared with.

    Attributes:
        name: What it is called.
        before: What it is compared with: the model, or of a surface the one in use.
        change: In what they differ, of a model or a surface; None where they do not.
        findings: In what they differ, of a checkpoint; else None.
    """

    name: str
    before: str
    change: ModelChange | None = None
    findings: tuple[Finding, ...] | None = None


class Other:
    """A model, a surface or a checkpoint that models are compared with.

    Args:
        project: The project of the models.
        text: A model's name, a surface as ``ropecontract surface show`` takes it, or the path
            of a checkpoint.

    Raises:
        RopeContractError: It is none of them, or it cannot be used.
    """

    def __init__(self, project: Project, text: str) -> None:
        from pytest_ropecontract.cli import importing
        from pytest_ropecontract.contracts.checkpoints import reader
        from pytest_ropecontract.megatron.surface_files import shipped

        self.project = project
        self.text = text
        self.model: Examination | None = None
        self.surface: Megatron | None = None
        self.checkpoint: Path | None = None
        path = Path(text).absolute()
        if text in project.registry:
            self.model = project.examine(text)
            if self.model.error is not None:
                raise self.model.error
        elif text in ("live", *shipped(), *(one.rpartition("-")[2] for one in shipped())):
            self.surface = importing.choose(text)
        elif path.is_dir() or (path.is_file() and not _is_surface(path)):
            self.checkpoint = path
            reader.load(path, project.shown(path))  # now, so that its error ends the command
        elif path.is_file():
            self.surface = importing.choose(text)
        else:
            raise self._unknown()

    def _unknown(self) -> RopeContractError:
        from pytest_ropecontract.definitions.wording import nearest
        from pytest_ropecontract.megatron.surface_files import shipped

        return RopeContractError(
            f"--against: {self.text!r} is no model, no surface and no file",
            remedy=nearest(self.text, [*self.project.registry, *shipped()], "models and surfaces"),
        )

    def against(self, one: Examination) -> Against | None:
        """Compare a model; None where nothing is known of it."""
        from pytest_ropecontract.megatron.pipeline import Pipeline
        from pytest_ropecontract.upgrade import changed, outcome

        if one.resolution is None:
            return None
        if self.checkpoint is not None:
            findings = self.project.check_checkpoint(one.name, one.resolution, self.checkpoint)
            return Against(self.project.shown(self.checkpoint), one.name, findings=findings)
        argv = one.resolution.argv
        before = outcome(self.project.pipeline, one.name, argv)
        if self.surface is not None:
            other = Pipeline(self.surface, self.project.settings.pipeline)
            after, name = outcome(other, one.name, argv), self.surface.surface.name
            compared = self.project.pipeline.megatron.surface.name
        else:
            argv = self.model.resolution.argv if self.model and self.model.resolution else ()
            after, name = outcome(self.project.pipeline, self.text, argv), self.text
            compared = one.name
        return Against(name, compared, changed(one.name, before, after))


def _is_surface(path: Path) -> bool:
    """Return whether a file is a recorded surface, not a checkpoint's config."""
    try:
        document = json.loads(reading.read(path, SIZE_LIMIT).decode("utf-8"))
    except (OSError, ValueError, RecursionError, reading.UnusableFileError):
        return False
    return isinstance(document, dict) and {"schema", "options"} <= document.keys()
