"""The command line itself: what is wrong is refused with 64, signals end cleanly, results that cannot be written are said."""

import os
import signal
import socket
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from command import Handshake, Login
from strangers import Stranger


@pytest.mark.parametrize("arguments", [
    [], ["mine"], ["mine", "--client-id", "native"], ["mine", "--issuer", "ISSUER"],
    ["mine", "--issuer", "ISSUER", "--client-id", ""],
    ["", "--issuer", "ISSUER", "--client-id", "native"],
    ["../outside", "--issuer", "ISSUER", "--client-id", "native"],
    ["a/b", "--issuer", "ISSUER", "--client-id", "native"],
    ["mine\n", "--issuer", "ISSUER", "--client-id", "native"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--timeout", "0"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--timeout", "-1"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--timeout", "soon"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--redirect", "loopback:0x50"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--redirect", "loopback:65536"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--param", "nothing"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--param", "state=mine"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--param", "redirect_uri=https://app.example/"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--param", "code_challenge_method=plain"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--auth", "magic"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--auth", "basic"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--browser", "lynx"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--scope", "with\"quote"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--grant", "password"],
    ["mine", "--issuer", "ISSUER", "--client-id", "native", "--unknown"],
    # A built-in service is where it is; another issuer would be ignored, so it is refused.
    ["recurse-center", "--issuer", "ISSUER", "--client-id", "native"],
    ["ifttt", "--client-id", "native"],
], ids=" ".join)
def test_a_login_that_makes_no_sense_is_a_wrong_command_line(
        handshake: Handshake, django: Stranger, arguments: list[str]) -> None:
    words = [django.issuer if word == "ISSUER" else word for word in arguments]
    # The standard options come first, so that a row can say another value.
    done = handshake.run("login", "--browser", "print", "--json", *([] if "--timeout" in words else ["--timeout", "1"]), *words)
    assert done.status == 64, done
    assert done.stdout == ""
    assert done.error["status"] == 64 and done.error["code"] and done.error["message"]
    assert "CommandError" not in done.stderr
    assert handshake.accounts() == []


@pytest.mark.parametrize("arguments", [
    ["bogus"], ["token"], ["token", "one", "two"], ["request", "GET", "/"], ["inspect"], ["logout"],
    ["accounts", "extra"], ["accounts", "--vault", "nonsense"], ["accounts", "--vault", "keychain"],
    ["sandbox", "--port", "65536"], ["sandbox", "--fault", "nonsense"],
], ids=" ".join)
def test_a_command_that_makes_no_sense_is_a_wrong_command_line(handshake: Handshake, arguments: list[str]) -> None:
    done = handshake.run(*arguments)
    assert done.status == 64 and done.stdout == ""
    assert done.stderr.strip() and "CommandError" not in done.stderr


@pytest.mark.parametrize(("header", "data"), [
    ("no colon", None), ("X: a\r\nY: b", None), (": empty", None), ("Bad Name: x", None), (None, "@/does/not/exist"),
])
def test_a_request_that_makes_no_sense_is_a_wrong_command_line_and_not_sent(
        handshake: Handshake, django: Stranger, header: str | None, data: str | None) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    before = len(django.requests("/whoami"))
    options = (["-H", header] if header else []) + (["-d", data] if data else [])
    assert handshake.run("request", "POST", f"{django.origin}/whoami", "--account", "mine", *options).status == 64
    assert len(django.requests("/whoami")) == before


def test_a_plain_http_redirect_beyond_loopback_is_refused_for_safety(handshake: Handshake, django: Stranger) -> None:
    done = handshake.run("login", "mine", "--issuer", django.issuer, "--client-id", "native", "--browser", "print",
                         "--redirect", "http://app.example/callback")
    assert done.status == 5 and done.stdout == ""


def test_extra_parameters_reach_the_authorization_url_encoded(handshake: Handshake, django: Stranger) -> None:
    login = handshake.login("mine", django, "--param", "ui_locales=de fr", "--param", "x&y=a=b&c")
    query = parse_qs(urlsplit(login.url).query)
    assert query["ui_locales"] == ["de fr"] and query["x&y"] == ["a=b&c"]


def test_a_port_that_is_taken_is_said_and_named(handshake: Handshake, django: Stranger) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = handshake.run("login", "mine", "--issuer", django.issuer, "--client-id", "native", "--browser", "print",
                             "--redirect", f"loopback:{port}", "--timeout", "2")
    assert done.status not in (0, 2), "it is neither done nor the user's fault"
    assert str(port) in done.stderr and done.stdout == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sign_in_says_nothing_odd_and_leaves_nothing_behind(
        handshake: Handshake, django: Stranger, number: signal.Signals) -> None:
    handshake.accounts()
    before = contents(handshake.home)
    login = handshake.login("mine", django, "--scope", "openid")
    os.kill(login.process.pid, number)
    done = login.finish(10)
    assert done.status == 128 + number
    assert "CancellationError" not in done.stderr and "warning" not in done.stderr
    assert contents(handshake.home) == before, "a pending sign-in was left behind"


def contents(home: Path) -> set[str]:
    """The records: what else lies there (the key, the lock) stays."""
    return {str(f.relative_to(home)) for f in home.rglob("*") if f.is_file() and f.name not in ("lock", "vault.json")}


def test_a_sign_in_that_timed_out_leaves_nothing_behind(handshake: Handshake, django: Stranger) -> None:
    handshake.accounts()
    before = contents(handshake.home)
    assert handshake.login("mine", django, timeout=1).finish(15).status == 2
    assert contents(handshake.home) == before


@pytest.mark.parametrize("arguments", [["accounts", "--json"], ["token", "mine"], ["inspect", "mine", "--json"]], ids=" ".join)
def test_a_result_that_cannot_be_written_is_not_a_success(
        handshake: Handshake, django: Stranger, arguments: list[str]) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([handshake.path, *arguments], env=handshake.environment, stdout=full, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=30, check=False)
    assert done.returncode == 1


def test_a_reader_that_has_gone_is_no_crash(handshake: Handshake) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([handshake.path, "accounts", "--json"], env=handshake.environment, stdout=writing,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=30, check=False)
    os.close(writing)
    assert done.returncode in (0, 1, -signal.SIGPIPE)
    assert b"Fatal error" not in done.stderr


@pytest.mark.parametrize("settings", [
    b"vault = [", b'colour = "blue"\n', b"\xff\xfe\x00", b"vault = 7\n", b'vault = "a"\nvault = "b"\n',
    b"[services.mine]\nissuer = 3\n", b"\0" * 10,
])
def test_settings_that_make_no_sense_are_named(handshake: Handshake, settings: bytes) -> None:
    handshake.home.mkdir(mode=0o700, exist_ok=True)
    (handshake.home / "config.toml").write_bytes(settings)
    done = handshake.run("accounts", "--json")
    assert done.status == 64
    assert "config.toml" in done.error["message"]


def test_a_home_that_cannot_be_used_is_the_vaults_status(handshake: Handshake, tmp_path: Path) -> None:
    file = tmp_path / "a-file"
    file.write_text("in the way")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for place in (file, loop):
        done = handshake.run("accounts", "--json", HANDSHAKE_HOME=str(place))
        assert done.status == 7 and done.error["status"] == 7
    assert file.read_text() == "in the way"


def test_the_key_gone_means_a_locked_vault_and_nothing_is_deleted(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    assert not [f for f in handshake.home.rglob("*") if f.suffix == ".key"], "the key lies with the data"
    keys = list((handshake.home.parent / ".config/handshake/keys").glob("*.key"))
    assert len(keys) == 1
    moved = [(key, key.rename(handshake.home.parent / key.name)) for key in keys]
    assert handshake.run("token", "mine").status == 7
    for key, place in moved:
        assert not key.exists(), "a new key was made for an old vault"
        place.rename(key)
    assert django.is_active(handshake.token("mine"))


def test_quiet_says_nothing_but_results_and_errors(handshake: Handshake, django: Stranger) -> None:
    login: Login = handshake.login("mine", django, "--scope", "openid", "--quiet")
    assert login.complete(django).ok().stderr == ""
    assert handshake.run("token", "unknown", "--quiet").stderr.strip()


def test_without_json_an_error_is_one_readable_line(handshake: Handshake) -> None:
    done = handshake.run("token", "unknown")
    assert done.status == 3
    assert len(done.stderr.strip().splitlines()) == 1 and done.stderr.startswith("handshake: ")


def test_the_doctor_reports_each_check_and_names_no_secret(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    done = handshake.run("doctor", "--json").ok()
    checks = done.json["checks"]
    assert {"vault", "loopback"} <= {check["name"] for check in checks}
    assert all(check["cure"] for check in checks if check["state"] != "works")


def test_two_sign_ins_beside_each_other_do_not_mix(handshake: Handshake, django: Stranger) -> None:
    first = handshake.login("first", django, "--scope", "openid")
    second = handshake.login("second", django, "--scope", "openid", "--scope", "profile")
    assert second.complete(django).ok().json["scope"] == "openid profile"
    assert first.complete(django).ok().json["scope"] == "openid"
    assert handshake.token("first") != handshake.token("second")


def test_signing_in_again_replaces_the_grant(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    old = handshake.token("mine")
    handshake.signed_in("mine", django, "--scope", "openid", "--scope", "profile")
    assert handshake.token("mine") != old
    assert [account["scope"] for account in handshake.accounts()] == ["openid profile"]
