"""What a page may rely on: the attributes and events of `<connect-button>`, each as it is documented (F112)."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from button_page import ROOT, SCRIPT, ButtonServer, heard, without_page
from button_visit import caught_up, clicked, drag, footer, opened, pointed, settled, shown, switch, until

GUIDE = (ROOT / "Sources/ConnectButton/ConnectButton.docc/ConnectButton.md").read_text()
HEADER = SCRIPT.read_text().split("*/")[0]


def test_every_attribute_is_documented_and_every_documented_one_is_read(page: Page) -> None:
    source = SCRIPT.read_text().split("*/", 1)[1]
    own = set(re.findall(r'this\.(?:get|has)Attribute\("([a-z]+)"\)', source)) | set(re.findall(r":host\(\[([a-z]+)=", source))
    table = GUIDE.split("| attribute | meaning |")[1].split("\n\n")[0]
    assert own == set(re.findall(r"(?m)^\| `([a-z]+)` \|", table))
    assert own == set(re.findall(r"(?m)^ \*   ([a-z]+) {2,}", HEADER.split("Attributes\n")[1].split("\n *\n")[0]))


# What happens, and the event that tells it.
TOLD = {
    "change": [{"step": "connect"}],
    "connected": [{"step": "connect"}, {"step": "connected"}],
    "disconnected": [{"step": "connected"}, {"step": "disconnected"}],
    "failed": [{"step": "connect", "failure": "interrupted"}],
}


@pytest.mark.parametrize("name", TOLD)
def test_every_event_is_documented_with_all_that_it_tells(page: Page, server: ButtonServer, name: str) -> None:
    walk(page, server, *TOLD[name])
    text = ", ".join(heard(page, name)[-1][1])
    assert f"| `{name}` | `{{ {text} }}` |" in GUIDE and re.search(rf"`{name}` \([^)]*`\{{ {text} \}}`", HEADER), text
    assert set(re.findall(r'tell\("(\w+)"', SCRIPT.read_text())) == set(TOLD) and "`setup`" in GUIDE and "`setup`" in HEADER


def test_results_bubble_and_a_change_does_not(page: Page, server: ButtonServer) -> None:
    """A form's own `change` has the name of ours."""
    page.add_init_script("window.bubbled = []; for (const name of ['change', 'setup', 'connected', 'disconnected', 'failed']) "
                         "addEventListener(name, event => { if (event.target.localName === 'connect-button') bubbled.push(name) })")
    walk(page, server, {"step": "connect"}, {"step": "pending"}, {"step": "disconnected"}, {"step": "connect", "failure": "interrupted"}, {"step": "pending"})
    page.evaluate("addEventListener('setup', event => event.preventDefault())")
    page.locator("#one .switch").click()
    until(page, "bubbled.includes('setup')")
    assert page.evaluate("bubbled") == ["connected", "disconnected", "failed", "connected", "setup"]


# The four results that the SDK's wrappers call back with: activated, not activated, deactivated, not deactivated.

def results(page: Page) -> list[str]:
    names = {"connected": "activated", "disconnected": "deactivated"}
    return [names.get(name) or f"{detail['during']} failed" for name, _, detail in page.evaluate("heard") if name != "change"]


def walk(page: Page, server: ButtonServer, *steps: dict[str, Any]) -> list[str]:
    first, *rest = steps
    opened(page, server, server.script().answer(**first))
    for revision, options in enumerate(rest, 2):
        server.pushed["one"] = server.script().answer(revision=revision, **options)
        until(page, f"one.answer.revision === {revision}")
    return results(page)


@pytest.mark.parametrize(("steps", "expected"), [
    ("connect verifying going_to_service connecting connected", ["activated"]),
    ("connect verifying pending connected", ["activated"]),
    ("connected", []),
    ("pending connected", []),
    ("connected confirm_disconnect connected", []),
    ("connected disconnecting connected", []),
    ("connected confirm_disconnect disconnecting disconnected connect", ["deactivated"]),
    ("connect verifying connect!account_not_created", ["activation failed"]),
    ("connect going_to_service connecting connect!interrupted connect", ["activation failed"]),
    ("connect going_to_service connect!cancelled", ["activation failed"]),
    ("email email!invalid_email", ["activation failed"]),
    ("connected confirm_disconnect disconnecting connected!not_disconnected", ["deactivation failed"]),
    ("connected confirm_disconnect disconnecting connect!sign_in_expired", ["deactivation failed"]),
    ("pending disconnecting pending!sign_in_expired", ["deactivation failed"]),
    ("loading loading_failed!unknown_connection", ["loading failed"]),
])
def test_the_four_results_can_be_told_apart(page: Page, server: ButtonServer, steps: str, expected: list[str]) -> None:
    assert walk(page, server, *({"step": step.split("!")[0], "failure": (step.split("!") + [None])[1]} for step in steps.split())) == expected


@pytest.mark.parametrize(("step", "during"), [("connect", "activation"), ("email", "activation"), ("connected", "deactivation"), ("confirm_disconnect", "deactivation")])
def test_a_wish_that_does_not_reach_the_server_is_told_apart_too(page: Page, server: ButtonServer, step: str, during: str) -> None:
    opened(page, server, server.script().answer(step, email="ada@example.com"))
    caught_up(page)
    settled(page)
    server.answers((503, {}, 0))
    pointed(page)
    # With a delay, the mouse goes there, is pressed and is let go one after the other; without, all three are sent together.
    page.locator("#one .switch:not([inert]), #one .email:not([inert]) button, #one .choices:not([inert]) button").locator("visible=true").first.click(delay=1)
    clicked(page)
    expect(page.locator("#one .footer[data-tone=error]")).to_have_count(1)
    assert heard(page, "failed") == [["one", {"connection": "one", "kind": "unavailable", "detail": "HTTP 503", "during": during}]]


def test_a_load_that_fails_is_neither(page: Page, server: ButtonServer) -> None:
    server.states["one"] = (404, {}, 0)
    page.goto(server.url())
    shown(page, "loading_failed")
    assert heard(page, "failed")[0][1]["during"] == "loading"


# The attributes that the other suites do not turn

def test_base_says_where_the_routes_are(page: Page, server: ButtonServer) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.removeprefix(server.origin)))
    page.goto(server.url(base="/own/routes/"))
    until(page, "Boolean(window.button)")
    shown(page, "loading_failed")
    assert "/own/routes/one" in [without_page(path) for path in asked]


@pytest.mark.parametrize("base", ["https://evil.example/connect", "//evil.example", "http://127.0.0.1:9/connect", "data:,x"])
def test_a_server_of_another_origin_is_told_nothing(page: Page, server: ButtonServer, base: str) -> None:
    """It would be sent the address and the token. The page's policy forbids it as well, and says so when it is tried."""
    opened(page, server, base=base)
    shown(page, "loading_failed")
    assert "can’t use this connection" in footer(page)
    page.evaluate("answer => { one.answer = answer }", server.script().answer("email", revision=2, email="ada@example.com", isCounted=True))
    shown(page, "email")
    page.get_by_role("textbox").fill("grace@example.com")
    page.keyboard.press("Enter")
    expect(page.locator("#one .footer")).to_contain_text("can’t use this connection")
    caught_up(page)
    assert heard(page, "violation") == [] and server.messages == [] and server.counts == []


def test_another_connection_is_another_button(page: Page, server: ButtonServer) -> None:
    script = server.script()
    server.shows(server.script(short="Kalender").answer("connected"), "two")
    opened(page, server, script.answer("email", email="ada@example.com"))
    page.get_by_role("textbox").fill("grace@example.com")
    page.evaluate("one.setAttribute('connection', 'two')")
    shown(page, "connected")
    server.shows(script.answer("email", email="ada@example.com"))
    page.evaluate("one.setAttribute('connection', 'one')")
    shown(page, "email")
    expect(page.get_by_role("textbox")).to_have_value("ada@example.com")


def test_a_drag_tells_the_page_as_a_tap_does(page: Page, server: ButtonServer) -> None:
    opened(page, server, server.script().answer("connect"))
    server.answers(server.script().answer("verifying", revision=2))
    drag(page, 0.1, [0.4, 0.7, 0.9])
    shown(page, "verifying")
    assert heard(page, "change")[-1] == ["one", {"step": "verifying", "isOn": False}]
    expect(switch(page)).not_to_be_checked()
