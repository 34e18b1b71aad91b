"""`<connect-button>` while its server is at work: what it shows, what cancels, where it goes on to, and how it moves meanwhile."""

from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from button_page import ButtonServer
from button_visit import caught_up, footer, frozen, heard_by, hold, let_go, opened, settled, shown, switch, until
from conftest import OpenPage
from sandbox import artefact


def events(server: ButtonServer) -> list[str]:
    return [message["event"] for message in server.messages]


def press(page: Page, action: str) -> None:
    page.locator(f"#one .footer [data-action={action}]").click()


def at(page: Page, milliseconds: float) -> None:
    """Leads everything that was held to a moment."""
    page.evaluate("t => { for (const a of one.shadowRoot.getAnimations()) if (a.playState === 'paused') a.currentTime = t }", milliseconds)


def look(page: Page) -> dict[str, Any]:
    return page.evaluate("""() => { const root = one.shadowRoot
      const centre = name => { const box = root.querySelector(name).getBoundingClientRect(); return (box.left + box.right) / 2 }
      const opacity = name => Number(getComputedStyle(root.querySelector(name)).opacity)
      return { knob: centre('.knob'), confirm: centre('.email button'), confirmOpacity: opacity('.email button'),
               label: opacity('.switch > span'), bar: opacity('.bar'), width: root.querySelector('.email button').getBoundingClientRect().width } }""")


# Cancelling

def test_cancel_is_heard_while_a_message_is_on_its_way(page: Page, server: ButtonServer) -> None:
    script, arrives = server.script(), Event()
    opened(page, server, script.answer("email", email="ada@example.com", cancellable=True))
    server.answers(script.answer("verifying", revision=2, progress="indeterminate", cancellable=True), delay=arrives)
    server.answers(script.answer("connect", revision=3))
    page.keyboard.press("Tab")
    page.get_by_role("textbox").press("Enter")
    heard_by(server, page, lambda: events(server) == ["email"])
    press(page, "cancel")
    arrives.set()
    shown(page, "connect")
    assert events(server) == ["email", "cancel"]


def test_keep_is_heard_while_disconnecting(page: Page, server: ButtonServer) -> None:
    script, arrives = server.script(), Event()
    opened(page, server, script.answer("confirm_disconnect"))
    server.answers(script.answer("disconnecting", revision=2, progress="indeterminate", cancellable=True), delay=arrives)
    server.answers(script.answer("connected", revision=3))
    page.get_by_role("button", name="Disconnect").click()
    heard_by(server, page, lambda: events(server) == ["disconnect"])
    page.locator("#one .choices [data-action=keep]").click()
    arrives.set()
    shown(page, "connected")
    assert events(server) == ["disconnect", "keep"]


# Messages without an answer

WAITING = {"connect": ("connect", "turn_on"), "connected": ("connected", "turn_off")}


@pytest.mark.parametrize("name", WAITING)
def test_a_tap_without_an_answer_is_shown_and_can_be_cancelled(open_page: OpenPage, server: ButtonServer, name: str) -> None:
    step, event = WAITING[name]
    page = open_page(scheme="dark", width=390, height=844, reduced_motion="reduce")
    script, arrives = server.script(), Event()
    frozen(page, server, script.answer(step))
    server.answers(script.answer("email" if step == "connect" else "confirm_disconnect", revision=2, cancellable=True), delay=arrives)
    server.answers(script.answer(step, revision=3))
    switch(page).click()
    heard_by(server, page, lambda: events(server) == [event])
    page.clock.run_for(299)
    expect(page.locator("#one .pulses")).to_have_count(0)
    page.clock.run_for(1)
    expect(switch(page)).to_have_attribute("aria-busy", "true")
    expect(page.locator("#one .pill.pulses")).to_have_count(1)
    page.screenshot(path=artefact(f"connect-button-waiting-{name}"))
    switch(page).click()  # nothing is sent twice
    cancel = page.locator("#one").get_by_role("button", name="Cancel")
    with page.expect_event("requestfailed", lambda request: "/events" in request.url):
        cancel.click()
    heard_by(server, page, lambda: events(server) == [event, "cancel"])
    until(page, "one.answer.revision === 3")
    assert server.messages[-1]["revision"] == 2, "cancelled as the server has it by now"
    expect(switch(page)).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#one .pulses")).to_have_count(0)
    expect(cancel).to_have_count(0)
    arrives.set()
    caught_up(page)
    shown(page, step)


def test_an_address_without_an_answer_is_shown_and_escape_cancels(page: Page, server: ButtonServer) -> None:
    script, arrives = server.script(), Event()
    frozen(page, server, script.answer("email", email="ada@example.com"))
    server.answers(script.answer("verifying", revision=2, progress="indeterminate"), delay=arrives)
    server.answers(script.answer("connect", revision=3))
    page.get_by_role("textbox").press("Enter")
    heard_by(server, page, lambda: events(server) == ["email"])
    page.clock.run_for(300)
    expect(page.locator("#one form")).to_have_attribute("aria-busy", "true")
    page.get_by_role("textbox").press("Escape")
    shown(page, "connect")
    arrives.set()
    caught_up(page)
    shown(page, "connect")
    assert events(server) == ["email", "cancel"]


def test_an_answer_that_comes_late_ends_the_waiting(page: Page, server: ButtonServer) -> None:
    script, arrives = server.script(), Event()
    frozen(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2, progress="indeterminate"), delay=arrives)
    switch(page).click()
    heard_by(server, page, lambda: events(server) == ["turn_on"])
    page.clock.run_for(300)
    expect(page.locator("#one .pill.pulses")).to_have_count(1)
    arrives.set()
    shown(page, "verifying")
    expect(page.locator("#one .pulses")).to_have_count(0)
    expect(page.locator("#one .footer [data-action=cancel]")).to_have_count(0)


# Going on to the service

def test_the_page_that_began_goes_on_when_the_server_knows_where(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("email", email="ada@example.com"))
    server.answers(script.answer("verifying", revision=2, progress="indeterminate", cancellable=True),
                   script.answer("going_to_service", revision=3, progress="indeterminate", open=f"{server.origin}/elsewhere"))
    page.get_by_role("textbox").press("Enter")
    shown(page, "verifying")
    server.pushed["one"] = script.answer("going_to_service", revision=3, progress="indeterminate", canOpen=True)
    page.wait_for_url("**/elsewhere")
    assert events(server) == ["email", "proceed"]


def test_another_page_goes_nowhere(page: Page, server: ButtonServer) -> None:
    script = server.script()
    page.clock.install(time=0)
    opened(page, server, script.answer("verifying", progress="indeterminate"))
    server.pushed["one"] = script.answer("going_to_service", revision=3, email="ada@example.com", progress="indeterminate", canOpen=True)
    shown(page, "going_to_service")
    page.clock.run_for(5_000)
    caught_up(page)
    shown(page, "going_to_service")
    assert events(server) == []


def test_cancel_keeps_a_user_from_being_sent_on(page: Page, server: ButtonServer) -> None:
    """F019: whose account is made is said before the page is left; until then there is a way back."""
    script = server.script()
    page.clock.install(time=0)
    opened(page, server, script.answer("email", email="ada@example.com"))
    server.answers(script.answer("going_to_service", revision=3, email="ada@example.com", progress="indeterminate", cancellable=True, canOpen=True),
                   script.answer("connect", revision=4))
    page.get_by_role("textbox").press("Enter")
    shown(page, "going_to_service")
    press(page, "cancel")
    shown(page, "connect")
    page.clock.run_for(5_000)
    caught_up(page)
    assert events(server) == ["email", "cancel"]


def test_back_returns_to_connect(page: Page, server: ButtonServer) -> None:
    """F032: the server hears of it while the page's clock stands still, so no timer is between Back and Connect."""
    script = server.script()
    page.clock.install(time=0)
    opened(page, server, script.answer("going_to_service", progress="indeterminate"))
    server.answers(script.answer("going_to_service", revision=2, progress="indeterminate", open=f"{server.origin}/elsewhere"),
                   script.answer("connect", revision=3))
    page.locator("#one .switch").click()
    page.wait_for_url("**/elsewhere")
    page.clock.pause_at(3_600_000)
    page.go_back()
    heard_by(server, page, lambda: events(server) == ["proceed", "returned"])
    page.clock.run_for(1_000)
    shown(page, "connect")
    assert events(server) == ["proceed", "returned"]


def test_a_reload_that_is_no_return_says_nothing(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("going_to_service", progress="indeterminate"))
    page.reload()
    shown(page, "going_to_service")
    caught_up(page)
    assert events(server) == []


# Set-up

def test_finish_setup_opens_the_set_up_and_is_no_switch(page: Page, server: ButtonServer) -> None:
    answer = server.script().answer("pending")
    answer["state"]["setUpURL"] = f"{server.origin}/elsewhere"
    opened(page, server, answer)
    expect(page.locator("#one").get_by_role("switch")).to_have_count(0)
    page.evaluate("one.addEventListener('setup', event => { event.preventDefault(); heard.push(['setup', 'one', null]) }, { once: true })")
    page.locator("#one .switch").click()
    until(page, "heard.some(entry => entry[0] === 'setup')")
    page.locator("#one .switch").click()
    page.wait_for_url("**/elsewhere")
    assert events(server) == []


def test_finish_setup_without_a_page_for_it_opens_the_one_that_manages_the_connection(page: Page, server: ButtonServer) -> None:
    answer = server.script().answer("pending")
    answer["state"] |= {"setUpURL": None, "manageURL": f"{server.origin}/elsewhere"}
    opened(page, server, answer)
    page.locator("#one .switch").click()
    page.wait_for_url("**/elsewhere")
    assert events(server) == []


# What moves meanwhile

def test_the_confirm_button_travels_with_the_knob(page: Page, server: ButtonServer) -> None:
    """F012, `connect-button-motion.md` MO6. That the knob is there until then is shown with every track, in `test_button_motion.py`."""
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("email", revision=2, email="ada@example.com"))
    hold(page)
    switch(page).click()
    shown(page, "email")
    places = []
    for moment, confirm in ((0, 0), (100, 0), (200, 0), (300, 0), (400, .23), (499.9, 1)):
        at(page, moment)
        seen = look(page)
        assert abs(seen["knob"] - seen["confirm"]) < 1, (moment, seen)
        assert seen["confirmOpacity"] == pytest.approx(confirm, abs=.03), moment
        places.append(seen["knob"])
    assert places == sorted(places) and places[-1] - places[0] > 150
    let_go(page)


def test_connected_is_not_written_before_the_check_mark_is_drawn(page: Page, server: ButtonServer) -> None:
    """`connect-button-motion.md` MO19: two animations fought over the label."""
    script = server.script()
    opened(page, server, script.answer("connecting", progress="indeterminate"))
    hold(page)
    server.pushed["one"] = script.answer("connected", revision=2)
    shown(page, "connected")
    for moment in (0, 200, 300, 400, 700, 1000):
        at(page, moment)
        assert look(page)["label"] == 0, moment
    let_go(page)
    settled(page)
    assert look(page)["label"] == 1


def test_no_bar_is_drawn_before_the_state_that_it_belongs_to(page: Page, server: ButtonServer) -> None:
    """`connect-button-motion.md` MO16."""
    script, arrives = server.script(), Event()
    page.clock.install(time=0)
    opened(page, server, script.answer("email", email="ada@example.com"))
    server.answers(script.answer("verifying", revision=2, progress="indeterminate"), delay=arrives)
    page.get_by_role("textbox").press("Enter")
    heard_by(server, page, lambda: events(server) == ["email"])
    page.clock.run_for(3_000)
    assert page.evaluate("one.shadowRoot.querySelector('.bar').className") == "bar"
    arrives.set()
    shown(page, "verifying")
    settled(page)
    assert look(page)["bar"] == 1


@pytest.mark.parametrize(("step", "part"), [("verifying", .5), ("disconnecting", .75)])
@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_bar_fills_from_the_start_and_waits(page: Page, server: ButtonServer, step: str, part: float, direction: str) -> None:
    """`connect-button-motion.md` MO15."""
    opened(page, server, server.script().answer(step, progress="indeterminate"), page_dir=direction)
    settled(page)
    filled = page.evaluate("""() => { const [bar, pill] = ['.bar', '.pill'].map(name => one.shadowRoot.querySelector(name).getBoundingClientRect())
      return [(bar.right - pill.left) / pill.width, (pill.right - bar.left) / pill.width] }""")
    assert filled[direction == "rtl"] == pytest.approx(part, abs=.01)
    assert page.evaluate("one.shadowRoot.querySelector('.bar').getAnimations().length") == 0, "it waits"


def test_an_account_is_named_on_the_way_only(page: Page, server: ButtonServer) -> None:
    """F032: what the user does at the service is unknown here."""
    opened(page, server, server.script().answer("going_to_service", progress="indeterminate"))
    assert "creat" not in footer(page)
