/// One complete type (D-Bus Specification, “Type System”).
package indirect enum ValueType: Sendable, Hashable {
    case byte, boolean, int16, uint16, int32, uint32, int64, uint64, double
    case string, objectPath, signature
    /// An index into the file descriptors of a message.
    case unixDescriptor
    case variant
    case array(ValueType)
    /// Fields in order; at least one.
    case structure([ValueType])
    /// An array of entries; the key is a basic type.
    case dictionary(key: ValueType, value: ValueType)
}

extension ValueType {
    /// The type codes, such as `a{sv}`.
    package var code: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .unixDescriptor: "h"
        case .variant: "v"
        case .array(let element): "a" + element.code
        case .structure(let fields): "(" + fields.map(\.code).joined() + ")"
        case .dictionary(let key, let value): "a{" + key.code + value.code + "}"
        }
    }

    /// Whether it can be the type of a dictionary's keys.
    package var isBasic: Bool {
        switch self {
        case .variant, .array, .structure, .dictionary: false
        default: true
        }
    }

    /// The alignment in bytes (“Summary of D-Bus marshalling”).
    var alignment: Int {
        switch self {
        case .byte, .signature, .variant: 1
        case .int16, .uint16: 2
        case .boolean, .int32, .uint32, .string, .objectPath, .unixDescriptor, .array, .dictionary: 4
        case .int64, .uint64, .double, .structure: 8
        }
    }

    /// The basic type or variant with this code.
    init?(code: UInt8) {
        switch code {
        case UInt8(ascii: "y"): self = .byte
        case UInt8(ascii: "b"): self = .boolean
        case UInt8(ascii: "n"): self = .int16
        case UInt8(ascii: "q"): self = .uint16
        case UInt8(ascii: "i"): self = .int32
        case UInt8(ascii: "u"): self = .uint32
        case UInt8(ascii: "x"): self = .int64
        case UInt8(ascii: "t"): self = .uint64
        case UInt8(ascii: "d"): self = .double
        case UInt8(ascii: "s"): self = .string
        case UInt8(ascii: "o"): self = .objectPath
        case UInt8(ascii: "g"): self = .signature
        case UInt8(ascii: "h"): self = .unixDescriptor
        case UInt8(ascii: "v"): self = .variant
        default: return nil
        }
    }
}
