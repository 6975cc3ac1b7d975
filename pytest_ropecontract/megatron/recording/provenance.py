"""Where the importable Megatron comes from: a distribution, or a checkout at a commit."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pytest_ropecontract.megatron.surface import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RELEASE = "megatron-core"
ABBREVIATED = 8
SECONDS = 20


def find_source(package: Path, arguments: Sequence[str] = ()) -> Source:
    """Return where a Megatron comes from.

    Args:
        package: The folder of the package ``megatron.core``.
        arguments: Names of the functions that added options.
    """
    found = Source(arguments=tuple(arguments))
    is_copy = False
    for distribution in _distributions():
        is_copy = _is_copy(distribution, package)
        if is_copy or _is_editable(distribution, package):
            found = found._replace(distribution=distribution.name, version=distribution.version)
            break
    # A checkout whose metadata lies in it looks like a copy.
    if is_copy and not (package.parent.parent / ".git").exists():
        return found
    return found._replace(revision=_revision(package))


def name_of(source: Source, version: str, fingerprint: str) -> str:
    """Return a name for a recording that no other sources or options have by default.

    Args:
        source: Where it was recorded from.
        version: The version that the package states.
        fingerprint: Of the sources.
    """
    # Megatron in a checkout adds the commit to its version itself.
    release = (source.version or version).partition("+")[0]
    name = f"{source.distribution or RELEASE}-{release}"
    if source.revision is not None:
        commit, dash, state = source.revision.partition("-")
        name += f"+{commit[:ABBREVIATED]}{dash}{state}"
    elif source.distribution is None:
        name += f"+{fingerprint[:ABBREVIATED]}"
    modules = dict.fromkeys(one.partition(":")[0].partition(".")[0] for one in source.arguments)
    return "+".join((name, *modules))


def _distributions() -> Iterator[metadata.Distribution]:
    """Yield the distributions that can hold Megatron, the release's name first."""
    names = metadata.packages_distributions().get("megatron", [])
    for name in sorted({RELEASE, *names}, key=lambda one: (one != RELEASE, one)):
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield metadata.distribution(name)


def _is_copy(distribution: metadata.Distribution, package: Path) -> bool:
    inside = Path(str(distribution.locate_file("megatron/core")))
    return (inside / "__init__.py").is_file() and inside.resolve() == package.resolve()


def _is_editable(distribution: metadata.Distribution, package: Path) -> bool:
    """Return whether a package lies in the folder that a distribution was installed from."""
    text = distribution.read_text("direct_url.json")
    if text is None:
        return False
    with contextlib.suppress(ValueError, AttributeError, TypeError, KeyError):
        folder = Path(unquote(urlsplit(json.loads(text)["url"]).path))
        return package.resolve().is_relative_to(folder.resolve())
    return False


def _revision(package: Path) -> str | None:
    """Return the commit that a package is checked out at, or None where nobody knows it."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "-C", str(package), "describe", "--always", "--dirty", "--abbrev=40"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(  # noqa: S603  # no part of it comes from anybody else
            [*command, "--exclude", "*"],
            check=True,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return done.stdout.strip() or None
    return None
