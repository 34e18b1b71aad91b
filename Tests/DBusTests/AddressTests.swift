import DBus
import Testing

@Suite("Addresses")
struct AddressTests {
    static let guid = "0123456789abcdef0123456789abcdef"

    @Test("the addresses of a list come in order, and those of other transports are left out")
    func list() throws {
        let text = "tcp:host=127.0.0.1,port=1;unix:path=/tmp/dbus-test,guid=\(Self.guid);unix:abstract=/tmp/x;"
        #expect(
            try Address.list(text) == [
                Address(.path("/tmp/dbus-test"), guid: Self.guid), Address(.abstract("/tmp/x")),
            ])
    }

    @Test("escapes are undone")
    func escapes() throws {
        #expect(try Address.list("unix:path=/tmp/a%20b%2c%C3%A4") == [Address(.path("/tmp/a b,ä"))])
    }

    @Test(
        "an address against the rules is refused",
        arguments: [
            "", ";", "unix", "unix:", "unix:path", "unix:path=", "unix:path=/a,path=/b", "unix:path=/a,abstract=b",
            "unix:dir=/tmp", "unix:runtime=yes", "unix:path=/a%2", "unix:path=/a%zz", "unix:path=/a%+1",
            "unix:path=/a%00", "unix:path=/a%ff", "unix:path=/a,guid=12",
        ])
    func invalid(text: String) {
        let error = #expect(throws: DBusError.self) { try Address.list(text) }
        guard case .invalidAddress = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "an address never starts a program or goes over a network",
        arguments: ["unixexec:path=/bin/sh", "tcp:host=localhost,port=1", "autolaunch:", "launchd:env=X", "systemd:"])
    func unsupported(text: String) {
        let error = #expect(throws: DBusError.self) { try Address.list(text) }
        guard case .unsupported = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("the session bus is where the environment says")
    func session() throws {
        #expect(
            try Address.session(environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/a", "XDG_RUNTIME_DIR": "/r"])
                == [Address(.path("/a"))])
        #expect(
            try Address.session(environment: ["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/r"])
                == [Address(.path("/r/bus"))])
        #expect(throws: DBusError.self) { try Address.session(environment: [:]) }
    }

    @Test("the system bus is where the environment says, else at its well-known place (beacons 9.1)")
    func system() throws {
        #expect(
            try Address.system(environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/a"]) == [Address(.path("/a"))])
        #expect(try Address.system(environment: [:]) == [Address(.path("/var/run/dbus/system_bus_socket"))])
    }
}
