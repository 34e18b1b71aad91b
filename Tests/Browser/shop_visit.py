"""Examples/GroceryExpress as a process, and what a person does in it and on IFTTT's pages."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, Route, expect

from button_page import overflow
from person import violations
from sample import Sample, opened, serve_script
from sandbox import artefact
from strangers import http

CONNECTION = "aB3dE5fG"
OTHER = "cAl3nDar"
AREAS = "aReAs2go"
AFFIRMATIVE = ("allow", "yes", "save", "sign_in")


class Shop(Sample):
    def mail_link(self, address: str) -> str:
        lines = http().get(f"{self.sandbox}/_sandbox/mails", timeout=10).text.splitlines()
        return [mail["link"] for mail in map(json.loads, lines) if mail["to"] == address][-1]

    def log(self, name: str) -> list[dict]:
        """One of the sandbox's logs."""
        return [json.loads(line) for line in http().get(f"{self.sandbox}/_sandbox/{name}", timeout=10).text.splitlines()]

    def revoke_tokens(self) -> None:
        http().post(f"{self.sandbox}/_sandbox/revoke-user-token", timeout=10).raise_for_status()


@contextmanager
def open_shop(*arguments: str) -> Iterator[Shop]:
    """The shop and its sandbox as a process of their own."""
    with opened("GroceryExpress", *arguments) as facts:
        yield Shop(facts["origin"], facts["sandbox"])


def own_script(page: Page) -> Page:
    """A page whose buttons have the component of a copy of the repository, where Tests/Mutations names one."""
    serve_script(page, "**/connect-button.js", "Sources/ConnectButton/Web/connect-button.js", words=0)
    return page


class Hand:
    """How a person presses what is on a page."""

    def __init__(self, page: Page, way: str) -> None:
        self.page, self.way = page, way

    def press(self, target: Locator) -> None:
        expect(target).to_be_visible()
        if self.way == "touch":
            target.tap()
        elif self.way == "pointer":
            target.click()
        else:
            self.reach(target)
            self.page.keyboard.press("Enter")

    def reach(self, target: Locator) -> None:
        """With Tab alone."""
        for _ in range(60):
            if target.evaluate("""e => { let a = document.activeElement
                                  while (a && a.shadowRoot && a.shadowRoot.activeElement) a = a.shadowRoot.activeElement
                                  return a === e }"""):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no way to {target} by keyboard")

    def write(self, field: Locator, text: str) -> None:
        if self.way == "keyboard":
            self.reach(field)
            self.page.keyboard.press("Control+A")
            self.page.keyboard.type(text)
        else:
            field.fill(text)

    def choose(self, field: Locator) -> None:
        """Any option but the first, which says that nothing is chosen."""
        if self.way == "keyboard":
            self.reach(field)
            self.page.keyboard.press("ArrowDown")
        else:
            field.select_option(index=1)


def step(page: Page) -> str:
    return page.evaluate("document.querySelector('connect-button')?.answer?.state.step ?? ''")


def until(page: Page, *steps: str) -> None:
    page.wait_for_function(
        "steps => steps.includes(document.querySelector('connect-button')?.answer?.state.step)", arg=list(steps))
    at_rest(page)


def at_rest(page: Page) -> None:
    """Until nothing moves that has an end, for the eye of axe."""
    # What follows from another size or scheme begins with the next frame.
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function("""() => { const roots = [...document.querySelectorAll('connect-button')].map(e => e.shadowRoot)
      return roots.every(root => !root.querySelector('.scrubbed, .celebrates, .pressed'))
        && [document, ...roots].every(root => root.getAnimations().every(a => a.playState !== 'running' || a.effect.getTiming().iterations === Infinity)) }""")


def switch(page: Page) -> Locator:
    return page.locator("connect-button .switch")


def open_connection(page: Page, shop: Shop, connection: str = CONNECTION) -> None:
    page.goto(f"{shop.origin}/connections/{connection}")
    until(page, "connect", "connected", "pending", "loading_failed")


def second_tab(page: Page, shop: Shop) -> Page:
    """The shop in another tab of the same browser: the tab that left for IFTTT would end the attempt by coming back (F032)."""
    other = page.context.new_page()
    other.goto(f"{shop.origin}/connections/{CONNECTION}")
    return other


def settings(page: Page, shop: Shop, **values: object) -> None:
    """Chooses on the settings page."""
    page.goto(f"{shop.origin}/settings")
    for name, value in values.items():
        field = page.locator(f"[name={name}]")
        if isinstance(value, bool):
            field.set_checked(value)
        elif field.evaluate("e => e.tagName") == "SELECT":
            field.select_option(str(value))
        else:
            field.fill(str(value))
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()


def into_the_app(route: Route) -> None:
    """As a phone does with a universal link: what it would open at `/access/api/` it opens in IFTTT's app, here the app's simulator."""
    parts = urlsplit(route.request.url)
    connection = parts.path.rsplit("/", 1)[-1]
    route.fulfill(status=303, headers={"Location": f"{parts.scheme}://{parts.netloc}/app/connections/{connection}?{parts.query}&action=activation"})


def leave(page: Page, hand: Hand, shop: Shop, address: str | None = None) -> None:
    """From the switch to IFTTT's first page."""
    hand.press(switch(page))
    if address is not None:
        until(page, "email")
        hand.write(page.locator("connect-button input[type=email]"), address)
        hand.press(page.locator("connect-button .email button"))
    page.wait_for_url(f"{shop.sandbox}/**")


def say_yes(page: Page, hand: Hand, shop: Shop) -> list[str]:
    """Goes through IFTTT's pages to the end; their headings."""
    headings: list[str] = []
    for _ in range(10):
        if page.url.startswith(shop.origin):
            return headings
        headings.append(page.locator("h1").inner_text())
        for field in page.locator("select").all():
            hand.choose(field)
        button = next(b for value in AFFIRMATIVE if (b := page.locator(f"button[name=do][value={value}]")).count())
        before = page.url + headings[-1]
        hand.press(button)
        page.wait_for_function("before => location.href + (document.querySelector('h1')?.innerText ?? '') !== before", arg=before)
        page.wait_for_load_state()
    raise AssertionError(f"no way through IFTTT: {headings}")


def look(page: Page, name: str) -> None:
    """Both schemes, wide and 320 px: axe finds nothing, nothing sticks out, and a picture is kept."""
    size = page.viewport_size or {"width": 1024, "height": 768}
    folder = os.environ.get("HANDSHAKE_OUTPUT_DIR")
    for scheme in ("light", "dark"):
        for width in (size["width"], 320):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": size["height"]})
            at_rest(page)
            path = Path(folder) / f"grocery-{name}-{scheme}-{width}.png" if folder else artefact(f"grocery-{name}-{scheme}-{width}")
            page.screenshot(path=path)
            assert violations(page) == [], f"{name}, {scheme}, {width} px"
            wide = overflow(page)
            assert wide == [], f"{name}, {scheme}, {width} px: {wide}"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(size)
