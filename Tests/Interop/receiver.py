"""gpsd's own daemon, fed by a receiver that the test moves."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

SPEED = 200


def sentences(moment: datetime, longitude: float, latitude: float) -> str:
    """One second of a receiver: NMEA 0183."""
    def angle(value: float, digits: int) -> str:
        return f"{int(abs(value)):0{digits}d}{abs(value) % 1 * 60:07.4f}"

    def checked(body: str) -> str:
        checksum = 0
        for byte in body.encode():
            checksum ^= byte
        return f"${body}*{checksum:02X}\r\n"

    hands, day = moment.strftime("%H%M%S.00"), moment.strftime("%d%m%y")
    place = f"{angle(latitude, 2)},{'N' if latitude >= 0 else 'S'},{angle(longitude, 3)},{'E' if longitude >= 0 else 'W'}"
    return (checked(f"GPGGA,{hands},{place},1,08,1.0,12.0,M,-34.0,M,,")
            + checked("GPGSA,A,3,02,05,07,09,13,15,20,29,,,,,1.9,1.0,1.5")
            + checked(f"GPRMC,{hands},A,{place},002.7,090.0,{day},,,A"))


def unread(connection: socket.socket) -> int:
    """How many bytes the other end, on this machine, has received and not read yet."""
    ours, theirs = (f":{address[1]:04X}" for address in (connection.getsockname(), connection.getpeername()))
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1].endswith(theirs) and fields[2].endswith(ours):
            return int(fields[4].split(":")[1], 16)
    return 0


class Receiver:
    """A device whose clock starts 50 seconds ago and runs fast, so that a minute of positions takes a moment."""

    def __init__(self, port: int, connection: socket.socket) -> None:
        self.source = f"gpsd:127.0.0.1:{port}"
        self.connection = connection
        self.clock = datetime.now(timezone.utc).replace(microsecond=0) - timedelta(seconds=50)
        self.place: tuple[float, float] | None = None

    def stay(self, place: tuple[float, float], seconds: int) -> None:
        """A position for each second of the device's clock."""
        self.place = place
        for _ in range(seconds):
            # No later than a position may be.
            while self.clock > datetime.now(timezone.utc) + timedelta(seconds=40):
                time.sleep(0.1)
            self.connection.sendall(sentences(self.clock, place[1], place[0]).encode())
            self.clock += timedelta(seconds=1)
            # gpsd takes what comes in one piece for one position.
            while unread(self.connection):
                time.sleep(0.001)

    def walk_to(self, place: tuple[float, float]) -> None:
        """Time passes, at the highest plausible speed."""
        assert self.place
        metres = 111_200 * max(abs(place[0] - self.place[0]), abs(place[1] - self.place[1]))
        self.clock += timedelta(seconds=int(metres / SPEED) + 1)


@contextmanager
def receiver() -> Iterator[Receiver]:
    if not shutil.which("gpsd"):
        pytest.skip("gpsd is not installed")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as device:
        daemon = subprocess.Popen(["gpsd", "-N", "-n", "-S", str(port), f"tcp://127.0.0.1:{device.getsockname()[1]}"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            device.settimeout(20)
            connection, _ = device.accept()
            with connection:
                yield Receiver(port, connection)
        finally:
            daemon.kill()
            daemon.wait(10)
