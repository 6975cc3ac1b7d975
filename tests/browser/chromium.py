"""The browser that the tests of the HTML report need."""

from __future__ import annotations

import os
import shutil

import pytest

# In CI, where it is installed: a test that is skipped there would hide a fault.
REQUIRED = "ROPE_CONTRACT_BROWSER"


def path() -> str:
    """Return where Chromium is; without it skip the test, or let it fail where it is required."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        text = "these tests need Chromium on PATH: apt-get install chromium"
        if os.environ.get(REQUIRED, "") not in ("", "0"):
            pytest.fail(text, pytrace=False)
        pytest.skip(text)
    return found
