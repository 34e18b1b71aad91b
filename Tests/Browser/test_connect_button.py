"""`<connect-button>` as a person meets it: pointer, touch, keyboard, screen reader; every state, light, dark, narrow, mirrored."""

import gzip
import json
import re
import subprocess
import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from button_page import ANSWERED, CATALOGUE, MINIFIED, ROOT, TOLD, VECTORS, ButtonServer, Script, heard, overflow, plain, word
from button_visit import (Finger, caught_up, drag, events, footer, frame, frozen, heard_by, hold, knob_comes_to, knob_place, let_go, opened, preview, push,
                          released, runs_until, settled, shown, switch, until)
from conftest import OpenPage
from person import violations
from sandbox import artefact

# Every row of the dossier's table 4.4 that a server can answer with.
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "loading": ("loading", {}),
    "loading-failed": ("loading_failed", {"failure": "offline"}),
    "loading-unknown": ("loading_failed", {"failure": "unknown_connection"}),
    "connect": ("connect", {}),
    "connect-failed": ("connect", {"failure": "interrupted"}),
    "email": ("email", {"email": "ada@example.com"}),
    "email-invalid": ("email", {"email": "ada@", "failure": "invalid_email"}),
    "verifying": ("verifying", {"progress": "indeterminate", "cancellable": True}),
    "creating-account": ("creating_account", {"progress": "indeterminate", "email": "ada+test@example.com", "cancellable": True}),
    "going-to-service": ("going_to_service", {"progress": "indeterminate", "cancellable": True}),
    "connecting": ("connecting", {"progress": 0.6}),
    "connected": ("connected", {}),
    "not-disconnected": ("connected", {"failure": "not_disconnected"}),
    "pending": ("pending", {}),
    "confirm-disconnect": ("confirm_disconnect", {}),
    "undo": ("disconnecting", {"undo": (5, 8)}),
    "disconnecting": ("disconnecting", {"progress": "indeterminate"}),
    "disconnected": ("disconnected", {}),
}
SETTINGS = {"wide": (1024, "ltr", "en-US"), "narrow-de": (320, "ltr", "de"), "narrow-ja": (320, "ltr", "ja"), "narrow-rtl": (320, "rtl", "de")}
SCHEMES = ("light", "dark")


# Every state, in every setting

@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_state_is_clean_and_fits(open_page: OpenPage, server: ButtonServer, scheme: str, setting: str) -> None:
    width, direction, locale = SETTINGS[setting]
    page = open_page(scheme=scheme, width=width, height=400, reduced_motion="reduce")
    script = server.script(locale=locale)
    opened(page, server, script.answer("connect"), page_dir=direction)
    expect(page.locator("#one .knob img")).to_have_count(1)
    for name, (step, options) in STATES.items():
        preview(page, script.answer(step, **options))
        assert violations(page) == [], name
        assert overflow(page) == [], name
        box = page.locator("#one .pill").bounding_box()
        assert box["width"] == min(329, width - 32) and box["height"] == 70, name
        page.screenshot(path=artefact(f"connect-button-{name}-{scheme}-{setting}"))
    assert heard(page, "violation") == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_about_page_is_clean_and_fits(open_page: OpenPage, server: ButtonServer, scheme: str, setting: str) -> None:
    width, direction, locale = SETTINGS[setting]
    page = open_page(scheme=scheme, width=width, reduced_motion="reduce")
    opened(page, server, server.script(locale=locale).answer("connected"), page_dir=direction)
    page.locator("#one .footer button").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    assert overflow(page) == []
    page.screenshot(path=artefact(f"connect-button-about-{scheme}-{setting}"))


@pytest.mark.parametrize("locale", sorted(CATALOGUE["connect"]["localizations"]))
def test_labels_fit_in_every_locale(open_page: OpenPage, server: ButtonServer, locale: str) -> None:
    page = open_page(width=329 + 32, reduced_motion="reduce")
    script = server.script(locale=locale, short="Google Calendar", full="Google Calendar")
    opened(page, server, script.answer("connect"))
    for step, options in STATES.values():
        preview(page, script.answer(step, **options))
        assert overflow(page) == []
        assert page.evaluate("""() => { const root = one.shadowRoot; const span = root.querySelector('.switch > span')
          if (root.querySelector('.switch').inert) return true
          const range = document.createRange(); range.selectNodeContents(span)
          const [text, pill, knob] = [range, root.querySelector('.pill'), root.querySelector('.knob')].map(e => e.getBoundingClientRect())
          const clear = getComputedStyle(root.querySelector('.knob')).opacity === '0' || text.right <= knob.left + 1 || text.left >= knob.right - 1
          return clear && text.height <= pill.height && text.left >= pill.left && text.right <= pill.right }"""), f"{locale}: {step}"


@pytest.mark.parametrize("locale", sorted(CATALOGUE["connect"]["localizations"]))
def test_learn_more_is_not_left_alone_on_a_line_of_the_footer(open_page: OpenPage, server: ButtonServer, locale: str) -> None:
    """At the button's full width, "Learn more" and its sign stand beside a part of the text or another link."""
    page = open_page(width=329 + 32, reduced_motion="reduce")
    script = server.script(locale=locale)
    opened(page, server, script.answer("connect"))
    seen = 0
    for name, (step, options) in STATES.items():
        preview(page, script.answer(step, **options))
        links, alone = page.evaluate("""() => { const lines = one.shadowRoot.querySelector('.footer .lines')
          const middle = rect => (rect.top + rect.bottom) / 2
          const parts = [...lines.querySelectorAll('.text, .action')].flatMap(part => [...part.getClientRects()].map(rect => ({ part, middle: middle(rect) })))
          const links = parts.filter(({ part }) => part.dataset.action === 'about')
          return [links.length, links.filter(link => !parts.some(other => other.part !== link.part && Math.abs(other.middle - link.middle) < 10)).length] }""")
        seen += links
        assert alone == 0, name
    assert seen > 0


def test_hidden_takes_no_room(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("hidden"))
    expect(page.locator("#one")).to_be_hidden()


def test_forced_colours_keep_the_knob_and_the_text(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(forced_colors="active")
    opened(page, server, server.script().answer("connected"))
    colors = page.evaluate("""() => { const get = (s, p) => getComputedStyle(one.shadowRoot.querySelector(s))[p]
      return [get('.pill', 'backgroundColor'), get('.switch', 'color'), get('.disc', 'backgroundColor'), get('.pill', 'borderTopStyle')] }""")
    assert colors[0] != colors[1] and colors[0] != colors[2] and colors[3] == "solid"


def test_text_twice_as_large_scales_the_button_and_loses_nothing(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(width=360, reduced_motion="reduce")
    script = server.script(locale="de")
    opened(page, server, script.answer("connect"))
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    for step, options in STATES.values():
        preview(page, script.answer(step, **options))
        assert page.locator("#one .pill").bounding_box()["height"] >= 140
        assert overflow(page) == [], step


# By pointer

def test_a_tap_turns_on_and_says_which_state_it_saw(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect", revision=4))
    server.answers(script.answer("email", revision=5, email="ada@example.com"))
    switch(page).click()
    shown(page, "email")
    assert server.messages == [{"connection": "one", "path": "/connect/one/events", "type": "application/json", "event": "turn_on", "revision": 4, "token": "token-1"}]


def test_double_taps_are_one(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2), delay=(gate := Event()))
    switch(page).dblclick()
    switch(page).click(force=True)
    gate.set()
    shown(page, "verifying")
    assert events(server) == ["turn_on"]


def tap_twice(page: Page, step: str) -> None:
    """A double tap so slow that the answer to the first tap is there before the second."""
    box = page.locator("#one .pill").bounding_box()
    page.mouse.move(box["x"] + 80, box["y"] + 35)
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)
    shown(page, step)
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    caught_up(page)


def test_a_double_tap_on_off_does_not_answer_the_question(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connected"))
    server.answers(script.answer("confirm_disconnect", revision=2))
    tap_twice(page, "confirm_disconnect")
    assert events(server) == ["turn_off"]


def test_a_double_tap_on_connect_does_not_skip_ahead(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("going_to_service", revision=2))
    tap_twice(page, "going_to_service")
    assert events(server) == ["turn_on"]


def answered(script: Script, event: str, revision: int, **more: Any) -> dict[str, Any]:
    """What a real server answers to a message."""
    step, options = ANSWERED[event]
    return script.answer(step, revision=revision, **options | more)


def told(script: Script, event: str, revision: int, **more: Any) -> dict[str, Any]:
    """What a real server tells later of a message that it has answered."""
    step, options = TOLD[event]
    return script.answer(step, revision=revision, **options | more)


def test_the_whole_way_of_a_new_user(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"), email=" ada@example.com ")
    server.answers(answered(script, "turn_on", 2), answered(script, "invalid_email", 3, email="ada@"),
                   answered(script, "email", 5, email="ada@example.com"))
    switch(page).click()
    field = page.get_by_role("textbox")
    expect(field).to_have_value("ada@example.com")
    field.fill("ada@")
    page.get_by_role("button", name="Continue").click()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("ada@")
    assert footer(page).startswith("Enter a valid email address.")
    server.pushed["one"] = told(script, "invalid_email", 4, email="ada@")
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(0)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    field.fill("  ada@example.com ")
    field.press("Enter")
    shown(page, "verifying")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    server.pushed["one"] = told(script, "creating_account", 6, email="ada@example.com")
    shown(page, "creating_account")
    assert footer(page).startswith("IFTTT is creating an account for ada@example.com.")
    # The server knows where to: the page asks for it by itself, as soon as the user has read who is meant.
    server.answers(answered(script, "proceed", 7, open=f"{server.origin}/elsewhere"))
    server.pushed["one"] = told(script, "email", 7, email="ada@example.com")
    page.wait_for_url("**/elsewhere")
    server.shows(script.answer("connected", revision=9))
    page.go_back()
    shown(page, "connected")
    expect(switch(page)).to_be_checked()
    assert [(message["event"], message.get("email"), message["revision"]) for message in server.messages] == [
        ("turn_on", None, 1), ("email", "ada@", 2), ("email", "ada@example.com", 4), ("proceed", None, 7)]


def test_cancel_before_the_page_is_left_leads_nowhere(page: Page, server: ButtonServer) -> None:
    script = server.script()
    frozen(page, server, script.answer("verifying", revision=2, progress="indeterminate", cancellable=True))
    server.answers(answered(script, "email", 3))
    page.evaluate("answer => { one.answer = answer }", script.answer("email", revision=2, cancellable=True))
    page.get_by_role("textbox").fill("ada@example.com")
    page.keyboard.press("Enter")
    shown(page, "verifying")
    server.pushed["one"] = told(script, "email", 4, email="ada@example.com")
    shown(page, "going_to_service")
    server.answers(script.answer("connect", revision=5))
    page.get_by_role("button", name="Cancel").click()
    shown(page, "connect")
    page.clock.run_for(5000)
    caught_up(page)
    assert events(server) == ["email", "cancel"]


def test_an_address_can_be_opened_in_a_new_tab(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"), target="_blank")
    server.answers(script.answer("going_to_service", revision=2, open=f"{server.origin}/elsewhere"))
    with page.context.expect_page() as opening:
        switch(page).click()
    assert opening.value.url == f"{server.origin}/elsewhere"
    assert opening.value.evaluate("window.opener") is None
    shown(page, "going_to_service")


def test_an_address_is_opened_in_this_tab_where_the_browser_blocks_a_new_one(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"), target="_blank")
    server.answers(script.answer("going_to_service", revision=2, open=f"{server.origin}/elsewhere"))
    page.evaluate("() => { window.open = () => null }")
    switch(page).click()
    page.wait_for_url("**/elsewhere")


@pytest.mark.parametrize("address", ["javascript:document.title='hit'", "data:text/html,x", "http://example.com/", "//example.com", "ftp://127.0.0.1/",
                                     "https://user:secret@example.com/", "file:///etc/passwd", 7, None, {"a": 1}])
def test_only_safe_addresses_are_opened(page: Page, server: ButtonServer, address: Any) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    before = page.url
    server.answers(script.answer("going_to_service", revision=2, open=address))
    switch(page).click()
    shown(page, "going_to_service")
    caught_up(page)
    assert page.url == before and page.title() == "An app"
    # A browser refuses some of them itself: what the button notes down before it leaves the page tells that it wanted to.
    assert page.evaluate("sessionStorage.length") == 0 and heard(page, "violation") == []


def test_disconnecting_asks_and_can_be_declined(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connected"))
    server.answers(answered(script, "turn_off", 2), answered(script, "keep", 3), answered(script, "turn_off", 4), answered(script, "disconnect", 5),
                   answered(script, "cancel", 6), answered(script, "turn_off", 8), answered(script, "disconnect", 9))
    switch(page).click()
    shown(page, "confirm_disconnect")
    assert footer(page) == "Disconnect Location?"
    page.get_by_role("button", name="Keep").click()
    shown(page, "connected")
    settled(page)
    switch(page).click()
    page.get_by_role("button", name="Disconnect", exact=True).click()
    shown(page, "disconnecting")
    page.get_by_role("button", name="Cancel").click()
    shown(page, "connecting")
    server.pushed["one"] = told(script, "cancel", 7)
    shown(page, "connected")
    settled(page)
    switch(page).click()
    page.get_by_role("button", name="Disconnect", exact=True).click()
    shown(page, "disconnecting")
    server.pushed["one"] = told(script, "disconnect", 10)
    shown(page, "disconnected")
    server.pushed["one"] = script.answer("connect", revision=11)
    shown(page, "connect")
    assert [(message["event"], message["revision"]) for message in server.messages] == [
        ("turn_off", 1), ("keep", 2), ("turn_off", 3), ("disconnect", 4), ("cancel", 5), ("turn_off", 7), ("disconnect", 8)]


def test_disconnecting_can_be_undone_in_time(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("disconnecting", undo=(5, 8)))
    assert footer(page).startswith("You can undo this for 5 seconds.")
    server.answers(script.answer("connected", revision=2))
    page.get_by_role("button", name="Undo").click()
    shown(page, "connected")
    assert events(server) == ["undo"]


def test_what_goes_on_can_be_ended(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("verifying", progress="indeterminate", cancellable=True))
    server.answers(script.answer("connect", revision=2, failure="cancelled"))
    page.get_by_role("button", name="Cancel").click()
    shown(page, "connect")
    assert footer(page).startswith("Canceled. Nothing was changed.")
    assert page.locator("#one .footer").get_attribute("data-tone") == "plain"


def test_arriving_is_drawn_with_a_check_mark_while_the_switch_is_on_already(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connecting", progress="indeterminate"))
    until(page, "performance.now() > 500")
    hold(page)
    server.pushed["one"] = script.answer("connected", revision=2)
    expect(page.locator("#one .celebrates")).to_have_count(1)
    expect(switch(page)).to_be_checked()
    page.evaluate("for (const a of one.shadowRoot.querySelector('.check').getAnimations({ subtree: true })) a.currentTime = 1000")
    page.screenshot(path=artefact("connect-button-check-mark"))
    let_go(page)
    settled(page)
    assert knob_place(page) == pytest.approx(1, abs=0.01)


def test_connected_on_load_is_there_immediately(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connected"))
    assert knob_place(page) == pytest.approx(1, abs=0.01)
    assert page.locator("#one .celebrates").count() == 0


# By dragging (dossier 4.5)

def test_the_knob_follows_the_finger(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    drag(page, 0.1, [0.2, 0.4, 0.6], lift=False)
    knob_comes_to(page, 0.5 * 329 / 259)  # by as much as the finger
    page.screenshot(path=artefact("connect-button-dragged"))
    page.mouse.move(page.locator("#one .pill").bounding_box()["x"] - 100, 0)
    knob_comes_to(page, 0)
    page.mouse.up()
    settled(page)
    caught_up(page)
    assert server.messages == []


@pytest.mark.parametrize(("step", "start", "path", "hold", "expected"), [
    ("connect", 0.1, [0.3, 0.6, 0.8], 150, ["turn_on"]),
    ("connect", 0.1, [0.2, 0.3], 150, []),
    ("connect", 0.1, [0.15, 0.2, 0.25, 0.3], 0, ["turn_on"]),
    ("connect", 0.1, [0.5, 0.9, 0.85, 0.7, 0.55], 0, []),
    ("connected", 0.9, [0.8, 0.6, 0.4], 150, ["turn_off"]),
    ("connected", 0.9, [0.8, 0.6], 150, []),
    ("connected", 0.9, [0.85, 0.75, 0.65, 0.55], 0, []),
])
def test_a_release_decides_by_velocity_and_place(page: Page, server: ButtonServer, step: str, start: float, path: list[float], hold: int,
                                                 expected: list[str]) -> None:
    script = server.script()
    opened(page, server, script.answer(step))
    server.answers(script.answer("confirm_disconnect" if step == "connected" else "verifying", revision=2))
    released(page, start, path, hold)
    settled(page)
    caught_up(page)
    assert events(server) == expected
    if not expected:
        assert knob_place(page) == pytest.approx(1 if step == "connected" else 0, abs=0.01)


def test_a_drag_towards_the_email_field_shows_it_coming(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect", following="email"))
    server.answers(answered(script, "turn_on", 2))
    drag(page, 0.1, [0.3, 0.6, 0.1 + 0.9 * 259 / 329], lift=False)
    # Under the finger: the field and the grey ground as far as the finger, the confirm button at the knob's place.
    until(page, "['.email input', '.email button', '.ground.grey'].every((s, at) => Math.abs(getComputedStyle(one.shadowRoot.querySelector(s)).opacity - [2 / 3, 2 / 3, 0.9][at]) < 0.05)")
    caught_up(page)
    assert server.messages == [], "nothing is said before the finger is lifted"
    page.mouse.up()
    shown(page, "email")
    settled(page)
    field = page.get_by_role("textbox")
    expect(field).to_be_editable()
    looks = page.evaluate("""() => ['.email input', '.email button', '.ground.grey', '.knob'].map(s => Number(getComputedStyle(one.shadowRoot.querySelector(s)).opacity))""")
    assert looks == [1, 1, 1, 0], "the field and its button are there, the knob is not"
    assert page.evaluate("one.shadowRoot.querySelector('.switch').textContent") == ""
    field.fill("ada@example.com")
    server.answers(answered(script, "email", 3))
    page.get_by_role("button", name="Continue").click()
    shown(page, "verifying")
    assert [(message["event"], message.get("email")) for message in server.messages] == [("turn_on", None), ("email", "ada@example.com")]


def test_a_drag_in_a_mirrored_page_goes_the_other_way(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"), page_dir="rtl")
    assert knob_place(page) == pytest.approx(1, abs=0.01)
    server.answers(script.answer("verifying", revision=2))
    drag(page, 0.9, [0.7, 0.4, 0.2])
    shown(page, "verifying")


def test_in_a_mirrored_page_the_address_stands_clear_of_its_button(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("email", email="a@b.c"), page_dir="rtl")
    settled(page)
    field = page.locator("#one input[type=email]")
    expect(field).to_have_value("a@b.c")
    box, button = field.bounding_box(), page.locator("#one .email button").bounding_box()
    assert button["x"] + button["width"] <= box["x"] + 0.5
    # It reads from left to right, and yet stands at the end away from the button: left of it there is room.
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.type("x")
    expect(field).to_have_value("xa@b.c")


def test_a_drag_that_the_server_cannot_hear_goes_back_with_a_reason(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    server.answers((503, {}, 0))
    drag(page, 0.1, [0.4, 0.7, 0.9])
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    settled(page)
    assert knob_place(page) == pytest.approx(0, abs=0.01)
    assert footer(page).startswith("IFTTT isn’t answering right now.")


@pytest.mark.parametrize("towards", ["verifying", "email"])
def test_dragging_moves_by_transform_and_opacity_alone(page: Page, server: ButtonServer, towards: str) -> None:
    """MO29. Towards the email field the corners of two parts change besides."""
    opened(page, server, server.script().answer("connect", following=towards))
    page.evaluate("""() => { window.shifts = 0; new PerformanceObserver(list => { for (const e of list.getEntries()) shifts += e.value })
      .observe({ type: 'layout-shift', buffered: true })
      window.touched = new Set(); const root = one.shadowRoot
      new MutationObserver(list => { for (const m of list) if (m.attributeName === 'style') for (const name of m.target.style) touched.add(name) })
        .observe(root.querySelector('.body'), { subtree: true, attributes: true, attributeFilter: ['style'] }) }""")
    drag(page, 0.1, [0.2, 0.3, 0.4, 0.5, 0.6], lift=False)
    knob_comes_to(page, 0.5 * 329 / 259)
    assert page.evaluate("shifts") == 0
    assert {name for name in page.evaluate("[...touched]") if not name.startswith("--")} <= {"transform", "opacity"}
    moved = page.evaluate("""() => { const moved = {}
      for (const { effect } of one.shadowRoot.getAnimations()) {
        const { className, localName } = effect.target
        for (const name of effect.getKeyframes().flatMap(Object.keys)) (moved[name] ??= []).push(className || localName) }
      return moved }""")
    properties = set(moved) - {"offset", "computedOffset", "easing", "composite"}
    rounded = {name for name in properties if name.endswith("Radius")}
    assert {part for name in rounded for part in moved[name]} == ({"disc", "button"} if towards == "email" else set())
    assert properties - rounded == {"translate", "opacity"} | ({"scale"} if towards == "email" else set())
    page.mouse.up()
    heard_by(server, page, lambda: events(server) == ["turn_on"])


# By touch

def test_a_tap_with_a_finger_turns_on(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(has_touch=True, width=360)
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2))
    switch(page).tap()
    shown(page, "verifying")
    caught_up(page)
    assert [(message["event"], message["revision"]) for message in server.messages] == [("turn_on", 1)]


def test_the_message_of_an_earlier_page_is_not_heard(page: Page, server: ButtonServer) -> None:
    """A test may end, and the next one begin, while the server has not read what the page sent last."""
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.reset()
    server.answers(script.answer("verifying", revision=2))
    switch(page).click()
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    assert server.messages == [] and len(server.replies["one"]) == 1, "the next test's answer is not taken"


def test_a_finger_drags_the_knob(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(has_touch=True, width=360)
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2))
    box = page.locator("#one .pill").bounding_box()
    y = box["y"] + 35
    finger = Finger(page)
    finger.touch("touchStart", box["x"] + 35, y)
    for part in (0.2, 0.4, 0.6, 0.8, 0.9):
        finger.touch("touchMove", box["x"] + part * box["width"], y)
        frame(page)
    knob_comes_to(page, min((0.9 * box["width"] - 35) / (box["width"] - 70), 1))
    finger.touch("touchEnd")
    shown(page, "verifying")
    assert events(server) == ["turn_on"]


def test_a_finger_scrolls_over_the_button(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(has_touch=True, width=360, height=400)
    opened(page, server, server.script().answer("connect"))
    page.evaluate("document.body.style.height = '3000px'")
    box = page.locator("#one .pill").bounding_box()
    x, y = box["x"] + 35, box["y"] + 35
    finger = Finger(page)
    finger.touch("touchStart", x, y)
    for step in range(1, 12):
        finger.touch("touchMove", x + step, y - 8 * step)
        frame(page)
    finger.touch("touchEnd")
    until(page, "scrollY > 20")
    caught_up(page)
    assert server.messages == []
    assert knob_place(page) == pytest.approx(0, abs=0.01)


# By keyboard alone

# What is drawn around the whole pill, and its contrast with the page.
RING = """() => { const style = getComputedStyle(one.shadowRoot.querySelector('.pill'))
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const light = color => { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1)
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b }
  const [a, b] = [light(style.outlineColor), light('white')].sort((x, y) => y - x)
  return { style: style.outlineStyle, width: parseFloat(style.outlineWidth), contrast: (a + 0.05) / (b + 0.05) } }"""


def test_the_whole_way_by_keyboard(page: Page, server: ButtonServer) -> None:
    script = server.script()
    person = opened(page, server, script.answer("connect"), email="ada@example.com")
    server.answers(answered(script, "turn_on", 2), answered(script, "email", 3), answered(script, "proceed", 4, open=f"{server.origin}/elsewhere"))
    person.go_to("Connect")
    person.keys("Space")
    shown(page, "email")
    settled(page)
    assert person.focus()["type"] == "email", "the focus moved on to the field"
    ring = page.evaluate(RING)
    assert ring["style"] == "solid" and ring["width"] >= 2 and ring["contrast"] >= 3, f"no ring around the pill whose field has the focus: {ring}"
    person.keys("Enter")
    shown(page, "verifying")
    person.go_to("Cancel")
    server.pushed["one"] = told(script, "email", 4)
    page.wait_for_url("**/elsewhere")
    server.shows(script.answer("connected", revision=5))
    page.go_back()
    shown(page, "connected")
    settled(page)
    person.go_to("Connected")
    server.answers(answered(script, "turn_off", 6), answered(script, "keep", 7), answered(script, "turn_off", 8), answered(script, "disconnect", 9))
    person.keys("Enter")
    shown(page, "confirm_disconnect")
    assert person.focus()["name"] == "Keep"
    person.keys("Escape")
    shown(page, "connected")
    settled(page)
    person.go_to("Connected")
    person.keys("Space")
    shown(page, "confirm_disconnect")
    person.keys("Shift+Tab")
    assert person.see_focus()["name"] == "Disconnect"
    person.keys("Enter")
    shown(page, "disconnecting")
    server.pushed["one"] = told(script, "disconnect", 10)
    shown(page, "disconnected")
    server.pushed["one"] = script.answer("connect", revision=11)
    shown(page, "connect")
    person.go_to("Connect")
    assert [m["event"] for m in server.messages] == ["turn_on", "email", "proceed", "turn_off", "keep", "turn_off", "disconnect"]


def test_every_stop_is_visible_and_in_order(page: Page, server: ButtonServer) -> None:
    person = opened(page, server, server.script().answer("connect", failure="interrupted"))
    assert [plain(name) for name in person.walk_all()] == ["Connect Location", "Try again", "Learn more"]


def test_escape_leaves_the_email_field(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("email", email="ada@example.com", cancellable=True))
    server.answers(script.answer("connect", revision=2))
    page.get_by_role("textbox").focus()
    page.keyboard.press("Escape")
    shown(page, "connect")
    assert events(server) == ["cancel"]
    assert page.evaluate("one.shadowRoot.activeElement?.getAttribute('role')") == "switch"


@pytest.mark.parametrize("way", ["arrow", "return"])
def test_an_address_is_confirmed_by_the_arrow_or_by_return(page: Page, server: ButtonServer, way: str) -> None:
    """F014: the field also gives up the focus, and with that a phone's keyboard goes."""
    script = server.script()
    opened(page, server, script.answer("email", email="ada@example.com"))
    server.answers(answered(script, "email", 2))
    field = page.get_by_role("textbox")
    field.focus()
    if way == "arrow":
        page.get_by_role("button", name="Continue").click()
    else:
        field.press("Enter")
    shown(page, "verifying")
    assert [(message["event"], message["email"]) for message in server.messages] == [("email", "ada@example.com")]
    assert page.evaluate("one.shadowRoot.activeElement?.className") == "switch"


def test_what_fills_forms_in_knows_the_field(page: Page, server: ButtonServer) -> None:
    """W26: the browser offers the user's addresses, and a phone the keyboard for them."""
    opened(page, server, server.script().answer("email"))
    field = page.get_by_role("textbox")
    for name, value in {"type": "email", "autocomplete": "email", "inputmode": "email", "enterkeyhint": "done", "autocapitalize": "none", "spellcheck": "false"}.items():
        expect(field).to_have_attribute(name, value)


def test_the_about_page_opens_closes_and_gives_the_focus_back(page: Page, server: ButtonServer) -> None:
    person = opened(page, server, server.script().answer("connected"))
    person.go_to("WORKS WITH")
    person.keys("Enter")
    dialog = page.get_by_role("dialog", name=re.compile("IFTTT connects .Lumen. with .Location."))
    expect(dialog).to_be_visible()
    links = {plain(link.get_attribute("aria-label") or link.inner_text()): link.get_attribute("href") for link in dialog.get_by_role("link").all()}
    assert links == {"Lumen Garden": "https://ifttt.com/lumen_garden", "Location Service": "https://ifttt.com/location",
                     "IFTTT connects Lumen with Location": "https://ifttt.com/connections/aB3dE5fG",
                     "Manage connection": "https://ifttt.com/connections/aB3dE5fG/edit", "privacy policy and terms": "https://ifttt.com/terms"}
    assert dialog.get_by_role("listitem").count() == 4
    assert {link.get_attribute("rel") for link in dialog.get_by_role("link").all()} == {"noopener noreferrer"}
    person.keys("Escape")
    expect(dialog).to_have_count(0)
    assert plain(person.see_focus()["name"]).lower().startswith("works with")


@pytest.mark.parametrize("step", ["connect", "connected", "pending"])
@pytest.mark.parametrize("store", ["https://apps.apple.com/app/id660944635", None])
def test_the_about_page_offers_managing_only_when_on_and_the_store_only_when_the_app_is_missing(
        page: Page, server: ButtonServer, step: str, store: str | None) -> None:
    answer = server.script().answer(step)
    answer["state"]["storeURL"] = store
    opened(page, server, answer)
    page.locator("#one .footer [aria-haspopup=dialog]").click()
    sheet = page.get_by_role("dialog")
    expect(sheet).to_be_visible()
    assert sheet.get_by_role("link", name="Get the IFTTT app").count() == (1 if store else 0)
    assert sheet.get_by_role("link", name="Manage connection").count() == (0 if step == "connect" else 1)


# For a screen reader

def test_the_switch_is_one(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    assert plain(page.locator("#one .pill").aria_snapshot()).strip().startswith('- switch "Connect Location"')
    opened(page, server, server.script().answer("connected"))
    assert plain(page.locator("#one .pill").aria_snapshot()).strip().startswith('- switch "Connected, Location" [checked]')
    opened(page, server, server.script().answer("verifying", progress="indeterminate"))
    expect(switch(page)).to_be_disabled()
    assert switch(page).get_attribute("aria-busy") == "true"


def test_what_changes_is_announced_and_what_is_there_on_load_is_not(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    status = page.locator("#one [role=status]")
    expect(status).to_have_text("")
    opened(page, server, script.answer("connected"))
    expect(status).to_have_text("")
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2), script.answer("connect", revision=3, failure="interrupted"))
    switch(page).click()
    expect(status).to_have_text("Verifying…, \u2068Location\u2069")
    server.pushed["one"] = script.answer("connect", revision=3, failure="interrupted")
    expect(status).to_have_text("Something went wrong. Nothing was changed.")


def test_the_page_says_which_language_the_button_speaks(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script(locale="ja").answer("connect"), page_lang="de")
    assert page.evaluate("one.shadowRoot.querySelector('.body').lang") == "ja"


# Loading, failing, following

def test_loading_tries_four_times_and_then_offers_a_retry(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    server.states["one"] = (503, {}, 0)
    page.goto(server.url())
    shown(page, "loading")
    for count, wait in enumerate((2000, 4000, 8000)):
        heard_by(server, page, lambda: len(server.asked) == count + 1)  # noqa: B023
        caught_up(page)
        page.clock.run_for(wait + 50)
    shown(page, "loading_failed")
    assert len(server.asked) == 4
    assert footer(page).startswith("IFTTT isn’t answering right now.")
    server.shows(server.script().answer("connect"))
    page.get_by_role("button", name="Try again").click()
    shown(page, "connect")


@pytest.mark.parametrize(("status", "text", "offers"), [(404, "This connection isn’t available.", 0), (401, "Your account can’t use this connection.", 0),
                                                        (403, "Your account can’t use this connection.", 0)])
def test_what_cannot_pass_is_said_immediately_and_not_called_offline(page: Page, server: ButtonServer, status: int, text: str, offers: int) -> None:
    server.states["one"] = (status, {}, 0)
    page.goto(server.url())
    shown(page, "loading_failed")
    assert footer(page) == text and len(server.asked) == 1
    assert page.get_by_role("button", name="Try again").count() == offers
    assert heard(page, "failed")[0][1]["detail"] == f"HTTP {status}"


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b'{"state":{}}', b'{"state":{"step":"constructor"}}', b'{"state":{"step":["connect"]}}',
                                  b" " * 10_000_000 + b'{"state":{"step":"connect"}}', b"\xff\xfe\x00"])
def test_an_answer_that_is_none_is_a_failure_and_no_crash(page: Page, server: ButtonServer, body: bytes) -> None:
    page.clock.install()
    server.states["one"] = (200, body, 0)
    page.goto(server.url())
    shown(page, "loading")
    runs_until(page, "one.answer.state.step === 'loading_failed'")
    shown(page, "loading_failed")


def test_an_answer_is_read_up_to_its_limit_and_no_further(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("connected", revision=2, padding="x" * 10_000_000))
    switch(page).click()
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    shown(page, "connect")


def test_a_lost_network_is_called_offline_and_its_return_loads_again(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    page.context.set_offline(True)
    switch(page).click()
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    assert footer(page).startswith("You’re offline. Check your internet connection.")
    shown(page, "connect")
    before = len(heard(page, "change"))
    page.context.set_offline(False)
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(0)
    assert len(heard(page, "change")) == before + 1, "the page hears that it is over"
    caught_up(page)
    assert events(server) == [], "nothing is sent again without the user"
    server.answers(script.answer("verifying", revision=2))
    switch(page).click()
    shown(page, "verifying")
    assert events(server) == ["turn_on"]


def test_a_failure_is_shown_inline_with_a_retry(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("connect", revision=2, failure="account_not_created"), script.answer("verifying", revision=3))
    switch(page).click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    assert footer(page).startswith("IFTTT couldn’t create your account.")
    assert heard(page, "failed") == [["one", {"connection": "one", "kind": "account_not_created", "detail": "for developers", "during": "activation"}]]
    page.get_by_role("button", name="Try again").click()
    shown(page, "verifying")
    assert events(server) == ["turn_on", "retry"]


@pytest.mark.parametrize("step, press", [("connect", "switch"), ("email", "address")])
def test_a_refusal_for_asking_too_often_is_said_and_can_be_tried_again(page: Page, server: ButtonServer, step: str, press: str) -> None:
    script = server.script()
    opened(page, server, script.answer(step))
    server.answers((429, {"type": "error", "code": "too_many"}, 0), script.answer("verifying", revision=2))
    if press == "switch":
        switch(page).click()
    else:
        page.locator("input[type=email]").fill("ada@example.com")
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    assert footer(page).startswith("Too many attempts. Wait a moment and try again.")
    assert heard(page, "failed") == [["one", {"connection": "one", "kind": "too_many", "detail": "HTTP 429", "during": "activation"}]]
    # It stands where it stood, and what was typed is still there.
    shown(page, step)
    expect(page.locator("connect-button [role=progressbar]")).to_have_count(0)
    if press == "address":
        assert page.locator("input[type=email]").input_value() == "ada@example.com"
    page.get_by_role("button", name="Try again").click()
    shown(page, "verifying")
    assert events(server) == [events(server)[0]] * 2


def test_a_state_without_a_failure_has_none(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connected"))
    assert page.evaluate("one.answer.state.failure") is None and heard(page, "failed") == []


def test_a_token_that_is_over_is_renewed_once(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.shows(script.answer("connect", revision=9, token="token-2"))
    server.answers((403, {}, 0), script.answer("verifying", revision=10))
    switch(page).click()
    shown(page, "verifying")
    assert [(message["token"], message["revision"]) for message in server.messages] == [("token-1", 1), ("token-2", 9)]


def test_a_tap_on_what_is_no_more_changes_nothing_after_a_renewal(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.shows(script.answer("connected", revision=9, token="token-2"))
    server.answers((403, {}, 0))
    switch(page).click()
    shown(page, "connected")
    assert events(server) == ["turn_on"]


def test_a_restarted_session_is_shown_though_it_counts_from_the_beginning(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connected", revision=9))
    server.shows(script.answer("connect", revision=1, token="token-2"))
    server.answers((403, {}, 0), script.answer("verifying", revision=2, token="token-2"))
    switch(page).click()
    shown(page, "connect")
    switch(page).click()
    shown(page, "verifying")
    assert [(message["event"], message["token"]) for message in server.messages] == [("turn_off", "token-1"), ("turn_on", "token-2")]


def test_what_another_tab_changed_is_followed(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.shows(script.answer("connected", revision=2))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    shown(page, "connected")


def test_without_events_the_server_is_asked_again(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    script = server.script()
    server.has_events = False
    opened(page, server, script.answer("verifying", progress="indeterminate"))
    caught_up(page)
    server.shows(script.answer("connected", revision=2))
    runs_until(page, "one.answer.state.step === 'connected'", 4000)
    shown(page, "connected")


def test_an_older_answer_changes_nothing(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("going_to_service", revision=5))
    push(page, server, script.answer("connect", revision=4))
    server.answers(script.answer("connect", revision=3))
    page.locator("#one .switch").click()
    heard_by(server, page, lambda: events(server) == ["proceed"])
    caught_up(page)
    shown(page, "going_to_service")


def test_the_buttons_own_locale_is_asked_for(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script(locale="ko").answer("connect"), locale="ko_KR")
    server.answers(server.script(locale="ko").answer("verifying", revision=2))
    switch(page).click()
    shown(page, "verifying")
    assert server.asked == ["/connect/one?locale=ko_KR"] and server.messages[0]["path"] == "/connect/one/events?locale=ko_KR"


def test_a_button_that_is_moved_while_it_loads_goes_on_loading(page: Page, server: ButtonServer) -> None:
    server.shows(server.script().answer("connect"), delay=(gate := Event()))
    page.goto(server.url())
    shown(page, "loading")
    page.evaluate("document.querySelector('main').append(one)")
    gate.set()
    shown(page, "connect")


def test_a_key_after_a_scroll_over_the_button_is_heard(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(has_touch=True, width=360)
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2))
    box = page.locator("#one .pill").bounding_box()
    finger = Finger(page)
    finger.touch("touchStart", box["x"] + 200, box["y"] + 35)
    finger.touch("touchMove", box["x"] + 200, box["y"] + 75)
    finger.touch("touchEnd")
    frame(page)
    switch(page).focus()
    page.keyboard.press("Enter")
    shown(page, "verifying")


def test_progress_is_one_for_a_screen_reader(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connecting", progress=0.6))
    bar = page.get_by_role("progressbar", name="Connecting…")
    expect(bar).to_have_attribute("aria-valuenow", "60")


def test_the_button_speaks_before_any_server_does(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(locale="fr-CA")
    server.states["one"] = (404, {}, 0)
    page.goto(server.url())
    shown(page, "loading_failed")
    assert footer(page) == word("unknown_connection", "fr-CA")
    page.goto(server.url(locale="zh-TW"))
    shown(page, "loading_failed")
    assert footer(page) == word("unknown_connection", "zh-Hant")


def test_nothing_is_stored(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"), email="ada@example.com")
    server.answers(script.answer("email", revision=2))
    switch(page).click()
    shown(page, "email")
    assert page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]
    assert not any("ada" in path for path in server.asked), "the suggestion is sent only when it is confirmed"


# Counting, of people who agreed

def counted(server: ButtonServer) -> list[str]:
    return [" ".join(filter(None, (message["event"], message.get("item")))) for message in server.counts]


def look_at_about(page: Page) -> None:
    """From the footer through everything on the About page that can be tapped."""
    page.locator("#one .footer button").first.click()
    # What is counted is the tap; the pages behind it are elsewhere.
    page.get_by_role("dialog").evaluate("e => e.addEventListener('click', event => event.preventDefault(), true)")
    links = page.get_by_role("dialog").get_by_role("link").all()
    assert len(links) == 5
    for link in links:
        link.click()
    page.get_by_role("dialog").get_by_role("button").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("consent", [None, False, "true", 1, {"yes": True}])
def test_a_user_who_did_not_agree_is_not_counted(page: Page, server: ButtonServer, consent: Any) -> None:
    opened(page, server, server.script().answer("connected") | ({} if consent is None else {"isCounted": consent}))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    look_at_about(page)
    caught_up(page)
    assert server.counts == [] and "POST" not in asked


def test_who_agreed_is_counted_in_the_order_in_which_it_happened(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connected", revision=4, isCounted=True))
    look_at_about(page)
    expected = ["shown", "footer_tapped", "about_shown", "about_tapped primary", "about_tapped connecting", "about_tapped title",
                "about_tapped manage", "about_tapped legal"]
    until_counted(page, server, expected)
    assert all(message["token"] == "token-1" and message["revision"] == 4 and message["type"] == "application/json" for message in server.counts)
    page.evaluate("one.refresh()")
    caught_up(page)
    assert counted(server) == expected, "to look again is not to be shown again"
    assert server.messages == [], "what is counted is no event"


def until_counted(page: Page, server: ButtonServer, expected: list[str]) -> None:
    deadline = time.monotonic() + 30
    while counted(server) != expected:
        assert time.monotonic() < deadline, counted(server)
        page.wait_for_timeout(20)


def test_counting_delays_nothing_and_fails_nothing(page: Page, server: ButtonServer) -> None:
    script = server.script()
    server.counting.clear()
    opened(page, server, script.answer("connect", isCounted=True))
    server.answers(script.answer("email", revision=2, isCounted=True), script.answer("going_to_service", revision=3, open=f"{server.origin}/elsewhere"))
    page.locator("#one .footer button").click()
    page.keyboard.press("Escape")
    switch(page).click()
    shown(page, "email")
    page.get_by_role("textbox").fill("ada@example.com")
    page.keyboard.press("Enter")
    page.wait_for_url("**/elsewhere")
    assert counted(server)[0] == "shown", "it has no answer yet, and is on its way all the same"
    server.counting.set()


@pytest.mark.parametrize("status", [204, 403, 500, 0])
def test_a_server_that_does_not_count_is_told_no_more_and_no_user_sees_it(page: Page, server: ButtonServer, status: int) -> None:
    server.counting_status = status
    if not status:
        page.route("**/counts", lambda route: route.abort())
    opened(page, server, server.script().answer("connect", isCounted=True))
    until_counted(page, server, ["shown"] if status else [])
    for _ in range(2):
        page.locator("#one .footer button").click()
        page.keyboard.press("Escape")
    caught_up(page)
    assert counted(server) == (["shown"] if status else [])
    assert heard(page, "failed") == [] and footer(page) == "WORKS WITH IFTTT"


def test_consent_counts_from_the_answer_that_says_so(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    page.locator("#one .footer button").click()
    page.keyboard.press("Escape")
    server.shows(script.answer("connect", isCounted=True))
    page.evaluate("one.refresh()")
    until_counted(page, server, ["shown"])
    server.shows(script.answer("connect", isCounted=False))
    page.evaluate("one.refresh()")
    until(page, "!one.answer.isCounted")
    page.locator("#one .footer button").click()
    caught_up(page)
    assert counted(server) == ["shown"]


# Two on one page; hostile data

def test_two_buttons_on_a_page_do_not_meddle(page: Page, server: ButtonServer) -> None:
    first, second = server.script(), server.script(locale="de", short="Kalender", brand="#FF0000")
    server.shows(first.answer("connect"), "one")
    server.shows(second.answer("connected"), "two")
    page.goto(server.url(connections="one,two"))
    shown(page, "connect", "one")
    shown(page, "connected", "two")
    server.answers(first.answer("verifying", revision=2), connection="one")
    switch(page, "one").click()
    shown(page, "verifying", "one")
    shown(page, "connected", "two")
    assert [message["connection"] for message in server.messages] == ["one"]
    assert plain(switch(page, "two").get_attribute("aria-label")) == "Verbunden, Kalender"
    settled(page)
    assert violations(page) == []


MARKUP = "<img src=x onerror=\"document.title='hit'\"><b>x</b>&amp;"


def test_markup_in_names_is_text(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script(short=MARKUP, full=MARKUP).answer("connect"))
    assert MARKUP in plain(page.locator("#one .switch").inner_text())
    page.locator("#one .footer button").click()
    assert MARKUP in plain(page.get_by_role("heading", level=2).inner_text())
    assert page.title() == "An app"
    assert page.locator("#one b, #one .switch img").count() == 0


def test_a_name_in_another_script_moves_nothing_around_it(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script(short="שלום\u202e!").answer("connect"))
    assert page.locator("#one .switch").inner_text().startswith("Connect ")


@pytest.mark.parametrize("brand", ["url(javascript:alert(1))", "#12", "red;--pill:red", 7, None, "#FFFFFF", "#000000", "#222222", "#FFFF00", "#808080"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_hostile_and_awkward_colours_stay_readable(open_page: OpenPage, server: ButtonServer, brand: Any, scheme: str) -> None:
    page = open_page(scheme=scheme, reduced_motion="reduce")
    script = server.script(brand=brand)
    opened(page, server, script.answer("connect"))
    # What lies over each other in the pill is more than axe can judge.
    for step, one, other, least in (("connect", (".disc", "backgroundColor"), (".pill", "backgroundColor"), 2.99),
                                    ("going_to_service", (".switch > span", "color"), (".ground.brand", "backgroundColor"), 4.5),
                                    ("email", (".email button", "color"), (".email button", "backgroundColor"), 4.5)):
        preview(page, script.answer(step, email="ada@example.com"))
        assert violations(page) == []
        assert page.evaluate("""both => { const parts = ([selector, name]) => getComputedStyle(one.shadowRoot.querySelector(selector))[name].match(/\\d+/g)
          return button.contrast(...both.map(parts).map(found => found.slice(0, 3).map(part => part / 255))) }""", [one, other]) >= least, step


@pytest.mark.parametrize("icon", ["javascript:document.title='hit'", "http://example.com/x.png", "data:text/html,x", 7])
def test_icons_come_from_safe_addresses_or_not_at_all(page: Page, server: ButtonServer, icon: Any) -> None:
    script = server.script()
    script.connection["connecting"]["icon"] = icon
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, server, script.answer("connect"))
    assert page.locator("#one .knob").inner_text() == "L"
    caught_up(page)
    assert [url for url in asked if not url.startswith(server.origin) or url.endswith("/7")] == []
    assert heard(page, "violation") == [] and page.title() == "An app"


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_an_icon_that_fails_leaves_a_letter_and_is_asked_for_again(page: Page, server: ButtonServer, failing: int) -> None:
    page.clock.install()
    script = server.script()
    script.connection["primary"]["icon"] = None
    server.icons_failing = failing
    opened(page, server, script.answer("connect"))
    expect(page.locator("#one .knob")).to_have_text("L")
    if failing < 3:
        runs_until(page, "Boolean(one.shadowRoot.querySelector('.knob img'))", 60_000)
        expect(page.locator("#one .knob img")).to_have_count(1)
        return
    for tries in (1, 2, 3):
        heard_by(server, page, lambda tries=tries: server.icons == tries)
        caught_up(page)
        page.clock.run_for(60_000)
    caught_up(page)
    assert server.icons == 3
    expect(page.locator("#one .knob")).to_have_text("L")


def test_very_long_texts_neither_break_the_page_nor_the_button(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(width=320, reduced_motion="reduce")
    answer = server.script(short="Donaudampfschifffahrtsgesellschaft" * 40).answer("connect", failure="interrupted")
    answer["face"]["footer"] = [{"text": "x" * 100_000, "style": "plain"}]
    opened(page, server, answer)
    assert overflow(page) == []
    assert len(page.locator("#one .footer").inner_text()) < 2100


# Nothing moves

def test_nothing_shifts_from_the_first_paint_to_the_last(page: Page, server: ButtonServer) -> None:
    server.script_delay = 0.3
    server.shows(server.script().answer("connect"), delay=0.3)
    page.add_init_script("""window.shift = 0; const add = entries => { for (const e of entries) shift += e.value }
      window.shifts = new PerformanceObserver(list => add(list.getEntries())); shifts.observe({ type: 'layout-shift', buffered: true })
      window.shifted = () => { add(shifts.takeRecords()); return shift }""")
    page.goto(server.url())
    shown(page, "connect")
    settled(page)
    frame(page)
    assert page.evaluate("shifted()") == 0


def test_states_are_equally_high(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(width=375, reduced_motion="reduce")
    opened(page, server, server.script().answer("connect"))
    for name, (step, options) in STATES.items():
        preview(page, server.script().answer(step, **options))
        assert page.locator("#one").bounding_box()["height"] == pytest.approx(143.8, abs=0.05), name


def test_reduced_motion_moves_nothing(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(reduced_motion="reduce")
    script = server.script()
    opened(page, server, script.answer("connecting", progress="indeterminate"))
    names = page.evaluate("one.shadowRoot.getAnimations().map(a => a.animationName)")
    assert set(names) <= {"breathe"}
    server.pushed["one"] = script.answer("connected", revision=2)
    shown(page, "connected")
    assert knob_place(page) == pytest.approx(1, abs=0.01)
    assert page.evaluate("one.shadowRoot.getAnimations().length") == 0


def test_without_a_footer_errors_are_still_said(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"), footer="none")
    assert page.locator("#one").bounding_box()["height"] == 70
    opened(page, server, server.script().answer("connect", failure="interrupted"), footer="none")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_can_be_forced(open_page: OpenPage, server: ButtonServer, scheme: str) -> None:
    """F053: on a device of either scheme."""
    page, colors = open_page(scheme=scheme), {}
    for theme in ("light", "dark"):
        opened(page, server, server.script().answer("connect"), theme=theme)
        colors[theme] = page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.pill')).backgroundColor")
    assert colors == {"light": "rgb(34, 34, 34)", "dark": "rgb(255, 255, 255)"}


# The same arithmetic as in Swift

@pytest.fixture
def module(page: Page, server: ButtonServer) -> Page:
    opened(page, server, server.script().answer("connect"))
    return page


def test_the_dossiers_colours_come_out_of_the_arithmetic(module: Page) -> None:
    assert module.evaluate("""table => table.map(({ brand }) => { const { color, contrasting, knobColor, hexadecimal } = button
      return { brand, progress: hexadecimal(contrasting(color(brand))), knobOnLight: hexadecimal(knobColor(color(brand), color('#222222'))),
               knobOnDark: hexadecimal(knobColor(color(brand), color('#FFFFFF'))) } })""", VECTORS["palette"]) == VECTORS["palette"]


def test_colours_are_read_as_in_swift(module: Page) -> None:
    assert module.evaluate("pairs => pairs.map(([text]) => [text, button.hexadecimal(button.color(text))])", VECTORS["colors"]) == VECTORS["colors"]


def test_whatever_the_brand_everything_meets_aa(module: Page) -> None:
    assert module.evaluate("""() => { const { palette, contrast, color, hexadecimal } = button; const failing = []  // A hair less than in Swift: colours are rounded to bytes here.
      for (const scheme of ['light', 'dark']) for (let at = 0; at < 729; at++) {
        const brand = hexadecimal([at % 9 / 8, Math.floor(at / 9) % 9 / 8, Math.floor(at / 81) / 8]); const p = palette(brand, scheme)
        const c = (a, b) => contrast(color(a), color(b)); const track = scheme === 'light' ? '#222222' : '#FFFFFF'
        if (c(p.ink, p.ground) < 4.5 || c(p.ink, p.progress) < 4.49 || c(p.knob, track) < 2.99 || c(p.knobInk, p.knob) < 3) failing.push([brand, scheme])
      } return failing }""") == []


def test_drags_and_releases_are_decided_as_in_swift(module: Page) -> None:
    for vector in VECTORS["drags"]:
        fraction = module.evaluate("v => button.dragged(v.x, v.grip, v.way, v.isOn, v.isRightToLeft)", vector)
        assert fraction == pytest.approx(vector["fraction"]), vector
    for vector in VECTORS["releases"]:
        assert module.evaluate("v => button.completes(v.isOn, v.fraction, v.velocity)", vector) == vector["completes"], vector


def test_locales_are_matched_as_in_swift(module: Page) -> None:
    assert module.evaluate("pairs => pairs.map(([text]) => [text, button.matchingLocale(text)])", VECTORS["locales"]) == VECTORS["locales"]


def test_the_component_is_small() -> None:
    """25 KB, minified and gzipped."""
    assert len(gzip.compress(MINIFIED.read_bytes(), 9)) <= 25_000


def test_the_carried_component_is_the_source_minified(tmp_path: Path) -> None:
    made = tmp_path / "made.js"
    # Its name is relative to where the script is called.
    subprocess.run([ROOT / "Scripts/minify-button", made.name], cwd=tmp_path, check=True)
    assert made.read_bytes() == MINIFIED.read_bytes(), "run Scripts/minify-button"
