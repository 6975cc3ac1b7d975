"""A definition that is a function of this process."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from inspect import getsourcefile, unwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions.alarm import TimeUp, time_limit
from pytest_ropecontract.definitions.calling import call_for_argv
from pytest_ropecontract.definitions.definition import DefinitionError, Expansion
from pytest_ropecontract.definitions.environ import environment_reads
from pytest_ropecontract.definitions.isolation import restored_process
from pytest_ropecontract.definitions.outcome import placed
from pytest_ropecontract.definitions.wording import output_lines, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_OUTPUT_KEPT = 64 * 1024


@dataclass(frozen=True)
class CallableSource:
    """A function that returns the flags, called in this process.

    Afterwards the environment, ``sys.path``, ``sys.argv``, ``sys.modules``, the working
    directory and the warning filters are as before; whatever else it changes stays.

    Attributes:
        function: Returns a string or a list of strings; its keyword arguments are the
            overrides.
        name: How it is named in errors; by default its own name.
        root: The directory that paths are shown relative to.
        time_limit: Seconds after which it is ended, where it is called in the main thread
            and nobody else uses the alarm signal; elsewhere there is no limit.
    """

    function: Callable[..., object]
    name: str = ""
    root: Path = field(default_factory=Path.cwd)
    time_limit: float = 20.0

    def expand(self, overrides: Mapping[str, Any]) -> Expansion:
        """Call the function.

        Raises:
            DefinitionError: It does not take the overrides, raised, called ``sys.exit``,
                did not end, or returned no argv.
        """
        name = self.name or getattr(self.function, "__name__", type(self.function).__qualname__)
        own_file = source_file(self.function)
        output = _Tail()
        try:
            with (
                redirect_stdout(output),
                redirect_stderr(output),
                restored_process(),
                environment_reads() as asked,
                time_limit(self.time_limit),
            ):
                argv = call_for_argv(
                    self.function,
                    overrides,
                    name=name,
                    own_file=str(own_file or name),
                    # An interrupt, or a skip of pytest, is not the definition's failure.
                    caught=(Exception, SystemExit),
                )
        except TimeUp:
            problem = DefinitionError(
                f"did not end within {seconds(self.time_limit)}",
                remedy="remove what it waits for; a definition only has to name flags",
            )
        except DefinitionError as error:
            problem = error
        else:
            return Expansion(argv, tuple(sorted(asked)), output.getvalue())
        raise placed(
            DefinitionError(
                problem.headline,
                origin=problem.origin,
                details=[*problem.details, *output_lines(output.getvalue())],
                remedy=problem.remedy,
            ),
            own_file or Path(name),
            self.root,
        ) from None


class _Tail(io.TextIOBase):
    """Keeps the end of what is written to it."""

    def __init__(self) -> None:
        self._text = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        self._text = (self._text + text)[-_OUTPUT_KEPT:]
        return len(text)

    def getvalue(self) -> str:
        return self._text


def source_file(function: Callable[..., object]) -> Path | None:
    """Return the file that a function was written in, or None where there is none."""
    try:
        found = getsourcefile(unwrap(function))
    except (TypeError, ValueError):
        return None
    # Lines of what no file holds may be known, too: of ``<string>``, for one.
    return None if found is None or found.startswith("<") else Path(found)
