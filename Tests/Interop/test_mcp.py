"""`login --resource`: from the address of an MCP server alone to a call of its tool. The server is the Python SDK's own."""

import json
import shlex
import socket
from urllib.parse import parse_qs, urlencode, urlsplit

from api import api
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
    assert done.json["account"] == "127-0-0-1-mcp" and done.json["refreshable"]
    assert f"{mcp.facts['resource']} is protected by {mcp.issuer}. Scopes: tools:read offline_access." in done.stderr
    assert call(handshake, mcp, "127-0-0-1-mcp") == "42"
    assert handshake.run("inspect", "127-0-0-1-mcp", "--json").ok().json["resources"] == [mcp.facts["resource"]]
    assert mcp.facts["resource"] in handshake.run("inspect", "127-0-0-1-mcp").ok().stdout
    assert parse_qs(urlsplit(login.url).query)["resource"] == [mcp.facts["resource"]]


def test_a_user_who_has_chosen_no_name_is_told_what_the_account_is_called(handshake: Handshake, mcp: Stranger) -> None:
    named = complete(handshake.begin_login("mine", "--resource", mcp.facts["resource"], prints_json=False))
    assert "is called" not in named.stderr
    done = complete(handshake.begin_login(None, "--resource", mcp.facts["resource"], prints_json=False))
    assert " The account is called “127-0-0-1-mcp”.\n" in done.stderr


def test_exchange_and_refresh_name_the_resource(handshake: Handshake, mcp: Stranger) -> None:
    def named() -> list[str]:
        resources = mcp.state / "resources"
        return resources.read_text().splitlines() if resources.exists() else []

    # Other tests sign in at this server without a resource.
    earlier, earlier_named = len(mcp.requests("/token")), len(named())
    login = begin(handshake, mcp, "sums")
    complete(login)
    # This server demands the field of clients without a secret too.
    dead = {"token": handshake.token("sums"), "client_id": login.parameters["client_id"], "client_secret": ""}
    assert http().post(mcp.origin + "/revoke", data=dead, timeout=10).status_code == 200
    assert call(handshake, mcp, "sums") == "42"
    grants = mcp.requests("/token")[earlier:]
    assert [grant["grant_type"] for grant in grants] == ["authorization_code", "refresh_token"]
    assert named()[earlier_named:] == [f"/token {mcp.facts['resource']}"] * 2


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


def test_an_issuer_alone_registers_the_app_once(handshake: Handshake, mcp: Stranger) -> None:
    registered = registrations(mcp)
    first = handshake.begin_login("mine", "--issuer", mcp.issuer, "--scope", "tools:read")
    assert "registers apps itself" in complete(first).stderr
    again = handshake.begin_login("mine")
    assert (again.parameters["client_id"], again.redirect_uri) == (first.parameters["client_id"], first.redirect_uri)
    complete(again)
    assert registrations(mcp) == registered + 1
    (mcp.state / "purge").touch()
    login = handshake.begin_login("mine")
    redirect = http().get(login.url, allow_redirects=False, timeout=10).headers["location"]
    assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
    url = login.line()
    assert dict_of(urlsplit(url).query)["client_id"] != first.parameters["client_id"]
    assert http().get(http().get(url, allow_redirects=False, timeout=10).headers["location"], timeout=10).status_code == 200
    assert "no longer knows this app" in login.finish().ok().stderr
    assert registrations(mcp) == registered + 2
    assert [account["state"] for account in handshake.accounts()] == ["signed_in"]


def test_a_server_that_registers_no_apps_says_so(handshake: Handshake, closed_mcp: Stranger) -> None:
    refused = handshake.run("login", "--resource", closed_mcp.facts["resource"], "--json")
    assert refused.status == 64 and "registers no apps itself" in refused.error["message"], refused
    assert "--client-id" in refused.error["message"]
    assert not closed_mcp.requests("/authorize")


def test_a_narrower_sign_in_registers_no_other_client_and_is_asked_again(handshake: Handshake, mcp: Stranger) -> None:
    first = begin(handshake, mcp, "sums")
    complete(first)
    registered = registrations(mcp)
    assert complete(begin(handshake, mcp, "sums", "--scope", "tools:read")).json["scope"] == "tools:read"
    assert complete(begin(handshake, mcp, "sums")).json["scope"] == "tools:read", "what is left out is as in the last sign-in"
    again = begin(handshake, mcp, "sums", "--scope", "tools:read offline_access")
    assert complete(again).json["scope"] == "tools:read offline_access"
    assert again.parameters["client_id"] == first.parameters["client_id"]
    assert registrations(mcp) == registered


def test_another_redirect_is_registered_with_another_client(handshake: Handshake, mcp: Stranger) -> None:
    first = begin(handshake, mcp, "sums")
    complete(first)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    again = begin(handshake, mcp, "sums", "--redirect", f"loopback:{port}")
    assert again.redirect_uri == f"http://127.0.0.1:{port}/callback"
    assert again.parameters["client_id"] != first.parameters["client_id"]
    complete(again)
    same = begin(handshake, mcp, "sums", "--redirect", "loopback")
    assert (same.parameters["client_id"], same.redirect_uri) == (again.parameters["client_id"], again.redirect_uri)
    complete(same)
    assert call(handshake, mcp, "sums") == "42"


def test_a_purged_client_is_registered_again_once(handshake: Handshake, mcp: Stranger) -> None:
    first = begin(handshake, mcp, "sums")
    complete(first)
    registered = registrations(mcp)
    (mcp.state / "purge").touch()
    login = begin(handshake, mcp, "sums")
    assert login.parameters["client_id"] == first.parameters["client_id"]
    redirect = http().get(login.url, allow_redirects=False, timeout=10).headers["location"]
    assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
    url = login.line()
    assert dict_of(urlsplit(url).query)["client_id"] != first.parameters["client_id"]
    redirect = http().get(url, allow_redirects=False, timeout=10).headers["location"]
    assert http().get(redirect, timeout=10).status_code == 200
    done = login.finish().ok()
    assert "no longer knows this app" in done.stderr
    assert registrations(mcp) == registered + 1
    assert call(handshake, mcp, "sums") == "42"


def test_m503_a_refresh_tells_of_a_forgotten_client_and_the_next_sign_in_registers_again(handshake: Handshake, mcp: Stranger) -> None:
    first = begin(handshake, mcp, "sums")
    complete(first)
    registered = registrations(mcp)
    token = handshake.token("sums")
    (mcp.state / "purge").touch()
    refused = handshake.run("token", "sums", "--min-valid", "100000", "--json")
    assert (refused.status, refused.error["code"]) == (3, "client_forgotten"), refused
    assert mcp.requests("/token")[-1]["status"] == 401
    assert handshake.token("sums") == token, "the token that lives is used"
    assert call(handshake, mcp, "sums") == "42"
    assert [account["state"] for account in handshake.accounts()] == ["signed_in"]
    command = shlex.split(refused.error["message"].rpartition("sign in again with: ")[2])
    assert command == ["handshake", "login", "sums"], refused
    again = handshake.begin_login(*command[2:])
    assert again.parameters["client_id"] != first.parameters["client_id"]
    assert "no longer knows this app" in complete(again).stderr
    assert registrations(mcp) == registered + 1
    assert call(handshake, mcp, "sums") == "42"
    assert handshake.run("token", "sums", "--min-valid", "3590").ok().stdout.strip() not in ("", token)


def test_a_client_id_is_for_the_server_that_the_user_names(handshake: Handshake, mcp: Stranger) -> None:
    before = len(mcp.requests("/authorize"))
    refused = handshake.run("login", "sums", "--resource", mcp.facts["resource"], "--client-id", "mine", "--json")
    assert refused.status == 64, refused
    assert f"--issuer {mcp.issuer} --resource {mcp.facts['resource']} --client-id mine" in refused.error["message"]
    elsewhere = handshake.run(
        "login", "sums", "--resource", mcp.facts["resource"], "--client-id", "mine", "--issuer", "https://id.example", "--json")
    assert (elsewhere.status, elsewhere.error["code"]) == (5, "issuer_mismatch"), elsewhere
    assert len(mcp.requests("/authorize")) == before
    known = begin(handshake, mcp, "own")
    complete(known)
    paired = begin(
        handshake, mcp, "sums", "--client-id", known.parameters["client_id"], "--issuer", mcp.issuer, "--redirect",
        "loopback:" + str(urlsplit(known.redirect_uri).port))
    assert paired.parameters["client_id"] == known.parameters["client_id"]
    complete(paired)
    assert call(handshake, mcp, "sums") == "42"


def test_a_client_id_of_the_environment_goes_to_no_server_that_an_api_names(handshake: Handshake, mcp: Stranger) -> None:
    handshake.environment["HANDSHAKE_CLIENT_ID"] = "canary-client"
    login = begin(handshake, mcp, "sums")
    assert login.parameters["client_id"] != "canary-client"
    complete(login)
    assert "canary-client" not in (mcp.state / "secrets.jsonl").read_text() and "canary-client" not in login.url


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


def test_m519_an_api_that_moves_is_signed_in_to_at_its_new_server_by_the_command_of_the_error(
        handshake: Handshake, mcp: Stranger, other_mcp: Stranger) -> None:
    with api(mcp.issuer, "tools:read") as served:
        complete(handshake.begin_login("sums", "--resource", served.address))
        handshake.run("request", "GET", served.address, "--account", "sums").ok()
        before, known = len(other_mcp.requests()), mcp.secrets()
        served.issuer, served.accepts = other_mcp.issuer, lambda token: token in other_mcp.secrets()
        refused = handshake.run("request", "GET", served.address, "--account", "sums", "--json")
        assert (refused.status, refused.error["code"]) == (3, "resource_moved"), refused
        assert len(other_mcp.requests()) == before, "the new server hears nothing"
        assert [account["state"] for account in handshake.accounts()] == ["signed_in"], "the grant stays"
        # The name alone does not lead there: the API alone has named the server.
        again = handshake.run("login", "sums", "--browser", "print", "--json")
        assert again.status == 64 and registrations(other_mcp) == 0, again
        commands = [shlex.split(text.error["message"].rpartition("sign in there with: ")[2]) for text in (refused, again)]
        assert commands[0] == ["handshake", "login", "sums", "--resource", served.address, "--issuer", other_mcp.issuer], commands
        assert commands[1] == [
            "handshake", "login", "sums", "--issuer", other_mcp.issuer, "--browser", "print", "--resource", served.address], commands
        revoked = len(mcp.requests("/revoke"))
        complete(handshake.begin_login(*commands[0][2:]))
        handshake.run("request", "GET", served.address, "--account", "sums").ok()
        told = (other_mcp.state / "secrets.jsonl").read_text()
        assert not any(secret in told for secret in known | mcp.secrets()), "nothing of the server before came there"
        assert len(mcp.requests("/revoke")) > revoked, "the session before is signed out at its own server"
        assert [account["account"] for account in handshake.accounts()] == ["sums"]
