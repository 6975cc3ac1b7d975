"""Import what is imported lazily: a run of pytest inside of this process drops what it imports."""

from __future__ import annotations

import importlib
import pkgutil

import pytest_ropecontract

for _module in pkgutil.walk_packages(
    pytest_ropecontract.__path__, f"{pytest_ropecontract.__name__}."
):
    if "recording" not in _module.name:
        importlib.import_module(_module.name)
