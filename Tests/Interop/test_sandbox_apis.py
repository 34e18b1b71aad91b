"""`login --resource` at the sandbox's APIs: registration, step-up, a purged client, hostile neighbours, two at a time."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

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


def redirect(apis: StandIn, login: Login, number: int = 0) -> str:
    """The user signs in and consents; where the browser is sent then. The request is pushed, so only this shows the listener."""
    user = apis.standard["users"][number]
    return formlogin.walk(login.url, user["name"], user["password"])


def complete(apis: StandIn, login: Login, number: int = 0) -> Finished:
    assert http().get(redirect(apis, login, number), timeout=10).status_code == 200
    return login.finish()


def call(handshake: Handshake, address: str, account: str, tool: str = "whoami") -> Finished:
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}})
    return handshake.run("request", "POST", address, "--account", account, "--json", "-d", "@-", *HEADERS, stdin=message)


def said(done: Finished) -> str:
    """What the tool answered: the answer's body is a string in what `--json` prints."""
    return json.loads(done.ok().json["body"])["result"]["content"][0]["text"]


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


def test_a_user_who_never_comes_back_from_the_page_is_told_of_a_purge(handshake: Handshake, apis: StandIn) -> None:
    address = apis.resources["origin"] + "/mcp"
    complete(apis, handshake.begin_login("mine", "--resource", address)).ok()

    def purge() -> None:
        assert http().post(apis.standard["origin"] + "/_sandbox/purge-clients", timeout=10).status_code < 300

    purge()
    waiting = handshake.run_into_timeout(
        "login", "mine", "--resource", address, "--browser", "print", "--json",
        counting=lambda: sum(bool(running.lines["stdout"]) for running, _ in handshake.started), undo=purge)
    assert waiting.stdout.startswith("http"), waiting
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
    # Neither waits for the other: the one that began last is answered first, each at a client and a listener of its own.
    assert both[0].parameters["client_id"] != both[1].parameters["client_id"]
    visited = [redirect(apis, login, number) for number, login in enumerate(both)]
    assert urlsplit(visited[0]).netloc != urlsplit(visited[1]).netloc
    for url, login in reversed(list(zip(visited, both, strict=True))):
        assert http().get(url, timeout=10).status_code == 200
        login.finish().ok()
    assert [said(call(handshake, address, name)) for name in ("one", "two")] == ["Ada Example", "Zoë Ångström"]


def test_of_several_servers_of_an_api_the_one_is_taken_where_the_user_has_an_account(handshake: Handshake, apis: StandIn) -> None:
    issuer, tenant, address = apis.standard["issuer"], apis.standard["origin"] + "/tenant1", apis.resources["origin"] + "/mcp"
    apis.standard_control("faults", f"resources /.well-known/* => member authorization_servers {json.dumps([tenant, issuer])}")

    def server(name: str, *options: str) -> str:
        done = complete(apis, handshake.begin_login(name, "--resource", address, *options)).ok()
        found = re.search(r" is protected by (\S+)\.\s", done.stderr)
        assert found, done
        return found[1]

    assert server("first") == tenant
    handshake.run("logout", "first").ok()
    complete(apis, handshake.begin_login("known", "--issuer", issuer, "--client-id", "sandbox-public", "--scope", "api")).ok()
    assert server("second") == issuer
    # What the user states comes first, and then what the account is at.
    assert server("third", "--issuer", tenant) == tenant
    assert server("fourth", "--issuer", issuer) == issuer
    assert [server(name) for name in ("third", "fourth")] == [tenant, issuer]


def test_each_request_names_the_api(handshake: Handshake, apis: StandIn) -> None:
    address = apis.resources["origin"] + "/mcp"
    login = handshake.begin_login("mine", "--resource", address)
    assert set(login.parameters) == {"client_id", "request_uri"}, "the server takes pushed requests, so the page's URL names nothing"
    complete(apis, login).ok()
    assert handshake.run("token", "mine", "--min-valid", "86000").status == 64  # no token lives so long, so it is refreshed
    lines = http().get(apis.standard["origin"] + "/_sandbox/requests", timeout=10).text.splitlines()
    named = [(line["path"], line["grant_type"]) for line in map(json.loads, lines) if "resource" in line["form_parameter_names"]]
    assert named == [("/par", None), ("/token", "authorization_code"), ("/token", "refresh_token")]
    # The sandbox gives a token for the API alone that the requests name, so this shows that they name the right one.
    assert said(call(handshake, address, "mine")) == "Ada Example", "the refreshed token is for this API too"


def test_a_client_that_is_named_by_its_document_sends_no_secret(handshake: Handshake, apis: StandIn, tmp_path: Path) -> None:
    secret = secret_file(tmp_path / "secret", "canary-secret-of-another-server")
    refused = handshake.run(
        "login", "mine", "--resource", apis.resources["origin"] + "/mcp", "--client-id", "https://app.example.test/oauth/client.json",
        "--client-secret-file", str(secret), "--browser", "print", "--json", "--timeout", "5")
    assert refused.status == 64 and "has no secret" in refused.error["message"], refused
    assert refused.stdout == ""
