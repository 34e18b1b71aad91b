"""What an attacker with a radio does, as changes of a recording: floods, crowds, replays, relays.

    python attacker.py flood       RECORDING    ten invented numbers a second, from one device, then each from its own
    python attacker.py crowd       RECORDING    206 valid numbers from one device at one strength
    python attacker.py replay      RECORDING    everything once more, 25 minutes later, and nothing at its own time
    python attacker.py relay       RECORDING    everything once more, from another device at the same moment
    python attacker.py impersonate RECORDING    the twelve highest plain numbers, each from a device of its own, before and beside everything
    python attacker.py address     RECORDING    three plain numbers under each address that is heard, before and beside everything
    python attacker.py together    RECORDING    what all devices send, under the address of the first one alone
    python attacker.py hold        RECORDING    4,096 random identifiers, each again before it falls silent, before and beside everything

Each prints a recording for `handshake nearby replay`. `edits` gives the ways to change a file of keys, and to sign another one.
"""

import copy
import hashlib
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
    """SecretHandshake's iBeacon with a number up to 65,535, which any device can send."""
    return f"1aff4c000215{FLEET}0001{person:04x}c5"


def rows(text: str) -> list[Row]:
    return [json.loads(line) for line in text.splitlines() if line]


def flood(heard: list[Row], seconds: float = 1_800, per_second: int = 10, seed: int = 1) -> list[Row]:
    """Invented numbers before and beside what is heard: half from one device, half each from a device of its own.

    The first are those of real people, which are no secret."""
    draw = random.Random(seed)
    begin, end = heard[0]["t"] - seconds, heard[-1]["t"]
    invented = []
    for index in range(int((end - begin) * per_second)):
        device = "C0:DE:00:00:00:01" if index % 2 else "F2:" + ":".join(f"{draw.randrange(256):02X}" for _ in range(5))
        invented.append({"t": round(begin + index / per_second, 3), "addr": device, "type": "random", "rssi": -40,
                         "ad": plain(6_700 + index if index < 6 else draw.randrange(1, 65_536))})
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
    first = {row["addr"]: row for row in reversed(heard)}
    places = {address: 10 * index for index, address in enumerate(first)}
    before = [row | {"t": row["t"] - second} for row, second in itertools.product(first.values(), range(1, seconds))]
    return merged(heard, [row | {"t": round(row["t"] + index / 100, 3), "ad": plain(1_000 + places[row["addr"]] + index)}
                          for row, index in itertools.product(before + heard, range(1, 4))])


def together(heard: list[Row]) -> list[Row]:
    """Those who are elsewhere, and the first one, who is here: one address cannot tell who is which."""
    return [row | {"addr": heard[0]["addr"]} for row in heard]


def hold(heard: list[Row], seconds: float = 15, identifiers: int = 4_096, period: float = 4.5, seed: int = 1) -> list[Row]:
    """Service UUIDs of version 4 that are no member's, each from a device of its own: more than any list has places."""
    draw = random.Random(seed)
    begin, end = heard[0]["t"] - seconds, heard[-1]["t"]
    invented = []
    for index in range(identifiers):
        digits = bytearray(draw.randbytes(16))
        digits[6], digits[8] = digits[6] & 0x0F | 0x40, digits[8] & 0x3F | 0x80
        row = {"addr": f"F2:00:00:00:{index >> 8:02X}:{index & 255:02X}", "type": "random", "rssi": -40,
               "ad": "1107" + bytes(reversed(digits)).hex()}
        time = begin + period * index / identifiers
        while time < end:
            invented.append(row | {"t": round(time, 4)})
            time += period
    return merged(heard, invented)


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
    yield "signed again", signed_again(document, document["person"])


def signed_again(document: Row, person: int, key: bytes = bytes(32)) -> Row:
    """A friend's file as an attacker makes it: for any number, with keys of theirs, signed by an identity of theirs."""
    days = {day: hashlib.sha256(key + day.encode()).hexdigest() for day in document["keys"]}
    community = b"recurse-center"
    message = b"SH1 keys\0" + len(community).to_bytes(4, "big") + community + person.to_bytes(4, "big") + len(days).to_bytes(4, "big")
    for day, digits in sorted(days.items(), key=lambda item: int(item[0])):
        message += int(day).to_bytes(4, "big") + bytes.fromhex(digits)
    identity, signature = ed25519(key, message)
    return document | {"person": person, "keys": days, "identity": identity.hex(), "signature": signature.hex()}


def ed25519(key: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Public key and signature (RFC 8032, 5.1), as slowly as an attacker can afford."""
    p, order = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
    d = -121665 * pow(121666, p - 2, p) % p
    Point = tuple[int, int]
    base: Point = (15112221349535400772501151409588531511454012693041857206046113283949847762202, 4 * pow(5, p - 2, p) % p)

    def add(one: Point, other: Point) -> Point:
        (x, y), (u, v) = one, other
        k = d * x * u * y * v
        return (x * v + y * u) * pow(1 + k, p - 2, p) % p, (y * v + x * u) * pow(1 - k, p - 2, p) % p

    def times(number: int) -> bytes:
        total, power = (0, 1), base
        while number:
            if number & 1:
                total = add(total, power)
            power, number = add(power, power), number >> 1
        return (total[1] | (total[0] & 1) << 255).to_bytes(32, "little")

    def digest(*parts: bytes) -> int:
        return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")

    both = hashlib.sha512(key).digest()
    scalar = int.from_bytes(both[:32], "little") & (1 << 254) - 8 | 1 << 254
    nonce = digest(both[32:], message) % order
    public, commitment = times(scalar), times(nonce)
    return public, commitment + ((nonce + digest(commitment, public, message) * scalar) % order).to_bytes(32, "little")


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
    attacks = {"flood": flood, "crowd": crowd, "replay": replay, "relay": relay, "impersonate": impersonate, "address": address,
               "together": together, "hold": hold}
    if len(sys.argv) != 3 or sys.argv[1] not in attacks:
        sys.exit(__doc__)
    sys.stdout.write(text(attacks[sys.argv[1]](rows(pathlib.Path(sys.argv[2]).read_text()))))
