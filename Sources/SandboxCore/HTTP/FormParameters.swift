#if Sandbox
/// Named text values in the order in which they came, doubled names included.
///
/// A parameter with an empty value counts as absent (RFC 6749 section 3.1).
package struct FormParameters: Sendable {
    package let pairs: [(name: String, value: String)]

    package init(_ pairs: [(name: String, value: String)] = []) {
        self.pairs = pairs
    }

    /// Reads `application/x-www-form-urlencoded` text, as in a query or a form body.
    package init(urlEncoded bytes: some Collection<UInt8>) {
        pairs = bytes.split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return (PercentCoding.formDecoded(name), PercentCoding.formDecoded(pair.dropFirst(name.count + 1)))
        }
    }

    /// The last non-empty value of this name; PHP and Rails, the models of two stand-ins, both let the last one win.
    package subscript(name: String) -> String? {
        pairs.last { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// The names, each once, in order of first appearance.
    package var names: [String] {
        var seen: Set<String> = []
        return pairs.map(\.name).filter { seen.insert($0).inserted }
    }

    /// The first name that came more than once and may not: several APIs may be named (RFC 8707 section 2).
    package var doubledName: String? {
        var seen: Set<String> = []
        return pairs.first { $0.name != "resource" && !seen.insert($0.name).inserted }?.name
    }

    /// The parameters without those of one name.
    func removing(_ name: String) -> FormParameters {
        FormParameters(pairs.filter { $0.name != name })
    }

    /// The parameters as text for a query.
    package var urlEncoded: String {
        pairs.map { "\(PercentCoding.encoded($0.name))=\(PercentCoding.encoded($0.value))" }.joined(separator: "&")
    }
}
#endif
