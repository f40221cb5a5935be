"""Pages in Chromium: requests, errors, widths, sorting, folding, hostile names."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import irmeta
from irmeta.report.html_page import Block, Page, Picture, render
from irmeta.report.table_grid import ABSENT, Cell, Grid, Head
from support.browser import Browser, chromium
from support.making import Track, down
from support.written import WRITTEN

pytestmark = pytest.mark.exhaustive

CALL = "<script>window.hostile=1;<!--"
CLOSE = "</style></script></title><img src=x onerror=window.hostile=1>"
NAMES = (CALL, "\"quoted'&amp;", "نظام\u202eabc", "w" * 200, "<b>bold")
HEIGHT = 30  # of a figure that only takes space
SVG = (
    f'<svg width="520" height="{HEIGHT}" viewBox="0 0 520 {HEIGHT}" '
    'xmlns="http://www.w3.org/2000/svg"><text y="20" font-size="11">text</text></svg>'
)

# Each expression returns what is wrong.
WIDER = "[innerWidth, document.documentElement.scrollWidth].filter((w, _, [i]) => w > i)"
LOST_LINKS = """[...document.querySelectorAll("a[href^='#']")].map(a => a.hash.slice(1))
    .filter(id => !document.getElementById(decodeURIComponent(id)))"""
REPEATED_IDS = """[...document.querySelectorAll("[id]")].map(e => e.id)
    .filter((id, i, ids) => ids.indexOf(id) < i)"""
UNNAMED = """[...document.querySelectorAll("svg:not([aria-hidden]), img, nav, section, ul.notes")]
    .filter(e => !["aria-label", "aria-labelledby", "alt"].some(a => e.getAttribute(a)))
    .map(e => e.outerHTML.slice(0, 99)).filter(text => !text.includes('></svg>'))"""
PALE = """(() => {
    const shade = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).map(c => c / 255)
        .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b; };
    const behind = (e) => { for (; e; e = e.parentElement) {
        const c = getComputedStyle(e).backgroundColor; if (c !== "rgba(0, 0, 0, 0)") return c; } };
    const found = new Set();
    for (const e of document.querySelectorAll("body :not(svg, svg *, script)"))
        if ([...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
            found.add(getComputedStyle(e).color + " on " + behind(e));
    return [...found].filter(pair => { const [a, b] = pair.split(" on ").map(shade);
        return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5; });
})()"""
LEVELS = "[...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1])"
OPENED = "document.querySelectorAll('details').forEach(d => d.open = true)"
CENTRE = """(element => {{ element.scrollIntoView(); const r = element.getBoundingClientRect();
    return [r.x + r.width / 2, r.y + r.height / 2]; }})({0})"""
WORDS = "[...document.querySelectorAll('svg text')].map(e => e.textContent)"
DRAWN = """new Promise(done => { const look = () => document.querySelector("svg .mark-rect path")
    ? requestAnimationFrame(() => requestAnimationFrame(done)) : requestAnimationFrame(look);
    look(); })"""
COLUMN = "[...document.querySelectorAll('tbody tr')].map(r => r.cells[{0}].textContent)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium, started once; tests are skipped where it is absent."""
    program = chromium()
    if program is None:
        pytest.skip("needs Chromium, which is not on the path (CHROME_BIN names another)")
    try:
        started = Browser(program, tmp_path_factory.mktemp("profile"))
    except OSError as error:  # such as the stand-in of a distribution that has only a snap
        pytest.skip(f"needs Chromium, and {program} does not start: {error}")
    with started:
        yield started


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a track whose names are markup, right to left, or very long."""
    folder = tmp_path_factory.mktemp("hostile")
    docs = [f"{name}{i}" for name in NAMES for i in range(3)]
    runs = {name: {q: down(*docs[i:], *docs[:i]) for q in NAMES} for i, name in enumerate(NAMES)}
    qrels = {q: {doc: i % 2 for i, doc in enumerate(docs)} for q in NAMES}
    Track(runs, qrels, name=f"{NAMES[1]}{CALL}").write(folder / "in")
    irmeta.reanalyze(folder / "in", folder / "out", measures=["AP", "ASL"])
    return folder / "out" / "report.html"


def page_of(folder: Path, *items: Grid | Picture, **given: Any) -> Path:
    """Write a page with a section of some items."""
    file = folder / "page.html"
    file.write_text(render(Page(CLOSE, CLOSE, {}, [Block(CLOSE, items=items)], **given)), "utf-8")
    return file


def assert_sound(browser: Browser, page: Path) -> None:
    """Check what holds for every page; it is open at 1280 pixels."""
    assert browser.requests() == [page.resolve().as_uri()]
    assert browser.errors() == []
    assert browser.run("document.documentElement.lang") == "en"
    assert browser.run("document.title") == browser.run("document.querySelector('h1').textContent")
    levels = browser.run(LEVELS)
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert max(b - a for a, b in zip(levels, [*levels[1:], 1], strict=True)) <= 1
    browser.run(OPENED)
    for wrong in (LOST_LINKS, REPEATED_IDS, UNNAMED, PALE):
        assert browser.run(wrong) == [], wrong
    for width in (1280, 900, 400):
        browser.resize(width)
        assert browser.run(WIDER) == [], width


@pytest.mark.parametrize("name", WRITTEN)
def test_report__is_sound_in_a_browser(browser: Browser, written: Path, name: str):
    page = written / name / "report.html"
    browser.open(page)
    assert_sound(browser, page)
    links = browser.run(
        "[...document.querySelectorAll('.files a')].map(a => a.getAttribute('href'))"
    )
    assert links
    assert [link for link in links if not (page.parent / unquote(link)).exists()] == []


def test_report__hostile_names_stay_text(browser: Browser, hostile: Path):
    browser.open(hostile)
    assert_sound(browser, hostile)
    assert browser.run("typeof window.hostile") == "undefined"
    assert browser.run("document.scripts.length") == 1
    assert browser.run("document.querySelectorAll('body b:not(td b)').length") == 0
    text = browser.run("document.body.textContent")
    for name in NAMES:
        drawn = name.replace("\u202e", "\ufffd")
        assert drawn in text, name


def test_report__figures_are_legible_at_each_width(browser: Browser, hostile: Path):
    browser.open(hostile)
    assert browser.run("document.querySelectorAll('figure svg').length") > 3
    for width in (400, 900, 1280):
        browser.resize(width)
        scales = browser.run(
            "[...document.querySelectorAll('figure svg')]"
            ".map(e => e.getBoundingClientRect().width / e.getAttribute('width'))"
        )
        assert min(scales) >= 0.9, width


# Made pages

TEXTS = ["9", "1,234.6", "\u22120.25", "<0.001", ABSENT, "10", "\u221e", "80%", "0.5 (0.2 to 0.7)"]
DESCENDING = ["\u221e", "1,234.6", "80%", "10", "9", "0.5 (0.2 to 0.7)", "<0.001", "\u22120.25"]
NUMBERS = Grid(
    "t",
    "Numbers.",
    (
        Head("name", "name", is_text=True, group=""),
        Head("value", "value", is_text=False, group="both"),
        Head("range", "range", is_text=False, group="both"),
    ),
    tuple(
        (Cell(f"s{i}"), Cell(text, is_best=text == "9"), Cell("", picture=(0, 50, 100)))
        for i, text in enumerate(TEXTS, 2)
    ),
)


def test_sorting__numbers_by_value_and_missing_values_last(browser: Browser, tmp_path: Path):
    browser.open(page_of(tmp_path, NUMBERS))
    button = "document.querySelectorAll('th button')[1]"
    order = f"{button}.parentElement.getAttribute('aria-sort')"
    values = COLUMN.format(1)
    assert browser.run("document.querySelectorAll('th button').length") == 2  # not of pictures
    browser.run(f"{button}.click()")
    assert browser.run(values) == [*DESCENDING, ABSENT]
    assert browser.run(order) == "descending"
    browser.run(f"{button}.focus()")
    browser.press("Enter", 13)
    assert browser.run(values) == [*DESCENDING[::-1], ABSENT]
    assert browser.run(order) == "ascending"
    browser.press("Enter", 13)
    assert browser.run(values) == TEXTS
    assert browser.run(order) is None


def test_sorting__names_with_numbers_by_value(browser: Browser, tmp_path: Path):
    browser.open(page_of(tmp_path, NUMBERS))
    names = [f"s{i}" for i in range(2, 2 + len(TEXTS))]
    first = "document.querySelector('th button')"
    for expected in (names, names[::-1], names):
        browser.click(*browser.run(CENTRE.format(first)))
        assert browser.run(COLUMN.format(0)) == expected


def test_folding__by_keyboard_and_on_paper(browser: Browser, tmp_path: Path):
    browser.open(page_of(tmp_path, Grid("t", "c", NUMBERS.head, NUMBERS.rows, folded=True)))
    visible = "document.querySelector('table').checkVisibility()"
    assert not browser.run(visible)
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.run(visible)
    browser.call("Emulation.setEmulatedMedia", media="screen")
    browser.run("document.querySelector('summary').focus()")
    browser.press("Enter", 13)
    assert browser.run(visible)
    browser.press("Enter", 13)
    assert not browser.run(visible)


def test_policy__loads_figures_beside_the_page_and_runs_no_other_script(
    browser: Browser, tmp_path: Path
):
    evil = "<svg onload='window.hostile=1'><script>window.hostile=1</script></svg>"
    (tmp_path / "a b.svg").write_text(SVG, "utf-8")
    page = page_of(tmp_path, Picture(SVG, "c", "", "a b.svg"), Picture(evil, "evil"))
    browser.open(page)
    image = "document.querySelector('figure img')"
    assert browser.run(f"{image}.decode().then(() => {image}.naturalHeight)") == HEIGHT
    assert browser.requests() == [page.as_uri(), (tmp_path / "a b.svg").as_uri()]
    assert browser.run("typeof window.hostile") == "undefined"
    assert browser.run("fetch('page.html').then(() => 'sent', () => 'refused')") == "refused"
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.call("Emulation.setEmulatedMedia", features=dark)
    colour = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.call("Emulation.setEmulatedMedia", features=[])
    assert colour == "rgb(255, 255, 255)", "the page has only light colours"


def test_interactive_figure__draws_and_answers_without_a_network(browser: Browser, tmp_path: Path):
    runs = {"s": {"q": down("n", CALL, "n2", "e")}}
    store = Track(runs, {"q": {CALL: 1, "e": 1, "n": 0}}).read()
    bundle, _ = irmeta.SearchLengths(store).browse()._repr_mimebundle_()
    (srcdoc,) = re.findall(r'srcdoc="([^"]*)"', bundle["text/html"])
    file = tmp_path / "figure.html"
    file.write_text(html.unescape(srcdoc), "utf-8")
    browser.open(file)
    browser.run(DRAWN)
    assert CALL not in browser.run(WORDS)
    browser.click(*browser.run(CENTRE.format("document.querySelector('.mark-rect path')")))
    browser.run(DRAWN)
    assert CALL in browser.run(WORDS)
    assert browser.run("typeof window.hostile") == "undefined"
    assert browser.requests() == [file.as_uri()]
    assert browser.errors() == []
