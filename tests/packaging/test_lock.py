"""The lock of the development environment: exact versions with hashes, as an SBOM needs them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).parents[2]
LOCK = CHECKOUT / ".ci" / "requirements-dev.txt"
pytestmark = pytest.mark.skipif(not LOCK.exists(), reason="no checkout: an sdist has no lock")
PINNED = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>[^\\]+?))? \\$", re.MULTILINE
)


def wanted(name: str, groups: dict[str, list[Any]]) -> list[Requirement]:
    found = []
    for entry in groups[name]:
        found += (
            [Requirement(entry)]
            if isinstance(entry, str)
            else wanted(entry["include-group"], groups)
        )
    return found


def entries() -> list[str]:
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    return re.split(r"\n(?=\S)", text)


def test_every_development_requirement_is_locked_at_a_version_that_it_allows():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    locked: dict[str, set[str]] = {}
    for match in PINNED.finditer(LOCK.read_text(encoding="utf-8")):
        locked.setdefault(canonicalize_name(match["name"]), set()).add(match["version"])

    missing = [
        str(one)
        for one in wanted("dev", project["dependency-groups"])
        if not any(map(one.specifier.contains, locked.get(canonicalize_name(one.name), ())))
    ]

    assert missing == []


def test_everything_that_is_locked_has_an_exact_version_and_hashes():
    loose = [
        entry.partition("\n")[0]
        for entry in entries()
        if not PINNED.match(entry) or "--hash=sha256:" not in entry
    ]

    assert loose == []
