"""`handshake keep`: accounts are refreshed before a program asks for their tokens."""

import os
import signal

import pytest

import direct
from command import Handshake
from strangers import Stranger, wait_for


def refreshes(server: Stranger) -> int:
    return len(server.requests(server.facts["token_path"], "refresh_token"))


@pytest.fixture
def kept(handshake: Handshake, expiring: Stranger) -> Handshake:
    """An account whose access token the server no longer takes."""
    handshake.signed_in("mine", expiring, "--scope", "openid")
    expiring.wait_until_expired(handshake.token("mine"))
    return handshake


def test_a_pass_refreshes_what_has_expired(kept: Handshake, expiring: Stranger) -> None:
    before = refreshes(expiring)
    done = kept.run("keep", "--once").ok()
    assert done.stdout.startswith("refreshed mine (mine), next ") and refreshes(expiring) == before + 1, done
    assert done.stderr == "1 refreshed, 0 failed, 0 ended, 0 left for later.\n"


def test_a_dry_run_shows_what_is_due_and_sends_nothing(kept: Handshake, expiring: Stranger) -> None:
    before = len(expiring.requests())
    assert kept.run("keep", "--dry-run").ok().stdout == "mine  mine  now\n"
    due = kept.run("keep", "--dry-run", "--json").ok().json
    assert due["account"] == "mine" and due["is_due"] is True
    assert len(expiring.requests()) == before


def test_it_goes_on_until_it_is_interrupted(kept: Handshake, expiring: Stranger) -> None:
    keeping = kept.start("keep", "--json")
    try:
        assert '"event":"refreshed"' in keeping.line() and keeping.is_running()
        os.kill(keeping.process.pid, signal.SIGINT)
        assert keeping.finish().status == 130
    finally:
        keeping.end()


def test_a_session_that_has_ended_is_status_3_and_names_the_sign_in(kept: Handshake, expiring: Stranger) -> None:
    used = {"refresh_token": expiring.newest("refresh_token")}
    assert direct.refresh(expiring, used).status_code == 200
    done = kept.run("keep", "--once")
    assert done.status == 3, done
    assert done.stdout.startswith("ended mine (mine): ") and done.stdout.endswith("Sign in again with: handshake login mine\n")
    assert done.stderr.endswith("1 session has ended. List the accounts with: handshake accounts\n")


def test_a_vault_that_is_absent_is_created_so_that_later_accounts_are_seen(handshake: Handshake) -> None:
    vault = handshake.home.parent / "later"
    keeping = handshake.start("keep", "--vault", f"files:{vault}")
    try:
        wait_for(vault)
        os.kill(keeping.process.pid, signal.SIGINT)
        assert keeping.finish().status == 130
    finally:
        keeping.end()


def test_one_pass_over_a_vault_that_is_absent_makes_none(handshake: Handshake) -> None:
    vault = handshake.home.parent / "later"
    handshake.run("keep", "--once", "--vault", f"files:{vault}").ok()
    assert not vault.exists()


def test_a_vault_in_memory_is_refused_because_no_other_command_sees_it(handshake: Handshake) -> None:
    done = handshake.run("keep", "--vault", "memory")
    assert done.status == 64 and "is lost when the command ends" in done.stderr
