from __future__ import annotations

import importlib
import pkgutil

import pytest_ropecontract

# A run of pytest inside of this process drops what it imports first, so what is imported lazily
# is imported here: an error that is raised by one copy of a module is not caught by another.
for _module in pkgutil.walk_packages(
    pytest_ropecontract.__path__, f"{pytest_ropecontract.__name__}."
):
    if "recording" not in _module.name:
        importlib.import_module(_module.name)
