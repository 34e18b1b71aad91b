"""Servers that misbehave with the nonces of proofs (RFC 9449, sections 8 and 8.2): the rules of Documentation/Sandbox.md, and the command."""

import json
import re
from collections.abc import Iterator

import pytest

import formlogin
from command import Handshake
from stand_in import StandIn
from strangers import REPOSITORY, http


def documented() -> dict[str, list[str]]:
    """The rules of the page, by what the server does."""
    page = (REPOSITORY / "Documentation/Sandbox.md").read_text()
    table = page.partition("| the nonces of proofs |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ", 1) for line in table.splitlines() if "`" in line]
    return {name: re.findall(r"`([^`]+)`", rules) for name, rules in rows}


@pytest.fixture
def faults(own_sandbox: StandIn) -> Iterator[StandIn]:
    yield own_sandbox
    http().delete(own_sandbox.standard["origin"] + "/_sandbox/faults", timeout=10)


def tokens(sandbox: StandIn) -> list[int]:
    """The statuses of the token endpoint since the log was cleared."""
    log = http().get(sandbox.standard["origin"] + "/_sandbox/requests", timeout=10).text
    lines = [json.loads(line) for line in log.splitlines()]
    return [line["status"] for line in lines if line["path"] == "/token" and line["service"] == "standard"]


# What the command makes of it: the statuses of the token endpoint, and whether it signs in.
EXPECTED = {
    "a challenge without a nonce": ([400], False),
    "the same nonce again": ([400, 400], False),
    "another nonce with each challenge": ([400, 400], False),
    "a nonce that no proof can have": ([400], False),
    "a nonce that counts no more when it comes": ([400, 400], False),
    "a success with a nonce that no proof can have": ([200], True),
}


def test_each_misbehaviour_of_the_page_is_examined() -> None:
    assert documented().keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_m406_what_a_server_does_wrong_with_nonces_ends_in_one_retry_at_most(
        handshake: Handshake, faults: StandIn, name: str) -> None:
    login = handshake.begin_login("mine", "--issuer", faults.standard["origin"], "--client-id", "sandbox-dpop-nonce", "--dpop", "--scope", "api")
    user = faults.standard["users"][0]
    redirect = formlogin.walk(login.url, user["name"], user["password"])
    http().delete(faults.standard["origin"] + "/_sandbox/requests", timeout=10)
    faults.standard_control("faults", "\n".join(documented()[name]))
    http().get(redirect, timeout=10)
    done = login.finish()
    statuses, succeeds = EXPECTED[name]
    assert tokens(faults) == statuses, done
    if succeeds:
        assert done.ok().json["token_type"] == "DPoP"
    else:
        assert (done.status, done.error["code"]) == (4, "use_dpop_nonce"), done
        assert handshake.accounts() == []
