#!/usr/bin/python3
"""Carries what one air simulator sends to another one, both ways: two machines in one room.

    relay.py BUS BUS [--rssi -61] [--interval 0.1] [--lifetime 3]

BUS is the address of a bus with air.py on it. It prints "ready" when it hears both. An advertisement that was not sent for
--lifetime seconds is lost on the other side, as BlueZ forgets devices. Needs python3-dbus of /usr/bin/python3.
"""

import argparse
import time

import dbus
import dbus.bus


class Side:
    """One of the two machines: its simulator, and what it was shown of the other one."""

    def __init__(self, address):
        self.bus = dbus.bus.BusConnection(address)
        # When each address was heard last.
        self.heard = {}

    def call(self, method, signature="", *arguments):
        return self.bus.call_blocking("org.bluez", "/", "org.example.Air1", method, signature, arguments)

    def sent(self):
        return [(str(address), bytes(data)) for address, data in self.call("Transmissions")]

    def hear(self, address, data, rssi):
        self.heard[address] = time.monotonic()
        self.call("Sight", "snay", address, rssi, dbus.ByteArray(data))

    def forget(self, lifetime):
        for address, last in list(self.heard.items()):
            if time.monotonic() - last > lifetime:
                del self.heard[address]
                try:
                    self.call("Lose", "s", address)
                except dbus.DBusException:
                    # It was never received there: there was no listener.
                    pass


def carry(source, target, rssi, lifetime):
    try:
        for address, data in source.sent():
            target.hear(address, data, rssi)
        target.forget(lifetime)
    except dbus.DBusException:
        # A daemon that a test has stopped; it may come back.
        pass


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("buses", nargs=2)
    options.add_argument("--rssi", type=int, default=-61)
    options.add_argument("--interval", type=float, default=0.1)
    options.add_argument("--lifetime", type=float, default=3)
    chosen = options.parse_args()
    one, other = map(Side, chosen.buses)
    for side in (one, other):
        side.sent()
    print("ready", flush=True)
    while True:
        carry(one, other, chosen.rssi, chosen.lifetime)
        carry(other, one, chosen.rssi, chosen.lifetime)
        time.sleep(chosen.interval)
