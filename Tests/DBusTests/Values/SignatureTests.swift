import DBus
import Testing

@Suite("Signatures")
struct SignatureTests {
    @Test(
        "a signature of the specification's form is taken and gives its types",
        arguments: [
            ("", []), ("y", [.byte]),
            (
                "ybnqiuxtdsogh",
                [
                    .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath,
                    .signature, .unixDescriptor,
                ]
            ), ("a{sv}", [.dictionary(key: .string, value: .variant)]), ("aai", [.array(.array(.int32))]),
            ("(i(ii))", [.structure([.int32, .structure([.int32, .int32])])]),
            ("a(yyay)", [.array(.structure([.byte, .byte, .array(.byte)]))]),
        ] as [(String, [ValueType])])
    func valid(text: String, types: [ValueType]) throws {
        #expect(try Signature(text).types == types)
        #expect(try Signature(types).text == text)
    }

    @Test(
        "a signature of another form is refused",
        arguments: [
            "a", "()", "(", ")", "(i", "i)", "{sv}", "a{}", "a{s}", "a{svs}", "a{vs}", "a{(i)s}", "a{ass}", "a{sv",
            "z", "r", "e", "m", "a{as}", "(a)", " ", "ä", "a{s", "*", "s\u{0}",
        ])
    func invalid(text: String) {
        #expect(throws: DBusError.self) { try Signature(text) }
    }

    @Test("255 type codes are taken and 256 are not")
    func length() throws {
        #expect(try Signature(String(repeating: "y", count: 255)).types.count == 255)
        #expect(throws: DBusError.self) { try Signature(String(repeating: "y", count: 256)) }
    }

    @Test("32 arrays and 32 structures may nest, and no more")
    func depth() throws {
        let arrays = String(repeating: "a", count: 32)
        let open = String(repeating: "(", count: 32)
        let close = String(repeating: ")", count: 32)
        #expect(try Signature(arrays + "y").types.count == 1)
        #expect(try Signature(open + "y" + close).types.count == 1)
        #expect(try Signature(arrays + open + "y" + close).types.count == 1)
        #expect(throws: DBusError.self) { try Signature(arrays + "ay") }
        #expect(throws: DBusError.self) { try Signature("(" + open + "y" + close + ")") }
        // Side by side is not inside.
        #expect(try Signature(arrays + "y" + arrays + "y").types.count == 2)
    }
}
