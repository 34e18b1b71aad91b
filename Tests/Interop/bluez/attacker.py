"""What an attacker with a radio does, as changes of a recording: floods, crowds, replays, relays.

    python attacker.py flood       RECORDING    ten invented numbers a second, from one device, then each from its own
    python attacker.py crowd       RECORDING    206 valid numbers from one device at one strength
    python attacker.py replay      RECORDING    everything once more, 25 minutes later, and nothing at its own time
    python attacker.py relay       RECORDING    everything once more, from another device at the same moment
    python attacker.py impersonate RECORDING    the twelve highest plain numbers, each from a device of its own, before and beside everything
    python attacker.py address     RECORDING    three plain numbers under each address that is heard, before and beside everything

Each prints a recording for `handshake nearby replay`. `edits` gives the ways to change a file of keys, and to sign another one.
"""

import copy
import itertools
import json
import pathlib
import random
import sys
from collections.abc import Iterator
from typing import Any

FLEET = "3ee761a0f73711e3a3ac0800200c9a66"
Row = dict[str, Any]


def plain(person: int) -> str:
    """SecretHandshake's iBeacon with a number up to 65,535, which anybody can send."""
    return f"1aff4c000215{FLEET}0001{person:04x}c5"


def rows(text: str) -> list[Row]:
    return [json.loads(line) for line in text.splitlines() if line]


def flood(heard: list[Row], seconds: float = 1_800, per_second: int = 10, seed: int = 1) -> list[Row]:
    """Invented numbers before and beside what is heard: half from one device, half each from a device of its own."""
    draw = random.Random(seed)
    begin, end = heard[0]["t"] - seconds, heard[-1]["t"]
    invented = []
    for index in range(int((end - begin) * per_second)):
        device = "C0:DE:00:00:00:01" if index % 2 else "F2:" + ":".join(f"{draw.randrange(256):02X}" for _ in range(5))
        invented.append({"t": round(begin + index / per_second, 3), "addr": device, "type": "random", "rssi": -40,
                         "ad": plain(draw.randrange(1, 65_536))})
    return merged(heard, invented)


def crowd(heard: list[Row], people: int = 206) -> list[Row]:
    """Valid numbers from one device, each ten times."""
    begin = heard[0]["t"]
    return merged(heard, [
        {"t": round(begin + turn + index / people, 3), "addr": "C0:DE:00:00:00:02", "type": "random", "rssi": -40,
         "ad": plain(6_000 + index)} for turn, index in itertools.product(range(10), range(people))])


def impersonate(heard: list[Row], people: int = 12, seconds: int = 20) -> list[Row]:
    """The highest numbers, so also 65,535, as plain ones: first alone, then beside what is heard."""
    begin = heard[0]["t"] - seconds
    return merged(heard, [
        {"t": round(begin + second + index / 100, 3), "addr": f"C{index:X}:DE:00:00:01:{index:02X}", "type": "random", "rssi": -50,
         "ad": plain(65_535 - index)} for second, index in itertools.product(range(int(heard[-1]["t"] - begin)), range(people))])


def address(heard: list[Row], seconds: int = 5) -> list[Row]:
    """Three plain numbers from each device that is heard: three people under one address."""
    first = {row["addr"]: row for row in reversed(heard)}.values()
    before = [row | {"t": row["t"] - second} for row, second in itertools.product(first, range(1, seconds))]
    return merged(heard, [row | {"t": round(row["t"] + index / 100, 3), "ad": plain(1_000 + index)}
                          for row, index in itertools.product(before + heard, range(1, 4))])


def replay(heard: list[Row], seconds: float = 1_500) -> list[Row]:
    return [row | {"t": row["t"] + seconds, "addr": "C0:DE:00:00:00:03", "rssi": -40} for row in heard]


def relay(heard: list[Row]) -> list[Row]:
    return merged(heard, [row | {"t": row["t"] + 0.02, "addr": "C0:DE:00:00:00:04", "rssi": -40} for row in heard])


def merged(*parts: list[Row]) -> list[Row]:
    return sorted(itertools.chain(*parts), key=lambda row: row["t"])


def text(packets: list[Row]) -> str:
    return "".join(json.dumps(row) + "\n" for row in packets)


def edits(document: Any) -> Iterator[tuple[str, Any]]:
    """Every JSON document with one value changed, removed or added; each with its place."""
    def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        if place:
            yield place
        children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, child in children:
            yield from places(child, (*place, key))

    for place in places(document):
        for how in changes(at(document, place)):
            changed = copy.deepcopy(document)
            parent = at(changed, place[:-1])
            if how is REMOVED:
                del parent[place[-1]]
            else:
                parent[place[-1]] = how
            yield f"{'.'.join(map(str, place))} = {'(removed)' if how is REMOVED else how!r}", changed


REMOVED = object()


def at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def changes(value: Any) -> Iterator[Any]:
    yield REMOVED
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, 0, -1, 2**70)
    elif isinstance(value, str) and value:
        # One character at the beginning, in the middle and at the end: the last of base64 can have spare bits, and hexadecimal digits have no case.
        for index in {0, len(value) // 2, max(0, len(value) - 2)}:
            yield value[:index] + ("B" if value[index] not in "bB" else "C") + value[index + 1:]
        yield ""
    elif isinstance(value, list):
        yield from ([], value + value[:1], value[::-1]) if len(value) > 1 else ([],)
    elif isinstance(value, dict):
        yield {}


if __name__ == "__main__":
    attacks = {"flood": flood, "crowd": crowd, "replay": replay, "relay": relay, "impersonate": impersonate, "address": address}
    if len(sys.argv) != 3 or sys.argv[1] not in attacks:
        sys.exit(__doc__)
    sys.stdout.write(text(attacks[sys.argv[1]](rows(pathlib.Path(sys.argv[2]).read_text()))))
