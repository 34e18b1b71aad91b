"""The FAPI 2.0 profile and signed messages, at a server whose signatures others verify."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import Handshake, Login
from conftest import start
from strangers import Stranger, http

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")

KINDS = {"ES256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
         "PS256": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "EdDSA": ["-algorithm", "ED25519"]}


@pytest.fixture(params=KINDS)
def keyed(request: pytest.FixtureRequest, handshake: Handshake, tmp_path: Path) -> Iterator[tuple[str, Path, Stranger]]:
    """An algorithm, a key for it, and a server that knows the key."""
    key = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", *KINDS[request.param], "-out", key], check=True, capture_output=True, timeout=60)
    key.chmod(0o600)
    keys = json.loads(handshake.run("public-key", str(key)).ok().stdout)
    for server in start("fapi_provider", tmp_path / "server", jwks=keys):
        yield request.param, key, server


def complete(login: Login) -> None:
    """Follows the redirects as a browser does."""
    redirected = http().get(login.url, timeout=10, allow_redirects=False)
    assert redirected.status_code == 302, redirected.text
    assert http().get(redirected.headers["Location"], timeout=10).status_code == 200


def test_the_profile_and_signed_messages_from_the_settings_of_a_service(
        handshake: Handshake, keyed: tuple[str, Path, Stranger]) -> None:
    algorithm, key, server = keyed
    handshake.home.mkdir(mode=0o700, exist_ok=True)
    (handshake.home / "config.toml").write_text("\n".join([
        "[services.bank]", f'issuer = "{server.issuer}"', 'client-id = "fapi-app"', f'key = "{key}"', "fapi2 = true",
        "request-object = true", 'response-mode = "jwt"', 'scope = ["payments"]', "",
        "[[services.bank.authorization-details]]", 'type = "payment_initiation"', "amount = 12", ""]))
    login = handshake.begin_login("bank")
    assert set(login.parameters) == {"client_id", "request_uri"}
    complete(login)
    done = login.finish().ok().json
    assert done["token_type"] == "DPoP"
    address = server.origin + "/api/me"
    assert json.loads(handshake.run("request", "GET", address, "--account", "bank").ok().stdout)["name"] == "ada"
    handshake.run("token", "bank", "--min-valid", "301")  # no token lives so long, so it is refreshed
    assert json.loads(handshake.run("request", "GET", address, "--account", "bank").ok().stdout)["name"] == "ada"
    inspected = handshake.run("inspect", "bank", "--json").ok().json
    assert inspected["authorization_details"] == [{"type": "payment_initiation", "amount": 12, "consent": "c-1"}]
    checked = [json.loads(line) for line in (server.state / "checked.jsonl").read_text().splitlines()]
    signed = [line["alg"] for line in checked if "alg" in line]
    assert {line["what"] for line in checked} == {"client-authentication+jwt", "oauth-authz-req+jwt", "proof"}
    assert set(signed) == {algorithm}


def test_a_sign_in_without_the_profile_gets_nothing_there(
        handshake: Handshake, keyed: tuple[str, Path, Stranger]) -> None:
    _, key, server = keyed
    done = handshake.run("login", "bank", "--issuer", server.issuer, "--client-id", "fapi-app", "--key", str(key),
                         "--no-request-object", "--browser", "print", "--json")
    assert done.status == 64 or done.error["code"] == "invalid_configuration"
    secret = handshake.run("login", "bank", "--issuer", server.issuer, "--client-id", "fapi-app", "--fapi2",
                           "--client-secret-file", "-", "--browser", "print", "--json", stdin="s3cret-s3cret\n")
    assert secret.error["code"] == "invalid_configuration"
    assert not server.requests("/par") and not server.requests("/token")
