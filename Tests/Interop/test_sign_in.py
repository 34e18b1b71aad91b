"""Sign-in at servers that others wrote: discovery, PKCE, client authentication, what is shown and what is stored."""

import json
import re
import stat
from pathlib import Path

import pytest

from command import Handshake
from strangers import Stranger

UNRESERVED = re.compile(r"[A-Za-z0-9._~-]+")


def modes(home: Path) -> dict[str, int]:
    return {str(p.relative_to(home.parent)): stat.S_IMODE(p.lstat().st_mode) for p in [home, *home.rglob("*")]}


def token_requests(server: Stranger) -> list[dict[str, object]]:
    return server.requests(server.facts["token_path"])


def test_the_authorization_url_carries_pkce_s256_and_256_bits_of_state_and_nonce(
        handshake: Handshake, django: Stranger) -> None:
    login = handshake.login("mine", django, "--scope", "openid", "--scope", "profile")
    asked = login.parameters
    login.end()
    assert login.url.startswith(django.metadata()["authorization_endpoint"] + "?")
    assert (asked["response_type"], asked["client_id"], asked["scope"]) == ("code", "native", "openid profile")
    assert asked["code_challenge_method"] == "S256"
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", asked["code_challenge"])
    for name in ("state", "nonce"):
        assert len(asked[name]) >= 43 and UNRESERVED.fullmatch(asked[name]), f"{name} has less than 256 bits: {asked[name]}"
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/callback", asked["redirect_uri"])


def test_two_attempts_share_no_state_nonce_or_challenge(handshake: Handshake, django: Stranger) -> None:
    first, second = (handshake.login("mine", django, "--scope", "openid") for _ in range(2))
    for name in ("state", "nonce", "code_challenge"):
        assert first.parameters[name] != second.parameters[name], name


@pytest.mark.parametrize("name", ["urn:example:orders", "api://orders"])
def test_m209_an_api_that_has_a_name_alone_is_named_to_the_server(handshake: Handshake, django: Stranger, name: str) -> None:
    assert handshake.login("mine", django, "--resource", name).parameters["resource"] == name


def test_m209_an_api_that_has_a_name_alone_is_stored_with_the_account(handshake: Handshake, django: Stranger) -> None:
    # The server refuses a name without an authority, such as a URN.
    handshake.login("mine", django, "--resource", "api://orders").complete(django).ok()
    assert handshake.run("inspect", "mine", "--json").ok().json["resources"] == ["api://orders"]


def test_without_openid_no_nonce_is_needed_and_sign_in_works(handshake: Handshake, django: Stranger) -> None:
    assert handshake.signed_in("mine", django, "--scope", "profile")["scope"] == "profile"


def test_a_public_client_signs_in_and_gets_a_working_token(handshake: Handshake, django: Stranger) -> None:
    login = handshake.login("mine", django, "--scope", "openid", "--scope", "profile")
    done = login.complete(django).ok()
    assert len(done.stdout.splitlines()) == 2, "one line for the URL, one for the result"
    assert done.json["account"] == "mine"
    assert done.json["scope"] == "openid profile"
    assert done.json["token_type"].lower() == "bearer"
    assert done.json["refreshable"] is True
    assert done.json["expires_at"]
    assert {"account", "service", "scope", "token_type", "expires_at", "subject", "refreshable"} <= done.json.keys()
    assert django.is_active(handshake.token("mine"))


def test_the_same_at_canaille_on_the_only_port_that_it_allows(
        handshake: Handshake, canaille: Stranger, canaille_port: int) -> None:
    result = handshake.signed_in("genealogy", canaille, "--scope", "openid", "--scope", "profile",
                                 "--redirect", f"loopback:{canaille_port}")
    assert result["account"] == "genealogy"
    assert result["refreshable"] is True


def test_a_public_client_names_itself_in_the_body_and_sends_its_verifier(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    sent = token_requests(django)[-1]
    assert sent["method"] == "POST" and sent["query"] == [] and sent["authorization"] is None
    assert sent["form"] == ["client_id", "code", "code_verifier", "grant_type", "redirect_uri"]


def test_a_confidential_client_prefers_basic_and_sends_its_secret_one_way_only(
        handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("web", django, "--scope", "openid", client="web", secret=django.secret("web"))
    sent = token_requests(django)[-1]
    assert sent["authorization"] == "basic"
    assert "client_secret" not in sent["form"] and "client_id" not in sent["form"]


@pytest.mark.parametrize(("method", "scheme"), [("basic", "basic"), ("post", None)])
def test_the_secret_is_read_from_standard_input_and_sent_as_asked(
        handshake: Handshake, django: Stranger, method: str, scheme: str | None) -> None:
    handshake.signed_in("web", django, "--scope", "openid", "--auth", method, client="web", secret=django.secret("web"))
    sent = token_requests(django)[-1]
    assert sent["authorization"] == scheme
    assert ("client_secret" in sent["form"]) == (method == "post")


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_the_secret_is_read_from_a_file_with_or_without_a_line_end(
        handshake: Handshake, django: Stranger, tmp_path: Path, ending: str) -> None:
    file = tmp_path / "secret"
    file.write_bytes((django.secret("web") + ending).encode())
    file.chmod(0o600)
    login = handshake.login("web", django, "--scope", "openid", "--client-secret-file", str(file), client="web")
    assert login.complete(django).ok().json["account"] == "web"


@pytest.mark.parametrize("method", ["basic", "post"])
def test_a_secret_with_reserved_and_foreign_characters_works_both_ways(
        handshake: Handshake, django: Stranger, method: str) -> None:
    handshake.signed_in("odd", django, "--scope", "openid", "--auth", method, client="reserved",
                        secret=django.secret("reserved"))
    assert django.is_active(handshake.token("odd"))


def test_a_wrong_client_secret_is_the_services_refusal_and_stores_nothing(handshake: Handshake, django: Stranger) -> None:
    login = handshake.login("web", django, "--scope", "openid", client="web", secret="canary-" + "0" * 32)
    answer = login.approve(django)
    login.deliver("&".join(f"{name}={value}" for name, value in answer.items()))
    done = login.finish()
    assert done.status == 4
    assert "invalid_client" in json.dumps(done.error)
    assert handshake.accounts() == []


def test_a_missing_secret_file_is_a_wrong_command_line(handshake: Handshake, django: Stranger, tmp_path: Path) -> None:
    done = handshake.run("login", "web", "--issuer", django.issuer, "--client-id", "web", "--browser", "print",
                         "--client-secret-file", str(tmp_path / "absent"))
    assert done.status == 64
    assert "absent" in done.stderr


def test_there_is_no_option_to_put_a_secret_on_the_command_line(handshake: Handshake, django: Stranger) -> None:
    done = handshake.run("login", "web", "--issuer", django.issuer, "--client-id", "web", "--client-secret", "x")
    assert done.status == 64


def test_accounts_and_inspect_tell_about_the_grant_without_its_secrets(handshake: Handshake, django: Stranger) -> None:
    assert handshake.accounts() == []
    handshake.signed_in("first", django, "--scope", "openid")
    handshake.signed_in("second", django, "--scope", "openid", "--scope", "profile")
    assert sorted(account["account"] for account in handshake.accounts()) == ["first", "second"]
    seen = handshake.run("inspect", "second", "--json").ok().json
    assert seen["account"] == "second" and seen["scope"] == "openid profile"
    assert not {"access_token", "refresh_token"} & seen.keys()
    assert seen.get("id_token") is None or isinstance(seen["id_token"], dict), "claims, not the token"


def test_everything_stored_is_for_the_owner_alone(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    wrong = {name: oct(mode) for name, mode in modes(handshake.home).items()
             if mode != (0o700 if (handshake.home.parent / name).is_dir() else 0o600)}
    assert wrong == {}


def test_one_damaged_record_leaves_the_other_accounts_usable_and_is_not_deleted(
        handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("first", django, "--scope", "openid")
    before = set(handshake.home.rglob("*"))
    handshake.signed_in("second", django, "--scope", "openid")
    fresh = [f for f in handshake.home.rglob("*") if f.is_file() and f not in before and f.stat().st_size]
    assert fresh, "one record an account"
    for file in fresh:
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    refused = handshake.run("token", "second")
    assert refused.status == 7
    assert "handshake logout second --local" in refused.stderr
    assert all(file.exists() for file in fresh)
    assert django.is_active(handshake.token("first"))


@pytest.mark.parametrize("which", ["the account", "the client"])
def test_what_is_damaged_is_removed_by_the_command_that_the_message_names(
        handshake: Handshake, django: Stranger, which: str) -> None:
    handshake.signed_in("first", django, "--scope", "openid")
    before = {file: file.read_bytes() for file in handshake.home.rglob("*") if file.is_file()}
    handshake.signed_in("second", django, "--scope", "openid")
    new = [file for file in handshake.home.rglob("*") if file.is_file() and file.stat().st_size and file not in before]
    # The account is written first.
    account, client = sorted(new, key=lambda file: file.stat().st_mtime_ns)
    (account if which == "the account" else client).write_bytes(b"damaged")
    assert handshake.run("logout", "second").status == 7
    listed = handshake.run("accounts")
    assert listed.status == 7 and "first" in listed.stdout and "second" not in listed.stdout
    assert listed.stderr.count("is damaged") == 1
    assert ("handshake logout second --local" in listed.stderr) == (which == "the account"), "a damaged name is not known"
    # Before any sign-in.
    refused = handshake.run("login", "second", "--issuer", django.issuer, "--client-id", "native", "--browser", "print")
    assert refused.status == 7 and "handshake logout second --local" in refused.stderr
    assert handshake.run("logout", "second", "--local").status == 0
    assert {file: file.read_bytes() for file in handshake.home.rglob("*") if file.is_file()} == before
    handshake.signed_in("second", django, "--scope", "openid")
    assert django.is_active(handshake.token("second"))


def test_an_account_that_does_not_exist_needs_a_sign_in(handshake: Handshake) -> None:
    for arguments in (["token", "unknown"], ["inspect", "unknown"], ["request", "GET", "/", "--account", "unknown"]):
        assert handshake.run(*arguments).status == 3, arguments


def test_without_an_answer_the_wait_ends_with_its_own_status(handshake: Handshake, django: Stranger) -> None:
    done = handshake.login("mine", django, timeout=1).finish(15)
    assert done.status == 2
    assert handshake.accounts() == []


def test_a_redirect_that_is_not_loopback_is_pasted(handshake: Handshake, canaille: Stranger, canaille_port: int) -> None:
    # The registered address is a loopback one; given as a URI it is not listened on but read from standard input.
    done = handshake.run("login", "mine", "--issuer", canaille.issuer, "--client-id", "native", "--browser", "print",
                         "--redirect", "https://app.example/callback", "--json",
                         stdin="https://app.example/callback?code=x&state=not-ours\n")
    assert done.status == 5
    assert done.error["code"] == "state_mismatch"


@pytest.mark.parametrize("option", [["--mtls"], ["--auth", "private-key-jwt"]])
def test_an_option_that_does_not_exist_is_refused_and_not_ignored(handshake: Handshake, django: Stranger, option: list[str]) -> None:
    done = handshake.run("login", "mine", "--issuer", django.issuer, "--client-id", "native", *option)
    assert done.status == 64
    assert option[0] in done.stderr
