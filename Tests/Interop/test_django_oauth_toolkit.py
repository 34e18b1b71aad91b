"""What django-oauth-toolkit does, asked directly: the ground under the other tests, and what no RFC promises."""

from urllib.parse import quote_plus

import direct
from strangers import Stranger, http


def test_introspection_and_revocation_are_announced_only_in_rfc_8414_metadata(django: Stranger) -> None:
    endpoints = {"introspection_endpoint", "revocation_endpoint"}
    assert endpoints <= django.metadata().keys()
    assert not endpoints & django.openid_metadata().keys()


def test_userinfo_is_announced_only_in_openid_metadata(django: Stranger) -> None:
    assert "userinfo_endpoint" in django.openid_metadata()
    assert "userinfo_endpoint" not in django.metadata()


def test_metadata_does_not_list_the_method_none_though_public_clients_are_served(django: Stranger) -> None:
    assert "none" not in django.metadata()["token_endpoint_auth_methods_supported"]
    assert direct.sign_in(django)["access_token"]


def test_a_code_without_its_verifier_is_refused(django: Stranger) -> None:
    url, _ = direct.authorization(django)
    code = direct.redirected(django, url)["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": direct.REDIRECT, "client_id": "native"}
    assert direct.token(django, code_verifier="x" * 43, **form).json() == {"error": "invalid_grant"}


def test_the_redirect_names_the_issuer(django: Stranger) -> None:
    assert django.metadata()["authorization_response_iss_parameter_supported"] is True
    assert direct.redirected(django, direct.authorization(django)[0])["iss"] == django.issuer


def test_a_refusal_does_not_name_the_issuer_although_metadata_promises_it(django: Stranger) -> None:
    answer = direct.redirected(django, direct.authorization(django)[0], consent=False)
    assert answer == {"error": "access_denied", "state": "direct"}


def test_rotation_ends_the_old_tokens_and_reuse_ends_the_new_ones(django: Stranger) -> None:
    old = direct.sign_in(django)
    new = direct.refresh(django, old).json()
    assert not django.is_active(old["access_token"])
    assert django.is_active(new["access_token"])
    assert direct.refresh(django, old).json() == {"error": "invalid_grant"}
    assert not django.is_active(new["access_token"])
    assert direct.refresh(django, new).json() == {"error": "invalid_grant"}


def test_introspection_knows_access_tokens_only(django: Stranger) -> None:
    grant = direct.sign_in(django)
    assert django.is_active(grant["access_token"])
    assert not django.is_active(grant["refresh_token"])


def test_revoking_the_refresh_token_ends_the_access_token_too(django: Stranger) -> None:
    grant = direct.sign_in(django)
    form = {"token": grant["refresh_token"], "client_id": "native"}
    assert http().post(django.metadata()["revocation_endpoint"], data=form, timeout=10).status_code == 200
    assert not django.is_active(grant["access_token"])


def test_revoking_the_access_token_ends_the_refresh_token_too(django: Stranger) -> None:
    grant = direct.sign_in(django)
    form = {"token": grant["access_token"], "token_type_hint": "access_token", "client_id": "native"}
    assert http().post(django.metadata()["revocation_endpoint"], data=form, timeout=10).status_code == 200
    assert direct.refresh(django, grant).json() == {"error": "invalid_grant"}


def test_basic_credentials_must_be_form_encoded_first(django: Stranger) -> None:
    encoded = ("reserved", quote_plus(django.secret("reserved")))
    assert direct.sign_in(django, client="reserved", auth=encoded)["access_token"]
    raw = ("reserved", django.secret("reserved").replace("é", "e"))
    assert direct.token(django, raw, grant_type="client_credentials").json() == {"error": "invalid_client"}


def test_its_own_decorator_answers_403_without_a_challenge_to_a_dead_token(django: Stranger) -> None:
    answer = http().get(f"{django.origin}/decorated", headers={"Authorization": "Bearer dead"}, timeout=10)
    assert answer.status_code == 403
    assert "WWW-Authenticate" not in answer.headers
