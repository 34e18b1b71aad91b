"""`handshake nearby` on BlueZ's bus: two processes on two machines that hear each other, foreign clients, a desktop."""

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bluez
from command import Handshake, Running, binary
from hub import Hub, start
from test_air import BluetoothControl

reason = bluez.missing()
pytestmark = pytest.mark.skipif(reason is not None, reason=reason or "")

MINA = 6700
ZOE = bytes.fromhex("1aff4c0002153ee761a0f73711e3a3ac0800200c9a660001ffffc5")
CONSENT = ("--advertise", "static", "--i-agree-to-be-followed")


class Person:
    """One person's command on one machine, signed in to the Recurse Center's stand-in."""

    def __init__(self, hub: Hub, number: int, home: Path, air: bluez.Air) -> None:
        path = binary()
        assert path
        self.command, self.air = Handshake(path, home), air
        self.command.environment |= air.environment
        self.hub = Hub(self.command, hub.sandbox, hub.origin)
        self.hub.login(token=f"sandbox-personal-access-token-{number}")

    def watch(self, *options: str, **environment: str) -> Running:
        return self.air.watched(self.command.start("nearby", "watch", "--json", *options, **environment))

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.command.run("nearby", "log", "--json").ok().stdout.splitlines()]


@pytest.fixture
def people(handshake: Handshake, tmp_path: Path) -> Iterator[Callable[[int, bluez.Air], Person]]:
    hub, made = start(handshake), []

    def make(number: int, air: bluez.Air) -> Person:
        made.append(Person(hub, number, tmp_path / str(number), air))
        return made[-1]

    yield make
    for person in made:
        person.command.end()


def seen(running: Running) -> list[dict[str, Any]]:
    return [json.loads(line) for line in running.lines["stdout"]]


def wait_for(running: Running, condition: Callable[[list[dict[str, Any]]], Any], seconds: float = 40) -> None:
    end = time.monotonic() + seconds
    while not condition(seen(running)):
        assert running.is_running(), running.finish()
        assert time.monotonic() < end, (seen(running), running.lines["stderr"])
        time.sleep(0.05)


def alerts(events: list[dict[str, Any]]) -> list[tuple[int, str | None]]:
    return [(event["person"], event["name"]) for event in events if event["event"] == "alert"]


def seconds_until_told(running: Running, person: int, recording: Path) -> float:
    """From the first packet with a service UUID to the alert, by the command's own clock: how long the machine takes to start it does not count."""
    packets = [json.loads(line) for line in recording.read_text().splitlines()]
    told = [event["at"] for event in seen(running) if event["event"] == "alert" and event["person"] == person]
    return min(told) - min(packet["t"] for packet in packets if packet["ad"].startswith("1107"))


def hear_until_mina_is_near(running: Running, air: bluez.Air, packet: tuple[str, bytes]) -> None:
    """Lets the command hear a packet repeatedly, and a third person: her alert shows that the packets before are dealt with."""
    heard = 0

    def is_told(events: list[dict[str, Any]]) -> bool:
        nonlocal heard
        address, data = packet
        air.sight(address, -61, data)
        air.sight("D0:00:00:00:1A:2C", -61, bytes.fromhex(f"1aff4c0002153ee761a0f73711e3a3ac0800200c9a660001{MINA:04x}c5"))
        heard += 1
        return heard > 20 and MINA in [person for person, _ in alerts(events)]

    wait_for(running, is_told)


def interrupt(running: Running) -> int:
    running.process.send_signal(2)
    return running.finish().status


def test_two_processes_find_each_other_alert_once_and_log_both(people: Callable[[int, bluez.Air], Person]) -> None:
    with bluez.room() as (one, other):
        ada, zoe = people(759, one), people(65535, other)
        first, second = ada.watch(*CONSENT), zoe.watch(*CONSENT)
        wait_for(first, lambda events: ("Zoë Ångström" in [name for _, name in alerts(events)]))
        wait_for(second, lambda events: ("Ada Example" in [name for _, name in alerts(events)]))
        assert bluez.IBEACON in one.on_air(), "dossier 2.2, byte by byte"
        [hers], [zoes] = one.transmissions(), other.transmissions()
        for running, person, air, packet in ((first, 65535, one, zoes), (second, 759, other, hers)):
            hear_until_mina_is_near(running, air, packet)
            fresh = [event for event in seen(running) if event["event"] == "alert" and not event["update"]]
            assert [event["person"] for event in fresh] == [person, MINA]
            assert interrupt(running) == 130
        one.wait(lambda air: not air.on_air())
    mina = (MINA, "Mina Half")
    assert {(entry["person"], entry["name"]) for entry in ada.log()} == {(65535, "Zoë Ångström"), mina}
    assert {(entry["person"], entry["name"]) for entry in zoe.log()} == {(759, "Ada Example"), mina}


def test_bluetoothctl_sees_what_we_advertise(people: Callable[[int, bluez.Air], Person]) -> None:
    if (missing := bluez.missing("bluetoothctl")) is not None:
        pytest.skip(missing)
    with bluez.room() as (one, other):
        running = people(759, one).command.start("nearby", "advertise", *CONSENT)
        one.wait(lambda air: air.on_air())
        control = BluetoothControl(other)
        try:
            control.type("scan on")
            control.expect(r"ManufacturerData Key: 0x004c|Device [0-9A-F:]{17}")
            address = one.transmissions()[0][0]
            control.type(f"info {address}")
            control.expect(r"Key: 0x004c")
            control.expect(r"02 15 3e e7 61 a0 f7 37 11 e3 a3 ac 08 00 20 0c")
        finally:
            control.leave()
        assert interrupt(running) == 130


def test_a_rolling_identifier_is_recognised_with_keys_only(
        people: Callable[[int, bluez.Air], Person]) -> None:
    with bluez.room() as (one, other):
        ada, zoe = people(759, one), people(65535, other)
        keys = ada.command.run("nearby", "share").ok().stdout
        sending = ada.command.start("nearby", "advertise", "--advertise", "rolling", "--json")
        one.wait(lambda air: air.on_air())
        stranger = zoe.watch("--duration", "6")
        assert not [event for event in map(json.loads, stranger.finish().ok().stdout.splitlines()) if "person" in event]
        zoe.command.run("nearby", "befriend", "-", stdin=keys).ok()
        friend = zoe.watch()
        wait_for(friend, lambda events: alerts(events))
        assert alerts(seen(friend))[0][0] == 759
        assert interrupt(friend) == 130 and interrupt(sending) == 130


def test_signing_out_ends_a_running_watch_and_leaves_nothing(people: Callable[[int, bluez.Air], Person]) -> None:
    with bluez.air() as air:
        ada = people(759, air)
        empty = {file for file in ada.command.home.rglob("*") if file.is_file()}
        ada.command.run("nearby", "share").ok()
        running = ada.watch("--advertise", "rolling")
        hear_until_mina_is_near(running, air, ("D0:00:00:00:FF:FF", ZOE))
        assert ada.command.run("logout", "recurse-center", "--json").ok().json["nearby"]["people"] >= 1
        done = running.finish()
        assert done.status == 0 and "signed out" in done.stderr, done
        air.wait(lambda air: not air.on_air())
        assert not {file for file in ada.command.home.rglob("*") if file.is_file()} - empty
        assert not ada.log()


def test_forgetting_everyone_makes_a_running_watch_restart(people: Callable[[int, bluez.Air], Person]) -> None:
    with bluez.air() as air:
        ada = people(759, air)
        running = ada.watch("--advertise", "rolling")
        hear_until_mina_is_near(running, air, ("D0:00:00:00:FF:FF", ZOE))
        assert not air.on_air(), "no friend has her keys"
        ada.command.run("nearby", "share").ok()
        air.wait(lambda air: air.on_air())
        before = air.on_air()
        ada.command.run("nearby", "forget", "--everyone").ok()
        air.wait(lambda air: not air.on_air())
        ada.command.run("nearby", "share").ok()
        air.wait(lambda air: air.on_air())
        assert air.on_air() != before
        assert running.is_running() and interrupt(running) == 130


def test_the_desktop_is_told_and_a_click_opens_the_page(
        people: Callable[[int, bluez.Air], Person], tmp_path: Path) -> None:
    if subprocess.run([bluez.PYTHON, "-c", "import dbusmock"], capture_output=True).returncode != 0:
        pytest.skip("python3-dbusmock is not installed for " + bluez.PYTHON)
    opened, opener = tmp_path / "opened", tmp_path / "opener"
    opener.write_text(f"#!/bin/sh\necho \"$1\" > '{opened}'\n")
    opener.chmod(0o755)
    with bluez.air() as air:
        desktop = subprocess.Popen(
            [bluez.PYTHON, "-m", "dbusmock", "--session", "--template", "notification_daemon", "-p",
             '{"capabilities": "body actions persistence"}'],
            env={"PATH": "/usr/bin:/bin", **air.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def call(method: str, *arguments: str) -> str:
            command = ["gdbus", "call", "--address", air.address, "--dest", "org.freedesktop.Notifications", "--object-path",
                       "/org/freedesktop/Notifications", "--method", "org.freedesktop.DBus.Mock." + method, *arguments]
            return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout

        try:
            ada = people(759, air)
            end = time.monotonic() + 20
            while not call("GetCalls") and time.monotonic() < end:
                time.sleep(0.1)
            running = ada.watch(BROWSER=str(opener))
            end = time.monotonic() + 30
            zoe = bytes.fromhex("1aff4c0002153ee761a0f73711e3a3ac0800200c9a660001ffffc5")
            while "Zoë Ångström is near" not in (told := call("GetMethodCalls", "Notify")):
                assert time.monotonic() < end, (told, seen(running), running.lines["stderr"])
                air.sight("D0:00:00:00:FF:FF", -60, zoe)
                time.sleep(0.2)
            assert "Show the profile" in told
            number = re.search(r"uint32 (\d+), 'dialog|uint32 (\d+)", told)
            assert number
            call("EmitSignal", "org.freedesktop.Notifications", "ActionInvoked", "us", "[<uint32 1>, <'default'>]")
            end = time.monotonic() + 20
            while not opened.exists() or not opened.read_text().strip():
                assert time.monotonic() < end, "no page was opened"
                time.sleep(0.1)
            assert "/directory/65535-" in opened.read_text()
            # Who is forgotten stands on the desktop no more, also when the watch that said so has ended.
            assert interrupt(running) == 130
            assert "<1>" not in call("GetMethodCalls", "CloseNotification")
            ada.command.run("nearby", "forget", "65535").ok()
            assert call("GetMethodCalls", "CloseNotification").count("<1>") == 1
        finally:
            desktop.kill()
            desktop.wait()


def test_an_adapter_that_is_switched_off_and_on_is_told_of_and_survived(people: Callable[[int, bluez.Air], Person]) -> None:
    with bluez.air() as air:
        running = people(759, air).watch()
        wait_for(running, lambda events: any(event.get("state") == "listening" for event in events))
        air.power(False)
        wait_for(running, lambda events: any(event.get("state") == "unavailable" for event in events))
        air.power(True)
        wait_for(running, lambda events: [event.get("state") for event in events].count("listening") >= 2)
        assert interrupt(running) == 130


def test_doctor_names_what_is_missing(handshake: Handshake) -> None:
    def findings(**environment: str) -> dict[str, dict[str, Any]]:
        done = handshake.run("doctor", "--json", **environment).ok()
        return {check["name"]: check for check in done.json["checks"] if check["name"].startswith("bluetooth")}

    nowhere = findings(DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent")
    assert nowhere["bluetooth bus"]["state"] == "limited" and nowhere["bluetooth bus"]["cure"]
    with bluez.bus() as address:
        empty = findings(DBUS_SYSTEM_BUS_ADDRESS=address)
        assert empty["bluetooth daemon"]["state"] == "limited" and "BlueZ" in empty["bluetooth daemon"]["detail"]
    with bluez.air() as air:
        assert findings(**air.environment)["bluetooth adapter"]["state"] == "works"
        air.power(False)
        off = findings(**air.environment)
        assert off["bluetooth power"]["state"] == "limited" and off["bluetooth power"]["cure"]
