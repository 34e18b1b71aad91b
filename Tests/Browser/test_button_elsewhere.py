"""`<connect-button>` on pages that are not made for it: style sheets that reset everything, zoom, other directions, other
documents, twins, servers and networks that fail, pages that sleep."""

from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from button_page import ButtonServer, heard, overflow, word
from button_visit import (caught_up, drag, events, footer, frame, heard_by, knob_comes_to, knob_place, opened, preview, push, settled, shown,
                          switch, until)
from conftest import OpenPage
from person import violations
from sandbox import artefact
from test_connect_button import STATES

# What a page says of everything on it, and of what its text inherits.
SHEETS = {
    "reset": "* { all: unset !important }",
    "reset-later": "connect-button { all: revert !important; display: inline !important }",
    "inherited": """:root { text-transform: uppercase; letter-spacing: 1em; word-spacing: 2em; text-indent: 4em; white-space: pre; font-style: italic;
                    font-variant: small-caps; text-shadow: 0 0 9px red; line-height: 4; hyphens: auto; text-align: end; word-break: break-all;
                    -webkit-text-fill-color: #f0f; cursor: wait; list-style: square inside; text-align-last: justify }""",
    "boxes": "* { box-sizing: content-box; margin: 7px; padding: 7px; border: 3px solid red; max-width: none; transition: all 2s; animation: none; float: none }",
}


def styled(page: Page, css: str) -> None:
    page.evaluate("css => { const sheet = new CSSStyleSheet(); sheet.replaceSync(css); document.adoptedStyleSheets.push(sheet) }", css)


def look(page: Page) -> dict[str, Any]:
    """What of the button a page's style sheet could have changed."""
    return page.evaluate("""() => { const root = one.shadowRoot; const get = (selector, ...names) => { const style = getComputedStyle(root.querySelector(selector))
        return names.map(name => style[name]) }
      const box = (selector) => { const { width, height } = root.querySelector(selector).getBoundingClientRect(); return [width, height] }
      return { pill: box('.pill'), knob: box('.knob'), colors: get('.pill', 'backgroundColor', 'color'),
               label: get('.switch > span', 'fontSize', 'fontWeight', 'fontStyle', 'textTransform', 'letterSpacing', 'wordSpacing', 'textIndent', 'lineHeight', 'textShadow',
                          'webkitTextFillColor', 'textAlign', 'textAlignLast', 'wordBreak', 'fontVariantCaps'),
               footer: get('.footer', 'fontSize', 'fontStyle', 'lineHeight', 'textIndent', 'whiteSpace', 'letterSpacing', 'textAlign', 'color') } }""")


@pytest.mark.parametrize("sheet", SHEETS)
def test_a_pages_style_sheet_does_not_reach_the_button(open_page: OpenPage, server: ButtonServer, sheet: str) -> None:
    page = open_page(reduced_motion="reduce")
    opened(page, server, server.script().answer("connect", failure="interrupted"))
    expect(page.locator("#one .knob img")).to_have_count(1)
    before = look(page)
    styled(page, SHEETS[sheet])
    frame(page)
    page.screenshot(path=artefact(f"connect-button-sheet-{sheet}"))
    assert look(page) == before
    preview(page, server.script().answer("hidden"))
    assert page.evaluate("one.shadowRoot.querySelector('.pill').getBoundingClientRect().height") == 0, "hidden is hidden"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_forced_theme_survives_a_reset(open_page: OpenPage, server: ButtonServer, scheme: str) -> None:
    page = open_page(scheme="dark" if scheme == "light" else "light")
    opened(page, server, server.script().answer("connect"), theme=scheme)
    styled(page, SHEETS["reset"])
    assert look(page)["colors"] == {"light": ["rgb(34, 34, 34)", "rgb(255, 255, 255)"], "dark": ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]}[scheme]


# Large, zoomed, scaled, more contrast

@pytest.mark.parametrize("width", [360, 1024])
@pytest.mark.parametrize("locale", ["en-US", "de", "ja"])
def test_a_root_of_forty_pixels_scales_everything_and_loses_nothing(open_page: OpenPage, server: ButtonServer, width: int, locale: str) -> None:
    page = open_page(width=width, reduced_motion="reduce")
    script = server.script(locale=locale)
    opened(page, server, script.answer("connect"))
    page.evaluate("document.documentElement.style.fontSize = '40px'")
    for name, (step, options) in STATES.items():
        preview(page, script.answer(step, **options))
        assert page.locator("#one .pill").bounding_box()["height"] >= 175
        page.screenshot(path=artefact(f"connect-button-root40-{name}-{locale}-{width}"), full_page=True)
        assert overflow(page) == [], name
        assert inside(page) == [], name


def inside(page: Page) -> list[str]:
    """Texts that leave the pill, or lie under the knob."""
    return page.evaluate("""() => { const root = one.shadowRoot; const pill = root.querySelector('.pill').getBoundingClientRect(); const found = []
      const knob = root.querySelector('.knob'); const place = knob.getBoundingClientRect()
      for (const e of root.querySelectorAll('.switch > span, .choices button')) { if (e.closest('[hidden]')) continue
        const range = document.createRange(); range.selectNodeContents(e); const text = range.getBoundingClientRect()
        if (text.width && (text.top < pill.top - 1 || text.bottom > pill.bottom + 1 || text.left < pill.left || text.right > pill.right)) found.push('outside: ' + e.textContent)
        if (text.width && getComputedStyle(knob).opacity !== '0' && text.right > place.left + 1 && text.left < place.right - 1) found.push('under the knob: ' + e.textContent) }
      return found }""")


@pytest.mark.parametrize("scaling", ["zoom: 2", "transform: scale(2); transform-origin: 0 0", "transform: scale(.5); transform-origin: 0 0"])
def test_zoomed_and_scaled_the_label_fits_and_the_knob_follows(open_page: OpenPage, server: ButtonServer, scaling: str) -> None:
    page = open_page(width=800, height=700)
    script = server.script()
    opened(page, server, script.answer("connect"))
    plain_size = page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.switch')).getPropertyValue('--fit')")
    styled(page, "main { max-width: 361px; %s }" % scaling)
    page.evaluate("one.style.marginTop = '1px'")
    preview(page, script.answer("connected"))
    server.shows(script.answer("connect"))
    page.reload()
    styled(page, "main { max-width: 361px; %s }" % scaling)
    shown(page, "connect")
    preview(page, script.answer("verifying"))
    preview(page, script.answer("connect"))
    assert page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.switch')).getPropertyValue('--fit')") == plain_size
    assert inside(page) == []
    drag(page, 0.14, [0.3, 0.5, 0.7], lift=False)
    knob_comes_to(page, 0.56 * 329 / 259)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_with_more_contrast_quiet_text_is_as_strong_as_any(open_page: OpenPage, server: ButtonServer, scheme: str) -> None:
    page = open_page(scheme=scheme, reduced_motion="reduce")
    page.emulate_media(contrast="more")
    script = server.script()
    opened(page, server, script.answer("connect"))
    color = page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.footer')).color")
    assert color == {"light": "rgb(0, 0, 0)", "dark": "rgb(255, 255, 255)"}[scheme]
    for name, (step, options) in STATES.items():
        preview(page, script.answer(step, **options))
        assert violations(page) == [], name
        page.screenshot(path=artefact(f"connect-button-contrast-{name}-{scheme}"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_forced_colours_the_services_icons_are_seen(open_page: OpenPage, server: ButtonServer, scheme: str) -> None:
    """IFTTT delivers them white."""
    page = open_page(scheme=scheme, width=390, height=844, reduced_motion="reduce", forced_colors="active")
    opened(page, server, server.script().answer("connect"))
    page.locator("#one .footer button").click()
    expect(page.locator("#one .pair img")).to_have_count(2)
    page.screenshot(path=artefact(f"connect-button-forced-about-{scheme}"))
    grounds = page.evaluate("[...one.shadowRoot.querySelectorAll('.pair > :is(a, span)')].map(e => getComputedStyle(e).backgroundColor)")
    assert grounds == ["rgb(0, 0, 0)"] * 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_forced_colours_every_state_can_be_told(open_page: OpenPage, server: ButtonServer, scheme: str) -> None:
    page = open_page(scheme=scheme, reduced_motion="reduce", forced_colors="active")
    script = server.script()
    opened(page, server, script.answer("connect"))
    for name, (step, options) in STATES.items():
        preview(page, script.answer(step, **options))
        page.screenshot(path=artefact(f"connect-button-forced-{name}-{scheme}"))
        border = page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.pill')).borderTopStyle")
        assert border == "solid", name


# Directions that turn, elements that move

@pytest.mark.parametrize("way", ["main.dir = 'rtl'", "main.style.direction = 'rtl'"])
def test_a_direction_that_turns_while_the_page_is_open_turns_the_button(page: Page, server: ButtonServer, way: str) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    assert knob_place(page) == pytest.approx(0, abs=0.01)
    page.evaluate("const main = document.querySelector('main'); " + way)
    until(page, "one.shadowRoot.querySelector('.body').dir === 'rtl'")
    settled(page)
    assert knob_place(page) == pytest.approx(1, abs=0.01)
    server.answers(script.answer("connected", revision=2))
    drag(page, 0.9, [0.7, 0.4, 0.2])
    shown(page, "connected")
    settled(page)
    assert knob_place(page) == pytest.approx(0, abs=0.01)
    assert events(server) == ["turn_on"]


def test_a_button_that_is_taken_away_during_a_request_comes_back_as_its_server_has_it(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("connected", revision=2), delay=(gate := Event()))
    switch(page).click()
    heard_by(server, page, lambda: events(server) == ["turn_on"])
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/events")):
        page.evaluate("window.kept = one; kept.remove()")
    gate.set()
    caught_up(page)
    assert page.evaluate("kept.answer.state.step") == "connect", "there is no listener"
    page.evaluate("document.querySelector('main').append(kept)")
    shown(page, "connected")
    server.answers(script.answer("confirm_disconnect", revision=3))
    switch(page).click()
    shown(page, "confirm_disconnect")


def test_nothing_goes_on_moving_on_a_button_that_was_taken_away_and_cannot_ask(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("connected", revision=2), delay=5)
    switch(page).click()
    heard_by(server, page, lambda: events(server) == ["turn_on"])
    server.states["one"] = (503, {}, 0)
    page.evaluate("document.querySelector('main').append(one)")
    assert page.evaluate("one.shadowRoot.querySelector('.bar').className") == "bar"


def test_a_button_that_is_moved_under_the_finger_is_as_before(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    drag(page, 0.1, [0.3, 0.5], lift=False)
    knob_comes_to(page, 0.5)
    page.evaluate("document.querySelector('main').append(one)")
    page.mouse.up()
    settled(page)
    assert knob_place(page) == pytest.approx(0, abs=0.01)
    assert page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.switch > span')).opacity") == "1"
    caught_up(page)
    assert page.locator("#one .switch > span").count() == 1 and server.messages == []


def test_in_another_document_the_button_looks_as_before_and_works(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    page.evaluate("""() => new Promise(done => { const frame = document.createElement('iframe'); frame.style.width = '400px'; frame.id = 'frame'
      document.querySelector('main').append(frame); window.kept = one; frame.contentDocument.body.append(kept); requestAnimationFrame(() => done()) })""")
    size = page.evaluate("""() => { const root = kept.shadowRoot; const box = root.querySelector('.pill').getBoundingClientRect()
      return [box.width, box.height, root.querySelector('.knob').getBoundingClientRect().width, frame.contentWindow.getComputedStyle(root.querySelector('.pill')).borderTopLeftRadius] }""")
    assert size == [329, 70, 62, "35px"]
    server.answers(script.answer("verifying", revision=2))
    page.frame_locator("#frame").get_by_role("switch").click()
    until(page, "kept.answer.state.step === 'verifying'")
    page.evaluate("document.querySelector('main').append(kept)")
    assert page.evaluate("one.shadowRoot.querySelector('.pill').getBoundingClientRect().height") == 70


# Twins

def test_two_buttons_of_one_connection_show_the_same(page: Page, server: ButtonServer) -> None:
    script = server.script()
    server.shows(script.answer("connect"))
    page.goto(server.url(connections="one"))
    shown(page, "connect")
    page.evaluate("const twin = one.cloneNode(); twin.id = 'twin'; document.querySelector('main').append(twin)")
    shown(page, "connect", "twin")
    server.answers(script.answer("verifying", revision=2, open=f"{server.origin}/elsewhere#once"), connection="one")
    page.evaluate("() => { window.opened = 0; for (const e of [one, twin]) e.setAttribute('target', '_blank'); window.open = () => { opened += 1; return {} } }")
    switch(page, "one").click()
    shown(page, "verifying", "one")
    shown(page, "verifying", "twin")
    assert page.evaluate("opened") == 1, "one person goes once"
    server.pushed["one"] = script.answer("connect", revision=3)
    shown(page, "connect", "twin")
    server.answers(script.answer("connected", revision=4))
    switch(page, "twin").click()
    shown(page, "connected", "one")
    assert [(message["event"], message["revision"]) for message in server.messages] == [("turn_on", 1), ("turn_on", 3)]


def test_twins_in_two_languages_keep_their_own(page: Page, server: ButtonServer) -> None:
    server.shows(server.script().answer("connect"))
    page.goto(server.url())
    shown(page, "connect")
    page.evaluate("const twin = one.cloneNode(); twin.id = 'twin'; twin.setAttribute('locale', 'de'); document.querySelector('main').append(twin)")
    shown(page, "connect", "twin")
    server.answers(server.script().answer("connected", revision=2))
    switch(page, "one").click()
    shown(page, "connected", "one")
    caught_up(page)
    assert page.evaluate("twin.answer.revision") == 1, "an answer in another language is not passed on"


# Policies

@pytest.mark.parametrize("policy", ["default-src 'self'", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                                    "require-trusted-types-for 'script'; trusted-types 'none'"])
def test_a_strict_policy_has_nothing_to_complain_about(page: Page, server: ButtonServer, policy: str) -> None:
    def strict(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, headers={**answer.headers, "content-security-policy": policy})

    page.route("**/page?*", strict)
    script = server.script()
    opened(page, server, script.answer("connect"))
    for step, options in STATES.values():
        preview(page, script.answer(step, **options))
    preview(page, script.answer("connect"))
    page.locator("#one .footer button").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert heard(page, "violation") == []
    assert page.locator("#one .pill").bounding_box()["height"] == 70


# Servers that fail

ANSWERS = {"500": (500, b"{}", 0), "502 with a page": (502, b"<!doctype html><h1>Bad Gateway</h1>", 0), "a page instead of an answer": (200, b"<!doctype html><h1>Hotel</h1>", 0),
           "nothing": (204, b"", 0), "half": (200, b'{"state":{"step":"connec', 0), "closed": (0, {}, 0), "too many": (429, b"", 0)}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_wish_that_is_answered_with_nonsense_can_be_made_again(page: Page, server: ButtonServer, name: str) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    # Chromium resends what a reused connection lost.
    server.answers(*[ANSWERS[name]] * (9 if name == "closed" else 1))
    switch(page).click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    said = {"too many": "Too many attempts. Wait a moment and try again.", "closed": "This page can’t reach its server."}
    assert footer(page).startswith(said.get(name, "IFTTT isn’t answering right now."))
    shown(page, "connect")
    assert page.locator("#one .bar.shown").count() == 0
    server.replies.clear()
    tries = len(server.messages)
    server.answers(script.answer("verifying", revision=2))
    page.get_by_role("button", name="Try again").click()
    shown(page, "verifying")
    assert events(server) == ["turn_on"] * (tries + 1)


@pytest.mark.parametrize("locale", ["en-US", "de", "ja"])
def test_a_server_that_cannot_be_reached_does_not_blame_ifttt(page: Page, server: ButtonServer, locale: str) -> None:
    script = server.script(locale=locale)
    opened(page, server, script.answer("connect"))
    page.route("**/events*", lambda route: route.abort("connectionrefused"))
    switch(page).click()
    expect(page.locator("#one .footer .error")).to_have_text(word("unreachable", locale))
    expect(page.locator("#one [role=status]")).to_have_text(word("unreachable", locale))
    assert heard(page, "failed")[0][1]["kind"] == "unreachable"
    page.unroute("**/events*")
    server.answers(script.answer("verifying", revision=2))
    page.locator("#one .footer [data-action=retry]").click()
    shown(page, "verifying")


def test_a_tap_on_the_pill_loads_again_after_a_failure(page: Page, server: ButtonServer) -> None:
    script = server.script()
    page.clock.install()
    opened(page, server, script.answer("loading_failed", failure="unavailable"))
    server.answers(script.answer("connect", revision=2))
    pill = page.locator("#one").get_by_role("button", name="Connect", exact=False)
    expect(pill).not_to_have_attribute("aria-disabled", "true")
    pill.click()
    shown(page, "connect")
    assert events(server) == ["retry"]


def test_a_tap_on_the_pill_does_nothing_when_no_retry_can_help(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("loading_failed", failure="unknown_connection"))
    expect(switch(page)).to_have_attribute("aria-disabled", "true")
    switch(page).click(force=True)
    caught_up(page)
    assert events(server) == []


def test_a_wish_that_is_never_answered_is_given_up_after_half_a_minute(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers((200, script.answer("verifying", revision=2), 6))
    switch(page).click()
    page.clock.run_for(300)
    heard_by(server, page, lambda: events(server) == ["turn_on"])
    page.clock.run_for(29_000)
    caught_up(page)
    assert page.locator("#one .footer[data-tone=error]").count() == 0
    page.clock.run_for(1000)
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    assert footer(page).startswith("IFTTT isn’t answering right now.")
    shown(page, "connect")


def test_loading_from_a_server_that_never_answers_ends_after_four_times_half_a_minute(page: Page, server: ButtonServer) -> None:
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    released = Event()
    server.shows(server.script().answer("connect"), delay=released)
    page.goto(server.url())
    shown(page, "loading")
    for attempt, wait in enumerate((2000, 4000, 8000, 0), 1):
        heard_by(server, page, lambda: len(server.asked) == attempt)
        page.clock.run_for(29_000)
        caught_up(page)
        shown(page, "loading")
        page.clock.run_for(1000)
        caught_up(page)
        page.clock.run_for(wait)
    shown(page, "loading_failed")
    assert len(server.asked) == 4
    released.set()


def test_a_stream_of_nonsense_changes_nothing(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("verifying", progress="indeterminate"))
    for nonsense in ({"state": {"step": "constructor"}}, [], "x", None, {"revision": 9}, {"revision": 9, "state": {"step": "pending"}, "padding": "x" * 300_000}):
        push(page, server, nonsense)
    server.pushed["one"] = script.answer("connected", revision=2)
    shown(page, "connected")
    assert [detail["step"] for _, detail in heard(page, "change")][-2:] == ["verifying", "connected"]


# Pages that sleep

def test_a_page_that_one_comes_back_to_shows_what_happened_meanwhile(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("verifying", progress="indeterminate"))
    began = server.streams
    heard_by(server, page, lambda: server.listening == ["one"])
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    heard_by(server, page, lambda: server.listening == [])
    shown(page, "verifying")
    server.shows(script.answer("going_to_service", revision=3))
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    shown(page, "going_to_service")
    heard_by(server, page, lambda: server.streams > began)
    server.pushed["one"] = script.answer("connected", revision=4)
    shown(page, "connected")


def test_a_tab_that_slept_for_an_hour_follows_again(page: Page, server: ButtonServer) -> None:
    page.clock.install()
    script = server.script()
    server.has_events = False
    opened(page, server, script.answer("going_to_service"))
    for _ in range(40):
        caught_up(page)
        page.clock.run_for(30_000)
    page.clock.run_for(2_400_000)
    caught_up(page)
    asked = len(server.asked)
    assert asked > 2, "it was asked for a while"
    page.clock.run_for(600_000)
    caught_up(page)
    assert len(server.asked) == asked, "the server is not polled without end"
    server.has_events = True
    page.evaluate("document.dispatchEvent(new Event('resume'))")
    heard_by(server, page, lambda: server.listening == ["one"])
    server.pushed["one"] = script.answer("connected", revision=2)
    shown(page, "connected")


def test_a_network_that_is_back_brings_what_happened_meanwhile(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"))
    page.context.set_offline(True)
    server.shows(script.answer("connected", revision=2))
    page.context.set_offline(False)
    shown(page, "connected")


def test_a_button_that_is_online_again_does_not_say_that_it_is_offline(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    status = page.locator("#one [role=status]")
    page.context.set_offline(True)
    switch(page).click()
    expect(status).to_contain_text("offline")
    page.context.set_offline(False)
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(0)
    expect(status).not_to_contain_text("offline")
