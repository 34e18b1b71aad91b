import Testing

@testable import DBus

@Suite("Messages")
struct MessageTests {
    /// A call of Hello, byte by byte by the rules of “Message Format” and “Header Fields”.
    static let hello = bytes(
        """
        'l' 01 00 01  00000000  01000000  6d000000
        01 01 'o' 00  15000000 '/org/freedesktop/DBus' 00  0000
        02 01 's' 00  14000000 'org.freedesktop.DBus' 00  000000
        03 01 's' 00  05000000 'Hello' 00  0000
        06 01 's' 00  14000000 'org.freedesktop.DBus' 00  000000
        """)

    static let helloMessage = Message(
        .call(path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "Hello"), serial: 1,
        destination: "org.freedesktop.DBus")

    /// An error with a text, most significant byte first.
    static let error = bytes(
        """
        'B' 03 01 01  0000000b  00000007  00000027
        04 01 's' 00  0000000b 'org.a.Error' 00 00000000
        05 01 'u' 00  00000003
        08 01 'g' 00  01 's' 00 00
        00000006 'failed' 00
        """)

    @Test("a call is written as the specification says")
    func writes() throws {
        #expect(try Self.helloMessage.encoded() == Self.hello)
    }

    @Test("a call is read")
    func reads() throws {
        #expect(try Message(decoding: Self.hello) == Self.helloMessage)
    }

    @Test("an error is read in the other byte order")
    func readsBigEndian() throws {
        let expected = Message(
            .error(name: "org.a.Error", replyTo: 3), serial: 7, flags: .noReplyExpected, body: ["failed"])
        #expect(try Message(decoding: Self.error) == expected)
    }

    @Test(
        "every kind comes back as it was sent",
        arguments: [
            .call(path: "/a", interface: nil, member: "M"), .call(path: "/", interface: "a.b", member: "M"),
            .reply(to: 9), .error(name: "a.b", replyTo: .max), .signal(path: "/a", interface: "a.b", member: "S"),
        ] as [Message.Content])
    func roundTrip(content: Message.Content) throws {
        var message = Message(
            content, serial: 5, flags: .init(rawValue: 0x86), destination: ":1.2",
            body: [
                "ä", .properties(["a": .byte(1), "b": .strings(["x", "y"])]), .structure([.double(.pi), .int64(-1)]),
            ])
        message.sender = "org.example"
        #expect(try Message(decoding: message.encoded()) == message)
    }

    @Test("an unknown header field and unknown flags are ignored")
    func unknownField() throws {
        let message = bytes(
            "'l' 02 f0 01 00000000 01000000 11000000  05 01 'u' 00 02000000  63 01 's' 00 00000000 00  00000000000000")
        let decoded = try #require(try Message(decoding: message))
        #expect(decoded.content == .reply(to: 2))
        #expect(decoded.flags.rawValue == 0xF0)
    }

    @Test("a message of an unknown kind is nil, and the reader skips it")
    func unknownKind() throws {
        var unknown = Self.hello
        unknown[1] = 9
        #expect(try Message(decoding: unknown) == nil)
        var reader = MessageReader()
        reader.append(unknown + Self.hello)
        #expect(try reader.next() == Self.helloMessage)
        #expect(try reader.next() == nil)
    }

    /// A place in the call of Hello, and the byte that it gets.
    struct Change: Sendable {
        let name: String
        let bytes: [(position: Int, byte: UInt8)]

        init(_ name: String, _ bytes: (Int, UInt8)...) {
            self.name = name
            self.bytes = bytes.map { (position: $0.0, byte: $0.1) }
        }
    }

    static let changes: [Change] = [
        Change("byte order", (0, UInt8(ascii: "x"))), Change("kind 0", (1, 0)), Change("version", (3, 2)),
        Change("serial 0", (8, 0)), Change("body without a signature", (4, 1), (128, 0)), Change("lengths", (128, 0)),
        Change("field code 0", (16, 0)), Change("field of a wrong type", (18, UInt8(ascii: "s"))),
        Change("field twice", (48, 1), (50, UInt8(ascii: "o"))), Change("member missing", (80, 99)),
        Change("path missing", (16, 99)), Change("padding in the header", (46, 1)),
        Change("padding after the header", (127, 1)),
        Change("interface of one element", (59, UInt8(ascii: "_")), (71, UInt8(ascii: "_"))),
        Change("header fields beyond 64 MiB", (15, 5)), Change("message beyond 128 MiB", (7, 9)),
    ]

    @Test("a header against the rules is refused", arguments: changes.map(\.name))
    func malformed(name: String) throws {
        let change = try #require(Self.changes.first { $0.name == name })
        var message = Self.hello
        for (position, byte) in change.bytes {
            if position == message.count { message.append(byte) } else { message[position] = byte }
        }
        #expect(throws: DBusError.self) { try Message(decoding: message) }
    }

    @Test("a message that is cut off anywhere is refused")
    func cutOff() {
        for length in 0..<Self.hello.count {
            #expect(throws: DBusError.self) { try Message(decoding: Array(Self.hello[..<length])) }
        }
    }

    @Test("a body with bytes after its last argument is refused")
    func trailing() throws {
        var message = try Message(.reply(to: 1), serial: 1, body: [.byte(1)]).encoded()
        message[4] = 2
        message.append(0)
        #expect(throws: DBusError.self) { try Message(decoding: message) }
    }

    @Test("a reply to the number zero and a signal from the reserved path are refused")
    func reserved() throws {
        let reply = try Message(.reply(to: 0), serial: 1).encoded()
        #expect(throws: DBusError.self) { try Message(decoding: reply) }
        let local = try Message(
            .signal(
                path: "/org/freedesktop/DBus/Local", interface: "org.freedesktop.DBus.Local", member: "Disconnected"),
            serial: 1
        ).encoded()
        #expect(throws: DBusError.self) { try Message(decoding: local) }
    }

    @Test("a message without a number or with too large a body is not written")
    func unwritable() {
        #expect(throws: DBusError.self) { try Message(.reply(to: 1), serial: 0).encoded() }
        let half = Value.bytes(zeros(1 << 26))
        #expect(throws: DBusError.self) { try Message(.reply(to: 1), serial: 1, body: [half, half]).encoded() }
    }
}

@Suite("Reading a stream")
struct MessageReaderTests {
    @Test("messages come out whatever the pieces are", arguments: [1, 2, 3, 7, 15, 16, 17, 64, 127, 128, 129, 500])
    func pieces(size: Int) throws {
        let stream = MessageTests.hello + MessageTests.error + MessageTests.hello
        var reader = MessageReader()
        var messages: [Message] = []
        var rest = stream[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let message = try reader.next() { messages.append(message) }
        }
        #expect(messages.map(\.serial) == [1, 7, 1])
    }

    @Test("a message beyond the limit is refused by its header alone")
    func limit() throws {
        var exact = MessageReader(limit: MessageTests.hello.count)
        exact.append(MessageTests.hello)
        #expect(try exact.next() != nil)
        var smaller = MessageReader(limit: MessageTests.hello.count - 1)
        smaller.append(MessageTests.hello[..<16])
        #expect(throws: DBusError.tooLarge(what: "a message", limit: MessageTests.hello.count - 1)) {
            try smaller.next()
        }
    }
}
