"""pytest on a project of one test, with the plugin installed and not used, against without it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import in_turn, run_python

if TYPE_CHECKING:
    from collections.abc import Iterator

LISTING = """
import sys
import pytest
pytest.main(["-q", "-p", "no:randomly", "-p", "no:cacheprovider"])
print(*sorted(name for name in sys.modules if name.startswith("pytest_ropecontract")))
"""
RUN = ("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")


def lines(*, quick: bool) -> Iterator[str]:
    """Measure, and yield what is printed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "test_one.py").write_text("def test_one():\n    pass\n", encoding="utf-8")
        pair = in_turn(
            lambda: run_python(RUN, folder).seconds,
            lambda: run_python((*RUN, "-p", "no:ropecontract"), folder).seconds,
            3 if quick else 41,
        )
        listed = subprocess.run(
            [sys.executable, "-c", LISTING], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.splitlines()[-1]
    more = pair.one * (1 - 1 / pair.ratio)
    yield (
        f"{pair.one * 1e3:.1f} ms, without the plugin {pair.other * 1e3:.1f} ms: {pair.ratio:.3f} "
        f"times, {more * 1e3:+.1f} ms"
    )
    yield f"imported of the package: {listed}"
