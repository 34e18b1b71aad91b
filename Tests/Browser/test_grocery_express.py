"""Examples/GroceryExpress with the sandbox: people connect and disconnect from the first look to the last, by pointer, touch and keyboard."""

import re
import socket
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from conftest import OpenPage
from shop_visit import AREAS, CONNECTION, OTHER, Hand, Shop, leave, look, open_connection, own_script, say_yes, second_tab, settings, step, switch, until
from strangers import REPOSITORY, http

WAYS = ("pointer", "touch", "keyboard")
Opener = Callable[[str], Page]


@pytest.fixture
def opener(open_page: OpenPage) -> Opener:
    return lambda way: own_script(open_page(has_touch=way == "touch"))


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return own_script(open_page())


def disconnect(page: Page, hand: Hand) -> None:
    hand.press(switch(page))
    until(page, "confirm_disconnect")
    hand.press(page.locator("connect-button .choices button").first)
    until(page, "disconnected", "connect")
    until(page, "connect")


@pytest.mark.parametrize("way", WAYS)
def test_a_new_user_connects_configures_in_the_shop_and_disconnects(shop: Shop, opener: Opener, way: str) -> None:
    page = opener(way)
    hand = Hand(page, way)
    open_connection(page, shop)
    expect(switch(page)).to_have_accessible_name(re.compile("^Connect .*Location"))
    look(page, "connect") if way == "pointer" else None
    hand.press(switch(page))
    until(page, "email")
    look(page, "email") if way == "pointer" else None
    hand.write(page.locator("connect-button input[type=email]"), "new@example.test")
    hand.press(page.locator("connect-button .email button"))
    page.wait_for_url(f"{shop.sandbox}/**")
    assert "code=" not in page.url and "email=" not in page.url
    say_yes(page, hand, shop)
    assert page.url == f"{shop.origin}/connections/{CONNECTION}", "the redirect, and the token in it, is not where one can see it"
    until(page, "pending")
    look(page, "pending") if way == "pointer" else None
    page.goto(shop.origin)
    expect(page.locator(".cards li").first).to_contain_text("Almost connected")
    expect(page.locator(".cards li").last).to_contain_text("Not connected")
    look(page, "front-almost") if way == "pointer" else None
    open_connection(page, shop)
    hand.press(page.get_by_role("link", name="Choose where and what"))
    page.wait_for_url("**/configure")
    expect(page.get_by_label("Radius in metres")).to_have_value("250")
    hand.write(page.get_by_label("Search for a place"), "kyoto")
    hand.press(page.get_by_role("button", name="Search"))
    expect(page.get_by_role("status")).to_contain_text("Nishiki Market, Kyoto")
    expect(page.get_by_label("Latitude in degrees")).to_have_value("35.005")
    hand.write(page.get_by_label("Radius in metres"), "-5")
    hand.press(page.get_by_role("button", name="Save"))
    expect(page.get_by_role("alert")).to_contain_text("radius is above 0")
    look(page, "configure") if way == "pointer" else None
    hand.write(page.get_by_label("Radius in metres"), "300")
    page.get_by_label("Zone").select_option("Roof")
    hand.press(page.get_by_role("button", name="Save"))
    page.wait_for_url(f"**/connections/{CONNECTION}")
    until(page, "connected")
    hand.press(page.get_by_role("link", name="Choose where and what"))
    page.wait_for_url("**/configure")
    for label, value in (("Latitude in degrees", "35.005"), ("Radius in metres", "300"), ("Address", "Nishiki Market, Kyoto"), ("Zone", "zone-9")):
        expect(page.get_by_label(label)).to_have_value(value)  # what the customer has, not what it began with
    hand.press(page.get_by_role("link", name="Back without saving"))
    page.wait_for_url(f"**/connections/{CONNECTION}")
    until(page, "connected")
    look(page, "connected") if way == "pointer" else None
    hand.press(switch(page))
    until(page, "confirm_disconnect")
    look(page, "confirm-disconnect") if way == "pointer" else None
    hand.press(page.locator("connect-button .choices button").last)
    until(page, "connected")
    disconnect(page, hand)
    page.reload()
    until(page, "connect")


@pytest.mark.parametrize("way", WAYS)
def test_a_returning_user_goes_on_by_the_link_in_a_mail(shop: Shop, opener: Opener, way: str) -> None:
    page = opener(way)
    hand = Hand(page, way)
    settings(page, shop, customer="garden-1004", email="edsger@example.test", own_configuration=False)
    open_connection(page, shop)
    leave(page, hand, shop, "edsger@example.test")
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your mail")
    look(page, "check-mail") if way == "pointer" else None
    page.goto(shop.mail_link("edsger@example.test"))
    mail = page.url
    hand.press(page.locator("main form button").first)
    page.wait_for_url(lambda url: url != mail)
    headings = say_yes(page, hand, shop)
    assert any(heading.startswith("Settings of") for heading in headings), headings
    until(page, "connected")


def test_a_user_whose_token_the_shop_has_is_not_asked_for_an_address(shop: Shop, page: Page) -> None:
    settings(page, shop, customer="garden-1001", token=True)
    open_connection(page, shop)
    assert step(page) == "connected", "Ada is connected already, which is shown immediately"
    page.goto(f"{shop.origin}/connections/{OTHER}")
    until(page, "connect")
    leave(page, Hand(page, "pointer"), shop)


def test_going_back_is_silent_and_a_failure_is_not(shop: Shop, page: Page) -> None:
    hand = Hand(page, "pointer")
    open_connection(page, shop)
    leave(page, hand, shop, "new@example.test")
    other = second_tab(page, shop)
    until(other, "going_to_service")
    look(other, "going-to-service")
    page.bring_to_front()
    page.go_back()
    other.bring_to_front()
    for tab in (page, other):
        until(tab, "connect")
        expect(tab.locator("#notice")).to_be_empty()
    page.bring_to_front()
    leave(page, hand, shop, "new@example.test")
    other.bring_to_front()
    until(other, "going_to_service")
    Hand(other, "pointer").press(other.locator("connect-button .footer").get_by_role("button", name="Cancel"))
    until(other, "connect")
    expect(other.locator("#notice")).to_be_empty()
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    until(page, "connect")
    leave(page, hand, shop, "new@example.test")
    page.locator("button[name=outcome][value=user_cancelled_configuration]").evaluate("e => { e.closest('details')?.setAttribute('open', ''); e.click() }")
    page.wait_for_url(f"{shop.origin}/**")
    until(page, "connect")
    expect(page.locator("#notice")).to_be_empty()
    look(page, "cancelled")
    leave(page, hand, shop, "new@example.test")
    page.locator("button[name=outcome][value=account_creation]").evaluate("e => { e.closest('details')?.setAttribute('open', ''); e.click() }")
    page.wait_for_url(f"{shop.origin}/**")
    until(page, "connect")
    expect(page.locator("connect-button .footer")).to_contain_text("account")
    look(page, "error")


def test_an_expired_token_is_said_and_signing_in_again_helps(shop: Shop, page: Page) -> None:
    hand = away(page, shop)
    say_yes(page, hand, shop)
    until(page, "connected")
    hand.press(switch(page))
    until(page, "confirm_disconnect")
    shop.revoke_tokens()
    hand.press(page.locator("connect-button .choices button").first)
    until(page, "connect")
    expect(page.locator("#notice")).to_have_text("Connect again to give the shop access to IFTTT.")
    expect(page.locator("connect-button .footer")).to_contain_text("Try again")
    look(page, "expired-token")
    page.reload()
    until(page, "connect")
    leave(page, hand, shop, "new@example.test")
    page.goto(shop.mail_link("new@example.test"))  # There is an account now.
    mail = page.url
    hand.press(page.locator("main form button").first)
    page.wait_for_url(lambda url: url != mail)
    say_yes(page, hand, shop)
    until(page, "connected")
    hand.press(switch(page))
    until(page, "confirm_disconnect")
    hand.press(page.locator("connect-button .choices button").first)
    until(page, "disconnected", "connect")


def refuse(page: Page, shop: Shop) -> None:
    """Up to the notice that an address is none."""
    hand = Hand(page, "pointer")
    open_connection(page, shop)
    hand.press(switch(page))
    until(page, "email")
    hand.write(page.locator("connect-button input[type=email]"), "new@")
    hand.press(page.locator("connect-button .email button"))
    expect(page.locator("connect-button .footer[data-tone=error]")).to_have_count(1)


def test_a_refused_address_is_said_to_be_one_and_the_right_one_is_taken_at_the_first_try(shop: Shop, page: Page) -> None:
    refuse(page, shop)
    field = page.locator("connect-button input[type=email]")
    expect(page.locator("connect-button .footer[data-tone=error]")).to_have_count(0)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("new@")
    field.fill("new@example.test")
    page.locator("connect-button .email button").click()
    page.wait_for_url(f"{shop.sandbox}/**")


def test_the_right_address_is_taken_also_when_the_page_has_not_heard_that_the_notice_is_over(shop: Shop, page: Page) -> None:
    page.route("**/changes*", lambda route: route.abort())
    refuse(page, shop)
    # Behind another tab, nothing is heard.
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))")
    seen = page.evaluate("document.querySelector('connect-button').answer.revision")
    # The server's own clock ends the notice.
    while page.evaluate("""async () => { const button = document.querySelector('connect-button')
      const answer = await fetch(`${button.getAttribute('base')}/${button.getAttribute('connection')}`, { headers: { Accept: 'application/json' } })
      return (await answer.json()).revision }""") == seen:
        page.wait_for_timeout(50)
    expect(page.locator("connect-button .footer[data-tone=error]")).to_have_count(1)
    # It is in sight again with the press: before, it would look by itself.
    page.evaluate("addEventListener('click', () => delete document.hidden, { capture: true, once: true })")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data_json["event"]) if request.url.endswith("/events") else None)
    page.locator("connect-button input[type=email]").fill("new@example.test")
    page.locator("connect-button .email button").click()
    page.wait_for_url(f"{shop.sandbox}/**")
    assert sent == ["email", "proceed"], "the end of the notice is no change that a user has to see first"


def test_a_service_that_comes_back_is_loaded_from_without_anybodys_help(shop: Shop, page: Page) -> None:
    def look_in_vain(route: Route) -> None:
        """The shop's own look, for its page, was before."""
        shop.misbehave("ifttt GET /v2/connections/* => status 503")
        route.continue_()

    page.route(re.compile(rf"/own/{CONNECTION}[?]page=\w+$"), look_in_vain, times=1)
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    until(page, "loading_failed")
    expect(page.locator("connect-button .footer[data-tone=error]")).to_have_count(1)
    shop.misbehave()
    until(page, "connect")


def test_a_page_without_an_answer_stays_true_when_ifttt_answers_the_button(shop: Shop, page: Page) -> None:
    shop.misbehave("ifttt GET /v2/connections/* => status 503")
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    expect(page.get_by_text("IFTTT did not answer when this page was loaded.")).to_be_visible()
    shop.misbehave()
    until(page, "connect")
    expect(page.get_by_text("does not answer")).to_have_count(0)


def test_who_comes_back_connected_is_welcomed_with_a_check_mark(shop: Shop, page: Page) -> None:
    hand = away(page, shop)
    page.add_init_script("window.held = true")
    say_yes(page, hand, shop)
    pill = page.locator("connect-button .pill[data-step=connected]")
    expect(pill).to_have_class(re.compile("celebrates"))
    assert page.evaluate("sessionStorage.length") == 0
    page.reload()
    expect(pill).not_to_have_class(re.compile("celebrates"))


def test_offline_is_said_where_one_looks_and_as_long_as_it_is_so(shop: Shop, page: Page) -> None:
    open_connection(page, shop)
    page.context.set_offline(True)
    switch(page).click()
    expect(page.locator("#notice")).to_have_text("The shop goes on as soon as you are back.")
    look(page, "offline")
    page.context.set_offline(False)
    expect(page.locator("#notice")).to_be_empty()
    expect(page.locator("connect-button .footer")).to_have_text("Works with IFTTT")
    switch(page).click()
    until(page, "email")


def test_two_tabs_show_the_same(shop: Shop, page: Page) -> None:
    open_connection(page, shop)
    other = page.context.new_page()
    open_connection(other, shop)
    leave(page, Hand(page, "pointer"), shop, "new@example.test")
    other.bring_to_front()
    other.reload()
    until(other, "going_to_service")
    say_yes(page, Hand(page, "pointer"), shop)
    until(other, "pending")


def test_a_page_that_brings_the_state_along_draws_it_without_asking(shop: Shop, page: Page) -> None:
    settings(page, shop, prefetched=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_connection(page, shop)
    assert not [url for url in asked if f"/own/{CONNECTION}?" in url]
    leave(page, Hand(page, "pointer"), shop, "new@example.test")


def events(shop: Shop) -> list[tuple]:
    """What IFTTT has counted: name, place, object and the rest, as the dossier's table has them (section 7)."""
    found = []
    for event in shop.log("analytics"):
        rest = dict(event["properties"])
        found.append((event["name"].removeprefix("sdk."), rest.pop("location_type", None), rest.pop("location_id", None),
                      rest.pop("object_type", None), rest.pop("object_id", None), rest))
    return found


def identifiers(shop: Shop) -> set[str | None]:
    """Under which numbers the buttons have asked IFTTT. What the shop itself asks, with its service key, bears no number at any time."""
    fields = [entry["client_fields"] for entry in shop.log("requests")]
    return {names.get("IFTTT-SDK-Anonymous-Id") for names in fields if "IFTTT-SDK-Version" in names or "IFTTT-SDK-Anonymous-Id" in names}


def look_at_about(page: Page, hand: Hand, times: int = 1) -> None:
    for _ in range(times):
        hand.press(page.locator("connect-button .footer button").first)
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


def away(page: Page, shop: Shop) -> Hand:
    """A new user who has been sent to the service, with the service's own configuration."""
    hand = Hand(page, "pointer")
    settings(page, shop, own_configuration=False)
    open_connection(page, shop)
    leave(page, hand, shop, "new@example.test")
    return hand


def connected(page: Page, shop: Shop, connection: str) -> Hand:
    """A new user who has turned a connection on and has not configured it."""
    hand = Hand(page, "pointer")
    open_connection(page, shop, connection)
    leave(page, hand, shop, "new@example.test")
    say_yes(page, hand, shop)
    until(page, "pending")
    return hand


def stored(page: Page, shop: Shop, connection: str) -> dict[str, dict]:
    """What IFTTT has stored for the customer: the fields' values, by trigger or action."""
    answer = http().get(f"{shop.sandbox}/v2/connections/{connection}", params={"user_id": "garden-1005"}, timeout=10,
                        headers={"IFTTT-Service-Key": "sandbox-service-key-lumen-garden"})
    found = {}
    for feature in answer.json()["user_connection"]["user_features"]:
        for kind in ("trigger", "action"):
            for part in feature[f"user_feature_{kind}s"]:
                found[part[f"feature_{kind}_id"]] = {field["field_id"]: field["value"] for field in part["user_fields"]}
    return found


def test_an_area_that_is_entered_and_one_that_is_left_are_each_found_or_typed(shop: Shop, page: Page) -> None:
    hand = connected(page, shop, AREAS)
    hand.press(page.get_by_role("link", name="Choose where and what"))
    page.wait_for_url("**/configure")
    enter, leaving = page.get_by_role("group", name="You enter an area"), page.get_by_role("group", name="You leave an area")
    enter.get_by_label("Search for a place").fill("kyoto")
    enter.get_by_role("button", name="Search").click()
    expect(enter.get_by_role("status")).to_contain_text("Nishiki Market, Kyoto")
    expect(enter.get_by_label("Latitude in degrees")).to_have_value("35.005")
    expect(leaving.get_by_label("Latitude in degrees")).to_have_value("52.52")
    expect(enter.get_by_role("img", name="Map: Nishiki Market, Kyoto, radius 250 m.", exact=True)).to_be_visible()
    expect(leaving.get_by_role("img", name="Map: Sample Square 1, Berlin, radius 250 m.", exact=True)).to_be_visible()
    enter.get_by_label("Radius in metres").fill("120")
    leaving.get_by_label("Search for a place").fill("Atlantis")
    leaving.get_by_label("Search for a place").press("Enter")  # presses the form's first button, which is the other area's
    expect(leaving.get_by_role("status")).to_contain_text("No place fits")
    expect(enter.get_by_label("Radius in metres")).to_have_value("120")
    expect(enter.get_by_label("Latitude in degrees")).to_have_value("35.005")
    leaving.get_by_label("Search for a place").fill("")
    for label, value in (("Latitude in degrees", "48,8487"), ("Longitude in degrees", "200"), ("Radius in metres", "400.5")):
        leaving.get_by_label(label).fill(value)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("You leave an area: the latitude is from")
    expect(leaving.locator(".map")).to_have_count(0)  # what is no area is on no map
    look(page, "configure-areas")
    leaving.get_by_label("Longitude in degrees").fill("2.379")
    leaving.get_by_label("Longitude in degrees").press("Enter")
    page.wait_for_url(f"**/connections/{AREAS}")
    until(page, "connected")
    values = {part: fields["location"] for part, fields in stored(page, shop, AREAS).items() if "location" in fields}
    assert [(area["lat"], area["lng"], area["radius"]) for area in (values["tr70"], values["tr71"])] == [
        (35.005, 135.7649, 120), (48.8487, 2.379, 400.5)]


def test_a_calendar_is_chosen_and_its_events_are_named(shop: Shop, page: Page) -> None:
    hand = connected(page, shop, OTHER)
    hand.press(page.get_by_role("link", name="Choose where and what"))
    page.wait_for_url("**/configure")
    event = page.get_by_role("group", name="Add an event")
    event.get_by_label("Calendar").select_option("Garden")
    event.get_by_label("Title").fill("Watered <b>again</b>")
    page.get_by_role("group", name="A zone was watered").get_by_label("Zone").select_option("Roof")
    page.get_by_role("group", name="An event starts").get_by_label("Title").fill("Holidays")
    look(page, "configure-calendar")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"**/connections/{OTHER}")
    until(page, "connected")
    values = stored(page, shop, OTHER)
    assert values["ac60"]["title"] == "Watered <b>again</b>" and values["tr61"]["title"] == "Holidays"
    assert values["ac60"]["calendar"]["value"] == "calendar-2" and values["tr60"]["zone"]["value"] == "zone-9"
    hand.press(page.get_by_role("link", name="Choose where and what"))
    page.wait_for_url("**/configure")
    expect(event.get_by_label("Title")).to_have_value("Watered <b>again</b>")
    expect(event.get_by_label("Calendar")).to_have_value("calendar-2")


def test_each_feature_is_listed_with_its_icon(shop: Shop, page: Page) -> None:
    for connection, titles in ((OTHER, ["Write down every watering", "Wait while you are away"]), (CONNECTION, ["Start when you leave"])):
        open_connection(page, shop, connection)
        features = page.locator(".features li")
        expect(features).to_have_count(len(titles))
        for feature, title in zip(features.all(), titles, strict=True):
            expect(feature).to_contain_text(title)
            image = feature.locator("img")
            image.evaluate("image => image.decode()")
            assert image.evaluate("image => image.naturalWidth") > 0
        # The connection's own picture, as IFTTT has it.
        cover = page.locator("img.cover")
        cover.evaluate("image => image.decode()")
        assert cover.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [1080, 540]


def test_a_new_address_is_another_each_time_and_makes_a_new_account(shop: Shop, page: Page) -> None:
    seen = []
    for _ in range(2):
        settings(page, shop, new_user=True)
        seen.append(page.locator("[name=email]").input_value())
        assert re.fullmatch(r"new\+[a-z0-9_-]{8}@example\.test", seen[-1]), "one mark, however often"
    assert seen[0] != seen[1]
    hand = Hand(page, "pointer")
    open_connection(page, shop)
    hand.press(switch(page))
    until(page, "email")
    field = page.locator("connect-button input[type=email]")
    expect(field).to_have_value(seen[1])
    hand.press(page.locator("connect-button .email button"))
    page.wait_for_url(f"{shop.sandbox}/**")
    say_yes(page, hand, shop)
    until(page, "pending")


def failure_kinds() -> list[str]:
    """All that a button can say went wrong, from the Swift source."""
    source = (REPOSITORY / "Sources/ConnectButton/State/ConnectButtonFailure.swift").read_text()
    body = source[source.index("enum Kind"):source.index("var isRetryable")]
    return [word or name for name, word in re.findall(r"^ +case (\w+)(?: = \"(\w+)\")?$", body, re.MULTILINE)]


def test_the_shop_has_words_for_every_failure_and_none_for_what_one_did_oneself(shop: Shop, page: Page) -> None:
    kinds = failure_kinds()
    assert len(kinds) > 10
    open_connection(page, shop)
    said = page.evaluate("""kinds => kinds.map(kind => {
        document.querySelector('connect-button').dispatchEvent(new CustomEvent('failed', { detail: { kind, detail: 'x' } }))
        return document.getElementById('notice').textContent })""", kinds)
    assert {kind for kind, text in zip(kinds, said, strict=True) if not text} == {"cancelled", "invalid_email"}
    spoken = [text for text in said if text]
    assert len(set(spoken)) == len(spoken), "each its own"
    page.evaluate("""document.querySelector('connect-button').dispatchEvent(new CustomEvent('change', { detail: { step: 'connect', isOn: false } }))""")
    expect(page.locator("#notice")).to_be_empty()


def faults(shop: Shop, *rules: str) -> None:
    """Breaks IFTTT in these ways; in none to mend it."""
    http().delete(f"{shop.sandbox}/_sandbox/faults", timeout=10).raise_for_status()
    if rules:
        http().post(f"{shop.sandbox}/_sandbox/faults", data="\n".join(rules), timeout=10).raise_for_status()


@pytest.mark.parametrize("status", [429, 500])
def test_who_cannot_ask_ifttt_does_not_say_that_nothing_is_connected(shop: Shop, page: Page, status: int) -> None:
    settings(page, shop, customer="garden-1001", token=True)
    page.goto(shop.origin)
    expect(page.locator(".cards li").first).to_contain_text("Connected")
    # Only requests for the customer fail: anonymous ones still work.
    faults(shop, f"ifttt GET /v2/connections/{CONNECTION} => status {status} #1")
    with page.expect_navigation() as answer:
        page.reload()
    assert answer.value.status == 200  # type: ignore[union-attr]
    expect(page.locator(".cards li").first).to_contain_text("Connected")
    look(page, "trouble") if status == 500 else None


@pytest.mark.parametrize("status, words", [
    (422, "IFTTT does not take these values. Change them and save again."),
    (404, "This is not connected any more. Connect it again first."),
    (500, "IFTTT does not answer just now, and nothing is saved yet. Save again in a moment.")])
def test_a_configuration_that_is_not_taken_is_told_in_a_customers_words(shop: Shop, page: Page, status: int, words: str) -> None:
    connected(page, shop, OTHER)
    page.goto(f"{shop.origin}/connections/{OTHER}/configure")
    title = page.get_by_role("group", name="Add an event").get_by_label("Title")
    title.fill("Watered twice")
    faults(shop, f'ifttt PUT /v2/connections/{OTHER}/user_connection => status {status} {{"errors":[{{"code":"odd","message":"internal: row 7"}}]}}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_have_text(words)
    expect(title).to_have_value("Watered twice")
    look(page, "configure-refused") if status == 500 else None
    faults(shop)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"**/connections/{OTHER}")


@pytest.mark.parametrize("rule", ["status 503", "delay 8"])
def test_with_ifttt_down_the_configuration_says_so_and_keeps_what_was_typed(shop: Shop, page: Page, rule: str) -> None:
    connected(page, shop, OTHER)
    address, title = f"{shop.origin}/connections/{OTHER}/configure", page.get_by_role("group", name="Add an event").get_by_label("Title")
    faults(shop, f"ifttt GET /v2/connections/{OTHER} => {rule}")
    with page.expect_navigation() as answer:
        page.goto(address)
    assert answer.value.status == 503  # type: ignore[union-attr]
    expect(page.get_by_role("alert")).to_have_text("IFTTT does not answer just now. Try again in a moment.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose where and what")
    look(page, "configure-silent") if rule == "status 503" else None
    faults(shop)
    page.get_by_role("link", name="Try again").click()
    expect(title).to_be_visible()
    for field in page.locator("select").all():
        field.select_option(index=1)
    title.fill("Watered <twice>")
    faults(shop, f"ifttt GET /v2/connections/{OTHER} => {rule}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_have_text("IFTTT does not answer just now, and nothing is saved yet. Save again in a moment.")
    faults(shop)
    page.get_by_role("button", name="Save again").click()
    page.wait_for_url(f"**/connections/{OTHER}")
    page.goto(address)
    expect(title).to_have_value("Watered <twice>")


def test_with_ifttt_down_a_search_is_offered_again_and_saves_nothing(shop: Shop, page: Page) -> None:
    connected(page, shop, AREAS)
    page.goto(f"{shop.origin}/connections/{AREAS}/configure")
    leaving = page.get_by_role("group", name="You leave an area")
    leaving.get_by_label("Search for a place").fill("kyoto")
    faults(shop, f"ifttt GET /v2/connections/{AREAS} => status 503")
    leaving.get_by_role("button", name="Search").click()
    expect(page.get_by_role("alert")).to_have_text("IFTTT does not answer just now. Try again in a moment.")
    faults(shop)
    page.get_by_role("button", name="Search again").click()
    expect(leaving.get_by_role("status")).to_contain_text("Nishiki Market, Kyoto")
    expect(leaving.get_by_label("Latitude in degrees")).to_have_value("35.005")


def test_customers_are_counted_after_a_yes_and_no_longer_after_a_no(shop: Shop, page: Page) -> None:
    hand = Hand(page, "pointer")
    told: list[str] = []
    sent_to: list[str] = []
    page.on("request", lambda request: told.append(request.url) if request.url.endswith("/counts") else None)
    page.on("request", lambda request: sent_to.append(request.url) if "/access/api/" in request.url else None)
    settings(page, shop, own_configuration=False)

    # No user has been asked, and then one has declined.
    open_connection(page, shop)
    question = page.get_by_role("form", name="May IFTTT count how this button is used?")
    expect(question).to_be_visible()
    look(page, "counting-question")
    look_at_about(page, hand)
    question.get_by_role("button", name="No").click()
    expect(question).to_have_count(0)
    until(page, "connect")
    leave(page, hand, shop, "edsger@example.test")
    page.go_back()
    until(page, "connect")
    assert told == [] and events(shop) == []
    assert identifiers(shop) == {None} and sent_to and "anonymous" not in "".join(sent_to)

    # Yes, in the settings, where it is off.
    page.goto(f"{shop.origin}/settings")
    expect(page.get_by_label("IFTTT may count how you use its buttons")).not_to_be_checked()
    settings(page, shop, counting=True)
    http().delete(f"{shop.sandbox}/_sandbox/requests", timeout=10).raise_for_status()
    sent_to.clear()
    open_connection(page, shop)
    look_at_about(page, hand)
    leave(page, hand, shop, "new@example.test")
    say_yes(page, hand, shop)
    until(page, "connected")
    disconnect(page, hand)
    look_at_about(page, hand, times=3)  # enough for five to wait, whatever was sent before
    button, off = "connect_button", {}
    click, about = ("click", button, None, "works_with_ifttt", "button", off), ("impression", button, CONNECTION, "modal", "connect_information", off)
    expected = [
        ("impression", button, "Grocery Express", "connection", CONNECTION, off), click, about,
        ("impression", button, CONNECTION, "connection_email", None, off), ("click", button, CONNECTION, "connection_email", None, off),
        ("click", button, CONNECTION, "connection", CONNECTION, off),
        ("statechange", None, None, "connection", CONNECTION, {"object_status": "enabled", "state": "enabled"}),
        ("pageviewed", button, CONNECTION, None, None, off), ("impression", button, "Grocery Express", "connection", CONNECTION, {"object_status": "enabled"}),
        ("click", button, CONNECTION, "connection", CONNECTION, {"object_status": "enabled"}), click, about]
    deadline = time.monotonic() + 30
    while len(events(shop)) < len(expected):
        assert time.monotonic() < deadline, events(shop)
        page.wait_for_timeout(50)
    # The page may come back while IFTTT is still asked whether the connection is on.
    back = expected[8]
    assert events(shop)[8] in (back, (*back[:5], off))
    assert [event for place, event in enumerate(events(shop)[:len(expected)]) if place != 8] == expected[:8] + expected[9:]
    numbers = identifiers(shop)
    assert len(numbers) == 1 and None not in numbers, "one number, in every request of the server"
    [number] = numbers
    assert sent_to and all(f"sdk_anonymous_id={number}" in url for url in sent_to)
    assert all(entry["authorization_scheme"] is None for entry in shop.log("requests") if entry["path"] == "/v2/sdk/events")

    # And no again.
    settings(page, shop, counting=False)
    http().delete(f"{shop.sandbox}/_sandbox/requests", timeout=10).raise_for_status()
    before = len(events(shop))
    told.clear()
    sent_to.clear()
    open_connection(page, shop, OTHER)
    expect(question).to_have_count(0)
    look_at_about(page, hand, times=3)
    leave(page, hand, shop)
    assert told == [] and len(events(shop)) == before
    assert identifiers(shop) == {None} and sent_to and "anonymous" not in "".join(sent_to)


def test_styles_languages_and_the_other_pages(shop: Shop, page: Page) -> None:
    page.goto(shop.origin)
    expect(page.locator(".cards a")).to_have_count(3)
    look(page, "front")
    for name, scheme in (("as the device", "light"), ("Light", "dark"), ("Dark", "light dark")):
        page.get_by_role("button", name=name).click()
        expect(page.locator("html")).to_have_css("color-scheme", scheme)
    page.goto(f"{shop.origin}/settings")
    look(page, "settings")
    expect(page.get_by_role("status")).to_be_empty()
    open_connection(page, shop)
    for name, ground in (("as the device", "rgb(34, 34, 34)"), ("Light", "rgb(255, 255, 255)"), ("Dark", "rgb(34, 34, 34)")):
        page.get_by_role("button", name=name).click()
        expect(page.locator("connect-button .pill")).to_have_css("background-color", ground)
    settings(page, shop, locale="de")
    expect(page.get_by_role("status")).to_have_text("Your settings are saved.")
    look(page, "settings-saved")
    open_connection(page, shop)
    expect(switch(page)).to_have_accessible_name(re.compile("verbinden", re.I))
    settings(page, shop, customer="")
    page.goto(f"{shop.origin}/connections/{CONNECTION}")
    expect(page.get_by_role("link", name="Log in to the shop")).to_be_visible()
    for path in ("/connections/nothing", "/nothing"):
        assert page.goto(shop.origin + path).status == 404  # type: ignore[union-attr]
        expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
        expect(page.get_by_role("link", name="To the shop")).to_be_visible()


def test_a_customer_who_is_forgotten_is_logged_out_everywhere_and_starts_over(shop: Shop, page: Page) -> None:
    hand = Hand(page, "pointer")
    open_connection(page, shop)
    leave(page, hand, shop, "new@example.test")
    say_yes(page, hand, shop)
    until(page, "pending")
    other = page.context.browser.new_context().new_page()  # type: ignore[union-attr]
    settings(other, shop, customer="garden-1005")
    page.goto(f"{shop.origin}/settings")
    page.get_by_role("button", name="Forget me").click()
    expect(page.get_by_role("button", name="Forget me")).to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text("You are logged out")
    for tab in (page, other):
        tab.goto(f"{shop.origin}/connections/{CONNECTION}")
        expect(tab.get_by_role("link", name="Log in to the shop")).to_be_visible()
    settings(page, shop, customer="garden-1005")
    open_connection(page, shop)
    assert step(page) == "connect"
    other.context.close()


def test_of_two_concurrent_forms_none_is_lost(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.origin}/settings")
    token = page.locator("main [name=form_token]").first.get_attribute("value")
    visit = next(cookie for cookie in page.context.cookies() if cookie["name"] == "grocery_visit")["value"]
    content = f"form_token={token}&customer=garden-1004&email=edsger%40example.test".encode()
    head = (f"POST /settings HTTP/1.1\r\nHost: shop\r\nCookie: grocery_visit={visit}\r\nContent-Length: {len(content)}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n").encode()
    host, port = shop.origin.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as slow:
        slow.sendall(head + content[:20])
        http().get(shop.origin, timeout=10)  # The server takes connections in order: the slow form has been begun.
        page.get_by_role("button", name="as the device").click()
        expect(page.get_by_role("button", name="Light")).to_be_visible()
        slow.sendall(content[20:])
        while slow.recv(4096):
            pass
    page.reload()
    expect(page.locator("html")).to_have_class("light")
    expect(page.get_by_label("Logged in to the shop as")).to_have_value("garden-1004")


def test_forms_without_a_visit_end_no_other_visit(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.origin}/settings")
    with http() as stranger:
        for _ in range(1001):
            answer = stranger.post(f"{shop.origin}/settings", data={"form_token": "x"}, timeout=10)
            assert answer.status_code == 403
            stranger.cookies.clear()
    with page.expect_navigation() as answer:
        page.get_by_role("button", name="Save").click()
    assert answer.value.status == 200  # type: ignore[union-attr]


def test_a_form_that_was_made_for_another_browser_is_refused(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.origin}/settings")
    page.locator("main input[name=form_token]").first.evaluate("e => e.value = 'x'.repeat(32)")
    with page.expect_navigation() as answer:
        page.get_by_role("button", name="Save").click()
    assert answer.value.status == 403  # type: ignore[union-attr]
