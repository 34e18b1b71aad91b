"""`<registration-sheet>` with scripted answers. With its real server it is met in `test_weather_my_way.py`."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from selector_page import SelectorServer, serving
from waiting import until


@pytest.fixture
def server() -> Iterator[SelectorServer]:
    with serving() as one:
        yield one


@pytest.fixture
def field(page: Page, server: SelectorServer) -> Locator:
    page.goto(f"{server.origin}/sheet")
    return page.get_by_label("Email address")


def said(page: Page) -> Locator:
    return page.get_by_role("dialog").get_by_role("status")


@pytest.mark.parametrize("address", [
    "stranger", "@example.test", "ada@", "ada@example", "a b@example.test", ".ada@example.test", "ada.@example.test", "a..b@example.test",
    "ada@-example.test", "ada@example..test", "ada@exa_mple.test", "ada@[1.2.3]", "ada@[256.1.1.1]", f"{'a' * 65}@example.test",
    f"ada@{'e' * 64}.test", f"ada@{'e.' * 124}test", 'a"b@example.test', '"a"b"@example.test'])
def test_an_address_that_is_none_is_not_sent(page: Page, server: SelectorServer, field: Locator, address: str) -> None:
    field.fill(address)
    field.press("Enter")
    expect(said(page)).to_have_text("That is not an email address. Check its spelling.")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    assert server.registered == []


@pytest.mark.parametrize("address", [
    "ada@example.test", "a.d.a+genes@mail.example.test", "o'brien_{x}@example.test", '"a b\\"c@d"@example.test', "ada@[127.0.0.1]",
    "ada@[IPv6:::1]", f"{'a' * 64}@{'e' * 63}.test", "1@2.3"])
def test_an_address_is_sent_as_it_was_typed(page: Page, server: SelectorServer, field: Locator, address: str) -> None:
    server.registration = [b'{"outcome":"mail_sent"}']
    field.fill(address)
    field.press("Enter")
    expect(said(page)).to_contain_text("Open the link in the email")
    assert server.registered == [{"email": address}]


def test_a_registration_sheet_taken_away_and_put_back_is_closed_and_opens_again(page: Page, field: Locator) -> None:
    expect(field).to_be_visible()
    page.evaluate("() => { const place = sheet.parentElement; sheet.remove(); place.append(sheet) }")
    expect(field).to_be_hidden()
    page.evaluate("sheet.show()")
    expect(field).to_be_focused()
    assert page.evaluate("sheet.shadowRoot.querySelector('dialog').matches(':modal')")


def test_an_answer_is_read_up_to_its_limit_and_no_further(page: Page, server: SelectorServer, field: Locator) -> None:
    server.registration = [b'{"outcome":"mail_sent","padding":"', *[b"x" * 65_536] * 1_000, b'"}']
    field.fill("ada@example.test")
    field.press("Enter")
    expect(said(page)).to_have_class("said bad")
    assert "Open the link" not in said(page).inner_text()
    # The server notices a moment later that the page has closed its connection.
    until(lambda: server.registered == [{"email": "ada@example.test"}, "the page had enough"], lambda: server.registered)


def test_an_answer_just_below_the_limit_is_read(page: Page, server: SelectorServer, field: Locator) -> None:
    server.registration = [b'{"outcome":"mail_sent","padding":"', b"x" * 65_000, b'"}']
    field.fill("ada@example.test")
    field.press("Enter")
    expect(said(page)).to_contain_text("Open the link in the email")
