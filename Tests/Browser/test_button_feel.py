"""How `<connect-button>` moves under a hand (dossier 4.5): the shake, the morph, the check mark, what a touch feels like."""

import math
import re
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from button_page import VECTORS, ButtonServer, heard, plain, word
from button_visit import (Finger, caught_up, clicked, drag, events, footer, frame, frozen, heard_by, hold, knob_place, let_go, opened, pointed, push,
                          runs_until, settled, shown, switch, until)
from conftest import OpenPage

# How something is felt from now on: it is pressed, it flashes, it is at rest.
FEEL = """selector => { const felt = window.felt = one.shadowRoot.querySelector(selector)
  const look = () => ['pressed', 'flashes'].filter(name => felt.classList.contains(name)).join(' ')
  window.looks = [look()]; new MutationObserver(() => { if (look() !== looks.at(-1)) looks.push(look()) }).observe(felt, { attributeFilter: ['class'] }) }"""


def center(page: Page) -> tuple[float, float]:
    box = page.locator("#one .pill").bounding_box()
    return box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2


def opacity(page: Page) -> float:
    """Of what a press on the pill is seen at: the knob alone (`connect-button-motion.md` MO23)."""
    return page.evaluate("Number(getComputedStyle(one.shadowRoot.querySelector('.face')).opacity)")


# F015: a refused address

def shakes(page: Page) -> int:
    return page.evaluate("one.shadowRoot.getAnimations().filter(a => a.id === 'shake').length")


def refuse(page: Page, server: ButtonServer, direction: str = "ltr") -> None:
    """The shake that follows is held."""
    script = server.script()
    opened(page, server, script.answer("email", email="ada@"), page_dir=direction)
    settled(page)
    server.answers(script.answer("email", revision=2, email="ada@", failure="invalid_email"))
    hold(page)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("textbox")).to_have_attribute("aria-invalid", "true")


# Where the pill is at certain times of its shake.
SHAKEN = """times => { const shake = one.shadowRoot.getAnimations().find(a => a.id === 'shake')
  return times.map(t => { shake.currentTime = t; return parseFloat(getComputedStyle(one.shadowRoot.querySelector('.pill')).translate) || 0 }) }"""


def test_a_refused_address_shakes_the_pill_and_comes_to_rest(page: Page, server: ButtonServer) -> None:
    refuse(page, server)
    places = page.evaluate(SHAKEN, list(range(0, 1700, 5)))
    assert -10.01 <= min(places) < -9, "out to the left, by ten points"
    assert 6 < max(places) < 7.1, "and over to the other side, less far"
    let_go(page)
    settled(page)
    assert page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.pill')).translate") == "none"
    assert footer(page).startswith("Enter a valid email address.")


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_shake_is_the_dossiers_spring(page: Page, server: ButtonServer, direction: str) -> None:
    """The places were integrated from mass 1, stiffness 1000 and damping 7; the animation is sampled where it has frames. MO26: a mirrored page has the same."""
    refuse(page, server, direction)
    for vector in VECTORS["shakes"]:
        if vector["seconds"] >= 0.1:
            assert page.evaluate("t => button.shaken(t)", vector["seconds"]) == pytest.approx(vector["points"], abs=0.001), vector
    drawn = page.evaluate(SHAKEN, [vector["seconds"] * 1000 for vector in VECTORS["shakes"][:-1]])
    assert drawn == pytest.approx([vector["points"] for vector in VECTORS["shakes"][:-1]], abs=0.35)


def test_each_refusal_shakes_and_looking_again_does_not(page: Page, server: ButtonServer) -> None:
    refuse(page, server)
    assert shakes(page) == 1
    let_go(page)
    hold(page)
    page.evaluate("one.refresh()")
    assert shakes(page) == 0
    server.answers(server.script().answer("email", revision=9, email="ada@", failure="invalid_email"))
    page.get_by_role("button", name="Continue").click()
    until(page, "one.answer.revision === 9")
    assert shakes(page) == 1


def test_the_same_refusal_twice_shakes_twice_though_nothing_else_changed(page: Page, server: ButtonServer) -> None:
    """The server counts refusals, and they need not be a change of its state."""
    script = server.script()
    opened(page, server, script.answer("email", email="ada@"))
    settled(page)
    hold(page)
    count = 0
    for refusals, revision, shaken in ((1, 2, 1), (2, 2, 1), (2, 2, 0), (2, 3, 0), (3, 3, 1)):
        answer = script.answer("email", revision=revision, email="ada@", failure="invalid_email")
        answer["state"]["refusals"] = refusals
        server.answers(answer)
        with page.expect_response("**/events") as told:
            page.get_by_role("button", name="Continue").click()
        told.value.finished()
        page.evaluate("() => fetch('/icon.svg').then(() => new Promise(done => setTimeout(done)))")  # and the page has read the answer
        assert page.evaluate("[one.answer.state.refusals, one.answer.revision]") == [refusals, revision]
        assert shakes(page) == shaken, (refusals, revision)
        count += shaken
        assert len(heard(page, "failed")) == count, "it is told as often as it shakes"
        let_go(page)
        hold(page)


def test_with_reduced_motion_a_refusal_is_marked_and_does_not_move(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(reduced_motion="reduce")
    refuse(page, server)
    assert page.evaluate("one.shadowRoot.getAnimations().length") == 0
    assert "wavy" in page.get_by_role("textbox").evaluate("e => getComputedStyle(e).textDecorationStyle")
    assert footer(page).startswith("Enter a valid email address.")


# F061: what a touch feels like

# What can be pressed: the step, what is pressed, and what of it is felt.
PRESSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "pill": ({"step": "connect"}, ".switch", ".pill"),
    "pill without a knob": ({"step": "going_to_service"}, ".switch", ".pill"),
    "pill that was turned off": ({"step": "disconnected"}, ".switch", ".pill"),
    "arrow": ({"step": "email", "email": "ada@example.com"}, ".email button", ".email button"),
    "footer": ({"step": "connect"}, ".footer .text", ".footer .text"),
    "way to the About page": ({"step": "pending"}, ".footer .action", ".footer .action"),
    "way out": ({"step": "verifying", "cancellable": True}, ".footer .action", ".footer .action"),
    "answer": ({"step": "confirm_disconnect"}, ".choices button", ".choices button"),
}
IS_PRESSED = "felt.classList.contains('pressed')"


def at(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(f"#one {selector}").first.bounding_box()
    return box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2


def is_answered(page: Page, server: ButtonServer) -> bool:
    return bool(server.messages) or page.get_by_role("dialog").count() > 0


@pytest.mark.parametrize("name", PRESSED)
def test_a_press_waits_a_tenth_of_a_second_so_that_scrolling_wins(page: Page, server: ButtonServer, name: str) -> None:
    answer, selector, felt = PRESSED[name]
    frozen(page, server, server.script().answer(**answer))
    # The page's clock stands still, and what moves does not: nothing comes or goes under the mouse while it is held.
    settled(page)
    page.evaluate(FEEL, felt)
    pointed(page)
    page.mouse.move(*at(page, selector))
    page.mouse.down()
    until(page, "pointed.includes('pointerdown')")
    page.clock.run_for(90)
    assert not page.evaluate(IS_PRESSED)
    page.clock.run_for(20)
    assert page.evaluate(IS_PRESSED)
    assert page.evaluate("felt.classList.contains('flashes')") is False
    # The arrow gives its brand another brightness, and its glyph 80 % (dossier 4.3).
    until(page, """getComputedStyle(felt.matches('.email *') ? felt.firstChild : !felt.matches('.pill') ? felt
      : felt.querySelector(felt.dataset.knob === 'hidden' ? '.switch' : '.face')).opacity === '0.8'""")
    page.mouse.up()
    clicked(page)
    # Longer than a flash lasts: what was felt is told whole.
    page.clock.run_for(200)
    assert page.evaluate("looks") == ["", "pressed", ""]
    heard_by(server, page, lambda: is_answered(page, server))


def test_a_press_is_seen_within_a_tenth_of_a_second_and_a_flash_within_three_twentieths(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    assert page.evaluate("""['pressed', 'pressed flashes', ''].map(names => { const pill = one.shadowRoot.querySelector('.pill'); pill.className = `pill ${names}`
      return getComputedStyle(pill.querySelector('.face')).transitionDuration })""") == ["0.1s", "0.15s", "0.15s"]


@pytest.mark.parametrize(("move", "lasts"), [((6, 6), True), ((0, 11), False), ((8, 8), False), ((-11, 0), False)])
def test_a_press_that_moves_further_than_ten_points_is_none(page: Page, server: ButtonServer, move: tuple[int, int], lasts: bool) -> None:
    opened(page, server, server.script().answer("connect"))
    page.evaluate(FEEL, ".pill")
    x, y = center(page)
    page.mouse.move(x, y)
    page.mouse.down()
    until(page, IS_PRESSED)
    page.mouse.move(x + move[0], y + move[1])
    until(page, f"{IS_PRESSED} === {str(lasts).lower()}")
    until(page, f"getComputedStyle(felt.querySelector('.face')).opacity === '{0.8 if lasts else 1}'")


@pytest.mark.parametrize("name", PRESSED)
def test_what_is_let_go_further_away_is_not_tapped(page: Page, server: ButtonServer, name: str) -> None:
    answer, selector, felt = PRESSED[name]
    opened(page, server, server.script().answer(**answer))
    settled(page)
    page.evaluate(FEEL, felt)
    x, y = at(page, selector)
    page.mouse.move(x, y)
    page.mouse.down()
    until(page, IS_PRESSED)
    page.mouse.move(x - 14, y)
    # A browser tells a move with its next frame.
    until(page, f"!{IS_PRESSED}")
    page.mouse.up()
    caught_up(page)
    assert not is_answered(page, server)
    page.mouse.click(x, y)
    heard_by(server, page, lambda: is_answered(page, server))


def test_a_press_that_leaves_the_button_is_none(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    page.evaluate(FEEL, ".pill")
    box = page.locator("#one .pill").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 3
    page.mouse.move(x, y)
    page.mouse.down()
    until(page, IS_PRESSED)
    page.mouse.move(x, y - 7)
    until(page, f"!{IS_PRESSED}")
    page.mouse.up()
    until(page, "getComputedStyle(felt.querySelector('.face')).opacity === '1'")
    caught_up(page)
    assert server.messages == []


def by_mouse(page: Page, selector: str) -> None:
    page.mouse.click(*at(page, selector))


def by_finger(page: Page, selector: str) -> None:
    page.touchscreen.tap(*at(page, selector))


def by_key(page: Page, selector: str) -> None:
    page.locator(f"#one {selector}").first.focus()
    page.keyboard.press("Enter")


def flashes(page: Page, server: ButtonServer, gate: Event) -> None:
    """What is pressed flashes for 150 ms, and the press is answered after that."""
    page.clock.run_for(140)
    assert page.evaluate("looks") == ["", "pressed flashes"]
    page.clock.run_for(20)
    assert page.evaluate("looks") == ["", "pressed flashes", ""]
    gate.set()
    heard_by(server, page, lambda: is_answered(page, server))


@pytest.mark.parametrize("tap", [by_mouse, by_finger, by_key])
@pytest.mark.parametrize("name", PRESSED)
def test_a_quick_tap_flashes(open_page: OpenPage, server: ButtonServer, name: str, tap: Callable[[Page, str], None]) -> None:
    page = open_page(has_touch=True)
    answer, selector, felt = PRESSED[name]
    frozen(page, server, server.script().answer(**answer))
    server.answers(server.script().answer(**answer), delay=(gate := Event()))
    page.evaluate(FEEL, felt)
    tap(page, selector)
    until(page, "looks.length === 2")
    flashes(page, server, gate)


def test_a_flash_lasts_though_the_hand_moves_on(page: Page, server: ButtonServer) -> None:
    frozen(page, server, server.script().answer("connect"))
    settled(page)
    server.answers(server.script().answer("connect"), delay=(gate := Event()))
    page.evaluate(FEEL, ".pill")
    x, y = center(page)
    page.mouse.click(x, y)
    until(page, "looks.length === 2")
    page.evaluate("window.moved = 0; addEventListener('pointermove', () => { moved += 1 })")
    page.mouse.move(x + 3, y)
    until(page, "moved > 0")
    flashes(page, server, gate)


def test_a_text_that_goes_away_under_a_press_does_not_take_the_click_along(page: Page, server: ButtonServer) -> None:
    """A browser sends no click where what was pressed is gone when the mouse button is let go."""
    opened(page, server, server.script().answer("loading"))
    pointed(page)
    hold(page)
    push(page, server, server.script().answer("connected", revision=2))
    shown(page, "connected")
    assert page.locator("#one .switch span").all_inner_texts() == ["Connected", "Loading…"]
    page.mouse.move(*center(page))
    page.mouse.down()
    until(page, "pointed.includes('pointerdown')")
    let_go(page)
    expect(page.locator("#one .switch span")).to_have_text(["Connected"])
    page.mouse.up()
    clicked(page)
    heard_by(server, page, lambda: events(server) == ["turn_off"])


def test_an_action_stays_under_a_press_while_its_footer_changes(page: Page, server: ButtonServer) -> None:
    """The server goes on meanwhile: Cancel is the same wish."""
    script, under_way = server.script(), {"progress": "indeterminate", "cancellable": True}
    opened(page, server, script.answer("verifying", **under_way))
    settled(page)
    pointed(page)

    def press() -> None:
        page.evaluate("pointed.length = 0")
        page.mouse.move(*at(page, ".lines [data-action=cancel]"))
        page.mouse.down()
        until(page, "pointed.includes('pointerdown')")

    press()
    push(page, server, script.answer("creating_account", revision=2, email="ada@example.com", **under_way))
    shown(page, "creating_account")
    page.mouse.move(5, 5)
    until(page, "one.shadowRoot.querySelector('.lines').innerText.includes('creating')")
    page.mouse.up()
    settled(page)
    press()
    push(page, server, script.answer("going_to_service", revision=3, **under_way))
    shown(page, "going_to_service")
    page.mouse.up()
    clicked(page)
    heard_by(server, page, lambda: events(server) == ["cancel"])
    assert server.messages[0]["revision"] == 3
    assert footer(page).startswith(plain(word("waiting_note", "en-US")))


def test_with_reduced_motion_a_flash_is_felt_and_not_drawn_out(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(reduced_motion="reduce")
    frozen(page, server, server.script().answer("connect"))
    server.answers(server.script().answer("verifying", revision=2), delay=(gate := Event()))
    switch(page).click()
    assert opacity(page) == 0.8
    page.clock.run_for(160)
    assert opacity(page) == 1
    gate.set()


def test_what_takes_no_tap_does_not_feel_like_it(page: Page, server: ButtonServer) -> None:
    frozen(page, server, server.script().answer("connecting", progress=0.5))
    page.evaluate(FEEL, ".pill")
    pointed(page)
    page.mouse.move(*center(page))
    page.mouse.down()
    until(page, "pointed.includes('pointerdown')")
    page.clock.run_for(300)
    assert page.evaluate("looks") == [""]


def test_a_finger_that_scrolls_leaves_nothing_pressed(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(has_touch=True, width=360, height=400)
    opened(page, server, server.script().answer("connect"))
    page.evaluate("document.body.style.height = '3000px'")
    x, y = center(page)
    finger = Finger(page)
    finger.touch("touchStart", x, y)
    until(page, "one.shadowRoot.querySelector('.pill').classList.contains('pressed')")
    for step in range(1, 12):
        finger.touch("touchMove", x, y - 8 * step)
        frame(page)
    until(page, "scrollY > 20")
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.face')).opacity === '1'")
    finger.touch("touchEnd")
    caught_up(page)
    assert server.messages == []


def test_a_button_that_leaves_the_page_under_a_finger_comes_back_unpressed(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    page.mouse.move(*center(page))
    page.mouse.down()
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.face')).opacity === '0.8'")
    page.evaluate("document.querySelector('main').append(one)")
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.face')).opacity === '1'")


# F006: the network is back

def test_loading_begins_again_by_itself_when_the_network_is_back(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    server.states["one"] = (0, {}, 0)
    page.goto(server.url())
    shown(page, "loading")
    page.context.set_offline(True)
    runs_until(page, "one.answer.state.step === 'loading_failed'")
    shown(page, "loading_failed")
    assert footer(page).startswith("You’re offline. Check your internet connection.")
    asked = len(server.asked)
    server.shows(server.script().answer("connect"))
    page.context.set_offline(False)
    shown(page, "connect")
    assert len(server.asked) == asked + 1
    assert footer(page) == "WORKS WITH IFTTT"


def test_a_network_that_is_back_is_not_waited_for(page: Page, server: ButtonServer) -> None:
    """Between two attempts there are up to eight seconds: here they do not pass."""
    page.clock.install(time=0)
    page.clock.pause_at(1)
    page.goto(server.url())
    until(page, "Boolean(window.one?.refresh)")
    page.context.set_offline(True)
    page.evaluate("one.refresh(); document.querySelector('main').append(one)")
    shown(page, "loading")
    server.shows(server.script().answer("connect"))
    page.context.set_offline(False)
    shown(page, "connect")


def test_a_wish_that_was_not_heard_is_not_repeated_when_the_network_is_back(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    page.context.set_offline(True)
    switch(page).click()
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    page.context.set_offline(False)
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(0)
    shown(page, "connect")
    caught_up(page)
    assert server.messages == []


def test_a_first_look_that_fails_when_the_network_is_back_is_not_the_last(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    page.context.set_offline(True)
    switch(page).click()
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    looks: list[str] = []

    def answer(route: Route) -> None:
        looks.append(route.request.url)
        route.abort() if len(looks) == 1 else route.continue_()

    page.route(re.compile(r"/connect/\w+(\?.*)?$"), answer)
    page.context.set_offline(False)
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(0)
    caught_up(page)
    assert server.messages == [] and len(looks) > 1


# 4.5: the morph into the email field, and the check mark

# The knob at a part of the morph, in percent.
MORPHED = """part => { const root = one.shadowRoot; if (part !== null) for (const a of root.getAnimations()) if (a.playState === 'paused') a.currentTime = part * 5
  const disc = root.querySelector('.disc'); const style = getComputedStyle(disc); const box = disc.getBoundingClientRect(); const pill = root.querySelector('.pill').getBoundingClientRect()
  const opacity = name => Number(getComputedStyle(root.querySelector(name)).opacity); const corner = text => text.endsWith('%') ? parseFloat(text) * disc.offsetWidth / 100 : parseFloat(text)
  return { opacity: opacity('.knob'), icon: opacity('.icon'), shadow: opacity('.shade'), size: box.width, left: box.left - pill.left, right: pill.right - box.right,
           corners: [style.borderTopLeftRadius, style.borderTopRightRadius].map(corner) } }"""


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_knob_travels_to_the_place_of_the_confirm_button(page: Page, server: ButtonServer, direction: str) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"), page_dir=direction)
    expect(page.locator("#one .knob img")).to_have_count(1)
    server.answers(script.answer("email", revision=2, email="ada@example.com"))
    settled(page)
    hold(page)
    switch(page).click()
    shown(page, "email")
    start, half, end = (page.evaluate(MORPHED, part) for part in (0, 60, 99.98))
    near, far, inner = ("left", "right", 0) if direction == "ltr" else ("right", "left", 1)
    assert start[near] == pytest.approx(4, abs=0.5) and start["size"] == pytest.approx(62, abs=0.5) and start["icon"] == start["opacity"] == 1
    assert half["opacity"] == 1 and 0 < half["icon"] < 1 and 4 < half[far] < start[far]
    assert end[far] == pytest.approx(0, abs=0.5) and end["size"] == pytest.approx(70, abs=0.5)
    assert end["corners"][inner] == pytest.approx(0, abs=0.5) and end["corners"][1 - inner] == pytest.approx(31, abs=0.5), "before it is scaled"
    assert end["opacity"] == 1, "it goes when the confirm button is all there"
    assert 1 == start["shadow"] > half["shadow"] > end["shadow"] == pytest.approx(0, abs=.01)


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_a_drag_to_the_email_field_is_the_same_change_under_the_finger(page: Page, server: ButtonServer, direction: str) -> None:
    script = server.script()
    frozen(page, server, script.answer("connect", following="email"), page_dir=direction)
    expect(page.locator("#one .knob img")).to_have_count(1)
    place = (lambda part: part) if direction == "ltr" else (lambda part: 1 - part)
    drag(page, place(0.1), [place(0.2), place(0.3)], lift=False)
    page.clock.run_for(20)
    box = page.locator("#one .pill").bounding_box()
    way = 259 / 329
    inner = 0 if direction == "ltr" else 1
    seen = []
    for part in (0.25, 0.5, 0.9):
        page.mouse.move(box["x"] + place(0.1 + part * way) * box["width"], box["y"] + 35)
        page.clock.run_for(20)
        at = page.evaluate(MORPHED, None)
        assert knob_place(page) == pytest.approx(place(part), abs=0.01)
        seen.append((at["corners"], at["opacity"], at["icon"]))
    assert seen[0] == ([31, 31], 1, 1), "until a quarter it only travels"
    assert seen[1][0][inner] == pytest.approx(31 * 2 / 3, abs=.5) and seen[1][1] == 1 and seen[1][2] == pytest.approx(2 / 3, abs=.01), "linear in the finger's way"
    assert seen[2][1] == 1, "the confirm button is not all there yet"
    # Back again: everything is as before.
    page.mouse.move(box["x"] + place(0.05) * box["width"], box["y"] + 35)
    page.clock.run_for(200)
    page.mouse.up()
    page.clock.run_for(600)
    settled(page)
    caught_up(page)
    assert page.evaluate("one.shadowRoot.getAnimations().length") == 0 and server.messages == []
    assert page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.switch > span')).opacity") == "1"
    assert knob_place(page) == pytest.approx(place(0), abs=0.01)


@pytest.mark.parametrize(("following", "seconds"), [("verifying", 0.4), ("email", 0.5)])
@pytest.mark.parametrize("pace", [0, 0.08])
def test_a_release_is_a_critically_damped_spring_with_the_fingers_velocity(page: Page, server: ButtonServer, following: str, seconds: float, pace: float) -> None:
    """4.5: damping ratio 1, beginning with the finger's velocity, and as long as the change it completes."""
    script = server.script()
    frozen(page, server, script.answer("connect", following=following))
    server.answers(script.answer(following, revision=2), delay=(gate := Event()))
    box = page.locator("#one .pill").bounding_box()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 35)
    page.mouse.down()
    part = 0.3
    for _ in range(4):
        page.mouse.move(box["x"] + part * box["width"], box["y"] + 35)
        page.clock.run_for(40)
        part += pace
    if not pace:
        page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 35)
        page.clock.run_for(200)
    page.mouse.up()
    seen = []
    for _ in range(round(seconds * 1000 / 16) + 2):
        page.clock.run_for(16)
        seen.append(page.evaluate("""() => { const root = one.shadowRoot; const [pill, knob] = ['.pill', '.knob'].map(s => root.querySelector(s))
          return (parseFloat(getComputedStyle(knob).translate) || 0) / (pill.clientWidth - knob.offsetWidth - 8) }"""))
    gate.set()
    over = next(at for at, place in enumerate(seen) if place > 0.9999)
    assert (over + 1) * 0.016 == pytest.approx(seconds, abs=0.033)
    assert all(before <= after <= 1 for before, after in zip(seen, seen[1:], strict=False)), "it does not swing over"
    scale = 329 / 259  # the finger's way in those of the knob
    away, velocity, pulse = (part - pace - 0.1 if pace else 0.35) * scale - 1, pace / 0.04 * scale, 9.2 / seconds
    spring = lambda time: 1 + (away + (velocity + pulse * away) * time) * math.exp(-pulse * time)  # noqa: E731
    # The first frame is some time within sixteen milliseconds.
    first = min((time / 1000 for time in range(17)), key=lambda time: abs(spring(time) - seen[0]))
    assert seen[:over] == pytest.approx([spring(first + at * 0.016) for at in range(over)], abs=0.02)


def test_with_reduced_motion_the_field_is_there_immediately(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(reduced_motion="reduce")
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("email", revision=2, email="ada@example.com"))
    switch(page).click()
    shown(page, "email")
    assert page.evaluate("one.shadowRoot.getAnimations().length") == 0
    assert page.evaluate("['.email input', '.email button'].map(name => getComputedStyle(one.shadowRoot.querySelector(name)).opacity).join()") == "1,1"


def test_the_check_marks_dot_is_seen_on_its_way_and_nowhere_else(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connecting", progress="indeterminate"))
    for revision in (2, 4):
        hold(page)
        server.pushed["one"] = script.answer("connected", revision=revision)
        expect(page.locator("#one .celebrates")).to_have_count(1)
        seen = page.evaluate("""() => { const dot = one.shadowRoot.querySelector('.dot'); const ring = one.shadowRoot.querySelector('.check').getBoundingClientRect()
          const frames = []; for (let t = 0; t < 1000; t += 20) { for (const a of dot.getAnimations()) a.currentTime = t; const box = dot.getBoundingClientRect()
            if (getComputedStyle(dot).opacity > 0) frames.push([(box.x + box.width / 2 - ring.x) / ring.width * 42, (box.y + box.height / 2 - ring.y) / ring.height * 42]) }
          return frames }""")
        assert len(seen) == 38, "for three quarters of a second, each time"
        assert seen[0] == pytest.approx([18, 21], abs=0.1)
        assert seen[-1] == pytest.approx([10.59, 17.92], abs=0.1), "from left of the centre to where the tick begins, and gone"
        assert all(abs(x) > 1 or abs(y) > 1 for x, y in seen), "it does not wait in the corner"
        let_go(page)
        settled(page)
        assert knob_place(page) == pytest.approx(1, abs=0.01)
        server.shows(script.answer("connecting", revision=revision + 1, progress="indeterminate"))
        page.evaluate("one.refresh()")
        shown(page, "connecting")


def test_the_dots_flight_is_the_dossiers(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connecting", progress="indeterminate"))
    hold(page)
    server.pushed["one"] = script.answer("connected", revision=2)
    expect(page.locator("#one .celebrates")).to_have_count(1)
    flown = page.evaluate("""times => { const dot = one.shadowRoot.querySelector('.dot'); const flight = dot.getAnimations()[0]
      return times.map(t => { flight.currentTime = t * 1000; const place = new DOMMatrix(getComputedStyle(dot).transform); return [place.e, place.f] }) }""",
                          [vector["seconds"] for vector in VECTORS["dots"]])
    for place, vector in zip(flown, VECTORS["dots"], strict=True):
        assert place == pytest.approx([vector["x"], vector["y"]], abs=0.25), vector


def test_arrivals_are_celebrated_as_in_swift(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    for vector in VECTORS["arrivals"]:
        assert page.evaluate("v => button.celebrates(v.from, v.to)", vector) == vector["celebrates"], vector


# What is drawn where two things meet

def test_no_fringe_of_the_pill_shows_around_a_colour(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(reduced_motion="reduce")
    opened(page, server, server.script().answer("going_to_service"))
    ground = page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.pill')).backgroundColor")
    assert ground == "rgba(0, 0, 0, 0)"
    opened(page, server, server.script().answer("connect"))
    assert page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.pill')).backgroundColor") == "rgb(34, 34, 34)"


def test_a_sentence_is_read_in_its_own_direction_with_what_can_be_done_after_it(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(width=320)
    opened(page, server, server.script(locale="de").answer("connect", failure="interrupted"), page_dir="rtl")
    last, action = page.evaluate("""() => { const root = one.shadowRoot; const range = document.createRange(); const text = root.querySelector('.footer p').lastChild
      range.setStart(text, text.length - 4); range.setEnd(text, text.length)
      return [range, root.querySelector('.action')].map(e => { const box = e.getBoundingClientRect(); return [box.left, box.top + box.height / 2] }) }""")
    assert action[1] == pytest.approx(last[1], abs=4) and action[0] > last[0], "the way out stands after the sentence"
    letter, stop = page.evaluate("""() => { const text = one.shadowRoot.querySelector('.footer p').lastChild; const range = document.createRange()
      return [2, 1].map(back => { range.setStart(text, text.length - back); range.setEnd(text, text.length - back + 1); return range.getBoundingClientRect().left }) }""")
    assert stop > letter, "and the full stop at its end"


def test_an_address_is_not_cut_off_so_that_it_reads_as_another(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(width=320)
    opened(page, server, server.script(locale="de").answer("email", email="ada@example.com"))
    field = page.get_by_role("textbox")
    assert field.evaluate("e => e.scrollWidth <= e.clientWidth")
    field.fill("ada.lovelace.of.ockham.park@example.com")
    assert field.evaluate("e => getComputedStyle(e).textOverflow") == "ellipsis"
