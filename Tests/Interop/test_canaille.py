"""What canaille does, asked directly: the ground under the other tests, and what no RFC promises."""

import pytest

import direct
import formlogin
from conftest import free_port, next_second
from strangers import Stranger, http


def redirect(port: int) -> str:
    return f"http://127.0.0.1:{port}/callback"


@pytest.fixture
def web(canaille: Stranger) -> tuple[str, str]:
    return "web", canaille.secret("web")


def test_only_the_registered_loopback_port_is_redirected_to(canaille: Stranger) -> None:
    other = direct.authorization(canaille, redirect=redirect(free_port()))[0]
    with pytest.raises(formlogin.LoginRefused, match="400"):
        formlogin.walk(other, *canaille.user)


def test_two_tokens_for_one_user_within_a_second_are_a_500_that_quotes_the_database(
        canaille: Stranger, canaille_port: int) -> None:
    grant = direct.sign_in(canaille, redirect=redirect(canaille_port))
    next_second()
    first = direct.refresh(canaille, grant)
    second = direct.refresh(canaille, first.json())
    assert (first.status_code, second.status_code) == (200, 500)
    assert second.json()["error"] == "internal_server_error"
    assert "INSERT INTO token" in second.json()["error_description"], "and with it pieces of the token"
    next_second()
    assert direct.refresh(canaille, first.json()).status_code == 200, "the failed attempt must not cost the refresh token"


def test_rotation_ends_the_old_tokens(canaille: Stranger, canaille_port: int, web: tuple[str, str]) -> None:
    old = direct.sign_in(canaille, client="web", auth=web, redirect=redirect(canaille_port))
    next_second()
    new = direct.refresh(canaille, old, auth=web).json()
    assert not canaille.is_active(old["access_token"])
    assert canaille.is_active(new["access_token"])
    assert direct.refresh(canaille, old, auth=web).json() == {"error": "invalid_grant"}


def test_introspection_answers_for_the_audience_only(canaille: Stranger, canaille_port: int) -> None:
    grant = direct.sign_in(canaille, redirect=redirect(canaille_port))
    assert not canaille.is_active(grant["access_token"]), "the token of another client is said to be dead"


def test_a_public_client_may_not_revoke(canaille: Stranger, canaille_port: int) -> None:
    grant = direct.sign_in(canaille, redirect=redirect(canaille_port))
    assert canaille.metadata()["revocation_endpoint_auth_methods_supported"] == ["client_secret_basic"]
    answer = http().post(canaille.metadata()["revocation_endpoint"], timeout=10,
                         data={"token": grant["refresh_token"], "client_id": "native"})
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


def test_access_tokens_are_jwts_and_the_key_set_mixes_kinds(canaille: Stranger, canaille_port: int) -> None:
    grant = direct.sign_in(canaille, redirect=redirect(canaille_port))
    assert grant["access_token"].count(".") == 2
    keys = http().get(canaille.metadata()["jwks_uri"], timeout=10).json()["keys"]
    assert sorted(key["kty"] for key in keys) == ["EC", "RSA"]


def test_the_refresh_token_lives_no_longer_than_its_access_token(
        canaille: Stranger, canaille_port: int, web: tuple[str, str]) -> None:
    grant = direct.sign_in(canaille, client="web", auth=web, redirect=redirect(canaille_port))
    canaille.wait_until_expired(grant["access_token"])
    assert direct.refresh(canaille, grant, auth=web).json() == {"error": "invalid_grant"}
