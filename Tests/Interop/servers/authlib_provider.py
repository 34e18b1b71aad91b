"""A server built from Authlib, whose proofs joserfc verifies: each token is bound to a key (RFC 9449), and nonces are demanded.

Authlib has no DPoP of its own. The rules of RFC 9449, section 4.3 stand here; signatures, key sets and thumbprints are joserfc's.
`proofs.jsonl` in the state folder holds the claims of each proof that was taken, and the thumbprint of its key.
"""

import base64
import hashlib
import json
import os
import secrets
import time
from typing import Any

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, OAuth2Error, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Flask, Response, jsonify, request
from joserfc import jws
from joserfc.jwk import ECKey, OKPKey
from werkzeug.serving import make_server

import host

WINDOW_SECONDS = 10
state = None
origin = ""
codes: dict[str, Any] = {}
tokens: dict[str, dict[str, Any]] = {}
used: set[str] = set()
nonces: dict[str, str] = {}
app = Flask(__name__)


class ProofError(Exception):
    def __init__(self, code: str, why: str) -> None:
        self.code, self.why = code, why


class Client(ClientMixin):
    """A public client with any loopback redirect."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        return None

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri.startswith("http://127.0.0.1:")

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in ("authorization_code", "refresh_token")


class User:
    def get_user_id(self) -> str:
        return "ada"


class Code:
    def __init__(self, oauth_request: Any) -> None:
        payload = oauth_request.payload
        self.client_id, self.redirect_uri, self.scope = payload.client_id, payload.redirect_uri, payload.scope or ""
        self.code_challenge, self.code_challenge_method = payload.data["code_challenge"], payload.data["code_challenge_method"]
        self.key = payload.data.get("dpop_jkt")

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


class Refresh:
    def __init__(self, value: str, kept: dict[str, Any]) -> None:
        self.value, self.kept = value, kept

    def get_scope(self) -> str:
        return self.kept["scope"]

    def check_client(self, client: Client) -> bool:
        return self.kept["client_id"] == client.client_id


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def save_authorization_code(self, code: str, request: Any) -> None:
        codes[code] = Code(request)

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        kept = codes.get(code)
        return kept if kept and kept.client_id == client.client_id and kept.key == current_key() else None

    def delete_authorization_code(self, authorization_code: Code) -> None:
        for code in [code for code, kept in codes.items() if kept is authorization_code]:
            del codes[code]

    def authenticate_user(self, authorization_code: Code) -> User:
        return User()


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> Refresh | None:
        kept = tokens.get(refresh_token)
        alive = kept and kept["kind"] == "refresh" and not kept["dead"] and kept["key"] == current_key()
        return Refresh(refresh_token, kept) if kept and alive else None

    def authenticate_user(self, refresh_token: Refresh) -> User:
        return User()

    def revoke_old_credential(self, refresh_token: Refresh) -> None:
        tokens[refresh_token.value]["dead"] = True


def current_key() -> str:
    """The thumbprint of the proof of the request at work."""
    return request.environ["proof.key"]


def new_token(grant_type: str, client: Client, user: User | None = None, scope: str | None = None,
              expires_in: int | None = None, include_refresh_token: bool = True) -> dict[str, Any]:
    token = {"token_type": "DPoP", "access_token": secrets.token_urlsafe(32), "expires_in": 3600, "scope": scope or "",
             "refresh_token": secrets.token_urlsafe(32)}
    for kind in ("access", "refresh"):
        tokens[token[f"{kind}_token"]] = {"kind": kind, "key": current_key(), "client_id": client.client_id,
                                          "scope": scope or "", "dead": False}
    return token


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def take_proof(role: str, token: str | None = None) -> str:
    """The thumbprint of the key of this request's proof (RFC 9449, section 4.3)."""
    fields = request.headers.getlist("DPoP")
    if len(fields) != 1:
        raise ProofError("invalid_dpop_proof", "one proof is needed")
    try:
        header = json.loads(base64.urlsafe_b64decode(fields[0].split(".")[0] + "=="))
        jwk = header["jwk"]
        key = (ECKey if jwk["kty"] == "EC" else OKPKey).import_key(jwk)
        assert not key.is_private and header["typ"] == "dpop+jwt" and set(header) == {"typ", "alg", "jwk"}
        assert header["alg"] in ("ES256", "EdDSA")
        claims = json.loads(jws.deserialize_compact(fields[0], key, algorithms=[header["alg"]]).payload)
        assert claims["htm"] == request.method and claims["htu"] == origin + request.path
        assert isinstance(claims["iat"], int) and abs(claims["iat"] - time.time()) <= WINDOW_SECONDS
        assert claims.get("ath") == (digest(token) if token else None)
        assert len(claims["jti"]) >= 16 and claims["jti"] not in used
    except Exception as error:
        raise ProofError("invalid_dpop_proof", type(error).__name__) from error
    used.add(claims["jti"])
    if claims.get("nonce") != nonces.get(role):
        nonces.setdefault(role, secrets.token_urlsafe(12))
        raise ProofError("use_dpop_nonce", "another nonce is needed")
    nonces[role] = secrets.token_urlsafe(12)  # each counts once
    thumbprint = key.thumbprint()
    with (state / "proofs.jsonl").open("a") as file:
        file.write(json.dumps({"role": role, "key": thumbprint, **claims}) + "\n")
    return thumbprint


server = AuthorizationServer(app, query_client=Client, save_token=lambda token, request: None)
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshGrant)
server.register_token_generator("default", new_token)


@app.get("/.well-known/oauth-authorization-server")
def metadata() -> Response:
    return jsonify(
        issuer=origin, authorization_endpoint=origin + "/authorize", token_endpoint=origin + "/token",
        response_types_supported=["code"], code_challenge_methods_supported=["S256"],
        token_endpoint_auth_methods_supported=["none"], dpop_signing_alg_values_supported=["ES256", "EdDSA"])


@app.get("/authorize")
def authorize() -> Any:
    user = User()
    try:
        grant = server.get_consent_grant(end_user=user)
    except OAuth2Error as error:
        return server.handle_error_response(request, error)
    return server.create_authorization_response(grant=grant, grant_user=user)


@app.post("/token")
def token() -> Any:
    try:
        request.environ["proof.key"] = take_proof("server")
        answer = server.create_token_response()
    except ProofError as error:
        answer = jsonify(error=error.code, error_description=error.why)
        answer.status_code = 400
    answer.headers["DPoP-Nonce"] = nonces.setdefault("server", secrets.token_urlsafe(12))
    return answer


@app.get("/api/me")
def me() -> Any:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    kept = tokens.get(value)
    try:
        if scheme.lower() != "dpop" or not kept or kept["kind"] != "access":
            raise ProofError("invalid_token", "no such token")
        if take_proof("resource", value) != kept["key"]:
            raise ProofError("invalid_token", "the token is bound to another key")
        answer = jsonify(name="ada", scope=kept["scope"])
    except ProofError as error:
        answer = jsonify(error=error.code)
        answer.status_code = 401
        answer.headers["WWW-Authenticate"] = f'DPoP error="{error.code}", algs="ES256 EdDSA"'
    answer.headers["DPoP-Nonce"] = nonces.setdefault("resource", secrets.token_urlsafe(12))
    return answer


def main() -> None:
    global state, origin
    options = host.arguments(__doc__ or "").parse_args()
    state = options.state
    listening = host.listen()
    port = listening.getsockname()[1]
    origin = f"http://127.0.0.1:{port}"
    nonces.update(server=secrets.token_urlsafe(12), resource=secrets.token_urlsafe(12))
    serving = make_server("127.0.0.1", port, host.Recorder(app, state), threaded=True, fd=listening.fileno())
    host.announce(issuer=origin, origin=origin, user="ada", password="unused", secrets={}, token_path="/token")
    serving.serve_forever()


if __name__ == "__main__":
    main()
