#!/usr/bin/python3
"""A BlueZ without a radio: owns org.bluez on the bus that DBUS_SYSTEM_BUS_ADDRESS names, and lets a test be the air.

It has one adapter, hci0, that advertises, searches and monitors as bluetoothd does (beacons dossier 7.2 and appendix A). A test
says what comes over the air and asks what is sent, through the interface org.example.Air1 of the object /:

    Sight(s address, n rssi, ay data)   one packet comes in
    Lose(s address)                     a device is gone: monitors lose it, and the object vanishes
    OnAir() -> aay                      what is sent now
    Transmissions() -> a(say)           the same, each with the address that it is sent under
    TransmissionsText() -> as           the same, with the data in hexadecimal: gdbus prints bytes that end with 0 in another form
    Paths() -> ao                       the advertisements' objects, in their clients
    Registrations() -> u                how many advertisements were taken since the start
    Changes() -> a(st)                  when advertisements were registered and unregistered, in milliseconds
    Searching() -> b                    whether a search is running
    Monitors() -> u                     how many monitors are active
    Release()                           drops every advertisement and monitor, and tells their owners
    Plug(b present)                     takes the adapter out, or puts it in
    Power(b on)                         switches it off or on, as its owner would in the settings
    Behave(s name, v value)             changes how the daemon behaves; BEHAVIOUR lists the names

It prints "ready" when it is. Needs Debian's python3-dbus and python3-gi. Options of the same names as in BEHAVIOUR set its start: --monitor=silent.
"""

import argparse
import itertools
import time
import uuid

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

PROPERTIES = "org.freedesktop.DBus.Properties"
OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager"
ADAPTER = "org.bluez.Adapter1"
DEVICE = "org.bluez.Device1"
ADVERTISING_MANAGER = "org.bluez.LEAdvertisingManager1"
ADVERTISEMENT = "org.bluez.LEAdvertisement1"
MONITOR_MANAGER = "org.bluez.AdvertisementMonitorManager1"
MONITOR = "org.bluez.AdvertisementMonitor1"
AIR = "org.example.Air1"

BASE_UUID = "0000%04x-0000-1000-8000-00805f9b34fb"
LEGACY_LIMIT = 31
# Without a discovery filter, changes below this are swallowed.
RSSI_THRESHOLD = 8
EXPERIMENTAL = {"MinInterval", "MaxInterval", "TxPower", "Discoverable", "Data"}

BEHAVIOUR = {
    # "activate", "release" (the kernel refuses), "silent" (never activated), "none" (no --experimental)
    "monitor": "activate",
    # Names of org.bluez errors that the calls are answered with; empty for none.
    "discovery-error": "",
    "filter-error": "",
    "advertising-error": "",
    # How often discovery-error is answered before it works; 0 for always.
    "discovery-error-count": 0,
    # Whether properties that 5.66 marks as experimental are taken.
    "experimental": True,
    # Whether a device's data comes only after the device.
    "late-data": False,
    # How often switching the adapter on is answered with the error Busy before it works.
    "busy-count": 0,
    # Whether rfkill keeps the adapter from being switched on.
    "blocked": False,
    # Whether the adapter is on at the start.
    "powered": True,
    "instances": 4,
    # How many free places are reported; -1 for as many as there are.
    "reported-instances": -1,
    # Whether each advertisement has an address of its own; otherwise all have the one of the controller, which stays while any is sent.
    "extended": True,
}


def failure(name, message=""):
    return dbus.DBusException(message, name="org.bluez.Error." + name)


def structures(data):
    """The types and values of advertising data."""
    index = 0
    while index < len(data) and data[index]:
        yield data[index + 1], data[index + 2 : index + 1 + data[index]]
        index += 1 + data[index]


def little_endian(value):
    return value[0] | value[1] << 8


def advertising_data(properties, experimental):
    """What is sent for the properties of an LEAdvertisement1, or the error for them."""
    if not experimental and EXPERIMENTAL & set(map(str, properties)):
        raise failure("Failed", "Failed to parse advertisement.")
    if properties.get("MinInterval", 0) > properties.get("MaxInterval", 0):
        raise failure("Failed", "Failed to parse advertisement.")
    out = bytearray()
    if str(properties.get("Type")) == "peripheral":
        out += bytes([2, 1, 6])
    elif str(properties.get("Type")) != "broadcast":
        raise failure("Failed", "Failed to parse advertisement.")
    services = [uuid.UUID(str(each)) for each in properties.get("ServiceUUIDs", [])]
    short = [each.int >> 96 for each in services if each == uuid.UUID(BASE_UUID % (each.int >> 96 & 0xFFFF))]
    long = [each.bytes[::-1] for each in services if each.int >> 96 not in short]
    if short:
        out += bytes([1 + 2 * len(short), 0x03]) + b"".join(n.to_bytes(2, "little") for n in short)
    if long:
        out += bytes([1 + 16 * len(long), 0x07]) + b"".join(long)
    for company, value in properties.get("ManufacturerData", {}).items():
        out += bytes([len(value) + 3, 0xFF]) + int(company).to_bytes(2, "little") + bytes(value)
    for service, value in properties.get("ServiceData", {}).items():
        out += bytes([len(value) + 3, 0x16]) + int(str(service)[4:8], 16).to_bytes(2, "little") + bytes(value)
    if len(out) > LEGACY_LIMIT:
        raise failure("InvalidLength", "Advertising data too long.")
    return bytes(out)


class Exported(dbus.service.Object):
    """An object with properties."""

    def __init__(self, path, interfaces):
        self.path = path
        self.interfaces = interfaces
        super().__init__(bus, path)

    @dbus.service.method(PROPERTIES, "ss", "v")
    def Get(self, interface, name):
        return self.interfaces[interface][name]

    @dbus.service.method(PROPERTIES, "s", "a{sv}")
    def GetAll(self, interface):
        return self.interfaces[interface]

    @dbus.service.method(PROPERTIES, "ssv")
    def Set(self, interface, name, value):
        self.change(interface, {name: value})

    @dbus.service.signal(PROPERTIES, "sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    def change(self, interface, changed, invalidated=()):
        self.interfaces[interface].update(changed)
        for name in invalidated:
            self.interfaces[interface].pop(name, None)
        self.PropertiesChanged(
            interface, dbus.Dictionary(changed, signature="sv"), dbus.Array(invalidated, signature="s"))


class Monitor:
    """One or_patterns monitor of a client."""

    def __init__(self, owner, path, patterns):
        self.client = dbus.Interface(bus.get_object(owner, path, introspect=False), MONITOR)
        self.patterns = [(int(start), int(kind), bytes(value)) for start, kind, value in patterns]
        self.found = set()
        self.is_active = False

    def matches(self, data):
        return self.is_active and any(
            kind == wanted and value[start : start + len(pattern)] == pattern
            for kind, value in structures(data)
            for start, wanted, pattern in self.patterns)


class Adapter(Exported):
    def __init__(self):
        interfaces = {
            ADAPTER: dict(
                Address="00:1A:7D:00:00:01", AddressType="public", Name="air", Alias="air",
                Powered=dbus.Boolean(behaviour["powered"]), Discovering=False, Discoverable=False, Pairable=True),
            ADVERTISING_MANAGER: dict(
                ActiveInstances=dbus.Byte(0), SupportedInstances=dbus.Byte(self.free(0)),
                SupportedIncludes=dbus.Array(["tx-power"], signature="s")),
        }
        if behaviour["extended"]:
            interfaces[ADVERTISING_MANAGER]["SupportedSecondaryChannels"] = dbus.Array(["1M", "2M"], signature="s")
        if behaviour["monitor"] != "none":
            interfaces[MONITOR_MANAGER] = dict(
                SupportedMonitorTypes=dbus.Array(["or_patterns"], signature="s"),
                SupportedFeatures=dbus.Array([], signature="s"))
        self.filters = {}
        self.scanners = set()
        # By client and path: the address and the data that is sent.
        self.advertisements = {}
        self.applications = {}
        self.devices = {}
        self.registrations = 0
        self.changes = []
        self.addresses = itertools.count(1)
        super().__init__("/org/bluez/hci0", interfaces)

    @property
    def is_on(self):
        return bool(self.interfaces[ADAPTER]["Powered"])

    @dbus.service.method(PROPERTIES, "ssv")
    def Set(self, interface, name, value):
        if (interface, name) == (ADAPTER, "Powered"):
            if value and behaviour["blocked"]:
                raise failure("Blocked", "Blocked through rfkill")
            if value and behaviour["busy-count"] > 0:
                behaviour["busy-count"] -= 1
                raise failure("Busy")
            return self.power(bool(value))
        self.change(interface, {name: value})

    def power(self, on):
        if not on:
            self.scanners.clear()
            self.filters.clear()
            self.stopped()
        self.change(ADAPTER, {"Powered": on})

    # Searching

    @dbus.service.method(ADAPTER, "a{sv}", sender_keyword="client")
    def SetDiscoveryFilter(self, wanted, client=None):
        if behaviour["filter-error"] and wanted:
            raise failure(behaviour["filter-error"])
        self.filters[client] = dict(wanted)

    @dbus.service.method(ADAPTER, "", sender_keyword="client")
    def StartDiscovery(self, client=None):
        if not self.is_on:
            raise failure("NotReady", "Resource Not Ready")
        if behaviour["discovery-error"]:
            name = behaviour["discovery-error"]
            behaviour["discovery-error-count"] -= 1
            if behaviour["discovery-error-count"] == 0:
                behaviour["discovery-error"] = ""
            raise failure(name)
        if client in self.scanners:
            raise failure("InProgress", "Operation already in progress")
        self.scanners.add(client)
        self.change(ADAPTER, {"Discovering": True})

    @dbus.service.method(ADAPTER, "", sender_keyword="client")
    def StopDiscovery(self, client=None):
        if client not in self.scanners:
            raise failure("Failed", "No discovery started")
        self.scanners.discard(client)
        self.stopped()

    def stopped(self):
        """The last search ended: no signal strength is known any more, and that is no sighting."""
        if self.scanners:
            return
        self.change(ADAPTER, {"Discovering": False})
        for device in self.devices.values():
            if "RSSI" in device.interfaces[DEVICE]:
                device.change(DEVICE, {}, ["RSSI"])

    @dbus.service.method(ADAPTER, "o")
    def RemoveDevice(self, path):
        root.drop(str(path))

    # Advertising

    def count(self):
        active = len(self.advertisements)
        self.change(ADVERTISING_MANAGER, {
            "ActiveInstances": dbus.Byte(active),
            "SupportedInstances": dbus.Byte(self.free(active))})

    @staticmethod
    def free(active):
        reported = behaviour["reported-instances"]
        return reported if reported >= 0 else max(behaviour["instances"] - active, 0)

    @dbus.service.method(
        ADVERTISING_MANAGER, "oa{sv}", sender_keyword="client", async_callbacks=("done", "failed"))
    def RegisterAdvertisement(self, path, options, client=None, done=None, failed=None):
        key = (client, str(path))
        if behaviour["advertising-error"]:
            return failed(failure(behaviour["advertising-error"]))
        if key in self.advertisements:
            return failed(failure("AlreadyExists", "Already Exists"))
        if len(self.advertisements) >= behaviour["instances"]:
            return failed(failure("NotPermitted", "Maximum advertisements reached"))

        def read(properties):
            try:
                data = advertising_data(properties, behaviour["experimental"])
            except dbus.DBusException as error:
                return failed(error)
            # Calls of several clients overlap.
            if len(self.advertisements) >= behaviour["instances"]:
                return failed(failure("NotPermitted", "Maximum advertisements reached"))
            # Non-connectable advertising uses a fresh non-resolvable address each time it is enabled.
            if behaviour["extended"] or not self.advertisements:
                address = "2C:00:00:00:%02X:%02X" % divmod(next(self.addresses), 256)
            else:
                address = next(iter(self.advertisements.values()))[0]
            self.advertisements[key] = (address, data)
            self.registrations += 1
            self.note("register")
            self.count()
            done()

        def refresh(interface, changed, invalidated):
            def replace(properties):
                if key in self.advertisements:
                    data = advertising_data(properties, behaviour["experimental"])
                    self.advertisements[key] = (self.advertisements[key][0], data)

            fetch(replace, lambda error: None)

        def fetch(reply, error):
            bus.get_object(client, path, introspect=False).GetAll(
                ADVERTISEMENT, dbus_interface=PROPERTIES, reply_handler=reply, error_handler=error)

        bus.add_signal_receiver(refresh, "PropertiesChanged", PROPERTIES, client, path)
        fetch(read, lambda error: failed(failure("Failed", "Failed to parse advertisement.")))

    @dbus.service.method(ADVERTISING_MANAGER, "o", sender_keyword="client")
    def UnregisterAdvertisement(self, path, client=None):
        if self.advertisements.pop((client, str(path)), None) is None:
            raise failure("DoesNotExist", "Does Not Exist")
        self.note("unregister")
        self.count()

    def note(self, what):
        self.changes.append((what, time.monotonic_ns() // 1_000_000))

    # Monitoring

    @dbus.service.method(MONITOR_MANAGER, "o", sender_keyword="client")
    def RegisterMonitor(self, path, client=None):
        key = (client, str(path))
        if key in self.applications:
            raise failure("AlreadyExists", "Already Exists")
        self.applications[key] = {}

        def add(monitor, interfaces):
            monitors = self.applications.get(key)
            inside = str(monitor).startswith(str(path).rstrip("/") + "/")
            if monitors is None or MONITOR not in interfaces or not inside or str(monitor) in monitors:
                return
            properties = interfaces[MONITOR]
            added = monitors[str(monitor)] = Monitor(client, monitor, properties.get("Patterns", []))
            if behaviour["monitor"] == "silent":
                return
            if behaviour["monitor"] == "release" or str(properties.get("Type")) != "or_patterns" or not added.patterns:
                del monitors[str(monitor)]
                return added.client.Release(ignore_reply=True)
            added.is_active = True
            added.client.Activate(ignore_reply=True)

        bus.add_signal_receiver(add, "InterfacesAdded", OBJECT_MANAGER, client)
        bus.get_object(client, path, introspect=False).GetManagedObjects(
            dbus_interface=OBJECT_MANAGER,
            reply_handler=lambda objects: [add(*entry) for entry in objects.items()],
            error_handler=lambda error: None)

    @dbus.service.method(MONITOR_MANAGER, "o", sender_keyword="client")
    def UnregisterMonitor(self, path, client=None):
        if self.applications.pop((client, str(path)), None) is None:
            raise failure("DoesNotExist", "Does Not Exist")

    @property
    def monitors(self):
        return [monitor for monitors in self.applications.values() for monitor in monitors.values()]

    def left(self, client):
        """A client left the bus: what it registered goes with it."""
        for key in [key for key in self.applications if key[0] == client]:
            del self.applications[key]
        self.filters.pop(client, None)
        if client in self.scanners:
            self.scanners.discard(client)
            self.stopped()
        sent = [key for key in self.advertisements if key[0] == client]
        for key in sent:
            del self.advertisements[key]
        if sent:
            self.count()


class Root(dbus.service.Object):
    """The object manager, and the test's hold on the air."""

    @dbus.service.method(OBJECT_MANAGER, "", "a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        objects = [adapter, *adapter.devices.values()] if is_plugged else []
        return {dbus.ObjectPath(each.path): each.interfaces for each in objects}

    @dbus.service.signal(OBJECT_MANAGER, "oa{sa{sv}}")
    def InterfacesAdded(self, path, interfaces):
        pass

    @dbus.service.signal(OBJECT_MANAGER, "oas")
    def InterfacesRemoved(self, path, interfaces):
        pass

    def drop(self, path):
        device = adapter.devices.pop(path, None)
        if device is None:
            raise failure("DoesNotExist", "Does Not Exist")
        device.remove_from_connection()
        self.InterfacesRemoved(path, [DEVICE])

    @dbus.service.method(AIR, "snay")
    def Sight(self, address, rssi, data):
        data = bytes(data)
        hits = [monitor for monitor in adapter.monitors if monitor.matches(data)]
        if not is_plugged or not adapter.is_on or not (adapter.scanners or hits):
            return
        path = device_path(address)
        heard = dict(
            RSSI=dbus.Int16(rssi),
            ManufacturerData=dbus.Dictionary(
                {dbus.UInt16(little_endian(value)): dbus.ByteArray(value[2:])
                 for kind, value in structures(data) if kind == 0xFF}, signature="qv"),
            ServiceData=dbus.Dictionary(
                {BASE_UUID % little_endian(value): dbus.ByteArray(value[2:])
                 for kind, value in structures(data) if kind == 0x16}, signature="sv"))
        if path in adapter.devices:
            self.hear_again(adapter.devices[path], heard, data)
        else:
            self.hear_first(path, address, heard, data)
        for monitor in hits:
            if path not in monitor.found:
                monitor.found.add(path)
                monitor.client.DeviceFound(dbus.ObjectPath(path), ignore_reply=True)

    @staticmethod
    def services(data):
        short = [BASE_UUID % little_endian(value[index:]) for kind, value in structures(data) if kind in (2, 3)
                 for index in range(0, len(value), 2)]
        return short + [str(uuid.UUID(bytes=value[index : index + 16][::-1])) for kind, value in structures(data) if kind in (6, 7)
                        for index in range(0, len(value) - 15, 16)]

    def hear_first(self, path, address, heard, data):
        services = self.services(data)
        names = [value.decode(errors="replace") for kind, value in structures(data) if kind in (8, 9)]
        late = {name: heard.pop(name) for name in ("ManufacturerData", "ServiceData")} if behaviour["late-data"] else {}
        properties = dict(
            Address=address, AddressType="random", Alias=str(address).replace(":", "-"),
            Adapter=dbus.ObjectPath(adapter.path), Paired=False, Connected=False,
            UUIDs=dbus.Array(services, signature="s"), **({"Name": names[0]} if names else {}),
            **{name: value for name, value in heard.items() if name == "RSSI" or value})
        device = adapter.devices[path] = Exported(path, {DEVICE: properties})
        self.InterfacesAdded(path, device.interfaces)
        if late:
            device.change(DEVICE, {name: value for name, value in late.items() if value})

    def hear_again(self, device, heard, data):
        known = device.interfaces[DEVICE]
        filters = [adapter.filters.get(client, {}) for client in adapter.scanners]
        duplicates = any(each.get("DuplicateData") for each in filters)
        threshold = 0 if any(filters) else RSSI_THRESHOLD
        changed = {}
        # The list of services only grows, and one that is in it is not told again.
        fresh = [each for each in self.services(data) if each not in known["UUIDs"]]
        if fresh:
            changed["UUIDs"] = dbus.Array([*known["UUIDs"], *fresh], signature="s")
        if "RSSI" not in known or abs(int(known["RSSI"]) - int(heard["RSSI"])) >= threshold:
            changed["RSSI"] = heard["RSSI"]
        for name in ("ManufacturerData", "ServiceData"):
            if heard[name] and (duplicates or heard[name] != known.get(name)):
                changed[name] = heard[name]
        if changed:
            device.change(DEVICE, changed)

    @dbus.service.method(AIR, "s")
    def Lose(self, address):
        path = device_path(address)
        for monitor in adapter.monitors:
            if path in monitor.found:
                monitor.found.discard(path)
                monitor.client.DeviceLost(dbus.ObjectPath(path), ignore_reply=True)
        self.drop(path)

    def sent(self):
        return list(adapter.advertisements.values()) if is_plugged and adapter.is_on else []

    @dbus.service.method(AIR, "", "aay")
    def OnAir(self):
        return dbus.Array([dbus.ByteArray(data) for _, data in self.sent()], signature="ay")

    @dbus.service.method(AIR, "", "a(say)")
    def Transmissions(self):
        return dbus.Array([(address, dbus.ByteArray(data)) for address, data in self.sent()], signature="(say)")

    @dbus.service.method(AIR, "", "as")
    def TransmissionsText(self):
        return dbus.Array([f"{address} {bytes(data).hex()}" for address, data in self.sent()], signature="s")

    @dbus.service.method(AIR, "", "ao")
    def Paths(self):
        return dbus.Array([dbus.ObjectPath(path) for _, path in adapter.advertisements], signature="o")

    @dbus.service.method(AIR, "", "u")
    def Registrations(self):
        return adapter.registrations

    @dbus.service.method(AIR, "", "a(st)")
    def Changes(self):
        return dbus.Array([(what, dbus.UInt64(when)) for what, when in adapter.changes], signature="(st)")

    @dbus.service.method(AIR, "", "b")
    def Searching(self):
        return bool(adapter.scanners)

    @dbus.service.method(AIR, "", "u")
    def Monitors(self):
        return sum(monitor.is_active for monitor in adapter.monitors)

    @dbus.service.method(AIR)
    def Release(self):
        for client, path in list(adapter.advertisements):
            bus.get_object(client, path, introspect=False).Release(dbus_interface=ADVERTISEMENT, ignore_reply=True)
        for monitor in adapter.monitors:
            monitor.client.Release(ignore_reply=True)
        adapter.advertisements.clear()
        adapter.applications.clear()
        adapter.count()

    @dbus.service.method(AIR, "b")
    def Plug(self, present):
        global is_plugged
        if present == is_plugged:
            return
        is_plugged = bool(present)
        if present:
            return self.InterfacesAdded(adapter.path, adapter.interfaces)
        for table in (adapter.filters, adapter.scanners, adapter.advertisements, adapter.applications):
            table.clear()
        for path in list(adapter.devices):
            self.drop(path)
        self.InterfacesRemoved(adapter.path, list(adapter.interfaces))

    @dbus.service.method(AIR, "b")
    def Power(self, on):
        adapter.power(bool(on))

    @dbus.service.method(AIR, "sv")
    def Behave(self, name, value):
        if name not in BEHAVIOUR:
            raise dbus.DBusException("no behaviour " + name, name=AIR + ".Error.Unknown")
        behaviour[str(name)] = kind_of(name)(value)
        adapter.count()


def device_path(address):
    return adapter.path + "/dev_" + str(address).replace(":", "_")


def kind_of(name):
    kind = type(BEHAVIOUR[name])
    return (lambda text: str(text).lower() not in ("0", "false", "")) if kind is bool else kind


def owner_changed(name, old, new):
    if not new:
        adapter.left(name)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for key, value in BEHAVIOUR.items():
        options.add_argument("--" + key, dest=key, default=value, type=kind_of(key))
    behaviour = vars(options.parse_args())
    is_plugged = True
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SystemBus()
    adapter = Adapter()
    root = Root(bus, "/")
    bus.add_signal_receiver(owner_changed, "NameOwnerChanged", "org.freedesktop.DBus", "org.freedesktop.DBus")
    # The name last: once it is visible, everything is in place.
    name = dbus.service.BusName("org.bluez", bus, do_not_queue=True)
    print("ready", flush=True)
    GLib.MainLoop().run()
