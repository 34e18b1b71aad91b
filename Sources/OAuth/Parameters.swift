/// The parameters of a request, in order, each name at most once (RFC 6749, section 3.1).
struct Parameters: Sendable {
    private(set) var pairs: [(name: String, value: String)] = []
    private var names: Set<String> = []

    /// Adds a parameter. An absent or empty value is left out: the two mean the same (RFC 6749, section 3.1).
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` when the name is taken.
    mutating func add(_ name: String, _ value: String?) throws(OAuthError) {
        guard let value, !value.isEmpty else { return }
        guard names.insert(name).inserted else {
            throw .configuration(member: name, problem: "the parameter is already part of this request; remove it")
        }
        pairs.append((name, value))
    }

    /// Adds a parameter that may be repeated, as RFC 8707, section 2 allows for `resource`.
    mutating func addEach(_ name: String, _ values: [String]) throws(OAuthError) {
        let values = values.filter { !$0.isEmpty }
        guard !values.isEmpty else { return }
        guard names.insert(name).inserted else {
            throw .configuration(member: name, problem: "the parameter is already part of this request; remove it")
        }
        pairs += values.map { (name, $0) }
    }

    /// Adds what the caller wants to say beyond the protocol.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)`` for a name that the protocol itself uses, or one given
    ///   twice.
    mutating func add(extras: [String: String], reserved: Set<String>) throws(OAuthError) {
        for (name, value) in extras.sorted(by: { $0.key < $1.key }) {
            guard !reserved.contains(name) else {
                throw .configuration(
                    member: name, problem: "this parameter belongs to the protocol and cannot be set by hand")
            }
            try add(name, value)
        }
    }

    /// The values by name, in the order of the names' first appearance.
    var grouped: [(name: String, values: [String])] {
        var places: [String: Int] = [:]
        var groups: [(name: String, values: [String])] = []
        for (name, value) in pairs {
            if let place = places[name] {
                groups[place].values.append(value)
            } else {
                places[name] = groups.count
                groups.append((name, [value]))
            }
        }
        return groups
    }

    /// The parameters as the query of an address (RFC 6749, section 4.1.1).
    var query: String {
        pairs.map { PercentEncoding.query($0.name) + "=" + PercentEncoding.query($0.value) }.joined(separator: "&")
    }

    /// The parameters as `application/x-www-form-urlencoded` content (RFC 6749, appendix B).
    var form: [UInt8] {
        Array(
            pairs.map { PercentEncoding.form($0.name) + "=" + PercentEncoding.form($0.value) }.joined(separator: "&")
                .utf8)
    }
}

extension Parameters: CustomReflectable {
    /// The names alone: among the values are secrets.
    var customMirror: Mirror { Mirror(self, children: ["names": pairs.map(\.name)]) }
}
