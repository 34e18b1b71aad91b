"""ID tokens that a stranger really signed, given to the command in the wrong place or changed on the way."""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

import direct
from command import Handshake
from strangers import Stranger


def part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def claims(token: str) -> dict[str, Any]:
    encoded = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))


def changed(token: str, **change: Any) -> str:
    header, _, signature = token.split(".")
    return f"{header}.{part(claims(token) | change)}.{signature}"


FORGERIES: dict[str, Callable[[str, str], str]] = {
    "of another sign-in": lambda token, nonce: token,
    "with the claims changed": lambda token, nonce: changed(token, nonce=nonce),
    "with no algorithm": lambda token, nonce: f"{part({'alg': 'none'})}.{part(claims(token) | {'nonce': nonce})}.",
    "signed with the client's own word": lambda token, nonce: f"{part({'alg': 'HS256'})}.{part(claims(token))}.{'A' * 43}",
    "cut": lambda token, nonce: token[: len(token) // 2],
    "of no form": lambda token, nonce: "a.b",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_an_id_token_that_is_not_of_this_sign_in_stops_it(handshake: Handshake, django: Stranger, name: str) -> None:
    foreign = direct.sign_in(django, scope="openid")
    login = handshake.login("mine", django, "--scope", "openid")
    answer = login.approve(django)
    foreign["id_token"] = FORGERIES[name](foreign["id_token"], login.parameters["nonce"])
    with django.held(process=False, status=200, body=json.dumps(foreign)):
        login.deliver(urlencode(answer))
        done = login.finish()
    assert done.status == 5 and done.error["code"] and len(done.stdout.splitlines()) == 1
    assert handshake.accounts() == []


def test_an_answer_without_the_id_token_that_was_asked_for_stops_the_sign_in(handshake: Handshake, django: Stranger) -> None:
    foreign = direct.sign_in(django, scope="openid")
    del foreign["id_token"]
    login = handshake.login("mine", django, "--scope", "openid")
    answer = login.approve(django)
    with django.held(process=False, status=200, body=json.dumps(foreign)):
        login.deliver(urlencode(answer))
        assert login.finish().status == 5
    assert handshake.accounts() == []


def test_an_id_token_for_another_client_that_comes_with_a_refresh_is_refused_and_the_account_stays(
        handshake: Handshake, expiring: Stranger) -> None:
    # Before the sign-in: the server takes the user's last login for the time of every sign-in (auth_time).
    foreign = direct.sign_in(expiring, client="web", auth=("web", expiring.secret("web")), scope="openid")
    subject = handshake.signed_in("mine", expiring, "--scope", "openid")["subject"]
    expiring.wait_until_expired(handshake.token("mine"))
    with expiring.held(process=False, status=200, body=json.dumps(foreign)):
        done = handshake.run("token", "mine", "--json")
    assert (done.status, done.error["code"], done.stdout) == (5, "audience_mismatch", "")
    assert [account["subject"] for account in handshake.accounts()] == [subject]
    # The server has not seen the refresh token, which still counts.
    assert (token := handshake.token("mine")) != foreign["access_token"] and expiring.is_active(token)


def test_the_claims_of_a_good_one_are_shown(handshake: Handshake, django: Stranger) -> None:
    subject = handshake.signed_in("mine", django, "--scope", "openid")["subject"]
    shown = handshake.run("inspect", "mine", "--json").ok().json["id_token"]
    assert shown["iss"] == django.issuer and shown["sub"] == subject == claims(django.newest("id_token"))["sub"]


def test_another_program_gets_the_id_token_as_the_server_signed_it(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    signed = django.newest("id_token")
    assert handshake.run("token", "mine", "--kind", "id").ok().stdout.strip() == signed
    assert handshake.run("token", "mine", "--kind", "id", "--json").ok().json == {
        "id_token": signed, "expires_at": claims(signed)["exp"]}
    assert handshake.token("mine") != signed


def test_an_id_token_that_the_server_never_makes_so_long_lived_needs_no_sign_in(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    life = claims(django.newest("id_token"))
    done = handshake.run("token", "mine", "--kind", "id", "--min-valid", str(life["exp"] - life["iat"] + 60), "--json")
    assert done.status == 64 and "Ask for less with --min-valid." in done.error["message"], done
    assert "Sign in again" not in done.stderr


def test_the_list_of_accounts_names_the_user(handshake: Handshake, django: Stranger) -> None:
    subject = handshake.signed_in("mine", django, "--scope", "openid")["subject"]
    assert [account["subject"] for account in handshake.accounts()] == [subject]
    assert handshake.run("inspect", "mine").ok().stdout.count("\nsubject ") == 1
    heading, row = handshake.run("accounts").ok().stdout.splitlines()
    shown = claims(django.newest("id_token"))
    assert row[heading.index("USER"):].startswith(f"{shown.get('name', subject)} "), row


def test_a_set_of_keys_of_several_kinds_is_no_trouble(handshake: Handshake, canaille: Stranger, canaille_port: int) -> None:
    result = handshake.signed_in("mine", canaille, "--scope", "openid", "--redirect", f"loopback:{canaille_port}")
    assert result["subject"] == "alice"
