"""Examples/GroceryExpress with the sandbox: people connect and disconnect from the first look to the last, by pointer, touch and keyboard."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from button_page import overflow
from conftest import OpenPage
from person import violations
from sandbox import artefact
from strangers import REPOSITORY, http

CONNECTION = "aB3dE5fG"
OTHER = "pL41nX01"
AFFIRMATIVE = ("allow", "yes", "save", "sign_in")


@dataclass(frozen=True)
class Shop:
    origin: str
    sandbox: str

    def mail_link(self, address: str) -> str:
        lines = http().get(f"{self.sandbox}/_sandbox/mails", timeout=10).text.splitlines()
        return [mail["link"] for mail in map(json.loads, lines) if mail["to"] == address][-1]

    def log(self, name: str) -> list[dict]:
        """One of the sandbox's logs."""
        return [json.loads(line) for line in http().get(f"{self.sandbox}/_sandbox/{name}", timeout=10).text.splitlines()]

    def revoke_tokens(self) -> None:
        http().post(f"{self.sandbox}/_sandbox/revoke-user-token", timeout=10).raise_for_status()


@pytest.fixture
def shop() -> Iterator[Shop]:
    named = os.environ.get("GROCERY_EXPRESS_BIN")
    path = Path(named) if named else REPOSITORY / ".build/debug/GroceryExpress"
    if not path.is_file():
        pytest.skip("GroceryExpress is not built: `swift build --product GroceryExpress`")
    process = subprocess.Popen([path, "--print-json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    limit = threading.Timer(60, process.kill)
    limit.start()
    assert process.stdout
    line = process.stdout.readline()
    limit.cancel()
    facts = json.loads(line)
    yield Shop(facts["origin"], facts["sandbox"])
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(15) == 0, "Ctrl-C does not close the shop cleanly"
    except subprocess.TimeoutExpired:
        process.kill()
        raise


class Hand:
    """How a person presses what is on a page."""

    def __init__(self, page: Page, way: str) -> None:
        self.page, self.way = page, way

    def press(self, target: Locator) -> None:
        expect(target).to_be_visible()
        if self.way == "touch":
            target.tap()
        elif self.way == "pointer":
            target.click()
        else:
            self.reach(target)
            self.page.keyboard.press("Enter")

    def reach(self, target: Locator) -> None:
        """With Tab alone."""
        for _ in range(60):
            if target.evaluate("""e => { let a = document.activeElement
                                  while (a && a.shadowRoot && a.shadowRoot.activeElement) a = a.shadowRoot.activeElement
                                  return a === e }"""):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no way to {target} by keyboard")

    def write(self, field: Locator, text: str) -> None:
        if self.way == "keyboard":
            self.reach(field)
            self.page.keyboard.press("Control+A")
            self.page.keyboard.type(text)
        else:
            field.fill(text)

    def choose(self, field: Locator) -> None:
        """Any option but the first, which says that nothing is chosen."""
        if self.way == "keyboard":
            self.reach(field)
            self.page.keyboard.press("ArrowDown")
        else:
            field.select_option(index=1)


def step(page: Page) -> str:
    return page.evaluate("document.querySelector('connect-button')?.answer?.state.step ?? ''")


def until(page: Page, *steps: str) -> None:
    page.wait_for_function(
        "steps => steps.includes(document.querySelector('connect-button')?.answer?.state.step)", arg=list(steps))
    page.wait_for_timeout(700)  # what moves has come to rest, for the eye of axe


def switch(page: Page) -> Locator:
    return page.locator("connect-button .switch")


def open_connection(page: Page, shop: Shop, connection: str = CONNECTION) -> None:
    page.goto(f"{shop.origin}/connections/{connection}")
    until(page, "connect", "connected", "pending", "loading_failed")


def settings(page: Page, shop: Shop, **values: object) -> None:
    """Chooses on the settings page."""
    page.goto(f"{shop.origin}/settings")
    for name, value in values.items():
        field = page.locator(f"[name={name}]")
        if isinstance(value, bool):
            field.set_checked(value)
        elif field.evaluate("e => e.tagName") == "SELECT":
            field.select_option(str(value))
        else:
            field.fill(str(value))
    page.get_by_role("button", name="Save").click()


def leave(page: Page, hand: Hand, shop: Shop, address: str | None = None) -> None:
    """From the switch to IFTTT's first page."""
    hand.press(switch(page))
    if address is not None:
        until(page, "email")
        hand.write(page.locator("connect-button input[type=email]"), address)
        hand.press(page.locator("connect-button .email button"))
    page.wait_for_url(f"{shop.sandbox}/**")


def say_yes(page: Page, hand: Hand, shop: Shop) -> list[str]:
    """Goes through IFTTT's pages to the end; their headings."""
    headings: list[str] = []
    for _ in range(10):
        if page.url.startswith(shop.origin):
            return headings
        headings.append(page.locator("h1").inner_text())
        for field in page.locator("select").all():
            hand.choose(field)
        button = next(b for value in AFFIRMATIVE if (b := page.locator(f"button[name=do][value={value}]")).count())
        before = page.url + headings[-1]
        hand.press(button)
        page.wait_for_function("before => location.href + (document.querySelector('h1')?.innerText ?? '') !== before", arg=before)
        page.wait_for_load_state()
    raise AssertionError(f"no way through IFTTT: {headings}")


def look(page: Page, name: str) -> None:
    """Both schemes, wide and 320 px: axe finds nothing, nothing sticks out, and a picture is kept."""
    size = page.viewport_size or {"width": 1024, "height": 768}
    folder = os.environ.get("HANDSHAKE_OUTPUT_DIR")
    for scheme in ("light", "dark"):
        for width in (size["width"], 320):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": size["height"]})
            page.wait_for_timeout(400)
            path = Path(folder) / f"grocery-{name}-{scheme}-{width}.png" if folder else artefact(f"grocery-{name}-{scheme}-{width}")
            page.screenshot(path=path)
            assert violations(page) == [], f"{name}, {scheme}, {width} px"
            wide = overflow(page)
            assert wide == [], f"{name}, {scheme}, {width} px: {wide}"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(size)


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
    expect(page.locator("#notice")).to_have_text("IFTTT does not know you any more. Connect again.")
    look(page, "expired-token")


def test_offline_is_said_where_one_looks_and_trying_again_helps(shop: Shop, page: Page) -> None:
    open_connection(page, shop)
    page.context.set_offline(True)
    switch(page).click()
    expect(page.locator("#notice")).to_have_text("You are offline. The shop will go on when you are back.")
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


def events(shop: Shop) -> list[tuple]:
    """What IFTTT has counted: name, place, object and the rest, as the dossier's table has them (7)."""
    found = []
    for event in shop.log("analytics"):
        rest = dict(event["properties"])
        found.append((event["name"].removeprefix("sdk."), rest.pop("location_type", None), rest.pop("location_id", None),
                      rest.pop("object_type", None), rest.pop("object_id", None), rest))
    return found


def identifiers(shop: Shop) -> set[str | None]:
    """Under which numbers the buttons have asked IFTTT. What the shop itself asks, with its service key, bears no number at any time."""
    fields = [entry["client_fields"] for entry in shop.log("requests")]
    return {names.get("IFTTT-SDK-Anonymous-Id") for names in fields if "IFTTT-SDK-Version" in names or "IFTTT-SDK-Anonymous-Id" in names}


def look_at_about(page: Page, hand: Hand, times: int = 1) -> None:
    for _ in range(times):
        hand.press(page.locator("connect-button .footer button").first)
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_customers_are_counted_after_a_yes_and_no_longer_after_a_no(shop: Shop, page: Page) -> None:
    hand = Hand(page, "pointer")
    told: list[str] = []
    sent_to: list[str] = []
    page.on("request", lambda request: told.append(request.url) if request.url.endswith("/counts") else None)
    page.on("request", lambda request: sent_to.append(request.url) if "/access/api/" in request.url else None)
    settings(page, shop, own_configuration=False)

    # Nobody has been asked, and then somebody has said no.
    open_connection(page, shop)
    question = page.get_by_role("form", name="May IFTTT count how this button is used?")
    expect(question).to_be_visible()
    look(page, "counting-question")
    look_at_about(page, hand)
    question.get_by_role("button", name="No").click()
    expect(question).to_have_count(0)
    until(page, "connect")
    leave(page, hand, shop, "edsger@example.test")
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    until(page, "going_to_service")
    hand.press(page.locator("connect-button .footer button").last)
    until(page, "connect")
    assert told == [] and events(shop) == []
    assert identifiers(shop) == {None} and sent_to and "anonymous" not in "".join(sent_to)

    # Yes, in the settings, where it is off.
    page.goto(f"{shop.origin}/settings")
    expect(page.get_by_label("IFTTT may count how you use its buttons")).not_to_be_checked()
    settings(page, shop, counting=True)
    http().delete(f"{shop.sandbox}/_sandbox/requests", timeout=10).raise_for_status()
    sent_to.clear()
    open_connection(page, shop)
    look_at_about(page, hand)
    leave(page, hand, shop, "new@example.test")
    say_yes(page, hand, shop)
    until(page, "connected")
    hand.press(switch(page))
    until(page, "confirm_disconnect")
    hand.press(page.locator("connect-button .choices button").first)
    until(page, "disconnected", "connect")
    until(page, "connect")
    look_at_about(page, hand, times=3)  # enough for five to wait, whatever was sent before
    button, off = "connect_button", {}
    click, about = ("click", button, None, "works_with_ifttt", "button", off), ("impression", button, CONNECTION, "modal", "connect_information", off)
    expected = [
        ("impression", button, "Grocery Express", "connection", CONNECTION, off), click, about,
        ("impression", button, CONNECTION, "connection_email", None, off), ("click", button, CONNECTION, "connection_email", None, off),
        ("click", button, CONNECTION, "connection", CONNECTION, off),
        ("statechange", None, None, "connection", CONNECTION, {"object_status": "enabled", "state": "enabled"}),
        ("pageviewed", button, CONNECTION, None, None, off), ("impression", button, "Grocery Express", "connection", CONNECTION, {"object_status": "enabled"}),
        ("click", button, CONNECTION, "connection", CONNECTION, {"object_status": "enabled"}), click, about]
    deadline = time.monotonic() + 8
    while len(events(shop)) < len(expected):
        assert time.monotonic() < deadline, events(shop)
        page.wait_for_timeout(50)
    assert events(shop)[:len(expected)] == expected
    numbers = identifiers(shop)
    assert len(numbers) == 1 and None not in numbers, "one number, in every request of the server"
    [number] = numbers
    assert sent_to and all(f"sdk_anonymous_id={number}" in url for url in sent_to)
    assert all(entry["authorization_scheme"] is None for entry in shop.log("requests") if entry["path"] == "/v2/sdk/events")

    # And no again.
    settings(page, shop, counting=False)
    http().delete(f"{shop.sandbox}/_sandbox/requests", timeout=10).raise_for_status()
    before = len(events(shop))
    told.clear()
    sent_to.clear()
    open_connection(page, shop, OTHER)
    expect(question).to_have_count(0)
    look_at_about(page, hand, times=3)
    leave(page, hand, shop)
    assert told == [] and len(events(shop)) == before
    assert identifiers(shop) == {None} and sent_to and "anonymous" not in "".join(sent_to)


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


def test_a_form_that_was_made_for_another_browser_is_refused(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.origin}/settings")
    page.locator("main input[name=form_token]").evaluate("e => e.value = 'x'.repeat(32)")
    with page.expect_navigation() as answer:
        page.get_by_role("button", name="Save").click()
    assert answer.value.status == 403  # type: ignore[union-attr]
