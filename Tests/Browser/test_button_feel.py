"""How `<connect-button>` moves under a hand (dossier 4.5): the shake, the morph, the check mark, what a touch feels like."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from button_page import VECTORS, ButtonServer
from button_visit import Finger, events, footer, knob_place, opened, settled, shown, switch, until
from conftest import OpenPage

# What of the pill is seen, frame by frame, from now on.
WATCH = """() => { window.frames = []; const pill = one.shadowRoot.querySelector('.pill')
  const look = () => { const style = getComputedStyle(pill)
    frames.push({ opacity: Number(style.opacity), left: style.transform === 'none' ? 0 : new DOMMatrix(style.transform).e }); requestAnimationFrame(look) }
  look() }"""


def center(page: Page) -> tuple[float, float]:
    box = page.locator("#one .pill").bounding_box()
    return box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2


def opacity(page: Page) -> float:
    return page.evaluate("Number(getComputedStyle(one.shadowRoot.querySelector('.pill')).opacity)")


# F015: a refused address

def refuse(page: Page, server: ButtonServer, times: int = 1) -> None:
    script = server.script()
    opened(page, server, script.answer("email", email="ada@"))
    settled(page)
    server.answers(*[script.answer("email", revision=2 + time, email="ada@", failure="invalid_email") for time in range(times)])
    page.evaluate(WATCH)
    for _ in range(times):
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("textbox")).to_have_attribute("aria-invalid", "true")


def test_a_refused_address_shakes_the_pill_and_comes_to_rest(page: Page, server: ButtonServer) -> None:
    refuse(page, server)
    until(page, "one.shadowRoot.getAnimations().some(a => a.id === 'shake')")
    settled(page)
    places = [frame["left"] for frame in page.evaluate("frames")]
    assert -10.01 <= min(places) < -7, "out to the left, by ten points"
    assert 4 < max(places) < 7.1, "and over to the other side, less far"
    assert places[-1] == 0
    assert footer(page) == "Enter a valid email address."


def test_the_shake_is_the_dossiers_spring(page: Page, server: ButtonServer) -> None:
    """The places were integrated from mass 1, stiffness 1000 and damping 7; the animation is sampled where it has frames."""
    refuse(page, server)
    until(page, "one.shadowRoot.getAnimations().some(a => a.id === 'shake')")
    for vector in VECTORS["shakes"]:
        assert page.evaluate("t => button.shaken(t)", vector["seconds"]) == pytest.approx(vector["points"], abs=0.001), vector
    drawn = page.evaluate("""times => { const shake = one.shadowRoot.getAnimations().find(a => a.id === 'shake'); shake.pause()
      return times.map(t => { shake.currentTime = t * 1000
        return new DOMMatrix(getComputedStyle(one.shadowRoot.querySelector('.pill')).transform).e }) }""",
                          [vector["seconds"] for vector in VECTORS["shakes"][:-1]])
    assert drawn == pytest.approx([vector["points"] for vector in VECTORS["shakes"][:-1]], abs=0.35)


def test_each_refusal_shakes_and_looking_again_does_not(page: Page, server: ButtonServer) -> None:
    refuse(page, server)
    settled(page)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(150)
    assert page.evaluate("one.shadowRoot.getAnimations().filter(a => a.id === 'shake').length") == 0
    server.answers(server.script().answer("email", revision=9, email="ada@", failure="invalid_email"))
    page.get_by_role("button", name="Continue").click()
    until(page, "one.shadowRoot.getAnimations().some(a => a.id === 'shake')")


def test_with_reduced_motion_a_refusal_is_marked_and_does_not_move(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(reduced_motion="reduce")
    refuse(page, server)
    page.wait_for_timeout(300)
    assert {frame["left"] for frame in page.evaluate("frames")} == {0}
    assert "wavy" in page.get_by_role("textbox").evaluate("e => getComputedStyle(e).textDecorationStyle")
    assert footer(page) == "Enter a valid email address."


# F061: what a touch feels like

def test_a_press_is_felt_after_a_moment_and_ends_when_it_is_lifted(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2))
    page.mouse.move(*center(page))
    page.evaluate(WATCH)
    page.mouse.down()
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.pill')).opacity === '0.8'")
    page.mouse.up()
    shown(page, "verifying")
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.pill')).opacity === '1'")
    assert events(server) == ["turn_on"]


def test_a_press_waits_a_tenth_of_a_second_so_that_scrolling_wins(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    opened(page, server, server.script().answer("connect"))
    pressed = "one.shadowRoot.querySelector('.pill').classList.contains('pressed')"
    page.mouse.move(*center(page))
    page.mouse.down()
    page.clock.run_for(90)
    assert not page.evaluate(pressed)
    page.clock.run_for(20)
    assert page.evaluate(pressed)



@pytest.mark.parametrize(("move", "lasts"), [((6, 6), True), ((0, 11), False), ((8, 8), False), ((-11, 0), False)])
def test_a_press_that_moves_further_than_ten_points_is_none(page: Page, server: ButtonServer, move: tuple[int, int], lasts: bool) -> None:
    opened(page, server, server.script().answer("connect"))
    x, y = center(page)
    page.mouse.move(x, y)
    page.mouse.down()
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.pill')).opacity === '0.8'")
    page.mouse.move(x + move[0], y + move[1])
    page.wait_for_timeout(300)
    assert opacity(page) == (0.8 if lasts else 1)


def test_a_press_that_leaves_the_button_is_none(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    box = page.locator("#one .pill").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 3
    page.mouse.move(x, y)
    page.mouse.down()
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.pill')).opacity === '0.8'")
    page.mouse.move(x, y - 7)
    page.mouse.up()
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.pill')).opacity === '1'")
    assert server.messages == []


def by_mouse(page: Page) -> None:
    page.mouse.click(*center(page))


def by_finger(page: Page) -> None:
    page.touchscreen.tap(*center(page))


def by_key(page: Page) -> None:
    switch(page).focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize("tap", [by_mouse, by_finger, by_key])
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_quick_tap_flashes(open_page: OpenPage, server: ButtonServer, motion: str, tap: Callable[[Page], None]) -> None:
    page = open_page(has_touch=True, reduced_motion=motion)
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2))
    page.evaluate(WATCH)
    tap(page)
    until(page, "frames.some(frame => frame.opacity < .95)")
    until(page, "frames.at(-1).opacity === 1")
    seen = [frame["opacity"] for frame in page.evaluate("frames")]
    assert min(seen) >= 0.799
    assert motion != "reduce" or set(seen) <= {1, 0.8}, "it is felt, and nothing is drawn out"
    assert events(server) == ["turn_on"]


def test_what_takes_no_tap_does_not_feel_like_it(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connecting", progress=0.5))
    page.mouse.move(*center(page))
    page.mouse.down()
    page.wait_for_timeout(300)
    assert opacity(page) == 1


def test_a_finger_that_scrolls_leaves_nothing_pressed(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(has_touch=True, width=360, height=400)
    opened(page, server, server.script().answer("connect"))
    page.evaluate("document.body.style.height = '3000px'")
    x, y = center(page)
    finger = Finger(page)
    finger.touch("touchStart", x, y)
    page.wait_for_timeout(150)
    for step in range(1, 12):
        finger.touch("touchMove", x, y - 8 * step)
        page.wait_for_timeout(16)
    until(page, "scrollY > 20")
    page.wait_for_timeout(250)
    assert opacity(page) == 1
    finger.touch("touchEnd")
    assert server.messages == []


def test_a_button_that_leaves_the_page_under_a_finger_comes_back_unpressed(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    page.mouse.move(*center(page))
    page.mouse.down()
    until(page, "getComputedStyle(one.shadowRoot.querySelector('.pill')).opacity === '0.8'")
    page.evaluate("document.querySelector('main').append(one)")
    page.wait_for_timeout(300)
    assert opacity(page) == 1


# F006: the network is back

def test_loading_begins_again_by_itself_when_the_network_is_back(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    server.states["one"] = (0, {}, 0)
    page.goto(server.url())
    shown(page, "loading")
    page.context.set_offline(True)
    for _ in range(4):
        page.wait_for_timeout(100)
        page.clock.run_for(8100)
    shown(page, "loading_failed")
    assert footer(page).startswith("You’re offline. Check your internet connection.")
    asked = len(server.asked)
    server.shows(server.script().answer("connect"))
    page.context.set_offline(False)
    shown(page, "connect")
    assert len(server.asked) == asked + 1
    assert footer(page) == "WORKS WITH IFTTT"


def test_a_network_that_is_back_is_not_waited_for(page: Page, server: ButtonServer) -> None:
    """Between two attempts there are up to eight seconds, which nobody has to sit out."""
    page.clock.install()
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
    assert server.messages == [] and len(looks) > 1


# 4.5: the morph into the email field, and the check mark

@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_knob_travels_to_the_place_of_the_confirm_button(page: Page, server: ButtonServer, direction: str) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"), page_dir=direction)
    server.answers(script.answer("email", revision=2, email="ada@example.com"))
    switch(page).click()
    shown(page, "email")
    until(page, "one.shadowRoot.getAnimations().some(a => a.id === 'morph')")
    at = """t => { const root = one.shadowRoot
      for (const a of root.getAnimations()) { a.pause(); a.currentTime = t }
      const knob = root.querySelector('.knob'); const style = getComputedStyle(knob); const box = knob.getBoundingClientRect(); const pill = root.querySelector('.pill').getBoundingClientRect()
      return { opacity: Number(style.opacity), icon: Number(getComputedStyle(knob.firstElementChild).opacity), size: box.width, left: box.left - pill.left, right: pill.right - box.right,
               corners: [style.borderTopLeftRadius, style.borderTopRightRadius].map(parseFloat) } }"""
    start, half, end = (page.evaluate(at, time) for time in (0, 250, 499.9))
    near, far, inner = ("left", "right", 0) if direction == "ltr" else ("right", "left", 1)
    assert start[near] == pytest.approx(4, abs=0.5) and start["size"] == pytest.approx(62, abs=0.5) and start["icon"] == start["opacity"] == 1
    assert half["opacity"] == 1 and 0 < half["icon"] < 1 and 4 < half[far] < start[far]
    assert end[far] == pytest.approx(0, abs=0.5) and end["size"] == pytest.approx(70, abs=0.5)
    assert end["corners"][inner] == pytest.approx(0, abs=0.5) and end["corners"][1 - inner] == pytest.approx(35, abs=0.5)
    assert end["opacity"] == pytest.approx(0, abs=0.05)


def test_with_reduced_motion_the_field_is_there_at_once(open_page: OpenPage, server: ButtonServer) -> None:
    page = open_page(reduced_motion="reduce")
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("email", revision=2, email="ada@example.com"))
    switch(page).click()
    shown(page, "email")
    assert page.evaluate("one.shadowRoot.getAnimations().length") == 0
    assert page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.email')).opacity") == "1"


def test_the_check_marks_dot_is_seen_on_its_way_and_nowhere_else(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connecting", progress="indeterminate"))
    until(page, "performance.now() > 500")
    for revision in (2, 4):
        server.pushed["one"] = script.answer("connected", revision=revision)
        expect(page.locator("#one .celebrates")).to_have_count(1)
        seen = page.evaluate("""() => new Promise(done => { const root = one.shadowRoot; const dot = root.querySelector('.dot'); const frames = []
          const look = () => { const box = dot.getBoundingClientRect(); const ring = root.querySelector('.check').getBoundingClientRect()
            if (getComputedStyle(dot).opacity > 0) frames.push([(box.x + box.width / 2 - ring.x) / ring.width * 42, (box.y + box.height / 2 - ring.y) / ring.height * 42])
            root.querySelector('.celebrates') ? requestAnimationFrame(look) : done(frames) }
          look() })""")
        assert len(seen) > 5, "it flies each time"
        assert seen[0][0] == pytest.approx(21, abs=3)
        assert seen[-1] == pytest.approx([14, 21.2], abs=6), "from the centre to where the tick begins, and gone"
        assert all(x > 1 or y > 1 for x, y in seen), "it does not wait in the corner"
        settled(page)
        assert knob_place(page) == pytest.approx(1, abs=0.01)
        server.shows(script.answer("connecting", revision=revision + 1, progress="indeterminate"))
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        shown(page, "connecting")


def test_the_dots_flight_is_the_dossiers(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connecting", progress="indeterminate"))
    until(page, "performance.now() > 500")
    server.pushed["one"] = script.answer("connected", revision=2)
    expect(page.locator("#one .celebrates")).to_have_count(1)
    flown = page.evaluate("""times => { const dot = one.shadowRoot.querySelector('.dot'); const flight = dot.getAnimations()[0]; flight.pause()
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
