"""A real browser, without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chromium
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

from pytest_ropecontract.report.html.page import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Opener:
    """Opens the pages of reports, and notes what goes wrong in them.

    Attributes:
        wrong: Errors, messages, dialogs, and requests for anything but the page itself.
    """

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.wrong: list[str] = []
        self._browser = browser
        self._path = folder / "report.html"
        self._contexts: list[BrowserContext] = []

    def __call__(self, report: dict[str, Any], **settings: Any) -> Page:
        self._path.write_text(render(report), encoding="utf-8")
        context = self._browser.new_context(**settings)
        self._contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog {dialog.message}"))
        page.on("request", self._note)
        page.goto(self._path.as_uri())
        return page

    def _note(self, request: Request) -> None:
        if request.url != self._path.as_uri():
            self.wrong.append(request.url)

    def close(self) -> None:
        for context in self._contexts:
            context.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.path()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        yield found
        found.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Give what opens the pages of reports; what goes wrong in one fails the test."""
    opener = Opener(browser, tmp_path)
    yield opener
    opener.close()
    assert opener.wrong == []
