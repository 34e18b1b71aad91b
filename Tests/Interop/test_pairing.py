"""`handshake nearby pair`: two commands on one machine exchange keys; nothing is stored unless both screens agree."""

import base64
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Handshake, binary
from terminal import Terminal

REFUSED = 5


class Side:
    """One person's command with a keyboard."""

    def __init__(self, home: Path, name: str, number: int) -> None:
        path = binary()
        assert path
        self.command, self.name, self.number = Handshake(path, home), name, number
        self.process: subprocess.Popen[str] | None = None

    def pair(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [str(self.command.path), "nearby", "pair", *arguments, "--name", self.name, "--me", str(self.number), "--json"],
            env=self.command.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def told(self) -> dict[str, Any]:
        assert self.process and self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.communicate()
        return dict(json.loads(line))

    def type(self, line: str) -> None:
        assert self.process and self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self) -> tuple[int, str, str]:
        assert self.process
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def friends(self) -> list[dict[str, Any]]:
        return list(self.command.run("nearby", "friends", "--json").ok().json["friends"])

    def close(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.command.end()


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Side, Side]]:
    ada, zoe = Side(tmp_path / "ada", "Ada Example", 759), Side(tmp_path / "zoe", "Zoë Ångström", 65535)
    yield ada, zoe
    ada.close()
    zoe.close()


def begin(ada: Side, zoe: Side) -> tuple[str, str]:
    """Both up to the digits, which each screen shows."""
    ada.pair("--local")
    code = ada.told()["code"]
    zoe.pair(code)
    return ada.told()["digits"], zoe.told()["digits"]


def test_two_people_pair_and_are_friends_until_one_ends_it(sides: tuple[Side, Side]) -> None:
    ada, zoe = sides
    first, second = begin(ada, zoe)
    assert first == second and re.fullmatch(r"\d{6}", first)
    for side in sides:
        side.type(first[:3] + " " + first[3:])
    results = [side.end() for side in sides]
    assert [status for status, _, _ in results] == [0, 0], results
    assert json.loads(results[0][1]) == {"person": 65535, "name": "Zoë Ångström", "days": 31}
    assert json.loads(results[1][1]) == {"person": 759, "name": "Ada Example", "days": 31}
    [friend] = ada.friends()
    assert (friend["person"], friend["name"]) == (65535, "Zoë Ångström")
    ada.command.run("nearby", "unfriend", "65535").ok()
    assert ada.friends() == [] and len(zoe.friends()) == 1


def test_who_connects_without_the_code_does_not_end_a_pairing(sides: tuple[Side, Side]) -> None:
    ada, zoe = sides
    ada.pair("--local")
    code = ada.told()["code"]
    # 01, the address, the port: see the circles dossier, chapter 5.
    place = base64.b32decode(code.rpartition(".")[2] + "====")
    assert place[:5] == bytes([1, 127, 0, 0, 1])
    # Nothing, half a length, a length that lies, and a message of another pairing.
    for content in (b"", b"\0", b"\xff\xff", b"\0\x41\x02" + bytes(64)):
        with socket.create_connection(("127.0.0.1", int.from_bytes(place[5:])), timeout=10) as stranger:
            stranger.sendall(content)
            stranger.shutdown(socket.SHUT_WR)
            assert stranger.recv(1) == b""
    zoe.pair(code)
    digits = ada.told()["digits"]
    assert zoe.told()["digits"] == digits
    for side in sides:
        side.type(digits)
    assert [side.end()[0] for side in sides] == [0, 0]


def test_different_digits_on_one_screen_store_nothing_on_either(sides: tuple[Side, Side]) -> None:
    """CI40: the one who agreed learns that the other did not."""
    ada, zoe = sides
    digits, _ = begin(ada, zoe)
    ada.type(digits)
    zoe.type("000000" if digits != "000000" else "111111")
    for side in sides:
        status, out, err = side.end()
        assert status == REFUSED and out == "" and json.loads(err)["error"]["code"] == "pairing_failed", (status, out, err)
        assert side.friends() == []


def test_three_failures_are_enough_for_ten_minutes(sides: tuple[Side, Side]) -> None:
    ada, zoe = sides
    for _ in range(3):
        digits, _ = begin(ada, zoe)
        ada.type(digits)
        zoe.type("no")
        assert [side.end()[0] for side in sides] == [REFUSED, REFUSED]
    for side in sides:
        done = side.command.run("nearby", "pair", "--by-hand", "--name", "x", "--me", "5", "--json")
        assert done.status == REFUSED and "minutes" in done.stderr, done


def test_a_code_that_is_none_and_a_listener_that_is_gone_are_said(sides: tuple[Side, Side]) -> None:
    ada, zoe = sides
    for code in ("x", "SHP1", "https://example.test", "A" * 400):
        done = zoe.command.run("nearby", "pair", code, "--name", "x", "--me", "5", "--json")
        assert done.status == 64 and "pairing_failed" in done.stderr, (code, done)
    ada.pair("--local")
    code = ada.told()["code"]
    assert ada.process
    ada.process.send_signal(signal.SIGINT)
    ada.end()
    gone = zoe.command.run("nearby", "pair", code, "--name", "x", "--me", "5", "--json")
    assert gone.status not in (0, 70) and "pairing_failed" in gone.stderr, gone


def test_on_a_terminal_the_code_is_a_picture_and_the_digits_are_asked_for(sides: tuple[Side, Side]) -> None:
    ada, zoe = sides
    path = str(ada.command.path)
    screen = Terminal([path, "nearby", "pair", "--local", "--name", "Ada Example", "--me", "759"],
                      {**ada.command.environment, "TERM": "xterm"}, columns=100, rows=60)
    try:
        screen.expect("handshake nearby pair ")
        assert "Scan this code" in screen.text and "█" in screen.text
        code = re.search(r"handshake nearby pair (\S+)", screen.text)
        assert code
        zoe.pair(code[1])
        digits = zoe.told()["digits"]
        screen.expect("Type the six digits that the other screen shows:")
        assert f"This screen shows {digits[:3]} {digits[3:]}." in screen.text
        screen.type(digits + "\n")
        zoe.type(digits)
        assert screen.finish() == 0 and "You and Zoë Ångström recognise each other for 31 days, as number 65535." in screen.text
        assert zoe.end()[0] == 0
    finally:
        screen.close()
    assert os.path.isdir(ada.command.home)
