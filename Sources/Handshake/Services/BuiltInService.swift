package import OAuth
import Synchronization

/// A service that this package describes, as it stands in `ServiceLines.swift`.
///
/// The facts were gathered from public collections and the services' own pages. They are tested against a stand-in that
/// follows the same facts, not against the services.
package struct BuiltInService: Sendable {
    /// The name that ``Service/named(_:_:)`` takes, such as `github`.
    package let name: String
    /// The name as people read it.
    package let title: String
    /// Why this package cannot sign in to the service; nil when it can.
    package let unsupportedReason: String?
    /// What has to be known before the service can be described, such as the host of a self-hosted server.
    package let placeholders: [Placeholder]
    /// The members of the service's description.
    let members: ServiceMembers

    /// All members of the service's description.
    package var facts: JSONObject { members.all }

    /// A part of a service's addresses or fields that differs from user to user.
    package struct Placeholder: Sendable, Hashable {
        package let name: String
        /// A regular expression that a value matches as a whole.
        package let pattern: String
        package let example: String
        /// The value when none is given; nil when one has to be given.
        package let defaultValue: String?
        package let meaning: String?
    }

    /// The service of this name; nil when there is none. Reads that service's line alone.
    package static func named(_ name: String) -> BuiltInService? {
        guard Service.isName(name) else { return nil }
        return ServiceIndex.line(named: name).flatMap(BuiltInService.init)
    }

    /// All services, by name.
    package static var all: [BuiltInService] {
        ServiceIndex.all.compactMap(BuiltInService.init)
    }

    private init?(line: [UInt8]) {
        guard let line = UnreadObject(line), let name = line["name"]?.string else { return nil }
        self.init(name: name, members: ServiceMembers(line))
    }

    /// A service that the user describes with the members of `ServiceLines.swift`.
    package init(name: String, facts: JSONObject) {
        self.init(name: name, members: ServiceMembers(facts))
    }

    private init(name: String, members: ServiceMembers) {
        self.name = name
        self.members = members
        title = members["title"]?.string ?? name
        unsupportedReason = members["unsupported"]?.string
        placeholders =
            members["placeholders"]?.object?.sorted().compactMap { name, value in
                guard let members = value.object, let pattern = members["pattern"]?.string else { return nil }
                return Placeholder(
                    name: name, pattern: pattern, example: members["example"]?.string ?? "",
                    defaultValue: members["default"]?.string, meaning: members["meaning"]?.string)
            } ?? []
    }
}

extension BuiltInService {
    /// The facts with values in place of the placeholders.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` naming the placeholder whose value is missing, unknown
    ///   or not of its pattern.
    package func filled(with values: [String: String]) throws(HandshakeError) -> JSONObject {
        try members(with: values).all
    }

    /// The same, of which what is asked for is read.
    func members(with values: [String: String]) throws(HandshakeError) -> ServiceMembers {
        for name in values.keys.sorted() where !placeholders.contains(where: { $0.name == name }) {
            let known = placeholders.map(\.name)
            throw .configuration(
                member: quoted(name, limit: 80),
                problem: "\(title) has no placeholder “\(quoted(name, limit: 80))”"
                    + (known.isEmpty ? "." : "; it has \(known.joined(separator: ", "))."))
        }
        guard !placeholders.isEmpty else { return members }
        let others = missing(in: values).dropFirst().map { "“\($0.name)” (such as “\($0.example)”)" }
        var filled: [String: String] = [:]
        for placeholder in placeholders {
            guard let value = values[placeholder.name] else {
                guard let value = placeholder.defaultValue else {
                    throw .configuration(
                        member: placeholder.name,
                        problem: "\(title) needs a value for it, such as “\(placeholder.example)”"
                            + (others.isEmpty ? "" : "; and for \(others.joined(separator: ", "))"))
                }
                filled[placeholder.name] = value
                continue
            }
            guard placeholder.accepts(value) else {
                throw .configuration(
                    member: placeholder.name,
                    problem: "“\(quoted(value, limit: 80))” is not of the form \(placeholder.pattern), such as "
                        + "“\(placeholder.example)”")
            }
            filled[placeholder.name] = value
        }
        return members.filled(with: filled)
    }
}

extension BuiltInService {
    /// The placeholders that have neither a value here nor one of their own. None where a value is for another name:
    /// ``filled(with:)`` refuses that first.
    package func missing(in values: [String: String]) -> [Placeholder] {
        guard values.keys.allSatisfy({ name in placeholders.contains { $0.name == name } }) else { return [] }
        return placeholders.filter { values[$0.name] == nil && $0.defaultValue == nil }
    }
}

extension BuiltInService.Placeholder {
    /// Whether a value is printable ASCII of at most 255 bytes and matches the pattern.
    package func accepts(_ value: String) -> Bool {
        guard (1...255).contains(value.utf8.count), value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return false
        }
        return Self.expressions.withLock { expressions in
            guard let expression = expressions[pattern] ?? (try? Regex(pattern)) else { return false }
            if expressions.count >= 64 { expressions = [:] }
            expressions[pattern] = expression
            return (try? expression.wholeMatch(in: value)) != nil
        }
    }

    /// The expressions of patterns that were used: to make one takes longer than all the rest of a service.
    private static let expressions = Mutex<[String: Regex<AnyRegexOutput>]>([:])
}
