"""What an API demands of a sign-in (RFC 9470, RFC 6750), and the command that satisfies it. The API is the sandbox's."""

import json
import re
import shlex
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import formlogin
import pytest
from command import Handshake
from stand_in import StandIn
from strangers import http
from terminal import Terminal

STRONG = "urn:sandbox:acr:strong"


@pytest.fixture
def standard(own_sandbox: StandIn) -> Iterator[dict]:
    own_sandbox.reset()
    yield own_sandbox.standard
    own_sandbox.reset()


def user(standard: dict, number: int = 0) -> tuple[str, str]:
    return standard["users"][number]["name"], standard["users"][number]["password"]


def sign_in(handshake: Handshake, standard: dict, *options: str, number: int = 0) -> str:
    login = handshake.begin_login("mine", *options)
    assert http().get(formlogin.walk(login.url, *user(standard, number)), timeout=10).status_code == 200
    login.finish().ok()
    return login.url


def first_sign_in(handshake: Handshake, standard: dict) -> None:
    sign_in(handshake, standard, "--issuer", standard["issuer"], "--client-id", "sandbox-public", "--scope", "openid",
            "--scope", "offline_access", "--par", "never")


def test_m518_the_command_that_satisfies_an_api_is_printed_and_works(handshake: Handshake, standard: dict) -> None:
    first_sign_in(handshake, standard)
    for path, code in (("/api/stepup", "insufficient_user_authentication"), ("/api/admin", "insufficient_scope")):
        done = handshake.run("request", "GET", standard["origin"] + path, "--account", "mine", "--json")
        assert done.status == 4 and done.error["code"] == code, done.stderr
        command = shlex.split(done.error["message"].rpartition("Sign in again with: ")[2])
        assert command[:3] == ["handshake", "login", "mine"]
        sign_in(handshake, standard, *command[3:])
        body = handshake.run("request", "GET", standard["origin"] + path, "--account", "mine").ok()
        assert json.loads(body.stdout)["name"] == "Ada Example"


def test_m213_the_command_for_an_account_without_an_id_token_works_too(handshake: Handshake, standard: dict) -> None:
    sign_in(handshake, standard, "--issuer", standard["issuer"], "--client-id", "sandbox-public", "--scope", "api", "--par", "never")
    address = standard["origin"] + "/api/stepup"
    done = handshake.run("request", "GET", address, "--account", "mine", "--json")
    assert done.status == 4 and done.error["code"] == "insufficient_user_authentication", done.stderr
    command = shlex.split(done.error["message"].rpartition("Sign in again with: ")[2])
    assert f"acr_values={STRONG}" in command and "--require-acr" not in command, command
    sign_in(handshake, standard, *command[3:])
    body = handshake.run("request", "GET", address, "--account", "mine").ok()
    assert json.loads(body.stdout)["name"] == "Ada Example"


def test_another_context_than_the_one_asked_for_is_told_and_where_it_is_demanded_refused(handshake: Handshake, standard: dict) -> None:
    options = ("--issuer", standard["issuer"], "--client-id", "sandbox-public", "--scope", "openid", "--par", "never",
               "--param", "acr_values=urn:example:gold")
    finished = []
    for more in ([], ["--require-acr"]):
        login = handshake.begin_login("mine", "--account", f"account{len(finished)}", *options, *more)
        http().get(formlogin.walk(login.url, *user(standard)), timeout=10)
        finished.append(login.finish())
    wished, refused = finished
    assert wished.ok().json["subject"]
    assert "“urn:example:gold” (acr_values)" in wished.stderr and wished.stderr.rstrip().endswith("add: --require-acr"), wished
    assert (refused.status, refused.error["code"]) == (5, "authentication_insufficient"), refused
    assert [found["account"] for found in handshake.accounts()] == ["account0"]


def test_what_an_api_answers_does_not_steer_the_terminal(handshake: Handshake, own_sandbox: StandIn, standard: dict) -> None:
    """Another user may have written it. A program gets the bytes as they are."""
    first_sign_in(handshake, standard)
    own_sandbox.standard_control("faults", "standard /api/whoami => status 200 a\x1b]52;c;cm0=\x07b\x9bc\u202ed\te")
    request = "request", "GET", standard["origin"] + "/api/whoami", "--account", "mine"
    terminal = Terminal([str(handshake.path), *request], handshake.environment)
    assert terminal.finish() == 0 and "d\te" in terminal.text, terminal.text
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(terminal.text), terminal.text
    assert "a\x1b]52;c;cm0=\x07b\x9bc\u202ed\te" in handshake.run(*request).ok().stdout


def demanded(handshake: Handshake, answer: str, *request: str) -> Terminal:
    terminal = Terminal([str(handshake.path), "request", *request, "--account", "mine"], handshake.environment, columns=4000)
    terminal.expect("Sign in again in the browser now?")
    terminal.type(answer + "\n")
    return terminal


def shown(terminal: Terminal) -> str:
    terminal.wait_for(lambda text: re.search(r"\nhttp\S+\n", text) is not None, "an address")
    found = re.search(r"\n(http\S+)\n", terminal.text)
    assert found
    return found[1]


@pytest.mark.parametrize("path", ["/api/stepup", "/api/admin"])
def test_m518_at_a_terminal_the_user_is_asked_and_the_request_goes_on(handshake: Handshake, standard: dict, path: str) -> None:
    first_sign_in(handshake, standard)
    refused = demanded(handshake, "n", "GET", standard["origin"] + path)
    assert refused.finish() == 4 and "Sign in again with: handshake login mine" in refused.text
    terminal = demanded(handshake, "y", "GET", standard["origin"] + path)
    url = shown(terminal)
    query = parse_qs(urlsplit(url).query)
    if path == "/api/stepup" and "acr_values" in query:
        assert query["acr_values"] == [STRONG]
    redirect = formlogin.walk(url, *user(standard))
    assert http().get(redirect, timeout=10).status_code == 200
    assert terminal.finish() == 0, terminal.text
    assert '"name":"Ada Example"' in terminal.text
    handshake.run("request", "GET", standard["origin"] + path, "--account", "mine").ok()


@pytest.mark.parametrize("managed", [True, False])
def test_m518_at_a_terminal_an_app_that_registered_itself_is_registered_for_more(
        handshake: Handshake, own_sandbox: StandIn, standard: dict, managed: bool) -> None:
    if not managed:
        own_sandbox.standard_control("faults", "standard POST /register => without registration_access_token")
    address = own_sandbox.resources["origin"] + "/mcp"
    sign_in(handshake, standard, "--resource", address)
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "email"}})
    request = ("POST", address, "-d", message, "-H", "Content-Type: application/json",
               "-H", "Accept: application/json, text/event-stream")
    terminal = demanded(handshake, "y", *request)
    if managed:
        redirect = formlogin.walk(shown(terminal), *user(standard))
        assert http().get(redirect, timeout=10).status_code == 200
        assert terminal.finish() == 0, terminal.text
        assert "ada@" in terminal.text
        # The sandbox gives the management a new token with each change: the next sign-in needs the one that was stored.
        sign_in(handshake, standard, *"--scope api --scope offline_access --scope email --scope profile".split())
    else:
        assert terminal.finish() == 4, terminal.text
        assert "The app is registered there for fewer scopes." in terminal.text
        command = shlex.split(terminal.text.rpartition("Sign in again with: ")[2])
        assert command[:3] == ["handshake", "login", "mine"]
        sign_in(handshake, standard, *command[3:])
    assert "ada@" in handshake.run("request", *request, "--account", "mine").ok().stdout
    lines = http().get(standard["origin"] + "/_sandbox/requests", timeout=10).text.splitlines()
    registered = [line["method"] for line in map(json.loads, lines) if line["path"].startswith("/register")]
    assert registered == (["POST", "PUT", "PUT"] if managed else ["POST", "POST"])


def test_m213_another_user_at_the_step_up_changes_nothing(handshake: Handshake, standard: dict) -> None:
    first_sign_in(handshake, standard)
    terminal = demanded(handshake, "y", "GET", standard["origin"] + "/api/stepup")
    redirect = formlogin.walk(shown(terminal), *user(standard, 1))
    http().get(redirect, timeout=10)
    assert terminal.finish() == 5, terminal.text
    who = handshake.run("request", "GET", standard["origin"] + "/api/whoami", "--account", "mine").ok()
    assert json.loads(who.stdout)["name"] == "Ada Example"


def test_the_faults_that_have_names_are_listed_and_reached_by_name(handshake: Handshake, standard: dict) -> None:
    listed = handshake.run("sandbox", "--faults").ok().stdout
    assert "id-token:wrong-nonce" in listed and "standard POST /token => id_token claim nonce wrong" in listed
    control = standard["origin"] + "/_sandbox/faults"
    assert http().post(control, data="id-token:wrong-nonce x1", timeout=10).status_code == 204
    login = handshake.begin_login("mine", "--issuer", standard["issuer"], "--client-id", "sandbox-public", "--scope", "openid")
    http().get(formlogin.walk(login.url, *user(standard)), timeout=10)
    done = login.finish()
    assert done.status == 5 and done.error["code"] == "nonce_mismatch"
    refused = http().post(control, data="id-token:nonsense", timeout=10)
    assert refused.status_code == 400 and "handshake sandbox --faults" in refused.text


def test_a_server_that_refuses_the_scopes_of_the_commands_choice_leads_to_fewer(handshake: Handshake, standard: dict) -> None:
    options = ("--issuer", standard["issuer"], "--client-id", "sandbox-public", "--par", "never")
    login = handshake.begin_login("mine", *options)
    assert login.parameters["scope"] == "openid profile offline_access"
    login.deliver(urlencode({"error": "invalid_scope", "state": login.parameters["state"], "iss": standard["issuer"]}))
    done = login.finish()
    assert (done.status, done.error["code"]) == (4, "invalid_scope"), done.stderr
    command = shlex.split(done.error["message"].rpartition("Sign in again with: ")[2])
    assert command[:3] == ["handshake", "login", "mine"] and command[-2:] == ["--scope", "openid"], command
    url = sign_in(handshake, standard, *command[3:], "--par", "never")
    assert parse_qs(urlsplit(url).query)["scope"] == ["openid"]


def test_a_server_that_demands_bound_tokens_leads_to_dpop(handshake: Handshake, standard: dict) -> None:
    options = ("--issuer", standard["issuer"], "--client-id", "sandbox-dpop", "--par", "never")
    login = handshake.begin_login("mine", *options)
    http().get(formlogin.walk(login.url, *user(standard)), timeout=10)
    done = login.finish()
    assert done.status == 4 and done.error["message"].endswith("--dpop"), done.stderr
    sign_in(handshake, standard, *options, "--dpop")
