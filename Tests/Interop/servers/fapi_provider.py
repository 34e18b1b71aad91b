"""A server by the FAPI 2.0 Security Profile and Message Signing, whose signatures joserfc makes and verifies.

It takes nothing but pushed, signed requests of one client with a key, proves who sends them (RFC 7523, RFC 9449), and answers with a signed text (JARM).
`--setting` takes `jwks`: the client's public keys. `checked.jsonl` in the state folder has a line for each thing that was verified.
"""

import base64
import hashlib
import json
import secrets
import time
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, jsonify, redirect, request
from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeySet, OKPKey
from werkzeug.serving import make_server

import host

ALGORITHMS = ["PS256", "ES256", "EdDSA", "Ed25519"]
CLIENT = "fapi-app"
app = Flask(__name__)
options: Any = None
origin = ""
client_keys = KeySet([])
server_key = ECKey.generate_key("P-256", {"kid": "server-1", "use": "sig", "alg": "ES256"})
pushed: dict[str, dict[str, Any]] = {}
codes: dict[str, dict[str, Any]] = {}
access: dict[str, str] = {}
refresh: dict[str, str] = {}
used: set[str] = set()
nonce = secrets.token_urlsafe(12)


class Refused(Exception):
    def __init__(self, code: str, why: str, status: int = 400) -> None:
        self.code, self.why, self.status = code, why, status


def note(what: str, **facts: Any) -> None:
    with (options.state / "checked.jsonl").open("a") as file:
        file.write(json.dumps({"what": what, **facts}) + "\n")


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def header_of(text: str) -> dict[str, Any]:
    return json.loads(base64.urlsafe_b64decode(text.split(".")[0] + "=="))


def verified(text: str, kind: str, code: str) -> dict[str, Any]:
    """The claims of a text that the client signed for this server, once."""
    try:
        header = header_of(text)
        assert header["typ"] == kind, header["typ"]
        claims = jwt.decode(text, client_keys, algorithms=ALGORITHMS).claims
        now = time.time()
        assert claims["aud"] == origin and claims["iss"] == CLIENT
        assert claims["iat"] <= now + 10 and now < claims["exp"] <= now + 3600
        assert claims["jti"] not in used and len(claims["jti"]) >= 16
    except Exception as error:
        raise Refused(code, f"{type(error).__name__} {error}"[:80], 401 if code == "invalid_client" else 400) from error
    used.add(claims["jti"])
    note(kind, alg=header["alg"])
    return claims


def authenticate() -> None:
    form = request.form
    if request.authorization or "client_secret" in form:
        raise Refused("invalid_client", "no secrets", 401)
    if form.get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer":
        raise Refused("invalid_client", "no assertion", 401)
    claims = verified(form.get("client_assertion", ""), "client-authentication+jwt", "invalid_client")
    if claims["sub"] != CLIENT or form.get("client_id", CLIENT) != CLIENT:
        raise Refused("invalid_client", "another client", 401)


def proof(token: str | None = None) -> str:
    fields = request.headers.getlist("DPoP")
    if len(fields) != 1:
        raise Refused("invalid_dpop_proof", "one proof is needed")
    try:
        header = header_of(fields[0])
        key = (ECKey if header["jwk"]["kty"] == "EC" else OKPKey).import_key(header["jwk"])
        assert header["typ"] == "dpop+jwt" and header["alg"] in ALGORITHMS and not key.is_private
        claims = json.loads(jws.deserialize_compact(fields[0], key, algorithms=ALGORITHMS).payload)
        assert claims["htm"] == request.method and claims["htu"] == origin + request.path
        assert abs(claims["iat"] - time.time()) <= 10 and claims["jti"] not in used
        assert claims.get("ath") == (digest(token) if token else None)
    except Exception as error:
        raise Refused("invalid_dpop_proof", type(error).__name__) from error
    used.add(claims["jti"])
    if claims.get("nonce") != nonce:
        raise Refused("use_dpop_nonce", "the nonce is needed")
    note("proof", path=request.path)
    return key.thumbprint()


@app.after_request
def with_nonce(answer: Response) -> Response:
    answer.headers["DPoP-Nonce"] = nonce
    return answer


@app.errorhandler(Refused)
def refused(error: Refused) -> Any:
    answer = jsonify(error=error.code, error_description=error.why)
    answer.status_code = error.status
    if request.path.startswith("/api"):
        answer.status_code = 401
        answer.headers["WWW-Authenticate"] = f'DPoP error="{error.code}"'
    return answer


@app.get("/.well-known/oauth-authorization-server")
def metadata() -> Response:
    return jsonify(
        issuer=origin, authorization_endpoint=origin + "/authorize", token_endpoint=origin + "/token",
        pushed_authorization_request_endpoint=origin + "/par", jwks_uri=origin + "/jwks",
        require_pushed_authorization_requests=True, require_signed_request_object=True,
        request_object_signing_alg_values_supported=ALGORITHMS, response_types_supported=["code"],
        response_modes_supported=["jwt"], authorization_signing_alg_values_supported=["ES256"],
        code_challenge_methods_supported=["S256"], token_endpoint_auth_methods_supported=["private_key_jwt"],
        token_endpoint_auth_signing_alg_values_supported=ALGORITHMS, dpop_signing_alg_values_supported=ALGORITHMS,
        authorization_details_types_supported=["payment_initiation"],
        authorization_response_iss_parameter_supported=True)


@app.get("/jwks")
def jwks() -> Response:
    return jsonify(KeySet([server_key]).as_dict(private=False))


@app.post("/par")
def push() -> Any:
    authenticate()
    key = proof()
    if set(request.form) != {"request", "client_id", "client_assertion", "client_assertion_type"}:
        raise Refused("invalid_request", f"beside the request object stand {sorted(request.form)}")
    claims = verified(request.form["request"], "oauth-authz-req+jwt", "invalid_request_object")
    if claims["nbf"] < time.time() - 3600 or "sub" in claims or "request" in claims or "request_uri" in claims:
        raise Refused("invalid_request_object", "too old, or with what must not be inside")
    if (claims["response_type"], claims["response_mode"], claims["code_challenge_method"]) != ("code", "jwt", "S256"):
        raise Refused("invalid_request", "another flow")
    if not claims["redirect_uri"].startswith("http://127.0.0.1:"):
        raise Refused("invalid_request", "another redirect")
    reference = "urn:ietf:params:oauth:request_uri:" + secrets.token_urlsafe(16)
    pushed[reference] = claims | {"key": key}
    return jsonify(request_uri=reference, expires_in=60), 201


@app.get("/authorize")
def authorize() -> Any:
    if set(request.args) != {"client_id", "request_uri"}:
        return "more than two parameters", 400
    asked = pushed.pop(request.args["request_uri"])
    code = secrets.token_urlsafe(32)
    codes[code] = asked
    now = int(time.time())
    claims = {"iss": origin, "aud": CLIENT, "exp": now + 300, "iat": now, "code": code, "state": asked["state"]}
    text = jwt.encode({"alg": "ES256", "kid": "server-1"}, claims, server_key)
    return redirect(asked["redirect_uri"] + "?" + urlencode({"response": text}))


@app.post("/token")
def token() -> Any:
    authenticate()
    key = proof()
    form = request.form
    answer: dict[str, Any] = {}
    if form.get("grant_type") == "authorization_code":
        asked = codes.pop(form.get("code", ""), None)
        if not asked or asked["key"] != key or asked["redirect_uri"] != form.get("redirect_uri"):
            raise Refused("invalid_grant", "no such code")
        if digest(form.get("code_verifier", "")) != asked["code_challenge"]:
            raise Refused("invalid_grant", "another verifier")
        if "authorization_details" in asked:
            answer["authorization_details"] = [d | {"consent": "c-1"} for d in asked["authorization_details"]]
        answer["refresh_token"] = secrets.token_urlsafe(32)
        refresh[answer["refresh_token"]] = key
    elif form.get("refresh_token") not in refresh:
        raise Refused("invalid_grant", "no such token")
    answer |= {"access_token": secrets.token_urlsafe(32), "token_type": "DPoP", "expires_in": 300}
    access[answer["access_token"]] = key
    return jsonify(answer)


@app.get("/api/me")
def me() -> Any:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "dpop" or value not in access:
        raise Refused("invalid_token", "no such token")
    if proof(value) != access[value]:
        raise Refused("invalid_token", "another key")
    return jsonify(name="ada")


def main() -> None:
    global options, origin, client_keys
    options = host.arguments(__doc__ or "").parse_args()
    client_keys = KeySet.import_key_set(host.settings(options.setting)["jwks"])
    listening = host.listen()
    port = listening.getsockname()[1]
    origin = f"http://127.0.0.1:{port}"
    serving = make_server("127.0.0.1", port, host.Recorder(app, options.state), threaded=True, fd=listening.fileno())
    host.announce(issuer=origin, origin=origin, user="ada", password="unused", secrets={}, token_path="/token")
    serving.serve_forever()


if __name__ == "__main__":
    main()
