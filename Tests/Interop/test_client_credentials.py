"""A service that signs in as itself (RFC 6749 section 4.4)."""

import pytest

from command import Finished, Handshake
from strangers import Stranger


def login(handshake: Handshake, server: Stranger, client: str, *options: str, secret: str | None = None) -> Finished:
    return handshake.run("login", "robot", "--grant", "client-credentials", "--issuer", server.issuer, "--client-id", client,
                         "--client-secret-file", "-", "--json", *options,
                         stdin=(server.secret(client) if secret is None else secret) + "\n")


@pytest.mark.parametrize("method", ["basic", "post"])
def test_a_service_gets_a_token_of_its_own(handshake: Handshake, django: Stranger, method: str) -> None:
    done = login(handshake, django, "service", "--scope", "api", "--auth", method).ok()
    assert len(done.stdout.splitlines()) == 1, "no browser, so no URL"
    assert done.json["account"] == "robot" and done.json["scope"] == "api"
    told = django.introspect(handshake.token("robot"))
    assert told["active"] and told["client_id"] == "service" and "username" not in told
    sent = django.requests(django.facts["token_path"], "client_credentials")[-1]
    assert sent["authorization"] == ("basic" if method == "basic" else None)
    assert "redirect_uri" not in sent["form"] and "code_verifier" not in sent["form"]


def test_canaille_does_it_too(handshake: Handshake, canaille: Stranger) -> None:
    login(handshake, canaille, "web", "--scope", "profile").ok()
    assert canaille.is_active(handshake.token("robot"))


def test_a_wrong_secret_is_the_services_refusal(handshake: Handshake, django: Stranger) -> None:
    done = login(handshake, django, "service", "--scope", "api", secret="canary-" + "1" * 32)
    assert done.status == 4 and done.error["code"] == "invalid_client"
    assert handshake.accounts() == []


def test_a_scope_that_does_not_exist_is_the_services_refusal(handshake: Handshake, django: Stranger) -> None:
    done = login(handshake, django, "service", "--scope", "moon")
    assert done.status == 4 and done.error["code"] == "invalid_scope"


def test_a_client_that_may_not_is_the_services_refusal(handshake: Handshake, django: Stranger) -> None:
    done = login(handshake, django, "web", "--scope", "api")
    assert done.status == 4 and done.error["code"] == "unauthorized_client"


def test_a_public_client_cannot_and_nothing_is_sent(handshake: Handshake, django: Stranger) -> None:
    before = len(django.requests(django.facts["token_path"]))
    done = handshake.run("login", "robot", "--grant", "client-credentials", "--issuer", django.issuer,
                         "--client-id", "native", "--scope", "api", "--json")
    assert done.status == 64
    assert len(django.requests(django.facts["token_path"])) == before


def test_an_expired_token_ends_in_a_new_one_or_in_a_plain_demand(handshake: Handshake, expiring: Stranger) -> None:
    login(handshake, expiring, "service", "--scope", "api").ok()
    expiring.wait_until_expired(old := handshake.token("robot"))
    done = handshake.run("token", "robot")
    assert done.status in (0, 3)
    if done.status == 0:
        assert done.stdout.strip() != old and expiring.is_active(done.stdout.strip())
