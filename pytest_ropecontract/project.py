"""A project: its definitions, its Megatron, its contracts, and what comes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.contracts import allowances as allowing
from pytest_ropecontract.contracts import rules
from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineCallError, PipelineSettings
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.rope.resolution import Resolution, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_ropecontract.contracts.allowances import Allowance
    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.definitions.definition import Expansion


@dataclass(frozen=True)
class Settings:
    """What a project states about itself.

    Attributes:
        root: The folder that paths are relative to.
        surface: ``auto``, ``live``, the name of a shipped surface, or a path.
        pipeline: What surrounds the parser.
        allowances: Known deviations.
        strict: Whether what is only noted fails.
    """

    root: Path
    surface: str = "auto"
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    allowances: tuple[Allowance, ...] = ()
    strict: bool = False


@dataclass(frozen=True)
class Examination:
    """What is known of one model.

    Attributes:
        name: The model's name.
        path: Its definition's file, relative to the root, or None.
        expansion: What it expanded to, or None.
        resolution: What is built from it, or None.
        findings: What the rules about definitions find.
        error: Why it could not be expanded or resolved, or None.
    """

    name: str
    path: str | None
    expansion: Expansion | None = None
    resolution: Resolution | None = None
    findings: tuple[Finding, ...] = ()
    error: RopeContractError | None = None


class Project:
    """Expands, resolves and checks the definitions of a project.

    Args:
        settings: What the project states about itself.
        registry: Its definitions.
    """

    def __init__(self, settings: Settings, registry: Registry) -> None:
        self.settings = settings
        self.registry = registry
        self._pipeline: Pipeline | None = None
        self._examined: dict[str, Examination] = {}
        self._resolved: dict[tuple[str, ...], Resolution] = {}
        self.used_allowances: set[Allowance] = set()

    @property
    def pipeline(self) -> Pipeline:
        """The Megatron with what surrounds it, made when first asked for.

        Raises:
            SurfaceError: The surface cannot be read or imported.
            PipelineError: A setting of the pipeline cannot be used.
        """
        if self._pipeline is None:
            megatron = choose(self.settings.surface, self.settings.root)
            self._pipeline = Pipeline(megatron, self.settings.pipeline)
        return self._pipeline

    def expand(self, model: str, /, **overrides: Any) -> list[str]:
        """Return the argv of a model.

        Raises:
            RopeContractError: There is no such model, or it cannot be expanded.
        """
        return list(self.registry[model].expand(**overrides).argv)

    def resolve(self, model_or_argv: str | Sequence[str], /, **overrides: Any) -> Resolution:
        """Resolve a model, or an argv, to what is built from it.

        Raises:
            RopeContractError: There is no such model, it cannot be expanded, or a function
                of the framework raised; an argv with overrides, or with a token that is
                no string.
        """
        if isinstance(model_or_argv, str):
            argv = tuple(self.expand(model_or_argv, **overrides))
        else:
            argv = _tokens(model_or_argv, overrides)
        if argv not in self._resolved:
            self._resolved[argv] = resolve(self.pipeline, argv)
        return self._resolved[argv]

    def examine(self, model: str) -> Examination:
        """Return everything that is known of a model; its errors are part of it."""
        if model not in self._examined:
            self._examined[model] = self._examine(model)
        return self._examined[model]

    def _examine(self, model: str) -> Examination:
        definition = self.registry[model]
        path = None if definition.path is None else self._relative(definition.path)
        try:
            expansion = definition.expand()
        except DefinitionError as error:
            return Examination(model, path, error=error)
        try:
            resolution = self.resolve(expansion.argv)
        except PipelineCallError as error:
            return Examination(model, path, expansion, error=error)
        findings = self._settle(rules.check(model, resolution, self.pipeline))
        return Examination(model, path, expansion, resolution, findings)

    def check_expectation(self, model: str, expectation: Expectation) -> tuple[Finding, ...]:
        """Return what an expectation finds on a model.

        Raises:
            RopeContractError: The model cannot be expanded or resolved.
        """
        examination = self.examine(model)
        if examination.error is not None:
            raise examination.error
        if examination.resolution is None:
            return ()
        return self._settle(expectation.check(model, examination.resolution))

    def _settle(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Apply strictness, then allowances."""
        strict = [allowing.strict(one) if self.settings.strict else one for one in findings]
        for finding in strict:
            # Also a note: it is what fails with --rope-contract-strict.
            cover = next((a for a in self.settings.allowances if a.covers(finding)), None)
            if cover is not None:
                self.used_allowances.add(cover)
        return allowing.apply(strict, self.settings.allowances)

    def _relative(self, path: Path) -> str:
        try:
            return path.resolve().relative_to(self.settings.root.resolve()).as_posix()
        except ValueError:
            return path.name


def _tokens(argv: Sequence[str], overrides: dict[str, Any]) -> tuple[str, ...]:
    if overrides:
        raise RopeContractError(
            f"an argv takes no override {next(iter(overrides))!r}",
            remedy="resolve a model by its name, or change the argv",
        )
    for index, token in enumerate(argv):
        if not isinstance(token, str):
            raise RopeContractError(
                f"token {index + 1} of the argv is {token!r}, not a string",
                remedy="write every token as a string",
            )
    return tuple(argv)
