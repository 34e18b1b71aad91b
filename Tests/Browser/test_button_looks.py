"""What `<connect-button>` looks like where the dossier says it in numbers (sections 4.1 to 4.4 and 4.9): colours, icons, sizes, the pulse, who is welcomed."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from button_page import VECTORS, ButtonServer, heard
from button_visit import caught_up, drag, footer, frozen, heard_by, hold, knob_place, let_go, opened, preview, settled, shown, switch, until
from conftest import OpenPage

STYLE = "([selector, name]) => getComputedStyle(one.shadowRoot.querySelector(selector))[name]"


def style(page: Page, selector: str, name: str) -> str:
    return page.evaluate(STYLE, [selector, name])


def rgb(hexadecimal: str) -> str:
    return "rgb({}, {}, {})".format(*(int(hexadecimal[at:at + 2], 16) for at in (1, 3, 5)))


# F002: the pulse

def test_what_loads_pulses_and_what_failed_to_does_not(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("loading"))
    [pulse] = page.evaluate("""one.shadowRoot.querySelector('.switch > span').getAnimations().map(a => { const { duration, iterations, direction } = a.effect.getTiming()
      return { duration, direction, endless: iterations === Infinity, opacities: a.effect.getKeyframes().map(k => Number(k.opacity)), easings: a.effect.getKeyframes().map(k => k.easing) } })""")
    assert pulse == {"duration": 1200, "direction": "alternate", "endless": True, "opacities": [1, 0.4], "easings": ["linear", "linear"]}
    preview(page, script.answer("loading_failed", failure="unavailable"))
    assert page.evaluate("one.shadowRoot.querySelector('.switch > span').getAnimations().length") == 0
    assert style(page, ".switch > span", "opacity") == "1"


# F007, F048, F059: icons

@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("colors", VECTORS["palette"], ids=lambda colors: colors["brand"])
def test_the_knob_is_drawn_in_the_brands_colour(open_page: OpenPage, server: ButtonServer, colors: dict[str, str], scheme: str) -> None:
    page = open_page(scheme=scheme)
    opened(page, server, server.script(brand=colors["brand"]).answer("connect"))
    knob = page.evaluate("([brand, scheme]) => button.palette(brand, scheme).knob", [colors["brand"], scheme])
    assert style(page, ".disc", "backgroundColor") == rgb(knob)
    if page.evaluate("([knob, scheme]) => button.contrast(button.color(knob), button.color(scheme === 'light' ? '#222222' : '#FFFFFF')) >= 3",
                     [(table := colors["knobOnLight" if scheme == "light" else "knobOnDark"]), scheme]):
        assert knob == table, "the dossier's, where one can see it"


@pytest.mark.parametrize("brand", ["#6441A5", "#FFFF00"])
def test_icons_are_drawn_as_they_are_delivered(page: Page, server: ButtonServer, brand: str) -> None:
    """1.4, 4.9: not tinted; an opaque or a coloured icon stays what it is. On a bright knob an edge keeps a white one to be seen."""
    opened(page, server, server.script(brand=brand).answer("connect"))
    expect(page.locator("#one .knob img")).to_have_count(1)
    drawn = style(page, ".knob img", "filter")
    assert drawn == f"drop-shadow(rgba(0, 0, 0, {'0' if brand == '#6441A5' else '0.8'}) 0px 0px 1px)"
    assert [style(page, ".knob img", name) for name in ("opacity", "mixBlendMode", "maskImage")] == ["1", "normal", "none"]
    assert style(page, ".knob img", "width") == "32px"
    page.locator("#one .footer button").click()
    expect(page.locator("#one .pair img")).to_have_count(2)
    assert {style(page, f".pair > :nth-child({at}) img", "filter") for at in (1, 3)} == {"none"}


def test_the_icons_of_the_about_page_are_there_before_it_is_opened(page: Page, server: ButtonServer) -> None:
    script = server.script()
    script.connection["connecting"]["icon"] = None
    opened(page, server, script.answer("connect"))
    heard_by(server, page, lambda: server.icons == 1)


# F020: on the way

@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("theme", [None, "light", "dark"])
def test_the_bar_on_the_way_to_the_service_has_the_brands_colour(open_page: OpenPage, server: ButtonServer, scheme: str, theme: str | None) -> None:
    page = open_page(scheme=scheme)
    opened(page, server, server.script(brand="#6441A5").answer("going_to_service", progress="indeterminate"), **({"theme": theme} if theme else {}))
    settled(page)
    assert style(page, ".ground.brand", "backgroundColor") == rgb("#6441A5") and style(page, ".ground.brand", "opacity") == "1"
    assert style(page, ".bar", "backgroundColor") == rgb("#4D327F") and style(page, ".bar", "opacity") == "1"
    expect(page.locator("#one .bar.shown")).to_have_count(1)
    control = page.locator("#one .switch")
    assert control.get_attribute("aria-busy") is None and control.get_attribute("aria-disabled") is None, "it is not busy: a tap continues"


# W17: a forced theme is forced everywhere

@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_forced_theme_colours_the_neutral_bar_and_all_else(open_page: OpenPage, server: ButtonServer, scheme: str, theme: str) -> None:
    page = open_page(scheme=scheme)
    opened(page, server, server.script().answer("verifying", progress="indeterminate"), theme=theme)
    expected = {"light": ("#222222", "#FFFFFF", "#414141", "#666666"), "dark": ("#FFFFFF", "#000000", "#CCCCCC", "#A6A6A6")}[theme]
    settled(page)
    drawn = [style(page, ".pill", "backgroundColor"), style(page, ".switch", "color"), style(page, ".bar", "backgroundColor"), style(page, ".footer", "color")]
    assert drawn == [rgb(color) for color in expected]


@pytest.mark.parametrize("theme", [None, "light", "dark"])
def test_the_confirm_buttons_glyph_can_be_seen_on_any_brand(page: Page, server: ButtonServer, theme: str | None) -> None:
    for brand, ink in (("#0099FF", "#000000"), ("#6441A5", "#FFFFFF"), ("#FFFFFF", "#000000"), ("#222222", "#FFFFFF")):
        opened(page, server, server.script(brand=brand).answer("email"), **({"theme": theme} if theme else {}))
        settled(page)
        assert style(page, ".email button", "backgroundColor") == rgb(brand)
        assert style(page, ".email button", "color") == rgb(ink), brand
        assert style(page, ".ground.grey", "backgroundColor") == rgb("#CCCCCC")


@pytest.mark.parametrize(("step", "following", "path"), [("connect", "verifying", [0.1, 0.3, 0.6, 0.05]), ("connect", "email", [0.1, 0.3, 0.6, 0.05]),
                                                         ("connected", "confirm_disconnect", [0.9, 0.7, 0.6, 0.95])])
def test_a_drag_that_is_taken_back_leaves_the_grounds_as_they_were(page: Page, server: ButtonServer, step: str, following: str, path: list[float]) -> None:
    frozen(page, server, server.script().answer(step, following=following))
    look = """() => { const root = one.shadowRoot; return ['.pill', '.ground.brand', '.ground.grey', '.email input', '.email button', '.switch > span', '.knob', '.disc', '.shade', '.icon', '.bar'].map(s => { const style = getComputedStyle(root.querySelector(s))
      return [s, style.opacity, style.backgroundColor, style.translate, style.scale, style.borderRadius, root.querySelector(s).getAnimations().length] }) }"""
    settled(page)
    before = page.evaluate(look)
    drag(page, path[0], path[1:], lift=False)
    page.clock.run_for(200)
    page.mouse.up()
    page.clock.run_for(700)
    settled(page)
    caught_up(page)
    assert page.evaluate(look) == before and server.messages == []


# F053, F055, F057

@pytest.mark.parametrize("around", ["light", "dark"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_automatic_theme_follows_the_system_and_not_the_page(open_page: OpenPage, server: ButtonServer, scheme: str, around: str) -> None:
    page = open_page(scheme=scheme)
    pill = {"light": rgb("#222222"), "dark": rgb("#FFFFFF")}
    for theme, expected in (("auto", scheme), ("", around)):
        opened(page, server, server.script().answer("connect"), theme=theme)
        page.evaluate("scheme => { document.querySelector('main').style.colorScheme = scheme }", around)
        assert style(page, ".pill", "backgroundColor") == pill[expected], theme


@pytest.mark.parametrize("width", [320, 361, 768, 1024])
def test_the_button_fills_little_room_and_is_centred_in_more(open_page: OpenPage, server: ButtonServer, width: int) -> None:
    page = open_page(width=width)
    opened(page, server, server.script().answer("connect"))
    around, box = (page.locator(name).bounding_box() for name in ("main", "#one .pill"))
    assert box["width"] == min(329, around["width"])
    assert box["x"] - around["x"] == pytest.approx(around["x"] + around["width"] - box["x"] - box["width"], abs=0.5)


@pytest.mark.parametrize("size", [100, 150, 200])
def test_footer_and_about_page_follow_the_text_size(page: Page, server: ButtonServer, size: int) -> None:
    opened(page, server, server.script().answer("connected"))
    page.evaluate("size => { document.documentElement.style.fontSize = `${size}%` }", size)
    page.locator("#one .footer button").click()
    sizes = [float(style(page, selector, "fontSize")[:-2]) for selector in (".footer .text", "dialog li", "dialog h2", "dialog .pillow", "dialog .legal")]
    assert sizes == pytest.approx([points * size / 100 for points in (14, 16, 28, 20, 16)], abs=0.01)


# F045, F046: the footer and the About page

@pytest.mark.parametrize("press", ["pointer", "Enter", "Space"])
@pytest.mark.parametrize(("step", "options"), [
    ("connect", {}), ("connected", {}), ("pending", {}), ("creating_account", {"email": "ada@example.com", "cancellable": True}),
    ("going_to_service", {"cancellable": True}), ("verifying", {"cancellable": True}), ("email", {"cancellable": True}), ("email", {"failure": "invalid_email"}),
    ("connect", {"failure": "interrupted"}), ("connected", {"failure": "not_disconnected"})], ids=lambda value: value if isinstance(value, str) else "-".join(value))
def test_the_footer_opens_the_about_page(page: Page, server: ButtonServer, step: str, options: dict[str, Any], press: str) -> None:
    """Where it says nothing of its own by its text, else by its link to learn more (F045)."""
    opened(page, server, server.script().answer(step, **options))
    way = page.locator("#one .footer [aria-haspopup=dialog]")
    expect(way).to_have_accessible_name(re.compile("works with ifttt" if page.locator("#one .footer").get_attribute("data-tone") == "lead" else "learn more", re.I))
    if press == "pointer":
        way.click()
    else:
        way.focus()
        page.keyboard.press(press)
    expect(page.get_by_role("dialog")).to_be_visible()
    assert (page.get_by_role("dialog").get_by_role("link", name="Manage connection").count() == 1) == (step in ("connected", "pending"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    shown(page, step)
    caught_up(page)
    assert server.messages == []


@pytest.mark.parametrize(("said", "opened_at"), [("https://terms.example.com/en", "https://terms.example.com/en"), (None, "https://ifttt.com/terms"),
                                                 ("javascript:document.title='hit'", "https://ifttt.com/terms"), (7, "https://ifttt.com/terms")])
def test_the_terms_are_where_the_server_says(page: Page, server: ButtonServer, said: Any, opened_at: str) -> None:
    answer = server.script().answer("connect")
    if said is not None:
        answer["state"]["termsURL"] = said
    opened(page, server, answer)
    page.locator("#one .footer button").click()
    assert page.get_by_role("dialog").get_by_role("link", name="privacy policy and terms").get_attribute("href") == opened_at


UNSAFE = ["javascript:document.title='hit'", "data:text/html,x", "http://example.com/", 7]


@pytest.mark.parametrize("address", UNSAFE)
def test_only_safe_addresses_are_linked_on_the_about_page(page: Page, server: ButtonServer, address: Any) -> None:
    answer = server.script().answer("connected")
    connection = answer["state"]["connection"]
    connection["url"] = connection["primary"]["url"] = connection["connecting"]["url"] = address
    answer["state"] |= {"manageURL": address, "storeURL": address, "termsURL": address}
    opened(page, server, answer)
    page.locator("#one .footer button").click()
    links = page.get_by_role("dialog").locator("a").all()
    assert [link.get_attribute("href") for link in links] == ["https://ifttt.com/terms"]


@pytest.mark.parametrize("address", UNSAFE)
def test_only_a_safe_address_of_the_set_up_is_opened(page: Page, server: ButtonServer, address: Any) -> None:
    answer = server.script().answer("pending")
    answer["state"] |= {"manageURL": address, "setUpURL": address}
    opened(page, server, answer)
    before = page.url
    page.evaluate("one.addEventListener('setup', () => heard.push(['setup', 'one', null]))")
    page.locator("#one .switch").click()
    until(page, "heard.some(([name]) => name === 'setup')")
    caught_up(page)
    assert page.url == before and page.title() == "An app" and heard(page, "violation") == []


@pytest.mark.parametrize("step", ["connect", "email"])
def test_the_word_mark_is_heavier_than_the_footer(page: Page, server: ButtonServer, step: str) -> None:
    """F044."""
    opened(page, server, server.script().answer(step))
    expect(page.locator("#one .lines .mark")).to_have_text("IFTTT")
    assert [style(page, selector, "fontWeight") for selector in (".lines .text", ".lines .mark")] == ["600", "800"]


# F036: back from the service, in the same tab

def go(page: Page, server: ButtonServer, **attributes: Any) -> None:
    """To the service, which takes the tab."""
    script = server.script()
    opened(page, server, script.answer("connect"), **attributes)
    server.answers(script.answer("going_to_service", revision=2, open=f"{server.origin}/elsewhere"))
    switch(page).click()
    page.wait_for_url("**/elsewhere")


@pytest.mark.parametrize("step", ["connected", "pending"])
@pytest.mark.parametrize("prefetched", [False, True])
def test_who_comes_back_connected_is_welcomed_once(page: Page, server: ButtonServer, step: str, prefetched: bool) -> None:
    go(page, server)
    answer = server.script().answer(step, revision=3)
    server.shows(answer)
    page.add_init_script("window.held = true")
    page.goto(server.url(**({"inside": json.dumps(answer)} if prefetched else {})))
    shown(page, step)
    expect(page.locator("#one .celebrates")).to_have_count(1)
    assert step == "pending" or switch(page).is_checked(), "on, and usable, all the while"
    assert knob_place(page) == pytest.approx(0.5, abs=0.01), "from the centre"
    expect(page.locator("#one [role=status]")).not_to_be_empty()
    let_go(page)
    settled(page)
    assert knob_place(page) == pytest.approx(1, abs=0.01)
    assert page.evaluate("sessionStorage.length") == 0
    page.goto(server.url())
    shown(page, step)
    assert page.locator("#one .celebrates").count() == 0


@pytest.mark.parametrize("case", ["gave up", "another connection", "a new tab"])
def test_no_other_user_is_welcomed(page: Page, server: ButtonServer, case: str) -> None:
    go(page, server) if case != "a new tab" else opened(page, server, server.script().answer("connect"))
    if case == "gave up":
        server.shows(server.script().answer("connect", revision=3, failure="cancelled"))
        page.goto(server.url())
        shown(page, "connect")
    name = "two" if case == "another connection" else "one"
    server.shows(server.script().answer("connected", revision=4), name)
    page.add_init_script("window.held = true")
    page.goto(server.url(connections=name))
    shown(page, "connected", name)
    assert page.locator(f"#{name} .celebrates").count() == 0


def test_a_new_tab_leaves_no_mark(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("connect"), target="_blank")
    server.answers(script.answer("going_to_service", revision=2, open=f"{server.origin}/elsewhere"))
    with page.context.expect_page():
        switch(page).click()
    shown(page, "going_to_service")
    assert page.evaluate("sessionStorage.length") == 0


# F013: the text in the email field

def field(page: Page):
    return page.get_by_role("textbox")


def test_typed_text_is_kept_whatever_comes(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("email", email="ada@example.com"), email="ada@example.com")
    expect(field(page)).to_have_value("ada@example.com")
    field(page).fill("grace@example.com")
    page.evaluate("one.setAttribute('email', 'other@example.com')")
    expect(field(page)).to_have_value("grace@example.com")
    server.shows(script.answer("email", revision=2, email="ada@example.com"))
    page.evaluate("one.refresh()")
    until(page, "one.answer.revision === 2")
    expect(field(page)).to_have_value("grace@example.com")
    page.evaluate("one.setAttribute('locale', 'en-US')")
    until(page, "one.answer?.state.step === 'email'")
    expect(field(page)).to_have_value("grace@example.com")


def test_a_field_that_was_emptied_stays_empty(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("email", email="ada@example.com"))
    field(page).fill("")
    server.shows(script.answer("email", revision=2, email="ada@example.com"))
    page.evaluate("one.refresh()")
    until(page, "one.answer.revision === 2")
    expect(field(page)).to_have_value("")
    page.evaluate("one.setAttribute('email', 'other@example.com')")
    expect(field(page)).to_have_value("")


def test_an_unchanged_suggestion_follows_the_page(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("email"), email="ada@example.com")
    page.evaluate("one.setAttribute('email', ' grace@example.com ')")
    expect(field(page)).to_have_value("grace@example.com")


def test_back_at_connect_the_text_is_gone(page: Page, server: ButtonServer) -> None:
    script = server.script()
    opened(page, server, script.answer("email", email="ada@example.com", cancellable=True))
    field(page).fill("grace@example.com")
    server.answers(script.answer("connect", revision=2), script.answer("email", revision=3, email="ada@example.com"))
    page.get_by_role("button", name="Cancel").click()
    shown(page, "connect")
    switch(page).click()
    shown(page, "email")
    expect(field(page)).to_have_value("ada@example.com")
    assert footer(page).startswith("Secured by IFTTT.")


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_after_a_resize_the_knob_is_where_it_belongs_immediately(page: Page, server: ButtonServer, direction: str) -> None:
    opened(page, server, server.script().answer("connected"), page_dir=direction)
    for width in (200, 329, 240):
        outside = page.evaluate("""width => new Promise(done => { one.style.inlineSize = `${width}px`
          requestAnimationFrame(() => requestAnimationFrame(() => { const [knob, pill] = ['.knob', '.pill'].map(name => one.shadowRoot.querySelector(name).getBoundingClientRect())
            done([knob.left - pill.left, pill.right - knob.right, pill.width]) })) })""", width)
        left, right, drawn = outside
        assert drawn == pytest.approx(width, abs=1)
        assert (right if direction == "ltr" else left) == pytest.approx(4, abs=1), (width, outside)
