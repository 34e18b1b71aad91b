"""`handshake places …`: gpsd's own daemon, GeoClue's interface, and a command that is killed while it records and uploads."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import requests

from command import Handshake, binary
from connect_pages import Visitor
from test_ifttt import CONNECTION, EDSGER, Service, connecting

EXAMPLES = Path(__file__).parent.parent.parent / "Examples/Places"
REGIONS = ("--regions", str(EXAMPLES / "regions.geojson"))
KILLS = 200
EXPECTED = [("enter", "office"), ("exit", "office"), ("enter", "park"), ("exit", "park"), ("enter", "café"), ("exit", "café")]


@pytest.fixture(scope="module")
def ifttt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    path = binary()
    if path is None:
        pytest.skip("handshake is not built")
    command = Handshake(path, tmp_path_factory.mktemp("places") / "home")
    yield Service(command)
    command.end()


def events(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def pairs(text: str) -> list[tuple[object, object]]:
    return [(event["event"], event["region"]) for event in events(text)]


@pytest.mark.parametrize("track", ["walk.gpx", "walk.nmea"])
def test_a_track_gives_its_events_and_ends(handshake: Handshake, track: str) -> None:
    replayed = handshake.run("places", "replay", str(EXAMPLES / track), *REGIONS, "--json").ok()
    assert pairs(replayed.stdout) == EXPECTED
    first = events(replayed.stdout)[0]
    assert list(first) == ["event", "region", "time", "latitude", "longitude", "accuracy", "distance_to_edge"]
    assert first["time"] == "2026-01-02T03:05:51.000Z" and float(str(first["distance_to_edge"])) < 0
    kind = track.split(".")[1]
    watched = handshake.run("places", "watch", "--source", f"{kind}:{EXAMPLES / track}", "--speed", "max", *REGIONS, "--json").ok()
    assert watched.stdout == replayed.stdout


def test_a_map_is_drawn_without_a_network(handshake: Handshake, tmp_path: Path) -> None:
    file = tmp_path / "map.svg"
    handshake.run("places", "map", "-o", str(file), *REGIONS, "--track", str(EXAMPLES / "walk.gpx")).ok()
    svg = file.read_text()
    assert svg.count('class="enter"') == 3 and svg.count('class="exit"') == 3
    assert 'class="scale"' in svg and "café" in svg and "http" not in svg.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("arguments", [
    ("replay", "missing.gpx"), ("replay", str(EXAMPLES / "regions.geojson")), ("watch", "--source", "foo"),
    ("watch", "--source", "gpsd:host:0"), ("list", "--at", "91,0"), ("replay", str(EXAMPLES / "walk.gpx"), "--speed", "0"),
])
def test_a_wrong_command_line_says_what_to_do(handshake: Handshake, arguments: tuple[str, ...]) -> None:
    done = handshake.run("places", *arguments, *REGIONS, "--json")
    assert done.status == 64 and done.error["message"], done


def test_gpsd_replays_a_walk_through_the_areas(handshake: Handshake, tmp_path: Path) -> None:
    """Live fixes must be of now, so the receiver's clock is set to now."""
    if not shutil.which("gpsfake"):
        pytest.skip("gpsfake is not installed")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    watching = handshake.start("places", "watch", "--source", f"gpsd:127.0.0.1:{port}", *REGIONS, "--json")
    start = datetime.now(timezone.utc) - timedelta(seconds=30)
    file = tmp_path / "walk.nmea"
    file.write_text("".join(sentences(start + timedelta(seconds=second), -73.9990 + second * 4e-5) for second in range(90)))
    fake = subprocess.Popen(["timeout", "-k", "2", "60", "gpsfake", "-1", "-c", "0.05", "-P", str(port), str(file)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        assert json.loads(watching.line(40))["region"] == "office"
    finally:
        watching.end()
        os.killpg(fake.pid, 9)
        fake.wait(10)


def sentences(moment: datetime, longitude: float, latitude: float = 40.7251) -> str:
    def angle(value: float, digits: int) -> str:
        return f"{int(abs(value)):0{digits}d}{abs(value) % 1 * 60:07.4f}"

    def checked(body: str) -> str:
        checksum = 0
        for byte in body.encode():
            checksum ^= byte
        return f"${body}*{checksum:02X}\r\n"

    hands, day = moment.strftime("%H%M%S.00"), moment.strftime("%d%m%y")
    place = f"{angle(latitude, 2)},N,{angle(longitude, 3)},W"
    return (checked(f"GPGGA,{hands},{place},1,08,1.0,12.0,M,-34.0,M,,")
            + checked("GPGSA,A,3,02,05,07,09,13,15,20,29,,,,,1.9,1.0,1.5")
            + checked(f"GPRMC,{hands},A,{place},002.7,090.0,{day},,,A"))


def lap(start: datetime) -> str:
    """Into the area of the stand-in's user and out again, in 3 minutes."""
    points = []
    for step in range(18):
        inside = 5 <= step < 11
        moment = (start + timedelta(seconds=10 * step)).strftime("%Y-%m-%dT%H:%M:%SZ")
        points.append(f'<trkpt lat="{52.5201 if inside else 52.53}" lon="13.4049"><time>{moment}</time></trkpt>')
    return "<gpx><trk><trkseg>" + "".join(points) + "</trkseg></trk></gpx>"


@pytest.mark.timeout(600)
def test_no_kill_loses_a_crossing_or_sends_it_twice_as_new(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    """Every run walks one lap and is killed at a random moment. A printed exit is durable; what arrives, arrives once as new."""
    running = connecting(handshake, ifttt, "--email", EDSGER)
    requests.get(Visitor(ifttt.account("edsger")).walk(running.line()), timeout=10)
    running.finish().ok()
    base = ("--base-url", ifttt.origin)
    handshake.run("places", "sync", "--once", "--connection", CONNECTION, *base).ok()
    chance = random.Random(12)
    start = datetime.now(timezone.utc).replace(microsecond=0) - timedelta(days=1)
    printed: Counter[int] = Counter()
    track = tmp_path / "lap.gpx"
    for number in range(KILLS):
        track.write_text(lap(start + timedelta(minutes=5 * number)))
        walking = handshake.start("places", "replay", str(track), "--upload", "--json", *base)
        if number % 2:
            walking.line()  # it has recorded the entry; the exit and the upload follow
            time.sleep(chance.uniform(0, 0.1))
        else:
            time.sleep(chance.uniform(0.05, 0.5))
        walking.kill()
        done = walking.finish()
        printed[number] += sum(event["event"] == "exit" for event in events(done.stdout.rpartition("\n")[0]))
    handshake.run("places", "sync", "--once", *base).ok()
    assert handshake.run("places", "queue", "--json", *base).ok().stdout == ""
    fired = [entry for entry in ifttt.log("location-events") if entry["outcome"] == "fired"]
    assert len({entry["record_id"] for entry in fired}) == len(fired)
    # A visit that a kill cut short may end in a later lap: with its first positions, or when they confirm what began before.
    times = [datetime.strptime(entry["occurred_at"][:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc) for entry in fired]
    assert len(times) == len(set(times)), "a crossing arrived twice as new"
    arrived = Counter(int((moment - start).total_seconds()) // 300 for moment in times)
    for number in range(KILLS):
        assert sum(arrived[n] for n in range(number + 1)) >= sum(printed[n] for n in range(number + 1)), "a recorded crossing is lost"
    assert 0 < printed.total() < KILLS, f"{printed.total()} of {KILLS} runs got as far as the exit: kill at other moments"
