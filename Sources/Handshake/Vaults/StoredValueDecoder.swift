import OAuth

/// Decodes what was stored, from the package's own reader of JSON.
///
/// Foundation's decoder looks up types by name through all conformances of the program: most of the time of a short command.
/// What this one decodes has the same value there. What it does not decode may be right nevertheless, so the caller asks
/// Foundation's then.
struct StoredValueDecoder: Decoder {
    let value: JSONValue

    /// The value has another type, or is not there.
    struct Mismatch: Error {}

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let members = value.object else { throw Mismatch() }
        return KeyedDecodingContainer(Members(members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.array else { throw Mismatch() }
        return Elements(elements: elements)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let members: JSONObject

        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

        func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

        private func decoder(_ key: some CodingKey) throws -> StoredValueDecoder {
            guard let value = members[key.stringValue] else { throw Mismatch() }
            return StoredValueDecoder(value: value)
        }

        func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder(key).decode(type) }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder(key).decode(type) }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder(key).decode(type) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder(key).decode(type) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder(key).decode(type) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder(key).decode(type) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder(key).decode(type) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder(key).decode(type) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder(key).decode(type) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder(key).decode(type) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder(key).decode(type) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder(key).decode(type) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder(key).decode(type) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder(key).decode(type) }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try T(from: decoder(key)) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try decoder(key).unkeyedContainer()
        }

        // No stored type has a class above it.
        func superDecoder() throws -> any Decoder { throw Mismatch() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw Mismatch() }
    }

    private struct Elements: UnkeyedDecodingContainer {
        let elements: [JSONValue]
        private(set) var currentIndex = 0

        init(elements: [JSONValue]) { self.elements = elements }

        var codingPath: [any CodingKey] { [] }
        var count: Int? { elements.count }
        var isAtEnd: Bool { currentIndex == elements.count }

        /// Passes over an element once it was read.
        private mutating func next<T>(_ read: (StoredValueDecoder) throws -> T) throws -> T {
            guard !isAtEnd else { throw Mismatch() }
            let found = try read(StoredValueDecoder(value: elements[currentIndex]))
            currentIndex += 1
            return found
        }

        mutating func decodeNil() throws -> Bool {
            guard !isAtEnd else { throw Mismatch() }
            guard elements[currentIndex] == .null else { return false }
            currentIndex += 1
            return true
        }

        mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.decode(type) } }
        mutating func decode(_ type: String.Type) throws -> String { try next { try $0.decode(type) } }
        mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.decode(type) } }
        mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.decode(type) } }
        mutating func decode(_ type: Int.Type) throws -> Int { try next { try $0.decode(type) } }
        mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try $0.decode(type) } }
        mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try $0.decode(type) } }
        mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try $0.decode(type) } }
        mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try $0.decode(type) } }
        mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try $0.decode(type) } }
        mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try $0.decode(type) } }
        mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try $0.decode(type) } }
        mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try $0.decode(type) } }
        mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try $0.decode(type) } }
        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next { try T(from: $0) } }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> { try next { try $0.container(keyedBy: type) } }

        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try next { try $0.unkeyedContainer() }
        }

        mutating func superDecoder() throws -> any Decoder { throw Mismatch() }
    }
}

extension StoredValueDecoder: SingleValueDecodingContainer {
    private func whole<Number: FixedWidthInteger>() throws -> Number {
        guard let found = value.integer.flatMap({ Number(exactly: $0) }) else { throw Mismatch() }
        return found
    }

    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let found = value.bool else { throw Mismatch() }
        return found
    }

    func decode(_ type: String.Type) throws -> String {
        guard let found = value.string else { throw Mismatch() }
        return found
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard case .number(let spelling) = value, let found = Double(spelling), found.isFinite else { throw Mismatch() }
        return found
    }

    /// No stored type has one.
    func decode(_ type: Float.Type) throws -> Float { throw Mismatch() }
    func decode(_ type: Int.Type) throws -> Int { try whole() }
    func decode(_ type: Int8.Type) throws -> Int8 { try whole() }
    func decode(_ type: Int16.Type) throws -> Int16 { try whole() }
    func decode(_ type: Int32.Type) throws -> Int32 { try whole() }
    func decode(_ type: Int64.Type) throws -> Int64 { try whole() }
    func decode(_ type: UInt.Type) throws -> UInt { try whole() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try whole() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try whole() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try whole() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try whole() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }
}
