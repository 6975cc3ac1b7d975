"""A project: its definitions, its Megatron, its contracts, and what comes of them."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_ropecontract import snapshots
from pytest_ropecontract.contracts import allowances as allowing
from pytest_ropecontract.contracts import demands, rules
from pytest_ropecontract.contracts.arity import rule as arity
from pytest_ropecontract.contracts.checkpoints import comparison, files
from pytest_ropecontract.contracts.checkpoints import reader as checkpoint_reader
from pytest_ropecontract.contracts.checkpoints.document import CheckpointError
from pytest_ropecontract.contracts.checkpoints.reach import Attributes, Reach
from pytest_ropecontract.contracts.findings import Finding
from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.errors import RopeContractError
from pytest_ropecontract.megatron.framework import PipelineCallError
from pytest_ropecontract.megatron.pipeline import Pipeline, PipelineSettings
from pytest_ropecontract.megatron.selection import choose
from pytest_ropecontract.omission.engine import OmissionEngine
from pytest_ropecontract.omission.mutations import values_of
from pytest_ropecontract.omission.search import Search, Surroundings, search
from pytest_ropecontract.omission.units import units_of
from pytest_ropecontract.rope.resolution import Resolution, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_ropecontract.contracts.allowances import Allowance
    from pytest_ropecontract.contracts.checkpoints.published import Checkpoint
    from pytest_ropecontract.contracts.checkpoints.reach import Finder
    from pytest_ropecontract.contracts.expectation import Expectation
    from pytest_ropecontract.definitions import Registry
    from pytest_ropecontract.definitions.definition import Expansion
    from pytest_ropecontract.omission.engine import Guard

# How many models, and command lines, are kept with what they resolve to: each takes up to 100 KiB,
# and tests of one model mostly follow each other.
KEPT = 256


@dataclass(frozen=True)
class Settings:
    """What a project states about itself.

    Attributes:
        root: The folder that paths are relative to.
        surface: ``auto``, ``live``, the name of a shipped surface, or a path.
        pipeline: What surrounds the parser.
        allowances: Known deviations.
        strict: Whether what is only noted fails.
        checkpoints: Globs, from the root, of the checkpoints of a model; ``{model}`` stands
            for its name.
        snapshots: The folder of the snapshots, from the root.
    """

    root: Path
    surface: str = "auto"
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    allowances: tuple[Allowance, ...] = ()
    strict: bool = False
    checkpoints: tuple[str, ...] = files.DEFAULT_PATTERNS
    snapshots: str = snapshots.FOLDER


@dataclass(frozen=True)
class Examination:
    """What is known of one model.

    Attributes:
        name: The model's name.
        path: Its definition's file, relative to the root, or None.
        result: What is built from it, or why it could not be expanded or resolved.
        expansion: What it expanded to, or None.
        findings: What the rules about definitions find.
    """

    name: str
    path: str | None
    result: Resolution | RopeContractError
    expansion: Expansion | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def resolution(self) -> Resolution | None:
        """What is built from it, or None."""
        return self.result if isinstance(self.result, Resolution) else None

    @property
    def error(self) -> RopeContractError | None:
        """Why it could not be expanded or resolved, or None."""
        return self.result if isinstance(self.result, RopeContractError) else None


class Project:
    """Expands, resolves and checks the definitions of a project.

    Args:
        settings: What the project states about itself.
        registry: Its definitions.
        checkpoints_of: Names further checkpoints of a model, in addition to the files that
            the settings lead to.
    """

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        checkpoints_of: Callable[[str], Sequence[Path]] | None = None,
    ) -> None:
        self.settings = settings
        self.registry = registry
        self._checkpoints_of = checkpoints_of
        self._checkpoints: dict[str, tuple[Path, ...]] | None = None
        self._named_checkpoints: dict[str, tuple[Path, ...]] = {}
        self._read_checkpoints: dict[Path, Checkpoint | CheckpointError] = {}
        self._pipeline: Pipeline | None = None
        self._expanded: dict[str, Expansion | DefinitionError] = {}
        self._stated: dict[str, dict[str, str]] = {}
        self._examined = functools.lru_cache(KEPT)(self._examine)
        self._resolved = functools.lru_cache(KEPT)(self._resolve)
        self._searched: dict[str, tuple[tuple[Any, ...], Search]] = {}
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

    def argv(self, model_or_argv: str | Sequence[str], /, **overrides: Any) -> tuple[str, ...]:
        """Return the argv of a model, or an argv as it is given.

        Raises:
            RopeContractError: There is no such model, or it cannot be expanded; an argv with
                overrides, or with a token that is no string.
        """
        if isinstance(model_or_argv, str):
            return tuple(self.expand(model_or_argv, **overrides))
        return _tokens(model_or_argv, overrides)

    def resolve(self, model_or_argv: str | Sequence[str], /, **overrides: Any) -> Resolution:
        """Resolve a model, or an argv, to what is built from it.

        Raises:
            RopeContractError: There is no such model, it cannot be expanded, or a function
                of the framework raised; an argv with overrides, or with a token that is
                no string.
        """
        return self._resolved(self.argv(model_or_argv, **overrides))

    def _resolve(self, argv: tuple[str, ...]) -> Resolution:
        return resolve(self.pipeline, argv)

    def examine(self, model: str) -> Examination:
        """Return everything that is known of a model; its errors are part of it."""
        return self._examined(model)

    def _examine(self, model: str) -> Examination:
        definition = self.registry[model]
        path = None if definition.path is None else self._relative(definition.path)
        expansion = self._expansion(model)
        if isinstance(expansion, DefinitionError):
            return Examination(model, path, expansion)
        found = self.examine_argv(model, expansion.argv)
        return dataclasses.replace(found, path=path, expansion=expansion)

    def _expansion(self, model: str) -> Expansion | DefinitionError:
        """Return what a model expands to, or why it does not; it is expanded once."""
        if model not in self._expanded:
            try:
                self._expanded[model] = self.registry[model].expand()
            except DefinitionError as error:
                self._expanded[model] = error
        return self._expanded[model]

    def examine_argv(self, name: str, argv: Sequence[str]) -> Examination:
        """Return everything that is known of tokens; an error is part of it.

        Args:
            name: What to call them in findings.
            argv: The tokens.
        """
        try:
            resolution = self.resolve(argv)
        except PipelineCallError as error:
            return Examination(name, None, error)
        findings = self.settle(rules.check(name, resolution, self.pipeline))
        return Examination(name, None, resolution, findings=findings)

    def check_expectation(self, model: str, expectation: Expectation) -> tuple[Finding, ...]:
        """Return what an expectation finds on a model.

        Raises:
            RopeContractError: The model cannot be expanded or resolved.
        """
        return self.settle(expectation.check(model, self._resolution(model)))

    def checkpoints(self, model: str) -> tuple[Path, ...]:
        """Return the files of a model's checkpoints: each is a contract of its own.

        Raises:
            RopeContractError: A hook names something that is no path.
        """
        if self._checkpoints is None:
            self._checkpoints = files.find(
                self.settings.root, self.settings.checkpoints, list(self.registry)
            )
        if model not in self._named_checkpoints:
            named = () if self._checkpoints_of is None else self._checkpoints_of(model)
            self._named_checkpoints[model] = tuple(self.settings.root / one for one in named)
        found = (*self._checkpoints.get(model, ()), *self._named_checkpoints[model])
        return tuple(dict.fromkeys(found))

    def stray_checkpoints(self) -> tuple[list[files.Stray], int]:
        """Return what lies in a checkpoint's place and is no model's, and how much more there is.

        Raises:
            RopeContractError: A hook names something that is no path.
        """
        models = {model: self.checkpoints(model) for model in self.registry}
        # A definition that cannot be registered goes by another name.
        paths = (definition.path for definition in self.registry.values())
        stems = [path.stem for path in paths if path is not None]
        return files.strays(self.settings.root, self.settings.checkpoints, models, stems)

    def check_checkpoints(self, model: str) -> tuple[Finding, ...]:
        """Return what the checkpoints of a model find on it.

        Raises:
            RopeContractError: The model cannot be expanded or resolved.
        """
        found = self._compare(model, self._resolution(model), Reach(self.pipeline))
        return self.settle(found)

    def check_checkpoint(
        self, name: str, resolution: Resolution, path: Path
    ) -> tuple[Finding, ...]:
        """Return what one file finds on what is built, whoever's checkpoint it is.

        Args:
            name: What to call it in findings.
            resolution: What is built.
            path: The file.
        """
        return self.settle(self._compare_file(name, resolution, Reach(self.pipeline), path))

    def check_config(
        self, model: str, resolution: Resolution, expectations: Iterable[Expectation]
    ) -> tuple[Finding, ...]:
        """Return what the contracts of a model find on a config that was built in code.

        Allowances are of definitions, and do not apply.

        Args:
            model: The model whose contracts they are.
            resolution: What is built from the config, see ``resolve_config``.
            expectations: What marks demand of the model; that a flag declares a value is
                not asked here.
        """
        found = self._compare(model, resolution, Attributes())
        for one in expectations:
            checked = one.check(model, resolution)
            found.extend(finding for finding in checked if finding.rule == "expectation")
        return tuple(found)

    def check_launched(
        self,
        model: str,
        launcher: str,
        resolution: Resolution,
        known: Resolution,
        expectations: Iterable[Expectation],
    ) -> tuple[Finding, ...]:
        """Return what the rules and the contracts of a model find on a launched command line.

        A launcher may repeat a flag that rotates nothing: what it says last is what it means.

        Args:
            model: The model that the launcher names.
            launcher: The launcher, as it is shown.
            resolution: What is built from the launched command line.
            known: What is built from those of its flags that the parser knows.
            expectations: What marks demand of the model.
        """
        found = [
            one
            for one in rules.check(model, resolution, self.pipeline)
            if one.rule != "repeated-flag" or rules.rotates(one, resolution)
        ]
        contracts = self._compare(model, known, Reach(self.pipeline))
        for expectation in expectations:
            contracts.extend(expectation.check(model, known))
        # What to change is said where the launcher differs from the definition, or of that.
        found.extend(dataclasses.replace(one, remedy=None) for one in contracts)
        return self.settle([dataclasses.replace(one, launcher=launcher) for one in found])

    def demanded_by_marks(
        self, model: str, expectations: Iterable[Expectation]
    ) -> tuple[demands.Demand, ...]:
        """Return what marks demand of a model, as rotations.

        Raises:
            RopeContractError: The model cannot be expanded or resolved.
        """
        rope = self._resolution(model).rope
        if rope is None:
            return ()
        return tuple(demands.of_expectation(one, rope) for one in expectations)

    def demanded_by_checkpoints(self, model: str) -> tuple[demands.Demand, ...]:
        """Return what the checkpoints of a model publish, as rotations.

        Raises:
            RopeContractError: The model cannot be expanded or resolved.
        """
        rope = self._resolution(model).rope
        if rope is None:
            return ()
        read = [self._checkpoint(path) for path in self.checkpoints(model)]
        return tuple(
            demand
            for one in read
            if not isinstance(one, CheckpointError)
            for demand in demands.of_checkpoint(one, rope)
        )

    def _compare(self, model: str, resolution: Resolution, reach: Finder) -> list[Finding]:
        found: list[Finding] = []
        for path in self.checkpoints(model):
            found.extend(self._compare_file(model, resolution, reach, path))
        return found

    def _compare_file(
        self, model: str, resolution: Resolution, reach: Finder, path: Path
    ) -> tuple[Finding, ...]:
        read = self._checkpoint(path)
        if isinstance(read, CheckpointError):
            return (Finding("checkpoint", model, read.headline, remedy=read.remedy),)
        return comparison.check(model, read, resolution, reach)

    def _checkpoint(self, path: Path) -> Checkpoint | CheckpointError:
        """Return what a checkpoint's file says, or why it cannot be read; it is read once."""
        if path not in self._read_checkpoints:
            try:
                self._read_checkpoints[path] = checkpoint_reader.load(path, self.shown(path))
            except CheckpointError as error:
                self._read_checkpoints[path] = error.with_traceback(None)
        return self._read_checkpoints[path]

    def search_omissions(
        self,
        model: str,
        expectations: Sequence[Expectation],
        examples: int | None,
        seed: int | str | None,
    ) -> Search | None:
        """Return which flags a model could lose without a contract that notices.

        The last search of a model is kept, for whoever asks the same again.

        Args:
            model: The model's name.
            expectations: What marks demand of it; its checkpoints are contracts too.
            examples: How many omissions are drawn beside the systematic ones; None: as many
                as the Hypothesis profile says.
            seed: Of the draws; None: the same in every run.

        Raises:
            RopeContractError: The model cannot be expanded or resolved, or is resolved to
                something else every time.
        """
        whole = self._resolution(model)
        if whole.rope is None:
            return None
        asked = (tuple(expectations), examples, seed)
        if model in self._searched and self._searched[model][0] == asked:
            return self._searched[model][1]
        around = Surroundings(
            notices=lambda expectation, other: self._fails(expectation.check(model, other)),
            loud=lambda other: self._fails(rules.check(model, other, self.pipeline)),
            strict=self.settings.strict,
            checkpoint=None if self._published(model) else self._checkpoint_to_add(model),
            siblings=self._siblings(model),
            # Asked only where something is unguarded.
            faults=functools.cache(lambda: self._faults(model, whole, expectations)),
        )
        with self.pipeline.active():
            engine = OmissionEngine(self.pipeline, whole.argv, self.guard(model, expectations))
            found = search(model, engine, examples, seed, around)
        found = dataclasses.replace(found, findings=self.settle(found.findings))
        self._searched[model] = (asked, found)
        return found

    def _faults(
        self, model: str, whole: Resolution, expectations: Iterable[Expectation]
    ) -> tuple[Finding, ...]:
        """Return what fails of what is built from a model, contracts first.

        What fails in strictness alone is no fault of a value.
        """
        found = [one for expectation in expectations for one in expectation.check(model, whole)]
        found += self._compare(model, whole, Reach(self.pipeline))
        found += [
            one
            for one in rules.check(model, whole, self.pipeline)
            if one.field is not None or one.rule == "dropped-flag" or rules.rotates(one, whole)
        ]
        settled = allowing.apply(found, self.settings.allowances)
        return tuple(one for one in settled if one.status == "fail")

    def guard(self, model: str, expectations: Sequence[Expectation]) -> Guard:
        """Return what tells whether a contract of a model finds something on a resolution.

        Args:
            model: The model's name.
            expectations: What marks demand of it; its checkpoints are contracts too.
        """
        published = self._published(model)
        # Which of the two rules a difference falls under takes several resolutions to tell, and
        # matters only where one of them is allowed.
        told_apart = any(
            one.rule in ("checkpoint", "unreachable-field") and one.is_for(model)
            for one in self.settings.allowances
        )
        finder: Finder = Reach(self.pipeline) if told_apart else Attributes()

        def guard(resolution: Resolution) -> bool:
            return any(self._fails(one.check(model, resolution)) for one in expectations) or any(
                self._fails(comparison.check(model, one, resolution, finder)) for one in published
            )

        return guard

    def _published(self, model: str) -> list[Checkpoint]:
        """Return what a model's checkpoints publish; those that cannot be read are findings."""
        read = [self._checkpoint(path) for path in self.checkpoints(model)]
        return [one for one in read if not isinstance(one, CheckpointError)]

    def _fails(self, findings: Iterable[Finding]) -> bool:
        """Return whether one of some findings fails, with strictness and allowances."""
        failing = ("fail", "note") if self.settings.strict else ("fail",)
        return any(
            one.status in failing and allowing.covering(one, self.settings.allowances) is None
            for one in findings
        )

    def _checkpoint_to_add(self, model: str) -> str | None:
        """Return a file that would be found as a model's checkpoint."""
        for pattern in self.settings.checkpoints:
            path = pattern.replace("{model}", model)
            if not any(character in path for character in "*?[]{}"):
                return path
        return None

    def _siblings(self, model: str) -> dict[str, dict[str, str]]:
        """Return the values of RoPE flags of the models whose names begin with the same word."""
        word = _first_word(model)
        return {
            name: self._values_of(name)
            for name in self.registry
            if name != model and _first_word(name) == word
        }

    def _values_of(self, model: str) -> dict[str, str]:
        """Return the values that a model gives to RoPE flags, by dest; it is asked for once."""
        if model not in self._stated:
            found = self._expansion(model)
            # Of one that cannot be expanded its own items say why.
            argv = () if isinstance(found, DefinitionError) else found.argv
            self._stated[model] = values_of(units_of(self.pipeline, argv))
        return self._stated[model]

    def may_have_adapter(self, model: str) -> bool:
        """Return whether a model's definition mentions ``--spec``, or states what it unpacks.

        Its argv says it for certain, but only once the model is expanded.
        """
        definition = self.registry[model]
        if definition.unpacks is not None:
            return True
        if definition.path is None:
            # Of tokens that were registered as they are, the representation shows them.
            return arity.mentions_spec(repr(definition.source))
        return definition.path in self._mentioning_spec

    @functools.cached_property
    def _mentioning_spec(self) -> set[Path]:
        paths = [one.path for one in self.registry.values() if one.path is not None]
        return arity.mentioning({path.parent for path in paths})

    def check_arity(self, model: str) -> tuple[Finding, ...]:
        """Return where a model's adapter unpacks what its rotary embedding does not return.

        Raises:
            NotCheckedError: It has no adapter, or none in this project.
            RopeContractError: The model cannot be expanded or resolved.
        """
        resolution = self._resolution(model)
        stated = self.registry[model].unpacks
        if stated is not None:
            return self.settle(arity.check_stated(model, resolution, stated))
        root = self.settings.root
        return self.settle(arity.check(model, resolution, root, self.registry.pythonpath))

    def _resolution(self, model: str) -> Resolution:
        result = self.examine(model).result
        if isinstance(result, RopeContractError):
            raise result
        return result

    def settle(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Apply strictness, then allowances."""
        strict = [allowing.strict(one) if self.settings.strict else one for one in findings]
        for finding in strict:
            # Also a note: it is what fails with --rope-contract-strict.
            cover = allowing.covering(finding, self.settings.allowances)
            if cover is not None:
                self.used_allowances.add(cover)
        return allowing.apply(strict, self.settings.allowances)

    def shown(self, path: Path) -> str:
        """Return a path as it is written in the project, also where it is a link."""
        root = self.settings.root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name

    def _relative(self, path: Path) -> str:
        try:
            return path.resolve().relative_to(self.settings.root.resolve()).as_posix()
        except (ValueError, OSError, RuntimeError):  # elsewhere, or a link to itself
            return path.name


def _first_word(name: str) -> str:
    """Return the letters that a name begins with: ``kimi`` of ``kimi-k25_2layer``."""
    match = re.match("[a-z]+", name.casefold())
    return match[0] if match else name


def _tokens(argv: Sequence[str], overrides: dict[str, Any]) -> tuple[str, ...]:
    if overrides:
        raise RopeContractError(
            f"an argv takes no override {next(iter(overrides))!r}",
            remedy="resolve a model by its name, or change the argv",
        )
    if not isinstance(argv, Iterable):
        raise RopeContractError(
            f"{argv!r} is neither the name of a model nor an argv",
            remedy="give a name, or a list of tokens",
        )
    for index, token in enumerate(argv):
        if not isinstance(token, str):
            raise RopeContractError(
                f"token {index + 1} of the argv is {token!r}, not a string",
                remedy="write every token as a string",
            )
    return tuple(argv)
