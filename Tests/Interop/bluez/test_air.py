"""The air simulator, shown to be right by a client that others wrote: bluetoothctl of Debian's bluez (beacons dossier 9.4)."""

import contextlib
import os
import re
import subprocess
import threading
import time

import pytest

import bluez

reason = bluez.missing("bluetoothctl")
pytestmark = pytest.mark.skipif(reason is not None, reason=reason or "")

def advertising(data):
    """What to type to send a structure of manufacturer data."""
    company = int.from_bytes(data[2:4], "little")
    return ["menu advertise", f"manufacturer {company:#06x} " + " ".join(f"0x{byte:02x}" for byte in data[4:]), "back",
            "advertise broadcast"]


ADVERTISE = advertising(bluez.IBEACON)


class BluetoothControl:
    """A bluetoothctl on an air, fed line by line."""

    def __init__(self, air):
        self.process = subprocess.Popen(
            ["bluetoothctl"], env={"PATH": "/usr/bin:/bin", "TERM": "dumb", "COLUMNS": "200", **air.environment}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.printed = ""
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        # It takes commands once it has looked at the adapter; registering for monitors is the last thing that it does there.
        self.expect(r"AdvertisementMonitor path registered\n.*\]# ")

    def read(self):
        while piece := os.read(self.process.stdout.fileno(), 4096):
            # Without colours and without the marks of its line editor.
            text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]|[\x01\x02\r]", "", piece.decode(errors="replace"))
            self.printed += text

    def type(self, *lines):
        for line in lines:
            begin = len(self.printed)
            self.send(line)
            # It drops what comes while it works: the next line waits for the echo of this one and for the prompt.
            self.expect(re.escape(line) + r"\n(.*\n)*.*\]# ", begin)

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def expect(self, pattern, begin=0, seconds=20):
        """Waits until it has printed this, at a place or after it."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.printed[begin:]):
            assert time.monotonic() < end, f"bluetoothctl did not print {pattern!r} but:\n{self.printed}"
            time.sleep(0.05)

    def leave(self):
        self.send("quit")
        self.process.wait(20)
        self.reader.join(20)


@contextlib.contextmanager
def bluetoothctl(air):
    control = BluetoothControl(air)
    try:
        yield control
    finally:
        control.process.kill()
        control.process.wait()


def test_bluetoothctl_puts_the_dossiers_27_bytes_on_air():
    with bluez.air() as air, bluetoothctl(air) as control:
        control.type(*ADVERTISE)
        control.expect("Advertising object registered")
        assert air.on_air() == [bluez.IBEACON]
        control.leave()
        # Its connection ended, and its advertisement with it.
        air.wait(lambda air: air.on_air() == [])


def test_data_that_ends_with_a_zero_is_seen():
    """One of 256 rolling identifiers does. gdbus prints bytes as text where the last one alone is 0."""
    data = bytes.fromhex("06ff4c010203") + b"\0"
    with bluez.air() as air, bluetoothctl(air) as control:
        control.type(*advertising(data))
        control.expect("Advertising object registered")
        assert air.on_air() == [data]
        control.leave()


def test_bluetoothctl_finds_a_device_by_searching():
    with bluez.air() as air, bluetoothctl(air) as control:
        control.type("scan on")
        air.wait(lambda air: air.is_searching())
        air.sight("D0:00:00:00:02:F7", -61, bluez.IBEACON)
        control.expect(r"NEW.*Device D0:00:00:00:02:F7")
        control.type("info D0:00:00:00:02:F7")
        control.expect("ManufacturerData Key: 0x004c")
        control.expect("02 15 3e e7 61 a0 f7 37 11 e3 a3 ac 08 00 20 0c")
        control.leave()
        air.wait(lambda air: not air.is_searching())


def test_bluetoothctls_monitor_is_activated_and_told_of_what_fits():
    with bluez.air() as air, bluetoothctl(air) as control:
        control.type("menu monitor", "add-or-pattern 0 255 4c000215")
        air.wait(lambda air: air.monitors() == 1)
        control.expect("activated")
        air.sight("D0:00:00:00:00:01", -61, bytes.fromhex("07ff4c0012020001"))
        air.sight("D0:00:00:00:02:F7", -61, bluez.IBEACON)
        control.expect(r"found device .*dev_D0_00_00_00_02_F7")
        assert "D0:00:00:00:00:01" not in control.printed and "dev_D0_00_00_00_00_01" not in control.printed


def test_bluetoothctl_is_told_when_no_instance_is_free():
    with bluez.air(instances=0) as air, bluetoothctl(air) as control:
        control.type(*ADVERTISE)
        control.expect("org.bluez.Error.NotPermitted")
        assert air.on_air() == []


def test_an_adapter_that_is_switched_off_sends_nothing():
    with bluez.air() as air, bluetoothctl(air) as control:
        control.type(*ADVERTISE)
        air.wait(lambda air: air.on_air() == [bluez.IBEACON])
        control.type("power off")
        air.wait(lambda air: air.on_air() == [])
        control.type("power on")
        air.wait(lambda air: air.on_air() == [bluez.IBEACON])


def test_two_bluetoothctls_in_one_room_hear_each_other():
    with bluez.room() as (one, other), bluetoothctl(one) as sender, bluetoothctl(other) as receiver:
        receiver.type("scan on")
        other.wait(lambda air: air.is_searching())
        sender.type(*ADVERTISE)
        one.wait(lambda air: len(air.on_air()) == 1)
        address = one.transmissions()[0][0]
        receiver.expect(r"NEW.*Device " + address)
        sender.leave()
        # What is not sent any more is forgotten.
        receiver.expect(r"DEL.*Device " + address)
