"""pytest on a project of one test, with the plugin installed and not used, against without it.

A few milliseconds are told apart by processor time alone, and where no other plugin is loaded that
brings ten times as many. On the other side is a plugin of nothing, which pytest looks for as well.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measuring import run_python

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
        rounds = [
            tuple(
                run_python(("-m", "pytest", *RUN, "-p", plugin), folder).processor
                for plugin in ("ropecontract", "nothing")
            )
            for _ in range(4 if quick else 82)
        ][1:]
        listed = subprocess.run(
            [sys.executable, "-c", LISTING], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.splitlines()[-1]
    more = statistics.median(one - other for one, other in rounds)
    one, other = (statistics.median(each) for each in zip(*rounds, strict=True))
    yield (
        f"{one * 1e3:.1f} ms of processor time, without the plugin {other * 1e3:.1f} ms: "
        f"{one / other:.3f} times, {more * 1e3:+.1f} ms in the median of {len(rounds)} pairs"
    )
    yield f"imported of the package: {listed}"
