"""The table of answers that the kit's selector is held to as well (Tests/FileSelectorTests/Fixtures/file-selector-cases.json)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from selector_page import MODULE, SelectorServer, options, serving

TABLE = Path(__file__).parents[1] / "FileSelectorTests/Fixtures/file-selector-cases.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text())["cases"]
VISITS: list[dict[str, Any]] = json.loads(TABLE.read_text())["visits"]
# The component's words for what the kit calls otherwise.
SEGMENTS = {"uploaded": "Uploaded", "shared": "Shared", "from_apps": "From Apps", "altruist": "Altruist", "other": "Other",
            "all": "All", "men": "Men", "women": "Women", "unstated": "Not stated"}
ORDERS = {"name": "Name", "newest": "Newest first", "oldest": "Oldest first", "category": "Category"}
TABS = {"My Files": ["uploaded", "shared", "from_apps", "altruist", "other"], "Sample Files": ["all", "men", "women", "unstated"]}


WORDS: dict[str, Any] = json.loads((MODULE / "Words/Strings.xcstrings").read_text())["strings"]


def notice(key: str) -> re.Pattern[str]:
    """What a notice begins with, whatever is filled in."""
    text = WORDS[key]["localizations"]["en-US"]
    forms = text["variations"]["plural"].values() if "variations" in text else [text]
    return re.compile("|".join(re.escape(form["stringUnit"]["value"]).replace(re.escape("%1$@"), ".+") for form in forms))


NOTICES = {key: notice(key) for key in ("stale", "selection_gone", "remembered", "remembered_gone", "no_own", "no_samples", "skipped")}


@pytest.fixture(scope="module")
def server() -> Iterator[SelectorServer]:
    with serving() as one:
        yield one


def given(page: Page, server: SelectorServer, case: dict[str, Any], language: str = "") -> None:
    page.goto(server.url(page_lang=language))
    page.wait_for_function("window.selector?.shadowRoot")
    page.evaluate("""files => { selector.files = files; selector.style.setProperty('--file-selector-list-height', '80rem') }""",
                  case["answer"])


def listed(page: Page) -> list[str]:
    """The identifiers of the rows: each row is selected once, as a person would."""
    # A click on a row that is selected already would clear the selection.
    page.evaluate("selector.selected = null")
    ids = []
    for row in options(page).all():
        row.click()
        ids.append(page.evaluate("selector.selected"))
    return ids


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_answer_is_read_or_refused_and_every_file_stands_in_its_segments(
        page: Page, server: SelectorServer, case: dict[str, Any]) -> None:
    given(page, server, case)
    if case.get("error"):
        expect(page.get_by_role("alert").filter(has_text="could not be loaded")).to_be_visible()
        return
    if not case["segments"]:
        expect(page.get_by_role("heading", name="There are no files yet")).to_be_visible()
        return
    notice = page.locator(".notices").get_by_text("could not be read")
    expect(notice).to_have_count(1 if case["unreadable"] else 0)
    if case["unreadable"]:
        expect(notice).to_contain_text(str(case["unreadable"]))
    seen = {}
    for tab, segments in TABS.items():
        if not set(segments) & set(case["segments"]):
            continue
        open_tab(page, tab)
        shown = [label.split("\n")[0] for label in page.locator(".segments label").all_inner_texts()]
        for key in segments:
            if any(text.startswith(SEGMENTS[key]) for text in shown):
                page.get_by_role("radio", name=re.compile(f"^{SEGMENTS[key]},")).check()
                seen[key] = listed(page)
    assert seen == case["segments"]


def open_tab(page: Page, name: str) -> None:
    start = page.get_by_role("button", name=name)
    if start.is_visible():
        start.click()
    else:
        page.get_by_role("tab", name=re.compile(f"^{name},")).click()


@pytest.mark.parametrize("case", [case for case in CASES if case.get("names")], ids=lambda case: case["name"])
def test_a_file_has_one_name_in_its_row_and_one_when_it_is_chosen(
        page: Page, server: SelectorServer, case: dict[str, Any]) -> None:
    for identifier, names in case["names"].items():
        given(page, server, case)
        page.evaluate("id => { selector.selected = id }", identifier)
        chosen = page.get_by_role("option", selected=True)
        assert [chosen.locator(".name").text_content(), page.evaluate("selector.selectedName")] == names


@pytest.mark.parametrize("case", [case for case in CASES if case.get("orders")], ids=lambda case: case["name"])
def test_files_are_put_in_the_same_order(page: Page, server: SelectorServer, case: dict[str, Any]) -> None:
    given(page, server, case)
    open_tab(page, "Sample Files" if "all" in case["segments"] else "My Files")
    for order, identifiers in case["orders"].items():
        page.get_by_label("Sort").select_option(ORDERS[order])
        assert listed(page) == identifiers, order


@pytest.mark.parametrize("case", [case for case in CASES if case.get("searches")], ids=lambda case: case["name"])
def test_a_search_finds_the_same_files(page: Page, server: SelectorServer, case: dict[str, Any]) -> None:
    given(page, server, case, case.get("language", ""))
    if page.get_by_role("button", name="Sample Files").is_visible():
        open_tab(page, "Sample Files")
    for search, identifiers in case["searches"].items():
        page.get_by_role("searchbox").fill(search)
        assert listed(page) == identifiers, search


def selected(page: Page, server: SelectorServer, case: dict[str, Any], identifier: str) -> Locator:
    """The row of a file that is selected by its identifier."""
    given(page, server, case)
    page.evaluate("id => { selector.selected = id }", identifier)
    row = page.get_by_role("listbox").get_by_role("option", selected=True)
    expect(row).to_be_visible()
    return row


@pytest.mark.parametrize("case", [case for case in CASES if case.get("facts")], ids=lambda case: case["name"])
def test_a_row_has_the_same_facts(page: Page, server: SelectorServer, case: dict[str, Any]) -> None:
    for identifier, facts in case["facts"].items():
        assert selected(page, server, case, identifier).locator(".fact").all_text_contents() == facts, identifier


@pytest.mark.parametrize("case", [case for case in CASES if case.get("details")], ids=lambda case: case["name"])
def test_the_details_state_the_same_in_the_same_order(page: Page, server: SelectorServer, case: dict[str, Any]) -> None:
    for identifier, lines in case["details"].items():
        selected(page, server, case, identifier).locator(".more").click()
        dialog = page.get_by_role("dialog", name="File details")
        expect(dialog).to_be_visible()
        shown = zip(dialog.locator("dt").all_text_contents(), dialog.locator("dd").all_text_contents())
        assert [f"{label}: {value}" for label, value in shown] == lines, identifier


@pytest.mark.parametrize("case", [case for case in CASES if case.get("dates")], ids=lambda case: case["name"])
def test_a_date_is_read_in_the_same_notations(page: Page, server: SelectorServer, case: dict[str, Any]) -> None:
    given(page, server, case)
    assert {record["Id"]: [row.locator(".meta").inner_text()] for record, row in zip(case["answer"], options(page).all())} == case["dates"]


@pytest.mark.parametrize("case", [case for case in CASES if case.get("pictures")], ids=lambda case: case["name"])
def test_a_persona_has_the_same_picture(page: Page, server: SelectorServer, case: dict[str, Any]) -> None:
    given(page, server, case)
    for identifier, drawn in case["pictures"].items():
        record = next(record for record in case["answer"] if record["Id"] == identifier)
        picture = page.evaluate("""async ([id, name]) => (await import('/file-selector.js')).readPicture(id, name)""",
                                [identifier, record["FriendlyDesc1"]])
        arcs = [f"{arc['gap']} {arc['sweep']} {arc['weight']}" for arc in picture["arcs"]]
        assert [str(picture["hue"]), picture["initial"], *arcs] == drawn


def take(page: Page, files: dict[str, dict[str, Any]], action: str, names: list[str]) -> None:
    """Does what a step of a visit says."""
    match action:
        case "list":
            page.evaluate("files => { selector.files = files }", [files[name] for name in names])
        case "fail":
            page.evaluate("selector.files = new Error('down')")
        case "open":
            open_tab(page, {"own": "My Files", "sample": "Sample Files"}[names[0]])
        case "tap":
            file = files[names[0]]
            is_sample = file["FileCategory"] == "Community"
            open_tab(page, "Sample Files" if is_sample else "My Files")
            title = page.locator(".name", has_text=re.compile(f"^{re.escape(file['FriendlyDesc1' if is_sample else 'Name'])}$"))
            options(page).filter(has=title).click()
        case "select":
            page.evaluate("id => { selector.selected = id }", names[0])
        case "continue":
            page.get_by_role("button", name="Continue").click()
        case "forget":
            page.evaluate("selector.forget()")
        case _:
            raise AssertionError(f"unknown step {action}")


@pytest.mark.parametrize("visit", VISITS, ids=lambda visit: visit["name"])
def test_after_each_step_of_a_visit_the_same_file_is_selected_and_the_same_notices_are_shown(
        page: Page, server: SelectorServer, visit: dict[str, Any]) -> None:
    files = visit["files"]
    page.goto(server.url(remember="visitor"))
    page.wait_for_function("window.selector?.shadowRoot")
    if "remembered" in visit:
        file = files[visit["remembered"]]
        page.evaluate("kept => localStorage.setItem('file-selector:visitor', JSON.stringify(kept))", {"id": file["Id"], "name": file["Name"]})
    for step in visit["steps"]:
        action, *names = step["do"]
        take(page, files, action, names)
        told = page.locator(".notices > p").all_text_contents()
        shown = [next((key for key, pattern in NOTICES.items() if pattern.match(text)), text) for text in told]
        assert [page.evaluate("selector.selectedName"), shown] == [step["selected"], step["notices"]], step
