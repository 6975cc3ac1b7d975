"""Renders the page: templates, styles, script and the charts' library, all in one file."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2
import vl_convert

from pytest_ropecontract.contracts.findings import plain
from pytest_ropecontract.report.html import view

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = "files"


def render(report: Mapping[str, Any]) -> str:
    """Return the page of a report: the same for the same report.

    Args:
        report: What the JSON report says.
    """
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plain"] = plain
    shown = view.models(report)
    launchers = view.launchers(report, shown)
    style, script, charts = _file("style.css"), _file("script.js"), _charts_library()
    return environment.get_template("page.html").render(
        report=report,
        models=shown,
        launchers=launchers,
        counts={state: sum(one.state == state for one in shown) for state in view.STATES},
        view=view,
        style=style,
        script=script,
        charts=charts,
        specs={name: json.loads(_file(f"{name}.json")) for name in ("wavelengths", "phases")},
        curves={one.anchor: _curves(one) for one in shown if one.drawn},
        # Nothing but what this page was made with may run in it, or style it.
        policy="; ".join(
            (
                "default-src 'none'",
                f"script-src {_hash(script)} {_hash(charts)}",
                f"style-src-elem {_hash(style)}",
                "style-src-attr 'unsafe-inline'",  # of the drawn charts
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
    )


def _curves(model: view.Model) -> dict[str, Any]:
    """Return what is drawn of a model: numbers of the report as they are, and labels."""
    curves, rope = model.document["curves"], model.document["rope"]
    return {
        "name": model.document["name"],
        "labels": view.labels(curves),
        "curves": curves,
        "length": rope["original_max_position_embeddings"],
    }


def _template(name: str) -> str:
    """Return a template without the white space before its tags, of which a page has much."""
    return re.sub(r"\n\s*(?=<)", "", _file(name))


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(FILES, name).read_text(encoding="utf-8")


@functools.cache
def _charts_library() -> str:
    """Return Vega-Lite with what it needs, as one script; to bundle it takes seconds."""
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed; window.vega = vega;")
    # Within a string of the script this is the same, and the page's parser does not see an end.
    return script.replace("</script", r"<\/script").replace("<!--", r"<\!--")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
