extension Message {
    /// Decodes exactly one message.
    ///
    /// Unknown header fields are ignored, as the specification requires.
    ///
    /// - Returns: nil for a message of an unknown type, which must be ignored (“Message Format”).
    /// - Throws: ``DBusError/malformed(offset:problem:)``
    package init?(decoding bytes: [UInt8]) throws(DBusError) {
        let header = try HeaderReader(bytes)
        guard header.totalLength == bytes.count else {
            throw .malformed(offset: bytes.count, problem: "the lengths in the header do not match the message")
        }
        guard header.kind != 0 else { throw .malformed(offset: 1, problem: "the message has the invalid type 0") }
        guard let kind = Kind(rawValue: header.kind) else { return nil }
        let fields = try HeaderFields(bytes, header)
        content = try fields.content(of: kind)
        serial = header.serial
        flags = Flags(rawValue: header.flags)
        destination = fields.destination
        sender = fields.sender
        descriptorCount = fields.descriptorCount
        var decoder = ValueDecoder(bytes, order: header.order, from: bytes.count - header.bodyLength)
        body = []
        for type in fields.signature.types { body.append(try decoder.value(type)) }
        guard decoder.isAtEnd else { throw decoder.failure("bytes follow the last argument") }
    }
}

/// The fixed part of a header, from which the length of the message follows (D-Bus Specification, “Message Format”).
struct HeaderReader {
    static let length = 16
    static let protocolVersion: UInt8 = 1
    static let fieldType = ValueType.structure([.byte, .variant])

    let order: ValueDecoder.ByteOrder
    let kind: UInt8
    let flags: UInt8
    let bodyLength: Int
    let serial: UInt32
    let fieldsLength: Int

    /// Reads the first 16 bytes of `bytes`.
    init(_ bytes: [UInt8]) throws(DBusError) {
        guard bytes.count >= Self.length else {
            throw .malformed(offset: bytes.count, problem: "the header is truncated")
        }
        switch bytes[0] {
        case UInt8(ascii: "l"): order = .little
        case UInt8(ascii: "B"): order = .big
        default: throw .malformed(offset: 0, problem: "the byte order is neither l nor B")
        }
        kind = bytes[1]
        flags = bytes[2]
        guard bytes[3] == Self.protocolVersion else {
            throw .malformed(offset: 3, problem: "the protocol version is not 1")
        }
        var decoder = ValueDecoder(bytes, order: order, from: 4)
        bodyLength = Int(try decoder.number(UInt32.self))
        serial = try decoder.number()
        fieldsLength = Int(try decoder.number(UInt32.self))
        guard serial != 0 else { throw .malformed(offset: 8, problem: "the serial number is zero") }
        guard fieldsLength <= ValueEncoder.maximumArrayLength else {
            throw .malformed(offset: 12, problem: "the header fields are longer than 64 MiB")
        }
        guard totalLength <= Message.maximumLength else {
            throw .malformed(offset: 4, problem: "the message is longer than 128 MiB")
        }
    }

    /// The bytes of header, padding and body.
    var totalLength: Int {
        (Self.length + fieldsLength + 7) / 8 * 8 + bodyLength
    }
}

/// The known header fields (D-Bus Specification, “Header Fields”).
private struct HeaderFields {
    private var values: [Message.Field: Value] = [:]
    private(set) var destination: BusName?
    private(set) var sender: BusName?
    private(set) var signature = Signature.empty
    private(set) var descriptorCount: UInt32 = 0

    init(_ bytes: [UInt8], _ header: HeaderReader) throws(DBusError) {
        var decoder = ValueDecoder(bytes, order: header.order, from: 12, to: bytes.count - header.bodyLength)
        let fields = try decoder.value(.array(HeaderReader.fieldType))
        try decoder.skipPadding(to: 8)
        if case .array(let fields, _) = fields {
            for field in fields {
                guard case .structure(let parts) = field, case .byte(let code) = parts[0],
                    case .variant(let value) = parts[1]
                else { continue }
                try add(code, value)
            }
        }
        destination = try name(.destination)
        sender = try name(.sender)
        signature = try read(.signature) ?? .empty
        descriptorCount = try read(.descriptorCount) ?? 0
        if signature.types.isEmpty, header.bodyLength > 0 {
            throw .malformed(offset: 4, problem: "there are arguments but no signature")
        }
    }

    private mutating func add(_ code: UInt8, _ value: Value) throws(DBusError) {
        guard code != 0 else { throw Self.failure("a header field has the invalid code 0") }
        guard let field = Message.Field(rawValue: code) else { return }
        guard values.updateValue(value, forKey: field) == nil else {
            throw Self.failure("the header field \(field) is duplicated")
        }
    }

    func content(of kind: Message.Kind) throws(DBusError) -> Message.Content {
        switch kind {
        case .call:
            return .call(
                path: try required(.path, read(.path)), interface: try name(.interface),
                member: try required(.member, name(.member)))
        case .reply:
            return .reply(to: try replySerial())
        case .error:
            return .error(name: try required(.errorName, name(.errorName)), replyTo: try replySerial())
        case .signal:
            let path: ObjectPath = try required(.path, read(.path))
            // Reserved for local use by libraries: it must not be sent (“Message Bus Messages”).
            guard path != "/org/freedesktop/DBus/Local" else {
                throw Self.failure("a signal has a reserved path")
            }
            return .signal(
                path: path, interface: try required(.interface, name(.interface)),
                member: try required(.member, name(.member)))
        }
    }

    private func replySerial() throws(DBusError) -> UInt32 {
        let serial: UInt32 = try required(.replySerial, read(.replySerial))
        guard serial != 0 else { throw Self.failure("the serial number of the reply is zero") }
        return serial
    }

    private func required<Result>(_ field: Message.Field, _ value: Result?) throws(DBusError) -> Result {
        guard let value else { throw Self.failure("the header field \(field) is missing") }
        return value
    }

    private func read<Result: ValueConvertible>(_ field: Message.Field) throws(DBusError) -> Result? {
        guard let value = values[field] else { return nil }
        guard let result = Result(reading: value) else {
            throw Self.failure("the header field \(field) has the type \(value.type.code)")
        }
        return result
    }

    private func name<Name: CheckedName>(_ field: Message.Field) throws(DBusError) -> Name? {
        guard let text: String = try read(field) else { return nil }
        do {
            return try Name(text)
        } catch {
            throw Self.failure(error.description)
        }
    }

    private static func failure(_ problem: String) -> DBusError {
        .malformed(offset: HeaderReader.length, problem: problem)
    }
}
