"""`handshake nearby …` without a radio: recordings, the log, friends' keys, the live list."""

import csv
import hashlib
import hmac
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Finished, Handshake
from hub import Hub, start
from leaks import traces
from terminal import CTRL_C, Terminal

FLEET = "3ee761a0f73711e3a3ac0800200c9a66"


def frame(person: int) -> str:
    """SecretHandshake's iBeacon (beacons dossier 2.2): major 1, the person's number as minor, -59 dBm at 1 m."""
    return f"1aff4c000215{FLEET}0001{person:04x}c5"


def wide_frame(person: int) -> str:
    """A number beyond 16 bits (beacons dossier 2.4)."""
    return f"1aff4c000215{FLEET}{0x8000 | person >> 16:04x}{person & 0xffff:04x}c5"


def packets(person: int, begin: float, seconds: int, rssi: int = -59, ad: str | None = None) -> list[dict[str, Any]]:
    """Two packets a second."""
    return [{"t": begin + half / 2, "addr": f"D0:00:00:00:{person >> 8 & 255:02X}:{person & 255:02X}", "rssi": rssi, "ad": ad or frame(person)}
            for half in range(2 * seconds)]


@pytest.fixture
def hub(handshake: Handshake) -> Iterator[Hub]:
    hub = start(handshake)
    hub.login()
    yield hub


@pytest.fixture
def recording(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: Any) -> Path:
        path = tmp_path / "recording.jsonl"
        rows = sorted((line for line in lines if isinstance(line, dict)), key=lambda line: line["t"])
        others = [line for line in lines if isinstance(line, str)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "".join(other + "\n" for other in others))
        return path

    return write


def events(done: Finished, kind: str | None = None) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in done.ok().stdout.splitlines()]
    return [line for line in lines if kind is None or line["event"] == kind]


def test_a_recording_tells_who_was_near_by_name_and_batch_except_the_user(
        hub: Hub, recording: Callable[..., Path]) -> None:
    path = recording(*packets(759, 0, 20), *packets(65535, 0, 20), *packets(70000, 3, 20, ad=wide_frame(70000)))
    done = hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--json")
    names = {event["person"]: event["name"] for event in events(done, "alert") if event["name"]}
    assert names == {65535: "Zoë Ångström", 70000: "Quentin Late"}
    assert all(event["person"] != 759 for event in events(done) if "person" in event)
    asked = [entry["path"] for entry in hub.requests() if entry["path"].startswith("/api/v1/profiles/")]
    assert sorted(set(asked)) == sorted(asked), asked


def test_before_the_sign_in_the_alert_has_the_number_and_after_it_the_name(
        handshake: Handshake, recording: Callable[..., Path]) -> None:
    path = recording(*packets(65535, 0, 20))
    done = handshake.run("nearby", "replay", str(path), "--no-delay")
    assert "Person 65535 is near" in done.ok().stdout and "login recurse-center" in done.stderr
    start(handshake).login()
    done = handshake.run("nearby", "replay", str(path), "--no-delay").ok()
    assert "Zoë Ångström is near" in done.stdout and "65535 is near" not in done.stdout and "/directory/" in done.stdout


def test_without_a_network_ones_own_number_is_remembered_and_profiles_are_cached(
        hub: Hub, recording: Callable[..., Path]) -> None:
    begin = time.time() - 60
    path = recording(*packets(759, begin, 20), *packets(65535, begin, 20))
    hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--keep").ok()
    hub.sandbox.end()
    # Side by side, for each tries for a while.
    replayed, known, unknown = [hub.handshake.start(*arguments) for arguments in (
        ("nearby", "replay", str(path), "--no-delay", "--json"), ("recurse-center", "profile", "65535"), ("recurse-center", "profile", "36"))]
    offline = replayed.finish()
    assert {event["person"] for event in events(offline) if "person" in event} == {65535}
    profile = known.finish()
    assert profile.ok().stdout.count("Zoë Ångström") == 1 and "cannot be reached" in profile.stderr
    assert unknown.finish().status == 6


def test_a_packet_of_any_time_ends_a_replay(handshake: Handshake, recording: Callable[..., Path]) -> None:
    path = recording(*packets(36, 0, 10), *packets(36, 4_000_000_000, 1))
    done = handshake.run("nearby", "replay", str(path), "--no-delay", "--json", "--me", "1")
    assert len(events(done, "left")) >= 1


def test_an_unknown_number_raises_no_alert(hub: Hub, recording: Callable[..., Path]) -> None:
    path = recording(*packets(4242, 0, 30))
    done = hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--json", "--keep")
    assert not events(done, "alert") and len(events(done, "unknown")) == 1
    assert hub.handshake.run("nearby", "log", "--json").ok().stdout == ""


def test_the_log_shows_whom_one_met(hub: Hub, recording: Callable[..., Path]) -> None:
    begin = time.time() - 3600
    path = recording(*packets(65535, begin, 90))
    hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--keep").ok()
    entry = json.loads(hub.handshake.run("nearby", "log", "--json").ok().stdout)
    assert entry["name"] == "Zoë Ångström" and entry["person"] == 65535 and entry["announced"]
    assert 85 <= entry["duration_seconds"] <= 95 and 0.5 < entry["closest_metres"] < 2
    rows = list(csv.DictReader(io.StringIO(hub.handshake.run("nearby", "log", "--csv").ok().stdout)))
    assert [row["name"] for row in rows] == ["Zoë Ångström"]
    shown = hub.handshake.run("nearby", "log").ok().stdout
    assert "Zoë Ångström" in shown and "1 min" in shown
    assert "+05:30" in hub.handshake.run("nearby", "log", TZ="Asia/Kolkata").ok().stdout, "times are local"
    assert hub.handshake.run("nearby", "log", "--person", "36").ok().stdout == ""


def test_a_person_is_shown_with_profile_photo_and_encounters_without_a_network(
        hub: Hub, recording: Callable[..., Path], tmp_path: Path) -> None:
    """RC-22: the detail view."""
    begin = time.time() - 3600
    path = recording(*packets(70000, begin, 90, ad=wide_frame(70000)), *packets(70000, begin + 1000, 90, rssi=-75, ad=wide_frame(70000)))
    hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--keep").ok()
    hub.sandbox.end()
    shown = hub.handshake.run("nearby", "show", "70000", TZ="Asia/Kolkata").ok().stdout
    assert "Quentin Late" in shown and "2, 2 min in all" in shown and "+05:30" in shown, shown
    assert re.search(r"Closest +1 m\n", shown) and re.search(r"Strongest +-59 dBm\n", shown), shown
    facts = hub.handshake.run("nearby", "show", "70000", "--json").ok().json
    assert (facts["name"], facts["encounters"], facts["strongest_dbm"]) == ("Quentin Late", 2, -59)
    assert 0.5 < facts["closest_metres"] < 2 and facts["last_seen"] > begin + 1000
    hub.handshake.run("nearby", "show", "70000", "--photo", str(tmp_path / "photo")).ok()
    assert (tmp_path / "photo").stat().st_mode & 0o777 == 0o600 and (tmp_path / "photo").stat().st_size > 0


def files(handshake: Handshake) -> set[Path]:
    return {file.relative_to(handshake.home) for file in handshake.home.rglob("*") if file.is_file()}


def test_a_replay_without_keep_stores_nothing(hub: Hub, recording: Callable[..., Path]) -> None:
    before = files(hub.handshake)
    path = recording(*packets(65535, time.time() - 60, 20), *packets(759, time.time() - 60, 20))
    done = hub.handshake.run("nearby", "replay", str(path), "--no-delay").ok()
    assert "Zoë Ångström is near" in done.stdout
    assert files(hub.handshake) == before


def test_signing_out_leaves_nothing_of_any_person_and_says_so(
        hub: Hub, recording: Callable[..., Path], tmp_path: Path) -> None:
    empty = files(hub.handshake)
    begin = time.time() - 60
    path = recording(*packets(65535, begin, 20), *packets(70000, begin, 20, ad=wide_frame(70000)))
    hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--keep").ok()
    hub.handshake.run("nearby", "share").ok()
    friend = Handshake(hub.handshake.path, tmp_path / "friend")
    hub.handshake.run("nearby", "befriend", "-", stdin=friend.run("nearby", "share", "--me", "36").ok().stdout).ok()
    friend.end()
    picture = tmp_path / "picture"
    assert "see --photo" in hub.handshake.run("nearby", "show", "70000", "--photo", str(picture)).ok().stdout
    portrait = picture.read_bytes()[:64]
    assert not traces(hub.handshake.home, "Zoë".encode(), b"Quentin", b"65535", portrait), "records are encrypted"
    assert len(files(hub.handshake) - empty) > 8
    done = hub.handshake.run("logout", "recurse-center", "--json").ok()
    removed = done.json["nearby"]
    assert removed["people"] == 3 and removed["encounters"] == 2 and removed["profiles"] == 2, removed
    assert removed["photos"] >= 1 and removed["friends"] == 1 and removed["own"] >= 3, removed
    assert not files(hub.handshake) - empty, "what was there before the first sign-in is less than what was there after it"
    assert not traces(hub.handshake.home, "Zoë".encode(), b"Quentin", b"65535", portrait)
    hub.login()
    again = hub.handshake.run("logout", "recurse-center").ok()
    assert "Removed" not in again.stderr


def test_profiles_that_an_earlier_version_left_as_plain_files_are_removed(
        hub: Hub, recording: Callable[..., Path]) -> None:
    folder = hub.handshake.home / "people" / "7265" / "profiles"
    for arguments in (["nearby", "log"], ["logout", "recurse-center"]):
        folder.mkdir(parents=True)
        (folder / "65535.json").write_text('{"name":"Zoë"}')
        hub.handshake.run(*arguments).ok()
        assert not (hub.handshake.home / "people").exists()


def test_forgetting_everyone_leaves_nothing_and_says_what_it_removed(hub: Hub, recording: Callable[..., Path]) -> None:
    empty = files(hub.handshake)
    begin = time.time() - 60
    path = recording(*packets(65535, begin, 20), *packets(70000, begin, 20, ad=wide_frame(70000)))
    hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--keep").ok()
    done = hub.handshake.run("nearby", "forget", "--everyone").ok()
    assert done.stderr.startswith("Removed 2 people: 2 encounter logs, 2 profiles") and "your Bluetooth identity" in done.stderr
    assert files(hub.handshake) == empty
    assert "nothing to remove" in hub.handshake.run("nearby", "forget", "--everyone").ok().stderr
    hub.handshake.run("nearby", "share").ok()
    own = hub.handshake.run("nearby", "forget", "--everyone").ok().stderr
    assert own.startswith("Removed your Bluetooth identity and number."), own


def test_forgetting_leaves_nothing_of_a_person(hub: Hub, recording: Callable[..., Path]) -> None:
    home = hub.handshake.home

    # The user's own number is stored by the first replay, whatever is heard.
    hub.handshake.run("nearby", "replay", str(recording(*packets(759, time.time() - 60, 5))), "--no-delay", "--keep").ok()
    before = files(hub.handshake)
    path = recording(*packets(70000, time.time() - 60, 30, ad=wide_frame(70000)))
    hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--keep").ok()
    # Records are sealed, so that a search for the name finds nothing: what is compared is which files there are.
    assert len(files(hub.handshake) - before) >= 2, "the person should have a record and a profile"
    assert hub.handshake.run("nearby", "show", "70000", "--json").ok().json["name"] == "Quentin Late"
    removed = hub.handshake.run("nearby", "forget", "70000", "--json").ok().json
    assert removed["forgotten"] == removed["encounters"] == removed["profiles"] == 1, removed
    assert removed["unreadable_circles"] == removed["unreadable_records"] == 0, removed
    assert files(hub.handshake) == before
    assert not [file for file in home.rglob("*") if file.is_file() and b"Quentin" in file.read_bytes()]
    assert hub.handshake.run("nearby", "show", "70000").status == 64
    assert hub.handshake.run("nearby", "log", "--json").ok().stdout == ""
    assert hub.handshake.run("nearby", "forget", "70000", "--json").ok().json["forgotten"] == 0


def test_forgetting_everyone_tells_of_a_record_that_could_not_be_read(
        handshake: Handshake, recording: Callable[..., Path]) -> None:
    handshake.run("nearby", "log").ok()
    before = set(handshake.home.rglob("*"))
    handshake.run("nearby", "replay", str(recording(*packets(36, time.time() - 60, 10))), "--no-delay", "--keep").ok()
    records = [file for file in set(handshake.home.rglob("*")) - before if file.is_file() and "vault" in file.parts]
    # Beside the encounter there is a small mark of changes.
    record = max(records, key=lambda file: file.stat().st_size)
    record.write_bytes(b"damaged")
    done = handshake.run("nearby", "forget", "--everyone", "--json")
    assert done.status == 7 and record.name in done.stderr, done


def test_an_announcement_is_made_once_an_hour_also_by_another_run(hub: Hub, recording: Callable[..., Path]) -> None:
    path = recording(*packets(65535, time.time() - 60, 30))
    for alerts in (1, 0):
        done = hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--json", "--keep")
        assert len([event for event in events(done, "alert") if not event["update"]]) == alerts


def test_lines_that_cannot_be_read_are_told_of_and_left_out_or_end_a_strict_replay(
        handshake: Handshake, recording: Callable[..., Path]) -> None:
    path = recording(*packets(36, 0, 5), '{"t": 1}', "\x1b[31m not JSON", '{"t":6,"rssi":0,"ad":"zz"}')
    done = handshake.run("nearby", "replay", str(path), "--no-delay", "--json")
    troubles = events(done, "trouble")
    assert len(troubles) == 3 and all("Line 1" in trouble["message"] for trouble in troubles)
    assert [event["person"] for event in events(done, "arrived")] == [36]
    strict = handshake.run("nearby", "replay", str(path), "--no-delay", "--strict", "--json")
    assert strict.status == 64 and strict.error["code"] == "damaged_recording"
    assert "\x1b" not in done.stderr + done.stdout + strict.stderr


def test_names_reach_a_terminal_harmless(hub: Hub, recording: Callable[..., Path]) -> None:
    path = recording(*packets(6704, time.time() - 60, 20))
    shown = hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--keep").ok().stdout
    shown += hub.handshake.run("nearby", "log").ok().stdout
    shown += hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--json").ok().stdout
    assert "Eve" in shown and not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


def test_a_recording_of_another_time_removes_nothing_from_the_log(
        handshake: Handshake, recording: Callable[..., Path]) -> None:
    for person, begin in ((36, time.time() - 100), (99, 4_102_444_800)):
        handshake.run("nearby", "replay", str(recording(*packets(person, begin, 10))), "--no-delay", "--keep").ok()
    lines = handshake.run("nearby", "log", "--json").ok().stdout.splitlines()
    assert {json.loads(line)["person"] for line in lines} == {36, 99}


def test_the_log_shows_the_numbers_that_forget_takes(hub: Hub, recording: Callable[..., Path]) -> None:
    hub.handshake.run("nearby", "replay", str(recording(*packets(65535, time.time() - 60, 10))), "--no-delay", "--keep").ok()
    header, row = hub.handshake.run("nearby", "log").ok().stdout.splitlines()
    assert header.startswith("NUMBER") and row.split()[0] == "65535" and "Zoë Ångström" in row
    other = hub.handshake.run("nearby", "log", "--person", "36").ok()
    assert other.stdout == "" and "number 36" in other.stderr


def test_an_exported_log_is_harmless_on_a_terminal(hub: Hub, recording: Callable[..., Path]) -> None:
    hub.handshake.run("nearby", "replay", str(recording(*packets(6704, time.time() - 60, 20))), "--no-delay", "--keep").ok()
    for form in ("--csv", "--json"):
        shown = hub.handshake.run("nearby", "log", form).ok().stdout
        assert "Eve" in shown and not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown), shown


def rolling_frame(shared: str) -> tuple[str, float]:
    """What the sender of these keys advertises in a window of the first day, and when the window begins."""
    day = min(map(int, json.loads(shared)["keys"]))
    key = bytes.fromhex(json.loads(shared)["keys"][str(day)])
    # beacons dossier 8.4: the token of a window, as the 16 bytes of an Eddystone UID.
    window = day * 96 + 40
    token = hmac.new(key, b"SH1 tok" + window.to_bytes(4, "big"), hashlib.sha256).digest()[:16]
    return "0303aafe1716aafe00ee" + token.hex() + "0000", window * 900 + 5


def test_only_a_friend_is_recognised_by_the_keys_that_were_shared(
        handshake: Handshake, recording: Callable[..., Path], tmp_path: Path) -> None:
    friend = Handshake(handshake.path, tmp_path / "friend")
    done = friend.run("nearby", "share", "--me", "36", "--days", "2").ok()
    shared, fingerprint = done.stdout, re.search(r"[0-9a-f]{4}( [0-9a-f]{4}){7}", done.stderr)
    assert fingerprint, done
    own = friend.run("nearby", "befriend", "-", "--json", stdin=shared)
    assert own.status == 64 and "your own" in own.error["message"]
    changed = handshake.run("nearby", "befriend", "-", "--json", stdin=shared.replace('"person":36', '"person":99'))
    assert changed.status == 64 and "changed" in changed.error["message"]
    befriended = handshake.run("nearby", "befriend", "-", "--json", stdin=shared)
    assert befriended.ok().json == {"person": 36, "days": 2, "fingerprint": fingerprint[0]}
    ad, begin = rolling_frame(shared)
    path = recording(*packets(0, begin, 5, ad=ad))
    replay = ("nearby", "replay", str(path), "--no-delay", "--json")
    assert [event["person"] for event in events(handshake.run(*replay), "arrived")] == [36]
    assert handshake.run("nearby", "unfriend", "36", "--json").ok().json == {"forgotten": True}
    assert not events(handshake.run(*replay), "arrived")
    friend.end()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"person":0,"keys":{}}', '{"person":36,"keys":{"1":"00"}}', "x" * 100_000])
def test_what_is_no_shared_key_is_refused(handshake: Handshake, text: str) -> None:
    done = handshake.run("nearby", "befriend", "-", "--json", stdin=text)
    assert done.status == 64 and done.error["message"]


@pytest.mark.parametrize("arguments", [
    ["advertise", "--me", "36"], ["advertise", "--advertise", "static", "--me", "36"], ["watch", "--advertise", "static"],
    ["forget"], ["forget", "36", "--everyone"], ["forget", "0"], ["log", "--csv", "--json"], ["scan", "--duration", "0"],
    ["replay", "x", "--speed", "2", "--no-delay"], ["share", "--me", "36", "--days", "32"],
    ["replay", "x", "--speed", "0"], ["replay", "x", "--speed", "nan"], ["replay", "there-is-no-such-file"],
    ["advertise", "--me", "16777216", "--advertise", "static", "--i-agree-to-be-followed"],
    ["scan", "--duration", "1e30"], ["watch", "--duration", "inf"],
    ["advertise", "--me", "36", "--advertise", "rolling", "--duration", "1e300"],
])
def test_a_wrong_line_is_status_64(handshake: Handshake, arguments: list[str]) -> None:
    assert handshake.run("nearby", *arguments).status == 64


def sent_terms(shared: str, terms: int, address: Callable[[int], int] = lambda term: term) -> list[dict[str, Any]]:
    """What another adapter hears of the sender of these keys: so many terms after each other (circles dossier 2)."""
    keys = {int(day): bytes.fromhex(key) for day, key in json.loads(shared)["keys"].items()}
    first = min(keys) * 96 + 40

    def code(label: bytes, window: int) -> bytes:
        return hmac.new(keys[window // 96], label + window.to_bytes(4, "big"), hashlib.sha256).digest()

    def begin(window: int) -> int:
        return window * 900 + int.from_bytes(code(b"SH2 off", window)[:4], "big") % 300

    def packet(window: int, when: float) -> dict[str, Any]:
        token = bytearray(code(b"SH1 tok", window)[:16])
        token[6], token[8] = token[6] & 0x0F | 0x40, token[8] & 0x3F | 0x80
        # An address that cannot be resolved: its first two bits are 0.
        return {"t": when, "addr": f"2C:00:00:00:00:{address(window - first):02X}", "rssi": -40, "ad": "1107" + token[::-1].hex()}

    return [packet(window, when) for window in range(first, first + terms)
            for when in (begin(window), begin(window) + 300, begin(window + 1) - 1)]


@pytest.mark.parametrize(("terms", "address", "status", "verdict", "findings"), [
    (8, lambda term: term, 0, "clean", []),
    (2, lambda term: term, 2, "too_short", []),
    (8, lambda term: 0 if term == 5 else term, 1, "linked", ["L1"]),
], ids=["clean", "too short", "an address in two terms"])
def test_an_audit_says_what_links_two_identifiers(
        handshake: Handshake, recording: Callable[..., Path], terms: int, address: Callable[[int], int], status: int, verdict: str,
        findings: list[str]) -> None:
    """CI11, CI12."""
    shared = handshake.run("nearby", "share", "--me", "36", "--days", "2").ok().stdout
    done = handshake.run("nearby", "audit", str(recording(*sent_terms(shared, terms, address))), "--json")
    told = json.loads(done.stdout)
    assert (done.status, told["verdict"], told["identifiers"]) == (status, verdict, terms)
    assert [finding["rule"] for finding in told["findings"]] == findings
    if findings:
        assert "2C:00:00:00:00:00" in told["findings"][0]["text"], told


@pytest.mark.parametrize("arguments", [
    ["scan"], ["watch"], ["advertise", "--me", "36", "--advertise", "static", "--i-agree-to-be-followed"], ["audit"]])
def test_a_command_whose_radio_never_worked_says_so_by_its_status(handshake: Handshake, tmp_path: Path, arguments: list[str]) -> None:
    if arguments == ["audit"]:  # It needs an identifier to look for.
        handshake.run("nearby", "share", "--me", "36", "--days", "2").ok()
    handshake.environment["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={tmp_path}/no-bus"
    done = handshake.run("nearby", *arguments, "--duration", "1", "--json")
    assert done.status == 6 and "no-bus" in done.error["message"]
    told = handshake.run("nearby", *arguments, "--duration", "1")
    assert told.status == 6 and len([line for line in told.stderr.splitlines() if "no-bus" in line]) == 1, told.stderr


def test_the_live_list_is_drawn_over_itself(hub: Hub, recording: Callable[..., Path]) -> None:
    path = recording(*packets(65535, 0, 60, rssi=-59), *packets(70000, 0, 60, rssi=-80, ad=wide_frame(70000)))
    for columns in (80, 30):
        terminal = Terminal([str(hub.handshake.path), "nearby", "replay", str(path), "--speed", "4"],
                            hub.handshake.environment | {"TERM": "xterm"}, columns=columns, rows=10)
        try:
            terminal.wait_for(lambda text: text.count("2 people near") >= 3 and "[######....] Zo" in text and "is near" in text,
                              "the list, three times, and an alert")
            terminal.type(CTRL_C)
            assert terminal.finish() == 130
            drawn = [line for line in terminal.text.split("\n") if "people near" in line or "\x1b[K[" in line]
            assert all(len(re.sub("\x1b\\[[0-9]*[A-Z]|\r", "", line)) < columns for line in drawn), drawn
            # What was told stays; the list itself does not pile up.
            assert sum("people near" in line for line in terminal.rows()) <= 1, terminal.rows()
            if columns == 80:
                assert any("Zoë Ångström is near" in line for line in terminal.rows()), terminal.rows()
        finally:
            terminal.close()


def test_the_live_list_is_drawn_over_itself_when_the_terminal_became_narrower(hub: Hub, recording: Callable[..., Path]) -> None:
    path = recording(*packets(65535, 0, 60, rssi=-59), *packets(70000, 0, 60, rssi=-80, ad=wide_frame(70000)))
    terminal = Terminal([str(hub.handshake.path), "nearby", "replay", str(path), "--speed", "2"],
                        hub.handshake.environment | {"TERM": "xterm"}, columns=80, rows=20)
    try:
        terminal.wait_for(lambda text: text.count("2 people near") >= 3 and "Quentin" in text, "the list, three times")
        terminal.resize(30, 20)
        # Two lines of 79 columns are three rows each by then.
        terminal.expect("\x1b[7A")
        terminal.wait_for(lambda text: "\x1b[3A" in text.split("\x1b[7A")[-1], "the list in its new width")
    finally:
        terminal.close()


def test_the_live_list_does_not_tell_that_numbers_which_any_device_can_send_have_left(
        handshake: Handshake, recording: Callable[..., Path], tmp_path: Path) -> None:
    """CI47: a flood of them moves no alert off the screen."""
    friend = Handshake(handshake.path, tmp_path / "friend")
    shared = friend.run("nearby", "share", "--me", "36", "--days", "2").ok().stdout
    friend.end()
    handshake.run("nearby", "befriend", "-", stdin=shared).ok()
    ad, begin = rolling_frame(shared)
    path = recording(*packets(0, begin, 5, ad=ad), *packets(99, begin, 5), *packets(98, begin + 400, 5))
    replay = ["nearby", "replay", str(path), "--no-delay"]
    terminal = Terminal([str(handshake.path), *replay], handshake.environment | {"TERM": "xterm"}, columns=80, rows=24)
    try:
        assert terminal.finish() == 0
        rows = terminal.rows()
        assert any("Number 36 left after" in row for row in rows), rows
        assert not any("Number 99 left after" in row for row in rows), rows
    finally:
        terminal.close()
    # Elsewhere than in the live list each event has its line.
    assert "Number 99 left after" in handshake.run(*replay).ok().stdout


def test_a_sign_in_that_ended_is_told_of_once_and_people_are_numbers_from_then_on(
        hub: Hub, recording: Callable[..., Path]) -> None:
    hub.steer("revoke-personal-access-tokens")
    path = recording(*packets(65535, 0, 20), *packets(36, 0, 20), *packets(70000, 0, 20, ad=wide_frame(70000)))
    done = hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--json", "--me", "759")
    troubles = events(done, "trouble")
    assert [trouble["code"] for trouble in troubles] == ["sign_in_required"] and "recurse-center" in troubles[0]["message"]
    assert {event["person"] for event in events(done, "alert")} == {65535, 36, 70000}
    assert hub.handshake.run("nearby", "replay", str(path), "--no-delay", "--me", "759").ok().stderr.lower().count("sign in") == 1
