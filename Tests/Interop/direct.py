"""A few lines of OAuth by hand: how the tests find out what a server does without the command under test."""

import base64
import hashlib
import secrets
from typing import Any
from urllib.parse import urlencode, urlsplit

import requests

import formlogin
from command import dict_of
from strangers import Stranger, http

REDIRECT = "http://127.0.0.1:8765/callback"


def authorization(server: Stranger, *, client: str = "native", redirect: str = REDIRECT, scope: str = "openid profile",
                  verifier: str | None = None) -> tuple[str, str]:
    """An authorization URL and its PKCE verifier."""
    verifier = verifier or secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {"response_type": "code", "client_id": client, "redirect_uri": redirect, "scope": scope, "state": "direct",
             "nonce": "direct", "code_challenge": challenge, "code_challenge_method": "S256"}
    return f"{server.metadata()['authorization_endpoint']}?{urlencode(query)}", verifier


def redirected(server: Stranger, url: str, *, consent: bool = True) -> dict[str, str]:
    return dict_of(urlsplit(formlogin.walk(url, *server.user, consent=consent)).query)


def token(server: Stranger, auth: tuple[str, str] | None = None, **form: str) -> requests.Response:
    return http().post(server.metadata()["token_endpoint"], data=form, auth=auth, timeout=10)


def sign_in(server: Stranger, *, client: str = "native", auth: tuple[str, str] | None = None, redirect: str = REDIRECT,
            scope: str = "openid profile") -> dict[str, Any]:
    url, verifier = authorization(server, client=client, redirect=redirect, scope=scope)
    form = {"grant_type": "authorization_code", "code": redirected(server, url)["code"], "redirect_uri": redirect,
            "code_verifier": verifier} | ({} if auth else {"client_id": client})
    answer = token(server, auth, **form)
    assert answer.status_code == 200, answer.status_code
    return answer.json()


def refresh(server: Stranger, grant: dict[str, Any], *, client: str = "native",
            auth: tuple[str, str] | None = None) -> requests.Response:
    form = {"grant_type": "refresh_token", "refresh_token": grant["refresh_token"]} | ({} if auth else {"client_id": client})
    return token(server, auth, **form)
