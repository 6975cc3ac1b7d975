"""pytest on a project of one test, with the plugin installed and not used, against without it.

A few milliseconds are told apart by processor time alone, and where no other plugin is loaded that
brings ten times as many. On the other side is a plugin of nothing, which pytest looks for as well.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import in_turn, run_python

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--disable-plugin-autoload")
LISTING = f"""
import sys
import pytest
pytest.main([*{RUN}, "-p", "ropecontract"])
print(*sorted(name for name in sys.modules if name.startswith("pytest_ropecontract")))
"""


def lines(*, quick: bool) -> Iterator[str]:
    """Measure, and yield what is printed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "nothing.py").touch()
        (folder / "test_one.py").write_text("def test_one():\n    pass\n", encoding="utf-8")
        pair = in_turn(
            lambda: _processor_time("ropecontract", folder),
            lambda: _processor_time("nothing", folder),
            3 if quick else 81,
        )
        listed = subprocess.run(
            [sys.executable, "-c", LISTING], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.splitlines()[-1]
    more = pair.one * (1 - 1 / pair.ratio)
    yield (
        f"{pair.one * 1e3:.1f} ms of processor time, without the plugin {pair.other * 1e3:.1f} ms: "
        f"{pair.ratio:.3f} times, {more * 1e3:+.1f} ms"
    )
    yield f"imported of the package: {listed}"


def _processor_time(plugin: str, folder: Path) -> float:
    return run_python(("-m", "pytest", *RUN, "-p", plugin), folder).processor
