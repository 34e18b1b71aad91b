extension Message {
    /// The bytes of this message, least significant byte first.
    ///
    /// - Throws: ``DBusError/unsendable(problem:)``, ``DBusError/tooLarge(what:limit:)`` or
    ///   ``DBusError/invalidSignature(text:problem:)`` when the arguments cannot be written.
    package func encoded() throws(DBusError) -> [UInt8] {
        guard serial != 0 else { throw .unsendable(problem: "its serial number is zero") }
        let signature = try body.signature
        var bodyEncoder = ValueEncoder()
        for (value, type) in zip(body, signature.types) { try bodyEncoder.append(value, as: type) }
        guard bodyEncoder.bytes.count <= Self.maximumLength else {
            throw .tooLarge(what: "a message", limit: Self.maximumLength)
        }
        var encoder = ValueEncoder()
        encoder.append(UInt8(ascii: "l"))
        encoder.append(kind.rawValue)
        encoder.append(flags.rawValue)
        encoder.append(HeaderReader.protocolVersion)
        encoder.append(UInt32(bodyEncoder.bytes.count))
        encoder.append(serial)
        let fields = fields(signature).map { Value.structure([.byte($0.rawValue), .variant($1)]) }
        try encoder.append(.array(fields, of: HeaderReader.fieldType), as: .array(HeaderReader.fieldType))
        encoder.pad(to: 8)
        encoder.append(raw: bodyEncoder.bytes)
        guard encoder.bytes.count <= Self.maximumLength else {
            throw .tooLarge(what: "a message", limit: Self.maximumLength)
        }
        return encoder.bytes
    }

    private var kind: Kind {
        switch content {
        case .call: .call
        case .reply: .reply
        case .error: .error
        case .signal: .signal
        }
    }

    private func fields(_ signature: Signature) -> [(Field, Value)] {
        var fields: [(Field, Value)] = []
        switch content {
        case .call(let path, let interface, let member):
            fields.append((.path, .objectPath(path)))
            if let interface { fields.append((.interface, .string(interface.text))) }
            fields.append((.member, .string(member.text)))
        case .reply(let serial):
            fields.append((.replySerial, .uint32(serial)))
        case .error(let name, let serial):
            fields.append((.errorName, .string(name.text)))
            fields.append((.replySerial, .uint32(serial)))
        case .signal(let path, let interface, let member):
            fields.append((.path, .objectPath(path)))
            fields.append((.interface, .string(interface.text)))
            fields.append((.member, .string(member.text)))
        }
        if let destination { fields.append((.destination, .string(destination.text))) }
        if let sender { fields.append((.sender, .string(sender.text))) }
        if !signature.types.isEmpty { fields.append((.signature, .signature(signature))) }
        if descriptorCount > 0 { fields.append((.descriptorCount, .uint32(descriptorCount))) }
        return fields
    }
}
