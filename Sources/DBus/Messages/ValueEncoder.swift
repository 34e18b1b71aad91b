/// Encodes values, least significant byte first (D-Bus Specification, “Marshaling (Wire Format)”).
struct ValueEncoder {
    private(set) var bytes: [UInt8] = []
    /// The number of open containers (“Valid Signatures” and “Marshaling”: at most 64, including variants).
    private var depth = 0

    static let maximumDepth = 64
    static let maximumArrayLength = 1 << 26

    mutating func pad(to alignment: Int) {
        while bytes.count % alignment != 0 { bytes.append(0) }
    }

    mutating func append(_ number: some FixedWidthInteger) {
        pad(to: number.bitWidth / 8)
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(raw: [UInt8]) {
        bytes.append(contentsOf: raw)
    }

    /// Encodes a value of the type that its container declares.
    mutating func append(_ value: Value, as type: ValueType) throws(DBusError) {
        switch (value, type) {
        case (.byte(let number), .byte): append(number)
        case (.boolean(let flag), .boolean): append(UInt32(flag ? 1 : 0))
        case (.int16(let number), .int16): append(number)
        case (.uint16(let number), .uint16): append(number)
        case (.int32(let number), .int32): append(number)
        case (.uint32(let number), .uint32): append(number)
        case (.int64(let number), .int64): append(number)
        case (.uint64(let number), .uint64): append(number)
        case (.double(let number), .double): append(number.bitPattern)
        case (.unixDescriptor(let index), .unixDescriptor): append(index)
        case (.string(let text), .string): try append(text)
        case (.objectPath(let path), .objectPath): try append(path.text)
        case (.signature(let signature), .signature): append(signature)
        default: try appendContainer(value, as: type)
        }
    }

    private mutating func appendContainer(_ value: Value, as type: ValueType) throws(DBusError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw .unsendable(problem: "more than 64 containers are nested") }
        switch (value, type) {
        case (.bytes(let contents), .array(.byte)):
            try appendArray(aligned: 1) { encoder throws(DBusError) in encoder.append(raw: contents) }
        case (.array(let values, let element), .array(let promised)) where element == promised:
            try appendArray(aligned: element.alignment) { encoder throws(DBusError) in
                for value in values { try encoder.append(value, as: element) }
            }
        case (.structure(let values), .structure(let fields)) where values.count == fields.count && !fields.isEmpty:
            pad(to: 8)
            for (value, field) in zip(values, fields) { try append(value, as: field) }
        case (.dictionary(let entries, let key, let value), .dictionary(key: let promisedKey, value: let promised))
        where key == promisedKey && value == promised:
            try appendArray(aligned: 8) { encoder throws(DBusError) in
                for entry in entries { try encoder.append(entry, key: key, value: value) }
            }
        case (.variant(let inner), .variant):
            let innerType = inner.type
            append(try Signature([innerType]))
            try append(inner, as: innerType)
        default:
            throw .unsendable(problem: "a value has type \(value.type.code) instead of \(type.code)")
        }
    }

    private mutating func append(_ entry: Value.Entry, key: ValueType, value: ValueType) throws(DBusError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw .unsendable(problem: "more than 64 containers are nested") }
        pad(to: 8)
        try append(entry.key, as: key)
        try append(entry.value, as: value)
    }

    /// The length does not count the padding before the first element (“Marshaling (Wire Format)”).
    private mutating func appendArray(
        aligned alignment: Int, _ contents: (inout ValueEncoder) throws(DBusError) -> Void
    ) throws(DBusError) {
        append(UInt32(0))
        let lengthPosition = bytes.count - 4
        pad(to: alignment)
        let start = bytes.count
        try contents(&self)
        let length = bytes.count - start
        guard length <= Self.maximumArrayLength else {
            throw .tooLarge(what: "an array", limit: Self.maximumArrayLength)
        }
        for index in 0..<4 { bytes[lengthPosition + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    }

    private mutating func append(_ text: String) throws(DBusError) {
        let utf8 = Array(text.utf8)
        guard !utf8.contains(0) else { throw .unsendable(problem: "a string contains NUL") }
        guard utf8.count < Message.maximumLength else {
            throw .tooLarge(what: "a string", limit: Message.maximumLength)
        }
        append(UInt32(utf8.count))
        append(raw: utf8)
        bytes.append(0)
    }

    private mutating func append(_ signature: Signature) {
        bytes.append(UInt8(signature.text.utf8.count))
        append(raw: Array(signature.text.utf8))
        bytes.append(0)
    }
}
