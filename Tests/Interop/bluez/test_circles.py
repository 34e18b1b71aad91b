"""A circle: strangers join at its server, recognise each other without a network, wave, hide and leave.

Two machines with Bluetooth, relayed to each other, one circle's server beside a sandbox of the Recurse Center, and one command
for each person. Neither person is signed in to anything on the machine.
"""

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

import bluez
from circles import ADA, QUENTIN, ZOE, Circle, Member, serving
from preloaded import passage
from terminal import Terminal
from test_nearby_radio import alerts, interrupt, seconds_until_told, seen, wait_for

reason = bluez.missing()
pytestmark = pytest.mark.skipif(reason is not None, reason=reason or "")


@pytest.fixture
def circle(tmp_path: Path) -> Iterator[Circle]:
    with serving(tmp_path / "circle") as one:
        yield one


@pytest.fixture
def members(circle: Circle, tmp_path: Path) -> Iterator[Callable[[int, bluez.Air], Member]]:
    made: list[Member] = []

    def make(number: int, air: bluez.Air) -> Member:
        made.append(Member(circle, number, tmp_path / str(number), air))
        made[-1].join()
        return made[-1]

    yield make
    for member in made:
        member.command.end()


def test_strangers_of_a_circle_see_name_and_photo_in_ten_seconds_without_any_server(
        circle: Circle, members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> None:
    """CI4, and the first of issue 16's ends: the two have never met, and ask neither the service nor the circle."""
    with bluez.room() as (one, other):
        ada, quentin = members(ADA, one), members(QUENTIN, other)
        # Ada joined first: she has yet to hear of Quentin. Afterwards the circle's server and the service are gone: they are one process.
        assert ada.nearby("circle", "sync")["members"] == 1
        photos = {person: circle.photo(person) for person in (ADA, QUENTIN)}
        assert photos[ADA] != photos[QUENTIN]
        circle.forget_requests()
        circle.process.send_signal(signal.SIGSTOP)
        try:
            recordings = [tmp_path / f"heard-by-{person}.jsonl" for person in (ADA, QUENTIN)]
            first, second = (member.watch("--record", str(file)) for member, file in zip((ada, quentin), recordings))
            wait_for(first, lambda events: "Quentin Late" in [name for _, name in alerts(events)])
            wait_for(second, lambda events: "Ada Example" in [name for _, name in alerts(events)])
            took = [seconds_until_told(*each) for each in zip((first, second), (QUENTIN, ADA), recordings)]
            assert max(took) < 10, took
            # No server answers, so a photo that is here now was here at the alert.
            for member, person in ((ada, QUENTIN), (quentin, ADA)):
                photo = tmp_path / f"{person}.png"
                member.command.run("nearby", "show", str(person), "--photo", str(photo)).ok()
                assert photo.read_bytes() == photos[person]
            with pytest.raises(requests.exceptions.ReadTimeout):
                requests.get(f"{circle.service}/_sandbox/requests", timeout=1)
            # 16 bytes of a service UUID and their header, and nothing else.
            assert all(len(data) == 18 and data[:2] == b"\x11\x07" for data in one.on_air() + other.on_air())
            assert interrupt(first) == 130 and interrupt(second) == 130
        finally:
            circle.process.send_signal(signal.SIGCONT)
        assert circle.asked_service() == []
        [entry] = ada.log()
        assert entry["name"] == "Quentin Late" and entry["closest_metres"] is None
        # BE-28: the sender states no power, so how near is a guess by the strength (-61 dBm).
        assert (entry["strongest_dbm"], entry["proximity"]) == (-61, "near"), entry
        assert "a few metres away (rough)" in ada.command.run("nearby", "log").ok().stdout


def test_neither_the_service_nor_the_circles_server_learns_who_is_near(circle: Circle, tmp_path: Path) -> None:
    """CI4: both could be asked, for both people are signed in to the service too, and no server is stopped."""
    with bluez.room() as (one, other):
        ada, quentin = Member(circle, ADA, tmp_path / "ada/home", one), Member(circle, QUENTIN, tmp_path / "quentin/home", other)
        people = ((ada, QUENTIN, "Quentin Late"), (quentin, ADA, "Ada Example"))
        with passage(circle.port, tmp_path) as of_ada, passage(circle.port, tmp_path) as of_quentin:
            passages = (of_ada, of_quentin)
            try:
                for (member, _, _), one_way in zip(people, passages, strict=True):
                    member.command.environment |= one_way.environment
                    member.join()
                    member.sign_in()
                ada.nearby("circle", "sync")
                assert "GET /circle/v1/keys" in " ".join(of_ada.requests()) and "PUT /circle/v1/me/keys" in of_quentin.requests()
                photos = {person: circle.photo(person) for person in (ADA, QUENTIN)}

                def asked() -> tuple[list[list[str]], list[str]]:
                    """What the circle's server was asked by each, and the service by both, since the last time."""
                    told = [one_way.requests() for one_way in passages], [entry["path"] for entry in circle.asked_service()]
                    circle.forget_requests()
                    for one_way in passages:
                        one_way.forget()
                    return told

                # One after the other, each is alone.
                asked()
                for member, _, _ in people:
                    assert '"alert"' not in member.watch("--duration", "6").finish().ok().stdout
                alone = asked()
                watches = [member.watch() for member, _, _ in people]
                for running, (_, person, name) in zip(watches, people, strict=True):
                    wait_for(running, alerts)
                    assert set(alerts(seen(running))) == {(person, name)}
                assert [interrupt(running) for running in watches] == [130, 130]
                together = asked()
                for member, person, _ in people:
                    photo = tmp_path / f"{person}.png"
                    member.command.run("nearby", "show", str(person), "--photo", str(photo)).ok()
                    assert photo.read_bytes() == photos[person]
                shown = asked()
                assert together == alone, "what is asked depends on who is near"
                assert shown == ([[], []], []), "what is asked depends on whose profile is opened"
                # That it would have been seen: a number of no member, which any device can send, is looked up at the service.
                running = ada.watch("--alerts", "none")
                end = time.monotonic() + 40
                while not (paths := [entry["path"] for entry in circle.asked_service()]):
                    assert time.monotonic() < end and running.is_running()
                    one.sight("D0:00:00:00:1A:2C", -61, bytes.fromhex("1aff4c0002153ee761a0f73711e3a3ac0800200c9a6600011a2cc5"))
                    time.sleep(0.1)
                assert paths[0] == "/api/v1/profiles/6700" and interrupt(running) == 130
            finally:
                for member in (ada, quentin):
                    member.command.end()


def test_what_members_see_is_changed_and_shown(circle: Circle, members: Callable[[int, bluez.Air], Member]) -> None:
    """CI57, with the command."""
    with bluez.air() as air:
        ada, zoe = members(ADA, air), members(ZOE, air)

        def shown() -> tuple[str, bool]:
            zoe.nearby("circle", "sync")
            [row] = zoe.nearby("circle", "members")["members"]
            return row["batch"], row["waves"]

        before = ada.nearby("circle", "settings")
        assert before["settings"] == {"photo": True, "batch": True, "waves": True, "others_photos": True}
        assert before["hidden"] == [] and before["told"] and before["address"] == circle.address
        batch, waves = shown()
        assert batch and waves
        off = ada.nearby("circle", "settings", "--circle", circle.address, "--photo", "off", "--batch", "off", "--waves", "off")
        assert off["settings"] == {"photo": False, "batch": False, "waves": False, "others_photos": True} and off["told"]
        assert shown() == ("", False)
        words = ada.command.run("nearby", "circle", "settings").ok().stdout
        assert "off; members do not see it" in words and "no one" in words
        again = ada.command.run("nearby", "circle", "settings", "--photo", "off", "--waves", "off").ok()
        assert "Nothing left to change" in again.stderr and "off; no one can wave at you" in again.stdout
        # Without the server it holds here, and the server is told later.
        circle.process.send_signal(signal.SIGSTOP)
        try:
            done = ada.command.run("nearby", "circle", "settings", "--batch", "on", "--timeout", "5", "--json")
            # It hangs: the command waits for it, and the change is stored already.
            assert done.status == 6, done
        finally:
            circle.process.send_signal(signal.SIGCONT)
        ada.nearby("circle", "sync")
        assert shown() == (batch, False)
        ada.nearby("circle", "hide", str(ZOE))
        assert ada.nearby("circle", "settings")["hidden"] == [ZOE]
        ada.nearby("circle", "pause")
        assert "They still see your name" in ada.command.run("nearby", "circle", "settings").ok().stdout
        assert ada.command.run("nearby", "circle", "settings", "--photo", "maybe").status == 64
        assert ada.command.run("nearby", "circle", "settings", "--circle", "http://127.0.0.1:1/none").status == 64


def test_waves_that_both_send_are_told_to_both(circle: Circle, members: Callable[[int, bluez.Air], Member]) -> None:
    with bluez.room() as (one, other):
        ada, zoe = members(ADA, one), members(ZOE, other)
        ada.nearby("circle", "sync")
        refused = ada.command.run("nearby", "wave", str(ZOE), "--json")
        assert refused.status != 0 and "have not met" in refused.stderr
        first, second = ada.watch(), zoe.watch()
        wait_for(first, alerts)
        wait_for(second, alerts)
        assert interrupt(first) == 130 and interrupt(second) == 130
        assert ada.nearby("wave", str(ZOE), "--text", "Coffee?") == {"answers": [], "waiting": True, "told": True}
        assert zoe.nearby("wave") == {"answers": [], "waiting": False}
        [told] = zoe.nearby("wave", str(ADA), "--text", "Tea!")["answers"]
        assert (told["person"], told["text"]) == (ADA, "Coffee?")
        [answer] = ada.nearby("wave")["answers"]
        assert (answer["person"], answer["name"], answer["text"]) == (ZOE, "Zoë Ångström", "Tea!")
        assert ada.nearby("wave") == {"answers": [], "waiting": False}


def test_a_pause_is_silent_and_what_follows_is_of_another_seed(members: Callable[[int, bluez.Air], Member]) -> None:
    """CI34."""
    with bluez.air() as air:
        ada = members(ADA, air)
        running = ada.watch()
        air.wait(lambda air: air.on_air())
        before = air.on_air()
        ada.nearby("circle", "pause")
        air.wait(lambda air: not air.on_air())
        assert running.is_running()
        ada.nearby("circle", "resume")
        air.wait(lambda air: air.on_air())
        assert air.on_air() != before
        assert interrupt(running) == 130


def test_a_pause_in_one_circle_leaves_the_other_one_on_the_air(
        members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> None:
    """CI52: two circles and friends are three numbers under three addresses."""
    with serving(tmp_path / "other") as other, bluez.air() as air:
        ada = members(ADA, air)
        member = Member(other, ADA, ada.command.home, air)
        member.join()
        running = ada.watch()
        air.wait(lambda air: len(air.on_air()) == 2)
        ada.command.run("nearby", "share", "--me", str(ADA)).ok()
        air.wait(lambda air: len(air.on_air()) == 3)
        sent = air.transmissions()
        assert len({address for address, _ in sent}) == len({data for _, data in sent}) == 3
        assert all(len(data) == 18 and data[:2] == b"\x11\x07" for _, data in sent)
        ada.nearby("circle", "pause", "--circle", other.address)
        air.wait(lambda air: len(air.on_air()) == 2)
        assert not any("turns" in event.get("message", "") for event in seen(running))
        ada.nearby("circle", "leave", "--circle", ada.circle.address)
        air.wait(lambda air: len(air.on_air()) == 1)
        assert interrupt(running) == 130
        member.command.end()


def sender(events: list[dict[str, Any]]) -> str | None:
    """What the radio that sends said last."""
    return next((event["state"] for event in reversed(events) if event["event"] == "radio" and event["task"] == "send"), None)


def test_circles_take_turns_where_all_have_one_address(
        members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> None:
    """CI53: the user is told once."""
    with serving(tmp_path / "other") as other, bluez.air(extended=0) as air:
        ada = members(ADA, air)
        member = Member(other, ADA, ada.command.home, air)
        member.join()
        running = ada.watch()
        # Between the terms of two circles nothing is sent for up to 299 s: who looks at the air would wait for that.
        wait_for(running, lambda events: sender(events) in ("sending", "silent"))
        air.power(False)
        wait_for(running, lambda events: sender(events) == "unavailable")
        air.power(True)
        wait_for(running, lambda events: sender(events) in ("sending", "silent"))
        assert len(air.on_air()) <= 1
        told = [event["message"] for event in seen(running) if event.get("code") == "taking_turns"]
        assert told == ["This adapter sends one identifier at a time, so your 2 circles take turns of 15 minutes."]
        assert interrupt(running) == 130
        member.command.end()


def test_a_watch_that_cannot_record_ends_also_for_a_member_of_a_circle(
        members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> None:
    """What keeps the circle current never ends by itself."""
    with bluez.air() as air:
        ada = members(ADA, air)
        done = ada.command.run("nearby", "watch", "--record", str(tmp_path / "missing" / "file"))
        assert done.status == 64 and "missing/file" in done.stderr


def test_who_is_hidden_removed_or_has_left_is_recognised_no_more(
        circle: Circle, members: Callable[[int, bluez.Air], Member]) -> None:
    with bluez.room() as (one, other):
        ada, zoe = members(ADA, one), members(ZOE, other)
        ada.nearby("circle", "sync")
        ada.nearby("circle", "hide", str(ZOE))
        zoe.nearby("circle", "sync")
        assert ada.members() == [] and zoe.members() == []
        ada.nearby("circle", "unhide", str(ZOE))
        for member in (zoe, ada):
            member.nearby("circle", "sync")
        assert ada.members() == [(ZOE, "Zoë Ångström")] and zoe.members() == [(ADA, "Ada Example")]
        assert "no member any more" in circle.order(f"remove {ADA}")
        zoe.nearby("circle", "sync")
        assert zoe.members() == []
        removed = ada.command.run("nearby", "circle", "sync", "--json")
        assert removed.status != 0 and "member" in removed.stderr, removed
        zoe.nearby("circle", "leave")
        assert zoe.command.run("nearby", "circle", "members", "--json").status != 0


def test_an_identity_whose_device_is_lost_is_replaced(
        circle: Circle, members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> None:
    with bluez.air() as air:
        ada, zoe = members(ADA, air), members(ZOE, air)
        second = Member(circle, ADA, tmp_path / "second", air)
        try:
            refused = second.try_to_join()
            assert refused.status != 0 and "circle join URL --replace" in refused.stderr, refused
            done = second.try_to_join("--replace").ok()
            assert "This replaces your identity" in done.stderr
            assert second.members() == [(ZOE, "Zoë Ångström")]
            lost = ada.command.run("nearby", "circle", "sync", "--json")
            assert lost.status != 0 and "signed out" in lost.stderr, lost
            zoe.nearby("circle", "sync")
            [row] = zoe.nearby("circle", "members")["members"]
            assert (row["person"], row["trust"]) == (ADA, "unverified")
        finally:
            second.command.end()


def test_a_terminal_asks_before_an_identity_is_replaced(circle: Circle, tmp_path: Path) -> None:
    with bluez.air() as air:
        ada = Member(circle, ADA, tmp_path / "ada", air).command
        screen = Terminal([str(ada.path), "nearby", "circle", "join", circle.address, "--browser", "print", "--replace"],
                          {**ada.environment, "TERM": "xterm"}, columns=120)
        try:
            screen.expect("Replace it? Type yes or no:")
            assert "Your other devices are signed out" in screen.text
            screen.type("no\n")
            assert screen.finish() != 0
            assert "Nothing was replaced." in screen.text and "/v1/attempts/" not in screen.text
        finally:
            screen.close()
            ada.end()
