"""Clients that sign, at servers that others wrote, and keys that OpenSSL made."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from command import Handshake, Login, secret_file
from strangers import Stranger


def settings(handshake: Handshake, server: Stranger, client: str, key: Path, *lines: str) -> None:
    handshake.home.mkdir(mode=0o700, exist_ok=True)
    (handshake.home / "config.toml").write_text("\n".join([
        "[services.mine]", f'issuer = "{server.issuer}"', f'client-id = "{client}"', f'key = "{key}"', *lines, ""]))


def login(handshake: Handshake, port: int) -> Login:
    return handshake.begin_login("mine", "--scope", "openid", "--scope", "profile", "--redirect", f"loopback:{port}")


@pytest.mark.parametrize("client", ["keyed-ec", "keyed-rsa"])
def test_canaille_believes_an_assertion_by_each_kind_of_key(
        handshake: Handshake, canaille: Stranger, canaille_port: int, tmp_path: Path, client: str) -> None:
    key = secret_file(tmp_path / "key.json", canaille.facts["keys"][client])
    settings(handshake, canaille, client, key, 'assertion-audience = "token_endpoint"')
    assert login(handshake, canaille_port).complete(canaille).ok().json["account"] == "mine"
    sent = canaille.requests(canaille.facts["token_path"], "authorization_code")[-1]
    assert sent["authorization"] is None and sent["status"] == 200
    assert {"client_assertion", "client_assertion_type", "client_id"} <= set(sent["form"])
    assert "client_secret" not in sent["form"]


@pytest.mark.parametrize(("key_of", "line"), [("keyed-ec", ""), ("keyed-rsa", 'assertion-audience = "token_endpoint"')])
def test_canaille_refuses_another_audience_and_the_key_of_another_client(
        handshake: Handshake, canaille: Stranger, canaille_port: int, tmp_path: Path, key_of: str, line: str) -> None:
    key = secret_file(tmp_path / "key.json", canaille.facts["keys"][key_of])
    settings(handshake, canaille, "keyed-ec", key, line)
    done = login(handshake, canaille_port).complete(canaille)
    assert (done.status, done.error["code"]) == (4, "invalid_client")


OPENSSL = [
    (["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "EC", "P-256"),
    (["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], "EC", "P-384"),
    (["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"], "EC", "P-521"),
    (["genpkey", "-algorithm", "ED25519"], "OKP", "Ed25519"),
    (["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "RSA", None),
    (["ecparam", "-name", "prime256v1", "-genkey"], "EC", "P-256"),
    (["ecparam", "-name", "secp384r1", "-genkey", "-noout"], "EC", "P-384"),
    (["genrsa", "-traditional", "2048"], "RSA", None),
]


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
@pytest.mark.parametrize(("arguments", "kind", "curve"), OPENSSL)
def test_a_key_that_openssl_made_is_read(
        handshake: Handshake, tmp_path: Path, arguments: list[str], kind: str, curve: str | None) -> None:
    made = subprocess.run(["openssl", *arguments], check=True, capture_output=True, text=True, timeout=60).stdout
    done = handshake.run("public-key", str(secret_file(tmp_path / "key.pem", made))).ok()
    (key,) = json.loads(done.stdout)["keys"]
    assert (key["kty"], key.get("crv")) == (kind, curve)
    assert not {"d", "p", "q"} & set(key)


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
@pytest.mark.parametrize(("arguments", "words"), [
    (["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-aes256", "-pass", "pass:secret"], "openssl pkey"),
    (["genrsa", "-traditional", "-aes128", "-passout", "pass:secret", "2048"], "openssl pkey"),
    (["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"], "2048"),
    (["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"], "P-256"),
    (["genpkey", "-algorithm", "ED448"], "Ed25519"),
])
def test_a_key_that_cannot_be_used_is_refused_with_its_cure(
        handshake: Handshake, tmp_path: Path, arguments: list[str], words: str) -> None:
    made = subprocess.run(["openssl", *arguments], check=True, capture_output=True, text=True, timeout=60).stdout
    done = handshake.run("public-key", str(secret_file(tmp_path / "key.pem", made)))
    assert done.status == 64 and words in done.stderr, done
    assert not any(line in done.stderr for line in made.splitlines()[1:-1] if len(line) > 20)
