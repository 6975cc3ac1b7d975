"""An account that may not read everything, also where the tests run as root."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOBODY = 65534
ENTER = 0o011


@contextlib.contextmanager
def ordinary_user(folder: Path) -> Iterator[None]:
    """Be an account without root's rights for as long as the context lasts.

    Args:
        folder: A scratch folder of root's that this account may enter.
    """
    if os.geteuid() != 0:
        yield
        return
    with contextlib.ExitStack() as stack:
        for one in (folder, *folder.parents):
            mode = one.stat().st_mode
            # The account stays in root's groups.
            if mode & ENTER != ENTER:
                stack.callback(one.chmod, mode)
                one.chmod(mode | ENTER)
        try:
            os.seteuid(NOBODY)
        except OSError as error:
            pytest.skip(f"root may not become another account here: {error}")
        stack.callback(os.seteuid, 0)
        yield
