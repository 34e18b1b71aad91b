#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reading of JSON request bodies.
///
/// The members of an object come in the order of their names.
extension JSON: Decodable {
    private struct MemberName: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads RFC 8259 text; nil when it is not that.
    package init?(parsing bytes: [UInt8]) {
        guard let value = try? JSONDecoder().decode(JSON.self, from: Data(bytes)) else { return nil }
        self = value
    }

    package init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: MemberName.self) {
            let names = container.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(
                try names.map { Member(name: $0.stringValue, value: try container.decode(JSON.self, forKey: $0)) })
        } else if var container = try? decoder.unkeyedContainer() {
            var values: [JSON] = []
            while !container.isAtEnd { values.append(try container.decode(JSON.self)) }
            self = .array(values)
        } else {
            self = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> JSON {
        if container.decodeNil() { return .null }
        if let flag = try? container.decode(Bool.self) { return .bool(flag) }
        if let number = try? container.decode(Int.self) { return .number(number) }
        if let number = try? container.decode(Double.self) { return .decimal(number) }
        return .string(try container.decode(String.self))
    }

    /// A member of an object; nil when it is missing, null, or there is no object.
    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name && $0.value != .null }?.value
    }

    /// The elements of an array.
    package var elements: [JSON]? {
        guard case .array(let values) = self else { return nil }
        return values
    }

    /// A string, or a number as text.
    package var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): String(number)
        case .decimal(let number): String(number)
        default: nil
        }
    }

    /// A number, or a string of digits.
    package var integer: Int? {
        scalarText.flatMap { Int($0) }
    }
}
