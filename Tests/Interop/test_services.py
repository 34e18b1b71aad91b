"""Services by name: one command each, against a twin that is made from what `services show` says."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from command import Handshake, dict_of, secret_file
from service_twin import SECRET, Twin, twin
from strangers import http


# GitHub answers in a form unless asked otherwise; Slack's token lies in a member and its scopes have a name of their own; Notion takes
# JSON, Basic and a header; Trovo wants another scheme; Spotify serves clients without a secret.
@pytest.mark.parametrize("name", ["github", "slack", "notion", "trovo", "spotify"])
def test_a_user_signs_in_to_a_service_by_its_name_alone(handshake: Handshake, tmp_path: Path, name: str) -> None:
    facts = handshake.run("services", "show", name, "--json").ok().json
    is_public = facts.get("client_authentication") is None and facts.get("public_clients", False)
    secret = [] if is_public else ["--client-secret-file", str(secret_file(tmp_path / "secret", SECRET))]
    with twin(facts) as service:
        posted = with_refresh_endpoint(service)
        login = handshake.begin_login(name, "--client-id", "app", *secret, "--base-url", service.origin)
        redirect = http().get(login.url, allow_redirects=False, timeout=10).headers["location"]
        assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
        done = login.finish().ok()
        assert done.json["account"] == name and done.json["subject"] == "u-1"
        assert handshake.token(name) == "canary-access-1"
        # The second time the name alone is enough: all else is as in the last sign-in.
        again = handshake.begin_login(name)
        redirect = http().get(again.url, allow_redirects=False, timeout=10).headers["location"]
        assert again.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
        again.finish().ok()
        assert handshake.token(name) == "canary-access-2"
        answer = handshake.run("request", "GET", facts["userinfo_url"].replace(origin(facts["userinfo_url"]), service.origin),
                               "--account", name).ok()
        assert "Ada Example" in answer.stdout
        if done.json["refreshable"] and done.json["expires_at"] is not None:
            # No token lives so long, so it is refreshed.
            assert handshake.run("token", name, "--min-valid", "3601").status == 64
            assert handshake.token(name) == "canary-access-3"
            exchanged, refreshed = (urlsplit(facts.get(member, facts["token_url"])).path for member in ("token_url", "refresh_url"))
            assert posted == [exchanged, exchanged, refreshed]
        assert service.problems == []


def with_refresh_endpoint(service: Twin) -> list[str]:
    """Lets a twin refresh where its service does, which may be an endpoint of its own. The paths of all POST requests from now on."""
    own, posted = service.answer, []
    path = urlsplit(service.facts.get("refresh_url", service.facts["token_url"])).path

    def answer(method: str, target: str, headers: Any, body: bytes) -> tuple[int, str, bytes]:
        if method == "POST":
            posted.append(urlsplit(target).path)
        is_refresh = method == "POST" and urlsplit(target).path == path
        return service.token(headers, body) if is_refresh else own(method, target, headers, body)

    service.answer = answer  # type: ignore[method-assign]
    return posted


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def test_a_name_that_is_nearly_one_leads_to_the_right_one(handshake: Handshake) -> None:
    refused = handshake.run("login", "gihtub", "--client-id", "app", "--json")
    assert refused.status == 64 and "github" in refused.error["message"], refused


def test_a_missing_placeholder_is_named_with_a_command_that_works(handshake: Handshake) -> None:
    refused = handshake.run("login", "gitlab-self-managed", "--client-id", "app", "--json")
    assert refused.status == 64 and "--set host=gitlab.example.org" in refused.error["message"], refused
    wrong = handshake.run("login", "gitlab-self-managed", "--client-id", "app", "--set", "host=evil.example/@x", "--json")
    assert wrong.status == 64 and "host" in wrong.error["message"], wrong


def published_by(service: Twin, facts: dict[str, Any], **changes: Any) -> None:
    """Lets a twin of Google publish all that is known of it, with these changes."""
    places = {"authorization_endpoint": "authorize_url", "token_endpoint": "token_url", "revocation_endpoint": "revocation_url",
              "userinfo_endpoint": "userinfo_url", "device_authorization_endpoint": "device_authorization_url"}
    members: dict[str, Any] = {member: service.origin + urlsplit(facts[fact]).path for member, fact in places.items()} | {
        "issuer": service.origin, "jwks_uri": service.origin + "/jwks", "code_challenge_methods_supported": ["S256"],
        "response_types_supported": ["code"], "scopes_supported": ["openid", "profile"],
        "grant_types_supported": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]} | changes
    members = {member: value for member, value in members.items() if value is not None}
    own = service.answer
    service.answer = lambda method, target, headers, body: (  # type: ignore[method-assign]
        (200, "application/json", json.dumps(members).encode()) if target == "/.well-known/openid-configuration"
        else own(method, target, headers, body))


def test_services_check_says_what_drifted(handshake: Handshake, tmp_path: Path) -> None:
    facts = handshake.run("services", "show", "google", "--json").ok().json
    with twin(facts | {"authorize_url": "https://x/none", "userinfo_url": "https://x/none"}) as service:
        published_by(service, facts, token_endpoint=service.origin + "/moved", scopes_supported=["openid"], revocation_endpoint=None,
                     introspection_endpoint=service.origin + "/introspect", grant_types_supported=None,
                     dpop_signing_alg_values_supported=["ES256"])
        done = handshake.run("services", "check", "google", "--base-url", service.origin, "--json")
        assert (done.status, done.error["code"]) == (4, "service_changed"), done
        told = json.loads(done.stdout.splitlines()[0])
        found = {kind: {item["member"] for item in told[kind]} for kind in ("differences", "unpublished", "undescribed", "same")}
        assert found["differences"] == {"token_url", "revocation_url"}, done.stdout
        assert found["unpublished"] == {"grant_types", "scopes"}
        assert found["undescribed"] == {"jwks_url", "introspection_url", "dpop_signing_algorithms"}
        assert {"issuer", "authorize_url", "userinfo_url", "device_authorization_url", "pkce", "response_types"} == found["same"]
        shown = handshake.run("services", "check", "google", "--base-url", service.origin)
        assert shown.status == 4 and shown.stdout.splitlines()[0] == (
            f"The token endpoint (token_url) drifted: this version knows {service.origin}/token, and the server publishes "
            f"{service.origin}/moved.")
        assert "The revocation endpoint (revocation_url) drifted: this version knows" in shown.stdout
        assert ", and the server no longer publishes any." in shown.stdout
        assert "The list of grant types (grant_types) cannot be compared: this version knows authorization_code" in shown.stdout
        assert "The list of scopes (scopes) cannot be compared: this version knows " in shown.stdout
        assert ", and the server lists openid.\n" in shown.stdout
        assert "The introspection endpoint (introspection_url) is not described in this version: the server publishes " in shown.stdout
        assert f"{service.origin}/introspect." in shown.stdout
        assert ("The list of algorithms for DPoP proofs (dpop_signing_algorithms) is not described in this version: the server publishes "
                "ES256.\n" in shown.stdout)


def test_services_check_of_an_unchanged_service_is_status_0_and_of_another_issuer_5(handshake: Handshake) -> None:
    facts = handshake.run("services", "show", "google", "--json").ok().json
    with twin(facts | {"authorize_url": "https://x/none", "userinfo_url": "https://x/none"}) as service:
        published_by(service, facts)
        same = handshake.run("services", "check", "google", "--base-url", service.origin).ok()
        assert same.stdout.splitlines() == [
            f"The address of the keys (jwks_url) is not described in this version: the server publishes {service.origin}/jwks."]
        assert "publishes as known: issuer, authorize_url, token_url" in same.stderr
    with twin(facts | {"authorize_url": "https://x/none", "userinfo_url": "https://x/none"}) as service:
        published_by(service, facts, issuer="https://other.example")
        other = handshake.run("services", "check", "google", "--base-url", service.origin, "--json")
        assert (other.status, other.error["code"]) == (5, "issuer_mismatch"), other


@pytest.mark.parametrize(("name", "option"), [("github", "--client-secret-file"), ("notion", "--client-secret-file"), ("apple", "--key")])
def test_a_service_that_demands_a_secret_says_so_before_a_page_opens(handshake: Handshake, name: str, option: str) -> None:
    team = ["--set", "team=DEF123GHIJ"] if name == "apple" else []
    refused = handshake.run("login", name, "--client-id", "app", "--browser", "print", "--json", *team)
    assert refused.status == 64 and refused.stdout == "", refused
    redirect = ["--redirect URI"] if name == "apple" else []
    command = " ".join(["handshake login", name, "--browser print", *team, *redirect, "--client-id app", option, "FILE"])
    assert f"sign in with: {command}\n" in refused.error["message"], refused.error
    if name == "apple":
        return
    open_app = handshake.begin_login(name, "--client-id", "app", "--auth", "none", "--account", "open")
    assert open_app.url.startswith("https://")
    open_app.end()


def test_a_service_that_takes_apps_without_a_secret_is_not_asked_for_one(handshake: Handshake) -> None:
    login = handshake.begin_login("spotify", "--client-id", "app")
    assert login.url.startswith("https://accounts.spotify.com/")
    login.end()


@pytest.mark.parametrize(("name", "answer"), [
    ("linkedin", {"error": "user_cancelled_login"}), ("linkedin", {"error": "user_cancelled_authorize"}),
    ("pipedrive", {"error": "user_denied"}), ("bitly", {"error": "invalid", "reason": "declined"}), ("bitly", {"reason": "declined"})])
def test_a_user_who_declines_in_the_services_own_words_is_status_2(
        handshake: Handshake, tmp_path: Path, name: str, answer: dict[str, str]) -> None:
    login = handshake.begin_login(name, "--client-id", "app", "--client-secret-file", str(secret_file(tmp_path / "secret", SECRET)))
    login.deliver(urlencode(answer | {"state": login.parameters["state"]}))
    done = login.finish()
    assert (done.status, done.error["code"]) == (2, "access_denied"), done


@pytest.mark.parametrize("name", ["trakt", "amazon", "huawei"])
def test_a_device_sign_in_of_another_kind_is_not_denied(handshake: Handshake, name: str) -> None:
    refused = handshake.run("login", name, "--client-id", "app", "--device", "--json")
    assert refused.status == 64, refused
    assert "has a device sign-in of its own, which Handshake does not support." in refused.error["message"]
    assert f"Sign in with a browser: handshake login {name} --client-id app" in refused.error["message"]


def test_services_check_takes_an_own_service_on_this_machine_as_login_does(handshake: Handshake) -> None:
    facts = handshake.run("services", "show", "google", "--json").ok().json
    with twin(facts | {"authorize_url": "https://x/none", "userinfo_url": "https://x/none"}) as service:
        published_by(service, facts)
        config = handshake.home / "config.toml"
        handshake.home.mkdir(parents=True, exist_ok=True)
        config.write_text(f'[services.mine]\nissuer = "{service.origin}"\n')
        done = handshake.run("services", "check", "mine", "--json").ok()
        assert {item["member"] for item in done.json["same"]} == {"issuer", "response_types", "grant_types"}, done
        token = f'{service.origin}{urlsplit(facts["token_url"]).path}'
        config.write_text(f'[services.mine]\nissuer = "{service.origin}"\ntoken-url = "{token}"\n')
        done = handshake.run("services", "check", "mine", "--json").ok()
        assert {item["member"] for item in done.json["same"]} == {"issuer", "token_url", "response_types", "grant_types"}, done
        # Without an issuer there are no metadata to compare, which is no error either.
        config.write_text(f'[services.mine]\ntoken-url = "{token}"\n')
        assert handshake.run("services", "check", "mine", "--json").ok().json["publishes"] is False


def test_of_an_unsupported_service_no_methods_are_shown(handshake: Handshake) -> None:
    assert "authentication_methods" not in handshake.run("services", "show", "starling", "--json").ok().json
    assert handshake.run("services", "show", "github", "--json").ok().json["authentication_methods"] == ["post"]
