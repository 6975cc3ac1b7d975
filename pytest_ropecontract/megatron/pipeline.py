"""What surrounds the parser: options, base args, defaults, validators, pins.

A pipeline turns an argv into the namespace from which a config is constructed, and keeps
who wrote every value. Everything that it replaces for that is restored, also on errors.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from unittest import mock

from pytest_ropecontract.errors import described, further, raised_at
from pytest_ropecontract.megatron import command_line, configuration, machine
from pytest_ropecontract.megatron.backend import (
    HELP_REFUSED,
    ArgumentRefusedError,
    Config,
    ConfigRefusedError,
)
from pytest_ropecontract.megatron.framework import (
    PipelineCallError,
    PipelineError,
    add_options,
    import_attribute,
    importing_from,
    load_function,
    missing_attribute,
)
from pytest_ropecontract.megatron.namespaces import changed_dests, copy_of, namespace_of, snapshot

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_ropecontract.megatron.backend import Megatron
    from pytest_ropecontract.megatron.command_line import Arity, Occurrence

VALIDATE_ARGS = "validate_args"
# Actions that set their dest to a value which does not depend on what it was.
PLAIN_ACTIONS = frozenset(
    {
        "_StoreAction",
        "_StoreConstAction",
        "_StoreTrueAction",
        "_StoreFalseAction",
        "BooleanOptionalAction",
    }
)
# What replaces the namespace by something that is not on the command line.
ELSEWHERE = {
    "yaml_cfg": "--yaml-cfg replaces the whole namespace by the file's values",
    "use_checkpoint_args": "--use-checkpoint-args takes values from the checkpoint",
    "heterogeneous_layers_config_path": "the heterogeneous config class is not covered",
}


@dataclass(frozen=True)
class PipelineSettings:
    """The settings of a pipeline; see the ini keys ``rope_contract_*`` of the same names.

    Attributes:
        arguments: ``module:function`` of functions that add options to the parser.
        defaults: ``module:function`` of functions that change the parsed namespace.
        parser: ``module:function`` of a framework's whole ``parse_args()``, or None.
        stubs: ``module:attribute`` of validators that are replaced.
        base_args: Tokens before every definition's.
        pins: Namespace values that are set before the config is constructed.
        rotary: ``module:function`` that returns the rotary arguments of a framework's
            own model provider, or None.
        unknown: Whether flags that the parser does not know are refused or dropped.
        pythonpath: Folders in which the modules are looked for, beside ``sys.path``.
    """

    arguments: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    parser: str | None = None
    stubs: tuple[str, ...] = ()
    base_args: tuple[str, ...] = ()
    pins: Mapping[str, Any] = field(default_factory=dict)
    rotary: str | None = None
    unknown: Literal["reject", "drop"] = "reject"
    pythonpath: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parsed:
    """An argv on its way to a config.

    Attributes:
        argv: All tokens, those of ``base_args`` first.
        base_length: How many of them come from ``base_args``.
        occurrences: The flags of the argv with their values.
        refusal: Why the parser refuses the argv, or None.
        parsed: The namespace as argparse left it.
        namespace: The namespace from which the config is constructed.
        fillers: Who wrote a value after parsing, by dest.
        pinned: The dests that pins set.
        unpinned: The namespace before pins.
        unedited: The namespace before what ``validate_args`` writes.
        output: What the framework's code printed.
    """

    argv: tuple[str, ...]
    base_length: int
    occurrences: tuple[Occurrence, ...]
    refusal: str | None = None
    parsed: Mapping[str, Any] = field(default_factory=dict)
    namespace: Mapping[str, Any] = field(default_factory=dict)
    fillers: Mapping[str, str] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()
    unpinned: Mapping[str, Any] = field(default_factory=dict)
    unedited: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""


@dataclass(frozen=True)
class Statement:
    """How a flag can state a value: any value, or just the constant."""

    flag: str
    anything: bool
    constant: Any = None


class Pipeline:
    """A Megatron with everything that a framework puts around its parser.

    Args:
        megatron: The Megatron to parse and configure with.
        settings: What surrounds it.

    Raises:
        PipelineError: A setting names something that does not exist or cannot be used.
    """

    def __init__(self, megatron: Megatron, settings: PipelineSettings) -> None:
        self.megatron = megatron
        self.settings = settings
        self._output: io.StringIO | None = None
        with self._paths():
            # A surface that was recorded with a framework's options has them already.
            recorded = () if megatron.mode == "live" else megatron.surface.source.arguments
            added = [name for name in settings.arguments if name not in recorded]
            self._arguments = self._functions("rope_contract_arguments", added)
            self._defaults = self._functions("rope_contract_defaults", settings.defaults)
            self._whole = self._optional("rope_contract_parser", settings.parser)
            self._rotary = self._optional("rope_contract_rotary", settings.rotary)
            self._stubs = [self._stub(name) for name in settings.stubs if self._present(name)]
            if self._whole is not None and megatron.mode != "live":
                raise PipelineError(
                    f"rope_contract_parser needs a live Megatron, "
                    f"and the surface is the recorded {megatron.surface.name}",
                    origin=f"rope_contract_parser = {settings.parser}",
                    remedy="choose --rope-contract-surface=live where Megatron is installed, or "
                    "use rope_contract_arguments and rope_contract_defaults",
                )
            self._use(self._build_parser())

    def _use(self, parser: argparse.ArgumentParser) -> None:
        self._parser = parser
        self._table = command_line.arities(parser)
        self._nearest: dict[str, str | None] = {}
        self._statements = statements(parser)
        self._demands = command_line.demands(parser)
        self._plain = frozenset(
            flag
            for action in command_line.actions(parser)
            if type(action).__name__ in PLAIN_ACTIONS
            for flag in action.option_strings
        )

    @property
    def flags(self) -> Mapping[str, Arity]:
        """Every flag that the parser knows."""
        return self._table

    def nearest_flag(self, flag: str) -> str | None:
        """Return the flag that is most likely meant by one that the parser does not know."""
        if flag not in self._nearest:  # many definitions have the same ones
            self._nearest[flag] = command_line.nearest_flag(flag, self._table)
        return self._nearest[flag]

    def flag_of(self, dest: str) -> str | None:
        """Return the first flag that sets a namespace attribute, or None."""
        statements = self._statements.get(dest)
        return statements[0].flag if statements else None

    def statements(self, dest: str) -> tuple[Statement, ...]:
        """Return the flags that can state a value of a namespace attribute."""
        return self._statements.get(dest, ())

    @property
    def parses_whole(self) -> bool:
        """Whether a framework's own ``parse_args()`` does the parsing."""
        return self._whole is not None

    @property
    def demands(self) -> tuple[frozenset[str], ...]:
        """Sets of flags of which the parser demands one each."""
        return self._demands

    def split(self, argv: Sequence[str]) -> tuple[Occurrence, ...]:
        """Split an argv into the flags that the parser knows, with their values."""
        return command_line.split(argv, self._table)

    def is_plain(self, flag: str) -> bool:
        """Return whether what a flag sets depends on nothing but its own values."""
        return flag in self._plain

    @contextlib.contextmanager
    def active(self) -> Iterator[io.StringIO]:
        """Replace, for the while, what a pipeline replaces; entering it again costs nothing.

        Yields:
            What the framework's code prints.
        """
        if self._output is not None:
            yield self._output
            return
        with self._paths(), self._stubbed(), machine.quiet() as output:
            self._output = output
            try:
                with self.megatron.active():
                    yield output
            finally:
                self._output = None

    def parse(self, argv: Sequence[str]) -> Parsed:
        """Parse an argv and fill the namespace, up to the config.

        Raises:
            PipelineCallError: A function of the framework raised.
        """
        tokens = (*self.settings.base_args, *argv)
        with self.active() as output:
            try:
                if self._whole is None:
                    return self.fill(tokens, self._namespace(tokens))
                found = self._parse_whole(self._whole, tokens)
                return self._finish(tokens, *found, self.split(tokens))
            except ArgumentRefusedError as error:
                return self._refused(tokens, error, output, self.split(tokens))

    def namespace(self, tokens: Sequence[str]) -> dict[str, Any] | None:
        """Return what the parser alone makes of tokens, or None where it refuses them."""
        with self.active():
            try:
                return self._namespace(tokens)
            except ArgumentRefusedError:
                return None

    def fill(
        self,
        tokens: tuple[str, ...],
        parsed: dict[str, Any],
        occurrences: tuple[Occurrence, ...] | None = None,
    ) -> Parsed:
        """Let the framework fill a parsed namespace, then apply edits and pins.

        Args:
            tokens: The argv, base args included, of which ``parsed`` is the namespace.
            parsed: The namespace as argparse left it; it is kept, not changed.
            occurrences: The flags of the tokens, where they are known already.

        Raises:
            PipelineCallError: A function of the framework raised.
        """
        if occurrences is None:
            occurrences = self.split(tokens)
        fillers: dict[str, str] = {}
        if not self._defaults:
            return self._finish(tokens, parsed, parsed, fillers, occurrences)
        namespace = copy_of(parsed)
        with self.active() as output:
            before = parsed
            for index, (name, function) in enumerate(self._defaults):
                if index:
                    before = snapshot(vars(namespace))
                try:
                    result = self._call("rope_contract_defaults", (name, function), namespace)
                except ArgumentRefusedError as error:
                    return self._refused(tokens, error, output, occurrences)
                if isinstance(result, argparse.Namespace):
                    namespace = result
                fillers.update(dict.fromkeys(changed_dests(before, vars(namespace)), name))
        return self._finish(tokens, parsed, vars(namespace), fillers, occurrences)

    def _refused(
        self,
        tokens: tuple[str, ...],
        error: ArgumentRefusedError,
        output: io.StringIO,
        occurrences: tuple[Occurrence, ...],
    ) -> Parsed:
        return Parsed(
            tokens,
            len(self.settings.base_args),
            occurrences,
            refusal=str(error),
            output=output.getvalue(),
        )

    def _finish(
        self,
        tokens: tuple[str, ...],
        parsed: dict[str, Any],
        namespace: dict[str, Any],
        fillers: dict[str, str],
        occurrences: tuple[Occurrence, ...],
    ) -> Parsed:
        """Apply what ``validate_args`` writes, and the pins."""
        # Many of these are kept at a time, so that what is the same is there once.
        edits = configuration.edits(self.megatron.surface, namespace)
        fillers.update(dict.fromkeys(edits, VALIDATE_ARGS))
        unpinned = {**namespace, **edits} if edits else namespace
        pins = snapshot(self.settings.pins)
        return Parsed(
            argv=tokens,
            base_length=len(self.settings.base_args),
            occurrences=occurrences,
            parsed=parsed,
            namespace={**unpinned, **pins} if pins else unpinned,
            fillers=fillers,
            pinned=frozenset(pins),
            unpinned=unpinned,
            unedited=namespace,
            output=self._output.getvalue() if self._output is not None else "",
        )

    def configure(self, parsed: Parsed) -> Config:
        """Construct the config of a parsed argv.

        Raises:
            ConfigRefusedError: ``validate_args`` or the constructor would refuse it, with
                or without the pins.
        """
        surface = self.megatron.surface
        for dest, reason in ELSEWHERE.items():
            if parsed.unpinned.get(dest):
                raise ConfigRefusedError("config", "unresolvable", reason)
        configuration.check_refusals(surface, "validate_args", parsed.unedited)
        configuration.check_refusals(surface, "config", parsed.unpinned)
        with self.active():
            config = self.megatron.configure(namespace_of(parsed.namespace))
        configuration.check_refusals(surface, "model", {**parsed.namespace, **config.values})
        return config

    def rotary_arguments(self, parsed: Parsed, config: Config) -> dict[str, Any]:
        """Return the rotary arguments that the framework's own provider passes.

        Raises:
            ConfigRefusedError: The function refuses through the parser.
            PipelineCallError: It raised, or returned something else than a dict.
        """
        if self._rotary is None:
            return {}
        given = config.instance or copy_of(config.values)
        namespace = copy_of(parsed.namespace)
        with self.active():
            try:
                result = self._call("rope_contract_rotary", self._rotary, namespace, given)
            except ArgumentRefusedError as error:
                raise ConfigRefusedError("model", "SystemExit", str(error)) from error
        if not isinstance(result, dict):
            raise PipelineCallError(
                f"rope_contract_rotary: {self.settings.rotary} returned "
                f"{type(result).__name__}, not a dict of rotary arguments",
                remedy='return the arguments that differ by name, for example {"rotary_base": 5e5}',
            )
        return result

    def _namespace(self, tokens: Sequence[str]) -> dict[str, Any]:
        """Parse with the kept parser, as Megatron's ``parse_args`` does in one process."""
        try:
            namespace, _ = self._parser.parse_known_args(list(tokens))
        except ArgumentRefusedError:
            raise
        except Exception as error:  # a type function may raise anything
            raise ArgumentRefusedError(described(error)) from error
        vars(namespace).update(rank=0, world_size=1)
        return snapshot(vars(namespace))

    def _parse_whole(
        self, whole: tuple[str, Callable[..., Any]], tokens: Sequence[str]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
        """Call the framework's whole ``parse_args()`` and watch what argparse gave it."""
        seen: list[dict[str, Any]] = []
        original = argparse.ArgumentParser.parse_known_args

        def watch(parser: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> Any:
            if "rotary_base" in statements(parser):
                # Also where it refuses, so that its flags are known.
                self._use(parser)
            result, unknown = original(parser, args, namespace)
            seen.append(snapshot(vars(result)))
            return result, unknown

        def refuse(_: argparse.ArgumentParser, message: str) -> None:
            raise ArgumentRefusedError(message)

        def refuse_help(*_: Any) -> None:
            raise ArgumentRefusedError(HELP_REFUSED)

        sys.argv[:] = ["rope-contract", *tokens]
        with (
            mock.patch.object(argparse.ArgumentParser, "parse_known_args", watch),
            mock.patch.object(argparse.ArgumentParser, "error", refuse),
            mock.patch.object(argparse.ArgumentParser, "print_help", refuse_help),
        ):
            try:
                namespace = self._call("rope_contract_parser", whole)
            except PipelineCallError as error:
                if isinstance(error.__cause__, SystemExit):
                    raise ArgumentRefusedError("the framework's parser ended the run") from error
                raise
        if not isinstance(namespace, argparse.Namespace):
            raise PipelineCallError(
                f"rope_contract_parser: {self.settings.parser} returned "
                f"{type(namespace).__name__}, not a namespace",
                remedy="return what parser.parse_args() returned",
            )
        main = [values for values in seen if "rotary_base" in values]
        parsed = main[-1] if main else dict(vars(namespace))
        fillers = dict.fromkeys(changed_dests(parsed, vars(namespace)), whole[0])
        return parsed, dict(vars(namespace)), fillers

    def _build_parser(self) -> argparse.ArgumentParser:
        parser = self.megatron.new_parser()
        for name, function in self._arguments:
            parser = add_options("rope_contract_arguments", name, function, parser)
        return parser

    def _call(self, key: str, named: tuple[str, Callable[..., Any]], *values: Any) -> Any:
        name, function = named
        try:
            return function(*values)
        except ArgumentRefusedError:
            raise
        except (Exception, SystemExit) as error:
            raise PipelineCallError(
                f"{key}: {name} raised {described(error)}",
                origin=raised_at(error),
                details=further(error),
                remedy="list what needs a GPU in rope_contract_stubs, or correct the function",
            ) from error

    def _paths(self) -> contextlib.AbstractContextManager[None]:
        return importing_from(self.settings.pythonpath)

    @contextlib.contextmanager
    def _stubbed(self) -> Iterator[None]:
        # Nothing but a framework's function would call it.
        calls = self._defaults or self._whole or self._rotary
        arguments = sys.modules.get("megatron.training.arguments") if calls else None
        # Before a stub that names it takes its place.
        original = getattr(arguments, VALIDATE_ARGS, None)
        with contextlib.ExitStack() as stack:
            for holder, attribute in self._stubs:
                stack.enter_context(mock.patch.object(holder, attribute, _first_argument))
            if original is not None:
                # Also where a framework imported the function under its own name.
                for module in list(sys.modules.values()):
                    if getattr(module, "__dict__", {}).get(VALIDATE_ARGS) is original:
                        stack.enter_context(
                            mock.patch.object(module, VALIDATE_ARGS, _first_argument)
                        )
            yield

    def _present(self, name: str) -> bool:
        """Megatron's own validators are not there to be replaced beside a recorded surface."""
        return self.megatron.mode == "live" or not name.startswith("megatron.")

    def _functions(self, key: str, names: Sequence[str]) -> list[tuple[str, Callable[..., Any]]]:
        return [(name, load_function(key, name)) for name in names]

    def _optional(self, key: str, name: str | None) -> tuple[str, Callable[..., Any]] | None:
        return None if name is None else (name, load_function(key, name))

    def _stub(self, name: str) -> tuple[Any, str]:
        module, attribute = import_attribute(name, "rope_contract_stubs")
        holder: Any = module
        *parents, last = attribute.split(".")
        for parent in parents:
            holder = getattr(holder, parent, None)
        if not hasattr(holder, last):
            raise missing_attribute("rope_contract_stubs", name, module)
        return holder, last


def statements(parser: argparse.ArgumentParser) -> dict[str, tuple[Statement, ...]]:
    """Return, per dest, how its flags can state a value."""
    found: dict[str, list[Statement]] = {}
    for action in command_line.actions(parser):
        for flag in action.option_strings:
            if action.nargs == 0:
                constant = action.const
                if isinstance(action, argparse.BooleanOptionalAction):
                    constant = not flag.startswith("--no-")
                found.setdefault(action.dest, []).append(Statement(flag, False, constant))
            else:
                found.setdefault(action.dest, []).append(Statement(flag, True))
    return {dest: tuple(one) for dest, one in found.items()}


def _first_argument(first: Any = None, *_: Any, **__: Any) -> Any:
    return first
