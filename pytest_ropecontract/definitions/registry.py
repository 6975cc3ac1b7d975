"""All definitions of a project, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract.definitions.argv_file import ArgvFile
from pytest_ropecontract.definitions.callable_source import CallableSource, source_file
from pytest_ropecontract.definitions.definition import Definition, Source
from pytest_ropecontract.definitions.literal import LiteralArgv
from pytest_ropecontract.definitions.python_script import PythonScript
from pytest_ropecontract.definitions.shell_array import ShellArray
from pytest_ropecontract.definitions.wording import nearest, shown, with_article
from pytest_ropecontract.errors import RopeContractError, representation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FOREIGN = re.compile(r"[^A-Za-z0-9._+-]")
_WITHOUT_FILE = "a registration without a file"


class Registry(Mapping[str, Definition]):
    """Definitions by name, sorted.

    Args:
        root: The directory that scripts run in and that paths are shown relative to; the
            working directory by default.
        pythonpath: Directories that Python definitions import from, see `PythonScript`.
        time_limit: Seconds that the expansion of one definition may take.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        pythonpath: Sequence[Path | str] = (),
        time_limit: float = 20.0,
    ) -> None:
        self.root = Path.cwd() if root is None else root.absolute()
        self.pythonpath = tuple(pythonpath)
        self.time_limit = time_limit
        self._definitions: dict[str, Definition] = {}
        self._by_case: dict[str, Definition] = {}
        self._matching: dict[str, frozenset[str]] = {}

    def __getitem__(self, name: str) -> Definition:
        """Return the definition of a name.

        Raises:
            RopeContractError: There is none; the text names the nearest ones.
        """
        try:
            return self._definitions[name]
        except KeyError:
            raise self._unknown(f"there is no definition {name!r}", name) from None

    def __contains__(self, name: object) -> bool:
        return name in self._definitions

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._definitions))

    def __len__(self) -> int:
        return len(self._definitions)

    def add(
        self,
        name: str,
        source: Callable[..., object] | Source | Sequence[str],
        *,
        path: Path | None = None,
        unpacks: int | None = None,
    ) -> Definition:
        """Register a definition.

        Args:
            name: Letters, digits, ``.``, ``_``, ``-`` and ``+``, for use in a node id.
            source: A function that returns argv, a `Source`, a string or a list of tokens.
            path: The file under which test items are shown; that of a function is found.
            unpacks: How many results the model's attention takes from its rotary embedding,
                for an adapter whose source is not in the project.

        Raises:
            RopeContractError: The name is taken or cannot be one, the source is none, or
                the number of results is no number above 0.
        """
        made = self._source(name, source)
        if path is not None and not isinstance(path, Path):
            raise RopeContractError(
                f"{representation(name)} cannot be shown under {representation(path)}, "
                "which is no Path",
                remedy="give a pathlib.Path, or leave it out",
            )
        if path is None and isinstance(made, CallableSource):
            path = source_file(made.function)
        if unpacks is not None and (type(unpacks) is not int or unpacks < 1):
            raise RopeContractError(
                f"{representation(name)} cannot unpack {representation(unpacks)} results",
                remedy="state how many results its attention takes: 1 or 2",
            )
        return self._register(Definition(name, made, path, unpacks=unpacks))

    def add_file(self, path: Path) -> Definition:
        """Register a definition file under its stem.

        A ``.py`` file is a `PythonScript`, a ``.sh`` file a `ShellArray`, any other file
        an `ArgvFile`.

        Raises:
            RopeContractError: The name is taken or cannot be one.
        """
        path = self.root / path
        source: Source
        if path.suffix == ".py":
            source = PythonScript(path, self.root, self.pythonpath, self.time_limit)
        elif path.suffix == ".sh":
            source = ShellArray(path, self.root, self.time_limit)
        else:
            source = ArgvFile(path, self.root)
        return self._register(Definition(path.stem, source, path))

    def variant(self, name: str, of: str, /, **overrides: Any) -> Definition:
        """Register a definition that is another one with overrides.

        Args:
            name: The variant's name.
            of: The name of the other; the variant's overrides come on top of its.
            overrides: Keyword arguments of the other's ``model_args``.

        Raises:
            RopeContractError: There is no such definition, or the name cannot be used.
        """
        if of not in self:
            raise self._unknown(
                f"{representation(name)} is a variant of {representation(of)}, "
                "which is no definition",
                of if type(of) is str else "",
            )
        parent = self[of]
        merged = {**parent.overrides, **overrides}
        made = Definition(name, parent.source, parent.path, merged, parent.unpacks)
        return self._register(made)

    def select(self, patterns: Iterable[str]) -> list[str]:
        """Return the names that match any of some names and globs, sorted.

        Raises:
            RopeContractError: A pattern matches nothing; the text names the valid choices.
        """
        given = [patterns] if isinstance(patterns, str) else patterns
        return sorted(frozenset[str]().union(*map(self._matches, given)))

    def selects(self, patterns: Iterable[str], name: str) -> bool:
        """Return whether a name is one of those that `select` returns.

        Raises:
            RopeContractError: A pattern matches nothing; the text names the valid choices.
        """
        # Every pattern is looked at: one that matches nothing is an error wherever it stands.
        matches = [self._matches(pattern) for pattern in patterns]
        return any(name in names for names in matches)

    def _matches(self, pattern: str) -> frozenset[str]:
        """Return the names that match a pattern, looked for once: every test asks for its own."""
        found = self._matching.get(pattern)
        if found is None:
            # No name has a character that is special in a glob.
            named = [pattern] if pattern in self._definitions else self._definitions
            found = frozenset(name for name in named if fnmatchcase(name, pattern))
            if not found:
                raise self._unknown(f"no definition matches {pattern!r}", pattern)
            self._matching[pattern] = found
        return found

    def _source(self, name: str, source: object) -> Source:
        expand = getattr(source, "expand", None)
        if callable(expand) and not isinstance(source, type):
            made: Source = source  # type: ignore[assignment]  # the protocol is its one method
            return made
        if callable(source):
            return CallableSource(source, root=self.root, time_limit=self.time_limit)
        if isinstance(source, str | list | tuple):
            return LiteralArgv(source)
        raise RopeContractError(
            f"{representation(name)} cannot be expanded from "
            f"{with_article(type(source).__qualname__)}",
            remedy="register a function that returns the flags, a string or a list of tokens",
        )

    def _register(self, definition: Definition) -> Definition:
        name = definition.name
        if problem := _name_problem(name):
            raise RopeContractError(
                f"{representation(name)} cannot name a definition: {problem}",
                origin=None if definition.path is None else self._place(definition),
                remedy="use letters, digits, '.', '_', '-' and '+', "
                "beginning with a letter or a digit",
            )
        other = self._by_case.get(name.casefold())
        if other is not None and other.name == name:
            raise RopeContractError(
                f"two definitions are named {name!r}: "
                f"{self._place(other)} and {self._place(definition)}",
                remedy="rename or remove one of them",
            )
        if other is not None:
            raise RopeContractError(
                f"two definitions differ only in case: {other.name!r} "
                f"({self._place(other)}) and {name!r} ({self._place(definition)})",
                remedy="rename one of them: their snapshots are one file on some systems",
            )
        self._definitions[name] = self._by_case[name.casefold()] = definition
        self._matching.clear()
        return definition

    def _place(self, definition: Definition) -> str:
        path = definition.path
        return _WITHOUT_FILE if path is None else shown(path, self.root)

    def _unknown(self, headline: str, name: str) -> RopeContractError:
        return RopeContractError(headline, remedy=nearest(name, self._definitions, "definitions"))


def _name_problem(name: object) -> str | None:
    if not isinstance(name, str):
        return f"it is {with_article(type(name).__qualname__)}"
    if not name:
        return "it is empty"
    if foreign := _FOREIGN.search(name):
        return f"it contains {foreign[0]!r}"
    return None if name[0].isalnum() else f"it begins with {name[0]!r}"
