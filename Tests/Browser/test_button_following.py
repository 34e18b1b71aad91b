"""How `<connect-button>` keeps to its server: what a page brings along, what is newer and what is older, what passes by itself, who listens."""

import json
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from button_page import ButtonServer, heard
from button_visit import caught_up, events, footer, frame, frozen, heard_by, hide, opened, preview, push, runs_until, shown, switch, until


def brought(page: Page, server: ButtonServer, answer: dict[str, Any], **attributes: Any) -> None:
    """Opens a page that has the answer in it."""
    page.goto(server.url(inside=json.dumps(answer), **attributes))
    until(page, "Boolean(window.button)")
    shown(page, answer["state"]["step"])


# What a page brings along

def test_a_prefetched_answer_is_drawn_without_asking(page: Page, server: ButtonServer) -> None:
    script = server.script()
    brought(page, server, script.answer("connected"))
    heard_by(server, page, lambda: server.listening == ["one"])
    assert server.asked == []
    page.evaluate("answer => { one.answer = answer }", script.answer("connect", revision=2))
    shown(page, "connect")
    assert server.asked == []
    assert page.evaluate("try { one.answer = {}; false } catch (error) { error instanceof TypeError }")


@pytest.mark.parametrize("step", ["verifying", "going_to_service", "disconnected", "connected", "email"])
def test_a_prefetched_answer_is_followed_like_any_other(page: Page, server: ButtonServer, step: str) -> None:
    script = server.script()
    brought(page, server, script.answer(step, revision=4))
    server.pushed["one"] = script.answer("connect", revision=5)
    shown(page, "connect")


def test_an_undo_that_was_prefetched_ends_in_time(page: Page, server: ButtonServer) -> None:
    script = server.script()
    brought(page, server, script.answer("disconnecting", undo=(5, 8)))
    server.pushed["one"] = script.answer("disconnected", revision=2)
    shown(page, "disconnected")


def test_a_prefetched_answer_is_refreshed_like_any_other(page: Page, server: ButtonServer) -> None:
    script = server.script()
    brought(page, server, script.answer("connected"))
    server.shows(script.answer("pending", revision=2))
    page.evaluate("one.refresh()")
    shown(page, "pending")
    server.shows(script.answer("connected", revision=3))
    hide(page)
    hide(page, False)
    shown(page, "connected")
    server.shows(script.answer("connect", revision=4))
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    shown(page, "connect")
    server.shows(script.answer("connected", revision=5))
    page.evaluate("document.querySelector('main').append(one)")
    shown(page, "connected")


def test_a_page_from_the_history_does_not_keep_what_it_once_brought(page: Page, server: ButtonServer) -> None:
    """Without the back-forward cache its source comes from the cache of files, with the answer of then."""
    script = server.script()
    brought(page, server, script.answer("connect"))
    page.goto(f"{server.origin}/elsewhere")
    server.shows(script.answer("connected", revision=7))
    page.go_back()
    shown(page, "connected")


def test_a_prefetched_button_has_twins(page: Page, server: ButtonServer) -> None:
    script = server.script()
    brought(page, server, script.answer("connect"))
    page.evaluate("const twin = one.cloneNode(true); twin.id = 'twin'; document.querySelector('main').append(twin)")
    shown(page, "connect", "twin")
    server.answers(script.answer("connected", revision=2))
    switch(page, "twin").click()
    shown(page, "connected", "one")


def test_a_preview_has_no_server(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    asked = len(server.asked)
    for step in ("verifying", "going_to_service", "connect"):
        preview(page, server.script().answer(step))
    heard_by(server, page, lambda: server.listening == [])
    page.evaluate("one.refresh()")
    hide(page, False)
    switch(page).click()
    caught_up(page)
    assert len(server.asked) == asked and server.messages == [] and server.listening == []
    page.evaluate("one.setAttribute('connection', 'one')")
    heard_by(server, page, lambda: len(server.asked) == asked + 1)


# Newer and older

def test_an_older_answer_overwrites_nothing_wherever_it_comes_from(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connected", revision=5))
    server.shows(script.answer("connect", revision=4))
    page.evaluate("one.refresh()")
    caught_up(page)
    shown(page, "connected")
    page.evaluate("answer => { one.answer = answer }", script.answer("connect", revision=3))
    frame(page)
    shown(page, "connected")
    server.shows(script.answer("connect", revision=1, token="token-2"))
    page.evaluate("one.refresh()")
    shown(page, "connect")


def test_a_slow_look_does_not_undo_what_came_meanwhile(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connecting", revision=2))
    server.shows(script.answer("connecting", revision=2), delay=(gate := Event()))
    page.evaluate("() => { window.looked = false; one.refresh().then(() => { looked = true }) }")
    server.pushed["one"] = script.answer("connected", revision=3)
    shown(page, "connected")
    gate.set()
    until(page, "looked")
    shown(page, "connected")


def test_what_is_heard_while_a_wish_is_on_its_way_is_not_lost(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    heard_by(server, page, lambda: server.listening == ["one"])
    server.answers(script.answer("verifying", revision=2), delay=(gate := Event()))
    switch(page).click()
    push(page, server, script.answer("email", revision=3))
    caught_up(page)
    shown(page, "connect")
    # A server tells nothing twice.
    del server.pushed["one"]
    gate.set()
    shown(page, "email")
    assert events(server) == ["turn_on"]


def test_a_wish_about_an_older_revision_is_said_again_when_what_was_seen_is_still_so(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connected"))
    server.answers(script.answer("connected", revision=3), script.answer("confirm_disconnect", revision=4))
    switch(page).click()
    shown(page, "confirm_disconnect")
    assert [(message["event"], message["revision"]) for message in server.messages] == [("turn_off", 1), ("turn_off", 3)]
    # The server knows what was decided meanwhile, here or on another device.
    assert [message.get("since") for message in server.messages] == [None, 1]


def test_a_wish_about_what_is_no_more_is_not_said_again(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connected"))
    server.answers(script.answer("connect", revision=3), script.answer("verifying", revision=4))
    switch(page).click()
    shown(page, "connect")
    caught_up(page)
    assert events(server) == ["turn_off"]


# What passes by itself

def refused(server: ButtonServer, revision: int, refusals: int | None = None) -> dict[str, Any]:
    answer = server.script().answer("email", revision=revision, email="ada@", failure="invalid_email")
    if refusals is not None:
        answer["state"]["refusals"] = refusals
    return answer


@pytest.mark.parametrize("raised", [0, 1], ids=["same revision", "next revision"])
def test_the_notice_of_a_refused_address_passes_after_two_seconds(page: Page, server: ButtonServer, raised: int) -> None:
    """Whether or not its end counts as a change at the server."""
    script = server.script()
    frozen(page, server, script.answer("email"))
    server.answers(refused(server, 2, 1))
    page.get_by_role("textbox").fill("ada@")
    page.keyboard.press("Enter")
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    server.shows(script.answer("email", revision=2 + raised, email="ada@"))
    page.clock.run_for(2000)
    caught_up(page)
    assert footer(page).startswith("Enter a valid email address.")
    page.clock.run_for(100)
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(0)
    expect(page.get_by_role("textbox")).to_have_value("ada@")
    expect(page.get_by_role("textbox")).not_to_have_attribute("aria-invalid", "true")


def test_an_address_that_is_put_right_just_when_the_notice_ends_is_taken_at_the_first_try(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("email"))
    server.answers(refused(server, 2), script.answer("email", revision=3, email="ada@"), script.answer("verifying", revision=4))
    page.get_by_role("textbox").fill("ada@")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("textbox").fill("ada@example.com")
    page.keyboard.press("Enter")
    shown(page, "verifying")
    assert [(message["email"], message["revision"]) for message in server.messages] == [("ada@", 1), ("ada@example.com", 2), ("ada@example.com", 3)]


def test_what_the_server_could_not_load_is_tried_again_after_two_four_and_eight_seconds(page: Page, server: ButtonServer) -> None:
    script = server.script()
    frozen(page, server, script.answer("loading_failed", failure="unavailable"))
    server.answers(*[script.answer("loading_failed", revision=2 + count, failure="unavailable") for count in range(3)])
    for count, wait in enumerate((2000, 4000, 8000)):
        page.clock.run_for(wait - 100)
        caught_up(page)
        assert events(server) == ["retry"] * count
        page.clock.run_for(150)
        heard_by(server, page, lambda: len(server.messages) == count + 1)  # noqa: B023
        until(page, f"one.answer.revision === {count + 2}")
    page.clock.run_for(60_000)
    caught_up(page)
    assert events(server) == ["retry"] * 3
    server.answers(script.answer("connect", revision=9))
    page.get_by_role("button", name="Try again").click()
    shown(page, "connect")


@pytest.mark.parametrize("failure", ["unknown_connection", "not_allowed"])
def test_what_cannot_be_loaded_at_all_is_not_tried_again(page: Page, server: ButtonServer, failure: str) -> None:
    page.clock.install()
    opened(page, server, server.script().answer("loading_failed", failure=failure))
    page.clock.run_for(60_000)
    caught_up(page)
    assert server.messages == []


def test_a_server_that_is_still_loading_is_followed(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("loading"))
    server.pushed["one"] = script.answer("connected", revision=2)
    shown(page, "connected")
    assert page.locator("#one [role=status]").inner_text() == "", "what is there on load is no news"
    assert page.locator("#one .celebrates").count() == 0


def test_a_load_that_goes_on_is_not_given_up_when_the_tab_is_seen_again(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    server.states["one"] = (503, {}, 0)
    page.goto(server.url())
    until(page, "Boolean(window.button)")
    heard_by(server, page, lambda: len(server.asked) == 1)
    hide(page)
    hide(page, False)
    caught_up(page)
    server.shows(server.script().answer("connect"))
    page.clock.run_for(2100)
    shown(page, "connect")


# Who listens

def test_no_stream_is_open_behind_another_tab(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("going_to_service"))
    heard_by(server, page, lambda: server.listening == ["one"])
    hide(page)
    heard_by(server, page, lambda: server.listening == [])
    server.shows(script.answer("connecting", revision=2))
    hide(page, False)
    shown(page, "connecting")
    heard_by(server, page, lambda: server.listening == ["one"])
    server.pushed["one"] = script.answer("connected", revision=3)
    shown(page, "connected")


def test_a_button_that_rests_hears_what_was_changed_elsewhere(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connected"))
    heard_by(server, page, lambda: server.listening == ["one"])
    server.pushed["one"] = script.answer("connect", revision=2)
    shown(page, "connect")
    assert [detail["step"] for _, detail in heard(page, "change")][-1] == "connect"


def test_many_buttons_leave_the_browser_connections_to_ask_with(page: Page, server: ButtonServer) -> None:
    names = ["one", "two", "three", "four", "five", "six", "seven"]
    for name in names:
        server.shows(server.script().answer("connect"), name)
    page.goto(server.url(connections=",".join(names)))
    for name in names:
        shown(page, "connect", name)
    heard_by(server, page, lambda: len(server.listening) == 2)
    server.answers(server.script().answer("verifying", revision=2), connection="seven")
    switch(page, "seven").click()
    shown(page, "verifying", "seven")
    heard_by(server, page, lambda: "seven" in server.listening)


def test_without_events_a_button_that_rests_looks_twice_and_no_more(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    script = server.script()
    server.has_events = False
    opened(page, server, script.answer("connect"))
    caught_up(page)
    server.shows(script.answer("connected", revision=2))
    runs_until(page, "one.answer.state.step === 'connected'", 4000)
    shown(page, "connected")
    for _ in range(20):
        page.clock.run_for(30_000)
        caught_up(page)
    assert len(server.asked) <= 5
