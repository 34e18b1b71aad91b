"""Examples/GroceryExpress while IFTTT takes its time: what its real server shows, and what cancels, Back and Keep do then."""

import re
import select
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error, Page, Route, expect

from strangers import http

from conftest import OpenPage
from button_page import ANSWERED, TOLD, Script, plain, shape
from button_visit import TIMEOUT, caught_up, drag
from sample import program
from shop_visit import AREAS, CONNECTION, OTHER, Hand, Shop, leave, open_connection, own_script, say_yes, settings, step, switch, until
from test_button_walk import at_ifttt

HAND = "pointer"
SAMPLES = ("GroceryExpress", "ConnectedAccounts", "CircleServer", "WeatherMyWay")
CONNECTIONS = (CONNECTION, AREAS, OTHER)
EVENTS = re.compile("/events([?]|$)")


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return own_script(open_page())


def reach_email(page: Page, shop: Shop) -> None:
    open_connection(page, shop)
    switch(page).click()
    until(page, "email")


def confirm(page: Page, address: str = "new@example.test") -> None:
    page.locator("connect-button input[type=email]").fill(address)
    page.locator("connect-button .email button").click()


def ask_for_account(page: Page, shop: Shop) -> None:
    """From the switch to the confirmed address."""
    reach_email(page, shop)
    confirm(page)


def comes(page: Page, condition: Callable[[], Any], text: str) -> None:
    """Waits, also where the page's clock stands still."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, f"never: {text}"
        page.wait_for_timeout(20)


def sees(page: Page, condition: str) -> None:
    """Waits for an answer of the server in the page."""
    script = f"() => {{ const answer = document.querySelector('connect-button')?.answer; return Boolean(answer && (({{ state, canOpen }}) => {condition})(answer)) }}"
    comes(page, lambda: page.evaluate(script), condition)


def connect(page: Page, shop: Shop, **values: object) -> None:
    settings(page, shop, own_configuration=False, **values)
    open_connection(page, shop)
    leave(page, Hand(page, HAND), shop, "new@example.test")
    say_yes(page, Hand(page, HAND), shop)
    until(page, "connected")


@pytest.mark.parametrize("seconds", [0, 1, 5])
def test_verifying_is_shown_while_ifttt_looks_and_the_user_goes_on_by_itself(shop: Shop, page: Page, seconds: int) -> None:
    """F016, F019: the account that is made is named before the page is left."""
    shop.misbehave(*([f"ifttt GET /v2/account/find => delay {seconds}"] if seconds else []))
    named: list[str] = []
    page.expose_function("named", lambda text: named.append(text))
    reach_email(page, shop)
    page.evaluate("""() => { const footer = document.querySelector('connect-button').shadowRoot.querySelector('.footer')
      new MutationObserver(() => named(footer.innerText)).observe(footer, { childList: true, subtree: true }) }""")
    confirm(page)
    if seconds:
        until(page, "verifying")
    page.wait_for_url(f"{shop.sandbox}/**")
    assert any("new@example.test" in text for text in named), named


def test_the_scripted_server_of_the_components_tests_answers_like_this_one(shop: Shop, page: Page) -> None:
    """Each message is answered with what is so now; what comes of it is told later. The account's own step is below."""
    settings(page, shop, own_configuration=False)
    said: dict[str, tuple] = {}
    later: dict[str, tuple] = {}

    def note(route: Route) -> None:
        answer = route.fetch()
        failure = answer.json()["state"].get("failure")
        said[failure["kind"] if failure else route.request.post_data_json["event"]] = shape(answer.json())
        route.fulfill(response=answer)

    def tells(event: str, condition: str) -> None:
        page.wait_for_function(f"() => (({{ state, canOpen }}) => {condition})(document.querySelector('connect-button').answer)")
        later[event] = shape(page.evaluate("document.querySelector('connect-button').answer"))

    page.route(EVENTS, note)
    shop.misbehave("ifttt GET /v2/account/find => delay 1", f"ifttt POST /v2/connections/{CONNECTION}/disable => delay 6")
    reach_email(page, shop)
    confirm(page, "new@")
    sees(page, "state.failure")
    tells("invalid_email", "!state.failure")
    confirm(page)
    tells("email", "canOpen")
    page.wait_for_url(f"{shop.sandbox}/**")
    say_yes(page, Hand(page, HAND), shop)
    for choice, event in (("keep", None), ("disconnect", "cancel"), ("disconnect", None)):
        until(page, "connected")
        switch(page).click()
        until(page, "confirm_disconnect")
        page.locator(f"connect-button .choices [data-action={choice}]").click()
        if event:
            until(page, "disconnecting")
            page.locator(f"connect-button [data-action={event}]").click()
            tells(event, "state.step === 'connected'")
    tells("disconnect", "state.step === 'disconnected'")
    script = Script(shop.origin)
    assert said == {event: shape(script.answer(step, **options | ({"open": "x"} if event == "proceed" else {}))) for event, (step, options) in ANSWERED.items()}
    assert later == {event: shape(script.answer(step, **options)) for event, (step, options) in TOLD.items() if event != "creating_account"}


def test_the_account_that_is_made_is_named_as_the_scripted_server_does_while_the_shop_asks_for_a_token(shop: Shop, page: Page, open_page: OpenPage) -> None:
    """Without a call in it, the step is over before a page hears of it."""
    customer, other = "garden-1004", open_page()
    settings(page, shop, customer=customer, token=False, own_configuration=False)
    reach_email(page, shop)
    # From now on the shop fetches this customer's token, on the way to IFTTT too.
    settings(other, shop, customer=customer, token=True)
    shop.misbehave("ifttt POST /v2/user_token => delay 2")
    confirm(page)
    sees(page, "state.step === 'creating_account'")
    answer, footer = page.evaluate("""() => { const button = document.querySelector('connect-button')
      return [button.answer, button.shadowRoot.querySelector('.lines').innerText] }""")
    told, options = TOLD["creating_account"]
    assert shape(answer) == shape(Script(shop.origin).answer(told, **options))
    assert plain(footer).startswith("IFTTT is creating an account for new@example.test.")
    page.wait_for_url(f"{shop.sandbox}/**")


@pytest.mark.parametrize("moment", ["while the address is read", "while the server is asked where to"])
def test_cancel_before_the_page_is_left_for_ifttt_leads_nowhere(shop: Shop, page: Page, moment: str) -> None:
    """F019: for a second the page says whose account is made; then it asks where to go. Until it has gone there is a way back."""
    is_read, customer = moment == "while the address is read", "garden-1005"
    sent: list[str] = []
    held: list[Route] = []
    left: list[str] = []

    def note(route: Route) -> None:
        sent.append(route.request.post_data_json["event"])
        if sent[-1] == "proceed":
            held.append(route)
        else:
            route.continue_()

    settings(page, shop, customer=customer, token=False, own_configuration=False)
    page.clock.install()
    page.on("request", lambda request: left.append(request.url) if request.is_navigation_request() and request.url.startswith(shop.sandbox) else None)
    page.route(EVENTS, note)
    reach_email(page, shop)
    if is_read:
        page.clock.pause_at(page.evaluate("Date.now()") + 60_000)
    confirm(page)
    sees(page, "state.step === 'going_to_service' && canOpen")
    if is_read:
        page.clock.run_for(900)
        caught_up(page)
        assert "proceed" not in sent, "the address stands there for a second"
    else:
        comes(page, lambda: held, "that the page asks where to go")
        late = held[0].fetch()
        assert late.json()["open"].startswith(shop.sandbox), "the server has said where to"
    page.locator("connect-button .lines [data-action=cancel]").click()
    sees(page, "state.step === 'connect'")
    if is_read:
        page.clock.run_for(10_000)
        page.clock.resume()
    else:
        with suppress(Error):  # the page no longer waits for it
            held[0].fulfill(response=late)
    caught_up(page)
    page.wait_for_timeout(500)
    assert step(page) == "connect" and left == [] and page.url.startswith(shop.origin)
    assert sent == ["turn_on", "email", *([] if is_read else ["proceed"]), "cancel"]
    assert not at_ifttt(shop, customer)


def test_cancel_while_ifttt_looks_up_an_address_leads_nowhere(shop: Shop, page: Page) -> None:
    shop.misbehave("ifttt GET /v2/account/find => delay 3")
    ask_for_account(page, shop)
    until(page, "verifying")
    page.locator("connect-button [data-action=cancel]").click()
    until(page, "connect")
    # IFTTT answers in order: when another customer, who asked later, is sent on, the answer to the first has come.
    other = page.context.browser.new_context().new_page()  # type: ignore[union-attr]
    settings(other, shop, customer="garden-1004", email="edsger@example.test")
    ask_for_account(other, shop)
    other.wait_for_url(f"{shop.sandbox}/**")
    other.context.close()
    until(page, "connect")
    page.reload()
    until(page, "connect")
    assert page.url.startswith(shop.origin)


def test_a_tap_that_the_browser_sends_twice_does_not_undo_a_cancel_on_another_device(shop: Shop, page: Page, open_page: OpenPage) -> None:
    """A browser sends a message again when the connection ends without an answer."""
    customer, other = "garden-1002", open_page()
    held: list[Route] = []
    repeated: list[dict[str, Any]] = []

    def hold_the_first(route: Route) -> None:
        if not held:
            held.append(route)
            return
        answer = route.fetch()
        repeated.append(answer.json())
        route.fulfill(response=answer)

    for each in (page, other):
        settings(each, shop, customer=customer, token=True, own_configuration=False)
        open_connection(each, shop)
    shop.misbehave(f"ifttt POST /v2/connections/{CONNECTION}/enable => delay 3")
    page.route(EVENTS, hold_the_first)
    with page.expect_request(EVENTS):
        switch(page).click()
    held[0].fetch()
    until(other, "verifying", "connecting")
    other.locator("connect-button [data-action=cancel]").click()
    until(other, "connect")
    with page.expect_response(lambda response: EVENTS.search(response.url) and response.request != held[0].request):
        held[0].fulfill(response=held[0].fetch())
    assert [answer["state"]["step"] for answer in repeated] == ["connect"]
    # Longer than what the message began.
    page.wait_for_timeout(4_000)
    for each in (page, other):
        until(each, "connect")
    assert not at_ifttt(shop, customer)


def test_keep_while_ifttt_disconnects_stays_connected(shop: Shop, page: Page) -> None:
    customer = "garden-1005"
    connect(page, shop, customer=customer, token=False)
    shop.misbehave(f"ifttt POST /v2/connections/{CONNECTION}/disable => delay 3")
    switch(page).click()
    until(page, "confirm_disconnect")
    page.locator("connect-button .choices [data-action=disconnect]").click()
    until(page, "disconnecting")
    page.locator("connect-button [data-action=cancel]").click()
    until(page, "connecting")
    until(page, "connected")
    assert at_ifttt(shop, customer)
    page.reload()
    until(page, "connected")


def test_disconnecting_is_shown_and_then_that_it_is_done(shop: Shop, page: Page) -> None:
    """F040."""
    customer = "garden-1005"
    connect(page, shop, customer=customer, token=False)
    assert at_ifttt(shop, customer)
    shop.misbehave(f"ifttt POST /v2/connections/{CONNECTION}/disable => delay 2")
    switch(page).click()
    until(page, "confirm_disconnect")
    page.locator("connect-button .choices [data-action=disconnect]").click()
    until(page, "disconnecting")
    until(page, "disconnected")
    assert not at_ifttt(shop, customer)
    until(page, "connect")


def test_back_returns_to_connect_and_the_next_try_goes_through(shop: Shop, page: Page) -> None:
    """F032: the page's clock stands still from before Back until Connect, so the return itself brings it, and no timer."""
    answers: list[str] = []

    def note(route: Route) -> None:
        if route.request.post_data_json["event"] != "returned":
            return route.continue_()
        answer = route.fetch()
        answers.append(answer.json()["state"]["step"])
        route.fulfill(response=answer)

    settings(page, shop, own_configuration=False)
    page.route(EVENTS, note)
    page.clock.install()
    open_connection(page, shop)
    leave(page, Hand(page, HAND), shop, "new@example.test")
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)
    page.go_back()
    sees(page, "state.step === 'connect'")
    assert answers == ["connect"]
    page.clock.resume()
    leave(page, Hand(page, HAND), shop, "new@example.test")


def test_the_whole_way_by_dragging_the_knob(shop: Shop, page: Page) -> None:
    """F010, F012: on with the address, and off again."""
    customer = "garden-1005"
    settings(page, shop, customer=customer, token=False, own_configuration=False)
    open_connection(page, shop)
    drag(page, 0.1, [0.3, 0.5, 0.7], lift=False, button="connect-button")
    # The server has said that the address comes next.
    page.wait_for_function("() => getComputedStyle(document.querySelector('connect-button').shadowRoot.querySelector('.grey')).opacity > .4")
    assert step(page) == "connect", "nothing is sent before the knob is let go"
    page.mouse.up()
    until(page, "email")
    page.locator("connect-button input[type=email]").fill("walk@example.test")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{shop.sandbox}/**")
    say_yes(page, Hand(page, HAND), shop)
    until(page, "connected")
    assert at_ifttt(shop, customer)
    drag(page, 0.9, [0.7, 0.4, 0.1], button="connect-button")
    until(page, "confirm_disconnect")
    page.locator("connect-button .choices [data-action=disconnect]").click()
    until(page, "disconnected", "connect")
    assert not at_ifttt(shop, customer)


def test_a_tap_on_connect_is_the_pages_own_affair(shop: Shop, page: Page) -> None:
    open_connection(page, shop)
    switch(page).click()
    until(page, "email")
    other = page.context.new_page()
    open_connection(other, shop)
    assert step(other) == "connect"
    page.reload()
    until(page, "connect")


def test_finish_setup_opens_the_set_up(shop: Shop, page: Page) -> None:
    """W2, W15: with the sample's own configuration."""
    open_connection(page, shop)
    leave(page, Hand(page, HAND), shop, "new@example.test")
    say_yes(page, Hand(page, HAND), shop)
    until(page, "pending")
    expect(page.locator("connect-button").get_by_role("switch")).to_have_count(0)
    page.locator("connect-button .switch").click()
    page.wait_for_url(f"{shop.origin}/connections/{CONNECTION}/configure")


def test_a_pending_connection_can_be_turned_off_beside_the_pill(shop: Shop, page: Page) -> None:
    open_connection(page, shop)
    leave(page, Hand(page, HAND), shop, "new@example.test")
    say_yes(page, Hand(page, HAND), shop)
    until(page, "pending")
    page.locator("connect-button .footer [data-action=disconnect]").click()
    until(page, "confirm_disconnect")


@pytest.mark.parametrize(("token", "shown", "said"), [(False, "connect", "Not connected"), (True, "connected", "Connected")])
def test_the_shop_and_its_button_say_the_same(shop: Shop, page: Page, token: bool, shown: str, said: str) -> None:
    """A customer whose connection IFTTT has on. Where the shop fetches no token, IFTTT's key says more than the button may show."""
    settings(page, shop, customer="garden-1001", token=token)
    assert at_ifttt(shop, "garden-1001")
    open_connection(page, shop)
    assert step(page) == shown
    expect(page.locator("#configure")).to_be_visible(visible=token)
    page.goto(shop.origin)
    expect(page.locator(".cards li .state").first).to_have_text(said)


def test_with_ifttt_down_the_page_is_there_and_the_button_says_so(shop: Shop, page: Page) -> None:
    shop.misbehave("ifttt GET /v2/connections/* => status 503")
    for path in ("/", f"/connections/{AREAS}"):
        with page.expect_navigation() as answer:
            page.goto(shop.origin + path)
        assert answer.value.status == 200  # type: ignore[union-attr]
    until(page, "loading_failed")
    expect(page.locator("connect-button .footer[data-tone=error]")).to_have_count(1)
    assert "Loading" not in page.locator("connect-button .switch").inner_text()
    shop.misbehave()
    until(page, "connect")


@contextmanager
def asking_ifttt(shop: Shop) -> Iterator[Callable[[], bool]]:
    """Asks IFTTT for a connection, and gives whether it has answered; its answer is not waited for."""
    address = urlsplit(shop.sandbox)
    with socket.create_connection((address.hostname, address.port), timeout=60) as asked:
        asked.sendall(f"GET /v2/connections/{CONNECTION} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        yield lambda: bool(select.select([asked], [], [], 0)[0])


def test_pages_are_there_before_a_slow_ifttt_answers(shop: Shop) -> None:
    """What was asked of IFTTT before the pages is answered after them."""
    shop.misbehave("ifttt GET /v2/connections/* => delay 20")
    with asking_ifttt(shop) as has_answered:
        front = http().get(shop.origin, timeout=60)
        connection = http().get(f"{shop.origin}/connections/{AREAS}", timeout=60)
        assert not has_answered(), "a page has waited for IFTTT"
    assert front.status_code == 200 and front.text.count("Waiting for IFTTT.") == len(CONNECTIONS)
    assert connection.status_code == 200 and "<connect-button" in connection.text, "the button fetches by itself"


def test_a_page_describes_a_connection_as_before_while_ifttt_is_slow(shop: Shop) -> None:
    visitor = http()
    known = visitor.get(shop.origin, timeout=60).text
    assert "Waiting for IFTTT." not in known
    shop.misbehave("ifttt GET /v2/connections/* => delay 20")
    with asking_ifttt(shop) as has_answered:
        again = visitor.get(shop.origin, timeout=60).text
        assert not has_answered()
    names = re.findall(r"<h2>.*?</h2>", known)
    assert len(names) == len(CONNECTIONS) and names == re.findall(r"<h2>.*?</h2>", again)


# The command lines of the samples

def run(sample: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program(sample), *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_printed_and_no_shop_is_opened(sample: str, option: str) -> None:
    done = run(sample, option)
    assert done.returncode == 0 and "--print-json" in done.stdout and done.stderr == ""


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("arguments", [("--prot", "8080"), ("--port",), ("--port", "many"), ("shop",)])
def test_what_is_not_known_is_refused(sample: str, arguments: tuple[str, ...]) -> None:
    done = run(sample, *arguments)
    assert done.returncode == 64 and done.stdout == ""
    assert "--port" in done.stderr
