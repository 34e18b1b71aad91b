"""What may happen in the middle of a change of `<connect-button>`: another change, another size (`connect-button-motion.md`, MO27 and MO28)."""

import pytest
from playwright.sync_api import Page

from button_page import ButtonServer
from button_visit import caught_up, drag, let_go, settled, shown, until
from motion import CHANGES, begin, pose, seek

WAITS = {"progress": "indeterminate"}
# What is seen of a part that has its own place: its opacity.
SEEN_BY = {"knob": "switchLayer.alpha", "knobIcon": "switchLayer.alpha", "confirm": "confirm.alpha", "checkRing": "checkMark.alpha", "checkTick": "checkMark.alpha"}


def compared(before: dict[str, float], after: dict[str, float], *apart: str) -> None:
    """Nothing that is seen has jumped. The texts are others (MO4)."""
    for key, worth in before.items():
        element = key.split(".")[0]
        if key.startswith("label") or key in apart:
            continue
        seen = SEEN_BY.get(element)
        if seen and seen != key and (before[seen] == 0 or after[seen] == 0):
            continue
        if key == "progress.fraction" and (before["progress.alpha"] == 0 or after["progress.alpha"] == 0):
            continue
        assert after[key] == pytest.approx(worth, abs=0.02), key


@pytest.mark.parametrize("moment", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("name", "following"), [
    ("E", ("connect", {"failure": "cancelled"})), ("E", ("verifying", WAITS)), ("G", ("connect", {"failure": "cancelled"})), ("G", ("email", {})),
    ("G", ("going_to_service", WAITS)), ("G", ("connected", {})), ("I", ("email", {"failure": "invalid_email"})), ("I", ("connect", {"failure": "cancelled"})),
    ("L", ("connect", {"failure": "cancelled"})), ("L", ("connecting", WAITS)), ("L", ("connected", {})), ("OP", ("disconnected", {"progress": 1})),
    ("OP", ("confirm_disconnect", {})), ("OP", ("connect", {})), ("Q", ("connected", {})), ("Q", ("disconnected", {"progress": 1})), ("T", ("verifying", WAITS)),
    ("T", ("email", {})), ("C", ("connected", {})), ("C", ("verifying", WAITS))])
def test_a_change_in_the_middle_of_another_one_starts_from_what_is_seen(page: Page, server: ButtonServer, name: str, following: tuple[str, dict],
                                                                        moment: float) -> None:
    """MO28: Cancel, Back, an answer or another device."""
    begin(page, server, name)
    seek(page, moment * CHANGES[name].duration)
    before = pose(page)
    step, options = following
    server.pushed["one"] = server.script().answer(step, revision=3, **options)
    shown(page, step)
    # A knob that arrives or goes to be turned off, and the check mark, have no pose to continue from.
    compared(before, pose(page), *(["switchLayer.alpha", "checkMark.alpha", "checkRing.scale", "checkTick.strokeEnd", "checkMark.translateX"] if step in ("connected", "connect") else []))
    let_go(page)
    settled(page)
    rest = pose(page)
    assert rest["labelOld.alpha"] == 0 and rest["labelNew.alpha"] == 1


@pytest.mark.parametrize("following", [("connected", {}), ("connect", {"failure": "cancelled"}), ("email", {})])
def test_what_is_decided_elsewhere_meets_a_dragged_knob_where_it_is(page: Page, server: ButtonServer, following: tuple[str, dict]) -> None:
    """MO28: under the finger."""
    script = server.script()
    server.shows(script.answer("connect", following="verifying"))
    page.goto(server.url())
    until(page, "Boolean(window.button && one.answer)")
    settled(page)
    drag(page, 0.1, [0.3, 0.5], lift=False)
    until(page, "one.shadowRoot.querySelector('.scrubbed') !== null")
    page.evaluate("window.held = true")
    step, options = following
    if step == "connect":  # the same step is none
        step, options = "pending", {}
    before = pose(page)
    server.pushed["one"] = script.answer(step, revision=2, **options)
    shown(page, step)
    compared(before, pose(page))
    page.evaluate("window.held = false")
    let_go(page)
    settled(page)
    page.mouse.up()
    caught_up(page)
    assert server.messages == [], "a drag that was ended says nothing"


RESIZES = {
    "width": "one.style.inlineSize = '260px'",
    "text size": "document.documentElement.style.fontSize = '24px'",
    "scheme": "one.setAttribute('theme', 'dark')",
}


@pytest.mark.parametrize("what", RESIZES)
@pytest.mark.parametrize(("name", "moment"), [("E", 0.4), ("OP", 0.2), ("OP", 0.9)])
def test_another_size_is_right_in_the_next_frame_and_nothing_restarts(page: Page, server: ButtonServer, name: str, moment: float, what: str) -> None:
    """MO27."""
    begin(page, server, name)
    seek(page, moment * CHANGES[name].duration)
    before, times = pose(page), page.evaluate("one.shadowRoot.getAnimations().map(a => [a.id, a.currentTime, a.playState])")
    page.evaluate(RESIZES[what])
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert pose(page) == pytest.approx(before, abs=0.01)
    assert page.evaluate("one.shadowRoot.getAnimations().map(a => [a.id, a.currentTime, a.playState])") == times
    let_go(page)
    settled(page)


@pytest.mark.parametrize("what", RESIZES)
def test_another_size_under_the_finger_leaves_the_knob_where_it_is_on_its_way(page: Page, server: ButtonServer, what: str) -> None:
    """MO27, in F."""
    server.shows(server.script().answer("connect"))
    page.goto(server.url())
    until(page, "Boolean(window.button && one.answer)")
    settled(page)
    drag(page, 0.1, [0.3, 0.5], lift=False)
    until(page, "one.shadowRoot.querySelector('.scrubbed') !== null")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    before = pose(page)
    page.evaluate(RESIZES[what])
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert pose(page) == pytest.approx(before, abs=0.01)
    page.mouse.up()
