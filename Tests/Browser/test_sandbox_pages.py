"""The sandbox's pages, as a person meets them: keyboard, screen reader, narrow screen, light and dark."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from conftest import OpenPage
from person import Person, described_by, overflow, violations
from sandbox import SERVICES, RedirectCatcher, Sandbox, Service, artefact

SCHEMES = ("light", "dark")


def open_sign_in(page: Page, service: Service, catcher: RedirectCatcher, **change: str) -> Person:
    page.goto(service.authorization_url(catcher.origin, **change))
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    return Person(page)


def open_wrong_password(page: Page, service: Service, catcher: RedirectCatcher) -> Person:
    person = open_sign_in(page, service, catcher)
    person.sign_in(service.user(), password="not the password")
    return person


def open_consent(page: Page, service: Service, catcher: RedirectCatcher) -> Person:
    person = open_sign_in(page, service, catcher)
    person.sign_in(service.user())
    return person


def open_refusal(page: Page, service: Service, catcher: RedirectCatcher) -> Person:
    page.goto(service.authorization_url(catcher.origin, client_id="unknown"))
    return Person(page)


def open_front(page: Page, service: Service, catcher: RedirectCatcher) -> Person:
    page.goto(service.origin + "/")
    return Person(page)


def open_absent(page: Page, service: Service, catcher: RedirectCatcher) -> Person:
    page.goto(service.origin + "/no-such-page")
    return Person(page)


PAGES: dict[str, Callable[[Page, Service, RedirectCatcher], Person]] = {
    "sign-in": open_sign_in, "wrong-password": open_wrong_password, "consent": open_consent, "refusal": open_refusal,
    "front": open_front, "absent": open_absent,
}


# The Recurse Center's stand-in answers JSON to an address that it lacks, as the API does: no page to look at.
COMBINATIONS = [(service, name) for service in SERVICES for name in PAGES if (service, name) != ("recurse-center", "absent")]
every_page = pytest.mark.parametrize(("service", "name"), COMBINATIONS, indirect=["service"])


# A person with a keyboard

def test_a_person_signs_in_and_consents_with_the_keyboard_alone(
        page: Page, service: Service, catcher: RedirectCatcher) -> None:
    person = open_consent(page, service, catcher)
    yes, _ = person.choices()
    person.press(yes)
    expect(page.get_by_role("heading", name="Caught")).to_be_visible()
    (answer,) = catcher.caught
    assert answer["state"] == "the-state" and answer["code"] and "error" not in answer


def test_a_person_refuses_with_the_keyboard_alone(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    person = open_consent(page, service, catcher)
    _, no = person.choices()
    person.press(no)
    (answer,) = catcher.caught
    assert answer["error"] == "access_denied" and answer["state"] == "the-state" and "code" not in answer


def test_the_fields_come_before_the_button_and_the_focus_can_leave(
        page: Page, service: Service, catcher: RedirectCatcher) -> None:
    stops = open_sign_in(page, service, catcher).walk_all()
    order = [stops.index(name) for name in ("E-mail address", "Password", "Sign in")]
    assert order == sorted(order), stops


def test_the_consent_page_puts_yes_and_no_side_by_side_in_the_order_of_tabs(
        page: Page, service: Service, catcher: RedirectCatcher) -> None:
    person = open_consent(page, service, catcher)
    yes, no = person.choices()
    stops = person.walk_all()
    assert stops.index(no) == stops.index(yes) + 1, stops


def test_someone_else_can_take_over_from_the_consent_page(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    open_consent(page, service, catcher)
    switch = page.locator("form button").last.inner_text().strip()
    Person(page).press(switch)
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()


def test_a_listed_person_can_be_chosen_and_is_filled_in(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    person = open_sign_in(page, service, catcher)
    other = service.facts["users"][-1]
    person.press(other["name"])
    assert page.get_by_label("E-mail address").input_value() == other["name"]
    # The authorization request must have survived the detour.
    person.sign_in(other, code=other.get("one_time_code"))
    yes, _ = person.choices()
    person.press(yes)
    assert catcher.caught[0]["state"] == "the-state"


def test_enter_in_the_password_field_signs_in_and_keeps_the_state(
        page: Page, service: Service, catcher: RedirectCatcher) -> None:
    state = "s&t=a+t e/%2F?#é" * 3
    person = open_sign_in(page, service, catcher, state=state)
    person.sign_in(service.user())
    person.press(person.choices()[0])
    assert catcher.caught[0]["state"] == state


# What is wrong is said

def test_a_wrong_password_is_announced_and_tied_to_the_fields(
        page: Page, service: Service, catcher: RedirectCatcher) -> None:
    open_wrong_password(page, service, catcher)
    alert = page.get_by_role("alert")
    expect(alert).to_be_visible()
    assert "password" in alert.inner_text().lower()
    field = page.get_by_label("Password", exact=True)
    assert field.get_attribute("aria-invalid") == "true"
    expect(field).to_be_focused()
    assert alert.inner_text().strip() in described_by(field)
    assert field.input_value() == "", "the wrong password must not come back in the page"
    assert page.get_by_label("E-mail address").input_value() == service.user()["name"]
    assert catcher.caught == []


def test_after_a_wrong_password_the_right_one_works(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    person = open_wrong_password(page, service, catcher)
    person.sign_in(service.user())
    person.press(person.choices()[0])
    assert catcher.caught[0]["code"]


def test_an_empty_password_never_reaches_consent(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    open_sign_in(page, service, catcher)
    page.get_by_label("Password", exact=True).evaluate("field => field.form.noValidate = true")
    with page.expect_navigation():
        page.get_by_label("Password", exact=True).press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()


def test_markup_in_what_was_typed_comes_back_as_text(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    open_sign_in(page, service, catcher)
    email, text = page.get_by_label("E-mail address"), '"><img src=x onerror=alert(1)>@example.test'
    email.evaluate("(field, text) => { field.form.noValidate = true; field.type = 'text'; field.value = text }", text)
    with page.expect_navigation():
        page.get_by_label("Password", exact=True).press("Enter")
    assert page.get_by_label("E-mail address").get_attribute("value") == text
    assert page.locator("img").count() == 0


def test_the_two_factor_code_is_asked_for_and_its_lack_is_announced(
        page: Page, sandbox: Sandbox, catcher: RedirectCatcher) -> None:
    service = sandbox.services["sequencing"]
    user = service.user(two_factor=True)
    person = open_sign_in(page, service, catcher)
    person.sign_in(user, code="000000")
    alert, field = page.get_by_role("alert"), page.get_by_label("Two-factor code")
    assert alert.inner_text().strip() in described_by(field)
    assert field.get_attribute("aria-invalid") == "true"
    assert violations(page) == []
    page.screenshot(path=artefact("sequencing-two-factor"), full_page=True)
    person.sign_in(user, code=user["one_time_code"])
    person.press(person.choices()[0])
    assert catcher.caught[0]["code"]


@pytest.mark.parametrize("change", [{"client_id": "unknown"}, {"redirect_uri": "http://127.0.0.1:9/elsewhere"},
                                    {"redirect_uri": "https://attacker.example/callback"}])
def test_a_request_that_cannot_be_trusted_ends_on_a_page_and_not_in_a_redirect(
        page: Page, service: Service, catcher: RedirectCatcher, change: dict[str, str]) -> None:
    answer = page.goto(service.authorization_url(catcher.origin, **change))
    assert answer and answer.status == 400
    assert page.url.startswith(service.origin)
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.get_by_role("button").count() == 0


def test_going_back_and_consenting_again_does_no_harm(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    person = open_consent(page, service, catcher)
    yes, _ = person.choices()
    person.press(yes)
    page.go_back()
    if page.get_by_role("button", name=yes, exact=True).count():
        with page.expect_navigation():
            page.get_by_role("button", name=yes, exact=True).click()
    codes = [answer.get("code") for answer in catcher.caught]
    assert len(set(codes)) == len(codes), "a code was given out twice"


# Every page, in every look

@pytest.mark.parametrize("scheme", SCHEMES)
@every_page
def test_axe_finds_nothing_wrong(
        open_page: OpenPage, service: Service, catcher: RedirectCatcher, name: str, scheme: str) -> None:
    page = open_page(scheme=scheme)
    PAGES[name](page, service, catcher)
    page.screenshot(path=artefact(f"{service.name}-{name}-{scheme}"), full_page=True)
    assert violations(page) == []


@every_page
def test_nothing_scrolls_sideways_on_a_screen_of_320_pixels(
        open_page: OpenPage, service: Service, catcher: RedirectCatcher, name: str) -> None:
    page = open_page(width=320, height=568)
    PAGES[name](page, service, catcher)
    page.screenshot(path=artefact(f"{service.name}-{name}-narrow"), full_page=True)
    assert overflow(page) == []


@pytest.mark.parametrize("name", ["sign-in", "consent"])
def test_text_at_twice_the_size_still_fits(
        open_page: OpenPage, service: Service, catcher: RedirectCatcher, name: str) -> None:
    page = open_page(width=640)
    PAGES[name](page, service, catcher)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert overflow(page) == []


@every_page
def test_dark_is_dark_and_light_is_light(open_page: OpenPage, service: Service, catcher: RedirectCatcher, name: str) -> None:
    light = {}
    for scheme in SCHEMES:
        page = open_page(scheme=scheme)
        PAGES[name](page, service, catcher)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light[scheme] = sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 765
    assert light["light"] > 0.8 and light["dark"] < 0.25


@every_page
def test_the_focus_can_be_seen_in_the_dark(open_page: OpenPage, service: Service, catcher: RedirectCatcher, name: str) -> None:
    page = open_page(scheme="dark")
    PAGES[name](page, service, catcher).walk_all()


@every_page
def test_a_page_has_a_title_a_language_one_heading_and_no_scripts(
        open_page: OpenPage, service: Service, catcher: RedirectCatcher, name: str) -> None:
    page = open_page()
    PAGES[name](page, service, catcher)
    assert page.title().strip()
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.locator("script").count() == 0
    assert page.get_by_role("main").count() == 1
    assert "sandbox" in page.locator("body").inner_text().lower(), "a stand-in must say that it is one"


@pytest.mark.parametrize("name", ["sign-in", "consent", "refusal"])
def test_a_page_lets_nothing_in_and_cannot_be_framed(
        page: Page, service: Service, catcher: RedirectCatcher, name: str) -> None:
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    PAGES[name](page, service, catcher)
    headers = answers[-1].headers if not answers[-1].url.endswith("favicon.ico") else answers[-2].headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "no-store" in headers["cache-control"]
    assert headers["referrer-policy"] == "no-referrer"


def test_a_screen_reader_hears_the_form(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    open_sign_in(page, service, catcher)
    heard = page.locator("body").aria_snapshot()
    for line in ('textbox "E-mail address"', 'textbox "Password"', 'button "Sign in"', "banner", "main", "contentinfo"):
        assert line in heard, f"{line} is missing from\n{heard}"
    assert page.get_by_label("E-mail address").get_attribute("autocomplete") == "username"
    assert page.get_by_label("Password", exact=True).get_attribute("autocomplete") == "current-password"


def test_a_screen_reader_hears_who_asks_for_what(page: Page, service: Service, catcher: RedirectCatcher) -> None:
    open_consent(page, service, catcher)
    heard = page.locator("main").aria_snapshot()
    assert service.client()["id"] in heard and service.user()["display_name"] in heard
    assert re.search(r"list(item)?", heard), "the scopes are a list"


@pytest.mark.parametrize("name", ["sign-in", "consent"])
def test_in_forced_colours_the_focus_and_the_buttons_stay_visible(
        open_page: OpenPage, service: Service, catcher: RedirectCatcher, name: str) -> None:
    page = open_page(forced_colors="active")
    person = PAGES[name](page, service, catcher)
    assert person.walk_all()
    for button in page.get_by_role("button").all():
        border = button.evaluate("e => [getComputedStyle(e).borderTopWidth, getComputedStyle(e).textDecorationLine]")
        assert float(border[0].removesuffix("px")) >= 1 or "underline" in border[1]
    page.screenshot(path=artefact(f"{service.name}-{name}-forced-colours"), full_page=True)
