"""A person at a page, with a keyboard and nothing else; and what they could complain about."""

import json
import re
from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Locator, Page

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
AXE_OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
TAB_STOPS = 40

# The ring around what has the focus, and its contrast with what it is drawn on (WCAG 2.2, 2.4.7 and 1.4.11).
FOCUS = """async () => {
  // Scrolling to what has the focus happens with the next frame.
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  const element = document.activeElement
  if (!element || element === document.body) return null
  const rgb = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number)
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
  let ground = [255, 255, 255]
  for (let e = element.parentElement; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor)
    if (c.length < 4 || c[3] > 0) { ground = c; break }
  }
  const style = getComputedStyle(element)
  const [a, b] = [light(rgb(style.outlineColor)), light(ground)].sort((x, y) => y - x)
  const box = element.getBoundingClientRect()
  return { name: element.computedName || element.getAttribute('aria-label') || (element.labels && element.labels[0]
             && element.labels[0].innerText) || element.innerText || element.value || '',
           tag: element.tagName.toLowerCase(), type: element.type || '', visible: element.matches(':focus-visible'),
           width: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth), contrast: (a + .05) / (b + .05),
           inView: box.top > -1 && box.bottom < innerHeight + 1 && box.left > -1 && box.right < innerWidth + 1 }
}"""


class Person:
    """Moves with Tab, types, presses Enter. Every stop of the focus must be visible."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.stops: list[str] = []

    def focus(self) -> dict[str, Any] | None:
        return self.page.evaluate(FOCUS)

    def see_focus(self) -> dict[str, Any]:
        focus = self.focus()
        assert focus, "nothing on the page has the focus"
        name = focus["name"].strip()
        self.stops.append(name)
        assert focus["visible"] and focus["width"] >= 2, f"the focus on {name!r} cannot be seen: {focus}"
        assert focus["contrast"] >= 3, f"the focus ring of {name!r} has a contrast of {focus['contrast']:.2f} only"
        assert focus["inView"], f"{name!r} has the focus and is out of view: {focus}"
        return focus

    def tab_to(self, name: str, *, back: bool = False) -> None:
        """Presses Tab until the focus is on the control of that name."""
        for _ in range(TAB_STOPS):
            focus = self.focus()
            if focus and focus["name"].strip() == name:
                self.see_focus()
                return
            self.page.keyboard.press("Shift+Tab" if back else "Tab")
            if self.focus():
                self.see_focus()
        raise AssertionError(f"no way to {name!r} by keyboard; the stops were {self.stops}")

    def fill(self, name: str, text: str) -> None:
        self.tab_to(name)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def press(self, name: str) -> None:
        self.tab_to(name)
        with self.page.expect_navigation(wait_until="load"):
            self.page.keyboard.press("Enter")

    def sign_in(self, user: dict[str, Any], password: str | None = None, code: str | None = None) -> None:
        self.fill("E-mail address", user["name"])
        self.fill("Password", password or user["password"])
        if code is not None:
            self.fill("Two-factor code", code)
        with self.page.expect_navigation(wait_until="load"):
            self.page.keyboard.press("Enter")  # from within the field, as people do

    def choices(self) -> tuple[str, str]:
        """The names of the two consent buttons: yes, no."""
        names = [button.inner_text().strip() for button in self.page.locator(".choices button, form button").all()]
        no = next(n for n in names if re.search(r"\bno\b|deny|refuse|cancel|do not", n, re.I))
        yes = next(n for n in names if n != no and re.search(r"yes|allow|authori[sz]e", n, re.I))
        return yes, no

    def walk_all(self) -> list[str]:
        """Every tab stop from where the focus is, in order, until it leaves the page."""
        names = [self.see_focus()["name"].strip()] if self.focus() else []
        for _ in range(TAB_STOPS):
            self.page.keyboard.press("Tab")
            focus = self.focus()
            if not focus:
                return names
            names.append(self.see_focus()["name"].strip())
        raise AssertionError(f"the focus does not leave the page: {names}")


def violations(page: Page) -> list[str]:
    """What axe finds, one line each."""
    # A press that has just been lifted is still seen for a moment, paler than what is at rest.
    page.wait_for_function("() => [...document.querySelectorAll('connect-button')].every(e => !e.shadowRoot?.querySelector('.pressed, .flashes'))")
    # Through the debugger, since the pages' content security policy rightly lets no script in.
    debugger = page.context.new_cdp_session(page)
    if debugger.send("Runtime.evaluate", {"expression": "typeof axe"})["result"]["value"] == "undefined":
        debugger.send("Runtime.evaluate", {"expression": AXE})
    expression = f"axe.run(document, {json.dumps(AXE_OPTIONS)}).then(r => JSON.stringify(r.violations))"
    answer = debugger.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
    debugger.detach()
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return [f"{v['id']}: {v['help']}: {node['html'][:160]}"
            for v in json.loads(answer["result"]["value"]) for node in v["nodes"]]


def overflow(page: Page, cut: str = ":not(*)") -> list[str]:
    """What makes the page wider than the window, or leaves it, shadow trees included; `cut` selects what a box cuts off on purpose."""
    return page.evaluate("""(cut) => {
      const found = document.documentElement.scrollWidth > innerWidth ? [`page: ${document.documentElement.scrollWidth}`] : []
      const look = (root) => { for (const e of root.querySelectorAll('*')) {
        const box = e.getBoundingClientRect()
        if (box.width && !e.closest(cut) && (box.right > innerWidth + 1 || box.left < -1)) {
          found.push(e.outerHTML.slice(0, 120))
        }
        if (e.shadowRoot) look(e.shadowRoot)
      } }
      look(document.body)
      return found
    }""", cut)


def described_by(field: Locator) -> str:
    """The text that a screen reader adds to a field."""
    ids = (field.get_attribute("aria-describedby") or "").split()
    return " ".join(field.page.locator(f"#{identifier}").inner_text() for identifier in ids)
