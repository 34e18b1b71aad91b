/// A Swift type that maps to exactly one D-Bus type.
package protocol ValueConvertible: Sendable {
    /// The D-Bus type.
    static var valueType: ValueType { get }

    /// This value as a D-Bus value.
    var value: Value { get }

    /// Reads a value of ``valueType``; nil for a value of another type.
    init?(reading value: Value)
}

extension UInt8: ValueConvertible {
    package static var valueType: ValueType { .byte }
    package var value: Value { .byte(self) }
    package init?(reading value: Value) {
        guard case .byte(let number) = value else { return nil }
        self = number
    }
}

extension Bool: ValueConvertible {
    package static var valueType: ValueType { .boolean }
    package var value: Value { .boolean(self) }
    package init?(reading value: Value) {
        guard case .boolean(let flag) = value else { return nil }
        self = flag
    }
}

extension Int16: ValueConvertible {
    package static var valueType: ValueType { .int16 }
    package var value: Value { .int16(self) }
    package init?(reading value: Value) {
        guard case .int16(let number) = value else { return nil }
        self = number
    }
}

extension UInt16: ValueConvertible {
    package static var valueType: ValueType { .uint16 }
    package var value: Value { .uint16(self) }
    package init?(reading value: Value) {
        guard case .uint16(let number) = value else { return nil }
        self = number
    }
}

extension Int32: ValueConvertible {
    package static var valueType: ValueType { .int32 }
    package var value: Value { .int32(self) }
    package init?(reading value: Value) {
        guard case .int32(let number) = value else { return nil }
        self = number
    }
}

extension UInt32: ValueConvertible {
    package static var valueType: ValueType { .uint32 }
    package var value: Value { .uint32(self) }
    package init?(reading value: Value) {
        guard case .uint32(let number) = value else { return nil }
        self = number
    }
}

extension Int64: ValueConvertible {
    package static var valueType: ValueType { .int64 }
    package var value: Value { .int64(self) }
    package init?(reading value: Value) {
        guard case .int64(let number) = value else { return nil }
        self = number
    }
}

extension UInt64: ValueConvertible {
    package static var valueType: ValueType { .uint64 }
    package var value: Value { .uint64(self) }
    package init?(reading value: Value) {
        guard case .uint64(let number) = value else { return nil }
        self = number
    }
}

extension Double: ValueConvertible {
    package static var valueType: ValueType { .double }
    package var value: Value { .double(self) }
    package init?(reading value: Value) {
        guard case .double(let number) = value else { return nil }
        self = number
    }
}

extension String: ValueConvertible {
    package static var valueType: ValueType { .string }
    package var value: Value { .string(self) }
    package init?(reading value: Value) {
        guard case .string(let text) = value else { return nil }
        self = text
    }
}

extension ObjectPath: ValueConvertible {
    package static var valueType: ValueType { .objectPath }
    package var value: Value { .objectPath(self) }
    package init?(reading value: Value) {
        guard case .objectPath(let path) = value else { return nil }
        self = path
    }
}

extension Signature: ValueConvertible {
    package static var valueType: ValueType { .signature }
    package var value: Value { .signature(self) }
    package init?(reading value: Value) {
        guard case .signature(let signature) = value else { return nil }
        self = signature
    }
}

/// A value of any type maps to a variant that contains it.
extension Value: ValueConvertible {
    package static var valueType: ValueType { .variant }
    package var value: Value { .variant(self) }
    package init?(reading value: Value) {
        guard case .variant(let inner) = value else { return nil }
        self = inner
    }
}

extension Array: ValueConvertible where Element: ValueConvertible {
    package static var valueType: ValueType { .array(Element.valueType) }

    package var value: Value {
        // An empty array casts to an array of anything, so its own type is checked first.
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return .bytes(bytes) }
        return .array(map(\.value), of: Element.valueType)
    }

    package init?(reading value: Value) {
        switch value {
        case .bytes(let bytes):
            guard Element.self == UInt8.self, let elements = bytes as? [Element] else { return nil }
            self = elements
        case .array(let values, Element.valueType):
            self = []
            reserveCapacity(values.count)
            for value in values {
                guard let element = Element(reading: value) else { return nil }
                append(element)
            }
        default: return nil
        }
    }
}

/// If entries have the same key, the last one counts; the specification does not define this.
extension Dictionary: ValueConvertible where Key: ValueConvertible & Comparable, Value: ValueConvertible {
    package static var valueType: ValueType { .dictionary(key: Key.valueType, value: Value.valueType) }

    package var value: DBus.Value {
        .dictionary(
            sorted { $0.key < $1.key }.map { .init($0.key.value, $0.value.value) }, key: Key.valueType,
            value: Value.valueType)
    }

    package init?(reading value: DBus.Value) {
        guard case .dictionary(let entries, Key.valueType, Value.valueType) = value else { return nil }
        self = [:]
        for entry in entries {
            guard let key = Key(reading: entry.key), let value = Value(reading: entry.value) else { return nil }
            self[key] = value
        }
    }
}
