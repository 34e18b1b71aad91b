"""`login --device` (RFC 8628), at a server of others and at the sandbox."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests

import formlogin
from command import Handshake, Running
from stand_in import StandIn
from strangers import Stranger, http

DEVICE_SECONDS = 60


def settings(handshake: Handshake, server: Stranger) -> None:
    """The server's metadata does not name its device endpoint, so it is described by hand."""
    handshake.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = handshake.home / "config.toml"
    file.touch(0o600)
    file.write_text(f"""
[services.django]
authorize-url = "{server.origin}/o/authorize/"
token-url = "{server.origin}/o/token/"
revocation-url = "{server.origin}/o/revoke_token/"
device-authorization-url = "{server.origin}/o/device-authorization/"
userinfo-url = "{server.origin}/whoami"
subject-pointer = "/username"
""")


def begin(handshake: Handshake, server: Stranger, *options: str) -> tuple[Running, str, str]:
    settings(handshake, server)
    running = handshake.start("login", "django", "--device", "--client-id", "device", "--scope", "profile api", "--json",
                              "--timeout", str(DEVICE_SECONDS), *options)
    code, address = running.line().split(" ")
    return running, code, address


def decide(address: str, code: str, user: tuple[str, str], *, consent: bool) -> None:
    """The user at another device: logs in, types the code, approves or denies."""
    session = http()
    answer = session.get(address, timeout=10)
    for _ in range(6):
        found = formlogin.forms(answer.text)
        form = next((f for f in found if f.method == "post" and (f.has("password") or any(n == "user_code" for n, _, _ in f.fields)
                                                                 or f.buttons)), None)
        if form is None:
            return
        data = {name: value for name, _, value in form.fields if name}
        if form.has("password"):
            data |= {"username": user[0], "password": user[1]}
        elif "user_code" in data or any(n == "user_code" for n, _, _ in form.fields):
            data["user_code"] = code
        else:
            data["action"] = "accept" if consent else "deny"
        answer = session.post(urljoin(answer.url, form.action or answer.url), data=data, timeout=10,
                              headers={"Referer": answer.url})
        if "action" in data:
            assert answer.status_code == 200, formlogin.text(answer.text)
            return
    raise AssertionError(f"the pages lead nowhere: {formlogin.text(answer.text)}")


def test_a_device_is_approved_at_a_server_of_others(handshake: Handshake, django: Stranger) -> None:
    running, code, address = begin(handshake, django)
    assert address == f"{django.origin}/o/device/"
    assert re.fullmatch(r"[A-Z0-9-]{4,}", code)
    decide(address, code, django.user, consent=True)
    finished = running.finish().ok()
    assert finished.json["subject"] == "alice"
    assert finished.json["refreshable"] is True
    assert "Go on only if you started this sign-in yourself." in finished.stderr
    token = handshake.run("token", "django").ok().stdout.strip()
    assert django.is_active(token)


def test_m106_a_device_is_denied_at_a_server_of_others(handshake: Handshake, django: Stranger) -> None:
    running, code, address = begin(handshake, django)
    decide(address, code, django.user, consent=False)
    finished = running.finish()
    assert (finished.status, finished.error["code"]) == (2, "access_denied")


def sandbox_login(handshake: Handshake, own_sandbox: StandIn, *options: str) -> tuple[Running, str, str]:
    origin = own_sandbox.standard["origin"]
    running = handshake.start("login", "standard", "--device", "--issuer", origin, "--client-id", "sandbox-device",
                              "--json", "--timeout", str(DEVICE_SECONDS), *options)
    code, address = running.line().split(" ")
    assert address == f"{origin}/device"
    return running, code, address


@pytest.fixture
def answer(own_sandbox: StandIn) -> Callable[[str, str, bool], requests.Response]:
    user = own_sandbox.standard["users"][0]

    def press(address: str, code: str, consent: bool) -> requests.Response:
        form = {"user_code": code, "op": "Allow" if consent else "Do not allow", "email": user["name"],
                "password": user["password"]}
        return http().post(address, data=form, timeout=10)

    return press


def test_a_device_is_approved_at_the_sandbox(handshake: Handshake, own_sandbox: StandIn,
                                             answer: Callable[[str, str, bool], requests.Response]) -> None:
    running, code, address = sandbox_login(handshake, own_sandbox, "--scope", "openid offline_access")
    assert "Access allowed" in answer(address, code, True).text
    finished = running.finish().ok()
    assert finished.json["subject"] == "248289761001"
    assert handshake.run("inspect", "standard", "--json").ok()


def test_an_account_of_a_device_is_signed_in_on_a_device_again(handshake: Handshake, own_sandbox: StandIn,
                                                               answer: Callable[[str, str, bool], requests.Response]) -> None:
    running, code, address = sandbox_login(handshake, own_sandbox)
    answer(address, code, True)
    running.finish().ok()
    again = handshake.start("login", "standard", "--json", "--timeout", str(DEVICE_SECONDS))
    code, address = again.line().split(" ")
    assert "Access allowed" in answer(address, code, True).text
    again.finish().ok()


def test_m106_refused_and_rejected_codes_have_statuses_2_and_4(handshake: Handshake, own_sandbox: StandIn,
                                                               answer: Callable[[str, str, bool], requests.Response]) -> None:
    running, code, address = sandbox_login(handshake, own_sandbox)
    answer(address, code, False)
    assert running.finish().status == 2
    origin = own_sandbox.standard["origin"]
    for error, status in (("expired_token", 2), ("invalid_grant", 4)):
        rule = f'standard POST /token => status 400 {{"error":"{error}"}} x1'
        assert http().post(f"{origin}/_sandbox/faults", data=rule, timeout=10).status_code < 300
        running, code, address = sandbox_login(handshake, own_sandbox)
        assert running.finish().status == status
    http().delete(f"{origin}/_sandbox/faults", timeout=10)


def test_device_opens_no_browser_and_refuses_options_of_one(handshake: Handshake, tmp_path: Path) -> None:
    for options in (["--browser", "print"], ["--redirect", "loopback"], ["--grant", "client-credentials"]):
        finished = handshake.run("login", "standard", "--device", "--issuer", "https://op.example", "--client-id", "c", *options)
        assert finished.status == 64
