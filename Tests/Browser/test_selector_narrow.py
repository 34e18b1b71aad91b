"""`<file-selector>` on a telephone: the page scrolls, and Continue is always in view."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from conftest import OpenPage
from sandbox import artefact
from selector_page import ALL, MANY, SelectorServer, choose_own, options, serving


@pytest.fixture(scope="module")
def server() -> Iterator[SelectorServer]:
    with serving() as one:
        one.answer("all", ALL)
        one.answer("many", MANY)
        yield one


@pytest.fixture
def telephone(open_page: OpenPage) -> Page:
    return open_page(scheme="dark", width=390, height=844, reduced_motion="reduce")


def opened(page: Page, server: SelectorServer, which: str, **attributes: str) -> None:
    page.goto(server.url(src=f"/files?{which}", **attributes))
    expect(page.locator(".card[aria-busy=false]")).to_be_visible()
    if "selected" not in attributes:
        choose_own(page)


def scroll(page: Page, top: int | str) -> None:
    page.evaluate(f"scrollTo(0, {top})")


def drawn(page: Page) -> None:
    """Until the frame after the next is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_continue_is_in_view_wherever_the_page_is_scrolled(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    opened(page, server, "all", closable="")
    options(page).first.click()
    go = page.get_by_role("button", name="Continue")
    for top in ("0", "150", "document.documentElement.scrollHeight"):
        scroll(page, top)
        drawn(page)
        box = go.bounding_box()
        page.screenshot(path=artefact(f"selector-narrow-{top[:3]}"))
        assert box and 0 <= box["y"] and box["y"] + box["height"] <= 844, top
    foot = page.evaluate("() => { const s = getComputedStyle(selector.shadowRoot.querySelector('.foot')); return [s.position, s.backgroundColor] }")
    assert foot == ["sticky", "rgb(27, 31, 35)"]


@pytest.mark.parametrize("which", ["My Files", "Sample Files"])
@pytest.mark.parametrize("scrolled", [0, 260])
def test_the_first_choice_shows_the_list_from_its_top(telephone: Page, server: SelectorServer, which: str, scrolled: int) -> None:
    page = telephone
    page.goto(server.url(src="/files?all"))
    choice = page.get_by_role("button", name=which)
    expect(choice).to_be_visible()
    page.evaluate("top => { document.body.style.minHeight = '1200px'; scrollTo(0, top) }", scrolled)
    choice.click()
    drawn(page)
    for shown in (page.get_by_role("heading", name="Select a file"), page.get_by_role("tab", name=which), page.get_by_role("searchbox")):
        expect(shown).to_be_in_viewport(ratio=1)
    assert page.evaluate("selector.shadowRoot.activeElement.className") == "list", "the arrow keys go through the list"


def test_a_row_that_was_tapped_is_not_left_as_under_a_pointer(open_page: OpenPage, server: SelectorServer) -> None:
    page = open_page(width=390, height=844, reduced_motion="reduce", has_touch=True, is_mobile=True)
    opened(page, server, "all")
    for _ in range(2):  # chosen, and not any more
        options(page).first.tap()
    expect(options(page).first).to_have_attribute("aria-selected", "false")
    colors = page.evaluate("[...selector.shadowRoot.querySelectorAll('.row:not(.probe)')].slice(0, 2).map(row => getComputedStyle(row).backgroundColor)")
    assert colors[0] == colors[1]


def test_nothing_scrolls_inside_the_page(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    opened(page, server, "many")
    assert page.evaluate("() => { const box = selector.shadowRoot.querySelector('.list'); return box.scrollHeight - box.clientHeight }") == 0
    assert page.evaluate("document.documentElement.scrollHeight") > 5000 * 60


def test_the_rows_in_view_exist_and_few_others(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    opened(page, server, "many")
    for part in (0, .5, 1, .25):
        scroll(page, f"document.documentElement.scrollHeight * {part}")
        drawn(page)
        assert options(page).count() < 40
        missing = page.evaluate("""() => { const root = selector.shadowRoot; const list = root.querySelector('.list').getBoundingClientRect()
          const top = Math.max(list.top, 0) + 10, bottom = Math.min(list.bottom, root.querySelector('.foot').getBoundingClientRect().top) - 10
          const missing = []
          for (let y = top; y < bottom; y += 40) if (!root.elementFromPoint(150, y)?.closest('.row')) missing.push(y)
          return missing }""")
        assert missing == [], part


def test_arrow_keys_keep_the_active_row_in_view_above_the_footer(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    opened(page, server, "many")
    for key in ["ArrowDown"] * 12 + ["End", "Home", "PageDown"]:
        page.keyboard.press(key)
        drawn(page)
        assert page.evaluate("""() => { const root = selector.shadowRoot; const row = root.querySelector('.row.active').getBoundingClientRect()
          return row.top >= -1 && row.bottom <= root.querySelector('.foot').getBoundingClientRect().top + 1 }"""), key


def test_a_file_selected_by_its_id_is_scrolled_to_and_a_search_leaves_the_page(telephone: Page, server: SelectorServer) -> None:
    page = telephone
    opened(page, server, "many", selected="402500")
    row = page.locator("[role=option][aria-selected=true]")
    expect(row).to_be_in_viewport()
    scroll(page, 0)
    page.get_by_role("searchbox").fill("cohort-2")
    expect(page.locator(".count")).to_contain_text("match")
    drawn(page)
    assert page.evaluate("scrollY") < 100, "the search is still in view"


def test_a_wide_selector_has_a_list_that_scrolls_by_itself(page: Page, server: SelectorServer) -> None:
    opened(page, server, "many")
    assert page.evaluate("() => { const box = selector.shadowRoot.querySelector('.list'); return box.scrollHeight > box.clientHeight }")
    assert page.evaluate("getComputedStyle(selector.shadowRoot.querySelector('.foot')).position") == "static"
