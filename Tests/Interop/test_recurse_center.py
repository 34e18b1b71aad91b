"""`handshake recurse-center …` and sign-in to it, against `handshake sandbox` in a process of its own."""

import json
import queue
import socket
import subprocess
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import requests

from command import Finished, Handshake, Running, secret_file
from hub import TOKEN, Hub, start
from strangers import REPOSITORY, http
from waiting import said

class PipedLogin(Running):
    """A sign-in that is given one line on standard input after it has printed its page."""

    def __init__(self, handshake: Handshake, origin: str) -> None:
        arguments = ["login", "recurse-center", "--base-url", origin, "--client-id", "recurse-public", "--browser", "print",
                     "--redirect", "urn:ietf:wg:oauth:2.0:oob", "--json"]
        self.process = subprocess.Popen([str(handshake.path), *arguments], env=handshake.environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.lines = {"stdout": [], "stderr": []}
        self.fresh = queue.Queue()
        self.threads = [threading.Thread(target=self._collect, args=(name,), daemon=True) for name in self.lines]
        for thread in self.threads:
            thread.start()
        handshake.started.append((self, False))
        self.url = self.line()

    def answer(self, line: str) -> Finished:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.close()
        return self.finish()


@pytest.fixture
def hub(handshake: Handshake) -> Iterator[Hub]:
    hub = start(handshake)
    yield hub
    hub.sandbox.end()


def test_a_personal_access_token_is_an_account(hub: Hub, tmp_path: Path) -> None:
    file = secret_file(tmp_path / "token.txt", TOKEN + "\nanother line\n")
    done = hub.handshake.run("login", "recurse-center", "--base-url", hub.origin, "--token-file", str(file), "--json").ok()
    assert done.json["subject"] == "759" and done.json["expires_at"] is None and done.json["refreshable"] is False
    assert hub.handshake.token("recurse-center") == TOKEN
    assert TOKEN not in done.stdout + done.stderr
    assert all(TOKEN.encode() not in path.read_bytes() for path in hub.handshake.home.rglob("*") if path.is_file())
    out = hub.handshake.run("logout", "recurse-center", "--json").ok().json
    assert out["forgotten"] is True and out["not_revocable"] == ["access_token"]
    assert hub.handshake.run("token", "recurse-center").status == 3


def test_a_token_that_is_refused_replaces_nothing(hub: Hub) -> None:
    hub.login()
    for token, status in [("wrong", 3), ("two words", 64)]:
        hub.login(token=token, status=status)
    assert hub.handshake.token("recurse-center") == TOKEN


@pytest.mark.parametrize("options", [["--browser", "print"], ["--client-secret-file", "x"], ["--redirect", "loopback:80"],
                                     ["--grant", "client-credentials"]], ids=" ".join)
def test_nothing_of_a_sign_in_goes_with_a_token_file(handshake: Handshake, options: list[str]) -> None:
    done = handshake.run("login", "recurse-center", "--token-file", "-", "--json", *options, stdin=TOKEN + "\n")
    assert done.status == 64 and done.error["code"] == "usage"


def test_a_token_file_without_a_token_is_a_wrong_command_line(handshake: Handshake, tmp_path: Path) -> None:
    for file in ("/does/not/exist", str(secret_file(tmp_path / "empty", ""))):
        assert handshake.run("login", "recurse-center", "--token-file", file).status == 64


def test_a_token_file_that_is_no_file_or_that_others_can_read_is_refused(handshake: Handshake, tmp_path: Path) -> None:
    shared = secret_file(tmp_path / "shared", TOKEN + "\n")
    shared.chmod(0o644)
    for file, status, code in (("/dev/null", 64, "usage"), (str(shared), 7, "secret_file_denied")):
        done = handshake.run("login", "recurse-center", "--token-file", file, "--json")
        assert (done.status, done.error["code"]) == (status, code) and TOKEN not in done.stderr


def test_a_code_from_the_page_signs_in(hub: Hub) -> None:
    reader = PipedLogin(hub.handshake, hub.origin)
    page = http().get(reader.url + "&as=759", timeout=10, allow_redirects=False)
    assert page.status_code == 200
    code = page.text.split('id="code">')[1].split("<")[0]
    assert reader.answer(code).ok().json["subject"] == "759"
    assert code.encode() not in hub.handshake.printed()


def test_a_wrong_code_is_the_services_refusal(hub: Hub) -> None:
    done = PipedLogin(hub.handshake, hub.origin).answer("not-the-code")
    assert done.status == 4 and done.error["code"] == "invalid_grant"
    assert hub.handshake.accounts() == []


def test_me_shows_name_and_batch(hub: Hub) -> None:
    hub.login()
    text = hub.handshake.run("recurse-center", "me").ok().stdout
    assert "Ada Example" in text and "S1'14" in text
    me = hub.handshake.run("recurse-center", "me", "--json").ok().json
    assert (me["id"], me["name"], me["batch"], me["email"]) == (759, "Ada Example", "S1'14", "ada@example.test")
    assert me["stints"][0]["batch"] == "Summer 1, 2014" and me["stints"][0]["start_date"] == "2014-06-09"


@pytest.mark.parametrize(("who", "name"), [("70000", "Quentin Late"), ("mina+rc@example.test", "Mina Half"), ("65535", "Zoë Ångström")])
def test_a_profile_is_found_by_number_and_address(hub: Hub, who: str, name: str) -> None:
    hub.login()
    assert hub.handshake.run("recurse-center", "profile", who, "--json").ok().json["name"] == name


@pytest.mark.parametrize(("arguments", "status", "code"), [
    (["profile", "1"], 4, "person_not_found"), (["profile", "unknown"], 64, "invalid_input"),
    (["profile", "../batches"], 64, "invalid_input"), (["profile", "0"], 64, "invalid_input"),
    (["profile"], 64, "usage"), (["search"], 64, "usage"), (["search", "x", "--role", "king"], 64, "usage"),
    (["search", "x", "--batch", "0"], 64, "usage"), (["search", "x", "--limit", "0"], 64, "usage"),
    (["visit", "--date", "yesterday"], 64, "usage"), (["visit", "--out", "--notes", "x"], 64, "usage"),
    (["me", "--account", "unknown"], 3, "sign_in_required"),
])
def test_what_cannot_be_has_its_status(hub: Hub, arguments: list[str], status: int, code: str) -> None:
    hub.login()
    done = hub.handshake.run("recurse-center", *arguments, "--json")
    assert (done.status, done.error["code"]) == (status, code), done
    assert done.stdout == ""


def test_search_pages_through_everyone(hub: Hub) -> None:
    hub.login()
    people = hub.handshake.run("recurse-center", "search", "--batch", "104", "--json").ok().json["profiles"]
    assert len({person["id"] for person in people}) == 100
    first = hub.handshake.run("recurse-center", "search", "of", "--batch", "104", "--limit", "3").ok().stdout
    assert len(first.splitlines()) == 4
    assert len(hub.requests()) == 2 + 1


def test_batches_are_listed(hub: Hub) -> None:
    hub.login()
    batches = hub.handshake.run("recurse-center", "batches", "--json").ok().json["batches"]
    assert batches[0]["short_name"] == "SP1'25"
    assert "Summer 1, 2014" in hub.handshake.run("recurse-center", "batches").ok().stdout


def test_a_visit_is_one_a_day_and_can_be_taken_back(hub: Hub) -> None:
    hub.login()
    first = hub.handshake.run("recurse-center", "visit", "--notes", "hello", "--json").ok().json
    assert first["person_id"] == 759 and first["checked_in"] is True and first["notes"] == "hello"
    again = hub.handshake.run("recurse-center", "visit", "--json").ok().json
    assert (again["date"], again["notes"]) == (first["date"], "hello")

    def visits(*arguments: str) -> list[object]:
        return hub.handshake.run("recurse-center", "visits", *arguments, "--json").ok().json["visits"]

    mine = {"person_id": 759, "name": "Ada Example", "date": first["date"], "notes": "hello"}
    assert visits("--person", "759") == [mine]
    assert visits("--person", "6704") == [] and visits("--person", "759", "--to", "2014-01-01") == []
    assert f"{first['date']}  759     Ada Example  hello" in hub.handshake.run("recurse-center", "visits").ok().stdout
    assert hub.handshake.run("recurse-center", "visit", "--notes", "", "--json").ok().json["notes"] == ""
    for option in ("--out", "--delete"):
        out = hub.handshake.run("recurse-center", "visit", option, "--json").ok().json
        assert out == {"person_id": 759, "date": first["date"], "checked_in": False, "notes": None}
    other = hub.handshake.run("recurse-center", "visit", "--date", "2024-02-29", "--json").ok().json
    assert other["date"] == "2024-02-29"
    assert [visit["date"] for visit in visits("--from", "2024-02-29", "--to", "2024-02-29")] == ["2024-02-29"]
    wrong = hub.handshake.run("recurse-center", "visits", "--from", "yesterday")
    assert wrong.status == 64 and "--from takes a day as YYYY-MM-DD" in wrong.stderr


def test_nothing_from_the_service_reaches_the_terminal_unescaped(hub: Hub) -> None:
    hub.login()
    for arguments in (["profile", "6704"], ["search", "hostile"], ["profile", "6704", "--json"], ["search", "hostile", "--json"]):
        done = hub.handshake.run("recurse-center", *arguments).ok()
        shown = done.stdout + done.stderr
        assert "Hostile" in shown
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)
    hub.steer("faults", 'recurse-center /api/v1/batches => status 400 {"message":"\\u001b[2Jgone"}')
    done = hub.handshake.run("recurse-center", "batches")
    assert done.status == 4 and "gone" in done.stderr and "\x1b" not in done.stderr


@pytest.mark.parametrize(("fault", "status"), [
    ("garbage", 5), ("body []", 5), ("body \"x\"", 5), ("body {}", 5), ("huge 10000000", 6), ("status 400", 4),
])
def test_a_broken_answer_has_its_status_and_keeps_the_account(hub: Hub, fault: str, status: int) -> None:
    hub.login()
    hub.steer("faults", f"recurse-center /api/v1/profiles/me => {fault}")
    assert hub.handshake.run("recurse-center", "me", "--json").status == status
    hub.steer("faults", method="DELETE")
    hub.handshake.run("recurse-center", "me").ok()


@pytest.mark.parametrize("option", ["--legacy-errors", "--mask-as-404"])
def test_a_token_that_is_refused_in_disguise_asks_for_sign_in(handshake: Handshake, option: str) -> None:
    hub = start(handshake, option)
    try:
        hub.login()
        hub.steer("revoke-personal-access-tokens")
        done = handshake.run("recurse-center", "profile", "759", "--json")
        assert done.status == 3 and done.error["code"] == "sign_in_required"
        assert handshake.token("recurse-center") == TOKEN
    finally:
        hub.sandbox.end()


def test_the_two_disguises_exclude_each_other(handshake: Handshake) -> None:
    assert handshake.run("sandbox", "--legacy-errors", "--mask-as-404").status == 64


def test_the_demo_shows_the_users_own_profile(handshake: Handshake) -> None:
    lines = handshake.run("demo", "--headless").ok().stdout.strip().splitlines()
    assert ["PROFILE", "Ada", "Example", "S1'14"] in [line.split() for line in lines]
    services = handshake.run("demo", "--headless", "--json").ok().json["services"]
    assert [service.get("batch") for service in services if service["service"] == "recurse-center"] == ["S1'14"]


def test_a_server_of_2014_is_asked_for_people_and_not_for_profiles(hub: Hub) -> None:
    """RC-08: the preset, at a server that has no profiles."""
    hub.steer("faults", "recurse-center /api/v1/profiles* => status 404")
    hub.handshake.home.mkdir(parents=True, exist_ok=True)
    (hub.handshake.home / "config.toml").write_text(
        f'[services.recurse-center]\nbase-url = "{hub.origin}"\npreset = "hackerschool"\n')
    done = hub.handshake.run("login", "recurse-center", "--token-file", "-", "--json", stdin=TOKEN + "\n").ok()
    assert done.json["subject"] == "759"
    # How the account sends its requests is stored with it.
    (hub.handshake.home / "config.toml").unlink()
    assert hub.handshake.run("recurse-center", "me", "--json").ok().json["name"] == "Ada Example"
    assert hub.handshake.run("recurse-center", "profile", "65535", "--json").ok().json["name"] == "Zoë Ångström"
    found = hub.handshake.run("recurse-center", "search", "ada", "--json").ok().json["profiles"]
    assert "Ada Example" in [profile["name"] for profile in found]
    assert not [entry for entry in hub.requests() if str(entry["path"]).startswith("/api/v1/profiles")]
    # Without the preset the profile of today is asked for, which this server has not.
    hub.login(status=4)


def test_the_example_settings_file_signs_in_with_its_client(handshake: Handshake) -> None:
    """RC-26: the client's identifier and secret are outside of the sources, in files that the example shows."""
    handshake.home.mkdir(parents=True, exist_ok=True)
    (handshake.home / "config.toml").write_text((REPOSITORY / "Examples/config.toml").read_text())
    secret = handshake.home.parent / ".config/handshake/recurse-center.secret"
    secret.parent.mkdir(parents=True)
    secret_file(secret, "example-secret\n")
    login = handshake.begin_login("recurse-center")
    assert login.url.startswith("https://www.recurse.com/oauth/authorize?")
    assert login.parameters["client_id"] == "0123456789abcdef"
    login.end()
    secret.chmod(0o644)
    refused = handshake.run("login", "recurse-center", "--browser", "print", "--json")
    assert refused.status != 0 and "chmod 600" in refused.stderr


def test_arriving_at_the_hub_checks_in_once_a_day_after_the_user_agreed(hub: Hub, tmp_path: Path) -> None:
    """BE-27, RC-29: from a track through the fence to the visit."""
    hub.login()
    track = tmp_path / "walk.gpx"
    begin = datetime.now(timezone.utc) - timedelta(minutes=10)
    points = [(40.6913 + 0.015 * max(0, 1 - second / 120), second) for second in range(0, 300, 10)]
    track.write_text('<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><trk><trkseg>' + "".join(
        f'<trkpt lat="{latitude:.5f}" lon="-73.985"><time>{begin + timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ}</time></trkpt>'
        for latitude, second in points) + "</trkseg></trk></gpx>")
    walk = ("recurse-center", "hub", "--source", f"gpx:{track}", "--speed", "max", "--json")
    refused = hub.handshake.run(*walk)
    assert refused.status == 64 and "--i-agree-to-check-in" in refused.stderr
    assert not [entry for entry in hub.requests() if "hub_visits" in str(entry["path"])]
    done = hub.handshake.run(*walk, "--i-agree-to-check-in").ok()
    visits = [json.loads(line) for line in done.stdout.splitlines()]
    assert [visit["event"] for visit in visits] == ["checked_in"], done
    # Agreed once, and once a day.
    assert hub.handshake.run(*walk).ok().stdout == ""
    hub.handshake.run(*walk, "--withdraw").ok()
    assert hub.handshake.run(*walk).status == 64


def test_a_receiver_that_says_nothing_is_told(hub: Hub) -> None:
    hub.login()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        watching = hub.handshake.start(
            "recurse-center", "hub", "--source", f"gpsd:127.0.0.1:{silent.getsockname()[1]}", "--i-agree-to-check-in")
        said(watching, "No position for 10 s.")
        watching.end()
