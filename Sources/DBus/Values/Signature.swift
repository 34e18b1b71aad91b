/// A sequence of types (D-Bus Specification, “Type System” and “Valid Signatures”).
///
/// Always valid: at most 255 bytes, at most 32 nested arrays and 32 nested structures, no empty structure, dictionary
/// entries only in arrays and with basic keys.
package struct Signature: CheckedName {
    /// The types in order.
    package let types: [ValueType]
    /// The type codes, such as `a{sv}as`.
    package let text: String

    /// The empty signature.
    package static let empty: Signature = ""

    static let maximumLength = 255
    static let maximumArrayDepth = 32
    static let maximumStructureDepth = 32

    /// Parses type codes.
    ///
    /// - Throws: ``DBusError/invalidSignature(text:problem:)``
    package init(_ text: String) throws(DBusError) {
        var parser = SignatureParser(text)
        types = try parser.parse()
        self.text = text
    }

    /// Creates the signature of these types.
    ///
    /// - Throws: ``DBusError/invalidSignature(text:problem:)`` when they are too many or nested too deep, a structure has no
    ///   field or a key is not basic.
    package init(_ types: [ValueType]) throws(DBusError) {
        try self.init(types.map(\.code).joined())
    }
}

/// Parses type codes.
private struct SignatureParser {
    private let text: String
    private let codes: [UInt8]
    private var position = 0
    private var arrayDepth = 0
    private var structureDepth = 0

    init(_ text: String) {
        self.text = text
        codes = Array(text.utf8)
    }

    mutating func parse() throws(DBusError) -> [ValueType] {
        guard codes.count <= Signature.maximumLength else { throw failure("it is longer than 255 bytes") }
        var types: [ValueType] = []
        while position < codes.count { try types.append(completeType()) }
        return types
    }

    private func failure(_ problem: String) -> DBusError {
        .invalidSignature(text: text, problem: problem)
    }

    private var next: UInt8? {
        position < codes.count ? codes[position] : nil
    }

    private mutating func completeType() throws(DBusError) -> ValueType {
        guard let code = next else { throw failure("a type is missing at the end") }
        position += 1
        switch code {
        case UInt8(ascii: "a"): return try array()
        case UInt8(ascii: "("): return try structure()
        case UInt8(ascii: "{"): throw failure("a dictionary entry is outside of an array")
        case UInt8(ascii: ")"), UInt8(ascii: "}"): throw failure("a closing bracket has no opening one")
        default:
            guard let type = ValueType(code: code) else { throw failure("it has an unknown type code") }
            return type
        }
    }

    private mutating func array() throws(DBusError) -> ValueType {
        arrayDepth += 1
        defer { arrayDepth -= 1 }
        guard arrayDepth <= Signature.maximumArrayDepth else { throw failure("more than 32 arrays are nested") }
        guard next == UInt8(ascii: "{") else { return .array(try completeType()) }
        position += 1
        let key = try completeType()
        guard key.isBasic else { throw failure("the key of a dictionary is not a basic type") }
        let value = try completeType()
        guard next == UInt8(ascii: "}") else { throw failure("a dictionary entry has not exactly two types") }
        position += 1
        return .dictionary(key: key, value: value)
    }

    private mutating func structure() throws(DBusError) -> ValueType {
        structureDepth += 1
        defer { structureDepth -= 1 }
        guard structureDepth <= Signature.maximumStructureDepth else {
            throw failure("more than 32 structures are nested")
        }
        var fields: [ValueType] = []
        while next != UInt8(ascii: ")") {
            guard next != nil else { throw failure("a structure is not closed") }
            try fields.append(completeType())
        }
        position += 1
        guard !fields.isEmpty else { throw failure("a structure has no field") }
        return .structure(fields)
    }
}
