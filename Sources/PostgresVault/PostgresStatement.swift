#if PostgreSQL
import CLibpq
import Handshake

/// A value that goes to the server beside a statement's text, never within it. In PostgreSQL's binary form.
struct PostgresParameter: Sendable {
    /// The numbers of types in every PostgreSQL (`pg_type.dat`).
    private enum TypeNumber {
        static let bool: Oid = 16
        static let bytea: Oid = 17
        static let int8: Oid = 20
        static let text: Oid = 25
        static let int8Array: Oid = 1016
        static let uuid: Oid = 2950
        static let uuidArray: Oid = 2951
    }

    /// Without an array for each number: most parameters are numbers.
    private enum Value {
        case null
        case bool(Bool)
        case int(Int64)
        case text(String)
        case bytes([UInt8])
    }

    let type: Oid
    private let value: Value

    static func int(_ value: Int64) -> PostgresParameter {
        PostgresParameter(type: TypeNumber.int8, value: .int(value))
    }

    static func bool(_ value: Bool?) -> PostgresParameter {
        PostgresParameter(type: TypeNumber.bool, value: value.map { .bool($0) } ?? .null)
    }

    static func text(_ value: String) -> PostgresParameter {
        PostgresParameter(type: TypeNumber.text, value: .text(value))
    }

    static func bytes(_ value: [UInt8]?) -> PostgresParameter {
        PostgresParameter(type: TypeNumber.bytea, value: value.map { .bytes($0) } ?? .null)
    }

    /// - Parameter value: 16 bytes, or nil for NULL.
    static func uuid(_ value: [UInt8]?) -> PostgresParameter {
        PostgresParameter(type: TypeNumber.uuid, value: value.map { .bytes($0) } ?? .null)
    }

    static func uuids(_ values: [[UInt8]]) -> PostgresParameter {
        PostgresParameter(type: TypeNumber.uuidArray, value: .bytes(array(of: TypeNumber.uuid, values)))
    }

    static func ints(_ values: [Int64]) -> PostgresParameter {
        PostgresParameter(
            type: TypeNumber.int8Array, value: .bytes(array(of: TypeNumber.int8, values.map(\.networkBytes))))
    }

    /// How many bytes it has; 0 for NULL.
    var count: Int {
        switch value {
        case .null: 0
        case .bool: 1
        case .int: MemoryLayout<Int64>.size
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }

    var isNull: Bool { if case .null = value { true } else { false } }

    /// Puts its bytes behind others.
    func append(to bytes: inout [UInt8]) {
        switch value {
        case .null: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int(let value): withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .bytes(let value): bytes.append(contentsOf: value)
        }
    }

    /// An array of one dimension without NULL (`array_recv` in PostgreSQL's `arrayfuncs.c`).
    private static func array(of type: Oid, _ values: [[UInt8]]) -> [UInt8] {
        let header: [Int32] = [1, 0, Int32(bitPattern: type), Int32(truncatingIfNeeded: values.count), 1]
        return values.reduce(into: header.flatMap(\.networkBytes)) { bytes, value in
            bytes += Int32(truncatingIfNeeded: value.count).networkBytes + value
        }
    }
}

/// The text of a statement that is sent often, and what a server calls it once it was parsed there.
struct PostgresText: Sendable {
    let name: String
    let sql: String
}

/// One statement of constant text, and what goes with it.
struct PostgresStatement: Sendable {
    let sql: String
    /// What a connection that leads to the server itself calls the statement there; nil for one that is seldom sent.
    let name: String?
    let parameters: [PostgresParameter]

    init(_ sql: String, _ parameters: [PostgresParameter] = []) {
        self.sql = sql
        self.parameters = parameters
        name = nil
    }

    init(_ text: PostgresText, _ parameters: [PostgresParameter]) {
        sql = text.sql
        name = text.name
        self.parameters = parameters
    }

    /// The bytes that go to the server beside the text.
    var size: Int { parameters.reduce(0) { $0 + $1.count } }

    /// Lets the server parse the statement under its name.
    ///
    /// - Returns: whether libpq took it.
    func prepare(over handle: OpaquePointer) -> Bool {
        guard let name else { return false }
        return PQsendPrepare(handle, name, sql, Int32(clamping: parameters.count), parameters.map(\.type)) == 1
    }

    /// Hands the statement to libpq, which copies it.
    ///
    /// - Parameter isPrepared: whether the server has parsed it.
    /// - Returns: whether libpq took it.
    func send(over handle: OpaquePointer, isPrepared: Bool) -> Bool {
        let parameters = parameters
        var joined: [UInt8] = []
        joined.reserveCapacity(size + 1)
        for parameter in parameters { parameter.append(to: &joined) }
        // So that also an empty value has an address.
        joined.append(0)
        let count = Int32(clamping: parameters.count)
        return joined.withUnsafeBytes { buffer in
            var offset = 0
            var values: [UnsafePointer<CChar>?] = []
            values.reserveCapacity(parameters.count)
            for parameter in parameters {
                let start = buffer.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self)
                values.append(parameter.isNull ? nil : start)
                offset += parameter.count
            }
            let lengths = parameters.map { Int32(clamping: $0.count) }
            let formats = [Int32](repeating: 1, count: parameters.count)
            if isPrepared, let name {
                return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
            }
            return PQsendQueryParams(handle, sql, count, parameters.map(\.type), values, lengths, formats, 1) == 1
        }
    }
}

/// A row that a statement returned, in PostgreSQL's binary form.
///
/// What was changed by hand may have any type and length: each reading says what it expects, and is an error otherwise.
struct PostgresRow: Sendable {
    let cells: [[UInt8]?]

    func bytes(_ column: Int) throws(VaultError) -> [UInt8] {
        guard cells.indices.contains(column), let bytes = cells[column] else { throw Self.unexpected }
        return bytes
    }

    func isNull(_ column: Int) -> Bool { !cells.indices.contains(column) || cells[column] == nil }

    /// An integer of 2, 4 or 8 bytes.
    func int(_ column: Int) throws(VaultError) -> Int64 {
        let bytes = try bytes(column)
        switch bytes.count {
        case 2, 4, 8:
            let value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
            let shift = UInt64(64 - 8 * bytes.count)
            return Int64(bitPattern: value << shift) >> Int64(shift)
        default: throw Self.unexpected
        }
    }

    func bool(_ column: Int) throws(VaultError) -> Bool {
        let bytes = try bytes(column)
        guard bytes == [0] || bytes == [1] else { throw Self.unexpected }
        return bytes == [1]
    }

    func text(_ column: Int) throws(VaultError) -> String {
        guard let text = String(validating: try bytes(column), as: UTF8.self) else { throw Self.unexpected }
        return text
    }

    func uuid(_ column: Int) throws(VaultError) -> [UInt8] {
        let bytes = try bytes(column)
        guard bytes.count == 16 else { throw Self.unexpected }
        return bytes
    }

    private static let unexpected = VaultError.damaged(
        what: "a table", reason: "it has a value that this version does not write")

    /// The rows of a result. The caller clears it.
    static func all(of result: OpaquePointer) -> [PostgresRow] {
        let columns = PQnfields(result)
        return (0..<max(0, PQntuples(result))).map { row in
            PostgresRow(
                cells: (0..<max(0, columns)).map { column in
                    guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
                        return nil
                    }
                    let length = Int(max(0, PQgetlength(result, row, column)))
                    return Array(UnsafeRawBufferPointer(start: start, count: length))
                })
        }
    }
}

extension FixedWidthInteger {
    /// The bytes, the highest first.
    var networkBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
#endif
