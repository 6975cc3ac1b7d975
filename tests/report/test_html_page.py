"""The page itself: what is on it, that it is escaped, and that it is the same every time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from html.parser import HTMLParser
from importlib import resources
from typing import Any

import pytest
from reports import curve, finding, hostile, launcher, model, report

from pytest_ropecontract.report import html
from pytest_ropecontract.report.html.page import render
from pytest_ropecontract.report.html.view import labels
from pytest_ropecontract.snapshots.tokens import argv_lines, quoted

NASTY = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "-->",
    "]]>",
    "\"' onmouseover=alert(1) x='",
    "</style><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "a\u2028b\u2029c",
    "&lt;b&gt; &amp;",
    "javascript:alert(1)",
    "</template></details></main>",
)


class Page(HTMLParser):
    """What a page consists of: its tags with their attributes, its texts, its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str | None, str] = {}
        self.texts: list[str] = []
        self._within: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within = tag

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._within = None

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            identity = self.tags[-1][1].get("id")
            self.scripts[identity] = self.scripts.get(identity, "") + data
        elif self._within != "style":
            self.texts.append(data)

    def attributes(self, name: str) -> list[str | None]:
        return [attrs[name] for _, attrs in self.tags if name in attrs]


def tags(page: Page) -> list[str]:
    return [tag for tag, _ in page.tags]


def test_numbers_of_the_charts_are_those_of_the_report() -> None:
    one = model(curves=[curve("resolved", 1234.5), curve("expected", 7.25, differing=[1, 2])])

    shown = json.loads(Page(render(report(one))).scripts["curves"])

    assert shown["model-plain"]["curves"] == one["curves"]


def test_a_model_without_curves_has_no_charts() -> None:
    page = Page(render(report(model(rope=None, origins={}, sources={}, curves=[]))))

    assert json.loads(page.scripts["curves"]) == {}
    assert page.attributes("data-chart") == []


def test_failures_come_first() -> None:
    models = [
        model("a-fine"),
        model("b-bare", contracts=None),
        model("b-unrun", contracts=None, contracts_not_run=1),
        model("c-allowed", findings=[finding(status="allowed")]),
        model("d-failed", findings=[finding()]),
        model("e-broken", error="broken"),
    ]

    page = Page(render(report(*models)))

    shown = [name.removeprefix("model-") for name in page.attributes("data-model") if name]
    assert shown == ["d-failed", "e-broken", "c-allowed", "b-bare", "b-unrun", "a-fine"]


def test_every_finding_with_what_to_type() -> None:
    found = finding(remedy="declare --this", effect="4 of 4 differ", details=["base: 1 -> 2"])

    texts = Page(render(report(model(findings=[found])))).texts

    for text in ("declare --this", "4 of 4 differ", "base: 1 -> 2", found["message"], "Failed"):
        assert text in texts


def test_a_changed_snapshot_fails_the_model_and_is_shown() -> None:
    page = Page(render(report(model("a"), model("b", snapshot="--rotary-base 1 became 2"))))

    assert page.attributes("data-model") == ["model-b", "model-a"]
    assert "FAILED snapshot" in page.texts
    assert "--rotary-base 1 became 2" in page.texts


def test_way_of_a_value_from_the_flag_to_the_rotary_class() -> None:
    source = {"text": "--rotary-base 1", "flag": "--rotary-base", "dest": "base"}
    source |= {"attribute": "rotary_base", "argument": "theta"}

    page = Page(render(report(model(sources={"rotary_base": source}))))

    at = page.texts.index("rotary_base")
    assert page.texts[at : at + 7] == [
        *("rotary_base", "10000", "declared", "--rotary-base 1", "args.base"),
        *("config.rotary_base", "Rotary(theta)"),
    ]


def test_way_of_a_value_that_was_filled_names_the_function() -> None:
    source = {"text": "frame:fill", "flag": "--rotary-base", "dest": "base"}
    source |= {"attribute": None, "argument": None}
    one = model(sources={"rotary_base": source}, origins={"rotary_base": "filled"})

    texts = Page(render(report(one))).texts

    at = texts.index("--rotary-base not given")
    assert texts[at : at + 3] == ["--rotary-base not given", "filled by frame:fill", "args.base"]


def test_values_that_are_not_declared_are_marked_with_their_origin() -> None:
    page = Page(render(report(model(origins={"rotary_base": "config-default"}))))

    assert page.attributes("title") == ["config-default"]


def test_curves_of_one_kind_are_numbered() -> None:
    curves = [curve("resolved"), curve("expected"), curve("expected"), curve("checkpoint")]

    assert labels(curves) == ["resolved", "expected 1", "expected 2", "checkpoint"]


@pytest.mark.parametrize("text", NASTY)
def test_nothing_of_a_project_is_more_than_text(text: str) -> None:
    page, harmless = Page(render(hostile(text))), Page(render(hostile("harmless")))

    assert tags(page) == tags(harmless)
    names = [sorted(attrs) for _, attrs in page.tags]
    assert names == [sorted(attrs) for _, attrs in harmless.tags]
    assert page.scripts.keys() == harmless.scripts.keys()
    assert [page.scripts[one] for one in (None, "charts", "specs")] == [
        harmless.scripts[one] for one in (None, "charts", "specs")
    ]
    # It is there nevertheless, as it is.
    assert text in page.texts
    (drawn,) = json.loads(page.scripts["curves"]).values()
    assert drawn["name"] == text


@pytest.mark.parametrize("name", ["a b", "a/", "/b", "é", "<b>", "", "javascript:"])
def test_names_that_are_no_anchors_get_one(name: str) -> None:
    page = Page(render(report(model(name))))

    (link,) = (href for href in page.attributes("href") if href and href.startswith("#model"))
    assert re.fullmatch(r"#models?-[\w.+-]+", str(link))
    assert str(link)[1:] in page.attributes("id")


def test_the_page_asks_for_nothing() -> None:
    page = Page(render(report(model())))

    assert page.attributes("src") == []
    assert [href for href in page.attributes("href") if not str(href).startswith("#")] == []
    assert not {"link", "img", "iframe", "object", "embed"} & set(tags(page))
    assert "url(" not in render(report()).partition("<body>")[0]


def test_policy_allows_the_pages_own_scripts_alone() -> None:
    page = Page(render(report(model())))

    (policy,) = (attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs)
    digests = [
        f"'sha256-{base64.b64encode(hashlib.sha256(page.scripts[one].encode()).digest()).decode()}'"
        for one in (None, "charts")
    ]
    assert str(policy).split("; ")[:2] == [
        "default-src 'none'",
        f"script-src {' '.join(digests)}",
    ]


def test_same_report_same_page() -> None:
    one = report(model("b"), model("a"))

    assert render(one) == render(one)
    assert render(one) == render(json.loads(json.dumps(one)))


def test_launchers_with_what_they_build_and_what_is_wrong() -> None:
    failed = launcher("run.sh", findings=[finding(remedy="launch its own flags")])
    broken = launcher("broken.py::run", error="it cannot be recorded", training=[])

    page = Page(render(report(model(), launchers=[launcher("fine.sh"), failed, broken])))

    shown = page.attributes("data-launcher")
    assert shown == ["launcher-broken.py::run", "launcher-run.sh", "launcher-fine.sh"]
    assert set(shown) < set(page.attributes("id"))
    commands = "nvidia-smi topo\ntorchrun train.py --lr 1"
    for text in ("launch its own flags", "it cannot be recorded", commands):
        assert text in page.texts
    at = page.texts.index("Trains ")
    # The model that is trained is linked, and what is built has the overview's columns.
    assert page.texts[at + 1] == "plain"
    assert "20000" in page.texts[at:]
    assert page.attributes("href").count("#model-plain") == 3


ODD = ["--freq", "[0]*3+[1]*58", "-x", "1", "--shift", "-1.5", "--text", "two words"]


def test_command_lines_are_those_of_snapshots() -> None:
    """Whoever copies one gives bash the same tokens, and one line is one flag."""
    launched = launcher(commands=[ODD])
    launched["training"][0]["argv"] = ODD
    page = Page(render(report(model(argv=ODD), launchers=[launched])))

    shown = sorted(text for text in page.texts if text.startswith("--freq "))

    lines = "\n".join(argv_lines(ODD))
    assert lines.splitlines()[1:3] == ["-x 1", "--shift -1.5"]
    assert shown == sorted([lines, lines, " ".join(map(quoted, ODD))])
    assert all(shlex.split(text) == ODD for text in shown)


def test_model_without_flags_shows_none() -> None:
    assert "# no flags" not in render(report(model(argv=[])))


def test_every_colour_is_declared_once() -> None:
    """By day and by night: two lists of colours would come apart."""
    style = (resources.files(html) / "files/style.css").read_text(encoding="utf-8")
    declared = re.findall(r"(?<![\w-])(--[\w-]+):", style)

    assert "--ground" in declared
    assert len(declared) == len(set(declared))


def test_launchers_of_a_run_without_models() -> None:
    page = Page(render(report(launchers=[launcher()])))

    assert "No model was checked in this run." in page.texts
    assert page.attributes("data-launcher") == ["launcher-scripts/run.sh"]
    # A model that is not on the page is named, not linked.
    assert not [one for one in page.attributes("href") if str(one).startswith("#model")]


def test_a_page_without_launchers_does_not_speak_of_them() -> None:
    assert "Launchers" not in Page(render(report(model()))).texts


def test_the_page_of_no_model_says_so() -> None:
    page = Page(render({**report(), "surface": {"name": None, "version": None, "mode": None}}))

    assert "No model was checked in this run." in page.texts
    assert "table" not in tags(page)


def test_identities_are_unique() -> None:
    models = [model(name) for name in ("a", "3", "?")]
    several = [launcher(name) for name in ("a", "3", "?", "a/b.sh", "a-b.sh")]

    found: list[Any] = Page(render(report(*models, launchers=several))).attributes("id")

    assert len(found) == len(set(found))
