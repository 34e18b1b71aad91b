"""`<connected-accounts>` with its real server and the sandbox's services: `Examples/ConnectedAccounts`."""

import json
import os
import random
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, Route, expect

from accounts_visit import SERVICES, App, act, agree, connect, disconnect, log_in, open_app, picture, row, said
from person import overflow, violations
from sample import serve_script
from selector_page import ShadowPerson
from strangers import http

LOCALES = ["cs", "da", "de", "en-GB", "en-US", "es", "es-419", "fi", "fr", "fr-CA", "it", "ja", "ko", "nb", "nl", "pl",
           "pt-BR", "pt-PT", "ru", "sv", "zh-Hans", "zh-Hant"]


@pytest.fixture(scope="module")
def running() -> Iterator[App]:
    with open_app() as one:
        yield one


@pytest.fixture
def app(running: App, page: Page) -> Iterator[App]:
    """The app with nothing connected, and a page that is logged in."""
    serve_script(page, "**/connect/connected-accounts.js", "Sources/ConnectedAccountsUI/Web/connected-accounts.js", words=2)
    log_in(page, running)
    yield running
    running.misbehave()
    page.unroute_all(behavior="ignoreErrors")
    user = http()
    user.headers.update({"Origin": running.origin, "Sec-Fetch-Site": "same-origin"})
    user.post(f"{running.origin}/log-in", data={"name": "ada", "password": "analytical-engine"}, timeout=10).raise_for_status()
    for _ in range(2):  # what needs attention is disconnected too
        for account in user.get(f"{running.origin}/connect/connected-accounts", timeout=10).json()["accounts"]:
            user.post(f"{running.origin}/connect/{account['service']}/disconnect", json={"token": account["token"]}, timeout=30)


def events(page: Page) -> None:
    page.evaluate("""() => { window.heard = []
      for (const name of ['connected', 'disconnected', 'failed'])
        document.addEventListener(name, ({ detail }) => heard.push([name, detail])) }""")


def test_every_service_is_there_and_nothing_is_connected(app: App, page: Page) -> None:
    for service, name in SERVICES.items():
        expect(row(page, service)).to_contain_text(name)
        expect(row(page, service)).to_contain_text("Not connected")
        expect(act(page, "Connect", service)).to_be_visible()
        expect(act(page, "Disconnect", service)).to_have_count(0)


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_connected_used_and_disconnected(app: App, page: Page, service: str) -> None:
    connect(page, app, service)
    expect(row(page, service)).to_contain_text("Connected as")
    expect(row(page, service)).to_contain_text(re.compile("Last used \\d+ (second|minute)s? ago"))
    assert "connected-accounts=" not in page.url
    events(page)
    disconnect(page, service)
    expect(row(page, service)).to_contain_text("Not connected")
    expect(row(page, service)).to_contain_text("is disconnected.")
    assert f"{SERVICES[service]}" in said(page) and "is disconnected." in said(page)
    assert page.evaluate("heard") == [["disconnected", {"service": service}]]
    page.reload()
    expect(row(page, service)).to_contain_text("Not connected")
    expect(row(page, service)).not_to_contain_text("is disconnected.")


def test_a_question_comes_before_disconnecting(app: App, page: Page) -> None:
    connect(page, app, "standard")
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    dialog = page.locator("connected-accounts dialog")
    for leave in ("Keep", "Escape"):
        act(page, "Disconnect", "standard").click()
        expect(dialog).to_be_visible()
        expect(dialog).to_contain_text("Disconnect \u2068Example Provider\u2069?")
        expect(dialog.get_by_role("button", name="Keep")).to_be_focused()
        if leave == "Keep":
            dialog.get_by_role("button", name="Keep").click()
        else:
            page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(act(page, "Disconnect", "standard")).to_be_focused()
    expect(row(page, "standard")).to_contain_text("Connected as")
    assert posts == []


def test_a_user_who_declines_is_told_so(app: App, page: Page) -> None:
    act(page, "Connect", "recurse-center").click()
    agree(page, "recurse-center", declines=True)
    page.wait_for_url(f"{app.origin}/**")
    expect(row(page, "recurse-center")).to_contain_text("was not connected.")
    expect(row(page, "recurse-center")).to_contain_text("Not connected")
    assert "connected-accounts=" not in page.url
    page.reload()
    expect(row(page, "recurse-center")).to_contain_text("Not connected")
    expect(row(page, "recurse-center")).not_to_contain_text("was not connected.")


def test_a_service_that_fails_is_told_apart_from_a_user_who_declines(app: App, page: Page) -> None:
    app.misbehave("standard POST /token => status 500")
    act(page, "Connect", "standard").click()
    agree(page, "standard")
    page.wait_for_url(f"{app.origin}/**")
    expect(row(page, "standard")).to_contain_text("couldn’t be connected.")


def test_what_the_address_says_of_no_attempt_is_not_believed(app: App, page: Page) -> None:
    for outcome in ("failed", "cancelled", "%3Cb%3E"):
        page.goto(f"{app.origin}/?connected-accounts={outcome}")
        expect(row(page, "standard")).to_contain_text("Not connected")
        assert page.locator("connected-accounts .said:visible").count() == 0
        page.wait_for_function("!location.search.includes('connected-accounts')")


def test_back_from_a_service_claims_nothing(app: App, page: Page) -> None:
    act(page, "Connect", "sequencing").click()
    expect(page.get_by_label("E-mail address")).to_be_visible()
    page.go_back()
    expect(act(page, "Connect", "sequencing")).to_be_visible()
    expect(row(page, "sequencing")).to_contain_text("Not connected")
    assert page.locator("connected-accounts .said:visible").count() == 0


@pytest.mark.parametrize("delay", [0, 1, 6])
def test_disconnecting_is_shown_for_as_long_as_it_takes(app: App, page: Page, delay: int) -> None:
    connect(page, app, "standard")
    if delay:
        app.misbehave(f"standard POST /revoke => delay {delay / 2}")  # two tokens
    disconnect(page, "standard")
    if delay:
        expect(row(page, "standard")).to_contain_text("Disconnecting…")
        expect(act(page, "Cancel", "standard")).to_be_visible()
    if delay > 5:
        expect(row(page, "standard")).to_contain_text("longer than usual", timeout=15_000)
        assert "longer than usual" in said(page)
    expect(row(page, "standard")).to_contain_text("is disconnected.")
    expect(act(page, "Connect", "standard")).to_be_focused()


def test_a_disconnection_whose_answer_is_lost_is_told_once_the_server_has_done_it(app: App, page: Page) -> None:
    connect(page, app, "standard")
    events(page)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/connect/standard/disconnect", lose)
    disconnect(page, "standard")
    expect(row(page, "standard")).to_contain_text("Not connected")
    expect(row(page, "standard")).to_contain_text("is disconnected.")
    expect(row(page, "standard")).not_to_contain_text("Disconnect again")
    assert page.evaluate("heard") == [
        ["failed", {"service": "standard", "reason": "unfinished"}], ["disconnected", {"service": "standard"}]]


def test_a_user_who_stops_waiting_is_told_what_is_known(app: App, page: Page) -> None:
    connect(page, app, "standard")
    app.misbehave("standard POST /revoke => delay 4")
    disconnect(page, "standard")
    act(page, "Cancel", "standard").click()
    expect(row(page, "standard")).to_contain_text(re.compile("may still finish|is disconnected"))
    app.misbehave()
    # The server goes on without the user, and the page that is opened again says what came of it.
    words = {"absent": "Not connected", "signing_out": "isn’t finished", "signed_in": "Connected as"}
    state = "() => fetch('/connect/connected-accounts/standard').then(answer => answer.json()).then(({ state }) => state)"
    deadline = time.monotonic() + 20
    while (now := page.evaluate(state)) == "signed_in" and time.monotonic() < deadline:
        page.wait_for_timeout(100)
    assert now in ("absent", "signing_out"), "what the user has confirmed is not forgotten"
    page.reload()
    expect(row(page, "standard")).to_contain_text(words[page.evaluate(state)])


def test_a_user_who_stops_waiting_hears_when_it_is_done(app: App, page: Page) -> None:
    connect(page, app, "standard")
    events(page)
    app.misbehave("standard POST /revoke => status 503")
    # The server has done what it can when the page still waits for its answer.
    server: list[int] = []
    page.route("**/connect/standard/disconnect", lambda route: server.append(route.fetch().status))
    disconnect(page, "standard")
    expect(row(page, "standard")).to_contain_text("Disconnecting…")
    while not server:
        page.wait_for_timeout(50)
    act(page, "Cancel", "standard").click()
    expect(row(page, "standard")).to_contain_text("Needs attention: disconnecting isn’t finished")
    expect(row(page, "standard")).to_contain_text("Disconnecting may still finish.")
    assert page.evaluate("heard") == [["failed", {"service": "standard", "reason": "unfinished"}]]
    page.unroute_all(behavior="ignoreErrors")
    app.misbehave()
    page.evaluate("""async () => {
      const { accounts } = await (await fetch('/connect/connected-accounts')).json()
      const { token } = accounts.find(({ service }) => service === 'standard')
      await fetch('/connect/standard/disconnect', { method: 'POST', headers: { 'Content-Type': 'application/json' },
                                                    body: JSON.stringify({ token }) })
      document.querySelector('connected-accounts').refresh()
    }""")
    expect(row(page, "standard")).to_contain_text("is disconnected.")
    assert "is disconnected." in said(page)
    assert page.evaluate("heard").pop() == ["disconnected", {"service": "standard"}]


def test_a_user_who_stops_the_opening_is_told_and_so_is_the_page(app: App, page: Page) -> None:
    events(page)
    # The service does not open: an answer without content leads to no other page.
    page.route("**/connect/standard/start**", lambda route: route.fulfill(status=204))
    act(page, "Connect", "standard").click()
    expect(row(page, "standard")).to_contain_text("Opening")
    act(page, "Cancel", "standard").click()
    expect(row(page, "standard")).to_contain_text("was not connected.")
    assert page.evaluate("heard") == [["failed", {"service": "standard", "reason": "cancelled"}]]


def test_a_pause_that_the_server_asks_for_is_told_as_one(app: App, page: Page) -> None:
    connect(page, app, "standard")
    events(page)
    page.route("**/connect/standard/disconnect",
               lambda route: route.fulfill(status=429, content_type="application/json", body="{}"))
    disconnect(page, "standard")
    expect(row(page, "standard")).to_contain_text("Too many attempts.")
    expect(row(page, "standard")).to_contain_text("Connected as")
    assert page.evaluate("heard") == [["failed", {"service": "standard", "reason": "too_many"}]]


def test_a_service_that_does_not_confirm_needs_attention_until_it_does(app: App, page: Page) -> None:
    connect(page, app, "standard")
    app.misbehave("standard POST /revoke => status 503")
    events(page)
    disconnect(page, "standard")
    expect(row(page, "standard")).to_contain_text("Needs attention: disconnecting isn’t finished")
    expect(row(page, "standard")).to_contain_text("didn’t confirm.")
    assert page.evaluate("heard") == [["failed", {"service": "standard", "reason": "unfinished"}]]
    app.misbehave()
    disconnect(page, "standard")
    expect(row(page, "standard")).to_contain_text("Not connected")


def test_an_account_that_the_service_refuses_is_connected_again(app: App, page: Page) -> None:
    connect(page, app, "recurse-center")
    app.misbehave("recurse-center /api/v1/profiles/me => status 401",
                  'recurse-center POST /oauth/token => status 400 {"error":"invalid_grant"}')
    page.get_by_role("button", name="Use them now").click()
    expect(row(page, "recurse-center")).to_contain_text("Needs attention: reconnect")
    app.misbehave()
    act(page, "Reconnect", "recurse-center").click()
    agree(page, "recurse-center")
    page.wait_for_url(f"{app.origin}/**")
    expect(row(page, "recurse-center")).to_contain_text("Connected as")
    expect(row(page, "recurse-center")).to_contain_text("is connected.")


def samples(text: str) -> tuple[dict[str, str], dict[str, dict[frozenset[tuple[str, str]], float]]]:
    """Figures in Prometheus' text form: the type of each, and the values by name and labels."""
    types: dict[str, str] = {}
    values: dict[str, dict[frozenset[tuple[str, str]], float]] = {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.removeprefix("# TYPE ").split(" ")
            assert name not in types, f"{name} has two types"
            types[name] = kind
            continue
        match = re.fullmatch(r'([a-z_]+)(?:\{((?:[a-z_]+="[^"]*",?)*)\})? (\S+)', line)
        assert match, line
        labels = frozenset(re.findall(r'([a-z_]+)="([^"]*)"', match[2] or ""))
        assert labels not in values.setdefault(match[1], {}), line
        values[match[1]][labels] = float(match[3])
    return types, values


def test_the_figures_have_types_labels_and_whole_histograms_after_a_refresh(app: App, page: Page) -> None:
    connect(page, app, "recurse-center")
    # The service takes no access token, so the app gets another one.
    app.misbehave("recurse-center /api/v1/profiles/me => status 401")
    with page.expect_response(f"{app.origin}/use"):
        page.get_by_role("button", name="Use them now").click()
    app.misbehave()
    answer = http().get(f"{app.origin}/metrics", timeout=10)
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "text/plain; version=0.0.4"
    types, values = samples(answer.text)
    service = ("service", "recurse-center")
    assert types["handshake_refreshes_total"] == "counter"
    assert values["handshake_refreshes_total"][frozenset({service, ("outcome", "refreshed")})] >= 1
    assert values["handshake_sign_ins_total"][frozenset({service, ("outcome", "signed_in")})] >= 1
    for name in ("handshake_token_request_seconds", "handshake_vault_wait_seconds"):
        assert types[name] == "histogram" and name not in values
        for labels, count in values[f"{name}_count"].items():
            assert 0 < values[f"{name}_sum"][labels] <= 60 * count
            buckets = sorted((float(dict(all_labels)["le"]), value) for all_labels, value in values[f"{name}_bucket"].items()
                             if labels == {label for label in all_labels if label[0] != "le"})
            assert buckets[-1] == (float("inf"), count) and len(buckets) > 10
            assert [value for _, value in buckets] == sorted(value for _, value in buckets), "buckets count all below them"
    assert frozenset({service}) in values["handshake_token_request_seconds_count"]
    # Every sample is of a figure with a type, and none names a user.
    ends = ("_bucket", "_sum", "_count", "")
    assert all(any(name.removesuffix(end) in types for end in ends) for name in values)
    assert '"ada"' not in answer.text


def test_a_restart_ends_no_log_in_and_a_log_out_lasts(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    # The services have the same addresses each time: accounts belong to them.
    arguments = ["--folder", str(folder), "--sandbox-port", str(random.randrange(20_000, 30_000, 10))]
    with open_app(*arguments) as app:
        log_in(page, app)
        connect(page, app, "standard")
        cookie = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "session")
    stored = folder / "sessions.json"
    assert stored.stat().st_mode & 0o777 == 0o600 and cookie not in stored.read_text(), "a reader of the file cannot log in"
    with open_app(*arguments) as app:
        page.goto(app.origin)
        expect(row(page, "standard")).to_contain_text("Connected as")
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Password")).to_be_visible()
    assert json.loads(stored.read_text()) == {}
    with open_app(*arguments) as app:
        page.context.add_cookies([{"name": "session", "value": cookie, "url": app.origin}])
        page.goto(app.origin)
        expect(page.get_by_label("Password")).to_be_visible()
    # A damaged file costs log-ins, not the app.
    stored.write_text("{")
    with open_app(*arguments) as app:
        log_in(page, app)


@contextmanager
def blocked(path: Path) -> Iterator[None]:
    """A folder at this path that the app cannot remove."""
    path.mkdir()
    (path / "file").touch()
    path.chmod(0)
    # Permissions do not stop root.
    is_immutable = os.geteuid() == 0
    try:
        if is_immutable and subprocess.run(["chattr", "+i", path], check=False).returncode != 0:
            pytest.skip("root cannot make a folder immutable here")
        yield
    finally:
        if is_immutable:
            subprocess.run(["chattr", "-i", path], check=False)
        path.chmod(0o700)


def test_a_log_out_that_cannot_be_stored_outlasts_a_restart(page: Page, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    arguments = ["--folder", str(folder), "--sandbox-port", str(random.randrange(20_000, 30_000, 10))]
    with open_app(*arguments) as app:
        log_in(page, app)
        cookie = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "session")
        with blocked(folder / "sessions.json.new"):
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_label("Password")).to_be_visible()
    with open_app(*arguments) as app:
        page.context.add_cookies([{"name": "session", "value": cookie, "url": app.origin}])
        page.goto(app.origin)
        expect(page.get_by_label("Password")).to_be_visible()
        log_in(page, app)  # which is stored again
    assert (folder / "sessions.json").is_file()


def test_another_user_of_the_app_sees_nothing_of_it(app: App, page: Page, open_page) -> None:
    connect(page, app, "standard")
    other = open_page()
    log_in(other, app, "grace")
    expect(row(other, "standard")).to_contain_text("Not connected")
    token = page.evaluate("async () => (await (await fetch('/connect/connected-accounts/standard')).json()).token")
    status = other.evaluate("""async token => (await fetch('/connect/standard/disconnect', { method: 'POST',
      headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token }) })).status""", token)
    assert status == 403
    page.reload()
    expect(row(page, "standard")).to_contain_text("Connected as")


def test_another_tab_is_right_when_it_is_looked_at_again(app: App, page: Page) -> None:
    other = page.context.new_page()
    other.goto(app.origin)
    expect(row(other, "standard")).to_contain_text("Not connected")
    connect(page, app, "standard")
    other.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(row(other, "standard")).to_contain_text("Connected as")


def test_loading_is_shown_can_be_stopped_and_tried_again(app: App, page: Page) -> None:
    page.route("**/connect/connected-accounts", lambda route: None)  # never answers
    page.reload()
    element = page.locator("connected-accounts")
    expect(element.locator(".pane")).to_contain_text("Loading…")
    element.get_by_role("button", name="Cancel").click()
    expect(element.locator(".pane")).to_contain_text("Loading was canceled.")
    expect(element.get_by_role("button", name="Try again")).to_be_focused()
    page.unroute_all(behavior="ignoreErrors")
    element.get_by_role("button", name="Try again").click()
    expect(row(page, "standard")).to_be_visible()


@pytest.mark.parametrize("status, body, text", [
    (500, "{}", "can’t be reached"), (200, "<html>", "can’t be reached"), (200, '{"accounts":{}}', "can’t be reached"),
    (200, '{"accounts":[null,7,{"service":"../x"}]}', "can’t be reached"), (429, "{}", "Too many"), (401, "{}", "logged out"),
])
def test_what_is_no_list_is_said_in_words(app: App, page: Page, status: int, body: str, text: str) -> None:
    page.route("**/connect/connected-accounts", lambda route: route.fulfill(status=status, body=body))
    page.reload()
    expect(page.locator("connected-accounts .pane")).to_contain_text(text)
    assert text in said(page)
    assert violations(page) == []


def test_an_answer_that_is_too_long_is_no_list(app: App, page: Page) -> None:
    account = dict(service="standard", name="Example Provider", state="absent", user=None, is_name_available=False, last_use=None, token="t")
    lengths = [1024 * 1024 + 1, 0]
    def answer(route: Route) -> None:
        body = json.dumps({"accounts": [account]})
        route.fulfill(content_type="application/json", body=body + " " * (lengths.pop(0) - len(body) if len(lengths) > 1 else 0))
    page.route("**/connect/connected-accounts", answer)
    page.reload()
    expect(page.locator("connected-accounts .pane")).to_contain_text("can’t be reached")
    page.locator("connected-accounts").get_by_role("button", name="Try again").click()
    expect(row(page, "standard")).to_contain_text("Not connected")


@pytest.mark.parametrize("base", ["https://elsewhere.example/connect", "//elsewhere.example/connect", "http://localhost/connect", "data:text/plain,"])
def test_a_server_of_another_origin_is_not_asked(app: App, page: Page, base: str) -> None:
    """It would get the tokens that disconnect. Its list is none, and the list of the page's own server goes with the address."""
    page.evaluate("""() => {
      const { fetch } = window
      window.asked = []
      window.fetch = (address, ...more) => { asked.push(String(address)); return fetch(address, ...more) }
    }""")
    element = page.locator("connected-accounts")
    element.evaluate("(element, base) => element.setAttribute('base', base)", base)
    expect(element.locator(".pane")).to_contain_text("can’t be reached")
    expect(element.locator(".row:visible")).to_have_count(0)
    element.get_by_role("button", name="Try again").click()
    expect(element.locator(".pane")).to_contain_text("can’t be reached")
    assert page.evaluate("asked") == []
    element.evaluate("element => element.setAttribute('base', '/connect')")
    expect(row(page, "standard")).to_contain_text("Not connected")
    assert page.evaluate("asked") == [f"{app.origin}/connect/connected-accounts"]


def test_names_from_elsewhere_are_text(app: App, page: Page) -> None:
    page.route("**/connect/connected-accounts", lambda route: route.fulfill(json={"accounts": [
        {"service": "standard", "name": "<img src=x onerror=alert(1)>", "state": "signed_in", "user": "\u202e<b>evil</b>$1$&",
         "is_name_available": False, "last_use": 1e300, "token": "t"}]}))
    page.reload()
    expect(row(page, "standard")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(row(page, "standard")).to_contain_text("Connected as \u2068<b>evil</b>$1$&\u2069")
    assert page.locator("connected-accounts img").count() == 0


def test_a_time_that_is_no_date_breaks_no_list(app: App, page: Page) -> None:
    accounts = [dict(service=f"s{at}", name=f"Service {at}", state="signed_in", user="Ada", is_name_available=False, last_use=value, token="t")
                for at, value in enumerate([8.65e12, -1e15, 1e308, "yesterday", None, 1_700_000_000])]
    page.route("**/connect/connected-accounts", lambda route: route.fulfill(json={"accounts": accounts}))
    page.reload()
    expect(page.locator("connected-accounts .row:visible")).to_have_count(len(accounts))
    for at in range(5):
        expect(row(page, f"s{at}")).not_to_contain_text("Last used")
    expect(row(page, "s5")).to_contain_text("Last used")


def test_a_last_use_is_told_by_its_age_and_not_by_the_calendar(app: App, page: Page) -> None:
    """47 hours ago may be the day before yesterday."""
    ago = page.evaluate("""hours => hours.map(age => document.querySelector('connected-accounts').ago(Date.now() - age * 3_600_000))""",
                        [-1, 0, 47, 13 * 24, 59 * 24, 709 * 24])
    assert ago == ["1 second ago", "1 second ago", "1 day ago", "1 week ago", "1 month ago", "1 year ago"]


def listed(page: Page, *answers: dict, base: str = "connect") -> None:
    """Each request for the list is answered with the next answer, and at the end with the last one."""
    left = list(answers)
    account = dict(service="standard", name="Example Provider", state="signed_in", user=None, is_name_available=False, last_use=None, token="ada")
    page.route(f"**/{base}/connected-accounts", lambda route: route.fulfill(json={"accounts": [account | (left.pop(0) if len(left) > 1 else left[0])]}))


def test_the_name_of_one_user_is_not_shown_to_the_next(app: App, page: Page) -> None:
    listed(page, {"user": "Ada"}, {"token": "grace"})
    page.reload()
    expect(row(page, "standard")).to_contain_text("Connected as \u2068Ada\u2069")
    page.evaluate("document.querySelector('connected-accounts').refresh()")
    expect(row(page, "standard")).not_to_contain_text("Ada")
    expect(row(page, "standard")).to_contain_text("Connected")


def test_a_name_that_was_looked_up_for_one_user_is_not_shown_to_the_next(app: App, page: Page) -> None:
    listed(page, {"is_name_available": True}, {"token": "grace"})
    asked = []
    page.route("**/connect/connected-accounts/standard", lambda route: asked.append(route))
    page.reload()
    expect(row(page, "standard")).to_contain_text("Connected")
    while not asked:
        page.wait_for_timeout(20)
    page.evaluate("document.querySelector('connected-accounts').refresh()")
    asked[0].fulfill(json=dict(service="standard", name="Example Provider", state="signed_in", user="Ada", is_name_available=True, last_use=None, token="ada"))
    page.evaluate("() => new Promise(done => setTimeout(done))")
    expect(row(page, "standard")).not_to_contain_text("Ada")


@pytest.mark.parametrize("after", [{"token": "grace"}, {"state": "absent"}, {"service": "other"}], ids=["user", "state", "service"])
def test_a_question_is_taken_back_when_its_account_is_another(app: App, page: Page, after: dict) -> None:
    listed(page, {"user": "Ada"}, after)
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    page.reload()
    act(page, "Disconnect", "standard").click()
    dialog = page.locator("connected-accounts dialog")
    expect(dialog).to_be_visible()
    page.evaluate("document.querySelector('connected-accounts').refresh()")
    expect(dialog).to_be_hidden()
    assert posts == []


# The page remembers which of its requests have ended, with the whole answer or without one.
ENDED = """(() => { const { fetch } = window; window.ended = []
  window.fetch = async (...given) => {
    try { const answer = await fetch(...given); return new Response(await answer.text(), answer) } finally { ended.push(String(given[0])) } } })()"""


@pytest.mark.parametrize("what", ["disconnection", "name"])
def test_a_session_that_ended_at_one_server_leaves_the_list_of_another(app: App, page: Page, what: str) -> None:
    listed(page, {"user": "Ada"} if what == "disconnection" else {"is_name_available": True})
    listed(page, {"user": "Grace", "token": "grace"}, base="other")
    held: list[Route] = []
    page.add_init_script(ENDED)
    path = "standard/disconnect" if what == "disconnection" else "connected-accounts/standard"
    page.route(f"**/connect/{path}", lambda route: held.append(route))
    page.reload()
    expect(row(page, "standard")).to_contain_text("Connected")
    events(page)
    if what == "disconnection":
        disconnect(page, "standard")
    while not held:
        page.wait_for_timeout(20)
    page.evaluate("document.querySelector('connected-accounts').setAttribute('base', '/other')")
    expect(row(page, "standard")).to_contain_text("Connected as \u2068Grace\u2069")
    with suppress(Error):  # what is given up needs no answer
        held[0].fulfill(status=401, body="{}")
    page.wait_for_function("path => ended.some(address => address.endsWith(path))", arg=f"/connect/{path}")
    # The component reads the answer before this one.
    page.evaluate("() => new Response('{}').text().then(() => new Promise(done => setTimeout(done)))")
    expect(row(page, "standard")).to_contain_text("Connected as \u2068Grace\u2069")
    assert "logged out" not in said(page) and "disconnected" not in said(page)
    assert page.evaluate("heard") == []


def test_a_list_from_the_history_is_not_shown_before_its_server_was_asked(app: App, page: Page) -> None:
    connect(page, app, "standard")
    asked = []
    page.route("**/connect/connected-accounts", lambda route: asked.append(route))
    page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect(row(page, "standard")).to_be_hidden()
    while not asked:
        page.wait_for_timeout(20)
    asked[0].continue_()
    expect(row(page, "standard")).to_be_visible()


def test_offline_is_said_once_and_ends_by_itself(app: App, page: Page) -> None:
    page.context.set_offline(True)
    banner = page.locator("connected-accounts .banner")
    expect(banner).to_contain_text("You’re offline.")
    page.evaluate("document.querySelector('connected-accounts').refresh()")
    expect(page.locator("connected-accounts .card").get_by_text("offline").filter(visible=True)).to_have_count(1)
    act(page, "Connect", "standard").click(force=True)
    expect(row(page, "standard")).not_to_contain_text("Opening")
    picture(page, "offline")
    assert violations(page) == []
    page.context.set_offline(False)
    expect(banner).to_be_hidden()
    expect(row(page, "standard")).to_contain_text("Not connected")


def test_a_server_that_answers_is_used_whatever_the_browser_says_of_the_network(app: App, page: Page) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'onLine', { get: () => false })")
    page.reload()
    banner = page.locator("connected-accounts .banner")
    expect(row(page, "standard")).to_contain_text("Not connected")
    expect(banner).to_be_hidden()
    page.evaluate("window.dispatchEvent(new Event('offline'))")
    expect(banner).to_be_hidden()
    assert "offline" not in said(page)
    # The server stands still for a moment, and no event says when it is back.
    page.route("**/connect/connected-accounts", lambda route: route.abort())
    page.evaluate("document.querySelector('connected-accounts').refresh()")
    expect(banner).to_contain_text("You’re offline.")
    assert "offline" in said(page)
    page.unroute("**/connect/connected-accounts")
    banner.get_by_role("button", name="Try again").click()
    expect(banner).to_be_hidden()
    act(page, "Connect", "standard").click()
    page.wait_for_url(lambda url: not url.startswith(f"{app.origin}/"))


def test_a_session_that_ended_is_told_also_where_the_browser_says_that_it_is_offline(app: App, page: Page) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'onLine', { get: () => false })")
    page.route("**/connect/connected-accounts", lambda route: route.fulfill(status=401, body="{}"))
    page.reload()
    pane = page.locator("connected-accounts .pane")
    expect(pane).to_contain_text("You’re logged out")
    expect(pane.get_by_role("link", name="Log in")).to_be_visible()
    assert "logged out" in said(page)


def test_a_session_that_ended_leaves_nothing_on_the_page(app: App, page: Page) -> None:
    connect(page, app, "standard")
    page.context.clear_cookies(name="session")
    page.evaluate("document.querySelector('connected-accounts').refresh()")
    element = page.locator("connected-accounts")
    expect(element.locator(".pane")).to_contain_text("You’re logged out")
    expect(element.locator(".row:visible")).to_have_count(0)
    expect(element.get_by_role("link", name="Log in")).to_be_visible()
    log_in(page, app)


def test_the_whole_way_by_keyboard(app: App, page: Page) -> None:
    person = ShadowPerson(page)
    person.go_to("Connect")
    page.keyboard.press("Enter")
    expect(page.get_by_label("E-mail address")).to_be_visible()
    agree(page, "sequencing")
    page.wait_for_url(f"{app.origin}/**")
    expect(row(page, "sequencing")).to_contain_text("Connected as")
    person.go_to("Disconnect")
    page.keyboard.press("Enter")
    expect(page.locator("connected-accounts dialog")).to_be_visible()
    person.see_focus()
    page.keyboard.press("Tab")
    person.see_focus()
    page.keyboard.press("Enter")
    expect(row(page, "sequencing")).to_contain_text("Not connected")
    expect(act(page, "Connect", "sequencing")).to_be_focused()
    person.see_focus()


@pytest.mark.parametrize("locale", LOCALES)
def test_every_locale_fits_320_pixels(app: App, page: Page, locale: str) -> None:
    accounts = [dict(service=f"s{at}", name="Sequencing.com", state=state, user="Ada Example-Longname", is_name_available=False,
                     last_use=time.time() - 86_400 * 40, token="t")
                for at, state in enumerate(["absent", "signed_in", "sign_in_required", "signing_out"])]
    page.route("**/connect/connected-accounts", lambda route: route.fulfill(json={"accounts": accounts}))
    page.set_viewport_size({"width": 320, "height": 900})
    page.goto(app.origin)
    page.evaluate("locale => document.querySelector('connected-accounts').setAttribute('locale', locale)", locale)
    expect(page.locator("connected-accounts .card")).to_have_attribute("lang", locale)
    assert overflow(page, ".unseen, .bones, .bones *") == []
    assert violations(page) == []
    picture(page, f"{locale}-320")
    page.locator("connected-accounts button:visible").first.click()
    expect(page.locator("connected-accounts dialog")).to_be_visible()
    assert overflow(page, ".unseen, .bones, .bones *") == []
    assert violations(page) == []


@pytest.mark.parametrize("tag, locale", [
    ("de-AT", "de"), ("en-AU", "en-GB"), ("es-MX", "es-419"), ("pt", "pt-BR"), ("zh-HK", "zh-Hant"), ("zh", "zh-Hans"),
    ("nn", "nb"), ("xx", "en-US"), ("ar", "en-US"), ("!", "en-US"), ("yue-Hans", "zh-Hans"),
])
def test_a_tag_has_the_locale_that_swift_gives_it(app: App, page: Page, tag: str, locale: str) -> None:
    page.evaluate("tag => document.querySelector('connected-accounts').setAttribute('locale', tag)", tag)
    expect(page.locator("connected-accounts .card")).to_have_attribute("lang", locale)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1024, 390, 320])
@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_the_page_in_every_light(app: App, page: Page, scheme: str, width: int, direction: str) -> None:
    connect(page, app, "standard")
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate("direction => { document.documentElement.dir = direction }", direction)
    assert overflow(page, ".unseen, .bones, .bones *") == []
    assert violations(page) == []
    picture(page, f"{scheme}-{width}-{direction}")
    name, button = row(page, "standard").locator(".name"), act(page, "Disconnect", "standard")
    if width == 1024:
        before = name.bounding_box()["x"] < button.bounding_box()["x"]  # type: ignore[index]
        assert before == (direction == "ltr")
    act(page, "Disconnect", "standard").click()
    assert violations(page) == []
    picture(page, f"question-{scheme}-{width}-{direction}")
    page.keyboard.press("Escape")


def test_waiting_is_free_of_what_axe_finds(app: App, page: Page) -> None:
    connect(page, app, "standard")
    app.misbehave("standard POST /revoke => delay 2")
    disconnect(page, "standard")
    expect(row(page, "standard")).to_contain_text("Disconnecting…")
    assert violations(page) == []
    picture(page, "waiting")
    expect(row(page, "standard")).to_contain_text("is disconnected.")
