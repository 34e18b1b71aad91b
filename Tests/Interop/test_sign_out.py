"""Signing out: revoked at the server first, then forgotten."""

import direct
from command import Handshake
from strangers import Stranger, http


def revocations(server: Stranger) -> list[dict[str, object]]:
    return server.requests(server.metadata()["revocation_endpoint"].removeprefix(server.origin))


def test_logout_revokes_both_tokens_and_forgets(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    token = handshake.token("mine")
    grant = {"refresh_token": django.newest("refresh_token")}
    handshake.run("logout", "mine").ok()
    assert not django.is_active(token)
    assert direct.refresh(django, grant).json() == {"error": "invalid_grant"}, "the refresh token survived the logout"
    assert handshake.run("token", "mine").status == 3
    assert handshake.accounts() == []


def test_a_confidential_client_authenticates_its_revocation(handshake: Handshake, canaille: Stranger, canaille_port: int) -> None:
    handshake.signed_in("web", canaille, "--scope", "openid", "--redirect", f"loopback:{canaille_port}", client="web",
                        secret=canaille.secret("web"))
    token = handshake.token("web")
    handshake.run("logout", "web").ok()
    assert not canaille.is_active(token)
    assert {r["authorization"] for r in revocations(canaille)[-1:]} == {"basic"}


def test_local_only_forgets(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    token, before = handshake.token("mine"), len(revocations(django))
    handshake.run("logout", "mine", "--local").ok()
    assert django.is_active(token)
    assert len(revocations(django)) == before
    assert handshake.accounts() == []


def test_a_server_out_of_order_is_said_and_logout_can_be_repeated(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    token = handshake.token("mine")
    path = django.metadata()["revocation_endpoint"].removeprefix(django.origin)
    with django.held(path, process=False):
        first = handshake.run("logout", "mine")
    assert first.status in (4, 6), "success must not be claimed"
    assert django.is_active(token)
    assert [a["account"] for a in handshake.accounts()] == ["mine"], "what could not be revoked must stay in reach"
    handshake.run("logout", "mine").ok()
    assert not django.is_active(token)


def test_where_the_client_may_not_revoke_logout_says_so_and_local_forgets(
        handshake: Handshake, canaille: Stranger, canaille_port: int) -> None:
    # canaille lets no public client revoke, and says so in its metadata.
    handshake.signed_in("mine", canaille, "--scope", "openid", "--redirect", f"loopback:{canaille_port}")
    done = handshake.run("logout", "mine")
    assert done.status in (0, 4)
    assert "revo" in done.stderr.lower(), "the user must hear that the tokens live on at the service"
    handshake.run("logout", "mine", "--local")
    assert handshake.accounts() == []


def test_logging_out_of_one_account_leaves_the_other(handshake: Handshake, django: Stranger) -> None:
    for name in ("first", "second"):
        handshake.signed_in(name, django, "--scope", "openid")
    handshake.run("logout", "first").ok()
    assert django.is_active(handshake.token("second"))
    assert http().get(f"{django.origin}/whoami", timeout=10,
                      headers={"Authorization": f"Bearer {handshake.token('second')}"}).status_code == 200


def test_k1_the_session_at_the_server_ends_on_its_own_page(handshake: Handshake, canaille: Stranger, canaille_port: int) -> None:
    handshake.signed_in("mine", canaille, "--scope", "openid", "--redirect", f"loopback:{canaille_port}")
    done = handshake.run("logout", "mine", "--end-session", "--browser", "print").ok()
    assert handshake.accounts() == [], "the session here ends first"
    address = done.stdout.strip()
    assert address == canaille.openid_metadata()["end_session_endpoint"] + "?client_id=native", "no ID token is printed"
    answer = http().get(address, allow_redirects=False, timeout=10)
    assert answer.status_code in (200, 302), "the server asks the user"
