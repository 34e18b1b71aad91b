#!/usr/bin/python3
"""A GeoClue without a receiver: owns org.freedesktop.GeoClue2 on the bus that DBUS_SYSTEM_BUS_ADDRESS names.

It prints "ready", then obeys lines on standard input:

    fix LATITUDE LONGITUDE ACCURACY TIME    a position comes in; TIME in seconds since 1970. Prints "sent" when a client has been told of it
    gone                                    a position comes in that has been removed again before it can be read. Prints "sent" likewise
    started                                 prints "started" as soon as a client has started

With --refuse every client's Start is refused, as the user's settings can have it. With --ask SECONDS it is answered after so long, as
when the user is asked. With --hang the first request for a client is never answered. Needs Debian's python3-dbus and python3-gi.
"""

import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MANAGER = "org.freedesktop.GeoClue2.Manager"
CLIENT = "org.freedesktop.GeoClue2.Client"
LOCATION = "org.freedesktop.GeoClue2.Location"
PROPERTIES = "org.freedesktop.DBus.Properties"


class Refused(dbus.DBusException):
    _dbus_error_name = "org.freedesktop.DBus.Error.AccessDenied"


class Location(dbus.service.Object):
    def __init__(self, bus, path, latitude, longitude, accuracy, moment):
        super().__init__(bus, path)
        self.values = {
            "Latitude": dbus.Double(latitude), "Longitude": dbus.Double(longitude), "Accuracy": dbus.Double(accuracy),
            "Altitude": dbus.Double(-1.7976931348623157e308), "Speed": dbus.Double(-1.0), "Heading": dbus.Double(-1.0),
            "Description": dbus.String(""),
            "Timestamp": dbus.Struct((dbus.UInt64(int(moment)), dbus.UInt64(moment % 1 * 1_000_000)), signature="tt")}

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return self.values if interface == LOCATION else {}


class Client(dbus.service.Object):
    def __init__(self, bus, refuses, delay):
        super().__init__(bus, "/org/freedesktop/GeoClue2/Client/1")
        self.bus, self.refuses, self.delay = bus, refuses, delay
        self.values = {"DesktopId": "", "RequestedAccuracyLevel": dbus.UInt32(0)}
        self.has_started = False
        self.last = "/"
        self.count = 0

    @dbus.service.method(PROPERTIES, in_signature="ssv")
    def Set(self, interface, name, value):
        assert interface == CLIENT
        self.values[name] = value

    @dbus.service.method(CLIENT, async_callbacks=("answer", "fail"))
    def Start(self, answer, fail):
        # As GeoClue does: an app without a desktop file's name is refused too.
        if self.refuses or not self.values["DesktopId"]:
            return fail(Refused("'handshake' disallowed, no agent for UID 0"))

        def start():
            self.has_started = True
            answer()
            return False

        GLib.timeout_add(int(self.delay * 1_000), start)

    @dbus.service.signal(CLIENT, signature="oo")
    def LocationUpdated(self, old, new):
        pass

    def report(self, *values):
        self.count += 1
        path = f"/org/freedesktop/GeoClue2/Client/1/Location/{self.count}"
        if values:
            self.location = Location(self.bus, path, *values)
        self.LocationUpdated(self.last, path)
        self.last = path


class Manager(dbus.service.Object):
    def __init__(self, bus, client, hangs):
        super().__init__(bus, "/org/freedesktop/GeoClue2/Manager")
        self.client, self.hangs = client, hangs

    @dbus.service.method(MANAGER, out_signature="o", async_callbacks=("answer", "fail"))
    def GetClient(self, answer, fail):
        if not self.hangs:
            answer(self.client.__dbus_object_path__)
        self.hangs = False


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SystemBus()
    delay = float(sys.argv[sys.argv.index("--ask") + 1]) if "--ask" in sys.argv else 0
    client = Client(bus, "--refuse" in sys.argv, delay)
    manager = Manager(bus, client, "--hang" in sys.argv)
    name = dbus.service.BusName("org.freedesktop.GeoClue2", bus)
    loop = GLib.MainLoop()
    waiting = []

    def obey(source, condition):
        words = source.readline().split()
        if not words:
            loop.quit()
            return False
        waiting.append(words)
        return True

    def work():
        while waiting and client.has_started:
            words = waiting.pop(0)
            if words[0] in ("fix", "gone"):
                client.report(*map(float, words[1:]))
                print("sent", flush=True)
            else:
                print("started", flush=True)
        return True

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, obey)
    GLib.timeout_add(20, work)
    print("ready", flush=True)
    loop.run()
    return manager, name


if __name__ == "__main__":
    main()
