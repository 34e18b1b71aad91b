"""Every step of turning on and off at the real server and sandbox, with 0, 1 and 5 seconds on the call that the step waits for; and at each of them
nothing, Cancel, Back, a reload and a second device. Whatever was done: the page says what IFTTT has, so do all devices, and the next try goes through.

What SAMPLE names is part of every run; `.ci/walk` runs the rest, each night too."""

import re
import time
from functools import partial
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Error, Page, Route, expect

from button_visit import TIMEOUT
from conftest import OpenPage
from shop_visit import CONNECTION, Hand, Shop, into_the_app, open_shop, own_script, say_yes, second_tab, settings, step, switch, until
from strangers import http

KEY = "sandbox-service-key-lumen-garden"
PATH = f"/v2/connections/{CONNECTION}"
ON, OFF = ("connected", "pending"), ("connect", "disconnected")
# Of each kind of step one test, for less than a minute in every run; `conftest.py` marks the others as long.
SAMPLE = {
    "test_whatever_is_done_meanwhile_the_page_says_what_ifttt_has[looking up an address-1-cancel]",
    "test_whatever_is_done_meanwhile_the_page_says_what_ifttt_has[fetching a token to turn on-1-second_device]",
    "test_whatever_is_done_meanwhile_the_page_says_what_ifttt_has[disabling-1-reload]",
    "test_where_the_user_is_waited_for_nothing_is_lost_or_claimed[in IFTTT's app-back]",
    "test_the_way_back_from_ifttt_is_shown_until_ifttt_has_confirmed[by the app-1-nothing]",
    "test_turning_off_can_be_undone_and_is_done_otherwise[0-undo]",
    "test_the_first_look_ends_with_what_ifttt_has[connection-0-reload]",
    "test_what_the_shop_saves_for_ifttt_is_on_once_ifttt_has_it[1-back]",
}
RETURNING = "edsger@example.test"
UNDER_WAY = ("verifying", "creating_account", "connecting", "disconnecting", "loading")


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return own_script(open_page())


@dataclass(frozen=True)
class Moment:
    """A step that waits for a call, and the way there."""

    step: str
    customer: str
    call: str
    begin: Callable[[Page, Shop], None]
    # Whether the connection is on without interference, and when the user cancels.
    becomes: bool | None
    cancelled: bool
    # Whether the shop fetches the user's token; without one the user is asked for an address.
    token: bool = True


def address(customer: str) -> str:
    """IFTTT knows that of one, who goes on by the link in a mail; for the other it makes an account."""
    return RETURNING if customer == "garden-1004" else "walk@example.test"


def press(page: Page, action: str) -> None:
    page.locator(f"connect-button [data-action={action}]").first.click()


def turn_on(page: Page, shop: Shop) -> None:
    switch(page).click()


def confirm_address(page: Page, shop: Shop, customer: str = "garden-1005") -> None:
    switch(page).click()
    until(page, "email")
    page.locator("connect-button input[type=email]").fill(address(customer))
    page.keyboard.press("Enter")


def turn_off(page: Page, shop: Shop) -> None:
    if step(page) == "pending":
        page.locator("connect-button .footer [data-action=disconnect]").click()
    else:
        switch(page).click()
    # With an undo nothing is asked.
    until(page, "confirm_disconnect", "disconnecting")
    if step(page) == "confirm_disconnect":
        press(page, "disconnect")


MOMENTS = {
    "looking up an address": Moment("verifying", "garden-1005", "GET /v2/account/find", confirm_address, None, False, False),
    "looking up a returning address": Moment("verifying", "garden-1004", "GET /v2/account/find", partial(confirm_address, customer="garden-1004"), None, False,
                                             False),
    "looking up a user": Moment("verifying", "garden-1004", "GET /v2/me", turn_on, None, False),
    "enabling": Moment("connecting", "garden-1002", f"POST {PATH}/enable", turn_on, True, False),
    "disabling": Moment("disconnecting", "garden-1001", f"POST {PATH}/disable", turn_off, False, True),
    "disabling what is still to be set up": Moment("disconnecting", "garden-1003", f"POST {PATH}/disable", turn_off, False, True),
    "fetching a token to turn on": Moment("verifying", "garden-1002", "POST /v2/user_token", turn_on, True, False),
    "fetching a token of a returning user": Moment("verifying", "garden-1004", "POST /v2/user_token", turn_on, None, False),
    "fetching a token to turn off": Moment("disconnecting", "garden-1001", "POST /v2/user_token", turn_off, False, True),
}


def at_ifttt(shop: Shop, customer: str) -> bool:
    """Whether IFTTT has the customer's connection on."""
    answer = http().get(f"{shop.sandbox}{PATH}", params={"user_id": customer}, headers={"IFTTT-Service-Key": KEY}, timeout=30)
    return answer.status_code == 200 and answer.json()["user_status"] == "enabled"


def log_in(page: Page, shop: Shop, customer: str, *, token: bool, own_configuration: bool = False) -> None:
    settings(page, shop, customer=customer, token=token, own_configuration=own_configuration, email=address(customer))


def visit(page: Page, shop: Shop) -> None:
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    page.wait_for_function("() => Boolean(document.querySelector('connect-button')?.answer)")


def rests(page: Page, shop: Shop, customer: str, *, seconds: float = 40, asks: tuple[str, ...] = ()) -> str:
    """Waits until nothing is under way, and the page shows what IFTTT has. It may also rest where it asks something, at the steps `asks`."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            now = step(page) if page.url.startswith(shop.origin) else "at IFTTT"
        except Error:
            now = ""  # the page was being left or loaded
        if now == "at IFTTT" or now == "going_to_service":
            return now
        if now in (*ON, *OFF, *asks) and (now in ON) == at_ifttt(shop, customer):
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
        return_from_ifttt(page, shop)
    visit(page, shop)
    # As a page shows it that has not been at IFTTT: it was reloaded before, or another device is there.
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
        page.locator("connect-button input[type=email]").fill(address(customer))
        page.keyboard.press("Enter")
        page.wait_for_url(f"{shop.sandbox}/**")


def return_from_ifttt(page: Page, shop: Shop) -> None:
    """Back from IFTTT's page the button shows Connect by itself (F032)."""
    page.go_back()
    page.wait_for_url(f"{shop.origin}/**")
    until(page, "connect")


# What a user does meanwhile. Each says whether something was pressed; Cancel, at which revision.

def nothing(page: Page, other: Page, shop: Shop) -> bool:
    return False


def cancel(page: Page, other: Page, shop: Shop) -> int:
    """Looks and presses in one step, as fast as a hand could be that waits for it."""
    try:
        return page.url.startswith(shop.origin) and page.evaluate("""steps => { const button = document.querySelector('connect-button')
          const way = button.shadowRoot.querySelector('[data-action=cancel]'), isOffered = Boolean(way) && steps.includes(button.answer.state.step)
          if (isOffered) way.click()
          return isOffered ? button.answer.revision : 0 }""", UNDER_WAY)
    except Error:
        return 0  # the page was being left


@dataclass
class Cancels:
    """What the server answers to each Cancel."""

    answers: list[dict[str, Any]]

    def listen(self, page: Page) -> None:
        page.route(re.compile("/events([?]|$)"), self.note)

    def note(self, route: Route) -> None:
        if route.request.post_data_json["event"] != "cancel":
            return route.continue_()
        answer = route.fetch()
        self.answers.append(answer.json())
        route.fulfill(response=answer)

    def came_late(self, page: Page, end: tuple[str, ...], seen: int | None) -> bool:
        """Whether what it cancels was over before the server had it: a hand is not faster than IFTTT. From another device (`seen` is the revision there)
        also whether it had gone on: the page that began may be leaving."""
        deadline = time.monotonic() + TIMEOUT
        while not self.answers:
            assert time.monotonic() < deadline, "Cancel was pressed, and the server has not heard of it"
            page.wait_for_timeout(20)
        answer = self.answers[-1]
        return answer["state"]["step"] in end or seen is not None and answer["revision"] > seen + 1


def back(page: Page, other: Page, shop: Shop) -> bool:
    if not page.url.startswith(shop.origin):
        return_from_ifttt(page, shop)
        return False
    page.go_back()
    page.wait_for_load_state()
    if not re.search(f"/connections/{CONNECTION}$", page.url):
        visit(page, shop)
    return False


def reload(page: Page, other: Page, shop: Shop) -> bool:
    if page.url.startswith(shop.origin):
        # Not until everything is loaded: the sandbox draws the page's photograph when it is first asked for, which takes a busy machine half a minute.
        page.reload(wait_until="commit")
        page.wait_for_function("() => Boolean(document.querySelector('connect-button')?.answer)")
    return False


def second_device(page: Page, other: Page, shop: Shop) -> int:
    """It shows what is under way, and can end it."""
    # Not until everything is loaded: what is under way would be over.
    other.goto(f"{shop.origin}/connections/{CONNECTION}", wait_until="commit")
    other.wait_for_function("() => Boolean(document.querySelector('connect-button')?.answer)")
    other.wait_for_function("() => document.querySelector('connect-button').answer.state.step !== 'loading'")
    return cancel(other, page, shop)


ACTIONS = [nothing, cancel, back, reload, second_device]
Act = Callable[[Page, Page, Shop], int]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("seconds", [0, 1, 5])
@pytest.mark.parametrize("name", MOMENTS)
def test_whatever_is_done_meanwhile_the_page_says_what_ifttt_has(shop: Shop, page: Page, open_page: OpenPage, name: str, seconds: int, act: Act,
                                                                 record_property: Callable[[str, object], None]) -> None:
    moment, other, cancels = MOMENTS[name], open_page(), Cancels([])
    for each in (page, other):
        log_in(each, shop, moment.customer, token=moment.token)
        cancels.listen(each)
    visit(page, shop)
    until(page, *ON, "connect")
    if seconds:
        shop.misbehave(f"ifttt {moment.call} => delay {seconds}")
    moment.begin(page, shop)
    if seconds:
        # Shown before IFTTT answers: the answer replaces it.
        page.wait_for_function("step => document.querySelector('connect-button').answer.state.step === step", arg=moment.step)
        assert "IFTTT is creating" not in page.locator("connect-button .footer").inner_text()
    pressed = act(page, other, shop)
    record_property("pressed", pressed)
    assert pressed or act is not cancel or seconds == 0, "Cancel is offered while IFTTT takes its time"
    assert pressed or act is not second_device or seconds < 5, "Cancel is offered on each of the user's devices"
    if not pressed and act in (nothing, cancel, second_device):
        # The page that began goes on.
        if moment.becomes is None:
            page.wait_for_url(f"{shop.sandbox}/**")
        else:
            until(page, *(ON if moment.becomes else OFF))
    shown = rests(page, shop, moment.customer)
    is_late = pressed > 0 and cancels.came_late(page, OFF if moment.cancelled else ON, pressed if act is second_device else None)
    record_property("late", is_late)
    assert not is_late or seconds < 5, "Cancel comes in time"
    if pressed and not is_late:
        assert shown in (ON if moment.cancelled else OFF), "the user has cancelled in time"
        # The delayed call ends later than Cancel: its answer neither sends the user to IFTTT nor leaves the page behind.
        page.wait_for_timeout(1_000 * seconds + 500)
        assert page.url.startswith(shop.origin), "a late answer has sent the user to IFTTT"
        assert rests(page, shop, moment.customer) in (ON if moment.cancelled else OFF)
    agree(page, other, shop, moment.customer)
    goes_through(page, shop, moment.customer)


# Steps that wait for the user

def at_email(page: Page, shop: Shop) -> None:
    switch(page).click()
    until(page, "email")


def at_question(page: Page, shop: Shop) -> None:
    switch(page).click()
    until(page, "confirm_disconnect")


def away(page: Page, shop: Shop, customer: str = "garden-1005") -> None:
    confirm_address(page, shop, customer)
    page.wait_for_url(f"{shop.sandbox}/**")


def in_the_app(page: Page, shop: Shop) -> None:
    """The phone gives IFTTT's page to IFTTT's app."""
    page.context.route(f"{shop.sandbox}/access/api/**", into_the_app)
    away(page, shop, "garden-1004")
    expect(page.locator(".surface")).to_have_text("IFTTT app")


def take_back(page: Page, other: Page, shop: Shop) -> bool:
    """Escape, Keep, or Cancel in a tab beside IFTTT's page."""
    if not page.url.startswith(shop.origin):
        tab = second_tab(page, shop)
        until(tab, "going_to_service")
        press(tab, "cancel")
        until(tab, "connect")
        tab.close()
    elif step(page) == "email":
        page.locator("connect-button input[type=email]").press("Escape")
        until(page, "connect")
    else:
        press(page, "keep")
        until(page, "connected")
    return True


RESTS = {"email": ("garden-1005", at_email), "question": ("garden-1001", at_question), "at IFTTT": ("garden-1005", away),
         "at IFTTT, which has sent a mail": ("garden-1004", partial(away, customer="garden-1004")),
         "in IFTTT's app": ("garden-1004", in_the_app)}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", [take_back, back, reload, second_device])
@pytest.mark.parametrize("name", RESTS)
def test_where_the_user_is_waited_for_nothing_is_lost_or_claimed(shop: Shop, page: Page, open_page: OpenPage, name: str, act: Act) -> None:
    customer, begin = RESTS[name]
    other = open_page()
    for each in (page, other):
        log_in(each, shop, customer, token=customer == "garden-1001")
    visit(page, shop)
    until(page, *ON, "connect")
    was_on = at_ifttt(shop, customer)
    begin(page, shop)
    act(page, other, shop)
    assert at_ifttt(shop, customer) == was_on, "nothing was decided yet"
    if act is second_device:
        assert step(other) in (*ON, *OFF, "going_to_service")
        assert "is creating" not in other.locator("connect-button .footer").inner_text()
    goes_through(page, shop, customer)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("seconds", [0, 1, 5])
@pytest.mark.parametrize("way", ["new", "by mail", "by the app"])
def test_the_way_back_from_ifttt_is_shown_until_ifttt_has_confirmed(shop: Shop, page: Page, open_page: OpenPage, seconds: int, act: Act, way: str) -> None:
    other, hand, customer = open_page(), Hand(page, "pointer"), "garden-1005" if way == "new" else "garden-1004"
    for each in (page, other):
        log_in(each, shop, customer, token=False)
    visit(page, shop)
    until(page, "connect")
    in_the_app(page, shop) if way == "by the app" else away(page, shop, customer)
    if way == "by mail":
        page.goto(shop.mail_link(RETURNING))
        mail = page.url
        page.locator("main form button").first.click()
        page.wait_for_url(lambda url: url != mail)
    shop.misbehave(*([f"ifttt GET {PATH} => delay {seconds}"] if seconds else []))
    say_yes(page, hand, shop)
    page.wait_for_function("() => Boolean(document.querySelector('connect-button')?.answer)")
    if seconds == 5:
        until(page, "connecting", "loading", "connected")
    assert not act(page, other, shop), "it is on: there is nothing that could be cancelled"
    until(page, "connected")
    expect(switch(page)).to_be_checked()
    assert at_ifttt(shop, customer)
    agree(page, other, shop, customer)
    goes_through(page, shop, customer)


# Turning off with an undo

@pytest.fixture
def undoable() -> Iterator[Shop]:
    """A shop whose customers have ten seconds to undo turning off."""
    with open_shop("--undo", "10") as one:
        yield one


def undo(page: Page, other: Page, shop: Shop) -> bool:
    """Looks and presses in one step."""
    return page.evaluate("""() => { const button = document.querySelector('connect-button'), way = button.shadowRoot.querySelector('[data-action=undo]')
      if (way && button.answer.state.undo) way.click()
      return Boolean(way && button.answer.state.undo) }""")


def undo_elsewhere(page: Page, other: Page, shop: Shop) -> bool:
    visit(other, shop)
    return undo(other, page, shop)


def cancel_afterwards(page: Page, other: Page, shop: Shop) -> bool:
    """Once the time to undo is over, while IFTTT turns it off."""
    page.wait_for_function("() => !document.querySelector('connect-button').answer.state.undo")
    return cancel(page, other, shop)


# Each with whether the connection is on afterwards, where IFTTT takes five seconds to turn it off.
UNDOING = {"nothing": (nothing, False), "undo": (undo, True), "cancel": (cancel_afterwards, True), "back": (back, False), "reload": (reload, False),
           "second_device": (undo_elsewhere, True)}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", UNDOING)
@pytest.mark.parametrize("seconds", [0, 1, 5])
def test_turning_off_can_be_undone_and_is_done_otherwise(undoable: Shop, page: Page, open_page: OpenPage, seconds: int, act: str) -> None:
    shop, customer, other, (does, stays_on) = undoable, "garden-1001", open_page(), UNDOING[act]
    for each in (page, other):
        log_in(each, shop, customer, token=True)
    visit(page, shop)
    until(page, "connected")
    shop.misbehave(*([f"ifttt POST {PATH}/disable => delay {seconds}"] if seconds else []))
    switch(page).click()
    page.wait_for_function("() => document.querySelector('connect-button').answer.state.undo")
    assert at_ifttt(shop, customer), "nothing is turned off while it can be undone"
    pressed = does(page, other, shop)
    if act in ("undo", "second_device"):
        assert pressed, "it can be undone, on each device"
        until(page, "connected")
        page.wait_for_timeout(11_000)  # longer than an undo
    else:
        page.wait_for_function("() => !document.querySelector('connect-button').answer.state.undo")
        assert pressed or act != "cancel" or seconds < 5, "Cancel is offered while IFTTT takes its time"
    shown = rests(page, shop, customer)
    assert (shown in ON) == stays_on or act == "cancel" and seconds < 5, shown
    if not stays_on:
        until(page, "connect")
    agree(page, other, shop, customer)
    goes_through(page, shop, customer)


# Turning on again what the user keeps after all

def look_elsewhere(page: Page, other: Page, shop: Shop) -> bool:
    visit(other, shop)
    return False


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", [nothing, back, reload, look_elsewhere])
@pytest.mark.parametrize("seconds", [0, 1, 5])
def test_what_is_kept_too_late_is_turned_on_again(shop: Shop, page: Page, open_page: OpenPage, seconds: int, act: Act) -> None:
    """Keep comes while IFTTT turns it off, so that it has to turn it on again, and takes its time for that too."""
    customer, other = "garden-1001", open_page()
    for each in (page, other):
        log_in(each, shop, customer, token=True)
    visit(page, shop)
    until(page, "connected")
    shop.misbehave(f"ifttt POST {PATH}/disable => delay 2", *([f"ifttt POST {PATH}/enable => delay {seconds}"] if seconds else []))
    turn_off(page, shop)
    until(page, "disconnecting")
    assert cancel(page, other, shop), "Keep is offered while IFTTT takes its time"
    act(page, other, shop)
    assert rests(page, shop, customer) in ON
    # Both calls are over by then.
    page.wait_for_timeout(1_000 * (2 + seconds) + 500)
    assert rests(page, shop, customer) in ON
    agree(page, other, shop, customer)
    goes_through(page, shop, customer)


# Calls behind which the page has no step of the user's

@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("seconds", [0, 1, 5])
@pytest.mark.parametrize("call", [f"GET {PATH}", "POST /v2/user_token"], ids=["connection", "token"])
def test_the_first_look_ends_with_what_ifttt_has(shop: Shop, page: Page, open_page: OpenPage, call: str, seconds: int, act: Act) -> None:
    customer, other = "garden-1001", open_page()
    for each in (page, other):
        log_in(each, shop, customer, token=True)
    shop.misbehave(*([f"ifttt {call} => delay {seconds}"] if seconds else []))
    page.goto(f"{shop.origin}/connections/{CONNECTION}", wait_until="commit")
    if act in (nothing, cancel):
        # Without an answer for three seconds the button says that it is loading.
        until(page, *(["loading"] if seconds == 5 else ["connected"]))
    assert not act(page, other, shop), "nothing was begun that could be cancelled"
    until(page, "connected")
    assert at_ifttt(shop, customer)
    agree(page, other, shop, customer)
    goes_through(page, shop, customer)


# Playwright's own ways wait for the form that is under way, which a browser's do not. The page's Cancel is a link.
LEAVING = {cancel: "document.querySelector('.ways a').click()", back: "history.back()", reload: "location.reload()"}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("seconds", [0, 1, 5])
def test_what_the_shop_saves_for_ifttt_is_on_once_ifttt_has_it(shop: Shop, page: Page, open_page: OpenPage, seconds: int, act: Act) -> None:
    customer, other = "garden-1003", open_page()
    for each in (page, other):
        log_in(each, shop, customer, token=True, own_configuration=True)
    visit(page, shop)
    until(page, "pending")
    page.goto(f"{shop.origin}/connections/{CONNECTION}/configure")
    shop.misbehave(*([f"ifttt PUT {PATH}/user_connection => delay {seconds}"] if seconds else []))
    with page.expect_request(lambda request: request.method == "POST"):
        page.get_by_role("button", name="Save").click(no_wait_after=True)
    if act in LEAVING:
        with suppress(Error):  # it was faster than the hand
            page.evaluate(f"window.left = true; {LEAVING[act]}")
        page.wait_for_function("() => !window.left && document.readyState === 'complete'")
    else:
        act(page, other, shop)
    visit(page, shop)
    until(page, "connected")
    assert at_ifttt(shop, customer)
    agree(page, other, shop, customer)
    goes_through(page, shop, customer)
