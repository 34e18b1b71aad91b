"""What a test does on a page with `<connect-button>`s: opens it, waits, looks, drags, touches."""

import os
import time
from collections.abc import Callable
from typing import Any

from button_page import ButtonServer, plain
from playwright.sync_api import Page, expect
from selector_page import ShadowPerson

# Seconds until what has to come must be there. Tests/Mutations has less: what it takes away does not come.
TIMEOUT = float(os.environ.get("HANDSHAKE_BROWSER_TIMEOUT", 30))


# Runs before the page's own scripts: while `held` is true, what is set moving stands still at its beginning and waits to be led. So a busy
# machine has no part in what a test sees.
HOLDING = """(() => { const { animate } = Element.prototype
  Element.prototype.animate = function (...given) { const made = animate.apply(this, given); if (window.held) made.pause(); return made } })()"""


def hold(page: Page) -> None:
    """What is set moving from now on stands still."""
    page.evaluate("window.held = true")


def let_go(page: Page) -> None:
    """Held requests end immediately."""
    page.evaluate("window.held = false; for (const a of one.shadowRoot.getAnimations()) if (a.playState === 'paused') a.finish()")


def frozen(page: Page, server: ButtonServer, answer: dict[str, Any], **attributes: Any) -> None:
    """Opens a page whose clock goes on when the test says so."""
    page.clock.install(time=0)
    page.clock.pause_at(1)
    opened(page, server, answer, **attributes)


# Finishes the animations that a page starts when it opens: a test looks at what comes after them. With reduced motion nothing moves, and a test sees it
# if it does.
ARRIVED = """() => { if (matchMedia('(prefers-reduced-motion: reduce)').matches) return
  for (const e of document.querySelectorAll('connect-button')) for (const a of e.shadowRoot.getAnimations())
    if (a.playState === 'running' && a.effect.getTiming().iterations !== Infinity) a.finish() }"""


def opened(page: Page, server: ButtonServer, answer: dict[str, Any] | None = None, **attributes: Any) -> ShadowPerson:
    if answer is not None:
        server.shows(answer)
    page.goto(server.url(**attributes))
    until(page, "Boolean(window.button && document.querySelector('connect-button').answer)")
    if answer is not None:
        shown(page, answer["state"]["step"])
        page.evaluate(ARRIVED)
    return ShadowPerson(page)


def shown(page: Page, step: str, name: str = "one") -> None:
    expect(page.locator(f"#{name} .pill[data-step={step}]")).to_have_count(1)


def preview(page: Page, answer: dict[str, Any]) -> None:
    """Draws an answer without a server."""
    page.evaluate("answer => { one.removeAttribute('connection'); one.answer = answer }", answer)
    shown(page, answer["state"]["step"])
    settled(page)


def switch(page: Page, name: str = "one"):
    return page.locator(f"#{name}").get_by_role("switch")


def footer(page: Page, name: str = "one") -> str:
    return plain(page.locator(f"#{name} .footer .lines").inner_text())


def until(page: Page, expression: str) -> None:
    """Waits for an expression; the page's policy forbids the evaluation that `wait_for_function` does inside it."""
    deadline = time.monotonic() + TIMEOUT
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"never: {expression}"
        page.wait_for_timeout(20)


def pointed(page: Page) -> None:
    """From now on the page tells what comes of a press."""
    page.evaluate("""window.pointed = []; for (const name of ['pointerdown', 'pointerup', 'pointercancel', 'click'])
      addEventListener(name, () => pointed.push(name), { capture: true })""")


def clicked(page: Page) -> None:
    """Waits for the click itself. Without one, it tells what came instead: so a click that the browser loses is none that the button loses."""
    deadline = time.monotonic() + TIMEOUT
    while (came := page.evaluate("pointed"))[-1:] != ["click"]:
        assert time.monotonic() < deadline, f"no click, but {came}"
        page.wait_for_timeout(20)


def frame(page: Page) -> None:
    """Until the page has been drawn with what has changed, also where its clock stands still: an observer is no timer."""
    for _ in range(2):
        page.evaluate("""() => new Promise(done => {
          new IntersectionObserver((_, observer) => { observer.disconnect(); done() }).observe(document.documentElement) })""")


def caught_up(page: Page) -> None:
    """Until the page has read what the server answered before, and has asked for what follows from it: a question that begins
    now has its answer after that. The page's clock may stand still."""
    for _ in range(2):
        page.evaluate("() => fetch('/page.css', { cache: 'no-store' }).then(answer => answer.text()).catch(() => 0)")


def push(page: Page, server: ButtonServer, answer: Any, name: str = "one") -> None:
    """Sends an answer down the open stream."""
    server.pushed[name] = answer
    heard_by(server, page, lambda: server.delivered.get(name) is answer)


def runs_until(page: Page, expression: str, milliseconds: int = 60_000) -> None:
    """Runs the page's clock, which stands still between, until an expression holds."""
    for _ in range(milliseconds // 500):
        caught_up(page)
        if page.evaluate(expression):
            return
        page.clock.run_for(500)
    raise AssertionError(f"not within {milliseconds} ms: {expression}")


def settled(page: Page) -> None:
    """Until nothing moves that has an end, and no drag is being settled."""
    until(page, """() => [...document.querySelectorAll('connect-button')].every(e => !e.shadowRoot.querySelector('.scrubbed, .celebrates')
      && e.shadowRoot.getAnimations().every(a => a.effect.getTiming().iterations === Infinity || a.playState !== 'running'))""")


def knob_place(page: Page) -> float:
    """0 at the left end, 1 at the right end."""
    return page.evaluate("""() => { const root = document.querySelector('connect-button').shadowRoot
      const [pill, knob] = ['.pill', '.knob'].map(s => root.querySelector(s).getBoundingClientRect())
      const inset = 4 * knob.width / 62; return (knob.left - pill.left - inset) / (pill.width - knob.width - 2 * inset) }""")


def heard_by(server: ButtonServer, page: Page, condition: Callable[[], bool]) -> None:
    """Waits until the server has seen something."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, (server.asked, server.messages, server.listening)
        page.wait_for_timeout(20)


def hide(page: Page, hidden: bool = True) -> None:
    """As a tab that is put behind another one, or brought before it."""
    page.evaluate("""hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange')) }""", hidden)


def events(server: ButtonServer) -> list[str]:
    return [message["event"] for message in server.messages]


def knob_comes_to(page: Page, place: float) -> None:
    """The knob is drawn with the next frame, whenever that is."""
    deadline = time.monotonic() + TIMEOUT
    while abs(knob_place(page) - place) > 0.02:
        assert time.monotonic() < deadline, f"the knob is at {knob_place(page)}, not at {place}"
        page.wait_for_timeout(20)


def drag(page: Page, start: float, path: list[float], *, lift: bool = True, button: str = "#one") -> None:
    box = page.locator(f"{button} .pill").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    for part in path:
        frame(page)
        page.mouse.move(box["x"] + part * box["width"], y)
    if lift:
        page.mouse.up()


def released(page: Page, start: float, path: list[float], hold: int) -> None:
    """Drags to a new place every 30 ms, and lets go after `hold` ms. The browser is told these times with each event, so that
    a busy machine makes no slower finger."""
    box = page.locator("#one .pill").bounding_box()
    debugger = page.context.new_cdp_session(page)
    began = time.time()

    def dispatch(kind: str, part: float, milliseconds: int, buttons: int = 1) -> None:
        debugger.send("Input.dispatchMouseEvent", {
            "type": kind, "x": box["x"] + part * box["width"], "y": box["y"] + box["height"] / 2, "button": "left", "buttons": buttons,
            "clickCount": 1, "timestamp": began + milliseconds / 1000})

    dispatch("mousePressed", start, 0)
    for number, part in enumerate(path, 1):
        dispatch("mouseMoved", part, 30 * number)
    dispatch("mouseReleased", path[-1], 30 * len(path) + hold, buttons=0)
    debugger.detach()


class Finger:
    def __init__(self, page: Page) -> None:
        self.debugger = page.context.new_cdp_session(page)

    def touch(self, kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        self.debugger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
