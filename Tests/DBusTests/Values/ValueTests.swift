import DBus
import Testing

@Suite("Values")
struct ValueTests {
    @Test("literals make texts and booleans")
    func literals() {
        let properties: [String: Value] = ["Type": "broadcast", "Powered": true]
        #expect(properties == ["Type": .string("broadcast"), "Powered": .boolean(true)])
    }

    @Test("a value is read as its own type only")
    func strictness() throws {
        #expect(try Value.int16(-59).read(Int16.self) == -59)
        #expect(throws: DBusError.unexpectedType(expected: "i", found: "n")) { try Value.int16(1).read(Int32.self) }
        #expect(throws: DBusError.unexpectedType(expected: "s", found: "o")) {
            try Value.objectPath("/").read(String.self)
        }
        #expect(throws: DBusError.unexpectedType(expected: "as", found: "ay")) {
            try Value.bytes([]).read([String].self)
        }
    }

    @Test("manufacturer data is a dictionary of variants that hold bytes")
    func manufacturerData() throws {
        let data: [UInt16: Value] = [0x004C: .bytes([2, 21])]
        #expect(data.value.type.code == "a{qv}")
        #expect(
            data.value
                == .dictionary([.init(.uint16(0x004C), .variant(.bytes([2, 21])))], key: .uint16, value: .variant))
        #expect(try data.value.read([UInt16: Value].self)[0x004C]?.read([UInt8].self) == [2, 21])
    }

    @Test("arguments are read in one go, and those of a later version are ignored")
    func arguments() throws {
        let arguments: [Value] = [.uint32(7), "default", true]
        let (identifier, key) = try arguments.read(UInt32.self, String.self)
        #expect(identifier == 7)
        #expect(key == "default")
        #expect(throws: DBusError.unexpectedType(expected: "u", found: "no argument")) {
            try [Value]().read(UInt32.self)
        }
    }

    @Test("of two entries with one key the last counts")
    func repeatedKey() throws {
        let value = Value.dictionary([.init("a", .byte(1)), .init("a", .byte(2))], key: .string, value: .byte)
        #expect(try value.read([String: UInt8].self) == ["a": 2])
    }
}
