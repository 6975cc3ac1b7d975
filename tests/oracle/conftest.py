"""The tests against an installed transformers are skipped where there is none."""

from __future__ import annotations

import importlib.util

NEEDED = ("torch", "transformers")
collect_ignore_glob = (
    [] if all(importlib.util.find_spec(name) for name in NEEDED) else ["test_*.py"]
)
