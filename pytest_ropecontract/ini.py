"""Values of ini keys, as whatever kind of file and with whatever type they are written.

An ini file knows texts alone, TOML has types, and pytest reads each of its tables in another
way: what has one clear meaning is taken, everything else is one error that names the key.
"""

from __future__ import annotations

import json
import shlex
import tomllib
import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

# A value of every key, as TOML spells it. Those of the keys of one value are valid ini, too.
EXAMPLES = {
    "rope_contract_models": '["scripts/models/*.py"]',
    "rope_contract_pythonpath": '["src"]',
    "rope_contract_arguments": '["framework.arguments:add_arguments"]',
    "rope_contract_defaults": '["framework.arguments:set_defaults"]',
    "rope_contract_stubs": '["framework.arguments:validate"]',
    "rope_contract_base_args": '["--bf16"]',
    "rope_contract_pins": '["moe_permute_fusion=False"]',
    "rope_contract_checkpoints": '["tests/checkpoints/{model}.json"]',
    "rope_contract_launchers": '["scripts/run-*.sh"]',
    "rope_contract_training": '["*train*"]',
    "rope_contract_launch_environment": '["NODES=2"]',
    "rope_contract_launch_answers": '["nvidia-smi topo -m = NV18"]',
    "rope_contract_allow": '["kimi-* implicit-field the checkpoint has no YaRN"]',
    "rope_contract_surface": '"auto"',
    "rope_contract_parser": '"framework.arguments:parse_args"',
    "rope_contract_rotary": '"framework.model:rotary"',
    "rope_contract_examples": "100",
    "rope_contract_snapshots": '"tests/rope_snapshots"',
    "rope_contract_unknown": '"drop"',
    "rope_contract_time_limit": "20",
    "rope_contract_strict": "true",
}
TRUTHS = {
    **dict.fromkeys(("1", "true", "yes", "y", "t", "on"), True),
    **dict.fromkeys(("0", "false", "no", "n", "f", "off"), False),
}


def lines(config: pytest.Config, name: str) -> tuple[str, ...]:
    """Return the lines of a key that is a list; a text is divided at its line breaks.

    Raises:
        pytest.UsageError: It is something else.
    """
    value = _value(config, name)
    listed = value.splitlines() if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise _error(name, value, "a list of texts")
    return tuple(stripped for line in listed if (stripped := line.strip()))


def tokens(config: pytest.Config, name: str) -> tuple[str, ...]:
    """Return the tokens of a key that is part of a command line; a text is divided as by a shell.

    Raises:
        pytest.UsageError: It is something else.
    """
    value = _value(config, name)
    try:
        listed = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise _refused(name, error) from None
    if not isinstance(listed, list):
        raise _error(name, value, "a list of tokens")
    found = [_number(one) for one in listed]
    if None in found:
        raise _error(name, value, "a list of tokens")
    return tuple(str(one) for one in found)


def text(config: pytest.Config, name: str) -> str | None:
    """Return the text of a key, or None where it has none; a list of one is that one.

    Raises:
        pytest.UsageError: It is something else.
    """
    value = _single(_value(config, name))
    if not isinstance(value, str):
        raise _error(name, value, "a text")
    return value.strip() or None


def number(config: pytest.Config, name: str) -> str | None:
    """Return the text of a key that is a number, or None where it has none.

    Raises:
        pytest.UsageError: It is neither a text nor a number.
    """
    value = _single(_value(config, name))
    found = _number(value)
    if found is None:
        raise _error(name, value, "a number")
    return found.strip() or None


def truth(config: pytest.Config, name: str) -> bool:
    """Return whether a key is true, as pytest reads it from an ini file.

    Raises:
        pytest.UsageError: It is neither true nor false.
    """
    value = _single(_value(config, name))
    found = None if isinstance(value, float) else TRUTHS.get(str(value).strip().lower())
    if found is None:
        raise pytest.UsageError(
            f"{name}: {_shown(value)} is neither true nor false\n"
            f"  remedy: write {name} = {EXAMPLES[name]}"
        )
    return found


def _single(value: Any) -> Any:
    """Return the only element of a list, an empty text in place of an empty one."""
    if isinstance(value, list) and len(value) <= 1:
        return value[0] if value else ""
    return value


def _number(value: Any) -> str | None:
    """Return a text, or a number as a text, and None of everything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _value(config: pytest.Config, name: str) -> Any:
    """Return what a key holds; pytest itself refuses a value of TOML that has another type."""
    try:
        with warnings.catch_warnings():
            # Of a list in the place of a text; what it means is decided here.
            warnings.simplefilter("ignore")
            return config.getini(name)
    except (TypeError, ValueError, pytest.UsageError) as error:
        given = _native(config, name)
        if given is None:
            raise _refused(name, error) from None
        return given


def _native(config: pytest.Config, name: str) -> Any:
    """Return what a key holds in the table of TOML that has types, or None."""
    overridden: Sequence[str] = config.getoption("override_ini", None) or ()
    if config.inipath is None or any(one.partition("=")[0].strip() == name for one in overridden):
        return None
    try:
        document = tomllib.loads(config.inipath.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # an ini file
    for table in (document.get("pytest"), document.get("tool", {}).get("pytest")):
        if isinstance(table, dict) and name in table:
            return table[name]
    return None


def _error(name: str, value: Any, wanted: str) -> pytest.UsageError:
    return pytest.UsageError(
        f"{name}: {_shown(value)} is not {wanted}\n  remedy: write {name} = {EXAMPLES[name]}"
    )


def _refused(name: str, error: Exception) -> pytest.UsageError:
    said = str(error)
    return pytest.UsageError(
        f"{said if name in said else f'{name}: {said}'}\n  remedy: write {name} = {EXAMPLES[name]}"
    )


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else json.dumps(value, default=str)
