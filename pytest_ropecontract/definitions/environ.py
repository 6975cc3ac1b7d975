"""Record which environment variables are asked for."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def environment_reads() -> Iterator[set[str]]:
    """Give the set of names that `os.environ` is asked for while the context lasts.

    A name that the code has set itself before does not count. The mapping stays the same
    object, so code that holds a reference to it is seen too.
    """
    asked: set[str] = set()
    written: set[str] = set()

    class Recording(os._Environ[Any]):  # noqa: SLF001 - the class of os.environ has no public name
        def __getitem__(self, key: Any) -> Any:
            name = os.fsdecode(key) if isinstance(key, bytes) else key
            if isinstance(name, str) and name not in written:
                asked.add(name)
            return super().__getitem__(key)

        def __setitem__(self, key: Any, value: Any) -> None:
            super().__setitem__(key, value)
            written.add(os.fsdecode(key))

    watched: list[Any] = [os.environ, os.environb]
    originals = [type(mapping) for mapping in watched]
    for mapping in watched:
        mapping.__class__ = Recording
    try:
        yield asked
    finally:
        for mapping, original in zip(watched, originals, strict=True):
            mapping.__class__ = original
