"""What comes of a model, in a word and in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_CONTRACT = "ok, no contract"
NOT_RUN = "ok, contract not run"
# What fails where flags, or what is built from them, are not those that were written down.
SNAPSHOT = "snapshot"


def verdict(model: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdict as a line, and its state: ``fail``, ``allowed`` or ``ok``.

    Args:
        model: The merged document of the model.
    """
    if model["error"] is not None:
        return "ERROR", "fail"
    failed = _rules(model, "fail")
    if model["snapshot"] is not None:
        failed.append(SNAPSHOT)
    if failed:
        return f"FAILED {', '.join(failed)}", "fail"
    allowed = _rules(model, "allowed")
    if allowed:
        return f"allowed {', '.join(allowed)}", "allowed"
    if model["contracts"]:
        return "ok", "ok"
    return (NOT_RUN if model["contracts_not_run"] else NO_CONTRACT), "ok"


def launcher_verdict(launcher: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdict of a launcher, as of a model.

    Its contracts are the definitions', and snapshots are of models.
    """
    return verdict({**launcher, "contracts": True, "snapshot": None})


def _rules(model: Mapping[str, Any], status: str) -> list[str]:
    return list(dict.fromkeys(one["rule"] for one in model["findings"] if one["status"] == status))
