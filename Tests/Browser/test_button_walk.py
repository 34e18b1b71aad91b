"""Every step of turning on and off at the real server and sandbox, with 0, 1 and 5 seconds on the call that the step waits for; and at each of them
nothing, Cancel, Back, a reload and a second device. Whatever was done: the page says what IFTTT has, so do all devices, and the next try goes through."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from conftest import OpenPage
from shop_visit import CONNECTION, Hand, Shop, say_yes, settings, step, switch, until
from strangers import http

KEY = "sandbox-service-key-lumen-garden"
PATH = f"/v2/connections/{CONNECTION}"
ON, OFF = ("connected", "pending"), ("connect", "disconnected")
pytestmark = pytest.mark.long
UNDER_WAY = ("verifying", "creating_account", "connecting", "disconnecting", "loading")


@dataclass(frozen=True)
class Moment:
    """A step that waits for a call, and the way there."""

    step: str
    customer: str
    call: str
    begin: Callable[[Page, Shop], None]
    # Whether the connection is on when nobody interferes, and when the user cancels.
    becomes: bool | None
    cancelled: bool


def press(page: Page, action: str) -> None:
    page.locator(f"connect-button [data-action={action}]").first.click()


def turn_on(page: Page, shop: Shop) -> None:
    switch(page).click()


def confirm_address(page: Page, shop: Shop) -> None:
    switch(page).click()
    until(page, "email")
    page.locator("connect-button input[type=email]").fill("walk@example.test")
    page.keyboard.press("Enter")


def turn_off(page: Page, shop: Shop) -> None:
    switch(page).click()
    until(page, "confirm_disconnect")
    press(page, "disconnect")


MOMENTS = {
    "looking up an address": Moment("verifying", "garden-1005", "GET /v2/account/find", confirm_address, None, False),
    "looking up a user": Moment("verifying", "garden-1004", "GET /v2/me", turn_on, None, False),
    "enabling": Moment("connecting", "garden-1002", f"POST {PATH}/enable", turn_on, True, False),
    "disabling": Moment("disconnecting", "garden-1001", f"POST {PATH}/disable", turn_off, False, True),
}


def at_ifttt(shop: Shop, customer: str) -> bool:
    """Whether IFTTT has the customer's connection on."""
    answer = http().get(f"{shop.sandbox}{PATH}", params={"user_id": customer}, headers={"IFTTT-Service-Key": KEY}, timeout=30)
    return answer.status_code == 200 and answer.json()["user_status"] == "enabled"


def log_in(page: Page, shop: Shop, customer: str) -> None:
    settings(page, shop, customer=customer, token=customer != "garden-1005", own_configuration=False, email="walk@example.test")


def visit(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    page.wait_for_function("() => Boolean(document.querySelector('connect-button')?.answer)")


def rests(page: Page, shop: Shop, customer: str, *, seconds: float = 40) -> str:
    """Waits until nothing is under way, and the page shows what IFTTT has."""
    deadline = time.monotonic() + seconds
    while True:
        now = step(page) if page.url.startswith(shop.origin) else "at IFTTT"
        if now == "at IFTTT" or now == "going_to_service":
            return now
        if now in (*ON, *OFF) and (now in ON) == at_ifttt(shop, customer):
            return now
        assert time.monotonic() < deadline, f"the page says {now}, IFTTT {'on' if at_ifttt(shop, customer) else 'off'}"
        page.wait_for_timeout(100)


def agree(page: Page, other: Page, shop: Shop, customer: str) -> None:
    """Both devices come to show what IFTTT has."""
    for each in (page, other):
        if each.url.startswith(shop.origin) and each.locator("connect-button").count():
            assert rests(each, shop, customer) in (*ON, *OFF, "going_to_service")


def goes_through(page: Page, shop: Shop, customer: str) -> None:
    """The next try, without delays, from wherever the page is."""
    shop.misbehave()
    if not page.url.startswith(shop.origin):
        page.go_back()
        page.wait_for_url(f"{shop.origin}/**")
    visit(page, shop)
    if rests(page, shop, customer) == "going_to_service":
        press(page, "cancel")
        until(page, *OFF)
    if step(page) in ON:
        turn_off(page, shop)
        until(page, *OFF)
        assert not at_ifttt(shop, customer)
    until(page, "connect")
    switch(page).click()
    page.wait_for_function(f"() => location.origin !== '{shop.origin}' || ['email', 'connected', 'pending'].includes(document.querySelector('connect-button').answer.state.step)")
    if page.url.startswith(shop.origin) and step(page) == "email":
        page.locator("connect-button input[type=email]").fill("walk@example.test")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{shop.sandbox}/**")


# What a user does meanwhile

def nothing(page: Page, other: Page, shop: Shop, moment: Moment) -> None:
    pass


def cancel(page: Page, other: Page, shop: Shop, moment: Moment) -> None:
    way_out = page.locator("connect-button [data-action=cancel]")
    if not page.url.startswith(shop.origin) or step(page) not in UNDER_WAY or way_out.count() == 0:
        return  # it was faster than the hand
    try:
        way_out.first.click(timeout=1_000)
    except Exception:  # noqa: BLE001: the page was left, or the step had passed, under the hand
        return


def back(page: Page, other: Page, shop: Shop, moment: Moment) -> None:
    page.go_back()
    page.wait_for_load_state()
    if not re.search(f"/connections/{CONNECTION}$", page.url):
        visit(page, shop)


def reload(page: Page, other: Page, shop: Shop, moment: Moment) -> None:
    if page.url.startswith(shop.origin):
        page.reload()
        page.wait_for_function("() => Boolean(document.querySelector('connect-button')?.answer)")


def second_device(page: Page, other: Page, shop: Shop, moment: Moment) -> None:
    """It shows what is under way, and can end it."""
    visit(other, shop)
    other.wait_for_function("() => document.querySelector('connect-button').answer.state.step !== 'loading'")
    if step(other) in UNDER_WAY:
        cancel(other, page, shop, moment)


ACTIONS = [nothing, cancel, back, reload, second_device]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("seconds", [0, 1, 5])
@pytest.mark.parametrize("name", MOMENTS)
def test_whatever_is_done_meanwhile_the_page_says_what_ifttt_has(shop: Shop, page: Page, open_page: OpenPage, name: str, seconds: int,
                                                                 act: Callable[[Page, Page, Shop, Moment], None]) -> None:
    moment, other = MOMENTS[name], open_page()
    for each in (page, other):
        log_in(each, shop, moment.customer)
    visit(page, shop)
    until(page, *ON, "connect")
    if seconds:
        shop.misbehave(f"ifttt {moment.call} => delay {seconds}")
    moment.begin(page, shop)
    if seconds:
        # Shown long before IFTTT answers.
        page.wait_for_function("step => document.querySelector('connect-button').answer.state.step === step", arg=moment.step, timeout=1_000 * seconds)
        assert "IFTTT is creating" not in page.locator("connect-button .footer").inner_text()
    act(page, other, shop, moment)
    shown = rests(page, shop, moment.customer)
    if act is nothing:
        if moment.becomes is None:
            page.wait_for_url(f"{shop.sandbox}/**")
        else:
            assert (shown in ON) == moment.becomes
    if act is cancel and seconds == 5:
        assert shown in (ON if moment.cancelled else OFF), "the user has cancelled in time"
        # The delayed call ends later than Cancel: its answer neither sends the user to IFTTT nor leaves the page behind.
        page.wait_for_timeout(1_000 * seconds + 500)
        assert page.url.startswith(shop.origin), "a late answer has sent the user to IFTTT"
        assert rests(page, shop, moment.customer) in (*ON, *OFF)
    agree(page, other, shop, moment.customer)
    goes_through(page, shop, moment.customer)


# Steps that wait for the user

def at_email(page: Page, shop: Shop) -> None:
    switch(page).click()
    until(page, "email")


def at_question(page: Page, shop: Shop) -> None:
    switch(page).click()
    until(page, "confirm_disconnect")


def away(page: Page, shop: Shop) -> None:
    confirm_address(page, shop)
    page.wait_for_url(f"{shop.sandbox}/**")


RESTS = {"email": ("garden-1005", at_email), "question": ("garden-1001", at_question), "at IFTTT": ("garden-1005", away)}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", [back, reload, second_device])
@pytest.mark.parametrize("name", RESTS)
def test_where_the_user_is_waited_for_nothing_is_lost_or_claimed(shop: Shop, page: Page, open_page: OpenPage, name: str,
                                                                 act: Callable[[Page, Page, Shop, Moment], None]) -> None:
    customer, begin = RESTS[name]
    other = open_page()
    for each in (page, other):
        log_in(each, shop, customer)
    visit(page, shop)
    until(page, *ON, "connect")
    was_on = at_ifttt(shop, customer)
    begin(page, shop)
    act(page, other, shop, MOMENTS["disabling"])
    assert at_ifttt(shop, customer) == was_on, "nothing was decided yet"
    if act is second_device:
        assert step(other) in (*ON, *OFF, "going_to_service")
        assert "is creating" not in other.locator("connect-button .footer").inner_text()
    goes_through(page, shop, customer)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", [nothing, reload, second_device])
@pytest.mark.parametrize("seconds", [0, 1, 5])
def test_the_way_back_from_ifttt_is_shown_until_ifttt_has_confirmed(shop: Shop, page: Page, open_page: OpenPage, seconds: int,
                                                                    act: Callable[[Page, Page, Shop, Moment], None]) -> None:
    customer, other, hand = "garden-1005", open_page(), Hand(page, "pointer")
    for each in (page, other):
        log_in(each, shop, customer)
    visit(page, shop)
    until(page, "connect")
    away(page, shop)
    shop.misbehave(*([f"ifttt GET {PATH} => delay {seconds}"] if seconds else []))
    say_yes(page, hand, shop)
    page.wait_for_function("() => Boolean(document.querySelector('connect-button')?.answer)")
    if seconds == 5:
        until(page, "connecting", "loading", "connected")
    act(page, other, shop, MOMENTS["enabling"])
    until(page, "connected")
    expect(switch(page)).to_be_checked()
    assert at_ifttt(shop, customer)
    agree(page, other, shop, customer)
    goes_through(page, shop, customer)
