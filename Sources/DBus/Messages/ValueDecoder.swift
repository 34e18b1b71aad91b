/// Decodes values in either byte order (D-Bus Specification, “Marshaling (Wire Format)”).
///
/// Lengths are checked against the available bytes before memory is allocated.
struct ValueDecoder {
    enum ByteOrder { case little, big }

    let bytes: [UInt8]
    let order: ByteOrder
    /// The next byte, from the start of the message, which alignment also counts from.
    private(set) var position: Int
    /// The end of the readable bytes.
    private let end: Int
    private var depth = 0

    init(_ bytes: [UInt8], order: ByteOrder, from position: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        self.order = order
        self.position = position
        self.end = end ?? bytes.count
    }

    var isAtEnd: Bool { position == end }

    func failure(_ problem: String) -> DBusError {
        .malformed(offset: position, problem: problem)
    }

    mutating func skipPadding(to alignment: Int) throws(DBusError) {
        while position % alignment != 0 {
            guard position < end else { throw failure("the padding is truncated") }
            guard bytes[position] == 0 else { throw failure("the padding is not zero") }
            position += 1
        }
    }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(DBusError) -> Number {
        let size = Number.bitWidth / 8
        try skipPadding(to: size)
        guard end - position >= size else { throw failure("a number is truncated") }
        var result: Number = 0
        withUnsafeMutableBytes(of: &result) { $0.copyBytes(from: bytes[position..<position + size]) }
        position += size
        return order == .little ? Number(littleEndian: result) : Number(bigEndian: result)
    }

    mutating func value(_ type: ValueType) throws(DBusError) -> Value {
        switch type {
        case .byte: .byte(try number())
        case .boolean: .boolean(try boolean())
        case .int16: .int16(try number())
        case .uint16: .uint16(try number())
        case .int32: .int32(try number())
        case .uint32: .uint32(try number())
        case .int64: .int64(try number())
        case .uint64: .uint64(try number())
        case .double: .double(Double(bitPattern: try number()))
        case .string: .string(try text())
        case .objectPath: .objectPath(try objectPath())
        case .signature: .signature(try signature())
        case .unixDescriptor: .unixDescriptor(index: try number())
        case .variant, .array, .structure, .dictionary: try container(type)
        }
    }

    private mutating func container(_ type: ValueType) throws(DBusError) -> Value {
        try enter()
        defer { depth -= 1 }
        switch type {
        case .array(.byte):
            let stop = try arrayEnd(aligned: 1)
            defer { position = stop }
            return .bytes(Array(bytes[position..<stop]))
        case .array(let element):
            var values: [Value] = []
            let stop = try arrayEnd(aligned: element.alignment)
            while position < stop { values.append(try value(element)) }
            try requireArrayEnd(stop)
            return .array(values, of: element)
        case .dictionary(let key, let valueType):
            var entries: [Value.Entry] = []
            let stop = try arrayEnd(aligned: 8)
            while position < stop { entries.append(try entry(key, valueType)) }
            try requireArrayEnd(stop)
            return .dictionary(entries, key: key, value: valueType)
        case .structure(let fields):
            try skipPadding(to: 8)
            var values: [Value] = []
            for field in fields { values.append(try value(field)) }
            return .structure(values)
        default:
            return .variant(try variant())
        }
    }

    private mutating func enter() throws(DBusError) {
        depth += 1
        guard depth <= ValueEncoder.maximumDepth else { throw failure("more than 64 containers are nested") }
    }

    private mutating func entry(_ key: ValueType, _ valueType: ValueType) throws(DBusError) -> Value.Entry {
        try enter()
        defer { depth -= 1 }
        try skipPadding(to: 8)
        let key = try value(key)
        return Value.Entry(key, try value(valueType))
    }

    private mutating func variant() throws(DBusError) -> Value {
        let signature = try signature()
        guard signature.types.count == 1 else {
            throw failure("the signature of a variant is not exactly one type")
        }
        return try value(signature.types[0])
    }

    private mutating func boolean() throws(DBusError) -> Bool {
        switch try number(UInt32.self) {
        case 0: return false
        case 1: return true
        default: throw failure("a boolean is neither 0 nor 1")
        }
    }

    /// The end of an array's elements. The padding before the first element is present even in an empty array.
    private mutating func arrayEnd(aligned alignment: Int) throws(DBusError) -> Int {
        let length = Int(try number(UInt32.self))
        guard length <= ValueEncoder.maximumArrayLength else { throw failure("an array is longer than 64 MiB") }
        try skipPadding(to: alignment)
        guard end - position >= length else { throw failure("an array is longer than its message") }
        return position + length
    }

    private func requireArrayEnd(_ stop: Int) throws(DBusError) {
        guard position == stop else { throw failure("the last element of an array exceeds its length") }
    }

    mutating func text() throws(DBusError) -> String {
        try text(length: Int(try number(UInt32.self)))
    }

    private mutating func text(length: Int) throws(DBusError) -> String {
        guard end - position > length else { throw failure("a string is truncated") }
        let contents = bytes[position..<position + length]
        guard bytes[position + length] == 0 else { throw failure("a string does not end with NUL") }
        guard !contents.contains(0) else { throw failure("a string contains NUL") }
        guard let text = String(validating: contents, as: UTF8.self) else { throw failure("a string is not UTF-8") }
        position += length + 1
        return text
    }

    mutating func objectPath() throws(DBusError) -> ObjectPath {
        let start = position
        let text = try text()
        do {
            return try ObjectPath(text)
        } catch {
            throw .malformed(offset: start, problem: error.description)
        }
    }

    mutating func signature() throws(DBusError) -> Signature {
        let start = position
        let text = try text(length: Int(try number(UInt8.self)))
        do {
            return try Signature(text)
        } catch {
            throw .malformed(offset: start, problem: error.description)
        }
    }
}
