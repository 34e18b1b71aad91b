import Testing

@testable import DBus

/// One value and its bytes, from the specification's text or derived by hand from its rules.
struct MarshallingVector: Sendable, CustomTestStringConvertible {
    let name: String
    let value: Value
    let little: [UInt8]
    let big: [UInt8]

    init(_ name: String, _ value: Value, little: String, big: String) {
        self.name = name
        self.value = value
        self.little = bytes(little)
        self.big = bytes(big)
    }

    var testDescription: String { name }

    static let all: [MarshallingVector] = [
        .init("byte", .byte(0x2A), little: "2a", big: "2a"),
        .init("true", true, little: "01000000", big: "00000001"),
        .init("int16", .int16(-2), little: "feff", big: "fffe"),
        .init("uint16", .uint16(0x1234), little: "3412", big: "1234"),
        .init("int32", .int32(-2), little: "feffffff", big: "fffffffe"),
        .init("uint32", .uint32(0x1234_5678), little: "78563412", big: "12345678"),
        .init("int64", .int64(-2), little: "feffffffffffffff", big: "fffffffffffffffe"),
        .init("uint64", .uint64(0x0102_0304_0506_0708), little: "0807060504030201", big: "0102030405060708"),
        .init("double", .double(1), little: "000000000000f03f", big: "3ff0000000000000"),
        // “Marshaling (Wire Format)”: the three strings of the alignment example.
        .init("string foo", "foo", little: "03000000 'foo' 00", big: "00000003 'foo' 00"),
        .init("string +", "+", little: "01000000 '+' 00", big: "00000001 '+' 00"),
        .init("string bar", "bar", little: "03000000 'bar' 00", big: "00000003 'bar' 00"),
        .init("empty string", "", little: "00000000 00", big: "00000000 00"),
        .init("object path", .objectPath("/a"), little: "02000000 '/a' 00", big: "00000002 '/a' 00"),
        .init("signature", .signature("a{sv}"), little: "05 'a{sv}' 00", big: "05 'a{sv}' 00"),
        .init("descriptor", .unixDescriptor(index: 1), little: "01000000", big: "00000001"),
        .init("bytes", .bytes([1, 2, 3]), little: "03000000 010203", big: "00000003 010203"),
        // “Marshaling (Wire Format)”: an array of one 64-bit integer 5; the padding is not part of the length.
        .init(
            "int64 array", .array([.int64(5)], of: .int64), little: "08000000 00000000 0500000000000000",
            big: "00000008 00000000 0000000000000005"),
        .init(
            "empty array of structures", .array([], of: .structure([.byte])), little: "00000000 00000000",
            big: "00000000 00000000"),
        .init(
            "strings with padding between", .array(["a", "b"], of: .string),
            little: "0e000000 01000000 'a' 00 0000 01000000 'b' 00",
            big: "0000000e 00000001 'a' 00 0000 00000001 'b' 00"),
        .init(
            "structure", .structure([.byte(1), .uint32(2)]), little: "01 000000 02000000", big: "01 000000 00000002"),
        .init(
            "dictionary", .dictionary([.init(.byte(7), .uint16(9))], key: .byte, value: .uint16),
            little: "04000000 00000000 07 00 0900", big: "00000004 00000000 07 00 0009"),
        .init("variant", .variant(.uint32(5)), little: "01 'u' 00 00 05000000", big: "01 'u' 00 00 00000005"),
        .init(
            "variant in a variant", .variant(.variant(.byte(5))), little: "01 'v' 00 01 'y' 00 05",
            big: "01 'v' 00 01 'y' 00 05"),
    ]
}

@Suite("Marshalling")
struct MarshallingTests {
    @Test("a value is written as the specification says", arguments: MarshallingVector.all)
    func writes(vector: MarshallingVector) throws {
        var encoder = ValueEncoder()
        try encoder.append(vector.value, as: vector.value.type)
        #expect(encoder.bytes == vector.little)
    }

    @Test("a value is read in both byte orders", arguments: MarshallingVector.all)
    func reads(vector: MarshallingVector) throws {
        for (order, bytes) in [(ValueDecoder.ByteOrder.little, vector.little), (.big, vector.big)] {
            var decoder = ValueDecoder(bytes, order: order)
            #expect(try decoder.value(vector.value.type) == vector.value)
            #expect(decoder.isAtEnd)
        }
    }

    @Test("a value that is cut off anywhere is refused", arguments: MarshallingVector.all)
    func cutOff(vector: MarshallingVector) {
        for length in 0..<vector.little.count {
            var decoder = ValueDecoder(Array(vector.little[..<length]), order: .little)
            #expect(throws: DBusError.self) { try decoder.value(vector.value.type) }
        }
    }

    @Test(
        "bytes against the rules are refused",
        arguments: [
            ("b", "02000000", "a boolean is neither"), ("b", "00000001", "a boolean is neither"),
            ("yu", "01 010000 05000000", "the padding is not zero"),
            ("s", "01000000 'a' 01", "does not end with NUL"), ("s", "03000000 61 00 61 00", "contains NUL"),
            ("s", "01000000 ff 00", "is not UTF-8"), ("s", "02000000 c080 00", "is not UTF-8"),
            ("s", "03000000 eda080 00", "is not UTF-8"), ("s", "ffffffff 00", "is truncated"),
            ("o", "01000000 'a' 00", "is not a valid object path"), ("o", "00000000 00", "is not a valid object path"),
            ("g", "01 'z' 00", "is not a valid signature"), ("g", "01 'y' 01", "does not end with NUL"),
            ("v", "02 'yy' 00 01 02", "not exactly one type"), ("v", "00 00", "not exactly one type"),
            ("ay", "04000000 010203", "longer than its message"),
            ("ay", "01000004 01", "longer than 64 MiB"), ("aq", "03000000 010002", "is truncated"),
            ("aq", "03000000 0100 0200", "exceeds its length"),
            ("ax", "00000000 00000001", "the padding is not zero"),
            ("a{yq}", "03000000 00000000 07 00 0900", "exceeds its length"),
            ("(y)", "", "is truncated"),
        ])
    func malformed(signature: String, text: String, problem: String) throws {
        var decoder = ValueDecoder(bytes(text), order: .little)
        let error = #expect(throws: DBusError.self) {
            for type in try Signature(signature).types { _ = try decoder.value(type) }
        }
        #expect(error.map { "\($0)".contains(problem) } == true, "\(String(describing: error))")
    }

    @Test("an array of exactly 64 MiB is taken, and one byte more is not")
    func arrayLimit() throws {
        let limit = 1 << 26
        var encoder = ValueEncoder()
        try encoder.append(.bytes(zeros(limit)), as: .array(.byte))
        #expect(encoder.bytes.count == limit + 4)
        var decoder = ValueDecoder(encoder.bytes, order: .little)
        #expect(try decoder.value(.array(.byte)) == .bytes(zeros(limit)))
        #expect(throws: DBusError.tooLarge(what: "an array", limit: limit)) {
            var encoder = ValueEncoder()
            try encoder.append(.bytes(zeros(limit + 1)), as: .array(.byte))
        }
    }

    @Test("64 variants may nest, and the 65th is refused in both directions")
    func depth() throws {
        var value = Value.byte(1)
        for _ in 0..<64 { value = .variant(value) }
        var encoder = ValueEncoder()
        try encoder.append(value, as: .variant)
        var decoder = ValueDecoder(encoder.bytes, order: .little)
        #expect(try decoder.value(.variant) == value)
        #expect(throws: DBusError.self) {
            var encoder = ValueEncoder()
            try encoder.append(.variant(value), as: .variant)
        }
        var deeper = ValueDecoder(bytes("01 'v' 00") + encoder.bytes, order: .little)
        #expect(throws: DBusError.self) { try deeper.value(.variant) }
    }

    @Test(
        "values that contradict their types are not sent",
        arguments: [
            .array(["a", true], of: .string), .array([.byte(1)], of: .string), .structure([]), "a\u{0}b",
            .dictionary([.init("a", "b")], key: .string, value: .byte),
            .dictionary([], key: .variant, value: .byte), .variant(.structure([])),
            .array([], of: .structure([])),
        ] as [Value])
    func unsendable(value: Value) {
        let message = Message(.reply(to: 1), serial: 1, body: [value])
        #expect(throws: DBusError.self) { try message.encoded() }
    }
}
