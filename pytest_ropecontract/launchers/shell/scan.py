"""Looks at the text of a launcher where the kernel does not guard programs and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ropecontract.launchers.recording import Stop

if TYPE_CHECKING:
    from pathlib import Path


def scan(path: Path, root: Path) -> Stop | None:
    """Return why a launcher is not run without the kernel's guard, or None."""
    return Stop(f"{path.relative_to(root)} was not looked at")


def approved(root: Path) -> list[Path]:
    """Return the shell scripts of a project that need no guard."""
    return [one for one in sorted(root.rglob("*.sh")) if scan(one, root) is None]
