"""`handshake login`, a person, and a real browser that reaches the command's own result page."""

from urllib.parse import urlencode, urlsplit

import pytest
from command import Handshake, Login
from playwright.sync_api import Page, Response

from conftest import OpenPage
from person import Person, overflow, violations
from sandbox import Sandbox, Service, artefact

SCHEMES = ("light", "dark")


def start(handshake: Handshake, service: Service, *options: str) -> Login:
    """`login` for a built-in service against its stand-in, or for the standard one by discovery."""
    client = service.client("public" if service.name == "standard" else None)
    secret = client.get("secret")
    # A pushed request would hide the redirect URI, which these tests call.
    where = ["--issuer", service.facts["issuer"], "--par", "never"] if service.name == "standard" else ["--base-url", service.origin]
    arguments = [str(handshake.path), "login", service.name, *where, "--client-id", client["id"], "--browser", "print",
                 "--json", "--timeout", "90", *options]
    if secret:
        arguments += ["--client-secret-file", "-"]
    login = Login(arguments, handshake.environment, secret + "\n" if secret else None)
    handshake.started.append((login, False))
    return login


def follow(page: Page, login: Login, service: Service, *, consent: bool = True) -> Response:
    """The person signs in and decides; the answer that the command's listener gave to the browser."""
    answers: list[Response] = []
    page.on("response", lambda r: answers.append(r) if r.url.startswith(login.redirect_uri) else None)
    page.goto(login.url)
    person = Person(page)
    person.sign_in(service.user())
    person.press(person.choices()[0 if consent else 1])
    page.wait_for_load_state("load")
    assert len(answers) == 1, "the listener was asked once"
    return answers[0]


def check_result_page(page: Page, answer: Response) -> None:
    headers = answer.headers
    assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "no-store" in headers["cache-control"]
    assert headers["content-type"].lower() == "text/html; charset=utf-8"
    assert page.locator("a, script, iframe, img[src^='http'], link[href^='http'], form").count() == 0
    assert page.title().strip() and page.locator("html").get_attribute("lang")
    assert page.get_by_role("heading", level=1).count() == 1
    secrets = dict.fromkeys(("code", "state"))
    query = dict(pair.split("=", 1) for pair in urlsplit(answer.url).query.split("&"))
    text = page.content()
    assert not [name for name in secrets if query.get(name) and query[name] in text], "the page repeats what it was sent"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_person_signs_in_and_the_browser_shows_that_it_is_done(
        open_page: OpenPage, handshake: Handshake, service: Service, scheme: str) -> None:
    page, login = open_page(scheme=scheme), start(handshake, service)
    answer = follow(page, login, service)
    done = login.finish().ok()
    assert answer.status == 200
    assert done.json["account"] == service.name
    page.screenshot(path=artefact(f"result-{service.name}-{scheme}"), full_page=True)
    check_result_page(page, answer)
    assert violations(page) == []
    token = handshake.token(service.name)
    assert token and token.encode() not in handshake.printed()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_person_refuses_and_both_browser_and_command_say_so(
        open_page: OpenPage, handshake: Handshake, service: Service, scheme: str) -> None:
    page, login = open_page(scheme=scheme), start(handshake, service)
    answer = follow(page, login, service, consent=False)
    done = login.finish()
    assert done.status == 2
    assert done.error["code"] == "access_denied"
    page.screenshot(path=artefact(f"result-{service.name}-refused-{scheme}"), full_page=True)
    check_result_page(page, answer)
    assert violations(page) == []
    assert handshake.accounts() == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_foreign_redirect_gets_a_plain_page_and_the_right_one_still_works(
        open_page: OpenPage, handshake: Handshake, sandbox: Sandbox, scheme: str) -> None:
    service = sandbox.services["standard"]
    page, login = open_page(scheme=scheme), start(handshake, service)
    answer = page.goto(f"{login.redirect_uri}?{urlencode({'code': 'stolen-code', 'state': 'foreign-state'})}")
    assert answer and answer.status >= 400
    page.screenshot(path=artefact(f"result-foreign-{scheme}"), full_page=True)
    check_result_page(page, answer)
    assert violations(page) == []
    assert login.is_running()
    follow(open_page(), login, service)
    login.finish().ok()


@pytest.mark.parametrize("consent", [True, False])
def test_the_result_page_fits_a_screen_of_320_pixels(
        open_page: OpenPage, handshake: Handshake, sandbox: Sandbox, consent: bool) -> None:
    service = sandbox.services["standard"]
    page, login = open_page(width=320, height=568), start(handshake, service)
    follow(page, login, service, consent=consent)
    login.finish()
    page.screenshot(path=artefact(f"result-narrow-{'done' if consent else 'refused'}"), full_page=True)
    assert overflow(page) == []


def test_the_identity_of_each_service_is_reached_through_the_account(
        open_page: OpenPage, handshake: Handshake, service: Service) -> None:
    login = start(handshake, service, *(["--scope", "openid"] if service.name == "standard" else []))
    follow(open_page(), login, service)
    subject = login.finish().ok().json["subject"]
    assert subject in (service.user()["subject"], None)
    if service.name == "sequencing":
        # Its API says who the user is to the kit alone: the token is part of that URL.
        assert subject == service.user()["subject"]
        return
    path = {"recurse-center": "/api/v1/profiles/me", "standard": "/userinfo"}[service.name]
    answer = handshake.run("request", "GET", service.origin + path, "--account", service.name).ok()
    assert service.user()["subject"] in answer.stdout


def test_the_sandbox_ends_cleanly_when_interrupted(handshake: Handshake) -> None:
    running = Sandbox(handshake)
    origins = [s.origin for s in running.services.values()]
    assert len(set(origins)) == 3
    assert running.stop() in (0, 130)
