"""The work of `benchmarks peers`, done with joserfc and Authlib.

The first line of output is JSON: ID tokens by algorithm, and the key set. Then each line of input, such as `joserfc ES256 20000`,
is answered with the tokens that were validated in one second of processor time: signature, issuer, audience, expiry and nonce.
Run it with `-W ignore`: Authlib announces that joserfc takes the place of its module.
"""

import json
import sys
import time


from authlib.jose import JsonWebKey, JsonWebToken
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey

ISSUER, CLIENT, NONCE = "https://issuer.example", "benchmark", "bm9uY2Utb2YtdGhlLWJlbmNobWFyaw"

KEYS = {
    "ES256": ECKey.generate_key("P-256", {"kid": "es", "alg": "ES256", "use": "sig"}),
    "RS256": RSAKey.generate_key(2048, {"kid": "rs", "alg": "RS256", "use": "sig"}),
    "PS256": RSAKey.generate_key(2048, {"kid": "ps", "alg": "PS256", "use": "sig"}),
    "EdDSA": OKPKey.generate_key("Ed25519", {"kid": "ed", "alg": "EdDSA", "use": "sig"}),
}


def token(algorithm: str) -> str:
    now = int(time.time())
    claims = {
        "iss": ISSUER, "sub": "248289761001", "aud": CLIENT, "nonce": NONCE, "iat": now, "auth_time": now, "exp": now + 7_200,
        "name": "Ada Example", "email": "ada@example.com", "email_verified": True,
    }
    return jwt.encode({"alg": algorithm, "kid": KEYS[algorithm].kid}, claims, KEYS[algorithm], algorithms=[algorithm])


TOKENS = {algorithm: token(algorithm) for algorithm in KEYS}
KEY_SET = {"keys": [key.as_dict(private=False) for key in KEYS.values()]}
JOSERFC_KEYS = KeySet.import_key_set(KEY_SET)
AUTHLIB_KEYS = JsonWebKey.import_key_set(KEY_SET)
ESSENTIAL = {"iss": ISSUER, "aud": CLIENT, "nonce": NONCE}


def by_joserfc(algorithm: str) -> None:
    decoded = jwt.decode(TOKENS[algorithm], JOSERFC_KEYS, algorithms=[algorithm])
    registry = jwt.JWTClaimsRegistry(**{name: {"essential": True, "value": value} for name, value in ESSENTIAL.items()},
                                     exp={"essential": True}, iat={"essential": True}, sub={"essential": True})
    registry.validate(decoded.claims)


AUTHLIB = JsonWebToken(list(KEYS))


def by_authlib(algorithm: str) -> None:
    claims = AUTHLIB.decode(
        TOKENS[algorithm], AUTHLIB_KEYS, claims_cls=CodeIDToken,
        claims_options={name: {"essential": True, "value": value} for name, value in ESSENTIAL.items()},
        claims_params={"nonce": NONCE, "client_id": CLIENT})
    claims.validate()


def rate(validate, algorithm: str, count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        validate(algorithm)
    return count / (time.process_time() - start)


print(json.dumps({"tokens": TOKENS, "keys": json.dumps(KEY_SET)}), flush=True)
for line in sys.stdin:
    library, algorithm, count = line.split()
    print(rate({"joserfc": by_joserfc, "authlib": by_authlib}[library], algorithm, int(count)), flush=True)
