"""What the example project says of itself."""

from __future__ import annotations

import configparser
import re

import pytest
from readme_blocks import blocks
from readme_walk import EXAMPLE, check_requirements

from pytest_ropecontract.megatron.selection import choose

README = (EXAMPLE / "README.md").read_text(encoding="utf-8")
PATHS = re.findall(r"`((?:ropeframe|scripts|tests)/[^`]*)`", README)


@pytest.mark.parametrize("path", PATHS)
def test_every_path_that_is_named_is_there(path: str) -> None:
    assert list(EXAMPLE.glob(path))


def test_it_names_paths() -> None:
    assert len(PATHS) >= 8


def test_what_is_to_be_installed_is_there() -> None:
    (block,) = blocks(README)
    installing = [command for command, _ in block.commands if command.startswith("pip ")]

    assert installing
    for command in installing:
        check_requirements(re.findall(r"'([^']*)'", command))


def test_environments_name_extras_and_surfaces_that_are_there() -> None:
    ini = configparser.ConfigParser()
    ini.read(EXAMPLE / "tox.ini")
    environment = ini["testenv"]
    named = re.findall(
        r"^\w+: ROPE_CONTRACT_SURFACE = (\S+)$", environment["set_env"], re.MULTILINE
    )

    check_requirements([line.split()[-1] for line in environment["deps"].split("\n") if line])
    assert "live" in named
    for name in named:
        if name != "live":
            assert choose(name, EXAMPLE).surface.name == name
