"""The HTML report in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chromium
import pytest
from axe_playwright_python.sync_playwright import Axe
from reports import curve, finding, hostile, launcher, model, report

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Opener
    from playwright.sync_api import Locator, Page

# Bases whose curves are far enough apart to be seen.
CHECKPOINT = curve(
    "checkpoint",
    500000.0,
    differing=[1, 2, 3],
    phase_errors=[[1, 0.25], [2, 0.5], [4, 1.0]],
    effect="3 of 4 frequencies differ",
)


def several() -> dict[str, Any]:
    """Return a report with a model of every state and everything that can be shown."""
    return report(
        model("failed", findings=[finding(), finding(status="note")]),
        model("allowed", findings=[finding(status="allowed", reason="because")]),
        model("bare", contracts=None, omissions=None, curves=[curve("resolved")]),
        model("drawn", curves=[curve("resolved"), curve("expected"), CHECKPOINT]),
        model("broken", error="it broke", rope=None, curves=[], sources={}, origins={}),
        launchers=[
            launcher("fine.sh"),
            launcher("wrong.py::run", error="it broke", findings=[finding()], missing_layers=["-"]),
        ],
    )


def names(page: Page) -> list[str]:
    return page.locator("#models tbody tr:visible th").all_inner_texts()


def open_model(page: Page, name: str) -> Locator:
    """Open a model, and wait until its charts are drawn."""
    page.click(f'a[href="#model-{name}"]')
    shown = page.locator(f"#model-{name}")
    for chart in shown.locator("[data-chart]").all():
        chart.locator("svg").wait_for()
    return shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_no_barrier(opened: Opener, scheme: str, width: int) -> None:
    page = opened(several(), color_scheme=scheme, viewport={"width": width, "height": 900})
    page.click("#open-all")
    open_model(page, "drawn")
    for launched in page.locator("details.launcher > summary").all():
        launched.click()
    for numbers in page.locator("#model-drawn .numbers > summary").all():
        numbers.click()

    found = Axe().run(page).response["violations"]

    assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found] == []


def test_every_kind_of_check_ran(opened: Opener) -> None:
    page = opened(several())
    page.evaluate("document.querySelector('label[for=filter]').remove()")
    page.evaluate("document.querySelector('#filter').removeAttribute('placeholder')")

    found = Axe().run(page).response["violations"]

    assert "label" in [one["id"] for one in found]


def test_narrow_pages_do_not_scroll_sideways(opened: Opener) -> None:
    page = opened(several(), viewport={"width": 400, "height": 900})
    page.click("#open-all")
    open_model(page, "drawn")
    for launched in page.locator("details.launcher > summary").all():
        launched.click()

    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_filter_by_words_says_how_many_are_left(opened: Opener) -> None:
    page = opened(several())

    page.fill("#filter", "ALLOWED expect")

    assert names(page) == ["allowed"]
    assert page.locator("[role=status]").inner_text() == "1 of 5 models"
    assert page.locator("[id^=model-]:visible").count() == 1


def test_filter_by_verdict(opened: Opener) -> None:
    page = opened(several())

    page.select_option("#state", label="Failed")

    assert names(page) == ["broken", "failed"]


def test_sorting_is_told_and_turns(opened: Opener) -> None:
    models = [model(f"m{base}", rope={**model()["rope"], "rotary_base": base}) for base in (9, 80)]
    page = opened(report(*models, model("none", rope=None, curves=[], sources={}, origins={})))
    head = page.get_by_role("columnheader", name="Base")

    head.get_by_role("button").click()
    ascending = names(page), head.get_attribute("aria-sort")
    head.get_by_role("button").click()

    # As numbers; what has no value is last.
    assert ascending == (["m9", "m80", "none"], "ascending")
    assert (names(page), head.get_attribute("aria-sort")) == (["m80", "m9", "none"], "descending")
    assert page.locator("th[aria-sort]").count() == 1


def test_a_model_is_opened_with_the_keyboard(opened: Opener) -> None:
    page = opened(several())

    page.locator('a[href="#model-drawn"]').focus()
    page.keyboard.press("Enter")

    page.locator("#model-drawn[open]").wait_for()
    assert page.evaluate("document.activeElement.parentElement.id") == "model-drawn"
    page.keyboard.press("Enter")
    assert not page.locator("#model-drawn").evaluate("one => one.open")


def test_a_link_to_a_model_opens_it(opened: Opener) -> None:
    page = opened(several())
    page.evaluate("location.hash = '#model-allowed'")

    page.locator("#model-allowed[open]").wait_for()


def test_focus_is_seen(opened: Opener) -> None:
    page = opened(several())
    page.keyboard.press("Tab")

    style = page.evaluate(
        "(() => { const one = getComputedStyle(document.activeElement);"
        " return [one.outlineStyle, one.outlineWidth] })()"
    )
    assert style == ["solid", "2px"]


@pytest.mark.parametrize("models", [[], [model("plain")]], ids=["alone", "beside-models"])
def test_a_launcher_is_opened_by_its_link(opened: Opener, models: list[dict[str, Any]]) -> None:
    page = opened(report(*models, launchers=[launcher("scripts/run.py::execute")]))

    page.get_by_role("link", name="scripts/run.py::execute").click()

    shown = page.locator("details.launcher[open]")
    shown.get_by_text("torchrun train.py --lr 1").wait_for()


def ground(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_theme_is_the_systems_until_another_is_chosen(opened: Opener) -> None:
    page = opened(several(), color_scheme="dark")
    dark = ground(page)
    page.emulate_media(color_scheme="light")
    light = ground(page)

    page.get_by_label("Theme").select_option("Dark")

    assert light != dark
    assert ground(page) == dark
    page.reload()
    assert ground(page) == dark
    page.get_by_label("Theme").select_option("System")
    assert ground(page) == light


def test_paper_is_white(opened: Opener) -> None:
    page = opened(several(), color_scheme="dark")
    page.get_by_label("Theme").select_option("Dark")

    page.emulate_media(media="print")

    assert ground(page) == "rgb(255, 255, 255)"
    assert not page.locator("#filter").is_visible()


def test_nothing_moves_for_those_who_do_not_want_it(opened: Opener) -> None:
    page = opened(several(), reduced_motion="reduce")

    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def numbers(shown: Locator, kind: str) -> list[list[str]]:
    shown.locator(f"[data-numbers={kind}] > summary").click()
    rows = shown.locator(f"[data-numbers={kind}] tr")
    rows.first.wait_for()
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def test_numbers_beside_the_chart_are_those_of_the_report(opened: Opener) -> None:
    curves = [curve("resolved"), curve("expected"), CHECKPOINT]
    page = opened(report(model("drawn", curves=curves)))

    head, *rows = numbers(open_model(page, "drawn"), "wavelengths")

    assert head == ["pair", "resolved", "expected", "checkpoint", "differs"]
    assert [[float(cell) for cell in row[1:4]] for row in rows] == [
        [one["wavelengths"][pair] for one in curves] for pair in range(4)
    ]
    assert [row[4] for row in rows] == ["no", "yes", "yes", "yes"]


def test_phases_beside_the_chart_are_those_of_the_report(opened: Opener) -> None:
    page = opened(report(model("drawn", curves=[curve("resolved"), CHECKPOINT])))

    head, *rows = numbers(open_model(page, "drawn"), "phases")

    assert head == ["position", "checkpoint"]
    assert [[float(cell) for cell in row] for row in rows] == CHECKPOINT["phase_errors"]


def test_a_chart_says_what_it_shows_and_marks_what_differs(opened: Opener) -> None:
    page = opened(report(model("drawn", curves=[curve("resolved"), CHECKPOINT])))

    chart = open_model(page, "drawn").locator("[data-chart=wavelengths]")

    said = chart.get_attribute("aria-label") or ""
    assert "checkpoint: 3 of 4 frequencies differ" in said
    assert chart.get_attribute("role") == "img"
    marks = chart.locator("path[stroke='var(--fail)']")
    assert marks.count() == 3
    assert sorted(chart.locator(".role-legend-label text").all_text_contents()) == [
        "checkpoint",
        "resolved",
    ]


def test_where_no_phase_is_off_none_is_drawn(opened: Opener) -> None:
    page = opened(report(model("drawn", curves=[curve("resolved"), curve("expected")])))

    shown = open_model(page, "drawn")

    assert shown.locator("[data-chart]").count() == 1
    assert shown.get_by_text("No phase is off at any position.").is_visible()


def test_charts_wait_until_their_model_is_opened(opened: Opener) -> None:
    page = opened(several())

    assert page.locator("svg").count() == 0
    assert not page.evaluate("'vega' in window")


def test_pairs_that_never_turn_leave_a_gap(opened: Opener) -> None:
    resolved = curve("resolved", wavelengths=[6.5, 60.5, None, None])
    page = opened(report(model("drawn", curves=[resolved])))

    _, *rows = numbers(open_model(page, "drawn"), "wavelengths")

    assert [row[1] for row in rows] == ["6.5", "60.5", "\u2013", "\u2013"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>window.ran = 1</script>",
        "</script><script>window.ran = 1</script>",
        "<img src=x onerror='window.ran = 1'>",
        "'\"><svg onload='window.ran = 1'>",
        "<!--<script>\u2028window.ran = 1",
    ],
)
def test_nothing_of_a_project_runs(opened: Opener, text: str) -> None:
    page = opened(hostile(text))
    page.click("#open-all")
    page.locator("[data-chart] svg").first.wait_for()
    for summary in page.locator(".numbers > summary").all():
        summary.click()

    assert page.evaluate("window.ran") is None
    assert page.locator("main img, main svg[onload], main script").count() == 0
    assert text in page.locator("h3").first.inner_text().replace("\n", "\u2028")


def test_policy_refuses_what_was_put_into_the_page(opened: Opener) -> None:
    page = opened(several())

    refused = page.evaluate(
        """new Promise((resolve) => {
            addEventListener(
                "securitypolicyviolation", (event) => resolve(event.violatedDirective)
            );
            const script = document.createElement("script");
            script.textContent = "window.ran = 1";
            document.head.append(script);
        })"""
    )

    assert refused == "script-src-elem"
    assert page.evaluate("window.ran") is None
    (message,) = opened.wrong
    assert "Content Security Policy" in message
    opened.wrong.clear()


def test_values_are_there_without_scripts(opened: Opener) -> None:
    page = opened(several(), java_script_enabled=False)

    page.locator("#model-failed > summary").click()

    assert page.locator("#model-failed").get_by_text("declare --rotary-base 5").first.is_visible()
    assert not page.locator("#filter").is_visible()


def test_two_hundred_models(opened: Opener) -> None:
    page = opened(report(*(model(f"m{index}") for index in range(200))))

    page.fill("#filter", "m19")

    assert len(names(page)) == 11
    assert page.locator("[role=status]").inner_text() == "11 of 200 models"


@pytest.mark.parametrize(
    ("required", "outcome"), [(None, pytest.skip.Exception), ("1", pytest.fail.Exception)]
)
def test_without_chromium(
    required: str | None,
    outcome: type[BaseException],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine without a browser skips these tests, unless one has to be there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(chromium.REQUIRED, raising=False)
    if required is not None:
        monkeypatch.setenv(chromium.REQUIRED, required)

    with pytest.raises(outcome, match="these tests need Chromium on PATH: apt-get install"):
        chromium.path()
