"""Contract tests for the rotary position embedding that a Megatron command line builds.

The names load on first use: pytest imports this package at every start, also where the
plugin is not used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_ropecontract.contracts.findings import Finding
    from pytest_ropecontract.definitions import Registry, load_sibling_model_args
    from pytest_ropecontract.errors import RopeContractError
    from pytest_ropecontract.fixture_types import RopeContractOf, RopeExpand, RopeResolve
    from pytest_ropecontract.marks import rope_expect
    from pytest_ropecontract.rope.config import RopeConfig
    from pytest_ropecontract.rope.effect import Effect, compare
    from pytest_ropecontract.rope.resolution import Resolution
    from pytest_ropecontract.strategies import omissions

__all__ = [
    "Effect",
    "Finding",
    "Registry",
    "Resolution",
    "RopeConfig",
    "RopeContractError",
    "RopeContractOf",
    "RopeExpand",
    "RopeResolve",
    "compare",
    "load_sibling_model_args",
    "omissions",
    "rope_expect",
]

_MODULES = {
    "Effect": "rope.effect",
    "Finding": "contracts.findings",
    "Registry": "definitions",
    "Resolution": "rope.resolution",
    "RopeConfig": "rope.config",
    "RopeContractError": "errors",
    "RopeContractOf": "fixture_types",
    "RopeExpand": "fixture_types",
    "RopeResolve": "fixture_types",
    "compare": "rope.effect",
    "load_sibling_model_args": "definitions",
    "omissions": "strategies",
    "rope_expect": "marks",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
