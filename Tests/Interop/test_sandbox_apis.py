"""`login --resource` at the sandbox's APIs: registration, step-up, a purged client, hostile neighbours, two at a time."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

import formlogin
from command import Finished, Handshake, Login, secret_file
from stand_in import StandIn
from strangers import http

HEADERS = ["-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream"]


@pytest.fixture
def apis(own_sandbox: StandIn) -> Iterator[StandIn]:
    own_sandbox.reset()
    yield own_sandbox
    own_sandbox.reset()


def complete(apis: StandIn, login: Login, number: int = 0) -> Finished:
    user = apis.standard["users"][number]
    assert http().get(formlogin.walk(login.url, user["name"], user["password"]), timeout=10).status_code == 200
    return login.finish()


def call(handshake: Handshake, address: str, account: str, tool: str = "whoami") -> Finished:
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}})
    return handshake.run("request", "POST", address, "--account", account, "--json", "-d", "@-", *HEADERS, stdin=message)


def said(done: Finished) -> str:
    return json.loads(done.ok().stdout)["result"]["content"][0]["text"]


@pytest.mark.parametrize("path", ["/mcp", "/quiet/mcp", "/above/mcp", "/root/mcp", "/tenant/mcp", "/bound/mcp"])
def test_the_address_alone_leads_to_a_call(handshake: Handshake, apis: StandIn, path: str) -> None:
    address = apis.resources["origin"] + path
    complete(apis, handshake.begin_login("mine", "--resource", address)).ok()
    assert said(call(handshake, address, "mine")) == "Ada Example"
    kind = handshake.run("inspect", "mine", "--json").ok().json["token_type"]
    assert kind == ("DPoP" if path == "/bound/mcp" else "Bearer")
    # Its neighbour at the same origin gets no token.
    other = call(handshake, apis.resources["origin"] + "/quiet/other", "mine")
    assert other.status == 5, other


def test_a_tool_that_needs_more_names_the_command_that_gets_it(handshake: Handshake, apis: StandIn) -> None:
    address = apis.resources["origin"] + "/mcp"
    complete(apis, handshake.begin_login("mine", "--resource", address)).ok()
    refused = call(handshake, address, "mine", "email")
    assert refused.status == 4 and refused.error["code"] == "insufficient_scope", refused
    command = shlex.split(refused.error["message"].rpartition("Sign in again with: ")[2])
    complete(apis, handshake.begin_login(None, *command[2:])).ok()
    assert "@" in said(call(handshake, address, "mine", "email"))
    assert said(call(handshake, address, "mine")) == "Ada Example"


def test_a_purged_client_is_registered_again(handshake: Handshake, apis: StandIn) -> None:
    address = apis.resources["origin"] + "/mcp"
    first = handshake.begin_login("mine", "--resource", address)
    complete(apis, first).ok()
    assert http().post(apis.standard["origin"] + "/_sandbox/purge-clients", timeout=10).status_code < 300
    handshake.run("logout", "mine")
    again = handshake.begin_login("mine", "--resource", address)
    assert again.parameters["client_id"] != first.parameters["client_id"]
    complete(apis, again).ok()
    assert said(call(handshake, address, "mine")) == "Ada Example"


def test_whoever_never_comes_back_from_the_page_is_told_of_a_purge(handshake: Handshake, apis: StandIn) -> None:
    address = apis.resources["origin"] + "/mcp"
    complete(apis, handshake.begin_login("mine", "--resource", address)).ok()
    assert http().post(apis.standard["origin"] + "/_sandbox/purge-clients", timeout=10).status_code < 300
    waiting = handshake.run("login", "mine", "--resource", address, "--browser", "print", "--json", "--timeout", "3")
    assert waiting.status == 2 and waiting.error["code"] == "timed_out", waiting
    assert "handshake logout mine" in waiting.error["message"]


@pytest.mark.parametrize(("path", "code"), [("/foreign/mcp", "resource_mismatch"), ("/neighbour/mcp", "issuer_mismatch")])
def test_a_hostile_one_is_refused(handshake: Handshake, apis: StandIn, path: str, code: str) -> None:
    address = apis.resources["origin"] + path
    if path == "/foreign/mcp":
        refused = handshake.run("login", "mine", "--resource", address, "--json")
    else:
        login = handshake.begin_login("mine", "--resource", address)
        user = apis.standard["users"][0]
        http().get(formlogin.walk(login.url, user["name"], user["password"]), timeout=10)
        refused = login.finish()
    assert (refused.status, refused.error["code"]) == (5, code), refused
    assert handshake.accounts() == []


def test_a_device_without_a_browser_registers_for_its_own_grant(handshake: Handshake, apis: StandIn) -> None:
    address = apis.resources["origin"] + "/mcp"
    running = handshake.start("login", "mine", "--resource", address, "--device", "--json", "--timeout", "60")
    code, page = running.line().split(" ")
    user = apis.standard["users"][0]
    form = {"user_code": code, "op": "Allow", "email": user["name"], "password": user["password"]}
    assert "Access allowed" in http().post(page, data=form, timeout=10).text
    running.finish().ok()
    assert said(call(handshake, address, "mine")) == "Ada Example"


def test_two_sign_in_at_the_same_time(handshake: Handshake, apis: StandIn) -> None:
    address = apis.resources["origin"] + "/mcp"
    both = [handshake.begin_login(name, "--resource", address) for name in ("one", "two")]
    assert both[0].redirect_uri != both[1].redirect_uri
    for number, login in reversed(list(enumerate(both))):
        complete(apis, login, number).ok()
    assert said(call(handshake, address, "one")) != said(call(handshake, address, "two"))


def test_each_request_names_the_api(handshake: Handshake, apis: StandIn) -> None:
    address = apis.resources["origin"] + "/mcp"
    login = handshake.begin_login("mine", "--resource", address)
    assert parse_qs(urlsplit(login.url).query)["resource"] == [address]
    complete(apis, login).ok()
    handshake.run("token", "mine", "--min-valid", "86000").ok()
    assert said(call(handshake, address, "mine")) == "Ada Example", "the refreshed token is for this API too"


def test_a_client_that_is_named_by_its_document_sends_no_secret(handshake: Handshake, apis: StandIn, tmp_path: Path) -> None:
    secret = secret_file(tmp_path / "secret", "canary-secret-of-another-server")
    refused = handshake.run(
        "login", "mine", "--resource", apis.resources["origin"] + "/mcp", "--client-id", "https://app.example.test/oauth/client.json",
        "--client-secret-file", str(secret), "--browser", "print", "--json", "--timeout", "5")
    assert refused.status == 64 and "has no secret" in refused.error["message"], refused
    assert refused.stdout == ""
