"""What happens around the items of a run with ``--rope-contract``."""

from __future__ import annotations

import functools
import shutil
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ropecontract import arguments, collection, marks, paths, uncollected, writing
from pytest_ropecontract.errors import RopeContractError, visible
from pytest_ropecontract.megatron.selection import is_live
from pytest_ropecontract.report import annotating, document, json, launches, terminal
from pytest_ropecontract.suite.modules import modules_for

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

MARKUP = {"fail": {"red": True}, "allowed": {"yellow": True}, "ok": {}, "head": {"bold": True}}
# With -qq models are only counted.
QUIET = -2


class ContractSession:
    """Collects definitions and reports on them; registered only where it was asked for."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.documents: list[dict[str, Any]] = []
        self.marks: list[dict[str, Any]] = []
        self.launches: list[dict[str, Any]] = []
        self.annotations: list[annotating.Annotation] = []
        self.unwritten: list[str] = []
        self._said = False

    def pytest_report_header(self, config: pytest.Config) -> str:
        """Say what is resolved against, and how many definitions there are."""
        count = len(collection.project_of(config).registry)
        noun = "definition" if count == 1 else "definitions"
        return f"rope-contract: {self._surface()}, {count} {noun}"

    def _surface(self) -> str:
        if is_live(collection.options_of(self.config).settings.surface):
            try:
                return f"megatron-core {metadata.version('megatron-core')} (live)"
            except metadata.PackageNotFoundError:
                return "the Megatron on PYTHONPATH (live)"
        surface = collection.project_of(self.config).pipeline.megatron.surface
        version = "" if surface.version in surface.name else f" {surface.version}"
        return f"{surface.name}{version} (recorded)"

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(
        self, collection_path: Path, config: pytest.Config
    ) -> Generator[None, Any, bool]:
        """Look at what holds items, and at nothing else that a run is given for its sake."""
        ignored = yield
        return config.stash[arguments.ADDED].is_ignored(collection_path, ignored=bool(ignored))

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, Any, Any]:
        """Put a definition's items under its file, in place of a test module."""
        result = yield
        modules = modules_for(file_path, parent)
        if not modules:
            return result
        kept = list(result) if arguments.keeps_test_module(file_path, self.config) else []
        return [*kept, *modules]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of pytest-xdist what it cannot see: whether files may be left out."""
        node.workerinput[uncollected.PARTIAL] = uncollected.is_partial(self.config)

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Show an item where its definition is, not where its function is written."""
        if (module := item.getparent(collection.DefinitionModule)) is not None:
            item.location = (module.path.relative_to(self.config.rootpath).as_posix(), 0, item.name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Send the facts with the report, so that they also come from another process."""
        report = yield
        facts = item.stash.get(document.DOCUMENT, None)
        if facts is not None and report.when == "call" and not _is_expected(report, facts):
            report.rope_contract = facts
        launch = item.stash.get(launches.LAUNCH, None)
        if launch is not None and report.when == "call":
            report.rope_contract_launch = launch
        if report.when == "call":
            report.rope_contract_marks = [
                document.mark_document(item.config, *one)
                for one in item.stash.get(marks.ASSERTED, None) or ()
            ]
            failed = item.stash.get(marks.FAILED, None) or ()
            annotations = [
                *(item.stash.get(annotating.ANNOTATIONS, None) or ()),
                *annotating.of_marks(item.config, failed),
            ]
            report.rope_contract_annotations = [list(one) for one in annotations]
        if report.skipped and isinstance(report.longrepr, tuple):
            module = item.getparent(collection.DefinitionModule)
            if module is not None:
                report.longrepr = (str(module.path), 1, report.longrepr[2])
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the facts of a report."""
        facts = getattr(report, "rope_contract", None)
        if facts is not None:
            self.documents.append(facts)
        launch = getattr(report, "rope_contract_launch", None)
        if launch is not None:
            self.launches.append(launch)
        self.marks.extend(getattr(report, "rope_contract_marks", ()))
        for one in getattr(report, "rope_contract_annotations", ()):
            self.annotations.append(annotating.Annotation(*one))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports, once, after all items of all processes."""
        if hasattr(session.config, "workerinput") or session.config.getoption("collectonly"):
            return
        wanted = collection.options_of(self.config).reports
        if not wanted:
            return
        report = json.document(self._surface_document(), self._models, self._launchers)
        for path in wanted:
            try:
                writing.write(path, _rendered(report, path))
            except OSError as error:
                self.unwritten.append(
                    f"--rope-contract-report: {path.name} cannot be written: {error.strerror}"
                )
        if self.unwritten and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    @functools.cached_property
    def _models(self) -> list[dict[str, Any]]:
        """What all items found out; asked for when all of them have reported."""
        return document.merge(self.documents, self.marks)

    @functools.cached_property
    def _launchers(self) -> list[dict[str, Any]]:
        """The same of launchers."""
        return launches.merge(self.launches)

    def _surface_document(self) -> dict[str, Any]:
        for one in (*self.documents, *self.launches):
            found: dict[str, Any] = one["surface"]
            return found
        return {"name": None, "version": None, "mode": None}

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show one line for every model, and for every launcher, that was checked."""
        if not self.config.getoption("no_summary", default=False):
            self._write_summary(terminalreporter)
        self._said = True
        for line in self._annotations():
            terminalreporter.write_line(line)
        for line in self.unwritten:
            terminalreporter.write_line(f"ERROR: {line}", red=True)

    def _annotations(self) -> list[str]:
        """Return the lines that a CI service reads, where they are wanted."""
        if collection.options_of(self.config).annotate == "none":
            return []
        root = self.config.rootpath
        found = (
            *annotating.of_models(self._models, root),
            *annotating.of_launchers(self._launchers, root),
            *self.annotations,
        )
        return [*annotating.github_lines(found, root)]

    def _write_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._models and not self._launchers:
            return
        verbosity = self.config.get_verbosity()
        surface = self._surface_document()
        known = f": {surface['name']} ({surface['mode']})" if surface["name"] else ""
        terminalreporter.write_sep("=", f"rope contract{known}", bold=True)
        width = shutil.get_terminal_size().columns
        lines = terminal.summary_lines(self._models, width, verbosity) if self._models else []
        lines += terminal.omission_lines(self._models, width, verbosity)
        lines += terminal.launcher_lines(self._launchers, width, verbosity)
        if verbosity > QUIET:
            lines += self._stray_lines()
        for line, state in lines:
            terminalreporter.write_line(line, **MARKUP[state])

    def _stray_lines(self) -> list[tuple[str, str]]:
        """Say which checkpoints nothing is compared with."""
        if not collection.knows_all_models(self.config):
            return []
        project = collection.project_of(self.config)
        try:
            strays, more = project.stray_checkpoints()
        except RopeContractError:  # test_checkpoint says why
            return []
        shown = [(_in_a_line(project.shown(one.path)), one.near) for one in strays]
        return terminal.stray_lines(shown, more)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Say what went wrong also where there is no terminal reporter, or no summary."""
        if hasattr(config, "workerinput"):
            return
        if not self._said:
            sys.stdout.writelines(f"{line}\n" for line in self._annotations())
            sys.stderr.writelines(f"ERROR: {line}\n" for line in self.unwritten)


def _is_expected(report: pytest.TestReport, facts: dict[str, Any]) -> bool:
    """Return whether all that an item has to say is a change that its mark ``xfail`` expects."""
    return report.skipped and facts["model"]["snapshot"] is not None


def _in_a_line(path: str) -> str:
    """Return a path as a terminal shows it: a file's name may hold anything."""
    return visible(paths.printable(path)).replace("\n", "\\n").replace("\t", "\\t")


def _rendered(report: dict[str, Any], path: Path) -> str:
    """Return a report in the format that its file's name asks for."""
    if path.suffix == ".json":
        return json.render(report)
    # What it is made with comes with the extra; options have checked that it is there.
    from pytest_ropecontract.report.html.page import render  # noqa: PLC0415

    return render(report)
