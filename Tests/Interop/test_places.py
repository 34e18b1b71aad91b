"""`handshake places …`: gpsd's own daemon, GeoClue's interface, and a command that is killed while it records and uploads."""

import json
import math
import os
import random
import shutil
import signal
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

from command import Handshake, Running
from connect_pages import Visitor
from receiver import receiver, sentences
from test_ifttt import EDSGER, Service, connecting, services
from waiting import said, told

EXAMPLES = Path(__file__).parent.parent.parent / "Examples/Places"
REGIONS = ("--regions", str(EXAMPLES / "regions.geojson"))
KILLS = 200
TWO_WAYS = "Lg2Sp0ts"
EXPECTED = [("enter", "office"), ("exit", "office"), ("enter", "park"), ("exit", "park"), ("enter", "café"), ("exit", "café")]


@pytest.fixture(scope="module")
def ifttt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    yield from services(tmp_path_factory.mktemp("places"))


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
    file.write_text("".join(sentences(start + timedelta(seconds=second), -73.9990 + second * 4e-5, 40.7251) for second in range(90)))
    fake = subprocess.Popen(["timeout", "-k", "2", "60", "gpsfake", "-1", "-c", "0.05", "-P", str(port), str(file)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        assert json.loads(watching.line(40))["region"] == "office"
    finally:
        watching.end()
        # It leaves its socket in /tmp, whatever TMPDIR says.
        left = [Path(f"/tmp/gpsfake-{child}.sock") for child in Path(f"/proc/{fake.pid}/task/{fake.pid}/children").read_text().split()]
        os.killpg(fake.pid, 9)
        fake.wait(10)
        for file in left:
            file.unlink(missing_ok=True)


@pytest.mark.timeout(300)
def test_a_track_of_100_mb_is_replayed_in_bounded_memory(handshake: Handshake, tmp_path: Path) -> None:
    file = tmp_path / "long.gpx"
    point = '<trkpt lat="40.7{:03}" lon="-73.99"><time>2026-03-02T{:02}:{:02}:{:02}Z</time>' + " " * 3_900 + "</trkpt>\n"
    with file.open("w") as long:
        long.write("<gpx><trk><trkseg>")
        for second in range(26_000):
            long.write(point.format(second % 1_000, second // 3_600, second // 60 % 60, second % 60))
        long.write("</trkseg></trk></gpx>")
    assert file.stat().st_size > 100_000_000
    arguments = [str(handshake.path), "places", "replay", str(file), *REGIONS, "--json"]
    with (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(arguments, env=handshake.environment, stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (tmp_path / "out").read_text()
    # Linux counts in KiB. The command by itself has about 60,000.
    assert usage.ru_maxrss < 150_000, usage.ru_maxrss


@pytest.mark.timeout(300)
def test_an_area_with_a_million_vertices_is_read(handshake: Handshake, tmp_path: Path) -> None:
    file = tmp_path / "coast.geojson"
    ring = ",".join(f"[{10 + math.cos(turn * 2e-6 * math.pi):.9f},{50 + math.sin(turn * 2e-6 * math.pi):.9f}]" for turn in range(1_000_000))
    file.write_text('{"type":"Feature","id":"island","geometry":{"type":"Polygon","coordinates":[[' + ring + "]]}}")
    listed = handshake.run("places", "list", "--regions", str(file), "--at", "50,10", "--json").ok()
    assert listed.json["state"] == "inside" and -80_000 < listed.json["distance_to_edge"] < -70_000


def test_a_live_receiver_on_standard_input_is_read_as_it_speaks(handshake: Handshake) -> None:
    """The first event comes while the pipe is open."""
    start = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    text = "".join(sentences(start + timedelta(seconds=second), -73.9990 + second * 4e-5, 40.7251) for second in range(90))
    watching = subprocess.Popen([str(handshake.path), "places", "watch", "--source", "-", "--speed", "max", *REGIONS, "--json"],
                                env=handshake.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert watching.stdin and watching.stdout
        watching.stdin.write(text)
        watching.stdin.flush()
        assert json.loads(watching.stdout.readline())["region"] == "office"
        assert watching.poll() is None
        watching.stdin.close()
        assert watching.wait(30) == 0
    finally:
        watching.kill()
        watching.wait()


def test_gpx_on_standard_input_is_taken_as_a_file_is(handshake: Handshake) -> None:
    walk = (EXAMPLES / "walk.gpx").read_text()
    watched = handshake.run("places", "watch", "--source", "-", "--speed", "max", *REGIONS, "--json", stdin=walk).ok()
    assert pairs(watched.stdout) == EXPECTED


@pytest.mark.parametrize(("arguments", "fifo"), [
    (("list",), "--regions"), (("map", "-o", "-", *REGIONS), "--track")])
def test_a_pipe_without_an_end_is_named(handshake: Handshake, tmp_path: Path, arguments: tuple[str, ...], fifo: str) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    # A writer that never writes.
    descriptor = os.open(path, os.O_RDWR)
    try:
        done = handshake.run("places", *arguments, fifo, str(path), "--timeout", "1", "--json")
    finally:
        os.close(descriptor)
    assert done.status == 64 and str(path) in done.error["message"] and "network" not in done.error["message"], done


def test_what_a_file_does_not_give_is_said(handshake: Handshake, tmp_path: Path) -> None:
    walk = (EXAMPLES / "walk.gpx").read_text()
    empty = tmp_path / "empty.geojson"
    empty.write_text('{"type":"FeatureCollection","features":[]}')
    done = handshake.run("places", "replay", str(EXAMPLES / "walk.gpx"), "--regions", str(empty)).ok()
    assert done.stdout == "" and "no area to watch" in done.stderr
    damaged = tmp_path / "damaged.gpx"
    points = walk.split("<trkpt")
    damaged.write_text("<trkpt".join([points[0]] + [
        point.replace('lat="', 'lat="x', 1) if number % 2 else point for number, point in enumerate(points[1:])]))
    done = handshake.run("places", "replay", str(damaged), *REGIONS).ok()
    assert f"Skipped {len(points[1:]) // 2} points without a valid position or a time." in done.stderr, done
    far = tmp_path / "far.gpx"
    far.write_text(walk.replace('lat="40.', 'lat="-40.'))
    done = handshake.run("places", "replay", str(far), *REGIONS).ok()
    assert done.stdout == "" and "No area was entered or left. The first position, accurate to " in done.stderr and " km from “" in done.stderr, done


def test_a_receiver_with_a_wrong_clock_is_noticed(handshake: Handshake) -> None:
    with receiver() as device:
        device.clock -= timedelta(days=200)
        watching = handshake.start("places", "watch", "--source", device.source, *REGIONS, "--json")
        told(watching, "Ignoring positions that are 200 days old. Check the clocks", device, (40.7251, -73.9990))
        watching.end()


def test_a_daemon_that_says_nothing_is_told(handshake: Handshake) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        watching = handshake.start("places", "watch", "--source", f"gpsd:127.0.0.1:{silent.getsockname()[1]}", *REGIONS, "--json")
        said(watching, "No position for 10 s.")
        os.kill(watching.process.pid, signal.SIGTERM)
        ended = watching.finish()
        assert ended.status == 143 and "crossings" not in ended.stderr.lower(), ended


def test_a_laptop_watches_the_place_where_it_is(handshake: Handshake) -> None:
    """Wherever that is: `--here` needs no file and no account."""
    with receiver() as device:
        watching = handshake.start("places", "watch", "--source", device.source, "--here", "100", "--json")
        told(watching, "inside “here”", device, (-33.8568, 151.2153))
        device.stay((-33.8568, 151.2153), 25)
        device.walk_to((-33.8600, 151.2153))
        device.stay((-33.8600, 151.2153), 25)
        left = json.loads(watching.line())
        assert (left["event"], left["region"]) == ("exit", "here")
        watching.end()
    assert handshake.run("places", "watch", "--here", "100", *REGIONS, "--json").status == 64


def test_a_vague_position_is_no_place_to_watch(handshake: Handshake) -> None:
    with receiver() as device:
        watching = handshake.start("places", "watch", "--source", device.source, "--here", "2")
        told(watching, "Waiting for 1 m, half of the radius.", device, (-33.8568, 151.2153))
        assert "inside" not in "".join(watching.lines["stderr"])
        watching.end()


def test_a_live_stream_says_where_it_begins(handshake: Handshake) -> None:
    now = datetime.now(timezone.utc).replace(microsecond=0) - timedelta(seconds=5)
    watching = subprocess.Popen([str(handshake.path), "places", "watch", "--source", "-", "--speed", "max", "--here", "1000"],
                                env=handshake.environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert watching.stdin and watching.stderr
        watching.stdin.write("".join(sentences(now + timedelta(seconds=second), 151.2153, -33.8568) for second in range(3)))
        watching.stdin.flush()
        assert "inside “here”" in watching.stderr.readline()
        watching.stdin.close()
        assert watching.wait(30) == 0
    finally:
        watching.kill()
        watching.wait()


LAPS = 240
LAP = timedelta(minutes=3)


def laps(start: datetime) -> str:
    """So many times into the area at 52.52° north, 13.405° east and out again, a position each 10 seconds."""
    points = []
    for step in range(18 * LAPS + 3):
        inside = 5 <= step % 18 < 11
        moment = (start + timedelta(seconds=10 * step)).strftime("%Y-%m-%dT%H:%M:%SZ")
        points.append(f'<trkpt lat="{52.52 if inside else 52.53}" lon="13.405"><time>{moment}</time></trkpt>')
    return "<gpx><trk><trkseg>" + "".join(points) + "</trkseg></trk></gpx>"


def edges(start: datetime) -> set[tuple[str, datetime]]:
    """What happens on the way: each edge is crossed at the first position beyond it."""
    return {crossing for number in range(LAPS) for crossing in (
        ("entry", start + LAP * number + timedelta(seconds=50)), ("exit", start + LAP * number + timedelta(seconds=110)))}


def content(record: dict[str, object]) -> tuple[str, datetime]:
    moment = datetime.strptime(str(record["occurred_at"])[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return str(record["event_type"]), moment


class Killer:
    """Runs commands and kills each at a moment of chance; remembers the records that they printed, which are durable."""

    def __init__(self, handshake: Handshake, ifttt: Service) -> None:
        self.handshake, self.ifttt, self.chance = handshake, ifttt, random.Random(12)
        self.recorded: set[str] = set()
        self.kills: Counter[str] = Counter()

    def has_arrived(self) -> bool:
        """Whether the service has got crossings since its log of requests was cleared. That of all crossings is long, and takes a while to make."""
        return any(request["path"] == "/v1/location_events" for request in self.ifttt.log("requests"))

    def walk(self, *arguments: str) -> None:
        """Killed before its first crossing, or a moment after one of the first."""
        walking = self.handshake.start("places", *arguments)
        printed = self.chance.randrange(5)
        try:
            for _ in range(printed):
                walking.line()
        except AssertionError:
            assert walking.process.poll() == 0, walking.finish()  # it came to the end of the track
        time.sleep(self.chance.uniform(0, 0.2 if printed == 0 else 0.02))
        self.kill(walking, f"walk after {printed}")

    def sync(self, *arguments: str) -> None:
        """Killed at its start, or as soon as the service has more of its crossings."""
        requests.delete(f"{self.ifttt.origin}/_sandbox/requests", timeout=10).raise_for_status()
        syncing = self.handshake.start("places", *arguments)
        if self.chance.random() < 0.4:
            time.sleep(self.chance.uniform(0, 0.3))
            self.kill(syncing, "sync")
            return
        while syncing.is_running() and not self.has_arrived():
            time.sleep(0.005)
        time.sleep(self.chance.uniform(0, 0.01))
        self.kill(syncing, "sync after an upload")

    def kill(self, running: Running, what: str) -> None:
        if running.is_running():
            self.kills[what] += 1
        running.kill()
        whole = running.finish().stdout.rpartition("\n")[0]
        self.recorded |= {str(event["record_id"]) for event in events(whole) if event.get("event")}


@pytest.mark.timeout(900)
def test_no_kill_loses_a_crossing_or_sends_it_twice_as_new(handshake: Handshake, ifttt: Service, tmp_path: Path) -> None:
    """One track is read from its start again after each kill; in the end the service has each of its crossings once."""
    running = connecting(handshake, ifttt, "--email", EDSGER, connection=TWO_WAYS)
    requests.get(Visitor(ifttt.account("edsger")).walk(running.line()), timeout=10)
    running.finish().ok()
    base = ("--base-url", ifttt.origin)
    handshake.run("places", "sync", "--once", "--connection", TWO_WAYS, *base).ok()
    start = datetime.now(timezone.utc).replace(microsecond=0) - timedelta(days=1)
    track = tmp_path / "laps.gpx"
    track.write_text(laps(start))
    killer = Killer(handshake, ifttt)
    while killer.kills.total() < KILLS:
        killer.walk("replay", str(track), "--upload", "--json", *base)
        killer.sync("sync", "--once", "--json", *base)
    handshake.run("places", "replay", str(track), "--upload", "--json", *base).ok()
    assert handshake.run("places", "queue", "--json", *base).ok().stdout == ""
    received = ifttt.log("location-events")
    new = {str(record["record_id"]): content(record) for record in received if record["outcome"] == "fired"}
    print(f"{dict(killer.kills)}; {len(received)} records, {len(new)} new, {len(killer.recorded)} witnessed")
    assert {record["outcome"] for record in received} <= {"fired", "duplicate"}
    assert all(new[str(record["record_id"])] == content(record) for record in received), "an identifier stands for two crossings"
    assert sorted(new.values()) == sorted(edges(start)), "a crossing is lost, arrived twice as new, or never happened"
    assert killer.recorded <= new.keys(), "a recorded crossing is lost"
    assert len(killer.kills) == 7 and len(killer.recorded) > KILLS / 4, f"kill at other moments: {killer.kills}"
