"""A server built from Authlib, which exchanges signed assertions for tokens (RFC 7523, section 2.1).

`--setting` takes `keys`: the public key (PEM) of each client. `checked.jsonl` in the state folder has the claims of each assertion that was taken. While
the file `lifetime` exists, tokens live so many seconds.
"""

import json
import os
import secrets
from typing import Any

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin, InvalidGrantError
from authlib.oauth2.rfc7523 import JWTBearerGrant
from flask import Flask, Response, jsonify, request
from joserfc.jwk import ECKey, RSAKey
from werkzeug.serving import make_server

import host

USERS = {"ada": {"reports"}, "zoe": set()}
state: Any = None
origin = ""
keys: dict[str, Any] = {}
tokens: dict[str, dict[str, Any]] = {}
used: set[str] = set()
app = Flask(__name__)


class Client(ClientMixin):
    """A client that the server knows by the key of its assertions."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id

    def get_client_id(self) -> str:
        return self.client_id

    def get_allowed_scope(self, scope: str) -> str:
        return " ".join(word for word in (scope or "").split() if word in ("read", "write"))

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == JWTBearerGrant.GRANT_TYPE


class Grant(JWTBearerGrant):
    LEEWAY = 5

    def resolve_issuer_client(self, issuer: str) -> Client | None:
        return Client(issuer) if issuer in keys else None

    def resolve_client_public_key(self, client: Client) -> Any:
        return keys[client.client_id]

    def get_audiences(self) -> list[str]:
        return [origin, origin + "/token"]

    def process_assertion_claims(self, assertion: str) -> Any:
        headers, _ = self.extract_assertion(assertion)
        claims = super().process_assertion_claims(assertion)
        if len(claims.get("jti", "")) < 16 or claims["jti"] in used or claims["exp"] - claims["iat"] > 3600:
            raise InvalidGrantError(description="each assertion counts once, and an hour at most")
        used.add(claims["jti"])
        with (state / "checked.jsonl").open("a") as file:
            file.write(json.dumps({"kid": headers.get("kid"), "alg": headers["alg"], **claims}) + "\n")
        # A Google server reads the scopes out of the assertion.
        self.scope = request.form.get("scope") or claims.get("scope", "")
        return claims

    def authenticate_user(self, subject: str) -> str | None:
        return subject if subject in USERS or subject in keys else None

    def has_granted_permission(self, client: Client, user: str) -> bool:
        return user == client.client_id or client.client_id in USERS.get(user, set())

    def create_token_response(self) -> Any:
        lifetime = state / "lifetime"
        token = {"token_type": "Bearer", "access_token": secrets.token_urlsafe(32), "scope": self.scope,
                 "expires_in": int(lifetime.read_text()) if lifetime.exists() else 3600}
        tokens[token["access_token"]] = {"client_id": self.request.client.client_id, "sub": self.request.user or "",
                                         "scope": self.scope}
        return 200, token, self.TOKEN_RESPONSE_HEADER


server = AuthorizationServer(app, query_client=Client, save_token=lambda token, request: None)
server.register_grant(Grant)


@app.get("/.well-known/oauth-authorization-server")
def metadata() -> Response:
    return jsonify(issuer=origin, token_endpoint=origin + "/token", response_types_supported=[],
                   grant_types_supported=[JWTBearerGrant.GRANT_TYPE])


@app.post("/token")
def token() -> Any:
    return server.create_token_response()


@app.get("/api/me")
def me() -> Any:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or value not in tokens:
        return jsonify(error="invalid_token"), 401, {"WWW-Authenticate": 'Bearer error="invalid_token"'}
    return jsonify(tokens[value])


def main() -> None:
    global state, origin
    options = host.arguments(__doc__ or "").parse_args()
    state = options.state
    for name, pem in host.settings(options.setting)["keys"].items():
        keys[name] = (RSAKey if name.endswith("gserviceaccount.com") else ECKey).import_key(pem)
    listening = host.listen()
    port = listening.getsockname()[1]
    origin = f"http://127.0.0.1:{port}"
    serving = make_server("127.0.0.1", port, host.Recorder(app, state), threaded=True, fd=listening.fileno())
    host.announce(issuer=origin, origin=origin, user="ada", password="unused", secrets={}, token_path="/token")
    serving.serve_forever()


if __name__ == "__main__":
    main()
