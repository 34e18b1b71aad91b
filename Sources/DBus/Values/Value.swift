/// A value of any D-Bus type (D-Bus Specification, “Type System”).
///
/// Literals create common types: `true`, `"text"`; numbers name their type: `.uint32(5)`. Read a value with
/// ``read(_:)``: `try value.read(Int16.self)`.
package indirect enum Value: Sendable, Hashable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    /// Text without the character NUL.
    case string(String)
    case objectPath(ObjectPath)
    case signature(Signature)
    /// An index into the file descriptors of a message. A ``Connection`` neither sends nor receives descriptors.
    case unixDescriptor(index: UInt32)
    /// An array of bytes. Decoding uses this case for `ay`, never ``array(_:of:)``.
    case bytes([UInt8])
    /// Values of one type.
    case array([Value], of: ValueType)
    /// Fields in order; at least one.
    case structure([Value])
    /// Entries in wire order, which has no meaning; keys may be duplicated.
    case dictionary([Entry], key: ValueType, value: ValueType)
    case variant(Value)

    /// One entry of a dictionary.
    package struct Entry: Sendable, Hashable {
        package let key: Value
        package let value: Value

        package init(_ key: Value, _ value: Value) {
            self.key = key
            self.value = value
        }
    }
}

extension Value {
    /// The declared type.
    package var type: ValueType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .unixDescriptor: .unixDescriptor
        case .bytes: .array(.byte)
        case .array(_, let element): .array(element)
        case .structure(let fields): .structure(fields.map(\.type))
        case .dictionary(_, let key, let value): .dictionary(key: key, value: value)
        case .variant: .variant
        }
    }

    /// An array of strings (`as`).
    package static func strings(_ texts: [String]) -> Value {
        texts.value
    }

    /// A dictionary of names and values of any type (`a{sv}`), sorted by name.
    package static func properties(_ properties: [String: Value]) -> Value {
        properties.value
    }

    /// This value as a Swift value.
    ///
    /// - Throws: ``DBusError/unexpectedType(expected:found:)`` when it has another type; there is no conversion between
    ///   types.
    package func read<Result: ValueConvertible>(_ type: Result.Type = Result.self) throws(DBusError) -> Result {
        guard let result = Result(reading: self) else {
            throw .unexpectedType(expected: Result.valueType.code, found: self.type.code)
        }
        return result
    }

    /// Whether it contains the index of a file descriptor.
    var hasDescriptor: Bool {
        switch self {
        case .unixDescriptor: true
        case .array(let values, _), .structure(let values): values.contains(where: \.hasDescriptor)
        case .dictionary(let entries, _, _): entries.contains { $0.key.hasDescriptor || $0.value.hasDescriptor }
        case .variant(let value): value.hasDescriptor
        default: false
        }
    }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
    package init(stringLiteral text: String) {
        self = .string(text)
    }

    package init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }
}

extension [Value] {
    /// The arguments of a message as Swift values: `let (id, reason) = try arguments.read(UInt32.self, UInt32.self)`.
    ///
    /// Extra arguments are ignored, because a later version of the peer may send more.
    ///
    /// - Throws: ``DBusError/unexpectedType(expected:found:)`` when one is missing or has another type.
    package func read<each Result: ValueConvertible>(
        _ type: repeat (each Result).Type
    ) throws(DBusError) -> (repeat each Result) {
        var index = 0
        func next<One: ValueConvertible>(_ type: One.Type) throws(DBusError) -> One {
            guard index < count else {
                throw .unexpectedType(expected: One.valueType.code, found: "no argument")
            }
            defer { index += 1 }
            return try self[index].read(type)
        }
        return (repeat try next(each type))
    }

    /// The signature of these arguments.
    var signature: Signature {
        get throws(DBusError) { try Signature(map(\.type)) }
    }
}
