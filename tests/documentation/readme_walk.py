"""Does what a section of the README says, block by block, in a project."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from readme_blocks import CHECKOUT, Block, difference

from pytest_ropecontract import cli

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

EXAMPLE = CHECKOUT / "example_project"
# What these commands do is tested where it can be: with Megatron in tests/live, with a hub of their
# own in tests/cli. Here their arguments are those that the command takes.
ELSEWHERE = (["surface", "record"], ["surface", "verify"], ["checkpoint", "pull"])


class Walk:
    """A project, and what was done in it."""

    def __init__(self, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
        self.pytester = pytester
        self.capsys = capsys
        self.root = pytester.path
        # The flags whose loss is shown are tried first, before any are drawn.
        self.settings: dict[str, Any] = {"rope_contract_examples": "0"}
        self.changed_since_run = False
        self.tests = 0

    def copy(self, *names: str) -> None:
        """Copy files or folders of the example project."""
        for name in names:
            source, target = EXAMPLE / name, self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)

    def configure(self, **settings: Any) -> None:
        """Add settings to the project's."""
        self.settings.update(settings)
        lines = [f"{name} = {json.dumps(value)}" for name, value in self.settings.items()]
        text = "\n".join(["[tool.pytest]", *lines, ""])
        (self.root / "pyproject.toml").write_text(text, encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a text that is in a file once."""
        text = (self.root / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has {text.count(old)} times:\n{old}"
        self.write(name, text.replace(old, new))

    def pytest(self, *args: str) -> pytest.RunResult:
        """Run pytest in this process."""
        self.changed_since_run = False
        return self.pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:xdist", *args)

    def do(self, blocks: Sequence[Block]) -> None:
        """Do what blocks say, one after another."""
        for block in blocks:
            getattr(self, f"_{block.language}")(block)
        if self.changed_since_run:
            result = self.pytest("--rope-contract", "-k", "declared or allowances or launch")
            assert result.ret == 0, result.stdout.str() + result.stderr.str()

    def _python(self, block: Block) -> None:
        if block.path is not None:
            self.write(block.path, block.text)
            self.changed_since_run = block.path == "conftest.py"
            return
        self.tests += 1
        name = f"tests/test_readme_{self.tests}.py"
        self.write(name, block.text)
        update = ["--snapshot-update"] if "rope_snapshot" in block.text else []
        result = self.pytest(*update, name)
        assert result.ret == 0, result.stdout.str()
        tests = len(re.findall(r"^def test_", block.text, re.MULTILINE))
        assert result.parseoutcomes()["passed"] == tests

    def _bash(self, block: Block) -> None:
        assert block.path is not None, f"line {block.line}: the block names no file"
        self.write(block.path, block.text)

    def _text(self, block: Block) -> None:
        if block.path is not None:
            self.write(block.path, block.text)
            return
        collected = self.pytest("--rope-contract", "--collect-only", "-q").outlines
        for line in block.lines:
            assert line.split()[0] in collected, collected

    def _toml(self, block: Block) -> None:
        document = tomllib.loads(block.text)
        assert list(document) == ["tool"]
        assert list(document["tool"]) == ["pytest"]
        self.configure(**document["tool"]["pytest"])
        self.changed_since_run = True

    def _diff(self, block: Block) -> None:
        before, after, *lines = block.lines
        name = after.removeprefix("+++ b/")
        assert before == f"--- a/{name}"
        old = [line[1:] for line in lines if not line.startswith("+")]
        new = [line[1:] for line in lines if not line.startswith("-")]
        self.replace(name, "\n".join(old) + "\n", "\n".join(new) + "\n")

    def _ini(self, block: Block) -> None:
        """A tox.ini: its command passes on every recorded Megatron that an environment names."""
        ini = configparser.ConfigParser()
        ini.read_string(block.text)
        environment = ini["testenv"]
        check_requirements([line.split()[-1] for line in environment["deps"].split("\n") if line])
        named = re.findall(
            r"^(\S+): ROPE_CONTRACT_SURFACE = (\S+)$", environment["set_env"], re.MULTILINE
        )
        recorded = [surface for _, surface in named if surface != "live"]
        assert named == [*((f"recorded-{one}", one) for one in recorded), ("live", "live")]
        assert f"recorded-{{{','.join(recorded)}}}, live-" in ini["tox"]["env_list"]
        program, *args = shlex.split(environment["commands"].removesuffix(" {posargs}"))
        assert program == "pytest"
        for surface in recorded:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("ROPE_CONTRACT_SURFACE", surface)
                result = self.pytest(*args, "-k", "test_declared")
            assert result.ret == 0
            result.stdout.fnmatch_lines(f"rope-contract: megatron-core-{surface} (recorded)*")

    def _console(self, block: Block) -> None:
        for command, shown in block.commands:
            printed = self.command(command)
            missing = difference(shown, printed)
            shown_of = "\n".join(printed)
            assert missing is None, f"{command} does not print:\n{missing}\nbut:\n{shown_of}"

    def command(self, command: str) -> list[str]:
        """Run a command, and return the lines that it prints."""
        folder, _, rest = command.rpartition(" && ")
        if folder.startswith("cd "):
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(self.root / folder.removeprefix("cd "))
                return self.command(rest)
        program, *args = shlex.split(command)
        if program == "pip":
            check_installing(command)
            return []
        if program == "pytest":
            return self._run(args)
        assert program == "ropecontract", command
        if args[:2] in ELSEWHERE:
            assert cli.parse(args).run is not None
            return []
        self.capsys.readouterr()
        status = cli.main(args)
        out, err = self.capsys.readouterr()
        assert (status, err) == (0, ""), err
        return [line.rstrip() for line in out.splitlines()]

    def _run(self, args: list[str]) -> list[str]:
        result = self.pytest(*args)
        assert result.ret in (0, 1), result.stdout.str() + result.stderr.str()
        return [line.rstrip() for line in result.outlines]


def check_requirements(requirements: Sequence[str]) -> None:
    """Check that every extra that is named exists."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    for requirement in requirements:
        name, bracket, rest = requirement.partition("[")
        if not bracket:
            continue
        assert name in (project["name"], ".", ".."), requirement
        for extra in rest.rstrip("]").split(","):
            assert extra in project["optional-dependencies"], requirement


def check_installing(command: str) -> None:
    """Check a command that installs something, as far as that goes without a network.

    What comes behind ``&&`` is a folder of this checkout, or what the continuous integration runs.
    """
    install, _, then = command.partition(" && ")
    program, verb, *args = shlex.split(install)
    assert (program, verb) == ("pip", "install")
    check_requirements([one for one in args if not one.startswith("-")])
    if then == "tox":
        assert (CHECKOUT / "tox.ini").is_file()
        if (CHECKOUT / "PKG-INFO").is_file():
            return  # an sdist has its tests, and not what runs them in the continuous integration
        assert f"\n{command}\n" in (CHECKOUT / ".ci/run").read_text()
    elif then:
        assert then.startswith("pytest --rope-contract ")
        assert (CHECKOUT / then.split()[-1] / "pyproject.toml").is_file()


def with_definitions(walk: Walk, *names: str) -> Path:
    """Make a project with some of the example's definitions."""
    walk.copy("ropeframe", *(f"scripts/models/{name}.py" for name in names))
    walk.configure(
        testpaths=["tests"],
        rope_contract_pythonpath=["."],
        rope_contract_arguments=["ropeframe.arguments:add_rope_arguments"],
        rope_contract_defaults=["ropeframe.arguments:set_default_megatron_args"],
    )
    (walk.root / "tests").mkdir(exist_ok=True)
    return walk.root
