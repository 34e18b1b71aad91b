"""Staying signed in: rotation, two concurrent processes, lost answers, a power cut in the middle."""

import json
import time

import pytest

import direct
import leaks
from command import Handshake, Running
from strangers import Stranger, wait_for


def refreshes(server: Stranger) -> int:
    return len(server.requests(server.facts["token_path"], "refresh_token"))


@pytest.fixture
def expired(handshake: Handshake, expiring: Stranger) -> str:
    """An account whose access token the server no longer takes; the value of that token."""
    handshake.signed_in("mine", expiring, "--scope", "openid")
    token = handshake.token("mine")
    expiring.wait_until_expired(token)
    return token


def test_a_fresh_token_is_printed_without_asking_the_server(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    before = len(django.requests())
    first, second = handshake.token("mine"), handshake.token("mine")
    assert first == second
    assert len(django.requests()) == before


def test_an_expired_token_is_refreshed_once_and_rotation_is_followed_for_ever(
        handshake: Handshake, expiring: Stranger, expired: str) -> None:
    before, seen = refreshes(expiring), [expired]
    for turn in range(1, 4):
        seen.append(handshake.token("mine"))
        assert expiring.is_active(seen[-1])
        assert refreshes(expiring) == before + turn
        expiring.wait_until_expired(seen[-1])
    assert len(set(seen)) == len(seen)


def test_a_refresh_sends_the_client_id_of_a_public_client_and_nothing_else(
        handshake: Handshake, expiring: Stranger, expired: str) -> None:
    handshake.token("mine")
    sent = expiring.requests(expiring.facts["token_path"], "refresh_token")[-1]
    assert set(sent["form"]) - {"scope"} == {"client_id", "grant_type", "refresh_token"}
    assert sent["query"] == [] and sent["authorization"] is None


def test_a_confidential_client_can_refresh_after_its_secret_was_given_once(
        handshake: Handshake, expiring: Stranger) -> None:
    handshake.signed_in("web", expiring, "--scope", "openid", client="web", secret=expiring.secret("web"))
    expiring.wait_until_expired(old := handshake.token("web"))
    new = handshake.token("web")
    assert new != old and expiring.is_active(new)
    assert expiring.requests(expiring.facts["token_path"], "refresh_token")[-1]["authorization"] == "basic"


def test_a_token_is_replaced_before_it_dies_where_the_refresh_token_dies_with_it(
        handshake: Handshake, canaille: Stranger, canaille_port: int) -> None:
    # canaille's refresh tokens end with their access tokens (test_canaille.py): who waits until then has lost the session.
    handshake.signed_in("web", canaille, "--scope", "openid", "--redirect", f"loopback:{canaille_port}", client="web",
                        secret=canaille.secret("web"))
    old = handshake.token("web")
    while (new := handshake.token("web")) == old:
        assert canaille.is_active(old), "it has died and was not replaced"
    assert canaille.is_active(new) and not canaille.is_active(old)


def test_when_the_refresh_token_has_died_too_a_sign_in_is_needed(
        handshake: Handshake, canaille: Stranger, canaille_port: int) -> None:
    handshake.signed_in("web", canaille, "--scope", "openid", "--redirect", f"loopback:{canaille_port}", client="web",
                        secret=canaille.secret("web"))
    canaille.wait_until_expired(handshake.token("web"))
    assert handshake.run("token", "web").status == 3


@pytest.mark.parametrize("processes", [2, 6])
def test_processes_that_ask_concurrently_share_one_refresh(
        handshake: Handshake, expiring: Stranger, expired: str, processes: int) -> None:
    before = refreshes(expiring)
    # The answer is held for a second, so that several wait while it is under way. The token lives longer than any machine takes
    # to start them all: one that starts after its end rightly asks for another.
    with expiring.living(3600), expiring.held(process=True, seconds=1):
        running = [handshake.start("token", "mine") for _ in range(processes)]
        tokens = {one.finish().ok().stdout.strip() for one in running}
    assert len(tokens) == 1 and tokens != {expired}
    assert refreshes(expiring) == before + 1
    assert expiring.is_active(tokens.pop())


def test_a_request_that_finds_the_token_dead_refreshes_once_and_is_sent_again(
        handshake: Handshake, expiring: Stranger) -> None:
    handshake.signed_in("mine", expiring, "--scope", "openid")
    before = refreshes(expiring)
    expiring.wait_until_expired(handshake.token("mine"))
    done = handshake.run("request", "GET", f"{expiring.origin}/whoami", "--account", "mine").ok()
    assert '"alice"' in done.stdout
    assert refreshes(expiring) == before + 1


def test_a_token_that_the_server_ended_early_is_refreshed_on_401(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    token, before = handshake.token("mine"), refreshes(django)
    django.expire_access_tokens()
    assert not django.is_active(token)
    done = handshake.run("request", "POST", f"{django.origin}/whoami", "--account", "mine", "-d", "again=yes").ok()
    assert '"again=yes"' in done.stdout, "the body was sent again"
    assert refreshes(django) == before + 1


def test_a_service_out_of_order_does_not_end_the_session(handshake: Handshake, expiring: Stranger, expired: str) -> None:
    with expiring.held(process=False):
        done = handshake.run("token", "mine")
    assert done.status in (4, 6), done
    assert handshake.token("mine") != expired


def test_a_refresh_token_used_elsewhere_means_sign_in_again_and_never_a_loop(
        handshake: Handshake, expiring: Stranger, expired: str) -> None:
    stolen = {"refresh_token": expiring.newest("refresh_token")}
    assert direct.refresh(expiring, stolen).status_code == 200
    before = refreshes(expiring)
    for _ in range(3):
        done = handshake.run("token", "mine")
        assert done.status == 3 and done.stdout == ""
    assert refreshes(expiring) - before == 1, "a rejected refresh token is not tried again"
    assert handshake.run("inspect", "mine", "--json").status in (0, 3)
    handshake.signed_in("mine", expiring, "--scope", "openid")
    assert expiring.is_active(handshake.token("mine"))


def cut_down(handshake: Handshake, expiring: Stranger, *, process: bool) -> None:
    """Kills `token` while its refresh is at the server."""
    with expiring.held(process=process, seconds=15) as waiting:
        running: Running = handshake.start("token", "mine")
        wait_for(waiting)
        running.kill()


def test_killed_before_the_server_rotated_the_session_lives_on(
        handshake: Handshake, expiring: Stranger, expired: str) -> None:
    cut_down(handshake, expiring, process=False)
    token = handshake.token("mine")
    assert token != expired and expiring.is_active(token)


def test_killed_after_the_server_rotated_it_says_sign_in_again_and_never_loops(
        handshake: Handshake, expiring: Stranger, expired: str) -> None:
    before = refreshes(expiring)
    cut_down(handshake, expiring, process=True)
    # The server has given the refresh token's successor to a dead process, and takes the old one for theft.
    for _ in range(3):
        done = handshake.run("token", "mine", "--json")
        assert done.status == 3, done
        assert done.stdout == ""
    assert refreshes(expiring) - before <= 2, "the one that was lost, and at most one more"
    handshake.signed_in("mine", expiring, "--scope", "openid")
    assert expiring.is_active(handshake.token("mine"))


@pytest.mark.parametrize("place", ["option", "settings"])
def test_killed_where_lost_refreshes_are_not_retried_the_token_is_sent_once(
        handshake: Handshake, expiring: Stranger, place: str) -> None:
    options = ["--no-retry-lost-refreshes"]
    if place == "settings":
        options = []
        handshake.home.mkdir(mode=0o700, exist_ok=True)
        (handshake.home / "config.toml").write_text("[services.mine]\nretry-lost-refreshes = false\n")
    handshake.signed_in("mine", expiring, "--scope", "openid", *options)
    expiring.wait_until_expired(handshake.token("mine"))
    before = refreshes(expiring)
    cut_down(handshake, expiring, process=True)
    for _ in range(2):
        done = handshake.run("token", "mine", "--json")
        assert (done.status, done.error["code"]) == (6, "refresh_uncertain"), done
    assert refreshes(expiring) - before == 1, "the one whose answer was lost"


def test_killed_many_times_the_vault_is_never_damaged(handshake: Handshake, expiring: Stranger, expired: str) -> None:
    for attempt in range(8):
        running = handshake.start("token", "mine")
        time.sleep(0.01 * attempt)  # a different moment each time, never longer than 0.07 s
        running.kill()
        assert handshake.run("accounts", "--json").status == 0
        done = handshake.run("token", "mine")
        assert done.status in (0, 3), done
        if done.status == 3:
            handshake.signed_in("mine", expiring, "--scope", "openid")


OUT_OF_ORDER = [
    (500, "<html>out of order</html>"), (429, '{"error":"slow_down"}'), (200, '{"access_token":'), (200, "{}"), (302, ""),
    (400, '{"error":"temporarily_unavailable"}'), (400, ""), (401, '{"error":"invalid_client"}'), (404, "invalid_grant"),
]


def test_only_invalid_grant_ends_the_session(handshake: Handshake, expiring: Stranger, expired: str) -> None:
    wrong = []
    for status, body in OUT_OF_ORDER:
        with expiring.held(process=False, status=status, body=body):
            done = handshake.run("token", "mine", "--json")
        if done.status not in (4, 5, 6) or done.stdout or done.error["status"] != done.status:
            wrong.append(f"to {status} {body!r}: {done}")
    assert wrong == []
    assert handshake.token("mine") != expired


def test_a_client_that_the_server_refuses_is_told_with_its_settings(handshake: Handshake, expiring: Stranger, expired: str) -> None:
    with expiring.held(process=False, status=401, body='{"error":"invalid_client"}'):
        done = handshake.run("token", "mine", "--json")
    assert (done.status, done.error["code"]) == (4, "invalid_client"), done
    assert "Correct “client-id” in the settings of “mine” or as options of login, and sign in again with: handshake login mine" in done.error["message"]
    assert handshake.token("mine") != expired


def test_a_server_that_quotes_tokens_in_its_errors_does_not_make_us_print_them(
        handshake: Handshake, expiring: Stranger, expired: str) -> None:
    # canaille really does so: its 500 carries the SQL statement with its values (test_canaille.py).
    quoted = f"INSERT INTO token VALUES ('{expired}', '{expiring.newest('refresh_token')}')"
    with expiring.held(process=False, status=500, body=json.dumps({"error": "server_error", "error_description": quoted})):
        done = handshake.run("token", "mine", "--json")
    assert done.status == 4
    assert "canary-" not in done.stderr


def test_after_a_refresh_the_home_holds_no_token_in_clear(handshake: Handshake, expiring: Stranger, expired: str) -> None:
    new = handshake.token("mine")
    assert leaks.found_in_folder(handshake.home, [expired, new]) == []
