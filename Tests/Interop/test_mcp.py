"""`login --resource`: from the address of an MCP server alone to a call of its tool. The server is the Python SDK's own."""

import json
import socket
from urllib.parse import parse_qs, urlencode, urlsplit

from command import Finished, Handshake, Login, dict_of
from strangers import Stranger, http

CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 2, "b": 40}}})


def begin(handshake: Handshake, server: Stranger, name: str | None = None, *options: str) -> Login:
    return handshake.begin_login(name, "--resource", server.facts["resource"], *options)


def complete(login: Login) -> Finished:
    redirect = http().get(login.url, allow_redirects=False, timeout=10).headers["location"]
    assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
    return login.finish().ok()


def call(handshake: Handshake, server: Stranger, account: str) -> str:
    answer = handshake.run(
        "request", "POST", server.facts["resource"], "--account", account, "-d", "@-", "-H", "Content-Type: application/json",
        "-H", "Accept: application/json, text/event-stream", stdin=CALL).ok()
    return json.loads(answer.stdout)["result"]["content"][0]["text"]


def registrations(server: Stranger) -> int:
    return len(server.requests("/register"))


def test_an_address_alone_leads_to_a_registered_client_and_a_call(handshake: Handshake, mcp: Stranger) -> None:
    login = begin(handshake, mcp)
    done = complete(login)
    assert done.json["account"] == "127-0-0-1" and done.json["refreshable"]
    assert f"{mcp.facts['resource']} is protected by {mcp.issuer}. Scopes: tools:read offline_access." in done.stderr
    assert call(handshake, mcp, "127-0-0-1") == "42"
    assert parse_qs(urlsplit(login.url).query)["resource"] == [mcp.facts["resource"]]


def test_exchange_and_refresh_name_the_resource(handshake: Handshake, mcp: Stranger) -> None:
    login = begin(handshake, mcp, "sums")
    complete(login)
    # This server demands the field of clients without a secret too.
    dead = {"token": handshake.token("sums"), "client_id": login.parameters["client_id"], "client_secret": ""}
    assert http().post(mcp.origin + "/revoke", data=dead, timeout=10).status_code == 200
    assert call(handshake, mcp, "sums") == "42"
    named = (mcp.state / "resources").read_text().splitlines()
    assert {grant["grant_type"] for grant in mcp.requests("/token")} == {"authorization_code", "refresh_token"}
    assert set(named) == {f"/token {mcp.facts['resource']}"} and len(named) == len(mcp.requests("/token"))


def test_a_second_sign_in_uses_the_registered_client_and_its_port(handshake: Handshake, mcp: Stranger) -> None:
    first = begin(handshake, mcp, "sums")
    complete(first)
    registered = registrations(mcp)
    again = begin(handshake, mcp, "sums")
    assert again.parameters["client_id"] == first.parameters["client_id"]
    assert again.redirect_uri == first.redirect_uri
    complete(again)
    with socket.create_server(("127.0.0.1", urlsplit(first.redirect_uri).port or 0)):
        elsewhere = begin(handshake, mcp, "sums")
        assert elsewhere.redirect_uri != first.redirect_uri
        elsewhere.end()
    assert registrations(mcp) == registered


def test_scopes_that_were_not_registered_are_registered_with_another_client(handshake: Handshake, mcp: Stranger) -> None:
    complete(begin(handshake, mcp, "sums"))
    wider = begin(handshake, mcp, "sums", "--scope", "tools:read tools:call")
    assert complete(wider).json["scope"] == "tools:read tools:call"


def test_a_server_that_registers_no_apps_says_so(handshake: Handshake, closed_mcp: Stranger) -> None:
    refused = handshake.run("login", "--resource", closed_mcp.facts["resource"], "--json")
    assert refused.status == 64 and "registers no apps itself" in refused.error["message"], refused
    assert "--client-id" in refused.error["message"]
    assert not closed_mcp.requests("/authorize")


def test_the_token_goes_to_no_neighbour_of_the_resource(handshake: Handshake, mcp: Stranger) -> None:
    complete(begin(handshake, mcp, "sums"))
    before = len(mcp.requests())
    for address in (mcp.origin + "/other", mcp.origin + "/mcp2", mcp.origin + "/", mcp.origin + "/mcp/../other", mcp.origin + "/mcp/%2e%2E/other"):
        refused = handshake.run("request", "GET", address, "--account", "sums", "--json")
        assert (refused.status, refused.error["code"]) == (5, "foreign_origin"), refused
    assert len(mcp.requests()) == before


def test_logout_revokes_at_the_server(handshake: Handshake, mcp: Stranger) -> None:
    complete(begin(handshake, mcp, "sums"))
    before = len(mcp.requests("/revoke"))
    handshake.run("logout", "sums").ok()
    assert len(mcp.requests("/revoke")) > before
