"""Build a definition on the one beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_ropecontract.definitions.definition import DefinitionError
from pytest_ropecontract.definitions.script import expand_script
from pytest_ropecontract.definitions.wording import nearest


def load_sibling_model_args(file: str, name: str, /, **overrides: Any) -> list[str]:
    """Return the tokens of the Python definition ``name`` in the same directory.

    For use inside a definition::

        def model_args():
            return load_sibling_model_args(__file__, "kimi-k2", nlayers=2)

    Args:
        file: The ``__file__`` of the definition that asks.
        name: The sibling's name, which is its file name without ``.py``.
        overrides: Keyword arguments of the sibling's ``model_args``.

    Raises:
        DefinitionError: There is no such sibling, it failed, or siblings load each other
            in a circle.
    """
    own = Path(file).absolute()
    path = own.with_name(f"{name}.py") if name and Path(name).name == name else None
    if path is None or not path.exists():
        names = [other.stem for other in own.parent.glob("*.py") if other != own]
        raise DefinitionError(
            f"there is no sibling {name!r} beside {own.name}",
            remedy=nearest(name, names, "siblings"),
        )
    try:
        return list(expand_script(path, overrides))
    except DefinitionError as error:
        prefix = "" if error.headline.startswith("sibling ") else f"sibling {name}: "
        raise DefinitionError(
            prefix + error.headline,
            origin=error.origin,
            details=error.details,
            remedy=error.remedy,
        ) from None
