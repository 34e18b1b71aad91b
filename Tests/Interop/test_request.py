"""Requests through an account, at a stranger's resource server."""

import json
import re
from pathlib import Path

import pytest

from command import Handshake
from strangers import Stranger


@pytest.fixture
def account(handshake: Handshake, django: Stranger) -> Handshake:
    handshake.signed_in("mine", django, "--scope", "openid")
    return handshake


def test_the_body_is_printed_and_nothing_else(account: Handshake, django: Stranger) -> None:
    done = account.run("request", "GET", f"{django.origin}/whoami", "--account", "mine").ok()
    assert json.loads(done.stdout)["username"] == "alice"
    sent = django.requests("/whoami")[-1]
    assert sent["authorization"] == "bearer" and sent["query"] == []


def test_status_and_headers_are_shown_when_asked(account: Handshake, django: Stranger) -> None:
    done = account.run("request", "GET", f"{django.origin}/whoami", "--account", "mine", "-i").ok()
    head, _, body = done.stdout.replace("\r\n", "\n").partition("\n\n")
    assert re.match(r"HTTP(/[0-9.]+)? 200\b", head)
    assert "content-type: application/json" in head.lower()
    assert json.loads(body)["username"] == "alice"


def test_data_comes_from_the_command_line_or_a_file(account: Handshake, django: Stranger, tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_text("from a file\n")
    for data, wanted in (("in place", "in place"), (f"@{file}", "from a file\n")):
        done = account.run("request", "POST", f"{django.origin}/whoami", "--account", "mine", "-d", data,
                           "-H", "Content-Type: text/plain").ok()
        answer = json.loads(done.stdout)
        assert (answer["method"], answer["body"]) == ("POST", wanted)


def test_an_error_of_the_service_is_status_4_and_its_body_is_shown(account: Handshake, django: Stranger) -> None:
    done = account.run("request", "GET", f"{django.origin}/absent", "--account", "mine")
    assert done.status == 4
    assert "404" in done.stderr


def test_a_missing_scope_is_told_and_costs_no_refresh(account: Handshake, django: Stranger) -> None:
    before = len(django.requests(django.facts["token_path"]))
    done = account.run("request", "GET", f"{django.origin}/api", "--account", "mine", "--json")
    assert done.status == 4
    assert done.error["code"] == "insufficient_scope"
    assert "“api”" in done.error["message"] and "handshake login mine --scope openid --scope api" in done.error["message"]
    assert len(django.requests(django.facts["token_path"])) == before


def test_403_without_a_challenge_is_not_taken_for_a_dead_token(account: Handshake, django: Stranger) -> None:
    assert account.run("request", "GET", f"{django.origin}/decorated", "--account", "mine").status == 0


@pytest.mark.parametrize("header", ["Authorization: Bearer mine", "authorization: Basic eDp5"])
def test_an_authorization_header_of_ones_own_is_refused(account: Handshake, django: Stranger, header: str) -> None:
    before = len(django.requests("/whoami"))
    done = account.run("request", "GET", f"{django.origin}/whoami", "--account", "mine", "-H", header)
    assert done.status == 64
    assert len(django.requests("/whoami")) == before


def test_a_foreign_origin_never_gets_the_token(account: Handshake, expiring: Stranger) -> None:
    before = len(expiring.requests("/whoami"))
    done = account.run("request", "GET", f"{expiring.origin}/whoami", "--account", "mine")
    assert done.status == 5
    assert len(expiring.requests("/whoami")) == before


def test_a_plain_http_address_beyond_loopback_is_refused(account: Handshake) -> None:
    assert account.run("request", "GET", "http://api.invalid/whoami", "--account", "mine").status == 5


def test_an_unreachable_server_is_a_network_error(account: Handshake, django: Stranger) -> None:
    # Port 1 of loopback: nothing listens there, and it is no other origin's business.
    assert account.run("request", "GET", "http://127.0.0.1:1/", "--account", "mine").status in (5, 6)
