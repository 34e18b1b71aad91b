"""Examples/GroceryExpress: a simulated phone walks through a connection's areas, and IFTTT tells the shop what it crossed."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Locator, Page, expect

from conftest import OpenPage
from shop_visit import AREAS, CONNECTION, OTHER, Hand, Shop, leave, look, open_connection, say_yes, settings, until
from strangers import http

HOME = "Sample Square 1, Berlin"
NOTIFIED = re.compile(r"Uploaded\. IFTTT notified the shop (less than 0\.1|\d+\.\d) s later\.")
UPLOAD = "ifttt POST /v1/location_events"


def configured(page: Page, shop: Shop, connection: str = CONNECTION, way: str = "pointer") -> Hand:
    """A new user who has turned a connection on and has saved its areas as they were suggested."""
    hand = Hand(page, way)
    open_connection(page, shop, connection)
    leave(page, hand, shop, "new@example.test")
    say_yes(page, hand, shop)
    until(page, "pending")
    hand.press(page.get_by_role("link", name="Choose where and what"))
    page.wait_for_url("**/configure")
    for zone in page.get_by_label("Zone").all():
        zone.select_option("Roof")
    hand.press(page.get_by_role("button", name="Save"))
    page.wait_for_url(f"**/connections/{connection}")
    until(page, "connected")
    return hand


def ada(page: Page, shop: Shop) -> None:
    """A customer who has been connected for long, with an area that she leaves."""
    settings(page, shop, customer="garden-1001", token=True)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")


def walk(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Take a walk").click()


def crossings(page: Page) -> Locator:
    return page.locator(".crossings li")


def reload_while(page: Page, part: Locator, words: str) -> None:
    """Until the words are gone; each page waits for IFTTT for a moment by itself."""
    for _ in range(20):
        page.reload()
        if words not in part.inner_text():
            return
    raise AssertionError(f"after 20 reloads the page still says: {part.inner_text()}")


def uploaded(shop: Shop) -> list[dict]:
    return shop.log("location-events")


def notified(shop: Shop) -> int:
    """How many of IFTTT's webhooks about crossings the shop has answered."""
    return sum(bool(hook["attempts"]) for hook in shop.log("webhooks") if hook["event"] == "trigger_subscription/fired")


def until_notified(shop: Shop, page: Page, before: int) -> None:
    """Until the shop has answered one more of IFTTT's webhooks about a crossing."""
    for _ in range(1500):
        if notified(shop) > before:
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"after 30 s IFTTT has not notified the shop: {shop.log('webhooks')}")


def time_of(record: dict) -> datetime:
    return datetime.strptime(record["occurred_at"], "%Y-%m-%dT%H:%M:%S%z")


@contextmanager
def held_webhooks(shop: Shop) -> Iterator[list[threading.Event]]:
    """IFTTT's webhooks wait here until the event is set, and then go on to the shop; the second event says that one waits."""
    release, waits = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            names = ("Content-Type", "IFTTT-Service-Key", "X-Request-ID")
            # IFTTT does not wait for as long as this does.
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            self.wfile.flush()
            waits.set()
            release.wait(60)
            http().post(shop.origin + self.path, data=content, headers={n: self.headers[n] for n in names}, timeout=20).raise_for_status()
            waits.clear()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    http().post(f"{shop.sandbox}/_sandbox/webhook-prefix", data=f"http://127.0.0.1:{server.server_port}", timeout=10).raise_for_status()
    try:
        yield [release, waits]
    finally:
        release.set()
        server.shutdown()
        server.server_close()


# The whole way

@pytest.mark.parametrize("way", ["pointer", "keyboard"])
def test_a_customer_chooses_an_area_takes_a_walk_and_the_event_arrives(shop: Shop, page: Page, way: str) -> None:
    hand = configured(page, shop, way=way)
    hand.press(page.get_by_role("link", name="Take a walk"))
    page.wait_for_url(f"**/connections/{CONNECTION}/walk")
    expect(page.locator(".areas li")).to_have_text(re.compile(f"{HOME}.*Start when you leave. Radius 250 m. Leaving counts."))
    expect(page.get_by_role("img", name=f"Map: {HOME}, radius 250 m.")).to_be_visible()
    expect(page.locator(".map path.exit, .crossings")).to_have_count(0)
    look(page, "walk-before") if way == "pointer" else None
    with page.expect_navigation() as answer:
        hand.press(page.get_by_role("button", name="Take a walk"))
    assert answer.value.request.method == "GET" and page.url == f"{shop.origin}/connections/{CONNECTION}/walk"
    entered, left = crossings(page).all()
    expect(entered).to_contain_text(re.compile(rf"\d\d:\d\d:\d\d UTC\s+Entered {HOME}Not uploaded: only leaving counts\.$"))
    expect(left).to_contain_text(f"Left {HOME}")
    expect(left).to_contain_text(NOTIFIED)
    expect(page.get_by_role("status")).to_contain_text("The last walk ended at ")
    expect(page.locator(".map path.enter")).to_have_count(1)
    expect(page.locator(".map path.exit")).to_have_count(1)
    expect(page.get_by_role("img", name=re.compile(r"^Map: .*; the walk from west to east: entered at .* UTC, left at .* UTC\.$"))).to_be_visible()
    look(page, "walk-after") if way == "pointer" else None
    [record] = uploaded(shop)
    assert record["outcome"] == "fired" and record["event_type"] == "exit"
    [fired] = [hook for hook in shop.log("webhooks") if hook["event"] == "trigger_subscription/fired"]
    assert fired["attempts"] == [{"status": 200}]


def test_entering_and_leaving_are_uploaded_at_a_walkers_pace_just_before_the_present(shop: Shop, page: Page) -> None:
    configured(page, shop, AREAS)
    page.goto(f"{shop.origin}/connections/{AREAS}/walk")
    expect(page.locator(".areas li")).to_have_count(2)
    walk(page)
    expect(crossings(page)).to_have_count(4)
    texts = crossings(page).all_inner_texts()
    assert sorted((re.search("Entered|Left", text)[0], re.search(r"\((\w+)", text)[1], "Uploaded" in text) for text in texts) == [  # type: ignore[index]
        ("Entered", "Lock", False), ("Entered", "Unlock", True), ("Left", "Lock", True), ("Left", "Unlock", False)]
    assert sum(bool(NOTIFIED.search(text)) for text in texts) == 2
    # Both areas are at one place: one map, one name.
    expect(page.locator(".map svg")).to_have_count(1)
    expect(page.locator(".map .label")).to_have_count(1)
    entry, leaving = sorted(time_of(record) for record in uploaded(shop))
    inside = (leaving - entry).total_seconds()
    assert 500 / 1.4 <= inside <= 600 / 1.4 + 60, f"{inside} s for 500 m and a rest"
    assert 0 < (datetime.now(UTC) - leaving).total_seconds() < 300


def test_areas_far_apart_are_walked_through_one_after_another_each_on_its_map(shop: Shop, page: Page) -> None:
    configured(page, shop, AREAS)
    page.goto(f"{shop.origin}/connections/{AREAS}/configure")
    part = page.get_by_role("group", name="You enter an area")
    for label, value in (("Latitude in degrees", "-17.8"), ("Longitude in degrees", "179.999"), ("Radius in metres", "3.5"), ("Address", "")):
        part.get_by_label(label).fill(value)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"**/connections/{AREAS}")
    page.goto(f"{shop.origin}/connections/{AREAS}/walk")
    walk(page)
    expect(page.locator(".map svg")).to_have_count(2)
    expect(page.locator(".areas")).to_contain_text("-17.8, 179.999")
    texts = " ".join(crossings(page).all_inner_texts())
    for words in ("Entered -17.8, 179.999", "Left -17.8, 179.999", f"Entered {HOME}", f"Left {HOME}"):
        assert texts.count(words) == 1, words
    look(page, "walk-far")
    # 16,000 km apart: farther than one flies in half a day.
    first, last = sorted(time_of(record) for record in uploaded(shop))
    assert (last - first).total_seconds() > 43_200


def test_no_walk_begins_or_ends_in_an_area_that_overlaps_another(shop: Shop, page: Page) -> None:
    configured(page, shop, AREAS)
    page.goto(f"{shop.origin}/connections/{AREAS}/configure")
    part = page.get_by_role("group", name="You enter an area")
    for label, value in (("Latitude in degrees", "52.5219"), ("Longitude in degrees", "13.4132"), ("Radius in metres", "400"), ("Address", "Alexanderplatz, Berlin")):
        part.get_by_label(label).fill(value)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"**/connections/{AREAS}")
    page.goto(f"{shop.origin}/connections/{AREAS}/walk")
    for _ in range(2):
        walk(page)
        expect(page.locator(".map svg")).to_have_count(2)
        texts = page.locator(".crossings strong").all_inner_texts()
        for name in ("Alexanderplatz, Berlin", HOME):
            seen = [text.split()[0] for text in texts if text.endswith(name)]
            assert seen and seen == ["Entered", "Left"] * (len(seen) // 2), texts
    look(page, "walk-overlap")


@pytest.mark.parametrize("latitude, radius, size", [("52.52", "100000", "100 km"), ("90", "250", "250 m"), ("-33.3", "0.05", "0.1 m")])
def test_the_largest_the_smallest_and_the_northernmost_area_are_entered_and_left(shop: Shop, page: Page, latitude: str, radius: str, size: str) -> None:
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/configure")
    page.get_by_label("Latitude in degrees").fill(latitude)
    page.get_by_label("Radius in metres").fill(radius)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"**/connections/{CONNECTION}")
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    expect(page.locator(".areas li")).to_contain_text(f"Radius {size}.")
    walk(page)
    expect(crossings(page)).to_have_count(2)
    expect(crossings(page).last).to_contain_text(NOTIFIED)


def test_areas_that_are_switched_off_on_the_phone_are_not_noticed_until_they_are_on_again(shop: Shop, page: Page) -> None:
    """F095, F108. The switch stays as it is until the next walk."""
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    monitored = page.get_by_role("checkbox", name="Monitor these areas on the phone")
    expect(monitored).to_be_checked()
    monitored.uncheck()
    walk(page)
    expect(page.get_by_role("status")).to_have_text("The phone does not monitor the areas, so it noticed nothing.")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(crossings(page)).to_have_count(0)
    expect(monitored).not_to_be_checked()
    assert uploaded(shop) == []
    look(page, "walk-off")
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    expect(monitored).not_to_be_checked()
    monitored.check()
    walk(page)
    expect(crossings(page)).to_have_count(2)
    expect(crossings(page).last).to_contain_text(NOTIFIED)


# The link

def test_the_link_is_there_as_long_as_the_connection_is_on_and_has_areas(shop: Shop, page: Page) -> None:
    link = page.get_by_role("link", name="Take a walk")
    open_connection(page, shop)
    expect(link).to_have_count(0)
    leave(page, Hand(page, "pointer"), shop, "new@example.test")
    say_yes(page, Hand(page, "pointer"), shop)
    until(page, "pending")
    expect(link).to_have_count(0)
    page.locator("connect-button .footer [data-action=disconnect]").click()
    until(page, "confirm_disconnect")
    expect(page.get_by_role("link", name="Choose where and what")).to_be_visible()
    expect(link).to_have_count(0)
    page.locator("connect-button .choices [data-action=keep]").click()
    until(page, "pending")
    other = page.context.new_page()
    open_connection(other, shop)
    page.get_by_role("link", name="Choose where and what").click()
    page.get_by_label("Zone").select_option("Roof")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"**/connections/{CONNECTION}")
    expect(link).to_be_visible()
    other.bring_to_front()
    until(other, "connected")
    expect(other.get_by_role("link", name="Take a walk")).to_be_visible()
    other.locator("connect-button .switch").click()
    until(other, "confirm_disconnect")
    shop.misbehave(f"ifttt POST /v2/connections/{CONNECTION}/disable => delay 3")
    other.locator("connect-button .choices [data-action=disconnect]").click()
    until(other, "disconnecting")
    expect(other.get_by_role("link", name="Take a walk")).to_be_visible()
    expect(other.get_by_role("link", name="Choose where and what")).to_be_visible()
    until(other, "connect")
    expect(other.get_by_role("link", name="Take a walk")).to_have_count(0)


# IFTTT fails

@pytest.mark.parametrize("fault, words", [
    ("status 401", "IFTTT refused the shop's access (status 401), so it waits. The next walk uploads it."),
    ("status 500", "IFTTT answered with an error (status 500), so it waits. The next walk uploads it."),
    ("drop", "IFTTT did not answer, so it waits. The next walk uploads it.")])
def test_what_ifttt_does_not_take_waits_and_the_next_walk_uploads_it(shop: Shop, page: Page, fault: str, words: str) -> None:
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    before = notified(shop)
    shop.misbehave(f"{UPLOAD} => {fault}")
    walk(page)
    left = crossings(page).last
    expect(left).to_contain_text(words)
    expect(page.get_by_role("alert")).to_have_count(1 if "401" in fault else 0)
    if fault == "drop":
        # It arrived all the same. IFTTT notifies the shop at its own pace, and a page made before that cannot tell of it.
        until_notified(shop, page, before)
        page.reload()
    expect(left).to_contain_text(re.compile("IFTTT notified the shop .* s later") if fault == "drop" else re.compile("uploads it.$"))
    look(page, "walk-refused") if "401" in fault else None
    shop.misbehave()
    walk(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(crossings(page)).to_have_count(3)
    texts = crossings(page).all_inner_texts()
    assert [text.split("UTC")[1].split()[0] for text in texts] == ["Left", "Entered", "Left"]
    assert all(NOTIFIED.search(text) for text in (texts[0], texts[2])), texts
    assert [record["outcome"] for record in uploaded(shop)] == (["fired", "duplicate", "fired"] if fault == "drop" else ["fired", "fired"])
    walk(page)
    expect(crossings(page)).to_have_count(2)


def test_without_an_answer_about_the_areas_there_is_no_walk_and_the_page_says_so(shop: Shop, page: Page) -> None:
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    shop.misbehave(f"ifttt GET /v2/connections/{CONNECTION} => status 500")
    walk(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("That did not work")
    shop.misbehave()
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    expect(page.get_by_role("alert")).to_contain_text("IFTTT has not said where the areas are")
    look(page, "walk-silent")
    walk(page)
    expect(crossings(page).last).to_contain_text(NOTIFIED)
    # What the phone knows is enough for a walk, while IFTTT says nothing more of the areas.
    shop.misbehave(f"ifttt GET /v2/connections/{CONNECTION} => status 500")
    walk(page)
    expect(crossings(page)).to_have_count(2)
    expect(crossings(page).last).to_contain_text(NOTIFIED)


def test_a_token_that_cannot_be_fetched_is_told_and_what_was_crossed_meanwhile_is_uploaded_later(shop: Shop, page: Page) -> None:
    ada(page, shop)
    no_token = "ifttt POST /v2/user_token => status 500"
    words = "IFTTT answered with an error (status 500), so the shop has no access for you now."
    shop.misbehave(no_token)
    walk(page)
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(crossings(page)).to_have_count(0)
    shop.misbehave()
    walk(page)
    expect(crossings(page)).to_have_count(2)
    shop.misbehave(no_token)
    walk(page)
    expect(page.get_by_role("alert")).to_contain_text(words)
    expect(crossings(page).last).to_contain_text("It is not uploaded yet, so it waits.")
    assert len(uploaded(shop)) == 1
    shop.misbehave()
    walk(page)
    assert [record["outcome"] for record in uploaded(shop)] == ["fired"] * 3


def test_a_customer_whose_token_is_revoked_is_asked_to_connect_again(shop: Shop, page: Page) -> None:
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    walk(page)
    shop.revoke_tokens()
    walk(page)
    expect(page.get_by_role("alert")).to_contain_text("The shop has no access to IFTTT for you. Connect again")
    expect(crossings(page).last).to_contain_text("It is not uploaded yet, so it waits.")


def test_a_slow_answer_is_not_waited_for_and_shown_after_a_reload(shop: Shop, page: Page) -> None:
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    shop.misbehave(f"{UPLOAD} => delay 8")
    walk(page)
    expect(page.get_by_role("status")).to_have_text("IFTTT has not answered yet. Reload this page in a moment.")
    expect(crossings(page).last).to_contain_text("It is being uploaded, and IFTTT has not answered yet.")
    walk(page)  # while one is taken, no other begins
    expect(crossings(page)).to_have_count(2)
    look(page, "walk-underway")
    reload_while(page, page.get_by_role("status"), "has not answered")
    expect(crossings(page)).to_have_count(2)
    expect(crossings(page).last).to_contain_text(NOTIFIED)


def test_a_late_event_is_said_to_be_missing_and_shown_after_a_reload(shop: Shop, page: Page) -> None:
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    with held_webhooks(shop) as (release, waits):
        walk(page)
        left = crossings(page).last
        expect(left).to_contain_text("Uploaded. IFTTT has not notified the shop yet. Reload this page in a moment.")
        assert waits.is_set()
        release.set()
        reload_while(page, left, "has not notified")
        expect(left).to_contain_text(NOTIFIED)


# Whose walk it is

def test_each_customer_sees_their_own_walks_and_no_others(shop: Shop, page: Page, open_page: OpenPage) -> None:
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    walk(page)
    mine = crossings(page).all_inner_texts()
    other = open_page()
    ada(other, shop)
    expect(other.locator(".areas")).to_contain_text("Radius 181 m")
    expect(crossings(other)).to_have_count(0)
    walk(other)
    expect(crossings(other).last).to_contain_text(NOTIFIED)
    page.reload()
    assert crossings(page).all_inner_texts() == mine
    # The same customer in another browser.
    settings(other, shop, customer="garden-1005")
    other.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    assert crossings(other).all_inner_texts() == mine


def test_walks_are_forgotten_with_the_customer(shop: Shop, page: Page) -> None:
    configured(page, shop)
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    walk(page)
    expect(crossings(page)).to_have_count(2)
    page.goto(f"{shop.origin}/settings")
    page.get_by_role("button", name="Forget me").click()
    expect(page.get_by_role("status")).to_contain_text("You are logged out")
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    assert page.url == f"{shop.origin}/connections/{CONNECTION}"
    expect(page.get_by_role("link", name="Log in to the shop")).to_be_visible()
    settings(page, shop, customer="garden-1005")
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    expect(page.locator(".areas li")).to_have_count(1)
    expect(crossings(page)).to_have_count(0)


@pytest.mark.parametrize("token", [None, "x" * 32])
def test_a_form_without_its_token_is_refused(shop: Shop, page: Page, token: str | None) -> None:
    ada(page, shop)
    page.locator("main input[name=form_token]").evaluate("(e, token) => token === null ? e.remove() : e.value = token", token)
    with page.expect_navigation() as answer:
        page.get_by_role("button", name="Take a walk").click()
    assert answer.value.status == 403  # type: ignore[union-attr]
    assert uploaded(shop) == []
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    expect(crossings(page)).to_have_count(0)


def test_a_form_of_an_earlier_page_takes_no_walk_without_a_customer_or_a_connection(shop: Shop, page: Page) -> None:
    ada(page, shop)
    other = page.context.new_page()
    settings(other, shop, customer="garden-1002")
    walk(page)
    assert page.url == f"{shop.origin}/connections/{CONNECTION}", "Grace has turned it off"
    page.go_back()
    ada(page, shop)
    settings(other, shop, customer="")
    walk(page)
    expect(page.get_by_role("link", name="Log in to the shop")).to_be_visible()
    assert uploaded(shop) == []


# No area

def test_a_connection_that_is_off_leads_back_to_its_page(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.origin}/connections/{CONNECTION}/walk")
    assert page.url == f"{shop.origin}/connections/{CONNECTION}"
    assert page.goto(f"{shop.origin}/connections/nothing/walk").status == 404  # type: ignore[union-attr]


@pytest.mark.parametrize("connection", [AREAS, OTHER])
def test_a_connection_without_an_area_says_so(shop: Shop, page: Page, connection: str) -> None:
    """One that is still to be configured, and one that asks for none."""
    hand = Hand(page, "pointer")
    open_connection(page, shop, connection)
    leave(page, hand, shop, "new@example.test")
    say_yes(page, hand, shop)
    until(page, "pending")
    if connection == OTHER:
        page.goto(f"{shop.origin}/connections/{OTHER}/configure")
        for field in page.locator("select").all():
            field.select_option(index=1)
        page.get_by_role("button", name="Save").click()
        page.wait_for_url(f"**/connections/{OTHER}")
        until(page, "connected")
        expect(page.get_by_role("link", name="Take a walk")).to_have_count(0)
    page.goto(f"{shop.origin}/connections/{connection}/walk")
    expect(page.locator("main")).to_contain_text("This connection has no area to walk through.")
    expect(page.get_by_role("link", name="Choose where and what")).to_be_visible()
    expect(page.get_by_role("button", name="Take a walk")).to_have_count(0)
    look(page, "walk-no-area")


def test_the_map_is_dark_in_the_dark(shop: Shop, page: Page) -> None:
    ada(page, shop)
    walk(page)
    ground = "e => getComputedStyle(e).fill"
    colours = set()
    for name in ("as the device", "Light"):
        colours.add(page.locator(".map rect").evaluate(ground))
        page.get_by_role("button", name=name).click()
        page.wait_for_load_state()
    colours.add(page.locator(".map rect").evaluate(ground))
    assert colours == {"rgb(255, 255, 255)", "rgb(29, 35, 38)"}
    # So is the town: a white street would outshine the walk.
    for part, colour in ((".street:not(.edge)", "rgb(74, 83, 88)"), (".main:not(.edge)", "rgb(107, 90, 44)")):
        assert page.locator(f".map {part}").evaluate("e => getComputedStyle(e).stroke") == colour
    assert page.locator(".map .building").evaluate(ground) == "rgb(43, 50, 54)"
    expect(crossings(page)).to_have_count(2)
