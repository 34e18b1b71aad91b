"""What a member or a friend sends, recorded on another machine and audited."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import bluez
from circles import ADA, ZOE, Member
from command import Handshake, binary
from preloaded import later
from test_circles import circle, members  # noqa: F401 (fixtures)
from test_nearby_radio import interrupt

reason = bluez.missing()
pytestmark = pytest.mark.skipif(reason is not None, reason=reason or "")


def assert_only_an_identifier(row: dict[str, Any]) -> None:
    """What is heard is 16 bytes of a random service UUID with their header and nothing beside them, under an address that cannot be resolved."""
    data = bytes.fromhex(row["ad"])
    assert len(data) == 18 and data[:2] == b"\x11\x07", row
    assert UUID(bytes=data[:1:-1]).version == 4, row
    # Of a random address the first two bits say of which kind it is.
    assert row["type"] == "random" and int(row["addr"][:2], 16) >> 6 == 0b00, row


def test_what_is_sent_is_audited_on_another_machine(
        members: Callable[[int, bluez.Air], Member], tmp_path: Path) -> None:  # noqa: F811
    """The last of issue 16's ends, for the part of an hour that a test has: one identifier, and nothing beside it."""
    recording, changed = tmp_path / "sent.jsonl", tmp_path / "changed.jsonl"
    with bluez.room(monitor="none") as (one, other):
        ada, zoe = members(ADA, one), members(ZOE, other)
        sending = ada.command.start("nearby", "advertise", "--advertise", "rolling", "--json")
        listening = zoe.command.start("nearby", "watch", "--alerts", "none", "--json", "--record", str(recording))
        end = time.monotonic() + 40
        while not recording.exists() or len(recording.read_text().splitlines()) < 5:
            assert time.monotonic() < end and listening.is_running()
            time.sleep(0.1)
        assert interrupt(listening) == 130 and interrupt(sending) == 130

        def audit(member: Member, file: Path) -> tuple[int, str, int, list[str]]:
            done = member.command.run("nearby", "audit", str(file), "--json")
            told = json.loads(done.stdout)
            assert sum(scope["identifiers"] for scope in told["scopes"]) == told["identifiers"] and told["scopes"]
            return done.status, told["verdict"], told["identifiers"], [finding["rule"] for finding in told["findings"]]

        status, verdict, count, findings = audit(ada, recording)
        # Two where a change of the identifier came in between.
        assert (status, verdict, findings) == (2, "too_short", []) and count in (1, 2)
        rows = [json.loads(line) for line in recording.read_text().splitlines()]
        for row in rows:
            assert_only_an_identifier(row)
        assert len({(row["addr"], row["ad"]) for row in rows}) == count, "an address for each identifier"
        named = [row | {"ad": row["ad"] + "0409" + b"Ada".hex()} for row in rows]
        changed.write_text("".join(json.dumps(row) + "\n" for row in named))
        assert audit(ada, changed) == (1, "linked", count, ["L5"])
        assert audit(zoe, recording) == (2, "too_short", 0, []), "another person's identifiers do not count"


@pytest.mark.timeout(300)
def test_what_is_sent_in_eight_terms_is_clean(tmp_path: Path) -> None:
    """The last of issue 16's ends, CI12: another machine hears every other change of the identifier; both clocks are moved from one to the next."""
    path = binary()
    assert path
    ada, zoe = Handshake(path, tmp_path / "ada/home"), Handshake(path, tmp_path / "zoe/home")
    shared = json.loads(ada.run("nearby", "share", "--me", str(ADA), "--days", "3").ok().stdout)
    keys = {int(day): bytes.fromhex(key) for day, key in shared["keys"].items()}

    def change(window: int) -> int:
        """When the identifier of a window begins (circles dossier 2)."""
        code = hmac.new(keys[window // 96], b"SH2 off" + window.to_bytes(4, "big"), hashlib.sha256).digest()
        return window * 900 + int.from_bytes(code[:4], "big") % 300

    def listen(window: int, lead: int) -> list[dict[str, Any]]:
        """What is heard from so many seconds before the identifier of this window begins until shortly after that."""
        recording = tmp_path / f"{window}-{lead}.jsonl"
        clock = later(round(change(window) - time.time() - lead), tmp_path)
        running = [ada.start("nearby", "advertise", "--advertise", "rolling", "--json", **clock),
                   zoe.start("nearby", "scan", "--json", "--record", str(recording), **clock)]
        end, rows = time.monotonic() + lead + 30, list[dict[str, Any]]()

        def is_heard() -> bool:
            """Whether what is sent now is another identifier than at first, or the first one was heard too late."""
            if sum(row["ad"] == rows[-1]["ad"] for row in rows) < 5:
                return False
            return rows[-1]["ad"] != rows[0]["ad"] or rows[0]["t"] > change(window)

        while not is_heard():
            assert time.monotonic() < end and all(one.is_running() for one in running), (rows, [one.lines for one in running])
            time.sleep(0.1)
            # Without the line that is being written.
            text = recording.read_text().rpartition("\n")[0] if recording.exists() else ""
            rows = [json.loads(line) for line in text.splitlines()]
        assert [interrupt(one) for one in running] == [130, 130]
        return rows

    with bluez.room(monitor="none") as (one, other):
        ada.environment |= one.environment
        zoe.environment |= other.environment
        try:
            rows: list[dict[str, Any]] = []
            first = int(time.time()) // 900 + 4
            for window in range(first, first + 8, 2):
                # On a busy machine the commands are at work only after the change: then they begin earlier.
                attempts = (listen(window, lead) for lead in (8, 16, 32))
                heard = next(heard for heard in attempts if len({row["ad"] for row in heard}) == 2)
                rows += heard
            recording = tmp_path / "sent.jsonl"
            recording.write_text("".join(json.dumps(row) + "\n" for row in rows))
            done = ada.run("nearby", "audit", str(recording), "--json").ok()
        finally:
            ada.end()
            zoe.end()
    told = done.json
    assert (told["verdict"], told["findings"], told["identifiers"]) == ("clean", [], 8)
    for row in rows:
        assert_only_an_identifier(row)
    sent = {(row["addr"], row["ad"]) for row in rows}
    assert len(sent) == len({address for address, _ in sent}) == len({data for _, data in sent}) == 8
