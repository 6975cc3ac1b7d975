"""Shell launchers: run under bash, where every external command is recorded, not executed."""

from __future__ import annotations

from pytest_ropecontract.launchers.shell.recorder import (
    DEFAULT_EXPANDERS,
    NO_PATH,
    SCRATCH,
    record,
    takes,
)

__all__ = ["DEFAULT_EXPANDERS", "NO_PATH", "SCRATCH", "record", "takes"]
