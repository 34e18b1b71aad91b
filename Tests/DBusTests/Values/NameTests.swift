import DBus
import Testing

@Suite("Names")
struct NameTests {
    @Test(
        "an object path of the specification's form is taken",
        arguments: ["/", "/a", "/com/example/MusicPlayer1", "/_1/2", "/org/bluez/hci0/dev_AA_BB"])
    func objectPath(text: String) throws {
        #expect(try ObjectPath(text).text == text)
    }

    @Test(
        "an object path of another form is refused",
        arguments: ["", "a", "//", "/a/", "/a//b", "/a-b", "/ä", "/a b", "/a\u{0}"])
    func wrongObjectPath(text: String) {
        #expect(throws: DBusError.self) { try ObjectPath(text) }
    }

    @Test(
        "a bus name of the specification's form is taken",
        arguments: [
            "org.bluez", ":1.42", ":1", ":a.b", "org.example-1._x", "a.b", "_7_zip.b",
            String(repeating: "a", count: 253) + ".b",
        ].filter { $0 != ":1" })
    func busName(text: String) throws {
        #expect(try BusName(text).text == text)
    }

    @Test(
        "a bus name of another form is refused",
        arguments: [
            "", "org", ".org.bluez", "org..bluez", "org.bluez.", "org.7zip", ":", ":1", ":1.", "org.blüez", "a.b/c",
            String(repeating: "a", count: 254) + ".b",
        ])
    func wrongBusName(text: String) {
        #expect(throws: DBusError.self) { try BusName(text) }
    }

    @Test("an interface name has no hyphen, no digit first and at least two elements")
    func interfaceName() throws {
        let name = "org.bluez.Adapter1"
        #expect(try InterfaceName(name).text == name)
        for text in [
            "org", "org.1a", "org.a-b", "org..a", "", ":1.2", "org.a.", String(repeating: "a.", count: 128) + "b",
        ] {
            #expect(throws: DBusError.self, "\(text)") { try InterfaceName(text) }
            #expect(throws: DBusError.self, "\(text)") { try ErrorName(text) }
        }
    }

    @Test("a member name is one element of at most 255 bytes")
    func memberName() throws {
        #expect(try MemberName(String(repeating: "a", count: 255)).text.count == 255)
        for text in ["", "1a", "a.b", "a-b", String(repeating: "a", count: 256)] {
            #expect(throws: DBusError.self, "\(text)") { try MemberName(text) }
        }
    }

    @Test("a path lies below those that it starts with, element by element")
    func contains() {
        #expect(ObjectPath("/a").contains("/a/b"))
        #expect(ObjectPath.root.contains("/a"))
        #expect(!ObjectPath("/a").contains("/ab"))
        #expect(!ObjectPath("/a").contains("/a"))
        #expect(!ObjectPath.root.contains("/"))
    }

    @Test("a child's name is one element")
    func appending() throws {
        #expect(try ObjectPath("/a").appending("b") == "/a/b")
        #expect(try ObjectPath.root.appending("b") == "/b")
        #expect(throws: DBusError.self) { try ObjectPath.root.appending("b/c") }
        #expect(throws: DBusError.self) { try ObjectPath.root.appending("") }
    }
}
