"""A program that signs in by assertions of its key (RFC 7523, section 2.1), at a server that Authlib makes."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import leaks
from command import Finished, Handshake, secret_file
from conftest import start
from strangers import Stranger

ROBOT = "robot@sandbox.iam.gserviceaccount.com"
KINDS = {"reports": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], ROBOT: ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]}


def openssl(*arguments: str, stdin: str = "") -> str:
    return subprocess.run(["openssl", *arguments], input=stdin, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture(scope="module")
def keys() -> dict[str, str]:
    """The private key of each client, as PEM."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    return {name: openssl("genpkey", "-algorithm", *kind) for name, kind in KINDS.items()}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, keys: dict[str, str]) -> Iterator[Stranger]:
    public = {name: openssl("pkey", "-pubout", stdin=key) for name, key in keys.items()}
    yield from start("jwt_bearer_provider", tmp_path_factory.mktemp("jwt-bearer"), keys=public)


@pytest.fixture
def robot(handshake: Handshake, keys: dict[str, str]) -> Iterator[Handshake]:
    """The command. Afterwards: no line of a key was printed, and none lies in clear in its home."""
    yield handshake
    lines = [line for key in keys.values() for line in key.splitlines()[1:-1] if len(line) >= 40]
    assert lines and not leaks.found_in(handshake.printed(with_tokens=True), lines), "a key was printed"
    assert not leaks.found_in_folder(handshake.home, lines), "a key lies in clear in the command's home"


def login(robot: Handshake, server: Stranger, key: Path, *options: str) -> Finished:
    return robot.run("login", "reports", "--grant", "jwt-bearer", "--issuer", server.issuer, "--client-id", "reports", "--key",
                     str(key), "--scope", "read", "--json", *options)


def claims(server: Stranger) -> list[dict]:
    return [json.loads(line) for line in (server.state / "checked.jsonl").read_text().splitlines()]


def me(robot: Handshake, server: Stranger, account: str = "reports") -> dict:
    return robot.run("request", "GET", server.origin + "/api/me", "--account", account).ok().json


def test_a_key_signs_for_its_client_or_for_a_user_who_has_granted_it(
        robot: Handshake, server: Stranger, keys: dict[str, str], tmp_path: Path) -> None:
    key = secret_file(tmp_path / "key.pem", keys["reports"])
    done = login(robot, server, key, "--key-id", "first").ok()
    assert len(done.stdout.splitlines()) == 1 and done.json["refreshable"] and done.json["scope"] == "read"
    assert me(robot, server) == {"client_id": "reports", "sub": "reports", "scope": "read"}
    made = claims(server)[-1]
    assert made["iss"] == made["sub"] == "reports" and made["aud"] == server.issuer and made["kid"] == "first"
    assert made["exp"] - made["iat"] <= 300
    login(robot, server, key, "--subject", "ada", "--assertion-audience", "token_endpoint").ok()
    assert me(robot, server)["sub"] == "ada" and claims(server)[-1]["aud"] == server.origin + "/token"
    # What is left out is as before, and needs no file.
    key.unlink()
    robot.run("login", "reports").ok()
    assert me(robot, server)["sub"] == "ada" and claims(server)[-1]["aud"] == server.origin + "/token"
    sent = server.requests("/token")[-1]
    assert sent["form"] == ["assertion", "grant_type", "scope"] and sent["authorization"] is None


def test_a_service_accounts_key_file_says_where_and_for_whom(
        robot: Handshake, server: Stranger, keys: dict[str, str], tmp_path: Path) -> None:
    def file(name: str, address: str) -> str:
        return str(secret_file(tmp_path / name, json.dumps({
            "type": "service_account", "client_email": ROBOT, "private_key_id": "k1", "private_key": keys[ROBOT],
            "token_uri": address})))

    arguments = ["login", "google", "--account", "robot", "--grant", "jwt-bearer", "--scope", "read", "--json", "--key"]
    refused = robot.run(*arguments, file("foreign.json", "https://elsewhere.example/token"))
    assert refused.status == 5 and refused.error["code"] == "foreign_token_endpoint"
    assert "https://elsewhere.example/token" in refused.error["message"]
    assert "--token-url URL" in refused.error["message"] and "handshake login" not in refused.error["message"]
    before, own = len(server.requests("/token")), file("account.json", server.origin + "/token")
    assert robot.run(*arguments, own).status == 5
    assert len(server.requests("/token")) == before, "nothing was signed for an address that the user has not named"
    done = robot.run(*arguments, own, "--token-url", server.origin + "/token", "--api-origin", server.origin).ok()
    assert done.json["account"] == "robot" and done.json["service"] == "google"
    made = claims(server)[-1]
    assert made["iss"] == ROBOT and made["aud"] == server.origin + "/token" and made["scope"] == "read"
    assert made["kid"] == "k1" and made["alg"] == "RS256" and "sub" not in made
    assert me(robot, server, "robot")["client_id"] == ROBOT
    assert server.requests("/token")[-1]["form"] == ["assertion", "grant_type"]


def test_a_stored_key_signs_for_no_other_server(
        robot: Handshake, server: Stranger, keys: dict[str, str], tmp_path: Path) -> None:
    account = {"type": "service_account", "client_email": ROBOT, "private_key_id": "k1", "private_key": keys[ROBOT],
               "token_uri": server.origin + "/token"}
    file = str(secret_file(tmp_path / "account.json", json.dumps(account)))
    robot.run("login", "drive", "--grant", "jwt-bearer", "--key", file, "--token-url", server.origin + "/token",
              "--api-origin", server.origin, "--scope", "read").ok()
    elsewhere = server.origin + "/collect"
    moved = [robot.run("login", "drive", "--issuer", server.issuer, "--token-url", elsewhere, "--json"),
             robot.run("login", "drive", "--json", HANDSHAKE_TOKEN_URL=elsewhere)]
    for refused in moved:
        assert refused.status == 5 and refused.error["code"] == "foreign_token_endpoint", refused
    assert server.requests("/collect") == [], "an assertion for one server went to another one"
    robot.run("login", "drive").ok()
    assert me(robot, server, "drive")["client_id"] == ROBOT


def test_an_expired_token_is_replaced_by_one_new_assertion_for_all_processes(
        robot: Handshake, server: Stranger, keys: dict[str, str], tmp_path: Path) -> None:
    with server.living(2):
        done = login(robot, server, secret_file(tmp_path / "key.pem", keys["reports"])).ok()
        old = server.newest("access_token")
    # The command counts from when the answer came, in parts of a second.
    while time.time() < done.json["expires_at"] + 1:
        time.sleep(0.05)
    before = len(claims(server))
    running = [robot.start("token", "reports") for _ in range(6)]
    tokens = {one.finish().ok().stdout.strip() for one in running}
    assert len(tokens) == 1 and old not in tokens
    assert len(claims(server)) == before + 1
    assert len({made["jti"] for made in claims(server)}) == len(claims(server))


def test_another_key_and_a_user_who_has_not_granted_it_are_the_servers_refusal(
        robot: Handshake, server: Stranger, keys: dict[str, str], tmp_path: Path) -> None:
    other = secret_file(tmp_path / "other.pem", openssl("genpkey", "-algorithm", *KINDS["reports"]))
    done = login(robot, server, other)
    assert done.status == 4 and done.error["code"] == "invalid_grant"
    own = secret_file(tmp_path / "key.pem", keys["reports"])
    done = login(robot, server, own, "--subject", "zoe")
    assert done.status == 4 and done.error["code"] == "invalid_client"
    assert robot.accounts() == []
