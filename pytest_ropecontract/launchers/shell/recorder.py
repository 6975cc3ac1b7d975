"""Runs a shell launcher under bash and reads what it would have run."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_ropecontract.launchers import sandbox
from pytest_ropecontract.launchers.recording import Recording, Stop
from pytest_ropecontract.launchers.sandbox import EVERY_LAYER
from pytest_ropecontract.launchers.shell import records, scan, tables

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_ropecontract.launchers.recording import Answer
    from pytest_ropecontract.launchers.sandbox import Layer

DEFAULT_EXPANDERS = ("*/scripts/models/*.py", "*/model_args*.py")
"""The Python scripts that print a model's flags: patterns of their absolute paths."""

SCRATCH = "<scratch>"
"""Stands for the scratch folder wherever its path was expanded."""

NO_PATH = "/dev/null/bin"
"""The launcher's PATH: no file can ever be in it."""

_PRELUDE = Path(__file__).with_name("prelude.bash")
_GUARD = Path(__file__).with_name("expansion.py")
_COMPLAINT = re.compile(
    r"^(?P<who>(?P<file>\S.*?): line (?P<line>\d+)|\S+): "
    r"(?P<what>.*(?:Permission denied|Operation not permitted).*)$",
    re.MULTILINE,
)
"""What bash and the tools print where the kernel refuses something."""

_REFUSED = re.compile(
    r"^(?:(?P<file>/\S.*?): line (?P<line>\d+): )?(?P<what>.*(?:/dev/(?:tcp|udp)/.*"
    r"|commands disabled in sandbox mode|(?:PS4|POSIXLY_CORRECT): readonly variable).*)$",
    re.MULTILINE,
)
_READERS = frozenset(tables.TEXT_TOOLS) - {"awk", "gawk", "mawk", "mktemp", "mkdir", "tee", "sort"}
"""The tools that open no file but for reading, which every launcher may try."""

_BASH_ALONE = frozenset({"BASH_ENV", "ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS"})
"""With these bash would begin otherwise, and perhaps without what records."""


def record(  # noqa: PLR0913 - what surrounds a launcher is that much
    path: Path,
    *,
    root: Path,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    answers: Mapping[str, str | Answer] | None = None,
    time_limit: float = 20.0,
    pythonpath: Sequence[Path] = (),
    expanders: Sequence[str] = DEFAULT_EXPANDERS,
    layers: Collection[Layer] = EVERY_LAYER,
    scratch: Path | None = None,
) -> Recording:
    """Run a shell launcher, and record every external command instead of executing it.

    It runs in a scratch folder that shows the project's own files and folders as links. Text tools
    answer for real; Python runs only where it prints the flags of a model, and changes nothing
    there either. Where the kernel does not guard programs and files, a launcher that uses what only
    the kernel would stop is refused before it runs.

    Args:
        path: The launcher, absolute or from the root.
        root: The project's folder.
        arguments: Its positional parameters.
        environment: Variables in addition to the frozen ones.
        answers: What commands answer: by the program's name, or by its name and first arguments
            (``nvidia-smi topo -m``), of which the longest counts.
        time_limit: Seconds after which it is stopped.
        pythonpath: Folders that Python finds helpers of model definitions in.
        expanders: Patterns of the absolute paths of the Python scripts that print a model's flags.
        layers: The protections of the kernel to use, where the machine has them.
        scratch: A scratch folder that is there already; None: one of its own.

    Raises:
        SandboxError: There is no bash or no Python to run it with, or not the tools it takes.
    """
    root = root.resolve()
    path = root / path
    _check(environment or {})
    bash, tools = _programs()
    unguarded = sandbox.without_landlock(layers)
    approved: list[Path] = []
    if unguarded is not None:
        found = scan.scan(path, root)
        if found is not None:
            return Recording(returncode=None, stop=found, missing_layers=(unguarded,))
        approved = scan.approved(root)
    with sandbox.scratch() as place:
        for folder in (place / "record", place / "temporary"):
            folder.mkdir()
        if scratch is None:
            scratch = place / "scratch"
            scratch.mkdir()
            sandbox.show(root, scratch)
        python = [
            *(sys.executable, "-I", "-B", str(_GUARD), str(place / "record" / "stop")),
            str(len(pythonpath)),
            *map(str, pythonpath),
        ]
        (place / "tables.bash").write_text(
            tables.text(tools, answers or {}, approved, expanders, python), encoding="utf-8"
        )
        given = {
            **sandbox.frozen_environment(scratch),
            "TMPDIR": str(place / "temporary"),
            "PATH": NO_PATH,
            "SHELL": bash,
            **(environment or {}),
        }
        finished = sandbox.run(
            [bash, "--", str(path), *arguments],
            folder=scratch,
            environment={
                **given,
                "BASH_ENV": str(_PRELUDE),
                "ROPECONTRACT_PLACE": str(place),
                "ROPECONTRACT_SCRATCH": str(scratch),
                "ROPECONTRACT_ROOT": str(root),
                "ROPECONTRACT_GUARDED": "1" if unguarded is None else "0",
                "ROPECONTRACT_KEY": "",
                "ROPECONTRACT_FOLDER": "",
                "ROPECONTRACT_PEEK": "",
                "ROPECONTRACT_AT": "",
            },
            time_limit=time_limit,
            programs=[*tools.values(), *tables.python_programs()],
            writable=[scratch, place / "record", place / "temporary"],
            layers=layers,
        )
        reader = records.Reader(place, scratch, root, given)
        stop = reader.stop() or _stop(finished, path, reader)
        return Recording(
            commands=reader.commands(),
            files={
                name: reader.shown(text) for name, text in sandbox.written(scratch, root).items()
            },
            stdout=reader.shown(finished.stdout),
            stderr=reader.shown(finished.stderr),
            returncode=finished.returncode if stop is None else None,
            stop=stop,
            missing_layers=finished.missing_layers,
        )


def takes(name: str) -> bool:
    """Return whether a launcher can be recorded with a variable in its environment."""
    return not (name in _BASH_ALONE or name.startswith(("LD_", "BASH_FUNC_", "ROPECONTRACT_")))


def _check(environment: Mapping[str, str]) -> None:
    for name in environment:
        if not takes(name):
            raise sandbox.SandboxError(
                f"a launcher cannot be recorded with {name} in its environment",
                remedy="set it in the launcher, or leave it out",
            )


def _programs() -> tuple[str, dict[str, str]]:
    bash = shutil.which("bash", path="/usr/bin:/bin:/usr/local/bin") or shutil.which("bash")
    if bash is None:
        raise sandbox.SandboxError(
            "there is no bash to run launchers with", remedy="install bash 5 or later"
        )
    tools = tables.tools()
    missing = tables.missing_tools(tools)
    if missing:
        raise sandbox.SandboxError(
            f"launchers cannot be recorded without {', '.join(missing)}",
            remedy="install the GNU core utilities",
        )
    return bash, tools


def _stop(finished: sandbox.Finished, path: Path, reader: records.Reader) -> Stop | None:
    """Return why a launcher was ended, or what of it only the kernel stopped."""
    if finished.ended is not None:
        return Stop(
            f"the launcher was ended: {finished.ended}",
            origin=reader.last_line() or reader.origin(str(path)),
            remedy="script the answers that its loops wait for",
        )
    # What a launcher complains of may be where it prints.
    complaints = f"{finished.stderr}\n{finished.stdout}"
    denied = _denied(complaints, reader) or _REFUSED.search(finished.stderr)
    if denied is None:
        return None if reader.begun else Stop("bash did not begin with what records commands")
    origin = f"{denied['file']}:{denied['line']}" if denied["line"] else str(path)
    return Stop(
        f"the launcher tried what is not let through: {reader.shown(denied['what']).strip()}",
        origin=reader.origin(origin),
        remedy=f"let it write below its working directory alone, which is {SCRATCH} here",
    )


def _denied(complaints: str, reader: records.Reader) -> re.Match[str] | None:
    """Return the first complaint about what only the kernel stopped.

    Text of the launcher's own is none, nor is a file that this user cannot read anyway.
    """
    for found in _COMPLAINT.finditer(complaints):
        if found["line"]:
            harmless = reader.is_closed(found["what"].rpartition(": ")[0])
        else:
            name = PurePosixPath(found["who"]).name
            harmless = name in _READERS or name not in tables.TEXT_TOOLS
        if not harmless:
            return found
    return None
