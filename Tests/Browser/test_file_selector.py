"""`<file-selector>` as a person meets it: keyboard, screen reader, narrow screen, light and dark, and 5,000 files."""

import base64
import gzip
import json
import re
import time
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Page, expect

from button_visit import hide
from conftest import OpenPage
from person import violations
from sandbox import artefact
from selector_page import (ALL, MANY, MARKUP, MODULE, OWN, SAMPLES, SCRIPT, SelectorServer, ShadowPerson, choose_own, choose_samples,
                           heard, options, overflow, own, sample, served_script, serving, titles)

SCHEMES = ("light", "dark")


@pytest.fixture(scope="session")
def selector_server() -> Iterator[SelectorServer]:
    with serving() as one:
        yield one


@pytest.fixture
def server(selector_server: SelectorServer) -> SelectorServer:
    selector_server.answers.clear()
    selector_server.asked.clear()
    selector_server.submitted.clear()
    return selector_server


def opened(page: Page, server: SelectorServer, **attributes: Any) -> ShadowPerson:
    """A page whose selector has its list."""
    page.goto(server.url(**({"src": "/files?all=true"} | attributes)))
    expect(page.locator(".card[aria-busy=false]")).to_be_visible()
    return ShadowPerson(page)


def given(page: Page, server: SelectorServer, files: Any, **attributes: Any) -> ShadowPerson:
    """A page whose selector is given its list by a script."""
    page.goto(server.url(**attributes))
    page.wait_for_function("window.selector?.shadowRoot")
    page.evaluate("files => { selector.files = files }", files)
    return ShadowPerson(page)


def option(page: Page, name: str):
    return options(page).filter(has=page.locator(".name", has_text=re.compile(f"^{re.escape(name)}$")))


def segment(page: Page, name: str):
    return page.get_by_role("radio", name=re.compile(f"^{name},"))


def tab(page: Page, name: str):
    return page.get_by_role("tab", name=re.compile(f"^{name},"))


def proceed(page: Page):
    return page.get_by_role("button", name="Continue")


def status(page: Page):
    return page.locator(".unseen[role=status]")


def active_name(page: Page) -> str:
    return page.evaluate("""() => { const root = selector.shadowRoot
      return root.getElementById(root.querySelector('.list').getAttribute('aria-activedescendant')).querySelector('.name').innerText }""")


# What a page or a server may not make of it

@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "http://evil.example/", "https://user:secret@sequencing.com/"])
def test_only_a_safe_address_is_a_link_for_uploads(page: Page, server: SelectorServer, address: str) -> None:
    opened(page, server, src="/files?sample=true", upload_href=address)
    expect(page.locator(".notices")).to_contain_text("Upload a file on Sequencing.com.")
    expect(page.locator("file-selector a[href]")).to_have_count(0)


@pytest.mark.parametrize("address", ["https://sequencing.com/upload", "/upload"])
def test_an_address_over_https_or_of_the_pages_own_origin_is_a_link_for_uploads(page: Page, server: SelectorServer, address: str) -> None:
    opened(page, server, src="/files?sample=true", upload_href=address)
    expect(page.get_by_role("link", name="Upload a file on Sequencing.com")).to_have_attribute("href", urljoin(server.origin, address))


def test_a_list_is_read_up_to_its_limit_and_no_further(page: Page, server: SelectorServer) -> None:
    server.answers["some"] = (200, b"[" + b" " * (17 << 20) + b"]", 0)
    page.goto(server.url(src="/files?some"))
    expect(page.get_by_role("alert")).to_contain_text("other than a list of files")


# What is listed, and where (D01, D02, D07-D09)

def test_one_call_fills_both_tabs(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    assert server.asked == ["all=true"]
    choose_own(page)
    expect(tab(page, "My Files")).to_have_attribute("aria-label", f"My Files, {len(OWN)} files")
    expect(tab(page, "Sample Files")).to_have_attribute("aria-label", f"Sample Files, {len(SAMPLES)} files")


@pytest.mark.parametrize(("flags", "segments"), [
    ("uploaded=true&shared=true", ["Uploaded", "Shared"]), ("fromApps=true", ["From Apps"]), ("sample=true", ["All", "Men", "Women", "Not stated"]),
    ("uploaded=true&shared=true&fromApps=true&allWithAltruist=true", ["Uploaded", "Shared", "From Apps", "Altruist"]),
])
def test_subsets_show_only_the_segments_that_have_files(page: Page, server: SelectorServer, flags: str, segments: list[str]) -> None:
    opened(page, server, src=f"/files?{flags}")
    assert [re.sub(r"\s*\d+$", "", text) for text in page.locator(".segments label").all_inner_texts()] == segments


def test_own_files_are_in_their_segments_in_the_servers_order(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_own(page)
    for name, category in [("Uploaded", "Uploaded"), ("Shared", "SharedToMe"), ("From Apps", "FromApps"), ("Altruist", "AllWithAltruist")]:
        segment(page, name).check()
        assert titles(page) == [file["Name"] for file in OWN if file["FileCategory"] == category]


def test_an_unknown_category_is_shown_with_its_own_word(page: Page, server: SelectorServer) -> None:
    given(page, server, [own("1", "new.vcf", "Quantum"), own("2", "none.vcf", None), own("3", "old.vcf", "altruist"), *SAMPLES])
    choose_own(page)
    segment(page, "Other").check()
    assert titles(page) == ["new.vcf", "none.vcf"]
    assert "Quantum" in options(page).first.inner_text()
    segment(page, "Altruist").check()
    assert titles(page) == ["old.vcf"]


@pytest.mark.parametrize("word", ["constructor", "__proto__", "toString"])
def test_words_that_mean_something_to_javascript_are_only_words(page: Page, server: SelectorServer, word: str) -> None:
    given(page, server, [own("1", "odd.vcf", word), sample(2, "Odd", None, word), sample(3, "Ada", None, "Female")])
    choose_own(page)
    segment(page, "Other").check()
    assert titles(page) == ["odd.vcf"] and word in options(page).inner_text()
    tab(page, "Sample Files").click()
    segment(page, "Not stated").check()
    assert titles(page) == ["Odd"]


def test_all_shows_all_samples_and_an_unknown_sex_is_neither_a_man_nor_a_woman(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_samples(page)
    page.evaluate("selector.style.setProperty('--file-selector-list-height', '80rem')")
    expect(options(page)).to_have_count(len(SAMPLES))
    for name, people in [("Men", ["Charles", "Ramón & Søren", "<b>Tim</b>"]), ("Women", ["Ada", "Grace", "Emmy"]),
                         ("Not stated", ["Robin", "sample-910007.vcf.gz"])]:
        segment(page, name).check()
        assert titles(page) == people


def test_a_sample_row_shows_persona_and_description_and_an_own_row_the_file_name(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_samples(page)
    ada = option(page, "Ada").locator(".text").inner_text()
    assert ada.split("\n")[:2] == ["Ada", "Enjoys long walks and longer proofs"]
    for word in ("VCF", "Genome", "European", "2016"):
        assert word in ada
    assert len(option(page, "Emmy").locator(".note").all()) == 0
    assert len(option(page, "sample-910007.vcf.gz").locator(".note").all()) == 0
    tab(page, "My Files").click()
    assert option(page, "ada_genome.vcf.gz").inner_text().split("\n")[0] == "ada_genome.vcf.gz"


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("width", [320, 352, 390, 432])
def test_no_line_of_facts_begins_or_ends_with_a_separator(open_page: OpenPage, server: SelectorServer, width: int, direction: str) -> None:
    page = open_page(width=width, height=844)
    opened(page, server, selected="910001", page_dir=direction)
    page.screenshot(path=artefact(f"selector-facts-{width}-{direction}"))
    rows = page.evaluate("""() => [...selector.shadowRoot.querySelectorAll('.row:not(.probe) .meta')].map(meta => {
      const isRight = getComputedStyle(meta).direction === 'rtl'
      const start = box => isRight ? -box.right : box.left
      const edge = start(meta.getBoundingClientRect())
      const text = meta.textContent + (getComputedStyle(meta).overflowX === 'clip' ? '' : '·')
      let above = -Infinity
      return { text, facts: [...meta.querySelectorAll('bdi')].map(fact => {
        const box = fact.getBoundingClientRect()
        const isFirst = box.top > above + 5
        above = box.top
        return { isFirst, at: start(box) - edge, before: getComputedStyle(fact.parentElement, '::before').content } }) } })""")
    assert len(rows) > 3
    lines = 0
    for row in rows:
        assert "·" not in row["text"], "what is written could not be cut off"
        for fact in row["facts"]:
            assert fact["before"].startswith('"·"')
            assert fact["isFirst"] == (abs(fact["at"]) < 1), "the first of a line begins at the edge, where its separator is cut off"
        lines += sum(fact["isFirst"] for fact in row["facts"])
    assert lines > len(rows) or width > 400, "facts wrap"


def test_a_selected_row_is_tinted_from_edge_to_edge(page: Page, server: SelectorServer) -> None:
    opened(page, server, selected="910001")
    edges = """() => { const box = name => selector.shadowRoot.querySelector(name).getBoundingClientRect()
      const [row, card] = [box('.row[aria-selected=true]'), box('.card')]
      return [row.left - card.left, card.right - row.right] }"""
    assert page.evaluate(edges) == [1, 1], "the card's own border"
    page.evaluate("selector.focus()")
    page.keyboard.press("ArrowDown")
    page.screenshot(path=artefact("selector-ring"))


def test_files_of_the_same_name_show_what_tells_them_apart(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_own(page)
    texts = option(page, "family.vcf.gz").all_inner_texts()
    assert len(set(texts)) == 2 and "227002" in texts[0] and "227003" in texts[1]


# The first screen, its help and the way out (D03-D06)

@pytest.mark.parametrize(("button", "opened_tab"), [("My Files", "My Files"), ("Sample Files", "Sample Files")])
def test_each_button_of_the_first_screen_opens_its_own_tab(page: Page, server: SelectorServer, button: str, opened_tab: str) -> None:
    person = opened(page, server)
    expect(page.get_by_text("Would you like to use your own")).to_be_visible()
    person.go_to(button)
    person.keys("Enter")
    expect(tab(page, opened_tab)).to_have_attribute("aria-selected", "true")
    assert person.see_focus()["name"].startswith(opened_tab), "the focus goes on to the list"


def test_the_help_opens_with_the_keyboard_is_read_and_gives_the_focus_back(page: Page, server: SelectorServer) -> None:
    person = opened(page, server, closable="")
    person.go_to("How to select a file")
    person.keys("Enter")
    popover = page.get_by_role("dialog", name="How to select a file")
    expect(popover).to_be_visible()
    expect(popover).to_be_focused()
    assert popover.get_by_role("listitem").count() == 3
    person.keys("Escape")
    expect(popover).to_be_hidden()
    assert person.focus()["name"] == "How to select a file"
    assert heard(page, "close") == [], "Escape closed the help and nothing else"


def test_the_close_button_is_there_only_when_asked_for_and_says_so(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    expect(page.get_by_role("button", name="Close")).to_have_count(0)
    person = opened(page, server, closable="")
    person.go_to("Close")
    person.keys("Enter", "Escape")
    assert len(heard(page, "close")) == 2


def test_a_film_plays_behind_the_first_screen_only_and_not_when_motion_is_unwelcome(open_page: OpenPage, server: SelectorServer) -> None:
    film = """async () => {
      const canvas = document.createElement('canvas'); canvas.getContext('2d').fillRect(0, 0, 9, 9)
      const recorder = new MediaRecorder(canvas.captureStream(20)), chunks = []
      recorder.ondataavailable = event => chunks.push(event.data); recorder.start()
      for (let at = 0; at < 12; at += 1) { await new Promise(done => setTimeout(done, 40)); canvas.getContext('2d').fillRect(at, 0, 9, 9) }
      await new Promise(done => { recorder.onstop = done; recorder.stop() })
      const video = Object.assign(document.createElement('video'), { slot: 'film', muted: true, loop: true, id: 'film',
        src: URL.createObjectURL(new Blob(chunks)) })
      selector.append(video)
    }"""
    calm, page = open_page(reduced_motion="reduce"), open_page(reduced_motion="no-preference")
    for one in (calm, page):
        opened(one, server)
        one.evaluate(film)
    page.wait_for_function("!document.querySelector('#film').paused")
    page.screenshot(path=artefact("selector-film"))
    assert calm.evaluate("document.querySelector('#film').paused")
    calm.get_by_role("button", name="Play the film").click()
    calm.wait_for_function("!document.querySelector('#film').paused")
    calm.get_by_role("button", name="Pause the film").click()
    assert calm.evaluate("document.querySelector('#film').paused")
    page.get_by_role("button", name="Pause the film").click()
    assert page.evaluate("document.querySelector('#film').paused")
    page.get_by_role("button", name="Play the film").click()
    page.wait_for_function("!document.querySelector('#film').paused")
    assert violations(page) == []
    hide(page)
    assert page.evaluate("document.querySelector('#film').paused")
    hide(page, False)
    page.wait_for_function("!document.querySelector('#film').paused")
    choose_own(page)
    assert page.evaluate("document.querySelector('#film').paused")


def test_a_missing_film_does_no_harm(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    page.evaluate("selector.append(Object.assign(document.createElement('video'), { slot: 'film', src: '/no-such-film.mp4' }))")
    choose_samples(page)
    expect(option(page, "Ada")).to_be_visible()


# Choosing (D10-D13, D16, D17)

def test_one_row_is_selected_at_a_time_and_selecting_it_again_clears_it(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_own(page)
    expect(proceed(page)).to_be_disabled()
    options(page).nth(0).click()
    options(page).nth(1).click()
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(1)
    expect(proceed(page)).to_be_enabled()
    options(page).nth(1).click()
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(0)
    expect(proceed(page)).to_be_disabled()
    assert [detail["id"] for detail in heard(page, "select")] == ["227001", "227002", None]


def test_continue_gives_the_whole_record_as_the_server_sent_it(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_samples(page)
    option(page, "Ada").click()
    proceed(page).click()
    assert heard(page, "continue") == [{"id": "910001", "file": SAMPLES[0], "displayName": "Ada - Enjoys long walks and longer proofs"}]


@pytest.mark.parametrize(("file", "name"), [
    (own("1", "genome.vcf.gz", FriendlyDesc1="Ada"), "genome.vcf.gz"),
    (sample(1, "Ada", "Enjoys proofs", "Female"), "Ada - Enjoys proofs"),
    (sample(1, "Ada", None, "Female"), "Ada"), (sample(1, None, None, "Female"), "sample-1.vcf.gz"),
    (own("1", None), "1"), (own(7, 12.5), "12.5"),
])
def test_the_display_name_is_the_persona_pair_or_the_file_name(page: Page, server: SelectorServer, file: dict[str, Any], name: str) -> None:
    given(page, server, [file])
    options(page).click()
    assert page.evaluate("selector.selectedName") == name
    expect(page.locator(".chosen .name")).to_have_text(name)


@pytest.mark.parametrize(("wanted", "opened_tab", "opened_segment"), [
    ("227008", "My Files", "Shared"), ("FILE:227011", "My Files", "Altruist"), ("910007", "Sample Files", "All"), ("404500", "My Files", "Uploaded"),
])
def test_a_preselected_file_opens_its_tab_and_segment_and_is_in_view(
        page: Page, server: SelectorServer, wanted: str, opened_tab: str, opened_segment: str) -> None:
    server.answer("both", OWN + MANY)
    opened(page, server, src="/files?both", selected=wanted)
    expect(tab(page, opened_tab)).to_have_attribute("aria-selected", "true")
    expect(segment(page, opened_segment)).to_be_checked()
    expect(page.locator("[role=option][aria-selected=true]")).to_be_in_viewport()
    expect(proceed(page)).to_be_enabled()
    assert page.evaluate("selector.selected") == wanted.removeprefix("FILE:")


def test_a_preselected_file_that_is_not_there_is_ignored(page: Page, server: SelectorServer) -> None:
    opened(page, server, selected="999")
    expect(page.get_by_role("button", name="My Files")).to_be_visible()
    assert page.evaluate("selector.selected") is None


def test_the_selection_can_be_set_and_cleared_by_a_script(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    page.evaluate("selector.selected = 910005")
    expect(option(page, "Robin")).to_have_attribute("aria-selected", "true")
    page.evaluate("selector.selected = null")
    expect(proceed(page)).to_be_disabled()
    assert heard(page, "select") == [], "what a script does needs no event"


def test_the_selection_stays_while_tabs_segments_search_and_order_change(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_own(page)
    option(page, "chr10.fastq.gz").click()
    segment(page, "Shared").check()
    tab(page, "Sample Files").click()
    page.get_by_role("searchbox").fill("grace")
    page.get_by_label("Sort").select_option("Name")
    expect(proceed(page)).to_be_enabled()
    page.get_by_role("searchbox").fill("")
    tab(page, "My Files").click()
    expect(segment(page, "Shared")).to_be_checked()
    segment(page, "Uploaded").check()
    expect(option(page, "chr10.fastq.gz")).to_have_attribute("aria-selected", "true")
    assert [detail["id"] for detail in heard(page, "select")] == ["227006"]


def test_the_details_have_every_field_a_label_for_each_known_one_and_say_when_there_is_no_value(page: Page, server: SelectorServer) -> None:
    file = own("1", "a.vcf", Zeta={"stripes": [1, 2]}, alpha=3, beta=False)
    person = given(page, server, [file, *SAMPLES])
    choose_own(page)
    person.keys("Space", "Alt+Enter")
    dialog = page.get_by_role("dialog", name="File details")
    expect(dialog).to_be_visible()
    values = dict(zip(dialog.locator("dt").all_inner_texts(), dialog.locator("dd").all_inner_texts()))
    assert values | {"File name": "a.vcf", "Sex": "Not stated", "Category": "Uploaded", "Subtype": "Not stated", "ID": "1"} == values
    assert list(values)[-3:] == ["alpha", "beta", "Zeta"] and values["Zeta"] == '{"stripes":[1,2]}' and values["beta"] == "false"
    assert not set(values) & {"FriendlyDesc1", "FriendlyDesc2", "FileType", "FileSubType", "Ext", "DateAdded", "FileCategory", "Id"}
    person.keys("Escape")
    expect(dialog).to_be_hidden()
    assert person.focus()["name"].startswith("My Files"), "the focus goes back to the list"


@pytest.mark.parametrize("word", ["constructor", "__proto__", "title", "%1$@"])
def test_the_details_have_the_services_own_word_for_an_unknown_category(page: Page, server: SelectorServer, word: str) -> None:
    given(page, server, [own("1", "odd.vcf", word)])
    options(page).first.locator(".more").click()
    dialog = page.get_by_role("dialog", name="File details")
    expect(dialog.locator("dl div").filter(has_text="Category").locator("dd")).to_have_text(word)


@pytest.mark.parametrize(("added", "shown"), [("2016-03-11T09:30:00", "March 11, 2016 at 9:30 AM"), ("2018-05-01", "May 1, 2018"), ("last week", "last week")])
def test_the_details_have_labels_and_dates_for_people(open_page: OpenPage, server: SelectorServer, added: str, shown: str) -> None:
    page = open_page(scheme="dark", width=390, height=844)
    given(page, server, [sample(1, "Ada", "Enjoys long walks", "Female", DateAdded=added, FileSubType=None)], page_lang="en-US")
    options(page).first.click()
    page.get_by_role("button", name="Details").click()
    dialog = page.get_by_role("dialog", name="File details")
    known = dialog.locator(".fields > dl")
    page.screenshot(path=artefact("selector-details-390"))
    values = [text.replace("\u202f", " ") for text in known.locator("dd").all_inner_texts()]
    assert dict(zip(known.locator("dt").all_inner_texts(), values)) == {
        "File name": "sample-1.vcf.gz", "Person": "Ada", "Description": "Enjoys long walks", "Type": "VCF", "Subtype": "Not stated", "File extension": ".vcf.gz",
        "Added": shown, "Category": "Sample", "Population": "European", "Sex": "Female", "ID": "1"}


def test_the_details_of_a_row_can_be_seen_without_selecting_it(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_own(page)
    options(page).nth(2).locator(".more").click()
    expect(page.get_by_role("dialog", name="File details")).to_contain_text("227003")
    assert page.evaluate("selector.selected") is None


# No files of one's own (D14), and none at all

def test_without_own_files_the_samples_open_and_a_notice_says_why(page: Page, server: SelectorServer) -> None:
    opened(page, server, src="/files?sample=true", upload_href="https://sequencing.com/upload")
    expect(tab(page, "My Files")).to_be_disabled()
    expect(tab(page, "Sample Files")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".notices")).to_contain_text("Your account has no genetic data yet.")
    expect(page.get_by_role("link")).to_have_attribute("href", "https://sequencing.com/upload")
    expect(status(page)).to_contain_text("no genetic data")


def test_without_samples_ones_own_files_open(page: Page, server: SelectorServer) -> None:
    opened(page, server, src="/files?uploaded=true")
    expect(tab(page, "Sample Files")).to_be_disabled()
    expect(option(page, "chr10.fastq.gz")).to_be_visible()


def test_an_empty_list_says_so_and_can_be_refreshed(page: Page, server: SelectorServer) -> None:
    server.answer("x", [])
    person = opened(page, server, src="/files?x")
    expect(page.get_by_role("heading", name="There are no files yet")).to_be_visible()
    server.answer("x", ALL)
    person.go_to("Refresh")
    person.keys("Enter")
    expect(page.get_by_role("button", name="My Files")).to_be_visible()


# What goes wrong (dossier D15 and 9.5)

BAD_ANSWERS: dict[str, tuple[Any, int, str, str]] = {
    "unauthorized": ({"Message": "Authorization error: invalid token"}, 401, "token", "sign-in"),
    "forbidden": (b"", 403, "token", "sign-in"),
    "server error": (b"<h1>Error</h1>", 503, "transport", "could not be reached"),
    "an object": ({"files": []}, 200, "answer", "other than a list of files"),
    "a message": ({"Message": "exception in the list"}, 200, "answer", "exception in the list"),
    "null": (None, 200, "answer", "other than a list of files"),
    "a number": (3, 200, "answer", "other than a list of files"),
    "HTML": (b"<!doctype html><title>Sign in</title>", 200, "answer", "other than a list of files"),
    "nothing": (b"", 200, "answer", "other than a list of files"),
    "half a list": (b'[{"Id": "1", "Name": "a.vc', 200, "answer", "other than a list of files"),
    "no records": ([1, "two", None, [], {"Name": "no id"}], 200, "answer", "other than a list of files"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_is_an_error_and_never_an_empty_list(page: Page, server: SelectorServer, name: str) -> None:
    body, code, kind, words = BAD_ANSWERS[name]
    server.answer("bad", body, code)
    person = opened(page, server, src="/files?bad")
    alert = page.get_by_role("alert").filter(has_text="could not be loaded")
    expect(alert).to_be_visible()
    expect(alert).to_contain_text(words)
    (detail,) = heard(page, "error")
    assert detail["kind"] == kind and detail["status"] == (code if code != 200 or detail["status"] else None)
    server.answer("bad", ALL)
    person.go_to("Try again")
    person.keys("Enter")
    expect(page.get_by_role("button", name="My Files")).to_be_visible()
    assert len(heard(page, "refresh")) == 1


def test_an_expired_sign_in_leads_to_the_apps_sign_in(open_page: OpenPage, server: SelectorServer) -> None:
    page = open_page(scheme="dark", width=390, height=844)
    server.answer("expired", {"Message": "token expired"}, 401)
    person = opened(page, server, src="/files?expired", sign_in_href="/sign-in?return_to=/page")
    link = page.get_by_role("link", name="Sign in again")
    expect(link).to_have_attribute("href", f"{server.origin}/sign-in?return_to=/page")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    person.go_to("Sign in again")
    page.screenshot(path=artefact("selector-sign-in-390"))
    assert violations(page) == []
    server.answer("expired", ALL)
    page.evaluate("selector.refresh()")
    expect(page.get_by_role("button", name="My Files")).to_be_visible()
    expect(link).to_have_count(0)


def test_an_expired_sign_in_without_an_address_says_what_to_do(page: Page, server: SelectorServer) -> None:
    server.answer("expired", {"Message": "token expired"}, 401)
    opened(page, server, src="/files?expired", sign_in_href="javascript:alert(1)")
    expect(page.get_by_role("alert").first).to_contain_text("Sign in to this app again, then try again.")
    expect(page.get_by_role("link", name="Sign in again")).to_have_count(0)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def test_only_an_expired_sign_in_offers_to_sign_in_again(page: Page, server: SelectorServer) -> None:
    server.answer("bad", {}, 503)
    opened(page, server, src="/files?bad", sign_in_href="/sign-in")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.get_by_role("link", name="Sign in again")).to_have_count(0)


def test_a_lost_connection_is_an_error_with_a_way_to_try_again(page: Page, server: SelectorServer) -> None:
    page.route("**/files*", lambda route: route.abort())
    opened(page, server)
    expect(page.get_by_role("alert").filter(has_text="could not be reached")).to_be_visible()
    assert heard(page, "error")[0]["kind"] == "transport"


def test_a_server_that_never_answers_does_not_spin_for_ever(page: Page, server: SelectorServer) -> None:
    page.clock.install()
    server.answer("slow", ALL, delay=(gate := Event()))
    page.goto(server.url(src="/files?slow", timeout="20"))
    expect(page.locator(".loading")).to_be_visible()
    page.clock.run_for(20_000)
    expect(page.get_by_role("alert").filter(has_text="too long")).to_be_visible()
    gate.set()


@pytest.mark.parametrize("timeout", ["-1", "Infinity"])
def test_a_timeout_that_is_none_is_the_usual_one(page: Page, server: SelectorServer, timeout: str) -> None:
    opened(page, server, timeout=timeout)
    expect(page.get_by_role("button", name="My Files")).to_be_visible()


def test_an_error_given_by_the_app_is_shown_and_retrying_asks_the_app(page: Page, server: SelectorServer) -> None:
    page.goto(server.url())
    page.wait_for_function("window.selector?.shadowRoot")
    page.evaluate("selector.files = Object.assign(new Error('no token <b>here</b>'), { kind: 'token' })")
    expect(page.get_by_role("alert").first).to_contain_text("no token <b>here</b>")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".loading")).to_be_visible()
    assert len(heard(page, "refresh")) == 1
    page.evaluate("files => { selector.files = files }", ALL)
    expect(page.get_by_role("button", name="My Files")).to_be_visible()


def test_an_object_in_place_of_a_list_is_an_error_from_a_script_too(page: Page, server: SelectorServer) -> None:
    given(page, server, {"Id": "1"})
    expect(page.get_by_role("alert").first).to_contain_text("could not be loaded")


def test_odd_records_are_read_as_far_as_they_can_be_and_the_rest_is_counted(page: Page, server: SelectorServer) -> None:
    given(page, server, [own(227001, "number.vcf", "UPLOADED", DateAdded="yesterday"), own("FILE:5", "prefix.vcf"), {"Id": "6", "FileCategory": "Uploaded"},
                         None, "text", {"Name": "no id.vcf"}, own(12345678901234567890, "imprecise.vcf"), own("8", "extra.vcf", extra={"a": [1]}), *SAMPLES])
    choose_own(page)
    assert titles(page) == ["number.vcf", "prefix.vcf", "6", "extra.vcf"]
    assert "yesterday" in options(page).first.inner_text()
    expect(page.locator(".notices")).to_contain_text("4 entries of the list could not be read")
    option(page, "prefix.vcf").click()
    assert page.evaluate("selector.selected") == "5"


def test_a_file_whose_name_speaks_of_errors_is_a_file(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_own(page)
    expect(option(page, "error_invalid_exception.vcf")).to_be_visible()


@pytest.mark.parametrize(("code", "reason", "remedy"), [
    (503, "The service could not be reached.", "Try again"), (429, "Too many requests.", "Try again"), (401, "Your sign-in has expired.", "Sign in again")])
def test_a_list_that_cannot_be_refreshed_stays_and_tells_its_age(
        open_page: OpenPage, server: SelectorServer, code: int, reason: str, remedy: str) -> None:
    page = open_page()
    page.clock.install()
    opened(page, server, selected="227002", sign_in_href="/connect/sequencing/start")
    server.answer("all=true", {"Message": "down"}, code)
    page.clock.fast_forward(5 * 60_000)
    page.get_by_role("button", name="Refresh").click()
    notice = page.locator(".stale")
    expect(notice).to_contain_text("The list could not be refreshed. This one was loaded 5 minutes ago.")
    expect(notice).to_contain_text(reason)
    expect(option(page, "ada_genome.vcf.gz")).to_be_visible()
    expect(proceed(page)).to_be_enabled()
    assert page.evaluate("selector.selected") == "227002"
    assert heard(page, "error")[0]["status"] == code and heard(page, "select") == []
    page.clock.fast_forward(55 * 60_000)
    expect(notice).to_contain_text("loaded 1 hour ago")
    action = notice.get_by_text(remedy)
    if code == 401:
        expect(action).to_have_attribute("href", urljoin(server.origin, "/connect/sequencing/start"))
        return
    server.answers.clear()
    action.click()
    expect(notice).to_be_hidden()
    expect(proceed(page)).to_be_enabled()


@pytest.mark.parametrize(("files", "control"), [(ALL, "My Files"), ([], "Refresh")], ids=["question", "empty"])
def test_the_first_screen_tells_how_old_a_list_is_that_cannot_be_refreshed_each_time_it_fails(
        page: Page, server: SelectorServer, files: list[dict[str, Any]], control: str) -> None:
    page.clock.install()
    server.answer("all=true", files)
    opened(page, server)
    button = page.get_by_role("button", name=control)
    expect(button).to_be_visible()
    server.answer("all=true", {"Message": "down"}, 503)
    page.clock.fast_forward(5 * 60_000)
    page.evaluate("selector.refresh()")
    notice = page.locator(".stale")
    expect(notice).to_be_visible()
    expect(notice).to_contain_text("The list could not be refreshed. This one was loaded 5 minutes ago. The service could not be reached.")
    expect(status(page)).to_contain_text("The list could not be refreshed.")
    expect(button).to_be_visible()
    server.answer("all=true", {"Message": "down"}, 503, delay=(gate := Event()))
    notice.get_by_text("Try again").click()
    expect(status(page)).to_have_text("Loading the files…")
    gate.set()
    expect(status(page)).to_contain_text("The list could not be refreshed.")
    page.clock.fast_forward(55 * 60_000)
    expect(notice).to_contain_text("loaded 1 hour ago")
    server.answer("all=true", files)
    notice.get_by_text("Try again").click()
    expect(notice).to_be_hidden()
    expect(button).to_be_focused()


# In a form (D18), and the next time (D19)

def test_a_form_demands_a_choice_and_submits_the_id_and_the_name(page: Page, server: SelectorServer) -> None:
    person = opened(page, server, page_form="1", required="", name="file", name_field="file_name")
    choose_samples(page)
    person.go_to("Send")
    person.keys("Enter")
    expect(page.locator(".alarm")).to_have_text("Select a file first.")
    assert person.see_focus()["name"].startswith("Sample Files") and server.submitted == []
    person.keys("Space")
    expect(page.locator(".alarm")).to_have_text("")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Sent")).to_be_visible()
    assert server.submitted == [{"file": ["910001"], "file_name": ["Ada - Enjoys long walks and longer proofs"]}]


def test_resetting_a_form_clears_the_choice(page: Page, server: SelectorServer) -> None:
    opened(page, server, page_form="1", selected="910001")
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate("selector.selected") is None


def form_values(page: Page) -> list[list[str]]:
    return page.evaluate("[...new FormData(document.forms[0])]")


def test_a_form_submits_no_file_while_the_list_of_another_address_is_not_there(page: Page, server: SelectorServer) -> None:
    server.answer("other", {"Message": "down"}, 503, delay=(gate := Event()))
    opened(page, server, page_form="1", name="file", selected="910001")
    assert form_values(page) == [["file", "910001"]]
    page.evaluate("selector.setAttribute('src', '/files?other')")
    assert form_values(page) == [] and page.evaluate("selector.selected") is None
    assert heard(page, "select") == [], "its list may have the file"
    gate.set()
    expect(page.get_by_role("alert").filter(has_text="could not be reached")).to_be_visible()
    assert heard(page, "select") == [{"id": None, "file": None, "displayName": None}]
    server.answers.clear()
    page.evaluate("selector.setAttribute('src', '/files?all=true')")
    expect(option(page, "Ada")).to_have_attribute("aria-selected", "false")
    assert form_values(page) == []


def test_the_list_of_another_address_keeps_the_selection_if_it_has_the_file(page: Page, server: SelectorServer) -> None:
    opened(page, server, page_form="1", name="file", selected="910001")
    page.evaluate("selector.setAttribute('src', '/files?sample=true')")
    expect(option(page, "Ada")).to_have_attribute("aria-selected", "true")
    assert form_values(page) == [["file", "910001"]] and heard(page, "select") == []
    page.evaluate("selector.setAttribute('src', '/files?uploaded=true')")
    expect(option(page, "ada_genome.vcf.gz")).to_be_visible()
    assert form_values(page) == []
    assert heard(page, "select") == [{"id": None, "file": None, "displayName": None}]


def test_a_page_may_give_a_list_when_it_hears_that_nothing_is_selected(page: Page, server: SelectorServer) -> None:
    server.answer("other", {"Message": "down"}, 503)
    opened(page, server, selected="910001")
    page.evaluate("files => { selector.addEventListener('select', () => { selector.files = files }, { once: true }) }", SAMPLES)
    page.evaluate("selector.setAttribute('src', '/files?other')")
    expect(option(page, "Ada")).to_be_visible()
    assert heard(page, "select") == [{"id": None, "file": None, "displayName": None}]
    (detail,) = heard(page, "error")
    assert detail["status"] == 503 and "could not be reached" in detail["message"]


def test_the_details_of_a_file_close_when_another_address_takes_its_list_away(page: Page, server: SelectorServer) -> None:
    server.answer("other", [], delay=(gate := Event()))
    opened(page, server, selected="910001")
    page.get_by_role("button", name="Details").click()
    expect(page.get_by_role("dialog", name="File details")).to_be_visible()
    page.evaluate("selector.setAttribute('src', '/files?other')")
    expect(page.get_by_role("dialog", name="File details")).to_be_hidden()
    gate.set()


def test_the_choice_is_remembered_after_continue_and_can_be_forgotten(page: Page, server: SelectorServer) -> None:
    opened(page, server, remember="ada", selected="227007")
    opened(page, server, remember="ada")
    expect(page.get_by_role("button", name="My Files")).to_be_visible()  # selected, but never continued with
    opened(page, server, remember="ada", selected="227007")
    proceed(page).click()
    person = opened(page, server, remember="ada")
    expect(option(page, "grace_exome.vcf.gz")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".notices")).to_contain_text(re.compile("Selected as last time: .?grace_exome.vcf.gz"))
    opened(page, server, remember="someone else")
    expect(page.get_by_role("button", name="My Files")).to_be_visible()
    person = opened(page, server, remember="ada")
    person.go_to("Forget")
    person.keys("Enter")
    expect(page.locator(".notices")).to_be_hidden()
    assert page.evaluate("selector.selected") == "227007"
    opened(page, server, remember="ada")
    expect(page.get_by_role("button", name="My Files")).to_be_visible()


def test_a_remembered_file_that_is_gone_is_named(page: Page, server: SelectorServer) -> None:
    opened(page, server, remember="ada", selected="227007")
    proceed(page).click()
    opened(page, server, remember="ada", src="/files?sample=true")
    expect(page.locator(".notices")).to_contain_text(re.compile("grace_exome.vcf.gz.?, is no longer in the list"))
    notices = page.locator(".notices > p").all_inner_texts()
    assert len(notices) == 2 and "grace_exome" in notices[0], "above the notice that there are no own files, as in SwiftUI"
    option(page, "Ada").click()
    expect(page.locator(".notices")).to_contain_text("is no longer in the list")
    proceed(page).click()
    expect(page.locator(".notices")).not_to_contain_text("is no longer in the list")
    assert page.evaluate("JSON.parse(localStorage.getItem('file-selector:ada')).id") == "910001"


def test_a_new_list_for_another_key_tells_nothing_of_the_choice_under_the_old_one(page: Page, server: SelectorServer) -> None:
    opened(page, server, remember="ada", selected="227007")
    proceed(page).click()
    opened(page, server, remember="ada")
    notices = page.locator(".notices")
    expect(notices).to_contain_text("grace_exome.vcf.gz")
    page.evaluate("""() => { selector.setAttribute('remember', 'charles')
      selector.setAttribute('src', '/files?sample=true') }""")
    expect(notices).to_contain_text("is no longer in the list")
    assert "grace_exome" not in notices.inner_text()


@pytest.mark.parametrize("kept", ["", "null", "3", "{", '{"id": null}', '{"id": {}}', '[]'])
def test_nonsense_in_the_browsers_storage_does_no_harm(page: Page, server: SelectorServer, kept: str) -> None:
    page.goto(server.url())
    page.evaluate("kept => localStorage.setItem('file-selector:ada', kept)", kept)
    opened(page, server, remember="ada")
    expect(page.get_by_role("button", name="My Files")).to_be_visible()


# Search, order, refresh (D20)

@pytest.mark.parametrize(("text", "found"), [
    ("grace", ["Grace"]), ("RAMON", ["Ramón & Søren"]), ("proofs long", ["Ada"]), ("asian", ["Grace"]), ("910005", ["Robin"]),
    ("unspecified", ["sample-910007.vcf.gz"]), ("日本語", ["Ramón & Søren"]), ("<b>", ["<b>Tim</b>"]), ("   ", None),
])
def test_every_word_is_searched_in_every_field_without_case_and_accents(
        page: Page, server: SelectorServer, text: str, found: list[str] | None) -> None:
    opened(page, server)
    choose_samples(page)
    page.get_by_role("searchbox").fill(text)
    if found is None:
        expect(page.locator(".count")).to_have_text("8 files")
    else:
        assert titles(page) == found
        expect(page.locator(".count")).to_have_text("1 of 8 files matches")
        expect(status(page)).to_have_text("1 of 8 files matches")


def test_a_search_without_a_match_says_where_there_is_one(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_own(page)
    page.get_by_role("searchbox").fill("exome")
    expect(page.get_by_text("Nothing here matches “exome”. 1 file elsewhere matches.").first).to_be_visible()
    expect(segment(page, "Shared")).to_have_attribute("aria-label", "Shared, 1 file")
    page.get_by_role("button", name="Clear the search").click()
    expect(option(page, "ada_genome.vcf.gz")).to_be_visible()
    assert ShadowPerson(page).focus()["type"] == "search"


@pytest.mark.parametrize(("order", "expected"), [
    ("As listed", ["ada_genome.vcf.gz", "family.vcf.gz", "family.vcf.gz", "error_invalid_exception.vcf", MARKUP, "chr10.fastq.gz"]),
    ("Name", [MARKUP, "ada_genome.vcf.gz", "chr10.fastq.gz", "error_invalid_exception.vcf", "family.vcf.gz", "family.vcf.gz"]),
    ("Newest first", ["family.vcf.gz", "family.vcf.gz", "ada_genome.vcf.gz", MARKUP, "chr10.fastq.gz", "error_invalid_exception.vcf"]),
    ("Oldest first", ["error_invalid_exception.vcf", "ada_genome.vcf.gz", MARKUP, "chr10.fastq.gz", "family.vcf.gz", "family.vcf.gz"]),
    ("Category", ["chr10.fastq.gz", MARKUP, "ada_genome.vcf.gz", "error_invalid_exception.vcf", "family.vcf.gz", "family.vcf.gz"]),
])
def test_files_can_be_put_in_order(page: Page, server: SelectorServer, order: str, expected: list[str]) -> None:
    opened(page, server)
    choose_own(page)
    page.get_by_label("Sort").select_option(order)
    assert titles(page) == expected


def test_numbers_sort_by_value_and_files_without_a_date_come_last(page: Page, server: SelectorServer) -> None:
    given(page, server, [own("1", "chr10.vcf", DateAdded=None), own("2", "chr9.vcf", DateAdded="2020-01-01"), own("3", "chr2.vcf", DateAdded="2021-01-01")])
    page.get_by_label("Sort").select_option("Name")
    assert titles(page) == ["chr2.vcf", "chr9.vcf", "chr10.vcf"]
    page.get_by_label("Sort").select_option("Newest first")
    assert titles(page) == ["chr2.vcf", "chr9.vcf", "chr10.vcf"]
    page.get_by_label("Sort").select_option("Oldest first")
    assert titles(page) == ["chr9.vcf", "chr2.vcf", "chr10.vcf"]


def test_a_refresh_keeps_place_and_selection_and_tells_when_the_file_is_gone(page: Page, server: SelectorServer) -> None:
    opened(page, server, selected="227008")
    server.answer("all=true", [*OWN, own("1", "later.vcf", "SharedToMe")])
    page.get_by_role("button", name="Refresh").click()
    expect(option(page, "later.vcf")).to_be_visible()
    expect(segment(page, "Shared")).to_be_checked()
    expect(proceed(page)).to_be_enabled()
    server.answer("all=true", [file for file in ALL if file["Id"] != "227008"])
    page.get_by_role("button", name="Refresh").click()
    expect(proceed(page)).to_be_disabled()
    expect(status(page)).to_have_text("The selected file is no longer in the list.")
    assert heard(page, "select") == [{"id": None, "file": None, "displayName": None}]


def test_a_page_can_keep_a_refresh_to_itself(page: Page, server: SelectorServer) -> None:
    """A refresh that is not kept puts its request before the next one of this page: the gate holds both back."""
    opened(page, server, selected="227001")
    server.answer("all=true", [own("1", "fetched.vcf")])
    page.evaluate("selector.addEventListener('refresh', event => event.preventDefault(), { once: true })")
    asked = len(server.asked)
    page.get_by_role("button", name="Refresh").click()
    assert len(heard(page, "refresh")) == 1
    expect(page.locator(".card")).to_have_attribute("aria-busy", "false")
    # The same click without the listener fetches: only then does the server hear of anything.
    with page.expect_response(lambda response: response.url.endswith("/files?all=true")):
        page.get_by_role("button", name="Refresh").click()
    expect(option(page, "fetched.vcf")).to_be_visible()
    assert len(server.asked) == asked + 1


def test_an_older_answer_never_replaces_a_newer_one(page: Page, server: SelectorServer) -> None:
    server.answer("slow", [own("1", "old.vcf")], delay=(gate := Event()))
    over: list[str] = []
    for name in ("requestfinished", "requestfailed"):
        page.on(name, lambda request: over.append(request.url))  # type: ignore[call-overload]
    page.goto(server.url(src="/files?slow"))
    page.wait_for_function("window.selector?.shadowRoot")
    page.evaluate("selector.setAttribute('src', '/files?uploaded=true')")
    expect(option(page, "ada_genome.vcf.gz")).to_be_visible()
    page.evaluate("""() => { window.seen = []; const root = selector.shadowRoot
      new MutationObserver(() => seen.push(...[...root.querySelectorAll('.name')].map(e => e.innerText))).observe(root, { childList: true, subtree: true }) }""")
    gate.set()
    while not any("slow" in url for url in over):
        page.wait_for_timeout(20)
    page.get_by_role("button", name="Refresh").click()
    page.wait_for_function("seen.includes('ada_genome.vcf.gz')")
    assert "old.vcf" not in page.evaluate("seen")


def test_a_new_address_ends_the_load_of_the_old_one_also_in_a_closed_sheet(page: Page, server: SelectorServer) -> None:
    server.answer("old", [own("1", "old.vcf")], delay=(gate := Event()))
    server.answer("new", [own("2", "new.vcf")])
    page.goto(server.url(src="/files?old", modal=""))
    page.wait_for_function("window.selector?.shadowRoot?.querySelector('.sheet')")
    with page.expect_request("**/files?old"):
        page.evaluate("selector.show()")
    page.evaluate("() => { selector.hide(); selector.setAttribute('src', '/files?new') }")
    gate.set()
    page.evaluate("selector.show()")
    expect(option(page, "new.vcf")).to_be_visible()
    expect(options(page)).to_have_count(1)


def test_what_is_set_while_the_selector_is_off_the_page_counts_when_it_is_put_back(page: Page, server: SelectorServer) -> None:
    server.answer("new", [own("2", "new.vcf"), own("3", "newer.vcf")])
    opened(page, server, src="/files?uploaded=true")
    expect(option(page, "ada_genome.vcf.gz")).to_be_visible()
    away = """change => { const place = selector.parentElement; selector.remove()
      for (const [name, value] of Object.entries(change)) selector.setAttribute(name, value)
      place.append(selector) }"""
    page.evaluate(away, {"src": "/files?new"})
    expect(option(page, "new.vcf")).to_be_visible()
    expect(option(page, "ada_genome.vcf.gz")).to_have_count(0)
    page.evaluate(away, {"selected": "3"})
    expect(option(page, "newer.vcf")).to_have_attribute("aria-selected", "true")


# With the keyboard alone

def test_a_person_chooses_a_file_with_the_keyboard_alone(page: Page, server: SelectorServer) -> None:
    person = opened(page, server, closable="")
    person.go_to("My Files")
    person.keys("Enter")
    assert active_name(page) == "ada_genome.vcf.gz"
    person.keys("ArrowDown", "ArrowDown", "Enter")
    expect(proceed(page)).to_be_enabled()
    person.keys("Enter")
    expect(proceed(page)).to_be_disabled()
    person.keys("Home", "Space")
    person.go_to("Continue")
    person.keys("Enter")
    assert [detail["id"] for detail in heard(page, "continue")] == ["227001"]


def test_the_list_moves_by_arrows_pages_ends_and_letters(page: Page, server: SelectorServer) -> None:
    server.answer("many", MANY)
    person = opened(page, server, src="/files?many")
    choose_own(page)
    for key, name in [("End", "cohort-5000.vcf.gz"), ("ArrowDown", "cohort-5000.vcf.gz"), ("ArrowUp", "cohort-4999.vcf.gz"),
                      ("Home", "cohort-0001.vcf.gz"), ("ArrowUp", "cohort-0001.vcf.gz")]:
        person.keys(key)
        assert active_name(page) == name
        expect(page.locator(".row.active")).to_be_in_viewport()
    person.keys("PageDown")
    assert active_name(page) > "cohort-0003.vcf.gz"
    page.keyboard.type("cohort-4321")
    assert active_name(page) == "cohort-4321.vcf.gz"
    expect(page.locator(".row.active")).to_be_in_viewport()


def typed(page: Page, text: str, later: float) -> None:
    """Types a text so many seconds from now, as the events say: a pause that takes no time."""
    debugger = page.context.new_cdp_session(page)
    for letter in text:
        for kind, more in (("keyDown", {"text": letter}), ("keyUp", {})):
            debugger.send("Input.dispatchKeyEvent", {"type": kind, "key": letter, "timestamp": time.time() + later, **more})
    debugger.detach()


def test_one_letter_again_and_again_goes_through_its_names(page: Page, server: SelectorServer) -> None:
    person = given(page, server, [own(str(at), name) for at, name in enumerate(["apple", "Ábel", "berry", "a b", "22x"])])
    page.evaluate("selector.focus()")
    for expected in ("Ábel", "a b", "apple"):
        person.keys("a")
        assert active_name(page) == expected
    typed(page, "a b", later=10)
    assert active_name(page) == "a b", "a space within a name is part of it"
    typed(page, "22", later=20)
    assert active_name(page) == "22x"


def test_every_control_is_reached_by_tab_and_its_focus_is_seen(page: Page, server: SelectorServer) -> None:
    opened(page, server, closable="", selected="227001")
    stops = ShadowPerson(page).walk_all()
    order = ["Back", "How to select a file", "Close", "My Files,", "Uploaded,", "Search files", "Sort", "Refresh", "My Files:", "Details", "Continue"]
    places = [next((at for at, stop in enumerate(stops) if stop.startswith(name)), -1) for name in order]
    assert -1 not in places and places == sorted(places), stops


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_tabs_and_segments_move_by_arrows(page: Page, server: SelectorServer, direction: str) -> None:
    person = opened(page, server, page_dir=direction, selected="227001")
    person.go_to("My Files,")
    person.keys("ArrowRight")
    assert person.focus()["name"].startswith("Sample Files,")
    expect(tab(page, "Sample Files")).to_have_attribute("aria-selected", "true")
    person.keys("Home")
    expect(tab(page, "My Files")).to_have_attribute("aria-selected", "true")
    person.keys("End")
    person.go_to("All,")
    person.keys("ArrowDown")
    expect(segment(page, "Men")).to_be_checked()
    assert person.see_focus()["name"].startswith("Men,")
    assert titles(page)[0] == "Charles"


def test_search_order_refresh_and_details_work_by_keyboard(page: Page, server: SelectorServer) -> None:
    person = opened(page, server, closable="", selected="227002")
    person.go_to("Search files")
    page.keyboard.type("family")
    assert titles(page) == ["family.vcf.gz"] * 2
    person.keys("Escape")
    assert len(titles(page)) == 6 and heard(page, "close") == []
    person.keys("ArrowDown")
    assert person.focus()["name"].startswith("My Files:")
    person.go_to("Sort", back=True)
    person.keys("ArrowDown")
    assert titles(page)[1] == "ada_genome.vcf.gz"
    person.go_to("Refresh")
    person.keys("Enter")
    person.go_to("Details")
    person.keys("Enter")
    assert person.see_focus()["name"] == "Close"
    person.keys("Enter")
    assert person.focus()["name"] == "Details"
    person.keys("Escape")
    assert len(heard(page, "close")) == 1


# What a screen reader hears

def test_a_screen_reader_hears_roles_names_places_and_counts(page: Page, server: SelectorServer) -> None:
    server.answer("many", MANY)
    opened(page, server, src="/files?many", selected="400003")
    snapshot = page.locator("file-selector").aria_snapshot()
    for line in ('region "Select a file"', 'tablist "Kind of files"', 'tab "My Files, 5,000 files" [selected]', "tabpanel", 'radiogroup "Show"',
                 'radio "Uploaded, 5,000 files" [checked]', 'searchbox "Search files"', 'combobox "Sort"', 'listbox "My Files: Uploaded"'):
        assert line in snapshot, f"{line} is missing from\n{snapshot}"
    chosen = page.locator("[role=option][aria-selected=true]")
    assert [chosen.get_attribute(f"aria-{name}") for name in ("posinset", "setsize")] == ["3", "5000"]
    places = [int(row.get_attribute("aria-posinset")) for row in options(page).all()]
    assert places == sorted(places), "rows are in the document in their order"


def test_loading_errors_and_counts_are_announced(page: Page, server: SelectorServer) -> None:
    server.answer("slow", {"Message": "no"}, 500, delay=0.5)
    page.goto(server.url(src="/files?slow"))
    expect(status(page)).to_have_text("Loading the files…")
    expect(page.locator(".card")).to_have_attribute("aria-busy", "true")
    expect(page.get_by_role("alert").first).to_contain_text("status 500")
    opened(page, server, selected="227001")
    segment(page, "Shared").check()
    expect(status(page)).to_have_text("2 files")


@pytest.mark.parametrize("code", [200, 500])
def test_what_is_loaded_is_not_announced_as_loading(page: Page, server: SelectorServer, code: int) -> None:
    server.answer("slow", ALL, code, delay=(gate := Event()))
    page.goto(server.url(src="/files?slow"))
    expect(status(page)).to_have_text("Loading the files…")
    gate.set()
    expect(status(page)).to_have_text("18 files" if code == 200 else "")


# Text from elsewhere is text

def test_markup_in_names_is_shown_and_never_obeyed(page: Page, server: SelectorServer) -> None:
    server.answer("x", [own("1", MARKUP, MARKUP, FileType=MARKUP, DateAdded=MARKUP, **{"<i>key</i>": MARKUP}), *SAMPLES])
    opened(page, server, src="/files?x", remember="m")
    choose_own(page)
    assert titles(page) == [MARKUP]
    options(page).click()
    page.get_by_role("searchbox").fill("<img")
    proceed(page).click()
    page.get_by_role("button", name="Details").click()
    expect(page.get_by_role("dialog")).to_contain_text(MARKUP)
    expect(page.get_by_role("dialog")).to_contain_text("<i>key</i>")
    page.keyboard.press("Escape")
    tab(page, "Sample Files").click()
    page.get_by_role("searchbox").fill("<b>zz")
    server.answer("x", {"Message": MARKUP}, 500)
    opened(page, server, src="/files?x")
    expect(page.get_by_role("alert").first).to_contain_text(MARKUP)
    assert page.title() == "An app"
    assert page.evaluate("selector.shadowRoot.querySelectorAll('img, script, .row i, .row b, dialog i, dialog b').length") == 0


def test_nothing_offends_a_strict_content_security_policy(page: Page, server: SelectorServer) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    opened(page, server, selected="910001", closable="", remember="x")
    page.get_by_role("button", name="Details").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="How to").click()
    assert heard(page, "violation") == [] and errors == []
    source = SCRIPT.read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML", source)


# Every state, in every look

def state_loading(page: Page, server: SelectorServer) -> None:
    page.goto(server.url())
    expect(page.locator(".loading")).to_be_visible()


def state_error(page: Page, server: SelectorServer) -> None:
    server.answer("bad", {"Message": "Authorization error: invalid token"}, 401)
    opened(page, server, src="/files?bad", closable="")


def state_empty(page: Page, server: SelectorServer) -> None:
    server.answer("none", [])
    opened(page, server, src="/files?none")


def state_intro(page: Page, server: SelectorServer) -> None:
    opened(page, server, closable="")


def state_own(page: Page, server: SelectorServer) -> None:
    opened(page, server, closable="")
    choose_own(page)
    page.keyboard.press("ArrowDown")


def state_selected(page: Page, server: SelectorServer) -> None:
    opened(page, server, selected="910003", closable="")


def state_remembered(page: Page, server: SelectorServer) -> None:
    opened(page, server, remember="ada", selected="227002")
    proceed(page).click()
    opened(page, server, remember="ada")


def state_no_own(page: Page, server: SelectorServer) -> None:
    server.answer("some", [*SAMPLES, 3])
    opened(page, server, src="/files?some", upload_href="https://sequencing.com/upload")


def state_nothing(page: Page, server: SelectorServer) -> None:
    state_own(page, server)
    page.get_by_role("searchbox").fill("sibling")


def state_details(page: Page, server: SelectorServer) -> None:
    state_selected(page, server)
    page.get_by_role("button", name="Details").click()


def state_help(page: Page, server: SelectorServer) -> None:
    state_selected(page, server)
    page.get_by_role("button", name="How to").click()


def state_demand(page: Page, server: SelectorServer) -> None:
    opened(page, server, page_form="1", required="", name="file")
    choose_own(page)
    page.get_by_role("button", name="Send").click()


def state_stale(page: Page, server: SelectorServer) -> None:
    opened(page, server, selected="227002", closable="")
    server.answer("all=true", {"Message": "down"}, 503)
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator(".stale")).to_be_visible()


def state_stale_intro(page: Page, server: SelectorServer) -> None:
    opened(page, server, closable="")
    server.answer("all=true", {"Message": "down"}, 503)
    page.evaluate("selector.refresh()")
    expect(page.locator(".stale")).to_be_visible()


def state_selection_gone(page: Page, server: SelectorServer) -> None:
    opened(page, server, selected="227008", closable="")
    server.answer("all=true", [file for file in ALL if file["Id"] != "227008"])
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator(".notices")).to_contain_text("no longer in the list")


STATES: dict[str, Callable[[Page, SelectorServer], None]] = {
    name.removeprefix("state_"): value for name, value in list(globals().items()) if name.startswith("state_")}
every_state = pytest.mark.parametrize("state", STATES)


@pytest.mark.parametrize("scheme", SCHEMES)
@every_state
def test_axe_finds_nothing_wrong(open_page: OpenPage, server: SelectorServer, state: str, scheme: str) -> None:
    page = open_page(scheme=scheme, width=760, height=860, reduced_motion="reduce")
    STATES[state](page, server)
    page.screenshot(path=artefact(f"selector-{state}-{scheme}"), full_page=True)
    assert violations(page) == []


@every_state
@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_nothing_scrolls_sideways_on_a_screen_of_320_pixels(open_page: OpenPage, server: SelectorServer, state: str, direction: str) -> None:
    page = open_page(width=320, height=640, reduced_motion="reduce")
    STATES[state](page, server)
    page.evaluate("direction => { document.documentElement.dir = direction }", direction)
    page.screenshot(path=artefact(f"selector-{state}-320-{direction}"), full_page=True)
    assert overflow(page) == []


@pytest.mark.parametrize("state", ["intro", "own", "selected", "no_own"])
def test_text_at_twice_the_size_still_fits(open_page: OpenPage, server: SelectorServer, state: str) -> None:
    page = open_page(width=640, height=900)
    STATES[state](page, server)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    page.screenshot(path=artefact(f"selector-{state}-200-percent"), full_page=True)
    assert overflow(page) == []
    cut = page.evaluate("""() => [...selector.shadowRoot.querySelectorAll('.row:not(.probe) .text')].filter(text =>
      text.getBoundingClientRect().height > text.parentElement.getBoundingClientRect().height).length""")
    assert cut == 0, "a row is higher than its place"


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("width", [390, 760])
def test_the_refresh_icon_stands_above_the_icons_of_the_rows(open_page: OpenPage, server: SelectorServer, width: int, direction: str) -> None:
    page = open_page(width=width, height=844)
    given(page, server, [own("1", "a.vcf")], page_dir=direction)
    middles = [box["x"] + box["width"] / 2 for box in (page.locator(f"{icon} svg").first.bounding_box()
                                                       for icon in ("button.refresh", ".row:not(.probe) .more"))]
    assert abs(middles[0] - middles[1]) < 1.5, middles


def test_the_words_of_a_segment_stand_in_the_middle_of_their_pill(page: Page, server: SelectorServer) -> None:
    opened(page, server)
    choose_own(page)
    middles = [[box["y"] + box["height"] / 2 for box in (pill.bounding_box(), pill.locator(":scope > span").bounding_box()) if box]
               for pill in page.locator(".segments label").all()]
    assert len(middles) == 4 and all(abs(pill - words) < .3 for pill, words in middles), middles


COLOUR = """async ([png, x, y]) => {
  const bytes = Uint8Array.from(atob(png), letter => letter.charCodeAt(0))
  const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  const drawing = new OffscreenCanvas(picture.width, picture.height).getContext('2d')
  drawing.drawImage(picture, 0, 0)
  return [...drawing.getImageData(x, y, 1, 1).data].slice(0, 3)
}"""


def test_the_tint_of_a_selected_row_reaches_the_lists_edges_and_the_ring_of_the_focus_is_drawn_over_it(page: Page, server: SelectorServer) -> None:
    person = given(page, server, [own("1", "a.vcf"), own("2", "b.vcf")], selected="1")
    person.go_to("My Files: Uploaded")
    box, row = (page.locator(part).first.bounding_box() for part in (".list", ".row[aria-selected=true]"))
    assert box and row and all(abs(box[side] - row[side]) < .5 for side in ("x", "y", "width")), (box, row)
    ring = page.locator(".list").evaluate("list => getComputedStyle(list).outlineColor.match(/\\d+/g).map(Number)")
    picture = base64.b64encode(page.screenshot()).decode()
    middle = round(row["y"] + row["height"] / 2)
    for x, y in [(round(box["x"] + box["width"] / 2), round(box["y"]) + 1), (round(box["x"]) + 1, middle), (round(box["x"] + box["width"]) - 2, middle)]:
        colour = page.evaluate(COLOUR, [picture, x, y])
        assert all(abs(one - other) < 4 for one, other in zip(colour, ring, strict=True)), (colour, ring, x, y)


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_help_keeps_off_the_edges_of_a_phone(open_page: OpenPage, server: SelectorServer, direction: str) -> None:
    page = open_page(width=390, height=844)
    opened(page, server, closable="", page_dir=direction)
    page.get_by_role("button", name="How to").click()
    box = page.get_by_role("dialog", name="How to select a file").bounding_box()
    assert box["x"] > 10 and box["x"] + box["width"] < 380, box


def test_from_right_to_left_marks_are_on_the_right_and_names_keep_their_direction(page: Page, server: SelectorServer) -> None:
    given(page, server, [own("1", "\u202eevil.vcf"), own("2", "קובץ.vcf"), *SAMPLES], page_dir="rtl")
    choose_own(page)
    mark, more = (options(page).first.locator(part).bounding_box() for part in (".mark", ".more"))
    assert mark and more and mark["x"] > more["x"]
    assert page.locator(".row:not(.probe) .name bdi").count() == 2
    # The drawn arrow, and not the button alone, is turned around.
    assert page.locator("svg.back").evaluate("arrow => arrow.getScreenCTM().a") < 0
    page.get_by_role("button", name="How to").click()
    box = page.get_by_role("dialog").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 1024


def test_colours_follow_the_page(open_page: OpenPage, server: SelectorServer) -> None:
    page = open_page(scheme="dark")
    opened(page, server)
    colour = "getComputedStyle(selector.shadowRoot.querySelector('.card')).backgroundColor"
    assert page.evaluate(colour) == "rgb(27, 31, 35)"
    page.evaluate("selector.style.colorScheme = 'light'")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("state", ["own", "selected", "error"])
def test_in_forced_colours_the_focus_is_seen(open_page: OpenPage, server: SelectorServer, state: str) -> None:
    page = open_page(forced_colors="active")
    STATES[state](page, server)
    page.screenshot(path=artefact(f"selector-{state}-forced-colours"))
    page.get_by_role("heading", name="An app").click()  # from where Tab starts again
    assert ShadowPerson(page).walk_all()


def test_nothing_moves_when_motion_is_unwelcome(open_page: OpenPage, server: SelectorServer) -> None:
    page = open_page(reduced_motion="reduce")
    state_loading(page, server)
    assert page.evaluate("document.getAnimations().length + selector.shadowRoot.getAnimations().length") == 0


def test_words_come_from_a_table_and_what_it_lacks_stays_english(page: Page, server: SelectorServer) -> None:
    page.goto(server.url())
    page.wait_for_function("window.selector?.shadowRoot")
    page.evaluate("""async files => {
      const { texts } = await import('/file-selector.js')
      texts.eo = { title: 'Elekti dosieron', files: { one: '%1$@ dosiero', other: '%1$@ dosieroj' }, own: 'Miaj' }
      const other = document.createElement('file-selector')
      other.lang = 'eo'
      other.files = files
      selector.replaceWith(other)
    }""", ALL)
    expect(page.get_by_role("heading", name="Elekti dosieron")).to_be_visible()
    expect(page.get_by_role("button", name="Miaj")).to_contain_text("10 dosieroj")
    expect(page.get_by_role("button", name="Sample Files")).to_be_visible()


def test_english_in_the_place_of_another_language_keeps_its_own_direction(open_page: OpenPage, server: SelectorServer) -> None:
    page = open_page(scheme="dark", width=390, height=844)
    opened(page, server, page_lang="he", page_dir="rtl")
    card = page.locator(".card")
    expect(card).to_have_attribute("lang", "en")
    assert page.evaluate("getComputedStyle(selector.shadowRoot.querySelector('.card')).direction") == "ltr"
    page.screenshot(path=artefact("selector-fallback-390"))
    expect(page.get_by_role("button", name="Sample Files")).to_contain_text("8 files")
    opened(page, server, page_lang="en-GB", page_dir="rtl")
    assert card.get_attribute("lang") is None, "the page's own region"


def test_two_selectors_on_a_page_share_nothing(page: Page, server: SelectorServer) -> None:
    opened(page, server, selected="227001")
    page.evaluate("selector.after(Object.assign(document.createElement('file-selector'), { files: [{ Id: 1, Name: 'b', FileCategory: 'Uploaded' }] }))")
    page.locator("file-selector").nth(1).get_by_role("listbox").get_by_role("option").click()
    assert page.evaluate("[...document.querySelectorAll('file-selector')].map(one => one.selected)") == ["227001", "1"]


def test_a_selector_taken_away_and_put_back_goes_on(page: Page, server: SelectorServer) -> None:
    opened(page, server, selected="227001")
    page.evaluate("() => { const place = selector.parentElement; selector.remove(); place.append(selector) }")
    expect(proceed(page)).to_be_enabled()
    expect(option(page, "ada_genome.vcf.gz")).to_be_visible()


# Many files

def test_five_thousand_files_cost_few_elements_and_their_times_are_printed(
        page: Page, server: SelectorServer, capsys: pytest.CaptureFixture[str]) -> None:
    page.goto(server.url())
    page.wait_for_function("window.selector?.shadowRoot")
    times = page.evaluate("""async files => {
      const frame = () => new Promise(done => requestAnimationFrame(done))
      const painted = async (work) => { const start = performance.now(); work(); await frame(); await frame(); return performance.now() - start }
      const root = selector.shadowRoot, times = {}
      times.script = await (async () => { const start = performance.now(); selector.files = files; return performance.now() - start })()
      await frame()
      times.list = await painted(() => [...root.querySelectorAll('.enter')][0].click())
      const list = root.querySelector('.list'), frames = []
      let most = 0, last = performance.now()
      for (let step = 0; step < 120; step += 1) {
        list.scrollTop += step < 90 ? 400 : list.scrollHeight / 40
        await frame()
        frames.push(performance.now() - last); last = performance.now()
        most = Math.max(most, root.querySelectorAll('*').length)
      }
      frames.sort((a, b) => a - b)
      Object.assign(times, { median: frames[60], p95: frames[114], worst: frames[119] })
      const search = root.querySelector('input[type=search]')
      const type = (text) => painted(() => { search.value = text; search.dispatchEvent(new Event('input')) })
      times.firstSearch = await type('4321'); times.nextSearch = await type('cohort 43')
      times.sort = await painted(() => { const sort = root.querySelector('select'); sort.value = 'name'; sort.dispatchEvent(new Event('change')) })
      const rows = root.querySelectorAll('.row').length
      return { times, most, rows }
    }""", MANY)
    with capsys.disabled():
        print("\n5,000 files, milliseconds:", ", ".join(f"{name} {value:.1f}" for name, value in times["times"].items()),
              f"; at most {times['most']} elements")
    assert times["most"] < 500 and times["rows"] < 40


def test_scrolling_far_and_back_shows_the_right_rows(page: Page, server: SelectorServer) -> None:
    given(page, server, MANY)
    choose_own(page)
    for top in (0.5, 1, 0):
        page.evaluate("top => { const list = selector.shadowRoot.querySelector('.list'); list.scrollTop = list.scrollHeight * top }", top)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shown = page.evaluate("""() => { const list = selector.shadowRoot.querySelector('.list').getBoundingClientRect()
          return [...selector.shadowRoot.querySelectorAll('.row:not(.probe)')].filter(row => { const box = row.getBoundingClientRect()
            return box.bottom > list.top + 1 && box.top < list.bottom - 1 }).map(row => row.querySelector('.name').innerText) }""")
        first = int(re.findall(r"\d{4}", shown[0])[0])
        assert shown == [f"cohort-{first + at:04}.vcf.gz" for at in range(len(shown))] and len(shown) >= 5
    assert first == 1


def test_the_component_is_one_file_without_imports_and_small() -> None:
    """Comments included, without the texts: a minified file is smaller still."""
    script = (MODULE / "Web/shared.js").read_bytes() + SCRIPT.read_bytes()
    assert len(gzip.compress(script)) <= 27_000
    assert len(gzip.compress(served_script())) <= 70_000, "with the texts of all languages"
    assert not re.search(rb"^\s*import\b|\bimport\(", script, re.M)
