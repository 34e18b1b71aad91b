"""What the command tells the user to type can be typed, against `handshake sandbox` in a process of its own."""

import re
import shlex
from collections.abc import Iterator
from urllib.parse import urlencode, urlsplit

import pytest

import formlogin
from command import Finished, Handshake, dict_of
from stand_in import StandIn
from strangers import http
from terminal import Terminal


@pytest.fixture
def genome(handshake: Handshake) -> Iterator[StandIn]:
    stand_in = StandIn(handshake)
    yield stand_in
    stand_in.running.end()


def sign_in_again(handshake: Handshake, genome: StandIn, told: Finished, name: str = "ada") -> None:
    """Types the command of an error, and goes through the page that it prints."""
    command = told.error["message"].split(": handshake ", 1)[1]
    arguments = shlex.split(command)
    assert arguments[0] == "login"
    login = handshake.begin_login(*arguments[1:])
    redirect = formlogin.walk(login.url, *genome.user(name))
    assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
    login.finish().ok()


@pytest.mark.parametrize("account", ["sequencing", "genome"])
def test_an_ended_session_is_signed_in_again_by_the_command_it_names(handshake: Handshake, genome: StandIn, account: str) -> None:
    genome.sign_in(handshake, account=account)
    genome.expire_access_tokens()
    genome.revoke_refresh_tokens()
    told = handshake.run("request", "GET", "DataSourceList?all=true", "--account", account, "--json")
    assert (told.status, told.error["code"]) == (3, "sign_in_required")
    assert handshake.accounts()[0]["expires_at"] is None
    sign_in_again(handshake, genome, told)
    assert [(kept["account"], kept["state"]) for kept in handshake.accounts()] == [(account, "signed_in")]


def test_a_redirect_that_no_listener_receives_signs_in_again_by_the_plain_command(handshake: Handshake, own_sandbox: StandIn) -> None:
    standard, redirect = own_sandbox.standard, "https://app.example.test/callback"
    first = ["--issuer", standard["issuer"], "--client-id", "sandbox-public", "--redirect", redirect, "--par", "never"]
    for options in (first, []):
        terminal = Terminal([str(handshake.path), "login", "mine", *options], handshake.environment, columns=4000)
        try:
            terminal.expect(f"Paste the URL that begins with {redirect} here:")
            found = re.search(r"\n(http\S+)\n", terminal.text)
            assert found, terminal.text
            user = standard["users"][0]
            terminal.type(formlogin.walk(found[1], user["name"], user["password"]) + "\n")
            assert terminal.finish() == 0, terminal.text
        finally:
            terminal.close()


@pytest.mark.parametrize("options", [[], ["--format", "json"], ["--for", "ORIGIN/DataSourceList"]], ids=str)
def test_headers_of_an_ended_session_are_status_3_and_one_line(handshake: Handshake, genome: StandIn, options: list[str]) -> None:
    genome.sign_in(handshake)
    assert handshake.run("headers", "sequencing").ok().stdout.startswith("Authorization: Bearer ")
    genome.expire_access_tokens()
    genome.revoke_refresh_tokens()
    assert handshake.run("request", "GET", "DataSourceList?all=true", "--account", "sequencing").status == 3
    told = handshake.run("headers", "sequencing", *[option.replace("ORIGIN", genome.origin) for option in options])
    assert (told.status, told.stdout) == (3, ""), told
    line, = told.stderr.splitlines()
    assert line.startswith("handshake: The session of “sequencing” has ended: ") and ": handshake login sequencing" in line


def test_a_foreign_origin_is_allowed_by_the_command_it_names(handshake: Handshake, genome: StandIn) -> None:
    genome.sign_in(handshake)
    foreign = genome.other["origin"] + "/api/v1/profiles/me"
    told = handshake.run("request", "GET", foreign, "--account", "sequencing", "--json")
    assert (told.status, told.error["code"]) == (5, "foreign_origin")
    sign_in_again(handshake, genome, told)
    # The other service does not know the token; what counts is that it was asked.
    assert handshake.run("request", "GET", foreign, "--account", "sequencing", "--json").error["code"] != "foreign_origin"


def test_another_client_is_not_mixed_with_the_last_one(handshake: Handshake, genome: StandIn) -> None:
    genome.sign_in(handshake)
    done = handshake.run("login", "sequencing", "--client-id", "another-app", "--browser", "print", "--json", "--timeout", "5")
    assert done.status == 64 and "was made with another client ID" in done.error["message"]


def test_a_name_that_the_service_does_not_tell_is_asked_for_once(handshake: Handshake, genome: StandIn) -> None:
    genome._control("POST", "faults", "recurse-center GET /api/v1/profiles/me => status 500")
    genome.sign_in_elsewhere(handshake)
    assert handshake.accounts()[0]["state"] == "signed_in"
    # Once as a profile and once as any service's user; retrying would take more than a minute.
    log = http().get(f"{genome.other['origin']}/_sandbox/requests", timeout=10).text
    assert log.count('"/api/v1/profiles/me"') == 2


def test_a_title_that_steers_the_terminal_is_refused(handshake: Handshake) -> None:
    handshake.home.mkdir(parents=True)
    settings = handshake.home / "config.toml"
    settings.write_text('[services.mine]\nissuer = "https://server.example"\ntitle = "\\u001b]0;owned\\u0007"\n')
    settings.chmod(0o600)
    done = handshake.run("login", "mine", "--client-id", "app", "--browser", "print")
    assert done.status == 64 and "title" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_each_address_that_was_tried_has_its_line(handshake: Handshake, genome: StandIn) -> None:
    done = handshake.run("login", "mine", "--issuer", genome.origin, "--client-id", "app", "--browser", "print")
    assert done.status != 0 and "\ufffd" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if "/.well-known/" in line]) >= 2, done.stderr


@pytest.mark.parametrize("file", ["vault.json"])
def test_the_doctor_says_that_a_vault_is_broken(handshake: Handshake, genome: StandIn, file: str) -> None:
    genome.sign_in(handshake)
    (handshake.home / "vault" / file).write_text("{}")
    done = handshake.run("doctor", "--json")
    assert done.status == 7


def test_a_replaced_session_that_is_revoked_slowly_costs_no_sign_in(genome: StandIn, handshake: Handshake) -> None:
    """Time runs out while the earlier session is revoked: the new one is stored, and found by its name."""
    genome.sign_in_elsewhere(handshake)
    origin = genome.other["origin"]
    http().post(f"{genome.origin}/_sandbox/faults", data=b"recurse-center POST /oauth/revoke => delay 30", timeout=10)
    user = genome.other["users"][0]
    login = handshake.begin_login("recurse-center", "--base-url", origin, "--client-id", "recurse-public", "--timeout", "4")
    redirect = formlogin.walk(login.url, user["name"], user["password"])
    assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
    finished = login.finish().ok()
    assert "The grant of an earlier sign-in could not be revoked (account: " in finished.stderr, finished
    assert handshake.token("recurse-center")
