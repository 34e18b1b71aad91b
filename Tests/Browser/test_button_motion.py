"""How `<connect-button>` moves, held to the dossier's timelines (`connect-button-motion.md`, rows MO…)."""

import json

import pytest
from playwright.sync_api import Page

from button_page import CATALOGUE, VECTORS, ButtonServer
from button_visit import caught_up, drag, hold, let_go, opened, preview, settled, shown, switch, until
from conftest import OpenPage
from motion import CHANGES, begin, pose, progress, seek
from test_connect_button import STATES

FRAME = 1000 / 60


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("name", CHANGES)
def test_every_track_is_the_dossiers_at_each_sixtieth_of_a_second(page: Page, server: ButtonServer, name: str, direction: str) -> None:
    """MO1, MO2, MO26."""
    begin(page, server, name, page_dir=direction)
    change, compared = CHANGES[name], set()
    for frame in range(int(change.duration / FRAME)):
        seek(page, frame * FRAME)
        drawn = pose(page)
        for key, worth in change.expected(frame * FRAME).items():
            assert drawn[key] == pytest.approx(worth, abs=0.02), f"{name}, {key} at {frame * FRAME:.0f} ms"
            compared.add(key)
    assert len(compared) >= 3
    let_go(page)
    settled(page)


def test_changes_have_the_timelines_that_swift_gives_them(page: Page, server: ButtonServer) -> None:
    page.goto(server.url())
    page.wait_for_function("() => Boolean(window.button)")
    for change in VECTORS["changes"]:
        assert page.evaluate("c => button.between(c.from, c.to) ?? null", change) == change["timeline"], change


# What a text does

LABELS = """() => Object.fromEntries([['new', '.switch > span:not([aria-hidden])'], ['old', '.switch > span[aria-hidden]']].map(([name, selector]) => {
  const label = one.shadowRoot.querySelector(selector); if (!label) return [name, null]
  const words = document.createRange(); words.selectNodeContents(label)
  const { left, top, width } = words.getBoundingClientRect(); const { fontSize, color, opacity } = getComputedStyle(label)
  return [name, { text: label.textContent, place: [left, top, width].map(part => Math.round(part * 10) / 10), fontSize, color, opacity: Number(opacity) }] }))"""


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("name", ["C", "E", "G", "I", "L", "OP", "T"])
def test_the_text_that_leaves_stays_as_it_was_and_the_new_one_waits(page: Page, server: ButtonServer, name: str, direction: str) -> None:
    """MO4, MO14, MO17."""
    change, script = CHANGES[name], server.script()
    opened(page, server, script.answer(change.before[0], **change.before[1]), page_dir=direction)
    settled(page)
    page.evaluate("for (const a of one.shadowRoot.getAnimations()) { a.pause(); a.currentTime = 0 }")
    before = page.evaluate(LABELS)["new"]
    hold(page)
    server.pushed["one"] = script.answer(change.now[0], revision=2, **change.now[1])
    shown(page, change.now[0])
    if before["text"]:
        assert page.evaluate(LABELS)["old"] == before
    half = 250 if name == "E" else 1700 if name == "OP" else 200
    for part in (0, 0.5, 0.99):
        seek(page, part * half)
        assert page.evaluate(LABELS)["new"]["opacity"] == 0, part
    if name != "I":
        assert page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.email input')).opacity") == "0" or name == "E"


def test_a_text_that_stays_does_not_fade(page: Page, server: ButtonServer) -> None:
    """MO5."""
    one, other = (server.script().answer(step, revision=at, progress="indeterminate") for at, step in enumerate(("verifying", "creating_account"), 1))
    other["face"]["label"] = one["face"]["label"]
    opened(page, server, one)
    settled(page)
    hold(page)
    server.pushed["one"] = other
    shown(page, "creating_account")
    found = page.evaluate(LABELS)
    assert found["old"] is None and found["new"]["opacity"] == 1


def test_after_two_quick_changes_only_the_last_text_is_left(page: Page, server: ButtonServer) -> None:
    """MO5."""
    script = server.script()
    opened(page, server, script.answer("verifying", progress="indeterminate"))
    settled(page)
    hold(page)
    for revision, step in enumerate(("going_to_service", "connecting"), 2):
        seek(page, 300)
        server.pushed["one"] = script.answer(step, revision=revision, progress="indeterminate")
        shown(page, step)
    found = page.evaluate(LABELS)
    # The text that was coming leaves from where it was; the one before it is gone.
    assert found["old"]["text"].startswith("Going to") and found["old"]["opacity"] == pytest.approx(0.5, abs=0.03)
    assert found["new"]["text"].startswith("Connecting") and found["new"]["opacity"] == 0
    assert page.locator("#one .switch > span").count() == 2
    let_go(page)
    settled(page)
    found = page.evaluate(LABELS)
    assert found["old"] is None and found["new"]["opacity"] == 1


# How bright a text is on what is under it, in a page: `L` is the label, the grounds and the bar are those that are drawn.
CONTRAST = """(brand => { const root = one.shadowRoot; const $ = name => root.querySelector(name)
  const color = text => { const found = text.match(/[\\d.]+/g).map(Number); return found.slice(0, 3) }
  const linear = part => (part /= 255) <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4
  const light = c => .2126 * linear(c[0]) + .7152 * linear(c[1]) + .0722 * linear(c[2])
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05) }
  const over = (under, name) => { const s = getComputedStyle($(name)); const alpha = Number(s.opacity); return color(s.backgroundColor).map((part, at) => part * alpha + under[at] * (1 - alpha)) }
  const probe = document.createElement('div'); root.querySelector('.body').append(probe); probe.style.background = 'var(--pill)'
  const pill = color(getComputedStyle(probe).backgroundColor); probe.remove()
  const ground = over(over(pill, '.ground.grey'), '.ground.brand')
  const bar = over(ground, '.bar')
  const poor = []
  for (const label of root.querySelectorAll('.switch > span')) { const s = getComputedStyle(label); if (!label.textContent || Number(s.opacity) < .8) continue
    for (const under of [ground, bar]) if (ratio(color(s.color), under) < 4.49) poor.push([brand, label.textContent, s.color, under.map(Math.round), ratio(color(s.color), under)]) }
  return poor })"""

BRANDS = ["#0099FF", "#FF4500", "#6441A5", "#1DB954", "#FFFFFF", "#000000", "#FFE600", "#222222", "#808080", "#777777", "#E60023", "#00A4EF", "#F25022", "#7FBA00",
          "#2B8A3E", "#FF66CC", "#00FFFF", "#8B4513", "#3B5998", "#FFA500"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["L", "N", "OP"])
def test_a_text_that_can_be_read_stands_out_from_what_is_under_it(open_page: OpenPage, server: ButtonServer, name: str, scheme: str) -> None:
    """MO17."""
    page = open_page(scheme=scheme)
    poor = []
    for brand in BRANDS:
        change, script = CHANGES[name], server.script(brand=brand)
        server.pushed.clear()
        opened(page, server, script.answer(change.before[0], **change.before[1]))
        settled(page)
        hold(page)
        server.pushed["one"] = script.answer(change.now[0], revision=2, **change.now[1])
        shown(page, change.now[0])
        poor += page.evaluate("""([brand, duration]) => { const found = []
          for (let time = 0; time <= duration; time += 1000 / 60) {
            for (const a of one.shadowRoot.getAnimations()) if (a.playState === 'paused') a.currentTime = time
            found.push(...CONTRAST(brand))
          } return found }""".replace("CONTRAST", CONTRAST), [brand, change.duration])
    assert not poor


# What is there

def test_what_is_prefetched_is_complete_in_its_first_frame(page: Page, server: ButtonServer) -> None:
    """MO3."""
    script = server.script()
    server.shows(script.answer("connect"))
    # What is set moving from the page's first moment on stands still.
    page.add_init_script("window.held = true")
    page.goto(server.url(inside=json.dumps(script.answer("connect"))))
    until(page, "Boolean(window.button && one.answer)")
    drawn = pose(page)
    assert (drawn["switchLayer.alpha"], drawn["knob.position"], drawn["labelNew.alpha"]) == (1, 0, 1)
    assert page.evaluate("one.shadowRoot.getAnimations().length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("step", "following", "path"), [
    ("connect", "verifying", [0.1, 0.3, 0.6, 0.05]), ("connect", "email", [0.1, 0.3, 0.6, 0.05]), ("connected", "confirm_disconnect", [0.9, 0.7, 0.6, 0.95])])
def test_a_drag_that_is_taken_back_leaves_everything_as_it_was(open_page: OpenPage, server: ButtonServer, step: str, following: str, path: list[float],
                                                                scheme: str) -> None:
    """MO11."""
    page = open_page(scheme=scheme)
    opened(page, server, server.script().answer(step, following=following))
    settled(page)
    before, picture = pose(page), page.locator("#one").screenshot()
    drag(page, path[0], path[1:], lift=False)
    until(page, "one.shadowRoot.querySelector('.scrubbed') !== null")
    page.mouse.up()
    settled(page)
    page.mouse.move(0, 0)
    caught_up(page)
    assert {key: worth for key, worth in pose(page).items() if key != "progress.fraction"} == pytest.approx(
        {key: worth for key, worth in before.items() if key != "progress.fraction"}, abs=1e-4) and server.messages == []
    assert page.locator("#one").screenshot() == picture


def test_a_cancelled_gesture_goes_back(page: Page, server: ButtonServer) -> None:
    """MO9."""
    opened(page, server, server.script().answer("connect"))
    drag(page, 0.1, [0.3, 0.6, 0.9], lift=False)
    until(page, "one.shadowRoot.querySelector('.scrubbed') !== null")
    page.evaluate("""() => { const pill = one.shadowRoot.querySelector('.pill')
      pill.dispatchEvent(new PointerEvent('pointercancel', { pointerId: 1, isPrimary: true, bubbles: true })) }""")
    settled(page)
    caught_up(page)
    assert pose(page)["knob.position"] == 0 and server.messages == []
    page.mouse.up()


@pytest.mark.parametrize("is_dragged", [False, True])
def test_nothing_of_the_knob_is_left_while_it_connects(page: Page, server: ButtonServer, is_dragged: bool) -> None:
    """MO12."""
    script = server.script()
    opened(page, server, script.answer("connect"))
    server.answers(script.answer("verifying", revision=2, progress="indeterminate"))
    if is_dragged:
        drag(page, 0.1, [0.4, 0.7, 0.95])
    else:
        switch(page).click()
    shown(page, "verifying")
    settled(page)
    drawn = pose(page)
    assert drawn["switchLayer.alpha"] == 0 and drawn["knob.position"] == pytest.approx(1)


@pytest.mark.parametrize("way", ["arrived", "kept", "looked", "returned"])
def test_the_knob_has_its_shadow_at_the_end_on_every_way(page: Page, server: ButtonServer, way: str) -> None:
    """MO20."""
    script = server.script()
    before = {"arrived": ("connecting", CHANGES["OP"].before[1]), "kept": ("confirm_disconnect", {}), "looked": ("loading", {}), "returned": ("disconnecting", CHANGES["OP"].before[1])}[way]
    opened(page, server, script.answer(before[0], **before[1]))
    settled(page)
    server.pushed["one"] = script.answer("connected", revision=2)
    shown(page, "connected")
    settled(page)
    drawn = pose(page)
    assert page.evaluate("getComputedStyle(one.shadowRoot.querySelector('.shade')).opacity") == "1"
    assert (drawn["switchLayer.alpha"], drawn["knob.position"], drawn["knob.disc"], drawn["checkMark.alpha"]) == (1, 1, 1, 0)


@pytest.mark.parametrize("moment", [0, 300, 900, 1300, 1600, 1850])
def test_a_tap_while_the_check_mark_is_drawn_turns_off_without_a_jump(page: Page, server: ButtonServer, moment: int) -> None:
    """MO19, MO28."""
    begin(page, server, "OP")
    seek(page, moment)
    assert page.locator("#one [role=status]").text_content().startswith("Connected"), "assistive technology hears it immediately"
    before = pose(page)
    server.answers(server.script().answer("confirm_disconnect", revision=3))
    switch(page).click()
    shown(page, "confirm_disconnect")
    assert [message["event"] for message in server.messages] == ["turn_off"]
    after = pose(page)
    for key in ("switchLayer.alpha", "pill.brand", "checkMark.alpha", "checkTick.strokeEnd", "checkRing.scale", "progress.alpha"):
        assert after[key] == pytest.approx(before[key], abs=0.01), key
    if before["switchLayer.alpha"]:
        assert after["knob.position"] == pytest.approx(before["knob.position"], abs=0.01)
    let_go(page)
    settled(page)


# What is around it

@pytest.mark.parametrize("locale", sorted(CATALOGUE["works_with"]["localizations"]))
def test_the_page_below_does_not_move(open_page: OpenPage, server: ButtonServer, locale: str) -> None:
    """MO24."""
    page = open_page(width=320, reduced_motion="reduce")
    opened(page, server, server.script(locale=locale).answer("connect"), locale=locale)
    below = "one.nextElementSibling.getBoundingClientRect().top"
    place = page.evaluate(below)
    for name, (step, options) in STATES.items():
        if step != "hidden":
            preview(page, server.script(locale=locale).answer(step, **options))
            assert page.evaluate(below) == pytest.approx(place, abs=0.1), name


@pytest.mark.parametrize(("name", "seconds"), [("G", 0.4), ("E", 0.5)])
def test_the_footers_cross_fade_takes_the_time_of_the_change(page: Page, server: ButtonServer, name: str, seconds: float) -> None:
    """MO24."""
    change, script = CHANGES[name], server.script()
    opened(page, server, script.answer(*change.before[:1]))
    settled(page)
    hold(page)
    server.pushed["one"] = script.answer(change.now[0], revision=2, failure="offline" if name == "G" else None, **change.now[1])
    shown(page, change.now[0])
    for part in (0, 0.25, 0.49, 0.75, 1):
        seek(page, part * seconds * 1000 - 0.01)
        old, new = page.evaluate("['.footer > .leaving', '.lines'].map(s => one.shadowRoot.querySelector(s)).map(e => e ? Number(getComputedStyle(e).opacity) : null)")
        assert old == pytest.approx(1 - progress("easeInOut", part), abs=0.01)
        assert new == pytest.approx(progress("easeInOut", max(2 * part - 1, 0)), abs=0.01)


FOOTER = """selector => { const lines = one.shadowRoot.querySelector(selector), range = document.createRange()
  range.selectNodeContents(lines)
  return [lines.innerText, getComputedStyle(lines.querySelector('.text')).color, ...[...range.getClientRects()].map(box => [box.x, box.y, box.width, box.height].map(Math.round))] }"""


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("back", [False, True])
def test_a_footer_that_leaves_stays_as_it_was(page: Page, server: ButtonServer, direction: str, back: bool) -> None:
    """MO24: the order of its words, their colour and their capitals, in a page of the other direction too."""
    script = server.script()
    answers = [script.answer("verifying", cancellable=True), script.answer("connect", failure="interrupted")]
    before, now = reversed(answers) if back else answers
    opened(page, server, before, page_dir=direction)
    settled(page)
    hold(page)
    drawn = page.evaluate(FOOTER, ".lines")
    server.pushed["one"] = now | {"revision": 2}
    shown(page, now["state"]["step"])
    assert page.evaluate(FOOTER, ".leaving") == drawn


@pytest.mark.parametrize("name", CHANGES)
def test_with_reduced_motion_a_change_is_complete_and_nothing_moves(open_page: OpenPage, server: ButtonServer, name: str) -> None:
    """MO25."""
    page = open_page(reduced_motion="reduce")
    change, script = CHANGES[name], server.script()
    opened(page, server, script.answer(change.before[0], **change.before[1]))
    page.evaluate("""() => { window.moved = []; const { animate } = Element.prototype
      Element.prototype.animate = function (frames, options) { moved.push(JSON.stringify(frames)); return animate.call(this, frames, options) } }""")
    server.pushed["one"] = script.answer(change.now[0], revision=2, **change.now[1])
    shown(page, change.now[0])
    assert page.evaluate("moved") == []
    assert [each for each in page.evaluate("one.shadowRoot.getAnimations().map(a => a.animationName ?? 'transition')") if each != "breathe"] == []
    drawn = pose(page)
    settled(page)
    # A bar that waits breathes.
    assert {**pose(page), "progress.alpha": 0} == {**drawn, "progress.alpha": 0}
