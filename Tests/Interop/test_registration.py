"""Apps that register themselves at servers which others wrote (RFC 7591, RFC 7592): canaille and oidc-provider-mock."""

import json
from base64 import urlsafe_b64decode
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from api import api
from command import Finished, Handshake, Login, dict_of, secret_file
from stand_in import StandIn
from strangers import Stranger, http


def settings(handshake: Handshake, *lines: str) -> None:
    handshake.home.mkdir(exist_ok=True)
    (handshake.home / "config.toml").write_text("\n".join(["[services.mine]", *lines, ""]))


def registrations(server: Stranger, method: str) -> list[dict[str, object]]:
    return [r for r in server.requests() if r["path"].startswith("/oauth/register") and r["method"] == method]


def test_an_app_registers_at_canaille_with_the_token_that_it_demands_and_is_removed_with_its_account(
        handshake: Handshake, canaille: Stranger, tmp_path: Path) -> None:
    token = secret_file(tmp_path / "token", canaille.facts["registration_token"])
    with api(canaille.issuer, "openid", "profile") as served:
        login = handshake.begin_login(
            "mine", "--resource", served.address, "--issuer", canaille.issuer, "--registration-token-file", str(token))
        done = login.complete(canaille).ok()
        assert done.json["account"] == "mine"
        assert handshake.run("request", "GET", served.address, "--account", "mine").ok().stdout == '{"ok": true}'
        assert canaille.is_active(served.tokens[0]) or served.tokens[0].count(".") == 2
        before = len(registrations(canaille, "DELETE"))
        handshake.run("logout", "mine").ok()
        removals = registrations(canaille, "DELETE")[before:]
        assert [(r["path"], r["authorization"]) for r in removals] == [
            (f"/oauth/register/{login.parameters['client_id']}", "bearer")], "the registration is left behind"
        # This canaille fails at every request about a registration: its check of the token answers True, and Authlib 1.9.8 asks that
        # True which client it is for. The account goes all the same.
        assert removals[0]["status"] == 500
        assert handshake.accounts() == []


def test_without_that_token_canaille_registers_nothing_and_its_words_are_shown(handshake: Handshake, canaille: Stranger) -> None:
    with api(canaille.issuer, "openid") as served:
        refused = handshake.run("login", "mine", "--resource", served.address, "--json")
        assert refused.status == 4, refused
        assert (f"--issuer {canaille.issuer} --resource {served.address} --registration-token-file FILE"
                in refused.error["message"]), refused.error
        assert handshake.accounts() == []


def test_an_issuer_alone_registers_the_app_where_its_server_demands_a_token(
        handshake: Handshake, canaille: Stranger, tmp_path: Path) -> None:
    options = ["mine", "--issuer", canaille.issuer, "--scope", "openid profile"]
    refused = handshake.run("login", *options, "--json")
    assert refused.status == 4, refused
    command = f"handshake login mine --issuer {canaille.issuer} --scope 'openid profile'"
    assert f"{command} --registration-token-file FILE" in refused.error["message"], refused.error
    assert f"{command} --client-id ID" in refused.error["message"], refused.error
    token = secret_file(tmp_path / "token", canaille.facts["issuer_registration_token"])
    login = handshake.begin_login(*options, "--registration-token-file", str(token))
    assert login.parameters["client_id"] not in ("native", "web")
    assert login.complete(canaille).ok().json["account"] == "mine"
    assert canaille.requests("/oauth/token", "authorization_code")[-1]["status"] == 200
    assert handshake.token("mine") != ""


def test_what_an_issuer_has_registered_is_used_again_and_removed_with_the_account(
        handshake: Handshake, own_sandbox: StandIn) -> None:
    issuer = own_sandbox.standard["origin"]
    options = ["mine", "--issuer", issuer, "--scope", "openid profile offline_access", "--par", "never"]
    first = handshake.begin_login(*options)
    first.kill()
    second = own_sandbox.complete(handshake.begin_login(*options))
    assert second.parameters["client_id"] == first.parameters["client_id"], "the sign-in that was not done has left it"
    assert second.redirect_uri == first.redirect_uri
    third = own_sandbox.complete(handshake.begin_login("mine"))
    assert (third.parameters["client_id"], third.redirect_uri) == (first.parameters["client_id"], first.redirect_uri)
    assert third.parameters["scope"] == "openid profile offline_access"
    wider = own_sandbox.complete(handshake.begin_login("mine", "--scope", "openid api"))
    assert wider.parameters["client_id"] == first.parameters["client_id"], "the server changes registrations (RFC 7592)"
    own_sandbox.standard_control("purge-clients")
    again = handshake.begin_login("mine")
    assert again.parameters["client_id"] == first.parameters["client_id"]
    again.end()
    handshake.run("logout", "mine").ok()
    fresh = handshake.begin_login(*options)
    fresh.end()
    assert fresh.parameters["client_id"] != first.parameters["client_id"]
    client = f"{issuer}/register/{fresh.parameters['client_id']}"
    assert http().get(client, timeout=10).status_code == 401
    handshake.run("logout", "mine").ok()


def test_m518_a_sign_in_keeps_what_another_process_has_changed_of_the_registration_meanwhile(
        handshake: Handshake, own_sandbox: StandIn) -> None:
    first = own_sandbox.complete(handshake.begin_login(
        "mine", "--issuer", own_sandbox.standard["origin"], "--scope", "openid", "--par", "never"))
    waiting = handshake.begin_login("mine")
    # It changes the registration before its page. The sandbox gives the management a new token with each change.
    handshake.begin_login("mine", "--scope", "openid api").kill()
    own_sandbox.complete(waiting)
    wider = handshake.begin_login("mine", "--scope", "openid email")
    wider.end()
    assert wider.parameters["client_id"] == first.parameters["client_id"], "the app was registered again"


def test_m503_a_refused_secret_that_the_user_states_is_neither_replaced_nor_stored(
        handshake: Handshake, own_sandbox: StandIn, tmp_path: Path) -> None:
    own_sandbox.complete(handshake.begin_login(
        "mine", "--issuer", own_sandbox.standard["origin"], "--scope", "openid offline_access", "--par", "never"))
    wrong = secret_file(tmp_path / "secret", "canary-wrong-secret")
    refused = own_sandbox.approve(handshake.begin_login("mine", "--client-secret-file", str(wrong)))
    assert (refused.status, refused.error["code"]) == (4, "invalid_client"), refused
    assert "Registering it again" not in refused.stderr
    first = handshake.token("mine")
    assert handshake.run("token", "mine", "--min-valid", "3601").status == 64  # no token lives so long, so it is refreshed
    assert handshake.token("mine") not in ("", first), "the wrong secret was stored"


def test_what_one_issuer_has_registered_is_used_at_no_other(handshake: Handshake, own_sandbox: StandIn, mcp: Stranger) -> None:
    options = ["mine", "--issuer", own_sandbox.standard["origin"], "--scope", "openid", "--par", "never"]
    client = own_sandbox.complete(handshake.begin_login(*options)).parameters["client_id"]
    before = len(mcp.requests())
    refused = handshake.run("login", "mine", "--issuer", mcp.issuer, "--scope", "tools:read", "--json")
    assert refused.status == 64 and "handshake logout mine" in refused.error["message"], refused
    assert client not in json.dumps(mcp.requests()[before:])
    handshake.home.joinpath("config.toml").write_text(f'[services.mine]\nissuer = "{mcp.issuer}"\n')
    refused = handshake.run("login", "mine", "--json")
    assert refused.status == 64 and "where the app registered itself" in refused.error["message"], refused
    assert client not in json.dumps(mcp.requests()[before:])


def test_a_registration_token_goes_to_no_server_that_the_api_alone_names(
        handshake: Handshake, canaille: Stranger, tmp_path: Path) -> None:
    token = secret_file(tmp_path / "token", canaille.facts["registration_token"])
    before = len(registrations(canaille, "POST"))
    with api(canaille.issuer, "openid") as served:
        refused = handshake.run("login", "mine", "--resource", served.address, "--registration-token-file", str(token), "--json")
        assert refused.status == 64, refused
        assert (f"--issuer {canaille.issuer} --resource {served.address} --registration-token-file {token}"
                in refused.error["message"]), refused.error
        elsewhere = handshake.run("login", "mine", "--resource", served.address, "--issuer", "https://id.example",
                                  "--registration-token-file", str(token), "--json")
        assert (elsewhere.status, elsewhere.error["code"]) == (5, "issuer_mismatch"), elsewhere
    assert len(registrations(canaille, "POST")) == before


def test_a_key_of_ones_own_is_registered_at_canaille_and_signs(
        handshake: Handshake, canaille: Stranger, tmp_path: Path) -> None:
    key = secret_file(tmp_path / "key.json", canaille.facts["keys"]["keyed-ec"])
    token = secret_file(tmp_path / "token", canaille.facts["key_registration_token"])
    before = len(registrations(canaille, "POST"))
    with api(canaille.issuer, "openid") as served:
        login = handshake.begin_login("mine", "--resource", served.address, "--issuer", canaille.issuer,
                                      "--registration-token-file", str(token), "--key", str(key))
        assert [r["status"] for r in registrations(canaille, "POST")[before:]] == [201]
        assert login.parameters["client_id"] not in canaille.facts["keys"]
        done = login.complete(canaille)
    # The assertion is signed by the key; canaille refuses its audience (test_client_keys.py).
    assert (done.status, done.error["code"]) == (4, "invalid_client"), done
    sent = canaille.requests(canaille.facts["token_path"], "authorization_code")[-1]
    assert sent["authorization"] is None and "client_assertion" in sent["form"] and "client_secret" not in sent["form"]
    assert handshake.accounts() == []


def test_a_server_that_says_nothing_of_pkce_is_refused_unless_the_settings_name_the_deviation(
        handshake: Handshake, lenient: Stranger, tmp_path: Path) -> None:
    secret = secret_file(tmp_path / "secret", "canary-any-secret")
    with api(lenient.issuer, "openid", "profile") as served:
        options = ["--resource", served.address, "--issuer", lenient.issuer, "--client-id", "any", "--client-secret-file", str(secret)]
        refused = handshake.run("login", "mine", *options, "--json")
        assert (refused.status, refused.error["code"]) == (5, "pkce_unsupported"), refused
        settings(handshake, "assumes-s256 = true")
        login = handshake.begin_login("mine", *options)
        assert login.parameters["code_challenge_method"] == "S256"
        deliver(login, "alice").ok()
        assert {"code_verifier", "resource"} <= set(lenient.requests("/oauth2/token", "authorization_code")[-1]["form"])
        assert handshake.run("inspect", "mine", "--json").ok().json["deviations"] == ["assumes_s256"]
        assert handshake.run("request", "GET", served.address, "--account", "mine").ok().stdout == '{"ok": true}'


def deliver(login: Login, user: str) -> Finished:
    """The page of oidc-provider-mock has a field for the user's subject and no password."""
    answer = http().post(login.url, data={"sub": user}, allow_redirects=False, timeout=10)
    redirect = answer.headers["location"]
    assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
    return login.finish()


def test_a_client_that_has_just_been_registered_and_is_refused_is_not_registered_again(
        handshake: Handshake, lenient_registry: Stranger) -> None:
    """oidc-provider-mock registers clients without a secret, and its token endpoint refuses each of them."""
    settings(handshake, "assumes-s256 = true")
    with api(lenient_registry.issuer, "openid", "profile") as served:
        done = deliver(handshake.begin_login("mine", "--resource", served.address), "alice")
        assert (done.status, done.error["code"]) == (4, "invalid_client"), done
        assert "no longer knows this app" not in done.stderr
        assert [r["status"] for r in lenient_registry.requests("/oauth2/clients")] == [201]
        assert handshake.accounts() == [] and served.tokens == []


def test_a_registration_outlives_the_sign_in_that_was_abandoned_until_it_is_signed_out(
        handshake: Handshake, lenient_registry: Stranger) -> None:
    settings(handshake, "assumes-s256 = true")
    with api(lenient_registry.issuer, "openid", "profile") as served:
        before = len(lenient_registry.requests("/oauth2/clients"))
        first = handshake.begin_login("mine", "--resource", served.address)
        first.kill()
        second = handshake.begin_login("mine", "--resource", served.address)
        second.kill()
        assert second.parameters["client_id"] == first.parameters["client_id"]
        assert second.redirect_uri == first.redirect_uri
        assert len(lenient_registry.requests("/oauth2/clients")) == before + 1
        assert handshake.accounts() == [], "a registration alone is no account"
        assert "No sign-in was finished with it" in handshake.run("logout", "mine").ok().stderr
        third = handshake.begin_login("mine", "--resource", served.address)
        third.end()
        assert third.parameters["client_id"] != first.parameters["client_id"]


def test_an_id_token_that_names_no_key_is_verified_by_the_only_key_of_the_server(handshake: Handshake, lenient: Stranger) -> None:
    assert len(http().get(lenient.openid_metadata()["jwks_uri"], timeout=10).json()["keys"]) == 1
    login = handshake.login("mine", lenient, "--scope", "openid profile email", client="any", secret="canary-any-secret")
    deliver(login, "alice").ok()
    header = lenient.newest("id_token").split(".")[0]
    assert "kid" not in json.loads(urlsafe_b64decode(header + "==")), "this test is for an ID token that names no key"
    shown = handshake.run("inspect", "mine", "--json").ok().json
    assert shown["subject"] == "alice" and shown["id_token"]["email"] == "alice@example.com"
    first = handshake.token("mine")
    assert handshake.run("token", "mine", "--min-valid", "3601").status == 64  # no token lives so long, so it is refreshed
    assert handshake.token("mine") not in ("", first)
    assert [r["grant_type"] for r in lenient.requests("/oauth2/token")][-2:] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("resource", ["http://127.0.0.1:9/api"])
def test_an_api_that_cannot_be_reached_is_a_network_error(handshake: Handshake, resource: str) -> None:
    assert handshake.run("login", "--resource", resource, "--json").status == 6
