"""Examples/GroceryExpress with the sandbox: people connect and disconnect from the first look to the last, by pointer, touch and keyboard."""

import re
import socket
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from conftest import OpenPage
from shop_visit import CONNECTION, OTHER, Hand, Shop, leave, look, open_connection, say_yes, settings, step, switch, until
from strangers import http

WAYS = ("pointer", "touch", "keyboard")
Opener = Callable[[str], Page]


@pytest.fixture
def opener(open_page: OpenPage) -> Opener:
    return lambda way: open_page(has_touch=True) if way == "touch" else open_page()


@pytest.mark.parametrize("way", WAYS)
def test_a_new_user_connects_configures_in_the_shop_and_disconnects(shop: Shop, opener: Opener, way: str) -> None:
    page = opener(way)
    hand = Hand(page, way)
    open_connection(page, shop)
    expect(switch(page)).to_have_accessible_name(re.compile("^Connect .*Location"))
    look(page, "connect") if way == "pointer" else None
    hand.press(switch(page))
    until(page, "email")
    look(page, "email") if way == "pointer" else None
    hand.write(page.locator("connect-button input[type=email]"), "new@example.test")
    hand.press(page.locator("connect-button .email button"))
    page.wait_for_url(f"{shop.sandbox}/**")
    assert "code=" not in page.url and "email=" not in page.url
    say_yes(page, hand, shop)
    assert page.url == f"{shop.origin}/connections/{CONNECTION}", "the redirect, and the token in it, is not where one can see it"
    until(page, "pending")
    look(page, "pending") if way == "pointer" else None
    hand.press(page.get_by_role("link", name="Choose where and what"))
    page.wait_for_url("**/configure")
    hand.write(page.get_by_label("Search for a place"), "kyoto")
    hand.press(page.get_by_role("button", name="Search"))
    expect(page.get_by_role("status")).to_contain_text("Nishiki Market, Kyoto")
    expect(page.get_by_label("Latitude in degrees")).to_have_value("35.005")
    hand.write(page.get_by_label("Radius in metres"), "-5")
    hand.press(page.get_by_role("button", name="Save"))
    expect(page.get_by_role("alert")).to_contain_text("radius is above 0")
    look(page, "configure") if way == "pointer" else None
    hand.write(page.get_by_label("Radius in metres"), "300")
    hand.press(page.get_by_role("button", name="Save"))
    page.wait_for_url(f"**/connections/{CONNECTION}")
    until(page, "connected")
    look(page, "connected") if way == "pointer" else None
    hand.press(switch(page))
    until(page, "confirm_disconnect")
    look(page, "confirm-disconnect") if way == "pointer" else None
    hand.press(page.locator("connect-button .choices button").last)
    until(page, "connected")
    hand.press(switch(page))
    until(page, "confirm_disconnect")
    hand.press(page.locator("connect-button .choices button").first)
    until(page, "disconnected", "connect")
    until(page, "connect")
    page.reload()
    until(page, "connect")


@pytest.mark.parametrize("way", WAYS)
def test_a_returning_user_goes_on_by_the_link_in_a_mail(shop: Shop, opener: Opener, way: str) -> None:
    page = opener(way)
    hand = Hand(page, way)
    settings(page, shop, customer="garden-1004", email="edsger@example.test", own_configuration=False)
    open_connection(page, shop)
    leave(page, hand, shop, "edsger@example.test")
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your mail")
    look(page, "check-mail") if way == "pointer" else None
    page.goto(shop.mail_link("edsger@example.test"))
    mail = page.url
    hand.press(page.locator("main form button").first)
    page.wait_for_url(lambda url: url != mail)
    headings = say_yes(page, hand, shop)
    assert any(heading.startswith("Settings of") for heading in headings), headings
    until(page, "connected")


def test_a_user_whose_token_the_shop_has_is_not_asked_for_an_address(shop: Shop, page: Page) -> None:
    settings(page, shop, customer="garden-1001", token=True)
    open_connection(page, shop)
    assert step(page) == "connected", "Ada is connected already, and is shown so at once"
    page.goto(f"{shop.origin}/connections/{OTHER}")
    until(page, "connect")
    leave(page, Hand(page, "pointer"), shop)


def test_going_back_is_silent_and_a_failure_is_not(shop: Shop, page: Page) -> None:
    hand = Hand(page, "pointer")
    open_connection(page, shop)
    leave(page, hand, shop, "new@example.test")
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    until(page, "going_to_service")
    look(page, "going-to-service")
    hand.press(page.locator("connect-button .footer button").last)
    until(page, "connect")
    expect(page.locator("#notice")).to_be_empty()
    leave(page, hand, shop, "new@example.test")
    page.locator("button[name=outcome][value=user_cancelled_configuration]").evaluate("e => { e.closest('details')?.setAttribute('open', ''); e.click() }")
    page.wait_for_url(f"{shop.origin}/**")
    until(page, "connect")
    expect(page.locator("#notice")).to_be_empty()
    look(page, "cancelled")
    leave(page, hand, shop, "new@example.test")
    page.locator("button[name=outcome][value=account_creation]").evaluate("e => { e.closest('details')?.setAttribute('open', ''); e.click() }")
    page.wait_for_url(f"{shop.origin}/**")
    until(page, "connect")
    expect(page.locator("connect-button .footer")).to_contain_text("account")
    look(page, "error")


def test_an_expired_token_is_said_and_signing_in_again_helps(shop: Shop, page: Page) -> None:
    hand = Hand(page, "pointer")
    open_connection(page, shop)
    leave(page, hand, shop, "new@example.test")
    say_yes(page, hand, shop)
    until(page, "pending")
    hand.press(switch(page))
    until(page, "confirm_disconnect")
    shop.revoke_tokens()
    hand.press(page.locator("connect-button .choices button").first)
    until(page, "pending", "connected")
    expect(page.locator("#notice")).to_have_text("Connect once more, and IFTTT knows you again.")
    look(page, "expired-token")


def test_offline_is_said_where_one_looks_and_trying_again_helps(shop: Shop, page: Page) -> None:
    open_connection(page, shop)
    page.context.set_offline(True)
    switch(page).click()
    expect(page.locator("#notice")).to_have_text("The shop goes on as soon as you are back.")
    look(page, "offline")
    page.context.set_offline(False)
    page.locator("connect-button .footer button").first.click()
    until(page, "email")


def test_two_tabs_show_the_same(shop: Shop, page: Page) -> None:
    open_connection(page, shop)
    other = page.context.new_page()
    open_connection(other, shop)
    leave(page, Hand(page, "pointer"), shop, "new@example.test")
    other.bring_to_front()
    other.reload()
    until(other, "going_to_service")
    say_yes(page, Hand(page, "pointer"), shop)
    until(other, "pending")


def test_a_page_that_brings_the_state_along_draws_it_without_asking(shop: Shop, page: Page) -> None:
    settings(page, shop, prefetched=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_connection(page, shop)
    assert not [url for url in asked if url.endswith(f"/own/{CONNECTION}")]
    leave(page, Hand(page, "pointer"), shop, "new@example.test")


def test_styles_languages_and_the_other_pages(shop: Shop, page: Page) -> None:
    page.goto(shop.origin)
    expect(page.locator(".cards a")).to_have_count(2)
    look(page, "front")
    for name, scheme in (("Light or dark", "light"), ("Light", "dark"), ("Dark", "light dark")):
        page.get_by_role("button", name=name).click()
        page.wait_for_load_state()
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == scheme
    page.goto(f"{shop.origin}/settings")
    look(page, "settings")
    settings(page, shop, locale="de")
    open_connection(page, shop)
    expect(switch(page)).to_have_accessible_name(re.compile("verbinden", re.I))
    settings(page, shop, customer="")
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    expect(page.get_by_role("link", name="Log in to the shop")).to_be_visible()
    assert page.goto(f"{shop.origin}/connections/nothing").status == 404  # type: ignore[union-attr]


def test_a_customer_who_is_forgotten_is_logged_out_everywhere_and_begins_anew(shop: Shop, page: Page) -> None:
    hand = Hand(page, "pointer")
    open_connection(page, shop)
    leave(page, hand, shop, "new@example.test")
    say_yes(page, hand, shop)
    until(page, "pending")
    other = page.context.browser.new_context().new_page()  # type: ignore[union-attr]
    settings(other, shop, customer="garden-1005")
    page.goto(f"{shop.origin}/settings")
    page.get_by_role("button", name="Forget me").click()
    expect(page.get_by_role("button", name="Forget me")).to_have_count(0)
    for tab in (page, other):
        tab.goto(f"{shop.origin}/connections/{CONNECTION}")
        expect(tab.get_by_role("link", name="Log in to the shop")).to_be_visible()
    settings(page, shop, customer="garden-1005")
    open_connection(page, shop)
    assert step(page) == "connect"
    other.context.close()


def test_of_two_forms_at_once_none_is_lost(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.origin}/settings")
    token = page.locator("main [name=form_token]").first.get_attribute("value")
    visit = next(cookie for cookie in page.context.cookies() if cookie["name"] == "grocery_visit")["value"]
    content = f"form_token={token}&customer=garden-1004&email=edsger%40example.test".encode()
    head = (f"POST /settings HTTP/1.1\r\nHost: shop\r\nCookie: grocery_visit={visit}\r\nContent-Length: {len(content)}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n").encode()
    host, port = shop.origin.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        slow.sendall(head + content[:20])
        page.wait_for_timeout(200)  # the slow form has been begun
        page.get_by_role("button", name="Light or dark").click()
        expect(page.get_by_role("button", name="Light")).to_be_visible()
        slow.sendall(content[20:])
        while slow.recv(4096):
            pass
    page.reload()
    expect(page.locator("html")).to_have_class("light")
    expect(page.get_by_label("Logged in to the shop as")).to_have_value("garden-1004")


def test_forms_without_a_visit_drive_nobody_out(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.origin}/settings")
    with http() as stranger:
        for _ in range(1001):
            answer = stranger.post(f"{shop.origin}/settings", data={"form_token": "x"}, timeout=10)
            assert answer.status_code == 403
            stranger.cookies.clear()
    with page.expect_navigation() as answer:
        page.get_by_role("button", name="Save").click()
    assert answer.value.status == 200  # type: ignore[union-attr]


def test_a_form_that_was_made_for_another_browser_is_refused(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.origin}/settings")
    page.locator("main input[name=form_token]").evaluate("e => e.value = 'x'.repeat(32)")
    with page.expect_navigation() as answer:
        page.get_by_role("button", name="Save").click()
    assert answer.value.status == 403  # type: ignore[union-attr]
