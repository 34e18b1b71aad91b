"""An attacker floods, replays, relays and edits keys, and hides no member and adds none."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import attacker
import bluez
from command import Finished, Handshake, binary
from circles import ADA, QUENTIN, ZOE, Circle, Member, serving
from test_circles import circle, members  # noqa: F401 (fixtures)
from test_nearby_radio import Person, alerts, interrupt, people, seconds_until_told, seen, wait_for  # noqa: F401 (fixtures)

reason = bluez.missing()
pytestmark = [pytest.mark.skipif(reason is not None, reason=reason or ""), pytest.mark.timeout(300)]


class Scene:
    """What Ada has recorded of Zoë, whom her circle verifies; and what an attacker makes of it."""

    def __init__(self, ada: Member, recording: Path, folder: Path) -> None:
        self.ada, self.recording, self.folder = ada, recording, folder

    def attack(self, name: str) -> Path:
        """A recording that the attacker's script has changed."""
        done = subprocess.run([sys.executable, attacker.__file__, name, str(self.recording)], capture_output=True, text=True,
                              timeout=60, check=True)
        path = self.folder / f"{name}.jsonl"
        path.write_text(done.stdout)
        return path

    def replay(self, path: Path, *options: str) -> Finished:
        # Her own number is another one than any that the attacker invents.
        return self.ada.command.run("nearby", "replay", str(path), "--no-delay", "--json", *options, seconds=240).ok()

    def events(self, path: Path, *options: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.replay(path, *options).stdout.splitlines()]


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Member, bluez.Air, Path]]:
    """Ada, her air and her recording: made once, because each command takes seconds to make its tables. The tests write to copies."""
    folder = tmp_path_factory.mktemp("heard")
    recording = folder / "heard.jsonl"
    with serving(folder / "circle") as server, bluez.room(monitor="none") as (one, other):
        ada, zoe = Member(server, ADA, folder / "ada/home", one), Member(server, ZOE, folder / "zoe/home", other)
        try:
            for member in (ada, zoe):
                member.join()
            ada.nearby("circle", "sync")
            sending = zoe.command.start("nearby", "advertise", "--advertise", "rolling", "--json")
            running = ada.command.start("nearby", "watch", "--json", "--record", str(recording))
            wait_for(running, lambda events: [person for person, _ in alerts(events)] == [ZOE])
            # Discovery reports every packet; a monitor, only changes of the signal.
            end = time.monotonic() + 80
            while len(recording.read_text().splitlines()) < 60:
                assert time.monotonic() < end
                time.sleep(0.1)
            assert interrupt(running) == 130 and interrupt(sending) == 130
            yield ada, one, recording
        finally:
            for member in (ada, zoe):
                member.command.end()


@pytest.fixture
def scene(heard: tuple[Member, bluez.Air, Path], tmp_path: Path) -> Iterator[Scene]:
    recorder, air, recording = heard
    # The vault's key is beside the command's folder, where a user's configuration is.
    shutil.copytree(recorder.command.home.parent, tmp_path / "ada")
    ada = Member(recorder.circle, ADA, tmp_path / "ada/home", air)
    try:
        yield Scene(ada, recording, tmp_path)
    finally:
        ada.command.end()


FRIEND = 36


@pytest.fixture
def company(members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> Iterator[Scene]:  # noqa: F811
    """What two members and a friend send, each from a device of their own, as Ada would record it in half a minute."""
    recording = tmp_path / "heard.jsonl"
    path = binary()
    assert path
    friend = Handshake(path, tmp_path / "friend")
    with bluez.air() as air:
        ada, zoe, quentin = (members(number, air) for number in (ADA, ZOE, QUENTIN))
        ada.nearby("circle", "sync")
        friend.environment |= air.environment
        keys = friend.run("nearby", "share", "--me", str(FRIEND)).ok().stdout
        ada.command.run("nearby", "befriend", "-", stdin=keys).ok()
        begin, heard = time.time() - 30, []
        for index, command in enumerate((zoe.command, quentin.command, friend)):
            sending = command.start("nearby", "advertise", "--advertise", "rolling", "--json")
            air.wait(lambda air: air.on_air())
            [data] = air.on_air()
            assert interrupt(sending) == 130
            air.wait(lambda air: not air.on_air())
            heard += [{"t": round(begin + turn / 2 + index / 10, 3), "addr": f"2C:00:00:00:00:{index:02X}", "type": "random", "rssi": -60,
                       "ad": data.hex()} for turn in range(50)]
    recording.write_text(attacker.text(attacker.merged(heard)))
    yield Scene(ada, recording, tmp_path)
    friend.end()


def people_in(events: list[dict[str, Any]], kind: str) -> set[int]:
    return {event["person"] for event in events if event["event"] == kind}


def test_a_flood_of_invented_numbers_hides_no_member_and_adds_none(scene: Scene) -> None:
    """Half an hour of ten numbers a second: the member is told of by name, and of the others none without the word that any device can send it."""
    scene.ada.command.run("login", "recurse-center", "--base-url", scene.ada.circle.service, "--token-file", "-", "--json",
                          stdin=f"sandbox-personal-access-token-{ADA}\n").ok()
    events = scene.events(scene.attack("flood"))
    told = [(event["person"], event["name"], event["trust"]) for event in events if event["event"] == "alert" and not event["update"]]
    assert [one for one in told if one[0] == ZOE] == [(ZOE, "Zoë Ångström", "circle")]
    named = people_in(events, "introduced") - {ZOE}
    about = [event for event in events if event["event"] in ("near", "alert") and event["person"] in named]
    assert named & {event["person"] for event in about} and not any(event["verified"] for event in about)
    assert {person for person, _, _ in told} <= named | {ZOE}


def test_a_crowd_from_one_device_is_no_crowd(scene: Scene) -> None:
    events = scene.events(scene.attack("crowd"))
    assert people_in(events, "alert") == {ZOE}
    assert any(event["event"] == "trouble" and event["code"] == "one_transmitter" for event in events)


@pytest.mark.parametrize("count", [1, 12])
def test_a_member_whose_number_others_send_is_told_of_as_verified(scene: Scene, count: int) -> None:
    """CI47: one who begins before the member comes, alone or in a crowd."""
    path = scene.attack("impersonate")
    if count == 1:
        path.write_text(attacker.text(attacker.impersonate(attacker.rows(scene.recording.read_text()), people=1)))
    events = scene.events(path)
    assert ZOE in people_in(events, "arrived")
    told = [(event["person"], event["trust"]) for event in events if event["event"] == "alert" and not event["update"]]
    assert told == ([(ZOE, "unverified")] if count == 1 else []) + [(ZOE, "circle")]


def test_a_member_under_whose_address_others_send_is_told_of(scene: Scene) -> None:
    """CI46."""
    events = scene.events(scene.attack("address"))
    told = [(event["person"], event["trust"]) for event in events if event["event"] == "alert" and not event["update"]]
    assert told == [(ZOE, "circle")]
    near = [event for event in events if event["event"] == "near"]
    assert {event["suspect"] for event in near if event["person"] == ZOE} == {False}
    assert any(event["suspect"] for event in near)


def test_of_a_number_that_anyone_can_send_the_log_says_so_and_no_wave_is_sent(
        members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> None:  # noqa: F811
    """CI44: the member herself was not near."""
    with bluez.room(monitor="none") as (one, other):
        ada, _ = members(ADA, one), members(ZOE, other)
        ada.nearby("circle", "sync")
    scene = Scene(ada, tmp_path / "nothing.jsonl", tmp_path)
    path = scene.folder / "number.jsonl"
    begin = time.time() - 200
    path.write_text(attacker.text([{"t": begin + second, "addr": "C0:DE:00:00:00:09", "type": "random", "rssi": -50,
                                    "ad": attacker.plain(ZOE)} for second in range(30)]))
    told = [event for event in scene.events(path, "--keep") if event["event"] == "alert"]
    assert {(event["person"], event["verified"]) for event in told} == {(ZOE, False)}
    assert [(entry["person"], entry["trust"]) for entry in scene.ada.log()] == [(ZOE, "unverified")]
    assert "unverified" in scene.ada.command.run("nearby", "log").ok().stdout
    assert scene.ada.command.run("nearby", "log", "--csv").ok().stdout.splitlines()[1].endswith(",unverified")
    assert "any device can send this number" in scene.ada.command.run("nearby", "show", str(ZOE)).ok().stdout
    refused = scene.ada.command.run("nearby", "wave", str(ZOE), "--text", "Hello")
    assert refused.status != 0 and "unverified" in refused.stderr, refused


def test_keys_of_a_member_that_another_has_signed_are_refused(scene: Scene) -> None:
    """CI20: anyone can make and sign a file that names a member or the user."""
    shared = json.loads(scene.ada.command.run("nearby", "share", "--me", str(ADA), "--days", "2").ok().stdout)
    for person, reason in ((ZOE, "nearby pair"), (ADA, "your own")):
        made = attacker.signed_again(shared, person)
        done = scene.ada.command.run("nearby", "befriend", "-", stdin=json.dumps(made))
        assert done.status == 64 and reason in done.stderr, done
    assert scene.ada.command.run("nearby", "friends", "--json").ok().json == {"friends": []}
    # The signature itself is right: of a number of no member, the file is taken, and the friend is one by a file.
    done = scene.ada.command.run("nearby", "befriend", "-", "--json", stdin=json.dumps(attacker.signed_again(shared, 36))).ok()
    assert len(done.json["fingerprint"].split()) == 8
    [friend] = scene.ada.command.run("nearby", "friends", "--json").ok().json["friends"]
    assert (friend["person"], friend["by"]) == (36, "file")
    assert "by keys from a file" in scene.ada.command.run("nearby", "show", "36").ok().stdout


def test_what_is_sent_again_later_is_not_recognised(scene: Scene) -> None:
    """CI8."""
    before = scene.ada.log()
    events = scene.events(scene.attack("replay"), "--keep")
    assert not [event for event in events if "person" in event], events
    assert scene.ada.log() == before


def test_what_another_device_repeats_has_a_remark(scene: Scene) -> None:
    events = scene.events(scene.attack("relay"))
    assert people_in(events, "alert") == {ZOE}
    assert any(event["relayed"] for event in events if event["event"] == "alert")


def told_of(events: list[dict[str, Any]]) -> set[tuple[int, str, bool]]:
    """Of whom the user was told: number, trust, and whether with the remark."""
    return {(event["person"], event["trust"], event["relayed"]) for event in events if event["event"] == "alert"}


@pytest.mark.parametrize(("attack", "is_relayed"), [("relay", True), ("together", True), ("address", False)])
def test_no_attack_silences_members_and_friends_who_are_three(company: Scene, attack: str, is_relayed: bool) -> None:
    """CI46: one radio that repeats all of them, all under one address, and numbers under the addresses of all."""
    assert told_of(company.events(company.recording)) == {(ZOE, "circle", False), (QUENTIN, "circle", False), (FRIEND, "file", False)}
    events = company.events(company.attack(attack))
    assert told_of(events) == {(ZOE, "circle", is_relayed), (QUENTIN, "circle", is_relayed), (FRIEND, "file", is_relayed)}
    near = [event for event in events if event["event"] == "near" and event["verified"]]
    assert {event["person"] for event in near} == {ZOE, QUENTIN, FRIEND} and not any(event["suspect"] for event in near)


def test_identifiers_that_hold_every_place_keep_no_member_from_the_list(scene: Scene) -> None:
    """CI47: 910 packets a second, of 4,096 identifiers that never fall silent."""
    events = scene.events(scene.attack("hold"))
    assert told_of(events) == {(ZOE, "circle", False)}
    assert people_in(events, "near") == {ZOE}


def test_the_recording_itself_is_the_member(scene: Scene) -> None:
    assert people_in(scene.events(scene.recording), "alert") == {ZOE}
    assert [(entry["person"], entry["trust"]) for entry in scene.ada.log()] == [(ZOE, "circle")]
    assert scene.ada.command.run("nearby", "log").ok().stdout.splitlines()[1].endswith(" circle")
    assert "by a circle" in scene.ada.command.run("nearby", "show", str(ZOE)).ok().stdout


def test_edited_keys_are_refused_whatever_is_edited(
        people: Callable[[int, bluez.Air], Person]) -> None:  # noqa: F811
    """CI20: no edit makes another person appear or one vanish."""
    with bluez.air() as air:
        ada, zoe = people(759, air), people(65535, air)
        shared = json.loads(zoe.command.run("nearby", "share", "--days", "2").ok().stdout)
        ada.command.run("nearby", "befriend", "-", stdin=json.dumps(shared)).ok()
        before = ada.command.run("nearby", "friends", "--json").ok().stdout
        count = 0
        for place, edited in attacker.edits(shared):
            done = ada.command.run("nearby", "befriend", "-", stdin=json.dumps(edited))
            assert done.status not in (0, 70) and "[" not in done.stdout, (place, done)
            count += 1
        assert count > 20
        assert ada.command.run("nearby", "friends", "--json").ok().stdout == before


def test_a_live_flood_does_not_keep_a_member_from_the_list(
        members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> None:  # noqa: F811
    """CI47 on the bus: the member comes while the flood goes on, and is told of within ten seconds."""
    with bluez.room() as (one, other):
        ada, zoe = members(ADA, one), members(ZOE, other)
        ada.nearby("circle", "sync")
        recording = tmp_path / "heard.jsonl"
        watching = ada.command.start("nearby", "watch", "--json", "--record", str(recording))
        wait_for(watching, lambda events: any(event.get("state") == "listening" for event in events))
        sending = None
        for number in range(400):
            one.sight("C0:DE:00:00:00:01", -40, bytes.fromhex(attacker.plain(1_000 + number)))
            if number == 100:
                sending = zoe.command.start("nearby", "advertise", "--advertise", "rolling", "--json")
            if ZOE in [person for person, _ in alerts(seen(watching))]:
                break
        assert sending
        wait_for(watching, lambda events: ZOE in [person for person, _ in alerts(events)])
        assert seconds_until_told(watching, ZOE, recording) < 10
        assert {person for person, _ in alerts(seen(watching))} == {ZOE}
        assert interrupt(watching) == 130 and interrupt(sending) == 130
