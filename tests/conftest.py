"""What the tests share."""

from __future__ import annotations

# A run of pytest inside of this process drops what it imports first. Extension modules that are
# imported again and again that way end Python 3.11 with a fatal error at its exit.
import hypothesis  # noqa: F401

pytest_plugins = ["pytester"]
