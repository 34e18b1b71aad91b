"""The pages of Examples/GroceryExpress/Web, which a developer copies: the button in plain HTML, and in React."""

import os
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from sample import serve_script
from shop_visit import AREAS, Hand, Shop, at_rest, say_yes, switch, until
from strangers import REPOSITORY

REACT = Path(os.environ.get("HANDSHAKE_REACT", REPOSITORY / ".build/test-react"))


def react_files() -> dict[str, bytes]:
    """React as npm publishes it; the package dash carries it (`.ci/run` fetches that)."""
    wheels = sorted(REACT.glob("dash-*.whl"))
    if not wheels:
        pytest.skip(f"React is not in {REACT}: pip download --no-deps dash==2.18.2")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        return {name: wheel.read(f"dash/deps/{name}@18.3.1.min.js") for name in ("react", "react-dom")}


def with_react(page: Page) -> None:
    files = react_files()

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix("https://unpkg.com/").split("@")[0]
        # As unpkg does: without the header, the browser refuses a script with an integrity.
        headers = {"Access-Control-Allow-Origin": "*"}
        route.fulfill(body=files[name], content_type="text/javascript", headers=headers)

    page.context.route("https://unpkg.com/**", answer)
    page.context.answered_here = ("https://unpkg.com/",)  # type: ignore[attr-defined]


def connect_and_disconnect(page: Page, shop: Shop, address: str) -> None:
    """From off to on and off again; the page says that the connection is off."""
    hand = Hand(page, "pointer")
    page.goto(shop.origin + address)
    until(page, "connect")
    hand.press(switch(page))
    until(page, "email")
    page.locator("connect-button input[type=email]").fill("page@example.test")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{shop.sandbox}/**")
    say_yes(page, hand, shop)
    page.goto(shop.origin + address)  # the shop's redirect leads to its own page
    until(page, "connected")
    hand.press(switch(page))
    page.locator("connect-button .choices [data-action=disconnect]").click()
    expect(page.locator("main, body").last.get_by_text(f"{AREAS} is off.")).to_be_visible()
    at_rest(page)


def test_the_plain_page_hears_what_happens(shop: Shop, page: Page) -> None:
    connect_and_disconnect(page, shop, "/plain.html")
    # One script tag and one attribute are what a page needs.
    assert page.locator("connect-button").evaluate("button => button.getAttributeNames()") == ["connection"]
    expect(page.locator("script[src]")).to_have_count(1)


def test_the_react_page_hears_what_happens_and_sets_attributes(shop: Shop, page: Page) -> None:
    with_react(page)
    serve_script(page, "**/react.html", "Examples/GroceryExpress/Web/react.html", words=0, kind="text/html")
    connect_and_disconnect(page, shop, "/react.html")
    expect(page.get_by_text("This page loads React from unpkg.com.")).to_be_visible()
    # What another host serves runs in the page: only these exact bytes may.
    expect(page.locator("script[src^=https]")).to_have_count(2)
    expect(page.locator("script[src^=https]:not([integrity][crossorigin])")).to_have_count(0)
    page.get_by_role("button", name="Deutsch / English").click()
    expect(switch(page)).to_contain_text("verbinden")
