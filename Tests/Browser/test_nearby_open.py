"""`handshake nearby open`: the companion's page, with two people who hear each other and a circle's server."""

import itertools
import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Page, Route, expect

import bluez
from button_visit import until
from circles import ADA, ZOE, Circle, Member, serving
from command import Handshake, Running
from person import Person, overflow, violations
from sandbox import artefact

reason = bluez.missing()
pytestmark = pytest.mark.skipif(reason is not None, reason=reason or "")
NAME = "Ada Example"


@dataclass
class Scene:
    """Zoë has the page open, and Ada is near, whose profile has a photo."""

    circle: Circle
    zoe: Member
    ada: Member
    one: bluez.Air
    running: Running
    link: str

    @property
    def origin(self) -> str:
        return self.link.split("/?")[0]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with serving(tmp_path / "circle") as circle, bluez.room() as (one, other):
        zoe, ada = Member(circle, ZOE, tmp_path / "zoe", one), Member(circle, ADA, tmp_path / "ada", other)
        try:
            for member in (ada, zoe):
                member.join()
            ada.nearby("circle", "sync")
            ada.watch()
            running = zoe.command.start("nearby", "open", "--browser", "print", "--json", "--advertise", "rolling")
            link = json.loads(running.line())["url"]
            yield Scene(circle, zoe, ada, one, running, link)
        finally:
            for member in (zoe, ada):
                member.command.end()


@pytest.fixture
def link(handshake: Handshake) -> Iterator[str]:
    """The page of a user who is in no circle and hears no one: enough where a test writes the state that the page gets."""
    with bluez.air() as air:
        handshake.environment |= air.environment
        running = handshake.start("nearby", "open", "--browser", "print", "--json")
        yield json.loads(running.line())["url"]
        handshake.end()


@pytest.fixture
def here(scene: Scene, page: Page) -> Page:
    page.goto(scene.link)
    expect(page.locator("#people")).to_contain_text(NAME)
    return page


def answer(page: Page, button: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()


def test_who_is_near_is_shown_with_photo(scene: Scene, page: Page) -> None:
    page.goto(scene.link)
    card = page.locator("#people li", has_text=NAME)
    expect(card).to_be_visible()
    expect(card.locator("img.face")).to_be_visible()
    assert card.locator("img.face").evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    # A service UUID says nothing of its strength, so how near is a guess.
    expect(card).to_contain_text("a few metres away (rough)")
    expect(card).not_to_contain_text("about")
    expect(card).to_contain_text(re.compile(r"since \d"))
    expect(page.get_by_role("status")).to_contain_text(f"{NAME} is near")
    expect(page.locator("#radio")).to_contain_text("others can notice you")
    expect(page).to_have_title("(1) People nearby")
    assert "key=" not in page.url


def test_the_link_opens_one_page_and_no_other_site_reads_it(scene: Scene, here: Page, open_page) -> None:
    second = open_page()
    second.goto(scene.link)
    expect(second.locator("#radio")).to_contain_text("opened already")
    expect(second.locator("#people li")).to_have_count(0)
    # The first one goes on, also after it is loaded again.
    here.reload()
    expect(here.locator("#people")).to_contain_text(NAME)
    for path in ("/state", "/log", "/members", f"/photo/{ADA}"):
        assert requests.get(scene.origin + path, timeout=10).status_code == 401
        assert requests.get(scene.origin + path, headers={"Authorization": "Bearer x"}, timeout=10).status_code == 401
    assert requests.post(scene.origin + "/do", json={"do": "stop"}, timeout=10).status_code == 401
    assert requests.post(scene.origin + "/session", json={"key": "x"}, timeout=10).status_code == 403
    foreign = {"Host": "evil.example"}
    assert requests.get(scene.origin + "/", headers=foreign, timeout=10).status_code == 421
    assert requests.get(scene.origin + "/", headers={"Origin": "http://evil.example"}, timeout=10).status_code == 403
    first = requests.get(scene.origin + "/", timeout=10)
    assert "default-src 'none'" in first.headers["Content-Security-Policy"] and "Ada" not in first.text
    assert "Set-Cookie" not in first.headers


def test_the_users_own_program_is_recognised_behind_an_ipv6_socket(scene: Scene) -> None:
    """Such a connection is in a table of its own, and one in neither table is another user's."""
    port, content = int(scene.origin.rsplit(":", 1)[1]), json.dumps({"key": scene.link.split("key=")[1]})
    with socket.socket(socket.AF_INET6) as program:
        program.connect(("::ffff:127.0.0.1", port))
        program.sendall(f"POST /session HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                        f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n{content}".encode())
        answer = program.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 200 ") and '"token"' in answer, answer


@pytest.mark.long
@pytest.mark.timeout(500)
def test_a_person_who_goes_is_in_the_log(scene: Scene, here: Page) -> None:
    here.get_by_role("button", name="Show the newest").click()
    expect(here.locator("#entries")).to_contain_text(NAME)
    scene.ada.command.end()
    # Who was not heard for five minutes has gone.
    expect(here.locator("#empty")).to_be_visible(timeout=400_000)
    expect(here.locator("#people li")).to_have_count(0)


def test_the_log_has_strength_and_a_rough_distance(scene: Scene, here: Page) -> None:
    here.get_by_role("button", name="Show the newest").click()
    cells = here.locator("#entries tr", has_text=NAME).locator("td")
    expect(cells.nth(3)).to_have_text("a few metres away (rough)")
    expect(cells.nth(4)).to_have_text("-61 dBm")


def people(*numbers: int) -> str:
    """A state of the page, as the command sends it."""
    rows = [{"person": number, "name": f"Person {number}", "batch": None, "page": None, "proximity": "unknown", "rough": False,
             "metres": None, "trust": "unverified", "shows_face": False, "suspect": False, "relayed": False, "since": 0} for number in numbers]
    state = {"own": None, "listen": "listening", "send": "silent", "sends": False, "people": rows, "troubles": [], "answers": [],
             "waiting": [], "quiet": None, "circles": [], "joining": None, "said": {"text": "", "count": 0}}
    return f"data: {json.dumps(state)}\n\n"


def test_the_log_is_read_when_one_comes_as_another_leaves_and_each_minute(link: str, page: Page) -> None:
    """And in a crowd, where people come each second, once in ten seconds: the whole log is decrypted each time."""
    page.clock.install()
    reads: list[str] = []
    page.on("request", lambda request: reads.append(request.url) if request.url.endswith("/log") else None)
    states = iter([people(1), people(1), people(2)])
    page.route("**/state", lambda route: route.fulfill(
        status=200, content_type="text/event-stream", body=next(states, people(2))))

    def follow(number: int) -> None:
        # The stand-in's answers end, so the page asks again after its pause.
        page.clock.run_for(600)
        expect(page.locator("#people")).to_contain_text(f"Person {number}")

    page.goto(link)
    expect(page.locator("#people")).to_contain_text("Person 1")
    page.wait_for_function("document.querySelector('#empty').hidden")
    assert len(reads) == 1
    follow(1)
    assert len(reads) == 1, "no person came or went"
    follow(2)  # as many people, but another one
    assert len(reads) == 1, "the log was read a moment ago"
    with page.expect_request("**/log"):
        page.clock.run_for(10_000)
    assert len(reads) == 2
    with page.expect_request("**/log"):
        page.clock.run_for(61_000)


@pytest.mark.parametrize(("mode", "text"), [
    ("rolling", "an identifier that changes every quarter of an hour"), ("static", "your number, which never changes")])
def test_the_page_says_what_others_see(link: str, page: Page, mode: str, text: str) -> None:
    state = json.loads(people(1).removeprefix("data: ")) | {"mode": mode}
    page.route("**/state", lambda route: route.fulfill(
        status=200, content_type="text/event-stream", body=f"data: {json.dumps(state)}\n\n"))
    page.goto(link)
    expect(page.locator("#people")).to_contain_text("Person 1")
    expect(page.locator("#sent-as")).to_contain_text(text)


@pytest.mark.parametrize(("trust", "text"), [("unverified", "unverified"), ("file", "by keys from a file"), ("paired", "")])
def test_a_card_says_how_sure_it_is_who_the_person_is(link: str, page: Page, trust: str, text: str) -> None:
    """CI20: a file of keys names a person, and does not show who made it. Then there is no face either."""
    state = json.loads(people(1).removeprefix("data: "))
    state["people"][0] |= {"trust": trust, "shows_face": trust == "paired"}
    faces: list[str] = []
    page.on("request", lambda request: faces.append(request.url) if "/photo/" in request.url else None)
    page.route("**/state", lambda route: route.fulfill(
        status=200, content_type="text/event-stream", body=f"data: {json.dumps(state)}\n\n"))
    if trust == "paired":
        with page.expect_request(lambda request: "/photo/" in request.url):
            page.goto(link)
    else:
        page.goto(link)
    card = page.locator("#people li")
    expect(card).to_contain_text("Person 1")
    for doubt in ("unverified", "by keys from a file"):
        if doubt == text:
            expect(card).to_contain_text(doubt)
        else:
            expect(card).not_to_contain_text(doubt)
    assert trust == "paired" or not faces


def test_each_circle_has_its_own_photo_of_a_number(link: str, page: Page) -> None:
    page.goto(link)
    expect(page.locator("#radio")).to_contain_text("listening")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/photo/")[2]) if "/photo/36" in request.url else None)
    one, other = "00" * 16, "11" * 16
    for circle in (one, other, one, None):
        page.evaluate("person => photo(person)", {"person": 36, "circle": circle})
    assert asked == [f"36?circle={one}", f"36?circle={other}", "36"]


def test_a_circle_whose_members_cannot_notice_the_user_is_named(link: str, page: Page) -> None:
    silence = "Since 2026-01-05 00:00:00 +00:00 others in Hub cannot notice you"
    settings = {"photo": True, "batch": True, "waves": True, "others_photos": True}
    hub = {"address": "https://circle.example/hub", "circle": "Hub", "number": 7, "name": "Zoë", "paused": False, "members": 2,
           "expires_at": None, "trouble": None, "settings": settings, "has_photo": True, "hidden": [], "hidden_names": {},
           "ignored": [], "ignored_names": {}, "told": True, "silence": silence}
    state = json.loads(people(1).removeprefix("data: ")) | {"circles": [hub], "send": "sending"}
    page.route("**/state", lambda route: route.fulfill(
        status=200, content_type="text/event-stream", body=f"data: {json.dumps(state)}\n\n"))
    page.goto(link)
    expect(page.locator("#joined > li", has_text="Hub")).to_contain_text(silence)
    # The stand-in's answer ends, and the line then says that nothing answers: so it is drawn and read in one turn.
    for mode, silent in (("rolling", ", but not in Hub"), ("static", "")):
        radio = page.evaluate("mode => { show({ ...state, mode }); return $('radio').textContent }", mode)
        assert radio == f"Bluetooth: listening; others can notice you{silent}."


def test_members_of_a_table_that_cannot_be_read_are_not_counted_as_none(link: str, page: Page) -> None:
    trouble = "The table of Hub on this device cannot be read"
    settings = {"photo": True, "batch": True, "waves": True, "others_photos": True}
    hub = {"address": "https://circle.example/hub", "circle": "Hub", "number": 7, "name": "Zoë", "paused": False, "members": None,
           "expires_at": None, "trouble": trouble, "settings": settings, "has_photo": True, "hidden": [], "hidden_names": {},
           "ignored": [], "ignored_names": {}, "told": True}
    state = json.loads(people(1).removeprefix("data: ")) | {"circles": [hub]}
    page.route("**/state", lambda route: route.fulfill(
        status=200, content_type="text/event-stream", body=f"data: {json.dumps(state)}\n\n"))
    page.goto(link)
    circle = page.locator("#joined > li", has_text="Hub")
    expect(circle).to_contain_text("You are Zoë, number 7; the others are not known now")
    expect(circle).to_contain_text(trouble)
    circle.get_by_text("Members", exact=True).click()
    expect(circle.locator(".members").first).to_have_text("The other members are not known now.")


def test_a_member_is_hidden_from(scene: Scene, here: Page) -> None:
    circle = here.locator("#joined li.card", has_text="Recurse Center")
    circle.get_by_text("Members", exact=True).click()
    expect(circle.locator(".members li")).to_have_count(1)
    circle.get_by_role("button", name=f"Hide: {NAME}").click()
    answer(here, "Keep")
    circle.get_by_role("button", name=f"Hide: {NAME}").click()
    answer(here, "Hide")
    expect(here.get_by_role("status")).to_contain_text("no longer see each other")
    expect(circle.locator(".members").first).to_contain_text("No other members")
    expect(circle).to_contain_text("0 others")
    assert scene.zoe.members() == []
    expect(here.locator("#people li")).to_have_count(0, timeout=90_000)
    expect(here.get_by_text("No one is near now.")).to_be_visible()
    # The page has the photo of who is hidden no more.
    until(here, "faces.size === 0")
    # What was hidden is found in the circle's settings, and undone there.
    circle.get_by_text("Settings", exact=True).click()
    # The log of the day still has the name, until the person is forgotten.
    unhide = circle.get_by_role("button", name=f"Unhide: {NAME}, number {ADA}", exact=True)
    expect(circle.locator(".hidden-people li span")).to_have_text(f"{NAME}, number {ADA}")
    scene.zoe.nearby("forget", str(ADA))
    circle.get_by_role("button", name="Fetch the table").click()
    unhide = circle.get_by_role("button", name=f"Unhide: number {ADA}", exact=True)
    expect(circle.locator(".hidden-people li span")).to_have_text(f"Number {ADA}. This device does not keep the name.")
    unhide.click()
    answer(here, "Keep")
    unhide.click()
    answer(here, "Unhide")
    expect(here.get_by_role("status")).to_contain_text(f"Number {ADA} and you see each other again")
    expect(circle).to_contain_text("You hide from no one.")
    scene.ada.nearby("circle", "sync")
    scene.zoe.nearby("circle", "sync")
    assert scene.zoe.members() == [(ADA, NAME)]


def test_a_member_who_was_forgotten_is_ignored_until_that_is_ended(scene: Scene, here: Page) -> None:
    """CI57, on the page."""
    circle = here.locator("#joined li.card", has_text="Recurse Center")
    circle.get_by_text("Settings", exact=True).click()
    expect(here.get_by_role("status")).to_contain_text("The settings are current.")
    expect(circle).to_contain_text("You ignore no one.")
    here.get_by_role("button", name=f"Forget: {NAME}").click()
    answer(here, "Forget")
    expect(here.get_by_role("status")).to_contain_text("To undo it: Ignored people, in the circle's settings.")
    # The name is forgotten too.
    expect(circle.locator(".ignored-people li span")).to_have_text(f"Number {ADA}. This device does not keep the name.")
    expect(circle).to_contain_text("You hide from no one.")
    assert scene.zoe.nearby("circle", "settings")["ignored"] == [ADA]
    here.set_viewport_size({"width": 320, "height": 800})
    here.emulate_media(color_scheme="dark")
    assert violations(here) == [] and overflow(here, ".scroll *, .skip") == []
    end = circle.get_by_role("button", name=f"Stop ignoring: number {ADA}", exact=True)
    end.focus()
    here.keyboard.press("Enter")
    expect(here.get_by_role("dialog")).to_contain_text(f"Stop ignoring number {ADA}?")
    here.keyboard.press("Escape")
    expect(end).to_be_focused()
    # While the request runs the control says so, keeps the focus and asks no second time.
    held: list[Route] = []
    here.route("**/do", lambda route: held.append(route))
    here.keyboard.press("Enter")
    answer(here, "Stop ignoring")
    expect(here.get_by_role("status")).to_have_text("Waiting for the circle's server…")
    expect(end).to_have_attribute("aria-disabled", "true")
    expect(end).to_be_focused()
    assert violations(here) == []
    here.keyboard.press("Enter")
    expect(here.get_by_role("dialog")).to_be_hidden()
    until(here, "ending.size === 1")
    assert len(held) == 1
    # What did not work is said, and can be tried again.
    held[0].abort()
    expect(here.get_by_role("status")).to_contain_text("does not answer")
    expect(end).to_have_attribute("aria-disabled", "false")
    here.unroute("**/do")
    end.click()
    answer(here, "Stop ignoring")
    expect(here.get_by_role("status")).to_have_text(
        f"Number {ADA} is no longer ignored. This device recognises a member again within six hours.")
    expect(circle).to_contain_text("You ignore no one.")
    assert here.evaluate("document.activeElement.id") == "circles"
    scene.zoe.nearby("circle", "sync")
    assert scene.zoe.members() == [(ADA, NAME)]


def test_what_a_circle_sees_is_changed_on_the_page(scene: Scene, here: Page) -> None:
    """CI57, on the page."""
    circle = here.locator("#joined li.card", has_text="Recurse Center")
    circle.get_by_text("Settings", exact=True).click()
    expect(here.get_by_role("status")).to_contain_text("The settings are current.")
    for text in ("Show my photo", "Show my batch", "Let members wave at me", "Fetch the photos of others"):
        box = circle.get_by_role("checkbox", name=f"{text}: Recurse Center")
        expect(box).to_be_checked()
        box.focus()
        here.keyboard.press("Space")
        expect(box).not_to_be_checked()
        # The card is made again, with the focus where it was.
        expect(here.get_by_role("status")).to_contain_text(re.compile(r"^Changed\.|^The photos of the others are removed"))
        expect(box).to_be_focused()
    now = scene.zoe.nearby("circle", "settings")
    assert now["settings"] == {"photo": False, "batch": False, "waves": False, "others_photos": False} and now["told"]
    scene.ada.nearby("circle", "sync")
    [row] = scene.ada.nearby("circle", "members")["members"]
    assert (row["batch"], row["waves"]) == ("", False)
    # What cannot be changed is shown as it is.
    here.route("**/do", lambda route: route.abort())
    box = circle.get_by_role("checkbox", name="Show my batch: Recurse Center")
    box.click()
    expect(here.get_by_role("status")).to_contain_text("does not answer")
    expect(box).not_to_be_checked()


def test_a_text_with_too_many_bytes_stays_in_the_dialog(scene: Scene, here: Page) -> None:
    here.get_by_role("button", name=f"Wave: {NAME}").click()
    words = here.get_by_label("A few words")
    words.fill("é" * 41)
    answer(here, "Wave")
    expect(here.get_by_role("dialog")).to_be_visible()
    expect(words).to_have_value("é" * 41)
    assert words.evaluate("field => field.validationMessage").startswith("This is too long.")
    words.fill("é" * 40)
    answer(here, "Wave")
    expect(here.get_by_role("dialog")).to_be_hidden()
    expect(here.get_by_role("status")).to_contain_text("You have waved.")


def test_waves_meet(scene: Scene, here: Page) -> None:
    here.get_by_role("button", name=f"Wave: {NAME}").click()
    here.get_by_label("A few words").fill("Coffee?")
    here.keyboard.press("Enter")
    expect(here.get_by_role("status")).to_contain_text("You have waved.")
    expect(here.locator("#waiting")).to_contain_text(NAME)
    told = scene.ada.nearby("wave", str(ZOE), "--text", "<b>Tea!</b>")["answers"]
    assert [answer["text"] for answer in told] == ["Coffee?"]
    here.get_by_role("button", name="Ask for answers").click()
    expect(here.locator("#answers")).to_contain_text(f"{NAME} waved back: <b>Tea!</b>")
    expect(here.locator("#waiting")).to_be_empty()
    # Once a day.
    here.get_by_role("button", name=f"Wave: {NAME}").click()
    answer(here, "Wave")
    expect(here.get_by_role("status")).to_contain_text("you have waved at")
    # Who is forgotten is not among the answers either.
    here.get_by_role("button", name=f"Forget: {NAME}").click()
    answer(here, "Forget")
    expect(here.locator("#answers li")).to_have_count(0)


def test_do_not_disturb_is_kept_and_ends(scene: Scene, here: Page) -> None:
    here.get_by_label("Do not disturb").select_option("60")
    here.get_by_role("button", name="Set").click()
    expect(here.locator("#quiet-until")).to_contain_text("No alerts until")
    here.reload()
    expect(here.locator("#quiet-until")).to_contain_text("No alerts until")
    here.get_by_label("Do not disturb").select_option("0")
    here.get_by_role("button", name="Set").click()
    expect(here.locator("#quiet-until")).to_be_empty()


def test_a_time_without_alerts_ends_by_itself_and_names_another_day(scene: Scene, page: Page) -> None:
    page.clock.install()
    page.goto(scene.link)
    expect(page.locator("#people")).to_contain_text(NAME)
    page.get_by_label("Do not disturb").select_option("1440")
    page.get_by_role("button", name="Set").click()
    expect(page.locator("#quiet-until")).to_have_text(re.compile(r"^No alerts until [A-Z]\w+day, "))
    page.clock.fast_forward("24:00:05")
    expect(page.locator("#quiet-until")).to_be_empty()


def test_what_could_not_be_switched_is_shown_as_it_is(scene: Scene, here: Page) -> None:
    here.route("**/do", lambda route: route.abort())
    box = here.get_by_label("Let members and friends notice me")
    expect(box).to_be_checked()
    box.click()
    expect(here.get_by_role("status")).to_contain_text("does not answer")
    expect(box).to_be_checked()
    sends(scene)


def sends(scene: Scene) -> None:
    """Between two identifiers nothing is sent for a while."""
    scene.one.wait(lambda air: air.on_air(), 60)


def test_what_others_notice_is_switched_off_and_on(scene: Scene, here: Page) -> None:
    sends(scene)
    here.get_by_label("Let members and friends notice me").uncheck()
    scene.one.wait(lambda air: not air.on_air())
    expect(here.locator("#radio")).to_contain_text("others cannot notice you")
    here.get_by_label("Let members and friends notice me").check()
    sends(scene)
    expect(here.locator("#radio")).to_contain_text("others can notice you")


def test_circles_are_paused_left_and_joined(scene: Scene, here: Page) -> None:
    circle = here.locator("#joined > li", has_text="Recurse Center")
    expect(circle).to_contain_text("You are Zoë Ångström, number 65535; 1 other")
    circle.get_by_role("button", name="Pause: Recurse Center").click()
    expect(circle).to_contain_text("paused")
    scene.one.wait(lambda air: not air.on_air())
    expect(here.locator("#troubles")).to_contain_text("Others cannot notice you: you have paused.")
    circle.get_by_role("button", name="Resume: Recurse Center").click()
    expect(circle).not_to_contain_text("paused")
    expect(here.locator("#troubles")).not_to_contain_text("Others cannot notice you", timeout=60_000)
    circle.get_by_role("button", name="Leave: Recurse Center").click()
    answer(here, "Keep")
    expect(circle).to_be_visible()
    circle.get_by_role("button", name="Leave: Recurse Center").click()
    answer(here, "Leave")
    expect(circle).to_have_count(0)
    expect(here.locator("#people li")).to_have_count(0, timeout=90_000)
    # Nor one of a circle's members.
    until(here, "faces.size === 0")
    here.get_by_label("Address of a circle").fill(scene.circle.address)
    here.get_by_role("button", name="Join").click()
    expect(here.locator("#code")).not_to_be_empty()
    from circles import USERS, Browser
    url = here.get_by_role("link", name="Open the page and sign in").get_attribute("href")
    assert url
    Browser(scene.circle).join(url, here.locator("#code").inner_text(), USERS[ZOE])
    expect(here.locator("#joined > li")).to_contain_text("Recurse Center", timeout=30_000)
    expect(here.locator("#joining")).to_be_hidden()


def test_forgetting_asks_and_leaves_nothing(scene: Scene, here: Page) -> None:
    here.get_by_role("button", name=f"Forget: {NAME}").click()
    expect(here.get_by_role("dialog")).to_contain_text(f"Forget {NAME}?")
    here.keyboard.press("Escape")
    expect(here.locator("#people")).to_contain_text(NAME)
    here.get_by_role("button", name=f"Forget: {NAME}").click()
    answer(here, "Forget")
    expect(here.get_by_role("status")).to_contain_text("Removed 1 person")
    assert scene.zoe.log() == []
    here.get_by_role("button", name="Forget everyone").click()
    answer(here, "Forget everyone")
    expect(here.locator("#joined > li")).to_have_count(0, timeout=30_000)
    assert not any(name.encode() in file.read_bytes() for file in scene.zoe.command.home.rglob("*") if file.is_file()
                   for name in (NAME, "Recurse Center"))


def test_stopping_ends_the_command(scene: Scene, here: Page) -> None:
    here.get_by_role("button", name="Stop Handshake").click()
    answer(here, "Stop")
    expect(here.get_by_role("status")).to_contain_text("stopped")
    assert scene.running.finish().status == 0
    scene.one.wait(lambda air: not air.on_air())


def test_nothing_is_wrong_in_any_light_or_width(scene: Scene, here: Page) -> None:
    for scheme, width in itertools.product(("light", "dark"), (320, 1024)):
        here.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        here.set_viewport_size({"width": width, "height": 768})
        here.reload()
        expect(here.locator("#people img.face")).to_be_visible()
        expect(here.locator("#entries")).to_contain_text(NAME)
        here.screenshot(path=artefact(f"nearby-{scheme}-{width}"), full_page=True)
        assert violations(here) == [] and overflow(here, ".scroll *, .skip") == []
        here.get_by_text("Members", exact=True).click()
        expect(here.get_by_role("button", name=f"Hide: {NAME}")).to_be_visible()
        assert violations(here) == [] and overflow(here, ".scroll *, .skip") == []
        here.locator("#joined summary", has_text="Settings").click()
        expect(here.get_by_role("checkbox", name="Let members wave at me")).to_be_visible()
        assert violations(here) == [] and overflow(here, ".scroll *, .skip") == []
        here.get_by_role("button", name=f"Wave: {NAME}").click()
        assert violations(here) == [] and overflow(here, ".scroll *, .skip") == []


def test_a_person_with_a_keyboard_reaches_everything_and_sees_where(scene: Scene, here: Page) -> None:
    person = Person(here)
    names = person.walk_all()
    for wanted in ("Skip to who is here", "Here now", "Settings", NAME, "Ask for answers", "Address of a circle", "Join", "Members",
                   "Do not disturb", "Forget everyone", "Stop Handshake"):
        assert any(wanted in name for name in names), (wanted, names)
    here.reload()
    expect(here.locator("#people")).to_contain_text(NAME)
    Person(here).tab_to("Skip to who is here")
    here.keyboard.press("Enter")
    assert here.evaluate("document.activeElement.id") == "here"
    # Members unfold with a key, and hiding from one is the next stop.
    here.get_by_text("Members", exact=True).focus()
    here.keyboard.press("Enter")
    hide = here.get_by_role("button", name=f"Hide: {NAME}")
    expect(hide).to_be_visible()
    here.keyboard.press("Tab")
    expect(hide).to_be_focused()
    # A dialog gives the focus back.
    wave = here.get_by_role("button", name=f"Wave: {NAME}")
    wave.focus()
    here.keyboard.press("Enter")
    expect(here.get_by_label("A few words")).to_be_focused()
    here.keyboard.press("Escape")
    expect(wave).to_be_focused()


def test_a_command_that_ends_is_told_of(scene: Scene, here: Page) -> None:
    scene.running.process.send_signal(2)
    assert scene.running.finish().status == 130
    expect(here.locator("#radio")).to_contain_text("does not answer")
    # Who was here when it ended is not said to be here now.
    expect(here.locator("#here-title")).to_contain_text("Here at")
    expect(here).to_have_title("People nearby: no answer")
