"""Tokens that are bound to a key, at a server built from libraries that others wrote."""

import json
from collections.abc import Iterator

import pytest

from command import Handshake
from conftest import start
from strangers import Stranger


@pytest.fixture(scope="module")
def authlib(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    yield from start("authlib_provider", tmp_path_factory.mktemp("authlib"))


def proofs(server: Stranger) -> list[dict[str, object]]:
    return [json.loads(line) for line in (server.state / "proofs.jsonl").read_text().splitlines()]


def test_a_server_of_others_takes_the_proofs_and_their_nonces(handshake: Handshake, authlib: Stranger) -> None:
    done = handshake.signed_in("mine", authlib, "--dpop", "--scope", "a")
    assert done["token_type"] == "DPoP"
    assert [r["status"] for r in authlib.requests("/token")] == [400, 200]
    address = authlib.origin + "/api/me"
    for _ in range(2):
        answer = handshake.run("request", "GET", address, "--account", "mine").ok()
        assert json.loads(answer.stdout)["name"] == "ada"
    # Each run is a process of its own and knows no nonce.
    assert [r["status"] for r in authlib.requests("/api/me")] == [401, 200, 401, 200]
    assert {r["authorization"] for r in authlib.requests("/api/me")} == {"dpop"}
    handshake.run("token", "mine", "--min-valid", "3601")  # no token lives so long, so it is refreshed
    assert [r["status"] for r in authlib.requests("/token", "refresh_token")] == [400, 200]
    handshake.run("request", "GET", address, "--account", "mine").ok()
    taken = proofs(authlib)
    assert {proof["role"] for proof in taken} == {"server", "resource"}
    assert len({proof["key"] for proof in taken}) == 1
    assert len({proof["jti"] for proof in taken}) == len(taken) == 5


def test_a_server_that_binds_tokens_is_no_server_for_a_client_that_never_does(handshake: Handshake, authlib: Stranger) -> None:
    done = handshake.login("never", authlib, "--no-dpop", "--scope", "a").complete(authlib)
    assert (done.status, done.error["code"]) == (4, "invalid_dpop_proof")
    assert "never" not in [account.get("account") for account in handshake.accounts()]
