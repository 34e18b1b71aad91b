"""`<file-selector modal>`: a sheet above the page, which fills a telephone; and the words and pictures in it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from conftest import OpenPage
from person import violations
from sandbox import artefact
from selector_page import ALL, MANY, MODULE, SAMPLES, SelectorServer, choose_own, heard, options, overflow, own, serving

CATALOGUE: dict[str, Any] = json.loads((MODULE / "Words/Strings.xcstrings").read_text())["strings"]
LOCALES = sorted({tag for entry in CATALOGUE.values() for tag in entry["localizations"]})
LONG = "a-family-of-genomes-with-a-very-long-name-that-does-not-fit-on-one-line-of-a-telephone-nor-on-two-of-them-and-ends-here.vcf.gz"


@pytest.fixture(scope="module")
def server() -> Iterator[SelectorServer]:
    with serving() as one:
        one.answer("all", ALL)
        one.answer("long", [own("1", LONG), *[own(str(n), f"file-{n}.vcf") for n in range(2, 30)], *SAMPLES])
        one.answer("many", MANY)
        yield one


@pytest.fixture
def telephone(open_page: OpenPage) -> Page:
    return open_page(width=390, height=844, reduced_motion="reduce", has_touch=True, is_mobile=True)


def shown(page: Page, server: SelectorServer, which: str = "all", **attributes: str) -> None:
    page.goto(server.url(src=f"/files?{which}", modal="", **attributes))
    page.wait_for_function("window.selector?.shadowRoot?.querySelector('.sheet')")
    page.evaluate("selector.show()")
    expect(page.locator(".card[aria-busy=false]")).to_be_visible()


def browse(page: Page, tab: int = 1) -> None:
    page.locator(".enter").nth(tab).click()
    expect(options(page).first).to_be_visible()


def box(page: Page, part: str) -> dict[str, float]:
    found = page.locator(part).bounding_box()
    assert found
    return dict(found)


# A telephone

def test_the_sheet_fills_a_telephone_and_continue_is_always_in_view(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    shown(page, server)
    assert box(page, ".sheet") == {"x": 0, "y": 0, "width": 390, "height": 844}
    browse(page)
    options(page).first.click()
    go = page.get_by_role("button", name="Continue")
    for top in (0, 200, 100_000):
        page.evaluate("top => { selector.shadowRoot.querySelector('.body').scrollTop = top }", top)
        found = go.bounding_box()
        assert found and found["y"] > 700 and found["y"] + found["height"] <= 844, top
    page.screenshot(path=artefact("selector-sheet-390"))
    assert overflow(page) == []
    assert violations(page) == []


def test_a_sheet_taken_away_and_put_back_is_closed_and_opens_again(open_page: OpenPage, server: SelectorServer) -> None:
    page = open_page(width=1000, height=900, reduced_motion="reduce")
    shown(page, server)
    page.evaluate("() => { const place = selector.parentElement; selector.remove(); place.append(selector) }")
    expect(page.locator(".sheet")).to_be_hidden()
    page.evaluate("selector.show()")
    expect(page.locator(".card[aria-busy=false]")).to_be_visible()
    assert page.evaluate("selector.shadowRoot.querySelector('.sheet').matches(':modal')")


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390), (1024, 768)])
def test_one_region_scrolls(open_page: OpenPage, server: SelectorServer, width: int, height: int) -> None:
    page = open_page(width=width, height=height, reduced_motion="reduce")
    shown(page, server, "many")
    browse(page, 0)
    scrolling = page.evaluate("""() => [...selector.shadowRoot.querySelectorAll('*'), document.documentElement]
      .filter(e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight + 1).map(e => e.className || e.tagName)""")
    assert scrolling == ["body"]
    assert page.evaluate("getComputedStyle(document.documentElement).overflowY") == "hidden", "the page behind stays where it is"
    page.evaluate("selector.hide()")
    assert page.evaluate("document.documentElement.style.overflow") == ""


def test_no_name_is_cut(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    shown(page, server, "long")
    browse(page, 0)
    row = options(page).first
    name = row.locator(".name")
    assert name.inner_text().replace("\n", "") == LONG
    row.click()
    for part in (name, page.locator(".chosen .name")):
        cut = part.evaluate("e => { const s = getComputedStyle(e); return s.textOverflow === 'ellipsis' || s.whiteSpace === 'nowrap' || s.webkitLineClamp !== 'none' || e.scrollHeight > e.clientHeight + 1 }")
        assert not cut
    page.screenshot(path=artefact("selector-long-name-390"))
    tops = [row.bounding_box() for row in options(page).all()]
    assert all(one and other and one["y"] + one["height"] <= other["y"] + 1 for one, other in zip(tops, tops[1:])), "no row covers another"


@pytest.mark.parametrize("is_touch", [True, False])
def test_keys_are_told_of_where_there_are_keys(open_page: OpenPage, server: SelectorServer, is_touch: bool) -> None:
    page = open_page(width=390 if is_touch else 1024, height=844, has_touch=is_touch, is_mobile=is_touch)
    shown(page, server)
    page.get_by_role("button", name="How to select a file").click()
    expect(page.get_by_text("Press Continue.")).to_be_visible()
    expect(page.get_by_text("Alt+Enter")).to_be_visible(visible=not is_touch)


def test_far_rows_of_any_height_are_where_they_are_sought(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    server.answer("uneven", [own(str(n), f"{n:04} " + "long " * (n % 40)) for n in range(1, 2001)] + SAMPLES)
    shown(page, server, "uneven", selected="1500")
    expect(page.locator("[role=option][aria-selected=true]")).to_be_in_viewport()
    assert page.locator("[role=option][aria-selected=true] .name").inner_text().startswith("1500")
    for key, number in (("Home", "0001"), ("End", "2000"), ("ArrowUp", "1999")):
        page.keyboard.press(key)
        active = page.locator(".row.active")
        expect(active.locator(".name")).to_have_text(re.compile(f"^{number}"))
        expect(active).to_be_in_viewport(ratio=0.9)


# Ways in and out

def test_there_is_a_way_back_to_the_first_question_and_the_selection_stays(page: Page, server: SelectorServer) -> None:
    shown(page, server)
    expect(page.get_by_role("button", name="Back")).to_be_hidden()
    browse(page)
    options(page).nth(1).click()
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_text("Would you like to use")).to_be_visible()
    expect(page.locator(".enter").nth(1)).to_be_focused()
    browse(page)
    assert page.evaluate("selector.selected") == "910002"
    expect(page.get_by_role("button", name="Continue")).to_be_enabled()


def test_there_is_no_way_back_where_nothing_was_asked(page: Page, server: SelectorServer) -> None:
    server.answer("samples", SAMPLES)
    shown(page, server, "samples")
    expect(options(page).first).to_be_visible()
    expect(page.get_by_role("button", name="Back")).to_be_hidden()


@pytest.mark.parametrize("before", [None, "910002"])
def test_a_double_click_continues_with_that_file(page: Page, server: SelectorServer, before: str | None) -> None:
    shown(page, server, **({"selected": before} if before else {}))
    if before is None:
        browse(page)
    options(page).nth(1).locator(".name").dblclick()
    assert [detail["id"] for detail in heard(page, "continue")] == ["910002"]
    expect(page.locator(".sheet")).to_be_hidden()


def test_a_third_click_adds_nothing_to_a_double_click(page: Page, server: SelectorServer) -> None:
    page.goto(server.url(src="/files?all", selected="910001"))
    expect(page.locator(".card[aria-busy=false]")).to_be_visible()
    options(page).nth(1).locator(".name").click(click_count=3)
    assert [detail["id"] for detail in heard(page, "continue")] == ["910002"]
    assert page.evaluate("selector.selected") == "910002"


def test_two_taps_of_a_finger_take_the_choice_back(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    shown(page, server)
    browse(page)
    options(page).first.tap()
    options(page).first.tap()
    assert page.evaluate("selector.selected") is None and heard(page, "continue") == []


def test_the_sheet_closes_by_its_button_and_by_escape_and_gives_the_focus_back(page: Page, server: SelectorServer) -> None:
    shown(page, server)
    page.evaluate("selector.hide()")
    page.evaluate("""() => { const opener = Object.assign(document.createElement('button'), { textContent: 'Choose', onclick: () => selector.show() })
      selector.before(opener); opener.focus() }""")
    for count, leave in enumerate((lambda: page.get_by_role("button", name="Close").click(), lambda: page.keyboard.press("Escape")), 1):
        page.get_by_role("button", name="Choose").click()
        expect(page.locator(".sheet")).to_be_visible()
        leave()
        expect(page.locator(".sheet")).to_be_hidden()
        expect(page.get_by_role("button", name="Choose")).to_be_focused()
        assert len(heard(page, "close")) == count and heard(page, "continue") == []


def test_a_sheet_asks_for_its_list_when_it_is_opened(page: Page, server: SelectorServer) -> None:
    server.asked.clear()
    page.goto(server.url(src="/files?all", modal=""))
    page.wait_for_function("window.selector?.shadowRoot?.querySelector('.sheet')")
    expect(page.locator(".sheet")).to_be_hidden()
    page.evaluate("() => fetch('/files?sample=true')")
    page.evaluate("selector.show()")
    expect(page.locator(".enter").first).to_be_visible()
    assert server.asked == ["sample=true", "all"]


# Words

@pytest.mark.parametrize("locale", LOCALES)
def test_every_language_is_spoken_and_fits_a_telephone(open_page: OpenPage, server: SelectorServer, locale: str) -> None:
    page = open_page(width=320, height=640, reduced_motion="reduce", has_touch=True, is_mobile=True)
    shown(page, server, page_lang=locale, page_dir="rtl" if locale == "ar" else "ltr")
    title = CATALOGUE["title"]["localizations"][locale]["stringUnit"]["value"]
    expect(page.get_by_role("heading", level=2)).to_have_text(title)
    assert overflow(page) == []
    browse(page)
    options(page).first.click()
    page.screenshot(path=artefact(f"selector-{locale}-320"))
    assert overflow(page) == []
    assert page.evaluate("selector.shadowRoot.querySelector('.card').getAttribute('lang')") is None, "no language stands in"


@pytest.mark.parametrize(("tag", "locale"), [
    ("zh-CN", "zh-Hans"), ("zh", "zh-Hans"), ("zh-TW", "zh-Hant"), ("zh-Hant-HK", "zh-Hant"), ("en-AU", "en-GB"), ("es-MX", "es-419"), ("pt", "pt-BR"),
    ("pt-AO", "pt-PT"), ("fr-CA", "fr-CA"), ("nn", "nb"), ("ar-EG", "ar"), ("de-AT", "de"), ("ja_JP", "ja"), ("xx", "en-US"), ("-", "en-US")])
def test_a_page_s_language_finds_its_texts(page: Page, server: SelectorServer, tag: str, locale: str) -> None:
    shown(page, server, page_lang=tag)
    expect(page.locator(".question")).to_have_text(CATALOGUE["intro_question"]["localizations"][locale]["stringUnit"]["value"])


def test_arabic_counts_in_six_forms_and_is_read_from_the_right(page: Page, server: SelectorServer) -> None:
    server.answer("counted", [own(str(n), f"{n}.vcf") for n in range(1, 12)] + SAMPLES[:2])
    shown(page, server, "counted", page_lang="ar", page_dir="ltr")
    expect(page.locator(".enter").nth(0)).to_contain_text("11 ملفًا")
    expect(page.locator(".enter").nth(1)).to_contain_text("ملفان")
    assert page.evaluate("getComputedStyle(selector.shadowRoot.querySelector('.card')).direction") == "rtl"


# Pictures

def test_a_sample_has_a_picture_of_its_own_that_an_app_can_replace_and_an_explanation(page: Page, server: SelectorServer) -> None:
    shown(page, server)
    page.evaluate("""() => { const own = document.createElement('b'); own.slot = 'picture-910001'; own.textContent = 'photo'; selector.append(own) }""")
    browse(page)
    rows = options(page)
    assert rows.nth(0).locator("slot").evaluate("slot => slot.assignedElements().length") == 1
    hues = [row.locator(".picture").get_attribute("style") for row in rows.all()]
    assert len(set(hues)) == len(hues)
    expect(rows.nth(1).locator("svg text").first).to_have_text("C")
    expect(page.get_by_text("The people in the samples are made up.")).to_be_visible()
    page.get_by_role("tab", name=re.compile("^My Files")).click()
    expect(page.get_by_text("The people in the samples are made up.")).to_be_hidden()
    assert options(page).first.locator(".picture").count() == 0


def test_uploads_lead_to_the_service_unless_the_app_knows_better(page: Page, server: SelectorServer) -> None:
    server.answer("samples", SAMPLES)
    shown(page, server, "samples")
    expect(page.get_by_role("link", name="Upload a file on Sequencing.com")).to_have_attribute("href", "https://sequencing.com/")
