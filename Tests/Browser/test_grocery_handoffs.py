"""Examples/GroceryExpress and what is between it and IFTTT: the mail, the app, other browsers, links that are used twice.

A web page cannot know whether the IFTTT app is installed: the shop always opens IFTTT's page, and a phone may give that page to
the app. Here the browser does the phone's part: what it would open at `/access/api/` it opens in the app's simulator."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from conftest import OpenPage
from shop_visit import CONNECTION, Hand, Shop, into_the_app, leave, look, open_connection, own_script, say_yes, second_tab, settings, switch, until

RETURNING = "edsger@example.test"


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return own_script(open_page())


def as_returning_user(page: Page, shop: Shop) -> Hand:
    """A customer whose address IFTTT knows; the configuration is done on IFTTT's pages."""
    settings(page, shop, customer="garden-1004", email=RETURNING, own_configuration=False)
    open_connection(page, shop)
    return Hand(page, "pointer")


def shop_page(shop: Shop) -> str:
    return f"{shop.origin}/connections/{CONNECTION}"


# The mail

def test_a_returning_user_finds_the_link_in_the_mailbox_and_lands_connected(shop: Shop, page: Page) -> None:
    hand = as_returning_user(page, shop)
    leave(page, hand, shop, RETURNING)
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your mail")
    hand.press(page.get_by_role("link", name="Open the sandbox's mailbox"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Mailbox")
    mails = page.locator("ul.rows li")
    expect(mails).to_have_count(1)
    expect(mails).to_contain_text(f"to {RETURNING}")
    look(page, "mailbox")
    hand.press(mails.get_by_role("link"))
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Welcome back, .*edsger"))
    look(page, "letter")
    hand.press(page.get_by_role("button", name="Continue"))
    expect(page.get_by_role("heading", level=1)).not_to_have_text(re.compile("^Welcome back"))
    say_yes(page, hand, shop)
    assert page.url == shop_page(shop)
    until(page, "connected")
    expect(switch(page)).to_be_checked()
    page.goto(f"{shop.sandbox}/mailbox")
    expect(page.locator("ul.rows li")).to_contain_text("(used)")


def test_a_link_that_was_used_is_told_to_be_and_changes_nothing(shop: Shop, page: Page) -> None:
    hand = as_returning_user(page, shop)
    leave(page, hand, shop, RETURNING)
    link = shop.mail_link(RETURNING)
    again = page.context.new_page()
    again.goto(link)  # a mail program's look, or a second tap, before the first is used
    page.goto(link)
    hand.press(page.get_by_role("button", name="Continue"))
    expect(page.get_by_role("heading", level=1)).not_to_have_text(re.compile("^Welcome back"))
    say_yes(page, hand, shop)
    until(page, "connected")
    again.get_by_role("button", name="Continue").click()
    expect(again.get_by_role("heading", level=1)).to_have_text("Start again")
    look(again, "stale")
    assert again.goto(link).status == 410  # type: ignore[union-attr]
    page.reload()
    until(page, "connected")


def test_a_link_that_is_opened_in_a_browser_without_the_shops_customer_connects_no_account_there(shop: Shop, page: Page, open_page: OpenPage) -> None:
    hand = as_returning_user(page, shop)
    leave(page, hand, shop, RETURNING)
    other = open_page()
    answers: list[tuple[int, str]] = []
    other.on("response", lambda response: answers.append((response.status, response.url)) if response.url.startswith(shop.origin) else None)
    other.goto(shop.mail_link(RETURNING))
    stranger = Hand(other, "pointer")
    stranger.press(other.get_by_role("button", name="Continue"))
    expect(other.get_by_role("heading", level=1)).not_to_have_text(re.compile("^Welcome back"))
    say_yes(other, stranger, shop)
    assert answers[0][0] == 303 and "/return?" in answers[0][1]
    assert other.url == shop_page(shop), "what IFTTT brought stands in no address"
    until(other, "connect")
    assert not [cookie for cookie in other.context.cookies(shop.origin) if "token" in cookie["name"]]
    # The customer's own browser waits and may end it.
    own = second_tab(page, shop)
    until(own, "going_to_service")
    Hand(own, "pointer").press(own.locator("connect-button .footer").get_by_role("button", name="Cancel"))
    until(own, "connect")


# The app

def to_the_app(page: Page, hand: Hand, shop: Shop) -> None:
    page.context.route(f"{shop.sandbox}/access/api/**", into_the_app)
    leave(page, hand, shop, RETURNING)
    expect(page.locator(".surface")).to_have_text("IFTTT app")


def test_the_app_takes_the_page_and_brings_the_user_back_connected(shop: Shop, page: Page) -> None:
    hand = as_returning_user(page, shop)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "/access/api/" in request.url else None)
    to_the_app(page, hand, shop)
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Continue as .*edsger"))
    look(page, "app-identify")
    back = parse_qs(urlsplit(sent[0]).query)["sdk_return_to"][0]
    assert back.startswith(f"{shop.origin}/connect/hosted/return?") and len(parse_qs(urlsplit(back).query)) >= 2, "the attempt's state goes along"
    headings = say_yes(page, hand, shop)
    assert headings[0].startswith("Continue as")
    assert page.url == shop_page(shop), "neither state nor token is where one can see it"
    until(page, "connected")


def end(page: Page, name: str) -> None:
    page.get_by_text("End with a failure (sandbox)", exact=True).click()
    page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize(("way", "says"), [("Configuration cancelled", "Canceled"), ("Verification failed", "Something went wrong"),
                                           ("Connection request failed", "Something went wrong"), ("No next_step at all", "Something went wrong"),
                                           ("An unknown next_step", "Something went wrong")])
def test_what_ends_in_the_app_is_told_in_the_shop(shop: Shop, page: Page, way: str, says: str) -> None:
    hand = as_returning_user(page, shop)
    to_the_app(page, hand, shop)
    end(page, way)
    page.wait_for_url(shop_page(shop))
    until(page, "connect")
    expect(switch(page)).not_to_be_checked()
    expect(page.locator("connect-button .footer")).to_contain_text(says)


def test_leaving_the_app_without_finishing_leaves_a_way_back_and_a_way_out(shop: Shop, page: Page) -> None:
    hand = as_returning_user(page, shop)
    to_the_app(page, hand, shop)
    end(page, "Close the window")
    expect(page.get_by_role("heading", level=1)).to_have_text("You can close this page")
    other = second_tab(page, shop)
    until(other, "going_to_service")
    page.goto(shop_page(shop))
    until(page, "connect")
    expect(page.locator("connect-button .footer")).not_to_contain_text("Something went wrong")
    until(other, "connect")
    leave(page, hand, shop, RETURNING)
    until(other, "going_to_service")
    again = Hand(other, "pointer")
    again.press(switch(other))
    other.wait_for_url(f"{shop.sandbox}/**")
    say_yes(other, again, shop)
    until(other, "connected")


def altered(parameter: str, value: str) -> Callable[[str], str]:
    return lambda url: re.sub(rf"([?&]){parameter}=[^&]*", rf"\g<1>{parameter}={value}", url)


def test_a_redirect_with_another_state_or_of_an_attempt_that_is_over_counts_for_nothing(shop: Shop, page: Page) -> None:
    hand = as_returning_user(page, shop)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if "/access/api/" in request.url else None)
    to_the_app(page, hand, shop)
    first = parse_qs(urlsplit(sent[0]).query)["sdk_return_to"][0] + "&next_step=complete&user_token=stolen"
    names = [name for name in parse_qs(urlsplit(first).query) if name not in ("connection", "next_step", "user_token")]
    assert len(names) == 1, "one state"
    other = second_tab(page, shop)
    for address in (altered(names[0], "x" * 43)(first), re.sub(rf"[?&]{names[0]}=[^&]*", "", first).replace("return&", "return?")):
        assert other.goto(address).status == 400, address  # type: ignore[union-attr]
        assert "stolen" not in other.url and "stolen" not in other.content()
        look(other, "not-for-you")
        other.goto(shop_page(shop))
        until(other, "going_to_service")
    Hand(other, "pointer").press(other.locator("connect-button .footer").get_by_role("button", name="Cancel"))
    until(other, "connect")
    page.goto(shop_page(shop))
    until(page, "connect")
    leave(page, hand, shop, RETURNING)
    assert other.goto(first).status == 400  # type: ignore[union-attr]
    other.goto(shop_page(shop))
    until(other, "going_to_service")


# IFTTT's other pages, as one comes through them

def test_every_page_on_the_way_is_fit_to_be_seen(shop: Shop, page: Page) -> None:
    settings(page, shop, customer="", own_configuration=False)
    settings(page, shop, customer="garden-1005", email="new@example.test", own_configuration=False)
    open_connection(page, shop)
    hand = Hand(page, "pointer")
    leave(page, hand, shop, "new@example.test")
    seen: list[str] = []
    for number in range(8):
        if page.url.startswith(shop.origin):
            break
        seen.append(page.locator("h1").inner_text())
        look(page, f"flow-{number}")
        for field in page.locator("select").all():
            hand.choose(field)
        if seen[-1].startswith("Settings"):
            expect(page.get_by_label("Radius in metres")).to_have_value("250")
        before = page.url + seen[-1]
        hand.press(next(b for value in ("allow", "yes", "save", "sign_in") if (b := page.locator(f"button[name=do][value={value}]")).count()))
        page.wait_for_function("before => location.href + (document.querySelector('h1')?.innerText ?? '') !== before", arg=before)
        page.wait_for_load_state()
    until(page, "connected")
    for path in ("session", "terms", f"connections/{CONNECTION}"):
        page.goto(f"{shop.sandbox}/{path}")
        look(page, f"site-{path.split('/')[0]}")
    page.goto(f"{shop.sandbox}/session")
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
    page.get_by_role("button", name=re.compile("^Be ada")).click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.goto(f"{shop.sandbox}/access/api/{CONNECTION}?sdk_return_to=https://elsewhere.example/")
    look(page, "refusal")
