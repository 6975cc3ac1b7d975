"""Small projects, and runs of pytest in them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "example_project"
PLAIN = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --kv-channels 16 "
    "--position-embedding-type rope --rotary-base 10000 --rotary-percent 1.0"
)
MLA = (
    "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --multi-latent-attention "
    "--q-lora-rank 8 --kv-lora-rank 8 --qk-head-dim 16 --qk-pos-emb-head-dim 8 --v-head-dim 16 "
    "--position-embedding-type rope --rotary-base 10000 --no-rope-fusion"
)
YARN = f"{MLA} --rope-type yarn --rotary-scaling-factor 4 --mscale 1.0 --mscale-all-dim 1.0"
REPORT = "--rope-contract-report=report.json"
# Items with tests of their own, which are not run here.
OTHERS = ("test_checkpoint", "test_arity", "test_omissions", "test_snapshot", "test_launch")
# In a worker of pytest-xdist, syrupy takes the runs inside for those of workers, too.
WORKER = "PYTEST_XDIST_WORKER"


def isolate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing of this run's own settings reach the runs inside."""
    for name in ("ROPE_CONTRACT_SURFACE", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "CI", WORKER):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    # A test file that is written again within a second would be taken from its bytecode.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


class Project:
    """A small project in a folder of its own, and runs of pytest in it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.root = pytester.path
        self.settings: dict[str, Any] = {"testpaths": ["tests"]}
        (self.root / "tests").mkdir()
        (self.root / "scripts/models").mkdir(parents=True)
        self.ini()

    def ini(self, **settings: Any) -> None:
        """Add settings to the ini file; None removes one."""
        self.settings.update(settings)
        lines = [
            f"{name} = {json.dumps(value)}"
            for name, value in self.settings.items()
            if value is not None
        ]
        self.write("pyproject.toml", "\n".join(["[tool.pytest]", "strict = true", *lines, ""]))

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def model(self, name: str, argv: str = PLAIN) -> Path:
        """Write a script that returns an argv."""
        return self.script(name, f"return {argv!r}")

    def script(self, name: str, *body: str) -> Path:
        """Write a script whose ``model_args`` has a body."""
        lines = ["def model_args(**overrides):", *(f"    {line}" for line in body), ""]
        return self.write(f"scripts/models/{name}.py", "\n".join(lines))

    def test(self, text: str, name: str = "test_contracts") -> Path:
        """Write a test module."""
        head = "import pytest\nfrom pytest_ropecontract import rope_expect\n\n"
        return self.write(f"tests/{name}.py", head + text)

    def conftest(self, text: str) -> Path:
        return self.write("conftest.py", f"import pytest\n\n{text}")

    def run(self, *args: str) -> Run:
        """Run pytest with ``--rope-contract`` in this process."""
        return self.run_without("--rope-contract", *_without_others(args))

    def run_with_all(self, *args: str) -> Run:
        """Run pytest with ``--rope-contract``, and all items, in this process."""
        return self.run_without("--rope-contract", *args)

    def run_without(self, *args: str) -> Run:
        """Run pytest without ``--rope-contract`` in this process."""
        return Run(self, self.pytester.runpytest_inprocess("-p", "no:randomly", *args))

    def run_shuffled(self, seed: str, *args: str) -> Run:
        """Run pytest with ``--rope-contract`` in this process, in another order."""
        result = self.pytester.runpytest_inprocess(
            "--rope-contract", f"--randomly-seed={seed}", *_without_others(args)
        )
        return Run(self, result)

    def run_apart(self, *args: str) -> Run:
        """Run pytest with ``--rope-contract`` in a process of its own."""
        args = ("--rope-contract", *_without_others(args))
        return Run(self, self.pytester.runpytest_subprocess(*args))


def _without_others(args: tuple[str, ...]) -> list[str]:
    """Return the arguments of a run that leaves out the other items."""
    args, keyword = list(args), ""
    if "-k" in args:
        at = args.index("-k")
        keyword = f"({args[at + 1]}) and "
        del args[at : at + 2]
    return [*args, "-k", f"{keyword}not ({' or '.join(OTHERS)})"]


class Run:
    """What came of a run."""

    def __init__(self, project: Project, result: pytest.RunResult) -> None:
        self.project = project
        self.result = result
        self.ret = result.ret
        self.outlines = result.outlines
        self.out = result.stdout.str()
        self.err = result.stderr.str()

    def _reports(self, hook: str) -> list[Any]:
        return self.result.reprec.getreports(hook)  # type: ignore[attr-defined]

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of every item, by node id; of a run in this process."""
        found = {}
        for report in self._reports("pytest_runtest_logreport"):
            if hasattr(report, "wasxfail"):
                found[report.nodeid] = "xfailed" if report.skipped else "xpassed"
            elif report.when == "call" or report.skipped:
                found[report.nodeid] = report.outcome
            elif report.failed:
                found[report.nodeid] = f"{report.when} failed"
        return found

    @property
    def counts(self) -> dict[str, int]:
        """How many items have which outcome."""
        return dict(Counter(self.outcomes.values()))

    def text(self, nodeid: str) -> str:
        """Return why an item failed."""
        for report in self._reports("pytest_runtest_logreport"):
            if report.nodeid == nodeid and report.failed:
                return report.longreprtext
        pytest.fail(f"{nodeid} did not fail: {self.outcomes}")

    def line(self, nodeid: str) -> str:
        """Return the first line of why an item failed."""
        return self.text(nodeid).splitlines()[0]

    def reason(self, nodeid: str) -> str:
        """Return why an item was skipped or failed as expected."""
        for report in self._reports("pytest_runtest_logreport"):
            if report.nodeid == nodeid and report.skipped:
                return getattr(report, "wasxfail", None) or report.longrepr[2]
        pytest.fail(f"{nodeid} was not skipped: {self.outcomes}")

    def collect_error(self, nodeid: str) -> list[str]:
        """Return the lines of why a file could not be collected."""
        for report in self._reports("pytest_collectreport"):
            if report.failed and report.nodeid == nodeid:
                return report.longreprtext.splitlines()
        pytest.fail(f"{nodeid} was collected: {self.out}")

    @property
    def usage_error(self) -> list[str]:
        """The lines of a usage error, which is all that the run says."""
        assert self.ret == pytest.ExitCode.USAGE_ERROR, self.out + self.err
        assert "INTERNALERROR" not in self.out + self.err
        assert "Traceback" not in self.out + self.err
        return [line for line in self.err.splitlines() if line]

    @property
    def report(self) -> dict[str, Any]:
        return json.loads(self.report_text)

    @property
    def report_text(self) -> str:
        return (self.project.root / "report.json").read_text()

    def reported(self, name: str) -> dict[str, Any]:
        """Return what the report says of a model."""
        return next(model for model in self.report["models"] if model["name"] == name)

    @property
    def summary(self) -> list[str]:
        """The lines of the terminal summary, without its title."""
        lines = iter(self.outlines)
        for line in lines:
            if " rope contract: " in line:
                break
        found = []
        for line in lines:
            if line.startswith("=") or " in " in line[-12:]:
                break
            found.append(line)
        return found
