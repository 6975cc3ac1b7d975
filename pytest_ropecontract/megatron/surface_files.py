"""Surfaces as JSON files: those of this package, and others."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ropecontract import reading
from pytest_ropecontract.megatron.surface import Surface, SurfaceError, is_record
from pytest_ropecontract.megatron.surface_reader import MalformedError, check_characters, read

if TYPE_CHECKING:
    from collections.abc import Mapping

# importlib.resources would take longer to import than a surface takes to read.
FOLDER = Path(__file__).with_name("surfaces")
SCHEMA = 1
NEWEST = "megatron-core-0.19.2"
SIZE_LIMIT = 8 * 1024 * 1024


def shipped() -> tuple[str, ...]:
    """Return the names of the surfaces that are part of this package, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def load_shipped(name: str) -> Surface:
    """Load a surface that is part of this package.

    Raises:
        SurfaceError: There is no surface of this name.
    """
    if name not in shipped():
        raise SurfaceError(
            f"no surface is named {name!r}",
            details=[f"shipped: {', '.join(shipped())}"],
            remedy="name a shipped surface, a JSON file, 'live' or 'auto'",
        )
    return parse((FOLDER / f"{name}.json").read_text(encoding="utf-8"), f"{name}.json")


_REMEDY = "record it anew: ropecontract surface record -o FILE"


def load_file(path: Path) -> Surface:
    """Load a surface from a JSON file made by ``ropecontract surface record``.

    Raises:
        SurfaceError: The file cannot be read, or is no surface of this schema.
    """
    try:
        text = reading.read(path, SIZE_LIMIT).decode("utf-8")
    except reading.TooLargeError:
        raise SurfaceError(
            f"surface {path.name} is too large: more than {SIZE_LIMIT} bytes",
            origin=str(path),
            remedy=_REMEDY,
        ) from None
    except reading.NotAFileError as error:
        raise SurfaceError(
            f"surface {path.name} is {error}, not a file", origin=str(path), remedy=_REMEDY
        ) from None
    except UnicodeDecodeError:
        raise SurfaceError(
            f"surface {path.name} is not UTF-8 text", origin=str(path), remedy=_REMEDY
        ) from None
    except OSError as error:
        raise SurfaceError(
            f"surface {path.name} cannot be read: {error.strerror}",
            origin=str(path),
            remedy="name a file made by ropecontract surface record -o FILE",
        ) from None
    return parse(text, path.name)


def parse(text: str, name: str) -> Surface:
    """Read a surface from JSON text.

    Args:
        text: The JSON document.
        name: What to call it in errors.

    Raises:
        SurfaceError: Not JSON, cut off, of another schema, or with a field that is
            missing or of the wrong type.
    """
    try:
        document = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except json.JSONDecodeError as error:
        cut = text.lstrip().startswith("{") and not text.rstrip().endswith("}")
        state = "is cut off" if cut else "is not JSON"
        raise SurfaceError(
            f"surface {name} {state} at line {error.lineno}: {error.msg}", remedy=_REMEDY
        ) from None
    except RecursionError:
        raise SurfaceError(f"surface {name} is nested too deeply", remedy=_REMEDY) from None
    except ValueError as error:
        # Of a number that is too long, Python also says how to read it nevertheless.
        reason = "it has too many digits" if "digits" in str(error) else error
        raise SurfaceError(
            f"surface {name} has an unusable number: {reason}", remedy=_REMEDY
        ) from None
    if not isinstance(document, dict):
        raise SurfaceError(
            f"surface {name} is a {type(document).__name__}, not an object", remedy=_REMEDY
        )
    schema = document.get("schema")
    if schema != SCHEMA or type(schema) is not int:
        raise SurfaceError(
            f"surface {name} has schema {schema!r}, this version reads {SCHEMA}",
            remedy=_REMEDY,
        )
    try:
        check_characters(text, document)
        return read(document)
    except MalformedError as error:
        raise SurfaceError(f"surface {name} is malformed: {error}", remedy=_REMEDY) from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number


def dump(surface: Surface) -> str:
    """Return a surface as JSON text, the same for the same surface."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "name": surface.name,
        "version": surface.version,
        "fingerprint": surface.fingerprint,
        "source": _slim(surface.source),
        "enums": {name: dict(members) for name, members in sorted(surface.enums.items())},
        "options": [_slim(option) for option in surface.options],
        "edits": [_slim(edit) for edit in surface.edits],
        "refusals": [_slim(refusal) for refusal in surface.refusals],
        "classes": [_slim(one) for one in surface.classes],
        "extras": [_slim(one) for one in surface.extras],
        "paths": [_slim(path) for path in surface.paths.values()],
        "rules": [_slim(rule) for rule in surface.rules],
    }
    return _Writer().document(document)


class _Writer:
    """Writes one record a line: small, and readable as a difference."""

    def document(self, document: Mapping[str, Any]) -> str:
        parts = []
        for key, value in document.items():
            if isinstance(value, list):
                lines = ",\n  ".join(self.line(item) for item in value)
                parts.append(f' "{key}": [\n  {lines}\n ]' if value else f' "{key}": []')
            else:
                parts.append(f' "{key}": {self.line(value)}')
        return "{\n" + ",\n".join(parts) + "\n}\n"

    def line(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _slim(record: Any) -> Any:
    """Turn records into JSON values, leaving out what equals the record's defaults."""
    if isinstance(record, dict):
        return {name: _slim(value) for name, value in record.items()}
    if is_record(record):
        return {
            name: _slim(value)
            for name, value in record._asdict().items()
            if not _is_default(record, name, value)
        }
    if isinstance(record, list | tuple):
        return [_slim(value) for value in record]
    return record


def _is_default(record: Any, name: str, value: Any) -> bool:
    if name not in record._field_defaults:
        return False
    default = record._field_defaults[name]
    return type(value) is type(default) and bool(value == default)
