"""`handshake places watch --source geoclue` on a private bus: a position that arrives or is removed again, a refusal, a question that the user answers
late, and a service that vanishes and comes back or does not answer."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "bluez"))
import bluez  # noqa: E402
from command import Handshake, Running  # noqa: E402

reason = bluez.missing()
pytestmark = pytest.mark.skipif(reason is not None, reason=reason or "")

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent.parent / "Examples/Places"
REGIONS = ("--regions", str(EXAMPLES / "regions.geojson"))
OUTSIDE, OFFICE = (40.7251, -73.9990), (40.7251, -73.9967)


class GeoClue:
    """The stand-in on a bus."""

    def __init__(self, address: str, *options: str) -> None:
        self.process = subprocess.Popen(
            [bluez.PYTHON, str(HERE / "geoclue.py"), *options], env=os.environ | {"DBUS_SYSTEM_BUS_ADDRESS": address},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout and self.process.stdin
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, *words: object) -> None:
        """Says a line and waits until it has been obeyed."""
        assert self.process.stdout and self.process.stdin
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() in ("sent\n", "started\n")

    def end(self) -> None:
        self.process.kill()
        self.process.wait(10)


@contextlib.contextmanager
def geoclue(address: str, *options: str) -> Iterator[GeoClue]:
    running = GeoClue(address, *options)
    try:
        yield running
    finally:
        running.end()


def watch(handshake: Handshake, address: str) -> Running:
    handshake.environment["DBUS_SYSTEM_BUS_ADDRESS"] = address
    return handshake.start("places", "watch", "--source", "geoclue", *REGIONS, "--json")


def said(running: Running, text: str, seconds: float = 30) -> None:
    """Waits for a text on standard error."""
    end = time.monotonic() + seconds
    while not any(text in line for line in running.lines["stderr"]):
        assert time.monotonic() < end, running.lines
        time.sleep(0.05)


def test_a_position_arrives_and_its_area_is_entered(handshake: Handshake) -> None:
    with bluez.bus() as address, geoclue(address) as service:
        watching = watch(handshake, address)
        now = time.time()
        for (latitude, longitude), age in ((OUTSIDE, 50), (OFFICE, 45), (OFFICE, 10)):
            service.tell("fix", latitude, longitude, 10, now - age)
        event = json.loads(watching.line())
        assert (event["event"], event["region"], event["accuracy"]) == ("enter", "office", 10)
        watching.end()


def test_a_refusal_ends_the_watch_and_says_where_to_allow_it(handshake: Handshake) -> None:
    with bluez.bus() as address, geoclue(address, "--refuse"):
        done = watch(handshake, address).finish()
        assert done.status == 2 and done.error["code"] == "location_not_authorized", done
        assert "privacy settings" in done.error["message"]


def enters_the_office(service: GeoClue, watching: Running) -> None:
    now = time.time()
    for (latitude, longitude), age in ((OUTSIDE, 50), (OFFICE, 45), (OFFICE, 10)):
        service.tell("fix", latitude, longitude, 10, now - age)
    assert json.loads(watching.line())["region"] == "office"


def test_a_user_may_take_half_a_minute_to_allow_it(handshake: Handshake) -> None:
    with bluez.bus() as address, geoclue(address, "--ask", "30") as service:
        watching = watch(handshake, address)
        service.tell("started")
        enters_the_office(service, watching)
        assert not [line for line in watching.lines["stderr"] if "GeoClue" in line], watching.lines
        watching.end()


def test_a_position_that_is_removed_before_it_is_read_ends_nothing(handshake: Handshake) -> None:
    with bluez.bus() as address, geoclue(address) as service:
        watching = watch(handshake, address)
        service.tell("gone")
        enters_the_office(service, watching)
        assert not [line for line in watching.lines["stderr"] if "GeoClue" in line], watching.lines
        watching.end()


def test_a_service_that_does_not_answer_is_asked_again(handshake: Handshake) -> None:
    with bluez.bus() as address, geoclue(address, "--hang") as service:
        watching = watch(handshake, address)
        said(watching, "timed out", 60)
        enters_the_office(service, watching)
        watching.end()


def test_a_service_that_vanishes_is_waited_for_and_used_again(handshake: Handshake) -> None:
    with bluez.bus() as address:
        watching = watch(handshake, address)
        said(watching, "GeoClue cannot be reached")
        with geoclue(address) as service:
            service.tell("started")
        said(watching, "the service stopped")
        with geoclue(address) as service:
            now = time.time()
            for (latitude, longitude), age in ((OUTSIDE, 50), (OFFICE, 45), (OFFICE, 10)):
                service.tell("fix", latitude, longitude, 10, now - age)
            assert json.loads(watching.line())["region"] == "office"
        watching.end()
