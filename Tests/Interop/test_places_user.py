"""`handshake places …` for the areas of IFTTT's user: gpsd's own daemon, the sandbox's webhooks, and what goes wrong on the way."""

import json
import os
import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import requests

from command import Handshake, Running, secret_file
from connect_pages import Visitor
from receiver import Receiver, receiver
from test_ifttt import Service, connecting, services
from waiting import said, told, until

TWO_WAYS = "Lg2Sp0ts"
AWAY, HOME, GARDEN = (52.5150, 13.405), (52.52, 13.405), (52.5250, 13.405)


@pytest.fixture
def ifttt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    yield from services(tmp_path_factory.mktemp("places"))


def sign_in(handshake: Handshake, ifttt: Service, name: str = "edsger", connection: str = TWO_WAYS) -> None:
    running = connecting(handshake, ifttt, "--email", f"{name}@example.test", connection=connection)
    requests.get(Visitor(ifttt.account(name)).walk(running.line()), timeout=10)
    running.finish().ok()


def arriving(handshake: Handshake, device: Receiver, base: tuple[str, ...]) -> Running:
    """A watch of a user who has come home."""
    watching = handshake.start("places", "watch", "--source", device.source, "--connection", TWO_WAYS, "--interval", "1", "--json", *base)
    said(watching, "Watching 1 area.")
    told(watching, "Position found", device, AWAY)
    device.walk_to(HOME)
    device.stay(HOME, 25)
    return watching


def control(ifttt: Service, path: str, body: str = "") -> None:
    assert requests.post(f"{ifttt.origin}/_sandbox/{path}", data=body.encode(), timeout=10).ok


def move(handshake: Handshake, ifttt: Service, key: Path, place: tuple[float, float]) -> None:
    area = {"lat": place[0], "lng": place[1], "radius": 250, "address": "Sample Garden 1"}
    document = {"user_features": [{"feature_id": "ft20", "enabled": True, "user_feature_triggers": [
        {"feature_trigger_id": "tr20", "user_fields": [{"field_id": "location", "value": area}]}]}]}
    handshake.run("ifttt", "update", TWO_WAYS, "--user", "garden-1004", "--service-key-file", str(key), "--configuration", "-",
                  "--base-url", ifttt.origin, stdin=json.dumps(document)).ok()


def fired(ifttt: Service) -> list[str]:
    """The crossings of which the partner has got a webhook."""
    ingredients = [hook["body"]["event_data"].get("ingredients", {}) for hook in ifttt.log("received-webhooks")]
    return [str(told["EnteredOrExited"]) for told in ingredients if told]


def track(path: Path, places: list[tuple[float, float]], start: datetime) -> Path:
    """A position each 30 seconds."""
    points = "".join(
        f'<trkpt lat="{lat}" lon="{lon}"><time>{(start + timedelta(seconds=30 * n)).strftime("%Y-%m-%dT%H:%M:%SZ")}</time></trkpt>'
        for n, (lat, lon) in enumerate(places))
    path.write_text(f"<gpx><trk><trkseg>{points}</trkseg></trk></gpx>")
    return path


def minutes_ago(minutes: float) -> datetime:
    return datetime.now(timezone.utc) - timedelta(minutes=minutes)


@pytest.mark.timeout(300)
def test_a_live_watch_follows_the_users_areas_and_sign_ins(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    """Entered, moved and entered there, refused, signed in again and left: each crossing reaches the partner once."""
    base = ("--base-url", ifttt.origin)
    key = secret_file(tmp_path / "service.key", ifttt.connect["partners"][0]["service_key"] + "\n")
    sign_in(handshake, ifttt)
    with receiver() as device:
        watching = arriving(handshake, device, base)
        assert json.loads(watching.line())["event"] == "enter"
        until(lambda: fired(ifttt) == ["entered"], lambda: ifttt.log("received-webhooks"))
        move(handshake, ifttt, key, GARDEN)
        said(watching, "The areas have changed.")
        device.stay(HOME, 2)
        device.walk_to(GARDEN)
        device.stay(GARDEN, 25)
        assert json.loads(watching.line())["event"] == "enter"
        until(lambda: fired(ifttt) == ["entered"] * 2, lambda: ifttt.log("received-webhooks"))
        control(ifttt, "revoke-user-token")
        said(watching, "has ended")
        device.walk_to(AWAY)
        device.stay(AWAY, 25)
        left = json.loads(watching.line())
        assert left["event"] == "exit"
        queued = handshake.run("places", "queue", "--json", *base).ok().json
        assert queued["record_id"] == left["record_id"] and queued["reason"] == "sign_in_required"
        sign_in(handshake, ifttt)
        until(lambda: handshake.run("places", "queue", "--json", *base).ok().stdout == "", lambda: watching.lines)
        received = [entry for entry in ifttt.log("location-events") if entry["record_id"] == left["record_id"]]
        assert [entry["outcome"] for entry in received] == ["fired"], (received, watching.lines)
        until(lambda: fired(ifttt) == ["entered", "entered", "exited"], lambda: ifttt.log("received-webhooks"))
        os.kill(watching.process.pid, signal.SIGTERM)
        ended = watching.finish(20)
        assert ended.status == 143 and "pending" not in ended.stderr, ended


@pytest.mark.timeout(200)
def test_an_upload_that_takes_long_holds_up_no_position(handshake: Handshake, ifttt: Service) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    control(ifttt, "faults", "ifttt POST /v1/location_events => delay 600")
    with receiver() as device:
        watching = arriving(handshake, device, base)
        assert json.loads(watching.line())["event"] == "enter"
        device.walk_to(AWAY)
        device.stay(AWAY, 25)
        assert json.loads(watching.line())["event"] == "exit"
        os.kill(watching.process.pid, signal.SIGTERM)
        ended = watching.finish(20)
        assert ended.status == 143 and "2 crossings are pending." in ended.stderr, ended


def test_who_arrives_and_stands_still_enters(handshake: Handshake, ifttt: Service) -> None:
    sign_in(handshake, ifttt)
    with receiver() as device:
        watching = handshake.start("places", "watch", "--source", device.source, "--connection", TWO_WAYS, "--json", "--base-url", ifttt.origin)
        said(watching, "Watching 1 area.")
        told(watching, "Position found", device, AWAY)
        device.walk_to(HOME)
        # gpsd tells of a position when the next one begins.
        device.stay(HOME, 2)
        assert json.loads(watching.line(45))["event"] == "enter"
        until(lambda: fired(ifttt) == ["entered"], lambda: ifttt.log("received-webhooks"))


def test_a_watch_that_is_ended_claims_no_crossings(handshake: Handshake, ifttt: Service) -> None:
    sign_in(handshake, ifttt)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, "--base-url", ifttt.origin).ok()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        watching = handshake.start("places", "watch", "--source", f"gpsd:127.0.0.1:{silent.getsockname()[1]}", "--base-url", ifttt.origin)
        silent.settimeout(30)
        connection, _ = silent.accept()
        with connection:
            os.kill(watching.process.pid, signal.SIGTERM)
            ended = watching.finish(20)
        assert ended.status == 143 and "crossing" not in ended.stderr.lower(), ended


@pytest.mark.timeout(120)
def test_one_users_whereabouts_are_never_anothers(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    control(ifttt, "revoke-user-token")
    walk = track(tmp_path / "walk.gpx", [AWAY, AWAY, HOME, HOME, HOME], minutes_ago(10))
    done = handshake.run("places", "replay", str(walk), "--upload", "--json", *base)
    assert done.status == 3 and done.error["code"] == "sign_in_required", done
    crossing = json.loads(done.stdout)["record_id"]
    assert handshake.run("places", "queue", "--json", *base).ok().json["reason"] == "sign_in_required"
    assert handshake.run("places", "sync", "--once", "--json", *base).status == 3
    listed = handshake.run("places", "list", "--json", *base).ok().json
    assert listed["state"] == "inside" and listed["distance_to_edge"] < 0 and listed["position_time"], listed
    sign_in(handshake, ifttt, "grace")
    assert handshake.run("places", "queue", "--json", *base).ok().stdout == ""
    assert handshake.run("places", "list", "--json", *base).ok().stdout == ""
    handshake.run("places", "sync", "--once", *base).ok()
    assert crossing not in [entry["record_id"] for entry in ifttt.log("location-events")]
    assert handshake.run("places", "list", "--json", *base).ok().json["state"] == "unknown"


def test_logout_forgets_where_the_user_was(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    walk = track(tmp_path / "walk.gpx", [AWAY, AWAY, HOME, HOME, HOME], minutes_ago(10))
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    handshake.run("places", "replay", str(walk), "--upload", *base).ok()
    assert handshake.run("places", "list", "--json", *base).ok().json["state"] == "inside"
    handshake.run("logout", "ifttt").ok()
    sign_in(handshake, ifttt)
    vault = f"files:{handshake.home}/vault"
    listed = handshake.run("places", "list", "--json", "--vault", vault, *base).ok()
    assert listed.stdout == "" and "No area is known" in listed.stderr
    assert listed.stderr.endswith(f" ID. Add to each command that uses the vault: --vault {shlex.quote(vault)}\n"), listed


@pytest.mark.timeout(120)
def test_sync_goes_on_without_a_network_and_after_a_refusal(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    offline = handshake.start("places", "sync", "--interval", "1", "--base-url", "http://127.0.0.1:9")
    said(offline, "Trying again.")
    assert offline.is_running()
    offline.end()
    control(ifttt, "revoke-user-token")
    walk = track(tmp_path / "walk.gpx", [AWAY, AWAY, HOME, HOME, HOME], minutes_ago(10))
    assert handshake.run("places", "replay", str(walk), "--upload", *base).status == 3
    syncing = handshake.start("places", "sync", "--interval", "1", "--json", *base)
    said(syncing, "has ended")
    sign_in(handshake, ifttt)
    assert json.loads(syncing.line())["state"] == "uploaded", syncing.lines
    syncing.end()


def test_no_network_is_not_taken_for_no_area(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    sign_in(handshake, ifttt)
    walk = track(tmp_path / "walk.gpx", [AWAY, AWAY, HOME, HOME, HOME], minutes_ago(10))
    commands = (("watch", "--source", f"gpx:{walk}", "--speed", "max"), ("list",), ("replay", str(walk)))
    # Side by side, for each tries for a while.
    running = [handshake.start("places", *arguments, "--connection", TWO_WAYS, "--base-url", "http://127.0.0.1:9", "--json")
               for arguments in commands]
    for done in [one.finish() for one in running]:
        assert done.status == 6 and "no area" not in done.stderr.lower(), done


def test_why_crossings_wait_and_which_are_given_up_is_said(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    old = track(tmp_path / "old.gpx", [AWAY, AWAY, HOME, HOME, HOME, AWAY, AWAY, AWAY], minutes_ago(60 * 24 * 8))
    done = handshake.run("places", "replay", str(old), "--upload", *base).ok()
    assert done.stderr.count("discarded (expired)") == 2, done
    control(ifttt, "faults", "ifttt POST /v1/location_events => status 503")
    walk = track(tmp_path / "walk.gpx", [AWAY, AWAY, HOME, HOME, HOME], minutes_ago(10))
    done = handshake.run("places", "replay", str(walk), "--upload", "--json", *base)
    assert done.status == 4 and "1 crossing is pending. Upload it with" in done.error["message"], done
    queued = handshake.run("places", "queue", "--json", *base).ok().json
    assert queued["reason"] not in ("not_uploaded_yet", "sign_in_required"), queued
    text = handshake.run("places", "queue", *base).ok()
    assert "pending (" in text.stdout and "The last upload failed at " in text.stderr, text


def test_a_position_of_the_year_9999_holds_up_no_later_track(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    future = track(tmp_path / "future.gpx", [AWAY, AWAY, HOME, HOME, HOME], datetime(9999, 12, 31, 23, tzinfo=timezone.utc))
    done = handshake.run("places", "replay", str(future), "--upload", "--json", *base).ok()
    assert done.stdout == "" and "5 positions with a time in the future" in done.stderr, done
    walk = track(tmp_path / "walk.gpx", [AWAY, AWAY, HOME, HOME, HOME], minutes_ago(10))
    assert handshake.run("places", "replay", str(walk), "--upload", "--json", *base).ok().json["event"] == "enter"


@pytest.mark.timeout(200)
def test_logout_ends_what_a_live_watch_knows(handshake: Handshake, ifttt: Service) -> None:
    """Neither a file is written again nor is the next user shown where the one before was."""
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    with receiver() as device:
        watching = arriving(handshake, device, base)
        assert json.loads(watching.line())["event"] == "enter"
        handshake.run("logout", "ifttt").ok()
        device.walk_to(AWAY)
        device.stay(AWAY, 25)
        said(watching, "no connection is watched")
        sign_in(handshake, ifttt, "grace")
        handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
        listed = handshake.run("places", "list", "--json", *base).ok()
        assert all("position_time" not in json.loads(line) or json.loads(line)["position_time"] is None
                   for line in listed.stdout.splitlines()), listed
        watching.end()


def test_a_service_that_refuses_everything_costs_no_crossing(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    control(ifttt, "faults", "ifttt POST /v1/location_events => status 400")
    walk = track(tmp_path / "walk.gpx", [AWAY, AWAY, HOME, HOME, HOME], minutes_ago(10))
    refused = handshake.run("places", "replay", str(walk), "--upload", "--json", *base)
    assert refused.status == 4 and "1 crossing is pending" in refused.error["message"], refused
    requests.delete(f"{ifttt.origin}/_sandbox/faults", timeout=10).raise_for_status()
    assert handshake.run("places", "sync", "--once", "--json", *base).ok().json["state"] == "uploaded"


def test_a_connection_that_does_not_exist_is_told(handshake: Handshake, ifttt: Service) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    for _ in range(2):
        wrong = handshake.run("places", "sync", "--once", "--connection", "Nope1234", "--json", *base)
        assert wrong.status == 4 and wrong.error["code"] == "not_found", wrong
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()


def test_a_track_that_is_cut_off_says_what_waits(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    walk = track(tmp_path / "walk.gpx", [AWAY, AWAY, HOME, HOME, HOME], minutes_ago(10))
    walk.write_text(walk.read_text()[:-3])
    vault = f"files:{handshake.home}/vault"
    cut = handshake.run("places", "replay", str(walk), "--upload", "--vault", vault, *base)
    assert cut.status == 64 and "the file ends within an element" in cut.stderr, cut
    assert "1 crossing is pending. Upload now with: handshake places sync --once. Add to each command that " in cut.stderr, cut
    assert handshake.run("places", "sync", "--once", "--json", *base).ok().json["state"] == "uploaded"


@pytest.mark.timeout(400)
def test_a_slow_reader_misses_no_result(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    """More crossings than events are kept for a late reader, whose results are read only when all have been told."""
    base = ("--base-url", ifttt.origin)
    sign_in(handshake, ifttt)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    control(ifttt, "faults", "ifttt POST /v1/location_events => status 503")
    visits = [AWAY, AWAY, AWAY, HOME, HOME, HOME] * 550
    walk = track(tmp_path / "walk.gpx", visits, minutes_ago(len(visits) / 2 + 10))
    # Each crossing is made durable three times: a slow disk takes a minute and more.
    handshake.run("places", "replay", str(walk), "--upload", *base, seconds=180)
    waiting = len(handshake.run("places", "queue", "--json", *base).ok().stdout.splitlines())
    assert waiting > 1_050
    requests.delete(f"{ifttt.origin}/_sandbox/faults", timeout=10).raise_for_status()
    syncing = subprocess.Popen([str(handshake.path), "places", "sync", "--once", "--json", *base],
                               env=handshake.environment, stdout=subprocess.PIPE, text=True)
    try:
        until(lambda: len(ifttt.log("location-events")) >= waiting, lambda: len(ifttt.log("location-events")))
        assert syncing.stdout and len(syncing.stdout.readlines()) == waiting
        assert syncing.wait(30) == 0
    finally:
        syncing.kill()
        syncing.wait()
