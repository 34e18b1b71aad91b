"""canaille (on Authlib) as an OAuth 2.0 and OpenID provider.

RFC 9207 `iss`, RFC 8414 metadata, refresh rotation, introspection, revocation, JWT access tokens, RSA and EC keys in one set.
Clients that sign: keyed-ec, keyed-rsa; the audience of their assertions is the token endpoint, an older rule.
User: alice / wonderland1. Redirect URIs match character for character, port included.
"""

import datetime
import json
import secrets

import host

options = host.arguments(__doc__ or "").parse_args()
options.state.mkdir(parents=True, exist_ok=True)
listener = host.listen()
port = listener.getsockname()[1]
base = f"http://127.0.0.1:{port}"

import canaille  # noqa: E402
from canaille.app import models  # noqa: E402
from canaille.app.installation import install  # noqa: E402
from canaille.backends import Backend  # noqa: E402
from joserfc.jwk import ECKey, RSAKey  # noqa: E402

keys = [RSAKey.generate_key(2048, auto_kid=True).as_dict(private=True),
        ECKey.generate_key("P-256", auto_kid=True).as_dict(private=True)]
config = {
    "SECRET_KEY": secrets.token_hex(32), "SERVER_NAME": f"127.0.0.1:{port}", "PREFERRED_URL_SCHEME": "http",
    "CANAILLE": {"DATABASE": "sql", "JAVASCRIPT": False},
    "CANAILLE_SQL": {"DATABASE_URI": f"sqlite:///{options.state / 'canaille.sqlite'}"},
    "CANAILLE_OIDC": {"ACTIVE_JWKS": keys, "REQUIRE_NONCE": False},
} | host.settings(options.setting)
app = canaille.create_app(config=config, init_backend=False)
web_secret = "canary-" + secrets.token_hex(16)
# Clients that sign: what each of them keeps. The server knows the public halves.
client_keys = {"keyed-ec": ECKey.generate_key("P-256", auto_kid=True), "keyed-rsa": RSAKey.generate_key(2048, auto_kid=True)}


def add_client(client_id: str, secret: str | None, method: str, *grants: str, jwks: str | None = None) -> None:
    client = models.Client(
        client_id=client_id, client_secret=secret, client_name=client_id, client_uri="http://app.example",
        client_id_issued_at=datetime.datetime.now(datetime.UTC), token_endpoint_auth_method=method,
        grant_types=list(grants), response_types=["code"], redirect_uris=options.redirect_uri,
        scope=["openid", "profile", "email"], id_token_signed_response_alg="RS256", jwks=jwks)
    Backend.instance.save(client)
    # Without this the `aud` of its ID tokens is empty.
    client.audience = [client]
    Backend.instance.save(client)


with app.app_context():
    install(app)
    with Backend.instance.session():
        Backend.instance.save(models.User(
            user_name="alice", password="wonderland1", emails=["alice@example.com"], given_name="Alice",
            family_name="Example", formatted_name="Alice Example"))
        add_client("native", None, "none", "authorization_code", "refresh_token")
        for name, key in client_keys.items():
            add_client(name, None, "private_key_jwt", "authorization_code", "refresh_token", "client_credentials",
                       jwks=json.dumps({"keys": [key.as_dict(private=False)]}))
        add_client("web", web_secret, "client_secret_basic", "authorization_code", "refresh_token", "client_credentials")

from canaille.oidc.jose import build_client_management_token  # noqa: E402

# What apps need that register themselves (RFC 7591, section 3): the server makes it for them. Each counts once.
with app.test_request_context(base_url=base), Backend.instance.session():
    registration_token, key_registration_token, issuer_registration_token = (
        build_client_management_token("client:register", datetime.timedelta(hours=1)) for _ in range(3))

from hypercorn.asyncio import serve  # noqa: E402
from hypercorn.config import Config  # noqa: E402

hypercorn = Config()
hypercorn.bind = [f"fd://{listener.fileno()}"]
host.announce(issuer=base, origin=base,
              registration_token=registration_token, key_registration_token=key_registration_token,
              issuer_registration_token=issuer_registration_token,
              secrets={"web": web_secret, "registration": registration_token, "key registration": key_registration_token,
                       "issuer registration": issuer_registration_token} | {name: key.as_dict(private=True)["d"] for name, key in client_keys.items()},
              keys={name: json.dumps(key.as_dict(private=True)) for name, key in client_keys.items()}, token_path="/oauth/token", user="alice",
              password="wonderland1")

import asyncio  # noqa: E402

asyncio.run(serve(host.Recorder(app, options.state), hypercorn, mode="wsgi"))
